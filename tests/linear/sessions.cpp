#include "tests/linear/sessions.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace cleat::linear {
namespace {

using State = SessionModel::State;
using States = std::vector<State>;
using RowPtr = std::shared_ptr<const ModelRow>;

const ThreadPlace& place_of(const State& state, const std::string& thread) {
  static const ThreadPlace empty;
  const auto found = state.threads.find(thread);
  return found == state.threads.end() ? empty : *found->second;
}

void put(State& state, const std::string& thread, ThreadPlace place) {
  state.threads[thread] = std::make_shared<const ThreadPlace>(std::move(place));
}

const ModelRow* current_of(const ThreadPlace& place) {
  return place.current ? place.rows[*place.current].get() : nullptr;
}

/// The other thread in which the reference is current.
std::optional<std::string> elsewhere(const State& state, const std::string& thread, const std::string& reference) {
  for (const auto& [name, place] : state.threads)
    if (const ModelRow* row = current_of(*place); name != thread && row && row->seen.reference == reference)
      return name;
  return std::nullopt;
}

bool is_known(const State& state, const std::string& id) {
  return std::ranges::any_of(state.threads, [&](const auto& entry) {
    return std::ranges::any_of(entry.second->rows, [&](const RowPtr& row) { return row->seen.id == id; });
  });
}

void end_current(ThreadPlace& place, Standing standing) {
  if (!place.current)
    return;
  ModelRow row = *place.rows[*place.current];
  row.seen.standing = standing;
  row.seen.version += 1;
  place.rows[*place.current] = std::make_shared<const ModelRow>(std::move(row));
  place.current.reset();
}

/// Whether the answer shows this row, its id aside when nobody has seen it yet.
bool shows(const SessionRow& answer, const ModelRow& row) {
  SessionRow known = row.seen;
  if (known.id.empty())
    known.id = answer.id;
  return known == answer;
}

/// The place once an answer has shown one of its rows: it has its id from then on. Nothing when that contradicts what
/// was known.
std::optional<ThreadPlace> once_seen(const State& state, const ThreadPlace& place, std::size_t index,
                                     const SessionRow& answer) {
  const ModelRow& row = *place.rows[index];
  if (!shows(answer, row) || (row.seen.id.empty() && is_known(state, answer.id)))
    return std::nullopt;
  ThreadPlace seen = place;
  if (row.seen.id.empty())
    seen.rows[index] = std::make_shared<const ModelRow>(ModelRow{answer, 0});
  return seen;
}

/// The state once an answer has shown that row of a thread; none when it cannot be that row.
States seen_in(State state, const std::string& thread, std::size_t index, const std::optional<SessionAnswer>& answer) {
  if (!answer)
    return {std::move(state)};
  if (answer->outcome != SessionOutcome::done || answer->rows.size() != 1)
    return {};
  auto place = once_seen(state, place_of(state, thread), index, answer->rows.front());
  if (!place)
    return {};
  put(state, thread, std::move(*place));
  return {std::move(state)};
}

/// The row that an operation makes: with the id that its answer tells, or with none yet.
ModelRow made_by(const SessionOperation& operation, SessionRow row) {
  row.reference = operation.reference;
  if (!operation.answer || operation.answer->rows.empty())
    return {std::move(row), operation.number};
  row.id = operation.answer->rows.front().id;
  return {std::move(row), 0};
}

/// The state with a row that the operation has made, provided that its answer, if any, shows exactly that row and an id
/// that no other row has.
States with_new_row(State state, ThreadPlace place, const SessionOperation& operation, ModelRow row, bool current) {
  if (operation.answer && (operation.answer->outcome != SessionOutcome::done || operation.answer->rows.size() != 1 ||
                           !(operation.answer->rows.front() == row.seen) || is_known(state, row.seen.id)))
    return {};
  if (current)
    place.current = place.rows.size();
  place.rows.push_back(std::make_shared<const ModelRow>(std::move(row)));
  put(state, operation.thread, std::move(place));
  return {std::move(state)};
}

/// A refusal leaves everything as it was; an operation without an answer was not refused, or it is as if it had never
/// been.
States refused(const State& state, const SessionOperation& operation, SessionOutcome outcome) {
  if (!operation.answer || operation.answer->outcome != outcome)
    return {};
  return {state};
}

States bind(const State& state, const SessionOperation& operation) {
  const ThreadPlace& place = place_of(state, operation.thread);
  const auto other = elsewhere(state, operation.thread, operation.reference);
  if (other && !operation.take_over)
    return refused(state, operation, SessionOutcome::session_bound_elsewhere);
  const ModelRow* const current = current_of(place);
  if (current ? operation.expected != current->seen.id || current->seen.id.empty() : operation.expected.has_value())
    return refused(state, operation, SessionOutcome::session_changed);
  State next = state;
  if (other) {
    ThreadPlace left = place_of(state, *other);
    end_current(left, Standing::rebind);
    put(next, *other, std::move(left));
  }
  ThreadPlace changed = place;
  end_current(changed, Standing::rebind);
  return with_new_row(std::move(next), std::move(changed), operation, made_by(operation, SessionRow{}), true);
}

States reset(const State& state, const SessionOperation& operation) {
  const ThreadPlace& place = place_of(state, operation.thread);
  const ModelRow* const current = current_of(place);
  if (!current)
    return refused(state, operation, SessionOutcome::no_current_session);
  if (operation.expected && *operation.expected != current->seen.id)
    return refused(state, operation, SessionOutcome::session_changed);
  ThreadPlace changed = place;
  end_current(changed, Standing::reset);
  State next = state;
  put(next, operation.thread, std::move(changed));
  return seen_in(std::move(next), operation.thread, *place.current, operation.answer);
}

/// The rows with this reference that have ended in the thread. In a history every end is after the run was queued.
std::vector<std::size_t> ended_with(const ThreadPlace& place, const std::string& reference) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < place.rows.size(); ++i)
    if (place.rows[i]->seen.reference == reference && place.rows[i]->seen.standing != Standing::current)
      found.push_back(i);
  return found;
}

