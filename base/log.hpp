#pragma once

#include <memory>
#include <string>

#include <spdlog/spdlog.h>

namespace cleat::log {

/// How lines look: `text` for people at a terminal, `json` for machines, one object a line (spec 06 section 4).
enum class Format { automatic, text, json };

/// Sets up the process's log on standard error. `automatic` is text on a terminal and JSON otherwise. `level` is
/// one of trace, debug, info, warn, error. Throws `std::invalid_argument` for another word.
void init(Format format, const std::string& level);

/// The process's logger; usable before `init` as well. Never log a token, a reference or a transcript.
spdlog::logger& get();

} // namespace cleat::log
