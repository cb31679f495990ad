#include "storage/pg/loading.hpp"

#include <optional>
#include <utility>

#include "storage/pg/fleet_loading.hpp"
#include "storage/pg/records.hpp"
#include "storage/pg/thread_loading.hpp"

namespace cleat::storage::pg {
namespace {

void add_tokens(Pipeline& pipeline, const std::vector<FindToken>& questions, std::vector<TokenFound>& answers) {
  answers.resize(questions.size());
  if (questions.empty())
    return;
  Params params;
  params.array(questions, [](const FindToken& question) { return question.digest; });
  pipeline.add(statements::find_tokens, params, [&answers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      TokenFound& answer = answers[static_cast<std::size_t>(in.next<std::int64_t>() - 1)];
      answer.token = read_token(in);
      answer.principal = read_principal(in);
    }
  });
}

void add_keys(Pipeline& pipeline, const std::vector<FindIdempotency>& questions,
              std::vector<IdempotencyFound>& answers) {
  answers.resize(questions.size());
  if (questions.empty())
    return;
  Params params;
  params.array(questions, [](const FindIdempotency& question) { return question.principal_id; });
  params.array(questions, [](const FindIdempotency& question) { return std::string_view(question.key); });
  pipeline.add(statements::find_idempotency, params, [&answers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      IdempotencyFound& answer = answers[static_cast<std::size_t>(in.next<std::int64_t>() - 1)];
      answer.record = read_idempotency(in);
    }
  });
}

void add_runs(Pipeline& pipeline, const std::vector<LocateRun>& questions, std::vector<RunLocated>& answers) {
  answers.resize(questions.size());
  if (questions.empty())
    return;
  Params params;
  params.array(questions, [](const LocateRun& question) { return question.run_id; });
  pipeline.add(statements::locate_runs, params, [&answers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      RunLocated& answer = answers[static_cast<std::size_t>(in.next<std::int64_t>() - 1)];
      answer.thread_id = in.next<Id>();
      answer.agent_id = in.next<Id>();
    }
  });
}

/// References of owners that know their threads, which is what most binds ask: one statement, which is a snapshot by
/// itself. Nothing when a reference leads to another thread, because that one must be seen at the same moment.
std::optional<std::vector<ThreadLoaded>> load_references_alone(Connection& connection, const Questions& questions) {
  ThreadLoading threads(questions.threads);
  const bool others = !questions.tokens.empty() || !questions.keys.empty() || !questions.runs.empty() ||
                      !questions.containers.empty() || !questions.locations.empty();
  if (others || !threads.asks_for_references_alone())
    return std::nullopt;
  Pipeline pipeline(connection);
  threads.add_references(pipeline);
  pipeline.run();
  if (threads.met_other_threads())
    return std::nullopt;
  return threads.take_answers();
}

} // namespace

Answers load(Connection& connection, const Questions& questions) {
  Answers answers;
  if (auto references = load_references_alone(connection, questions)) {
    answers.threads = std::move(*references);
    return answers;
  }
  ThreadLoading threads(questions.threads);
  Pipeline pipeline(connection);
  pipeline.add(statements::begin_snapshot);
  add_tokens(pipeline, questions.tokens, answers.tokens);
  add_keys(pipeline, questions.keys, answers.keys);
  add_runs(pipeline, questions.runs, answers.runs);
  add_containers(pipeline, questions.containers, answers.containers);
  add_locations(pipeline, questions.locations, answers.locations);
  threads.add_threads(pipeline);
  if (threads.asks_for_references()) {
    if (threads.needs_threads())
      pipeline.run();
    threads.add_references(pipeline);
    pipeline.run();
    threads.add_other_threads(pipeline);
  }
  pipeline.add(statements::commit);
  pipeline.run();
  answers.threads = threads.take_answers();
  return answers;
}

} // namespace cleat::storage::pg
