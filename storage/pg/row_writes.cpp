#include "storage/pg/row_writes.hpp"

#include <stdexcept>
#include <type_traits>
#include <variant>

namespace cleat::storage::pg {
namespace {

/// The columns of an agent, all NULL for everybody else.
void add_agent(Params& params, const std::optional<AgentProfile>& agent) {
  using Text = std::optional<std::string_view>;
  params.add(agent ? Text(to_string(agent->tool_class)) : Text());
  params.add(agent ? Text(to_string(agent->billing_mode)) : Text());
  params.add(agent ? agent->holder_id : std::optional<Id>());
  params.add(agent ? std::optional<bool>(agent->enabled) : std::optional<bool>());
  params.add(agent ? std::optional<bool>(agent->reachable) : std::optional<bool>());
  params.add(agent ? agent->default_model : std::optional<std::string>());
}

/// One overload a write: the order of the parameters is the one of the statement.
struct MakeStatement {
  RowStatement operator()(const InsertPrincipal& write) const {
    const Principal& row = write.row;
    Params params;
    params.add(row.id).add(to_string(row.kind)).add(row.name).add(row.instance_owner).add(row.created_at);
    params.add(row.version);
    add_agent(params, row.agent);
    return {statements::insert_principal, std::move(params), CommitOutcome::lost_race};
  }

  RowStatement operator()(const UpdatePrincipal& write) const {
    Params params;
    params.add(write.row.id).add(write.row.name).add(write.row.version);
    add_agent(params, write.row.agent);
    return {statements::update_principal, std::move(params), CommitOutcome::stale};
  }

  RowStatement operator()(const InsertToken& write) const {
    const Token& row = write.row;
    Params params;
    params.add(row.id).add(row.principal_id).add(row.label).add(row.digest).add(row.created_at);
    params.add(row.expires_at).add(row.revoked_at);
    return {statements::insert_token, std::move(params), CommitOutcome::lost_race};
  }

  RowStatement operator()(const RevokeToken& write) const {
    return {statements::revoke_token, Params().add(write.id).add(write.revoked_at), CommitOutcome::stale};
  }

  RowStatement operator()(const InsertSpace& write) const {
    const Space& row = write.row;
    Params params;
    params.add(row.id).add(row.name).add(row.owner_id).add(row.created_at).add(row.version).add(row.facts_version);
    return {statements::insert_space, std::move(params), CommitOutcome::lost_race};
  }

  RowStatement operator()(const UpdateSpace& write) const {
    const Space& row = write.row;
    return {statements::update_space, Params().add(row.id).add(row.name).add(row.owner_id).add(row.version),
            CommitOutcome::stale};
  }

  RowStatement operator()(const InsertChannel& write) const {
    const Channel& row = write.row;
    Params params;
    params.add(row.id).add(row.space_id).add(row.name).add(to_string(row.mode)).add(row.operator_agent_id);
    params.add(row.main_thread_id).add(row.created_at).add(row.version);
    return {statements::insert_channel, std::move(params), CommitOutcome::lost_race};
  }

  RowStatement operator()(const UpdateChannel& write) const {
    const Channel& row = write.row;
    Params params;
    params.add(row.id).add(row.name).add(to_string(row.mode)).add(row.operator_agent_id).add(row.version);
    return {statements::update_channel, std::move(params), CommitOutcome::stale};
  }

  RowStatement operator()(const InsertThread& write) const {
    const Thread& row = write.row;
    Params params;
    params.add(row.id).add(row.space_id).add(row.channel_id).add(to_string(row.kind)).add(row.title);
    params.add(to_string(row.state)).add(row.operator_agent_id).add(row.created_at).add(row.version);
    return {statements::insert_thread, std::move(params), CommitOutcome::lost_race};
  }

  RowStatement operator()(const UpdateThread& write) const {
    const Thread& row = write.row;
    Params params;
    params.add(row.id).add(row.title).add(to_string(row.state)).add(row.operator_agent_id).add(row.version);
    return {statements::update_thread, std::move(params), CommitOutcome::stale};
  }

  RowStatement operator()(const SetGrant& write) const {
    const Grant& row = write.row;
    if (row.level == Level::none) // a grant that is gone already is what was asked for
      return {statements::delete_grant, Params().add(row.resource_id).add(row.principal_id), CommitOutcome::committed};
    Params params;
    params.add(to_string(row.scope)).add(row.resource_id).add(row.space_id).add(row.principal_id);
    params.add(to_string(row.level));
    return {statements::put_grant, std::move(params), CommitOutcome::committed};
  }

  RowStatement operator()(const RaiseSpaceFacts& write) const {
    return {statements::raise_space_facts, Params().add(write.space_id), CommitOutcome::stale};
  }
};

} // namespace

RowStatement statement_of(const RowWrite& write) {
  return std::visit(
    [](const auto& item) -> RowStatement {
      if constexpr (std::is_same_v<std::decay_t<decltype(item)>, fleet::Write>)
        throw std::logic_error("rows around Runners have statements of their own");
      else
        return MakeStatement()(item);
    },
    write);
}

} // namespace cleat::storage::pg
