#include "storage/pg/commit_plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>

#include "storage/pg/denials.hpp"
#include "storage/pg/row_writes.hpp"
#include "storage/pg/run_writes.hpp"

namespace cleat::storage::pg {
namespace {

/// The number under which an agent is locked: the random half of its id. Two agents with the same number would wait for
/// each other and nothing worse.
std::int64_t lock_number(const Id& agent) {
  std::int64_t number = 0;
  std::memcpy(&number, agent.bytes.data() + 8, sizeof number);
  return number;
}

/// The order in which refusals count when several speak against a decision: an answer that exists already is the best
/// thing to tell, and what is stale may only look like a lost race.
int weight(CommitOutcome outcome) {
  if (outcome == CommitOutcome::key_used)
    return 2;
  return outcome == CommitOutcome::stale ? 1 : 0;
}

/// A statement that locks guarded rows, and what the versions are that it returns behind the id.
struct GuardStatement {
  const Statement& statement;
  std::vector<GuardedRow> versions;
};

const std::array<GuardStatement, 6>& guard_statements() {
  static const std::array<GuardStatement, 6> all{{
    {statements::guard_spaces, {GuardedRow::space, GuardedRow::space_facts}},
    {statements::guard_channels, {GuardedRow::channel}},
    {statements::guard_threads, {GuardedRow::thread}},
    {statements::guard_principals, {GuardedRow::principal}},
    {statements::guard_accounts, {GuardedRow::account}},
    {statements::guard_runners, {GuardedRow::runner}},
  }};
  return all;
}

/// A row and the version that it has.
using HeldVersion = std::tuple<GuardedRow, Id, std::int64_t>;

std::set<HeldVersion> held_versions(const GuardStatement& guard, const Result& result) {
  std::set<HeldVersion> held;
  for (int i = 0; i < result.rows(); ++i) {
    RowReader in(result, i);
    const Id id = in.next<Id>();
    for (const GuardedRow row : guard.versions)
      held.emplace(row, id, in.next<std::int64_t>());
  }
  return held;
}

std::optional<std::string_view> name_of(const std::optional<EndReason>& reason) {
  return reason ? std::optional(to_string(*reason)) : std::nullopt;
}

/// The id by which a statement returns what it wrote for this.
template <class Row>
const Id& id_of(const Row& row) {
  return row.id;
}
const Id& id_of(const UpdateSession& update) {
  return update.row.id;
}
const Id& id_of(const UpdateRun& update) {
  return update.row.id;
}
const Id& id_of(const RunTurn& turn) {
  return turn.thread_id;
}

/// The rows alone, as the makers of parameters take them.
template <class Rows>
auto rows_of(const Rows& items) {
  std::vector<decltype(items.front().row)> rows;
  std::ranges::transform(items, std::back_inserter(rows), [](const auto& item) { return item.row; });
  return rows;
}

/// The new rows in an order that all servers share, so that they rarely wait for each other in a circle.
template <class Rows>
void sort_by_thread(Rows& rows) {
  std::ranges::sort(rows, {}, [](const auto& item) { return std::tie(item.row->thread_id, item.row->id); });
}

} // namespace

CommitPlan::CommitPlan(std::span<const Decision* const> decisions, const Id& marker)
  : decisions_(decisions), marker_(marker), refusals_(decisions.size()) {}

std::optional<SqlError> CommitPlan::run(Connection& connection) {
  Pipeline pipeline(connection);
  pipeline_ = &pipeline;
  FleetWrites fleet(decisions_, pipeline,
                    [this](std::size_t decision, CommitOutcome outcome) { refuse(decision, outcome); });
  add(statements::begin, {});
  add(statements::current_xact, {}, [this](const Result& result) { xid_ = RowReader(result, 0).next<std::string>(); });
  add_idempotency();
  add_agent_locks();
  add_space_locks();
  add_turns();
  fleet.add_owner_locks();
  add_version_guards();
  fleet.add_container_locks();
  add_reference_guards();
  add_run_locks();
  add_session_locks();
  add_current_guards();
  add_ends();
  add_session_updates();
  add_sessions();
  add_rows(fleet);
  fleet.add_sets();
  add_messages();
  // The index of active runs looks at one row after the other, so a thread's run ends before the next one begins.
  add_run_updates(false);
  add_run_updates(true);
  add_runs();
  add_events();
  add_agent_events();
  add_audit();
  add_denials();
  add(statements::insert_commit_marker, Params().add(marker_));
  pipeline_ = nullptr;
  return pipeline.try_run();
}

void CommitPlan::add(const Statement& statement, const Params& params, Pipeline::Handler judge) {
  pipeline_->add(statement, params, std::move(judge));
}

void CommitPlan::refuse(std::size_t decision, CommitOutcome outcome) {
  auto& refusal = refusals_[decision];
  if (!refusal || weight(*refusal) < weight(outcome))
    refusal = outcome;
}

template <class Row>
std::vector<CommitPlan::Owned<Row>> CommitPlan::collect(const std::vector<Row> Decision::*member) const {
  std::vector<Owned<Row>> rows;
  for (std::size_t i = 0; i < decisions_.size(); ++i)
    for (const Row& row : decisions_[i]->*member)
      rows.push_back({i, &row});
  return rows;
}

template <class Row>
void CommitPlan::expect_returned(const std::vector<Owned<Row>>& rows, const Result& result, CommitOutcome otherwise) {
  if (static_cast<std::size_t>(result.rows()) == rows.size())
    return;
  std::unordered_set<Id> returned;
  for (int i = 0; i < result.rows(); ++i)
    returned.insert(RowReader(result, i).next<Id>());
  for (const auto& item : rows)
    if (!returned.contains(id_of(*item.row)))
      refuse(item.decision, otherwise);
}

void CommitPlan::add_idempotency() {
  std::vector<Owned<IdempotencyRecord>> rows;
  for (std::size_t i = 0; i < decisions_.size(); ++i)
    if (decisions_[i]->idempotency)
      rows.push_back({i, &*decisions_[i]->idempotency});
  if (rows.empty())
    return;
  const auto key_of = [](const auto& item) { return std::tie(item.row->key.principal_id, item.row->key.key); };
  std::ranges::sort(rows, {}, key_of);
  Params params;
  params.array(rows, [](const auto& item) { return item.row->key.principal_id; });
  params.array(rows, [](const auto& item) { return std::string_view(item.row->key.key); });
  params.array(rows, [](const auto& item) { return item.row->key.fingerprint; });
  params.array(rows, [](const auto& item) { return std::int64_t{item.row->reply.status}; });
  params.array(rows, [](const auto& item) { return std::string_view(item.row->reply.body); });
  params.array(rows, [](const auto& item) { return item.row->reply.etag; });
  params.array(rows, [](const auto& item) { return item.row->created_at; });
  params.array(rows, [](const auto& item) { return item.row->expires_at; });
  add(statements::insert_idempotency, params, [this, rows, key_of](const Result& result) {
    std::set<std::tuple<Id, std::string>> returned;
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      auto principal = in.next<Id>();
      returned.emplace(principal, in.next<std::string>());
    }
    for (const auto& item : rows)
      if (!returned.contains(key_of(item)))
        refuse(item.decision, CommitOutcome::key_used);
  });
}

