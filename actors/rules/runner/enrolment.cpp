#include "actors/rules/runner/enrolment.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/encoding.hpp"

namespace cleat::rules::fleet {
namespace {

tl::unexpected<wire::EnrolmentRefused> refuse(const char* code, const char* detail) {
  return tl::unexpected(wire::EnrolmentRefused{code, detail});
}

/// The token's state tells no more than that it does not open: whoever holds an old token learns nothing from the
/// answer.
bool opens(const EnrolmentFacts& facts, Timestamp now) {
  if (!facts.token || !facts.runner || facts.token->runner_id != facts.runner->id)
    return false;
  return !facts.token->revoked_at && (!facts.token->expires_at || *facts.token->expires_at > now);
}

/// Whether the server that holds the Runner's socket has been heard of lately.
bool is_held(const EnrolmentFacts& facts, const EnrolmentContext& context) {
  if (!facts.runner->node_id || !facts.node || facts.node->id != *facts.runner->node_id)
    return false;
  return context.now - facts.node->heartbeat_at < std::chrono::seconds(context.options.node_timeout_s);
}

/// Since when the Runner has been away, as far as anybody knows: since its server said so, else since that server was
/// heard of last.
std::optional<Timestamp> away_since(const EnrolmentFacts& facts) {
  if (!facts.runner->node_id)
    return facts.runner->disconnected_at;
  return facts.node ? std::optional(facts.node->heartbeat_at) : std::nullopt;
}

bool is_secret_of(const Runner& runner, const std::string& secret) {
  return runner.enrollment_secret && equal_constant_time(*runner.enrollment_secret, sha256(secret));
}

/// The Runner's row with this connection as its newest.
Runner connected(const Runner& before, const EnrolmentContext& context) {
  Runner row = before;
  ++row.version;
  ++row.epoch;
  row.node_id = context.node_id;
  row.connected_at = context.now;
  row.disconnected_at.reset();
  return row;
}

wire::Enrolled told(const Runner& row, std::string secret, bool continued, const EnrolmentOptions& options) {
  wire::Enrolled answer;
  answer.enrollment_revision = row.enrollment_revision;
  answer.epoch = row.epoch;
  answer.secret = std::move(secret);
  answer.continued = continued;
  answer.heartbeat_ms = options.heartbeat_ms;
  answer.timeout_ms = options.timeout_s * 1000;
  answer.reconnect_grace_ms = options.reconnect_grace_s * 1000;
  return answer;
}

Admission continue_enrolment(const EnrolmentFacts& facts, const wire::AskEnrolment& request,
                             const EnrolmentContext& context) {
  const Runner row = connected(*facts.runner, context);
  Admission admission{{}, told(row, request.secret, true, context.options)};
  for (const Container& container : facts.containers)
    admission.answer.containers.push_back(
      {container.name, container.attempt_id ? container.attempt_id->str() : std::string()});
  admission.decision.rows.emplace_back(cleat::fleet::UpdateRunner{row});
  return admission;
}

Admission begin_enrolment(const EnrolmentFacts& facts, const wire::AskEnrolment& request,
                          const EnrolmentContext& context) {
  cleat::fleet::Enrol enrol{connected(*facts.runner, context), {}};
  ++enrol.row.enrollment_revision;
  enrol.row.enrollment_secret = sha256(context.secret);
  enrol.row.journal_id = Id::parse(request.journal_id);
  Admission admission{{}, told(enrol.row, context.secret, false, context.options)};
  for (const Container& container : facts.containers) {
    const ContainerAttempt attempt{context.ids.next(context.now), container.name, enrol.row.id,
                                   enrol.row.enrollment_revision, true,           context.now};
    admission.answer.containers.push_back({container.name, attempt.id.str()});
    enrol.attempts.push_back(attempt);
  }
  admission.decision.rows.emplace_back(std::move(enrol));
  return admission;
}

} // namespace

tl::expected<Admission, wire::EnrolmentRefused> admit(const EnrolmentFacts& facts, const wire::AskEnrolment& request,
                                                      const EnrolmentContext& context) {
  if (!opens(facts, context.now))
    return refuse("unauthorized", "the token is unknown, revoked or expired; give the Runner another one");
  if (request.secret.empty())
    return begin_enrolment(facts, request, context);
  if (!is_secret_of(*facts.runner, request.secret)) {
    if (is_held(facts, context))
      return refuse("superseded", "another process has enrolled with a token of this Runner; run one of them");
    return refuse("enrol_anew", "the enrolment is not in force any more; end what it left and enrol without a secret");
  }
  // A Runner that comes back with another journal cannot tell what became of the operations of its enrolment.
  if (facts.runner->journal_id != Id::parse(request.journal_id))
    return refuse("enrol_anew",
                  "the enrolment began with another journal; end what it left and enrol without a secret");
  const auto since = away_since(facts);
  if (!since || context.now - *since > std::chrono::seconds(context.options.reconnect_grace_s))
    return refuse("enrol_anew", "the Runner has been away for too long; end what it left and enrol without a secret");
  return continue_enrolment(facts, request, context);
}

std::optional<Decision> left(const EnrolmentFacts& facts, std::int64_t epoch, const Id& node_id, Timestamp now) {
  if (!facts.runner || facts.runner->epoch != epoch || facts.runner->node_id != node_id)
    return std::nullopt;
  Runner row = *facts.runner;
  ++row.version;
  row.node_id.reset();
  row.disconnected_at = now;
  Decision decision;
  decision.rows.emplace_back(cleat::fleet::UpdateRunner{std::move(row)});
  return decision;
}

} // namespace cleat::rules::fleet
