#include "tests/process/crash_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/child.hpp"

namespace cleat::test {
namespace {

constexpr std::chrono::seconds patience{30};

/// Whether the answer says to ask again.
bool says_again(const Response& answer) {
  return answer.status == 503 || answer.problem() == "conflict/idempotency_in_progress" ||
         answer.problem() == "idempotency_in_progress";
}

Response sent_until_answered(const Server& server, const Request& request) {
  Client client = server.client(request.token);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto answer = client.send(request.method, request.path, request.body, request.headers);
    if (answer && !says_again(*answer))
      return *answer;
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("no answer to " + request.path + ": " + (answer ? answer->body : ""));
    std::this_thread::sleep_for(std::chrono::milliseconds{20}); // as Retry-After says, nobody tells when
  }
}

} // namespace

Request keyed(const std::string& token, const std::string& path, const std::string& body, const Headers& headers) {
  static std::atomic<int> next = 0;
  Request request{token, path, body, headers};
  request.headers.emplace("Idempotency-Key", "matrix-" + std::to_string(++next));
  return request;
}

void send_all(const Server& server, std::vector<Request>& requests) {
  for (Request& request : requests) {
    Client client = server.client(request.token);
    request.answer = client.send(request.method, request.path, request.body, request.headers);
    if (!request.answer)
      return;
  }
}

void send_all_again(const Server& server, std::vector<Request>& requests) {
  for (Request& request : requests) {
    const auto answer = sent_until_answered(server, request);
    const bool expected = request.expected == 0 ? answer.status / 100 == 2 : answer.status == request.expected;
    EXPECT_TRUE(expected || answer.status == request.or_else) << request.path << ": " << answer.body;
    if (request.answer && request.answer->status / 100 == 2 && request.same_bytes) {
      EXPECT_EQ(answer.status, request.answer->status) << request.path;
      EXPECT_EQ(answer.body, request.answer->body) << request.path;
      EXPECT_EQ(answer.header("etag"), request.answer->header("etag")) << request.path;
    }
    request.answer = answer;
  }
}

std::vector<std::string> crash_points_of(const std::string& program, const std::string& variable) {
  const TemporaryFolder folder;
  Child child({program, {}, {{variable, "list"}}, folder.path() / "output.log"});
  if (child.wait(patience) != 0)
    throw std::runtime_error(program + " does not list its crash points");
  std::vector<std::string> points;
  std::istringstream lines(read_file(folder.path() / "output.log"));
  for (std::string line; std::getline(lines, line);)
    points.push_back(line);
  return points;
}

std::set<std::string>& crossed_by_server() {
  static std::set<std::string> points;
  return points;
}

std::set<std::string>& crossed_by_runner() {
  static std::set<std::string> points;
  return points;
}

bool cross(std::set<std::string>& crossed, const std::vector<std::string>& points) {
  for (const auto& point : points)
    crossed.insert(point.substr(0, point.find(':')));
  return true;
}

bool cross_all(std::set<std::string>& crossed, const std::vector<Case>& cases) {
  for (const auto& [flow, point] : cases)
    cross(crossed, {point});
  return true;
}

bool is_long_matrix() {
  const char* const asked =
    std::getenv("CLEAT_CRASH_MATRIX"); // NOLINT(concurrency-mt-unsafe): before there are threads
  return asked != nullptr && std::string(asked) == "all";
}

std::string point_name(const std::string& point) {
  std::string name = point;
  std::ranges::replace(name, ':', '_');
  return name;
}

} // namespace cleat::test
