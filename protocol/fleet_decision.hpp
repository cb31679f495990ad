#pragma once

#include <string>
#include <variant>
#include <vector>

#include "protocol/fleet.hpp"

/// The rows around Runners that a decision writes. Inserts have version 1. Updates carry the row as it shall be, its
/// version one higher than the one that must still be there; where it is not, the decision is stale. A unique index
/// that refuses an insert makes it a lost race.
namespace cleat::fleet {

/// Accounts.
struct InsertAccount {
  Account row;
  bool operator==(const InsertAccount&) const = default;
};
struct UpdateAccount {
  Account row;
  bool operator==(const UpdateAccount&) const = default;
};
/// Inserts or replaces a secret.
struct PutSecret {
  AccountSecret row;
  bool operator==(const PutSecret&) const = default;
};
/// Stale where there is no such secret.
struct DeleteSecret {
  Id account_id;
  std::string name;
  bool operator==(const DeleteSecret&) const = default;
};
struct InsertRunner {
  Runner row;
  bool operator==(const InsertRunner&) const = default;
};
struct UpdateRunner {
  Runner row;
  bool operator==(const UpdateRunner&) const = default;
};
struct InsertRunnerToken {
  RunnerToken row;
  bool operator==(const InsertRunnerToken&) const = default;
};
/// Stale where it is revoked already.
struct RevokeRunnerToken {
  Id id;
  Timestamp revoked_at;
  bool operator==(const RevokeRunnerToken&) const = default;
};
/// A new enrolment (spec 04 section 8): the Runner's row as it shall be; every attempt of the Runner becomes stale, its
/// live bindings suspended; each of its containers gets the attempt of `attempts` that names it and a version one
/// higher. Containers that no attempt names have none afterwards.
struct Enrol {
  Runner row;
  std::vector<ContainerAttempt> attempts;
  bool operator==(const Enrol&) const = default;
};
struct InsertContainer {
  Container row;
  bool operator==(const InsertContainer&) const = default;
};
/// Changes `attempt_id` and raises the version: every decision about a container has one.
struct UpdateContainer {
  Container row;
  bool operator==(const UpdateContainer&) const = default;
};
/// Removes a container of exactly this version, and marks its attempts stale.
struct DeleteContainer {
  std::string name;
  std::int64_t version = 0;
  bool operator==(const DeleteContainer&) const = default;
};
/// A new current attempt; the container's earlier ones become stale first.
struct InsertAttempt {
  ContainerAttempt row;
  bool operator==(const InsertAttempt&) const = default;
};
/// Marks the container's attempts stale and suspends its live binding.
struct EndAttempts {
  std::string container_name;
  bool operator==(const EndAttempts&) const = default;
};
struct InsertOperation {
  Operation row;
  bool operator==(const InsertOperation&) const = default;
};
struct UpdateOperation {
  Operation row;
  bool operator==(const UpdateOperation&) const = default;
};
struct InsertBinding {
  Binding row;
  bool operator==(const InsertBinding&) const = default;
};
struct UpdateBinding {
  Binding row;
  bool operator==(const UpdateBinding&) const = default;
};
/// Lines of one session, consecutive, behind the last one. Decided with an `UpdateBinding` that counts them.
struct AppendTranscript {
  std::vector<TranscriptLine> lines;
  bool operator==(const AppendTranscript&) const = default;
};
struct InsertOrphan {
  Orphan row;
  bool operator==(const InsertOrphan&) const = default;
};
struct UpdateOrphan {
  Orphan row;
  bool operator==(const UpdateOrphan&) const = default;
};

using Write = std::variant<InsertAccount, UpdateAccount, PutSecret, DeleteSecret, InsertRunner, UpdateRunner,
                           InsertRunnerToken, RevokeRunnerToken, Enrol, InsertContainer, UpdateContainer,
                           DeleteContainer, InsertAttempt, EndAttempts, InsertOperation, UpdateOperation, InsertBinding,
                           UpdateBinding, AppendTranscript, InsertOrphan, UpdateOrphan>;

} // namespace cleat::fleet
