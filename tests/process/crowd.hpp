#pragma once

#include <barrier>
#include <exception>
#include <thread>
#include <type_traits>
#include <vector>

namespace cleat::test {

/// Runs `work(0)` to `work(count - 1)` on as many threads, which start together, and answers what each came to. The
/// first exception is thrown again once all are done.
template <class Work>
auto at_once(int count, Work work) {
  std::vector<std::invoke_result_t<Work, int>> results(static_cast<std::size_t>(count));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::barrier start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        results[static_cast<std::size_t>(i)] = work(i);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  threads.clear();
  for (const auto& failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  return results;
}

} // namespace cleat::test