/// The run is put on a row that is there; the answer tells which of them.
States put_on_one_of(const State& state, const SessionOperation& operation, const std::vector<std::size_t>& rows) {
  States all;
  for (const std::size_t index : rows) {
    ThreadPlace place = place_of(state, operation.thread);
    place.is_running = true;
    place.run_session = index;
    State next = state;
    put(next, operation.thread, std::move(place));
    for (State& one : seen_in(std::move(next), operation.thread, index, operation.answer))
      all.push_back(std::move(one));
  }
  return all;
}

States first_report(const State& state, const ThreadPlace& place, const SessionOperation& operation) {
  if (operation.if_match)
    return operation.answer && operation.answer->rows.empty()
             ? refused(state, operation, SessionOutcome::version_conflict)
             : States{};
  if (operation.bind_failed)
    return refused(state, operation, SessionOutcome::session_not_bound);
  if (const auto ended = ended_with(place, operation.reference); !ended.empty())
    return put_on_one_of(state, operation, ended);
  if (place.current)
    return refused(state, operation, SessionOutcome::session_changed);
  if (elsewhere(state, operation.thread, operation.reference))
    return refused(state, operation, SessionOutcome::session_bound_elsewhere);
  ThreadPlace changed = place;
  changed.run_session = place.rows.size();
  SessionRow row;
  row.model = operation.model;
  row.started = operation.started;
  return with_new_row(state, std::move(changed), operation, made_by(operation, std::move(row)), true);
}

/// The runtime has lost the session of the run: another one takes its place.
States replace(const State& state, const ThreadPlace& place, const SessionOperation& operation) {
  const SessionRow& session = place.rows[*place.run_session]->seen;
  if (!session.started || place.bind_failed)
    return refused(state, operation, SessionOutcome::session_not_bound);
  const bool is_current = place.current == place.run_session;
  if (elsewhere(state, operation.thread, operation.reference))
    return refused(state, operation, SessionOutcome::session_bound_elsewhere);
  ThreadPlace changed = place;
  SessionRow row;
  row.model = operation.model;
  row.started = operation.started;
  row.standing = session.standing;
  if (is_current)
    end_current(changed, Standing::rebind);
  changed.run_session = changed.rows.size();
  changed.bind_failed = true;
  return with_new_row(state, std::move(changed), operation, made_by(operation, std::move(row)), is_current);
}

