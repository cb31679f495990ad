#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/intrusive_ptr.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/response_type.hpp>
#include <semaphore.h>

namespace cleat::actors {

/// Where a thread waits for one answer at a time. CAF's blocking actor wakes its thread while it holds the lock that
/// the thread needs next, so the thread falls asleep a second time for each answer; this one wakes it when the answer
/// lies ready and nothing is locked (docs/operating/performance.md has what that costs).
class ReplyBox final : public caf::monitorable_actor {
public:
  using Deadline = std::chrono::steady_clock::time_point;

  explicit ReplyBox(caf::actor_config& config);
  ~ReplyBox() override;
  ReplyBox(const ReplyBox&) = delete;
  ReplyBox& operator=(const ReplyBox&) = delete;
  ReplyBox(ReplyBox&&) = delete;
  ReplyBox& operator=(ReplyBox&&) = delete;

  using caf::monitorable_actor::enqueue;
  /// Keeps the answer that is expected and drops everything else. Called by any thread.
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* host) override;

  /// The id of the next question. From now on its answer is expected and no other.
  caf::message_id expect_answer();

  /// The answer to the last question, an error of CAF included; null when none has come by the deadline.
  caf::mailbox_element_ptr wait_until(Deadline deadline);

private:
  std::mutex mutex_;
  std::uint64_t asked_ = 0;         // the number of the last question; under the mutex
  bool open_ = false;               // whether it still waits for its answer; under the mutex
  caf::mailbox_element_ptr answer_; // under the mutex
  sem_t arrived_{};                 // raised once for each answer that was put down
};

/// Asks actors on behalf of a thread that is none, and waits. Not thread safe: one a connection. It must not outlive
/// the actor system.
class Asker {
public:
  explicit Asker(caf::actor_system& system);

  /// The answer to `question`, or nothing when none came within `patience` or nobody is there to give one. An answer
  /// that comes later is dropped.
  template <class Reply, class Actor, class Question>
  std::optional<Reply> ask(const Actor& actor, std::chrono::milliseconds patience, Question question) {
    static_assert(
      std::is_same_v<caf::response_type_t<typename Actor::signatures, Question>, caf::detail::type_list<Reply>>,
      "the actor answers this question with something else");
    const auto deadline = ReplyBox::Deadline::clock::now() + patience;
    if (!actor)
      return std::nullopt;
    const auto id = box().expect_answer();
    caf::actor_cast<caf::abstract_actor*>(actor)->eq_impl(id, box_, nullptr, std::move(question));
    const auto answer = box().wait_until(deadline);
    if (!answer)
      box_.reset(); // what comes late finds nobody
    if (!answer || !answer->content().template match_elements<Reply>())
      return std::nullopt;
    return std::move(answer->content().template get_mutable_as<Reply>(0));
  }

private:
  ReplyBox& box();

  caf::actor_system& system_;
  caf::strong_actor_ptr box_;
};

} // namespace cleat::actors
