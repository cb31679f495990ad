#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/cleat-load/answer.hpp"

/// Cutting a connection's bytes into answers.
namespace cleat::load {
namespace {

void receive(AnswerBuffer& buffer, std::string_view bytes) {
  const auto space = buffer.space(bytes.size());
  std::copy(bytes.begin(), bytes.end(), space.begin());
  buffer.filled(bytes.size());
}

const std::string created = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\netag: \"7\"\r\n"
                            "content-length: 8\r\n\r\n{\"a\": 1}";

void expect_created(const std::optional<Answer>& answer) {
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "{\"a\": 1}");
  EXPECT_EQ(answer->etag, "\"7\"");
  EXPECT_FALSE(answer->closes);
}

TEST(AnswerBuffer, TakesAnAnswerInWhateverPiecesItComes) {
  for (std::size_t cut = 1; cut < created.size(); ++cut) {
    AnswerBuffer buffer;
    receive(buffer, created.substr(0, cut));
    EXPECT_FALSE(buffer.peek()) << cut;
    receive(buffer, created.substr(cut));
    expect_created(buffer.peek());
    buffer.drop();
    EXPECT_TRUE(buffer.empty());
  }
}

TEST(AnswerBuffer, TakesAnswersOneAfterTheOther) {
  const std::string big(100'000, 'x');
  AnswerBuffer buffer;
  receive(buffer, created + "HTTP/1.1 204 \r\nConnection: close\r\n\r\n");
  expect_created(buffer.peek());
  buffer.drop();
  const auto second = buffer.peek();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 204);
  EXPECT_EQ(second->body, "");
  EXPECT_EQ(second->etag, "") << "the one of the answer before";
  EXPECT_TRUE(second->closes);
  buffer.drop();
  receive(buffer, "HTTP/1.1 200 \r\nContent-Length: 100000\r\n\r\n" + big);
  EXPECT_EQ(buffer.peek()->body, big);
}

TEST(AnswerBuffer, RefusesWhatIsNoAnswerOfCleat) {
  const std::vector<std::string> wrong{
    "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n",
  };
  for (const auto& bytes : wrong) {
    AnswerBuffer buffer;
    receive(buffer, bytes);
    EXPECT_THROW(buffer.peek(), std::runtime_error) << bytes;
  }
}

} // namespace
} // namespace cleat::load
