#include <gtest/gtest.h>

#include "http/waiting_room.hpp"

namespace cleat::http {
namespace {

TEST(WaitingRoom, HasItsSeatsAndNoMore) {
  Metrics metrics;
  WaitingRoom room(2, metrics);
  auto first = room.enter();
  {
    const auto second = room.enter();
    EXPECT_TRUE(second);
    EXPECT_FALSE(room.enter());
    EXPECT_NE(metrics.render().find("cleat_http_waiting 2"), std::string::npos);
  }
  const auto again = room.enter();
  EXPECT_TRUE(again);
  // A seat that is handed on is still one seat.
  const WaitingRoom::Seat moved = std::move(*first);
  first.reset();
  EXPECT_FALSE(room.enter());
}

TEST(WaitingRoom, CountsWhoHasLeft) {
  Metrics metrics;
  WaitingRoom room(1, metrics);
  room.enter();
  EXPECT_NE(metrics.render().find("cleat_http_waiting 0"), std::string::npos);
  EXPECT_TRUE(room.enter());
}

} // namespace
} // namespace cleat::http
