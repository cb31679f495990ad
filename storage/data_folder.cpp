#include "storage/data_folder.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>

#include "base/crash_points.hpp"

namespace cleat::storage {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

FileDescriptor open_file(const std::filesystem::path& path, int flags) {
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file)
    fail(path.string());
  return file;
}

std::string read_all(int file, const std::string& what) {
  std::string content;
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto count = ::read(file, chunk.data(), chunk.size());
    if (count == 0)
      return content;
    if (count > 0)
      content.append(chunk.data(), static_cast<std::size_t>(count));
    else if (errno != EINTR)
      fail(what);
  }
}

void write_all(int file, std::string_view content, const std::string& what) {
  while (!content.empty()) {
    const auto count = ::write(file, content.data(), content.size());
    if (count >= 0)
      content.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      fail(what);
  }
}

/// The folder's path with everything symbolic resolved, made when it is missing.
std::filesystem::path make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  // What is in a folder of ours is for this user alone. A folder that existed keeps its mode: it may be used for other
  // things too, and everything that is written into it is private by itself.
  if (!error && std::filesystem::create_directories(absolute, error))
    std::filesystem::permissions(absolute, std::filesystem::perms::owner_all, error);
  if (error)
    throw std::runtime_error("The data folder " + folder.string() + " cannot be made (" + error.message() +
                             "). Name another one with --data, or give this user the right to write there.");
  return std::filesystem::canonical(absolute);
}

FileDescriptor lock_folder(const std::filesystem::path& folder) {
  const auto path = folder / "cleatd.lock";
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file)
    throw std::runtime_error("The data folder " + folder.string() + " cannot be used (" + path.string() + ": " +
                             std::generic_category().message(errno) +
                             "). Start cleatd as the user that owns the folder, or name another one with --data.");
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto holder = read_all(file.get(), path.string());
    throw std::runtime_error("The data folder " + folder.string() + " is in use by another cleatd (process " +
                             holder.substr(0, holder.find('\n')) +
                             "). Stop that one first, or name another folder with --data.");
  }
  if (ftruncate(file.get(), 0) != 0)
    fail(path.string());
  write_all(file.get(), std::to_string(getpid()) + "\n", path.string());
  return file;
}

} // namespace

DataFolder::DataFolder(const std::filesystem::path& folder) : path_(make_folder(folder)), lock_(lock_folder(path_)) {}

std::optional<std::string> DataFolder::read(std::string_view name) const {
  const auto path = path_ / name;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT)
    return std::nullopt;
  if (!file)
    fail(path.string());
  return read_all(file.get(), path.string());
}

void DataFolder::write(std::string_view name, std::string_view content) const {
  const auto path = path_ / name;
  const auto draft = path_ / (std::string(name) + ".new");
  std::error_code ignored;
  std::filesystem::remove(draft, ignored); // left by a crash, perhaps with another mode
  auto file = open_file(draft, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file.get(), content, draft.string());
  if (fsync(file.get()) != 0)
    fail(draft.string());
  crash_point(CrashPoint::file_drafted);
  std::filesystem::rename(draft, path);
  crash_point(CrashPoint::file_named);
  sync();
}

void DataFolder::remove(std::string_view name) const {
  if (std::filesystem::remove(path_ / name))
    sync();
}

void DataFolder::sync() const {
  const auto folder = open_file(path_, O_RDONLY | O_DIRECTORY);
  if (fsync(folder.get()) != 0)
    fail(path_.string());
}

} // namespace cleat::storage
