#include "protocol/render.hpp"

#include <regex>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <simdjson.h>

#include "protocol/bodies.hpp"
#include "tests/unit/generators.hpp"
#include "tests/unit/world.hpp"

namespace cleat::unit {
namespace {

/// The text with every $N replaced by the id number N and every @ by noon, so that examples stay readable.
std::string spelled(std::string text) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      ++end;
    text.replace(at, end - at, '"' + id_of(std::stoull(text.substr(at + 1))).str() + '"');
  }
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
    text.replace(at, 1, "\"2026-01-01T12:00:00.000000Z\"");
  return text;
}

const World world;

TEST(Render, ACurrentSession) {
  const AgentSession row = session_in(world.thread(1), 50, "a \"b\"\\\xc3\xa9", noon);
  EXPECT_EQ(render::session(row),
            spelled(R"({"id":$50,"thread_id":$101,"agent_id":$21,"external_session_ref":"a \"b\"\\)"
                    "\xc3\xa9"
                    R"(","is_current":true,"started":true,)"
                    R"("cost":{"amount_micros":0,"currency":"EUR","is_estimate":false},"created_at":@,"version":1})"));
}

TEST(Render, AnEndedSession) {
  AgentSession row = rules::ended(session_in(world.thread(1), 50, "r", noon), noon, EndReason::agent_changed);
  row.model = "m";
  row.started = false;
  row.cost_baseline_micros = 99;
  row.cumulative_cost_micros = 7;
  row.cost_is_estimate = true;
  row.currency = "USD";
  const std::string text = render::session(row);
  EXPECT_EQ(text,
            spelled(R"({"id":$50,"thread_id":$101,"agent_id":$21,"external_session_ref":"r","is_current":false,)"
                    R"("started":false,"model":"m","cost":{"amount_micros":7,"currency":"USD","is_estimate":true},)"
                    R"("created_at":@,"ended_at":@,"end_reason":"agent_changed","version":2})"));
  EXPECT_EQ(render::session_changed(row), spelled(R"({"thread_id":$101,"agent_session":)") + text + "}");
  EXPECT_EQ(render::sessions({row, row}), "{\"items\":[" + text + "," + text + "]}");
  EXPECT_EQ(render::imported({row}, 1), "{\"items\":[" + text + "],\"imported\":1}");
  EXPECT_EQ(render::sessions({}), R"({"items":[]})");
}

TEST(Render, Places) {
  EXPECT_EQ(render::space(world.space),
            spelled(R"({"id":$31,"name":"Example","owner_id":$11,"created_at":@,"version":3})"));
  Channel channel = world.channel;
  EXPECT_EQ(render::channel(channel),
            spelled(R"({"id":$32,"space_id":$31,"name":"Support","mode":"open",)"
                    R"("operator_agent_id":$21,"main_thread_id":$33,"created_at":@,"version":4})"));
  channel.operator_agent_id.reset();
  channel.mode = ChannelMode::read_only;
  EXPECT_EQ(render::channel(channel), spelled(R"({"id":$32,"space_id":$31,"name":"Support","mode":"read_only",)"
                                              R"("main_thread_id":$33,"created_at":@,"version":4})"));
  Thread thread{id_of(40), id_of(31), id_of(32), ThreadKind::main, "T", ThreadState::open, {}, noon, 1};
  EXPECT_EQ(render::thread(thread), spelled(R"({"id":$40,"space_id":$31,"channel_id":$32,"kind":"main","title":"T",)"
                                            R"("state":"open","created_at":@,"version":1})"));
  thread.kind = ThreadKind::thread;
  thread.state = ThreadState::closed;
  thread.operator_agent_id = id_of(21);
  EXPECT_EQ(render::thread(thread), spelled(R"({"id":$40,"space_id":$31,"channel_id":$32,"kind":"thread","title":"T",)"
                                            R"("state":"closed","operator_agent_id":$21,"created_at":@,"version":1})"));
  EXPECT_EQ(render::wrapped("thread", render::thread(thread)), "{\"thread\":" + render::thread(thread) + "}");
}

