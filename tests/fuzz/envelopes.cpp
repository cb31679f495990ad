#include <algorithm>

#include "protocol/runner_codec.hpp"
#include "tests/fuzz/property.hpp"

/// Envelopes in both directions, with every message that they may hold. The first byte says which direction.
namespace {

using cleat::fuzz::must;

void check_numbers(const cleat::wire::FromRunner& message) {
  must(message.dispatch >= 0, "no number of a dispatch is negative");
  if (const auto* relay = std::get_if<cleat::wire::Relay>(&message.report))
    must(std::ranges::all_of(relay->lines,
                             [](const auto& line) {
                               return line.seq >= 0 && line.time_us >= 0 && line.exit_code.value_or(0) >= 0 &&
                                      line.exit_code.value_or(0) <= 255;
                             }),
         "numbers of relayed lines are in their range");
  if (const auto* done = std::get_if<cleat::wire::InputDone>(&message.report))
    must(done->through >= 0, "no place in a transcript is negative");
}

void check_numbers(const cleat::wire::ToRunner& message) {
  must(message.dispatch >= 0, "no number of a dispatch is negative");
  if (const auto* enrolled = std::get_if<cleat::wire::Enrolled>(&message.command))
    must(enrolled->epoch >= 0 && enrolled->heartbeat_ms >= 0 && enrolled->timeout_ms >= 0 &&
           enrolled->reconnect_grace_ms >= 0 && enrolled->enrollment_revision >= 0,
         "numbers of an enrolment are in their range");
  if (const auto* part = std::get_if<cleat::wire::BodyPart>(&message.command))
    must(part->index >= 0, "no index of a part is negative");
}

/// What decodes is encoded to bytes that decode to the same, and only one way.
template <class Message, class Decode>
void check(const std::optional<Message>& message, Decode decode) {
  if (!message)
    return;
  check_numbers(*message);
  const auto bytes = cleat::wire::encode(*message);
  const auto again = decode(bytes);
  must(again == message, "a message that was encoded decodes to the same");
  must(cleat::wire::encode(*again) == bytes, "a message has one encoding");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = cleat::fuzz::text_of(data + 1, size - 1);
  if (data[0] % 2 == 0)
    check(cleat::wire::decode_from_runner(bytes), cleat::wire::decode_from_runner);
  else
    check(cleat::wire::decode_to_runner(bytes), cleat::wire::decode_to_runner);
  return 0;
}
