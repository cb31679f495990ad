#include "storage/pg/fleet_rows.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

namespace cleat::storage::pg {
namespace {

using enum CommitOutcome;
using FleetStatements = std::vector<FleetStatement>;

FleetStatement update_of(const Runner& row) {
  Params params;
  params.add(row.id).add(row.name).add(row.version).add(row.enrollment_revision).add(row.enrollment_secret);
  params.add(row.journal_id).add(row.epoch).add(row.node_id).add(row.connected_at).add(row.disconnected_at);
  return {statements::update_runner, std::move(params), 1};
}

/// One overload a write: the order of the parameters is the one of the statement.
struct MakeStatements {
  FleetStatements operator()(const fleet::InsertAccount& write) const {
    const Account& row = write.row;
    Params params;
    params.add(row.id).add(row.name).add(row.actor_id).add(row.created_at).add(row.version);
    return {{statements::insert_account, std::move(params), 1, lost_race}};
  }

  FleetStatements operator()(const fleet::UpdateAccount& write) const {
    const Account& row = write.row;
    return {{statements::update_account, Params().add(row.id).add(row.name).add(row.actor_id).add(row.version), 1}};
  }

  FleetStatements operator()(const fleet::PutSecret& write) const {
    const AccountSecret& row = write.row;
    Params params;
    params.add(row.account_id).add(row.name).add(Bytes{row.sealed}).add(row.updated_at);
    return {{statements::put_secret, std::move(params)}};
  }

  FleetStatements operator()(const fleet::DeleteSecret& write) const {
    return {{statements::delete_secret, Params().add(write.account_id).add(write.name), 1}};
  }

  FleetStatements operator()(const fleet::InsertRunner& write) const {
    const Runner& row = write.row;
    Params params;
    params.add(row.id).add(row.name).add(row.created_at).add(row.version).add(row.enrollment_revision);
    params.add(row.enrollment_secret).add(row.journal_id).add(row.epoch).add(row.node_id).add(row.connected_at);
    params.add(row.disconnected_at);
    return {{statements::insert_runner, std::move(params), 1, lost_race}};
  }

  FleetStatements operator()(const fleet::UpdateRunner& write) const { return {update_of(write.row)}; }

  FleetStatements operator()(const fleet::InsertRunnerToken& write) const {
    const RunnerToken& row = write.row;
    Params params;
    params.add(row.id).add(row.runner_id).add(row.label).add(row.digest).add(row.created_at);
    params.add(row.expires_at).add(row.revoked_at);
    return {{statements::insert_runner_token, std::move(params), 1, lost_race}};
  }

  FleetStatements operator()(const fleet::RevokeRunnerToken& write) const {
    return {{statements::revoke_runner_token, Params().add(write.id).add(write.revoked_at), 1}};
  }

  /// An enrolment may have a thousand containers, so all of it goes by arrays.
  FleetStatements operator()(const fleet::Enrol& write) const {
    const std::array runner{write.row.id};
    const auto count = std::ssize(write.attempts);
    const auto name_of = [](const ContainerAttempt& row) { return std::string_view(row.container_name); };
    std::vector<const ContainerAttempt*> attempts;
    for (const ContainerAttempt& row : write.attempts)
      attempts.push_back(&row);
    const Params runners = Params().array(runner, std::identity{});
    Params enrolled;
    enrolled.add(write.row.id).array(write.attempts, name_of);
    const Params closed = enrolled;
    enrolled.array(write.attempts, [](const ContainerAttempt& row) { return row.id; });
    return {update_of(write.row),
            {statements::end_attempts_of_runners, runners},
            {statements::suspend_bindings_of_runners, runners},
            {statements::insert_attempts, insert_attempts_params(attempts), count, lost_race},
            {statements::enrol_containers, std::move(enrolled), count},
            {statements::close_containers, closed}};
  }

  FleetStatements operator()(const fleet::InsertContainer& write) const {
    const Container& row = write.row;
    Params params;
    params.add(row.id).add(row.name).add(row.account_id).add(row.runner_id).add(row.attempt_id);
    params.add(row.created_at).add(row.version);
    return {{statements::insert_container, std::move(params), 1, lost_race}};
  }

  FleetStatements operator()(const fleet::UpdateOrphan& write) const {
    const Orphan& row = write.row;
    Params params;
    params.add(row.id).add(row.resolved_at).add(row.resolved_by).add(row.version);
    return {{statements::update_orphan, std::move(params), 1}};
  }

  template <class Other>
  FleetStatements operator()(const Other&) const {
    return {};
  }
};

} // namespace

std::vector<FleetStatement> statements_of(const fleet::Write& write) {
  return std::visit(MakeStatements{}, write);
}

Params insert_attempts_params(const std::vector<const ContainerAttempt*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return row->enrollment_revision; });
  params.array(rows, [](const auto* row) { return row->current; });
  params.array(rows, [](const auto* row) { return row->created_at; });
  return params;
}

} // namespace cleat::storage::pg
