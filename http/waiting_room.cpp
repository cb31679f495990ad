#include "http/waiting_room.hpp"

namespace cleat::http {

WaitingRoom::WaitingRoom(std::size_t seats, Metrics& metrics)
  : seats_(seats),
    gauge_(prometheus::BuildGauge()
             .Name("cleat_http_waiting")
             .Help("Long polls and streams that wait.")
             .Register(metrics.registry)
             .Add({})) {}

std::optional<WaitingRoom::Seat> WaitingRoom::enter() {
  if (taken_.fetch_add(1) >= seats_) {
    taken_.fetch_sub(1);
    return std::nullopt;
  }
  gauge_.Increment();
  return std::optional<Seat>(std::in_place, *this);
}

WaitingRoom::Seat::~Seat() {
  if (room_ == nullptr)
    return;
  room_->gauge_.Decrement();
  room_->taken_.fetch_sub(1);
}

} // namespace cleat::http
