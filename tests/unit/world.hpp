#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "actors/rules/context.hpp"
#include "actors/rules/directory.hpp"
#include "actors/rules/session.hpp"
#include "protocol/facts.hpp"
#include "tests/unit/printing.hpp"

/// The small world in which rules are tried: a space with a channel, people with different rights, and agents.
namespace cleat::unit {

/// 2026-01-01T12:00:00Z, when everything happens unless a test says otherwise.
inline constexpr Timestamp noon{std::chrono::seconds{1'767'268'800}};

/// The id with this number; a higher number sorts later.
Id id_of(std::uint64_t number);

/// The ids of the tests are below this one, those that a rule asked for above.
inline constexpr std::uint64_t last_id_of_tests = 1'000'000;

/// Whether a rule took this id from its source.
inline bool is_new(const Id& id) {
  return id > id_of(last_id_of_tests);
}

/// Ids that sort behind every `id_of` of the tests, in the order in which they were asked for.
class CountingIds final : public IdSource {
public:
  Id next(Timestamp now) override;

private:
  std::uint64_t last_ = last_id_of_tests;
};

/// Everything a rule is given besides facts and command.
struct Call {
  explicit Call(const Principal& actor, Timestamp moment = noon);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// With an Idempotency-Key.
  Call& with_key();
  /// With `If-Match`.
  Call& if_match(std::int64_t version);

  RequestContext request;
  CountingIds ids;
  rules::RuleOptions options;
  /// With an open release gate.
  rules::RuleContext context;
};

/// People, agents and places. Members are copied and changed by tests at will.
struct World {
  World();

  Principal owner; ///< owns the instance and the space
  Principal alex;
  Principal sam;
  Principal robin;
  Principal app;
  Principal lotse;   ///< container tools, shared
  Principal builder; ///< host tools, shared
  Principal aide;    ///< container tools, on Alex's personal subscription
  Space space;
  Channel channel; ///< operated by Lotse

  /// Thread number `number` of the channel with its own operator, without a session.
  [[nodiscard]] ThreadFacts thread(std::uint64_t number, std::optional<Principal> agent) const;
  /// As above, operated by Lotse.
  [[nodiscard]] ThreadFacts thread(std::uint64_t number = 1) const { return thread(number, lotse); }
};

/// A current row with id number `number`, started, without cost.
AgentSession session_in(const ThreadFacts& facts, std::uint64_t number, std::string reference, Timestamp created_at);

/// Gives the thread a current session, as an owner would know it.
AgentSession give_current(ThreadFacts& facts, std::uint64_t number, std::string reference,
                          Timestamp created_at = noon - std::chrono::hours{1});

/// A refusal by its code and reason.
inline Refusal denied(Code code, Reason reason = Reason::none) {
  return {code, reason, {}, ""};
}

/// What an operation of provisioning comes to.
Result<rules::Step> decide(const DirectoryOperation& operation, const DirectoryFacts& facts, const Call& call,
                           const rules::Secret& secret = {});

/// The alternative that a step must be; a failure of the test and an empty one when it is another.
Decision decision_of(const Result<rules::Step>& step);
Reply reply_of(const Result<rules::Step>& step);
rules::ReadList list_of(const Result<rules::Step>& step);

/// The row of type `Write` that a decision writes; a failure of the test when there is not exactly one.
template <class Write>
Write only(const Decision& decision) {
  std::optional<Write> found;
  std::size_t count = 0;
  for (const RowWrite& write : decision.rows) {
    if (const auto* const row = std::get_if<Write>(&write)) {
      found = *row;
      ++count;
    }
  }
  EXPECT_EQ(count, 1U);
  return found.value_or(Write{});
}

} // namespace cleat::unit
