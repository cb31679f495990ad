#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/decision.hpp"

namespace cleat::test {

/// A moment of a test's own calendar, in microseconds after its start.
Timestamp at(std::int64_t microseconds);

/// Ids that rise with every call, in the layout of UUIDv7.
class Ids final : public IdSource {
public:
  Id next(Timestamp now) override;
  Id next();

private:
  std::uint64_t count_ = 0;
};

/// A small world and the decisions that change it. Its rows are plain values: nothing is stored until a test
/// commits `provision()`.
struct World {
  Ids ids;
  Principal alex;    ///< the instance's owner and owner of the space
  Principal sam;     ///< a human without rights
  Principal lotse;   ///< the channel's operator
  Principal builder; ///< an agent that no channel knows
  Space space;
  Channel channel;
  Thread main;                 ///< the channel's main thread: the channel's operator works here
  std::vector<Thread> threads; ///< ordinary threads with Lotse as operator

  explicit World(std::size_t ordinary_threads = 4);

  /// Everything above as one decision.
  [[nodiscard]] Decision provision() const;

  /// A current session of Lotse.
  AgentSession session(const Thread& thread, std::string reference, Timestamp created_at = at(1000));
  /// An imported row of Lotse.
  AgentSession imported(const Thread& thread, std::string reference, Timestamp created_at = at(1000));

  /// A decision that makes `row` current, ends what is in `ends`, and writes events as bind does.
  Decision bind(const AgentSession& row, const std::vector<AgentSession>& ends = {});
  /// A decision that ends `row` as reset does.
  Decision reset(const AgentSession& row);
  /// A decision of nothing but one write.
  static Decision only(RowWrite write);

  Event event(std::string type, const Id& thread_id, std::string payload = "{}");
  AuditEntry audit(std::string action, const Id& resource_id);
  AuditEntry denial(const Principal& actor, std::string action, std::string reason, Timestamp time);
  /// A record of an answer with this key, `number` making the fingerprint.
  static IdempotencyRecord record(const Principal& principal, std::string key, std::uint8_t number = 0);
};

/// The row as it is after `end`.
AgentSession ended(AgentSession row, const EndSession& end);
/// What ends `row`.
EndSession end_of(const AgentSession& row, EndReason reason, Timestamp time = at(2000));

/// A grant on a resource of the space.
Grant grant_on(ScopeKind scope, const Id& resource, const Space& space, const Principal& principal, Level level);

/// A token of a principal whose digest is made from `secret`.
Token token_of(const Id& id, const Principal& principal, std::string_view secret);

} // namespace cleat::test
