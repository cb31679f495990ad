#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tests/process/json.hpp"

namespace httplib {
class Client;
}

namespace cleat::test {

/// Where a server listens.
struct Endpoint {
  std::string host;
  int port = 0;
  /// A PEM file with the authority of its certificate; empty when it speaks in the clear.
  std::string authority = {};
};

/// Header names in lower case and their values.
using Headers = std::multimap<std::string, std::string>;

/// What a server answered.
struct Response {
  int status = 0;
  std::string body;
  Headers headers;

  /// The body as JSON; throws when it is none.
  [[nodiscard]] Json json() const { return Json::parse(body); }

  /// The value of a header (lower-case name); empty when it is absent.
  [[nodiscard]] std::string header(const std::string& name) const;

  /// `code` and `reason` of problem details as `code` or `code/reason`; empty for anything else.
  [[nodiscard]] std::string problem() const;

  /// The names and values of all headers that spec 05 does not let differ between uniform answers.
  [[nodiscard]] Headers uniform_headers() const;
};

/// One principal's connection to a server: a token and a kept-alive socket. Not for several threads at once.
///
/// Every answer is written down (see `contract.hpp`), and the test `contract_answers` holds it against
/// `docs/openapi.yaml`.
class Client {
public:
  /// An empty token sends no Authorization. `patience` is for each step of a request; by default it is long enough for
  /// a loaded machine, and short enough to notice a server that hangs.
  Client(Endpoint endpoint, std::string token, std::chrono::milliseconds patience = std::chrono::seconds{60});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Each throws `std::runtime_error` when no answer comes. A body goes out as `application/json`.
  Response get(const std::string& path, const Headers& headers = {});
  Response post(const std::string& path, const std::string& body, const Headers& headers = {});
  Response patch(const std::string& path, const std::string& body, const Headers& headers = {});
  Response put(const std::string& path, const std::string& body, const Headers& headers = {});
  Response del(const std::string& path, const Headers& headers = {});

  /// Any request; `nullopt` when the connection was lost or refused before a whole answer came. Without a body there
  /// is no Content-Type either.
  std::optional<Response> send(const std::string& method, const std::string& path,
                               const std::optional<std::string>& body = std::nullopt, const Headers& headers = {});

  /// Whether the last request without an answer may have reached a server: false when there was nobody to connect to.
  [[nodiscard]] bool may_have_arrived() const { return may_have_arrived_; }

private:
  Response expect(const std::string& method, const std::string& path, const std::optional<std::string>& body,
                  const Headers& headers);

  Endpoint endpoint_;
  std::string token_;
  std::unique_ptr<httplib::Client> http_;
  bool may_have_arrived_ = true;
};

} // namespace cleat::test
