#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/client.hpp"
#include "tests/process/world.hpp"

namespace cleat::test {

/// A bind that a client sent, and the answer it saw.
struct Acknowledged {
  std::string thread;
  std::string body;
  std::string key;
  std::string reference;
  Response answer;
};

/// Clients that bind as fast as they are answered, each in a thread of its own and with a fresh Idempotency-Key for
/// every bind. Whatever goes wrong on the way, a client sends the same request with the same key again until it is
/// answered `201`; that is what the keys are for.
class BindLoad {
public:
  BindLoad(World& world, Endpoint endpoint, int clients);

  /// Stops and waits for every client, which needs a server that answers unless `give_up` was called.
  ~BindLoad();

  BindLoad(const BindLoad&) = delete;
  BindLoad& operator=(const BindLoad&) = delete;

  /// Returns once `count` more binds are acknowledged than now.
  void wait_for_more(std::size_t count);

  /// Tells the clients where the server is now.
  void move_to(const Endpoint& endpoint);

  /// From now on a client that loses its connection ends, with its request undecided.
  void give_up();

  /// Ends the load: no new binds; waits until those under way are answered.
  void finish();

  /// Everything that was acknowledged. Call it after `finish`.
  [[nodiscard]] const std::vector<Acknowledged>& acknowledged() const { return acknowledged_; }

  /// How often an answer other than `201` came, by status. Call it after `finish`.
  [[nodiscard]] const std::map<std::string, int>& refusals() const { return refusals_; }

private:
  void run(const std::string& thread, int who);
  bool send_until_answered(Acknowledged& request, Client& client, int& generation);
  bool reconnect(Client& client, int& generation);
  void note_refusal(const Response& answer);

  const std::string token_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Endpoint endpoint_;
  int generation_ = 0; ///< raised by every `move_to`
  bool giving_up_ = false;
  bool finishing_ = false;
  std::vector<Acknowledged> acknowledged_;
  std::map<std::string, int> refusals_;
  std::vector<std::jthread> threads_;
};

/// Holds what clients saw against what is there: every acknowledged row exists once, and a replay of each request
/// answers the same bytes.
void expect_all_kept(const BindLoad& load, Client& client, Sql& database);

} // namespace cleat::test
