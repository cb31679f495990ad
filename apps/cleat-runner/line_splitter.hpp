#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::runner {

/// The text with every byte that is no part of UTF-8, and every NUL, replaced by U+FFFD: what a transcript can hold.
std::string repaired_utf8(std::string_view bytes);

/// Cuts what an agent says into lines, without their line breaks. A line that grows over the limit is cut where a
/// character ends.
class LineSplitter {
public:
  explicit LineSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The lines that these bytes complete, repaired.
  std::vector<std::string> append(std::string_view bytes);

  /// What is left at the end, which has no line break: none or one line.
  std::vector<std::string> finish();

private:
  std::size_t max_bytes_;
  std::string rest_;
};

} // namespace cleat::runner
