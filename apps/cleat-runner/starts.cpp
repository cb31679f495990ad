/// How agents are started (spec 04 sections 4 to 7).
#include <exception>
#include <utility>

#include "apps/cleat-runner/crash_points.hpp"
#include "apps/cleat-runner/runner.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"

namespace cleat::runner {

void Runner::on_start(const wire::ToRunner& message, const wire::Start& start) {
  if (park(message, start.container_name))
    return;
  const OperationKey key{message.operation_id, message.container_attempt_id};
  std::optional<std::string> body;
  if (!start.resume_session_id.empty())
    body = bodies_.take(key, message.dispatch, start.body_parts);
  auto known = journal_.find(key);
  if (const auto replayed = replay(known, message.dispatch)) {
    answer(message, *replayed);
    return;
  }
  const auto found = containers_.find(start.container_name);
  Container* const container = found == containers_.end() ? nullptr : &found->second;
  StartFacts facts;
  facts.draining = draining_;
  facts.known = container != nullptr && container->spec != nullptr;
  facts.attempt = container == nullptr ? "" : std::string_view(container->attempt_id);
  facts.busy = container != nullptr && container->phase != Container::Phase::idle;
  facts.body_complete = body.has_value();
  OperationRow row;
  row.key = key;
  row.container = start.container_name;
  row.kind = start.resume_session_id.empty() ? RowKind::fresh : RowKind::resume;
  row.dispatch = message.dispatch;
  row.session_id = row.kind == RowKind::fresh ? message.fresh_session_id : start.resume_session_id;
  if (const auto refusal = refuse(message, start, facts))
    refuse_dispatch(message, std::move(row), *refusal);
  else
    begin(*container, message, std::move(row), std::move(body).value_or(""));
}

void Runner::begin(Container& container, const wire::ToRunner& message, OperationRow row, std::string body) {
  row.state = RowState::accepted;
  row.acknowledged = wire::AckOutcome::accepted;
  put(row);
  relays_.begin(row.key, row.session_id);
  container.phase = Container::Phase::starting;
  container.life = std::make_unique<Lifetime>();
  container.life->row = row;
  container.life->request_id = message.request_id;
  living_[row.key] = &container;
  then([this, message, key = row.key, body = std::move(body)] {
    crash_point(CrashPoint::after_journal_accepted);
    say(message, message.dispatch, wire::Acknowledged{wire::AckOutcome::accepted});
    launch(key, body);
  });
}

void Runner::launch(const OperationKey& key, const std::string& body) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  try {
    spawn_agent(*container, body);
  } catch (const std::exception& error) {
    fail_start(*container, error.what());
  }
}

void Runner::spawn_agent(Container& container, const std::string& body) {
  auto& life = *container.life;
  const auto& key = life.row.key;
  if (container.spec->driver == DriverKind::null) {
    on_started(container);
    return;
  }
  LaunchFacts facts;
  facts.session_id = life.row.session_id;
  facts.state_folder = state_.path();
  facts.token_file = config_.token_file;
  facts.secrets_socket = state_.secrets_socket(container.name);
  if (life.row.kind == RowKind::resume) {
    facts.body_file = state_.write_body(container.name, life.row.session_id, body);
    crash_point(CrashPoint::after_body);
  }
  life.secrets = std::make_unique<SecretsSocket>(
    loop_, facts.secrets_socket,
    [this, key](std::uint64_t connection, const std::string& name) { on_secret_asked(key, connection, name); });
  const auto plan = plan_launch(*container.spec, facts);
  crash_point(CrashPoint::before_exec);
  life.agent = std::make_unique<Agent>(
    loop_, plan, state_.errors_file(container.name),
    Agent::Events{[this, key](std::optional<std::string> reason) { on_executed(key, reason); },
                  [this, key](std::vector<std::string> lines) { on_said(key, std::move(lines)); },
                  [this, key](std::int64_t through) { on_input_done(key, through); },
                  [this, key](std::int64_t exit_code) { on_ended(key, exit_code); }});
}

void Runner::on_executed(const OperationKey& key, const std::optional<std::string>& failure_reason) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  if (failure_reason) {
    fail_start(*container, *failure_reason);
    return;
  }
  crash_point(CrashPoint::after_exec);
  on_started(*container);
}

void Runner::on_started(Container& container) {
  auto& life = *container.life;
  life.row.state = RowState::started;
  if (life.agent) {
    life.row.pid = life.agent->pid();
    life.row.process_start = life.agent->start();
  }
  put(life.row);
  container.phase = Container::Phase::live;
  then([this, row = life.row, request_id = life.request_id] {
    crash_point(CrashPoint::after_journal_started);
    crash_point(CrashPoint::before_result);
    std::visit([&](const auto& outcome) { say(row, request_id, wire::Report(outcome)); }, outcome_of(row));
    Container* const started = living(row.key);
    if (started == nullptr)
      return;
    // A server that is away learns of it when it is back and asks.
    started->life->told = link_.enrolled();
    ask_for_secrets(*started->life);
    if (started->life->unwanted)
      end(*started);
  });
}

void Runner::fail_start(Container& container, const std::string& reason) {
  auto& life = *container.life;
  log::get().warn("no agent started in container {}: {}", container.name, reason);
  life.row.state = RowState::failed;
  life.row.failure = failed(true, failure::start_failed, reason);
  put(life.row);
  then([this, row = life.row, request_id = life.request_id] {
    crash_point(CrashPoint::before_result);
    say(row, request_id, row.failure);
  });
  release(container);
}

void Runner::prune() {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count();
  journal_.prune(now - config_.journal_retention_s);
  loop_.after(std::chrono::seconds(limits::runner_prune_s), [this] { prune(); });
}

} // namespace cleat::runner
