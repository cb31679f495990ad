#include "tests/process/contract.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "tests/process/client.hpp"

namespace cleat::test {
namespace {

std::string last_part(const std::string& reference) {
  return reference.substr(reference.rfind('/') + 1);
}

std::vector<std::string> strings(const YAML::Node& node) {
  if (!node)
    return {};
  if (node.IsScalar())
    return {node.as<std::string>()};
  return node.as<std::vector<std::string>>();
}

Schema read_schema(const YAML::Node& node);

std::vector<Schema> read_schemas(const YAML::Node& list) {
  std::vector<Schema> result;
  for (const auto& item : list)
    result.push_back(read_schema(item));
  return result;
}

Schema read_schema(const YAML::Node& node) {
  Schema schema;
  if (node["$ref"]) {
    schema.reference = last_part(node["$ref"].as<std::string>());
    return schema;
  }
  const auto types = strings(node["type"]);
  schema.types.insert(types.begin(), types.end());
  schema.format = node["format"].as<std::string>("");
  if (node["pattern"])
    schema.pattern.emplace(node["pattern"].as<std::string>(), std::regex::ECMAScript);
  schema.values = strings(node["enum"] ? node["enum"] : node["const"]);
  for (const auto& property : node["properties"])
    schema.properties.emplace(property.first.as<std::string>(), read_schema(property.second));
  schema.required = strings(node["required"]);
  schema.closed =
    node["additionalProperties"] && node["additionalProperties"].IsScalar() && !node["additionalProperties"].as<bool>();
  if (node["items"])
    schema.items = std::make_shared<const Schema>(read_schema(node["items"]));
  schema.all_of = read_schemas(node["allOf"]);
  schema.one_of = read_schemas(node["oneOf"] ? node["oneOf"] : node["anyOf"]);
  return schema;
}

/// The node itself, or what its `$ref` names.
YAML::Node resolve(const YAML::Node& document, const YAML::Node& node, const char* kind) {
  if (!node["$ref"])
    return node;
  return document["components"][kind][last_part(node["$ref"].as<std::string>())];
}

Operation read_operation(const YAML::Node& document, const std::string& path, const std::string& method,
                         const YAML::Node& node) {
  Operation operation;
  operation.id = node["operationId"].as<std::string>();
  operation.method = method;
  std::transform(method.begin(), method.end(), operation.method.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  operation.path = path;
  const YAML::Node security = node["security"] ? node["security"] : document["security"];
  operation.needs_token = security && security.size() > 0;
  operation.takes_body = static_cast<bool>(node["requestBody"]);
  for (const auto& entry : node["responses"]) {
    auto& media = operation.responses[entry.first.as<std::string>()];
    for (const auto& content : resolve(document, entry.second, "responses")["content"])
      media.emplace(content.first.as<std::string>(), read_schema(content.second["schema"]));
  }
  return operation;
}

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  std::string::size_type at = 0;
  while (at < path.size()) {
    const auto end = std::min(path.find('/', at + 1), path.size());
    segments.push_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return segments;
}

bool matches(const std::string& pattern, const std::string& path) {
  const auto left = segments_of(pattern);
  const auto right = segments_of(path);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& a, const auto& b) { return a == b || a.starts_with('{'); });
}

std::string type_of(const Json& value) {
  if (value.is_object())
    return "object";
  if (value.is_array())
    return "array";
  if (value.is_string())
    return "string";
  if (value.is_boolean())
    return "boolean";
  return value.is_integer() ? "integer" : value.is_number() ? "number" : "null";
}

bool has_format(const std::string& format, const std::string& text) {
  static const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  static const std::regex time(R"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z)");
  return (format != "uuid" || std::regex_match(text, uuid)) && (format != "date-time" || std::regex_match(text, time));
}

} // namespace

Contract::Contract(const std::string& path) {
  const YAML::Node document = YAML::LoadFile(path);
  for (const auto& schema : document["components"]["schemas"])
    schemas_.emplace(schema.first.as<std::string>(), read_schema(schema.second));
  static const std::set<std::string> methods{"get", "post", "put", "patch", "delete"};
  for (const auto& entry : document["paths"])
    for (const auto& method : entry.second)
      if (methods.contains(method.first.as<std::string>()))
        operations_.push_back(
          read_operation(document, entry.first.as<std::string>(), method.first.as<std::string>(), method.second));
  if (operations_.empty())
    throw std::runtime_error(path + " has no operations");
}

