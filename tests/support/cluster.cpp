#include "tests/support/cluster.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

constexpr auto start_patience = std::chrono::seconds{60};
constexpr std::size_t log_kept_bytes = 64 * 1024;
/// PostgreSQL's own superuser inside the cluster.
constexpr const char* superuser = "cleat";

/// The identity that PostgreSQL runs under.
struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  /// Whether the process has to change to it.
  bool change = false;
};

Account server_account() {
  if (::geteuid() != 0)
    return {::geteuid(), ::getegid(), {}, false};
  const passwd* entry = ::getpwnam("postgres");
  if (entry == nullptr)
    throw std::runtime_error("there is no user postgres to run a test cluster as");
  Account account{entry->pw_uid, entry->pw_gid, {}, true};
  int count = 64;
  account.groups.resize(static_cast<std::size_t>(count));
  ::getgrouplist("postgres", entry->pw_gid, account.groups.data(), &count);
  account.groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return account;
}

/// The newest /usr/lib/postgresql/VERSION/bin, or what pg_config says where Debian's layout is absent.
std::filesystem::path find_binaries() {
  namespace fs = std::filesystem;
  std::optional<std::pair<int, fs::path>> best;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (fs::exists(entry.path() / "bin" / "initdb") && (!best || version > best->first))
      best.emplace(version, entry.path() / "bin");
  }
  if (best)
    return best->second;
  std::string folder;
  if (FILE* pipe = ::popen("pg_config --bindir", "r")) {
    std::array<char, 512> line{};
    if (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr)
      folder = line.data();
    ::pclose(pipe);
  }
  folder.erase(std::find(folder.begin(), folder.end(), '\n'), folder.end());
  if (!fs::exists(fs::path(folder) / "initdb"))
    throw std::runtime_error("no initdb: install the package postgresql");
  return folder;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("pipe2 failed");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_write();
    ::close(read_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_write() {
    if (write_end >= 0)
      ::close(std::exchange(write_end, -1));
  }
};

/// Starts a program as `account`, its output into `output`. Between fork and exec only system calls are made,
/// because the test process has threads.
pid_t spawn(const std::vector<std::string>& command, const Account& account, int output) {
  std::vector<char*> arguments;
  for (const auto& word : command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    throw std::runtime_error("fork failed");
  if (child > 0)
    return child;
  if (account.change && (::setgroups(account.groups.size(), account.groups.data()) != 0 ||
                         ::setresgid(account.gid, account.gid, account.gid) != 0 ||
                         ::setresuid(account.uid, account.uid, account.uid) != 0))
    ::_exit(126);
  // A change of identity clears the death signal, so it is set after that. SIGQUIT makes the postmaster end its
  // children and exit at once.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

constexpr const char* folder_prefix = "cleat-pg-";
constexpr const char* lock_name = "in-use";

/// Holds the lock that tells others that a folder is in use; the kernel lets go of it when this process is gone. -1
/// when somebody else holds it, or there is no such file.
int try_lock(const std::filesystem::path& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor;
  if (descriptor >= 0)
    ::close(descriptor);
  return -1;
}

/// Removes what test processes left behind that were killed before they could clean up.
void remove_leftovers() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp", ignored)) {
    if (!entry.path().filename().string().starts_with(folder_prefix))
      continue;
    const int lock = try_lock(entry.path() / lock_name, 0);
    if (lock < 0)
      continue;
    std::filesystem::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

/// The direct children of a process, from /proc.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    std::ifstream status(entry.path() / "stat");
    std::string text;
    if (pid <= 0 || !std::getline(status, text))
      continue;
    // "pid (name) state ppid ...": the name may hold spaces and parentheses, so read from its end.
    const auto name_end = text.rfind(')');
    if (name_end != std::string::npos && text.size() > name_end + 4 && std::atoi(text.c_str() + name_end + 4) == parent)
      children.push_back(pid);
  }
  return children;
}

} // namespace

/// One life of the server. The pipe of its output says when it takes connections, and by its end that the last of
/// its processes is gone.
struct Cluster::Server {
  pid_t pid = 0;
  Pipe output;
  std::mutex mutex;
  std::condition_variable changed;
  std::string log;
  bool ready = false;
  bool gone = false;
  std::thread reader;

