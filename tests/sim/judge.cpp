#include "tests/sim/judge.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "actors/rules/report.hpp"
#include "actors/rules/run.hpp"
#include "actors/rules/session.hpp"

namespace cleat::sim {
namespace {

const RequestContext& context_of(const Command& command) {
  return std::visit([](const auto& c) -> const RequestContext& { return c.context; }, command);
}

/// Troubles of the server, which say nothing about the state.
bool is_trouble(Code code) {
  return code == Code::unavailable || code == Code::outcome_unknown || code == Code::idempotency_in_progress;
}

/// What a decision does, without what is new each time it is made: ids and moments.
std::string essence(const Decision& decision) {
  std::string text;
  for (const EndSession& end : decision.ends)
    text += "  ends " + end.id.str() + " " + std::string(to_string(end.reason)) + "\n";
  for (const UpdateSession& update : decision.session_updates)
    text += "  updates " + update.row.id.str() + " " + update.row.external_session_ref + " to version " +
            std::to_string(update.row.version) + "\n";
  for (const AgentSession& row : decision.sessions)
    text += "  begins " + row.external_session_ref + (row.is_current() ? " current" : " ended") +
            (row.started ? " started" : "") + " baseline " + std::to_string(row.cost_baseline_micros) + "\n";
  for (const cleat::Run& run : decision.runs)
    text += "  makes a run " + std::string(to_string(run.state)) + "\n";
  for (const UpdateRun& update : decision.run_updates)
    text += "  moves run " + update.row.id.str() + " to " + std::string(to_string(update.row.state)) +
            (update.row.agent_session_id ? " on a session" : "") + "\n";
  for (const AgentEvent& event : decision.agent_events) {
    const auto at = event.payload.find("\"session_mode\"");
    text += "  invokes " + (at == std::string::npos ? std::string() : event.payload.substr(at, 24)) + "\n";
  }
  return text + "  writes " + std::to_string(decision.messages.size()) + " messages\n";
}

std::optional<std::string> reference_of(const Command& command) {
  if (const auto* const bind = std::get_if<BindSession>(&command))
    return bind->body->external_session_ref;
  if (const auto* const report = std::get_if<ReportSession>(&command))
    return report->body->external_session_ref;
  const auto* const run = std::get_if<RunCommand>(&command);
  const auto* const start = run ? std::get_if<run_op::Start>(&run->operation) : nullptr;
  return start ? start->body->external_session_ref : std::nullopt;
}

} // namespace

std::string describe(const Request& request) {
  constexpr std::array<std::string_view, 5> names{"reset", "bind", "trigger", "report", "run"};
  std::string line(names.at(request.command.index()));
  if (const auto* const run = std::get_if<RunCommand>(&request.command))
    line += " " + run->run_id.str() + " operation " + std::to_string(run->operation.index());
  line += " by " + context_of(request.command).actor->name + " [" + std::to_string(request.sent_at) + ".." +
          std::to_string(request.answered_at) + "]: ";
  if (!request.answer)
    return line + "no answer";
  if (request.answer->result)
    return line + std::to_string(request.answer->result->status) + (request.answer->result->replay ? " replay" : "");
  const Refusal& refusal = request.answer->result.error();
  return line + std::string(to_string(refusal.code)) + " " + std::string(to_string(refusal.reason));
}

std::vector<std::string> Judge::verdicts(const std::vector<Request>& requests) {
  std::vector<std::string> wrong;
  // Answers that look the same may belong to either of two commits; who was answered first takes the first.
  std::vector<const Request*> by_answer;
  for (const Request& request : requests)
    by_answer.push_back(&request);
  std::ranges::stable_sort(by_answer, {}, &Request::answered_at);
  for (const Request* const each : by_answer) {
    const Request& request = *each;
    std::optional<std::string> verdict;
    if (!request.answer)
      verdict = "was never answered";
    else if (request.answer->result)
      verdict = judge_success(request);
    else if (is_trouble(request.answer->result.error().code))
      verdict = judge_trouble(request, requests);
    if (verdict)
      wrong.push_back(describe(request) + ": " + *verdict);
  }
  find_owners(requests);
  judge_in_time(requests, wrong);
  return wrong;
}

std::optional<std::string> Judge::judge_success(const Request& request) {
  const Reply& reply = *request.answer->result;
  for (std::size_t i = 0; i < committed_.size() && i < request.answered_at; ++i) {
    const bool in_time = reply.replay || i >= request.sent_at;
    if (!in_time || committed_[i]->reply.body != reply.body || committed_[i]->reply.status != reply.status)
      continue;
    const auto& key = context_of(request.command).idempotency;
    if (key && (!committed_[i]->idempotency || committed_[i]->idempotency->key != *key))
      continue;
    if (reply.replay)
      return std::nullopt;
    if (owners_[i])
      continue;
    owners_[i] = &request;
    return std::nullopt;
  }
  return "is a success that was not committed in its time";
}

std::optional<std::string> Judge::judge_trouble(const Request& request, const std::vector<Request>& requests) const {
  const auto& key = context_of(request.command).idempotency;
  if (!key || request.answer->result.error().code == Code::outcome_unknown)
    return std::nullopt;
  // Where the request was sent more than once, another of them may have done it.
  const auto sent = std::count_if(requests.begin(), requests.end(),
                                  [&](const Request& other) { return context_of(other.command).idempotency == key; });
  if (sent > 1)
    return std::nullopt;
  const bool done = std::any_of(committed_.begin(), committed_.end(), [&](const auto& decision) {
    return decision->idempotency && decision->idempotency->key == *key;
  });
  return done ? std::optional<std::string>("says that nothing was changed, and it was") : std::nullopt;
}

bool Judge::was_done_before(const Request& request) const {
  const auto& key = context_of(request.command).idempotency;
  return key &&
         std::any_of(committed_.begin(), committed_.begin() + static_cast<std::ptrdiff_t>(request.sent_at),
                     [&](const auto& decision) { return decision->idempotency && decision->idempotency->key == *key; });
}

void Judge::judge_in_time(const std::vector<Request>& requests, std::vector<std::string>& wrong) {
  std::vector<const Request*> open;
  for (const Request& request : requests) {
    if (!request.answer || request.answer->result || is_trouble(request.answer->result.error().code))
      continue;
    if (was_done_before(request) && request.answer->result.error().code != Code::not_found)
      wrong.push_back(describe(request) + ": was done before under its key");
    open.push_back(&request);
  }
  for (std::size_t moment = 0;; ++moment) {
    std::erase_if(open, [&](const Request* request) {
      if (moment < request->sent_at || moment > request->answered_at)
        return false;
      const auto opinion = ask(*request);
      return !opinion.says && opinion.says.error() == request->answer->result.error();
    });
    if (moment == committed_.size())
      break;
    judge_commits(moment, wrong);
    past_.commit(*committed_[moment]);
  }
  for (const Request* request : open)
    wrong.push_back(describe(*request) + ": was never true while it was under way");
}

void Judge::find_owners(const std::vector<Request>& requests) {
  for (std::size_t i = 0; i < committed_.size(); ++i)
    for (const Request& request : requests) {
      const auto& record = committed_[i]->idempotency;
      const bool mine = record && context_of(request.command).idempotency == record->key && request.sent_at <= i;
      if (owners_[i] == nullptr && mine)
        owners_[i] = &request;
    }
}

void Judge::judge_commits(std::size_t moment, std::vector<std::string>& wrong) {
  for (std::size_t i = moment; i < committed_.size(); ++i) {
    if (owners_[i] == nullptr || moment < owners_[i]->sent_at)
      continue;
    const auto opinion = ask(*owners_[i]);
    if (opinion.says && essence(*opinion.says) == essence(*committed_[i]))
      possible_[i].insert(opinion.session);
    const bool does_nothing = essence(*committed_[i]) == essence(Decision{});
    if (i == moment && !possible_[i].contains(opinion.session) && !(does_nothing && !possible_[i].empty()))
      wrong.push_back(describe(*owners_[i]) + ": was committed at " + std::to_string(i) + " as\n" +
                      essence(*committed_[i]) + "where the rule decides\n" +
                      (opinion.says ? essence(*opinion.says) : "  a refusal"));
  }
}

Judge::Opinion Judge::ask(const Request& request) {
  const RequestContext& asked = context_of(request.command);
  storage::LoadThread question;
  question.principals = {asked.actor->id};
  question.with_runs = true;
  if (const auto reference = reference_of(request.command))
    question.references.push_back({asked.actor->id, *reference});
  const auto* const run = std::get_if<RunCommand>(&request.command);
  if (run) {
    const auto located = past_.find(storage::LocateRun{run->run_id});
    if (!located.thread_id)
      return {refuse(Code::not_found), {}};
    question.thread_id = *located.thread_id;
    question.run_ids.push_back(run->run_id);
    question.named.push_back(*located.agent_id);
    question.principals.push_back(*located.agent_id);
  } else {
    std::visit(
      [&](const auto& command) {
        if constexpr (requires { command.body; })
          question.thread_id = command.thread_id;
      },
      request.command);
  }
  const auto loaded = past_.load(question);
  if (!loaded.facts)
    return {refuse(Code::not_found), {}};
  const auto& current = loaded.facts->current;
  std::string session = current ? current->id.str() + " " + std::to_string(current->version) : "none";
  // A bind counts the cost of the reference's newest row, so that row must be the newest still.
  const bool binds = std::holds_alternative<BindSession>(request.command) && !loaded.references.empty();
  if (binds && loaded.references.front().newest)
    session += " behind " + loaded.references.front().newest->id.str();
  const rules::RuleContext context{asked, loaded.run_facts->now, ids_, options_};
  const rules::ThreadView thread{*loaded.facts, loaded.levels.front()};
  rules::RunView view{*loaded.facts, *loaded.run_facts, loaded.levels.front()};
  std::optional<ReferenceFacts> reference;
  if (!loaded.references.empty())
    reference = view.reference = loaded.references.front();
  if (const auto* const reset = std::get_if<ResetSession>(&request.command))
    return {rules::reset(thread, *reset, context), session};
  if (const auto* const bind = std::get_if<BindSession>(&request.command))
    return {rules::bind(thread, reference, *bind, context), session};
  if (const auto* const trigger = std::get_if<TriggerRun>(&request.command))
    return {rules::trigger(view, *trigger, context), session};
  if (const auto* const report = std::get_if<ReportSession>(&request.command))
    return {rules::report(view, *report, context), session};
  view.run = loaded.runs.front();
  view.agent = loaded.named.front();
  view.agent_level = loaded.levels.back();
  return {rules::operate(view, *run, context), session};
}

} // namespace cleat::sim
