#include <gtest/gtest.h>

#include "http/request_headers.hpp"

namespace cleat::http {
namespace {

Code refused_if_match(const std::string& value) {
  const auto version = if_match({{"If-Match", value}});
  EXPECT_FALSE(version) << value;
  return version ? Code::internal : version.error().code;
}

TEST(IfMatch, IsOneStrongQuotedVersion) {
  EXPECT_EQ(if_match({}).value(), std::nullopt);
  EXPECT_EQ(if_match({{"if-match", "\"7\""}}).value(), 7);
  for (const auto* value : {"", "*", "7", "\"\"", "\"0\"", "\"07\"", "\"-1\"", "\"+1\"", "W/\"7\"", "\"7\", \"8\"",
                            "\"7\" ", "\"x\"", "\"7x\"", "\"99999999999999999999\"", "\""})
    EXPECT_EQ(refused_if_match(value), Code::invalid_if_match);
  const auto twice = if_match({{"If-Match", "\"7\""}, {"If-Match", "\"7\""}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::invalid_if_match);
}

TEST(IdempotencyKeyHeader, IsOneVisibleText) {
  EXPECT_EQ(idempotency_key({}).value(), std::nullopt);
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", "a-1"}}).value(), "a-1");
  EXPECT_TRUE(idempotency_key({{"Idempotency-Key", std::string(255, 'k')}}));
  for (const auto& value : {std::string(), std::string("a b"), std::string("k\xc3\xa4"), std::string(256, 'k')}) {
    const auto key = idempotency_key({{"Idempotency-Key", value}});
    ASSERT_FALSE(key) << value;
    EXPECT_EQ(key.error().code, Code::invalid_idempotency_key);
  }
  EXPECT_FALSE(idempotency_key({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}));
}

TEST(Prefer, NamesHowLongToWait) {
  const auto wait = [](const char* value) { return preferred_wait({{"prefer", value}}); };
  EXPECT_EQ(preferred_wait({}), std::nullopt);
  for (const auto* value :
       {"wait=10", "WAIT=10", "respond-async, wait=10", "wait = 10", "wait=\"10\"", "wait=10; foo=bar",
        "foo=\"wait=5, x\", wait=10", "foo; wait=5, wait=10", "a=\"\\\", wait=5\", wait=10", ", wait=10"})
    EXPECT_EQ(wait(value), 10) << value;
  EXPECT_EQ(wait("wait=0"), 0);
  EXPECT_GT(wait("wait=99999999999999999999").value(), 1'000'000);
}

TEST(Prefer, WhatDoesNotMakeSenseIsIgnored) {
  for (const auto* value : {"", "wait", "wait=", "wait=x", "wait=-1", "wait=+1", "wait=1.5", "wait=1s", "wait=\"1",
                            "awaits=1", "wait=x, wait=10", "-99999999999999999999"})
    EXPECT_EQ(preferred_wait({{"Prefer", value}}), std::nullopt) << value;
}

TEST(Prefer, TheFirstOneCounts) {
  EXPECT_EQ(preferred_wait({{"Prefer", "wait=1, wait=2"}, {"Prefer", "wait=3"}}), 1);
  EXPECT_EQ(preferred_wait({{"Prefer", "return=minimal"}, {"Prefer", "wait=3"}}), 3);
}

TEST(BearerToken, IsOneTokenOfThatScheme) {
  EXPECT_EQ(bearer_token({{"Authorization", "Bearer abc"}}), "abc");
  EXPECT_EQ(bearer_token({{"authorization", "bearer   abc"}}), "abc");
  for (const auto* value : {"", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a\xc3\xa4", "abc"})
    EXPECT_EQ(bearer_token({{"Authorization", value}}), std::nullopt) << value;
  EXPECT_EQ(bearer_token({{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}}), std::nullopt);
  EXPECT_EQ(bearer_token({{"Authorization", "Bearer " + std::string(513, 'a')}}), std::nullopt);
}

TEST(RequestId, IsTakenWhenItCanBeSentBack) {
  EXPECT_EQ(request_id({{"X-Request-Id", "r-1"}}), "r-1");
  EXPECT_EQ(request_id({{"X-Request-Id", std::string(128, 'r')}}), std::string(128, 'r'));
  for (const auto& value : {std::string(), std::string("a b"), std::string(129, 'r'), std::string("a\xc3\xa4")})
    EXPECT_EQ(request_id({{"X-Request-Id", value}}), std::nullopt) << value;
}

TEST(TraceId, ComesFromTraceparent) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_EQ(trace_id({{"traceparent", "00-" + trace + "-00f067aa0ba902b7-01"}}), trace);
  EXPECT_EQ(trace_id({{"traceparent", "00-" + trace}}), std::nullopt);
  EXPECT_EQ(trace_id({{"traceparent", "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}), std::nullopt);
}

TEST(MediaType, IsJsonInUtf8) {
  for (const auto* value : {"application/json", "Application/JSON", "application/json; charset=utf-8",
                            "application/json;charset=\"UTF-8\"", "application/json; profile=x"})
    EXPECT_TRUE(is_json({{"Content-Type", value}})) << value;
  for (const auto* value : {"", "text/plain", "application/jsonp", "application/merge-patch+json",
                            "application/json; charset=latin1", "multipart/form-data; boundary=x"})
    EXPECT_FALSE(is_json({{"Content-Type", value}})) << value;
  EXPECT_FALSE(is_json({}));
  EXPECT_FALSE(is_json({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}));
  EXPECT_FALSE(is_json({{"Content-Type", "application/json"}, {"Content-Type", "application/json"}}));
}

} // namespace
} // namespace cleat::http
