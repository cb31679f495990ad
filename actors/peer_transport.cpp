#include "actors/peer_transport.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/atom.hpp>
#include <caf/detail/socket_guard.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor_impl.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/doorman_impl.hpp>
#include <caf/io/network/interfaces.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace cleat::actors {
namespace {

namespace network = caf::io::network;
using network::native_socket;
using network::rw_state;

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};

std::string reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  return text != nullptr ? text : "no reason given";
}

} // namespace

struct PeerTls::State {
  std::unique_ptr<SSL_CTX, FreeContext> context;
};

PeerTls::PeerTls(const std::string& certificate_file, const std::string& key_file, const std::string& ca_file)
  : state_(std::make_unique<State>()) {
  ERR_clear_error();
  state_->context.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = state_->context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1)
    throw std::runtime_error("OpenSSL offers no TLS 1.3: " + reason());
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1)
    throw std::runtime_error("cannot use the certificate chain in " + certificate_file + ": " + reason());
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    throw std::runtime_error("cannot use the private key in " + key_file + ": " + reason());
  if (SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1)
    throw std::runtime_error("cannot use the certificate authority in " + ca_file + ": " + reason());
  // Servers are both sides of TLS with one certificate, so what it was made for is not asked; who made it is.
  SSL_CTX_set_purpose(context, X509_PURPOSE_ANY);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

PeerTls::~PeerTls() = default;

namespace {

/// One end of a connection. OpenSSL keeps errors by thread, and all connections share the event loop's, so every step
/// begins with an empty queue.
class TlsSocket {
public:
  TlsSocket(const PeerTls& tls, native_socket socket, bool is_client) : session_(SSL_new(tls.state().context.get())) {
    ERR_clear_error();
    if (!session_ || SSL_set_fd(session_.get(), socket) != 1)
      throw std::runtime_error("cannot make a TLS session: " + reason());
    if (is_client)
      SSL_set_connect_state(session_.get());
    else
      SSL_set_accept_state(session_.get());
  }

  /// Goes on with the handshake as far as it goes without waiting.
  [[nodiscard]] bool shake_hands() {
    if (is_established_)
      return true;
    ERR_clear_error();
    const int result = SSL_do_handshake(session_.get());
    if (result != 1)
      return must_wait(result);
    is_established_ = true;
    const std::vector<char> early = std::exchange(early_, {});
    std::size_t written = 0;
    // The handshakes of CAF's protocol are some hundred bytes, and the socket's buffer is empty.
    return early.empty() ||
           (SSL_write_ex(session_.get(), early.data(), early.size(), &written) == 1 && written == early.size());
  }

  rw_state read_some(std::size_t& result, native_socket, void* buffer, std::size_t size) {
    result = 0;
    if (!shake_hands())
      return rw_state::failure;
    if (!is_established_)
      return rw_state::success;
    ERR_clear_error();
    const int outcome = SSL_read_ex(session_.get(), buffer, size, &result);
    return outcome == 1 || must_wait(outcome) ? rw_state::success : rw_state::failure;
  }

  rw_state write_some(std::size_t& result, native_socket, const void* buffer, std::size_t size) {
    result = 0;
    if (!shake_hands())
      return rw_state::failure;
    if (size == 0)
      return rw_state::indeterminate;
    if (!is_established_) {
      // Taken and kept, because a socket that can be written would be asked again and again until the peer answers.
      const auto* const first = static_cast<const char*>(buffer);
      early_.insert(early_.end(), first, first + size);
      result = size;
      return rw_state::success;
    }
    ERR_clear_error();
    const int outcome = SSL_write_ex(session_.get(), buffer, size, &result);
    return outcome == 1 || must_wait(outcome) ? rw_state::success : rw_state::failure;
  }

  bool must_read_more(native_socket, std::size_t threshold) {
    return static_cast<std::size_t>(SSL_pending(session_.get())) >= threshold;
  }

private:
  [[nodiscard]] bool must_wait(int result) const {
    const int why = SSL_get_error(session_.get(), result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
  }

  std::unique_ptr<SSL, FreeSession> session_;
  bool is_established_ = false;
  /// What was to be sent before the handshake was over.
  std::vector<char> early_;
};

/// CAF's scribe with TLS below it.
class TlsScribe final : public caf::io::scribe {
public:
  TlsScribe(network::default_multiplexer& multiplexer, native_socket socket, TlsSocket tls)
    : scribe(network::conn_hdl_from_socket(socket)), stream_(multiplexer, socket, std::move(tls)) {}

