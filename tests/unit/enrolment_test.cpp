#include "actors/rules/runner/enrolment.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/encoding.hpp"
#include "tests/unit/world.hpp"

/// Who may enrol as a Runner, which enrolments go on, and what holds of epochs and attempts whatever happens.
namespace cleat::unit {
namespace {

using namespace std::chrono_literals;
using rules::fleet::Admission;
using rules::fleet::EnrolmentContext;
using Admitted = tl::expected<Admission, wire::EnrolmentRefused>;

const Id here = id_of(501);
const Id there = id_of(502);
const Id journal = id_of(511);
const Id other_journal = id_of(512);

Container container(std::uint64_t number, std::string name, std::optional<Id> attempt) {
  Container row;
  row.id = id_of(number);
  row.name = std::move(name);
  row.account_id = id_of(600);
  row.runner_id = id_of(401);
  row.attempt_id = attempt;
  row.created_at = noon - 1h;
  return row;
}

/// The database as far as enrolments see it, and everybody who asks.
struct Enrolments {
  Enrolments() {
    facts.token = RunnerToken{id_of(402), id_of(401), "first", sha256("token"), noon - 1h, {}, {}};
    facts.runner = Runner{id_of(401), "north", noon - 1h};
    facts.containers = {container(451, "atlas", {}), container(452, "borealis", {})};
  }

  Admitted ask(const std::string& secret, const Id& node = here, const Id& with_journal = journal) {
    const EnrolmentContext context{node, now, ids, "secret " + std::to_string(++draws), {}};
    return rules::fleet::admit(facts, {"token", secret, with_journal.str(), "1.0"}, context);
  }

  /// Commits as the database does: not at all where the Runner's version is another one.
  bool commit(const Decision& decision) {
    for (const RowWrite& write : decision.rows) {
      const auto& of_fleet = std::get<fleet::Write>(write);
      const auto* const enrol = std::get_if<fleet::Enrol>(&of_fleet);
      const Runner& row = enrol != nullptr ? enrol->row : std::get<fleet::UpdateRunner>(of_fleet).row;
      if (row.version != facts.runner->version + 1)
        return false;
      facts.runner = row;
      for (Container& held : facts.containers) {
        if (enrol != nullptr)
          held.attempt_id.reset();
        for (const ContainerAttempt& attempt : enrol != nullptr ? enrol->attempts : std::vector<ContainerAttempt>{})
          if (attempt.container_name == held.name)
            held.attempt_id = attempt.id;
      }
    }
    if (facts.runner->node_id)
      facts.node = Node{*facts.runner->node_id, "127.0.0.1:1", now};
    return true;
  }

  /// Asks and commits; the secret that the Runner has from then on.
  std::string enrol(const std::string& secret = {}, const Id& node = here) {
    const auto admitted = ask(secret, node);
    EXPECT_TRUE(admitted && commit(admitted->decision));
    return admitted ? admitted->answer.secret : std::string();
  }

  bool leave(std::int64_t epoch, const Id& node = here) {
    const auto decision = rules::fleet::left(facts, epoch, node, now);
    return decision && commit(*decision);
  }

  [[nodiscard]] std::vector<std::optional<Id>> attempts() const {
    std::vector<std::optional<Id>> ids_of_attempts;
    for (const Container& held : facts.containers)
      ids_of_attempts.push_back(held.attempt_id);
    return ids_of_attempts;
  }