void CommitPlan::add_agent_locks() {
  std::map<std::int64_t, bool> alone; // ordered, so that every server locks in the same order
  for (const Decision* decision : decisions_) {
    for (const ReferenceGuard& guard : decision->reference_guards)
      alone.try_emplace(lock_number(guard.agent_id), false);
    for (const AgentSession& row : decision->sessions)
      if (!row.is_current())
        alone[lock_number(row.agent_id)] = true;
    for (const UpdateSession& update : decision->session_updates)
      if (!update.row.is_current())
        alone[lock_number(update.row.agent_id)] = true;
  }
  if (alone.empty())
    return;
  Params params;
  params.array(alone, [](const auto& entry) { return entry.first; });
  params.array(alone, [](const auto& entry) { return entry.second; });
  add(statements::lock_agents, params);
}

void CommitPlan::add_space_locks() {
  std::set<Id> spaces;
  for (const Decision* decision : decisions_)
    for (const RowWrite& write : decision->rows) {
      if (const auto* raise = std::get_if<RaiseSpaceFacts>(&write))
        spaces.insert(raise->space_id);
      if (const auto* update = std::get_if<UpdateSpace>(&write))
        spaces.insert(update->row.id);
    }
  if (!spaces.empty())
    add(statements::lock_spaces, Params().array(spaces, std::identity{}));
}

void CommitPlan::add_turns() {
  std::vector<Owned<RunTurn>> turns;
  for (std::size_t i = 0; i < decisions_.size(); ++i)
    if (decisions_[i]->turn)
      turns.push_back({i, &*decisions_[i]->turn});
  if (turns.empty())
    return;
  Params params;
  params.array(turns, [](const auto& turn) { return turn.row->thread_id; });
  add(statements::lock_turns, params);
  params.array(turns, [](const auto& turn) { return turn.row->expected; });
  add(statements::raise_turns, params,
      [this, turns](const Result& result) { expect_returned(turns, result, CommitOutcome::stale); });
}

