#include "tests/linear/generated.hpp"

#include <algorithm>
#include <random>

namespace cleat::linear {
namespace {

/// The plain table: every row there is, and the thread that it is in.
struct TableRow {
  std::string thread;
  SessionRow row;
};

class Table {
public:
  SessionAnswer take(const SessionOperation& operation) {
    switch (operation.verb) {
      case SessionVerb::bind:
        return bind(operation);
      case SessionVerb::reset:
        return reset(operation);
      default:
        return list(operation.thread);
    }
  }

  [[nodiscard]] std::string current_id(const std::string& thread) const {
    for (const TableRow& one : rows_)
      if (one.thread == thread && one.row.standing == Standing::current)
        return one.row.id;
    return "";
  }

private:
  SessionAnswer bind(const SessionOperation& operation) {
    const auto holder = std::ranges::find_if(rows_, [&](const TableRow& one) {
      return one.row.standing == Standing::current && one.row.reference == operation.reference;
    });
    const bool elsewhere = holder != rows_.end() && holder->thread != operation.thread;
    if (elsewhere && !operation.take_over)
      return {SessionOutcome::session_bound_elsewhere, {}};
    if (current_id(operation.thread) != operation.expected.value_or(""))
      return {SessionOutcome::session_changed, {}};
    for (TableRow& one : rows_)
      if (one.row.standing == Standing::current &&
          (one.thread == operation.thread || one.row.reference == operation.reference)) {
        one.row.standing = Standing::rebind;
        ++one.row.version;
      }
    SessionRow made;
    made.id = "id-" + std::to_string(rows_.size() + 1);
    made.reference = operation.reference;
    rows_.push_back({operation.thread, made});
    return {SessionOutcome::done, {made}};
  }

  SessionAnswer reset(const SessionOperation& operation) {
    const std::string current = current_id(operation.thread);
    if (current.empty())
      return {SessionOutcome::no_current_session, {}};
    if (operation.expected && *operation.expected != current)
      return {SessionOutcome::session_changed, {}};
    const auto row = std::ranges::find_if(rows_, [&](const TableRow& one) { return one.row.id == current; });
    row->row.standing = Standing::reset;
    ++row->row.version;
    return {SessionOutcome::done, {row->row}};
  }

  [[nodiscard]] SessionAnswer list(const std::string& thread) const {
    SessionAnswer answer;
    for (const TableRow& one : rows_)
      if (one.thread == thread)
        answer.rows.push_back(one.row);
    std::ranges::reverse(answer.rows);
    return answer;
  }

  std::vector<TableRow> rows_;
};

/// What a client is at.
struct Under {
  bool is_free = true;
  bool has_effect = false;
  std::size_t index = 0;
  std::string believes; ///< the current session that it has seen last
};

class Generator {
public:
  explicit Generator(const Generated& options)
    : options_(options), random_(options.seed), clients_(static_cast<std::size_t>(options.clients)) {}

  SessionHistory run() {
    while (history_.size() < options_.operations ||
           std::ranges::any_of(clients_, [](const Under& client) { return !client.is_free; })) {
      ++now_;
      if (!adrift_.empty() && chance(10))
        drift();
      step(clients_[below(clients_.size())]);
    }
    return history_;
  }

private:
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  void step(Under& client) {
    if (client.is_free) {
      if (history_.size() < options_.operations)
        invoke(client);
      return;
    }
    auto& one = history_[client.index];
    if (!client.has_effect && chance(options_.lost_percent)) {
      client.is_free = true; // nobody will hear of it; it may still take effect
      if (one.operation.verb != SessionVerb::list && chance(70))
        adrift_.push_back(client.index);
      return;
    }
    if (!client.has_effect) {
      one.operation.answer = table_.take(one.operation);
      client.has_effect = true;
      return;
    }
    one.returned = now_;
    client.is_free = true;
    if (one.operation.verb == SessionVerb::list)
      client.believes = current_in(*one.operation.answer);
  }

  void invoke(Under& client) {
    SessionOperation operation;
    operation.number = static_cast<int>(history_.size()) + 1;
    operation.thread = "thread-" + std::to_string(below(static_cast<std::size_t>(options_.threads)));
    const std::size_t lot = below(10);
    operation.verb = lot < 5 ? SessionVerb::bind : lot < 7 ? SessionVerb::reset : SessionVerb::list;
    if (operation.verb == SessionVerb::bind) {
      operation.reference = "reference-" + std::to_string(below(static_cast<std::size_t>(options_.references)));
      operation.take_over = chance(50);
    }
    const std::string believes = chance(70) ? table_.current_id(operation.thread) : client.believes;
    if (operation.verb != SessionVerb::list && !believes.empty() && is_told(believes))
      operation.expected = believes;
    client = {false, false, history_.size(), client.believes};
    history_.push_back({std::move(operation), now_, never});
  }

  /// Whether an answer that has arrived has told this id: clients cannot know others.
  [[nodiscard]] bool is_told(const std::string& id) const {
    return std::ranges::any_of(history_, [&](const auto& one) {
      return !one.is_pending() && one.operation.answer &&
             std::ranges::any_of(one.operation.answer->rows, [&](const SessionRow& row) { return row.id == id; });
    });
  }

  /// An operation whose client is gone takes effect.
  void drift() {
    const std::size_t index = adrift_.back();
    adrift_.pop_back();
    static_cast<void>(table_.take(history_[index].operation));
  }

  static std::string current_in(const SessionAnswer& answer) {
    for (const SessionRow& row : answer.rows)
      if (row.standing == Standing::current)
        return row.id;
    return "";
  }

  Generated options_;
  std::mt19937_64 random_;
  Table table_;
  std::vector<Under> clients_;
  SessionHistory history_;
  std::vector<std::size_t> adrift_;
  Moment now_ = 0;
};

} // namespace

SessionHistory generate(const Generated& options) {
  SessionHistory history = Generator(options).run();
  std::erase_if(history, [](const auto& one) {
    return one.is_pending() && one.operation.verb == SessionVerb::list; // it changed nothing and nobody saw it
  });
  return history;
}

} // namespace cleat::linear
