#include <gtest/gtest.h>

#include "http/problem.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

using test::header;

TEST(Problem, OfA404IsTheseBytes) {
  const auto outgoing = problem({Code::not_found});
  EXPECT_EQ(outgoing.status, 404);
  EXPECT_EQ(outgoing.content_type, "application/problem+json");
  EXPECT_EQ(outgoing.body, R"({"type":"urn:cleat:problem:not_found","title":"Not found","status":404,)"
                           R"("detail":"There is no such resource, or it is not yours to see.","code":"not_found"})");
  EXPECT_TRUE(outgoing.headers.empty());
}

TEST(Problem, NamesReasonAndMembers) {
  const auto conflict = problem({Code::conflict, Reason::session_changed});
  EXPECT_NE(conflict.body.find(R"("reason":"session_changed")"), std::string::npos);
  const auto invalid = problem({Code::validation_failed, Reason::none, {{"/name", FieldCode::required}}});
  EXPECT_NE(invalid.body.find(R"("errors":[{"pointer":"/name","code":"required"}])"), std::string::npos);
}

TEST(Problem, CarriesTheFieldsOfItsStatus) {
  EXPECT_EQ(header(problem({Code::unauthorized}), "WWW-Authenticate"), "Bearer");
  for (const auto code :
       {Code::rate_limited, Code::unavailable, Code::overloaded, Code::outcome_unknown, Code::not_ready})
    EXPECT_EQ(header(problem({code}), "Retry-After"), "1");
  EXPECT_EQ(header(problem({Code::internal}), "Retry-After"), "");
}

TEST(Rendering, OfAReplyKeepsVersionAndReplay) {
  const auto outgoing = render(Reply{201, R"({"a":1})", 7, true});
  EXPECT_EQ(outgoing.status, 201);
  EXPECT_EQ(outgoing.content_type, "application/json");
  EXPECT_EQ(outgoing.body, R"({"a":1})");
  EXPECT_EQ(header(outgoing, "ETag"), "\"7\"");
  EXPECT_EQ(header(outgoing, "Idempotent-Replay"), "true");
}

TEST(Rendering, OfAnEmptyReplyHasNoType) {
  const auto outgoing = render(Reply{204, "", {}, false});
  EXPECT_EQ(outgoing.content_type, "");
  EXPECT_TRUE(outgoing.headers.empty());
}

} // namespace
} // namespace cleat::http
