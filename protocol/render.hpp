#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"
#include "protocol/pages.hpp"
#include "protocol/resources.hpp"

/// Resources as JSON (spec 05 "Shapes"). An absent value is an absent member; there is no null.
namespace cleat::render {

/// A single `AgentSession` (spec 03 section 1).
std::string session(const AgentSession& row);
/// The whole history of a thread, `{items}`.
std::string sessions(const std::vector<AgentSession>& rows);
/// The answer to an import: its rows in the order of the request, and how many of them are new.
std::string imported(const std::vector<AgentSession>& rows, std::int64_t newly_written);
std::string space(const Space& row);
std::string channel(const Channel& row);
std::string thread(const Thread& row);
std::string principal(const Principal& row);
/// With the secret only in the answer to its creation.
std::string token(const Token& row, std::string_view secret = {});
std::string grant(const Grant& row);
std::string run(const Run& row);
std::string message(const Message& row);
/// `GET /v1/me`: the principal, `owner` (of the instance) and a page of its grants under `grants`.
std::string me(const Principal& row, const std::vector<Grant>& grants, std::int64_t limit);

/// A page `{items, next_cursor?}` of at most `limit` rows; one row more tells that a next page exists. `viewer` is who
/// is shown it: the session of a container is for its account's actor alone.
std::string page(const PageRows& rows, std::int64_t limit, const std::optional<Id>& viewer = {});

/// The payload of `agent_session.changed` (spec 03 section 11).
std::string session_changed(const AgentSession& row);

/// What a new run is told about its session (spec 03 section 6). A guest run has no mode and no session.
struct SessionDecision {
  std::optional<SessionMode> mode;
  std::optional<AgentSession> session;

  bool operator==(const SessionDecision&) const = default;
};

/// The payload of `agent.invocation`, made here and nowhere else.
std::string invocation(const Run& run, const Message& message, const SessionDecision& decision);

/// An entry of the event log, with its envelope (spec 03 section 11).
std::string event(std::int64_t seq, const Event& row);
/// An entry of an agent's events: `{seq, type, time, payload}`.
std::string agent_event(std::int64_t seq, const AgentEvent& row);
/// A page of a log: `{items, next_after}`, of entries that are rendered already.
std::string log_page(const LogItems& items);

/// `{"thread": {...}}` and its like for the other lifecycle events.
std::string wrapped(std::string_view member, std::string_view json);

/// RFC 9457 problem details of a refusal.
std::string problem(const Refusal& refusal);

/// A member of an audit entry's details: an id, a code or (`is_bool`) "true" or "false".
struct Detail {
  std::string_view name;
  std::string value;
  bool is_bool = false;
};

/// The details of an audit entry. Never a reference or a secret.
std::string details(const std::vector<Detail>& members);

} // namespace cleat::render
