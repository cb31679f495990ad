#include "apps/cleat-load/runner_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" { // glibc 2.36 forgot to say so in its header
#include <sys/pidfd.h>
}

namespace cleat::load {
namespace {

namespace fs = std::filesystem;

constexpr const char* name = "cleat-runner";
/// A Runner waits some seconds for acknowledgements when it ends.
constexpr std::chrono::seconds end_patience{30};

std::system_error failure(const std::string& what) {
  return {errno, std::generic_category(), what};
}

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

fs::path new_folder() {
  std::string path = fs::temp_directory_path() / "cleat-load-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw failure("Cannot make the folder " + path);
  return path;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw std::runtime_error("Cannot write " + path.string() + ".");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

fs::path find_runner_program(const fs::path& given) {
  if (!given.empty()) {
    if (!is_program(given))
      throw std::runtime_error("--runner-program: there is no program " + given.string() + ".");
    return fs::absolute(given);
  }
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  std::vector<fs::path> places{here / name, here.parent_path() / name / name};
  const char* const folders = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): there is one thread
  std::istringstream path(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(path, folder, ':');)
    places.push_back(fs::absolute(folder) / name);
  for (const fs::path& place : places)
    if (is_program(place))
      return place;
  throw std::runtime_error("The scenario starts needs cleat-runner, and it is neither beside cleat-load nor in PATH: "
                           "build the target cleat-runner, or give --runner-program FILE.");
}

RunnerProcess::RunnerProcess(const fs::path& program, const std::string& server, const RunnerEntry& runner)
  : folder_(new_folder()) {
  try {
    write_files(runner);
    start(program, server);
  } catch (...) {
    fs::remove_all(folder_);
    throw;
  }
}

RunnerProcess::~RunnerProcess() {
  ::kill(pid_, SIGTERM);
  if (!ends_within(end_patience))
    ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::close(descriptor_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool RunnerProcess::ends_within(std::chrono::milliseconds time) const {
  pollfd ended{descriptor_, POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(time.count())) == 1;
}

std::string RunnerProcess::last_words() const {
  constexpr std::size_t enough = 2000;
  std::ifstream file(folder_ / "log", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.size() > enough ? text.substr(text.size() - enough) : text;
}

void RunnerProcess::write_files(const RunnerEntry& runner) const {
  write_file(folder_ / "token", runner.token + "\n");
  std::string config;
  for (const std::string& container : runner.containers)
    config.append("[containers.").append(container).append("]\ndriver = \"null\"\n");
  write_file(folder_ / "config.toml", config);
}

void RunnerProcess::start(const fs::path& program, const std::string& server) {
  std::vector<std::string> arguments{
    program.string(),
    "--server",
    server,
    "--token-file",
    (folder_ / "token").string(),
    "--state",
    (folder_ / "state").string(),
    "--config",
    (folder_ / "config.toml").string(),
    "--log-level",
    "warn",
  };
  const auto argv = pointers_to(arguments);
  const int log = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0)
    throw failure("Cannot write the log of cleat-runner");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    // Ctrl-C in a terminal goes to both processes; this one is told to end by its parent, in its turn.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
      ::_exit(1);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    constexpr int not_found = 127;
    ::_exit(not_found);
  }
  ::close(log);
  if (pid_ < 0)
    throw failure("Cannot start cleat-runner");
  descriptor_ = ::pidfd_open(pid_, 0);
  if (descriptor_ >= 0)
    return;
  const auto problem = failure("Cannot watch cleat-runner");
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  throw problem;
}

} // namespace cleat::load
