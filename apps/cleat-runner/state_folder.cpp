#include "apps/cleat-runner/state_folder.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::runner {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw std::runtime_error("cannot make the folder " + path.string() + ": " + error.message());
}

void check(bool worked, const std::string& path) {
  if (!worked)
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check(folder && ::fsync(folder.get()) == 0, path);
}

} // namespace

StateFolder::StateFolder(std::string path) : path_(std::move(path)) {
  make_folder(path_);
  const auto name = path_ + "/lock";
  lock_ = Descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  check(static_cast<bool>(lock_), name);
  // A lock of the process, and not one of the open file as flock(2) has them: a child that was forked a moment before
  // its Runner died would keep that one until it dies as well.
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(lock_.get(), F_SETLK, &whole_file) != 0)
    throw std::runtime_error("another cleat-runner works with the state folder " + path_ +
                             "; give each a folder of its own");
}

std::string StateFolder::of_container(const std::string& name) const {
  auto folder = path_ + "/containers/" + name;
  make_folder(folder);
  return folder;
}

std::string StateFolder::secrets_socket(const std::string& container) const {
  return of_container(container) + "/secrets.sock";
}

std::string StateFolder::errors_file(const std::string& container) const {
  return of_container(container) + "/stderr.log";
}

std::string StateFolder::write_body(const std::string& container, const std::string& session_id,
                                    const std::string& body) const {
  const auto folder = of_container(container) + "/bodies";
  make_folder(folder);
  auto path = folder + "/" + session_id + ".jsonl";
  const auto draft = path + ".new";
  {
    const Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    check(static_cast<bool>(file), draft);
    for (std::size_t written = 0; written < body.size();) {
      const auto count = ::write(file.get(), body.data() + written, body.size() - written);
      check(count >= 0 || errno == EINTR, draft);
      written += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    check(::fsync(file.get()) == 0, draft);
  }
  check(::rename(draft.c_str(), path.c_str()) == 0, path);
  sync_folder(folder);
  return path;
}

void StateFolder::remove_bodies(const std::string& container) const {
  std::error_code ignored;
  fs::remove_all(path_ + "/containers/" + container + "/bodies", ignored);
}

} // namespace cleat::runner
