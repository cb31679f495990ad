#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "protocol/runner_codec.hpp"

/// Writes the seeds of the fuzzers whose inputs are no text: every message of the wire protocol, made by the codec
/// itself.
namespace cleat::fuzz {
namespace {

namespace fs = std::filesystem;

const std::string session(64, 'a');

std::vector<wire::FromRunner> reports() {
  std::vector<wire::Report> all{
    std::monostate{},
    wire::AskEnrolment{"token", "secret", "journal", "1.2.3"},
    wire::Acknowledged{wire::AckOutcome::accepted},
    wire::Acknowledged{wire::AckOutcome::already_running},
    wire::Acknowledged{wire::AckOutcome::rejected},
    wire::Started{session, session, ""},
    wire::Failed{true, "no_program", "there is no such program"},
    wire::Stopped{session},
    wire::Status{wire::StatusKind::live, wire::Started{session, session, ""}},
    wire::Status{wire::StatusKind::no_such_operation, {}},
    wire::Status{wire::StatusKind::terminal_outcome, wire::Failed{false, "exit", ""}},
    wire::Status{wire::StatusKind::terminal_outcome, wire::Stopped{session}},
    wire::Status{wire::StatusKind::ambiguous, {}},
    wire::Relay{session, {{1, 1'700'000'000'000'000, "{\"text\":\"\xc3\xa9\"}"}, {2, 1'700'000'000'000'001, "", 137}}},
    wire::InputDone{session, 4},
    wire::AskSecret{session, "API_KEY"},
    wire::AttemptIssued{"one", "attempt"},
    wire::Heartbeat{},
  };
  std::vector<wire::FromRunner> messages;
  for (auto& report : all)
    messages.push_back({"request", "operation", "attempt", 3, std::move(report)});
  return messages;
}

std::vector<wire::ToRunner> commands() {
  std::vector<wire::Command> all{
    wire::Enrolled{1, 2, "secret", true, {{"one", "attempt"}, {"two", ""}}, 5'000, 20'000, 60'000},
    wire::EnrolmentRefused{"enrol_anew", "the enrolment is over"},
    wire::Start{"one", "", 0},
    wire::Start{"one", session, 2},
    wire::BodyPart{1, "a line\nand half of ano"},
    wire::Stop{"one", session, "attempt"},
    wire::AskStatus{"one", "journal"},
    wire::IssueAttempt{"one", "attempt"},
    wire::Input{session, 9, "a line"},
    wire::RelayDone{session, 12},
    wire::SecretAnswer{true, "value"},
    wire::Heartbeat{},
  };
  std::vector<wire::ToRunner> messages;
  for (auto& command : all)
    messages.push_back({"request", "operation", session, "attempt", 3, std::move(command)});
  return messages;
}

class Folder {
public:
  explicit Folder(const fs::path& path) : path_(path) { fs::create_directories(path); }

  void add(const std::string& bytes) {
    std::ofstream file(path_ / ("seed" + std::to_string(++count_)), std::ios::binary);
    file << bytes;
    if (!file.flush())
      throw std::runtime_error("a seed cannot be written to " + path_.string());
  }

private:
  fs::path path_;
  int count_ = 0;
};

void write_all(const fs::path& root) {
  Folder envelopes(root / "envelopes");
  Folder frames(root / "frames");
  // A limit of 64 KiB and a way of cutting, then a whole conversation.
  std::string from("\x10\x01");
  std::string to("\x10\x02");
  for (const auto& message : reports()) {
    const auto bytes = wire::encode(message);
    envelopes.add(std::string(1, '\0') + bytes);
    from += wire::frame(bytes);
  }
  for (const auto& message : commands()) {
    const auto bytes = wire::encode(message);
    envelopes.add('\1' + bytes);
    to += wire::frame(bytes);
  }
  frames.add(from);
  frames.add(to);
  frames.add(from.substr(0, from.size() / 2));
  frames.add("\x04\x03" + std::string("\0\0\0\x11too long for that", 21));
  frames.add("\x04\x03" + std::string("\0\0\0\0", 4));

  Folder journal(root / "journal");
  std::string steps;
  for (int i = 0; i < 200; ++i)
    steps += static_cast<char>(i * 37);
  journal.add(steps);
}

} // namespace
} // namespace cleat::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: cleat_fuzz_seeds FOLDER\n";
    return 2;
  }
  cleat::fuzz::write_all(argv[1]);
  return 0;
}
