#include "apps/cleatd/command_line.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "apps/cleatd/version.hpp"

namespace cleat::cleatd {
namespace {

/// The options as CLI11 fills them.
struct Options {
  std::string config_file;
  std::vector<std::string> settings;
  bool print_config = false;
  bool version = false;
  bool check = false;
  bool json = false;
  /// Text options by key; a list, because CLI11 keeps addresses.
  std::list<std::pair<const Key*, std::string>> texts;
  std::list<std::pair<const Key*, bool>> switches;
};

std::string placeholder(const Key& key) {
  if (key.name == "data")
    return "DIR";
  return key.name == "database.url" ? "URL" : "HOST:PORT";
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--config", options.config_file, "A TOML file with any of the keys")->type_name("FILE");
  for (const auto& key : keys()) {
    if (key.option.empty())
      continue;
    const std::string name(key.option);
    const std::string meaning(key.meaning);
    if (std::holds_alternative<SwitchKey>(key.kind))
      app.add_flag(name, options.switches.emplace_back(&key, false).second, meaning);
    else
      app.add_option(name, options.texts.emplace_back(&key, "").second, meaning)->type_name(placeholder(key));
  }
  app.add_option("--set", options.settings, "Any other key; may be repeated")
    ->type_name("KEY=VALUE")
    ->expected(1)
    ->take_all();
  app.add_flag("--print-config", options.print_config, "Print every key with its value and meaning");
  app.add_flag("--version", options.version, "Print the version");
  auto* const check = app.add_subcommand("check", "Ask whether the database is sound; changes nothing");
  check->fallthrough();
  check->callback([&options] { options.check = true; });
  check->add_flag("--json", options.json, "Print JSON instead of a table");
  check->footer("Takes the options of cleatd as well. Ends with 0 when the database is sound, 1 when it is not,\n"
                "2 when that cannot be found out.");
}

/// The command line's values by key; an option of its own beats `--set`.
Values values_of(const CLI::App& app, const Options& options) {
  Values values;
  for (const auto& setting : options.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos)
      throw ConfigError("--set takes KEY=VALUE, for example --set http.drain_s=5, and not '" + setting + "'.");
    values[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  for (const auto& [key, text] : options.texts)
    if (app.count(std::string(key->option)) > 0)
      values[std::string(key->name)] = text;
  for (const auto& [key, on] : options.switches)
    if (on)
      values[std::string(key->name)] = "true";
  return values;
}

std::string config_file(const Options& options, const Values& environment) {
  if (!options.config_file.empty())
    return options.config_file;
  const auto variable = environment.find("CLEAT_CONFIG");
  return variable == environment.end() ? "" : variable->second;
}

/// What is asked for is a text.
CommandLine print_text(std::string text) {
  CommandLine result;
  result.action = CommandLine::Action::print_and_exit;
  result.text = std::move(text);
  return result;
}

} // namespace

CommandLine read_command_line(std::vector<std::string> arguments, const Values& environment) {
  CLI::App app("cleatd: the authority for agent sessions", "cleatd");
  app.footer("Each option is also an environment variable (CLEAT_HTTP) and a key of the file.\n"
             "All keys: docs/operating/configuration.md");
  Options options;
  add_options(app, options);
  std::reverse(arguments.begin(), arguments.end()); // what CLI11's parse of a vector takes
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return print_text(app.help());
  } catch (const CLI::ParseError& error) {
    throw ConfigError(std::string(error.what()) + ". Run cleatd --help to see the options.");
  }
  if (options.version)
    return print_text(std::string("cleatd ") + version + "\n");

  CommandLine result;
  result.json = options.json;
  if (options.check)
    result.action = CommandLine::Action::check;
  if (const auto file = config_file(options, environment); !file.empty())
    apply_file(result.config, file);
  result.unknown_variables = apply_environment(result.config, environment);
  apply_options(result.config, values_of(app, options));
  validate(result.config);
  if (options.print_config) {
    result.action = CommandLine::Action::print_and_exit;
    result.text = print(result.config);
  }
  return result;
}

Values environment_of_process() {
  Values values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string::npos)
      values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return values;
}

} // namespace cleat::cleatd
