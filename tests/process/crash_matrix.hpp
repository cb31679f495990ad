#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/process/client.hpp"
#include "tests/process/server.hpp"

namespace cleat::test {

/// A request of a client that does not give up: who, what, and the answer that it has so far.
struct Request {
  std::string token;
  std::string path;
  std::string body = "{}";
  Headers headers = {};
  std::string method = "POST";
  std::optional<Response> answer = std::nullopt;
  /// The status that it has to get in the end; 0 for any success.
  int expected = 0;
  /// A status that is as true in the end; 0 for none.
  int or_else = 0;
  /// Whether an answer that was seen comes again with the same bytes. That of a start has a fresh handle instead.
  bool same_bytes = true;
};

/// A client's request with an Idempotency-Key of its own.
Request keyed(const std::string& token, const std::string& path, const std::string& body = "{}",
              const Headers& headers = {});

/// Sends the requests one after the other until the server is gone.
void send_all(const Server& server, std::vector<Request>& requests);

/// After the server is back: every request is sent again, with the same key, as long as the answer says so. One that
/// was answered before has to be answered with the same bytes; one that was not gets its first answer, which has to be
/// a success.
void send_all_again(const Server& server, std::vector<Request>& requests);

/// The names of the crash points that are built into a program, as it lists them itself.
std::vector<std::string> crash_points_of(const std::string& program, const std::string& variable);

/// The points of the server and of the Runner that the tests of the matrix come by. Each of their files adds its own
/// before any test runs, so that one test can tell which point nobody comes by.
std::set<std::string>& crossed_by_server();
std::set<std::string>& crossed_by_runner();

/// Adds points, without their numbers; its value is of no use.
bool cross(std::set<std::string>& crossed, const std::vector<std::string>& points);

/// A flow of the matrix by its name, and the point at which a program dies in it.
using Case = std::pair<std::string, std::string>;

/// Adds the points of cases likewise.
bool cross_all(std::set<std::string>& crossed, const std::vector<Case>& cases);

/// Whether the long form of the matrix is asked for (CLEAT_CRASH_MATRIX=all): every flow at every point that it may
/// come by, and not only at those that differ from flow to flow.
bool is_long_matrix();

/// A point without the number of times, in letters that a test's name may have.
std::string point_name(const std::string& point);

} // namespace cleat::test
