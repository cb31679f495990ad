#include "apps/cleat-load/report.hpp"

#include <iomanip>

#include "apps/cleat-load/processes.hpp"
#include "apps/cleat-load/words.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

using std::chrono::microseconds;

constexpr int name_width = 11;
constexpr int operation_width = 15;
constexpr int rate_width = 11;
constexpr int time_width = 10;
constexpr int cpu_width = 10;

std::string in_cores(const std::optional<microseconds>& cpu, microseconds span) {
  return cpu ? ratio(cpu->count(), span.count()) : "-";
}

void print_header(std::ostream& out) {
  out << std::left << std::setw(name_width) << "scenario" << std::setw(operation_width) << "operation" << std::right
      << std::setw(rate_width) << "answers/s";
  for (const char* column : {"p50", "p90", "p99", "max"})
    out << std::setw(time_width) << column;
  for (const char* column : {"server", "postgres", "runner", "load"})
    out << std::setw(cpu_width) << column;
  out << "\n";
}

void print_operation(std::ostream& out, const Result& result, Kind kind, const Histogram& latencies, bool first) {
  out << std::left << std::setw(name_width) << (first ? to_string(result.scenario) : "") << std::setw(operation_width)
      << to_string(kind) << std::right << std::setw(rate_width) << grouped(result.per_second(kind));
  for (const double share : {0.5, 0.9, 0.99})
    out << std::setw(time_width) << short_time(latencies.quantile(share));
  out << std::setw(time_width) << short_time(latencies.max());
  if (first)
    for (const auto& cpu : {result.cpu.server, result.cpu.postgres, result.cpu.runner, result.cpu.load})
      out << std::setw(cpu_width) << in_cores(cpu, result.span);
  out << "\n";
}

void print_checks(std::ostream& out, const Result& result) {
  out << to_string(result.scenario) << ": " << grouped(static_cast<std::int64_t>(result.checked))
      << " answers checked, " << result.findings.count() << " wrong";
  if (!result.database.empty()) {
    std::size_t agreeing = 0;
    for (const auto& comparison : result.database)
      agreeing += comparison.agrees() ? 1 : 0;
    out << "; " << agreeing << " of " << result.database.size() << " counts agree with the database";
  }
  out << "\n";
  for (const auto& what : result.findings.samples())
    out << "  wrong: " << what << "\n";
  for (const auto& comparison : result.database)
    if (!comparison.agrees())
      out << "  wrong: " << comparison.what << ": " << comparison.expected << " expected, " << comparison.found
          << " in the database\n";
}

void write_operation(json::Writer& out, const Result& result, Kind kind, const Histogram& latencies) {
  out.begin_object()
    .member("operation", to_string(kind))
    .member("count", static_cast<std::int64_t>(latencies.count()))
    .member("per_s", result.per_second(kind))
    .member("p50_us", std::int64_t{latencies.quantile(0.5).count()})
    .member("p90_us", std::int64_t{latencies.quantile(0.9).count()})
    .member("p99_us", std::int64_t{latencies.quantile(0.99).count()})
    .member("max_us", std::int64_t{latencies.max().count()})
    .end_object();
}

void write_cpu(json::Writer& out, const CpuTimes& cpu) {
  out.key("cpu_us").begin_object();
  for (const auto& [name, time] :
       {std::pair{"server", cpu.server}, {"postgres", cpu.postgres}, {"runner", cpu.runner}, {"load", cpu.load}})
    if (time)
      out.member(name, std::int64_t{time->count()});
  out.end_object();
}

void write_result(json::Writer& out, const Result& result) {
  out.begin_object()
    .member("scenario", to_string(result.scenario))
    .member("span_us", std::int64_t{result.span.count()})
    .member("right", result.right())
    .member("checked", static_cast<std::int64_t>(result.checked))
    .member("wrong", static_cast<std::int64_t>(result.findings.count()))
    .key("operations")
    .begin_array();
  for (const auto& [kind, latencies] : result.latencies)
    write_operation(out, result, kind, latencies);
  out.end_array();
  write_cpu(out, result.cpu);
  out.member("server_memory_before_bytes", result.server_memory_before);
  out.member("server_memory_bytes", result.server_memory).key("database").begin_array();
  for (const auto& comparison : result.database)
    out.begin_object()
      .member("what", comparison.what)
      .member("expected", comparison.expected)
      .member("found", comparison.found)
      .end_object();
  out.end_array().end_object();
}

} // namespace

void print_table(std::ostream& out, const std::vector<Result>& results, const Options& options) {
  out << options.connections << " connections, " << cores() << " cores; CPU in cores that were busy\n\n";
  print_header(out);
  for (const auto& result : results) {
    bool first = true;
    for (const auto& [kind, latencies] : result.latencies) {
      print_operation(out, result, kind, latencies, first);
      first = false;
    }
  }
  out << "\n";
  for (const auto& result : results)
    print_checks(out, result);
}

std::string to_json(const std::vector<Result>& results, const Options& options) {
  json::Writer out;
  out.begin_object()
    .member("cores", std::int64_t{cores()})
    .member("connections", static_cast<std::int64_t>(options.connections))
    .key("runs")
    .begin_array();
  for (const auto& result : results)
    write_result(out, result);
  out.end_array().end_object();
  return out.str();
}

} // namespace cleat::load
