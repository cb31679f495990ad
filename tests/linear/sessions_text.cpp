#include <array>
#include <iomanip>
#include <sstream>

#include "tests/linear/sessions.hpp"

/// How histories of sessions are shown to who has to find out what went wrong.
namespace cleat::linear {
namespace {

/// The end of an id: enough to tell ids of one history apart.
std::string tail(const std::string& id) {
  return id.empty() ? "?" : id.size() > 8 ? id.substr(id.size() - 8) : id;
}

const char* name_of(SessionVerb verb) {
  constexpr std::array<const char*, 5> names{"bind", "reset", "report", "start", "list"};
  return names.at(static_cast<std::size_t>(verb));
}

const char* name_of(SessionOutcome outcome) {
  constexpr std::array<const char*, 6> names{"done",
                                             "session_changed",
                                             "session_bound_elsewhere",
                                             "no_current_session",
                                             "session_not_bound",
                                             "version_conflict"};
  return names.at(static_cast<std::size_t>(outcome));
}

const char* name_of(Standing standing) {
  constexpr std::array<const char*, 3> names{"current", "ended by reset", "ended by rebind"};
  return names.at(static_cast<std::size_t>(standing));
}

std::string text_of(const SessionRow& row) {
  return tail(row.id) + " (" + row.reference + ", version " + std::to_string(row.version) +
         (row.started ? "" : ", not started") + (row.model.empty() ? "" : ", model " + row.model) + ", " +
         name_of(row.standing) + ")";
}

std::string request_of(const SessionOperation& operation) {
  std::string text = std::string(name_of(operation.verb)) + " thread " + tail(operation.thread);
  if (!operation.reference.empty())
    text += " reference " + operation.reference;
  if (operation.expected)
    text += " expecting " + tail(*operation.expected);
  if (operation.take_over)
    text += " take_over";
  if (operation.if_match)
    text += " If-Match " + std::to_string(*operation.if_match);
  if (!operation.model.empty())
    text += " model " + operation.model;
  return text + (operation.started ? " started" : "") + (operation.bind_failed ? " bind_failed" : "");
}

std::string answer_of(const SessionOperation& operation) {
  if (!operation.answer)
    return "no answer";
  const SessionAnswer& answer = *operation.answer;
  if (operation.verb != SessionVerb::list)
    return name_of(answer.outcome) + (answer.rows.empty() ? "" : " " + text_of(answer.rows.front()));
  std::string text = std::to_string(answer.rows.size()) + " rows";
  for (const SessionRow& row : answer.rows)
    if (row.standing == Standing::current)
      text += ", " + text_of(row);
  return text;
}

} // namespace

std::string to_string(const Timed<SessionOperation>& operation, Moment start) {
  const auto milliseconds = [&](Moment moment) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(3) << static_cast<double>(moment - start) / 1e6;
    return out.str();
  };
  return milliseconds(operation.invoked) + " to " +
         (operation.is_pending() ? "never" : milliseconds(operation.returned)) + ": " +
         request_of(operation.operation) + " -> " + answer_of(operation.operation) +
         (operation.operation.note.empty() ? "" : "   [" + operation.operation.note + "]");
}

std::string to_string(const SessionModel::State& state) {
  std::string text;
  for (const auto& [thread, place] : state.threads) {
    text += "thread " + tail(thread) + ": " + std::to_string(place->rows.size()) + " rows, ";
    text += place->current ? "current " + text_of(place->rows[*place->current]->seen) : "none current";
    if (place->is_running)
      text += place->run_session ? ", its run on " + text_of(place->rows[*place->run_session]->seen)
                                 : ", its run without a session";
    text += "\n";
  }
  return text;
}

std::string explain(const SessionHistory& part, std::size_t max_lines) {
  const SessionHistory failing = shortest_failure<SessionModel>(part, {});
  const auto verdict = check<SessionModel>(failing, {});
  std::vector<bool> is_placed(failing.size());
  for (const std::size_t i : verdict.longest)
    is_placed[i] = true;
  std::vector<std::size_t> order(failing.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return failing[i].invoked; });
  const Moment start = failing.empty() ? 0 : failing[order.front()].invoked;
  std::string text = "The shortest beginning that no order explains has " + std::to_string(failing.size()) +
                     " operations (times in ms):\n";
  const std::size_t left_out = order.size() > max_lines ? order.size() - max_lines : 0;
  if (left_out > 0)
    text += "  ... " + std::to_string(left_out) + " earlier ones ...\n";
  for (std::size_t n = left_out; n < order.size(); ++n)
    text += (is_placed[order[n]] ? "    " : "  ? ") + to_string(failing[order[n]], start) + "\n";
  return text + "The longest order that explains some of it leaves out those marked with ? and ends in:\n" +
         (verdict.state ? to_string(*verdict.state) : "");
}

} // namespace cleat::linear
