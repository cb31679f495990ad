// Where a value comes from, which one wins, and what is said about a wrong one.
#include "apps/cleatd/config.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "apps/cleatd/command_line.hpp"

namespace cleat::cleatd {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// The sentence with which `action` is refused.
std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string refused(const std::vector<std::string>& arguments, const Values& environment = {}) {
  return refusal_of([&] { read_command_line(arguments, environment); });
}

/// A value of the key that is not its default and that the key takes.
std::string other_value(const Key& key) {
  if (key.name.ends_with(".listen"))
    return "127.0.0.1:1";
  if (const auto* text = std::get_if<TextKey>(&key.kind))
    return text->words.empty() ? "other" : std::string(text->words.back());
  if (const auto* number = std::get_if<NumberKey>(&key.kind))
    return std::to_string(number->max - 1);
  return value_of(Config{}, key) == "true" ? "false" : "true";
}

class ConfigTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cleat-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Writes a configuration file and gives its path.
  [[nodiscard]] std::string file(const std::string& text) const {
    const auto path = folder_ / "cleat.toml";
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigTest, DefaultsStartAServerOnLoopback) {
  const auto command = read_command_line({}, {});
  EXPECT_EQ(command.action, CommandLine::Action::serve);
  EXPECT_EQ(command.config.http_listen, "127.0.0.1:7480");
  EXPECT_EQ(command.config.data, "data");
  EXPECT_EQ(command.config.database_url, "");
  EXPECT_FALSE(command.config.demo);
  EXPECT_FALSE(command.config.http_insecure);
}

TEST_F(ConfigTest, OptionBeatsEnvironmentBeatsFileBeatsDefault) {
  const auto path = file("data = 'from-file'\n[http]\nlisten = '127.0.0.1:1'\ndrain_s = 1\nkeep_alive_s = 1\n");
  const Values environment{{"CLEAT_HTTP", "127.0.0.1:2"}, {"CLEAT_HTTP_DRAIN_S", "2"}};
  const auto command = read_command_line({"--config", path, "--http", "127.0.0.1:3"}, environment);
  EXPECT_EQ(command.config.http_listen, "127.0.0.1:3");
  EXPECT_EQ(command.config.http_drain_s, 2);
  EXPECT_EQ(command.config.http_keep_alive_s, 1);
  EXPECT_EQ(command.config.data, "from-file");
  EXPECT_EQ(command.config.http_read_timeout_s, limits::read_timeout_s);
}

TEST_F(ConfigTest, TheFileMayBeNamedByTheEnvironment) {
  const auto command = read_command_line({}, {{"CLEAT_CONFIG", file("http.drain_s = 7\n")}});
  EXPECT_EQ(command.config.http_drain_s, 7);
  EXPECT_THAT(command.unknown_variables, ElementsAre());
}

TEST_F(ConfigTest, EveryKeyIsReadFromEverySource) {
  for (const auto& key : keys()) {
    const auto wanted = other_value(key);
    const bool quotes = std::holds_alternative<TextKey>(key.kind);
    Config from_file;
    apply_file(from_file, file(std::string(key.name) + " = " + (quotes ? "'" + wanted + "'" : wanted) + "\n"));
    EXPECT_EQ(value_of(from_file, key), wanted) << key.name;
    Config from_environment;
    apply_environment(from_environment, {{environment_name(key), wanted}});
    EXPECT_EQ(value_of(from_environment, key), wanted) << key.name;
    Config from_options;
    apply_options(from_options, {{std::string(key.name), wanted}});
    EXPECT_EQ(value_of(from_options, key), wanted) << key.name;
    EXPECT_NE(value_of(Config{}, key), wanted) << key.name;
  }
}

TEST_F(ConfigTest, NoTwoKeysShareANameOrAVariable) {
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const auto& key : keys()) {
    EXPECT_TRUE(names.insert(std::string(key.name)).second) << key.name;
    EXPECT_TRUE(variables.insert(environment_name(key)).second) << environment_name(key);
  }
}

TEST_F(ConfigTest, DefaultsAreInsideTheirRanges) {
  for (const auto& key : keys()) {
    Config config;
    EXPECT_NO_THROW(assign(config, key, value_of(Config{}, key), "default")) << key.name;
  }
  EXPECT_NO_THROW(validate(Config{}));
}

TEST_F(ConfigTest, OptionsOfTheCommandLine) {
  const auto command = read_command_line({"--data", "there", "--http", "localhost:0", "--database-url",
                                          "postgresql://db.example.com/cleat", "--demo", "--insecure", "--set",
                                          "http.drain_s=3", "--set", "log.level=debug"},
                                         {});
  EXPECT_EQ(command.config.data, "there");
  EXPECT_EQ(command.config.http_listen, "localhost:0");
  EXPECT_EQ(command.config.database_url, "postgresql://db.example.com/cleat");
  EXPECT_TRUE(command.config.demo);
  EXPECT_TRUE(command.config.http_insecure);
  EXPECT_EQ(command.config.http_drain_s, 3);
  EXPECT_EQ(command.config.log_level, "debug");
}

