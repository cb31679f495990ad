#include "protocol/runner_codec.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cleat::wire {
namespace {

// The bytes of protobuf's wire format, written and read here without the library that is tested.

using Bytes = std::string;

Bytes varint(std::uint64_t number) {
  Bytes bytes;
  for (; number >= 0x80; number >>= 7)
    bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

Bytes number_field(std::uint64_t tag, std::int64_t number) {
  return varint(tag << 3) + varint(static_cast<std::uint64_t>(number));
}

Bytes text_field(std::uint64_t tag, const Bytes& text) {
  return varint(tag << 3 | 2) + varint(text.size()) + text;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80)
      break;
  }
  return number;
}

/// The fields of a message by tag, numbers in decimal.
std::map<std::uint64_t, Bytes> fields_of(std::string_view bytes) {
  std::map<std::uint64_t, Bytes> fields;
  while (!bytes.empty()) {
    const auto key = take_varint(bytes);
    const auto number = take_varint(bytes);
    if ((key & 7) == 0) {
      fields[key >> 3] = std::to_string(number);
    } else {
      fields[key >> 3] = bytes.substr(0, number);
      bytes.remove_prefix(std::min<std::size_t>(number, bytes.size()));
    }
  }
  return fields;
}

const std::string operation = "0190a000-0000-7000-8000-000000000001";
const std::string attempt = "0190a000-0000-7000-8000-000000000002";
const std::string fresh(64, 'f');
const std::string any_bytes("\0\xff\x80 line", 8);

std::vector<Command> commands() {
  return {Enrolled{3, 7, "secret", true, {{"one", attempt}, {"closed", ""}}, 5000, 20'000, 60'000},
          Enrolled{},
          EnrolmentRefused{"enrol_anew", "the grace is over"},
          Start{"one", "", 0},
          Start{"one", fresh, 2},
          BodyPart{1, any_bytes},
          Stop{"one", fresh, attempt},
          AskStatus{"one", operation},
          IssueAttempt{"one", attempt},
          Input{fresh, 4, any_bytes},
          RelayDone{fresh, 9},
          SecretAnswer{true, any_bytes},
          SecretAnswer{false, ""},
          Heartbeat{}};
}

