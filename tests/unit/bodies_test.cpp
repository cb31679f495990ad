#include "protocol/bodies.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "tests/unit/printing.hpp"

namespace cleat::unit {
namespace {

using Errors = std::vector<FieldError>;

constexpr std::size_t ref_max = 64;
constexpr std::size_t items_max = 3;
constexpr std::string_view an_id = "0190a5f0-7b3c-7def-8123-456789abcdef";

const Id id = *Id::parse(an_id);

/// A body as in the examples below, with ID for an id.
std::string body(std::string text) {
  for (std::size_t at = text.find("ID"); at != std::string::npos; at = text.find("ID"))
    text.replace(at, 2, an_id);
  return text;
}

/// A body that is refused and what for.
struct Wrong {
  std::string text;
  Errors errors;
};

template <class Read>
void expect_refused(Read read, const std::vector<Wrong>& table) {
  for (const Wrong& wrong : table)
    EXPECT_EQ(refusal_of(read(body(wrong.text))), invalid(wrong.errors)) << wrong.text;
  EXPECT_EQ(refusal_of(read("{")), Refusal{Code::malformed_json});
  EXPECT_EQ(refusal_of(read("[]")), invalid({{"", FieldCode::wrong_type}}));
  EXPECT_EQ(refusal_of(read(R"({"surprise": 1})")).errors.back(), (FieldError{"/surprise", FieldCode::unknown_member}));
}

TEST(Bodies, Reset) {
  EXPECT_FALSE(bodies::reset("")->expected_current_session_id);
  EXPECT_FALSE(bodies::reset("{}")->expected_current_session_id);
  EXPECT_EQ(bodies::reset(body(R"({"expected_current_session_id": "ID"})"))->expected_current_session_id, id);
  expect_refused(
    bodies::reset,
    {{R"({"expected_current_session_id": "x"})", {{"/expected_current_session_id", FieldCode::invalid_format}}},
     {R"({"expected_current_session_id": null})", {{"/expected_current_session_id", FieldCode::null_not_allowed}}},
     {R"({"expected_current_session_id": 7})", {{"/expected_current_session_id", FieldCode::wrong_type}}}});
}

TEST(Bodies, Trigger) {
  const auto read = [](std::string_view text) { return bodies::trigger(text, 12); };
  const auto least = read(R"({"content_md": " as\n\tsent "})");
  EXPECT_EQ(least->content_md, " as\n\tsent ");
  EXPECT_FALSE(least->agent_id);
  EXPECT_EQ(least->when_active, WhenActive::reject);
  const auto most = read(body(R"({"content_md": "123456789012", "agent_id": "ID", "when_active": "enqueue"})"));
  EXPECT_EQ(most->agent_id, id);
  EXPECT_EQ(most->when_active, WhenActive::enqueue);
  EXPECT_EQ(read(R"({"content_md": "x", "when_active": "reject"})")->when_active, WhenActive::reject);
  expect_refused(read, {{"{}", {{"/content_md", FieldCode::required}}},
                        {R"({"content_md": " \n "})", {{"/content_md", FieldCode::required}}},
                        {R"({"content_md": "1234567890123"})", {{"/content_md", FieldCode::too_long}}},
                        {R"({"content_md": "a\u0000b"})", {{"/content_md", FieldCode::control_character}}},
                        {R"({"content_md": "x", "when_active": "wait"})", {{"/when_active", FieldCode::unknown_value}}},
                        {R"({"content_md": "x", "agent_id": "x"})", {{"/agent_id", FieldCode::invalid_format}}}});
}

TEST(Bodies, Start) {
  const auto read = [](std::string_view text) { return bodies::start(text, ref_max); };
  EXPECT_FALSE(read("")->external_session_ref);
  EXPECT_FALSE(read("{}")->model);
  const auto most = read(R"({"external_session_ref": "r", "model": "m-1"})");
  EXPECT_EQ(most->external_session_ref, "r");
  EXPECT_EQ(most->model, "m-1");
  expect_refused(read,
                 {{R"({"external_session_ref": ""})", {{"/external_session_ref", FieldCode::required}}},
                  {R"({"external_session_ref": "a\nb"})", {{"/external_session_ref", FieldCode::control_character}}},
                  {R"({"model": "-"})", {{"/model", FieldCode::invalid_format}}}});
}

TEST(Bodies, Finish) {
  EXPECT_TRUE(bodies::finish(R"({"outcome": "succeeded"})")->succeeded);
  const auto failed = bodies::finish(R"({"outcome": "failed", "code": "out_of_memory", "detail": "two\nlines"})");
  EXPECT_FALSE(failed->succeeded);
  EXPECT_EQ(failed->code, "out_of_memory");
  EXPECT_EQ(failed->detail, "two\nlines");
  EXPECT_FALSE(bodies::finish(R"({"outcome": "failed"})")->code);
  const std::string long_detail(limits::failure_detail_max_bytes + 1, 'x');
  expect_refused(
    bodies::finish,
    {{"{}", {{"/outcome", FieldCode::required}}},
     {R"({"outcome": "cancelled"})", {{"/outcome", FieldCode::unknown_value}}},
     {R"({"outcome": "succeeded", "code": "x", "detail": "y"})",
      {{"/code", FieldCode::not_applicable}, {"/detail", FieldCode::not_applicable}}},
     {R"({"outcome": "failed", "code": "No"})", {{"/code", FieldCode::invalid_format}}},
     {R"({"outcome": "failed", "code": "1a"})", {{"/code", FieldCode::invalid_format}}},
     {R"({"outcome": "failed", "code": ")" + std::string(65, 'x') + "\"}", {{"/code", FieldCode::invalid_format}}},
     {R"({"outcome": "failed", "detail": ")" + long_detail + "\"}", {{"/detail", FieldCode::too_long}}}});
}

