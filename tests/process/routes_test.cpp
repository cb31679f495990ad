#include <gtest/gtest.h>

#include <map>

#include "tests/process/adapter.hpp"
#include "tests/process/contract.hpp"
#include "tests/process/suite.hpp"

/// Every route with every kind of principal (issue 2, spec 06 section 3).
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

/// What an operation asks of the one who calls it.
enum class Needs {
  nothing,        ///< not even a token
  token,          ///< anybody who is somebody
  instance_owner, ///< the owner of the instance
  self,           ///< the owner or the principal itself; others are told nothing
  owner_of_self,  ///< the owner; the principal itself is told that it may not
  read,
  write,
  manage,
  own_grant, ///< `manage`, or `read` for the grant one holds oneself
  session,   ///< `trigger` and the invoke guard
  run_agent, ///< the agent of the run; others are told nothing
  agent,     ///< any agent
  hidden,    ///< the owner of the instance; others are told nothing
  actor,     ///< the actor of the account; others, the owner too, are told nothing
};

/// Of operation, and of threads and who works in them.
const std::map<std::string, Needs>& needs_of_threads() {
  static const std::map<std::string, Needs> map{
    {"getHealth", Needs::nothing},
    {"getReadiness", Needs::nothing},
    {"getMetrics", Needs::nothing},
    {"getContract", Needs::nothing},
    {"getDocumentation", Needs::nothing},
    {"getMe", Needs::token},
    {"listSpaces", Needs::token},
    {"createSpace", Needs::instance_owner},
    {"getSpace", Needs::read},
    {"updateSpace", Needs::manage},
    {"createChannel", Needs::manage},
    {"listChannels", Needs::read},
    {"getChannel", Needs::read},
    {"updateChannel", Needs::manage},
    {"createThread", Needs::manage},
    {"listThreads", Needs::read},
    {"getThread", Needs::read},
    {"updateThread", Needs::manage},
    {"closeThread", Needs::write},
    {"createPrincipal", Needs::instance_owner},
    {"listPrincipals", Needs::instance_owner},
    {"getPrincipal", Needs::self},
    {"updatePrincipal", Needs::owner_of_self},
    {"createToken", Needs::owner_of_self},
    {"listTokens", Needs::self},
    {"revokeToken", Needs::self},
    {"putSpaceGrant", Needs::manage},
    {"deleteSpaceGrant", Needs::manage},
    {"getSpaceGrant", Needs::own_grant},
    {"putChannelGrant", Needs::manage},
    {"deleteChannelGrant", Needs::manage},
    {"getChannelGrant", Needs::own_grant},
    {"putThreadGrant", Needs::manage},
    {"deleteThreadGrant", Needs::manage},
    {"getThreadGrant", Needs::own_grant},
    {"listAudit", Needs::instance_owner},
    {"listAgentSessions", Needs::read},
    {"resetAgentSession", Needs::session},
    {"bindAgentSession", Needs::session},
    {"importAgentSessions", Needs::manage},
    {"reportAgentSession", Needs::run_agent},
    {"triggerRun", Needs::session},
    {"listRuns", Needs::read},
    {"getRun", Needs::read},
    {"startRun", Needs::run_agent},
    {"waitRun", Needs::run_agent},
    {"resumeRun", Needs::run_agent},
    {"heartbeatRun", Needs::run_agent},
    {"finishRun", Needs::run_agent},
    {"postRunMessage", Needs::run_agent},
    {"cancelRun", Needs::session},
    {"listMessages", Needs::read},
    {"pollAgentEvents", Needs::agent},
    {"streamEvents", Needs::token},
  };
  return map;
}

/// Of everything around Runners.
const std::map<std::string, Needs>& needs_of_fleet() {
  static const std::map<std::string, Needs> map{
    // The account's actor is the subject.
    {"createAccount", Needs::instance_owner},
    {"listAccounts", Needs::instance_owner},
    {"putAccountSubscriber", Needs::owner_of_self},
    {"listAccountSecrets", Needs::self},
    {"putAccountSecret", Needs::self},
    {"getAccountSecret", Needs::self},
    {"deleteAccountSecret", Needs::self},
    {"createRunner", Needs::instance_owner},
    {"listRunners", Needs::instance_owner},
    {"createRunnerToken", Needs::hidden},
    {"listRunnerTokens", Needs::hidden},
    {"revokeRunnerToken", Needs::hidden},
    {"createContainer", Needs::instance_owner},
    {"listContainers", Needs::token},
    {"getContainer", Needs::self},
    {"removeContainer", Needs::owner_of_self},
    {"startAgentSession", Needs::actor},
    {"stopAgentSession", Needs::actor},
    {"sendAgentSessionInput", Needs::actor},
    {"readAgentSessionTranscript", Needs::actor},
    // Whose handle it is is asked behind the body, because the handle stands there.
    {"lookupAgentSessionOperation", Needs::token},
    {"retryAgentSessionOperation", Needs::token},
    {"listOrphanDiagnostics", Needs::instance_owner},
    {"resolveOrphanDiagnostic", Needs::instance_owner},
  };
  return map;
}

