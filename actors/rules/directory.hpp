#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "actors/rules/context.hpp"
#include "actors/rules/records.hpp"
#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "protocol/pages.hpp"

/// Provisioning and lists (spec 05 "Surface"): spaces, channels, threads, principals, tokens, grants, audit, accounts,
/// Runners, containers. One
/// flow for all: `targets` says what to load, `decide` says what comes of it. The history of sessions is not among
/// them, because it is read with its thread (`rules::list`).
namespace cleat::rules {

/// What an operation's facts are about; the deepest of space, channel and thread decides the level.
struct Targets {
  std::optional<Id> space_id = {};
  std::optional<Id> channel_id = {};
  std::optional<Id> thread_id = {};
  std::optional<Id> subject_id = {};
  std::optional<Id> token_id = {};
  std::optional<Id> referred_id = {};
  /// Brings its thread.
  std::optional<Id> run_id = {};
  std::optional<Id> account_id = {};
  std::optional<std::string> secret_name = {}; ///< of that account
  std::optional<Id> runner_id = {};
  std::optional<Id> runner_token_id = {};
  /// Brings its account, Runner, live binding and operations in flight.
  std::optional<std::string> container_name = {};
};

/// What to load for an operation.
Targets targets(const DirectoryOperation& operation);

/// A page to read and how to show it.
struct ReadList {
  PageQuery query;
  std::int64_t limit = 0;
};

/// What an allowed operation comes to: commit this, answer this, or read that list.
using Step = std::variant<Decision, Reply, ReadList>;

/// What the caller does with secrets beforehand, because a rule draws no lots and knows no keys: a fresh bearer secret
/// for the creation of a token, or the sealed value of an account's secret, which is absent without a master key.
struct Secret {
  std::string text = {};
  Digest digest{};
  std::optional<std::string> sealed = {};
};

/// Decides an operation on its facts. `secret` is used by the creation of a token and by secrets alone.
Result<Step> decide(const DirectoryOperation& operation, const DirectoryFacts& facts, const Secret& secret,
                    const RuleContext& context);

/// The name of an operation in the audit log, and the resource that a denial of it is about. There is no resource
/// when the path names nothing that exists, or when the actor may do this there and so is denied nothing.
struct AuditSubject {
  std::string_view action;
  std::optional<AuditResource> resource;
};
AuditSubject audit_subject(const DirectoryOperation& operation, const DirectoryFacts& facts, const Principal& actor);

} // namespace cleat::rules
