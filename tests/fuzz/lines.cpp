#include <algorithm>
#include <string>
#include <vector>

#include "apps/cleat-runner/line_splitter.hpp"
#include "protocol/validate.hpp"
#include "tests/fuzz/property.hpp"

/// What an agent writes to its standard output, in pieces. The first two bytes of an input are the longest line and the
/// way of cutting.
namespace cleat::fuzz {
namespace {

using Lines = std::vector<std::string>;

void add(Lines& lines, Lines more) {
  std::ranges::move(more, std::back_inserter(lines));
}

Lines split_whole(std::string_view output, std::size_t max_bytes) {
  runner::LineSplitter splitter(max_bytes);
  auto lines = splitter.append(output);
  add(lines, splitter.finish());
  must(splitter.finish().empty(), "nothing is left behind the end");
  return lines;
}

Lines split_pieces(std::string_view output, std::size_t max_bytes, std::uint32_t cut) {
  runner::LineSplitter splitter(max_bytes);
  Lines lines;
  in_pieces(output, cut, [&](std::string_view piece) { add(lines, splitter.append(piece)); });
  add(lines, splitter.finish());
  return lines;
}

/// Every line of the output must be there, in order, whole or in pieces that are whole together.
void check_nothing_lost(std::string_view output, const Lines& lines) {
  std::size_t next = 0;
  while (!output.empty()) {
    const auto expected = runner::repaired_utf8(take_line(output));
    std::string found;
    do {
      must(next < lines.size(), "every line arrives");
      found += lines[next++];
    } while (found.size() < expected.size());
    must(found == expected, "a line arrives as it was said");
  }
  must(next == lines.size(), "no line is invented");
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  if (size < 2)
    return 0;
  // Shorter limits than a character is long are of no use to anybody.
  const std::size_t max_bytes = 4 + data[0];
  const auto output = fuzz::text_of(data + 2, size - 2);
  const auto lines = fuzz::split_whole(output, max_bytes);
  fuzz::must(fuzz::split_pieces(output, max_bytes, data[1]) == lines, "pieces of an output are split like the whole");
  for (const auto& line : lines) {
    fuzz::must(line.find('\n') == std::string::npos && line.find('\0') == std::string::npos,
               "a line holds neither a line break nor NUL");
    fuzz::must(validate::valid_utf8(line), "a line is UTF-8");
    fuzz::must(line.size() <= max_bytes * 3, "a line is as long as it may be");
  }
  fuzz::check_nothing_lost(output, lines);
  return 0;
}
