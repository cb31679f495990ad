#pragma once

#include <vector>

#include "apps/cleatd/config.hpp"

namespace cleat::cleatd {

/// The keys of Runners, of the servers among each other, and of what is kept how long.
std::vector<Key> fleet_keys();

} // namespace cleat::cleatd
