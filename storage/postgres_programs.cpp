#include "storage/postgres_programs.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "storage/process.hpp"

namespace cleat::storage {
namespace {

constexpr std::chrono::seconds program_timeout{10};
const std::filesystem::path debian_folder = "/usr/lib/postgresql";

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data())
    return std::nullopt;
  return value;
}

bool has_programs(const std::filesystem::path& folder) {
  return access((folder / "initdb").c_str(), X_OK) == 0 && access((folder / "postgres").c_str(), X_OK) == 0;
}

/// What the program itself says: "postgres (PostgreSQL) 15.4 (Debian ...)".
std::optional<int> programs_major(const std::filesystem::path& folder) {
  const auto output = run({{(folder / "postgres").string(), "--version"}}, program_timeout);
  constexpr std::string_view before = "(PostgreSQL) ";
  const auto start = output.text.find(before);
  if (output.exit_code != 0 || start == std::string::npos)
    return std::nullopt;
  return parse_int(std::string_view(output.text).substr(start + before.size()));
}

/// Where `pg_config` points. It comes with libpq-dev too, so it may name a folder without a server.
std::optional<std::filesystem::path> configured_by_pg_config() {
  try {
    auto output = run({{"pg_config", "--bindir"}}, program_timeout);
    if (output.exit_code != 0)
      return std::nullopt;
    return output.text.substr(0, output.text.find('\n'));
  } catch (const std::system_error&) {
    return std::nullopt; // it is not installed
  }
}

std::filesystem::path debian_programs(int major) {
  return debian_folder / std::to_string(major) / "bin";
}

std::optional<std::filesystem::path> newest_of_debian() {
  std::vector<int> majors;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(debian_folder, none))
    if (const auto major = parse_int(entry.path().filename().string()); major && has_programs(debian_programs(*major)))
      majors.push_back(*major);
  if (majors.empty())
    return std::nullopt;
  return debian_programs(*std::max_element(majors.begin(), majors.end()));
}

std::filesystem::path search(std::optional<int> wanted) {
  if (wanted && has_programs(debian_programs(*wanted)))
    return debian_programs(*wanted);
  if (const auto folder = configured_by_pg_config(); folder && has_programs(*folder))
    return *folder;
  if (const auto folder = newest_of_debian())
    return *folder;
  throw std::runtime_error("No PostgreSQL server was found. Install one (on Debian: apt install postgresql), name the "
                           "folder of its programs with the key database.postgres_bin, or use a running database "
                           "with --database-url.");
}

} // namespace

std::optional<int> cluster_major(const std::filesystem::path& cluster) {
  std::ifstream file(cluster / "PG_VERSION");
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  return parse_int(line);
}

PostgresPrograms find_postgres(const std::filesystem::path& configured, std::optional<int> wanted) {
  if (!configured.empty() && !has_programs(configured))
    throw std::runtime_error("database.postgres_bin is " + configured.string() +
                             ", but there are no programs initdb and postgres in that folder.");
  const auto folder = configured.empty() ? search(wanted) : configured;
  const auto major = programs_major(folder);
  if (!major || *major < oldest_postgres_major)
    throw std::runtime_error("The PostgreSQL in " + folder.string() + " is older than " +
                             std::to_string(oldest_postgres_major) +
                             " or does not start. Install a newer one, or name its folder with the key "
                             "database.postgres_bin.");
  if (wanted && *wanted != *major)
    throw std::runtime_error("The data folder was made by PostgreSQL " + std::to_string(*wanted) + ", but " +
                             folder.string() + " is version " + std::to_string(*major) + ". Install postgresql-" +
                             std::to_string(*wanted) + ", or bring the data over with pg_upgrade or pg_dump.");
  return {folder, *major};
}

} // namespace cleat::storage
