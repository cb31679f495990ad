#pragma once

#include <memory>
#include <optional>

#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/release.hpp"
#include "protocol/session_commands.hpp"

namespace cleat::http {

/// A token and whose it is, as the database has them.
struct KnownToken {
  Token token;
  Principal principal;
};

/// What stands behind the HTTP surface, seen from one connection. Each call waits for the answer, at most
/// `http.answer_timeout_s`; without one the refusal is `outcome_unknown`, or `unavailable` where nothing can have
/// changed. Not thread safe: one a connection.
class Backend {
public:
  virtual ~Backend() = default;

  virtual Result<Reply> list(ListSessions command) = 0;
  virtual Result<Reply> reset(ResetSession command) = 0;
  virtual Result<Reply> bind(BindSession command) = 0;
  virtual Result<Reply> import_sessions(ImportSessions command) = 0;
  virtual Result<Reply> trigger(TriggerRun command) = 0;
  virtual Result<Reply> report(ReportSession command) = 0;
  virtual Result<Reply> run(RunCommand command) = 0;
  virtual Result<Reply> directory(DirectoryCommand command) = 0;

  /// Containers and the sessions in them. A start and a look at a handle may take as long as they ask for.
  virtual Result<Reply> start_session(StartSession command) = 0;
  virtual Result<Reply> follow_handle(FollowHandle command) = 0;
  virtual Result<Reply> stop_session(StopSession command) = 0;
  virtual Result<Reply> send_input(SendInput command) = 0;
  virtual Result<Reply> remove_container(RemoveContainer command) = 0;
  virtual Result<Reply> resolve_orphan(ResolveOrphan command) = 0;

  /// What the actor may see of the event log, or its own agent events, as it is at this moment.
  virtual Result<LogItems> events(ReadEvents command) = 0;
  virtual Result<LogItems> agent_events(ReadAgentEvents command) = 0;

  /// What was said and told in a session, and what a stream goes on with.
  virtual TranscriptAnswer transcript(ReadTranscript command) = 0;

  /// Returns when there may be more in a log, and at the latest a little after the command's patience is over. False
  /// when it is known that nothing has come; everything else has to be looked at.
  virtual bool await(AwaitLog command) = 0;

  /// The token with this digest, whatever its state. `unavailable` when the database cannot say.
  virtual Result<std::optional<KnownToken>> find_token(const Digest& digest) = 0;

  /// Whether the database answers within `http.ready_timeout_s`.
  virtual bool database_answers() = 0;

  /// What the release gate says now; nothing when there is none, which is as good as closed.
  virtual std::shared_ptr<const release::Verdict> release_verdict() = 0;
};

} // namespace cleat::http
