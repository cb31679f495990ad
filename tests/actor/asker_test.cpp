#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <gtest/gtest.h>

#include "actors/asker.hpp"

/// A thread that is no actor asks actors.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;
using Doubler = caf::typed_actor<caf::replies_to<int>::with<std::string>>;
using Promise = caf::typed_response_promise<std::string>;

constexpr auto long_enough = 60s;

class AskerTest : public testing::Test {
public:
  static Doubler::behavior_type doubler() {
    return {[](int number) { return std::to_string(2 * number); }};
  }

  caf::actor_system_config config;
  caf::actor_system system{config};
  actors::Asker asker{system};

  std::optional<std::string> ask(const Doubler& actor, int number, std::chrono::milliseconds patience = long_enough) {
    return asker.ask<std::string>(actor, patience, number);
  }
};

TEST_F(AskerTest, EveryQuestionGetsItsOwnAnswer) {
  const auto actor = system.spawn(doubler);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(ask(actor, i), std::to_string(2 * i));
}

TEST_F(AskerTest, ManyThreadsAskAtOnce) {
  const auto actor = system.spawn(doubler);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      actors::Asker own(system);
      for (int i = 0; i < 500; ++i)
        if (own.ask<std::string>(actor, long_enough, 1000 * t + i) != std::to_string(2 * (1000 * t + i)))
          ++wrong;
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(AskerTest, NobodyIsNoAnswer) {
  const auto actor = system.spawn(doubler);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  // Whether the actor has ended already or ends with the question in its mailbox, the question is refused at once.
  EXPECT_EQ(ask(Doubler(), 1), std::nullopt);
  while (ask(actor, 1)) {
  }
  EXPECT_EQ(ask(actor, 1), std::nullopt);
}

TEST_F(AskerTest, ARefusalOfCafIsNoAnswer) {
  const auto actor = system.spawn([]() -> Doubler::behavior_type {
    return {[](int) -> caf::result<std::string> { return caf::sec::invalid_argument; }};
  });
  EXPECT_EQ(ask(actor, 1), std::nullopt);
  EXPECT_EQ(ask(system.spawn(doubler), 1), "2") << "the next question is not disturbed";
}

TEST_F(AskerTest, ALateAnswerIsNotTheAnswerToTheNextQuestion) {
  std::promise<Promise> asked;
  const auto actor = system.spawn([&asked](Doubler::pointer self) -> Doubler::behavior_type {
    return {[&asked, self](int number) -> caf::result<std::string> {
      auto promise = self->make_response_promise<std::string>();
      if (number == 1) {
        asked.set_value(promise);
        return promise;
      }
      asked.get_future().get().deliver(std::string("late"));
      promise.deliver(std::string("in time"));
      return promise;
    }};
  });
  EXPECT_EQ(ask(actor, 1, 0ms), std::nullopt);
  EXPECT_EQ(ask(actor, 2), "in time");
}

TEST_F(AskerTest, WhatNobodyAskedForIsDropped) {
  caf::actor_config of_the_box;
  const auto handle = caf::make_actor<actors::ReplyBox, caf::strong_actor_ptr>(system.next_actor_id(), system.node(),
                                                                               &system, of_the_box);
  auto& box = static_cast<actors::ReplyBox&>(*handle->get());
  const auto send = [&box](caf::message_id id, int value) { box.eq_impl(id, nullptr, nullptr, value); };
  const auto id = box.expect_answer();
  send(caf::make_message_id(), 1);
  send(id, 2);
  send(caf::make_message_id(77).response_id(), 3);
  EXPECT_EQ(box.wait_until(actors::ReplyBox::Deadline::clock::now()), nullptr);
  send(id.response_id(), 4);
  send(id.response_id(), 5);
  const auto answer = box.wait_until(actors::ReplyBox::Deadline::max());
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->content().get_as<int>(0), 4);
  EXPECT_EQ(box.wait_until(actors::ReplyBox::Deadline::clock::now()), nullptr) << "one answer is enough";
}

} // namespace
} // namespace cleat::test
