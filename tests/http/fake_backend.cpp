#include "tests/http/fake_backend.hpp"

#include <algorithm>
#include <utility>

namespace cleat::test {

Principal human(std::uint8_t number) {
  Principal principal;
  principal.id.bytes.back() = number;
  principal.name = "Alex";
  return principal;
}

http::KnownToken token_of(std::uint8_t number, const std::string& secret) {
  http::KnownToken known;
  known.principal = human(number);
  known.token.principal_id = known.principal.id;
  known.token.digest = sha256(secret);
  return known;
}

Result<Reply> FakeBackend::asked(RequestContext context) {
  contexts.push_back(std::move(context));
  return answer();
}

Result<Reply> FakeBackend::list(ListSessions command) {
  return asked(std::move(command.context));
}

Result<Reply> FakeBackend::reset(ResetSession command) {
  return asked(std::move(command.context));
}

Result<Reply> FakeBackend::bind(BindSession command) {
  bind_bodies.push_back(std::move(command.body));
  return asked(std::move(command.context));
}

Result<Reply> FakeBackend::import_sessions(ImportSessions command) {
  return asked(std::move(command.context));
}

Result<Reply> FakeBackend::trigger(TriggerRun command) {
  triggers.push_back(std::move(command));
  return asked(triggers.back().context);
}

Result<Reply> FakeBackend::report(ReportSession command) {
  reports.push_back(std::move(command));
  return asked(reports.back().context);
}

Result<Reply> FakeBackend::run(RunCommand command) {
  runs.push_back(std::move(command));
  return asked(runs.back().context);
}

Result<Reply> FakeBackend::directory(DirectoryCommand command) {
  operations.push_back(std::move(command.operation));
  return asked(std::move(command.context));
}

Result<Reply> FakeBackend::start_session(StartSession command) {
  starts.push_back(std::move(command));
  return asked(starts.back().context);
}

Result<Reply> FakeBackend::follow_handle(FollowHandle command) {
  handles.push_back(std::move(command));
  return asked(handles.back().context);
}

Result<Reply> FakeBackend::stop_session(StopSession command) {
  stops.push_back(std::move(command));
  return asked(stops.back().context);
}

Result<Reply> FakeBackend::send_input(SendInput command) {
  inputs.push_back(std::move(command));
  return asked(inputs.back().context);
}

Result<Reply> FakeBackend::remove_container(RemoveContainer command) {
  removals.push_back(std::move(command));
  return asked(removals.back().context);
}

Result<Reply> FakeBackend::resolve_orphan(ResolveOrphan command) {
  resolutions.push_back(std::move(command));
  return asked(resolutions.back().context);
}

TranscriptAnswer FakeBackend::transcript(ReadTranscript command) {
  transcript_reads.push_back(command);
  auto found = read(command.after, command.limit);
  if (found)
    found->ended = ended;
  return {std::move(found), lifetime, !ended};
}

Result<LogItems> FakeBackend::events(ReadEvents command) {
  event_reads.push_back(command);
  return read(command.after, command.limit);
}

Result<LogItems> FakeBackend::agent_events(ReadAgentEvents command) {
  agent_event_reads.push_back(command);
  return read(command.after, command.limit);
}

Result<LogItems> FakeBackend::read(std::int64_t after, std::int64_t limit) {
  on_read();
  if (log_refusal)
    return tl::unexpected(*log_refusal);
  LogItems found{{}, std::max(after, next_after)};
  for (const auto& item : log)
    if (item.seq > after && static_cast<std::int64_t>(found.items.size()) < limit) {
      found.items.push_back(item);
      found.next_after = item.seq;
    }
  return found;
}

bool FakeBackend::await(AwaitLog command) {
  ++waits;
  on_await(command);
  return moved;
}

Result<std::optional<http::KnownToken>> FakeBackend::find_token(const Digest& digest) {
  ++look_ups;
  on_find_token();
  if (!database)
    return refuse(Code::unavailable);
  const auto found = tokens.find(digest);
  return found == tokens.end() ? std::optional<http::KnownToken>() : std::optional(found->second);
}

bool FakeLine::holds(std::chrono::milliseconds time) {
  if (time.count() > 0)
    on_wait();
  return open;
}

bool FakeLine::send(std::string_view bytes) {
  on_send();
  if (open)
    sent += bytes;
  return open;
}

LogItem log_item(std::int64_t seq) {
  const auto number = std::to_string(seq);
  return {seq, "run.changed", R"({"seq":)" + number + R"(,"type":"run.changed"})"};
}

http::Incoming request(std::string method, std::string target, std::string body) {
  http::Incoming incoming{std::move(method), std::move(target), {{"Authorization", "Bearer secret"}}, std::move(body)};
  if (!incoming.body.empty())
    incoming.headers.emplace_back("Content-Type", "application/json");
  return incoming;
}

std::string header(const http::Outgoing& outgoing, std::string_view name) {
  const auto values = http::values_of(outgoing.headers, name);
  return values.empty() ? std::string() : std::string(values[0]);
}

} // namespace cleat::test