  EnrolmentFacts facts;
  CountingIds ids;
  Timestamp now = noon;
  int draws = 0;
};

std::string code_of(const Admitted& admitted) {
  return admitted ? "admitted" : admitted.error().code;
}

TEST(Enrolment, AFirstOneGivesEveryContainerAnAttempt) {
  Enrolments world;
  const auto admitted = world.ask("");
  ASSERT_TRUE(admitted);
  const auto& enrol = std::get<fleet::Enrol>(std::get<fleet::Write>(admitted->decision.rows.at(0)));
  EXPECT_EQ(admitted->decision.rows.size(), 1U);
  EXPECT_EQ(enrol.row.version, 2);
  EXPECT_EQ(enrol.row.enrollment_revision, 1);
  EXPECT_EQ(enrol.row.epoch, 1);
  EXPECT_EQ(enrol.row.node_id, here);
  EXPECT_EQ(enrol.row.journal_id, journal);
  EXPECT_EQ(enrol.row.connected_at, noon);
  EXPECT_EQ(enrol.row.enrollment_secret, sha256("secret 1"));
  ASSERT_EQ(enrol.attempts.size(), 2U);
  EXPECT_EQ(enrol.attempts[0].container_name, "atlas");
  EXPECT_EQ(enrol.attempts[0].enrollment_revision, 1);
  EXPECT_TRUE(enrol.attempts[0].current);
  EXPECT_NE(enrol.attempts[0].id, enrol.attempts[1].id);
  const wire::Enrolled expected{
    1,    1,      "secret 1", false, {{"atlas", enrol.attempts[0].id.str()}, {"borealis", enrol.attempts[1].id.str()}},
    5000, 20'000, 60'000};
  EXPECT_EQ(admitted->answer, expected);
}

TEST(Enrolment, GoesOnWithItsSecret) {
  Enrolments world;
  const auto secret = world.enrol();
  world.facts.containers[1].attempt_id.reset(); // closed by an orphan
  const auto before = world.attempts();
  ASSERT_TRUE(world.leave(1));
  EXPECT_FALSE(world.facts.runner->node_id);
  EXPECT_EQ(world.facts.runner->disconnected_at, noon);
  world.now += 60s;
  const auto admitted = world.ask(secret, there);
  ASSERT_TRUE(admitted) << admitted.error().detail;
  EXPECT_TRUE(admitted->answer.continued);
  EXPECT_EQ(admitted->answer.secret, secret);
  EXPECT_EQ(admitted->answer.epoch, 2);
  EXPECT_EQ(admitted->answer.enrollment_revision, 1);
  ASSERT_EQ(admitted->answer.containers.size(), 2U);
  EXPECT_EQ(admitted->answer.containers[0].attempt_id, before[0]->str());
  EXPECT_EQ(admitted->answer.containers[1].attempt_id, "") << "what is closed stays closed";
  ASSERT_TRUE(world.commit(admitted->decision));
  EXPECT_EQ(world.attempts(), before);
  EXPECT_EQ(world.facts.runner->node_id, there);
  EXPECT_FALSE(world.facts.runner->disconnected_at);
}

TEST(Enrolment, IsOverWhenTheSocketWasAwayForTooLong) {
  Enrolments world;
  const auto secret = world.enrol();
  ASSERT_TRUE(world.leave(1));
  world.now += 60s + 1us;
  EXPECT_EQ(code_of(world.ask(secret)), "enrol_anew");
  EXPECT_EQ(code_of(world.ask("")), "admitted");
}

TEST(Enrolment, CountsFromTheLastHeartbeatOfAServerThatDied) {
  Enrolments world;
  const auto secret = world.enrol();
  world.now += 50s;
  world.facts.node->heartbeat_at = world.now;
  world.now += 60s;
  EXPECT_EQ(code_of(world.ask(secret)), "admitted");
  world.now += 1us;
  EXPECT_EQ(code_of(world.ask(secret)), "enrol_anew");
  world.facts.node.reset();
  world.now = noon;
  EXPECT_EQ(code_of(world.ask(secret)), "enrol_anew") << "nobody knows since when";
}

TEST(Enrolment, AHalfOpenSocketDoesNotKeepItsRunnerOut) {
  Enrolments world;
  const auto secret = world.enrol();
  const auto admitted = world.ask(secret);
  ASSERT_TRUE(admitted);
  EXPECT_TRUE(admitted->answer.continued);
  EXPECT_EQ(admitted->answer.epoch, 2);
}

TEST(Enrolment, ASecretOfAnotherRevisionIsTooLate) {
  Enrolments world;
  const auto old_secret = world.enrol();
  world.enrol();
  EXPECT_EQ(code_of(world.ask(old_secret)), "superseded") << "another connection holds the Runner";
  world.now += 5s;
  EXPECT_EQ(code_of(world.ask(old_secret)), "enrol_anew") << "its server has not been heard of for nodes.timeout_s";
  world.facts.node->heartbeat_at = world.now;
  ASSERT_TRUE(world.leave(2));
  EXPECT_EQ(code_of(world.ask(old_secret)), "enrol_anew") << "nobody holds it";
  Enrolments fresh;
  EXPECT_EQ(code_of(fresh.ask("made up")), "enrol_anew");
}

TEST(Enrolment, AnotherJournalIsAnotherEnrolment) {
  Enrolments world;
  const auto secret = world.enrol();
  EXPECT_EQ(code_of(world.ask(secret, here, other_journal)), "enrol_anew");
}

TEST(Enrolment, TakesAValidTokenOfThisRunner) {
  Enrolments world;
  const auto secret = world.enrol();
  const auto with = [&](auto change) {
    Enrolments changed = world;
    change(changed.facts);
    EXPECT_EQ(code_of(changed.ask("")), code_of(changed.ask(secret)));
    return code_of(changed.ask(""));
  };
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.token.reset(); }), "unauthorized");
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.runner.reset(); }), "unauthorized");
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.token->revoked_at = noon - 1us; }), "unauthorized");
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.token->expires_at = noon; }), "unauthorized");
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.token->runner_id = id_of(499); }), "unauthorized");
  EXPECT_EQ(with([](EnrolmentFacts& facts) { facts.token->expires_at = noon + 1us; }), "admitted");
}

