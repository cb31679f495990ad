#include "apps/cleatd/check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <fcntl.h>

#include "apps/cleatd/room_options.hpp"
#include "base/metrics.hpp"
#include "protocol/json_writer.hpp"
#include "storage/check.hpp"
#include "storage/embedded.hpp"
#include "storage/embedded_database.hpp"
#include "storage/file_descriptor.hpp"

namespace cleat::cleatd {
namespace {

// What the process answers to whoever started it.
constexpr int sound = 0;
constexpr int broken = 1;
constexpr int cannot_tell = 2;

std::string as_json(const storage::CheckReport& report) {
  json::Writer out;
  out.begin_object().member("sound", report.findings.empty());
  out.member("invariants", std::ssize(storage::invariants()));
  out.key("findings").begin_array();
  for (const auto& finding : report.findings)
    out.begin_object().member("invariant", finding.invariant).member("what", finding.what).end_object();
  out.end_array().key("shortened").begin_array();
  for (const auto name : report.shortened)
    out.value(name);
  out.end_array().end_object();
  return out.str() + "\n";
}

/// One line an invariant, and below it what is wrong.
std::string as_table(const storage::CheckReport& report) {
  std::string text;
  for (const auto& invariant : storage::invariants()) {
    const auto of_it = [&](const auto& finding) { return finding.invariant == invariant.name; };
    const auto count = std::ranges::count_if(report.findings, of_it);
    text += (count == 0 ? "sound   " : "BROKEN  ") + invariant.rule + "\n";
    for (const auto& finding : report.findings)
      if (of_it(finding))
        text += "        - " + finding.what + "\n";
    if (std::ranges::find(report.shortened, invariant.name) != report.shortened.end())
      text += "        - and more\n";
  }
  return text + std::to_string(storage::invariants().size()) + " invariants, " +
         std::to_string(report.findings.size()) + " findings\n";
}

int tell(const storage::CheckReport& report, bool json) {
  const std::string text = json ? as_json(report) : as_table(report);
  std::fputs(text.c_str(), stdout);
  return report.findings.empty() ? sound : broken;
}

/// The embedded database of a `cleatd` that runs is reached where that one reaches it. What does not run is started for
/// the time of the check.
storage::CheckReport check_embedded(const Config& config) {
  const std::filesystem::path folder(config.data);
  if (!std::filesystem::exists(folder / "postgres"))
    throw std::runtime_error("There is no database in " + folder.string() +
                             ". Name the data folder with --data, or the database with --database-url.");
  const storage::FileDescriptor socket_folder(
    ::open((folder / "postgres-socket").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string url =
    storage::connection_string("/proc/self/fd/" + std::to_string(socket_folder ? socket_folder.get() : -1));
  if (socket_folder && storage::takes_connections(url))
    return storage::check(database_options(config, url));
  const storage::DataFolder data(folder);
  const storage::EmbeddedPostgres postgres(data, embedded_options(config), std::make_shared<Metrics>());
  return storage::check(database_options(config, postgres.url()));
}

} // namespace

int check(const Config& config, bool json) {
  try {
    return tell(config.database_url.empty() ? check_embedded(config)
                                            : storage::check(database_options(config, config.database_url)),
                json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cleatd check: %s\n", error.what());
    return cannot_tell;
  }
}

} // namespace cleat::cleatd
