#include "tests/process/world.hpp"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

namespace cleat::test {
namespace {

/// The body of an answer that has to be a success.
Json made(const Response& response) {
  if (response.status / 100 != 2)
    throw std::runtime_error("refused: " + std::to_string(response.status) + " " + response.body);
  return response.json();
}

std::string agent_profile(std::string_view tools, std::string_view billing, const std::string& holder = {}) {
  Object profile;
  profile.text("tool_class", tools).text("billing_mode", billing);
  if (!holder.empty())
    profile.text("holder_id", holder);
  return profile.str();
}

} // namespace

World::World(const Server& server) : World(server.endpoint(), server.owner_token()) {}

World::World(Endpoint endpoint, const std::string& owner_token)
  : endpoint_(std::move(endpoint)), owner_client_(endpoint_, owner_token) {
  owner = {made(owner_client_.get("/v1/me"))["id"].string(), owner_token};
  alex = person("human", "Alex");
  sam = person("human", "Sam");
  robin = person("human", "Robin");
  app = person("app", "Board");
  lotse = person("agent", "Lotse", agent_profile("container", "shared"));
  builder = person("agent", "Builder", agent_profile("host", "shared"));
  scout = person("agent", "Scout", agent_profile("container", "personal", sam.id));
  space = made(owner_client_.post("/v1/spaces", Object().text("name", "Example").str()))["id"].string();
  support = channel("Support", lotse);
  engineering = channel("Engineering", builder);
  desk = channel("Desk", scout);
  backstage = channel("Backstage", lotse);
  grant("channels", support.channel, alex, "trigger");
  grant("channels", support.channel, sam, "read");
  grant("channels", support.channel, app, "trigger");
  grant("channels", engineering.channel, alex, "trigger");
  grant("channels", desk.channel, alex, "trigger");
  grant("channels", desk.channel, sam, "trigger");
}

Actor World::person(const std::string& kind, const std::string& name, const std::string& agent) {
  Object body;
  body.text("kind", kind).text("name", name);
  if (!agent.empty())
    body.json("agent", agent);
  const std::string id = made(owner_client_.post("/v1/principals", body.str()))["id"].string();
  const auto token = owner_client_.post("/v1/principals/" + id + "/tokens", Object().text("label", "test").str());
  return {id, made(token)["token"].string()};
}

Place World::channel(const std::string& name, const Actor& operator_agent) {
  const auto body = Object().text("name", name).text("operator_agent_id", operator_agent.id).str();
  const Json channel = made(owner_client_.post("/v1/spaces/" + space + "/channels", body));
  return {channel["id"].string(), channel["main_thread_id"].string(), operator_agent.id};
}

void World::move_to(const Endpoint& endpoint) {
  endpoint_ = endpoint;
  owner_client_ = Client(endpoint_, owner.token);
}

std::string World::thread(const Place& place) {
  const auto body = Object().text("title", "A question").text("operator_agent_id", place.operator_agent).str();
  return made(owner_client_.post("/v1/channels/" + place.channel + "/threads", body))["id"].string();
}

void World::grant(const std::string& kind, const std::string& id, const Actor& actor, const std::string& level) {
  const auto path = "/v1/" + kind + "/" + id + "/grants/" + actor.id;
  made(owner_client_.put(path, Object().text("level", level).str()));
}

std::string sessions_path(const std::string& thread) {
  return "/v1/threads/" + thread + "/agent-sessions";
}

Response bind(Client& client, const std::string& thread, const BindOptions& options, const Headers& headers) {
  Object body;
  body.text("external_session_ref", options.reference);
  if (!options.expected.empty())
    body.text("expected_current_session_id", options.expected);
  if (options.take_over)
    body.boolean("take_over", true);
  return client.post(sessions_path(thread) + "/bind", body.str(), headers);
}

Response reset(Client& client, const std::string& thread, const std::string& expected) {
  Object body;
  if (!expected.empty())
    body.text("expected_current_session_id", expected);
  return client.post(sessions_path(thread) + "/reset", body.str());
}

std::string import_item(const Actor& agent, const std::string& reference, const std::string& created_at,
                        const std::string& ended_at, std::int64_t baseline_micros, const std::string& currency) {
  Object item;
  item.text("agent_id", agent.id).text("external_session_ref", reference);
  item.number("cost_baseline_micros", baseline_micros);
  if (!currency.empty())
    item.text("currency", currency);
  return item.text("created_at", created_at).text("ended_at", ended_at).str();
}

Response import_sessions(Client& client, const std::string& thread, const std::vector<std::string>& items) {
  std::string list;
  for (const auto& item : items)
    list += (list.empty() ? "" : ",") + item;
  return client.post(sessions_path(thread) + "/import", Object().json("items", "[" + list + "]").str());
}

std::vector<Json> sessions_of(Client& client, const std::string& thread) {
  return made(client.get(sessions_path(thread)))["items"].items();
}

Json current_session(Client& client, const std::string& thread) {
  for (auto& session : sessions_of(client, thread))
    if (session["is_current"].boolean())
      return session;
  throw std::runtime_error("the thread has no current session");
}

std::string everything_in(Sql& database) {
  std::string text;
  for (const char* table : {"principals", "tokens", "spaces", "channels", "threads", "grants", "agent_sessions", "runs",
                            "messages", "events", "idempotency_records"})
    for (const auto& row : database.run("SELECT t::text FROM " + std::string(table) + " t ORDER BY 1"))
      text += std::string(table) + " " + row.front().value_or("") + "\n";
  for (const auto& row : database.run("SELECT t::text FROM audit_log t WHERE allowed ORDER BY 1"))
    text += "audit_log " + row.front().value_or("") + "\n";
  return text;
}

std::string fresh_reference() {
  static std::atomic<int> next{0};
  return "session-" + std::to_string(++next);
}

} // namespace cleat::test