TEST(Enrolment, OnlyTheConnectionInForceLeaves) {
  Enrolments world;
  const auto secret = world.enrol();
  world.enrol(secret, there);
  EXPECT_FALSE(rules::fleet::left(world.facts, 1, there, noon)) << "an older epoch";
  EXPECT_FALSE(rules::fleet::left(world.facts, 2, here, noon)) << "another server's";
  EXPECT_FALSE(rules::fleet::left({}, 2, there, noon));
  EXPECT_TRUE(world.leave(2, there));
  EXPECT_FALSE(world.leave(2, there)) << "it has left already";
}

// What holds whatever happens.

struct Step {
  int kind = 0;
  std::size_t secret = 0;
  bool elsewhere = false;
  std::int64_t pause_s = 0;
};

rc::Gen<Step> any_step() {
  using rc::gen::element;
  using rc::gen::set;
  return rc::gen::build<Step>(set(&Step::kind, element(0, 0, 1, 1, 1, 2, 3, 4)),
                              set(&Step::secret, element<std::size_t>(0, 0, 0, 1, 2)), set(&Step::elsewhere),
                              set(&Step::pause_s, element<std::int64_t>(0, 1, 4, 6, 59, 61)));
}

/// One decision, and what it may have done to epochs and attempts.
void check(const Enrolments& before, const Enrolments& after, bool continued) {
  RC_ASSERT(after.facts.runner->epoch == before.facts.runner->epoch + 1);
  RC_ASSERT(after.facts.runner->node_id.has_value());
  const auto old_attempts = before.attempts();
  const auto new_attempts = after.attempts();
  if (continued) {
    RC_ASSERT(new_attempts == old_attempts);
    RC_ASSERT(after.facts.runner->enrollment_revision == before.facts.runner->enrollment_revision);
    RC_ASSERT(after.facts.runner->enrollment_secret == before.facts.runner->enrollment_secret);
    return;
  }
  RC_ASSERT(after.facts.runner->enrollment_revision == before.facts.runner->enrollment_revision + 1);
  const std::set<std::optional<Id>> old_set(old_attempts.begin(), old_attempts.end());
  for (const auto& attempt : new_attempts)
    RC_ASSERT(attempt && !old_set.contains(attempt));
}

/// Two servers decide on the same facts; both commit, one after the other.
void admit_twice(Enrolments& world, const std::string& secret, std::vector<std::string>& secrets) {
  const Enrolments before = world;
  const auto first = world.ask(secret, here);
  const auto second = world.ask(*rc::gen::element(std::string(), secret), there);
  if (first) {
    RC_ASSERT(world.commit(first->decision));
    check(before, world, first->answer.continued);
    secrets.push_back(first->answer.secret);
  }
  if (second)
    RC_ASSERT(world.commit(second->decision) != first.has_value());
}

RC_GTEST_PROP(EnrolmentProperties, HoldAfterAnySequence, ()) {
  Enrolments world;
  std::vector<std::string> secrets{"made up"};
  std::uint64_t containers = 700;
  for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step())) {
    world.now += std::chrono::seconds(step.pause_s);
    const Enrolments before = world;
    const std::string secret = secrets.at(secrets.size() - 1 - std::min(step.secret, secrets.size() - 1));
    if (step.kind <= 1) {
      const auto admitted = world.ask(step.kind == 0 ? "" : secret, step.elsewhere ? there : here);
      RC_ASSERT(step.kind == 1 || admitted);
      if (!admitted)
        continue;
      RC_ASSERT(world.commit(admitted->decision));
      check(before, world, admitted->answer.continued);
      RC_ASSERT(admitted->answer.continued == (step.kind == 1));
      secrets.push_back(admitted->answer.secret);
    } else if (step.kind == 2) {
      world.leave(world.facts.runner->epoch - static_cast<std::int64_t>(step.secret), step.elsewhere ? there : here);
      RC_ASSERT(world.facts.runner->epoch == before.facts.runner->epoch);
      RC_ASSERT(world.attempts() == before.attempts());
    } else if (step.kind == 3) {
      admit_twice(world, secret, secrets);
    } else {
      ++containers;
      world.facts.containers.push_back(
        container(containers, "c" + std::to_string(containers), id_of(containers + 100)));
      ++world.facts.runner->version;
    }
  }
}

} // namespace
} // namespace cleat::unit
