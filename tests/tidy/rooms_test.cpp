#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/tidy/report.hpp"
#include "tests/tidy/tree.hpp"

/// Who may see whom (spec 02 "Rooms").
namespace cleat::tidy {
namespace {

using Names = std::set<std::string>;

/// The place of a file in the direction of includes. Rules and libpq's wrappers are narrower than their rooms;
/// whole-process tests, the load generator and the Runner see the server from
/// outside.
std::string place_of(const std::string& path) {
  for (const char* narrow : {"actors/rules/", "storage/pg/", "apps/cleat-load/", "apps/cleat-runner/", "tests/linear/",
                             "tests/process/", "tests/support/", "tests/tidy/"})
    if (path.starts_with(narrow))
      return std::string(narrow).substr(0, std::string(narrow).size() - 1);
  return path.substr(0, path.find('/'));
}

/// What each place may include, itself aside.
const std::map<std::string, Names>& visible() {
  static const std::map<std::string, Names> map{
    {"base", {}},
    {"protocol", {"base"}},
    {"storage/pg", {"base", "protocol", "storage", "generated"}},
    {"storage", {"base", "protocol", "storage/pg", "generated"}},
    {"actors/rules", {"base", "protocol"}},
    {"actors", {"base", "protocol", "storage", "actors/rules"}},
    {"http", {"base", "protocol", "storage", "actors", "actors/rules", "generated"}},
    {"apps", {"base", "protocol", "storage", "actors", "http", "generated"}},
    {"apps/cleat-load", {"base", "protocol"}},
    {"apps/cleat-runner", {"base", "protocol"}},
    {"tests",
     {"base", "protocol", "storage", "storage/pg", "actors", "actors/rules", "http", "apps", "apps/cleat-load",
      "apps/cleat-runner", "generated", "tests/support"}},
    {"tests/support", {}},
    {"tests/linear", {}},
    {"tests/process", {"tests/linear", "tests/support"}},
    {"tests/tidy", {}},
  };
  return map;
}

std::vector<const SourceFile*> sources() {
  return files_with({".hpp", ".cpp"});
}

/// A file and everything of ours that it includes, directly or not.
Names closure_of(const SourceFile& file) {
  Names seen{file.path};
  std::vector<const SourceFile*> open{&file};
  while (!open.empty()) {
    const SourceFile* next = open.back();
    open.pop_back();
    for (const auto& include : includes_of(*next)) {
      const SourceFile* target = include.quoted ? find(include.target) : nullptr;
      if (target != nullptr && seen.insert(target->path).second)
        open.push_back(target);
    }
  }
  return seen;
}

bool includes_any(const SourceFile& file, std::string_view prefix) {
  const auto all = includes_of(file);
  return std::any_of(all.begin(), all.end(), [&](const auto& include) { return include.target.starts_with(prefix); });
}

TEST(Rooms, IncludesGoOneWay) {
  Report report;
  for (const auto* file : sources()) {
    const std::string place = place_of(file->path);
    if (!visible().contains(place)) {
      report.add(file->path, 0, "is in no room");
      continue;
    }
    for (const auto& include : includes_of(*file)) {
      const std::string target = place_of(include.target);
      if (include.quoted && target != place && !visible().at(place).contains(target))
        report.add(file->path, include.line, place + " may not include " + include.target);
    }
  }
  expect_clean(report, "base <- protocol <- storage <- actors <- http <- apps; rules see base and protocol only");
}

TEST(Rooms, OurIncludesNameAFileFromTheRoot) {
  Report report;
  for (const auto* file : sources())
    for (const auto& include : includes_of(*file))
      if (include.quoted && !include.target.starts_with("generated/") && find(include.target) == nullptr)
        report.add(file->path, include.line, "no such file: " + include.target);
  expect_clean(report, "quotes are for files of ours, with their path from the project's root");
}

TEST(Rooms, CafIsSeenOnlyWhereActorsAre) {
  const Names without{"base",         "protocol",      "actors/rules",  "storage/pg", "apps/cleat-runner",
                      "tests/linear", "tests/process", "tests/support", "tests/tidy"};
  Report report;
  for (const auto* file : sources()) {
    if (!without.contains(place_of(file->path)))
      continue;
    for (const auto& path : closure_of(*file))
      if (includes_any(*find(path), "caf/"))
        report.add(file->path, 0, "sees CAF through " + path);
  }
  expect_clean(report, "CAF belongs to actors, to the adapters of storage, to http and to the wiring");
}

/// Libraries from outside and the places that may use them. What is not listed here is free.
const std::map<std::string, Names>& users_of_libraries() {
  static const std::map<std::string, Names> map{
    {"libpq-fe.h", {"storage", "storage/pg", "apps/cleat-load", "tests", "tests/support"}},
    {"httplib.h", {"http", "apps", "tests", "tests/process"}},
    {"simdjson.h", {"protocol", "apps", "apps/cleat-load", "tests", "tests/process"}},
    {"rapidjson/", {"protocol", "tests"}},
    {"spdlog/", {"base"}},
    {"prometheus/", {"base"}},
    {"sqlite3.h", {"apps/cleat-runner"}},
    {"runner.pb.h", {"protocol"}},
    {"google/protobuf/", {"protocol"}},
    {"toml++/", {"apps", "apps/cleat-runner"}},
    {"CLI/", {"apps", "apps/cleat-load", "apps/cleat-runner"}},
    {"yaml-cpp/", {"http", "tests", "tests/process"}},
    {"rapidcheck", {"tests"}},
    {"gtest/", {"tests", "tests/linear", "tests/process", "tests/support", "tests/tidy"}},
  };
  return map;
}

TEST(Rooms, LibrariesStayInTheirRooms) {
  Report report;
  for (const auto* file : sources())
    for (const auto& include : includes_of(*file))
      for (const auto& [library, users] : users_of_libraries())
        if (include.target.starts_with(library) && !users.contains(place_of(file->path)))
          report.add(file->path, include.line, place_of(file->path) + " may not use " + include.target);
  expect_clean(report, "one room knows each library (spec 02 \"Rooms\"); the list stands in this test");
}

/// The libraries of ours and what each may link.
const std::map<std::string, Names>& links() {
  static const std::map<std::string, Names> map{
    {"cleat_base", {}},
    {"cleat_protocol", {"cleat_base"}},
    {"cleat_storage", {"cleat_base", "cleat_protocol"}},
    {"cleat_rules", {"cleat_base", "cleat_protocol"}},
    {"cleat_actors", {"cleat_base", "cleat_protocol", "cleat_storage", "cleat_rules"}},
    {"cleat_http", {"cleat_base", "cleat_protocol", "cleat_storage", "cleat_rules", "cleat_actors"}},
    {"cleat_runner_parts", {"cleat_base", "cleat_protocol"}},
    {"cleat_process_tests", {}},
    {"cleat_tidy_tests", {}},
  };
  return map;
}

TEST(Rooms, TargetsLinkOneWay) {
  const std::regex link(R"(target_link_libraries\(\s*(cleat_\w+)([^)]*)\))");
  const std::regex word(R"(cleat_\w+)");
  Report report;
  Names seen;
  for (const auto* file : files_with({"CMakeLists.txt"})) {
    for (std::sregex_iterator it(file->text.begin(), file->text.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      const std::string linked = (*it)[2];
      if (!links().contains(target))
        continue;
      seen.insert(target);
      for (std::sregex_iterator other(linked.begin(), linked.end(), word); other != end; ++other)
        if (links().contains(other->str()) && !links().at(target).contains(other->str()))
          report.add(file->path, 0, target + " may not link " + other->str());
    }
  }
  expect_clean(report, "a target links what its room may see, and nothing else");
  EXPECT_EQ(seen.size(), links().size()) << "a target in this test's list is gone or links nothing";
}

} // namespace
} // namespace cleat::tidy
