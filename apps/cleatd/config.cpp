#include "apps/cleatd/config.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "base/addresses.hpp"

namespace cleat::cleatd {
namespace {

std::string described(const Key& key, std::string_view text, std::string_view source) {
  // Wrong values are short words of ours; a URL is never wrong here, so no password gets into a message.
  std::string words(key.name);
  words += " is '";
  words += text;
  words += "' (";
  words += source;
  words += "); ";
  return words;
}

std::string alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Sets one key, by its kind.
struct Assignment {
  Config& config;
  const Key& key;
  std::string_view text;
  std::string_view source;

  void operator()(const TextKey& kind) const {
    if (!kind.words.empty() && std::find(kind.words.begin(), kind.words.end(), text) == kind.words.end())
      throw ConfigError(described(key, text, source) + "use " + alternatives(kind.words) + ".");
    // One of them would end a path where the system reads it, and a printed configuration where a person does.
    if (printable(text) != text)
      throw ConfigError(described(key, text, source) + "use a text without control characters.");
    config.*kind.member = text;
  }

  void operator()(const SwitchKey& kind) const {
    const bool yes = text == "true" || text == "1";
    if (!yes && text != "false" && text != "0")
      throw ConfigError(described(key, text, source) + "use true or false.");
    config.*kind.member = yes;
  }

  void operator()(const NumberKey& kind) const {
    const auto value = parse_number(text);
    if (!value || *value < kind.min || *value > kind.max)
      throw ConfigError(described(key, text, source) + "use a whole number from " + std::to_string(kind.min) + " to " +
                        std::to_string(kind.max) + ".");
    config.*kind.member = *value;
  }
};

/// Shows one key's value, by its kind.
struct Display {
  const Config& config;

