#include "tests/process/contract.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "tests/process/client.hpp"

namespace cleat::test {
namespace {

/// Enough for every test that does things one after the other; the crowds send thousands of the same.
constexpr int kept_of_equal_answers = 200;

/// Pages and metrics are text whose schema asks for no more than that.
constexpr std::size_t kept_of_text = 200;

Operation read_operation(const YAML::Node& document, const std::string& path, const std::string& method,
                         const YAML::Node& node) {
  Operation operation;
  operation.id = node["operationId"].as<std::string>();
  operation.method = method;
  std::transform(method.begin(), method.end(), operation.method.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  operation.path = path;
  const YAML::Node security = node["security"] ? node["security"] : document["security"];
  operation.needs_token = security && security.size() > 0;
  operation.takes_body = static_cast<bool>(node["requestBody"]);
  return operation;
}

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  std::string::size_type at = 0;
  while (at < path.size()) {
    const auto end = std::min(path.find('/', at + 1), path.size());
    segments.push_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return segments;
}

bool matches(const std::string& pattern, const std::string& path) {
  const auto left = segments_of(pattern);
  const auto right = segments_of(path);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& a, const auto& b) { return a == b || a.starts_with('{'); });
}

std::string running_test() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "no test" : std::string(test->test_suite_name()) + "." + test->name();
}

/// What stands in the record of an answer's body: all of it where there is more to check than that it is text.
std::string recorded_body(const Response& response) {
  const std::string type = response.header("content-type");
  const bool whole = type.find("json") != std::string::npos || type.starts_with("text/event-stream");
  return whole ? response.body : response.body.substr(0, kept_of_text);
}

/// An exchange as one line of JSON. What was refused need not be a request that makes sense, so it is left out.
std::string line_of(const std::string& test, const SentRequest& request, const Response& response) {
  Object headers;
  std::string last;
  for (const auto& [name, value] : response.headers)
    if (name != std::exchange(last, name)) // names in order, so equal ones follow each other
      headers.text(name, value);
  Object line;
  line.text("test", test).text("method", request.method).text("path", request.path);
  constexpr int first_refusal = 300;
  if (request.body && response.status < first_refusal)
    line.text("request", *request.body);
  line.number("status", response.status).json("headers", headers.str()).text("body", recorded_body(response));
  return line.str() + "\n";
}

/// The file that answers are written to.
class Records {
public:
  explicit Records(const char* folder) {
    if (folder == nullptr)
      return;
    std::filesystem::create_directories(folder);
    file_.open(std::filesystem::path(folder) / (std::to_string(getpid()) + ".jsonl"));
    if (!file_)
      throw std::runtime_error(std::string("cannot write answers into ") + folder);
  }

  void add(const SentRequest& request, const Response& response) {
    if (!file_.is_open())
      return;
    const std::string test = running_test();
    const Operation* operation = contract().find(request.method, request.path);
    const std::string kind =
      test + " " + (operation == nullptr ? "none" : operation->id) + " " + std::to_string(response.status);
    const std::lock_guard lock(mutex_);
    if (++equal_[kind] <= kept_of_equal_answers)
      file_ << line_of(test, request, response);
  }

private:
  std::mutex mutex_;
  std::ofstream file_;
  std::map<std::string, int> equal_;
};

} // namespace

Contract::Contract(const std::string& path) {
  const YAML::Node document = YAML::LoadFile(path);
  static const std::set<std::string> methods{"get", "post", "put", "patch", "delete"};
  for (const auto& entry : document["paths"])
    for (const auto& method : entry.second)
      if (methods.contains(method.first.as<std::string>()))
        operations_.push_back(
          read_operation(document, entry.first.as<std::string>(), method.first.as<std::string>(), method.second));
  if (operations_.empty())
    throw std::runtime_error(path + " has no operations");
}

const Operation* Contract::find(const std::string& method, const std::string& path) const {
  const std::string bare = path.substr(0, path.find('?'));
  const auto found = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.method == method && matches(operation.path, bare);
  });
  return found == operations_.end() ? nullptr : &*found;
}

const Contract& contract() {
  static const Contract loaded(CLEAT_OPENAPI);
  return loaded;
}

void record_answer(const SentRequest& request, const Response& response) {
  static Records records(std::getenv("CONTRACT_ANSWERS"));
  records.add(request, response);
}

} // namespace cleat::test
