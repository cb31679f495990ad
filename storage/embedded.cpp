#include "storage/embedded.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/crash_points.hpp"
#include "base/log.hpp"
#include "storage/embedded_database.hpp"

namespace cleat::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The names under which PostgreSQL finds the two descriptors that `start_once` hands over.
constexpr const char* handed_cluster = "/proc/self/fd/3";
constexpr const char* handed_socket_folder = "/proc/self/fd/4";

constexpr milliseconds first_backoff{50};
constexpr seconds immediate_stop_timeout{5};
constexpr std::size_t last_words_bytes = 2000;

/// The user of this name. Throws with a sentence that names the key.
std::pair<uid_t, gid_t> look_up_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr)
    throw std::runtime_error("PostgreSQL does not run as root, and the user '" + name + "' of database.embedded_user " +
                             "does not exist. Make it (adduser --system " + name + "), or name another one.");
  if (entry.pw_uid == 0)
    throw std::runtime_error("database.embedded_user is '" + name + "', but PostgreSQL does not run as root. Name a " +
                             "user without privileges, for example 'postgres'.");
  return {entry.pw_uid, entry.pw_gid};
}

/// Makes a folder that only `user` (absent: this process's user) can enter.
void make_private_folder(const std::filesystem::path& path, const std::optional<std::pair<uid_t, gid_t>>& user) {
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  if (user && chown(path.c_str(), user->first, user->second) != 0)
    throw std::system_error(errno, std::generic_category(), path.string());
}

FileDescriptor open_folder(const std::filesystem::path& path) {
  FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    throw std::system_error(errno, std::generic_category(), path.string());
  return folder;
}

/// What was written to the log behind `offset`, the last part of it.
std::string log_since(const std::filesystem::path& log, std::streamoff offset) {
  std::ifstream file(log, std::ios::binary);
  file.seekg(offset);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > last_words_bytes)
    text.erase(0, text.size() - last_words_bytes);
  return text;
}

/// Server processes of a PostgreSQL that was killed end by themselves, a moment after it. Until then it cannot be
/// started again.
bool still_leaving(const std::string& last_words) {
  return last_words.find("pre-existing shared memory block") != std::string::npos;
}

} // namespace

EmbeddedPostgres::EmbeddedPostgres(const DataFolder& folder, EmbeddedOptions options, std::shared_ptr<Metrics> metrics)
  : folder_(folder),
    options_(std::move(options)),
    metrics_(std::move(metrics)),
    cluster_(folder.path() / "postgres"),
    socket_folder_(folder.path() / "postgres-socket"),
    programs_(find_postgres(options_.postgres_bin, cluster_major(cluster_))),
    interrupt_(eventfd(0, EFD_CLOEXEC)) {
  choose_user();
  make_cluster();
  open_folders();
  take_over_or_start();
  try {
    crash_point(CrashPoint::postgres_started);
    make_database(url_);
    crash_point(CrashPoint::database_made);
    start_supervision();
  } catch (...) {
    stop_process(*process_);
    throw;
  }
}

EmbeddedPostgres::~EmbeddedPostgres() {
  stop();
}

void EmbeddedPostgres::choose_user() {
  struct stat owner {};
  const bool exists = stat(cluster_.c_str(), &owner) == 0;
  const bool root = geteuid() == 0;
  if (exists && !root && owner.st_uid != geteuid())
    throw std::runtime_error("The database in " + cluster_.string() +
                             " belongs to another user. Start cleatd as that " +
                             "user or as root, or name another folder with --data.");
  // A cluster that exists stays with the user that made it, whoever that was.
  if (root && exists && owner.st_uid != 0)
    user_.emplace(owner.st_uid, owner.st_gid);
  else if (root)
    user_ = look_up_user(options_.user);
}

