#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/metrics.hpp"

namespace cleat::http {

/// How many requests may wait for something to happen at the same time (`http.max_waiting`). Each holds a connection
/// and its thread, so the ones that wait must leave room for the ones that ask. Thread safe.
class WaitingRoom {
public:
  /// The right to wait, for as long as it lives.
  class Seat {
  public:
    explicit Seat(WaitingRoom& room) : room_(&room) {}
    Seat(Seat&& other) noexcept : room_(std::exchange(other.room_, nullptr)) {}
    Seat& operator=(Seat&& other) noexcept {
      std::swap(room_, other.room_);
      return *this;
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat();

  private:
    WaitingRoom* room_;
  };

  /// A room of that many seats, with a gauge of those that are taken.
  WaitingRoom(std::size_t seats, Metrics& metrics);

  /// Takes a seat; nothing when none is left.
  std::optional<Seat> enter();

private:
  const std::size_t seats_;
  std::atomic<std::size_t> taken_ = 0;
  prometheus::Gauge& gauge_;
};

} // namespace cleat::http
