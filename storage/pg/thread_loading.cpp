#include "storage/pg/thread_loading.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "storage/pg/records.hpp"

namespace cleat::storage::pg {
namespace {

/// Statements number their questions from 1.
std::size_t place(RowReader& in) {
  return static_cast<std::size_t>(in.next<std::int64_t>() - 1);
}

} // namespace

ThreadLoading::ThreadLoading(std::span<const LoadThread> questions)
  : questions_(questions), answers_(questions.size()) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    answers_[i].levels.assign(questions[i].principals.size(), Level::none);
    answers_[i].named.resize(questions[i].named.size());
    answers_[i].runs.resize(questions[i].run_ids.size());
    for (const ReferenceProbe& probe : questions[i].references)
      answers_[i].references.emplace_back().external_session_ref = probe.external_session_ref;
  }
}

bool ThreadLoading::asks_for_references() const {
  return std::ranges::any_of(questions_, [](const LoadThread& question) { return !question.references.empty(); });
}

bool ThreadLoading::asks_for_references_alone() const {
  return !needs_threads() && std::ranges::none_of(questions_, [](const LoadThread& question) {
    return question.with_sessions || question.with_runs || !question.run_ids.empty() || !question.named.empty();
  });
}

bool ThreadLoading::needs_threads() const {
  return std::ranges::any_of(questions_, [](const LoadThread& question) { return !question.known_operator; });
}

template <class Take>
void ThreadLoading::add_levels(Pipeline& pipeline, const std::vector<Path>& paths, Take take) {
  if (paths.empty())
    return;
  Params params;
  params.array(paths, [](const Path& path) { return path.first; });
  params.array(paths, [](const Path& path) { return path.second; });
  pipeline.add(statements::load_levels, params, [take](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      const std::size_t path = place(in);
      take(path, read_level(in));
    }
  });
}

void ThreadLoading::add_facts(Pipeline& pipeline, const std::vector<Id>& threads) {
  if (threads.empty())
    return;
  pipeline.add(statements::load_threads, Params().array(threads, std::identity{}),
               [this, threads](const Result& result) {
                 for (int i = 0; i < result.rows(); ++i) {
                   RowReader in(result, i);
                   const Id& thread = threads[place(in)];
                   facts_.emplace(thread, read_facts(in));
                 }
               });
}

void ThreadLoading::add_threads(Pipeline& pipeline) {
  std::set<Id> threads;
  std::vector<Path> paths;
  std::vector<Level*> levels;
  for (std::size_t i = 0; i < questions_.size(); ++i) {
    const LoadThread& question = questions_[i];
    if (question.known_operator)
      continue;
    threads.insert(question.thread_id);
    for (std::size_t k = 0; k < question.principals.size(); ++k) {
      paths.emplace_back(question.thread_id, question.principals[k]);
      levels.push_back(&answers_[i].levels[k]);
    }
  }
  add_facts(pipeline, {threads.begin(), threads.end()});
  add_levels(pipeline, paths, [levels](std::size_t path, Level level) { *levels[path] = level; });
  add_histories(pipeline);
  add_run_facts(pipeline);
  add_runs(pipeline);
  add_named(pipeline);
}

void ThreadLoading::add_histories(Pipeline& pipeline) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < questions_.size(); ++i)
    if (questions_[i].with_sessions)
      numbers.push_back(i);
  if (numbers.empty())
    return;
  const auto thread_of = [this](std::size_t number) { return questions_[number].thread_id; };
  pipeline.add(statements::load_sessions, Params().array(numbers, thread_of), [this, numbers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ThreadLoaded& answer = answers_[numbers[place(in)]];
      answer.sessions.push_back(read_session(in));
    }
  });
}

void ThreadLoading::add_named(Pipeline& pipeline) {
  std::vector<Id> ids;
  std::vector<std::optional<Principal>*> targets;
  for (std::size_t i = 0; i < questions_.size(); ++i)
    for (std::size_t k = 0; k < questions_[i].named.size(); ++k) {
      ids.push_back(questions_[i].named[k]);
      targets.push_back(&answers_[i].named[k]);
    }
  if (ids.empty())
    return;
  pipeline.add(statements::load_named, Params().array(ids, std::identity{}), [targets](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      std::optional<Principal>& target = *targets[place(in)];
      target = read_principal(in);
    }
  });
}

void ThreadLoading::add_run_facts(Pipeline& pipeline) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < questions_.size(); ++i)
    if (questions_[i].with_runs)
      numbers.push_back(i);
  if (numbers.empty())
    return;
  const auto threads = Params().array(numbers, [this](std::size_t number) { return questions_[number].thread_id; });
  pipeline.add(statements::load_run_facts, threads, [this, numbers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ThreadLoaded& answer = answers_[numbers[place(in)]];
      answer.run_facts = read_run_facts(in);
    }
  });
  pipeline.add(statements::load_held_runs, threads, [this, numbers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ThreadLoaded& answer = answers_[numbers[place(in)]];
      answer.run_facts->held.push_back(read_held_run(in));
    }
  });
}