void CommitPlan::add_version_guards() {
  const auto all = collect(&Decision::guards);
  for (const GuardStatement& statement : guard_statements()) {
    std::vector<Owned<VersionGuard>> guards;
    std::set<Id> ids;
    for (const auto& guard : all)
      if (std::ranges::find(statement.versions, guard.row->row) != statement.versions.end()) {
        guards.push_back(guard);
        ids.insert(guard.row->id);
      }
    if (guards.empty())
      continue;
    add(statement.statement, Params().array(ids, std::identity{}), [this, &statement, guards](const Result& result) {
      const auto held = held_versions(statement, result);
      for (const auto& guard : guards)
        if (!held.contains({guard.row->row, guard.row->id, guard.row->version}))
          refuse(guard.decision, CommitOutcome::stale);
    });
  }
}

void CommitPlan::add_reference_guards() {
  const auto guards = collect(&Decision::reference_guards);
  if (guards.empty())
    return;
  Params params;
  params.array(guards, [](const auto& guard) { return guard.row->agent_id; });
  params.array(guards, [](const auto& guard) { return std::string_view(guard.row->external_session_ref); });
  add(statements::guard_references, params, [this, guards](const Result& result) {
    for (std::size_t i = 0; i < guards.size(); ++i) {
      RowReader in(result, static_cast<int>(i));
      if (in.next<std::optional<Id>>() != guards[i].row->newest_session_id)
        refuse(guards[i].decision, CommitOutcome::stale);
    }
  });
}

void CommitPlan::add_run_locks() {
  std::set<Id> runs;
  for (const auto& update : collect(&Decision::run_updates))
    runs.insert(update.row->row.id);
  if (!runs.empty())
    add(statements::lock_runs, Params().array(runs, std::identity{}));
}

void CommitPlan::add_session_locks() {
  std::set<Id> sessions;
  for (const auto& guard : collect(&Decision::current_guards))
    if (guard.row->session_id)
      sessions.insert(*guard.row->session_id);
  for (const auto& end : collect(&Decision::ends))
    sessions.insert(end.row->id);
  for (const auto& update : collect(&Decision::session_updates))
    sessions.insert(update.row->row.id);
  if (!sessions.empty())
    add(statements::lock_sessions, Params().array(sessions, std::identity{}));
}

void CommitPlan::add_current_guards() {
  const auto guards = collect(&Decision::current_guards);
  if (guards.empty())
    return;
  Params params;
  params.array(guards, [](const auto& guard) { return guard.row->thread_id; });
  add(statements::guard_current, params, [this, guards](const Result& result) {
    for (std::size_t i = 0; i < guards.size(); ++i) {
      const CurrentGuard& guard = *guards[i].row;
      RowReader in(result, static_cast<int>(i));
      const auto session = in.next<std::optional<Id>>();
      const auto version = in.next<std::optional<std::int64_t>>();
      if (session != guard.session_id || (session && version != guard.version))
        refuse(guards[i].decision, CommitOutcome::stale);
    }
  });
}

void CommitPlan::add_ends() {
  const auto ends = collect(&Decision::ends);
  if (ends.empty())
    return;
  Params params;
  params.array(ends, [](const auto& end) { return end.row->id; });
  params.array(ends, [](const auto& end) { return end.row->thread_id; });
  params.array(ends, [](const auto& end) { return end.row->expected_version; });
  params.array(ends, [](const auto& end) { return end.row->ended_at; });
  params.array(ends, [](const auto& end) { return to_string(end.row->reason); });
  add(statements::end_sessions, params,
      [this, ends](const Result& result) { expect_returned(ends, result, CommitOutcome::stale); });
}

void CommitPlan::add_session_updates() {
  const auto updates = collect(&Decision::session_updates);
  if (updates.empty())
    return;
  add(statements::update_sessions, update_sessions_params(rows_of(updates)),
      [this, updates](const Result& result) { expect_returned(updates, result, CommitOutcome::stale); });
}

