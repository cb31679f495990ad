#include "storage/pg/log_reading.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "storage/pg/fleet_records.hpp"
#include "storage/pg/records.hpp"

namespace cleat::storage::pg {
namespace {

/// How much of the event log one question looks through, so that a reader who may see little does not hold up others.
constexpr std::int64_t events_window = 10'000;

/// When agents have not been looked for over more agent events than this, all agents are named instead.
constexpr std::int64_t agents_window = 10'000;

/// How long a reader waits for transactions that are under way, and the pause between two looks: there is nothing that
/// tells when a transaction of another server ends.
constexpr std::chrono::milliseconds patience{20};
constexpr std::chrono::milliseconds look_again{2};

std::uint64_t parse_xid(const std::string& text) {
  std::uint64_t xid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), xid);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error("a transaction id is no number");
  return xid;
}

/// An answer with its status, also where there is none.
template <class Answer>
Answer or_unavailable(std::optional<Answer> answer) {
  if (answer)
    return std::move(*answer);
  Answer none;
  none.status = ReadStatus::unavailable;
  return none;
}

} // namespace

LogReading::LogReading(DatabaseOptions options, std::shared_ptr<Metrics> metrics)
  : database_(std::move(options), statements::log_reader, std::move(metrics)) {}

LogAdvanced LogReading::advance() {
  return or_unavailable(database_.read([this](Connection& connection) {
    step(connection);
    LogAdvanced answer;
    answer.agents = agents_since_last_time(connection);
    answer.events = safe_.events;
    answer.agent_events = safe_.agent_events;
    return answer;
  }));
}

LogAnswers LogReading::find(const LogQuestions& questions) {
  const auto answers = database_.read([&](Connection& connection) {
    LogAnswers found;
    found.events.resize(questions.events.size());
    found.agent_events.resize(questions.agent_events.size());
    found.transcripts.resize(questions.transcripts.size());
    if (!questions.events.empty() || !questions.agent_events.empty())
      step_with_patience(connection);
    Pipeline pipeline(connection);
    for (std::size_t i = 0; i < questions.events.size(); ++i)
      add(pipeline, questions.events[i], found.events[i]);
    for (std::size_t i = 0; i < questions.agent_events.size(); ++i)
      add(pipeline, questions.agent_events[i], found.agent_events[i]);
    for (std::size_t i = 0; i < questions.transcripts.size(); ++i)
      add(pipeline, questions.transcripts[i], found.transcripts[i]);
    if (!pipeline.empty())
      pipeline.run();
    return found;
  });
  return answers.value_or(LogAnswers{});
}

OverdueRuns LogReading::find(const FindOverdueRuns& question) {
  return or_unavailable(database_.read([&](Connection& connection) {
    const Params params = Params().add(question.queued_timeout_s).add(question.limit);
    return OverdueRuns{ReadStatus::ok,
                       read_all(execute(connection, statements::find_overdue_runs, params), read_overdue_run)};
  }));
}

FleetWork LogReading::find(const FindFleetWork& question) {
  return or_unavailable(database_.read([&](Connection& connection) {
    FleetWork work;
    Params due;
    due.add(question.now).add(question.deadline_s).add(question.ask_after_ms).add(question.node_id);
    due.add(question.limit);
    Pipeline pipeline(connection);
    pipeline.add(statements::find_fleet_work, due, [&work](const Result& result) {
      work.containers = read_all(result, [](RowReader& in) { return in.next<std::string>(); });
    });
    pipeline.add(statements::count_fleet, Params().add(question.node_timeout_s), [&work](const Result& result) {
      RowReader in(result, 0);
      work.open_orphans = in.next<std::int64_t>();
      work.in_flight = in.next<std::int64_t>();
      work.connected_runners = in.next<std::int64_t>();
    });
    pipeline.run();
    return work;
  }));
}

void LogReading::notice_new_connection() {
  // After a crash ids of transactions and values of sequences may be given out again, so a look from before would say
  // nothing about what comes now.
  if (std::exchange(connection_, database_.connections()) == database_.connections())
    return;
  look_.reset();
  settled_.reset();
}

/// Whether everything that had been drawn when this was called is safe.
bool LogReading::step(Connection& connection) {
  notice_new_connection();
  if (look_ && !settle(connection)) // never replaced by a later one, which transactions without a gap would do for ever
    return false;
  const Result result = execute(connection, statements::log_ends);
  RowReader in(result, 0);
  LogPosition ends;
  ends.events = in.next<std::int64_t>();
  ends.agent_events = in.next<std::int64_t>();
  if (ends == settled_)
    return true;
  take_look(connection, ends);
  return !look_;
}

