#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/tidy/report.hpp"
#include "tests/tidy/tree.hpp"

/// Rules that hold for every text file.
namespace cleat::tidy {
namespace {

constexpr std::size_t max_lines_of_a_file = 600;
constexpr std::size_t max_lines_of_a_function = 70;

TEST(Text, IsPlainAscii) {
  Report report;
  for (const auto& file : files()) {
    std::size_t number = 0;
    for (const auto line : lines_of(file.text)) {
      ++number;
      if (std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7e; }))
        report.add(file.path, number, "has a character outside ASCII");
    }
  }
  expect_clean(report, "dashes, quotes and ellipses are the ones on the keyboard; tests write other text as escapes");
}

TEST(Text, HasNoTabsAndNoTrailingSpaces) {
  Report report;
  for (const auto& file : files()) {
    std::size_t number = 0;
    for (const auto line : lines_of(file.text)) {
      ++number;
      if (line.find_first_of("\t\r") != std::string_view::npos)
        report.add(file.path, number, "has a tab or a carriage return");
      if (line.ends_with(' '))
        report.add(file.path, number, "ends with a space");
    }
    if (!file.text.empty() && !file.text.ends_with('\n'))
      report.add(file.path, number, "does not end with a line break");
  }
  expect_clean(report, "white space that nobody sees is noise in every diff");
}

TEST(Text, EveryOpenPointHasAnOwner) {
  // Put together from halves, so that this file keeps its own rule.
  const std::regex open_point(std::string(R"(\b(TO)") + R"(DO|FIX)" + R"(ME)\b(?!\(\w+\)))");
  Report report;
  for (const auto& file : files()) {
    std::size_t number = 0;
    for (const auto line : lines_of(file.text)) {
      ++number;
      if (std::regex_search(line.begin(), line.end(), open_point))
        report.add(file.path, number, "has an open point without an owner in parentheses");
    }
  }
  expect_clean(report, "finish it, or say who will");
}

TEST(Text, FilesAreShort) {
  Report report;
  for (const auto* file : files_with({".hpp", ".cpp", ".sql", ".md", ".txt", ".cmake", ".js", ".css"}))
    if (const auto count = lines_of(file->text).size(); count > max_lines_of_a_file)
      report.add(file->path, 0, std::to_string(count) + " lines");
  expect_clean(report, "split what has more than " + std::to_string(max_lines_of_a_file) + " lines");
}

TEST(Text, FunctionsFitAScreen) {
  Report report;
  std::size_t found = 0;
  for (const auto* file : files_with({".hpp", ".cpp"})) {
    for (const auto& function : functions_of(*file)) {
      ++found;
      if (function.lines > max_lines_of_a_function)
        report.add(file->path, function.first_line, "a function of " + std::to_string(function.lines) + " lines");
    }
  }
  expect_clean(report, "split what has more than " + std::to_string(max_lines_of_a_function) + " lines");
  EXPECT_GT(found, files_with({".cpp"}).size()) << "the search for functions finds too few of them to be right";
}

TEST(Text, FunctionFinderUnderstandsTheUsualForms) {
  const SourceFile file{"example.cpp", "namespace a {\n"
                                       "inline int one() { return 1; }\n"
                                       "class B {\n"
                                       "  B(int x) : x_{x}, y_{x} {\n"
                                       "    if (x) { y_ = '{'; }\n"
                                       "  }\n"
                                       "  int x_ = 0; // not this {\n"
                                       "};\n"
                                       "constexpr int table[] = {1, 2};\n"
                                       "void c() {\n"
                                       "  call(\"{\");\n"
                                       "}\n"
                                       "}\n"};
  const auto functions = functions_of(file);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& function : functions)
    places.emplace_back(function.first_line, function.lines);
  const std::vector<std::pair<std::size_t, std::size_t>> expected{{2, 1}, {4, 1}, {4, 1}, {4, 3}, {10, 3}};
  EXPECT_EQ(places, expected);
}

TEST(Text, RelativeLinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)\s]+)\))");
  Report report;
  for (const auto* file : files_with({".md"})) {
    for (std::sregex_iterator it(file->text.begin(), file->text.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.starts_with("http:") || target.starts_with("https:") || target.starts_with("mailto:") ||
          target[0] == '#')
        continue;
      const auto path = (root() / file->path).parent_path() / target.substr(0, target.find('#'));
      if (!std::filesystem::exists(path))
        report.add(file->path, 0, "links to " + target + ", which does not exist");
    }
  }
  expect_clean(report, "a link in a document names a file from that document's folder");
}

TEST(Text, ScriptsAreStrict) {
  Report report;
  std::size_t scripts = 0;
  for (const auto& file : files()) {
    if (!file.text.starts_with("#!"))
      continue;
    ++scripts;
    // Maintainer scripts are what Debian's policy asks for.
    if (file.in("packaging/deb/") && file.text.starts_with("#!/bin/sh\nset -e\n"))
      continue;
    if (!file.text.starts_with("#!/usr/bin/env bash\n") || file.text.find("\nset -euo pipefail\n") == std::string::npos)
      report.add(file.path, 1, "is no bash script in strict mode");
  }
  expect_clean(report, "scripts start with #!/usr/bin/env bash and set -euo pipefail");
  EXPECT_GE(scripts, 4U) << "scripts/run, scripts/test, scripts/lint and .ci/run are expected";
}

} // namespace
} // namespace cleat::tidy
