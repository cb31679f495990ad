#include "actors/rules/authorize.hpp"
#include "actors/rules/directory_parts.hpp"
#include "protocol/render.hpp"

/// Runs and messages of a thread as its readers see them (spec 03 section 2: `read` on the thread).
namespace cleat::rules::directory {

Result<Step> decide(const op::GetRun&, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return Step{shown(200, render::run(*c.facts.run), c.facts.run->version)};
}

Result<Step> decide(const op::ListRuns& operation, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return list(operation.range, RunsPage{operation.thread_id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::ListMessages& operation, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return list(operation.range, MessagesPage{operation.thread_id, operation.range.value_or(PageRange{})});
}

} // namespace cleat::rules::directory
