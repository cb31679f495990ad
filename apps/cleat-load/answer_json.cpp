#include "apps/cleat-load/answer_json.hpp"

namespace cleat::load {

std::string_view JsonObject::text(std::string_view member) const {
  std::string_view value;
  return element_[member].get(value) == simdjson::SUCCESS ? value : std::string_view{};
}

std::optional<bool> JsonObject::flag(std::string_view member) const {
  bool value = false;
  return element_[member].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> JsonObject::number(std::string_view member) const {
  std::int64_t value = 0;
  return element_[member].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

bool JsonObject::has(std::string_view member) const {
  return element_[member].error() == simdjson::SUCCESS;
}

std::optional<simdjson::dom::array> JsonObject::array(std::string_view member) const {
  simdjson::dom::array value;
  return element_[member].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

JsonObject AnswerJson::parse(const Answer& answer) {
  // An AnswerBuffer leaves the padding behind every body, so nothing has to be copied.
  constexpr bool copy_first = false;
  return JsonObject(parser_.parse(answer.body.data(), answer.body.size(), copy_first));
}

} // namespace cleat::load
