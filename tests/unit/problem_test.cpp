#include "base/problem.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace cleat::unit {
namespace {

/// Every value of an enumeration from its first to `last`.
template <class E>
std::vector<E> all_until(E last) {
  std::vector<E> values;
  for (int i = 0; i <= static_cast<int>(last); ++i)
    values.push_back(static_cast<E>(i));
  return values;
}

const std::vector<Code> codes = all_until(Code::runner_unavailable);
const std::vector<Reason> reasons = all_until(Reason::release_gate);
const std::vector<FieldCode> field_codes = all_until(FieldCode::unknown_reference);

bool is_wire_name(std::string_view name) {
  // Digits are for `utf8`.
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

bool is_sentence(std::string_view text) {
  return text.size() > 10 && text.front() >= 'A' && text.front() <= 'Z' && text.find('.') != std::string_view::npos;
}

template <class E>
void expect_distinct_names(const std::vector<E>& values) {
  std::set<std::string_view> names;
  for (const E value : values) {
    EXPECT_TRUE(is_wire_name(to_string(value))) << static_cast<int>(value);
    EXPECT_TRUE(names.insert(to_string(value)).second) << to_string(value) << " stands for two values";
  }
}

TEST(Problem, NamesAreDistinct) {
  expect_distinct_names(codes);
  expect_distinct_names(field_codes);
  expect_distinct_names(std::vector<Reason>(reasons.begin() + 1, reasons.end()));
  EXPECT_EQ(to_string(Reason::none), "");
}

TEST(Problem, EveryCodeHasItsWords) {
  std::set<std::string_view> details;
  for (const Code code : codes) {
    const ProblemInfo info = problem_info(code);
    EXPECT_FALSE(info.title.empty()) << to_string(code);
    EXPECT_TRUE(is_sentence(info.detail)) << to_string(code);
    EXPECT_TRUE(details.insert(info.detail).second) << to_string(code) << " has the words of another code";
  }
}

TEST(Problem, EveryReasonHasItsWords) {
  EXPECT_EQ(reason_detail(Reason::none), "");
  std::set<std::string_view> details;
  for (const Reason reason : reasons) {
    EXPECT_TRUE(reason == Reason::none || is_sentence(reason_detail(reason))) << to_string(reason);
    EXPECT_TRUE(details.insert(reason_detail(reason)).second) << to_string(reason);
  }
}

TEST(Problem, StatusesAreThoseOfTheContract) {
  // Spec 05 "Conventions" and spec 02, invariants 5 and 7.
  const std::map<Code, int> expected{
    {Code::malformed_json, 400},
    {Code::validation_failed, 400},
    {Code::invalid_if_match, 400},
    {Code::invalid_idempotency_key, 400},
    {Code::invalid_cursor, 400},
    {Code::bad_request, 400},
    {Code::unauthorized, 401},
    {Code::forbidden, 403},
    {Code::channel_read_only, 403},
    {Code::agent_invocation_denied, 403},
    {Code::not_found, 404},
    {Code::method_not_allowed, 405},
    {Code::conflict, 409},
    {Code::version_conflict, 412},
    {Code::idempotency_in_progress, 409},
    {Code::payload_too_large, 413},
    {Code::uri_too_long, 414},
    {Code::unsupported_media_type, 415},
    {Code::idempotency_key_reuse, 422},
    {Code::rate_limited, 429},
    {Code::headers_too_large, 431},
    {Code::internal, 500},
    {Code::not_ready, 503},
    {Code::overloaded, 503},
    {Code::unavailable, 503},
    {Code::outcome_unknown, 503},
    {Code::invalid_argument, 400},
    {Code::already_running, 409},
    {Code::runner_unavailable, 503},
  };
  for (const Code code : codes) {
    ASSERT_TRUE(expected.contains(code)) << to_string(code);
    EXPECT_EQ(problem_info(code).status, expected.at(code)) << to_string(code);
  }
}

TEST(Problem, ShorthandsRefuse) {
  const Result<int> plain = refuse(Code::conflict, Reason::session_changed);
  EXPECT_EQ(plain.error(), (Refusal{Code::conflict, Reason::session_changed, {}, ""}));
  const Result<int> fields = refuse({{"/name", FieldCode::required}});
  EXPECT_EQ(fields.error(), (Refusal{Code::validation_failed, Reason::none, {{"/name", FieldCode::required}}, ""}));
}

} // namespace
} // namespace cleat::unit
