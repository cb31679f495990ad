#include <gtest/gtest.h>

#include "tests/process/suite.hpp"

/// Bad input of every kind gets its error and changes nothing (spec 05 "Conventions", spec 03 section 9).
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

/// A body that is wrong, and what the answer says: a problem, or one member's pointer and code.
struct BadBody {
  std::string body;
  std::string pointer;
  std::string code;
};

class BadInput : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);

  /// Sends each body and expects its error; afterwards the database is what it was.
  void expect_refused(const std::string& method, const std::string& path, const std::vector<BadBody>& bodies) {
    const std::string before = everything_in(database);
    for (const auto& bad : bodies) {
      const auto answer = owner.send(method, path, bad.body);
      ASSERT_TRUE(answer.has_value()) << bad.body;
      EXPECT_EQ(answer->status, 400) << bad.body << "\n" << answer->body;
      EXPECT_EQ(answer->problem(), "validation_failed") << bad.body;
      EXPECT_TRUE(names(*answer, bad)) << bad.body << "\nexpected " << bad.pointer << " " << bad.code << "\n"
                                       << answer->body;
    }
    EXPECT_EQ(everything_in(database), before);
  }

  static bool names(const Response& answer, const BadBody& bad) {
    const Json body = answer.json();
    if (!body.has("errors"))
      return false;
    for (const auto& error : body["errors"].items())
      if (error["pointer"].string() == bad.pointer && error["code"].string() == bad.code)
        return true;
    return false;
  }

  static std::string reference(const std::string& text) { return Object().text("external_session_ref", text).str(); }

  /// An import of one good item with `member` replaced or added.
  std::string item_with(const std::string& member, const std::string& value) {
    std::string body;
    for (const auto& [name, usual] :
         std::vector<std::pair<std::string, std::string>>{{"agent_id", json_string(world.lotse.id)},
                                                          {"external_session_ref", "\"r\""},
                                                          {"created_at", "\"2025-01-01T10:00:00Z\""},
                                                          {"ended_at", "\"2025-01-01T11:00:00Z\""}})
      if (name != member)
        body += json_string(name) + ":" + usual + ",";
    return R"({"items":[{)" + body + json_string(member) + ":" + value + "}]}";
  }
};

TEST_F(BadInput, TestBadInput_References) {
  expect_refused("POST", sessions_path(thread) + "/bind",
                 {{"{}", "/external_session_ref", "required"},
                  {reference(""), "/external_session_ref", "required"},
                  {reference(" \t \n"), "/external_session_ref", "required"},
                  {reference("\xe3\x80\x80\xc2\xa0"), "/external_session_ref", "required"},
                  {R"({"external_session_ref":"a\u0000b"})", "/external_session_ref", "control_character"},
                  {R"({"external_session_ref":"a\u0007b"})", "/external_session_ref", "control_character"},
                  {reference("a\xc2\x85"
                             "b"),
                   "/external_session_ref", "control_character"},
                  {reference("a\xe2\x80\xae"
                             "b"),
                   "/external_session_ref", "bidi_control"},
                  {reference("a\xe2\x81\xa6"
                             "b"),
                   "/external_session_ref", "bidi_control"},
                  {reference("a\xff"
                             "b"),
                   "/external_session_ref", "invalid_utf8"},
                  {reference(std::string(1025, 'r')), "/external_session_ref", "too_long"}});
  const std::string longest(1024, 'r');
  EXPECT_EQ(bind(alex, thread, {longest}).status, 201) << "the longest one is good";
  const std::string odd = "caf\xc3\xa9 \xf0\x9f\xa6\x8a \"'; DROP TABLE agent_sessions; --";
  const auto bound = bind(alex, world.thread(world.support), {odd});
  EXPECT_EQ(bound.json()["external_session_ref"].string(), odd) << "stored exactly as sent";
}

