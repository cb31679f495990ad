#include "apps/cleat-load/world.hpp"

#include <algorithm>
#include <utility>

#include "apps/cleat-load/setup.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

class Maker {
public:
  Maker(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience)
    : plan_(plan),
      run_(new_run()),
      setup_(target, run_, connections, patience),
      one_by_one_(target, run_ + "-one", 1, patience) {
    world_.run = run_;
  }

  World make() && {
    make_people();
    make_channel();
    make_threads();
    import_histories();
    begin_runs();
    make_containers();
    return std::move(world_);
  }

private:
  std::string make_principal(std::string_view kind, std::string_view name) {
    json::Writer body;
    body.begin_object().member("kind", kind).member("name", name);
    if (kind == "agent")
      body.key("agent").begin_object().member("tool_class", "container").member("billing_mode", "shared").end_object();
    body.end_object();
    return setup_.one("POST", "/v1/principals", body, "id");
  }

  std::string make_token(const std::string& of) {
    json::Writer body;
    body.begin_object().member("label", "load").end_object();
    return setup_.one("POST", of + "/tokens", body, "token");
  }

  void make_people() {
    world_.agent = make_principal("agent", "Load agent");
    world_.agent_token = make_token("/v1/principals/" + world_.agent);
    world_.human = make_principal("human", "Load human");
    world_.human_token = make_token("/v1/principals/" + world_.human);
  }

  void make_channel() {
    json::Writer space;
    space.begin_object().member("name", "Load").end_object();
    const std::string space_id = setup_.one("POST", "/v1/spaces", space, "id");
    json::Writer channel;
    channel.begin_object().member("name", "Load").member("operator_agent_id", world_.agent).end_object();
    world_.channel = setup_.one("POST", "/v1/spaces/" + space_id + "/channels", channel, "id");
    json::Writer grant;
    grant.begin_object().member("level", "trigger").end_object();
    setup_.one("PUT", "/v1/channels/" + world_.channel + "/grants/" + world_.human, grant, "level");
  }

  void make_threads() {
    std::vector<std::string> ids(plan_.threads + plan_.listed + plan_.reported + 1);
    json::Writer body;
    body.begin_object().member("title", "Load").member("operator_agent_id", world_.agent).end_object();
    const std::string target = "/v1/channels/" + world_.channel + "/threads";
    setup_.each(
      ids.size(), [&](std::size_t, Request& request) { setup_.write(request, "POST", target, body.str()); },
      [&](std::size_t i, const JsonObject& answer) { ids[i] = answer.text("id"); });
    world_.contested = std::move(ids.back());
    ids.pop_back();
    const auto listed = ids.begin() + static_cast<std::ptrdiff_t>(plan_.threads);
    const auto reported = listed + static_cast<std::ptrdiff_t>(plan_.listed);
    world_.threads.assign(ids.begin(), listed);
    world_.listed.assign(listed, reported);
    std::transform(reported, ids.end(), std::back_inserter(world_.reported), [&](const std::string& thread) {
      return ReportedRun{thread, {}, {}, run_ + "-run-" + thread};
    });
  }

  /// One import into a thread.
  struct Import {
    std::string thread;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  /// Cuts a history into imports that the server takes.
  static void plan_imports(std::vector<Import>& imports, const std::string& thread, std::size_t sessions) {
    constexpr std::size_t most = 500; // the default of agent.import_max_items
    for (std::size_t first = 0; first < sessions; first += most)
      imports.push_back({thread, first, std::min(most, sessions - first)});
  }

  [[nodiscard]] std::string history(const Import& import) const {
    const Timestamp newest = SystemClock().now() - std::chrono::hours(24);
    json::Writer body;
    body.begin_object().key("items").begin_array();
    for (std::size_t i = import.first; i < import.first + import.count; ++i) {
      const Timestamp created = newest - std::chrono::minutes(static_cast<std::int64_t>(i));
      body.begin_object()
        .member("agent_id", world_.agent)
        .member("external_session_ref", run_ + "-old-" + import.thread + "-" + std::to_string(i))
        .member("created_at", created)
        .member("ended_at", created + std::chrono::seconds(30))
        .end_object();
    }
    body.end_array().end_object();
    return body.str();
  }

