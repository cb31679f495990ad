#pragma once

#include "actors/rules/directory.hpp"

/// The rules behind `rules::decide`, one function an operation. Facts hold what `targets` asked for, as far as it
/// exists. Reads and writes of places (spaces, channels, threads) stand in `places.cpp`, of people (principals,
/// tokens, grants) in `people.cpp`; what is around Runners is declared in `fleet_parts.hpp`.
namespace cleat::rules::directory {

/// What every part is given.
struct Case {
  const DirectoryFacts& facts;
  const Secret& secret;
  const RuleContext& context;

  [[nodiscard]] const Principal& actor() const { return context.actor(); }
};

/// Places, one function an operation: refused, or what it comes to (spec 05 "Surface").
Result<Step> decide(const op::CreateSpace& operation, const Case& c);
Result<Step> decide(const op::ListSpaces& operation, const Case& c);
Result<Step> decide(const op::GetSpace& operation, const Case& c);
Result<Step> decide(const op::UpdateSpace& operation, const Case& c);
Result<Step> decide(const op::CreateChannel& operation, const Case& c);
Result<Step> decide(const op::ListChannels& operation, const Case& c);
Result<Step> decide(const op::GetChannel& operation, const Case& c);
Result<Step> decide(const op::UpdateChannel& operation, const Case& c);
Result<Step> decide(const op::CreateThread& operation, const Case& c);
Result<Step> decide(const op::ListThreads& operation, const Case& c);
Result<Step> decide(const op::GetThread& operation, const Case& c);
Result<Step> decide(const op::UpdateThread& operation, const Case& c);
Result<Step> decide(const op::CloseThread& operation, const Case& c);

/// Runs and messages, to be read.
Result<Step> decide(const op::GetRun& operation, const Case& c);
Result<Step> decide(const op::ListRuns& operation, const Case& c);
Result<Step> decide(const op::ListMessages& operation, const Case& c);

/// People, their tokens and grants, and the audit log.
Result<Step> decide(const op::CreatePrincipal& operation, const Case& c);
Result<Step> decide(const op::ListPrincipals& operation, const Case& c);
Result<Step> decide(const op::GetPrincipal& operation, const Case& c);
Result<Step> decide(const op::UpdatePrincipal& operation, const Case& c);
Result<Step> decide(const op::CreateToken& operation, const Case& c);
Result<Step> decide(const op::ListTokens& operation, const Case& c);
Result<Step> decide(const op::RevokeToken& operation, const Case& c);
Result<Step> decide(const op::PutGrant& operation, const Case& c);
Result<Step> decide(const op::DeleteGrant& operation, const Case& c);
Result<Step> decide(const op::GetGrant& operation, const Case& c);
Result<Step> decide(const op::GetMe& operation, const Case& c);
Result<Step> decide(const op::ListAudit& operation, const Case& c);

// Helpers of both files.

/// `If-Match`, where it is given, names the version that the change is made on; else 412 with the row as it is.
std::optional<Refusal> check_if_match(const RuleContext& context, std::int64_t version, const std::string& current);

/// An answer that shows one versioned resource.
Reply shown(int status, std::string body, std::int64_t version);

/// The list, unless the range was refused.
Result<Step> list(const Result<PageRange>& range, PageQuery query);

} // namespace cleat::rules::directory
