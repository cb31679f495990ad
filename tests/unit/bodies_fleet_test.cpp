#include <functional>

#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "protocol/bodies.hpp"
#include "protocol/validate.hpp"
#include "tests/unit/printing.hpp"

/// Bodies around Runners, accounts and sessions in containers (spec 04, spec 05 "Shapes").
namespace cleat::unit {
namespace {

using Errors = std::vector<FieldError>;

constexpr std::string_view an_id = "0190a5f0-7b3c-7def-8123-456789abcdef";
const Id id = *Id::parse(an_id);
const std::string session_id(64, 'a');

/// A body with ID for an id.
std::string body(std::string text) {
  for (std::size_t at = text.find("ID"); at != std::string::npos; at = text.find("ID"))
    text.replace(at, 2, an_id);
  return text;
}

template <class Read>
void expect_refused(Read read, const std::vector<std::pair<std::string, Errors>>& table) {
  for (const auto& [text, errors] : table)
    EXPECT_EQ(refusal_of(read(body(text))), invalid(errors)) << text;
  EXPECT_EQ(refusal_of(read("{")), Refusal{Code::malformed_json});
  EXPECT_EQ(refusal_of(read("[]")), invalid({{"", FieldCode::wrong_type}}));
  EXPECT_EQ(refusal_of(read(R"({"surprise": 1})")).errors.back(), (FieldError{"/surprise", FieldCode::unknown_member}));
}

TEST(FleetBodies, Names) {
  EXPECT_EQ(bodies::named(R"({"name": "Example"})")->name, "Example");
  expect_refused(bodies::named,
                 {{"{}", {{"/name", FieldCode::required}}}, {R"({"name": " "})", {{"/name", FieldCode::required}}}});
}

TEST(FleetBodies, Subscriber) {
  EXPECT_EQ(bodies::subscriber(body(R"({"principal_id": "ID"})"))->principal_id, id);
  expect_refused(bodies::subscriber, {{"{}", {{"/principal_id", FieldCode::required}}},
                                      {R"({"principal_id": null})", {{"/principal_id", FieldCode::null_not_allowed}}},
                                      {R"({"principal_id": "x"})", {{"/principal_id", FieldCode::invalid_format}}}});
}

TEST(FleetBodies, Secret) {
  const auto read = [](std::string_view text) { return bodies::secret(text, 8); };
  EXPECT_EQ(read(R"({"value": "a\nb \u00e9"})")->value, "a\nb \xc3\xa9");
  EXPECT_EQ(read(R"({"value": "12345678"})")->value, "12345678");
  expect_refused(read, {{"{}", {{"/value", FieldCode::required}}},
                        {R"({"value": ""})", {{"/value", FieldCode::required}}},
                        {R"({"value": "a\u0000"})", {{"/value", FieldCode::control_character}}},
                        {R"({"value": "123456789"})", {{"/value", FieldCode::too_long}}},
                        {R"({"value": 7})", {{"/value", FieldCode::wrong_type}}}});
}

TEST(FleetBodies, RunnerToken) {
  const auto read = bodies::runner_token(R"({"label": "host", "expires_at": "2026-01-01T12:00:00Z"})");
  EXPECT_EQ(read->label, "host");
  EXPECT_EQ(read->expires_at, Timestamp{std::chrono::seconds{1'767'268'800}});
  EXPECT_FALSE(bodies::runner_token(R"({"label": "host"})")->expires_at);
  expect_refused(bodies::runner_token, {{"{}", {{"/label", FieldCode::required}}}});
}

TEST(FleetBodies, Container) {
  const auto read = bodies::container(body(R"({"name": "box-1", "account_id": "ID", "runner_id": "ID"})"));
  EXPECT_EQ(read->name, "box-1");
  EXPECT_EQ(read->account_id, id);
  EXPECT_EQ(read->runner_id, id);
  expect_refused(
    bodies::container,
    {{"{}",
      {{"/name", FieldCode::required}, {"/account_id", FieldCode::required}, {"/runner_id", FieldCode::required}}},
     {R"({"name": "Box", "account_id": "x", "runner_id": "ID"})",
      {{"/name", FieldCode::invalid_format}, {"/account_id", FieldCode::invalid_format}}}});
}

TEST(FleetBodies, NamesOfContainersAndSecrets) {
  for (const std::string& name : {std::string("a"), std::string("0"), std::string("a.b_c-d"), std::string(63, 'a')})
    EXPECT_EQ(validate::container_name(name), std::nullopt) << name;
  for (const std::string& name : {std::string(), std::string("A"), std::string("-a"), std::string("a."),
                                  std::string("a b"), std::string("a/b"), std::string(64, 'a'), std::string("a\0b", 3)})
    EXPECT_EQ(validate::container_name(name), FieldCode::invalid_format) << name;
  for (const std::string& name : {std::string("A"), std::string("API_KEY_2"), std::string(64, 'A')})
    EXPECT_EQ(validate::secret_name(name), std::nullopt) << name;
  for (const std::string& name : {std::string(), std::string("a"), std::string("_A"), std::string("2A"),
                                  std::string("A-B"), std::string(65, 'A')})
    EXPECT_EQ(validate::secret_name(name), FieldCode::invalid_format) << name;
}

TEST(FleetBodies, SessionIdsAre64HexadecimalDigits) {
  EXPECT_TRUE(validate::is_session_id(std::string(58, '0') + "9afbde"));
  for (const std::string& text : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                                  std::string(64, 'g'), "../" + std::string(61, 'a')})
    EXPECT_FALSE(validate::is_session_id(text)) << text;
}

TEST(FleetBodies, Start) {
  EXPECT_FALSE(bodies::start_session("")->resume_session_id);
  EXPECT_FALSE(bodies::start_session("{}")->reroute_of);
  const auto resume = bodies::start_session(R"({"resume_session_id": ")" + session_id + R"("})");
  EXPECT_EQ(resume->resume_session_id, session_id);
  EXPECT_EQ(bodies::start_session(R"({"reroute_of": "no handle"})")->reroute_of, "no handle")
    << "whether a handle is known is the owner's to say";
  expect_refused(bodies::start_session,
                 {{R"({"resume_session_id": ")" + session_id + R"(", "reroute_of": "h"})",
                   {{"/reroute_of", FieldCode::not_applicable}}},
                  {R"({"resume_session_id": "x", "reroute_of": "h"})", {{"/reroute_of", FieldCode::not_applicable}}},
                  {R"({"resume_session_id": null})", {{"/resume_session_id", FieldCode::null_not_allowed}}},
                  {R"({"reroute_of": 7})", {{"/reroute_of", FieldCode::wrong_type}}}});
}

TEST(FleetBodies, ASessionThatCannotBeIsUnknown) {
  for (const char* text :
       {R"({"resume_session_id": ""})", R"({"resume_session_id": "../../etc"})", R"({"resume_session_id": "a\u0000"})"})
    EXPECT_EQ(refusal_of(bodies::start_session(text)), Refusal{Code::not_found}) << text;
}

TEST(FleetBodies, Handles) {
  const auto look_up = [](std::string_view text) { return bodies::lookup(text, 30); };
  EXPECT_EQ(look_up(R"({"retry_handle": "h"})")->retry_handle, "h");
  EXPECT_EQ(look_up(R"({"retry_handle": "h"})")->wait_s, 0);
  EXPECT_EQ(look_up(R"({"retry_handle": "h", "wait_s": 30})")->wait_s, 30);
  expect_refused(look_up, {{"{}", {{"/retry_handle", FieldCode::required}}},
                           {R"({"retry_handle": 7})", {{"/retry_handle", FieldCode::wrong_type}}},
                           {R"({"retry_handle": "h", "wait_s": 31})", {{"/wait_s", FieldCode::out_of_range}}},
                           {R"({"retry_handle": "h", "wait_s": -1})", {{"/wait_s", FieldCode::out_of_range}}},
                           {R"({"retry_handle": "h", "wait_s": 1.5})", {{"/wait_s", FieldCode::wrong_type}}}});
  EXPECT_EQ(bodies::retry(R"({"retry_handle": ""})")->retry_handle, "");
  expect_refused(bodies::retry, {{R"({"retry_handle": "h", "wait_s": 1})", {{"/wait_s", FieldCode::unknown_member}}}});
}

TEST(FleetBodies, StopAndInput) {
  EXPECT_TRUE(bodies::stop_session(""));
  EXPECT_TRUE(bodies::stop_session("{}"));
  expect_refused(bodies::stop_session, {});
  const auto read = [](std::string_view text) { return bodies::input(text, 8); };
  EXPECT_EQ(read(R"({"line": ""})")->line, "");
  EXPECT_EQ(read(R"({"line": "\tok \u001b"})")->line, "\tok \x1b");
  expect_refused(read, {{"{}", {{"/line", FieldCode::required}}},
                        {R"({"line": "a\nb"})", {{"/line", FieldCode::control_character}}},
                        {R"({"line": "a\r"})", {{"/line", FieldCode::control_character}}},
                        {R"({"line": "\u0000"})", {{"/line", FieldCode::control_character}}},
                        {R"({"line": "123456789"})", {{"/line", FieldCode::too_long}}}});
}

/// Everything that may hold no value that only the server mints.
std::vector<std::function<std::optional<Refusal>(std::string_view)>> unminted() {
  const auto refusal = [](const auto& result) {
    return result ? std::nullopt : std::optional<Refusal>(result.error());
  };
  return {[=](std::string_view text) { return refusal(bodies::start_session(text)); },
          [=](std::string_view text) { return refusal(bodies::lookup(text, 30)); },
          [=](std::string_view text) { return refusal(bodies::retry(text)); },
          [=](std::string_view text) { return refusal(bodies::stop_session(text)); },
          [=](std::string_view text) { return refusal(bodies::input(text, 8)); }};
}

TEST(FleetBodies, WhatTheServerMintsNobodySends) {
  for (const char* member : {"request_id", "operation_id", "relay_request_id", "fresh_session_id", "account_id",
                             "actor_id", "runner_id", "caller_request_id", "container_attempt_id"})
    for (const char* value : {R"("x")", R"("")", "null", "7", "{}", "[null]"})
      for (const auto& read : unminted()) {
        const std::string text = "{\"" + std::string(member) + "\": " + value + "}";
        EXPECT_EQ(
          read(text),
          (Refusal{Code::invalid_argument, Reason::none, {{"/" + std::string(member), FieldCode::not_applicable}}, ""}))
          << text;
      }
}

TEST(FleetBodies, WhatTheServerMintsComesBeforeEveryOtherMistake) {
  const std::vector<std::string> worse{
    R"({"surprise": 1, "actor_id": "x"})",
    R"({"actor_id": "x", "actor_id": "y"})",
    R"({"actor_id": "x", "resume_session_id": null, "retry_handle": null, "line": null})",
    R"({"actor_id": "x", "resume_session_id": "../x"})",
    "{\"actor_id\": \"\xff\", \"line\": \"\xff\"}",
  };
  for (const auto& read : unminted()) {
    for (const std::string& text : worse)
      EXPECT_EQ(read(text)->code, Code::invalid_argument) << text;
    EXPECT_EQ(read(R"({"actor_id": "x")")->code, Code::malformed_json) << "what is no JSON has no members";
    EXPECT_EQ(read(R"({"nested": {"actor_id": "x"}})")->code, Code::validation_failed)
      << "a member of a member is none";
  }
}

} // namespace
} // namespace cleat::unit
