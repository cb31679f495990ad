#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/framing.hpp"
#include "protocol/runner_messages.hpp"
#include "protocol/tls.hpp"

namespace cleat::test {

/// How long anything is waited for that should come at once.
inline constexpr std::chrono::seconds patience{20};

/// A Runner as far as its socket goes: speaks frames, TLS when it is given a context, and whatever else a test wants.
class Client {
public:
  /// Connects to the loopback.
  explicit Client(std::uint16_t port, std::shared_ptr<tls::Context> context = {});
  ~Client();

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends a message as one frame.
  void send(const wire::FromRunner& message);
  /// As above, with this report and nothing else in the envelope.
  void report(wire::Report what);
  /// Sends bytes through TLS or plain. Answers whether all were taken; the other side may have closed.
  bool send_bytes(std::string_view bytes);
  /// Sends without TLS until the socket takes nothing more for longer than a Runner may be silent; answers how much.
  std::size_t send_until_stuck(std::string_view bytes);

  /// The next message but heartbeats; nothing when the connection ends or time is up.
  std::optional<wire::ToRunner> receive(std::chrono::milliseconds within = patience);
  /// The next message, a heartbeat too.
  std::optional<wire::ToRunner> receive_any(std::chrono::milliseconds within = patience);
  /// Whether the other side ends the connection in time. What it still says is read and forgotten.
  bool is_ended(std::chrono::milliseconds within = patience);

  /// Asks for an enrolment; the answer, if it is one.
  std::optional<wire::Enrolled> enrol(const std::string& secret = {}, const std::string& token = "token");
  /// Asks for an enrolment; the code of the refusal, `admitted`, or nothing when the connection ended.
  std::string ask(const std::string& secret, const std::string& token = "token");

  /// Why TLS cannot go on.
  [[nodiscard]] std::string tls_error() const { return tls_ ? tls_->error() : std::string(); }
  /// The journal that it shows.
  std::string journal_id = "01890000-0000-7000-8000-000000000001";

private:
  /// Reads what there is; false when the connection has ended or time is up.
  bool read_more(std::chrono::steady_clock::time_point until);
  bool flush(std::string_view bytes);

  int socket_ = -1;
  bool has_ended_ = false;
  std::unique_ptr<tls::Session> tls_;
  wire::Deframer frames_{64 << 20};
};

} // namespace cleat::test
