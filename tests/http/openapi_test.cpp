#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <yaml-cpp/yaml.h>

#include "http/route.hpp"

/// Holds docs/openapi.yaml against the routes, in both directions (spec 05).
namespace cleat::http {
namespace {

using Operations = std::map<std::pair<std::string, std::string>, YAML::Node>;

const YAML::Node& contract() {
  static const YAML::Node document = YAML::LoadFile(CLEAT_OPENAPI);
  return document;
}

/// The operations by method (upper case) and path.
Operations operations() {
  Operations result;
  for (const auto& path : contract()["paths"])
    for (const auto& member : path.second) {
      auto method = member.first.as<std::string>();
      std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
      if (method != "PARAMETERS")
        result.emplace(std::pair{method, path.first.as<std::string>()}, member.second);
    }
  return result;
}

YAML::Node resolve(const YAML::Node& node) {
  if (!node["$ref"])
    return node;
  const auto reference = node["$ref"].as<std::string>();
  const auto kind_begin = reference.find('/', 2) + 1;
  const auto kind_end = reference.find('/', kind_begin);
  return contract()["components"][reference.substr(kind_begin, kind_end - kind_begin)][reference.substr(kind_end + 1)];
}

std::set<std::string> parameters(const YAML::Node& owner, const std::string& where) {
  std::set<std::string> names;
  for (const auto& node : owner["parameters"])
    if (const auto parameter = resolve(node); parameter["in"].as<std::string>() == where)
      names.insert(parameter["name"].as<std::string>());
  return names;
}

std::set<std::string> names_in(std::string_view pattern) {
  std::set<std::string> names;
  for (auto begin = pattern.find('{'); begin != std::string_view::npos; begin = pattern.find('{', begin + 1))
    names.emplace(pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1));
  return names;
}

/// The route's operation in the contract; an undefined node when it has none.
YAML::Node operation_of(const Route& route) {
  const auto all = operations();
  const auto found = all.find({std::string(route.method), std::string(route.pattern)});
  return found == all.end() ? YAML::Node(YAML::NodeType::Undefined) : found->second;
}

TEST(OpenApi, DescribesEveryRouteUnderItsName) {
  for (const auto& route : routes()) {
    const auto operation = operation_of(route);
    ASSERT_TRUE(operation) << route.method << ' ' << route.pattern;
    EXPECT_EQ(operation["operationId"].as<std::string>(), route.operation);
    EXPECT_FALSE(operation["summary"].as<std::string>().empty());
    EXPECT_EQ(operation["tags"].size(), 1U);
  }
}

TEST(OpenApi, DescribesNothingThatIsNotThere) {
  EXPECT_EQ(operations().size(), routes().size());
  std::set<std::string> ids;
  for (const auto& [where, operation] : operations()) {
    EXPECT_TRUE(ids.insert(operation["operationId"].as<std::string>()).second) << where.second;
    const auto found = std::ranges::any_of(
      routes(), [&](const Route& route) { return route.method == where.first && route.pattern == where.second; });
    EXPECT_TRUE(found) << where.first << ' ' << where.second;
  }
}

TEST(OpenApi, NamesTheSameParameters) {
  for (const auto& route : routes()) {
    const auto operation = operation_of(route);
    const auto& path = contract()["paths"][std::string(route.pattern)];
    EXPECT_EQ(parameters(path, "path"), names_in(route.pattern)) << route.pattern;
    EXPECT_EQ(parameters(operation, "query"), std::set<std::string>(route.parameters.begin(), route.parameters.end()))
      << route.operation;
    EXPECT_EQ(parameters(operation, "header").contains("Idempotency-Key"), route.writes) << route.operation;
    EXPECT_EQ(parameters(operation, "header").contains("If-Match"), operation["responses"]["412"].IsDefined())
      << route.operation;
  }
}

TEST(OpenApi, AsksForATokenWhereTheServerDoes) {
  ASSERT_EQ(contract()["security"].size(), 1U);
  for (const auto& route : routes()) {
    const auto security = operation_of(route)["security"];
    EXPECT_EQ(security.IsDefined() && security.size() == 0, route.is_open()) << route.operation;
  }
}

TEST(OpenApi, PromisesTheAnswersThatCanCome) {
  for (const auto& route : routes()) {
    const auto responses = operation_of(route)["responses"];
    const auto has = [&](const char* status) { return responses[status].IsDefined(); };
    EXPECT_TRUE(has("200") || has("201") || has("202") || has("204")) << route.operation;
    EXPECT_TRUE(has("500")) << route.operation;
    for (const auto* status : {"400", "401"})
      EXPECT_EQ(has(status), !route.is_open()) << route.operation << ' ' << status;
    EXPECT_TRUE(has("503") || route.is_open()) << route.operation;
    const bool by_handle = route.pattern.find("/agent-session-operations/") != std::string_view::npos;
    EXPECT_EQ(has("404"), by_handle || !names_in(route.pattern).empty()) << route.operation;
    for (const auto* status : {"409", "422"})
      EXPECT_EQ(has(status), route.writes) << route.operation << ' ' << status;
    // A look at a handle takes a body and changes nothing.
    for (const auto* status : {"413", "415"})
      EXPECT_EQ(has(status), route.writes || route.takes_body) << route.operation << ' ' << status;
  }
}

TEST(OpenApi, TakesBodiesWhereTheServerDoesAndClosesTheirSchemas) {
  for (const auto& route : routes()) {
    const auto body = operation_of(route)["requestBody"];
    if (!route.takes_body) {
      EXPECT_TRUE(!body || body["content"]["application/json"]["schema"]["$ref"].as<std::string>().ends_with("/Empty"))
        << route.operation;
      continue;
    }
    ASSERT_TRUE(body) << route.operation;
    const auto schema = resolve(body["content"]["application/json"]["schema"]);
    EXPECT_FALSE(schema["additionalProperties"].as<bool>(true)) << route.operation;
  }
}

/// The names of an enumeration that starts at 0 and whose last value is `last`.
template <class E>
std::set<std::string> names_until(E last) {
  std::set<std::string> names;
  for (int value = 0; value <= static_cast<int>(last); ++value)
    if (const auto name = to_string(static_cast<E>(value)); !name.empty())
      names.emplace(name);
  return names;
}

std::set<std::string> values_of_schema(const std::string& schema) {
  std::set<std::string> names;
  for (const auto& value : contract()["components"]["schemas"][schema]["enum"])
    names.insert(value.as<std::string>());
  return names;
}

TEST(OpenApi, NamesEveryCode) {
  EXPECT_EQ(values_of_schema("ProblemCode"), names_until(Code::runner_unavailable));
  EXPECT_EQ(values_of_schema("ProblemReason"), names_until(Reason::release_gate));
  EXPECT_EQ(values_of_schema("FieldCode"), names_until(FieldCode::unknown_reference));
}

TEST(OpenApi, KnowsTheLimits) {
  const auto& components = contract()["components"];
  EXPECT_EQ(components["parameters"]["Limit"]["schema"]["maximum"].as<std::int64_t>(), limits::page_max);
  EXPECT_EQ(components["parameters"]["Limit"]["schema"]["default"].as<std::int64_t>(), limits::page_default);
  EXPECT_EQ(components["parameters"]["IdempotencyKey"]["schema"]["maxLength"].as<std::int64_t>(),
            limits::idempotency_key_max_bytes);
  EXPECT_EQ(components["parameters"]["WaitSeconds"]["schema"]["maximum"].as<std::int64_t>(), limits::poll_wait_max_s);
  EXPECT_EQ(components["schemas"]["Name"]["maxLength"].as<std::int64_t>(), limits::name_max_characters);
}

TEST(OpenApi, ReferencesLeadSomewhere) {
  std::vector<YAML::Node> open{contract()};
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    if (node.IsMap() && node["$ref"]) {
      EXPECT_TRUE(resolve(node).IsMap()) << node["$ref"].as<std::string>();
    }
    for (const auto& child : node)
      open.push_back(node.IsMap() ? child.second : static_cast<const YAML::Node&>(child));
  }
}

} // namespace
} // namespace cleat::http
