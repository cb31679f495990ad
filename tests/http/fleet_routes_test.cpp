#include <gtest/gtest.h>

#include "http/dispatcher.hpp"
#include "tests/http/fake_backend.hpp"

/// The routes of accounts, Runners, containers and orphan diagnostics: to whom they hand what.
namespace cleat::http {
namespace {

using test::header;
using test::request;

constexpr auto id_text = "0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44";
const Id id = Id::parse(id_text).value();
const std::string account = std::string("/v1/accounts/") + id_text;
const std::string runner = std::string("/v1/runners/") + id_text;
const std::string body_name = R"({"name":"Example"})";

class FleetRoutes : public testing::Test {
protected:
  FleetRoutes() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Outgoing answer(const Incoming& incoming) { return dispatcher_.answer(incoming, backend_, line_); }

  /// Sends a request and expects that it arrives at the directory as `Operation`.
  template <class Operation>
  Operation operation(const char* method, const std::string& target, const std::string& body = {}) {
    backend_.operations.clear();
    EXPECT_EQ(answer(request(method, target, body)).status, 200) << method << ' ' << target;
    if (backend_.operations.size() != 1 || !std::holds_alternative<Operation>(backend_.operations[0])) {
      ADD_FAILURE() << method << ' ' << target << " is another operation";
      throw std::runtime_error("no such operation");
    }
    return std::get<Operation>(backend_.operations[0]);
  }

  HttpOptions options_ = [] {
    HttpOptions options;
    options.secret_max_bytes = 8;
    return options;
  }();
  test::FakeBackend backend_;
  test::FakeLine line_;
  Dispatcher dispatcher_{options_, std::make_shared<Metrics>(), std::make_shared<test::SteppedClock>()};
};

TEST_F(FleetRoutes, Accounts) {
  EXPECT_EQ(operation<op::CreateAccount>("POST", "/v1/accounts", body_name).body->name, "Example");
  EXPECT_EQ(operation<op::ListAccounts>("GET", "/v1/accounts?limit=7").range->limit, 7);
  const auto put =
    operation<op::PutSubscriber>("PUT", account + "/subscriber", R"({"principal_id":")" + std::string(id_text) + "\"}");
  EXPECT_EQ(put.account_id, id);
  EXPECT_EQ(put.body->principal_id, id);
}

TEST_F(FleetRoutes, Secrets) {
  EXPECT_EQ(operation<op::ListAccountSecrets>("GET", account + "/secrets").account_id, id);
  const auto put = operation<op::PutAccountSecret>("PUT", account + "/secrets/API_KEY", R"({"value":"12345678"})");
  EXPECT_EQ(put.account_id, id);
  EXPECT_EQ(put.name, "API_KEY");
  EXPECT_EQ(put.body->value, "12345678");
  const auto long_one = operation<op::PutAccountSecret>("PUT", account + "/secrets/x", R"({"value":"123456789"})");
  EXPECT_EQ(long_one.name, "x") << "the rules say what is wrong with a name";
  EXPECT_EQ(long_one.body.error().errors, (std::vector<FieldError>{{"/value", FieldCode::too_long}}));
  EXPECT_EQ(operation<op::GetAccountSecret>("GET", account + "/secrets/API_KEY").name, "API_KEY");
  EXPECT_EQ(operation<op::DeleteAccountSecret>("DELETE", account + "/secrets/API_KEY").name, "API_KEY");
}

TEST_F(FleetRoutes, Runners) {
  EXPECT_EQ(operation<op::CreateRunner>("POST", "/v1/runners", body_name).body->name, "Example");
  EXPECT_EQ(operation<op::ListRunners>("GET", "/v1/runners?limit=7").range->limit, 7);
  const auto create = operation<op::CreateRunnerToken>("POST", runner + "/tokens", R"({"label":"host"})");
  EXPECT_EQ(create.runner_id, id);
  EXPECT_EQ(create.body->label, "host");
  const auto list = operation<op::ListRunnerTokens>("GET", runner + "/tokens?limit=7");
  EXPECT_EQ(list.runner_id, id);
  EXPECT_EQ(list.range->limit, 7);
  const auto revoke = operation<op::RevokeRunnerToken>("DELETE", runner + "/tokens/" + id_text);
  EXPECT_EQ(revoke.runner_id, id);
  EXPECT_EQ(revoke.token_id, id);
}

TEST_F(FleetRoutes, Containers) {
  const auto create = operation<op::CreateContainer>("POST", "/v1/containers",
                                                     R"({"name":"box","account_id":")" + std::string(id_text) +
                                                       R"(","runner_id":")" + id_text + "\"}");
  EXPECT_EQ(create.body->name, "box");
  EXPECT_EQ(operation<op::ListContainers>("GET", "/v1/containers?limit=7").range->limit, 7);
  EXPECT_EQ(operation<op::GetContainer>("GET", "/v1/containers/box.1").name, "box.1");
  auto removal = request("DELETE", "/v1/containers/box");
  removal.headers.emplace_back("Idempotency-Key", "k");
  EXPECT_EQ(answer(removal).status, 200);
  ASSERT_EQ(backend_.removals.size(), 1U);
  EXPECT_EQ(backend_.removals[0].container_name, "box");
  EXPECT_EQ(backend_.removals[0].context.idempotency->key, "k");
}