/// Of everything.
const std::map<std::string, Needs>& needs() {
  static const std::map<std::string, Needs> map = [] {
    auto all = needs_of_threads();
    all.insert(needs_of_fleet().begin(), needs_of_fleet().end());
    return all;
  }();
  return map;
}

/// Somebody who calls, and what they hold on the space.
struct Caller {
  std::string name;
  Actor actor;
  int level = 0; ///< 0 nothing, 1 read, 2 write, 3 trigger, 4 manage, 5 the owner
  bool human = true;
  bool authentic = true;
};

/// The operator of the thread, whose run is there while runs are asked about.
constexpr const char* the_agent = "an agent with trigger";

class EveryRoute : public WorldSuite {
protected:
  static void TearDownTestSuite() { end_unchecked(); }

  EveryRoute() {
    // The principal that paths name; everybody else is a stranger to it.
    subject = world.person("human", "Subject");
    make_fleet();
    callers = {{"nobody", {"", ""}, 0, false, false},
               {"a made-up token", {"", std::string(43, 'A')}, 0, false, false},
               {"a revoked token", revoked_token(), 0, false, false},
               {"an expired token", expired_token(), 0, false, false},
               {"the owner", world.owner, 5},
               {"a stranger", world.robin},
               {"the actor of another account", actor_of_another_account()},
               {"the subject", subject, 1}};
    const std::vector<std::string> levels{"read", "write", "trigger", "manage"};
    for (std::size_t i = 0; i < levels.size(); ++i)
      callers.push_back({levels[i], world.person("human", levels[i]), static_cast<int>(i) + 1});
    callers.push_back({the_agent, world.lotse, 3, false});
    callers.push_back({"an app with trigger", world.app, 3, false});
    for (const auto& caller : callers)
      if (caller.level > 0 && caller.level < 5)
        world.grant("spaces", world.space, caller.actor, levels[static_cast<std::size_t>(caller.level) - 1]);
  }