TEST_F(BadInput, TestBadInput_Members) {
  const std::string good = R"("external_session_ref":"r")";
  expect_refused(
    "POST", sessions_path(thread) + "/bind",
    {{"[]", "", "wrong_type"},
     {"\"text\"", "", "wrong_type"},
     {"{" + good + R"(,"more":1})", "/more", "unknown_member"},
     {"{" + good + R"(,"a/b~c":1})", "/a~1b~0c", "unknown_member"},
     {"{" + good + "," + good + "}", "/external_session_ref", "duplicate_member"},
     {R"({"external_session_ref":null})", "/external_session_ref", "null_not_allowed"},
     {R"({"external_session_ref":7})", "/external_session_ref", "wrong_type"},
     {R"({"external_session_ref":["r"]})", "/external_session_ref", "wrong_type"},
     {"{" + good + R"(,"take_over":"yes"})", "/take_over", "wrong_type"},
     {"{" + good + R"(,"take_over":null})", "/take_over", "null_not_allowed"},
     {"{" + good + R"(,"expected_current_session_id":"x"})", "/expected_current_session_id", "invalid_format"},
     {"{" + good + R"(,"expected_current_session_id":"01890000-0000-7000-8000-00000000000A"})",
      "/expected_current_session_id", "invalid_format"}});
  expect_refused("POST", sessions_path(thread) + "/reset",
                 {{R"({"expected_current_session_id":5})", "/expected_current_session_id", "wrong_type"},
                  {R"({"external_session_ref":"r"})", "/external_session_ref", "unknown_member"}});
}

TEST_F(BadInput, TestBadInput_Imports) {
  std::string many;
  for (int i = 0; i < 501; ++i)
    many += (many.empty() ? "" : ",") + std::string("{}");
  expect_refused("POST", sessions_path(thread) + "/import",
                 {{"{}", "/items", "required"},
                  {R"({"items":[]})", "/items", "too_short"},
                  {R"({"items":{}})", "/items", "wrong_type"},
                  {R"({"items":[7]})", "/items/0", "wrong_type"},
                  {R"({"items":[null]})", "/items/0", "null_not_allowed"},
                  {R"({"items":[)" + many + "]}", "/items", "too_many"},
                  {R"({"items":[{}]})", "/items/0/agent_id", "required"},
                  {item_with("agent_id", json_string(unknown_id)), "/items/0/agent_id", "unknown_reference"},
                  {item_with("agent_id", json_string(world.alex.id)), "/items/0/agent_id", "unknown_reference"},
                  {item_with("external_session_ref", "\" \""), "/items/0/external_session_ref", "required"},
                  {item_with("model", "\"\""), "/items/0/model", "invalid_format"},
                  {item_with("model", "\"-opus\""), "/items/0/model", "invalid_format"},
                  {item_with("model", "\"a b\""), "/items/0/model", "invalid_format"},
                  {item_with("model", json_string(std::string(129, 'm'))), "/items/0/model", "invalid_format"},
                  {item_with("currency", "\"eur\""), "/items/0/currency", "invalid_format"},
                  {item_with("cost_baseline_micros", "-1"), "/items/0/cost_baseline_micros", "out_of_range"},
                  {item_with("cost_baseline_micros", "1.5"), "/items/0/cost_baseline_micros", "wrong_type"},
                  {item_with("created_at", "\"2025-02-30T10:00:00Z\""), "/items/0/created_at", "invalid_format"},
                  {item_with("created_at", "\"2025-01-01\""), "/items/0/created_at", "invalid_format"},
                  {item_with("created_at", "\"2025-01-01T12:00:00Z\""), "/items/0/ended_at", "out_of_range"},
                  {item_with("ended_at", "\"2999-01-01T00:00:00Z\""), "/items/0/ended_at", "out_of_range"},
                  {item_with("version", "1"), "/items/0/version", "unknown_member"}});
}

