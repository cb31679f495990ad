#include <gtest/gtest.h>

#include "http/authenticator.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

using namespace std::chrono_literals;

class AuthenticatorTest : public testing::Test {
protected:
  AuthenticatorTest() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Result<std::shared_ptr<const Principal>> ask(const std::string& secret = "secret") {
    return authenticator_.authenticate({{"Authorization", "Bearer " + secret}}, backend_);
  }
  Code refused(const std::string& secret = "secret") {
    const auto principal = ask(secret);
    EXPECT_FALSE(principal);
    return principal ? Code::internal : principal.error().code;
  }
  Token& token() { return backend_.tokens[sha256("secret")].token; }

  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  test::FakeBackend backend_;
  Authenticator authenticator_{clock_, 250ms, 2};
};

TEST_F(AuthenticatorTest, KnowsWhoHoldsAToken) {
  const auto principal = ask();
  ASSERT_TRUE(principal);
  EXPECT_EQ(**principal, test::human(1));
}

TEST_F(AuthenticatorTest, RefusesWhatIsNoToken) {
  EXPECT_EQ(refused("other"), Code::unauthorized);
  EXPECT_EQ(authenticator_.authenticate({}, backend_).error().code, Code::unauthorized);
  token().digest = sha256("other");
  EXPECT_EQ(refused(), Code::unauthorized);
}

TEST_F(AuthenticatorTest, RefusesRevokedAndExpiredTokens) {
  token().revoked_at = clock_->now();
  EXPECT_EQ(refused(), Code::unauthorized);
  token().revoked_at.reset();
  token().expires_at = clock_->now();
  EXPECT_EQ(refused(), Code::unauthorized);
  token().expires_at = clock_->now() + 1us;
  EXPECT_TRUE(ask());
}

TEST_F(AuthenticatorTest, SaysUnavailableWhenTheDatabaseIsAway) {
  backend_.database = false;
  EXPECT_EQ(refused(), Code::unavailable);
}

TEST_F(AuthenticatorTest, RemembersValidTokensForAMoment) {
  EXPECT_TRUE(ask());
  clock_->advance(249ms);
  EXPECT_TRUE(ask());
  EXPECT_EQ(backend_.look_ups, 1);
  token().revoked_at = clock_->now();
  clock_->advance(1ms);
  EXPECT_EQ(refused(), Code::unauthorized);
  EXPECT_EQ(backend_.look_ups, 2);
}

TEST_F(AuthenticatorTest, DoesNotRememberRefusals) {
  EXPECT_EQ(refused("later"), Code::unauthorized);
  backend_.tokens[sha256("later")] = test::token_of(2, "later");
  EXPECT_TRUE(ask("later"));
}

TEST_F(AuthenticatorTest, LetsARememberedTokenExpire) {
  token().expires_at = clock_->now() + 10ms;
  EXPECT_TRUE(ask());
  clock_->advance(10ms);
  EXPECT_EQ(refused(), Code::unauthorized);
}

TEST_F(AuthenticatorTest, DoesNotBelieveEntriesFromTheFuture) {
  EXPECT_TRUE(ask());
  clock_->advance(-1h);
  EXPECT_TRUE(ask());
  EXPECT_EQ(backend_.look_ups, 2);
}

TEST_F(AuthenticatorTest, ForgetsWhenToldTo) {
  EXPECT_TRUE(ask());
  authenticator_.forget();
  token().revoked_at = clock_->now();
  EXPECT_EQ(refused(), Code::unauthorized);
}

TEST_F(AuthenticatorTest, ForgetsALookUpThatIsOnItsWay) {
  backend_.on_find_token = [this] { authenticator_.forget(); };
  EXPECT_TRUE(ask());
  EXPECT_TRUE(ask());
  EXPECT_EQ(backend_.look_ups, 2);
}

TEST_F(AuthenticatorTest, IsBounded) {
  for (const auto* secret : {"a", "b", "c"}) {
    backend_.tokens[sha256(secret)] = test::token_of(1, secret);
    EXPECT_TRUE(ask(secret));
  }
  EXPECT_TRUE(ask("c"));
  EXPECT_EQ(backend_.look_ups, 3);
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(backend_.look_ups, 4);
}

} // namespace
} // namespace cleat::http