void LogReading::take_look(Connection& connection, const LogPosition& ends) {
  look_ = Look{ends, 0, Steady::now()};
  Pipeline pipeline(connection);
  pipeline.add(statements::begin);
  pipeline.add(statements::current_xact, {},
               [this](const Result& result) { look_->xid = parse_xid(RowReader(result, 0).next<std::string>()); });
  pipeline.add(statements::commit);
  pipeline.add(statements::log_horizon, Params().add(ends.events).add(ends.agent_events),
               [this](const Result& result) { judge(result); });
  try {
    pipeline.run();
  } catch (...) {
    look_.reset(); // it may be without its id
    throw;
  }
}

bool LogReading::settle(Connection& connection) {
  const Params params = Params().add(look_->ends.events).add(look_->ends.agent_events);
  judge(execute(connection, statements::log_horizon, params));
  return !look_;
}

void LogReading::judge(const Result& horizon) {
  RowReader in(horizon, 0);
  if (parse_xid(in.next<std::string>()) <= look_->xid)
    return;
  safe_.events = std::max(safe_.events, in.next<std::optional<std::int64_t>>().value_or(0));
  safe_.agent_events = std::max(safe_.agent_events, in.next<std::optional<std::int64_t>>().value_or(0));
  settled_ = look_->ends;
  ever_settled_ = true;
  look_.reset();
}

void LogReading::step_with_patience(Connection& connection) {
  const auto start = Steady::now();
  // A look that is older has been waited for by others already; whatever is in its way takes long.
  while (!step(connection) && Steady::now() < std::min(start, look_->since) + patience)
    std::this_thread::sleep_for(look_again);
}

/// Nobody may be forgotten who asked for his events before they were safe. So the first time, when it is not known who
/// that may be, all agents are named; and what was named is remembered only once it has been read.
std::vector<Id> LogReading::agents_since_last_time(Connection& connection) {
  if (!ever_settled_ || told_ == safe_.agent_events)
    return {};
  const std::int64_t end = safe_.agent_events;
  const bool all = !told_ || end - *told_ > agents_window;
  const Result result = all ? execute(connection, statements::log_all_agents)
                            : execute(connection, statements::log_agents, Params().add(*told_).add(end));
  auto agents = read_all(result, [](RowReader& in) { return in.next<Id>(); });
  told_ = end;
  return agents;
}

void LogReading::add(Pipeline& pipeline, const FindEvents& question, EventsFound& found) const {
  found.next_after = question.after;
  if (question.after >= safe_.events || question.limit < 1)
    return;
  const std::int64_t until = std::min(safe_.events, question.after + events_window);
  Params params;
  params.add(question.principal_id).add(question.after).add(until).add(question.limit);
  params.add(question.filter.space_id).add(question.filter.channel_id).add(question.filter.thread_id);
  params.add(question.filter.type);
  pipeline.add(statements::find_events, params, [&found, until, limit = question.limit](const Result& result) {
    found.events = read_all(result, read_event);
    found.next_after = std::ssize(found.events) < limit ? until : found.events.back().seq;
  });
}

void LogReading::add(Pipeline& pipeline, const FindAgentEvents& question, AgentEventsFound& found) const {
  found.next_after = question.after;
  const std::int64_t until = safe_.agent_events;
  if (question.after >= until || question.limit < 1)
    return;
  Params params;
  params.add(question.agent_id).add(question.after).add(until).add(question.limit);
  pipeline.add(statements::find_agent_events, params, [&found, until, limit = question.limit](const Result& result) {
    found.events = read_all(result, read_agent_event);
    found.next_after = std::ssize(found.events) < limit ? until : found.events.back().seq;
  });
}

void LogReading::add(Pipeline& pipeline, const FindTranscript& question, TranscriptFound& found) {
  Params params;
  params.add(question.session_id).add(question.principal_id).add(question.lifetime).add(question.after);
  params.add(question.limit).add(question.only_input);
  pipeline.add(statements::find_transcript, params, [&found](const Result& result) {
    found.visible = result.rows() > 0;
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      found.lifetime = in.next<Id>();
      found.live = in.next<bool>();
      found.through = in.next<std::int64_t>();
      if (auto line = read_optional(in, transcript_line_columns, read_transcript_line))
        found.lines.push_back(std::move(*line));
    }
  });
}

} // namespace cleat::storage::pg
