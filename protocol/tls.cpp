#include "protocol/tls.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace cleat::tls {
namespace {

/// The newest of OpenSSL's reasons in words.
std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "no reason given";
}

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};
using ContextPointer = std::unique_ptr<SSL_CTX, FreeContext>;
using SessionPointer = std::unique_ptr<SSL, FreeSession>;

ContextPointer new_context(const SSL_METHOD* method, int oldest) {
  ERR_clear_error();
  ContextPointer context(SSL_CTX_new(method));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), oldest) != 1)
    throw std::runtime_error("OpenSSL offers no TLS that is new enough: " + reason());
  // A buffer that has been handed over may be at another place when the write is tried again.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

/// A key with a passphrase is refused. OpenSSL's default asks at the terminal, and a server would wait there.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

/// Names as they stand in an ALPN extension: each behind its length.
std::string as_protocol_list(const std::string& name) {
  constexpr std::size_t longest = 255;
  if (name.size() > longest)
    throw std::runtime_error("the name of an application protocol is too long");
  return name.empty() ? std::string() : static_cast<char>(name.size()) + name;
}

/// Chooses the protocol of the server, which `ours` lists, when the client names it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* theirs,
                    unsigned int their_length, void* ours) {
  const auto& list = *static_cast<const std::string*>(ours);
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, length, reinterpret_cast<const unsigned char*>(list.data()),
                                            static_cast<unsigned int>(list.size()), theirs, their_length);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void harden(SSL_CTX* context) {
  // At least 112 bits everywhere: no RSA below 2048, no SHA-1.
  constexpr int security_level = 2;
  SSL_CTX_set_security_level(context, security_level);
  // What TLS 1.2 would allow else: block ciphers with a MAC of their own, keys that are not forgotten.
  if (SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
    throw std::runtime_error("OpenSSL offers no suite that is good enough: " + reason());
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  // Connections are kept open, and a session that is taken up again would not be verified again.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // A connection without anything to do holds no buffers.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

} // namespace

struct Context::State {
  /// The protocol that is spoken inside, as an ALPN extension has it; of servers. OpenSSL keeps a pointer to it.
  std::string protocols;
  ContextPointer context;
  bool is_client = false;
  /// What the server's certificate must be for; of clients.
  std::string server_name;
};

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

std::shared_ptr<Context> Context::server(const ServerOptions& options) {
  auto context = new_context(TLS_server_method(), options.oldest == Version::tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
  harden(context.get());
  SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  const auto& [certificate_file, key_file, oldest, protocol] = options;
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1)
    throw std::runtime_error("cannot use the certificate chain in " + certificate_file + ": " + reason());
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    throw std::runtime_error("cannot use the private key in " + key_file + ": " + reason());
  if (SSL_CTX_check_private_key(context.get()) != 1)
    throw std::runtime_error("the key in " + key_file + " does not belong to the certificate in " + certificate_file);
  auto state = std::make_unique<State>();
  state->protocols = as_protocol_list(protocol);
  if (!state->protocols.empty())
    SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, &state->protocols);
  state->context = std::move(context);
  return std::shared_ptr<Context>(new Context(std::move(state)));
}

std::shared_ptr<Context> Context::server(const std::string& certificate_file, const std::string& key_file) {
  return server(ServerOptions{certificate_file, key_file});
}

std::shared_ptr<Context> Context::client(const std::string& ca_file, const std::string& server_name) {
  if (server_name.empty())
    throw std::runtime_error("a TLS client needs the name or the address that the server's certificate must have");
  auto context = new_context(TLS_client_method(), TLS1_3_VERSION);
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context.get()) != 1)
      throw std::runtime_error("cannot use the system's certificate authorities: " + reason());
  } else if (SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) != 1) {
    throw std::runtime_error("cannot use the certificate authorities in " + ca_file + ": " + reason());
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  auto state = std::make_unique<State>();
  state->context = std::move(context);
  state->is_client = true;
  state->server_name = server_name;
  return std::shared_ptr<Context>(new Context(std::move(state)));
}

ServerIdentity::ServerIdentity(ServerOptions options)
  : options_(std::move(options)), current_(Context::server(options_)) {}

std::shared_ptr<Context> ServerIdentity::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void ServerIdentity::reload() {
  // Read without the lock: who connects meanwhile shall not wait for a disk.
  auto next = Context::server(options_);
  const std::lock_guard lock(mutex_);
  current_ = std::move(next);
}

struct Session::State {
  std::shared_ptr<Context> context;
  SessionPointer session;
  BIO* incoming = nullptr; ///< owned by `session`
  BIO* outgoing = nullptr; ///< owned by `session`
  /// What shall be encrypted once the handshake is over.
  std::string waiting;
  std::string error;
  bool established = false;
  bool closed = false;

