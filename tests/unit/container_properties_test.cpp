/// What must hold for every report and every state of a container (spec 04 sections 1, 4 and 8).
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/unit/container_world.hpp"

namespace cleat::unit {
namespace {

using namespace rules::container;

/// One of a few texts, so that matches and mismatches are both likely.
std::string some_text(const std::vector<std::string>& likely) {
  return *rc::gen::elementOf(likely);
}

/// A container in any state, with an operation that a report may be about.
ContainerWorld some_world() {
  ContainerWorld world;
  const auto kind = *rc::gen::element(OperationKind::fresh, OperationKind::resume, OperationKind::stop);
  Operation operation = world.operation(kind);
  operation.state = *rc::gen::element(OperationState::reserved, OperationState::dispatched, OperationState::promoted,
                                      OperationState::failed);
  operation.dispatch = *rc::gen::inRange(1, 4);
  operation.reconciling = *rc::gen::arbitrary<bool>();
  if (*rc::gen::inRange(0, 6) == 0)
    operation.actor_id = world.sam.id;
  if (*rc::gen::inRange(0, 6) == 0)
    operation.runner_id = id_of(99);
  if (*rc::gen::inRange(0, 6) == 0)
    operation.container_name = "other";
  world.facts.operation = operation;
  if (operation.in_flight())
    world.facts.open = {operation};
  if (*rc::gen::inRange(0, 4) == 0)
    world.facts.container->attempt_id = *rc::gen::element(std::optional<Id>(), std::optional<Id>(id_of(98)));
  if (*rc::gen::inRange(0, 4) == 0)
    world.facts.account->actor_id = *rc::gen::element(std::optional<Id>(), std::optional<Id>(world.sam.id));
  if (*rc::gen::arbitrary<bool>()) {
    world.facts.binding =
      world.binding(*rc::gen::element(BindingState::live, BindingState::suspended, BindingState::released));
    if (world.facts.binding->state == BindingState::live && *rc::gen::arbitrary<bool>())
      world.facts.live = world.facts.binding;
  }
  return world;
}

wire::Started some_start(const ContainerWorld& world) {
  const std::vector<std::string> ids{world.facts.operation->subject(), world.session_id, std::string(64, 'f'), ""};
  return {some_text(ids), some_text(ids), some_text(ids)};
}

wire::Report some_outcome(const ContainerWorld& world) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return wire::Failed{*rc::gen::arbitrary<bool>(), some_text({"start_failed", "", "Bad Code"}), ""};
    case 1:
      return wire::Stopped{some_text({world.session_id, std::string(64, 'f'), ""})};
    case 2:
      return std::monostate();
    default:
      return some_start(world);
  }
}

wire::Report some_report(const ContainerWorld& world) {
  using wire::AckOutcome;
  using wire::StatusKind;
  const int which = *rc::gen::inRange(0, 4);
  if (which == 0)
    return wire::Acknowledged{
      *rc::gen::element(AckOutcome::accepted, AckOutcome::already_running, AckOutcome::rejected)};
  if (which > 1)
    return some_outcome(world);
  wire::Status status;
  status.kind = *rc::gen::element(StatusKind::live, StatusKind::no_such_operation, StatusKind::terminal_outcome,
                                  StatusKind::ambiguous);
  const wire::Report outcome = some_outcome(world);
  if (const auto* const started = std::get_if<wire::Started>(&outcome))
    status.outcome = *started;
  else if (const auto* const failed = std::get_if<wire::Failed>(&outcome))
    status.outcome = *failed;
  else if (const auto* const stopped = std::get_if<wire::Stopped>(&outcome))
    status.outcome = *stopped;
  return status;
}

RunnerSays some_saying(const ContainerWorld& world) {
  return world.says(some_report(world), [&](RunnerSays& says, wire::FromRunner& message) {
    message.operation_id = some_text({message.operation_id, message.operation_id, "", "other"});
    message.container_attempt_id = some_text({message.container_attempt_id, message.container_attempt_id, "", "other"});
    message.dispatch = *rc::gen::inRange(0, 4);
    says.epoch += *rc::gen::element(0, 0, 0, -1, 1);
    says.enrollment_revision += *rc::gen::element(0, 0, 0, -1);
  });
}

/// Whether the report carries the exact echoes of the operation.
bool is_exact(const ContainerWorld& world, const RunnerSays& says) {
  return says.message->operation_id == world.facts.operation->id.str() &&
         says.message->container_attempt_id == world.facts.operation->container_attempt_id.str();
}

const wire::Started* start_in(const wire::Report& report) {
  if (const auto* const started = std::get_if<wire::Started>(&report))
    return started;
  const auto* const status = std::get_if<wire::Status>(&report);
  return status ? std::get_if<wire::Started>(&status->outcome) : nullptr;
}

bool makes_live(const Decision& decision) {
  const auto updates = writes<fleet::UpdateBinding>(decision);
  return !writes<fleet::InsertBinding>(decision).empty() ||
         std::ranges::any_of(updates, [](const auto& update) { return update.row.state == BindingState::live; });
}