/// A report about the row that the run is on.
States apply(const State& state, const ThreadPlace& place, const SessionOperation& operation) {
  ModelRow row = *place.rows[*place.run_session];
  const bool is_current = place.current == place.run_session;
  if (!operation.reference.empty() && operation.reference != row.seen.reference) {
    if (is_current && elsewhere(state, operation.thread, operation.reference))
      return refused(state, operation, SessionOutcome::session_bound_elsewhere);
    row.seen.reference = operation.reference;
  }
  if (!operation.model.empty())
    row.seen.model = operation.model;
  row.seen.started = row.seen.started || operation.started;
  if (!(row == *place.rows[*place.run_session]))
    row.seen.version += 1;
  ThreadPlace changed = place;
  changed.rows[*place.run_session] = std::make_shared<const ModelRow>(std::move(row));
  State next = state;
  put(next, operation.thread, std::move(changed));
  return seen_in(std::move(next), operation.thread, *place.run_session, operation.answer);
}

States report(const State& state, const SessionOperation& operation) {
  const ThreadPlace& place = place_of(state, operation.thread);
  if (!place.is_running)
    return {};
  if (!place.run_session)
    return first_report(state, place, operation);
  if (operation.if_match != place.rows[*place.run_session]->seen.version) {
    if (!operation.answer || operation.answer->outcome != SessionOutcome::version_conflict ||
        operation.answer->rows.size() != 1)
      return {};
    auto seen = once_seen(state, place, *place.run_session, operation.answer->rows.front());
    if (!seen)
      return {};
    State next = state;
    put(next, operation.thread, std::move(*seen));
    return {std::move(next)};
  }
  return operation.bind_failed ? replace(state, place, operation) : apply(state, place, operation);
}

/// A run begins: it is put on the thread's current row, or on one that it makes, or on none.
States start(const State& state, const SessionOperation& operation) {
  ThreadPlace place = place_of(state, operation.thread);
  if (place.is_running)
    return {};
  if (place.current)
    return put_on_one_of(state, operation, {*place.current});
  const auto ended = ended_with(place, operation.reference);
  if (!ended.empty())
    return put_on_one_of(state, operation, ended);
  place.is_running = true;
  if (operation.reference.empty() || elsewhere(state, operation.thread, operation.reference)) {
    State next = state;
    put(next, operation.thread, std::move(place));
    return {std::move(next)};
  }
  place.run_session = place.rows.size();
  SessionRow row;
  row.started = false;
  return with_new_row(state, std::move(place), operation, made_by(operation, std::move(row)), true);
}

/// Gives every row that nobody has seen an id of those that the list has left over, in every way that is possible.
void name_rows(const State& state, const std::string& thread, std::vector<SessionRow> left, const ThreadPlace& place,
               States& found) {
  const auto unseen =
    std::ranges::find_if(place.rows, [](const RowPtr& row) { return row->seen.id.empty(); }) - place.rows.begin();
  if (static_cast<std::size_t>(unseen) == place.rows.size()) {
    State next = state;
    put(next, thread, place);
    found.push_back(std::move(next));
    return;
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto named = once_seen(state, place, static_cast<std::size_t>(unseen), left[i]);
    if (!named)
      continue;
    std::vector<SessionRow> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    name_rows(state, thread, std::move(rest), *named, found);
  }
}