TEST_F(BadInput, TestBadInput_Provisioning) {
  const std::string long_name(201, 'n');
  expect_refused("POST", "/v1/spaces",
                 {{"{}", "/name", "required"},
                  {R"({"name":"  "})", "/name", "required"},
                  {Object().text("name", long_name).str(), "/name", "too_long"},
                  {Object().text("name", "a\xe2\x80\x8f").str(), "/name", "bidi_control"}});
  expect_refused("POST", "/v1/spaces/" + world.space + "/channels",
                 {{R"({"name":"N","mode":"shut"})", "/mode", "unknown_value"},
                  {Object().text("name", "N").text("operator_agent_id", unknown_id).str(), "/operator_agent_id",
                   "unknown_reference"},
                  {Object().text("name", "N").text("operator_agent_id", world.sam.id).str(), "/operator_agent_id",
                   "unknown_reference"}});
  expect_refused("PATCH", "/v1/channels/" + world.support.channel, {{R"({"mode":3})", "/mode", "wrong_type"}});
  expect_refused("POST", "/v1/channels/" + world.support.channel + "/threads", {{"{}", "/title", "required"}});
  expect_refused("PATCH", "/v1/threads/" + world.support.main_thread,
                 {{Object().text("operator_agent_id", world.lotse.id).str(), "/operator_agent_id", "not_applicable"}});
  expect_refused(
    "POST", "/v1/principals",
    {{R"({"name":"N"})", "/kind", "required"},
     {R"({"kind":"robot","name":"N"})", "/kind", "unknown_value"},
     {R"({"kind":"agent","name":"N"})", "/agent", "required"},
     {R"({"kind":"human","name":"N","agent":{}})", "/agent", "not_applicable"},
     {R"({"kind":"agent","name":"N","agent":{"billing_mode":"personal"}})", "/agent/holder_id", "required"},
     {R"({"kind":"agent","name":"N","agent":{"tool_class":"root"}})", "/agent/tool_class", "unknown_value"},
     {R"({"kind":"agent","name":"N","agent":{"more":true}})", "/agent/more", "unknown_member"}});
  expect_refused("PATCH", "/v1/principals/" + world.alex.id, {{R"({"agent":{}})", "/agent", "not_applicable"}});
  expect_refused("POST", "/v1/principals/" + world.alex.id + "/tokens",
                 {{"{}", "/label", "required"},
                  {R"({"label":"L","expires_at":"yesterday"})", "/expires_at", "invalid_format"},
                  {R"({"label":"L","expires_at":"2020-01-01T00:00:00Z"})", "/expires_at", "out_of_range"}});
  expect_refused("PUT", "/v1/threads/" + thread + "/grants/" + world.robin.id,
                 {{"{}", "/level", "required"},
                  {R"({"level":"none"})", "/level", "unknown_value"},
                  {R"({"level":"owner"})", "/level", "unknown_value"}});
}

/// A request that is wrong in its head, not in its members.
struct BadRequest {
  std::string method;
  std::string path;
  std::optional<std::string> body;
  Headers headers;
  int status;
  std::string problem;
};

