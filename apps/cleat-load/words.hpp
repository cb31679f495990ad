#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// Numbers as people read them.
namespace cleat::load {

/// A number with its thousands set apart, for example `15,800`.
std::string grouped(std::int64_t number);

/// A duration with three significant digits or so, for example `870 us`, `6.7 ms`, `1.25 s`.
std::string short_time(std::chrono::microseconds time);

/// `part / whole` with two decimals, for example `0.95`; `-` when the whole is zero.
std::string ratio(std::int64_t part, std::int64_t whole);

} // namespace cleat::load