States list(const State& state, const SessionOperation& operation) {
  const ThreadPlace& place = place_of(state, operation.thread);
  if (!operation.answer || operation.answer->rows.size() != place.rows.size())
    return {};
  // The usual list names every row that is known, so it is walked once; rows are newest first.
  std::map<std::string, const ModelRow*> known;
  for (const RowPtr& row : place.rows)
    if (!row->seen.id.empty())
      known.emplace(row->seen.id, row.get());
  std::vector<SessionRow> left;
  std::size_t matched = 0;
  for (const SessionRow& row : operation.answer->rows) {
    const auto found = known.find(row.id);
    if (found == known.end())
      left.push_back(row);
    else if (found->second->seen == row)
      ++matched;
    else
      return {};
  }
  if (matched != known.size())
    return {};
  if (left.empty())
    return {state};
  States found;
  name_rows(state, operation.thread, std::move(left), place, found);
  return found;
}

std::size_t mix(std::size_t hash, std::size_t value) {
  return (hash ^ value) * 1'099'511'628'211ULL + (hash >> 31U);
}

/// Sets that grow together.
class Groups {
public:
  std::string root(const std::string& name) {
    auto found = parent_.try_emplace(name, name).first;
    return found->second == name ? name : found->second = root(found->second);
  }
  void join(const std::string& a, const std::string& b) { parent_[root(a)] = root(b); }

private:
  std::map<std::string, std::string> parent_;
};

} // namespace

bool ThreadPlace::operator==(const ThreadPlace& other) const {
  const auto same = [](const RowPtr& a, const RowPtr& b) { return a == b || *a == *b; };
  return current == other.current && is_running == other.is_running && bind_failed == other.bind_failed &&
         run_session == other.run_session && std::ranges::equal(rows, other.rows, same);
}

bool SessionState::operator==(const SessionState& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && (a.second == b.second || *a.second == *b.second);
  };
  return std::ranges::equal(threads, other.threads, same);
}

std::vector<SessionModel::State> SessionModel::after(const State& state, const Operation& operation) {
  switch (operation.verb) {
    case SessionVerb::bind:
      return bind(state, operation);
    case SessionVerb::reset:
      return reset(state, operation);
    case SessionVerb::report:
      return report(state, operation);
    case SessionVerb::start:
      return start(state, operation);
    case SessionVerb::list:
      break;
  }
  return list(state, operation);
}

std::size_t SessionModel::hash(const State& state) {
  const std::hash<std::string> text;
  std::size_t hash = 14'695'981'039'346'656'037ULL;
  for (const auto& [thread, place] : state.threads) {
    hash = mix(hash, text(thread));
    hash = mix(hash, place->current.value_or(~std::size_t{0}));
    hash = mix(hash, place->run_session.value_or(~std::size_t{0}));
    // The newest rows tell most states apart; the comparison looks at all of them.
    const std::size_t from = place->rows.size() > 4 ? place->rows.size() - 4 : 0;
    hash = mix(hash, place->rows.size());
    for (std::size_t i = from; i < place->rows.size(); ++i) {
      hash = mix(hash, text(place->rows[i]->seen.id));
      hash = mix(hash, static_cast<std::size_t>(place->rows[i]->seen.version));
      hash = mix(hash, static_cast<std::size_t>(place->rows[i]->maker));
    }
  }
  return hash;
}

std::optional<SessionOperation> SessionModel::without_answer(const Operation& operation) {
  const bool was_done = !operation.answer || operation.answer->outcome == SessionOutcome::done;
  if (operation.verb == SessionVerb::list || !was_done)
    return std::nullopt;
  Operation lost = operation;
  lost.answer.reset();
  return lost;
}

std::vector<SessionHistory> parts_of(const SessionHistory& history) {
  Groups groups;
  for (const auto& one : history) {
    const std::string thread = "thread " + one.operation.thread;
    groups.root(thread);
    if (!one.operation.reference.empty())
      groups.join(thread, "reference " + one.operation.reference);
  }
  std::map<std::string, SessionHistory> parts;
  for (const auto& one : history)
    parts[groups.root("thread " + one.operation.thread)].push_back(one);
  std::vector<SessionHistory> result;
  for (auto& [root, part] : parts)
    result.push_back(std::move(part));
  return result;
}

} // namespace cleat::linear
