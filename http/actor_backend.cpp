#include "http/actor_backend.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "actors/asker.hpp"

namespace cleat::http {
namespace {

/// What the herald gets on top of a reader's patience before it counts as silent. Short, because a reader that waits
/// looks for its token's revocation in between.
constexpr std::chrono::milliseconds await_slack{limits::waiting_slack_ms};

/// What asks belongs to the connection and not to the thread: threads outlive connections and might outlive the actor
/// system.
class ActorBackend final : public Backend {
public:
  ActorBackend(caf::actor_system& system, const actors::Frontends& frontends, const HttpOptions& options)
    : asker_(system), frontends_(frontends), options_(options) {}

  Result<Reply> list(ListSessions command) override { return answer(frontends_.directory, std::move(command)); }
  Result<Reply> reset(ResetSession command) override { return answer(frontends_.registry, std::move(command)); }
  Result<Reply> bind(BindSession command) override { return answer(frontends_.registry, std::move(command)); }
  Result<Reply> import_sessions(ImportSessions command) override {
    return answer(frontends_.registry, std::move(command));
  }
  Result<Reply> trigger(TriggerRun command) override { return answer(frontends_.registry, std::move(command)); }
  Result<Reply> report(ReportSession command) override { return answer(frontends_.registry, std::move(command)); }
  Result<Reply> run(RunCommand command) override { return answer(frontends_.registry, std::move(command)); }
  Result<Reply> directory(DirectoryCommand command) override {
    return answer(frontends_.directory, std::move(command));
  }

  Result<Reply> start_session(StartSession command) override { return answer(frontends_.fleet, std::move(command)); }
  Result<Reply> follow_handle(FollowHandle command) override { return answer(frontends_.fleet, std::move(command)); }
  Result<Reply> stop_session(StopSession command) override { return answer(frontends_.fleet, std::move(command)); }
  Result<Reply> send_input(SendInput command) override { return answer(frontends_.fleet, std::move(command)); }
  Result<Reply> remove_container(RemoveContainer command) override {
    return answer(frontends_.fleet, std::move(command));
  }
  Result<Reply> resolve_orphan(ResolveOrphan command) override { return answer(frontends_.fleet, std::move(command)); }

  Result<LogItems> events(ReadEvents command) override { return read(std::move(command)); }
  Result<LogItems> agent_events(ReadAgentEvents command) override { return read(std::move(command)); }

  TranscriptAnswer transcript(ReadTranscript command) override {
    auto answer = ask<TranscriptAnswer>(frontends_.directory, options_.answer_timeout, std::move(command));
    return answer ? std::move(*answer) : TranscriptAnswer{refuse(Code::unavailable), {}, false};
  }

  bool await(AwaitLog command) override {
    const auto patience = std::chrono::milliseconds(command.patience_ms) + await_slack;
    const auto answer = ask<LogMoved>(frontends_.herald, patience, std::move(command));
    return !answer || answer->moved;
  }

  Result<std::optional<KnownToken>> find_token(const Digest& digest) override {
    const auto found =
      ask<storage::TokenFound>(frontends_.store.loader, options_.answer_timeout, storage::FindToken{digest});
    if (!found || found->status != storage::ReadStatus::ok)
      return refuse(Code::unavailable);
    if (!found->token || !found->principal)
      return std::optional<KnownToken>();
    return std::optional<KnownToken>({*found->token, *found->principal});
  }

  bool database_answers() override {
    const auto pong = ask<storage::Pong>(frontends_.store.librarian, options_.ready_timeout, storage::Ping{});
    return pong && pong->status == storage::ReadStatus::ok;
  }

  std::shared_ptr<const release::Verdict> release_verdict() override {
    return frontends_.gate ? frontends_.gate->verdict() : nullptr;
  }

private:
  template <class Reply, class Actor, class Question>
  std::optional<Reply> ask(const Actor& actor, std::chrono::milliseconds patience, Question question) {
    return asker_.ask<Reply>(actor, patience, std::move(question));
  }

  template <class Actor, class Command>
  Result<Reply> answer(const Actor& actor, Command command) {
    auto reply = ask<Answer>(actor, options_.answer_timeout, std::move(command));
    if (!reply)
      return refuse(Code::outcome_unknown);
    return std::move(reply->result);
  }

  template <class Command>
  Result<LogItems> read(Command command) {
    auto answer = ask<LogAnswer>(frontends_.directory, options_.answer_timeout, std::move(command));
    if (!answer)
      return refuse(Code::unavailable);
    return std::move(answer->result);
  }

  actors::Asker asker_;
  const actors::Frontends frontends_;
  const HttpOptions& options_;
};

} // namespace

std::unique_ptr<Backend> make_actor_backend(caf::actor_system& system, const actors::Frontends& frontends,
                                            const HttpOptions& options) {
  return std::make_unique<ActorBackend>(system, frontends, options);
}

} // namespace cleat::http
