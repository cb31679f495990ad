#include "storage/pg/directory.hpp"

#include <chrono>
#include <variant>

#include "base/crash_points.hpp"
#include "storage/pg/fleet_garbage.hpp"
#include "storage/pg/fleet_loading.hpp"
#include "storage/pg/fleet_records.hpp"
#include "storage/pg/records.hpp"

namespace cleat::storage::pg {
namespace {

/// How long a commit marker may still be asked for: far longer than any server tries to learn its outcome.
constexpr std::chrono::hours marker_span{24};

/// Ids before and after all others, for pages without a cursor.
Id first_id() {
  return {};
}
Id last_id() {
  Id id;
  id.bytes.fill(0xff);
  return id;
}

/// The least UUIDv7 of a moment, so that ids made before it sort below.
Id least_id_of(Timestamp time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  Id id;
  for (std::size_t i = 0; i < 6; ++i)
    id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(milliseconds) >> (8 * (5 - i)));
  return id;
}

/// The deepest resource that the question names by its own id; the thread of a run is only known to the database.
std::optional<Id> deepest(const LoadDirectory& question) {
  if (question.run_id)
    return std::nullopt;
  if (question.thread_id)
    return question.thread_id;
  return question.channel_id ? question.channel_id : question.space_id;
}

/// One overload a list.
struct ReadRows {
  Connection& connection;
  std::int64_t node_timeout_s;

  template <class Read>
  PageRows read(const Statement& statement, const Params& params, Read row) const {
    return read_all(execute(connection, statement, params), row);
  }
  static Id after(const PageRange& range) { return range.after.value_or(first_id()); }
  /// One row more tells that a next page exists.
  static std::int64_t limit(const PageRange& range) { return range.limit + 1; }

  PageRows operator()(const SpacesPage& page) const {
    return read(statements::page_spaces, Params().add(page.visible_to).add(after(page.range)).add(limit(page.range)),
                read_space);
  }
  PageRows operator()(const ChannelsPage& page) const {
    return read(statements::page_channels, Params().add(page.space_id).add(after(page.range)).add(limit(page.range)),
                read_channel);
  }
  PageRows operator()(const ThreadsPage& page) const {
    return read(statements::page_threads, Params().add(page.channel_id).add(after(page.range)).add(limit(page.range)),
                read_thread);
  }
  PageRows operator()(const PrincipalsPage& page) const {
    return read(statements::page_principals, Params().add(after(page.range)).add(limit(page.range)), read_principal);
  }
  PageRows operator()(const TokensPage& page) const {
    return read(statements::page_tokens, Params().add(page.principal_id).add(after(page.range)).add(limit(page.range)),
                read_token);
  }
  PageRows operator()(const GrantsPage& page) const {
    return read(statements::page_grants, Params().add(page.principal_id).add(after(page.range)).add(limit(page.range)),
                read_grant);
  }
  PageRows operator()(const AuditPage& page) const {
    Params params;
    params.add(page.range.after.value_or(last_id())).add(limit(page.range)).add(page.actor_id).add(page.action);
    params.add(page.allowed).add(page.resource_id);
    return read(statements::page_audit, params, read_audit_entry);
  }
  PageRows operator()(const RunsPage& page) const {
    return read(statements::page_runs, Params().add(page.thread_id).add(after(page.range)).add(limit(page.range)),
                read_run);
  }
  PageRows operator()(const MessagesPage& page) const {
    return read(statements::page_messages, Params().add(page.thread_id).add(after(page.range)).add(limit(page.range)),
                read_message);
  }
  PageRows operator()(const AccountsPage& page) const {
    return read(statements::page_accounts, Params().add(after(page.range)).add(limit(page.range)), read_account);
  }
  PageRows operator()(const SecretsPage& page) const {
    return read(statements::page_secrets, Params().add(page.account_id).add(page.limit + 1), read_account_secret);
  }
  PageRows operator()(const RunnersPage& page) const {
    return read(statements::page_runners, Params().add(after(page.range)).add(limit(page.range)).add(node_timeout_s),
                read_runner_row);
  }
  PageRows operator()(const RunnerTokensPage& page) const {
    return read(statements::page_runner_tokens,
                Params().add(page.runner_id).add(after(page.range)).add(limit(page.range)), read_runner_token);
  }
  PageRows operator()(const ContainersPage& page) const {
    Params params;
    params.add(page.visible_to).add(after(page.range)).add(limit(page.range)).add(node_timeout_s);
    return read_container_rows(execute(connection, statements::page_containers, params));
  }
  PageRows operator()(const OrphansPage& page) const {
    Params params;
    params.add(page.range.after.value_or(last_id())).add(limit(page.range)).add(page.resolved);
    return read(statements::page_orphans, params, read_orphan);
  }
};

} // namespace

