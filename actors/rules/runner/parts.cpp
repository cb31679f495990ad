#include "actors/rules/runner/parts.hpp"

#include <algorithm>
#include <utility>

#include "actors/rules/records.hpp"
#include "protocol/render.hpp"

namespace cleat::rules::container {

bool acts_for(const Principal& actor, const ContainerFacts& facts) {
  return facts.container && facts.account && facts.account->actor_id == actor.id;
}

bool matches(const Binding& binding, const ContainerFacts& facts) {
  return facts.container && facts.account && binding.container_name == facts.container->name &&
         binding.account_id == facts.container->account_id && facts.account->actor_id == binding.actor_id;
}

bool is_live(const Binding& binding, const ContainerFacts& facts) {
  return matches(binding, facts) && binding.state == BindingState::live &&
         facts.container->attempt_id == binding.container_attempt_id;
}

bool is_busy(const ContainerFacts& facts) {
  return std::ranges::any_of(facts.open, [&](const Operation& operation) {
    return facts.container->attempt_id == operation.container_attempt_id;
  });
}

void touch(Decision& decision, const ContainerFacts& facts) {
  Container row = *facts.container;
  row.version += 1;
  decision.rows.emplace_back(fleet::UpdateContainer{std::move(row)});
}

void update(Decision& decision, Operation row) {
  row.version += 1;
  decision.rows.emplace_back(fleet::UpdateOperation{std::move(row)});
}

Operation failed(Operation row, FailureClass failure_class, std::string_view code, Timestamp now) {
  row.state = OperationState::failed;
  row.failure = OperationFailure{failure_class, std::string(code)};
  row.reconciling = false;
  row.finished_at = now;
  return row;
}

void open_orphan(Decision& decision, const Operation& operation, std::string_view reason, std::string_view reported,
                 const ReportContext& context) {
  Orphan row;
  row.id = context.ids.next(context.now);
  row.reason = reason;
  row.operation_id = operation.id;
  row.account_id = operation.account_id;
  row.actor_id = operation.actor_id;
  row.runner_id = operation.runner_id;
  row.container_name = operation.container_name;
  row.container_attempt_id = operation.container_attempt_id;
  row.expected_session_id = operation.subject();
  if (!reported.empty())
    row.reported_session_id = std::string(reported);
  row.opened_at = context.now;
  decision.rows.emplace_back(fleet::InsertOrphan{std::move(row)});
}

Operation new_stop(const Operation& like, std::string session_id, const ContainerFacts& facts, Timestamp now, Id id) {
  Operation row;
  row.id = id;
  row.kind = OperationKind::stop;
  row.stop_session_id = std::move(session_id);
  row.account_id = like.account_id;
  row.actor_id = like.actor_id;
  row.runner_id = like.runner_id;
  row.container_name = like.container_name;
  row.container_attempt_id = like.container_attempt_id;
  row.enrollment_revision = facts.runner->enrollment_revision;
  row.journal_id = facts.runner->journal_id;
  row.created_at = now;
  row.dispatched_at = now;
  return row;
}

void record(Decision& decision, std::string_view action, const Operation& operation, const ContainerFacts& facts,
            const RuleContext& context) {
  decision.audit.push_back(allow_entry(
    action, {"container", facts.container->id}, context,
    render::details({{"operation_id", operation.id.str()}, {"kind", std::string(to_string(operation.kind))}})));
}

} // namespace cleat::rules::container
