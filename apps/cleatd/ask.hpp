#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include <caf/error.hpp>
#include <caf/scoped_actor.hpp>

namespace cleat::cleatd {

/// Sends `message` to an actor and waits for its answer, at most a minute. Throws `std::runtime_error` when none
/// comes, because nothing that starts a server may go on without it.
template <class Response, class Handle, class Message>
Response ask(caf::scoped_actor& self, const Handle& actor, Message message) {
  std::optional<Response> response;
  self->request(actor, std::chrono::minutes(1), std::move(message))
    .receive([&](Response& answer) { response = std::move(answer); }, [](const caf::error&) {});
  if (!response)
    throw std::runtime_error("The database did not answer during the start. Look at its log and start cleatd again.");
  return std::move(*response);
}

} // namespace cleat::cleatd
