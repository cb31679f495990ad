#pragma once

#include <cstdint>

#include "tests/linear/sessions.hpp"

namespace cleat::linear {

/// What random histories are made of.
struct Generated {
  std::uint64_t seed = 1;
  std::size_t operations = 200;
  int clients = 6;
  int threads = 3;
  int references = 3;
  /// How many of a hundred operations lose their answer.
  int lost_percent = 5;
};

/// A history of clients at a system that is right by construction: one plain table, changed by one operation at a time
/// somewhere between its invocation and its answer. It shares nothing with the model but the shape of operations.
SessionHistory generate(const Generated& options);

} // namespace cleat::linear
