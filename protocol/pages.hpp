#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/fleet.hpp"
#include "protocol/resources.hpp"

/// Lists and their pages (spec 05). Each query says what is read and in which order; the cursor of a list is the id
/// of the last row that the reader has seen, because ids are UUIDv7 and so sort by time.
namespace cleat {

/// Which part of a list. `after` is the last row already seen; rows come oldest first, audit newest first.
struct PageRange {
  std::int64_t limit = 0;
  std::optional<Id> after;

  bool operator==(const PageRange&) const = default;
};

/// The spaces of `GET /v1/spaces`.
struct SpacesPage {
  /// Only spaces that this principal owns or holds a grant on.
  Id visible_to;
  PageRange range;
  bool operator==(const SpacesPage&) const = default;
};
/// The channels of a space.
struct ChannelsPage {
  Id space_id;
  PageRange range;
  bool operator==(const ChannelsPage&) const = default;
};
/// The threads of a channel, its main thread included.
struct ThreadsPage {
  Id channel_id;
  PageRange range;
  bool operator==(const ThreadsPage&) const = default;
};
/// All principals of the instance.
struct PrincipalsPage {
  PageRange range;
  bool operator==(const PrincipalsPage&) const = default;
};
/// The tokens of a principal, revoked and expired ones included.
struct TokensPage {
  Id principal_id;
  PageRange range;
  bool operator==(const TokensPage&) const = default;
};
/// Every grant that a principal holds, for `GET /v1/me`.
struct GrantsPage {
  Id principal_id;
  PageRange range;
  bool operator==(const GrantsPage&) const = default;
};
/// The runs of a thread, oldest first.
struct RunsPage {
  Id thread_id;
  PageRange range;
  bool operator==(const RunsPage&) const = default;
};
/// The messages and system lines of a thread, oldest first.
struct MessagesPage {
  Id thread_id;
  PageRange range;
  bool operator==(const MessagesPage&) const = default;
};
/// The audit log, newest first.
struct AuditPage {
  std::optional<Id> actor_id;
  std::optional<std::string> action;
  std::optional<bool> allowed;
  std::optional<Id> resource_id;
  PageRange range;
  bool operator==(const AuditPage&) const = default;
};

/// All accounts of the instance.
struct AccountsPage {
  PageRange range;
  bool operator==(const AccountsPage&) const = default;
};
/// The names of an account's secrets; `after` is not used, the whole list is small.
struct SecretsPage {
  Id account_id;
  std::int64_t limit = 0;
  bool operator==(const SecretsPage&) const = default;
};
/// All Runners of the instance.
struct RunnersPage {
  PageRange range;
  bool operator==(const RunnersPage&) const = default;
};
/// The tokens of a Runner, revoked and expired ones included.
struct RunnerTokensPage {
  Id runner_id;
  PageRange range;
  bool operator==(const RunnerTokensPage&) const = default;
};
/// The containers, by id: of all accounts, or of those whose actor is `visible_to`.
struct ContainersPage {
  std::optional<Id> visible_to;
  PageRange range;
  bool operator==(const ContainersPage&) const = default;
};
/// Orphan diagnostics, newest first.
struct OrphansPage {
  /// Only unresolved ones, or only resolved ones; absent: both.
  std::optional<bool> resolved;
  PageRange range;
  bool operator==(const OrphansPage&) const = default;
};

/// A Runner and whether it is connected.
struct RunnerRow {
  Runner runner;
  bool connected = false;
  bool operator==(const RunnerRow&) const = default;
};
/// A container with what its state is made of.
struct ContainerRow {
  Container container;
  Account account;
  bool connected = false;
  std::optional<Binding> live;
  /// In flight, oldest first.
  std::vector<Operation> open;
  bool operator==(const ContainerRow&) const = default;
};

using PageQuery =
  std::variant<SpacesPage, ChannelsPage, ThreadsPage, PrincipalsPage, TokensPage, GrantsPage, AuditPage, RunsPage,
               MessagesPage, AccountsPage, SecretsPage, RunnersPage, RunnerTokensPage, ContainersPage, OrphansPage>;

/// At most `limit + 1` rows: one more than asked for tells that a next page exists.
using PageRows =
  std::variant<std::vector<Space>, std::vector<Channel>, std::vector<Thread>, std::vector<Principal>,
               std::vector<Token>, std::vector<Grant>, std::vector<AuditEntry>, std::vector<Run>, std::vector<Message>,
               std::vector<Account>, std::vector<AccountSecret>, std::vector<RunnerRow>, std::vector<RunnerToken>,
               std::vector<ContainerRow>, std::vector<Orphan>>;

} // namespace cleat
