#include "http/path_values.hpp"

#include <algorithm>

#include "protocol/validate.hpp"

namespace cleat::http {
namespace {

/// Takes the next `{name}` off a pattern. The router has seen to it that there is one.
std::string_view take_name(std::string_view& pattern) {
  pattern.remove_prefix(std::min(pattern.find('{') + 1, pattern.size()));
  const auto name = pattern.substr(0, pattern.find('}'));
  pattern.remove_prefix(name.size());
  return name;
}

/// Whether `text` may stand for `name`; nothing when `name` is one of an id.
std::optional<bool> fits_text(std::string_view name, std::string_view text) {
  if (name == "name")
    return !validate::container_name(text);
  if (name == "session_id")
    return validate::is_session_id(text);
  if (name == "secret_name")
    return true;
  return std::nullopt;
}

} // namespace

std::optional<PathValues> read_path(std::string_view pattern, const std::vector<std::string>& values) {
  PathValues read;
  for (const std::string& value : values) {
    const auto fits = fits_text(take_name(pattern), value);
    if (fits == false)
      return std::nullopt;
    if (fits) {
      read.texts.push_back(value);
      continue;
    }
    const auto id = Id::parse(value);
    if (!id)
      return std::nullopt;
    read.ids.push_back(*id);
  }
  return read;
}

} // namespace cleat::http
