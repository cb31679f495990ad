#pragma once

#include <memory>
#include <string>
#include <string_view>

/// TLS 1.3 over memory, for sockets that somebody else reads and writes (spec 07: raw `caf::io` brokers have no TLS).
namespace cleat::tls {

/// What a listener or a client is set up with. Throws `std::runtime_error` that names the file and what is wrong with
/// it. Shared by all sessions.
class Context {
public:
  /// A server's: certificate chain and key as PEM files.
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

} // namespace cleat::tls
