#include "tests/process/history.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/process/world.hpp"

namespace cleat::test {
namespace {

using linear::SessionOperation;
using linear::SessionOutcome;
using linear::SessionRow;
using linear::SessionVerb;

/// Short, so that a server that stands still is left for another one.
constexpr std::chrono::milliseconds patience{1500};
/// Between two sendings of one operation. Nobody tells a client when a server is back.
constexpr std::chrono::milliseconds pause{20};

SessionRow row_of(const Json& json) {
  SessionRow row;
  row.id = json["id"].string();
  row.reference = json["external_session_ref"].string();
  row.version = json["version"].number();
  row.started = json["started"].boolean();
  if (json.has("model"))
    row.model = json["model"].string();
  if (!json["is_current"].boolean())
    row.standing = json["end_reason"].string() == "reset" ? linear::Standing::reset : linear::Standing::rebind;
  return row;
}

std::string path_of(const SessionOperation& operation) {
  const std::string path = sessions_path(operation.thread);
  switch (operation.verb) {
    case SessionVerb::bind:
      return path + "/bind";
    case SessionVerb::reset:
      return path + "/reset";
    case SessionVerb::report:
      return path + "/report";
    default:
      return path;
  }
}

std::string body_of(const SessionOperation& operation) {
  Object body;
  if (!operation.reference.empty())
    body.text("external_session_ref", operation.reference);
  if (operation.expected)
    body.text("expected_current_session_id", *operation.expected);
  if (operation.take_over)
    body.boolean("take_over", true);
  if (!operation.model.empty())
    body.text("model", operation.model);
  if (operation.started)
    body.boolean("started", true);
  if (operation.bind_failed)
    body.text("bind_failed", "session_missing");
  return body.str();
}

std::optional<SessionOutcome> outcome_of(const Response& response) {
  static const std::map<std::string, SessionOutcome> outcomes{
    {"conflict/session_changed", SessionOutcome::session_changed},
    {"conflict/session_bound_elsewhere", SessionOutcome::session_bound_elsewhere},
    {"conflict/no_current_session", SessionOutcome::no_current_session},
    {"conflict/session_not_bound", SessionOutcome::session_not_bound},
    {"version_conflict", SessionOutcome::version_conflict}};
  const auto found = outcomes.find(response.problem());
  return found == outcomes.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

void Whereabouts::move(std::size_t server, const Endpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  endpoints_.at(server) = endpoint;
}

Endpoint Whereabouts::of(std::size_t server) const {
  const std::lock_guard lock(mutex_);
  return endpoints_.at(server);
}

linear::Moment moment_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
    .count();
}

void Recorder::add(linear::Timed<SessionOperation> operation) {
  const std::lock_guard lock(mutex_);
  history_.push_back(std::move(operation));
}

linear::SessionHistory Recorder::history() const {
  const std::lock_guard lock(mutex_);
  return history_;
}

linear::SessionAnswer answer_of(const SessionOperation& operation, const Response& response) {
  linear::SessionAnswer answer;
  if (response.status / 100 == 2) {
    const Json body = response.json();
    if (operation.verb == SessionVerb::list)
      for (const Json& item : body["items"].items())
        answer.rows.push_back(row_of(item));
    else
      answer.rows.push_back(row_of(body));
    return answer;
  }
  const auto outcome = outcome_of(response);
  if (!outcome)
    throw std::runtime_error("a client was answered " + std::to_string(response.status) + " " + response.body);
  answer.outcome = *outcome;
  if (*outcome == SessionOutcome::version_conflict && response.json().has("current"))
    answer.rows.push_back(row_of(response.json()["current"]));
  return answer;
}

Caller::Caller(const Whereabouts& servers, std::size_t first, std::string token, std::uint64_t seed)
  : servers_(servers), server_(first % servers.count()), token_(std::move(token)), random_(seed) {}

void Caller::next_server() {
  server_ = (server_ + 1) % servers_.count();
}

Caller::Heard Caller::send(const SessionOperation& operation, const std::string& key, Response& response) {
  const Endpoint endpoint = servers_.of(server_);
  if (!client_ || endpoint.port != port_) {
    client_.emplace(endpoint, token_, patience);
    port_ = endpoint.port;
  }
  Headers headers;
  if (operation.if_match)
    headers.emplace("If-Match", "\"" + std::to_string(*operation.if_match) + "\"");
  const bool is_list = operation.verb == SessionVerb::list;
  if (!is_list)
    headers.emplace("Idempotency-Key", key);
  auto answer = client_->send(is_list ? "GET" : "POST", path_of(operation),
                              is_list ? std::nullopt : std::optional(body_of(operation)), headers);
  if (!answer) {
    const bool may_have_arrived = client_->may_have_arrived();
    client_.reset();
    return may_have_arrived ? Heard::nothing : Heard::not_now;
  }
  response = std::move(*answer);
  const std::string problem = response.problem();
  if (problem == "outcome_unknown")
    return Heard::nothing;
  // These say that this sending has changed nothing; that this is true is for the checker to find out.
  if (problem == "unavailable" || problem == "overloaded" || problem == "idempotency_in_progress")
    return Heard::not_now;
  return Heard::answer;
}

std::optional<linear::SessionAnswer> Caller::perform(SessionOperation operation, Recorder& recorder) {
  operation.number = recorder.number();
  const std::string key = operation.thread + "-" + std::to_string(operation.number); // threads are of one history
  std::optional<linear::Moment> lost_since;
  for (int sendings = 1;; ++sendings) {
    Response response;
    operation.note = "server " + std::to_string(server_) + ", sending " + std::to_string(sendings);
    const linear::Moment invoked = moment_now();
    const Heard heard = send(operation, key, response);
    const linear::Moment returned = moment_now();
    if (heard == Heard::answer) {
      operation.answer = answer_of(operation, response);
      const bool is_replay = response.header("idempotent-replay") == "true";
      recorder.add({operation, is_replay && lost_since ? *lost_since : invoked, returned});
      // A refusal was decided before the key was looked for in vain, so an earlier sending can only take effect after
      // it; a success that is no replay tells that no earlier one did.
      if (lost_since && operation.answer->outcome != SessionOutcome::done)
        lost_since = invoked;
      else
        lost_since.reset();
      break;
    }
    if (heard == Heard::nothing && !lost_since)
      lost_since = invoked;
    // Some clients never ask again, so that what they have sent stays open for ever.
    if (heard == Heard::nothing ? chance(50) : sendings > 2)
      break;
    next_server();
    std::this_thread::sleep_for(pause);
  }
  if (lost_since && operation.verb != SessionVerb::list) {
    SessionOperation lost = operation;
    lost.answer.reset();
    if (operation.answer)
      lost.number = recorder.number(); // the refusal is an operation of its own
    recorder.add({std::move(lost), *lost_since, linear::never});
  }
  return operation.answer;
}

linear::SessionAnswer Caller::perform_for_certain(const SessionOperation& operation, Recorder& recorder) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  for (;;) {
    if (auto answer = perform(operation, recorder))
      return std::move(*answer);
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("no server answers any more");
  }
}

} // namespace cleat::test
