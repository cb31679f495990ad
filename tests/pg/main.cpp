/// The suites that need a real PostgreSQL. They share one throwaway cluster, made before the first test, so that it
/// dies with this thread, and gone after the last.
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "tests/support/cluster.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // The tests cut hundreds of connections, and each of them is worth a warning.
  cleat::log::init(cleat::log::Format::text, "error");
  if (!GTEST_FLAG_GET(list_tests))
    cleat::test::shared_cluster();
  return RUN_ALL_TESTS();
}
