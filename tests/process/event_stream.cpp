#include "tests/process/event_stream.hpp"

#include <algorithm>
#include <cctype>

#include <gtest/gtest.h>
#include <httplib.h>

#include "tests/process/contract.hpp"
#include "tests/process/json.hpp"

namespace cleat::test {
namespace {

constexpr int patience_s = 40; // the heartbeat is due every 15 seconds

/// The value of a line `name: value` of a block; empty when the block has none.
std::string field_of(const std::string& block, const std::string& name) {
  std::size_t at = 0;
  while (at < block.size()) {
    const auto end = std::min(block.find('\n', at), block.size());
    const std::string line = block.substr(at, end - at);
    if (line.starts_with(name + ": "))
      return line.substr(name.size() + 2);
    at = end + 1;
  }
  return {};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

StreamedEvent event_of(const std::string& block) {
  StreamedEvent event{0, field_of(block, "event"), field_of(block, "data")};
  if (event.data.empty()) {
    EXPECT_TRUE(block.starts_with(":")) << block;
    return event;
  }
  event.seq = std::stoll(field_of(block, "id"));
  const Json envelope = Json::parse(event.data);
  EXPECT_EQ(envelope["seq"].number(), event.seq);
  if (envelope.has("type")) { // a line of a transcript has none
    EXPECT_EQ(envelope["type"].string(), event.type);
  }
  return event;
}

} // namespace

StreamEnd read_stream(const Endpoint& endpoint, const StreamOptions& options,
                      const std::function<bool(const StreamedEvent&)>& take) {
  httplib::Client http(endpoint.host, endpoint.port);
  http.set_read_timeout(patience_s, 0);
  httplib::Headers headers{{"Accept", "text/event-stream"}, {"Authorization", "Bearer " + options.token}};
  if (options.last_event_id >= 0)
    headers.emplace("Last-Event-ID", std::to_string(options.last_event_id));
  StreamEnd end;
  bool wanted = true;
  std::string text;
  Response seen;
  const auto on_head = [&](const httplib::Response& head) {
    end.status = head.status;
    end.content_type = head.get_header_value("Content-Type");
    seen.status = head.status;
    for (const auto& [name, value] : head.headers)
      seen.headers.emplace(lower(name), value);
    return true;
  };
  const auto on_data = [&](const char* data, std::size_t size) {
    text.append(data, size);
    for (auto at = text.find("\n\n"); wanted && at != std::string::npos; at = text.find("\n\n")) {
      seen.body += text.substr(0, at + 2);
      wanted = take(event_of(text.substr(0, at)));
      text.erase(0, at + 2);
    }
    return wanted;
  };
  const std::string path = options.path + (options.query.empty() ? "" : "?" + options.query);
  http.Get(path, headers, on_head, on_data);
  end.by_server = wanted;
  record_answer({"GET", path}, seen);
  return end;
}

} // namespace cleat::test
