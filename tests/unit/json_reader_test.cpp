#include "protocol/json_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.hpp"
#include "tests/unit/generators.hpp"
#include "tests/unit/printing.hpp"

namespace cleat::unit {
namespace {

using json::ObjectReader;
using Errors = std::vector<FieldError>;

std::optional<Refusal> read(std::string_view body, const json::Visit& visit) {
  return json::read_object(body, false, visit);
}

/// Reads members of every type, and what is nested.
void everything(ObjectReader& in) {
  in.string("text");
  in.boolean("flag");
  in.integer("count");
  in.id("id");
  in.time("time");
  in.enumeration<EndReason>("reason");
  in.object("inner", [](ObjectReader& inner) { inner.string("text"); });
  in.objects("items", 3, [](ObjectReader& item) {
    item.require("agent_id");
    item.id("agent_id");
  });
}

void expect_errors(std::string_view body, const Errors& errors) {
  const auto refusal = read(body, everything);
  if (errors.empty())
    EXPECT_EQ(refusal, std::nullopt) << body;
  else
    EXPECT_EQ(refusal, (Refusal{Code::validation_failed, Reason::none, errors, ""})) << body;
}

void expect_malformed(std::string_view body) {
  EXPECT_EQ(read(body, everything), Refusal{Code::malformed_json}) << body;
}

TEST(JsonReader, ReadsEveryType) {
  const auto refusal =
    read(R"({"text": "a\u00e9\n", "flag": true, "count": -9223372036854775808,
    "id": "0190a5f0-7b3c-7def-8123-456789abcdef", "time": "1970-01-01T00:00:01Z", "reason": "rebind",
    "inner": {"text": "b"}, "items": [{}, {}]})",
         [](ObjectReader& in) {
           EXPECT_EQ(in.string("text"), "a\xc3\xa9\n");
           EXPECT_EQ(in.boolean("flag"), true);
           EXPECT_EQ(in.integer("count"), std::numeric_limits<std::int64_t>::min());
           EXPECT_EQ(in.id("id"), Id::parse("0190a5f0-7b3c-7def-8123-456789abcdef"));
           EXPECT_EQ(in.time("time"), Timestamp{std::chrono::seconds{1}});
           EXPECT_EQ(in.enumeration<EndReason>("reason"), EndReason::rebind);
           EXPECT_TRUE(in.object("inner", [](ObjectReader& inner) { EXPECT_EQ(inner.string("text"), "b"); }));
           int items = 0;
           EXPECT_EQ(in.objects("items", 2, [&](ObjectReader&) { ++items; }), 2U);
           EXPECT_EQ(items, 2);
         });
  EXPECT_EQ(refusal, std::nullopt);
}

TEST(JsonReader, AbsentMembersAreNothing) {
  const auto refusal = read("{}", [](ObjectReader& in) {
    EXPECT_EQ(in.string("text"), std::nullopt);
    EXPECT_EQ(in.objects("items", 1, [](ObjectReader&) { FAIL(); }), std::nullopt);
    EXPECT_FALSE(in.object("inner", [](ObjectReader&) { FAIL(); }));
    EXPECT_FALSE(in.has("text"));
  });
  EXPECT_EQ(refusal, std::nullopt);
}

TEST(JsonReader, UnknownMembers) {
  expect_errors(R"({"other": 1})", {{"/other", FieldCode::unknown_member}});
  expect_errors(R"({"other": 1, "other": 2})", {{"/other", FieldCode::unknown_member}});
  expect_errors(R"({"Text": "a"})", {{"/Text", FieldCode::unknown_member}});
  expect_errors(R"({"inner": {"deep": 1}})", {{"/inner/deep", FieldCode::unknown_member}});
  expect_errors(R"({"": 1})", {{"/", FieldCode::unknown_member}});
}

TEST(JsonReader, DuplicateMembers) {
  expect_errors(R"({"text": "a", "text": "a"})", {{"/text", FieldCode::duplicate_member}});
  expect_errors(R"({"te\u0078t": "a", "text": "a"})", {{"/text", FieldCode::duplicate_member}});
  expect_errors(R"({"inner": {"text": "a", "text": "b"}})", {{"/inner/text", FieldCode::duplicate_member}});
}

