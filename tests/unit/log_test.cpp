#include "base/log.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <simdjson.h>

#include "base/time.hpp"
#include "tests/unit/generators.hpp"

namespace cleat::unit {
namespace {

/// What the process's log writes while `work` runs.
template <class Work>
std::string logged(Work work) {
  testing::internal::CaptureStderr();
  work();
  log::get().flush();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, AJsonLineIsOneObject) {
  log::init(log::Format::json, "info");
  const std::string line = logged([] { log::get().warn("a \"quoted\"\\ word,\n{} and a tab\t", 42); });
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(line);
  EXPECT_EQ(root["message"].get_string().value(), "a \"quoted\"\\ word,\n42 and a tab\t");
  EXPECT_EQ(root["level"].get_string().value(), "warning");
  EXPECT_TRUE(parse_rfc3339(root["time"].get_string().value()));
}

RC_GTEST_PROP(Log, AJsonLineIsJsonWhateverWasLogged, ()) {
  const std::string message = *any_bytes();
  log::init(log::Format::json, "info");
  const std::string line = logged([&] { log::get().info("{}", message); });
  RC_ASSERT((!line.empty() && line.find('\n') == line.size() - 1));
  RC_ASSERT(std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= ' ' && c <= '~'; }));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  RC_ASSERT(parser.parse(line).get(root) == simdjson::SUCCESS);
  const bool ascii =
    std::all_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  RC_ASSERT((!ascii || root["message"].get_string().value() == message));
}

TEST(Log, WhatIsNoTerminalGetsJson) {
  const std::string line = logged([] {
    log::init(log::Format::automatic, "info");
    log::get().info("hello");
  });
  EXPECT_EQ(line.front(), '{') << line;
}

TEST(Log, TextIsForPeople) {
  log::init(log::Format::text, "info");
  const std::string line = logged([] { log::get().info("hello"); });
  EXPECT_NE(line.find("hello\n"), std::string::npos) << line;
  EXPECT_EQ(line.find('{'), std::string::npos) << line;
}

TEST(Log, LevelsBelowTheChosenOneAreSilent) {
  log::init(log::Format::json, "error");
  EXPECT_EQ(logged([] { log::get().warn("quiet"); }), "");
  EXPECT_NE(logged([] { log::get().error("loud"); }), "");
  for (const char* level : {"trace", "debug", "info", "warn", "error"})
    EXPECT_NO_THROW(log::init(log::Format::json, level)) << level;
  EXPECT_THROW(log::init(log::Format::json, "chatty"), std::invalid_argument);
}

} // namespace
} // namespace cleat::unit
