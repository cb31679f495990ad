#pragma once

#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/property.hpp"

namespace cleat::fuzz {

/// A file in memory, for code that reads files by name.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view text) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    must(descriptor_ >= 0 && ::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
         "there is a file for the input");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// The name under which it can be opened.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

} // namespace cleat::fuzz