void EmbeddedPostgres::make_cluster() const {
  if (std::filesystem::exists(cluster_))
    return;
  // The cluster gets its name when it is complete, so that a start that is cut off leaves nothing half made.
  const auto draft = folder_.path() / "postgres.new";
  std::filesystem::remove_all(draft);
  make_private_folder(draft, user_);
  log::get().info("making a database in {}", cluster_.string());
  const auto folder = open_folder(draft);
  Command command{as_user({(programs_.folder / "initdb").string(), "--pgdata", handed_cluster, "--username", "cleat",
                           "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--data-checksums"},
                          true),
                  {folder.get()}};
  const auto output = run(std::move(command), seconds(options_.start_timeout_s));
  if (output.exit_code != 0)
    throw std::runtime_error("PostgreSQL's initdb failed in " + draft.string() + ":\n" + output.text);
  crash_point(CrashPoint::cluster_made);
  std::filesystem::rename(draft, cluster_);
  crash_point(CrashPoint::cluster_named);
  folder_.sync();
}

void EmbeddedPostgres::open_folders() {
  make_private_folder(socket_folder_, user_);
  cluster_descriptor_ = open_folder(cluster_);
  socket_descriptor_ = open_folder(socket_folder_);
  // The kernel takes 107 bytes. Where the real path is longer, our own descriptor of the folder is a short one.
  auto host = socket_folder_.string();
  if (host.size() + std::string_view("/.s.PGSQL.5432").size() >= sizeof(sockaddr_un::sun_path))
    host = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(socket_descriptor_.get());
  url_ = connection_string(host);
}

void EmbeddedPostgres::take_over_or_start() {
  auto found = find_postmaster(cluster_);
  if (!found)
    return start();
  const auto deadline = std::chrono::steady_clock::now() + seconds(options_.start_timeout_s);
  const bool same = command_line(found->pid()) == server_arguments();
  if (same && await_start(cluster_, *found, interrupt_.get(), deadline) == StartOutcome::ready) {
    log::get().info("adopted the PostgreSQL that was left running (process {})", found->pid());
    pid_ = found->pid();
    adopted_ = true;
    process_ = std::move(found);
    return;
  }
  log::get().info("replacing the PostgreSQL that was left running (process {})", found->pid());
  stop_process(*found);
  start();
}

void EmbeddedPostgres::start() {
  const auto deadline = std::chrono::steady_clock::now() + seconds(options_.start_timeout_s);
  auto outcome = start_once();
  while (outcome == StartOutcome::ended && still_leaving(last_words_) && std::chrono::steady_clock::now() < deadline &&
         !interrupted_within(first_backoff))
    outcome = start_once();
  if (outcome == StartOutcome::ready)
    return;
  throw std::runtime_error("PostgreSQL did not start in " + cluster_.string() + ". It said:\n" + last_words_);
}

StartOutcome EmbeddedPostgres::start_once() {
  remove_stale_locks();
  const auto log = open_log();
  const auto log_end = lseek(log.get(), 0, SEEK_END);
  Command command{
    as_user(server_arguments(), false), {cluster_descriptor_.get(), socket_descriptor_.get()}, log.get(), true};
  auto process = Process::start(command);
  const auto deadline = std::chrono::steady_clock::now() + seconds(options_.start_timeout_s);
  const auto outcome = await_start(cluster_, process, interrupt_.get(), deadline);
  if (outcome == StartOutcome::ready) {
    pid_ = process.pid();
    process_ = std::move(process);
    return outcome;
  }
  if (outcome != StartOutcome::ended)
    stop_process(process);
  last_words_ = log_since(folder_.path() / "postgres.log", log_end);
  return outcome;
}

void EmbeddedPostgres::remove_stale_locks() const {
  // Files that name a process that is gone are no obstacle to PostgreSQL, but those of one that has ended and that
  // nobody reaps, or whose number another process has by now, are. Who is on the folder is settled by our own lock,
  // by `find_postmaster` and, for server processes that are still leaving, by PostgreSQL's lock on shared memory.
  if (find_postmaster(cluster_))
    return;
  std::filesystem::remove(cluster_ / "postmaster.pid");
  std::filesystem::remove(socket_folder_ / ".s.PGSQL.5432");
  std::filesystem::remove(socket_folder_ / ".s.PGSQL.5432.lock");
}

void EmbeddedPostgres::start_supervision() {
  supervisor_ = std::thread([this] { supervise(); });
}

