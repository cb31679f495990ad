#pragma once

#include <array>
#include <string_view>

#include "generated/sql.hpp"

/// Every statement of storage by name. The text stands in storage/sql; each actor prepares its own ones at connect.
namespace cleat::storage::pg {

/// A statement and the name under which it is prepared. `sql` ends with a zero byte behind its size.
struct Statement {
  const char* name;
  std::string_view sql;
};

namespace statements {

inline constexpr Statement begin{"begin", "BEGIN"};
inline constexpr Statement begin_snapshot{"begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"};
inline constexpr Statement commit{"commit", "COMMIT"};
inline constexpr Statement rollback{"rollback", "ROLLBACK"};

inline constexpr Statement beat_node{"beat_node", sql::beat_node_sql};
inline constexpr Statement bootstrap_created{"bootstrap_created", sql::bootstrap_created_sql};
inline constexpr Statement bootstrap_lock{"bootstrap_lock", sql::bootstrap_lock_sql};
inline constexpr Statement bootstrap_owner{"bootstrap_owner", sql::bootstrap_owner_sql};
inline constexpr Statement close_containers{"close_containers", sql::close_containers_sql};
inline constexpr Statement count_denials{"count_denials", sql::count_denials_sql};
inline constexpr Statement count_fleet{"count_fleet", sql::count_fleet_sql};
inline constexpr Statement create_schema_migrations{"create_schema_migrations", sql::create_schema_migrations_sql};
inline constexpr Statement current_xact{"current_xact", sql::current_xact_sql};
inline constexpr Statement delete_attempts{"delete_attempts", sql::delete_attempts_sql};
inline constexpr Statement delete_commit_markers{"delete_commit_markers", sql::delete_commit_markers_sql};
inline constexpr Statement delete_containers{"delete_containers", sql::delete_containers_sql};
inline constexpr Statement delete_grant{"delete_grant", sql::delete_grant_sql};
inline constexpr Statement delete_idempotency{"delete_idempotency", sql::delete_idempotency_sql};
inline constexpr Statement delete_nodes{"delete_nodes", sql::delete_nodes_sql};
inline constexpr Statement delete_operations{"delete_operations", sql::delete_operations_sql};
inline constexpr Statement delete_orphans{"delete_orphans", sql::delete_orphans_sql};
inline constexpr Statement delete_secret{"delete_secret", sql::delete_secret_sql};
inline constexpr Statement directory_path{"directory_path", sql::directory_path_sql};
inline constexpr Statement end_attempts{"end_attempts", sql::end_attempts_sql};
inline constexpr Statement end_attempts_of_runners{"end_attempts_of_runners", sql::end_attempts_of_runners_sql};
inline constexpr Statement end_backend_of_xact{"end_backend_of_xact", sql::end_backend_of_xact_sql};
inline constexpr Statement end_handles{"end_handles", sql::end_handles_sql};
inline constexpr Statement end_sessions{"end_sessions", sql::end_sessions_sql};
inline constexpr Statement enrol_containers{"enrol_containers", sql::enrol_containers_sql};
inline constexpr Statement enrolment_containers{"enrolment_containers", sql::enrolment_containers_sql};
inline constexpr Statement expire_retryable{"expire_retryable", sql::expire_retryable_sql};
inline constexpr Statement find_account{"find_account", sql::find_account_sql};
inline constexpr Statement find_agent_events{"find_agent_events", sql::find_agent_events_sql};
inline constexpr Statement find_commit_marker{"find_commit_marker", sql::find_commit_marker_sql};
inline constexpr Statement find_enrolment{"find_enrolment", sql::find_enrolment_sql};
inline constexpr Statement find_events{"find_events", sql::find_events_sql};
inline constexpr Statement find_fleet_work{"find_fleet_work", sql::find_fleet_work_sql};
inline constexpr Statement find_grant{"find_grant", sql::find_grant_sql};
inline constexpr Statement find_idempotency{"find_idempotency", sql::find_idempotency_sql};
inline constexpr Statement find_overdue_runs{"find_overdue_runs", sql::find_overdue_runs_sql};
inline constexpr Statement find_principal{"find_principal", sql::find_principal_sql};
inline constexpr Statement find_runner{"find_runner", sql::find_runner_sql};
inline constexpr Statement find_runner_token{"find_runner_token", sql::find_runner_token_sql};
inline constexpr Statement find_secret{"find_secret", sql::find_secret_sql};
inline constexpr Statement find_token{"find_token", sql::find_token_sql};
inline constexpr Statement find_tokens{"find_tokens", sql::find_tokens_sql};
inline constexpr Statement find_transcript{"find_transcript", sql::find_transcript_sql};
inline constexpr Statement guard_accounts{"guard_accounts", sql::guard_accounts_sql};
inline constexpr Statement guard_channels{"guard_channels", sql::guard_channels_sql};
inline constexpr Statement guard_current{"guard_current", sql::guard_current_sql};
inline constexpr Statement guard_principals{"guard_principals", sql::guard_principals_sql};
inline constexpr Statement guard_references{"guard_references", sql::guard_references_sql};
inline constexpr Statement guard_runners{"guard_runners", sql::guard_runners_sql};
inline constexpr Statement guard_spaces{"guard_spaces", sql::guard_spaces_sql};
inline constexpr Statement guard_threads{"guard_threads", sql::guard_threads_sql};
inline constexpr Statement held_runners{"held_runners", sql::held_runners_sql};
inline constexpr Statement insert_account{"insert_account", sql::insert_account_sql};
inline constexpr Statement insert_agent_events{"insert_agent_events", sql::insert_agent_events_sql};
inline constexpr Statement insert_attempts{"insert_attempts", sql::insert_attempts_sql};
inline constexpr Statement insert_audit{"insert_audit", sql::insert_audit_sql};
inline constexpr Statement insert_bindings{"insert_bindings", sql::insert_bindings_sql};
inline constexpr Statement insert_channel{"insert_channel", sql::insert_channel_sql};
inline constexpr Statement insert_commit_marker{"insert_commit_marker", sql::insert_commit_marker_sql};
inline constexpr Statement insert_container{"insert_container", sql::insert_container_sql};
inline constexpr Statement insert_events{"insert_events", sql::insert_events_sql};
inline constexpr Statement insert_idempotency{"insert_idempotency", sql::insert_idempotency_sql};
inline constexpr Statement insert_messages{"insert_messages", sql::insert_messages_sql};
inline constexpr Statement insert_operations{"insert_operations", sql::insert_operations_sql};
inline constexpr Statement insert_orphans{"insert_orphans", sql::insert_orphans_sql};
inline constexpr Statement insert_principal{"insert_principal", sql::insert_principal_sql};
inline constexpr Statement insert_runner{"insert_runner", sql::insert_runner_sql};
inline constexpr Statement insert_runner_token{"insert_runner_token", sql::insert_runner_token_sql};
inline constexpr Statement insert_runs{"insert_runs", sql::insert_runs_sql};
inline constexpr Statement insert_schema_migration{"insert_schema_migration", sql::insert_schema_migration_sql};
inline constexpr Statement insert_sessions{"insert_sessions", sql::insert_sessions_sql};
inline constexpr Statement insert_space{"insert_space", sql::insert_space_sql};
inline constexpr Statement insert_thread{"insert_thread", sql::insert_thread_sql};
inline constexpr Statement insert_token{"insert_token", sql::insert_token_sql};
inline constexpr Statement insert_transcripts{"insert_transcripts", sql::insert_transcripts_sql};
inline constexpr Statement list_schema_migrations{"list_schema_migrations", sql::list_schema_migrations_sql};
inline constexpr Statement load_containers{"load_containers", sql::load_containers_sql};
inline constexpr Statement load_ended_here{"load_ended_here", sql::load_ended_here_sql};
inline constexpr Statement load_held_runs{"load_held_runs", sql::load_held_runs_sql};
inline constexpr Statement load_levels{"load_levels", sql::load_levels_sql};
inline constexpr Statement load_named{"load_named", sql::load_named_sql};
inline constexpr Statement load_named_bindings{"load_named_bindings", sql::load_named_bindings_sql};
inline constexpr Statement load_named_operations{"load_named_operations", sql::load_named_operations_sql};
inline constexpr Statement load_named_orphans{"load_named_orphans", sql::load_named_orphans_sql};
inline constexpr Statement load_open_operations{"load_open_operations", sql::load_open_operations_sql};
inline constexpr Statement load_open_orphans{"load_open_orphans", sql::load_open_orphans_sql};
inline constexpr Statement load_references{"load_references", sql::load_references_sql};
inline constexpr Statement load_run_facts{"load_run_facts", sql::load_run_facts_sql};
inline constexpr Statement load_runs{"load_runs", sql::load_runs_sql};
inline constexpr Statement load_sessions{"load_sessions", sql::load_sessions_sql};
inline constexpr Statement load_threads{"load_threads", sql::load_threads_sql};
inline constexpr Statement locate_containers{"locate_containers", sql::locate_containers_sql};
inline constexpr Statement locate_runs{"locate_runs", sql::locate_runs_sql};
inline constexpr Statement lock_accounts{"lock_accounts", sql::lock_accounts_sql};
inline constexpr Statement lock_agents{"lock_agents", sql::lock_agents_sql};
inline constexpr Statement lock_containers{"lock_containers", sql::lock_containers_sql};
inline constexpr Statement lock_runners{"lock_runners", sql::lock_runners_sql};
inline constexpr Statement lock_runs{"lock_runs", sql::lock_runs_sql};
inline constexpr Statement lock_sessions{"lock_sessions", sql::lock_sessions_sql};
inline constexpr Statement lock_spaces{"lock_spaces", sql::lock_spaces_sql};
inline constexpr Statement lock_turns{"lock_turns", sql::lock_turns_sql};
inline constexpr Statement log_agents{"log_agents", sql::log_agents_sql};
inline constexpr Statement log_all_agents{"log_all_agents", sql::log_all_agents_sql};
inline constexpr Statement log_ends{"log_ends", sql::log_ends_sql};
inline constexpr Statement log_horizon{"log_horizon", sql::log_horizon_sql};
inline constexpr Statement page_accounts{"page_accounts", sql::page_accounts_sql};
inline constexpr Statement page_audit{"page_audit", sql::page_audit_sql};
inline constexpr Statement page_channels{"page_channels", sql::page_channels_sql};
inline constexpr Statement page_containers{"page_containers", sql::page_containers_sql};
inline constexpr Statement page_grants{"page_grants", sql::page_grants_sql};
inline constexpr Statement page_messages{"page_messages", sql::page_messages_sql};
inline constexpr Statement page_orphans{"page_orphans", sql::page_orphans_sql};
inline constexpr Statement page_principals{"page_principals", sql::page_principals_sql};
inline constexpr Statement page_runner_tokens{"page_runner_tokens", sql::page_runner_tokens_sql};
inline constexpr Statement page_runners{"page_runners", sql::page_runners_sql};
inline constexpr Statement page_runs{"page_runs", sql::page_runs_sql};
inline constexpr Statement page_secrets{"page_secrets", sql::page_secrets_sql};
inline constexpr Statement page_spaces{"page_spaces", sql::page_spaces_sql};
inline constexpr Statement page_threads{"page_threads", sql::page_threads_sql};
inline constexpr Statement page_tokens{"page_tokens", sql::page_tokens_sql};
inline constexpr Statement ping{"ping", sql::ping_sql};
inline constexpr Statement put_grant{"put_grant", sql::put_grant_sql};
inline constexpr Statement put_secret{"put_secret", sql::put_secret_sql};
inline constexpr Statement raise_space_facts{"raise_space_facts", sql::raise_space_facts_sql};
inline constexpr Statement raise_turns{"raise_turns", sql::raise_turns_sql};
inline constexpr Statement revoke_runner_token{"revoke_runner_token", sql::revoke_runner_token_sql};
inline constexpr Statement revoke_token{"revoke_token", sql::revoke_token_sql};
inline constexpr Statement suspend_bindings{"suspend_bindings", sql::suspend_bindings_sql};
inline constexpr Statement suspend_bindings_of_runners{"suspend_bindings_of_runners",
                                                       sql::suspend_bindings_of_runners_sql};
inline constexpr Statement update_account{"update_account", sql::update_account_sql};
inline constexpr Statement update_bindings{"update_bindings", sql::update_bindings_sql};
inline constexpr Statement update_channel{"update_channel", sql::update_channel_sql};
inline constexpr Statement update_containers{"update_containers", sql::update_containers_sql};
inline constexpr Statement update_operations{"update_operations", sql::update_operations_sql};
inline constexpr Statement update_orphan{"update_orphan", sql::update_orphan_sql};
inline constexpr Statement update_principal{"update_principal", sql::update_principal_sql};
inline constexpr Statement update_runner{"update_runner", sql::update_runner_sql};
inline constexpr Statement update_runs{"update_runs", sql::update_runs_sql};
inline constexpr Statement update_sessions{"update_sessions", sql::update_sessions_sql};
inline constexpr Statement update_space{"update_space", sql::update_space_sql};
inline constexpr Statement update_thread{"update_thread", sql::update_thread_sql};
inline constexpr Statement xact_status{"xact_status", sql::xact_status_sql};

/// What the writer prepares.
inline constexpr std::array writer{begin,
                                   commit,
                                   rollback,
                                   current_xact,
                                   insert_idempotency,
                                   lock_agents,
                                   lock_spaces,
                                   lock_turns,
                                   raise_turns,
                                   guard_spaces,
                                   guard_channels,
                                   guard_threads,
                                   guard_principals,
                                   guard_references,
                                   lock_runs,
                                   lock_sessions,
                                   guard_current,
                                   end_sessions,
                                   update_sessions,
                                   insert_sessions,
                                   insert_messages,
                                   update_runs,
                                   insert_runs,
                                   insert_events,
                                   insert_agent_events,
                                   insert_audit,
                                   count_denials,
                                   insert_commit_marker,
                                   xact_status,
                                   end_backend_of_xact,
                                   find_commit_marker,
                                   insert_principal,
                                   update_principal,
                                   insert_token,
                                   revoke_token,
                                   insert_space,
                                   update_space,
                                   raise_space_facts,
                                   insert_channel,
                                   update_channel,
                                   insert_thread,
                                   update_thread,
                                   put_grant,
                                   delete_grant,
                                   lock_accounts,
                                   lock_runners,
                                   guard_accounts,
                                   guard_runners,
                                   lock_containers,
                                   insert_account,
                                   update_account,
                                   put_secret,
                                   delete_secret,
                                   insert_runner,
                                   update_runner,
                                   insert_runner_token,
                                   revoke_runner_token,
                                   end_attempts_of_runners,
                                   suspend_bindings_of_runners,
                                   insert_attempts,
                                   enrol_containers,
                                   close_containers,
                                   insert_container,
                                   update_orphan,
                                   update_containers,
                                   update_operations,
                                   update_bindings,
                                   end_attempts,
                                   suspend_bindings,
                                   delete_containers,
                                   insert_operations,
                                   insert_bindings,
                                   insert_transcripts,
                                   insert_orphans};

/// What the loader prepares.
inline constexpr std::array loader{begin_snapshot,      commit,
                                   load_threads,        load_levels,
                                   load_sessions,       load_named,
                                   load_references,     load_run_facts,
                                   load_held_runs,      load_runs,
                                   load_ended_here,     find_tokens,
                                   find_idempotency,    locate_runs,
                                   load_containers,     load_open_operations,
                                   load_open_orphans,   load_named_operations,
                                   load_named_bindings, load_named_orphans,
                                   locate_containers};

/// What the librarian prepares.
inline constexpr std::array librarian{begin,
                                      begin_snapshot,
                                      commit,
                                      directory_path,
                                      find_principal,
                                      find_token,
                                      find_grant,
                                      page_spaces,
                                      page_channels,
                                      page_threads,
                                      page_principals,
                                      page_tokens,
                                      page_grants,
                                      page_audit,
                                      page_runs,
                                      page_messages,
                                      bootstrap_lock,
                                      bootstrap_owner,
                                      bootstrap_created,
                                      delete_idempotency,
                                      delete_commit_markers,
                                      ping,
                                      find_account,
                                      find_runner,
                                      find_runner_token,
                                      find_secret,
                                      load_containers,
                                      load_open_operations,
                                      load_named_orphans,
                                      page_accounts,
                                      page_secrets,
                                      page_runners,
                                      page_runner_tokens,
                                      page_containers,
                                      page_orphans,
                                      find_enrolment,
                                      enrolment_containers,
                                      beat_node,
                                      held_runners,
                                      expire_retryable,
                                      end_handles,
                                      delete_operations,
                                      delete_orphans,
                                      delete_attempts,
                                      delete_nodes};

/// What the log reader prepares.
inline constexpr std::array log_reader{
  begin,           commit,          current_xact, log_ends,          log_horizon,
  log_agents,      log_all_agents,  find_events,  find_agent_events, find_overdue_runs,
  find_transcript, find_fleet_work, count_fleet};

/// What the migrator prepares once its table exists.
inline constexpr std::array migrator{list_schema_migrations, insert_schema_migration};

} // namespace statements
} // namespace cleat::storage::pg
