#include <gtest/gtest.h>

#include "http/router.hpp"
#include "http/target.hpp"

namespace cleat::http {
namespace {

Result<Reply> nothing(Call&) {
  return Reply{};
}

class RouterTest : public testing::Test {
protected:
  static Route route(std::string_view method, std::string_view pattern) {
    return {method, pattern, "operation", RateClass::read, false, false, {}, &nothing};
  }

  auto find(std::string_view method, std::string_view target) {
    return router_.find(method, parse_target(target).value().segments);
  }

  const std::vector<Route> routes_{route("GET", "/v1/spaces"), route("POST", "/v1/spaces"),
                                   route("GET", "/v1/spaces/{id}"), route("PATCH", "/v1/spaces/{id}"),
                                   route("DELETE", "/v1/principals/{id}/tokens/{token_id}")};
  const Router router_{routes_};
};

TEST_F(RouterTest, FindsByPathAndMethod) {
  EXPECT_EQ(std::get<Match>(find("POST", "/v1/spaces")).route, &routes_[1]);
  EXPECT_EQ(std::get<Match>(find("PATCH", "/v1/spaces/abc")).route, &routes_[3]);
  const auto match = std::get<Match>(find("DELETE", "/v1/principals/a%2Fb/tokens/c?x=1"));
  EXPECT_EQ(match.route, &routes_[4]);
  EXPECT_EQ(match.values, (std::vector<std::string>{"a/b", "c"}));
}

TEST_F(RouterTest, HeadFindsGet) {
  EXPECT_EQ(std::get<Match>(find("HEAD", "/v1/spaces")).route, &routes_[0]);
}

TEST_F(RouterTest, OtherMethodsNameWhatThePathTakes) {
  EXPECT_EQ(std::get<OtherMethods>(find("DELETE", "/v1/spaces")).allow, "GET, HEAD, POST");
  EXPECT_EQ(std::get<OtherMethods>(find("OPTIONS", "/v1/principals/a/tokens/b")).allow, "DELETE");
  EXPECT_EQ(std::get<OtherMethods>(find("HEAD", "/v1/principals/a/tokens/b")).allow, "DELETE");
  EXPECT_EQ(std::get<OtherMethods>(find("get", "/v1/spaces")).allow, "GET, HEAD, POST");
}

TEST_F(RouterTest, UnknownPathsAreNotFound) {
  for (const auto* target : {"/", "/v1", "/v1/", "/v1/spaces/", "/v1/spaces/a/b", "/v1/principals/a/tokens",
                             "//v1/spaces", "/V1/spaces", "/v1/spaces%2F"}) {
    const auto found = find("GET", target);
    EXPECT_FALSE(std::holds_alternative<Match>(found) && std::get<Match>(found).values.empty()) << target;
    EXPECT_FALSE(std::holds_alternative<OtherMethods>(found)) << target;
  }
  EXPECT_TRUE(std::holds_alternative<NoSuchPath>(find("GET", "/v1/spaces/a/b")));
  EXPECT_TRUE(std::holds_alternative<NoSuchPath>(find("GET", "/v1/")));
}

TEST(Target, MustBeAPathThatDecodes) {
  for (const auto* target : {"", "*", "v1", "http://example.com/v1", "/v1/%zz", "/v1/%4"})
    EXPECT_EQ(parse_target(target), std::nullopt) << target;
  EXPECT_EQ(parse_target("/").value().segments, std::vector<std::string>{""});
}

TEST(Query, IsDecodedAndCheckedAgainstWhatIsKnown) {
  const auto query = parse_target("/x?limit=10&cursor=a%2Bb+c&&empty").value().query;
  EXPECT_EQ(query.get("limit"), "10");
  EXPECT_EQ(query.get("cursor"), "a+b c");
  EXPECT_EQ(query.get("empty"), "");
  EXPECT_EQ(query.get("other"), std::nullopt);
  constexpr std::array<std::string_view, 3> known{"limit", "cursor", "empty"};
  EXPECT_TRUE(query.check(known).empty());
}

TEST(Query, NamesWhatIsWrongWithIt) {
  constexpr std::array<std::string_view, 1> known{"limit"};
  const auto query = parse_target("/x?limit=1&a%2Fb~=2&limit=1&%ff=1").value().query;
  EXPECT_EQ(query.check(known), (std::vector<FieldError>{{"/a~1b~0", FieldCode::unknown_member},
                                                         {"/limit", FieldCode::duplicate_member},
                                                         {"", FieldCode::unknown_member}}));
}

} // namespace
} // namespace cleat::http
