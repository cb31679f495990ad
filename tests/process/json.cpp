#include "tests/process/json.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace cleat::test {
namespace {

template <class T>
T get(const simdjson::dom::element& element, const char* what) {
  T value{};
  if (element.get(value) != simdjson::SUCCESS)
    throw std::runtime_error("no " + std::string(what) + ": " + simdjson::to_string(element));
  return value;
}

} // namespace

Json Json::parse(std::string_view text) {
  auto parser = std::make_shared<simdjson::dom::parser>();
  simdjson::dom::element element;
  if (parser->parse(text.data(), text.size()).get(element) != simdjson::SUCCESS)
    throw std::runtime_error("no JSON: " + std::string(text));
  return {std::move(parser), element};
}

bool Json::has(std::string_view name) const {
  simdjson::dom::element found;
  return get<simdjson::dom::object>(element_, "object").at_key(name).get(found) == simdjson::SUCCESS;
}

Json Json::operator[](std::string_view name) const {
  simdjson::dom::element found;
  if (get<simdjson::dom::object>(element_, "object").at_key(name).get(found) != simdjson::SUCCESS)
    throw std::runtime_error("no member " + std::string(name) + " in " + dump());
  return {parser_, found};
}

Json Json::operator[](std::size_t index) const {
  simdjson::dom::element found;
  if (get<simdjson::dom::array>(element_, "array").at(index).get(found) != simdjson::SUCCESS)
    throw std::runtime_error("no item " + std::to_string(index) + " in " + dump());
  return {parser_, found};
}

std::vector<Json> Json::items() const {
  std::vector<Json> result;
  for (const auto item : get<simdjson::dom::array>(element_, "array"))
    result.push_back({parser_, item});
  return result;
}

std::vector<std::string> Json::names() const {
  std::vector<std::string> result;
  for (const auto member : get<simdjson::dom::object>(element_, "object"))
    result.emplace_back(member.key);
  std::sort(result.begin(), result.end());
  return result;
}

std::size_t Json::size() const {
  return get<simdjson::dom::array>(element_, "array").size();
}

std::string Json::string() const {
  return std::string(get<std::string_view>(element_, "string"));
}

std::int64_t Json::number() const {
  return get<std::int64_t>(element_, "integer");
}

bool Json::boolean() const {
  return get<bool>(element_, "boolean");
}

std::string Json::dump() const {
  return simdjson::to_string(element_);
}

Object& Object::text(std::string_view name, std::string_view value) {
  return json(name, json_string(value));
}

Object& Object::number(std::string_view name, std::int64_t value) {
  return json(name, std::to_string(value));
}

Object& Object::boolean(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

Object& Object::json(std::string_view name, std::string_view value) {
  members_ += (members_.empty() ? "" : ",") + json_string(name) + ":" + std::string(value);
  return *this;
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

} // namespace cleat::test