void ThreadLoading::add_runs(Pipeline& pipeline) {
  std::vector<Path> runs;
  std::vector<std::optional<Run>*> targets;
  for (std::size_t i = 0; i < questions_.size(); ++i)
    for (std::size_t k = 0; k < questions_[i].run_ids.size(); ++k) {
      runs.emplace_back(questions_[i].thread_id, questions_[i].run_ids[k]);
      targets.push_back(&answers_[i].runs[k]);
    }
  if (runs.empty())
    return;
  Params params;
  params.array(runs, [](const Path& run) { return run.first; });
  params.array(runs, [](const Path& run) { return run.second; });
  pipeline.add(statements::load_runs, params, [targets](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      std::optional<Run>& target = *targets[place(in)];
      target = read_run(in);
    }
  });
}

std::vector<ThreadLoading::Probe> ThreadLoading::probes() {
  std::vector<Probe> probes;
  for (std::size_t i = 0; i < questions_.size(); ++i) {
    std::optional<Id> agent = questions_[i].known_operator;
    const auto facts = facts_.find(questions_[i].thread_id);
    if (!agent && facts != facts_.end() && facts->second.operator_agent)
      agent = facts->second.operator_agent->id;
    if (!agent)
      continue;
    for (std::size_t k = 0; k < answers_[i].references.size(); ++k) {
      ReferenceFacts& answer = answers_[i].references[k];
      answer.agent_id = *agent;
      probes.push_back({i, k, &answer});
    }
  }
  return probes;
}

void ThreadLoading::add_references(Pipeline& pipeline) {
  const auto all = probes();
  if (all.empty())
    return;
  Params params;
  params.array(all, [](const Probe& probe) { return probe.answer->agent_id; });
  params.array(all, [](const Probe& probe) { return std::string_view(probe.answer->external_session_ref); });
  pipeline.add(statements::load_references, params, [this, all](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      const Probe& probe = all[place(in)];
      const bool is_newest = in.next<bool>();
      auto& row = is_newest ? probe.answer->newest : probe.answer->current;
      row = read_session(in);
      note_other_thread(*row, probe.question, probe.reference,
                        is_newest ? &ReferenceFacts::newest_thread : &ReferenceFacts::current_thread);
    }
  });
  add_ended_rows(pipeline, all);
}

void ThreadLoading::add_ended_rows(Pipeline& pipeline, const std::vector<Probe>& probes) {
  std::vector<Probe> wanted;
  std::ranges::copy_if(probes, std::back_inserter(wanted),
                       [this](const Probe& probe) { return questions_[probe.question].with_runs; });
  if (wanted.empty())
    return;
  Params params;
  params.array(wanted, [this](const Probe& probe) { return questions_[probe.question].thread_id; });
  params.array(wanted, [](const Probe& probe) { return probe.answer->agent_id; });
  params.array(wanted, [](const Probe& probe) { return std::string_view(probe.answer->external_session_ref); });
  pipeline.add(statements::load_ended_here, params, [wanted](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ReferenceFacts& answer = *wanted[place(in)].answer;
      answer.ended_here = read_session(in);
    }
  });
}

void ThreadLoading::note_other_thread(const AgentSession& row, std::size_t question, std::size_t reference,
                                      std::optional<OtherThread> ReferenceFacts::*member) {
  if (row.thread_id == questions_[question].thread_id)
    return;
  other_paths_.emplace_back(row.thread_id, questions_[question].references[reference].principal_id);
  other_targets_.push_back(&(answers_[question].references[reference].*member));
}

void ThreadLoading::add_other_threads(Pipeline& pipeline) {
  std::set<Id> missing;
  for (const auto& [thread, principal] : other_paths_)
    if (!facts_.contains(thread))
      missing.insert(thread);
  add_facts(pipeline, {missing.begin(), missing.end()});
  add_levels(pipeline, other_paths_, [this](std::size_t path, Level level) {
    other_targets_[path]->emplace(OtherThread{facts_.at(other_paths_[path].first), level});
  });
}

std::vector<ThreadLoaded> ThreadLoading::take_answers() {
  for (std::size_t i = 0; i < questions_.size(); ++i) {
    const auto facts = facts_.find(questions_[i].thread_id);
    if (!questions_[i].known_operator && facts != facts_.end())
      answers_[i].facts = facts->second;
  }
  return std::move(answers_);
}

} // namespace cleat::storage::pg
