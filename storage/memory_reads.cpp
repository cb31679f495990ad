/// What the memory twin answers to questions: the same rows that the PostgreSQL adapter's queries find.
#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "storage/memory_tables.hpp"

namespace cleat::storage {

namespace {

template <class Table>
std::optional<typename Table::mapped_type> row_of(const Table& table, const std::optional<Id>& id) {
  const auto found = id ? table.find(*id) : table.end();
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// The order of a history: `created_at`, then `id` (spec 03 section 1).
bool is_newer(const AgentSession& left, const AgentSession& right) {
  return std::pair(left.created_at, left.id) > std::pair(right.created_at, right.id);
}

/// At most one row more than a page of those rows that are wanted, in the order of the table, after the cursor.
template <class Table, class Wanted>
auto page_of(const Table& table, const PageRange& range, const Wanted& wanted) {
  std::vector<typename Table::mapped_type> rows;
  for (const auto& [id, row] : table) {
    const bool behind_cursor = !range.after || id > *range.after;
    if (behind_cursor && wanted(row) && std::ssize(rows) <= range.limit)
      rows.push_back(row);
  }
  return rows;
}

} // namespace

ThreadLoaded MemoryTables::load(const LoadThread& question) const {
  const std::lock_guard lock(mutex_);
  ThreadLoaded answer;
  if (unavailable_) {
    answer.status = ReadStatus::unavailable;
    return answer;
  }
  std::optional<Id> agent = question.known_operator;
  answer.levels.assign(question.principals.size(), Level::none);
  if (!question.known_operator) {
    answer.facts = facts_of(question.thread_id);
    if (answer.facts && answer.facts->operator_agent)
      agent = answer.facts->operator_agent->id;
    if (answer.facts)
      std::ranges::transform(question.principals, answer.levels.begin(), [&](const Id& principal) {
        return level_of(principal, answer.facts->space, answer.facts->channel, answer.facts->thread);
      });
  }
  for (const auto& probe : question.references)
    answer.references.push_back(reference_facts(question, probe, agent));
  if (question.with_sessions)
    answer.sessions = newest_first(question.thread_id);
  if (question.with_runs && answer.facts)
    answer.run_facts = run_facts(*answer.facts);
  for (const Id& id : question.run_ids) {
    const auto run = row_of(runs_, id);
    answer.runs.push_back(run && run->thread_id == question.thread_id ? run : std::nullopt);
  }
  for (const Id& id : question.named)
    answer.named.push_back(row_of(principals_, id));
  return answer;
}

TokenFound MemoryTables::find(const FindToken& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, std::nullopt, std::nullopt};
  for (const auto& [id, token] : tokens_) {
    if (token.digest == question.digest)
      return {ReadStatus::ok, token, principals_.at(token.principal_id)};
  }
  return {};
}

IdempotencyFound MemoryTables::find(const FindIdempotency& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, std::nullopt};
  const auto found = idempotency_.find({question.principal_id, question.key});
  return {ReadStatus::ok, found == idempotency_.end() ? std::nullopt : std::optional(found->second)};
}

DirectoryLoaded MemoryTables::load(const LoadDirectory& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  DirectoryLoaded answer;
  DirectoryFacts& facts = answer.facts;
  facts.run = row_of(runs_, question.run_id);
  // A run stands for its thread; one that is not there is a thread that is not there.
  const bool names_thread = question.run_id || question.thread_id;
  const auto thread_id = !question.run_id ? question.thread_id
                         : facts.run      ? std::optional(facts.run->thread_id)
                                          : std::nullopt;
  facts.thread = row_of(threads_, thread_id);
  facts.channel = row_of(channels_, facts.thread ? facts.thread->channel_id : question.channel_id);
  facts.space = row_of(spaces_, facts.channel ? facts.channel->space_id : question.space_id);
  facts.subject = row_of(principals_, question.subject_id);
  facts.token = row_of(tokens_, question.token_id);
  facts.referred = row_of(principals_, question.referred_id);
  const auto deepest = names_thread ? thread_id : question.channel_id ? question.channel_id : question.space_id;
  const bool deepest_exists = names_thread          ? facts.thread.has_value()
                              : question.channel_id ? facts.channel.has_value()
                                                    : facts.space.has_value();
  if (deepest_exists)
    facts.level = level_of(question.actor_id, *facts.space, facts.channel, facts.thread);
  if (deepest && question.subject_id) {
    const auto grant = grants_.find({*deepest, *question.subject_id});
    if (grant != grants_.end())
      facts.subject_grant = grant->second;
  }
  fleet_.add_facts(question, clock_->now(), facts);
  return answer;
}

