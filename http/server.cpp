#include "http/server.hpp"

#include <utility>

#include "http/actor_backend.hpp"
#include "http/dispatcher.hpp"
#include "http/listener.hpp"

namespace cleat::http {
namespace {

/// A connection's way to the dispatcher, and its place in the gauge of open connections.
class ApiConversation final : public Conversation {
public:
  ApiConversation(Dispatcher& dispatcher, std::unique_ptr<Backend> backend, prometheus::Gauge& open)
    : dispatcher_(dispatcher), backend_(std::move(backend)), open_(open) {
    open_.Increment();
  }
  ~ApiConversation() override { open_.Decrement(); }

  ApiConversation(const ApiConversation&) = delete;
  ApiConversation& operator=(const ApiConversation&) = delete;

  Outgoing answer(const Incoming& incoming, Line& line) override {
    return dispatcher_.answer(incoming, *backend_, line);
  }
  Outgoing fault(Code code) override { return dispatcher_.fault(code); }

private:
  Dispatcher& dispatcher_;
  const std::unique_ptr<Backend> backend_;
  prometheus::Gauge& open_;
};

HttpOptions validated(const HttpOptions& options) {
  options.validate();
  return options;
}

} // namespace

struct Server::Impl {
  Impl(const HttpOptions& given, Dependencies deps)
    : options(validated(given)),
      dependencies(std::move(deps)),
      dispatcher(options, dependencies.metrics, dependencies.clock),
      listener(options, [this] {
        return std::make_unique<ApiConversation>(
          dispatcher, make_actor_backend(dependencies.system, dependencies.frontends, options),
          dependencies.metrics->http_connections);
      }) {}

  const HttpOptions options;
  const Dependencies dependencies;
  Dispatcher dispatcher;
  Listener listener;
};

Server::Server(const HttpOptions& options, Dependencies dependencies)
  : impl_(std::make_unique<Impl>(options, std::move(dependencies))) {}

Server::~Server() {
  stop();
}

std::uint16_t Server::start() {
  return impl_->listener.start();
}

void Server::reload_certificates() {
  impl_->listener.reload_certificates();
}

bool Server::drain() {
  impl_->dispatcher.drain();
  return impl_->listener.drain();
}

void Server::stop() {
  impl_->dispatcher.drain();
  impl_->listener.stop();
}

} // namespace cleat::http
