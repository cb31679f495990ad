#include <map>
#include <string>

#include "protocol/render.hpp"
#include "tests/fuzz/body_writer.hpp"
#include "tests/fuzz/json_oracle.hpp"
#include "tests/fuzz/property.hpp"

/// JSON bodies of every operation. The first line of an input names the operation.
namespace cleat::fuzz {
namespace {

constexpr std::size_t max_bytes = 64; // of a reference, a message, a secret or a line
constexpr std::size_t max_items = 4;
constexpr std::int64_t max_wait_s = 30;

/// Whether there may be an integer beyond 64 bits. It is JSON, and no number of ours; simdjson takes it for none.
bool may_have_huge_integer(std::string_view body) {
  constexpr std::size_t digits_that_fit = 18;
  std::size_t digits = 0;
  for (const char c : body) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > digits_that_fit)
      return true;
  }
  return false;
}

/// A refusal that clients can do something with.
void check_refusal(std::string_view body, const Refusal& refusal) {
  switch (refusal.code) {
    case Code::malformed_json:
      // Half of a surrogate pair is no text. RapidJSON sees that only of the first half.
      must(!is_json(body) || body.find("\\u") != std::string_view::npos || may_have_huge_integer(body),
           "only what is no JSON is malformed");
      must(refusal.errors.empty(), "what is no JSON has no members");
      break;
    case Code::validation_failed:
    case Code::invalid_argument:
      must(!refusal.errors.empty(), "a refused body has an error");
      break;
    default:
      must(refusal.code == Code::not_found, "a body is refused in one of four ways");
  }
  for (const auto& error : refusal.errors)
    must(error.pointer.empty() || error.pointer.front() == '/', "a pointer is one");
  must(is_json(render::problem(refusal)), "a refusal can be shown");
}

/// Reads a body; what is accepted is JSON, and is read as the same when it is written again.
template <class Parse>
void check(std::string_view text, Parse parse) {
  const auto body = parse(text);
  if (!body)
    return check_refusal(text, body.error());
  must(text.empty() || is_json(text), "what is accepted is JSON");
  const auto written = write_body(*body);
  const auto again = parse(written);
  must(again.has_value(), "a body that is written again is accepted");
  must(write_body(*again) == written, "a body that is written again is read as the same");
}

using Check = void (*)(std::string_view);

const std::map<std::string_view, Check>& operations() {
  static const std::map<std::string_view, Check> table{
    {"reset", [](std::string_view text) { check(text, bodies::reset); }},
    {"bind", [](std::string_view text) { check(text, [](auto body) { return bodies::bind(body, max_bytes); }); }},
    {"import",
     [](std::string_view text) {
       check(text, [](auto body) { return bodies::import_sessions(body, max_bytes, max_items); });
     }},
    {"trigger", [](std::string_view text) { check(text, [](auto body) { return bodies::trigger(body, max_bytes); }); }},
    {"start", [](std::string_view text) { check(text, [](auto body) { return bodies::start(body, max_bytes); }); }},
    {"finish", [](std::string_view text) { check(text, bodies::finish); }},
    {"post", [](std::string_view text) { check(text, [](auto body) { return bodies::post(body, max_bytes); }); }},
    {"report", [](std::string_view text) { check(text, [](auto body) { return bodies::report(body, max_bytes); }); }},
    {"space", [](std::string_view text) { check(text, bodies::space); }},
    {"space_patch", [](std::string_view text) { check(text, bodies::space_patch); }},
    {"channel", [](std::string_view text) { check(text, bodies::channel); }},
    {"channel_patch", [](std::string_view text) { check(text, bodies::channel_patch); }},
    {"thread", [](std::string_view text) { check(text, bodies::thread); }},
    {"thread_patch", [](std::string_view text) { check(text, bodies::thread_patch); }},
    {"principal", [](std::string_view text) { check(text, bodies::principal); }},
    {"principal_patch", [](std::string_view text) { check(text, bodies::principal_patch); }},
    {"token", [](std::string_view text) { check(text, bodies::token); }},
    {"grant", [](std::string_view text) { check(text, bodies::grant); }},
    {"named", [](std::string_view text) { check(text, bodies::named); }},
    {"subscriber", [](std::string_view text) { check(text, bodies::subscriber); }},
    {"secret", [](std::string_view text) { check(text, [](auto body) { return bodies::secret(body, max_bytes); }); }},
    {"runner_token", [](std::string_view text) { check(text, bodies::runner_token); }},
    {"container", [](std::string_view text) { check(text, bodies::container); }},
    {"start_session", [](std::string_view text) { check(text, bodies::start_session); }},
    {"lookup", [](std::string_view text) { check(text, [](auto body) { return bodies::lookup(body, max_wait_s); }); }},
    {"retry", [](std::string_view text) { check(text, bodies::retry); }},
    {"stop_session", [](std::string_view text) { check(text, bodies::stop_session); }},
    {"input", [](std::string_view text) { check(text, [](auto body) { return bodies::input(body, max_bytes); }); }},
    {"empty", [](std::string_view text) { check(text, bodies::empty); }},
  };
  return table;
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat::fuzz;
  auto text = text_of(data, size);
  const auto operation = operations().find(take_line(text));
  if (operation != operations().end())
    operation->second(text);
  return 0;
}
