#include <caf/typed_event_based_actor.hpp>

#include "tests/actor/fixture.hpp"

/// Who waits for the logs is woken by what concerns it, and by time.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;

class Herald : public ActorTest {
public:
  static constexpr std::int64_t patience_ms = 1000;

  std::int64_t last_event() const {
    const auto events = tables->events();
    return events.empty() ? 0 : events.back().seq;
  }
  AwaitLog events_after(std::int64_t seq) { return {std::nullopt, seq, patience_ms}; }
  AwaitLog lines_after(std::int64_t seq, std::string session_id = "session") {
    return {std::nullopt, seq, patience_ms, std::move(session_id)};
  }
  void says(const std::string& session_id, std::int64_t through) {
    caf::anon_send(herald, actors::TranscriptMoved{session_id, through});
    run();
  }
  AwaitLog agent_events_after(const Principal& agent, std::int64_t seq) { return {agent.id, seq, patience_ms}; }
};

TEST_F(Herald, WakesWhoWaitsForAnEvent) {
  const auto waiting = await(events_after(last_event()));
  advance(100ms);
  EXPECT_FALSE(waiting->has_value()) << "nothing has happened";
  ask(bind(world.alex, world.threads[0], "ref"));
  advance(100ms);
  EXPECT_TRUE(waiting->has_value());
}

TEST_F(Herald, AnswersAtOnceWhatIsThereAlready) {
  ask(bind(world.alex, world.threads[0], "ref"));
  EXPECT_TRUE(await(events_after(0))->has_value());
}

TEST_F(Herald, TimeIsAnAnswerToo) {
  const auto waiting = await(events_after(last_event()));
  advance(900ms);
  EXPECT_FALSE(waiting->has_value());
  advance(200ms);
  EXPECT_TRUE(waiting->has_value());
}

TEST_F(Herald, WakesTheAgentConcernedOnly) {
  const auto lotse = await(agent_events_after(world.lotse, 0));
  const auto builder = await(agent_events_after(world.builder, 0));
  ask(trigger(world.alex, world.threads[0]));
  advance(100ms);
  EXPECT_TRUE(lotse->has_value());
  EXPECT_FALSE(builder->has_value());
  EXPECT_TRUE(await(agent_events_after(world.lotse, 0))->has_value()) << "what it has missed between two questions";
}

TEST_F(Herald, WakesWhoReadsTheSessionThatSpeaks) {
  const auto waiting = await(lines_after(3));
  const auto other = await(lines_after(3, "other"));
  says("session", 3);
  EXPECT_FALSE(waiting->has_value()) << "that line was read already";
  says("session", 4);
  ASSERT_TRUE(waiting->has_value());
  EXPECT_TRUE((*waiting)->moved);
  EXPECT_FALSE(other->has_value());
  EXPECT_TRUE(await(lines_after(3))->has_value()) << "what was said between two questions";
  EXPECT_FALSE(await(lines_after(4))->has_value());
}

TEST_F(Herald, WhoReadsATranscriptLooksNowAndThenAnyway) {
  const auto waiting = await(lines_after(3));
  advance(240ms);
  EXPECT_FALSE(waiting->has_value());
  advance(20ms);
  ASSERT_TRUE(waiting->has_value());
  EXPECT_TRUE((*waiting)->moved) << "another server may have written";
}

TEST_F(Herald, SweepsForThoseWhoCameInTurn) {
  const auto first = await(lines_after(0));
  advance(100ms);
  const auto second = await(lines_after(0, "other"));
  AwaitLog short_one = lines_after(0);
  short_one.patience_ms = 50;
  const auto third = await(short_one);
  advance(60ms);
  EXPECT_TRUE(third->has_value());
  EXPECT_FALSE(first->has_value());
  advance(100ms);
  EXPECT_TRUE(first->has_value());
  EXPECT_FALSE(second->has_value());
  advance(100ms);
  EXPECT_TRUE(second->has_value());
}

TEST_F(Herald, ReadersOfTranscriptsDoNotMakeItLookAtTheLogs) {
  const auto waiting = await(lines_after(0));
  tables->set_unavailable(true);
  ask(bind(world.alex, world.threads[0], "ref"));
  advance(300ms);
  EXPECT_TRUE(waiting->has_value());
  tables->set_unavailable(false);
  const auto event = await(events_after(last_event()));
  const auto line = await(lines_after(0));
  advance(300ms);
  EXPECT_TRUE(line->has_value());
  EXPECT_FALSE(event->has_value());
  ask(bind(world.alex, world.threads[1], "ref-2"));
  advance(100ms);
  EXPECT_TRUE(event->has_value());
}

TEST_F(Herald, WaitsOnThroughATroubledDatabase) {
  const auto waiting = await(events_after(last_event()));
  tables->set_unavailable(true);
  advance(100ms);
  EXPECT_FALSE(waiting->has_value());
  tables->set_unavailable(false);
  ask(bind(world.alex, world.threads[0], "ref"));
  advance(100ms);
  EXPECT_TRUE(waiting->has_value());
}

TEST_F(Herald, IsQuietWhenNobodyWaits) {
  const auto waiting = await(events_after(last_event()));
  advance(1100ms);
  ASSERT_TRUE(waiting->has_value());
  advance(1s);
  EXPECT_FALSE(await(events_after(last_event()))->has_value()) << "and begins again with the next one";
}

} // namespace
} // namespace cleat::test