  /// An account of the subject, with a container in which an agent seems to live: no Runner of this test is connected,
  /// and who has the right is refused for its body.
  void make_fleet() {
    account = owner.post("/v1/accounts", R"({"name":"Example"})").json()["id"].string();
    owner.put("/v1/accounts/" + account + "/subscriber", R"({"principal_id":")" + subject.id + "\"}");
    runner = owner.post("/v1/runners", R"({"name":"Example"})").json()["id"].string();
    container = "box-" + subject.id;
    make_container(container);
    session = database.value("SELECT md5($1) || md5($1 || 'x')", {container});
    database.run("INSERT INTO container_attempts (id, container_name, runner_id, enrollment_revision, is_current,"
                 " created_at) SELECT id, name, runner_id, 1, true, now() FROM containers WHERE name = $1",
                 {container});
    database.run("UPDATE containers c SET attempt_id = a.id FROM container_attempts a"
                 " WHERE c.name = $1 AND a.container_name = c.name",
                 {container});
    database.run("INSERT INTO session_bindings (session_id, account_id, actor_id, runner_id, container_name,"
                 " container_attempt_id, operation_id, state, created_at)"
                 " SELECT $1, account_id, $2::uuid, runner_id, name, attempt_id, id, 'live', now()"
                 " FROM containers WHERE name = $3",
                 {session, subject.id, container});
    orphan = database.value("INSERT INTO orphan_diagnostics (id, reason, operation_id, account_id, actor_id, runner_id,"
                            " container_name, container_attempt_id, opened_at)"
                            " SELECT $1::uuid, 'deadline_exceeded', operation_id, account_id, actor_id, runner_id,"
                            " container_name, container_attempt_id, now() FROM session_bindings WHERE session_id = $2"
                            " RETURNING id",
                            {account, session});
  }

  void make_container(const std::string& name) {
    const auto made = owner.post("/v1/containers", R"({"name":")" + name + R"(","account_id":")" + account +
                                                     R"(","runner_id":")" + runner + "\"}");
    EXPECT_TRUE(made.status == 201 || made.problem() == "conflict/name_taken") << made.body;
  }

  /// With an account, a container and a session of its own, none of which opens anything of the subject's.
  Actor actor_of_another_account() {
    const Actor actor = world.person("human", "Other");
    const auto other = owner.post("/v1/accounts", R"({"name":"Other"})").json()["id"].string();
    owner.put("/v1/accounts/" + other + "/subscriber", R"({"principal_id":")" + actor.id + "\"}");
    const auto made = owner.post("/v1/containers", R"({"name":"box-)" + actor.id + R"(","account_id":")" + other +
                                                     R"(","runner_id":")" + runner + "\"}");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(world.as(actor).get("/v1/containers/box-" + actor.id).status, 200);
    return actor;
  }

  Actor revoked_token() {
    const Actor actor = world.person("human", "Revoked");
    const auto tokens = owner.get("/v1/principals/" + actor.id + "/tokens").json()["items"];
    EXPECT_EQ(owner.del("/v1/principals/" + actor.id + "/tokens/" + tokens[0]["id"].string()).status, 204);
    return actor;
  }

  Actor expired_token() {
    const Actor actor = world.person("human", "Expired");
    database.run("UPDATE tokens SET expires_at = created_at WHERE principal_id = $1", {actor.id});
    return actor;
  }

  /// The path of an operation in this test's world. What a DELETE takes away is made anew first.
  std::string path_of(const Operation& operation) {
    if (operation.id == "revokeToken")
      token = owner.post("/v1/principals/" + subject.id + "/tokens", R"({"label":"spare"})").json()["id"].string();
    if (operation.id == "revokeRunnerToken")
      runner_token = owner.post("/v1/runners/" + runner + "/tokens", R"({"label":"spare"})").json()["id"].string();
    if (operation.path.ends_with("/secrets/{secret_name}"))
      owner.put("/v1/accounts/" + account + "/secrets/API_KEY", R"({"value":"example-value"})");
    if (operation.id == "removeContainer")
      make_container("spare-" + subject.id);
    if (operation.path.starts_with("/v1/runs/") || operation.id == "reportAgentSession")
      have_a_running_run();
    std::string path = operation.path;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      const std::string kind = path.substr(path.rfind('/', open - 2) + 1, open - 2 - path.rfind('/', open - 2));
      path.replace(open, path.find('}') - open + 1, value_of(operation, kind));
    }
    if (path.find("/grants/") != std::string::npos)
      owner.put(path, R"({"level":"read"})");
    return path;
  }

  /// A caller before may have ended it.
  void have_a_running_run() {
    if (run != unknown_id && state_of(owner, run) == "running")
      return;
    run = triggered(owner, thread);
    Client lotse = world.as(world.lotse);
    ASSERT_EQ(lotse.post(run_path(run, "start"), "{}").status, 200);
  }

  std::string value_of(const Operation& operation, const std::string& kind) {
    if (operation.id == "revokeRunnerToken" && kind == "tokens")
      return runner_token;
    if (operation.id == "removeContainer")
      return "spare-" + subject.id;
    return ids().at(kind);
  }

  std::map<std::string, std::string> ids() {
    return {{"spaces", world.space},
            {"channels", world.support.channel},
            {"threads", thread},
            {"principals", subject.id},
            {"grants", subject.id},
            {"tokens", token},
            {"runs", run},
            {"accounts", account},
            {"secrets", "API_KEY"},
            {"runners", runner},
            {"containers", container},
            {"agent-sessions", session},
            {"orphan-diagnostics", orphan}};
  }

  /// The status of a denial, or 0 for everything that a caller with the right may see.
  static int expected(Needs needed, const Caller& caller) {
    const bool is_subject = caller.name == "the subject";
    const auto level = [&](int least) { return caller.level == 0 ? 404 : caller.level < least ? 403 : 0; };
    if (needed == Needs::nothing)
      return 0;
    if (!caller.authentic)
      return 401;
    switch (needed) {
      case Needs::nothing:
      case Needs::token:
        return 0;
      case Needs::instance_owner:
        return caller.level == 5 ? 0 : 403;
      case Needs::self:
        return caller.level == 5 || is_subject ? 0 : 404;
      case Needs::owner_of_self:
        return caller.level == 5 ? 0 : is_subject ? 403 : 404;
      case Needs::read:
        return level(1);
      case Needs::write:
        return level(2);
      case Needs::manage:
        return level(4);
      case Needs::own_grant:
        return is_subject ? 0 : level(4);
      case Needs::session:
        return level(3) == 0 && !caller.human ? 403 : level(3);
      case Needs::run_agent:
        return caller.name == the_agent ? 0 : 404;
      case Needs::agent:
        return caller.name == the_agent ? 0 : 403;
      case Needs::hidden:
        return caller.level == 5 ? 0 : 404;
      case Needs::actor:
        return is_subject ? 0 : 404;
    }
    return -1;
  }

  /// Sends a request whose body nobody may send, so that whoever has the right gets 400 and nothing happens.
  Response call(const Operation& operation, const std::string& path, const Caller& caller) {
    Client client = world.as(caller.actor);
    const auto body = operation.takes_body ? std::optional<std::string>(R"({"unexpected":true})") : std::nullopt;
    // As a page, because a stream has no end.
    const Headers headers = operation.id == "streamEvents" ? Headers{{"Accept", "application/json"}} : Headers{};
    auto answer = client.send(operation.method, path, body, headers);
    if (!answer)
      throw std::runtime_error("no answer to " + operation.id);
    return std::move(*answer);
  }

  void expect_uniform_404(const Operation& operation, const Response& answer, const Caller& caller) {
    std::string path = operation.path;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{'))
      path.replace(open, path.find('}') - open + 1, unknown_id);
    const auto unknown = call(operation, path, caller);
    EXPECT_EQ(answer.body, unknown.body) << operation.id << " for " << caller.name;
    EXPECT_EQ(answer.uniform_headers(), unknown.uniform_headers()) << operation.id << " for " << caller.name;
  }

  void expect_answer(const Operation& operation, const Caller& caller) {
    const Needs needed = needs().at(operation.id);
    const auto answer = call(operation, path_of(operation), caller);
    const int denied = expected(needed, caller);
    const std::string what = operation.id + " for " + caller.name + ": " + answer.body;
    if (denied != 0) {
      EXPECT_EQ(answer.status, denied) << what;
    } else {
      // There is no diagnostic in this world.
      const bool wrong_state = answer.problem() == "conflict/run_state" ||
                               (operation.id == "resolveOrphanDiagnostic" && answer.problem() == "not_found");
      EXPECT_TRUE(answer.status / 100 == 2 || answer.status == 400 || wrong_state) << answer.status << " " << what;
    }
    if (denied == 401) {
      EXPECT_TRUE(answer.header("www-authenticate").starts_with("Bearer")) << what;
    }
    if (answer.status == 404 && denied == 404)
      expect_uniform_404(operation, answer, caller);
  }

  std::string thread = world.thread(world.support);
  std::string token = unknown_id;
  std::string run = unknown_id;
  std::string account;
  std::string runner;
  std::string runner_token = unknown_id;
  std::string container;
  std::string session;
  std::string orphan;
  Actor subject;
  std::vector<Caller> callers;
};