TEST(Bodies, Post) {
  const auto read = [](std::string_view text) { return bodies::post(text, 3); };
  EXPECT_EQ(read(R"({"content_md": "abc"})")->content_md, "abc");
  expect_refused(read, {{"{}", {{"/content_md", FieldCode::required}}},
                        {R"({"content_md": "abcd"})", {{"/content_md", FieldCode::too_long}}}});
}

TEST(Bodies, Report) {
  const auto read = [](std::string_view text) { return bodies::report(text, ref_max); };
  const auto least = read("");
  EXPECT_FALSE(least->external_session_ref || least->model || least->started || least->bind_failed);
  EXPECT_FALSE(read(R"({"started": false})")->started);
  const auto most =
    read(R"({"external_session_ref": "r", "model": "m", "started": true, "bind_failed": "session_missing"})");
  EXPECT_EQ(most->external_session_ref, "r");
  EXPECT_EQ(most->model, "m");
  EXPECT_TRUE(most->started);
  EXPECT_TRUE(most->bind_failed);
  expect_refused(
    read, {{R"({"bind_failed": "session_missing"})", {{"/external_session_ref", FieldCode::required}}},
           {R"({"bind_failed": "other", "external_session_ref": "r"})", {{"/bind_failed", FieldCode::unknown_value}}},
           {R"({"bind_failed": true, "external_session_ref": "r"})", {{"/bind_failed", FieldCode::wrong_type}}},
           {R"({"started": "yes"})", {{"/started", FieldCode::wrong_type}}}});
}

TEST(Bodies, Bind) {
  const auto read = [](std::string_view text) { return bodies::bind(text, ref_max); };
  const auto least = read(R"({"external_session_ref": " kept as sent "})");
  EXPECT_EQ(least->external_session_ref, " kept as sent ");
  EXPECT_FALSE(least->expected_current_session_id);
  EXPECT_FALSE(least->take_over);
  const auto most =
    read(body(R"({"external_session_ref": "r", "expected_current_session_id": "ID", "take_over": true})"));
  EXPECT_EQ(most->expected_current_session_id, id);
  EXPECT_TRUE(most->take_over);
  EXPECT_TRUE(read("{\"external_session_ref\": \"" + std::string(ref_max, 'x') + "\"}"));
  expect_refused(
    read, {{"{}", {{"/external_session_ref", FieldCode::required}}},
           {R"({"external_session_ref": ""})", {{"/external_session_ref", FieldCode::required}}},
           {R"({"external_session_ref": " \t "})", {{"/external_session_ref", FieldCode::required}}},
           {R"({"external_session_ref": "a\u0000"})", {{"/external_session_ref", FieldCode::control_character}}},
           {R"({"external_session_ref": "a\u202e"})", {{"/external_session_ref", FieldCode::bidi_control}}},
           {"{\"external_session_ref\": \"a\xff\"}", {{"/external_session_ref", FieldCode::invalid_utf8}}},
           {"{\"external_session_ref\": \"" + std::string(ref_max + 1, 'x') + "\"}",
            {{"/external_session_ref", FieldCode::too_long}}},
           {R"({"external_session_ref": null})", {{"/external_session_ref", FieldCode::null_not_allowed}}},
           {R"({"external_session_ref": "r", "take_over": "true"})", {{"/take_over", FieldCode::wrong_type}}},
           {R"({"external_session_ref": "r", "take_over": null})", {{"/take_over", FieldCode::null_not_allowed}}},
           {R"({"external_session_ref": "r", "external_session_ref": "r"})",
            {{"/external_session_ref", FieldCode::duplicate_member}}}});
}

