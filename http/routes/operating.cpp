#include "generated/openapi.hpp"
#include "http/docs_page.hpp"
#include "http/routes/tables.hpp"

/// What operators and readers ask for, without a token (spec 05 "Surface").
namespace cleat::http {
namespace {

Outgoing text(std::string_view type, std::string body) {
  Outgoing outgoing;
  outgoing.content_type = type;
  outgoing.body = std::move(body);
  return outgoing;
}

Outgoing health(const OpenCall&) {
  return text("application/json", R"({"status":"ok"})");
}

/// Whether this server shall get requests: not while it drains, and not while its database is away.
Outgoing readiness(const OpenCall& call) {
  const bool database = call.backend.database_answers();
  const bool ready = database && !call.draining;
  const auto verdict = [](bool good) { return good ? "true" : "false"; };
  constexpr int ok = 200;
  auto outgoing = text("application/json", std::string(R"({"ready":)") + verdict(ready) + R"(,"checks":{"database":)" +
                                             verdict(database) + R"(,"accepting":)" + verdict(!call.draining) + "}}");
  outgoing.status = ready ? ok : problem_info(Code::not_ready).status;
  if (!ready)
    outgoing.headers.emplace_back("Retry-After", std::to_string(limits::retry_after_s));
  return outgoing;
}

Outgoing metrics(const OpenCall& call) {
  return text("text/plain; version=0.0.4; charset=utf-8", call.metrics.render());
}

Outgoing contract(const OpenCall&) {
  return text("application/yaml", std::string(generated::openapi::openapi_yaml));
}

Outgoing documentation(const OpenCall&) {
  // Made once, when somebody asks for it: reading the contract takes longer than a start of the server should.
  static const std::string page = docs_page(generated::openapi::openapi_yaml);
  auto outgoing = text("text/html; charset=utf-8", page);
  outgoing.headers.emplace_back(
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  return outgoing;
}

} // namespace

std::span<const Route> operating_routes() {
  static const std::array table{
    Route{"GET", "/healthz", "getHealth", RateClass::read, false, false, {}, &health},
    Route{"GET", "/readyz", "getReadiness", RateClass::read, false, false, {}, &readiness},
    Route{"GET", "/metrics", "getMetrics", RateClass::read, false, false, {}, &metrics},
    Route{"GET", "/openapi.yaml", "getContract", RateClass::read, false, false, {}, &contract},
    Route{"GET", "/docs", "getDocumentation", RateClass::read, false, false, {}, &documentation},
  };
  return table;
}

} // namespace cleat::http