PageRead MemoryTables::read(const ReadPage& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  const auto rows = [&](const auto& page) -> PageRows {
    using Page = std::decay_t<decltype(page)>;
    if constexpr (std::is_same_v<Page, RunnersPage> || std::is_same_v<Page, ContainersPage>)
      return fleet_.read(page, question.node_timeout_s, clock_->now());
    else if constexpr (requires { fleet_.read(page); })
      return fleet_.read(page);
    else
      return rows_of(page);
  };
  return {ReadStatus::ok, std::visit(rows, question.query)};
}

Pong MemoryTables::ping() const {
  const std::lock_guard lock(mutex_);
  return {unavailable_ ? ReadStatus::unavailable : ReadStatus::ok};
}

PageRows MemoryTables::rows_of(const SpacesPage& page) const {
  return page_of(spaces_, page.range, [&](const Space& row) {
    return row.owner_id == page.visible_to || grants_.contains({row.id, page.visible_to});
  });
}

PageRows MemoryTables::rows_of(const ChannelsPage& page) const {
  return page_of(channels_, page.range, [&](const Channel& row) { return row.space_id == page.space_id; });
}

PageRows MemoryTables::rows_of(const ThreadsPage& page) const {
  return page_of(threads_, page.range, [&](const Thread& row) { return row.channel_id == page.channel_id; });
}

PageRows MemoryTables::rows_of(const PrincipalsPage& page) const {
  return page_of(principals_, page.range, [](const Principal&) { return true; });
}

PageRows MemoryTables::rows_of(const TokensPage& page) const {
  return page_of(tokens_, page.range, [&](const Token& row) { return row.principal_id == page.principal_id; });
}

PageRows MemoryTables::rows_of(const GrantsPage& page) const {
  std::map<Id, Grant> held;
  for (const auto& [key, grant] : grants_) {
    if (grant.principal_id == page.principal_id)
      held.emplace(grant.resource_id, grant);
  }
  return page_of(held, page.range, [](const Grant&) { return true; });
}

PageRows MemoryTables::rows_of(const RunsPage& page) const {
  return page_of(runs_, page.range, [&](const Run& row) { return row.thread_id == page.thread_id; });
}

PageRows MemoryTables::rows_of(const MessagesPage& page) const {
  return page_of(messages_, page.range, [&](const Message& row) { return row.thread_id == page.thread_id; });
}

PageRows MemoryTables::rows_of(const AuditPage& page) const {
  std::vector<AuditEntry> rows;
  for (auto item = audit_.rbegin(); item != audit_.rend(); ++item) {
    const AuditEntry& entry = item->second;
    const bool wanted =
      (!page.range.after || entry.id < *page.range.after) && (!page.actor_id || entry.actor_id == *page.actor_id) &&
      (!page.action || entry.action == *page.action) && (!page.allowed || entry.allowed == *page.allowed) &&
      (!page.resource_id || entry.resource_id == *page.resource_id);
    if (wanted && std::ssize(rows) <= page.range.limit)
      rows.push_back(entry);
  }
  return rows;
}

