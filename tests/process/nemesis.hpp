#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/process/history.hpp"
#include "tests/process/server.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/cutting_proxy.hpp"

namespace cleat::test {

/// Two servers on one database, each behind a network of its own that may be cut, slow or silent. Made and used by the
/// main thread, because servers die with the thread that starts them.
class Stage {
public:
  Stage();

  [[nodiscard]] std::string url() const { return cluster.url("cleat"); }

  /// Its processes are killed and the machine is not, so nothing is gained by waiting for the disk.
  Cluster cluster{{.fsync = false, .settings = {"autovacuum=off"}}};
  std::string direct_url = cluster.createdb("cleat");
  CuttingProxy first_network{cluster.socket()};
  CuttingProxy second_network{cluster.socket()};
  Server first;
  Server second;
  Whereabouts whereabouts;

  [[nodiscard]] Server& server(std::size_t number) { return number == 0 ? first : second; }
  [[nodiscard]] CuttingProxy& network(std::size_t number) { return number == 0 ? first_network : second_network; }
};

/// Does harm, one thing after the other, and makes it good again before it returns.
class Nemesis {
public:
  Nemesis(Stage& stage, std::uint64_t seed) : stage_(stage), random_(seed) {}

  /// One fault, chosen by lot.
  void strike();

  /// How often each fault was done, in the whole program.
  static const std::map<std::string, int>& strikes() { return strikes_; }

private:
  struct Fault {
    const char* name;
    void (Nemesis::*act)();
  };

  void kill_a_server();
  void kill_the_database();
  void terminate_backends();
  void pause_a_server();
  void pause_a_backend();
  void lose_a_commit();
  void lose_the_answer_to_a_commit();
  void cut_a_network();
  void silence_a_network();
  void slow_a_network();

  std::size_t some_server() { return std::uniform_int_distribution<std::size_t>(0, 1)(random_); }
  /// Lets a fault last: that is what it is.
  void last(int least_ms, int most_ms);

  static std::map<std::string, int> strikes_;

  Stage& stage_;
  std::mt19937_64 random_;
};

} // namespace cleat::test
