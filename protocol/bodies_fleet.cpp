#include <array>

#include "protocol/bodies.hpp"
#include "protocol/bodies_parts.hpp"

/// Bodies around Runners: provisioning, and what callers ask of sessions.
namespace cleat::bodies {
namespace {

/// What the server mints or fills in by itself (spec 04 section 3).
constexpr std::array<std::string_view, 9> mint_inputs{
  "request_id", "operation_id", "relay_request_id",  "fresh_session_id",     "account_id",
  "actor_id",   "runner_id",    "caller_request_id", "container_attempt_id",
};

/// Reads a body that may hold none of `mint_inputs`. One that does is `invalid_argument`, whatever the value and
/// whatever else is wrong with the body; only what is no JSON has no members to look at.
template <class T, class Fill>
Result<T> read_unminted(std::string_view text, Body kind, Fill fill) {
  std::vector<FieldError> minted;
  auto body = read<T>(text, kind, [&](ObjectReader& in, T& out) {
    minted.clear();
    for (const std::string_view member : mint_inputs)
      if (in.has(member))
        minted.push_back({"/" + std::string(member), FieldCode::not_applicable});
    fill(in, out);
  });
  const bool is_json = body || body.error().code != Code::malformed_json;
  if (is_json && !minted.empty())
    return tl::unexpected<Refusal>(Refusal{Code::invalid_argument, Reason::none, std::move(minted)});
  return body;
}

std::string required_handle(ObjectReader& in) {
  in.require("retry_handle");
  return in.string("retry_handle").value_or("");
}

} // namespace

Result<NameBody> named(std::string_view body) {
  return read<NameBody>(body, Body::required,
                        [](ObjectReader& in, NameBody& out) { out.name = required_name(in, "name"); });
}

Result<SubscriberBody> subscriber(std::string_view body) {
  return read<SubscriberBody>(body, Body::required, [](ObjectReader& in, SubscriberBody& out) {
    in.require("principal_id");
    out.principal_id = in.id("principal_id").value_or(Id{});
  });
}

Result<SecretBody> secret(std::string_view body, std::size_t max_bytes) {
  return read<SecretBody>(body, Body::required, [&](ObjectReader& in, SecretBody& out) {
    out.value = required(in, "value", [&](std::string_view text) { return validate::secret(text, max_bytes); });
  });
}

Result<RunnerTokenBody> runner_token(std::string_view body) {
  return read<RunnerTokenBody>(body, Body::required, [](ObjectReader& in, RunnerTokenBody& out) {
    out.label = required_name(in, "label");
    out.expires_at = in.time("expires_at");
  });
}

Result<ContainerBody> container(std::string_view body) {
  return read<ContainerBody>(body, Body::required, [](ObjectReader& in, ContainerBody& out) {
    out.name = required(in, "name", validate::container_name);
    in.require("account_id");
    in.require("runner_id");
    out.account_id = in.id("account_id").value_or(Id{});
    out.runner_id = in.id("runner_id").value_or(Id{});
  });
}

Result<StartSessionBody> start_session(std::string_view body) {
  auto read = read_unminted<StartSessionBody>(body, Body::optional, [](ObjectReader& in, StartSessionBody& out) {
    out.resume_session_id = in.string("resume_session_id");
    out.reroute_of = in.string("reroute_of");
    if (in.has("resume_session_id") && in.has("reroute_of"))
      in.error("reroute_of", FieldCode::not_applicable);
  });
  // What no session can be called is an unknown one.
  if (read && read->resume_session_id && !validate::is_session_id(*read->resume_session_id))
    return refuse(Code::not_found);
  return read;
}

Result<HandleBody> lookup(std::string_view body, std::int64_t wait_max_s) {
  return read_unminted<HandleBody>(body, Body::required, [&](ObjectReader& in, HandleBody& out) {
    out.retry_handle = required_handle(in);
    out.wait_s = in.integer("wait_s").value_or(0);
    if (out.wait_s < 0 || out.wait_s > wait_max_s)
      in.error("wait_s", FieldCode::out_of_range);
  });
}

Result<HandleBody> retry(std::string_view body) {
  return read_unminted<HandleBody>(body, Body::required,
                                   [](ObjectReader& in, HandleBody& out) { out.retry_handle = required_handle(in); });
}

Result<std::monostate> stop_session(std::string_view body) {
  return read_unminted<std::monostate>(body, Body::optional, [](ObjectReader&, std::monostate&) {});
}

Result<InputBody> input(std::string_view body, std::size_t max_bytes) {
  return read_unminted<InputBody>(body, Body::required, [&](ObjectReader& in, InputBody& out) {
    out.line = required(in, "line", [&](std::string_view text) { return validate::line(text, max_bytes); });
  });
}

} // namespace cleat::bodies