  std::string operator()(const TextKey& kind) const { return config.*kind.member; }
  std::string operator()(const SwitchKey& kind) const { return config.*kind.member ? "true" : "false"; }
  std::string operator()(const NumberKey& kind) const { return std::to_string(config.*kind.member); }
};

const Key& find_key(std::string_view name, std::string_view source) {
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  if (found == keys().end())
    throw ConfigError("There is no key '" + std::string(name) + "' (" + std::string(source) +
                      "). cleatd --print-config shows all there are.");
  return *found;
}

std::string text_of(const toml::node& node, const std::string& name, const std::string& source) {
  if (const auto* text = node.as_string())
    return text->get();
  if (const auto* number = node.as_integer())
    return std::to_string(number->get());
  if (const auto* yes = node.as_boolean())
    return yes->get() ? "true" : "false";
  throw ConfigError(name + " (" + source + ") has a value of a kind that no key takes; use a text, a whole number, " +
                    "true or false.");
}

void apply_table(Config& config, const toml::table& table, const std::string& prefix, const std::string& path) {
  for (const auto& [name, node] : table) {
    const auto full = prefix + std::string(name.str());
    const auto source = path + ", line " + std::to_string(node.source().begin.line);
    if (const auto* inner = node.as_table())
      apply_table(config, *inner, full + ".", path);
    else
      assign(config, find_key(full, source), text_of(node, full, source), source);
  }
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

} // namespace

std::string value_of(const Config& config, const Key& key) {
  return std::visit(Display{config}, key.kind);
}

void assign(Config& config, const Key& key, std::string_view text, std::string_view source) {
  std::visit(Assignment{config, key, text, source}, key.kind);
}

void apply_file(Config& config, const std::string& path) {
  try {
    apply_table(config, toml::parse_file(path), "", path);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw ConfigError("The configuration file " + path + " cannot be read" +
                      (line > 0 ? " (line " + std::to_string(line) + ")" : "") + ": " +
                      std::string(error.description()) + ".");
  }
}

std::vector<std::string> apply_environment(Config& config, const Values& environment) {
  std::set<std::string, std::less<>> known{"CLEAT_CONFIG"};
  for (const auto& key : keys()) {
    const auto name = environment_name(key);
    known.insert(name);
    if (const auto found = environment.find(name); found != environment.end())
      assign(config, key, found->second, "environment variable " + name);
  }
  std::vector<std::string> unknown;
  for (const auto& [name, value] : environment)
    if (name.rfind("CLEAT_", 0) == 0 && !known.contains(name))
      unknown.push_back(name);
  return unknown;
}

void apply_options(Config& config, const Values& options) {
  for (const auto& [name, text] : options) {
    const auto& key = find_key(name, "command line");
    assign(config, key, text, key.option.empty() ? "option --set" : "option " + std::string(key.option));
  }
}

namespace {

/// A listener that other machines can reach has TLS, or was allowed to go without.
void validate_listener(const Config& config, const std::string& address, const std::string& key,
                       const std::vector<std::string>& files) {
  const auto listen = parse_listen(address, key + ".listen");
  const bool some = std::ranges::any_of(files, [](const auto& file) { return !file.empty(); });
  const bool all = std::ranges::none_of(files, [](const auto& file) { return file.empty(); });
  if (some && !all)
    throw ConfigError("Of the files for the TLS of " + key + ".listen some are missing; set " + key + ".certificate, " +
                      key + ".key" + (files.size() > 2 ? " and " + key + ".ca" : "") + " together.");
  if (!all && !is_loopback(listen.host) && !config.http_insecure)
    throw ConfigError(key + ".listen is '" + address + "', which other machines can reach, without TLS. Set " + key +
                      ".certificate and " + key +
                      ".key, listen on 127.0.0.1, or allow it with --insecure "
                      "(http.insecure).");
}

void validate_listeners(const Config& config) {
  validate_listener(config, config.http_listen, "http", {config.http_certificate, config.http_key});
  validate_listener(config, config.runner_listen, "runner", {config.runner_certificate, config.runner_key});
  validate_listener(config, config.nodes_listen, "nodes",
                    {config.nodes_certificate, config.nodes_key, config.nodes_ca});
}

void validate_fleet(const Config& config) {
  if (config.runner_heartbeat_ms * 2 >= config.runner_timeout_s * 1000)
    throw ConfigError("runner.timeout_s is " + std::to_string(config.runner_timeout_s) +
                      "; make it longer than two of runner.heartbeat_ms.");
  if (config.nodes_heartbeat_ms * 2 >= config.nodes_timeout_s * 1000)
    throw ConfigError("nodes.timeout_s is " + std::to_string(config.nodes_timeout_s) +
                      "; make it longer than two of nodes.heartbeat_ms.");
  if (std::max(config.runner_wait_max_s, config.runner_stop_timeout_s) >= config.http_answer_timeout_s)
    throw ConfigError("http.answer_timeout_s is " + std::to_string(config.http_answer_timeout_s) +
                      "; make it longer than runner.wait_max_s and runner.stop_timeout_s.");
  if (config.runner_input_max_bytes >= config.runner_max_frame_bytes)
    throw ConfigError("runner.input_max_bytes is " + std::to_string(config.runner_input_max_bytes) +
                      "; make it less than runner.max_frame_bytes.");
}

} // namespace

void validate(const Config& config) {
  validate_listeners(config);
  validate_fleet(config);
  if (config.data.empty())
    throw ConfigError("data is empty; name a folder with --data.");
  if (config.database_statement_timeout_s + config.database_resolve_timeout_s >= config.database_request_timeout_s)
    throw ConfigError("database.request_timeout_s is " + std::to_string(config.database_request_timeout_s) +
                      "; make it longer than database.statement_timeout_s and database.resolve_timeout_s together.");
  if (config.database_request_timeout_s >= config.http_answer_timeout_s)
    throw ConfigError("http.answer_timeout_s is " + std::to_string(config.http_answer_timeout_s) +
                      "; make it longer than database.request_timeout_s.");
  if (config.database_max_batch > config.database_max_pending)
    throw ConfigError("database.max_batch is " + std::to_string(config.database_max_batch) +
                      "; make it at most database.max_pending.");
  if (config.actors_thread_queue_max < config.http_max_connections)
    throw ConfigError("actors.thread_queue_max is " + std::to_string(config.actors_thread_queue_max) +
                      "; make it at least http.max_connections, because every connection may wait at one thread.");
  if (config.agent_session_ref_max_bytes >= config.http_max_json_body_bytes)
    throw ConfigError("agent.session_ref_max_bytes is " + std::to_string(config.agent_session_ref_max_bytes) +
                      "; make it less than http.max_json_body_bytes.");
}

std::string print(const Config& config) {
  std::string text =
    "# The configuration as cleatd sees it. Every key can also be set by the environment variable beside\n"
    "# it, or on the command line with --set KEY=VALUE.\n";
  for (const auto& key : keys()) {
    text += "\n# " + std::string(key.meaning) + " " + environment_name(key) + "\n";
    const auto value = value_of(config, key);
    if (key.name == "database.url")
      text += value.empty() ? "# database.url = \"\"\n" : "# database.url is set; it may hold a password\n";
    else
      text +=
        std::string(key.name) + " = " + (std::holds_alternative<TextKey>(key.kind) ? quoted(value) : value) + "\n";
  }
  return text;
}

Listen parse_listen(std::string_view text, std::string_view key) {
  const auto address = parse_address(text);
  if (!address)
    throw ConfigError(std::string(key) + " is '" + std::string(text) +
                      "'; use HOST:PORT, for example 127.0.0.1:7480 or [::1]:7480, with port 0 for a free one.");
  return {address->host, address->port};
}

} // namespace cleat::cleatd
