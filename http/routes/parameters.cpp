#include "http/routes/parameters.hpp"

#include <charconv>

#include "protocol/validate.hpp"

namespace cleat::http {

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max)
    return std::nullopt;
  return value;
}

std::optional<Id> Parameters::id(std::string_view name) {
  const auto text = query_.get(name);
  if (!text)
    return std::nullopt;
  const auto id = Id::parse(*text);
  if (!id)
    wrong(name, FieldCode::invalid_format);
  return id;
}

std::optional<std::string> Parameters::text(std::string_view name) {
  auto text = query_.get(name);
  if (text)
    if (const auto code = validate::name(*text))
      wrong(name, *code);
  return text;
}

std::int64_t Parameters::number(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t absent) {
  const auto text = query_.get(name);
  if (!text)
    return absent;
  const auto value = whole_number(*text, min, max);
  if (!value)
    wrong(name, FieldCode::out_of_range);
  return value.value_or(absent);
}

Result<std::int64_t> begin_of(const HeaderFields& headers, std::int64_t after) {
  const auto values = values_of(headers, "Last-Event-ID");
  if (values.empty())
    return after;
  const auto seq = values.size() == 1 ? whole_number(values[0], 0, max_seq) : std::nullopt;
  if (!seq)
    return refuse({{"/Last-Event-ID", FieldCode::invalid_format}});
  return *seq;
}

} // namespace cleat::http
