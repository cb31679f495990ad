#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cleat-load/play.hpp"

namespace cleat::load {

/// A count as the clients know it and as the database has it.
struct Comparison {
  std::string what;
  std::int64_t expected = 0;
  std::int64_t found = 0;

  [[nodiscard]] bool agrees() const { return expected == found; }
};

/// Counts what a scenario left in the database at `url` (libpq). Throws `std::runtime_error` when it cannot be read.
std::vector<Comparison> compare_with_database(const std::string& url, const World& world, const Tally& tally);

} // namespace cleat::load