TEST_F(BadInput, TestBadInput_Requests) {
  const std::string bind_path = sessions_path(thread) + "/bind";
  const std::string good = reference("r");
  const std::string huge = reference(std::string(1 << 20, 'r'));
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  const std::vector<BadRequest> requests{
    {"POST", bind_path, "{", {}, 400, "malformed_json"},
    {"POST", bind_path, "", {}, 400, "malformed_json"},
    {"POST", bind_path, "not json", {}, 400, "malformed_json"},
    {"POST", bind_path, good + good, {}, 400, "malformed_json"},
    {"POST", bind_path, deep, {}, 400, "malformed_json"},
    {"POST", bind_path, huge, {}, 413, "payload_too_large"},
    {"POST", bind_path, good, {{"Content-Type", "text/plain"}}, 415, "unsupported_media_type"},
    {"POST", bind_path, good, {{"Content-Type", "application/json; charset=latin1"}}, 415, "unsupported_media_type"},
    {"POST", bind_path, good, {{"Content-Encoding", "gzip"}}, 415, "unsupported_media_type"},
    {"DELETE", bind_path, std::nullopt, {}, 405, "method_not_allowed"},
    {"PUT", "/v1/spaces", "{}", {}, 405, "method_not_allowed"},
    {"GET", "/v1/nothing", std::nullopt, {}, 404, "not_found"},
    {"GET", "/v1/threads/not-an-id", std::nullopt, {}, 404, "not_found"},
    {"GET", "/v1/threads/" + std::string(36, 'A'), std::nullopt, {}, 404, "not_found"},
    {"GET", "/v1/spaces?limit=0", std::nullopt, {}, 400, "validation_failed"},
    {"GET", "/v1/spaces?limit=201", std::nullopt, {}, 400, "validation_failed"},
    {"GET", "/v1/spaces?limit=ten", std::nullopt, {}, 400, "validation_failed"},
    {"GET", "/v1/spaces?cursor=here", std::nullopt, {}, 400, "invalid_cursor"},
    {"GET", "/v1/spaces?color=red", std::nullopt, {}, 400, "validation_failed"},
    {"GET", "/v1/audit?outcome=maybe", std::nullopt, {}, 400, "validation_failed"},
  };
  const std::string before = everything_in(database);
  for (const auto& bad : requests) {
    const auto answer = owner.send(bad.method, bad.path, bad.body, bad.headers);
    const std::string what = bad.method + " " + bad.path + " " + bad.body.value_or("").substr(0, 40) +
                             (bad.headers.empty() ? "" : " " + bad.headers.begin()->second);
    ASSERT_TRUE(answer.has_value()) << what;
    EXPECT_EQ(answer->status, bad.status) << what << "\n" << answer->body;
    EXPECT_EQ(answer->problem(), bad.problem) << what;
    EXPECT_EQ(answer->status == 405, answer->header("allow") != "") << what;
    EXPECT_NE(answer->header("x-request-id"), "") << what;
  }
  EXPECT_EQ(everything_in(database), before);
}

TEST_F(BadInput, TestBadInput_IfMatch) {
  const std::string path = "/v1/threads/" + thread;
  const std::string body = Object().text("title", "Changed").str();
  const std::string before = everything_in(database);
  for (const char* bad : {"*", "W/\"1\"", "\"1\", \"2\"", "1", "\"one\"", "\"\"", "\"01\""}) {
    const auto answer = owner.patch(path, body, {{"If-Match", bad}});
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(answer.problem(), "invalid_if_match") << bad;
  }
  EXPECT_EQ(everything_in(database), before);
}

TEST_F(BadInput, ProblemsAreUniform) {
  const auto answer = owner.post(sessions_path(thread) + "/bind", "{}");
  const Json body = answer.json();
  EXPECT_EQ(answer.header("content-type"), "application/problem+json");
  EXPECT_EQ(body.names(), (std::vector<std::string>{"code", "detail", "errors", "status", "title", "type"}));
  EXPECT_EQ(body["type"].string(), "urn:cleat:problem:validation_failed");
  EXPECT_EQ(body["status"].number(), 400);
  for (const auto& refused : {alex.get("/v1/spaces/" + world.space), alex.get("/v1/threads/" + std::string(unknown_id)),
                              reset(sam, thread), reset(alex, thread)})
    for (const auto& id : {world.space, thread, world.alex.id, world.sam.id, std::string(unknown_id)})
      EXPECT_EQ(refused.body.find(id), std::string::npos) << "an id stands in an error body";
}

TEST_F(BadInput, RequestIdsAreCarried) {
  EXPECT_EQ(alex.get("/v1/me", {{"X-Request-Id", "from-a-client-7"}}).header("x-request-id"), "from-a-client-7");
  const auto made = alex.get("/v1/me", {{"X-Request-Id", std::string(500, 'x')}}).header("x-request-id");
  EXPECT_NE(made, "");
  EXPECT_LE(made.size(), 128U);
  EXPECT_NE(server().output().find("from-a-client-7"), std::string::npos) << "a log line names the request";
}

} // namespace
} // namespace cleat::test