TEST(Render, People) {
  Principal alex = world.alex;
  alex.created_at = noon;
  EXPECT_EQ(render::principal(alex), spelled(R"({"id":$12,"kind":"human","name":"Alex","created_at":@,"version":12})"));
  Principal aide = world.aide;
  aide.created_at = noon;
  aide.agent->default_model = "m";
  EXPECT_EQ(render::principal(aide),
            spelled(R"({"id":$23,"kind":"agent","name":"Aide","agent":{"tool_class":"container",)"
                    R"("billing_mode":"personal","holder_id":$12,"enabled":true,"reachable":true,"default_model":"m"},)"
                    R"("created_at":@,"version":23})"));
  Token token{id_of(70), alex.id, "laptop", sha256("secret"), noon, {}, {}};
  EXPECT_EQ(render::token(token), spelled(R"({"id":$70,"principal_id":$12,"label":"laptop","created_at":@})"));
  EXPECT_EQ(render::token(token, "secret"),
            spelled(R"({"id":$70,"principal_id":$12,"label":"laptop","created_at":@,"token":"secret"})"));
  token.expires_at = noon;
  token.revoked_at = noon;
  EXPECT_EQ(render::token(token), spelled(R"({"id":$70,"principal_id":$12,"label":"laptop","created_at":@,)"
                                          R"("expires_at":@,"revoked_at":@})"));
  const Grant grant{ScopeKind::channel, id_of(32), id_of(31), alex.id, Level::trigger};
  EXPECT_EQ(render::grant(grant), spelled(R"({"principal_id":$12,"level":"trigger"})"));
}

TEST(Render, Me) {
  Principal owner = world.owner;
  owner.created_at = noon;
  const std::vector<Grant> grants{{ScopeKind::space, id_of(31), id_of(31), owner.id, Level::manage},
                                  {ScopeKind::thread, id_of(40), id_of(31), owner.id, Level::read}};
  const std::string first = R"({"scope":"space","resource_id":$31,"level":"manage"})";
  const std::string second = R"({"scope":"thread","resource_id":$40,"level":"read"})";
  const std::string head =
    R"({"id":$11,"kind":"human","name":"Owner","created_at":@,"version":11,"owner":true,"grants":)";
  EXPECT_EQ(render::me(owner, grants, 2), spelled(head + "{\"items\":[" + first + "," + second + "]}}"));
  EXPECT_EQ(render::me(owner, grants, 1), spelled(head + "{\"items\":[" + first + "],\"next_cursor\":$31}}"));
  EXPECT_NE(render::me(world.alex, {}, 1).find(R"("owner":false,"grants":{"items":[]}})"), std::string::npos);
}

TEST(Render, AuditEntries) {
  AuditEntry entry;
  entry.id = id_of(80);
  entry.time = noon;
  entry.actor_id = id_of(12);
  entry.action = "agent_session.bind";
  entry.resource_kind = "thread";
  entry.resource_id = id_of(101);
  entry.details = R"({"cause":"bind"})";
  EXPECT_EQ(render::page(std::vector{entry}, 50),
            spelled(R"({"items":[{"id":$80,"time":@,"actor_id":$12,"action":"agent_session.bind","outcome":"allow",)"
                    R"("resource":{"kind":"thread","id":$101},"count":1,"details":{"cause":"bind"}}]})"));
  entry.allowed = false;
  entry.reason = "not_found";
  entry.count = 3;
  entry.details = "{}";
  EXPECT_EQ(render::page(std::vector{entry}, 50),
            spelled(R"({"items":[{"id":$80,"time":@,"actor_id":$12,"action":"agent_session.bind","outcome":"deny",)"
                    R"("resource":{"kind":"thread","id":$101},"reason":"not_found","count":3,"details":{}}]})"));
}

TEST(Render, DetailsAreTextAndFlags) {
  EXPECT_EQ(render::details({}), "{}");
  EXPECT_EQ(render::details({{"session_id", id_of(5).str()}, {"take_over", "true", true}, {"other", "false", true}}),
            spelled(R"({"session_id":$5,"take_over":true,"other":false})"));
}

