#include "http/socket_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "http/head.hpp"

namespace cleat::http {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t read_size = 16 * 1024;
/// Answers grow in memory up to this size before a part of them is sent.
constexpr std::size_t write_size = 64 * 1024;

/// The time left until `deadline` as `poll` takes it, never negative.
int milliseconds_until(SocketStream::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SocketStream::Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

} // namespace

SocketStream::SocketStream(int fd, int wake_fd, std::chrono::milliseconds write_timeout,
                           std::shared_ptr<tls::Context> context)
  : fd_(fd), wake_fd_(wake_fd), write_timeout_(write_timeout) {
  if (context)
    tls_.emplace(std::move(context));
}

bool SocketStream::shake_hands(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (tls_ && !tls_->established())
    if (!decrypt_more(deadline, Woken::when_draining))
      return false;
  return true;
}

bool SocketStream::wait_for_request(std::chrono::milliseconds timeout) {
  if (failed_)
    return false;
  if (!unread().empty())
    return true;
  if (has_said_the_end())
    return false;
  // A request that has arrived already is still answered, whatever the wake-up says.
  return wait(POLLIN, Clock::now() + timeout, Woken::when_draining);
}

bool SocketStream::holds(std::chrono::milliseconds time) {
  if (failed_ || has_said_the_end())
    return false;
  const auto deadline = Clock::now() + time;
  // Not POLLIN: a request that is sent ahead of its turn is no reason to end this one.
  std::array<pollfd, 2> descriptors{pollfd{fd_, POLLRDHUP, 0}, pollfd{wake_fd_, POLLIN, 0}};
  int ready = 0;
  do
    ready = ::poll(descriptors.data(), descriptors.size(), milliseconds_until(deadline));
  while (ready < 0 && errno == EINTR);
  return ready == 0;
}

SocketStream::HeadStatus SocketStream::read_head(std::size_t max_bytes, Clock::time_point deadline) {
  in_.erase(0, begin_);
  begin_ = 0;
  deadline_ = deadline;
  head_length_ = 0;
  for (;;) {
    // Empty lines before a request are allowed (RFC 9112 section 2.2).
    while (unread().starts_with("\r\n"))
      begin_ += 2;
    if (const auto length = head_length(unread())) {
      head_length_ = *length;
      budget_ = *length;
      return *length > max_bytes ? HeadStatus::too_large : HeadStatus::complete;
    }
    if (unread().size() > max_bytes || begin_ > max_bytes)
      return HeadStatus::too_large;
    if (!fill(deadline))
      return HeadStatus::closed;
  }
}

bool SocketStream::wait(short events, Clock::time_point deadline, Woken woken) const {
  std::array<pollfd, 2> descriptors{pollfd{fd_, events, 0}, pollfd{wake_fd_, POLLIN, 0}};
  const nfds_t count = woken == Woken::when_draining ? 2 : 1;
  int ready = 0;
  do
    ready = ::poll(descriptors.data(), count, milliseconds_until(deadline));
  while (ready < 0 && errno == EINTR);
  return ready > 0 && descriptors[0].revents != 0;
}

ssize_t SocketStream::receive(char* out, std::size_t size, Clock::time_point deadline, Woken woken) {
  for (;;) {
    const auto count = ::recv(fd_, out, size, MSG_DONTWAIT);
    if (count >= 0)
      return count;
    if (errno == EINTR)
      continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait(POLLIN, deadline, woken))
      return -1;
  }
}

bool SocketStream::fill(Clock::time_point deadline) {
  const auto before = in_.size();
  if (tls_) {
    // Records may bring no text, and a record may come in pieces.
    while (in_.size() == before)
      if (!decrypt_more(deadline, Woken::never))
        return false;
    return true;
  }
  in_.resize(before + read_size);
  const auto count = receive(in_.data() + before, read_size, deadline);
  in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count > 0;
}

bool SocketStream::decrypt_more(Clock::time_point deadline, Woken woken) {
  if (failed_ || tls_->closed())
    return false;
  std::array<char, read_size> cipher{};
  const auto count = receive(cipher.data(), cipher.size(), deadline, woken);
  if (count <= 0)
    return false;
  in_ += tls_->receive({cipher.data(), static_cast<std::size_t>(count)});
  // A client that makes TLS answer and does not read the answers is no better than one that does not read ours.
  const bool sent = transmit(tls_->take_output(), std::min(deadline, Clock::now() + write_timeout_), woken);
  failed_ = failed_ || !tls_->error().empty();
  return sent && !failed_;
}

ssize_t SocketStream::read(char* out, size_t size) {
  // The library reads its lines one byte at a time, so what costs anything is done only where it must be.
  if (out_.empty() ? failed_ : !flush())
    return -1;
  if (budget_ == 0)
    return -1;
  if (unread().empty()) {
    in_.clear();
    begin_ = 0;
    if (!fill(deadline_))
      return -1;
  }
  const auto count = std::min({size, unread().size(), budget_});
  std::memcpy(out, in_.data() + begin_, count);
  begin_ += count;
  budget_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t SocketStream::write(const char* data, size_t size) {
  out_.append(data, size);
  if (out_.size() >= write_size && !flush())
    return -1;
  return static_cast<ssize_t>(size);
}

bool SocketStream::flush() {
  return push(Woken::never);
}

bool SocketStream::send(std::string_view bytes) {
  out_.append(bytes);
  return push(Woken::when_draining);
}

bool SocketStream::push(Woken woken) {
  if (tls_ && !out_.empty()) {
    tls_->send(out_);
    out_ = tls_->take_output();
    failed_ = failed_ || !tls_->error().empty();
  }
  transmit(out_, Clock::now() + write_timeout_, woken);
  out_.clear();
  return !failed_;
}

bool SocketStream::transmit(std::string_view bytes, Clock::time_point deadline, Woken woken) {
  while (!bytes.empty() && !failed_) {
    const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(count));
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      failed_ = !wait(POLLOUT, deadline, woken);
    else
      failed_ = errno != EINTR;
  }
  return !failed_;
}

void SocketStream::say_the_end() {
  if (!tls_ || failed_)
    return;
  tls_->close();
  transmit(tls_->take_output(), Clock::now() + write_timeout_, Woken::when_draining);
}

void SocketStream::linger(std::chrono::milliseconds timeout) {
  ::shutdown(fd_, SHUT_WR);
  const auto deadline = Clock::now() + timeout;
  std::array<char, read_size> discarded{};
  while (Clock::now() < deadline && receive(discarded.data(), discarded.size(), deadline) > 0) {
  }
}

bool SocketStream::is_readable() const {
  return !unread().empty() || wait(POLLIN, deadline_);
}

bool SocketStream::is_writable() const {
  return !failed_;
}

// Nobody asks for addresses; two system calls a request are saved.
void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

} // namespace cleat::http