TEST_F(ConfigTest, AnUnknownKeyIsRefusedWithItsPlace) {
  const auto path = file("[http]\nlisten = '127.0.0.1:1'\nlisen = '127.0.0.1:2'\n");
  EXPECT_THAT(refused({"--config", path}), AllOf(HasSubstr("'http.lisen'"), HasSubstr(path + ", line 3")));
  EXPECT_THAT(refused({"--set", "http.drain=1"}), AllOf(HasSubstr("'http.drain'"), HasSubstr("command line")));
  EXPECT_THAT(refused({"--no-such-option"}), HasSubstr("--no-such-option"));
  EXPECT_THAT(refused({"stray"}), HasSubstr("stray"));
}

TEST_F(ConfigTest, AWrongValueIsRefusedWithTheKeyTheSourceAndTheFix) {
  EXPECT_THAT(refused({}, {{"CLEAT_HTTP_DRAIN_S", "soon"}}),
              AllOf(HasSubstr("http.drain_s is 'soon'"), HasSubstr("CLEAT_HTTP_DRAIN_S"),
                    HasSubstr("a whole number from 0 to 3600")));
  EXPECT_THAT(refused({"--set", "http.drain_s=3601"}), HasSubstr("from 0 to 3600"));
  EXPECT_THAT(refused({"--set", "http.drain_s=-1"}), HasSubstr("from 0 to 3600"));
  EXPECT_THAT(refused({"--set", "http.drain_s=1.5"}), HasSubstr("from 0 to 3600"));
  EXPECT_THAT(refused({"--set", "http.drain_s="}), HasSubstr("from 0 to 3600"));
  EXPECT_THAT(refused({"--set", "http.drain_s"}), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(refused({}, {{"CLEAT_DEMO", "maybe"}}), AllOf(HasSubstr("demo is 'maybe'"), HasSubstr("true or false")));
  EXPECT_THAT(refused({"--set", "log.level=loud"}), HasSubstr("trace, debug, info, warn or error"));
  EXPECT_THAT(refused({"--config", file("http.drain_s = [1]\n")}), HasSubstr("http.drain_s"));
  EXPECT_THAT(refused({"--set", "agent.session_ref_max_bytes=2601"}), HasSubstr("from 1 to 2600"));
}

TEST_F(ConfigTest, ControlCharactersAreRefusedAndNotRepeated) {
  EXPECT_THAT(refused({"--config", file("data = \"a\\u0000b\"\n")}),
              AllOf(HasSubstr("data is 'a?b'"), HasSubstr("control characters")));
  EXPECT_THAT(refused({"--config", file("http.listen = \"127.0.0.1\\u001b[2J\"\n")}), HasSubstr("127.0.0.1?[2J"));
  EXPECT_THAT(refused({"--config", file("\"da\\u0000ta\" = 1\n")}),
              AllOf(HasSubstr("'da?ta'"), HasSubstr("--print-config")));
}

TEST_F(ConfigTest, AnUnknownOptionIsNamedInASentence) {
  EXPECT_THAT(refused({"--nonsense"}), EndsWith(": --nonsense. Run cleatd --help to see the options."));
}

TEST_F(ConfigTest, AFileThatIsNoneIsRefused) {
  EXPECT_THAT(refused({"--config", (folder_ / "absent.toml").string()}), HasSubstr("absent.toml"));
  EXPECT_THAT(refused({"--config", file("data = 'a'\nhttp = = 1\n")}), HasSubstr("line 2"));
  EXPECT_THAT(refused({"--config", file("data = 'a'\ndata = 'b'\n")}), HasSubstr("data"));
}

TEST_F(ConfigTest, UnknownVariablesAreNamedAndNoObstacle) {
  const auto command = read_command_line({}, {{"CLEAT_SESSION_ID", "x"}, {"CLEATD", "x"}, {"HOME", "/"}});
  EXPECT_THAT(command.unknown_variables, ElementsAre("CLEAT_SESSION_ID"));
}

TEST_F(ConfigTest, BeyondLoopbackNeedsInsecure) {
  for (const auto* address : {"0.0.0.0:7480", "[::]:7480", "192.0.2.1:7480", "cleat.example.com:7480"}) {
    EXPECT_THAT(refused({"--http", address}), AllOf(HasSubstr("http.listen"), HasSubstr("--insecure"))) << address;
    EXPECT_NO_THROW(read_command_line({"--http", address, "--insecure"}, {})) << address;
  }
  for (const auto* address : {"127.0.0.1:0", "127.1.2.3:80", "[::1]:7480", "localhost:7480"})
    EXPECT_NO_THROW(read_command_line({"--http", address}, {})) << address;
}

TEST_F(ConfigTest, BeyondLoopbackATlsCertificateIsEnough) {
  const std::vector<std::string> encrypted{"--http", "0.0.0.0:7480",    "--set", "http.certificate=chain.pem",
                                           "--set",  "http.key=key.pem"};
  EXPECT_NO_THROW(read_command_line(encrypted, {}));
  EXPECT_THAT(refused({"--http", "0.0.0.0:7480"}),
              AllOf(HasSubstr("http.certificate"), HasSubstr("http.key"), HasSubstr("http.insecure")));
  EXPECT_THAT(refused({"--set", "http.certificate=chain.pem"}),
              AllOf(HasSubstr("http.listen"), HasSubstr("http.certificate"), HasSubstr("http.key")));
  EXPECT_THAT(refused({"--set", "http.key=key.pem", "--insecure"}), HasSubstr("http.certificate"));
  EXPECT_THAT(refused({"--set", "http.tls_min_version=1.1"}), HasSubstr("1.3 or 1.2"));
}

TEST_F(ConfigTest, AnAddressIsHostAndPort) {
  const auto v6 = parse_listen("[::1]:80", "http.listen");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.port, 80);
  for (const auto* address : {"", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "127.0.0.1:http", "::1:80"})
    EXPECT_THAT(refusal_of([&] { parse_listen(address, "http.listen"); }), HasSubstr("use HOST:PORT")) << address;
}

