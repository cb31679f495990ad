#pragma once

#include "tests/unit/world.hpp"

/// Accounts, Runners and containers for the tests of their provisioning.
namespace cleat::unit {

/// Sam acts for the account; the Runner has never enrolled.
struct FleetWorld : World {
  FleetWorld() {
    account = {id_of(201), "Example", sam.id, noon, 4};
    runner.id = id_of(202);
    runner.name = "Host";
    runner.created_at = noon;
    runner.version = 6;
    container = {id_of(203), "box", account.id, runner.id, {}, noon, 2};
    secret = {account.id, "API_KEY", "sealed", noon};
    token = {id_of(204), runner.id, "host", {}, noon, {}, {}};
  }

  /// Everything that a path may name.
  [[nodiscard]] DirectoryFacts all() const {
    DirectoryFacts facts;
    facts.account = account;
    facts.runner = runner;
    facts.container = container;
    facts.secret = secret;
    facts.runner_token = token;
    facts.referred = alex;
    return facts;
  }

  Account account;
  Runner runner;
  Container container;
  AccountSecret secret;
  RunnerToken token;
};

} // namespace cleat::unit
