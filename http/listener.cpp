#include "http/listener.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.hpp"
#include "http/connection.hpp"
#include "http/thread_pool.hpp"

namespace cleat::http {
namespace {

/// The connection that this thread serves. The library hands its handlers nothing but the request, and a connection
/// keeps its thread for its whole life, so the thread is what tells them apart.
thread_local Connection* served = nullptr;

/// How long a connection that ends with unread bytes is given to read its answer.
constexpr std::chrono::milliseconds linger_time = std::chrono::seconds(1);

/// What the library hands connections to. Its shutdown does nothing: connections outlive a failure to accept.
class PoolHandle final : public httplib::TaskQueue {
public:
  /// `void` or `bool`, as this version of the library has it.
  using Accepted = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));

  explicit PoolHandle(ThreadPool& threads) : threads_(threads) {}

  Accepted enqueue(std::function<void()> job) override {
    threads_.run(std::move(job));
    return static_cast<Accepted>(true);
  }

  void shutdown() override {}

private:
  ThreadPool& threads_;
};

std::unique_ptr<tls::ServerIdentity> identity_of(const HttpOptions& options) {
  if (!options.encrypts())
    return nullptr;
  try {
    return std::make_unique<tls::ServerIdentity>(
      tls::ServerOptions{options.certificate_file, options.key_file, options.oldest_tls, "http/1.1"});
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("http.certificate and http.key do not work: " + std::string(error.what()));
  }
}

} // namespace

Listener::Listener(const HttpOptions& options, Converse converse)
  : options_(options),
    converse_(std::move(converse)),
    identity_(identity_of(options)),
    threads_(options.max_connections, options.keep_alive),
    wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0)
    throw std::runtime_error("no event descriptor: " + std::string(std::strerror(errno)));
  set_up_library();
}

Listener::~Listener() {
  stop();
  ::close(wake_fd_);
  if (listen_fd_ >= 0)
    ::close(listen_fd_);
}

void Listener::set_up_library() {
  set_tcp_nodelay(true);
  set_socket_options([](socket_t socket) {
    // Not SO_REUSEPORT, the library's default: two servers must not share a port by accident.
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  set_payload_max_length(options_.max_json_body_bytes);
  new_task_queue = [this]() -> httplib::TaskQueue* {
    auto handle = std::make_unique<PoolHandle>(threads_);
    const std::lock_guard lock(mutex_);
    accepting_ = true;
    changed_.notify_all();
    return handle.release();
  };
  const auto without_body = [this](const httplib::Request& request, httplib::Response& response) {
    serve(request, response, nullptr);
  };
  const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) { serve(request, response, &reader); };
  Get("/", without_body);
  Options("/", without_body);
  Post("/", with_body);
  Put("/", with_body);
  Patch("/", with_body);
  Delete("/", with_body);
  set_error_handler([this](const httplib::Request&, httplib::Response& response) { serve_error(response); });
  set_exception_handler([this](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
    response.status = problem_info(Code::internal).status;
    serve_error(response);
  });
  set_post_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    served->finish(request, response, draining_);
  });
}

std::uint16_t Listener::start() {
  const int port = options_.port == 0                           ? bind_to_any_port(options_.host)
                   : bind_to_port(options_.host, options_.port) ? options_.port
                                                                : -1;
  // The library listens with a backlog of 5; listening again on the same descriptor only changes that.
  if (port <= 0 || ::listen(svr_sock_, options_.listen_backlog) != 0)
    throw std::runtime_error("cannot listen on " + options_.host + ":" + std::to_string(options_.port) + " (" +
                             std::strerror(errno) + "); choose another address with http.listen");
  listen_fd_ = ::fcntl(svr_sock_, F_DUPFD_CLOEXEC, 0);
  acceptor_ = std::thread(&Listener::accept_until_drained, this);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return accepting_; });
  return static_cast<std::uint16_t>(port);
}

void Listener::accept_until_drained() {
  acceptor_id_ = std::this_thread::get_id();
  // The library gives up, and closes its descriptor, on any error of accept that it does not know (no memory, too many
  // files in the system). The port is not given up for that.
  while (!listen_after_bind() && !draining_) {
    log::get().error("accepting connections failed and is started again");
    svr_sock_ = ::fcntl(listen_fd_, F_DUPFD_CLOEXEC, 0);
    const std::lock_guard lock(mutex_);
    // Newer versions do not listen a second time; then there is nothing left to try.
    if (!std::exchange(accepting_, false))
      break;
  }
}

void Listener::serve(const httplib::Request&, httplib::Response& response, const httplib::ContentReader* reader) {
  if (reader != nullptr)
    served->read_body(*reader);
  served->answer(response);
}

void Listener::serve_error(httplib::Response& response) {
  served->answer_library_error(response);
}

bool Listener::process_and_close_socket(socket_t socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  // The pool runs a connection on the accepting thread when it has no other thread for it.
  const bool refused = std::this_thread::get_id() == acceptor_id_.load();
  {
    const std::lock_guard lock(mutex_);
    open_.insert(socket);
  }
  try {
    refused ? refuse_connection(socket) : converse(socket);
  } catch (const std::exception& error) {
    log::get().error("a connection ended with an exception: {}", error.what());
  }
  const std::lock_guard lock(mutex_);
  open_.erase(socket);
  ::close(socket);
  changed_.notify_all();
  return !refused;
}

void Listener::converse(socket_t socket) {
  Connection connection(socket, wake_fd_, options_, identity_ ? identity_->current() : nullptr, converse_());
  auto& stream = connection.stream;
  if (!stream.shake_hands(options_.read_timeout)) {
    log::get().debug("a connection ended during its TLS handshake: {}",
                     stream.tls_error().empty() ? "the client said nothing more" : stream.tls_error());
    // So that the client reads the alert.
    if (stream.failed())
      stream.linger(linger_time);
    return;
  }
  served = &connection;
  while (connection.next_request() && process(connection) && stream.flush()) {
  }
  served = nullptr;
  const bool sent = stream.flush();
  stream.say_the_end();
  if (sent && connection.closes())
    stream.linger(linger_time);
}

bool Listener::process(Connection& connection) {
  bool closed = false;
  const auto prepare = [&connection](httplib::Request& request) { connection.prepare(request); };
#if CLEAT_HTTPLIB_TAKES_ADDRESSES
  return process_request(connection.stream, {}, 0, {}, 0, false, closed, prepare) && !connection.closes();
#else
  return process_request(connection.stream, false, closed, prepare) && !connection.closes();
#endif
}

void Listener::refuse_connection(socket_t socket) {
  const auto answer = converse_()->fault(Code::overloaded);
  // A handshake takes its time, so a client that speaks TLS is told no more than that it is not its fault.
  const auto bytes = identity_ ? std::string(tls::refusal()) : serialize(answer, false);
  // Never wait here: everybody who wants to connect would wait as well.
  ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
}

void Listener::reload_certificates() {
  if (identity_)
    identity_->reload();
}

void Listener::stop_accepting() {
  if (draining_.exchange(true))
    return;
  ::shutdown(listen_fd_, SHUT_RDWR);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof(one));
}

bool Listener::drain() {
  stop_accepting();
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, options_.drain, [this] { return open_.empty(); });
}

void Listener::stop() {
  if (!acceptor_.joinable())
    return;
  stop_accepting();
  {
    const std::lock_guard lock(mutex_);
    for (const auto socket : open_)
      ::shutdown(socket, SHUT_RDWR);
  }
  acceptor_.join();
  threads_.stop();
}

} // namespace cleat::http