const Operation* Contract::find(const std::string& method, const std::string& path) const {
  const std::string bare = path.substr(0, path.find('?'));
  const auto found = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.method == method && matches(operation.path, bare);
  });
  return found == operations_.end() ? nullptr : &*found;
}

std::string Contract::complaints(const Operation& operation, const Response& response) const {
  const std::string status = std::to_string(response.status);
  auto promised = operation.responses.find(status);
  if (promised == operation.responses.end())
    promised = operation.responses.find(status.substr(0, 1) + "XX");
  if (promised == operation.responses.end())
    promised = operation.responses.find("default");
  if (promised == operation.responses.end())
    return "status " + status + " is not promised\n";
  if (promised->second.empty())
    return response.body.empty() ? "" : "a body is not promised\n";
  const std::string type = response.header("content-type");
  const auto schema = promised->second.find(type.substr(0, type.find(';')));
  if (schema == promised->second.end())
    return "media type '" + type + "' is not promised for " + status + "\n";
  std::string found;
  if (schema->first.ends_with("json"))
    check(schema->second, response.json(), "", found);
  return found;
}

void Contract::check(const Schema& schema, const Json& value, const std::string& at, std::string& complaints) const {
  if (!schema.reference.empty())
    return check(schemas_.at(schema.reference), value, at, complaints);
  const std::string type = type_of(value);
  const bool typed =
    schema.types.empty() || schema.types.contains(type) || (type == "integer" && schema.types.contains("number"));
  if (!typed) {
    complaints += at + ": is " + type + "\n";
    return;
  }
  if (type == "object")
    check_object(schema, value, at, complaints);
  if (type == "string")
    check_string(schema, value, at, complaints);
  if (type == "array" && schema.items != nullptr)
    for (const auto& item : value.items())
      check(*schema.items, item, at + "/*", complaints);
  for (const auto& part : schema.all_of)
    check(part, value, at, complaints);
  if (schema.one_of.empty())
    return;
  const bool any = std::any_of(schema.one_of.begin(), schema.one_of.end(), [&](const Schema& choice) {
    std::string ignored;
    check(choice, value, at, ignored);
    return ignored.empty();
  });
  if (!any)
    complaints += at + ": fits none of the choices\n";
}

void Contract::check_object(const Schema& schema, const Json& value, const std::string& at,
                            std::string& complaints) const {
  for (const auto& name : schema.required)
    if (!value.has(name))
      complaints += at + "/" + name + ": is missing\n";
  for (const auto& name : value.names()) {
    const auto property = schema.properties.find(name);
    if (property != schema.properties.end())
      check(property->second, value[name], at + "/" + name, complaints);
    else if (schema.closed)
      complaints += at + "/" + name + ": is not promised\n";
    // No answer has a null anywhere (spec 05).
    if (value[name].is_null())
      complaints += at + "/" + name + ": is null\n";
  }
}

void Contract::check_string(const Schema& schema, const Json& value, const std::string& at,
                            std::string& complaints) const {
  const std::string text = value.string();
  if (!schema.values.empty() && std::find(schema.values.begin(), schema.values.end(), text) == schema.values.end())
    complaints += at + ": '" + text + "' is none of the promised values\n";
  if (schema.pattern && !std::regex_search(text, *schema.pattern))
    complaints += at + ": '" + text + "' does not match its pattern\n";
  if (!has_format(schema.format, text))
    complaints += at + ": '" + text + "' is no " + schema.format + "\n";
}

const Contract& contract() {
  static const Contract loaded(CLEAT_OPENAPI);
  return loaded;
}

void hold_against_contract(const std::string& method, const std::string& path, const Response& response) {
  const Operation* operation = contract().find(method, path);
  if (operation == nullptr)
    return;
  const std::string complaints = contract().complaints(*operation, response);
  if (!complaints.empty())
    ADD_FAILURE() << "the answer to " << operation->id << " is not what docs/openapi.yaml promises:\n"
                  << complaints << response.status << " " << response.body;
}

} // namespace cleat::test
