#include "apps/cleat-load/target.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <simdjson.h>

namespace cleat::load {
namespace {

namespace fs = std::filesystem;

/// What `endpoints.json` says (spec 05 "Command line").
struct Endpoints {
  std::string http;
  std::string runner;
  pid_t pid = 0;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The endpoints of a server that runs; a file that a killed one left behind counts as none.
std::optional<Endpoints> read_endpoints(const fs::path& file) {
  const simdjson::padded_string text(read_file(file));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view http;
  std::string_view runner;
  std::int64_t pid = 0;
  if (parser.parse(text).get(root) != simdjson::SUCCESS || root["http"].get(http) != simdjson::SUCCESS ||
      root["runner"].get(runner) != simdjson::SUCCESS || root["pid"].get(pid) != simdjson::SUCCESS)
    return std::nullopt;
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    return std::nullopt;
  return Endpoints{std::string(http), std::string(runner), static_cast<pid_t>(pid)};
}

/// Tells when a file in a folder was written or got its name.
class FolderWatch {
public:
  explicit FolderWatch(const fs::path& folder) : descriptor_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (inotify_add_watch(descriptor_, folder.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
      throw std::runtime_error("There is no folder " + folder.string() + ".");
  }
  ~FolderWatch() { ::close(descriptor_); }

  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// False when nothing happened until the deadline.
  [[nodiscard]] bool wait_until(Clock::time_point deadline) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd event{descriptor_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&event, 1, static_cast<int>(left.count())) <= 0)
      return false;
    std::array<char, 4096> names{};
    while (::read(descriptor_, names.data(), names.size()) > 0) {
    }
    return true;
  }

private:
  int descriptor_;
};

Endpoints await_endpoints(const fs::path& folder, std::chrono::seconds patience) {
  const FolderWatch watch(folder);
  const auto deadline = Clock::now() + patience;
  do {
    if (auto endpoints = read_endpoints(folder / "endpoints.json"))
      return *endpoints;
  } while (watch.wait_until(deadline));
  throw std::runtime_error("No cleatd became ready on " + folder.string() + " within " +
                           std::to_string(patience.count()) + " s.");
}

/// The first line of a file, without the line break.
std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty())
    throw std::runtime_error("Cannot read " + path.string() + ".");
  return line;
}

/// Takes what the data folder of a running `cleatd` tells. An embedded PostgreSQL has its socket there.
void read_folder(const fs::path& folder, const Endpoints& endpoints, Target& target) {
  target.address = parse_url(endpoints.http);
  target.runner_address = endpoints.runner;
  target.server_pid = endpoints.pid;
  target.owner_token = first_line(folder / "owner.token");
  if (const auto socket = folder / "postgres-socket"; fs::exists(socket)) {
    target.database_url = "host='" + socket.string() + "' port=5432 user=cleat dbname=cleat";
    target.postgres_pid = static_cast<pid_t>(std::stol(first_line(folder / "postgres" / "postmaster.pid")));
  }
}

} // namespace

Address parse_url(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  const auto colon = url.rfind(':');
  if (!url.starts_with(scheme) || colon < scheme.size() || colon + 1 == url.size())
    throw std::invalid_argument("This is no http://HOST:PORT: " + url);
  std::string port = url.substr(colon + 1);
  if (port.ends_with('/'))
    port.pop_back();
  return {url.substr(scheme.size(), colon - scheme.size()), port};
}

Target find_target(const Options& options) {
  Target target;
  if (!options.data.empty()) {
    const fs::path folder = fs::absolute(options.data);
    read_folder(folder, await_endpoints(folder, options.wait), target);
  }
  if (!options.url.empty())
    target.address = parse_url(options.url);
  if (!options.token_file.empty())
    target.owner_token = first_line(options.token_file);
  if (!options.database_url.empty())
    target.database_url = options.database_url;
  if (!options.runner_address.empty())
    target.runner_address = options.runner_address;
  if (options.server_pid != 0)
    target.server_pid = options.server_pid;
  if (options.postgres_pid != 0)
    target.postgres_pid = options.postgres_pid;
  return target;
}

} // namespace cleat::load