std::optional<ThreadFacts> MemoryTables::facts_of(const Id& thread_id) const {
  const auto thread = row_of(threads_, thread_id);
  if (!thread)
    return std::nullopt;
  ThreadFacts facts{*thread, channels_.at(thread->channel_id), spaces_.at(thread->space_id), {}, {}, {}};
  const bool is_main = thread->kind == ThreadKind::main;
  facts.operator_agent =
    row_of(principals_, is_main ? facts.channel.operator_agent_id : facts.thread.operator_agent_id);
  facts.current = current_of_thread(thread_id);
  const auto rows = newest_first(thread_id);
  if (!rows.empty())
    facts.newest_session_at = rows.front().created_at;
  return facts;
}

Level MemoryTables::level_of(const Id& principal, const Space& space, const std::optional<Channel>& channel,
                             const std::optional<Thread>& thread) const {
  if (space.owner_id == principal)
    return Level::manage;
  Level highest = Level::none;
  const auto consider = [&](const Id& resource) {
    const auto grant = grants_.find({resource, principal});
    if (grant != grants_.end())
      highest = std::max(highest, grant->second.level);
  };
  consider(space.id);
  if (channel)
    consider(channel->id);
  if (thread)
    consider(thread->id);
  return highest;
}

std::optional<AgentSession> MemoryTables::current_of_thread(const Id& thread_id) const {
  for (const auto& [id, row] : sessions_) {
    if (row.thread_id == thread_id && row.is_current())
      return row;
  }
  return std::nullopt;
}

std::optional<AgentSession> MemoryTables::current_of_reference(const Id& agent_id, const std::string& reference) const {
  for (const auto& [id, row] : sessions_) {
    if (row.agent_id == agent_id && row.external_session_ref == reference && row.is_current())
      return row;
  }
  return std::nullopt;
}

std::optional<AgentSession> MemoryTables::newest_of_reference(const Id& agent_id, const std::string& reference) const {
  std::optional<AgentSession> newest;
  for (const auto& [id, row] : sessions_) {
    if (row.agent_id == agent_id && row.external_session_ref == reference && (!newest || is_newer(row, *newest)))
      newest = row;
  }
  return newest;
}

std::vector<AgentSession> MemoryTables::newest_first(const Id& thread_id) const {
  std::vector<AgentSession> rows;
  for (const auto& [id, row] : sessions_) {
    if (row.thread_id == thread_id)
      rows.push_back(row);
  }
  std::ranges::sort(rows, is_newer);
  return rows;
}

std::optional<OtherThread> MemoryTables::other_thread(const std::optional<AgentSession>& row, const Id& asking_thread,
                                                      const Id& principal) const {
  if (!row || row->thread_id == asking_thread)
    return std::nullopt;
  auto facts = facts_of(row->thread_id);
  if (!facts)
    return std::nullopt;
  const Level level = level_of(principal, facts->space, facts->channel, facts->thread);
  return OtherThread{std::move(*facts), level};
}

ReferenceFacts MemoryTables::reference_facts(const LoadThread& question, const ReferenceProbe& probe,
                                             const std::optional<Id>& agent_id) const {
  ReferenceFacts facts;
  facts.external_session_ref = probe.external_session_ref;
  if (!agent_id)
    return facts;
  facts.agent_id = *agent_id;
  facts.current = current_of_reference(*agent_id, probe.external_session_ref);
  facts.newest = newest_of_reference(*agent_id, probe.external_session_ref);
  if (question.with_runs)
    facts.ended_here = ended_here(question.thread_id, *agent_id, probe.external_session_ref);
  facts.current_thread = other_thread(facts.current, question.thread_id, probe.principal_id);
  facts.newest_thread = other_thread(facts.newest, question.thread_id, probe.principal_id);
  return facts;
}

std::vector<AgentSession> MemoryTables::sessions_of(const Id& thread_id) const {
  const std::lock_guard lock(mutex_);
  return newest_first(thread_id);
}

} // namespace cleat::storage