std::vector<Report> reports() {
  const Started started{fresh, fresh, ""};
  return {std::monostate{},
          AskEnrolment{"token", "secret", operation, "0.1.0"},
          Acknowledged{AckOutcome::accepted},
          Acknowledged{AckOutcome::already_running},
          Acknowledged{AckOutcome::rejected},
          started,
          Started{fresh, "", fresh},
          Started{},
          Failed{true, "start_failed", "no such file"},
          Failed{false, "stale_attempt", ""},
          Stopped{fresh},
          Status{StatusKind::live, started},
          Status{StatusKind::no_such_operation, {}},
          Status{StatusKind::terminal_outcome, Failed{true, "x", "y"}},
          Status{StatusKind::terminal_outcome, Stopped{fresh}},
          Status{StatusKind::ambiguous, {}},
          Relay{fresh, {{1, 1'700'000'000'000'000, any_bytes, {}}, {2, 0, "", 0}, {3, 1, "", 255}}},
          InputDone{fresh, 4},
          AskSecret{fresh, "API_KEY"},
          AttemptIssued{"one", attempt},
          Heartbeat{}};
}

TEST(RunnerCodec, EveryCommandComesBackAsItWas) {
  for (const auto& command : commands()) {
    const ToRunner message{"request", operation, fresh, attempt, 2, command};
    EXPECT_EQ(decode_to_runner(encode(message)), message) << "command " << command.index();
    const ToRunner bare{"", "", "", "", 0, command};
    EXPECT_EQ(decode_to_runner(encode(bare)), bare) << "command " << command.index();
  }
}

TEST(RunnerCodec, EveryReportComesBackAsItWas) {
  for (const auto& report : reports()) {
    const FromRunner message{"request", operation, attempt, 2, report};
    EXPECT_EQ(decode_from_runner(encode(message)), message) << "report " << report.index();
    const FromRunner bare{"", "", "", 0, report};
    EXPECT_EQ(decode_from_runner(encode(bare)), bare) << "report " << report.index();
  }
}

TEST(RunnerCodec, EnvelopesOfTheServerHaveTheTagsOfTheSpecification) {
  auto fields = fields_of(encode(ToRunner{"request", operation, fresh, attempt, 5, Start{"one", "", 0}}));
  EXPECT_EQ(fields[1], "request");
  EXPECT_EQ(fields[14], operation);
  EXPECT_EQ(fields[15], fresh);
  EXPECT_EQ(fields[16], attempt);
  EXPECT_EQ(fields[17], "5");
  EXPECT_EQ(fields.size(), 6U);
  for (const auto& command : commands())
    for (const auto& [tag, value] : fields_of(encode(ToRunner{"", "", "", "", 0, command})))
      EXPECT_TRUE(tag >= 2 && tag <= 13) << tag;
}

TEST(RunnerCodec, EnvelopesOfARunnerHaveTheTagsOfTheSpecification) {
  auto fields = fields_of(encode(FromRunner{"request", operation, attempt, 5, Stopped{fresh}}));
  EXPECT_EQ(fields[1], "request");
  EXPECT_EQ(fields[9], operation);
  EXPECT_EQ(fields[10], attempt);
  EXPECT_EQ(fields[11], "5");
  EXPECT_EQ(fields.size(), 5U);
  for (const auto& report : reports())
    for (const auto& [tag, value] : fields_of(encode(FromRunner{"", "", "", 0, report})))
      EXPECT_TRUE(tag >= 2 && tag <= 8) << tag;
}

TEST(RunnerCodec, StartResponseAndStopRequestHaveTheTagsOfTheSpecification) {
  auto response = fields_of(fields_of(encode(FromRunner{"", "", "", 0, Started{"a", "b", "c"}}))[4]);
  EXPECT_EQ(response, (std::map<std::uint64_t, Bytes>{{1, "a"}, {2, "b"}, {3, "c"}}));
  auto stop = fields_of(fields_of(encode(ToRunner{"", "", "", "", 0, Stop{"one", fresh, attempt}}))[6]);
  EXPECT_EQ(stop[1], fresh);
  EXPECT_EQ(stop[2], attempt);
}

TEST(RunnerCodec, AnEnvelopeWithoutAKnownCommandIsNone) {
  EXPECT_FALSE(decode_to_runner(""));
  EXPECT_FALSE(decode_to_runner(text_field(1, "request")));
  EXPECT_FALSE(decode_to_runner(text_field(13, "")));
  EXPECT_TRUE(decode_to_runner(text_field(12, "")));
}

TEST(RunnerCodec, AMissingResultIsNoErrorAndAnUnknownOutcomeIsOne) {
  EXPECT_EQ(decode_from_runner(text_field(9, operation)), (FromRunner{"", operation, "", 0, {}}));
  EXPECT_FALSE(decode_from_runner(text_field(3, "")));                  // an acknowledgement without outcome
  EXPECT_FALSE(decode_from_runner(text_field(3, number_field(1, 9))));  // with one that is not known
  EXPECT_TRUE(decode_from_runner(text_field(3, number_field(1, 3))));   // rejected
  EXPECT_FALSE(decode_from_runner(text_field(7, "")));                  // a status without status
  EXPECT_FALSE(decode_from_runner(text_field(7, number_field(1, 17)))); // with one that is not known
  EXPECT_TRUE(decode_from_runner(text_field(7, number_field(1, 4))));   // ambiguous
  EXPECT_FALSE(decode_from_runner(text_field(8, "")));                  // a notice of nothing
  EXPECT_TRUE(decode_from_runner(text_field(8, text_field(5, ""))));    // a heartbeat
}

TEST(RunnerCodec, BytesThatAreNoEnvelopeAreRefused) {
  const auto good = encode(ToRunner{"request", operation, fresh, attempt, 5, Start{"one", fresh, 1}});
  EXPECT_FALSE(decode_to_runner(std::string_view(good).substr(0, good.size() - 1)));
  EXPECT_FALSE(decode_to_runner("\xff\xff\xff\xff"));
  EXPECT_FALSE(decode_from_runner("\xff\xff\xff\xff"));
  // Texts are UTF-8, ids among them.
  EXPECT_FALSE(decode_to_runner(text_field(14, "\xff") + text_field(12, "")));
  EXPECT_FALSE(decode_from_runner(text_field(9, "\xff")));
}

TEST(RunnerCodec, NumbersOutOfRangeAreRefused) {
  const auto command = [](std::uint64_t tag, const Bytes& body) { return decode_to_runner(text_field(tag, body)); };
  for (const std::uint64_t tag : {1, 2, 6, 7, 8})
    EXPECT_FALSE(command(2, number_field(tag, -1))) << "Enrolled " << tag;
  EXPECT_FALSE(command(4, number_field(3, -1)));  // body_parts
  EXPECT_FALSE(command(5, number_field(1, -1)));  // index
  EXPECT_FALSE(command(9, number_field(2, -1)));  // seq
  EXPECT_FALSE(command(10, number_field(2, -1))); // through
  EXPECT_FALSE(decode_to_runner(text_field(12, "") + number_field(17, -1)));
  EXPECT_FALSE(decode_from_runner(number_field(11, -1)));

  const auto line = [](const Bytes& body) {
    return decode_from_runner(text_field(8, text_field(1, text_field(2, body))));
  };
  EXPECT_FALSE(line(number_field(1, -1)));
  EXPECT_FALSE(line(number_field(2, -1)));
  EXPECT_TRUE(line(number_field(2, 253'402'300'799'999'999)));
  EXPECT_FALSE(line(number_field(2, 253'402'300'800'000'000)));
  EXPECT_FALSE(line(number_field(4, -1)));
  EXPECT_TRUE(line(number_field(4, 255)));
  EXPECT_FALSE(line(number_field(4, 256)));
  EXPECT_FALSE(decode_from_runner(text_field(8, text_field(2, number_field(2, -1))))); // InputDone through
}

} // namespace
} // namespace cleat::wire
