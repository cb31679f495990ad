#include <ostream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/session_model.hpp"

/// What holds after any sequence of commands by anybody, with clocks that go back and forth.
namespace cleat::unit {

/// One command of a random sequence.
struct Step {
  enum class Kind { reset, bind, import_session };
  enum class Expectation { none, current, other };

  Kind kind{};
  std::size_t actor = 0;
  std::size_t thread = 0;
  std::string reference;
  Expectation expectation{};
  bool take_over = false;
  std::int64_t clock_us = 0; ///< this server's clock, relative to noon
};

/// How RapidCheck shows a step of a sequence that fails.
void showValue(const Step& step, std::ostream& out) {
  const char* const kinds[] = {"reset", "bind", "import"};
  const char* const expectations[] = {"none", "current", "other"};
  out << kinds[static_cast<int>(step.kind)] << " by " << step.actor << " in " << step.thread << " of " << step.reference
      << " expecting " << expectations[static_cast<int>(step.expectation)] << (step.take_over ? " taking over" : "")
      << " at " << step.clock_us;
}

namespace {

using Kind = Step::Kind;
using Expectation = Step::Expectation;

rc::Gen<Step> any_step() {
  using rc::gen::element;
  using rc::gen::set;
  return rc::gen::build<Step>(
    set(&Step::kind, element(Kind::reset, Kind::bind, Kind::bind, Kind::bind, Kind::import_session)),
    set(&Step::actor, element<std::size_t>(0, 0, 1, 1, 1, 2, 2, 3, 4, 5)),
    set(&Step::thread, rc::gen::inRange<std::size_t>(0, 9)), set(&Step::reference, element<std::string>("a", "b", "c")),
    set(&Step::expectation, element(Expectation::current, Expectation::current, Expectation::current, Expectation::none,
                                    Expectation::other)),
    set(&Step::take_over), set(&Step::clock_us, rc::gen::inRange<std::int64_t>(-20, 20)));
}

/// Long enough for rows to be taken over, ended and bound again.
rc::Gen<std::vector<Step>> any_steps() {
  return rc::gen::scale(3.0, rc::gen::container<std::vector<Step>>(any_step()));
}

/// Mostly enough, so that sequences come far.
rc::Gen<std::vector<Level>> any_levels() {
  return rc::gen::container<std::vector<Level>>(
    rc::gen::element(Level::none, Level::read, Level::write, Level::trigger, Level::trigger, Level::manage));
}

std::optional<Id> expected_of(const Step& step, const ThreadFacts& facts) {
  if (step.expectation == Expectation::other)
    return id_of(1);
  if (step.expectation == Expectation::current && facts.current)
    return facts.current->id;
  return std::nullopt;
}

Result<Decision> take(SessionModel& model, const Step& step) {
  const Principal& actor = model.actors().at(step.actor);
  const Timestamp now = noon + std::chrono::microseconds{step.clock_us};
  const auto expected = expected_of(step, model.threads().at(step.thread));
  switch (step.kind) {
    case Kind::reset:
      return model.reset(actor, step.thread, expected, now);
    case Kind::bind:
      return model.bind(actor, step.thread, BindBody{step.reference, expected, step.take_over}, now);
    case Kind::import_session:
      break;
  }
  const Timestamp earlier = now - std::chrono::microseconds{10};
  return model.import_session(actor, step.thread, ImportItem{{}, step.reference, {}, 3, {}, earlier, now}, now);
}

RC_GTEST_PROP(SessionProperties, NoSequenceBreaksAnything, ()) {
  SessionModel model(*any_levels());
  for (const Step& step : *any_steps()) {
    take(model, step);
    if (!model.broken().empty())
      RC_FAIL(model.broken().front());
  }
}

RC_GTEST_PROP(SessionProperties, ARefusedCommandIsRefusedAgain, ()) {
  // A refusal changes nothing, so that asking once more is told the same.
  SessionModel model(*any_levels());
  for (const Step& step : *any_steps()) {
    const auto before = model.threads();
    const auto first = take(model, step);
    if (first)
      continue;
    RC_ASSERT(model.threads() == before);
    const auto second = take(model, step);
    RC_ASSERT((!second && second.error() == first.error()));
  }
}

TEST(SessionProperties, OneOfManyBindsWithOneExpectationWins) {
  SessionModel model({Level::trigger});
  const Principal alex = model.actors()[1];
  EXPECT_TRUE(model.bind(alex, 0, {"a", {}, true}, noon));
  for (const char* reference : {"a", "b", "c"})
    EXPECT_EQ(refusal_of(model.bind(alex, 0, {reference, {}, true}, noon)),
              denied(Code::conflict, Reason::session_changed));
  EXPECT_EQ(model.broken(), std::vector<std::string>{});
}

TEST(SessionProperties, TheModelReachesWhatTheyAreAbout) {
  // A sequence that goes everywhere, so that the properties above are known to be about something.
  SessionModel model({Level::manage});
  const Principal alex = model.actors()[1];
  EXPECT_TRUE(model.bind(alex, 0, {"a", {}, false}, noon));
  EXPECT_EQ(refusal_of(model.bind(alex, 1, {"a", {}, false}, noon)),
            denied(Code::conflict, Reason::session_bound_elsewhere));
  EXPECT_TRUE(model.bind(alex, 1, {"a", {}, true}, noon - std::chrono::seconds{1}));
  EXPECT_FALSE(model.threads()[0].current);
  EXPECT_TRUE(model.bind(alex, 2, {"a", {}, false}, noon)) << "another agent's reference is another reference";
  EXPECT_EQ(refusal_of(model.bind(alex, 3, {"a", {}, false}, noon)),
            denied(Code::agent_invocation_denied, Reason::tool_class_owner_only));
  EXPECT_TRUE(model.import_session(alex, 0, {{}, "a", {}, 3, {}, noon, noon}, noon));
  EXPECT_TRUE(model.reset(alex, 1, {}, noon));
  EXPECT_EQ(model.broken(), std::vector<std::string>{});
}

} // namespace
} // namespace cleat::unit
