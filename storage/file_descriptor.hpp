#pragma once

#include <utility>

#include <unistd.h>

namespace cleat::storage {

/// Owns a file descriptor and closes it at the end of its life. -1 is none.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0)
      close(descriptor_);
  }

  /// The descriptor, which stays ours; -1 when there is none.
  [[nodiscard]] int get() const { return descriptor_; }
  /// Closes it now.
  void reset() { FileDescriptor().swap(*this); }
  /// Exchanges what two objects own.
  void swap(FileDescriptor& other) noexcept { std::swap(descriptor_, other.descriptor_); }
  [[nodiscard]] explicit operator bool() const { return descriptor_ >= 0; }

private:
  int descriptor_ = -1;
};

} // namespace cleat::storage
