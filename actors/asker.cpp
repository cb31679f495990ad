#include "actors/asker.hpp"

#include <cerrno>
#include <ctime>

#include <caf/actor_config.hpp>
#include <caf/make_actor.hpp>

namespace cleat::actors {

ReplyBox::ReplyBox(caf::actor_config& config) : caf::monitorable_actor(config) {
  sem_init(&arrived_, 0, 0);
}

ReplyBox::~ReplyBox() {
  sem_destroy(&arrived_);
}

void ReplyBox::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* /*host*/) {
  {
    const std::scoped_lock lock(mutex_);
    if (!open_ || !what->mid.is_response() || what->mid.request_id().integer_value() != asked_)
      return;
    open_ = false;
    answer_ = std::move(what);
  }
  sem_post(&arrived_);
}

caf::message_id ReplyBox::expect_answer() {
  const std::scoped_lock lock(mutex_);
  open_ = true;
  return caf::make_message_id(++asked_);
}

caf::mailbox_element_ptr ReplyBox::wait_until(Deadline deadline) {
  const auto since_boot = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const timespec until{static_cast<std::time_t>(seconds.count()),
                       static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count())};
  int result = 0;
  do
    result = sem_clockwait(&arrived_, CLOCK_MONOTONIC, &until);
  while (result != 0 && errno == EINTR);
  if (result != 0)
    return nullptr;
  const std::scoped_lock lock(mutex_);
  return std::move(answer_);
}

Asker::Asker(caf::actor_system& system) : system_(system) {}

ReplyBox& Asker::box() {
  if (!box_) {
    caf::actor_config config;
    box_ = caf::make_actor<ReplyBox, caf::strong_actor_ptr>(system_.next_actor_id(), system_.node(), &system_, config);
  }
  return static_cast<ReplyBox&>(*box_->get());
}

} // namespace cleat::actors