  void import_histories() {
    std::vector<Import> imports;
    for (const std::string& thread : world_.threads)
      plan_imports(imports, thread, plan_.history);
    for (const std::string& thread : world_.listed)
      plan_imports(imports, thread, sessions_of_a_listed_thread);
    for (const Import& import : imports)
      world_.imported += static_cast<std::int64_t>(import.count);
    setup_.each(
      imports.size(),
      [&](std::size_t i, Request& request) {
        setup_.write(request, "POST", "/v1/threads/" + imports[i].thread + "/agent-sessions/import",
                     history(imports[i]));
      },
      [](std::size_t, const JsonObject&) {});
  }

  /// A run in each of these threads, and its agent that begins to work on it.
  void begin_runs() {
    json::Writer trigger;
    trigger.begin_object().member("content_md", "Please go on.").end_object();
    setup_.each(
      world_.reported.size(),
      [&](std::size_t i, Request& request) {
        setup_.write(request, "POST", "/v1/threads/" + world_.reported[i].thread + "/runs", trigger.str());
      },
      [&](std::size_t i, const JsonObject& answer) { world_.reported[i].run = answer.text("id"); });
    setup_.each(
      world_.reported.size(),
      [&](std::size_t i, Request& request) {
        json::Writer start;
        start.begin_object().member("external_session_ref", world_.reported[i].reference).end_object();
        setup_.write(request, "POST", "/v1/runs/" + world_.reported[i].run + "/start", start.str());
        request.token = world_.agent_token;
      },
      [&](std::size_t i, const JsonObject& answer) { world_.reported[i].session = answer.text("agent_session_id"); });
  }

  void make_containers() {
    if (plan_.containers == 0)
      return;
    json::Writer account;
    account.begin_object().member("name", "load-" + run_).end_object();
    world_.account = setup_.one("POST", "/v1/accounts", account, "id");
    json::Writer subscriber;
    subscriber.begin_object().member("principal_id", world_.human).end_object();
    setup_.one("PUT", "/v1/accounts/" + world_.account + "/subscriber", subscriber, "id");
    std::vector<std::string> runners;
    for (std::size_t i = 0; i < plan_.runners; ++i) {
      json::Writer runner;
      runner.begin_object().member("name", "load-" + run_ + "-" + std::to_string(i)).end_object();
      runners.push_back(setup_.one("POST", "/v1/runners", runner, "id"));
      world_.runners.push_back({make_token("/v1/runners/" + runners.back()), {}});
    }
    // Short names, because a Runner has sockets in folders that are named after its containers.
    const std::string prefix = "load-" + run_.substr(run_.rfind('-') + 1) + "-";
    for (std::size_t i = 0; i < plan_.containers; ++i)
      world_.runners[i % runners.size()].containers.push_back(prefix + std::to_string(i));
    // One after the other: each of them is decided against the same account, and whoever loses that race too often is
    // told to come back later.
    one_by_one_.each(
      plan_.containers,
      [&](std::size_t i, Request& request) {
        const std::size_t runner = i % runners.size();
        json::Writer body;
        body.begin_object()
          .member("name", world_.runners[runner].containers[i / runners.size()])
          .member("account_id", world_.account)
          .member("runner_id", runners[runner])
          .end_object();
        one_by_one_.write(request, "POST", "/v1/containers", body.str());
      },
      [](std::size_t, const JsonObject&) {});
  }

  WorldPlan plan_;
  std::string run_;
  Setup setup_;
  Setup one_by_one_;
  World world_;
};

} // namespace

std::string new_run() {
  return RandomIdSource().next(SystemClock().now()).str();
}

World make_world(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience) {
  return Maker(target, plan, connections, patience).make();
}

void finish_runs(const Target& target, const World& world, std::size_t connections, std::chrono::seconds patience) {
  json::Writer body;
  body.begin_object().member("outcome", "succeeded").end_object();
  Setup setup(target, world.run + "-finish", connections, patience);
  setup.each(
    world.reported.size(),
    [&](std::size_t i, Request& request) {
      setup.write(request, "POST", "/v1/runs/" + world.reported[i].run + "/finish", body.str());
      request.token = world.agent_token;
    },
    [](std::size_t, const JsonObject&) {});
}

} // namespace cleat::load
