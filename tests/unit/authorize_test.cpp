#include "actors/rules/authorize.hpp"

#include <gtest/gtest.h>

#include "actors/rules/session.hpp"
#include "tests/unit/world.hpp"

/// Who may switch sessions (spec 03 section 2), asked of the guard and of the operations that stand behind it.
namespace cleat::unit {
namespace {

using Denial = std::optional<Refusal>;

const Refusal no_agent = denied(Code::agent_invocation_denied, Reason::agent_not_reachable);
const Refusal no_human = denied(Code::agent_invocation_denied, Reason::actor_not_human);
const Refusal not_owner = denied(Code::agent_invocation_denied, Reason::tool_class_owner_only);
const Refusal not_holder = denied(Code::agent_invocation_denied, Reason::billing_mode_personal_not_holder);
const Refusal too_low = denied(Code::forbidden, Reason::level_insufficient);

/// Someone who wants to switch the session of a thread, and what they are told.
struct Wish {
  std::string about;
  Principal actor;
  Level level;
  ThreadFacts facts;
  Denial expected;
};

/// A thread with a current session, so that nothing but rights is in the way.
ThreadFacts ready(const World& world, std::optional<Principal> agent) {
  ThreadFacts facts = world.thread(1, std::move(agent));
  give_current(facts, 50, "r");
  return facts;
}

ThreadFacts in_mode(ThreadFacts facts, ChannelMode mode) {
  facts.channel.mode = mode;
  return facts;
}

Principal changed(Principal agent, bool enabled, bool reachable) {
  agent.agent->enabled = enabled;
  agent.agent->reachable = reachable;
  return agent;
}

std::vector<Wish> wishes(const World& w) {
  const ThreadFacts plain = ready(w, w.lotse);
  const ThreadFacts host = ready(w, w.builder);
  const ThreadFacts personal = ready(w, w.aide);
  ThreadFacts personal_host = personal;
  personal_host.operator_agent->agent->tool_class = ToolClass::host;
  return {
    {"the owner", w.owner, Level::manage, plain, {}},
    {"trigger is enough", w.alex, Level::trigger, plain, {}},
    {"write is too low", w.sam, Level::write, plain, too_low},
    {"read is too low", w.sam, Level::read, plain, too_low},
    {"no level hides the thread", w.robin, Level::none, plain, denied(Code::not_found)},
    {"a read-only channel", w.alex, Level::trigger, in_mode(plain, ChannelMode::read_only),
     denied(Code::channel_read_only)},
    {"an archived channel", w.alex, Level::trigger, in_mode(plain, ChannelMode::archived),
     denied(Code::channel_read_only)},
    {"host tools for another", w.alex, Level::manage, host, not_owner},
    {"host tools for the space's owner", w.owner, Level::manage, host, {}},
    {"a personal agent for another", w.sam, Level::trigger, personal, not_holder},
    {"a personal agent for the space's owner", w.owner, Level::manage, personal, not_holder},
    {"a personal agent for its holder", w.alex, Level::trigger, personal, {}},
    {"no operator", w.alex, Level::trigger, ready(w, std::nullopt), no_agent},
    {"a disabled operator", w.alex, Level::trigger, ready(w, changed(w.lotse, false, true)), no_agent},
    {"an operator out of reach", w.alex, Level::trigger, ready(w, changed(w.lotse, true, false)), no_agent},
    {"an operator that is no agent", w.alex, Level::trigger, ready(w, w.sam), no_agent},
    {"an agent as actor", w.lotse, Level::manage, plain, no_human},
    {"an app as actor", w.app, Level::manage, plain, no_human},
    // The first refusal is the reason.
    {"level before human", w.lotse, Level::read, plain, too_low},
    {"human before agent", w.app, Level::manage, ready(w, std::nullopt), no_human},
    {"agent before channel", w.alex, Level::trigger, in_mode(ready(w, std::nullopt), ChannelMode::archived), no_agent},
    {"channel before tools", w.alex, Level::trigger, in_mode(host, ChannelMode::read_only),
     denied(Code::channel_read_only)},
    {"tools before billing", w.sam, Level::trigger, personal_host, not_owner},
    {"billing after tools", w.owner, Level::trigger, personal_host, not_holder},
  };
}

TEST(Rules, TestAgentSessionResetRequirement) {
  const World world;
  for (const Wish& wish : wishes(world)) {
    SCOPED_TRACE(wish.about);
    const Call call(wish.actor);
    const auto result = rules::reset({wish.facts, wish.level},
                                     ResetSession{call.request, wish.facts.thread.id, ResetBody{}}, call.context);
    EXPECT_EQ(result ? Denial{} : result.error(), wish.expected);
  }
}

Result<Decision> bound(const ThreadFacts& facts, Level level, const std::optional<ReferenceFacts>& reference,
                       const Call& call) {
  BindBody body{"elsewhere", std::nullopt, true};
  if (facts.current)
    body.expected_current_session_id = facts.current->id;
  return rules::bind({facts, level}, reference, BindSession{call.request, facts.thread.id, body}, call.context);
}

TEST(Rules, TestAgentSessionBindRequirement) {
  const World world;
  for (const Wish& wish : wishes(world)) {
    SCOPED_TRACE(wish.about);
    const Call call(wish.actor);
    std::optional<ReferenceFacts> unknown;
    if (wish.facts.operator_agent)
      unknown = ReferenceFacts{wish.facts.operator_agent->id, "elsewhere", {}, {}, {}, {}};
    const auto result = bound(wish.facts, wish.level, unknown, call);
    EXPECT_EQ(result ? Denial{} : result.error(), wish.expected);
  }
}

/// What is known of a reference that is current in another thread.
ReferenceFacts current_in(const ThreadFacts& target, Level level) {
  ReferenceFacts reference{target.current->agent_id, target.current->external_session_ref, target.current,
                           target.current,           OtherThread{target, level},           OtherThread{target, level}};
  return reference;
}

TEST(Rules, TestAgentSessionBindTarget) {
  const World world;
  const ThreadFacts here = ready(world, world.lotse);
  ThreadFacts there = world.thread(2);
  give_current(there, 60, "elsewhere");
  const Call alex(world.alex);
  const auto told = [&](const ThreadFacts& target, Level level) {
    const auto result = bound(here, Level::trigger, current_in(target, level), alex);
    return result ? Denial{} : Denial{result.error()};
  };
  EXPECT_EQ(told(there, Level::none), denied(Code::not_found));
  EXPECT_EQ(told(there, Level::read), too_low);
  EXPECT_EQ(told(there, Level::write), too_low);
  EXPECT_EQ(told(there, Level::trigger), std::nullopt);
  EXPECT_EQ(told(in_mode(there, ChannelMode::read_only), Level::manage), denied(Code::channel_read_only));
  // The thread itself is asked first.
  EXPECT_EQ(refusal_of(bound(here, Level::read, current_in(there, Level::none), alex)), too_low);
}

TEST(Rules, TheGuardOfATargetIsAskedInTheTargetsSpace) {
  World world;
  ThreadFacts here = ready(world, world.builder);
  here.space.owner_id = world.alex.id;
  ThreadFacts there = world.thread(2, world.builder);
  there.space.id = id_of(39);
  give_current(there, 60, "elsewhere");
  const Call alex(world.alex);
  EXPECT_EQ(refusal_of(bound(here, Level::manage, current_in(there, Level::manage), alex)), not_owner);
  there.space.owner_id = world.alex.id;
  EXPECT_TRUE(bound(here, Level::manage, current_in(there, Level::manage), alex));
}

TEST(Authorize, LevelsHoldTheOnesBeforeThem) {
  const std::vector<Level> levels{Level::read, Level::write, Level::trigger, Level::manage};
  for (std::size_t needed = 0; needed < levels.size(); ++needed) {
    EXPECT_EQ(rules::require_level(Level::none, levels[needed]), denied(Code::not_found));
    for (std::size_t held = 0; held < levels.size(); ++held)
      EXPECT_EQ(rules::require_level(levels[held], levels[needed]), held < needed ? Denial{too_low} : Denial{});
  }
}

TEST(Authorize, TheInstanceHasOneOwner) {
  const World world;
  EXPECT_EQ(rules::require_instance_owner(world.owner), std::nullopt);
  EXPECT_EQ(rules::require_instance_owner(world.alex), denied(Code::forbidden, Reason::owner_required));
}

TEST(Authorize, DenialsAreRefusalsOfRights) {
  for (const Code code : {Code::forbidden, Code::channel_read_only, Code::agent_invocation_denied}) {
    EXPECT_TRUE(rules::is_denial({code}, true));
    EXPECT_TRUE(rules::is_denial({code}, false));
  }
  EXPECT_TRUE(rules::is_denial({Code::not_found}, true));
  EXPECT_FALSE(rules::is_denial({Code::not_found}, false)) << "what does not exist denies nothing";
  for (const Code code : {Code::conflict, Code::validation_failed, Code::malformed_json, Code::version_conflict,
                          Code::unauthorized, Code::invalid_cursor, Code::overloaded, Code::unavailable})
    EXPECT_FALSE(rules::is_denial({code}, true)) << to_string(code);
}

} // namespace
} // namespace cleat::unit
