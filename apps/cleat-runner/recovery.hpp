#pragma once

#include "apps/cleat-runner/journal.hpp"
#include "apps/cleat-runner/relays.hpp"
#include "apps/cleat-runner/state_folder.hpp"

namespace cleat::runner {

/// After a crash of the Runner: ends whatever processes of its agents are left, and writes down what has become of the
/// operations that had not ended (spec 04 section 7). Throws `std::runtime_error` when a process cannot be ended.
void end_leftovers(Journal& journal, Relays& relays, const StateFolder& state, Timestamp now);

} // namespace cleat::runner