TEST_F(ConfigTest, SpansMustFitIntoEachOther) {
  EXPECT_THAT(refused({"--set", "database.request_timeout_s=20"}), HasSubstr("database.request_timeout_s is 20"));
  EXPECT_THAT(refused({"--set", "http.answer_timeout_s=30"}), HasSubstr("http.answer_timeout_s is 30"));
  EXPECT_THAT(refused({"--set", "database.max_pending=8"}), HasSubstr("database.max_pending"));
  EXPECT_THAT(refused({"--set", "http.max_connections=5000"}), HasSubstr("actors.thread_queue_max is 4096"));
  EXPECT_THAT(refused({"--data", ""}), HasSubstr("--data"));
}

TEST_F(ConfigTest, HelpFitsAScreen) {
  const auto command = read_command_line({"--help"}, {});
  EXPECT_EQ(command.action, CommandLine::Action::print_and_exit);
  EXPECT_LE(std::count(command.text.begin(), command.text.end(), '\n'), 24) << command.text;
  for (const auto* option : {"--config", "--data", "--http", "--database-url", "--demo", "--insecure", "--set"})
    EXPECT_THAT(command.text, HasSubstr(option));
}

TEST_F(ConfigTest, VersionIsPrinted) {
  const auto command = read_command_line({"--version"}, {});
  EXPECT_EQ(command.action, CommandLine::Action::print_and_exit);
  EXPECT_EQ(command.text, "cleatd " CLEAT_VERSION "\n");
}

TEST_F(ConfigTest, WhatIsPrintedIsAFileThatMeansTheSame) {
  std::vector<std::string> arguments{"--print-config", "--data", "it's \"there\"", "--set", "http.drain_s=3"};
  const auto printed = read_command_line(arguments, {}).text;
  Config again;
  apply_file(again, file(printed));
  EXPECT_EQ(print(again), printed);
  EXPECT_EQ(again.data, "it's \"there\"");
  EXPECT_EQ(again.http_drain_s, 3);
}

TEST_F(ConfigTest, APasswordIsNotPrinted) {
  const auto command =
    read_command_line({"--print-config", "--database-url", "postgresql://cleat:hunter2@db.example.com/cleat"}, {});
  EXPECT_THAT(command.text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(command.text, HasSubstr("database.url is set"));
}

TEST_F(ConfigTest, TheDocumentationHasEveryKeyWithItsVariableAndDefault) {
  std::ifstream document(std::filesystem::path(CLEAT_SOURCE_DIR) / "docs/operating/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(document), {}};
  for (const auto& key : keys()) {
    const auto value = value_of(Config{}, key);
    const auto row = "| `" + std::string(key.name) + "` | `" + environment_name(key) + "` | " +
                     (value.empty() ? "none" : "`" + value + "`") + " | " + std::string(key.meaning);
    EXPECT_THAT(text, HasSubstr(row));
    if (!key.option.empty()) {
      EXPECT_THAT(text, HasSubstr("`" + std::string(key.option)));
    }
  }
}

} // namespace
} // namespace cleat::cleatd
