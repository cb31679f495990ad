#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/cleat-load/interrupt.hpp"
#include "apps/cleat-load/load_run.hpp"
#include "apps/cleat-load/options.hpp"
#include "apps/cleat-load/page.hpp"
#include "apps/cleat-load/report.hpp"
#include "apps/cleat-load/target.hpp"

namespace {

using namespace cleat::load;

constexpr int exit_wrong = 1;
constexpr int exit_failed = 2;

void write_file(const std::filesystem::path& path, const std::string& text) {
  if (path.empty())
    return;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush())
    throw std::runtime_error("Cannot write " + path.string() + ".");
}

/// 0 when everything was right, 1 when an answer or the database was not.
int run(const Options& options) {
  options.validate();
  const Target target = find_target(options);
  std::vector<Result> results;
  bool right = true;
  for (const Scenario scenario : options.scenarios) {
    results.push_back(run_scenario(scenario, options, target));
    right = right && results.back().right();
  }
  print_table(std::cout, results, options);
  write_file(options.json, to_json(results, options));
  write_file(options.html, to_page(results, options));
  return right ? 0 : exit_wrong;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Loads a Cleat server over HTTP, checks every answer, and measures.", "cleat-load");
  Options options;
  try {
    declare(app, options);
    app.parse(argc, argv);
    remember_interrupts();
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "cleat-load: " << error.what() << "\n";
    return exit_failed;
  }
}