TEST(ContainerProperties, NothingBecomesLiveWithoutExactEchoesOfTheCurrentAttempt) {
  EXPECT_TRUE(rc::check([] {
    ContainerWorld world = some_world();
    const RunnerSays says = some_saying(world);
    const Consequence consequence = report(world.facts, says, world.context());
    if (!consequence.decision || !makes_live(*consequence.decision))
      return;
    const Operation& operation = *world.facts.operation;
    const wire::Started* const started = start_in(says.message->report);
    RC_ASSERT(started != nullptr);
    RC_ASSERT(is_exact(world, says));
    RC_ASSERT(operation.in_flight() && operation.kind != OperationKind::stop);
    RC_ASSERT(started->session_id == operation.subject());
    RC_ASSERT((operation.kind == OperationKind::fresh ? started->fresh_session_id : started->resume_session_id) ==
              operation.subject());
    RC_ASSERT(world.facts.container->attempt_id == operation.container_attempt_id);
    RC_ASSERT(world.facts.account->actor_id == operation.actor_id);
    RC_ASSERT(operation.runner_id == says.runner_id);
    RC_ASSERT(says.epoch == world.facts.runner->epoch);
    RC_ASSERT(says.enrollment_revision == world.facts.runner->enrollment_revision);
    RC_ASSERT(!world.facts.live);
  }));
}

TEST(ContainerProperties, AStopNamesWhatWasRecordedAndNeverWhatWasReported) {
  EXPECT_TRUE(rc::check([] {
    ContainerWorld world = some_world();
    const RunnerSays says = some_saying(world);
    const Consequence consequence = report(world.facts, says, world.context());
    for (const wire::ToRunner& message : consequence.tell) {
      const auto& stop = std::get<wire::Stop>(message.command);
      RC_ASSERT(is_exact(world, says));
      RC_ASSERT(stop.session_id == world.facts.operation->subject());
      RC_ASSERT(stop.container_attempt_id == world.facts.container->attempt_id->str());
      RC_ASSERT(stop.container_name == world.facts.operation->container_name);
      RC_ASSERT(writes<fleet::InsertOperation>(*consequence.decision).size() == 1U);
      RC_ASSERT(writes<fleet::UpdateOperation>(*consequence.decision).front().row.cleanup == Cleanup::claimed);
    }
  }));
}

TEST(ContainerProperties, EveryDecisionRaisesTheContainersVersionAndTheOperationsOnce) {
  EXPECT_TRUE(rc::check([] {
    ContainerWorld world = some_world();
    const Consequence consequence = report(world.facts, some_saying(world), world.context());
    if (!consequence.decision)
      return;
    const auto containers = writes<fleet::UpdateContainer>(*consequence.decision);
    RC_ASSERT(containers.size() == 1U);
    RC_ASSERT(containers.front().row.version == world.facts.container->version + 1);
    const auto operations = writes<fleet::UpdateOperation>(*consequence.decision);
    RC_ASSERT(operations.size() == 1U);
    RC_ASSERT(operations.front().row.version == world.facts.operation->version + 1);
    RC_ASSERT(world.facts.operation->in_flight());
  }));
}

TEST(ContainerProperties, IdsAreNeverChanged) {
  EXPECT_TRUE(rc::check([] {
    ContainerWorld world = some_world();
    const Operation& before = *world.facts.operation;
    const Consequence consequence = report(world.facts, some_saying(world), world.context());
    if (!consequence.decision)
      return;
    for (const auto& [row] : writes<fleet::UpdateOperation>(*consequence.decision)) {
      RC_ASSERT(row.id == before.id && row.relay_request_id == before.relay_request_id);
      RC_ASSERT(row.fresh_session_id == before.fresh_session_id && row.resume_session_id == before.resume_session_id);
      RC_ASSERT(row.account_id == before.account_id && row.actor_id == before.actor_id);
      RC_ASSERT(row.runner_id == before.runner_id && row.container_name == before.container_name);
      RC_ASSERT(row.container_attempt_id == before.container_attempt_id && row.dispatch == before.dispatch);
      RC_ASSERT(!row.session_id || row.session_id == before.subject());
      RC_ASSERT((row.state == OperationState::promoted) == row.session_id.has_value());
      RC_ASSERT((row.state == OperationState::failed) == row.failure.has_value());
    }
  }));
}

TEST(ContainerProperties, ATranscriptHasNoGapAndNoDouble) {
  EXPECT_TRUE(rc::check([](const std::vector<std::vector<std::uint8_t>>& batches) {
    ContainerWorld world;
    world.live();
    world.facts.operation = world.operation();
    world.facts.operation->state = OperationState::promoted;
    world.facts.binding->relayed_through = 0;
    world.facts.binding->transcript_through = 0;
    std::vector<TranscriptLine> transcript;
    for (const auto& batch : batches) {
      wire::Relay said{world.session_id, {}};
      for (const std::uint8_t seq : batch)
        said.lines.push_back({seq % 12, 0, "line " + std::to_string(seq % 12)});
      const Consequence heard = relay(world.facts, world.says(said), world.context());
      RC_ASSERT(heard.tell.size() == 1U);
      if (!heard.decision)
        continue;
      const auto appended = writes<fleet::AppendTranscript>(*heard.decision).front().lines;
      transcript.insert(transcript.end(), appended.begin(), appended.end());
      world.facts.binding = writes<fleet::UpdateBinding>(*heard.decision).front().row;
    }
    for (std::size_t i = 0; i < transcript.size(); ++i) {
      RC_ASSERT(transcript[i].seq == static_cast<std::int64_t>(i) + 1);
      RC_ASSERT(transcript[i].line == "line " + std::to_string(i + 1));
    }
  }));
}

} // namespace
} // namespace cleat::unit
