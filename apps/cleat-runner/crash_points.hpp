#pragma once

namespace cleat::runner {

/// A place at which the Runner of the tests kills itself when CLEAT_RUNNER_CRASH_AT names it, or stands still there
/// once until SIGCONT when CLEAT_RUNNER_STOP_AT does. The product is built without: there this does nothing.
void crash_point(const char* name);

} // namespace cleat::runner
