#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/metrics.hpp"
#include "http/authenticator.hpp"
#include "http/backend.hpp"
#include "http/message.hpp"
#include "http/options.hpp"
#include "http/rate_limiter.hpp"
#include "http/target.hpp"
#include "http/waiting_room.hpp"

namespace cleat::http {

/// What an operation's handler gets: the request with everything around the body checked already.
struct Call {
  const HttpOptions& options;
  Backend& backend;
  RequestContext context;
  /// The ids in the path, in its order, and what else it names (`path_values.hpp`).
  std::vector<Id> ids;
  std::vector<std::string> texts;
  const Query& query;
  std::string_view body;
  /// Set by a handler whose success makes remembered tokens or principals stale.
  bool identity_changes = false;

  /// Hands an operation of provisioning or reading to the actors.
  Result<Reply> ask(DirectoryOperation operation) {
    return backend.directory(DirectoryCommand{std::move(context), std::move(operation)});
  }
};

/// What the handler of an operation gets whose answer may take its time. What it refers to, `query`, `body` and `line`
/// aside, lives as long as the connection.
struct WaitingCall : Call {
  const HeaderFields& headers;
  Line& line;
  WaitingRoom& room;
  Credentials credentials;
};

/// What the handler of an open path gets, one that needs no token.
struct OpenCall {
  Backend& backend;
  const Metrics& metrics;
  bool draining;
};

/// An operation for principals.
using Handler = Result<Reply> (*)(Call&);
/// An operation for principals that may wait for something to happen, or send for as long as the client listens.
using WaitingHandler = Result<Outgoing> (*)(WaitingCall&);
/// A path of operation: health, metrics, documentation.
using OpenHandler = Outgoing (*)(const OpenCall&);

/// An operation of spec 05 "Surface": where it is found and what it does.
struct Route {
  std::string_view method;
  /// Segments; what stands in braces says what the segment is (`path_values.hpp`).
  std::string_view pattern;
  /// `operationId` in docs/openapi.yaml.
  std::string_view operation;
  RateClass rate{};
  /// Whether it changes something: takes an Idempotency-Key, and no answer in time means an unknown outcome.
  bool writes = false;
  /// Whether it takes a body. Others accept an empty one or `{}`.
  bool takes_body = false;
  /// The query parameters it knows.
  std::span<const std::string_view> parameters;
  std::variant<Handler, WaitingHandler, OpenHandler> handler;

  /// Whether it answers without a token.
  [[nodiscard]] bool is_open() const { return std::holds_alternative<OpenHandler>(handler); }
};

/// Every route of the server.
std::span<const Route> routes();

} // namespace cleat::http
