#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "tests/tidy/report.hpp"
#include "tests/tidy/tree.hpp"

/// Rules about C++ sources, SQL, configuration keys and migrations.
namespace cleat::tidy {
namespace {

bool in_product(const SourceFile& file) {
  static const std::set<std::string> rooms{"base", "protocol", "storage", "actors", "http"};
  return rooms.contains(file.room());
}

bool mentioned(std::initializer_list<std::string_view> ends, std::string_view folder, const std::string& word,
               const SourceFile* except = nullptr) {
  const auto candidates = files_with(ends);
  return std::any_of(candidates.begin(), candidates.end(), [&](const SourceFile* file) {
    return file != except && file->in(folder) && file->text.find(word) != std::string::npos;
  });
}

TEST(Sources, HeadersStartWithPragmaOnce) {
  Report report;
  for (const auto* file : files_with({".hpp"}))
    if (!file->text.starts_with("#pragma once\n"))
      report.add(file->path, 1, "does not start with #pragma once");
  expect_clean(report, "the guard is the first line of a header");
}

TEST(Sources, HeadersAreSelfContained) {
  // A source that includes its own header first proves that the header needs nothing before it. Headers without a
  // source of their own are compiled alone by tests/tidy/CMakeLists.txt.
  Report report;
  for (const auto* file : files_with({".cpp"})) {
    const std::string header = file->path.substr(0, file->path.size() - 4) + ".hpp";
    const auto includes = includes_of(*file);
    if (find(header) != nullptr && (includes.empty() || includes.front().target != header))
      report.add(file->path, 0, "does not include its own header first");
  }
  expect_clean(report, "x.cpp includes x.hpp before anything else");
}

TEST(Sources, EveryFileIsUsed) {
  std::set<std::string> included;
  for (const auto* file : files_with({".hpp", ".cpp"}))
    for (const auto& include : includes_of(*file))
      included.insert(include.target);
  Report report;
  for (const auto* file : files_with({".hpp"}))
    if (!included.contains(file->path))
      report.add(file->path, 0, "is included nowhere");
  for (const auto* file : files_with({".cpp", ".sql"})) {
    const std::string name = std::filesystem::path(file->path).filename().string();
    // Migrations are taken as a folder, everything else is listed by name.
    if (!file->in("migrations/") && !mentioned({"CMakeLists.txt"}, "", name))
      report.add(file->path, 0, "is built nowhere");
  }
  expect_clean(report, "remove what nobody uses");
}

TEST(Sources, EveryStatementIsUsed) {
  Report report;
  for (const auto* file : files_with({".sql"})) {
    if (!file->in("storage/sql/"))
      continue;
    std::string constant = std::filesystem::path(file->path).filename().string();
    std::replace_if(
      constant.begin(), constant.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    if (!mentioned({".cpp", ".hpp"}, "storage/", constant))
      report.add(file->path, 0, constant + " is used nowhere");
  }
  expect_clean(report, "remove statements that nobody runs");
}

/// Whether a line at namespace level declares a type or a function.
bool declares(std::string_view line) {
  static const std::regex type(R"(^(class|struct|enum class|enum) \w+( |;|$).*)");
  static const std::regex function(R"(^[A-Za-z_][\w:<>,&*\[\] ]* [&*]*[a-z_]\w*\(.*)");
  static const std::regex other(R"(^(using|template|static_assert|namespace|return|extern|CAF_|#).*)");
  const std::string text(line);
  if (std::regex_match(text, other))
    return false;
  // A type that is only announced is documented where it is defined, a specialization at its template.
  if (std::regex_match(text, type))
    return !text.ends_with(';') || text.find('{') != std::string::npos;
  return std::regex_match(text, function);
}

TEST(Sources, PublicDeclarationsAreDocumented) {
  Report report;
  for (const auto* file : files_with({".hpp"})) {
    if (!in_product(*file))
      continue;
    bool documented = false;
    std::size_t number = 0;
    for (const auto line : lines_of(file->text)) {
      ++number;
      // A comment holds for the declarations that follow it without an empty line.
      if (line.empty())
        documented = false;
      if (line.starts_with("///"))
        documented = true;
      else if (declares(line) && !documented && line.find("///") == std::string_view::npos)
        report.add(file->path, number, std::string(line.substr(0, 80)));
    }
  }
  expect_clean(report, "a /// comment says what it is for, above it or above its group");
}

TEST(Sources, ConfigurationKeysAreDocumented) {
  const SourceFile* limits = find("base/limits.hpp");
  const SourceFile* guide = find("docs/operating/configuration.md");
  ASSERT_NE(limits, nullptr);
  ASSERT_NE(guide, nullptr);
  const std::regex key(R"(///< ([a-z]+\.[a-z_]+))");
  Report report;
  std::size_t keys = 0;
  for (std::sregex_iterator it(limits->text.begin(), limits->text.end(), key), end; it != end; ++it, ++keys)
    if (guide->text.find((*it)[1]) == std::string::npos)
      report.add(guide->path, 0, "says nothing about " + (*it)[1].str());
  expect_clean(report, "every limit with a configuration key is explained to operators");
  EXPECT_GT(keys, 10U);
}

} // namespace
} // namespace cleat::tidy
