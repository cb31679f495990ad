#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cleat::test {

struct Response;

/// One operation of the API.
struct Operation {
  std::string id;
  std::string method; ///< upper case
  std::string path;   ///< with `{parameters}`
  bool needs_token = true;
  bool takes_body = false;
};

/// The operations of `docs/openapi.yaml`, the contract between the server and its clients (spec 05). Whether answers
/// are what it promises is judged by `tests/contract`, from the records below.
class Contract {
public:
  /// Reads the file; throws when it is no OpenAPI document.
  explicit Contract(const std::string& path);

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

  /// The operation that a request belongs to, or nullptr. A query in `path` is ignored.
  [[nodiscard]] const Operation* find(const std::string& method, const std::string& path) const;

private:
  std::vector<Operation> operations_;
};

/// The project's contract.
const Contract& contract();

/// A request as it was sent, without its headers.
struct SentRequest {
  std::string method;
  std::string path; ///< with the query
  std::optional<std::string> body = {};
};

/// Writes an answer down for `tests/contract/validate.mjs`, into the folder that the environment variable
/// `CONTRACT_ANSWERS` names; without one nothing is written. Of a stream of events the body is what was read of it. Of
/// equal answers (test, operation and status) only the first are written, so that a test with a crowd of clients is a
/// sample. Any thread may call it.
void record_answer(const SentRequest& request, const Response& response);

} // namespace cleat::test
