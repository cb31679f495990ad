#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "http/backend.hpp"
#include "http/message.hpp"
#include "tests/unit/gate.hpp"

namespace cleat::test {

/// A clock that tests move.
class SteppedClock final : public Clock {
public:
  [[nodiscard]] Timestamp now() const override { return now_; }
  void advance(std::chrono::microseconds span) { now_ += span; }

private:
  Timestamp now_ = Timestamp(std::chrono::seconds(1'800'000'000));
};

/// A human whose id ends in `number`.
Principal human(std::uint8_t number);

/// A valid token of that human.
http::KnownToken token_of(std::uint8_t number, const std::string& secret);

/// What stands behind the HTTP surface, as far as a test wants it to: it knows the tokens it was given, remembers what
/// it was asked and answers what it was told to.
class FakeBackend final : public http::Backend {
public:
  Result<Reply> list(ListSessions command) override;
  Result<Reply> reset(ResetSession command) override;
  Result<Reply> bind(BindSession command) override;
  Result<Reply> import_sessions(ImportSessions command) override;
  Result<Reply> trigger(TriggerRun command) override;
  Result<Reply> report(ReportSession command) override;
  Result<Reply> run(RunCommand command) override;
  Result<Reply> directory(DirectoryCommand command) override;
  Result<Reply> start_session(StartSession command) override;
  Result<Reply> follow_handle(FollowHandle command) override;
  Result<Reply> stop_session(StopSession command) override;
  Result<Reply> send_input(SendInput command) override;
  Result<Reply> remove_container(RemoveContainer command) override;
  Result<Reply> resolve_orphan(ResolveOrphan command) override;
  TranscriptAnswer transcript(ReadTranscript command) override;
  Result<LogItems> events(ReadEvents command) override;
  Result<LogItems> agent_events(ReadAgentEvents command) override;
  bool await(AwaitLog command) override;
  Result<std::optional<http::KnownToken>> find_token(const Digest& digest) override;
  bool database_answers() override { return database; }
  std::shared_ptr<const release::Verdict> release_verdict() override { return verdict; }

  /// What `answer` gives for a command.
  std::function<Result<Reply>()> answer = [] { return Reply{200, R"({"ok":true})", {}, false}; };
  std::map<Digest, http::KnownToken> tokens;
  bool database = true;
  std::shared_ptr<const release::Verdict> verdict = std::make_shared<release::Verdict>(open_verdict());

  /// Called with every look-up of a token, before its answer.
  std::function<void()> on_find_token = [] {};
  int look_ups = 0;
  std::vector<RequestContext> contexts;
  std::vector<DirectoryOperation> operations;
  std::vector<Result<BindBody>> bind_bodies;
  std::vector<TriggerRun> triggers;
  std::vector<ReportSession> reports;
  std::vector<RunCommand> runs;
  std::vector<StartSession> starts;
  std::vector<FollowHandle> handles;
  std::vector<StopSession> stops;
  std::vector<SendInput> inputs;
  std::vector<RemoveContainer> removals;
  std::vector<ResolveOrphan> resolutions;

  /// The log that both reads give, and what they refuse it with, if they do.
  std::vector<LogItem> log;
  std::optional<Refusal> log_refusal;
  /// How far a read that finds nothing has looked.
  std::int64_t next_after = 0;
  std::vector<ReadEvents> event_reads;
  std::vector<ReadAgentEvents> agent_event_reads;
  std::vector<ReadTranscript> transcript_reads;
  /// The lifetime that transcripts are of, and whether it is over.
  Id lifetime;
  bool ended = false;
  /// Called with every read of a log, before its answer.
  std::function<void()> on_read = [] {};
  /// Called with every wait, which is over when it returns.
  std::function<void(const AwaitLog&)> on_await = [](const AwaitLog&) {};
  int waits = 0;
  /// Whether a wait says that something may have come.
  bool moved = true;

private:
  Result<Reply> asked(RequestContext context);
  Result<LogItems> read(std::int64_t after, std::int64_t limit);
};

/// The client's end as a test wants it to be. Waiting on it takes no time.
class FakeLine final : public http::Line {
public:
  bool holds(std::chrono::milliseconds time) override;
  bool send(std::string_view bytes) override;

  /// Whether there is no reason to end.
  bool open = true;
  /// Called with every question that may take time.
  std::function<void()> on_wait = [] {};
  /// Called with everything that is sent, before it counts.
  std::function<void()> on_send = [] {};
  std::string sent;
};

/// An entry of a log.
LogItem log_item(std::int64_t seq);

/// A request with a valid token `secret`.
http::Incoming request(std::string method, std::string target, std::string body = {});

/// The first value of a header field of an answer; empty when it has none.
std::string header(const http::Outgoing& outgoing, std::string_view name);

} // namespace cleat::test
