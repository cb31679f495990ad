#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "storage/file_descriptor.hpp"

namespace cleat::storage {

/// The folder in which one `cleatd` keeps what must outlive it: the embedded PostgreSQL, the owner's token and the
/// addresses it listens on. Who has this object is the only `cleatd` on the folder, because it holds a lock on
/// `cleatd.lock` that the kernel takes back however the process ends.
class DataFolder {
public:
  /// Makes the folder where it is missing (mode 0700) and locks it. Throws `std::runtime_error` with a
  /// sentence for the person at the terminal when another `cleatd` uses the folder or it cannot be written.
  explicit DataFolder(const std::filesystem::path& folder);

  /// The folder, absolute.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// The whole file `name` inside the folder; `nullopt` when there is none. Throws `std::system_error` when there
  /// is one that cannot be read.
  [[nodiscard]] std::optional<std::string> read(std::string_view name) const;

  /// Writes the file `name` inside the folder with mode 0600, so that after a crash at any moment it holds either its
  /// old or its new content, and is durable once this returns. Throws `std::system_error`.
  void write(std::string_view name, std::string_view content) const;

  /// Removes the file `name`; nothing happens when there is none. Durable once this returns.
  void remove(std::string_view name) const;

  /// Makes the names in the folder durable after a rename or a removal. Throws `std::system_error`.
  void sync() const;

private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

} // namespace cleat::storage
