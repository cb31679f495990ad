#include "tests/support/cutting_proxy.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cleat::test {

namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path))
    throw std::runtime_error("socket path too long");
  std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
  return address;
}

int open_socket() {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    throw std::runtime_error("no socket");
  return descriptor;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

} // namespace

namespace {

/// Follows what a client sends, message by message, to know when it commits: as a plain query, or by a statement that
/// it prepared before.
class CommitWatch {
public:
  /// Whether a COMMIT is executed in `bytes`, the next piece of the client's stream.
  bool sees_commit(std::string_view bytes) {
    unread_.append(bytes);
    bool seen = false;
    while (const auto length = next_message()) {
      if (started_)
        seen = looks_like_commit(std::string_view(unread_).substr(0, *length)) || seen;
      started_ = true;
      unread_.erase(0, *length);
    }
    return seen;
  }

private:
  /// The length of the first message, once it is there as a whole. Every message has a type and a length, only the
  /// first of a connection has no type.
  [[nodiscard]] std::optional<std::size_t> next_message() const {
    const std::size_t type_bytes = started_ ? 1 : 0;
    if (unread_.size() < type_bytes + 4)
      return std::nullopt;
    std::size_t length = type_bytes;
    std::uint32_t counted = 0;
    for (std::size_t i = 0; i < 4; ++i)
      counted = counted << 8 | static_cast<unsigned char>(unread_[type_bytes + i]);
    length += counted;
    return unread_.size() < length ? std::nullopt : std::optional(length);
  }

  bool looks_like_commit(std::string_view message) {
    constexpr std::string_view end("\0", 1);
    const char type = message.front();
    const std::string_view first = message.substr(5, message.find(end, 5) - 5);
    if (type == 'Q')
      return first == "COMMIT";
    if (type != 'P' && type != 'B')
      return false;
    const std::string_view rest = message.substr(5 + first.size() + 1);
    const std::string second(rest.substr(0, rest.find(end)));
    if (type == 'B')
      return commit_statements_.contains(second); // bind: portal, statement
    if (second == "COMMIT")
      commit_statements_.emplace(first); // parse: statement, query
    else
      commit_statements_.erase(std::string(first));
    return false;
  }

  bool started_ = false;
  std::string unread_;
  std::set<std::string> commit_statements_;
};

} // namespace

/// A client's connection and its own connection to the server.
struct CuttingProxy::Link {
  int client = -1;
  int server = -1;
  CommitWatch watch;
  /// Set once the COMMIT whose answer is to be lost has been passed on.
  bool lose_answer = false;

  Link(int client_end, int server_end) : client(client_end), server(server_end) {}
  ~Link() {
    ::close(client);
    ::close(server);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
};

CuttingProxy::CuttingProxy(std::filesystem::path server_socket) : server_socket_(std::move(server_socket)) {
  std::string pattern = "/tmp/cleat-cut-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("mkdtemp failed");
  folder_ = pattern;
  listener_ = open_socket();
  const auto address = address_of(folder_ / server_socket_.filename());
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0)
    throw std::runtime_error("the proxy cannot listen");
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { run(); });
}

CuttingProxy::~CuttingProxy() {
  ends_ = true;
  wake();
  thread_.join();
  links_.clear();
  ::close(listener_);
  ::close(wake_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

const std::filesystem::path& CuttingProxy::folder() const {
  return folder_;
}

void CuttingProxy::cut_next_commit(Loss loss) {
  next_loss_ = loss;
}

void CuttingProxy::refuse_connections(bool refuse) {
  refuse_ = refuse;
}

void CuttingProxy::cut_all() {
  cut_all_ = true;
  wake();
}

void CuttingProxy::hold(bool held) {
  held_ = held;
  wake();
}

void CuttingProxy::delay(std::chrono::milliseconds span) {
  delay_ms_ = static_cast<int>(span.count());
}

void CuttingProxy::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof(one));
}

bool CuttingProxy::obey() {
  std::uint64_t count = 0;
  (void)!::read(wake_, &count, sizeof(count));
  if (cut_all_.exchange(false))
    links_.clear();
  return !ends_;
}

bool CuttingProxy::wait_for_cuts(int count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return cuts_ >= count; });
}

void CuttingProxy::run() {
  for (;;) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    std::vector<int> owners;
    if (held_)
      polled.pop_back(); // only what is asked for is heard
    for (const auto& [client, link] : links_) {
      if (held_)
        break;
      polled.push_back({link->client, POLLIN, 0});
      polled.push_back({link->server, POLLIN, 0});
      owners.push_back(client);
    }
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      return;
    // What has happened meanwhile is passed on after the delay; what was asked for is done at once.
    if (polled[0].revents == 0 && delay_ms_ > 0)
      ::poll(polled.data(), 1, delay_ms_);
    if (polled[0].revents != 0) {
      if (!obey())
        return;
      continue;
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      Link& link = *links_.at(owners[i]);
      const bool stays =
        (polled[2 + 2 * i].revents == 0 || pump_client(link)) && (polled[3 + 2 * i].revents == 0 || pump_server(link));
      if (!stays)
        links_.erase(owners[i]);
    }
    if (polled.size() > 1 && polled[1].revents != 0)
      accept_client();
  }
}

void CuttingProxy::accept_client() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0)
    return;
  const int server = open_socket();
  const auto address = address_of(server_socket_);
  if (refuse_ || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  links_.emplace(client, std::make_unique<Link>(client, server));
}

bool CuttingProxy::pump_client(Link& link) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(link.client, buffer.data(), buffer.size(), 0);
  if (got <= 0)
    return false;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (link.watch.sees_commit(bytes) && next_loss_ != Loss::nothing) {
    const Loss loss = next_loss_.exchange(Loss::nothing);
    if (loss == Loss::request) {
      note_cut();
      return false;
    }
    link.lose_answer = loss == Loss::answer;
  }
  return write_all(link.server, bytes);
}

bool CuttingProxy::pump_server(Link& link) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(link.server, buffer.data(), buffer.size(), 0);
  if (got <= 0)
    return false;
  if (link.lose_answer) {
    note_cut();
    return false;
  }
  return write_all(link.client, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
}

void CuttingProxy::note_cut() {
  const std::lock_guard lock(mutex_);
  ++cuts_;
  changed_.notify_all();
}

} // namespace cleat::test