  void read() {
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = ::read(output.read_end, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR)
        continue;
      const std::lock_guard lock(mutex);
      if (got <= 0) {
        gone = true;
        changed.notify_all();
        return;
      }
      log.append(buffer.data(), static_cast<std::size_t>(got));
      ready = ready || log.find("database system is ready to accept connections") != std::string::npos;
      if (log.size() > log_kept_bytes)
        log.erase(0, log.size() - log_kept_bytes);
      changed.notify_all();
    }
  }

  /// Waits for readiness; false when the server went away or took too long.
  bool wait_ready() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, start_patience, [this] { return ready || gone; });
    return ready;
  }

  std::string log_text() {
    const std::lock_guard lock(mutex);
    return log;
  }
};

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  remove_leftovers();
  // The path of a Unix socket holds 107 bytes, so the folder is always directly below /tmp.
  std::string pattern = std::string("/tmp/") + folder_prefix + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("mkdtemp failed");
  root_ = pattern;
  lock_ = try_lock(root_ / lock_name, O_CREAT);
  try {
    const Account account = server_account();
    if (account.change && ::chown(root_.c_str(), account.uid, account.gid) != 0)
      throw std::runtime_error("chown failed");
    initialize();
    start();
  } catch (...) {
    std::filesystem::remove_all(root_);
    ::close(lock_);
    throw;
  }
}

Cluster::~Cluster() {
  // An immediate shutdown: it writes nothing more, because nobody will read it, and leaves no shared memory behind.
  if (server_) {
    ::kill(server_->pid, SIGQUIT);
    reap();
  }
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
  ::close(lock_);
}

void Cluster::initialize() {
  Pipe output;
  const pid_t child =
    spawn({find_binaries() / "initdb", "--pgdata=" + (root_ / "data").string(), std::string("--username=") + superuser,
           "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions"},
          server_account(), output.write_end);
  output.close_write();
  const std::string text = read_all(output.read_end);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0)
    throw std::runtime_error("initdb failed:\n" + text);
}

void Cluster::start() {
  if (server_)
    return;
  std::vector<std::string> command{find_binaries() / "postgres", "-D", root_ / "data", "-k", root_};
  std::vector<std::string> settings{"listen_addresses=", "log_destination=stderr", "logging_collector=off",
                                    "lc_messages=C", options_.fsync ? "fsync=on" : "fsync=off"};
  settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
  for (auto& setting : settings) {
    command.emplace_back("-c");
    command.push_back(std::move(setting));
  }
  server_ = std::make_unique<Server>();
  server_->pid = spawn(command, server_account(), server_->output.write_end);
  server_->output.close_write();
  server_->reader = std::thread([server = server_.get()] { server->read(); });
  if (server_->wait_ready())
    return;
  const std::string log = server_->log_text();
  kill();
  throw std::runtime_error("the test cluster did not start:\n" + log);
}

void Cluster::reap() {
  ::waitpid(server_->pid, nullptr, 0);
  server_->reader.join();
  server_.reset();
}

void Cluster::stop() {
  if (!server_)
    return;
  ::kill(server_->pid, SIGINT);
  reap();
}

void Cluster::kill() {
  if (!server_)
    return;
  // The postmaster first, so that it neither starts nor warns anyone; its children would otherwise go on for as long
  // as they do not wait for anything. They are stopped before, so that the list stays complete.
  ::kill(server_->pid, SIGSTOP);
  const auto children = children_of(server_->pid);
  ::kill(server_->pid, SIGKILL);
  for (const pid_t child : children)
    ::kill(child, SIGKILL);
  reap();
}

std::string Cluster::createdb(const std::string& name) {
  Sql(url("postgres")).run("CREATE DATABASE \"" + name + "\"");
  return url(name);
}

std::string Cluster::url(const std::string& database) const {
  return "postgresql:///" + database + "?host=" + root_.string() + "&user=" + superuser;
}

const std::filesystem::path& Cluster::socket_folder() const {
  return root_;
}

std::filesystem::path Cluster::socket() const {
  return root_ / ".s.PGSQL.5432";
}

pid_t Cluster::pid() const {
  return server_ ? server_->pid : 0;
}

Cluster& shared_cluster() {
  // No test of these pulls the plug, so nothing is gained by waiting for the disk. Transactions of autovacuum would
  // hold readers of the logs up at moments that no test has chosen.
  static Cluster cluster({.fsync = false, .settings = {"autovacuum=off"}});
  return cluster;
}

std::string fresh_database_name() {
  static std::atomic<int> count = 0;
  return "test_" + std::to_string(++count);
}

} // namespace cleat::test