template <class Row>
void expect_pages(Row (*make)(std::uint64_t)) {
  std::vector<Row> rows;
  for (std::uint64_t number = 1; number <= 3; ++number)
    rows.push_back(make(number));
  simdjson::dom::parser parser;
  // One row more than asked for tells that a next page exists; the cursor is the last row shown.
  const simdjson::dom::element more = parser.parse(render::page(rows, 2));
  EXPECT_EQ(more["items"].get_array().size(), 2U);
  const std::string cursor(more["next_cursor"].get_string().value());
  EXPECT_EQ(bodies::page_range({}, cursor)->after, id_of(2));
  const simdjson::dom::element last = parser.parse(render::page(rows, 3));
  EXPECT_EQ(last["items"].get_array().size(), 3U);
  EXPECT_NE(last["next_cursor"].error(), simdjson::SUCCESS);
  EXPECT_EQ(render::page(std::vector<Row>{}, 3), R"({"items":[]})");
}

template <class Row>
Row with_id(std::uint64_t number) {
  Row row;
  row.id = id_of(number);
  return row;
}

TEST(Render, PagesOfEveryList) {
  expect_pages(with_id<Space>);
  expect_pages(with_id<Channel>);
  expect_pages(with_id<Thread>);
  expect_pages(with_id<Principal>);
  expect_pages(with_id<Token>);
  expect_pages(with_id<AuditEntry>);
  expect_pages<Grant>([](std::uint64_t number) { return Grant{ScopeKind::space, id_of(number), {}, {}, Level::read}; });
}

TEST(Render, ProblemDetails) {
  EXPECT_EQ(render::problem({Code::conflict, Reason::session_changed, {}, ""}),
            R"({"type":"urn:cleat:problem:conflict","title":"Conflict","status":409,"detail":")" +
              std::string(reason_detail(Reason::session_changed)) +
              R"(","code":"conflict","reason":"session_changed"})");
  EXPECT_EQ(render::problem(invalid({{"/a~1b", FieldCode::required}, {"", FieldCode::wrong_type}})),
            R"({"type":"urn:cleat:problem:validation_failed","title":"Validation failed","status":400,"detail":")" +
              std::string(problem_info(Code::validation_failed).detail) +
              R"(","code":"validation_failed","errors":[{"pointer":"/a~1b","code":"required"},)"
              R"({"pointer":"","code":"wrong_type"}]})");
  EXPECT_EQ(render::problem({Code::version_conflict, Reason::none, {}, R"({"version":2})"}),
            R"({"type":"urn:cleat:problem:version_conflict","title":"Version conflict","status":412,"detail":")" +
              std::string(problem_info(Code::version_conflict).detail) +
              R"(","code":"version_conflict","current":{"version":2}})");
}

TEST(Render, NoIdStandsInAProblem) {
  const std::regex id("[0-9a-f]{8}-[0-9a-f]{4}");
  for (int code = 0; code <= static_cast<int>(Code::runner_unavailable); ++code)
    for (int reason = 0; reason <= static_cast<int>(Reason::release_gate); ++reason) {
      const std::string text = render::problem({static_cast<Code>(code), static_cast<Reason>(reason), {}, ""});
      EXPECT_FALSE(std::regex_search(text, id)) << text;
      EXPECT_EQ(text.find("\"reason\"") == std::string::npos, reason == 0) << text;
    }
}

/// Whether a null stands anywhere in a value.
bool has_null(const simdjson::dom::element& value) {
  if (simdjson::dom::object object; value.get(object) == simdjson::SUCCESS) {
    for (const auto& field : object)
      if (has_null(field.value))
        return true;
    return false;
  }
  if (simdjson::dom::array array; value.get(array) == simdjson::SUCCESS) {
    for (const simdjson::dom::element element : array)
      if (has_null(element))
        return true;
    return false;
  }
  return value.is_null();
}

AgentSession any_session() {
  AgentSession row;
  row.id = *any_id();
  row.thread_id = *any_id();
  row.external_session_ref = *any_text();
  row.started = *rc::gen::arbitrary<bool>();
  row.model = *maybe(any_text());
  row.cost_baseline_micros = *rc::gen::arbitrary<std::int64_t>();
  row.cumulative_cost_micros = *rc::gen::arbitrary<std::int64_t>();
  row.cost_is_estimate = *rc::gen::arbitrary<bool>();
  row.currency = "EUR";
  row.created_at = *any_time();
  row.ended_at = *maybe(any_time());
  if (row.ended_at)
    row.end_reason =
      *rc::gen::element(EndReason::reset, EndReason::rebind, EndReason::import, EndReason::agent_changed);
  row.version = *rc::gen::arbitrary<std::int64_t>();
  return row;
}

