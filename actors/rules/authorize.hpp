#pragma once

#include <optional>

#include "base/problem.hpp"
#include "protocol/facts.hpp"
#include "protocol/resources.hpp"

/// Who may (spec 03 section 2). Each function answers the refusal, or nothing.
namespace cleat::rules {

/// No level at all hides the resource: 404. A level that is too low is 403 `forbidden`, `level_insufficient`.
std::optional<Refusal> require_level(Level held, Level needed);

/// The invoke guard: the actor is a human; there is an agent, enabled and reachable; the channel takes posts; host
/// tools belong to the space's owner; a personal subscription to its holder. The first refusal is the reason.
std::optional<Refusal> invoke_guard(const Principal& actor, const std::optional<Principal>& agent,
                                    const Channel& channel, const Space& space);

/// Reset and bind: `trigger` on the thread and the invoke guard for `agent`, there.
std::optional<Refusal> may_switch_session(const Principal& actor, const std::optional<Principal>& agent,
                                          const ThreadFacts& thread, Level held);

/// Things that the owner of the instance alone may do.
std::optional<Refusal> require_instance_owner(const Principal& actor);

/// Whether the refusal is a denial, which the audit log counts. A resource that does not exist denies nothing.
bool is_denial(const Refusal& refusal, bool resource_exists);

} // namespace cleat::rules
