#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "protocol/runner_codec.hpp"
#include "tests/fuzz/property.hpp"

/// What comes out of a socket of a Runner or of a server, in pieces of any length. The first two bytes of an input are
/// the limit of a frame and the way of cutting.
namespace cleat::fuzz {
namespace {

/// What a reader of a socket has seen.
struct Seen {
  std::vector<std::string> envelopes;
  bool broken = false;

  bool operator==(const Seen&) const = default;
};

void read_all(wire::Deframer& deframer, Seen& seen) {
  while (auto envelope = deframer.next())
    seen.envelopes.push_back(std::move(*envelope));
  seen.broken = deframer.broken();
}

Seen read_pieces(std::string_view stream, std::size_t max_bytes, std::uint32_t cut) {
  wire::Deframer deframer(max_bytes);
  Seen seen;
  in_pieces(stream, cut, [&](std::string_view piece) {
    deframer.append(piece);
    read_all(deframer, seen);
  });
  return seen;
}

Seen read_whole(std::string_view stream, std::size_t max_bytes) {
  wire::Deframer deframer(max_bytes);
  Seen seen;
  deframer.append(stream);
  read_all(deframer, seen);
  return seen;
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  if (size < 2)
    return 0;
  const std::size_t max_bytes = std::size_t{1} << (data[0] % 21U);
  const auto stream = fuzz::text_of(data + 2, size - 2);
  const auto whole = fuzz::read_whole(stream, max_bytes);
  fuzz::must(fuzz::read_pieces(stream, max_bytes, data[1]) == whole,
             "pieces of a stream are read like the whole of it");

  std::string framed;
  for (const auto& envelope : whole.envelopes) {
    fuzz::must(!envelope.empty() && envelope.size() <= max_bytes, "an envelope is not empty and within the limit");
    framed += wire::frame(envelope);
    // Both directions, because whoever connects may say anything.
    static_cast<void>(wire::decode_from_runner(envelope));
    static_cast<void>(wire::decode_to_runner(envelope));
  }
  fuzz::must(stream.starts_with(framed), "what was read is what was sent, in order and without gaps");
  const auto rest = stream.size() - framed.size();
  fuzz::must(whole.broken || rest < max_bytes + 4, "a frame that is complete is not held back");
  return 0;
}
