#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <caf/io/connection_handle.hpp>
#include <caf/io/system_messages.hpp>
#include <caf/io/typed_broker.hpp>
#include <caf/stateful_actor.hpp>

#include "actors/dependencies.hpp"
#include "actors/echo_table.hpp"
#include "actors/interfaces.hpp"
#include "protocol/framing.hpp"
#include "protocol/tls.hpp"

namespace cleat::actors {

/// A connection with the messages of its socket and of itself.
using runner_socket_actor =
  runner_connection_actor::extend<caf::reacts_to<caf::io::new_data_msg>, caf::reacts_to<caf::io::data_transferred_msg>,
                                  caf::reacts_to<caf::io::connection_closed_msg>, caf::reacts_to<ReadingChanged>,
                                  caf::reacts_to<Sweep>>;

/// What a connection works with.
struct RunnerConnectionContext {
  DependenciesPtr deps;
  hub_actor hub;
  fleet_actor fleet;
  /// TLS when present; plain otherwise, which the listener allows on loopback only.
  std::shared_ptr<tls::Context> tls;
};

/// One socket of a Runner (spec 04 section 10): TLS, frames, echoes and flow control; it decides nothing.
///
/// The first frame asks for an enrolment, which the hub decides; from then on reports go to the fleet and commands to
/// the Runner. Whatever is unknown, oversized or ill-timed closes this connection with a logged reason and harms no
/// other. Reports that the fleet has not taken yet are bounded: past the bound the socket is not read, and the Runner
/// has to wait.
class RunnerConnectionState {
public:
  using Self = runner_socket_actor::stateful_broker_pointer<RunnerConnectionState>;

  explicit RunnerConnectionState(Self self) : self_(self) {}

  /// Called once by `runner_connection`, before the first message.
  void init(caf::io::connection_handle socket, RunnerConnectionContext context);

  void on_data(const caf::io::new_data_msg& message);
  void on_sent(const caf::io::data_transferred_msg& message);
  void on_socket_closed();
  void on_over(const EnrolmentOver& over);
  void on_tick();
  /// Stops or begins to read the socket, as it is wanted now.
  void change_reading();
  /// All envelopes or none; none is certain to stay unsent.
  Delivered deliver(const Deliver& command);

  static constexpr const char* name = "cleat.runner_connection";

private:
  enum class Phase { greeting, asking, admitted, closing };

  /// Works on frames as long as there are any and reports may be in work.
  void work();
  void on_frame(const std::string& envelope);
  void ask(const wire::AskEnrolment& request);
  void on_admitted(const RunnerAdmitted& admitted);
  void report(wire::FromRunner message);
  void on_report_taken();

  void send(const wire::ToRunner& message);
  void write(const std::vector<std::string>& envelopes);
  void flush_tls();
  /// The attempt that has to be issued before the envelope, when it starts an agent; notes what it issues itself.
  std::optional<std::string> issued_before(const wire::ToRunner& message);
  void note_attempt(const std::string& container_name, const std::string& attempt_id);

  void want_reading(bool wanted);
  /// Logs why and ends the connection at once.
  void fail(std::string_view why);
  /// Ends the connection once what was written is sent and the Runner has closed its side, or after a moment.
  void end_gently();
  void end_now();
  /// The hub is told once that an admitted connection has gone.
  void leave();
  /// Shuts the socket down in the given way; the event loop sees it and closes.
  void shut_down(int how);

  [[nodiscard]] std::string who() const;
  [[nodiscard]] const FleetOptions& options() const { return context_.deps->options.fleet; }

  Self self_;
  RunnerConnectionContext context_;
  caf::io::connection_handle socket_;
  bool is_socket_open_ = true;
  std::string peer_;
  std::optional<tls::Session> tls_;
  std::optional<wire::Deframer> frames_;
  EchoTable echoes_{static_cast<std::size_t>(limits::runner_echoes_max)};
  /// The attempt that the Runner was told last, by container.
  std::unordered_map<std::string, std::string> attempts_;

  Phase phase_ = Phase::greeting;
  Id runner_id_;
  std::string runner_name_;
  std::int64_t enrollment_revision_ = 0;
  std::int64_t epoch_ = 0;
  bool has_left_ = false;

  std::int64_t unsent_bytes_ = 0;
  std::int64_t reports_in_work_ = 0;
  bool wants_reading_ = true;
  bool is_reading_ = true;
  bool is_change_on_its_way_ = false;

  caf::actor_clock::time_point opened_;
  caf::actor_clock::time_point last_heard_;
  caf::actor_clock::time_point last_taken_;
  caf::actor_clock::time_point lingers_until_;
};

/// The behavior of a connection; the listener forks one for each socket.
runner_socket_actor::behavior_type
runner_connection(RunnerConnectionState::Self self, caf::io::connection_handle socket, RunnerConnectionContext context);

} // namespace cleat::actors
