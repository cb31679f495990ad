#include "apps/cleat-runner/config.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include <sys/un.h>
#include <toml++/toml.h>

#include "base/addresses.hpp"

namespace cleat::runner {
namespace {

namespace fs = std::filesystem;

/// One table of the file; every key must be taken, so that a misspelled one is an error and not a silence.
class Table {
public:
  Table(const toml::table& table, std::string prefix) : table_(table), prefix_(std::move(prefix)) {}

  void text(const char* key, std::string& to) {
    if (const auto* node = take(key))
      to = text_of(*node, key, "a text");
  }

  void flag(const char* key, bool& to) {
    if (const auto* node = take(key)) {
      if (!node->is_boolean())
        wrong(key, "true or false");
      to = node->as_boolean()->get();
    }
  }

  void number(const char* key, std::int64_t& to, std::int64_t min, std::int64_t max) {
    const auto* node = take(key);
    if (node == nullptr)
      return;
    if (!node->is_integer() || node->as_integer()->get() < min || node->as_integer()->get() > max)
      wrong(key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    to = node->as_integer()->get();
  }

  void texts(const char* key, std::vector<std::string>& to) {
    const auto* node = take(key);
    if (node == nullptr)
      return;
    if (!node->is_array())
      wrong(key, "a list of texts");
    for (const auto& entry : *node->as_array())
      to.push_back(text_of(entry, key, "a list of texts"));
  }

  void texts_by_name(const char* key, std::map<std::string, std::string>& to) {
    if (const auto* node = take(key)) {
      if (!node->is_table())
        wrong(key, "a table of texts");
      for (const auto& [name, value] : *node->as_table())
        to[std::string(name.str())] = text_of(value, key, "a table of texts");
    }
  }

  const toml::table* table(const char* key) {
    const auto* node = take(key);
    if (node != nullptr && !node->is_table())
      wrong(key, "a table");
    return node == nullptr ? nullptr : node->as_table();
  }

  void finish() const {
    for (const auto& [name, node] : table_)
      if (std::find(taken_.begin(), taken_.end(), name.str()) == taken_.end())
        throw ConfigError("There is no key '" + prefix_ + std::string(name.str()) +
                          "' (see docs/operating/runner.md). Remove it or correct its name.");
  }

private:
  const toml::node* take(const char* key) {
    taken_.emplace_back(key);
    return table_.get(key);
  }

  /// A text that the system reads to its end, as paths and arguments are.
  [[nodiscard]] std::string text_of(const toml::node& node, const char* key, const std::string& use) const {
    if (!node.is_string())
      wrong(key, use);
    const auto& text = node.as_string()->get();
    if (text.find('\0') != std::string::npos)
      wrong(key, use + " without NUL");
    return text;
  }

  [[noreturn]] void wrong(const char* key, const std::string& use) const {
    throw ConfigError(prefix_ + key + " has a value that it cannot have; use " + use + ".");
  }

  const toml::table& table_;
  std::string prefix_;
  std::vector<std::string> taken_;
};

bool is_container_name(std::string_view name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= static_cast<std::size_t>(limits::container_name_max_bytes) &&
         is_plain(name.front()) && is_plain(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; });
}

DriverKind driver_of(const std::string& word, const std::string& key) {
  if (word == "process")
    return DriverKind::process;
  if (word == "bwrap")
    return DriverKind::bwrap;
  if (word == "null")
    return DriverKind::null;
  throw ConfigError(key + " is '" + word + "'; use process, bwrap or null.");
}

void check_agent(const ContainerSpec& spec, const std::string& prefix) {
  if (spec.command.empty() || spec.command.front().empty())
    throw ConfigError(prefix + "command is empty; name the program that is the agent, and its arguments.");
  if (spec.folder.empty() || spec.folder.front() != '/')
    throw ConfigError(prefix + "folder must be an absolute path to the folder in which the agent works.");
  for (const auto& [name, value] : spec.environment)
    if (name.empty() || name.find('=') != std::string::npos || name.starts_with("CLEAT_"))
      throw ConfigError(prefix + "env has '" + name + "'; names starting with CLEAT_ are set by the Runner itself.");
}

ContainerSpec container_of(const std::string& name, const toml::node& node) {
  const std::string prefix = "containers." + name + ".";
  if (!is_container_name(name))
    throw ConfigError("containers." + name +
                      " cannot be the name of a container; use up to 63 of a to z, 0 to 9, '.', " +
                      "'_' and '-', with a letter or a digit at both ends.");
  if (!node.is_table())
    throw ConfigError("containers." + name + " must be a table with driver, command and folder.");
  Table table(*node.as_table(), prefix);
  ContainerSpec spec;
  spec.name = name;
  std::string driver = "process";
  table.text("driver", driver);
  spec.driver = driver_of(driver, prefix + "driver");
  table.texts("command", spec.command);
  table.text("folder", spec.folder);
  table.texts_by_name("env", spec.environment);
  table.flag("network", spec.network);
  table.texts("hide", spec.hide);
  table.number("stop_grace_s", spec.stop_grace_s, 0, 3600);
  table.finish();
  if (spec.driver != DriverKind::null)
    check_agent(spec, prefix);
  return spec;
}

/// What stands in the file and can be said by option and environment as well.
struct Settings {
  std::string server;
  std::string token_file;
  std::string state;
  std::string log_level = "info";
  std::string log_format = "auto";
};

void apply_sections(Table& root, Config& config, Settings& settings) {
  if (const auto* section = root.table("server_connection")) {
    Table table(*section, "server_connection.");
    table.number("max_frame_bytes", config.max_frame_bytes, limits::agent_relay_frame_bytes * 4, 64 << 20);
    table.number("connect_timeout_s", config.connect_timeout_s, 1, 300);
    table.number("backoff_max_ms", config.backoff_max_ms, limits::runner_backoff_min_ms, 600'000);
    table.finish();
  }
  if (const auto* section = root.table("tls")) {
    Table table(*section, "tls.");
    table.text("ca", config.tls_ca);
    table.text("server_name", config.tls_server_name);
    table.finish();
  }
  if (const auto* section = root.table("release")) {
    Table table(*section, "release.");
    table.text("manifest", config.release_manifest);
    table.text("trust_root", config.release_trust_root);
    table.finish();
  }
  if (const auto* section = root.table("journal")) {
    Table table(*section, "journal.");
    table.number("retention_s", config.journal_retention_s, 1, std::numeric_limits<std::int32_t>::max());
    table.finish();
  }
  if (const auto* section = root.table("relay")) {
    Table table(*section, "relay.");
    table.number("window", config.relay_window, 1, 1'000'000);
    table.number("resend_ms", config.relay_resend_ms, 10, 600'000);
    table.number("max_unacknowledged", config.relay_max_unacknowledged, 1, 1'000'000);
    table.finish();
  }
  if (const auto* section = root.table("log")) {
    Table table(*section, "log.");
    table.text("level", settings.log_level);
    table.text("format", settings.log_format);
    table.finish();
  }
}

void apply_file(Config& config, Settings& settings, const std::string& path) {
  try {
    const toml::table file = toml::parse_file(path);
    Table root(file, "");
    root.text("server", settings.server);
    root.text("token_file", settings.token_file);
    root.text("state", settings.state);
    root.number("drain_s", config.drain_s, 0, 3600);
    apply_sections(root, config, settings);
    if (const auto* containers = root.table("containers"))
      for (const auto& [name, node] : *containers)
        config.containers.emplace(std::string(name.str()), container_of(std::string(name.str()), node));
    root.finish();
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw ConfigError("The configuration file " + path + " cannot be read" +
                      (line > 0 ? " (line " + std::to_string(line) + ")" : "") + ": " +
                      std::string(error.description()) + ".");
  }
}

/// The option's value, else the environment's, else what is there.
void override_with(std::string& value, const char* option, const Values& options, const Values& environment) {
  std::string variable = "CLEAT_RUNNER_";
  for (const char* c = option; *c != '\0'; ++c)
    variable += *c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  if (const auto found = options.find(option); found != options.end())
    value = found->second;
  else if (const auto set = environment.find(variable); set != environment.end())
    value = set->second;
}

void set_server(Config& config, const std::string& text) {
  if (text.empty())
    throw ConfigError("No server is named; say which with --server HOST:PORT.");
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon == std::string::npos ? 0 : colon);
  const auto digits = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    host.clear();
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65'535)
    throw ConfigError("server is '" + text + "'; use HOST:PORT, for example 127.0.0.1:7481 or [::1]:7481.");
  config.server_host = host;
  config.server_port = static_cast<std::uint16_t>(port);
}

void check(const std::string& value, std::initializer_list<std::string_view> words, const char* key) {
  if (std::find(words.begin(), words.end(), value) != words.end())
    return;
  std::string all;
  for (const auto word : words)
    all += (all.empty() ? "" : ", ") + std::string(word);
  throw ConfigError(std::string(key) + " is '" + value + "'; use one of " + all + ".");
}

/// A secrets socket has a path of limited length.
void check_state(const Config& config) {
  std::size_t longest = 0;
  for (const auto& [name, spec] : config.containers)
    longest = std::max(longest, name.size());
  const auto path = config.state.size() + std::string_view("/containers//secrets.sock").size() + longest;
  if (path >= sizeof(sockaddr_un::sun_path))
    throw ConfigError("state is '" + config.state +
                      "', which is too long a path for sockets in it; use a shorter one.");
}

} // namespace

Config read_config(const std::string& file, const Values& options, const Values& environment) {
  Config config;
  Settings settings;
  if (!file.empty())
    apply_file(config, settings, file);
  override_with(settings.server, "server", options, environment);
  override_with(settings.token_file, "token-file", options, environment);
  override_with(settings.state, "state", options, environment);
  override_with(settings.log_level, "log-level", options, environment);
  override_with(settings.log_format, "log-format", options, environment);
  set_server(config, settings.server);
  if (settings.token_file.empty())
    throw ConfigError("No token file is named; say where the Runner's token is with --token-file FILE.");
  if (settings.state.empty())
    throw ConfigError("No state folder is named; say where the journal shall be with --state DIR.");
  check(settings.log_level, {"trace", "debug", "info", "warn", "error"}, "log.level");
  check(settings.log_format, {"auto", "text", "json"}, "log.format");
  config.token_file = fs::absolute(settings.token_file);
  config.state = fs::absolute(settings.state).lexically_normal();
  config.log_level = settings.log_level;
  config.log_format = settings.log_format;
  config.tls = !config.tls_ca.empty() || !is_loopback(config.server_host);
  if (config.tls && config.tls_server_name.empty())
    config.tls_server_name = config.server_host;
  check_state(config);
  return config;
}

} // namespace cleat::runner
