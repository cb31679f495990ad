#include "apps/cleat-load/world.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include "apps/cleat-load/answer_json.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

using Fill = std::function<void(std::size_t, Request&)>;
using Take = std::function<void(std::size_t, const JsonObject&)>;

constexpr int success_class = 2;
constexpr int statuses_of_a_class = 100;

/// A number of requests, spread over all connections.
class Batch final : public Traffic {
public:
  Batch(std::size_t count, Fill fill, Take take) : count_(count), fill_(std::move(fill)), take_(std::move(take)) {}

  bool next(std::size_t connection, Request& request) override {
    if (started_ == count_)
      return false;
    if (at_.size() <= connection)
      at_.resize(connection + 1);
    at_[connection] = started_++;
    fill_(at_[connection], request);
    return true;
  }

  void answered(std::size_t connection, const Answer& answer, std::chrono::nanoseconds) override {
    if (answer.status / statuses_of_a_class != success_class)
      throw std::runtime_error("The server refused to make a world to work in: " + std::to_string(answer.status) + " " +
                               std::string(answer.body));
    take_(at_[connection], json_.parse(answer));
  }

private:
  std::size_t count_;
  Fill fill_;
  Take take_;
  std::size_t started_ = 0;
  std::vector<std::size_t> at_;
  AnswerJson json_;
};

class Maker {
public:
  Maker(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience)
    : token_(target.owner_token), plan_(plan), connections_(target.address, connections, patience) {
    world_.run = RandomIdSource().next(SystemClock().now()).str();
  }

  World make() && {
    make_people();
    make_channel();
    make_threads();
    import_histories();
    return std::move(world_);
  }

private:
  void write(Request& request, std::string_view method, std::string target, std::string body) {
    request.method = method;
    request.target = std::move(target);
    request.body = std::move(body);
    request.token = token_;
    request.idempotency_key = world_.run + "-make-" + std::to_string(++writes_);
  }

  /// One write; answers the string member `member` of the answer.
  std::string one(std::string_view method, const std::string& target, const json::Writer& body,
                  std::string_view member) {
    std::string value;
    Batch batch(
      1, [&](std::size_t, Request& request) { write(request, method, target, body.str()); },
      [&](std::size_t, const JsonObject& answer) { value = answer.text(member); });
    connections_.play(batch);
    return value;
  }

  std::string make_principal(std::string_view kind, std::string_view name) {
    json::Writer body;
    body.begin_object().member("kind", kind).member("name", name);
    if (kind == "agent")
      body.key("agent").begin_object().member("tool_class", "container").member("billing_mode", "shared").end_object();
    body.end_object();
    return one("POST", "/v1/principals", body, "id");
  }

  void make_people() {
    world_.agent = make_principal("agent", "Load agent");
    world_.human = make_principal("human", "Load human");
    json::Writer body;
    body.begin_object().member("label", "load").end_object();
    world_.human_token = one("POST", "/v1/principals/" + world_.human + "/tokens", body, "token");
  }

  void make_channel() {
    json::Writer space;
    space.begin_object().member("name", "Load").end_object();
    const std::string space_id = one("POST", "/v1/spaces", space, "id");
    json::Writer channel;
    channel.begin_object().member("name", "Load").member("operator_agent_id", world_.agent).end_object();
    world_.channel = one("POST", "/v1/spaces/" + space_id + "/channels", channel, "id");
    json::Writer grant;
    grant.begin_object().member("level", "trigger").end_object();
    one("PUT", "/v1/channels/" + world_.channel + "/grants/" + world_.human, grant, "level");
  }

  void make_threads() {
    std::vector<std::string> ids(plan_.threads + plan_.listed + 1);
    json::Writer body;
    body.begin_object().member("title", "Load").member("operator_agent_id", world_.agent).end_object();
    const std::string target = "/v1/channels/" + world_.channel + "/threads";
    Batch batch(
      ids.size(), [&](std::size_t, Request& request) { write(request, "POST", target, body.str()); },
      [&](std::size_t i, const JsonObject& answer) { ids[i] = answer.text("id"); });
    connections_.play(batch);
    world_.contested = std::move(ids.back());
    ids.pop_back();
    const auto listed = ids.begin() + static_cast<std::ptrdiff_t>(plan_.threads);
    world_.threads.assign(ids.begin(), listed);
    world_.listed.assign(listed, ids.end());
  }

  [[nodiscard]] std::string history(std::size_t thread) const {
    const Timestamp first = SystemClock().now() - std::chrono::hours(24);
    json::Writer body;
    body.begin_object().key("items").begin_array();
    for (std::size_t i = 0; i < sessions_of_a_listed_thread; ++i) {
      const Timestamp created = first + std::chrono::minutes(static_cast<std::int64_t>(i));
      body.begin_object()
        .member("agent_id", world_.agent)
        .member("external_session_ref", world_.run + "-old-" + std::to_string(thread) + "-" + std::to_string(i))
        .member("created_at", created)
        .member("ended_at", created + std::chrono::minutes(1))
        .end_object();
    }
    body.end_array().end_object();
    return body.str();
  }

  void import_histories() {
    Batch batch(
      world_.listed.size(),
      [&](std::size_t i, Request& request) {
        write(request, "POST", "/v1/threads/" + world_.listed[i] + "/agent-sessions/import", history(i));
      },
      [](std::size_t, const JsonObject&) {});
    connections_.play(batch);
  }

  std::string token_;
  WorldPlan plan_;
  Connections connections_;
  World world_;
  std::size_t writes_ = 0;
};

} // namespace

World make_world(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience) {
  if (target.owner_token.empty())
    throw std::runtime_error("A world to work in is made with the owner's token: give --token-file FILE.");
  return Maker(target, plan, connections, patience).make();
}

} // namespace cleat::load
