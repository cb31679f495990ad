#pragma once

#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/process/json.hpp"

namespace cleat::test {

struct Response;

/// The part of JSON Schema that `docs/openapi.yaml` uses. Read once, never changed, so any thread may check with it.
struct Schema {
  std::string reference; ///< name of the schema that stands for this one
  std::set<std::string> types;
  std::string format;
  std::optional<std::regex> pattern;
  std::vector<std::string> values; ///< of `enum` or `const`
  std::map<std::string, Schema> properties;
  std::vector<std::string> required;
  bool closed = false; ///< `additionalProperties: false`
  std::shared_ptr<const Schema> items;
  std::vector<Schema> all_of;
  std::vector<Schema> one_of; ///< of `oneOf` or `anyOf`
};

/// One operation of the API.
struct Operation {
  std::string id;
  std::string method; ///< upper case
  std::string path;   ///< with `{parameters}`
  bool needs_token = true;
  bool takes_body = false;
  /// Media types and schemas of the bodies by status (`200`, `4XX`, `default`); no body is an empty map.
  std::map<std::string, std::map<std::string, Schema>> responses;
};

/// `docs/openapi.yaml`, the contract between the server and its clients (spec 05).
class Contract {
public:
  /// Reads the file; throws when it is no OpenAPI document.
  explicit Contract(const std::string& path);

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

  /// The operation that a request belongs to, or nullptr. A query in `path` is ignored.
  [[nodiscard]] const Operation* find(const std::string& method, const std::string& path) const;

  /// Everything that is wrong with an answer, one a line; empty when it is as promised.
  [[nodiscard]] std::string complaints(const Operation& operation, const Response& response) const;

private:
  void check(const Schema& schema, const Json& value, const std::string& at, std::string& complaints) const;
  void check_object(const Schema& schema, const Json& value, const std::string& at, std::string& complaints) const;
  void check_string(const Schema& schema, const Json& value, const std::string& at, std::string& complaints) const;

  std::vector<Operation> operations_;
  std::map<std::string, Schema> schemas_;
};

/// The project's contract.
const Contract& contract();

/// Fails the running test when an answer of a known operation differs from the contract.
void hold_against_contract(const std::string& method, const std::string& path, const Response& response);

} // namespace cleat::test
