#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "protocol/decision.hpp"
#include "protocol/fleet_facts.hpp"
#include "protocol/runner_messages.hpp"

/// Who may enrol as a Runner, whether an enrolment goes on, and when a Runner counts as gone (spec 04 sections 8 and
/// 10). Nothing that a Runner says of itself decides anything but its token, its secret and its journal's id.
namespace cleat::rules::fleet {

/// What the rules of enrolment need of the configuration, in the units of the names.
struct EnrolmentOptions {
  std::int64_t heartbeat_ms = limits::runner_heartbeat_ms;           ///< runner.heartbeat_ms
  std::int64_t timeout_s = limits::runner_timeout_s;                 ///< runner.timeout_s
  std::int64_t reconnect_grace_s = limits::runner_reconnect_grace_s; ///< runner.reconnect_grace_s
  std::int64_t node_timeout_s = limits::node_timeout_s;              ///< nodes.timeout_s
};

/// What an enrolment is decided with: where, when, and what was drawn for it.
struct EnrolmentContext {
  /// The server that holds the socket.
  Id node_id;
  Timestamp now;
  IdSource& ids;
  /// The secret of a new enrolment, 256 random bits.
  std::string secret;
  EnrolmentOptions options;
};

/// An enrolment that holds once `decision` is committed, and what the Runner is told then.
struct Admission {
  Decision decision;
  wire::Enrolled answer;
};

/// Lets a Runner in, or says why not.
///
/// With the secret of the enrolment in force, the journal of that enrolment and a socket that has not been away for
/// longer than `runner.reconnect_grace_s`, the enrolment goes on: its attempts stay, its epoch rises. Without a secret
/// a new enrolment begins: its revision rises, every container gets a new attempt. Both are guarded by the Runner's
/// version, so two admissions on the same facts are never both committed.
tl::expected<Admission, wire::EnrolmentRefused> admit(const EnrolmentFacts& facts, const wire::AskEnrolment& request,
                                                      const EnrolmentContext& context);

/// The Runner's socket has gone: it counts as disconnected from `now` on. Nothing when the connection of `epoch` at
/// `node_id` is not the one in force any more.
std::optional<Decision> left(const EnrolmentFacts& facts, std::int64_t epoch, const Id& node_id, Timestamp now);

} // namespace cleat::rules::fleet
