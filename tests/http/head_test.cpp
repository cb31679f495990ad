#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "http/head.hpp"

namespace cleat::http {
namespace {

Code refused(std::string_view bytes) {
  const auto head = parse_head(bytes);
  EXPECT_FALSE(head) << bytes;
  return head ? Code::internal : head.error().code;
}

TEST(Head, IsReadWithItsFieldsAsTheyWereSent) {
  const auto head =
    parse_head("POST /v1/x?y=%41 HTTP/1.1\r\nHost: example.com\r\nIdempotency-Key:  a%41 \r\nX-Empty:\r\n"
               "Content-Length: 12\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->target, "/v1/x?y=%41");
  EXPECT_EQ(values_of(head->headers, "idempotency-key").at(0), "a%41");
  EXPECT_EQ(values_of(head->headers, "x-empty").at(0), "");
  EXPECT_TRUE(head->keep_alive);
  EXPECT_TRUE(head->has_body);
}

TEST(Head, EndsAtItsEmptyLineAndAtABareLineFeedToo) {
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\n\r\nrest"), 18U);
  EXPECT_EQ(head_length("GET / HTTP/1.1\n\nrest"), 16U);
  EXPECT_EQ(head_length("GET / HTTP/1.1\n\r\nrest"), 17U);
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\nHost: example.com\r\n"), std::nullopt);
}

TEST(Head, WithoutCleanLinesIsRefused) {
  EXPECT_EQ(refused("GET / HTTP/1.1\n\n"), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nA : b\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nno colon\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused(std::string_view("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 24)), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nA: b\x7f\r\n\r\n"), Code::bad_request);
}

TEST(Head, WithAnOddRequestLineIsRefused) {
  EXPECT_EQ(refused("\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET /\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET  HTTP/1.1\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET /a b HTTP/1.1\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("G(T / HTTP/1.1\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused("GET / HTTP/2.0\r\n\r\n"), Code::bad_request);
  const std::string target(static_cast<std::size_t>(limits::max_target_bytes), 'a');
  EXPECT_EQ(refused("GET /" + target + " HTTP/1.1\r\n\r\n"), Code::uri_too_long);
}

TEST(Head, WithTwoOpinionsAboutTheBodysLengthIsRefused) {
  const std::string line = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(refused(line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused(line + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused(line + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), Code::bad_request);
  EXPECT_EQ(refused(line + "Transfer-Encoding: gzip, chunked\r\n\r\n"), Code::bad_request);
  for (const auto* length : {"", "-1", "+1", "1 2", "0x1", "1,1", "99999999999999999999"})
    EXPECT_EQ(refused(line + "Content-Length: " + length + "\r\n\r\n"), Code::bad_request) << length;
}

TEST(Head, SaysWhetherTheConnectionGoesOn) {
  const auto keeps = [](const std::string& version, const std::string& field) {
    return parse_head("GET / HTTP/" + version + "\r\n" + field + "\r\n").value().keep_alive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: Upgrade, Close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "connection: Keep-Alive\r\n"));
}

} // namespace
} // namespace cleat::http
