#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

/// TLS over memory, for sockets that somebody else reads and writes (spec 07: raw `caf::io` brokers have no TLS). 1.3
/// unless a server is told to speak 1.2 as well.
namespace cleat::tls {

/// The oldest version that a server speaks.
enum class Version : std::uint8_t { tls_1_2, tls_1_3 };

/// How a server speaks TLS.
struct ServerOptions {
  std::string certificate_file; ///< its certificate and those between it and its authority, as PEM
  std::string key_file;         ///< the certificate's key, as PEM, without a passphrase
  Version oldest = Version::tls_1_3;
  /// What is spoken inside (ALPN): a client that names protocols has to name this one. Empty: none is asked for.
  std::string protocol = {};
};

/// What a listener or a client is set up with. Throws `std::runtime_error` that names the file and what is wrong with
/// it. Shared by all sessions.
class Context {
public:
  /// A server's. TLS 1.2, where it is allowed, with forward secrecy and authenticated encryption alone.
  static std::shared_ptr<Context> server(const ServerOptions& options);
  /// A server's that speaks TLS 1.3: certificate chain and key as PEM files.
  static std::shared_ptr<Context> server(const std::string& certificate_file, const std::string& key_file);
  /// A client's: the authorities it trusts as a PEM file (empty: the system's), and the name or address that the
  /// server's certificate must have.
  static std::shared_ptr<Context> client(const std::string& ca_file, const std::string& server_name);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

private:
  friend class Session;
  struct State;
  explicit Context(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A server's certificate and key, which can be read again while it serves: connections take what is current when they
/// begin, and keep it. Thread safe.
class ServerIdentity {
public:
  /// Reads the files, and throws as `Context::server` does.
  explicit ServerIdentity(ServerOptions options);

  /// What a connection that begins now is to use.
  [[nodiscard]] std::shared_ptr<Context> current() const;

  /// Reads the files again. Throws as `Context::server` does when they cannot be used; then nothing has changed.
  void reload();

private:
  const ServerOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<Context> current_;
};

/// One connection. Feed it what the socket received, take what the socket shall send.
class Session {
public:
  explicit Session(std::shared_ptr<Context> context);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Takes bytes from the peer; answers the plain text that they complete. After a failure `error()` says why and
  /// nothing more comes.
  std::string receive(std::string_view cipher);
  /// Encrypts; before the handshake is over the text waits.
  void send(std::string_view plain);
  /// Says that nothing more will be sent, so that the peer can tell the end from a cut. Nothing can be sent afterwards.
  void close();
  /// What is to be sent to the peer now: handshake, alerts, encrypted text.
  std::string take_output();
  [[nodiscard]] bool established() const;
  /// The peer has ended the stream in order.
  [[nodiscard]] bool closed() const;
  /// Why the connection cannot go on; empty while it can.
  [[nodiscard]] const std::string& error() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a server that speaks TLS may say before any handshake to a client whom it cannot serve: a fatal alert, in the
/// clear.
[[nodiscard]] std::string_view refusal();

} // namespace cleat::tls