void CommitPlan::add_sessions() {
  auto sessions = collect(&Decision::sessions);
  if (sessions.empty())
    return;
  sort_by_thread(sessions);
  Params params;
  params.array(sessions, [](const auto& item) { return item.row->id; });
  params.array(sessions, [](const auto& item) { return item.row->thread_id; });
  params.array(sessions, [](const auto& item) { return item.row->agent_id; });
  params.array(sessions, [](const auto& item) { return std::string_view(item.row->external_session_ref); });
  params.array(sessions, [](const auto& item) { return item.row->started; });
  params.array(sessions, [](const auto& item) { return item.row->model; });
  params.array(sessions, [](const auto& item) { return item.row->cost_baseline_micros; });
  params.array(sessions, [](const auto& item) { return item.row->cumulative_cost_micros; });
  params.array(sessions, [](const auto& item) { return item.row->cost_is_estimate; });
  params.array(sessions, [](const auto& item) { return std::string_view(item.row->currency); });
  params.array(sessions, [](const auto& item) { return item.row->created_at; });
  params.array(sessions, [](const auto& item) { return item.row->ended_at; });
  params.array(sessions, [](const auto& item) { return name_of(item.row->end_reason); });
  params.array(sessions, [](const auto& item) { return item.row->version; });
  add(statements::insert_sessions, params,
      [this, sessions](const Result& result) { expect_returned(sessions, result, CommitOutcome::lost_race); });
}

void CommitPlan::add_rows(FleetWrites& writes) {
  for (const auto& [decision, write] : collect(&Decision::rows)) {
    if (const auto* of_fleet = std::get_if<fleet::Write>(write)) {
      writes.add_row(decision, *of_fleet);
      continue;
    }
    const RowStatement row = statement_of(*write);
    const CommitOutcome otherwise = row.when_nothing_written;
    add(row.statement, row.params, [this, otherwise, at = decision](const Result& result) {
      if (otherwise != CommitOutcome::committed && result.affected() == 0)
        refuse(at, otherwise);
    });
  }
}

void CommitPlan::add_messages() {
  auto messages = collect(&Decision::messages);
  if (messages.empty())
    return;
  sort_by_thread(messages);
  add(statements::insert_messages, insert_messages_params(rows_of(messages)),
      [this, messages](const Result& result) { expect_returned(messages, result, CommitOutcome::lost_race); });
}

void CommitPlan::add_run_updates(bool becoming_active) {
  auto updates = collect(&Decision::run_updates);
  std::erase_if(updates, [&](const auto& update) { return update.row->row.is_active() != becoming_active; });
  if (updates.empty())
    return;
  add(statements::update_runs, update_runs_params(rows_of(updates)),
      [this, updates](const Result& result) { expect_returned(updates, result, CommitOutcome::stale); });
}

void CommitPlan::add_runs() {
  auto runs = collect(&Decision::runs);
  if (runs.empty())
    return;
  sort_by_thread(runs);
  add(statements::insert_runs, insert_runs_params(rows_of(runs)),
      [this, runs](const Result& result) { expect_returned(runs, result, CommitOutcome::lost_race); });
}

void CommitPlan::add_events() {
  const auto events = collect(&Decision::events);
  if (events.empty())
    return;
  Params params;
  params.array(events, [](const auto& item) { return item.row->id; });
  params.array(events, [](const auto& item) { return std::string_view(item.row->type); });
  params.array(events, [](const auto& item) { return item.row->time; });
  params.array(events, [](const auto& item) { return item.row->space_id; });
  params.array(events, [](const auto& item) { return item.row->channel_id; });
  params.array(events, [](const auto& item) { return item.row->thread_id; });
  params.array(events, [](const auto& item) { return std::string_view(item.row->resource_kind); });
  params.array(events, [](const auto& item) { return item.row->resource_id; });
  params.array(events, [](const auto& item) { return item.row->resource_version; });
  params.array(events, [](const auto& item) { return to_string(item.row->actor_kind); });
  params.array(events, [](const auto& item) { return item.row->actor_id; });
  params.array(events, [](const auto& item) { return std::string_view(item.row->payload); });
  add(statements::insert_events, params);
}

void CommitPlan::add_agent_events() {
  const auto events = collect(&Decision::agent_events);
  if (!events.empty())
    add(statements::insert_agent_events, insert_agent_events_params(rows_of(events)));
}

void CommitPlan::add_audit() {
  const auto entries = collect(&Decision::audit);
  if (entries.empty())
    return;
  Params params;
  add_audit_columns(params, rows_of(entries));
  add(statements::insert_audit, params,
      [this, entries](const Result& result) { expect_returned(entries, result, CommitOutcome::lost_race); });
}

void CommitPlan::add_denials() {
  DenialCounts denials;
  for (const auto& denial : collect(&Decision::denials))
    denials.add({denial.row->entry, denial.row->window_s});
  if (!denials.empty())
    add(statements::count_denials, denials.params());
}

} // namespace cleat::storage::pg
