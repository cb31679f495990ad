#pragma once

namespace cleat::runner {

/// What the process answers to whoever started it.
namespace exit_status {
inline constexpr int drained = 0;
inline constexpr int cannot_run = 1;
inline constexpr int wrong_configuration = 2;
inline constexpr int unauthorized = 3;
inline constexpr int superseded = 4;
} // namespace exit_status

} // namespace cleat::runner
