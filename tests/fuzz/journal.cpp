#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/cleat-runner/journal.hpp"
#include "tests/fuzz/property.hpp"

/// The Runner's journal, with whatever bytes servers and agents make it keep. An input is a list of steps, each of one
/// byte that says what is done and one that says with which operation, which are made on the journal and on a model.
namespace cleat::fuzz {
namespace {

using runner::Journal;
using runner::OperationKey;
using runner::OperationRow;
using runner::RowState;

/// Takes values off an input; zeros when it is used up.
class Input {
public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return bytes_.empty(); }

  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1).empty() ? '\0' : taken_.front()); }

  std::int64_t number() {
    std::uint64_t value = 0;
    for (const char c : take(1 + byte() % 8U))
      value = (value << 8U) | static_cast<std::uint8_t>(c);
    return static_cast<std::int64_t>(value);
  }

  std::string text() { return std::string(take(byte() % 24U)); }

private:
  std::string_view take(std::size_t count) {
    taken_ = bytes_.substr(0, count);
    bytes_.remove_prefix(taken_.size());
    return taken_;
  }

  std::string_view bytes_;
  std::string_view taken_;
};

/// What the journal must hold.
struct Model {
  std::map<OperationKey, std::pair<OperationRow, std::int64_t>> rows;
  std::map<OperationKey, std::map<std::int64_t, wire::RelayedLine>> lines;
};

bool is_unfinished(const OperationRow& row) {
  return row.state == RowState::accepted || row.state == RowState::started;
}

OperationRow any_row(Input& input, OperationKey key) {
  OperationRow row;
  row.key = std::move(key);
  row.container = input.text();
  row.kind = static_cast<runner::RowKind>(input.byte() % 3U);
  row.dispatch = input.number();
  row.session_id = input.text();
  row.state = static_cast<RowState>(input.byte() % 6U);
  row.acknowledged = static_cast<wire::AckOutcome>(input.byte() % 3U);
  row.failure = {input.byte() % 2U == 1, input.text(), input.text()};
  if (input.byte() % 2U == 1)
    row.exit_code = input.number();
  row.pid = input.number();
  row.process_start = input.number();
  row.said_through = input.number();
  row.input_through = input.number();
  return row;
}

void put(Input& input, const OperationKey& key, Journal& journal, Model& model) {
  const auto row = any_row(input, key);
  const auto now_s = input.number();
  journal.put(row, now_s);
  model.rows[key] = {row, now_s};
}

void add_line(Input& input, const OperationKey& key, Journal& journal, Model& model) {
  wire::RelayedLine line{input.number(), input.number(), input.text()};
  if (input.byte() % 2U == 1)
    line.exit_code = input.number();
  // A number is given once; the Runner counts them.
  if (model.lines[key].contains(line.seq))
    return;
  journal.add_line(key, line);
  model.lines[key][line.seq] = line;
}

void forget(Input& input, const OperationKey& key, Journal& journal, Model& model) {
  const auto through = input.number();
  journal.forget_lines(key, through);
  std::erase_if(model.lines[key], [&](const auto& entry) { return entry.first <= through; });
  if (const auto row = model.rows.find(key); row != model.rows.end())
    row->second.first.said_through = std::max(row->second.first.said_through, through);
}

void prune(Input& input, Journal& journal, Model& model) {
  const auto before_s = input.number();
  journal.prune(before_s);
  std::erase_if(model.rows, [&](const auto& entry) {
    const auto& [row, changed_s] = entry.second;
    return changed_s < before_s && !is_unfinished(row) && model.lines[entry.first].empty();
  });
}

void check_lines(Input& input, const OperationKey& key, Journal& journal, const Model& model) {
  const auto after = input.number();
  const auto max_lines = 1 + input.byte() % 4;
  const auto max_bytes = 1 + input.byte() % 32;
  std::vector<wire::RelayedLine> expected;
  std::int64_t bytes = 0;
  if (const auto lines = model.lines.find(key); lines != model.lines.end())
    for (auto line = lines->second.upper_bound(after);
         line != lines->second.end() && std::ssize(expected) < max_lines && bytes < max_bytes; ++line) {
      expected.push_back(line->second);
      bytes += std::ssize(line->second.line);
    }
  must(journal.lines_after(key, after, max_lines, max_bytes) == expected, "lines are read as they were said");
}

void check_all(Journal& journal, Model& model) {
  std::size_t unfinished = 0;
  for (const auto& [key, entry] : model.rows) {
    must(journal.find(key) == entry.first, "a row is read as it was put");
    unfinished += is_unfinished(entry.first) ? 1U : 0U;
  }
  must(journal.unfinished().size() == unfinished, "what has not ended is known");
  for (const auto& row : journal.unfinished())
    must(model.rows.at(row.key).first == row, "what has not ended is read as it was put");
  std::size_t backlogs = 0;
  for (const auto& [key, lines] : model.lines)
    backlogs += !lines.empty() && model.rows.contains(key) ? 1U : 0U;
  const auto found = journal.backlogs();
  must(found.size() == backlogs, "every backlog is known");
  for (const auto& backlog : found) {
    const auto& lines = model.lines.at(backlog.key);
    must(backlog.first == lines.begin()->first && backlog.last == lines.rbegin()->first, "a backlog has its bounds");
  }
}

void step(Input& input, Journal& journal, Model& model) {
  const auto what = input.byte();
  const auto number = input.byte();
  const OperationKey key{"operation " + std::to_string(number % 3U), std::string(1, static_cast<char>(number % 2U))};
  switch (what % 6U) {
    case 0:
      return put(input, key, journal, model);
    case 1:
      return add_line(input, key, journal, model);
    case 2:
      return forget(input, key, journal, model);
    case 3:
      return prune(input, journal, model);
    case 4:
      return check_lines(input, key, journal, model);
    default:
      return journal.commit();
  }
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat::fuzz;
  Input input(text_of(data, size));
  Journal journal(":memory:");
  Model model;
  while (!input.done())
    step(input, journal, model);
  check_all(journal, model);
  return 0;
}