constexpr std::string_view item = R"({"agent_id": "ID", "external_session_ref": "r",
  "created_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-02T00:00:00Z")";

/// An import of one item with further members.
std::string import_of(std::string_view more = "") {
  return body("{\"items\": [" + std::string(item) + std::string(more) + "}]}");
}

Result<ImportBody> read_import(std::string_view text) {
  return bodies::import_sessions(text, ref_max, items_max);
}

TEST(Bodies, Import) {
  const auto least = read_import(import_of());
  ASSERT_TRUE(least);
  ASSERT_EQ(least->items.size(), 1U);
  EXPECT_EQ(least->items[0].agent_id, id);
  EXPECT_EQ(least->items[0].external_session_ref, "r");
  EXPECT_EQ(least->items[0].cost_baseline_micros, 0);
  EXPECT_FALSE(least->items[0].currency);
  EXPECT_FALSE(least->items[0].model);
  EXPECT_EQ(format_rfc3339(least->items[0].created_at), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_rfc3339(least->items[0].ended_at), "2026-01-02T00:00:00.000000Z");
  const auto most = read_import(import_of(R"(, "model": "m", "currency": "USD", "cost_baseline_micros": 5)"));
  EXPECT_EQ(most->items[0].model, "m");
  EXPECT_EQ(most->items[0].currency, "USD");
  EXPECT_EQ(most->items[0].cost_baseline_micros, 5);
}

TEST(Bodies, ImportRefusesWrongItems) {
  const std::string times = R"("created_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-02T00:00:00Z")";
  expect_refused(
    read_import,
    {{"{}", {{"/items", FieldCode::required}}},
     {R"({"items": []})", {{"/items", FieldCode::too_short}}},
     {R"({"items": null})", {{"/items", FieldCode::null_not_allowed}}},
     {R"({"items": {}})", {{"/items", FieldCode::wrong_type}}},
     {R"({"items": [{}, {}, {}, {}]})", {{"/items", FieldCode::too_many}}},
     {R"({"items": [1]})", {{"/items/0", FieldCode::wrong_type}}},
     {R"({"items": [{}]})",
      {{"/items/0/agent_id", FieldCode::required},
       {"/items/0/created_at", FieldCode::required},
       {"/items/0/ended_at", FieldCode::required},
       {"/items/0/external_session_ref", FieldCode::required}}},
     {import_of(R"(, "model": "-m")"), {{"/items/0/model", FieldCode::invalid_format}}},
     {import_of(R"(, "currency": "eur")"), {{"/items/0/currency", FieldCode::invalid_format}}},
     {import_of(R"(, "cost_baseline_micros": -1)"), {{"/items/0/cost_baseline_micros", FieldCode::out_of_range}}},
     {import_of(R"(, "cost_baseline_micros": 1.5)"), {{"/items/0/cost_baseline_micros", FieldCode::wrong_type}}},
     {import_of(R"(, "is_current": true)"), {{"/items/0/is_current", FieldCode::unknown_member}}},
     {"{\"items\": [" + std::string(item) + "}, {\"agent_id\": \"x\", \"external_session_ref\": \"r\", " + times +
        "}]}",
      {{"/items/1/agent_id", FieldCode::invalid_format}}}});
}

