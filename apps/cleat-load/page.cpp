#include "apps/cleat-load/page.hpp"

#include <algorithm>
#include <sstream>

#include "apps/cleat-load/processes.hpp"
#include "apps/cleat-load/words.hpp"

namespace cleat::load {
namespace {

constexpr const char* head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cleat under load</title>
<style>
:root { color-scheme: light dark; --ink: #1d2733; --soft: #667485; --line: #d5dce4; --bar: #2f7d8c; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4eaf0; --soft: #94a3b3; --line: #35414d; --bar: #59b3c2; --bad: #ff8a80; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
p { color: var(--soft); margin: .25rem 0; }
p.bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; }
th { color: var(--soft); }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; }
figcaption { color: var(--soft); font-size: .9rem; }
svg { width: 100%; height: auto; }
rect { fill: var(--bar); }
line { stroke: var(--line); }
text { fill: var(--soft); font-size: 11px; }
</style>
</head>
<body>
)";

/// Escapes text for HTML; answers of a server stand in it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

/// A bar a stretch of latencies, on a logarithmic axis because latencies spread over decades.
void write_histogram(std::ostream& out, Kind kind, const Histogram& latencies) {
  constexpr int width = 900;
  constexpr int height = 160;
  constexpr int axis = 18;
  const auto bars = latencies.bars();
  if (bars.empty())
    return;
  const auto tallest =
    std::max_element(bars.begin(), bars.end(), [](const auto& a, const auto& b) { return a.count < b.count; })->count;
  const int step = std::max(width / static_cast<int>(bars.size()), 1);
  const std::size_t labelled = std::max<std::size_t>(bars.size() / 8, 1);
  out << "<figure><svg viewBox=\"0 0 " << width << ' ' << height + axis << "\" role=\"img\" aria-label=\"Latencies of "
      << to_string(kind) << "\">\n";
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto tall = static_cast<int>(bars[i].count * height / tallest);
    const int x = static_cast<int>(i) * step;
    out << "<rect x=\"" << x << "\" y=\"" << height - tall << "\" width=\"" << std::max(step - 1, 1) << "\" height=\""
        << tall << "\"><title>" << short_time(bars[i].from) << " to " << short_time(bars[i].to) << ": "
        << grouped(static_cast<std::int64_t>(bars[i].count)) << "</title></rect>\n";
    if (i % labelled == 0)
      out << "<text x=\"" << x << "\" y=\"" << height + axis - 4 << "\">" << short_time(bars[i].from) << "</text>\n";
  }
  out << "<line x1=\"0\" x2=\"" << width << "\" y1=\"" << height << "\" y2=\"" << height << "\"/></svg>\n<figcaption>"
      << to_string(kind) << ": " << grouped(static_cast<std::int64_t>(latencies.count()))
      << " latencies, logarithmic axis</figcaption></figure>\n";
}

void write_operations(std::ostream& out, const Result& result) {
  out << "<table><tr><th>operation</th><th>answers/s</th><th>p50</th><th>p90</th><th>p99</th><th>max</th></tr>\n";
  for (const auto& [kind, latencies] : result.latencies) {
    out << "<tr><td>" << to_string(kind) << "</td><td>" << grouped(result.per_second(kind)) << "</td>";
    for (const double share : {0.5, 0.9, 0.99})
      out << "<td>" << short_time(latencies.quantile(share)) << "</td>";
    out << "<td>" << short_time(latencies.max()) << "</td></tr>\n";
  }
  out << "</table>\n";
}

void write_checks(std::ostream& out, const Result& result) {
  const auto paragraph = [&out](bool right) -> std::ostream& { return out << (right ? "<p>" : "<p class=\"bad\">"); };
  paragraph(result.findings.count() == 0) << grouped(static_cast<std::int64_t>(result.checked)) << " answers checked, "
                                          << result.findings.count() << " wrong</p>\n";
  for (const auto& what : result.findings.samples())
    paragraph(false) << escaped(what) << "</p>\n";
  if (result.database.empty())
    return;
  out << "<table><tr><th>compared with the database</th><th>expected</th><th>found</th></tr>\n";
  for (const auto& comparison : result.database)
    out << "<tr><td>" << (comparison.agrees() ? "" : "WRONG: ") << comparison.what << "</td><td>"
        << grouped(comparison.expected) << "</td><td>" << grouped(comparison.found) << "</td></tr>\n";
  out << "</table>\n";
}

void write_cpu(std::ostream& out, const Result& result) {
  const auto cores_of = [&](const std::optional<std::chrono::microseconds>& cpu) {
    return cpu ? ratio(cpu->count(), result.span.count()) : std::string("unknown");
  };
  out << "<p>Cores that were busy: server " << cores_of(result.cpu.server) << ", PostgreSQL "
      << cores_of(result.cpu.postgres) << (result.cpu.runner ? ", Runners " + cores_of(result.cpu.runner) : "")
      << ", load generator " << cores_of(result.cpu.load) << "</p>\n";
}

} // namespace

std::string to_page(const std::vector<Result>& results, const Options& options) {
  std::ostringstream out;
  out << head << "<h1>Cleat under load</h1>\n<p>" << options.connections << " connections, " << cores()
      << " cores</p>\n";
  for (const auto& result : results) {
    out << "<h2>" << to_string(result.scenario) << "</h2>\n";
    write_operations(out, result);
    write_cpu(out, result);
    for (const auto& [kind, latencies] : result.latencies)
      write_histogram(out, kind, latencies);
    write_checks(out, result);
  }
  out << "</body>\n</html>\n";
  return out.str();
}

} // namespace cleat::load
