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
    return authenticator_.authenticate({{"Authorization", "Bearer " + secret}}, client_, backend_);
  }
  Code refused(const std::string& secret = "secret") {
    const auto principal = ask(secret);
    EXPECT_FALSE(principal);
    return principal ? Code::internal : principal.error().code;
  }
  Token& token() { return backend_.tokens[sha256("secret")].token; }

  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  test::FakeBackend backend_;
  Metrics metrics_;
  /// Three wrong ones at once, one a second.
  FailedLogins failures_{clock_, {60, 3, 100}, metrics_};
  Authenticator authenticator_{clock_, 250ms, 2, failures_};
  ClientAddress client_{1};
};

TEST_F(AuthenticatorTest, KnowsWhoHoldsAToken) {
  const auto principal = ask();
  ASSERT_TRUE(principal);
  EXPECT_EQ(**principal, test::human(1));
}

TEST_F(AuthenticatorTest, RefusesWhatIsNoToken) {
  EXPECT_EQ(refused("other"), Code::unauthorized);
  EXPECT_EQ(authenticator_.authenticate({}, client_, backend_).error().code, Code::unauthorized);
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

TEST_F(AuthenticatorTest, RefusesTokensWithoutALookWhenTooManyWereWrong) {
  for (const auto* wrong : {"a", "b", "c"})
    EXPECT_EQ(refused(wrong), Code::unauthorized);
  EXPECT_EQ(refused("d"), Code::rate_limited);
  EXPECT_EQ(refused(), Code::rate_limited) << "this one is good, but nobody has seen it here";
  EXPECT_EQ(backend_.look_ups, 3);
  client_ = {2};
  EXPECT_EQ(refused("d"), Code::unauthorized) << "other addresses are not concerned";
  client_ = {1};
  clock_->advance(1s);
  EXPECT_TRUE(ask());
  EXPECT_EQ(refused("d"), Code::unauthorized) << "a valid token costs nothing";
  EXPECT_EQ(refused("d"), Code::rate_limited);
}

TEST_F(AuthenticatorTest, GoesOnWithWhoWasThereBeforeTheGuesses) {
  EXPECT_TRUE(ask());
  for (const auto* wrong : {"a", "b", "c"})
    EXPECT_EQ(refused(wrong), Code::unauthorized);
  for (int i = 0; i < 3; ++i) {
    clock_->advance(250ms); // the token has to be looked up again
    EXPECT_EQ(refused("d"), Code::rate_limited);
    EXPECT_TRUE(ask());
  }
  EXPECT_EQ(backend_.look_ups, 7);
  authenticator_.forget();
  EXPECT_TRUE(ask()) << "what is forgotten is who it is, not that it is worth a look";
}

TEST_F(AuthenticatorTest, ARevokedTokenIsWorthOneLook) {
  EXPECT_TRUE(ask());
  for (const auto* wrong : {"a", "b", "c"})
    EXPECT_EQ(refused(wrong), Code::unauthorized);
  authenticator_.forget();
  token().revoked_at = clock_->now();
  EXPECT_EQ(refused(), Code::unauthorized);
  EXPECT_EQ(refused(), Code::rate_limited);
}

TEST_F(AuthenticatorTest, NoTokenCostsNothingAndIsNeverLimited) {
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(authenticator_.authenticate({}, client_, backend_).error().code, Code::unauthorized);
  EXPECT_EQ(refused("a"), Code::unauthorized);
  EXPECT_EQ(refused("b"), Code::unauthorized);
  EXPECT_EQ(refused("c"), Code::unauthorized);
  EXPECT_EQ(authenticator_.authenticate({}, client_, backend_).error().code, Code::unauthorized);
  EXPECT_EQ(backend_.look_ups, 3);
}

TEST_F(AuthenticatorTest, ADatabaseThatIsAwayCountsAgainstNobody) {
  backend_.database = false;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(refused(), Code::unavailable);
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
