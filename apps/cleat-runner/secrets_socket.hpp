#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "apps/cleat-runner/event_loop.hpp"

namespace cleat::runner {

/// The Unix socket over which one agent asks for secrets of its account: it writes `NAME` and a line break, and is
/// answered `ok LENGTH`, a line break and that many bytes, or `error WORD` and a line break. Nothing is kept.
class SecretsSocket {
public:
  /// Told once for each connection that has asked.
  using Asked = std::function<void(std::uint64_t connection, const std::string& name)>;

  /// Listens; throws `std::runtime_error`.
  SecretsSocket(EventLoop& loop, std::string path, Asked asked);
  ~SecretsSocket();
  SecretsSocket(const SecretsSocket&) = delete;
  SecretsSocket& operator=(const SecretsSocket&) = delete;

  /// Answers and hangs up; nothing happens when the connection is gone.
  void answer(std::uint64_t connection, bool found, const std::string& value);
  /// Whether the connection still waits.
  [[nodiscard]] bool waits(std::uint64_t connection) const;

private:
  struct Connection {
    Descriptor socket;
    std::string name;
    std::string output;
    bool asked = false;
    EventLoop::TimerId timer = 0;
  };

  void on_connect();
  void on_event(std::uint64_t number, std::uint32_t events);
  void read_name(std::uint64_t number, Connection& connection);
  void reply(std::uint64_t number, Connection& connection, std::string text);
  void flush(std::uint64_t number, Connection& connection);
  void close(std::uint64_t number);

  EventLoop& loop_;
  std::string path_;
  Asked asked_;
  Descriptor listener_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t last_number_ = 0;
};

} // namespace cleat::runner