TEST(JsonReader, NullIsNoValue) {
  for (const char* member : {"text", "flag", "count", "id", "time", "reason", "inner", "items"})
    expect_errors(std::string("{\"") + member + "\": null}",
                  {{std::string("/") + member, FieldCode::null_not_allowed}});
  expect_errors(R"({"items": [null]})", {{"/items/0", FieldCode::null_not_allowed}});
}

TEST(JsonReader, WrongTypes) {
  for (const char* member : {"text", "id", "time", "reason"})
    for (const char* value : {"1", "true", "{}", "[]"})
      expect_errors(std::string("{\"") + member + "\": " + value + "}",
                    {{std::string("/") + member, FieldCode::wrong_type}});
  for (const char* value : {"1", "\"true\"", "0", "[]"})
    expect_errors(std::string("{\"flag\": ") + value + "}", {{"/flag", FieldCode::wrong_type}});
  for (const char* value : {"1.5", "1.0", "1e3", "\"1\"", "true", "9223372036854775808"})
    expect_errors(std::string("{\"count\": ") + value + "}", {{"/count", FieldCode::wrong_type}});
  expect_errors(R"({"inner": []})", {{"/inner", FieldCode::wrong_type}});
  expect_errors(R"({"items": {}})", {{"/items", FieldCode::wrong_type}});
  expect_errors(R"({"items": [1, "a"]})", {{"/items/0", FieldCode::wrong_type}, {"/items/1", FieldCode::wrong_type}});
}

TEST(JsonReader, ARootThatIsNoObject) {
  for (const char* body : {"[]", "1", "\"a\"", "true", "null", "[{}]"})
    expect_errors(body, {{"", FieldCode::wrong_type}});
}

TEST(JsonReader, FormatsOfTypedText) {
  expect_errors(R"({"id": "0190A5F0-7B3C-7DEF-8123-456789ABCDEF"})", {{"/id", FieldCode::invalid_format}});
  expect_errors(R"({"time": "yesterday"})", {{"/time", FieldCode::invalid_format}});
  expect_errors(R"({"reason": "Reset"})", {{"/reason", FieldCode::unknown_value}});
}

TEST(JsonReader, ArraysHaveALimit) {
  const std::string item = R"({"agent_id": "0190a5f0-7b3c-7def-8123-456789abcdef"})";
  expect_errors("{\"items\": [" + item + "," + item + "," + item + "]}", {});
  expect_errors("{\"items\": [1,2,3,4]}", {{"/items", FieldCode::too_many}});
}

TEST(JsonReader, NestedPointersNameTheirPlace) {
  const std::string good = R"({"agent_id": "0190a5f0-7b3c-7def-8123-456789abcdef"})";
  expect_errors("{\"items\": [" + good + ", {\"agent_id\": 7}, {}]}",
                {{"/items/1/agent_id", FieldCode::wrong_type}, {"/items/2/agent_id", FieldCode::required}});
}

TEST(JsonReader, PointersAreEscaped) {
  // RFC 6901: ~ is ~0 and / is ~1.
  expect_errors(R"({"a/b~c": 1, "~1": 2})",
                {{"/a~1b~0c", FieldCode::unknown_member}, {"/~01", FieldCode::unknown_member}});
}

TEST(JsonReader, EveryErrorIsFoundInOnePass) {
  expect_errors(R"({"text": 1, "flag": null, "what": 1, "inner": {"text": 2}})",
                {{"/text", FieldCode::wrong_type},
                 {"/flag", FieldCode::null_not_allowed},
                 {"/inner/text", FieldCode::wrong_type},
                 {"/what", FieldCode::unknown_member}});
}

TEST(JsonReader, OneComplaintAMember) {
  const auto refusal = read(R"({"a": 1})", [](ObjectReader& in) {
    in.string("a");
    in.error("a", FieldCode::too_long);
    in.require("b");
    in.error("b", FieldCode::too_short);
    in.error("", FieldCode::out_of_range);
    in.error("", FieldCode::too_short);
  });
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->errors,
            (Errors{{"/a", FieldCode::wrong_type}, {"/b", FieldCode::required}, {"", FieldCode::out_of_range}}));
}

