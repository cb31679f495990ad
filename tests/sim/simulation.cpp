#include "tests/sim/simulation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/registry.hpp"
#include "protocol/render.hpp"

namespace cleat::sim {
namespace {

constexpr std::size_t steps = 700;
constexpr std::size_t requests_at_most = 40;

} // namespace

Simulation::Simulation(caf::actor_system& system, std::uint64_t seed) : system_(system), random_(seed) {
  tables_->set_clock(clock_);
  provision_ = provision();
  for (const Decision& decision : provision_)
    if (tables_->commit(decision) != storage::CommitOutcome::committed)
      throw std::logic_error("the world of the simulation is refused");
  Troubles troubles;
  if (seed % 4 == 0)
    troubles = {0, 0, 0, 0, 0, 0}; // contention alone
  chaos_ = std::make_shared<Chaos>(tables_, random_(), troubles);
  auto ids = std::make_shared<RandomIdSource>();
  auto metrics = std::make_shared<Metrics>();
  for (int i = 0; i < 2; ++i) {
    const storage::Store store = Chaos::open(system_, chaos_);
    auto deps = std::make_shared<const actors::Dependencies>(
      actors::Dependencies{store, clock_, ids, metrics, actors::ActorOptions{}});
    servers_.push_back({actors::spawn_registry(system_, deps), store});
  }
}

std::vector<Decision> Simulation::provision() {
  Decision decision;
  for (std::size_t i = 0; i < 2; ++i) {
    AgentSession earlier = world_.imported(world_.threads.at(i), i == 0 ? "a" : "b");
    earlier.cost_baseline_micros = 100 * static_cast<std::int64_t>(i + 1);
    decision.events.push_back(
      world_.event("agent_session.changed", earlier.thread_id, render::session_changed(earlier)));
    decision.sessions.push_back(std::move(earlier));
  }
  return {world_.provision(), std::move(decision)};
}

Simulation::~Simulation() {
  for (const Server& server : servers_) {
    caf::anon_send_exit(server.registry.address(), caf::exit_reason::kill);
    caf::anon_send_exit(server.store.writer.address(), caf::exit_reason::kill);
  }
  scheduler().run();
}

caf::scheduler::test_coordinator& Simulation::scheduler() {
  return dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
}

const Principal& Simulation::anybody() {
  // Mostly Alex, who may; sometimes Sam, who may not.
  return draw(10) == 0 ? world_.sam : world_.alex;
}

RequestContext Simulation::by(const Principal& actor) {
  RequestContext context;
  context.actor = std::make_shared<const Principal>(actor);
  context.request_id = "sim";
  if (draw(4) != 0) {
    const std::string key = "key-" + std::to_string(keys_++);
    context.idempotency = IdempotencyKey{actor.id, key, sha256(key)};
  }
  return context;
}

Command Simulation::any_session_command(const Thread& thread) {
  const auto rows = tables_->sessions_of(thread.id);
  std::optional<Id> seen;
  if (!rows.empty() && rows.front().is_current())
    seen = rows.front().id;
  if (draw(6) == 0)
    seen = rows.empty() ? std::nullopt : std::optional(rows.back().id); // what somebody saw long ago
  if (draw(4) == 0)
    return ResetSession{by(anybody()), thread.id, ResetBody{draw(2) == 0 ? seen : std::nullopt}};
  return BindSession{by(anybody()), thread.id, BindBody{any_reference(), seen, draw(3) == 0}};
}

Command Simulation::any_run_command(const Thread& thread) {
  const auto runs = tables_->runs_of(thread.id);
  if (runs.empty() || draw(4) == 0)
    return TriggerRun{by(anybody()), thread.id,
                      TriggerBody{"Hello", {}, draw(2) == 0 ? WhenActive::enqueue : WhenActive::reject}};
  if (draw(4) == 0) {
    ReportBody body{draw(2) == 0 ? std::optional(any_reference()) : std::nullopt, {}, draw(2) == 0, false};
    body.bind_failed = body.external_session_ref && draw(5) == 0;
    ReportSession report{by(world_.lotse), thread.id, body};
    const auto rows = tables_->sessions_of(thread.id);
    if (!rows.empty() && draw(4) != 0)
      report.context.if_match = rows.front().version;
    return report;
  }
  const cleat::Run& run = runs.at(runs.size() - 1 - draw(std::min<std::size_t>(runs.size(), 3)));
  switch (draw(7)) {
    case 0:
    case 1:
      return RunCommand{by(world_.lotse), run.id,
                        run_op::Start{StartBody{draw(2) == 0 ? std::optional(any_reference()) : std::nullopt, {}}}};
    case 2:
      return RunCommand{by(world_.lotse), run.id, run_op::Heartbeat{}};
    case 3:
      return RunCommand{by(world_.lotse), run.id, run_op::Post{PostBody{"Working."}}};
    case 4:
      return RunCommand{by(anybody()), run.id, run_op::Cancel{}};
    case 5:
      return RunCommand{by(world_.lotse), run.id, run_op::Wait{}};
    default:
      return RunCommand{by(world_.lotse), run.id, run_op::Finish{FinishBody{}}};
  }
}

Command Simulation::any_command() {
  // The same request again, as a client sends it that has lost the answer, or has not the patience to wait for it.
  if (!requests_.empty() && draw(8) == 0)
    return requests_.at(draw(requests_.size()))->command;
  const Thread& thread = any_thread();
  return draw(2) == 0 ? any_session_command(thread) : any_run_command(thread);
}

void Simulation::send(Command command) {
  auto request = std::make_shared<Request>(Request{std::move(command), chaos_->committed().size()});
  requests_.push_back(request);
  const actors::registry_actor registry = servers_.at(draw(servers_.size())).registry;
  system_.spawn([request, registry, chaos = chaos_](caf::event_based_actor* self) {
    const auto answered = [request, chaos](const Answer& answer) {
      request->answer = answer;
      request->answered_at = chaos->committed().size();
    };
    std::visit(
      [&](const auto& message) {
        self->request(registry, caf::infinite, message).then(answered, [answered](const caf::error&) {
          answered(Answer{refuse(Code::outcome_unknown)});
        });
      },
      request->command);
  });
}

void Simulation::run_an_actor() {
  auto& jobs = scheduler().jobs;
  if (jobs.empty())
    return;
  const auto chosen = jobs.begin() + static_cast<std::ptrdiff_t>(draw(jobs.size()));
  std::rotate(jobs.begin(), chosen, chosen + 1);
  scheduler().run_once();
}

void Simulation::let_time_pass() {
  // Sometimes so much that leases run out, owners are let go and rounds are given up; sometimes back.
  constexpr std::array<std::int64_t, 5> seconds{0, 1, 20, 70, 1300};
  const std::chrono::seconds span(seconds.at(draw(seconds.size())));
  clock_->jump(draw(8) == 0 ? -std::chrono::seconds(5) : span);
  scheduler().advance_time(span);
}

void Simulation::step() {
  switch (draw(20)) {
    case 0:
    case 1:
      if (requests_.size() < requests_at_most)
        send(any_command());
      break;
    case 2:
      if (draw(6) == 0)
        let_time_pass();
      break;
    default:
      if (draw(2) == 0)
        run_an_actor();
      else
        chaos_->step();
  }
}

void Simulation::drain() {
  do
    scheduler().run();
  while (chaos_->step());
}

void Simulation::settle() {
  chaos_->calm();
  // Who waits for an answer that never comes is let go when the next command arrives after its patience.
  for (int i = 0; i < 3; ++i) {
    drain();
    scheduler().advance_time(std::chrono::seconds(limits::request_timeout_s + 1));
    for (const Server& server : servers_)
      for (const Thread& thread : world_.threads)
        caf::anon_send(server.registry, ResetSession{by(world_.sam), thread.id, ResetBody{}});
    drain();
  }
}

void Simulation::check_tables(std::vector<std::string>& wrong) {
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds)
      wrong.push_back(what);
  };
  std::map<std::string, int> references;
  std::size_t invoked = 0;
  for (const Thread& thread : world_.threads) {
    int current = 0;
    for (const AgentSession& row : tables_->sessions_of(thread.id)) {
      current += row.is_current() ? 1 : 0;
      if (row.is_current())
        ++references[row.external_session_ref];
    }
    expect(current <= 1, "a thread has two current sessions");
    int active = 0;
    int held = 0;
    for (const cleat::Run& run : tables_->runs_of(thread.id)) {
      active += run.is_active() ? 1 : 0;
      held += run.state == RunState::held ? 1 : 0;
      invoked += run.queued_at ? 1 : 0;
    }
    expect(active <= 1, "a thread has two active runs");
    expect(active == 1 || held == 0, "a run is held and nobody will release it");
  }
  for (const auto& [reference, count] : references)
    expect(count <= 1, "reference " + reference + " is current twice");
  expect(tables_->agent_events().size() == invoked, "an agent was told of a run twice or never");
  // The last event of each session shows the row as it is.
  std::map<Id, std::string> shown;
  for (const storage::LoggedEvent& logged : tables_->events())
    for (const Thread& thread : world_.threads)
      for (const AgentSession& row : tables_->sessions_of(thread.id))
        if (logged.event.type == "agent_session.changed" &&
            logged.event.payload.find(row.id.str()) != std::string::npos)
          shown[row.id] = logged.event.payload;
  for (const Thread& thread : world_.threads)
    for (const AgentSession& row : tables_->sessions_of(thread.id))
      expect(shown[row.id] == render::session_changed(row), "the last event of a session is not its row");
}

void Simulation::check_order(std::vector<std::string>& wrong) {
  std::map<Id, Timestamp> begun;
  for (const Decision& decision : provision_)
    for (const AgentSession& row : decision.sessions)
      begun.emplace(row.id, row.created_at);
  for (const auto& decision : chaos_->committed()) {
    for (const AgentSession& row : decision->sessions)
      begun.emplace(row.id, row.created_at);
    for (const EndSession& end : decision->ends)
      for (const AgentSession& row : decision->sessions)
        if (row.thread_id == end.thread_id && row.created_at <= begun.at(end.id))
          wrong.emplace_back("a new session sorts before the one that it ends");
  }
}

std::vector<std::string> Simulation::play() {
  for (std::size_t i = 0; i < steps; ++i)
    step();
  settle();
  std::vector<Request> answered;
  for (const auto& request : requests_)
    answered.push_back(*request);
  Judge judge(provision_, chaos_->committed(), clock_);
  std::vector<std::string> wrong = judge.verdicts(answered);
  check_tables(wrong);
  check_order(wrong);
  return wrong;
}

std::string Simulation::history() const {
  std::string text;
  for (const auto& request : requests_)
    text += describe(*request) + "\n";
  return text;
}

} // namespace cleat::sim
