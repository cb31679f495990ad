#pragma once

#include "actors/rules/directory_parts.hpp"

/// Provisioning around Runners (spec 05 "Surface"): what an operation is about, what comes of it, and what a denial of
/// it is filed under, one function each an operation. Accounts and their secrets stand in `fleet_accounts.cpp`, Runners
/// and containers in `fleet_runners.cpp`.
namespace cleat::rules::directory {

/// What to load.
Targets targets_of(const op::CreateAccount& operation);
Targets targets_of(const op::ListAccounts& operation);
Targets targets_of(const op::PutSubscriber& operation);
Targets targets_of(const op::PutAccountSecret& operation);
Targets targets_of(const op::GetAccountSecret& operation);
Targets targets_of(const op::ListAccountSecrets& operation);
Targets targets_of(const op::DeleteAccountSecret& operation);
Targets targets_of(const op::CreateRunner& operation);
Targets targets_of(const op::ListRunners& operation);
Targets targets_of(const op::CreateRunnerToken& operation);
Targets targets_of(const op::ListRunnerTokens& operation);
Targets targets_of(const op::RevokeRunnerToken& operation);
Targets targets_of(const op::CreateContainer& operation);
Targets targets_of(const op::ListContainers& operation);
Targets targets_of(const op::GetContainer& operation);
Targets targets_of(const op::ListOrphans& operation);

/// Accounts: made and listed by the owner of the instance; their secrets belong to their actor as well.
Result<Step> decide(const op::CreateAccount& operation, const Case& c);
Result<Step> decide(const op::ListAccounts& operation, const Case& c);
Result<Step> decide(const op::PutSubscriber& operation, const Case& c);
Result<Step> decide(const op::PutAccountSecret& operation, const Case& c);
Result<Step> decide(const op::GetAccountSecret& operation, const Case& c);
Result<Step> decide(const op::ListAccountSecrets& operation, const Case& c);
Result<Step> decide(const op::DeleteAccountSecret& operation, const Case& c);

/// Runners, their tokens, containers and orphan diagnostics: the owner's, but for looking at one's own containers.
Result<Step> decide(const op::CreateRunner& operation, const Case& c);
Result<Step> decide(const op::ListRunners& operation, const Case& c);
Result<Step> decide(const op::CreateRunnerToken& operation, const Case& c);
Result<Step> decide(const op::ListRunnerTokens& operation, const Case& c);
Result<Step> decide(const op::RevokeRunnerToken& operation, const Case& c);
Result<Step> decide(const op::CreateContainer& operation, const Case& c);
Result<Step> decide(const op::ListContainers& operation, const Case& c);
Result<Step> decide(const op::GetContainer& operation, const Case& c);
Result<Step> decide(const op::ListOrphans& operation, const Case& c);

/// What a denial is filed under.
AuditSubject audit_of(const op::CreateAccount& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListAccounts& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::PutSubscriber& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::PutAccountSecret& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::GetAccountSecret& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListAccountSecrets& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::DeleteAccountSecret& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::CreateRunner& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListRunners& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::CreateRunnerToken& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListRunnerTokens& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::RevokeRunnerToken& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::CreateContainer& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListContainers& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::GetContainer& operation, const DirectoryFacts& facts, const Principal& actor);
AuditSubject audit_of(const op::ListOrphans& operation, const DirectoryFacts& facts, const Principal& actor);

} // namespace cleat::rules::directory
