#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/process/server.hpp"

namespace cleat::test {

/// What a run of `cleatd check` ended with.
struct Checked {
  int status = -1;
  std::string output;
};

/// Runs `cleatd check` with these arguments.
Checked run_check(const std::vector<std::string>& arguments);

/// Fails the test with the findings of `cleatd check` when the database breaks any invariant.
void expect_sound(const std::string& database_url);

} // namespace cleat::test
