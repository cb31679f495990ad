#include "http/accept.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace cleat::http {
namespace {

/// How much a media type is wanted, in thousandths, and how exactly the range that says so names it.
struct Preference {
  int weight = 0;
  int exactness = 0;

  auto operator<=>(const Preference&) const = default;
};

/// `0`, `0.5`, `1.000`; nothing for anything else.
std::optional<int> thousandths(std::string_view text) {
  constexpr std::size_t longest = 5;
  constexpr int one = 1000;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.size() > longest || error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
    return std::nullopt;
  return static_cast<int>(value * one + 0.5);
}

/// 3 for the type itself, 2 for its family, 1 for everything, 0 when the range does not take it in.
int exactness(std::string_view range, std::string_view type) {
  if (same_name(range, type))
    return 3;
  if (range == "*/*")
    return 1;
  const auto slash = type.find('/');
  const bool family = range.ends_with("/*") && same_name(range.substr(0, range.size() - 2), type.substr(0, slash));
  return family ? 2 : 0;
}

/// What the fields say about `type`. The most exact range counts; one with a weight that is none is not understood and
/// so says nothing.
Preference preference(const std::vector<std::string_view>& fields, std::string_view type) {
  Preference found;
  for (auto field : fields) {
    while (!field.empty()) {
      auto parameters = take_part(field, ',');
      const auto range = take_part(parameters, ';');
      std::optional<int> weight = 1000;
      while (!parameters.empty()) {
        auto value = take_part(parameters, ';');
        if (same_name(take_part(value, '='), "q"))
          weight = thousandths(value);
      }
      const int exact = exactness(range, type);
      if (weight && exact > found.exactness)
        found = {*weight, exact};
    }
  }
  return found;
}

} // namespace

LogForm preferred_form(const HeaderFields& headers, LogForm otherwise) {
  const auto fields = values_of(headers, "Accept");
  if (fields.empty())
    return otherwise;
  const auto stream = preference(fields, "text/event-stream");
  const auto page = preference(fields, "application/json");
  if (stream.weight > 0 && stream == page)
    return otherwise;
  return stream.weight > 0 && stream > page ? LogForm::stream : LogForm::page;
}

} // namespace cleat::http
