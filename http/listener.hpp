#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <httplib.h>

#include "http/message.hpp"
#include "http/options.hpp"
#include "http/thread_pool.hpp"

namespace cleat::http {

class Connection;

/// cpp-httplib's server with the connection loop replaced: it reads heads strictly, keeps to deadlines, answers what
/// is no request with a problem as well, and drains. The library still accepts, reads bodies and writes answers.
class Listener final : private httplib::Server {
public:
  /// Makes the conversation of a new connection, on that connection's thread; on the accepting one for a connection
  /// that is refused.
  using Converse = std::function<std::unique_ptr<Conversation>()>;

  /// Reads the certificate, where the options name one. Throws `std::runtime_error`.
  Listener(const HttpOptions& options, Converse converse);
  ~Listener() override;

  /// Binds, listens and starts accepting. Returns the port. Throws `std::runtime_error`.
  std::uint16_t start();

  /// Reads the certificate and its key again, for the connections to come. Throws `std::runtime_error` when they cannot
  /// be used; then nothing has changed. Without TLS there is nothing to read.
  void reload_certificates();

  /// No more connections; the ones there are end after the request they are in. Waits for them until `options.drain`
  /// is over. Returns whether all have ended.
  bool drain();

  /// Cuts the connections that are left and joins all threads.
  void stop();

private:
  bool process_and_close_socket(socket_t socket) override;

  void set_up_library();
  /// What the library calls with a request whose body, if any, has still to be read.
  void serve(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader* reader);
  void serve_error(httplib::Response& response);
  bool process(Connection& connection);
  void converse(socket_t socket);
  void refuse_connection(socket_t socket);
  void accept_until_drained();
  void stop_accepting();

  const HttpOptions options_;
  const Converse converse_;
  /// None: everything is said in the clear.
  const std::unique_ptr<tls::ServerIdentity> identity_;
  ThreadPool threads_;
  std::thread acceptor_;
  std::atomic<std::thread::id> acceptor_id_;
  /// A second descriptor of the listening socket. The library closes its own whenever accepting fails.
  int listen_fd_ = -1;
  /// Readable once connections shall end; never read from.
  int wake_fd_ = -1;
  std::atomic<bool> draining_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<socket_t> open_;
  bool accepting_ = false;
};

} // namespace cleat::http
