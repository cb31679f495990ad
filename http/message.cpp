#include "http/message.hpp"

#include <algorithm>

namespace cleat::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<std::string_view> values_of(const HeaderFields& fields, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [field, value] : fields)
    if (same_name(field, name))
      values.emplace_back(value);
  return values;
}

std::string_view take_part(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!part.empty() && (part.front() == ' ' || part.front() == '\t'))
    part.remove_prefix(1);
  while (!part.empty() && (part.back() == ' ' || part.back() == '\t'))
    part.remove_suffix(1);
  return part;
}

bool list_has(const HeaderFields& fields, std::string_view name, std::string_view token) {
  for (std::string_view list : values_of(fields, name))
    while (!list.empty())
      if (same_name(take_part(list, ','), token))
        return true;
  return false;
}

} // namespace cleat::http
