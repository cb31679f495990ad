#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cleat-load/load_run.hpp"

namespace cleat::load {

/// The table that closes a run, and below it everything that was wrong.
void print_table(std::ostream& out, const std::vector<Result>& results, const Options& options);

/// The same as one JSON object: `{cores, connections, runs: [{scenario, span_us, right, checked, wrong,
/// operations: [{operation, count, per_s, p50_us, p90_us, p99_us, max_us}], cpu_us: {server?, postgres?, runner?,
/// load?}, server_memory_before_bytes?, server_memory_bytes?, database: [{what, expected, found}]}]}`.
std::string to_json(const std::vector<Result>& results, const Options& options);

} // namespace cleat::load
