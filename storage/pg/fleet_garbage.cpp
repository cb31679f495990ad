#include "storage/pg/fleet_garbage.hpp"

namespace cleat::storage::pg {

void add_fleet_garbage(Pipeline& pipeline, const CollectGarbage& question, const FleetSpans& spans,
                       std::int64_t& removed) {
  const auto count = [&removed](const Result& result) { removed += result.affected(); };
  const auto after = [&](std::int64_t span_s) { return Params().add(question.now).add(span_s).add(question.limit); };
  Params over;
  over.add(question.now).add(spans.promoted_s).add(spans.failed_s).add(question.limit);
  pipeline.add(statements::expire_retryable, after(spans.deadline_s));
  pipeline.add(statements::end_handles, over);
  pipeline.add(statements::delete_orphans, after(spans.orphan_s), count);
  pipeline.add(statements::delete_operations, over, count);
  pipeline.add(statements::delete_attempts, after(spans.failed_s), count);
  pipeline.add(statements::delete_nodes, Params().add(question.now).add(question.limit), count);
}

} // namespace cleat::storage::pg
