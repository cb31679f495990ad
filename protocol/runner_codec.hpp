#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/runner_messages.hpp"

/// Messages between Runner and server as the bytes of their envelopes (`runner.proto`). Framing is `framing.hpp`'s.
namespace cleat::wire {

/// The envelope's bytes.
std::string encode(const ToRunner& message);
std::string encode(const FromRunner& message);

/// The message in an envelope; nothing for what is no envelope, has a command or an outcome that is not known, or
/// holds a number out of range. A missing result of a Runner is `monostate` and no error here (spec 04 section 8).
std::optional<ToRunner> decode_to_runner(std::string_view bytes);
std::optional<FromRunner> decode_from_runner(std::string_view bytes);

} // namespace cleat::wire
