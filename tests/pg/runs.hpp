#pragma once

#include <string>

#include "tests/pg/world.hpp"

/// Runs of the small world and the decisions that change them.
namespace cleat::test {

/// A message of Alex.
Message message_in(World& world, const Thread& thread, std::string content = "Please help");

/// Version 1 of a run of Lotse that Alex triggered by `message`, with the columns that its state demands. Its lease
/// ends, and it was queued, at a moment of the test's calendar, which is long ago for every other clock.
Run run_in(World& world, const Message& message, RunState state = RunState::queued);

/// The next version of the run, in this state; what the state demands is there, what it forbids is not.
Run moved(Run row, RunState state, Timestamp time = at(3000));

/// What moves `before` to `after`.
UpdateRun update_of(const Run& before, const Run& after);

/// A decision that writes the message and the run, with an event and what the agent is told, in turn `turn`.
Decision trigger(World& world, const Message& message, const Run& run, std::int64_t turn);

/// A decision that moves a run, in turn `turn`.
Decision move(World& world, const Run& before, const Run& after, std::int64_t turn);

/// What an agent is told.
AgentEvent told(const Principal& agent, std::string payload = "{}");

} // namespace cleat::test
