#include "generated/openapi.hpp"
#include "http/docs_page.hpp"
#include "http/routes/tables.hpp"
#include "protocol/json_writer.hpp"

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

/// What the release gate has found about one artifact.
void write_finding(json::Writer& writer, std::string_view name, const release::Finding& finding) {
  writer.key(name).begin_object();
  writer.member("artifact", std::string_view(finding.artifact));
  writer.member("state", finding.flaw ? to_string(*finding.flaw) : std::string_view("passes"));
  if (finding.manifest) {
    const std::string_view revision = finding.manifest->session_id_wire_contract_revision;
    writer.member("manifest_revision", revision);
    writer.member("version", std::string_view(finding.manifest->version));
    writer.member("artifact_sha256", std::string_view(finding.manifest->sha256));
  }
  if (finding.manifest_digest)
    writer.member("manifest_sha256", std::string_view(hex_encode(*finding.manifest_digest)));
  if (finding.program)
    writer.member("running_sha256", std::string_view(hex_encode(*finding.program)));
  writer.end_object();
}

/// Whether this server shall get requests: not while it drains, while its database is away, or while the release gate
/// is closed (spec 04 section 9), which says here what it expects and what it has found.
Outgoing readiness(const OpenCall& call) {
  const bool database = call.backend.database_answers();
  const auto verdict = call.backend.release_verdict();
  const bool gate = verdict && verdict->is_open();
  const bool ready = database && gate && !call.draining;
  json::Writer writer;
  writer.begin_object().member("ready", ready).key("checks").begin_object();
  writer.member("database", database).member("accepting", !call.draining).member("release_gate", gate).end_object();
  writer.key("release_gate").begin_object();
  writer.member("expected_revision", release::wire_contract_revision);
  if (verdict) {
    write_finding(writer, "server", verdict->server);
    write_finding(writer, "runner", verdict->runner);
  }
  writer.end_object().end_object();
  constexpr int ok = 200;
  auto outgoing = text("application/json", writer.str());
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