RC_GTEST_PROP(Render, ASessionIsReadBackAsItWas, ()) {
  const AgentSession row = any_session();
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(render::session(row));
  RC_ASSERT(!has_null(json));
  RC_ASSERT(std::string_view(json["id"]) == row.id.str());
  RC_ASSERT(std::string_view(json["external_session_ref"]) == row.external_session_ref);
  RC_ASSERT(std::int64_t(json["cost"]["amount_micros"]) == row.cumulative_cost_micros);
  RC_ASSERT(std::int64_t(json["version"]) == row.version);
  RC_ASSERT(parse_rfc3339(std::string_view(json["created_at"])) == row.created_at);
  RC_ASSERT(bool(json["is_current"]) == row.is_current());
  // An absent value is an absent member, and what is not for clients never appears.
  RC_ASSERT((json["model"].error() == simdjson::SUCCESS) == row.model.has_value());
  RC_ASSERT((json["ended_at"].error() == simdjson::SUCCESS) == row.ended_at.has_value());
  RC_ASSERT((json["end_reason"].error() == simdjson::SUCCESS) == row.end_reason.has_value());
  RC_ASSERT(json["cost_baseline_micros"].error() == simdjson::NO_SUCH_FIELD);
  RC_ASSERT(json["dev_environment_id"].error() == simdjson::NO_SUCH_FIELD);
}

RC_GTEST_PROP(Render, NoShapeHoldsNull, ()) {
  const auto id = [] { return *any_id(); };
  const Timestamp time = *any_time();
  const Channel channel{id(), id(), *any_text(), ChannelMode::open, *maybe(any_id()), id(), time, 1};
  const Thread thread{id(), id(), id(), ThreadKind::thread, *any_text(), ThreadState::open, *maybe(any_id()), time, 1};
  Principal agent{id(), PrincipalKind::agent, *any_text(), AgentProfile{}, false, time, 1};
  agent.agent->holder_id = *maybe(any_id());
  agent.agent->default_model = *maybe(any_text());
  const Token token{id(), id(), *any_text(), {}, time, *maybe(any_time()), *maybe(any_time())};
  const AuditEntry entry{
    id(), time, id(), "a", *rc::gen::arbitrary<bool>(), "thread", id(), *rc::gen::element<std::string>("", "r"),
    1,    "{}"};
  simdjson::dom::parser parser;
  for (const std::string& text :
       {render::channel(channel), render::thread(thread), render::principal(agent), render::token(token),
        render::me(agent, {}, 1), render::page(std::vector{token, token}, 1), render::page(std::vector{entry}, 1)}) {
    simdjson::dom::element json;
    RC_ASSERT(parser.parse(text).get(json) == simdjson::SUCCESS);
    RC_ASSERT(!has_null(json));
  }
  RC_ASSERT(std::string_view(parser.parse(render::thread(thread))["title"]) == thread.title);
}

TEST(Resources, NamesAndValuesAreOneToOne) {
  const auto expect = [](auto last) {
    using E = decltype(last);
    for (int i = 0; i <= static_cast<int>(last); ++i)
      EXPECT_EQ(from_string<E>(to_string(static_cast<E>(i))), static_cast<E>(i)) << to_string(static_cast<E>(i));
    for (const char* other : {"", "NONE", "Reset", "reset "})
      EXPECT_EQ(from_string<E>(other), std::nullopt) << other;
  };
  expect(PrincipalKind::app);
  expect(ToolClass::host);
  expect(BillingMode::personal);
  expect(ChannelMode::archived);
  expect(ThreadKind::thread);
  expect(ThreadState::closed);
  expect(EndReason::agent_changed);
  expect(ScopeKind::thread);
  expect(OperationKind::stop);
  expect(OperationState::failed);
  expect(FailureClass::terminal);
  expect(BindingState::released);
  expect(Direction::out);
  expect(Cleanup::failed);
  EXPECT_EQ(from_string<Level>("manage"), Level::manage);
  EXPECT_EQ(from_string<Level>("none"), std::nullopt) << "the absence of a grant is no level to send";
}

} // namespace
} // namespace cleat::unit
