#include "tests/process/check.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace cleat::test {

Checked run_check(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  Command command{CLEAT_CLEATD, {"check"}, {}, folder.path() / "output.log"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  Child child(command);
  const auto status = child.wait(std::chrono::minutes{2});
  return {status.value_or(-1), read_file(command.output)};
}

void expect_sound(const std::string& database_url) {
  const auto checked = run_check({"--database-url", database_url, "--json"});
  EXPECT_EQ(checked.status, 0) << checked.output;
}

} // namespace cleat::test
