#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cleat::cleatd {

/// What the text at the terminal says once the server is ready.
struct Announcement {
  std::string url;
  /// HOST:PORT for Runners.
  std::string runner;
  /// For people: which database, without user and password.
  std::string database;
  /// Empty when no token file opens this database.
  std::filesystem::path owner_token_file;
  /// The folder with `demo.tokens` and the thread to try things on, with --demo.
  std::filesystem::path data;
  std::optional<std::string> demo_thread_id;
  /// The certificate that clients are shown; empty without TLS.
  std::filesystem::path certificate = {};
};

/// The text, with lines for a shell that can be pasted as they stand when there is a demo world.
std::string text_of(const Announcement& announcement);

/// A word as a POSIX shell reads it back unchanged, in quotes only where it needs them.
std::string shell_word(const std::string& text);

} // namespace cleat::cleatd