TEST(Bodies, ImportRefusesASessionThatEndedBeforeItBegan) {
  const auto with = [](std::string_view created, std::string_view ended) {
    return body(R"({"items": [{"agent_id": "ID", "external_session_ref": "r", "created_at": ")" + std::string(created) +
                R"(", "ended_at": ")" + std::string(ended) + "\"}]}");
  };
  EXPECT_TRUE(read_import(with("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")));
  EXPECT_EQ(refusal_of(read_import(with("2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00Z"))),
            invalid({{"/items/0/ended_at", FieldCode::out_of_range}}));
  // A time that was not read is the only one to complain about.
  EXPECT_EQ(refusal_of(read_import(with("soon", "1960-01-01T00:00:00Z"))),
            invalid({{"/items/0/created_at", FieldCode::invalid_format}}));
}

TEST(Bodies, Space) {
  EXPECT_EQ(bodies::space(R"({"name": "Support"})")->name, "Support");
  expect_refused(bodies::space, {{"{}", {{"/name", FieldCode::required}}},
                                 {R"({"name": " "})", {{"/name", FieldCode::required}}},
                                 {R"({"name": "a\nb"})", {{"/name", FieldCode::control_character}}}});
  EXPECT_FALSE(bodies::space_patch("{}")->name);
  EXPECT_EQ(bodies::space_patch(R"({"name": "New"})")->name, "New");
  expect_refused(bodies::space_patch, {{R"({"name": ""})", {{"/name", FieldCode::required}}},
                                       {R"({"name": null})", {{"/name", FieldCode::null_not_allowed}}},
                                       {R"({"owner_id": "ID"})", {{"/owner_id", FieldCode::unknown_member}}}});
}

TEST(Bodies, Channel) {
  const auto least = bodies::channel(R"({"name": "General"})");
  EXPECT_EQ(least->mode, ChannelMode::open);
  EXPECT_FALSE(least->operator_agent_id);
  const auto most = bodies::channel(body(R"({"name": "General", "operator_agent_id": "ID", "mode": "read_only"})"));
  EXPECT_EQ(most->mode, ChannelMode::read_only);
  EXPECT_EQ(most->operator_agent_id, id);
  expect_refused(bodies::channel,
                 {{R"({"mode": "open"})", {{"/name", FieldCode::required}}},
                  {R"({"name": "a", "mode": "closed"})", {{"/mode", FieldCode::unknown_value}}},
                  {R"({"name": "a", "operator_agent_id": ""})", {{"/operator_agent_id", FieldCode::invalid_format}}}});
  const auto patch = bodies::channel_patch(body(R"({"mode": "archived", "operator_agent_id": "ID"})"));
  EXPECT_EQ(patch->mode, ChannelMode::archived);
  EXPECT_EQ(patch->operator_agent_id, id);
  EXPECT_FALSE(patch->name);
  EXPECT_FALSE(bodies::channel_patch("{}")->mode);
  expect_refused(bodies::channel_patch,
                 {{R"({"mode": 1})", {{"/mode", FieldCode::wrong_type}}},
                  {R"({"main_thread_id": "ID"})", {{"/main_thread_id", FieldCode::unknown_member}}}});
}

TEST(Bodies, Thread) {
  const auto made = bodies::thread(body(R"({"title": "Broken printer", "operator_agent_id": "ID"})"));
  EXPECT_EQ(made->title, "Broken printer");
  EXPECT_EQ(made->operator_agent_id, id);
  expect_refused(bodies::thread, {{"{}", {{"/title", FieldCode::required}}},
                                  {R"({"name": "a", "title": "a"})", {{"/name", FieldCode::unknown_member}}}});
  EXPECT_EQ(bodies::thread_patch(R"({"title": "New"})")->title, "New");
  EXPECT_FALSE(bodies::thread_patch("{}")->title);
  expect_refused(bodies::thread_patch, {{R"({"state": "closed"})", {{"/state", FieldCode::unknown_member}}}});
}

