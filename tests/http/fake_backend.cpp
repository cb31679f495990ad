#include "tests/http/fake_backend.hpp"

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

Result<Reply> FakeBackend::directory(DirectoryCommand command) {
  operations.push_back(std::move(command.operation));
  return asked(std::move(command.context));
}

Result<std::optional<http::KnownToken>> FakeBackend::find_token(const Digest& digest) {
  ++look_ups;
  on_find_token();
  if (!database)
    return refuse(Code::unavailable);
  const auto found = tokens.find(digest);
  return found == tokens.end() ? std::optional<http::KnownToken>() : std::optional(found->second);
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
