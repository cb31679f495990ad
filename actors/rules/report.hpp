#pragma once

#include "actors/rules/context.hpp"
#include "actors/rules/run.hpp"
#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"

namespace cleat::rules {

/// What the adapter of the thread's active operator run says about its session (spec 03 section 8): the first report
/// makes the row, later ones change it under If-Match, and a binding that failed is replaced, with one line that says
/// so. Whoever is not that agent is told that there is no such thing.
Result<Decision> report(const RunView& view, const ReportSession& command, const RuleContext& context);

} // namespace cleat::rules
