#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"

namespace cleat::storage::pg {

/// Answers questions about threads in three steps, because each needs what the one before found: threads tell who
/// their operators are, references of those operators tell which other threads matter, and those are loaded last.
class ThreadLoading {
public:
  /// `questions` outlives this object.
  explicit ThreadLoading(std::span<const LoadThread> questions);

  /// Adds the statements of facts, levels, histories and runs, where a question asks for them.
  void add_threads(Pipeline& pipeline);

  /// Whether references can only be looked up once the threads have told who their operators are.
  [[nodiscard]] bool needs_threads() const;

  /// Adds the statements that look references up, where there are any. The step before has run where it is needed.
  void add_references(Pipeline& pipeline);

  /// Whether one statement can answer all there is, as long as no reference leads to another thread.
  [[nodiscard]] bool asks_for_references_alone() const;

  /// Whether a reference led to another thread.
  [[nodiscard]] bool met_other_threads() const { return !other_paths_.empty(); }

  /// Adds the statements about other threads, where references led there. The step before has run.
  void add_other_threads(Pipeline& pipeline);

  /// Whether a question is about a reference.
  [[nodiscard]] bool asks_for_references() const;

  /// The answers, in the order of the questions. Every step has run.
  std::vector<ThreadLoaded> take_answers();

private:
  using Path = std::pair<Id, Id>; // a thread, and a principal whose level on it is asked for

  /// A reference of a question, where its agent is known.
  struct Probe {
    std::size_t question;
    std::size_t reference;
    ReferenceFacts* answer;
  };

  std::vector<Probe> probes();

  void add_facts(Pipeline& pipeline, const std::vector<Id>& threads);
  void add_histories(Pipeline& pipeline);
  void add_run_facts(Pipeline& pipeline);
  void add_runs(Pipeline& pipeline);
  void add_ended_rows(Pipeline& pipeline, const std::vector<Probe>& probes);
  void add_named(Pipeline& pipeline);
  void note_other_thread(const AgentSession& row, std::size_t question, std::size_t reference,
                         std::optional<OtherThread> ReferenceFacts::*member);

  /// Adds load_levels; `take` gets the number of a path and the level on it, for threads that exist.
  template <class Take>
  void add_levels(Pipeline& pipeline, const std::vector<Path>& paths, Take take);

  std::span<const LoadThread> questions_;
  std::vector<ThreadLoaded> answers_;
  std::unordered_map<Id, ThreadFacts> facts_;
  std::vector<Path> other_paths_;
  std::vector<std::optional<OtherThread>*> other_targets_;
};

} // namespace cleat::storage::pg