  void fail(const std::string& what) {
    if (!error.empty())
      return;
    const long verified = SSL_get_verify_result(session.get());
    error = what + ": " + (verified != X509_V_OK ? X509_verify_cert_error_string(verified) : reason());
  }

  void expect_server(const std::string& name) {
    SSL* ssl = session.get();
    // An address is compared with addresses, a name with names; only names may be told to the server beforehand.
    const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    ERR_clear_error();
    if (is_address)
      return;
    // What the macro SSL_set_tlsext_host_name does, which casts in a way that our warnings refuse.
    const bool named =
      SSL_set1_host(ssl, name.c_str()) == 1 &&
      SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str())) == 1;
    if (!named)
      throw std::runtime_error("\"" + name + "\" cannot be the name of a TLS server: " + reason());
  }

  void shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(session.get());
    if (result == 1) {
      established = true;
      encrypt(std::exchange(waiting, {}));
    } else if (SSL_get_error(session.get(), result) != SSL_ERROR_WANT_READ) {
      fail("the TLS handshake failed");
    }
  }

  void encrypt(std::string_view plain) {
    ERR_clear_error();
    std::size_t written = 0;
    // Memory takes everything at once, so a short write cannot be.
    if (!plain.empty() && SSL_write_ex(session.get(), plain.data(), plain.size(), &written) != 1)
      fail("cannot encrypt");
  }

  std::string decrypt() {
    std::string plain;
    std::array<char, 16'384> piece{};
    std::size_t count = 0;
    ERR_clear_error();
    while (SSL_read_ex(session.get(), piece.data(), piece.size(), &count) == 1)
      plain.append(piece.data(), count);
    const int why = SSL_get_error(session.get(), 0);
    if (why == SSL_ERROR_ZERO_RETURN)
      closed = true;
    else if (why != SSL_ERROR_WANT_READ)
      fail("cannot decrypt");
    return plain;
  }
};

Session::Session(std::shared_ptr<Context> context) : state_(std::make_unique<State>()) {
  const auto& shared = *context->state_;
  ERR_clear_error();
  state_->session.reset(SSL_new(shared.context.get()));
  state_->incoming = BIO_new(BIO_s_mem());
  state_->outgoing = BIO_new(BIO_s_mem());
  if (!state_->session || state_->incoming == nullptr || state_->outgoing == nullptr) {
    BIO_free(state_->incoming);
    BIO_free(state_->outgoing);
    throw std::runtime_error("cannot make a TLS session: " + reason());
  }
  // Memory that is empty is no end of the stream: more may come.
  BIO_set_mem_eof_return(state_->incoming, -1);
  BIO_set_mem_eof_return(state_->outgoing, -1);
  SSL_set_bio(state_->session.get(), state_->incoming, state_->outgoing);
  state_->context = std::move(context);
  if (!shared.is_client) {
    SSL_set_accept_state(state_->session.get());
    return;
  }
  SSL_set_connect_state(state_->session.get());
  state_->expect_server(shared.server_name);
  state_->shake_hands(); // the client speaks first
}

Session::~Session() = default;

std::string Session::receive(std::string_view cipher) {
  if (!state_->error.empty() || state_->closed)
    return {};
  if (cipher.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      (!cipher.empty() && BIO_write(state_->incoming, cipher.data(), static_cast<int>(cipher.size())) <= 0)) {
    state_->fail("cannot take what was received");
    return {};
  }
  if (!state_->established)
    state_->shake_hands();
  return state_->established && state_->error.empty() ? state_->decrypt() : std::string();
}

void Session::send(std::string_view plain) {
  if (!state_->error.empty())
    return;
  if (state_->established)
    state_->encrypt(plain);
  else
    state_->waiting.append(plain);
}

void Session::close() {
  if (!state_->established || !state_->error.empty())
    return;
  ERR_clear_error();
  // Below 0 is a failure; 0 says that the peer has not said the same yet, which nobody waits for.
  if (SSL_shutdown(state_->session.get()) < 0)
    state_->fail("cannot end");
}

std::string Session::take_output() {
  std::string output(BIO_ctrl_pending(state_->outgoing), '\0');
  if (!output.empty())
    BIO_read(state_->outgoing, output.data(), static_cast<int>(output.size()));
  return output;
}

bool Session::established() const {
  return state_->established;
}

bool Session::closed() const {
  return state_->closed;
}

const std::string& Session::error() const {
  return state_->error;
}

std::string_view refusal() {
  // A record of the type alert, in the version that every client reads, with two bytes: fatal, internal_error. There is
  // no alert that says "too busy", and this one says that it is not about the client.
  static constexpr std::string_view record("\x15\x03\x03\x00\x02\x02\x50", 7);
  return record;
}

} // namespace cleat::tls
