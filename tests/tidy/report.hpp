#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cleat::tidy {

/// Everything that breaks one rule, so that a failing test lists all of it at once.
class Report {
public:
  /// Notes a violation at `path`, with the line when it has one.
  void add(const std::string& path, std::size_t line, const std::string& what) {
    text_ += "  " + path + (line > 0 ? ":" + std::to_string(line) : "") + ": " + what + "\n";
  }

  /// All violations, one a line; empty when the rule holds.
  [[nodiscard]] const std::string& text() const { return text_; }

private:
  std::string text_;
};

/// Fails the running test when `report` has violations, with a sentence that says what to do about them.
inline void expect_clean(const Report& report, const std::string& advice) {
  EXPECT_TRUE(report.text().empty()) << advice << "\n" << report.text();
}

} // namespace cleat::tidy
