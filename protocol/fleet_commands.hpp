#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/problem.hpp"
#include "protocol/pages.hpp"

/// What is asked for around Runners: bodies and operations of provisioning (spec 05 "Surface"). What callers ask of
/// containers and sessions stands in `session_commands.hpp`.
namespace cleat {

/// An account, a Runner or a label to create.
struct NameBody {
  std::string name;
};
/// Who acts for an account from now on.
struct SubscriberBody {
  Id principal_id;
};
/// A secret's value; sealed before it is stored.
struct SecretBody {
  std::string value;
};
/// A token of a Runner to create.
struct RunnerTokenBody {
  std::string label;
  std::optional<Timestamp> expires_at;
};
/// A container to create.
struct ContainerBody {
  std::string name;
  Id account_id;
  Id runner_id;
};

namespace op {
/// The operations on accounts, their secrets, Runners, containers and diagnostics (spec 05 "Surface").
struct CreateAccount {
  Result<NameBody> body;
};
struct ListAccounts {
  Result<PageRange> range;
};
struct PutSubscriber {
  Id account_id;
  Result<SubscriberBody> body;
};
struct PutAccountSecret {
  Id account_id;
  std::string name;
  Result<SecretBody> body;
};
/// One name, without its value.
struct GetAccountSecret {
  Id account_id;
  std::string name;
};
/// All names, without values.
struct ListAccountSecrets {
  Id account_id;
};
struct DeleteAccountSecret {
  Id account_id;
  std::string name;
};
struct CreateRunner {
  Result<NameBody> body;
};
struct ListRunners {
  Result<PageRange> range;
};
struct CreateRunnerToken {
  Id runner_id;
  Result<RunnerTokenBody> body;
};
struct ListRunnerTokens {
  Id runner_id;
  Result<PageRange> range;
};
struct RevokeRunnerToken {
  Id runner_id;
  Id token_id;
};
struct CreateContainer {
  Result<ContainerBody> body;
};
struct ListContainers {
  Result<PageRange> range;
};
struct GetContainer {
  std::string name;
};
struct ListOrphans {
  /// `range` included.
  Result<OrphansPage> query;
};
} // namespace op

} // namespace cleat
