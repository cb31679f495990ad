#pragma once

#include <string>
#include <vector>

#include "apps/cleat-load/load_run.hpp"

namespace cleat::load {

/// One HTML page that needs no other file: the figures of every scenario and a histogram of the latencies of each
/// operation.
std::string to_page(const std::vector<Result>& results, const Options& options);

} // namespace cleat::load
