#pragma once

#include "apps/cleatd/config.hpp"

namespace cleat::cleatd {

/// `cleatd check`: asks every invariant of the database that `config` leads to, changes nothing and prints what is
/// broken, as a table or as JSON. Answers the exit status: 0 for a sound database, 1 when something is broken, 2 when
/// it cannot be found out.
int check(const Config& config, bool json);

} // namespace cleat::cleatd