TEST(JsonReader, MalformedJson) {
  for (const char* body :
       {"", " ", "{", "}", "{\"text\"}", "{\"text\": }", "{'text': 'a'}", "{\"text\": \"a\",}", "{} {}", "{}x",
        "{\"text\": \"a\nb\"}", "{\"count\": 01}", "{\"count\": +1}", "{\"count\": NaN}", "{\"flag\": True}",
        "{\"text\": \"\\x\"}", "{\"text\": \"a}", "// {}\n{}", "{text: 1}"})
    expect_malformed(body);
  expect_malformed(std::string_view("{\"text\": \"\0\"}", 13));
  expect_malformed(std::string_view("{}\0", 3));
}

TEST(JsonReader, LoneSurrogatesAreMalformed) {
  for (const char* body : {R"({"text": "\ud800"})", R"({"text": "\udc00"})", R"({"text": "\ud800a"})",
                           R"({"text": "\udc00\ud800"})", R"({"\ud800": 1})"})
    expect_malformed(body);
  expect_errors(R"({"text": "\ud83d\udea2"})", {});
}

TEST(JsonReader, DepthHasALimit) {
  const auto nested = [](std::int64_t depth) {
    std::string body = "{\"other\": ";
    for (std::int64_t i = 1; i < depth; ++i)
      body += '[';
    for (std::int64_t i = 1; i < depth; ++i)
      body += ']';
    return depth == 1 ? std::string("{\"other\": 1}") : body + "}";
  };
  expect_errors(nested(1), {{"/other", FieldCode::unknown_member}});
  expect_errors(nested(limits::json_max_depth - 1), {{"/other", FieldCode::unknown_member}});
  expect_malformed(nested(limits::json_max_depth + 1));
  expect_malformed(nested(10'000));
  // The limit leaves nothing behind.
  expect_errors(R"({"text": "a"})", {});
}

TEST(JsonReader, BrokenBytesInAMemberAreItsFault) {
  expect_errors("{\"text\": \"a\xff\"}", {{"/text", FieldCode::invalid_utf8}});
  expect_errors("{\"text\": \"\xc3\", \"other\": 1}",
                {{"/text", FieldCode::invalid_utf8}, {"/other", FieldCode::unknown_member}});
  expect_errors("{\"inner\": {\"text\": \"\xed\xa0\x80\"}}", {{"/inner/text", FieldCode::invalid_utf8}});
  expect_errors("{\"items\": [{\"agent_id\": \"\xff\"}]}", {{"/items/0/agent_id", FieldCode::invalid_utf8}});
  expect_errors("{\"other\": \"\xff\"}", {{"/other", FieldCode::unknown_member}});
  // What is whole beside it stays whole.
  const auto refusal =
    read("{\"text\": \"\xff\", \"more\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2\"}", [](ObjectReader& in) {
      EXPECT_EQ(in.string("text"), std::nullopt);
      EXPECT_EQ(in.string("more"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2");
    });
  EXPECT_TRUE(refusal);
}

TEST(JsonReader, BrokenBytesElsewhereAreNoJson) {
  expect_malformed("{\"te\xffxt\": \"a\"}");
  expect_malformed("{\"\xff\": 1, \"text\": 1}");
  expect_malformed("{\"inner\": {\"\xc3\": 1}}");
  expect_malformed("{\"text\": \"a\"}\xff");
  expect_malformed("\xff{\"text\": \"a\"}");
  expect_malformed("{\"text\": \xff}");
}

TEST(JsonReader, AnEmptyBodyIsAnObjectWhereNoMemberIsRequired) {
  int visits = 0;
  EXPECT_EQ(json::read_object("", true, [&](ObjectReader&) { ++visits; }), std::nullopt);
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(json::read_object("", false, [&](ObjectReader&) { ++visits; }), Refusal{Code::malformed_json});
  EXPECT_EQ(visits, 1);
}

RC_GTEST_PROP(JsonReader, NoBodyBreaksTheReader, ()) {
  const std::string piece = *any_bytes();
  const bool framed = *rc::gen::arbitrary<bool>();
  const std::string body = framed ? "{\"text\": \"" + piece + "\"}" : piece;
  const auto refusal = read(body, everything);
  RC_ASSERT((!refusal || refusal->code == Code::malformed_json || refusal->code == Code::validation_failed));
  RC_ASSERT((!refusal || (refusal->code == Code::validation_failed) == !refusal->errors.empty()));
}

} // namespace
} // namespace cleat::unit