void EmbeddedPostgres::supervise() {
  for (;;) {
    std::array<pollfd, 2> events{{{process_->descriptor(), POLLIN, 0}, {interrupt_.get(), POLLIN, 0}}};
    if (poll(events.data(), events.size(), -1) < 0)
      continue;
    if (events[1].revents != 0)
      return;
    static_cast<void>(process_->wait(milliseconds(0))); // reaps it
    log::get().error("PostgreSQL (process {}) has ended, starting it again", process_->pid());
    pid_ = 0;
    if (!restart())
      return;
    metrics_->database_restarts.Increment();
    log::get().info("PostgreSQL runs again (process {})", process_->pid());
  }
}

bool EmbeddedPostgres::restart() {
  for (auto backoff = first_backoff;; backoff = std::min(backoff * 2, milliseconds(options_.restart_backoff_max_ms))) {
    try {
      start();
      return true;
    } catch (const std::exception& error) {
      if (interrupted_within(backoff))
        return false;
      log::get().error("{}", error.what());
    }
  }
}

bool EmbeddedPostgres::interrupted_within(milliseconds pause) const {
  pollfd event{interrupt_.get(), POLLIN, 0};
  return poll(&event, 1, static_cast<int>(pause.count())) > 0;
}

void EmbeddedPostgres::stop() {
  if (!supervisor_.joinable())
    return;
  eventfd_write(interrupt_.get(), 1);
  supervisor_.join();
  if (process_)
    stop_process(*process_);
  pid_ = 0;
}

void EmbeddedPostgres::stop_process(Process& process) const {
  // A fast stop cuts connections and writes a checkpoint; an immediate one leaves recovery to the next start.
  process.signal(SIGINT);
  if (process.wait(seconds(options_.stop_timeout_s)))
    return;
  log::get().warn("PostgreSQL (process {}) did not stop in time, stopping it hard", process.pid());
  process.signal(SIGQUIT);
  if (process.wait(immediate_stop_timeout))
    return;
  process.signal(SIGKILL);
  static_cast<void>(process.wait(immediate_stop_timeout));
}

std::vector<std::string> EmbeddedPostgres::as_user(std::vector<std::string> arguments, bool dies_with_us) const {
  std::vector<std::string> prefix;
  if (user_)
    prefix = {"--reuid", std::to_string(user_->first), "--regid", std::to_string(user_->second), "--clear-groups"};
  if (dies_with_us)
    prefix.insert(prefix.end(), {"--pdeathsig", "KILL"});
  if (prefix.empty())
    return arguments;
  prefix.insert(prefix.begin(), "setpriv");
  prefix.insert(prefix.end(), std::move_iterator(arguments.begin()), std::move_iterator(arguments.end()));
  return prefix;
}

std::vector<std::string> EmbeddedPostgres::server_arguments() const {
  std::vector<std::string> arguments{(programs_.folder / "postgres").string(), "-D", handed_cluster};
  const std::vector<std::string> settings{
    "listen_addresses=",
    std::string("unix_socket_directories=") + handed_socket_folder,
    "unix_socket_permissions=0700",
    "cluster_name=" + cluster_name(cluster_),
    "port=5432", // the name of the socket file
    "max_connections=" + std::to_string(options_.max_connections),
    "shared_buffers=" + std::to_string(options_.shared_buffers_mb) + "MB",
    "fsync=on",
    "full_page_writes=on",
    "recovery_init_sync_method=syncfs", // after a crash one call syncs the folder, instead of one for each file
    "synchronous_commit=on",
    "deadlock_timeout=100ms", // take-overs across servers may deadlock and are decided again
    "jit=off",                // statements are short and many
    // The log must not hold references of sessions: no statements, no values of refused rows. What cleatd's own
    // statements run into, cleatd logs.
    "logging_collector=off",
    "log_destination=stderr",
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_statement=none",
    "log_checkpoints=off",
  };
  for (const auto& setting : settings) {
    arguments.emplace_back("-c");
    arguments.push_back(setting);
  }
  return arguments;
}

FileDescriptor EmbeddedPostgres::open_log() const {
  const auto path = folder_.path() / "postgres.log";
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file)
    throw std::system_error(errno, std::generic_category(), path.string());
  return file;
}

} // namespace cleat::storage
