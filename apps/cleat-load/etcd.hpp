#pragma once

#include <chrono>
#include <vector>

#include "apps/cleat-load/connections.hpp"
#include "apps/cleat-load/database.hpp"
#include "apps/cleat-load/play.hpp"

namespace cleat::load {

/// Counts what the scenario `etcd` left in the etcd at `address`. Throws `std::runtime_error` when it cannot be asked.
std::vector<Comparison> compare_with_etcd(const Address& address, const World& world, const Tally& tally,
                                          std::chrono::seconds patience);

} // namespace cleat::load
