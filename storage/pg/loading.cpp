#include "storage/pg/loading.hpp"

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

} // namespace

Answers load(Connection& connection, const Questions& questions) {
  Answers answers;
  ThreadLoading threads(questions.threads);
  Pipeline pipeline(connection);
  pipeline.add(statements::begin_snapshot);
  add_tokens(pipeline, questions.tokens, answers.tokens);
  add_keys(pipeline, questions.keys, answers.keys);
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
