#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/resources.hpp"

/// What rules decide on: rows as they were together at one moment in the database.
namespace cleat {

/// A thread with everything that its rights and its sessions depend on.
struct ThreadFacts {
  Thread thread;
  Channel channel;
  Space space;
  /// The one agent that works in the thread: its own, or for a main thread its channel's (spec 01).
  std::optional<Principal> operator_agent;
  /// The session that the next run continues.
  std::optional<AgentSession> current;
  /// The latest `created_at` of the thread's rows; a new row never sorts before it.
  std::optional<Timestamp> newest_session_at;

  bool operator==(const ThreadFacts&) const = default;
};

/// Another thread that a bind touches, and what the asking principal holds there.
struct OtherThread {
  ThreadFacts facts;
  Level level = Level::none;

  bool operator==(const OtherThread&) const = default;
};

/// Where an external session reference of an agent stands in the whole database.
struct ReferenceFacts {
  Id agent_id;
  std::string external_session_ref;
  /// The one current row of the reference, in any thread.
  std::optional<AgentSession> current;
  /// The newest row of the reference (`created_at`, then `id`), in any thread, current or not.
  std::optional<AgentSession> newest;
  /// The threads of `current` and `newest` where they are not the asking thread itself.
  std::optional<OtherThread> current_thread;
  std::optional<OtherThread> newest_thread;

  bool operator==(const ReferenceFacts&) const = default;
};

/// What provisioning decides on: the resources that a path names, as far as they exist, and the actor's level
/// on the deepest of them.
struct DirectoryFacts {
  std::optional<Space> space;
  std::optional<Channel> channel;
  std::optional<Thread> thread;
  Level level = Level::none;
  /// The principal that the path or the body names (grants, tokens, principals).
  std::optional<Principal> subject;
  /// The grant of `subject` on the deepest resource.
  std::optional<Grant> subject_grant;
  std::optional<Token> token;
  /// Agents that the body names as operator, or humans it names as holder, as far as they exist.
  std::optional<Principal> referred;

  bool operator==(const DirectoryFacts&) const = default;
};

} // namespace cleat
