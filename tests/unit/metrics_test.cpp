#include "base/metrics.hpp"

#include <gtest/gtest.h>

namespace cleat::unit {
namespace {

TEST(Metrics, AreRenderedForPrometheus) {
  Metrics metrics;
  metrics.denials.Increment();
  metrics.decisions.Add({{"outcome", "committed"}}).Increment(2);
  metrics.commit_batch_size.Observe(3);
  const std::string text = metrics.render();
  EXPECT_NE(text.find("\n# TYPE cleat_denials_total counter\ncleat_denials_total 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cleat_decisions_total{outcome=\"committed\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cleat_commit_batch_size_bucket{le=\"2\"} 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cleat_commit_batch_size_bucket{le=\"4\"} 1\n"), std::string::npos) << text;
}

TEST(Metrics, OfTwoProcessesInOneAreApart) {
  Metrics one;
  Metrics other;
  one.denials.Increment();
  EXPECT_NE(other.render().find("cleat_denials_total 0\n"), std::string::npos);
}

} // namespace
} // namespace cleat::unit
