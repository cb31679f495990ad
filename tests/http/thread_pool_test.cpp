#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "http/thread_pool.hpp"

namespace cleat::http {
namespace {

using namespace std::chrono_literals;

/// A job that tells when it runs and then waits to be let go.
class Held {
public:
  void operator()() {
    started_.set_value(std::this_thread::get_id());
    release_.get_future().wait();
    ended_.set_value();
  }
  std::thread::id wait_until_started() { return started_.get_future().get(); }
  void release() { release_.set_value(); }
  void wait_until_ended() { ended_.get_future().wait(); }

private:
  std::promise<std::thread::id> started_;
  std::promise<void> release_;
  std::promise<void> ended_;
};

TEST(ThreadPool, GrowsWithWhatRunsAtOnceAndRefusesBeyondItsLimit) {
  Held first;
  Held second;
  ThreadPool pool(2, 1min);
  pool.run(std::ref(first));
  pool.run(std::ref(second));
  const auto one = first.wait_until_started();
  const auto two = second.wait_until_started();
  EXPECT_NE(one, two);
  EXPECT_EQ(pool.size(), 2U);
  // No thread is left, so the caller runs the job, and does so before `run` returns.
  std::thread::id where;
  pool.run([&where] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  first.release();
  second.release();
  pool.stop();
}

TEST(ThreadPool, UsesAnIdleThreadAgain) {
  ThreadPool pool(1, 1min);
  std::thread::id used;
  for (int round = 0; round < 50; ++round) {
    // The thread may still be on its way back from the job before; until then the caller would be told to refuse.
    std::promise<std::thread::id> ran;
    for (bool here = true; here;) {
      ran = {};
      pool.run([&ran] { ran.set_value(std::this_thread::get_id()); });
      used = ran.get_future().get();
      here = used == std::this_thread::get_id();
    }
    EXPECT_EQ(pool.size(), 1U);
  }
}

TEST(ThreadPool, LetsIdleThreadsGo) {
  ThreadPool pool(2, 1ms);
  std::promise<void> ran;
  pool.run([&ran] { ran.set_value(); });
  ran.get_future().wait();
  // A retired thread is taken away by the next job that needs one; the pool never grows by it.
  for (int round = 0; round < 20; ++round) {
    Held job;
    pool.run(std::ref(job));
    EXPECT_NE(job.wait_until_started(), std::this_thread::get_id());
    EXPECT_LE(pool.size(), 2U);
    job.release();
    job.wait_until_ended();
  }
}

TEST(ThreadPool, StopWaitsForWhatRuns) {
  Held job;
  bool done = false;
  ThreadPool pool(1, 1min);
  pool.run([&] {
    job();
    done = true;
  });
  job.wait_until_started();
  std::thread stopper([&pool] { pool.stop(); });
  job.release();
  stopper.join();
  EXPECT_TRUE(done);
}

} // namespace
} // namespace cleat::http