TEST_F(FleetRoutes, OrphanDiagnostics) {
  const auto list = [this](const std::string& query) {
    return operation<op::ListOrphans>("GET", "/v1/orphan-diagnostics" + query).query;
  };
  EXPECT_EQ(list("")->resolved, std::nullopt);
  EXPECT_EQ(list("?resolved=true&limit=7"), (OrphansPage{true, {7, {}}}));
  EXPECT_EQ(list("?resolved=false")->resolved, false);
  EXPECT_EQ(list("?resolved=1&limit=0").error().errors,
            (std::vector<FieldError>{{"/resolved", FieldCode::unknown_value}, {"/limit", FieldCode::out_of_range}}));
  EXPECT_EQ(list("?cursor=x").error().code, Code::invalid_cursor);
  EXPECT_EQ(answer(request("POST", "/v1/orphan-diagnostics/" + std::string(id_text) + "/resolve")).status, 200);
  ASSERT_EQ(backend_.resolutions.size(), 1U);
  EXPECT_EQ(backend_.resolutions[0].orphan_id, id);
  EXPECT_EQ(backend_.resolutions[0].container_name, std::nullopt);
}

TEST_F(FleetRoutes, DrawOnTheirClass) {
  const auto rate_class = [this](const char* method, const std::string& target) {
    const auto policy = header(answer(request(method, target)), "RateLimit-Policy");
    return policy.substr(0, policy.find(';'));
  };
  for (const auto& target :
       {std::string("/v1/accounts"), std::string("/v1/runners"), std::string("/v1/containers"), runner + "/tokens"}) {
    EXPECT_EQ(rate_class("POST", target), "\"admin\"") << target;
    EXPECT_EQ(rate_class("GET", target), "\"read\"") << target;
  }
  EXPECT_EQ(rate_class("PUT", account + "/subscriber"), "\"admin\"");
  EXPECT_EQ(rate_class("PUT", account + "/secrets/A"), "\"admin\"");
  EXPECT_EQ(rate_class("DELETE", account + "/secrets/A"), "\"admin\"");
  EXPECT_EQ(rate_class("GET", account + "/secrets/A"), "\"read\"");
  EXPECT_EQ(rate_class("GET", account + "/secrets"), "\"read\"");
  EXPECT_EQ(rate_class("DELETE", "/v1/containers/box"), "\"admin\"");
  EXPECT_EQ(rate_class("GET", "/v1/orphan-diagnostics"), "\"read\"");
  EXPECT_EQ(rate_class("POST", "/v1/orphan-diagnostics/" + std::string(id_text) + "/resolve"), "\"admin\"");
}

} // namespace
} // namespace cleat::http