DirectoryFacts load_directory(Connection& connection, const LoadDirectory& question) {
  DirectoryFacts facts;
  Pipeline pipeline(connection);
  pipeline.add(statements::begin_snapshot);
  Params path;
  path.add(question.space_id).add(question.channel_id).add(question.thread_id).add(question.actor_id);
  path.add(question.run_id);
  pipeline.add(statements::directory_path, path, [&facts](const Result& result) {
    RowReader in(result, 0);
    facts.thread = read_optional(in, thread_columns, read_thread);
    facts.channel = read_optional(in, channel_columns, read_channel);
    facts.space = read_optional(in, space_columns, read_space);
    facts.run = read_optional(in, run_columns, read_run);
    facts.level = read_level(in);
  });
  if (question.subject_id)
    pipeline.add(statements::find_principal, Params().add(*question.subject_id),
                 one_row(facts.subject, read_principal));
  if (question.referred_id)
    pipeline.add(statements::find_principal, Params().add(*question.referred_id),
                 one_row(facts.referred, read_principal));
  if (question.token_id)
    pipeline.add(statements::find_token, Params().add(*question.token_id), one_row(facts.token, read_token));
  if (question.subject_id)
    pipeline.add(statements::find_grant, Params().add(deepest(question)).add(*question.subject_id).add(question.run_id),
                 one_row(facts.subject_grant, read_grant));
  add_fleet_facts(pipeline, question, facts);
  pipeline.add(statements::commit);
  pipeline.run();
  return facts;
}

PageRows read_page(Connection& connection, const ReadPage& question) {
  return std::visit(ReadRows{connection, question.node_timeout_s}, question.query);
}

bool bootstrap(Connection& connection, const Bootstrap& question, bool again) {
  const Principal& owner = question.owner;
  const Token& token = question.token;
  bool inserted = false;
  bool present = false;
  Pipeline pipeline(connection);
  pipeline.add(statements::begin);
  pipeline.add(statements::bootstrap_lock);
  Params rows;
  rows.add(owner.id).add(owner.name).add(owner.created_at);
  rows.add(token.id).add(token.label).add(token.digest).add(token.created_at).add(token.expires_at);
  pipeline.add(statements::bootstrap_owner, rows, [&](const Result& result) { inserted = result.affected() == 1; });
  pipeline.add(statements::bootstrap_created, Params().add(token.id).add(token.digest),
               [&](const Result& result) { present = RowReader(result, 0).next<bool>(); });
  crash_point(CrashPoint::owner_prepared);
  pipeline.add(statements::commit);
  pipeline.run();
  crash_point(CrashPoint::owner_committed);
  return inserted || (again && present);
}

std::int64_t collect_garbage(Connection& connection, const CollectGarbage& question) {
  std::int64_t removed = 0;
  const auto count = [&removed](const Result& result) { removed += result.affected(); };
  Pipeline pipeline(connection);
  pipeline.add(statements::delete_idempotency, Params().add(question.now).add(question.limit), count);
  pipeline.add(statements::delete_commit_markers,
               Params().add(least_id_of(question.now - marker_span)).add(question.limit), count);
  if (question.fleet)
    add_fleet_garbage(pipeline, question, *question.fleet, removed);
  crash_point(CrashPoint::garbage_found);
  pipeline.run();
  crash_point(CrashPoint::garbage_removed);
  return removed;
}

bool takes_writes(Connection& connection) {
  return !RowReader(execute(connection, statements::ping), 0).next<bool>();
}

} // namespace cleat::storage::pg
