#include "apps/cleat-runner/line_splitter.hpp"

#include <gtest/gtest.h>

namespace cleat::runner {
namespace {

using Lines = std::vector<std::string>;

const std::string bad = "\xef\xbf\xbd";

TEST(LineSplitter, LinesComeWithTheirBreaksHoweverTheyAreCut) {
  const std::string text = "one\n\ntwo\nthree";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineSplitter splitter(100);
    Lines lines;
    for (std::size_t at = 0; at < text.size(); at += step)
      for (auto& line : splitter.append(std::string_view(text).substr(at, step)))
        lines.push_back(std::move(line));
    EXPECT_EQ(lines, (Lines{"one", "", "two"})) << step;
    EXPECT_EQ(splitter.finish(), Lines{"three"});
    EXPECT_EQ(splitter.finish(), Lines{});
  }
}

TEST(LineSplitter, ALongLineIsCutWhereACharacterEnds) {
  LineSplitter splitter(4);
  EXPECT_EQ(splitter.append("abcd"), Lines{}) << "it may end here";
  EXPECT_EQ(splitter.append("\n"), Lines{"abcd"});
  EXPECT_EQ(splitter.append("abcdefghij\n"), (Lines{"abcd", "efgh", "ij"}));
  EXPECT_EQ(splitter.append("abc\xc3\xa4xyz\n"), (Lines{"abc", "\xc3\xa4xy", "z"}));
  EXPECT_EQ(splitter.append("\xf0\x9f\x98\x80\xf0\x9f\x98\x80\n"), (Lines{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}));
  EXPECT_EQ(splitter.append("a\xf0\x9f\x98\x80\n"), (Lines{"a", "\xf0\x9f\x98\x80"}));
}

TEST(LineSplitter, EndlessBytesWithoutABreakStayBounded) {
  LineSplitter splitter(4);
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i)
    for (const auto& line : splitter.append("\x80\x80\x80\x80\x80")) {
      EXPECT_LE(line.size(), 4 * bad.size());
      bytes += line.size();
    }
  for (const auto& line : splitter.finish())
    bytes += line.size();
  EXPECT_EQ(bytes, 500 * bad.size());
}

TEST(LineSplitter, WhatIsNoTextIsReplaced) {
  EXPECT_EQ(repaired_utf8("plain"), "plain");
  EXPECT_EQ(repaired_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(repaired_utf8(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(repaired_utf8("a\xff"
                          "b"),
            "a" + bad + "b");
  EXPECT_EQ(repaired_utf8("\xc3"), bad) << "cut short";
  EXPECT_EQ(repaired_utf8("\xe2\x82"
                          "x"),
            bad + bad + "x");
  EXPECT_EQ(repaired_utf8("\xc0\xaf"), bad + bad) << "overlong";
  EXPECT_EQ(repaired_utf8("\xe0\x80\xaf"), bad + bad + bad) << "overlong";
  EXPECT_EQ(repaired_utf8("\xed\xa0\x80"), bad + bad + bad) << "surrogate";
  EXPECT_EQ(repaired_utf8("\xf4\x90\x80\x80"), bad + bad + bad + bad) << "beyond Unicode";
  EXPECT_EQ(repaired_utf8("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf"), "\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf");
}

} // namespace
} // namespace cleat::runner