TEST(Bodies, Principal) {
  const auto human = bodies::principal(R"({"kind": "human", "name": "Alex"})");
  EXPECT_EQ(human->kind, PrincipalKind::human);
  EXPECT_EQ(human->name, "Alex");
  EXPECT_FALSE(human->agent);
  const auto agent = bodies::principal(body(R"({"kind": "agent", "name": "Lotse", "agent": {"tool_class": "host",
    "billing_mode": "personal", "holder_id": "ID", "enabled": false, "reachable": false, "default_model": "m"}})"));
  ASSERT_TRUE(agent && agent->agent);
  EXPECT_EQ(agent->agent->tool_class, ToolClass::host);
  EXPECT_EQ(agent->agent->billing_mode, BillingMode::personal);
  EXPECT_EQ(agent->agent->holder_id, id);
  EXPECT_EQ(agent->agent->enabled, false);
  EXPECT_EQ(agent->agent->reachable, false);
  EXPECT_EQ(agent->agent->default_model, "m");
  expect_refused(
    bodies::principal,
    {{"{}", {{"/kind", FieldCode::required}, {"/name", FieldCode::required}}},
     {R"({"kind": "robot", "name": "a"})", {{"/kind", FieldCode::unknown_value}}},
     {R"({"kind": "agent", "name": "a"})", {{"/agent", FieldCode::required}}},
     {R"({"kind": "human", "name": "a", "agent": {}})", {{"/agent", FieldCode::not_applicable}}},
     {R"({"kind": "app", "name": "a", "agent": {}})", {{"/agent", FieldCode::not_applicable}}},
     {R"({"kind": "agent", "name": "a", "agent": {"tool_class": "moon"}})",
      {{"/agent/tool_class", FieldCode::unknown_value}}},
     {R"({"kind": "agent", "name": "a", "agent": {"default_model": "?"}})",
      {{"/agent/default_model", FieldCode::invalid_format}}},
     {R"({"kind": "agent", "name": "a", "agent": {"holder": 1}})", {{"/agent/holder", FieldCode::unknown_member}}}});
}

TEST(Bodies, PrincipalPatch) {
  const auto patch = bodies::principal_patch(R"({"agent": {"enabled": false}})");
  ASSERT_TRUE(patch && patch->agent);
  EXPECT_EQ(patch->agent->enabled, false);
  EXPECT_FALSE(patch->agent->reachable);
  EXPECT_FALSE(patch->name);
  expect_refused(bodies::principal_patch, {{R"({"kind": "human"})", {{"/kind", FieldCode::unknown_member}}},
                                           {R"({"agent": null})", {{"/agent", FieldCode::null_not_allowed}}}});
}

TEST(Bodies, Token) {
  EXPECT_FALSE(bodies::token(R"({"label": "laptop"})")->expires_at);
  EXPECT_EQ(bodies::token(R"({"label": "laptop", "expires_at": "1970-01-01T00:00:01Z"})")->expires_at,
            Timestamp{std::chrono::seconds{1}});
  expect_refused(bodies::token,
                 {{"{}", {{"/label", FieldCode::required}}},
                  {R"({"label": "a", "expires_at": "never"})", {{"/expires_at", FieldCode::invalid_format}}}});
}

TEST(Bodies, Grant) {
  for (const Level level : {Level::read, Level::write, Level::trigger, Level::manage})
    EXPECT_EQ(bodies::grant("{\"level\": \"" + std::string(to_string(level)) + "\"}")->level, level);
  expect_refused(bodies::grant, {{"{}", {{"/level", FieldCode::required}}},
                                 {R"({"level": "none"})", {{"/level", FieldCode::unknown_value}}},
                                 {R"({"level": "owner"})", {{"/level", FieldCode::unknown_value}}}});
}

TEST(Bodies, Empty) {
  EXPECT_TRUE(bodies::empty(""));
  EXPECT_TRUE(bodies::empty(" {} "));
  expect_refused(bodies::empty, {{R"({"a": 1})", {{"/a", FieldCode::unknown_member}}}});
}

TEST(Bodies, PageRange) {
  EXPECT_EQ(bodies::page_range({}, {}), (PageRange{limits::page_default, std::nullopt}));
  EXPECT_EQ(bodies::page_range("1", {}), (PageRange{1, std::nullopt}));
  EXPECT_EQ(bodies::page_range("200", std::string(an_id)), (PageRange{200, id}));
  for (const char* limit : {"0", "201", "-1", "+5", "", " 5", "5 ", "5x", "1e2", "99999999999999999999", "0x10"})
    EXPECT_EQ(refusal_of(bodies::page_range(limit, {})), invalid({{"/limit", FieldCode::out_of_range}})) << limit;
  for (const char* cursor : {"", "x", "0190A5F0-7B3C-7DEF-8123-456789ABCDEF"})
    EXPECT_EQ(refusal_of(bodies::page_range({}, cursor)), Refusal{Code::invalid_cursor}) << cursor;
}

} // namespace
} // namespace cleat::unit
