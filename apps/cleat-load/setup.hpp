#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apps/cleat-load/answer_json.hpp"
#include "apps/cleat-load/connections.hpp"
#include "apps/cleat-load/target.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {

/// Calls that prepare or tidy what is loaded, as the instance's owner unless a request names another token. None of
/// them is measured.
class Setup {
public:
  /// Fills in the `i`-th request. It arrives without a method, a target or a body.
  using Fill = std::function<void(std::size_t i, Request&)>;
  /// Takes the answer to the `i`-th request.
  using Take = std::function<void(std::size_t i, const JsonObject&)>;

  /// Throws `std::runtime_error` when the owner's token is not known or the server takes no connection. Idempotency
  /// keys start with `run`.
  Setup(const Target& target, std::string run, std::size_t connections, std::chrono::seconds patience);

  /// `count` requests, spread over all connections. Throws `std::runtime_error` when one is refused.
  void each(std::size_t count, const Fill& fill, const Take& take);

  /// One request; answers the string member `member` of the answer.
  std::string one(std::string_view method, const std::string& target, const json::Writer& body,
                  std::string_view member);

  /// Makes a request a write.
  void write(Request& request, std::string_view method, std::string target, std::string body);

private:
  std::string token_;
  std::string run_;
  Connections connections_;
  std::size_t writes_ = 0;
};

} // namespace cleat::load
