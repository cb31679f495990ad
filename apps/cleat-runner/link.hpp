#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/cleat-runner/config.hpp"
#include "apps/cleat-runner/connection.hpp"
#include "apps/cleat-runner/event_loop.hpp"
#include "protocol/runner_messages.hpp"

namespace cleat::runner {

/// The Runner's enrolment at the server: connects, enrols, continues, begins anew, and keeps both sides sure that the
/// other lives (spec 04 sections 8 and 10).
class Link {
public:
  /// Whom the link works for.
  class Host {
  public:
    virtual ~Host() = default;
    /// Begins to end whatever runs under old attempts; true once that is over and journalled.
    virtual bool ready_to_enrol_anew() = 0;
    virtual void on_enrolled(const wire::Enrolled& enrolled) = 0;
    virtual void on_message(const wire::ToRunner& message) = 0;
    /// The connection of the enrolment is gone.
    virtual void on_disconnected() = 0;
    /// The Runner may not go on: it ends with this status, and the sentence says why.
    virtual void on_refused_for_good(int status, const std::string& sentence) = 0;
  };

  Link(EventLoop& loop, const Config& config, std::string journal_id, Host& host);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void start();
  /// Something has ended: what waited for it may go on.
  void proceed();
  [[nodiscard]] bool enrolled() const { return phase_ == Phase::enrolled; }
  /// Sends over the enrolment in force. Without one nothing is sent, and the server asks when it is back.
  void send(const wire::FromRunner& message);
  void flush();
  [[nodiscard]] std::size_t unsent_bytes() const { return connection_ ? connection_->unsent_bytes() : 0; }
  /// Hangs up with a reason for the log; connects again later.
  void drop(const std::string& why);
  /// Hangs up and connects no more.
  void shut();

private:
  /// `holding`: connects once nothing of old attempts is left.
  enum class Phase : std::uint8_t { waiting, holding, connecting, asking, enrolled, over };

  void connect();
  void ask();
  void on_envelope(const std::string& envelope);
  void on_answer(const wire::ToRunner& message);
  void on_enrolled(const wire::Enrolled& enrolled);
  void on_refused(const wire::EnrolmentRefused& refused);
  void retry();
  void beat();
  void watch_silence();
  [[nodiscard]] bool can_continue() const;
  [[nodiscard]] std::string read_token() const;

  EventLoop& loop_;
  const Config& config_;
  std::string journal_id_;
  Host& host_;
  std::shared_ptr<tls::Context> tls_;
  std::unique_ptr<Connection> connection_;
  Phase phase_ = Phase::waiting;

  std::string secret_;
  bool ever_enrolled_ = false;
  std::chrono::milliseconds heartbeat_{};
  std::chrono::milliseconds timeout_{};
  std::chrono::milliseconds grace_{};
  EventLoop::TimePoint grace_end_{};
  EventLoop::TimePoint heard_{};
  int failures_ = 0;
  std::size_t attempts_ = 0;
  /// So that a reason is logged once, however often it is met.
  std::string last_failure_;

  EventLoop::TimerId timer_ = 0; ///< of the phase: the next attempt, or the end of patience
  EventLoop::TimerId grace_timer_ = 0;
  EventLoop::TimerId heartbeat_timer_ = 0;
  EventLoop::TimerId silence_timer_ = 0;
};

} // namespace cleat::runner
