#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/cleat-load/histogram.hpp"
#include "apps/cleat-load/load_run.hpp"
#include "apps/cleat-load/page.hpp"
#include "apps/cleat-load/processes.hpp"
#include "apps/cleat-load/target.hpp"
#include "apps/cleat-load/words.hpp"

/// What is measured and how it is told.
namespace cleat::load {
namespace {

using std::chrono::microseconds;
using namespace std::chrono_literals;

TEST(Histogram, QuantilesAreExactToItsResolution) {
  Histogram histogram;
  for (int i = 1; i <= 100'000; ++i)
    histogram.add(microseconds(i));
  EXPECT_EQ(histogram.count(), 100'000U);
  EXPECT_EQ(histogram.max(), 100'000us);
  for (const double share : {0.001, 0.5, 0.9, 0.99, 1.0}) {
    const auto exact = static_cast<double>(share * 100'000);
    const auto told = static_cast<double>(histogram.quantile(share).count());
    EXPECT_GE(told, exact) << share;
    EXPECT_LE(told, exact * 1.016) << share;
  }
}

TEST(Histogram, HasNothingToSayWithoutLatencies) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.99), 0us);
  EXPECT_TRUE(histogram.bars().empty());
}

TEST(Histogram, BarsHoldEveryLatencyOnceAndInOrder) {
  Histogram histogram;
  for (const auto latency : {3us, 70us, 71us, 4'000us, 5'000'000us})
    histogram.add(latency);
  const auto bars = histogram.bars();
  std::uint64_t sum = 0;
  microseconds end = bars.front().from;
  for (const auto& bar : bars) {
    EXPECT_EQ(bar.from, end) << "bars are neighbours";
    EXPECT_LT(bar.from, bar.to);
    end = bar.to;
    sum += bar.count;
  }
  EXPECT_EQ(sum, 5U);
  EXPECT_LE(bars.front().from, 3us);
  EXPECT_GT(bars.back().to, 5'000'000us);
  EXPECT_EQ(bars.back().count, 1U);
}

TEST(Words, NumbersAreReadable) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(15'800), "15,800");
  EXPECT_EQ(grouped(-123'456), "-123,456");
  EXPECT_EQ(short_time(870us), "870 us");
  EXPECT_EQ(short_time(6'700us), "6.70 ms");
  EXPECT_EQ(short_time(16'700us), "16.7 ms");
  EXPECT_EQ(short_time(167'000us), "167 ms");
  EXPECT_EQ(short_time(1'250'000us), "1.25 s");
  EXPECT_EQ(ratio(95, 100), "0.95");
  EXPECT_EQ(ratio(1, 0), "-");
}

TEST(Result, IsRightOnlyWhenEverythingIs) {
  Result result;
  EXPECT_TRUE(result.right());
  result.database = {{"events", 2, 2}};
  EXPECT_TRUE(result.right());
  result.database.push_back({"audit entries", 2, 1});
  EXPECT_FALSE(result.right());
  result.database.clear();
  result.findings.wrong("an answer");
  EXPECT_FALSE(result.right());
}

TEST(Result, CountsByTheSecond) {
  Result result;
  result.span = 2s;
  for (int i = 0; i < 10; ++i)
    result.latencies[Kind::bind].add(1ms);
  EXPECT_EQ(result.per_second(Kind::bind), 5);
  EXPECT_EQ(result.per_second(Kind::list), 0);
}

TEST(Page, ShowsWhatTheServerSaidAsText) {
  Result result;
  result.findings.wrong("<script>alert(1)</script> & more");
  const std::string page = to_page({result}, Options{});
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"), std::string::npos);
}

TEST(Processes, CpuOfThisOneGrowsWithWork) {
  const auto before = cpu_of(getpid());
  ASSERT_TRUE(before);
  const auto deadline = Clock::now() + 30s;
  while (cpu_of(getpid()) == before && Clock::now() < deadline) {
  }
  EXPECT_GT(cpu_of(getpid()), before);
  EXPECT_GE(cpu_of_family(getpid()), cpu_of(getpid()));
  EXPECT_GT(resident_bytes(getpid()), 0);
}

TEST(Target, UrlsAreReadStrictly) {
  EXPECT_EQ(parse_url("http://127.0.0.1:7480").host, "127.0.0.1");
  EXPECT_EQ(parse_url("http://127.0.0.1:7480").port, "7480");
  EXPECT_EQ(parse_url("http://example.com:80/").port, "80");
  for (const char* wrong : {"https://example.com:1", "example.com:80", "http://example.com", "http://example.com:", ""})
    EXPECT_THROW(parse_url(wrong), std::invalid_argument) << wrong;
}

TEST(Options, SayWhatIsMissing) {
  Options options;
  EXPECT_THROW(options.validate(), std::invalid_argument) << "no server";
  options.url = "http://127.0.0.1:7480";
  EXPECT_NO_THROW(options.validate());
  options.threads = 2 * options.connections - 1;
  EXPECT_THROW(options.validate(), std::invalid_argument) << "too few threads for the connections";
}

TEST(Options, AScenarioSaysWhatItNeeds) {
  Options options;
  options.url = "http://127.0.0.1:7480";
  options.scenarios = {Scenario::starts};
  EXPECT_NO_THROW(options.validate());
  options.containers = options.connections - 1;
  EXPECT_THROW(options.validate(), std::invalid_argument) << "too few containers for the connections";
  options.containers = options.connections;
  options.runners = 0;
  EXPECT_THROW(options.validate(), std::invalid_argument) << "no Runner";
  options.scenarios = {Scenario::etcd};
  EXPECT_NO_THROW(options.validate());
  options.scenarios = {Scenario::etcd, Scenario::noop};
  EXPECT_THROW(options.validate(), std::invalid_argument) << "etcd is another server than the rest";
}

} // namespace
} // namespace cleat::load
