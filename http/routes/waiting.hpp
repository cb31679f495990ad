#pragma once

#include <cstdint>

#include "http/log_tail.hpp"
#include "http/route.hpp"

/// What operations that wait, and logs that are read on and on, have in common.
namespace cleat::http {

/// No seat is left: the client comes back later, on another connection, so that this one's thread is free meanwhile.
Outgoing no_seat();

/// A page of a log.
Outgoing log_page(const LogItems& items);

/// The log of `waits_for` as a stream from `begin` on, for as long as it lasts and the seat with it. `read` may use
/// what lives as long as the connection.
Outgoing log_stream(WaitingCall& call, WaitingRoom::Seat seat, AwaitLog waits_for, LogTail::Read read,
                    std::int64_t begin);

} // namespace cleat::http
