#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <iomanip>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <openssl/evp.h>

#include "tests/tidy/report.hpp"
#include "tests/tidy/tree.hpp"

/// Rules that need a tool: checksums and the formatter.
namespace cleat::tidy {
namespace {

std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::ostringstream out;
  for (unsigned int i = 0; i < size; ++i)
    out << std::hex << std::setw(2) << std::setfill('0') << int{digest[i]};
  return out.str();
}

TEST(Migrations, AreNeverEdited) {
  const SourceFile* list = find("migrations/checksums.txt");
  ASSERT_NE(list, nullptr);
  std::map<std::string, std::string> landed;
  std::istringstream lines(list->text);
  for (std::string sum, name; lines >> sum >> name;)
    landed[name] = sum;
  Report report;
  for (const auto* file : files_with({".sql"})) {
    if (!file->in("migrations/"))
      continue;
    const std::string name = file->path.substr(std::string("migrations/").size());
    if (!landed.contains(name))
      report.add(file->path, 0, "is not in migrations/checksums.txt");
    else if (landed[name] != sha256_hex(file->text))
      report.add(file->path, 0, "was edited after it had landed");
    landed.erase(name);
  }
  for (const auto& [name, sum] : landed)
    report.add("migrations/" + name, 0, "is gone");
  expect_clean(report, "add a new migration instead, and its line: cd migrations && sha256sum V*.sql > checksums.txt");
}

#ifdef CLEAT_CLANG_FORMAT
TEST(Format, IsTheOneOfClangFormat) {
  std::string command = CLEAT_CLANG_FORMAT " --dry-run -Werror";
  for (const auto* file : files_with({".hpp", ".cpp"}))
    command += " '" + (root() / file->path).string() + "'";
  command += " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  ASSERT_NE(pipe, nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    output.append(buffer.data(), n);
  std::set<std::string> wrong;
  for (const auto line : lines_of(output))
    if (line.find(": error:") != std::string_view::npos)
      wrong.emplace(line.substr(0, line.find(':')));
  Report report;
  for (const auto& path : wrong)
    report.add(path, 0, "is not formatted");
  expect_clean(report, "run clang-format -i on these files");
  EXPECT_EQ(output.empty(), wrong.empty()) << output;
}
#endif

} // namespace
} // namespace cleat::tidy
