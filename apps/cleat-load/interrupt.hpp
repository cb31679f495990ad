#pragma once

/// Ctrl-C and SIGTERM end a run in order: whatever it started is ended and removed on the way out.
namespace cleat::load {

/// From now on SIGINT and SIGTERM are remembered and do not end the process by themselves.
void remember_interrupts();

/// Throws `std::runtime_error` when one of them has come.
void throw_if_interrupted();

} // namespace cleat::load
