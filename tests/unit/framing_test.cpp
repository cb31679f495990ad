#include "protocol/framing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cleat::wire {
namespace {

constexpr std::size_t limit = 300;

std::vector<std::string> envelopes_of(Deframer& deframer) {
  std::vector<std::string> envelopes;
  while (auto envelope = deframer.next())
    envelopes.push_back(std::move(*envelope));
  return envelopes;
}

TEST(Framing, AFrameIsABigEndianLengthAndTheEnvelope) {
  EXPECT_EQ(frame("abc"), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(frame(std::string(0x01'02'03, 'x')).substr(0, 4), std::string("\0\1\2\3", 4));
}

TEST(Framing, FramesComeOutHoweverTheStreamIsSplit) {
  const std::vector<std::string> sent{"a", std::string(limit, 'b'), std::string("\0\0\0\1", 4), "last"};
  std::string stream;
  for (const auto& envelope : sent)
    stream += frame(envelope);
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    Deframer deframer(limit);
    std::vector<std::string> received;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      deframer.append(std::string_view(stream).substr(at, step));
      for (auto& envelope : envelopes_of(deframer))
        received.push_back(std::move(envelope));
    }
    EXPECT_EQ(received, sent) << "in steps of " << step;
    EXPECT_FALSE(deframer.broken());
  }
}

TEST(Framing, AnIncompleteFrameWaits) {
  Deframer deframer(limit);
  deframer.append(std::string("\0\0\0", 3));
  EXPECT_FALSE(deframer.next());
  deframer.append(std::string("\2a", 2));
  EXPECT_FALSE(deframer.next());
  EXPECT_FALSE(deframer.broken());
  deframer.append("b");
  EXPECT_EQ(deframer.next(), "ab");
}

TEST(Framing, ALengthOverTheLimitBreaksTheStreamBeforeItsBytesCome) {
  Deframer deframer(limit);
  deframer.append(frame("good") + std::string("\0\0\1\x2d", 4)); // 301
  EXPECT_EQ(deframer.next(), "good");
  EXPECT_FALSE(deframer.broken());
  EXPECT_FALSE(deframer.next());
  EXPECT_TRUE(deframer.broken());
  deframer.append(frame("late"));
  EXPECT_FALSE(deframer.next());
}

TEST(Framing, ALengthOfZeroBreaksTheStream) {
  Deframer deframer(limit);
  deframer.append(std::string(4, '\0') + frame("late"));
  EXPECT_FALSE(deframer.next());
  EXPECT_TRUE(deframer.broken());
}

} // namespace
} // namespace cleat::wire