  void configure_read(caf::io::receive_policy::config config) override {
    stream_.configure_read(config);
    if (!std::exchange(is_launched_, true))
      stream_.start(this);
  }
  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void graceful_shutdown() override {
    stream_.graceful_shutdown();
    detach(&stream_.backend(), false);
  }
  void flush() override { stream_.flush(this); }
  [[nodiscard]] std::string addr() const override {
    const auto address = network::remote_addr_of_fd(stream_.fd());
    return address ? *address : std::string();
  }
  [[nodiscard]] std::uint16_t port() const override {
    const auto port = network::remote_port_of_fd(stream_.fd());
    return port ? *port : std::uint16_t{0};
  }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

private:
  bool is_launched_ = false;
  network::stream_impl<TlsSocket> stream_;
};

/// Takes a socket over; nothing when it cannot begin to speak TLS.
caf::io::scribe_ptr tls_scribe(caf::actor_system& system, const PeerTls& tls, native_socket socket, bool is_client) {
  caf::detail::socket_guard guard{socket};
  if (!network::nonblocking(socket, true))
    return nullptr;
  try {
    TlsSocket session(tls, socket, is_client);
    if (!session.shake_hands())
      return nullptr;
    auto& multiplexer = dynamic_cast<network::default_multiplexer&>(system.middleman().backend());
    auto scribe = caf::make_counted<TlsScribe>(multiplexer, socket, std::move(session));
    guard.release();
    return scribe;
  } catch (const std::exception&) {
    return nullptr; // there is no memory for one more
  }
}

class TlsDoorman final : public network::doorman_impl {
public:
  TlsDoorman(network::default_multiplexer& multiplexer, native_socket socket, std::shared_ptr<const PeerTls> tls)
    : network::doorman_impl(multiplexer, socket), tls_(std::move(tls)) {}

  bool new_connection() override {
    if (detached())
      return false;
    auto scribe = tls_scribe(parent()->system(), *tls_, acceptor_.accepted_socket(), false);
    if (!scribe)
      return false;
    const auto handle = scribe->hdl();
    parent()->add_scribe(std::move(scribe));
    return doorman::new_connection(&acceptor_.backend(), handle);
  }

private:
  std::shared_ptr<const PeerTls> tls_;
};

class TlsMiddleman final : public caf::io::middleman_actor_impl {
public:
  TlsMiddleman(caf::actor_config& config, caf::actor broker, std::shared_ptr<const PeerTls> tls)
    : caf::io::middleman_actor_impl(config, std::move(broker)), tls_(std::move(tls)) {}

  [[nodiscard]] const char* name() const override { return "cleat.tls_middleman"; }

protected:
  caf::expected<caf::io::scribe_ptr> connect(const std::string& host, std::uint16_t port) override {
    const auto socket = network::new_tcp_connection(host, port);
    if (!socket)
      return socket.error();
    auto scribe = tls_scribe(system(), *tls_, *socket, true);
    if (!scribe)
      return caf::make_error(caf::sec::cannot_connect_to_node);
    return scribe;
  }

  caf::expected<caf::io::doorman_ptr> open(std::uint16_t port, const char* address, bool reuse) override {
    const auto socket = network::new_tcp_acceptor_impl(port, address, reuse);
    if (!socket)
      return socket.error();
    auto& multiplexer = dynamic_cast<network::default_multiplexer&>(system().middleman().backend());
    return caf::io::doorman_ptr(caf::make_counted<TlsDoorman>(multiplexer, *socket, tls_));
  }

private:
  std::shared_ptr<const PeerTls> tls_;
};

} // namespace

caf::io::middleman_actor spawn_tls_middleman(caf::actor_system& system, std::shared_ptr<const PeerTls> tls) {
  const auto broker = system.middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"));
  return system.spawn<TlsMiddleman, caf::detached>(broker, std::move(tls));
}

} // namespace cleat::actors
