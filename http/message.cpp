#include "http/message.hpp"

#include <algorithm>

namespace cleat::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
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

bool list_has(const HeaderFields& fields, std::string_view name, std::string_view token) {
  for (std::string_view list : values_of(fields, name)) {
    while (!list.empty()) {
      const auto comma = std::min(list.find(','), list.size());
      if (same_name(trim(list.substr(0, comma)), token))
        return true;
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  return false;
}

} // namespace cleat::http
