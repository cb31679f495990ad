#pragma once

#include <string>
#include <string_view>

#include "actors/rules/runner/container.hpp"

/// What the rules of containers have in common.
namespace cleat::rules::container {

/// The refusal that does not say what is wrong: unknown, foreign, stopped, stale (spec 04 section 3).
inline tl::unexpected<Refusal> unknown() {
  return refuse(Code::not_found);
}

/// Whether the principal acts for the container's account.
bool acts_for(const Principal& actor, const ContainerFacts& facts);

/// Whether the binding is this account's, its actor's and its container's, as they are now.
bool matches(const Binding& binding, const ContainerFacts& facts);

/// `matches`, and the binding is live under the container's current attempt.
bool is_live(const Binding& binding, const ContainerFacts& facts);

/// An operation in flight under the container's current attempt, or a cleanup there that is not over.
bool is_busy(const ContainerFacts& facts);

/// The decision raises the container's version.
void touch(Decision& decision, const ContainerFacts& facts);

/// The operation as it shall be, its version raised.
void update(Decision& decision, Operation row);

/// Ends an operation in flight: failed, for this reason.
Operation failed(Operation row, FailureClass failure_class, std::string_view code, Timestamp now);

/// Opens a diagnostic about an operation.
void open_orphan(Decision& decision, const Operation& operation, std::string_view reason, std::string_view reported,
                 const ReportContext& context);

/// A stop of this session under the attempt that it lives under.
Operation new_stop(const Operation& like, std::string session_id, const ContainerFacts& facts, Timestamp now, Id id);

/// An entry of the audit log about the container.
void record(Decision& decision, std::string_view action, const Operation& operation, const ContainerFacts& facts,
            const RuleContext& context);

/// The codes of failures that the server gives itself.
namespace failure {
inline constexpr std::string_view wire_contract = "wire_contract";
inline constexpr std::string_view actor_changed = "actor_changed";
inline constexpr std::string_view attempt_stale = "attempt_stale";
inline constexpr std::string_view conflict = "conflict";
inline constexpr std::string_view not_dispatched = "not_dispatched";
inline constexpr std::string_view deadline_exceeded = "deadline_exceeded";
inline constexpr std::string_view cleanup_failed = "cleanup_failed";
inline constexpr std::string_view runner_failure = "runner_failure";
} // namespace failure

} // namespace cleat::rules::container
