#pragma once

#include <string>

#include "apps/cleat-runner/event_loop.hpp"

namespace cleat::runner {

/// The folder that is one Runner's memory. It is locked as long as this object lives, so that no two Runners share a
/// journal.
class StateFolder {
public:
  /// Makes the folder where it is not there. Throws `std::runtime_error` when it cannot be used or is in use.
  explicit StateFolder(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string journal() const { return path_ + "/journal.db"; }
  /// The container's own folder in it, made where it is not there.
  [[nodiscard]] std::string of_container(const std::string& name) const;
  [[nodiscard]] std::string secrets_socket(const std::string& container) const;
  [[nodiscard]] std::string errors_file(const std::string& container) const;

  /// Writes the session body where the agent finds it, and makes it durable; answers the file's path.
  [[nodiscard]] std::string write_body(const std::string& container, const std::string& session_id,
                                       const std::string& body) const;
  /// Removes bodies of sessions that have ended.
  void remove_bodies(const std::string& container) const;

private:
  std::string path_;
  Descriptor lock_;
};

} // namespace cleat::runner