TEST_F(EveryRoute, TestEveryRouteEveryPrincipal) {
  for (const auto& operation : contract().operations()) {
    if (!needs().contains(operation.id)) {
      ADD_FAILURE() << operation.id << " has no entry in this test's table of rights";
      continue;
    }
    EXPECT_EQ(operation.needs_token, needs().at(operation.id) != Needs::nothing) << operation.id;
    for (const auto& caller : callers)
      expect_answer(operation, caller);
  }
}

TEST_F(EveryRoute, UnknownIdsAreNotFoundForTheOwnerToo) {
  const Caller& the_owner = callers.at(4);
  for (const auto& operation : contract().operations()) {
    if (operation.path.find('{') == std::string::npos)
      continue;
    std::string path = operation.path;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{'))
      path.replace(open, path.find('}') - open + 1, unknown_id);
    EXPECT_EQ(call(operation, path, the_owner).problem(), "not_found") << operation.id;
  }
}

TEST_F(EveryRoute, DenialsChangeNothing) {
  const auto without_tokens = [&] {
    return database.value("SELECT string_agg(t::text, ' ' ORDER BY id) FROM agent_sessions t") + " " +
           database.value("SELECT string_agg(t::text, ' ' ORDER BY id) FROM threads t");
  };
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);
  have_a_running_run();
  const std::string before = without_tokens();
  for (const auto& operation : contract().operations())
    for (const auto& caller : callers)
      if (needs().contains(operation.id) && expected(needs().at(operation.id), caller) != 0)
        call(operation, path_of(operation), caller);
  EXPECT_EQ(without_tokens(), before);
}

} // namespace
} // namespace cleat::test
