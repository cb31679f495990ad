#pragma once

#include <string>
#include <vector>

#include "apps/cleatd/config.hpp"

namespace cleat::cleatd {

/// What a command line asks for.
struct CommandLine {
  enum class Action { serve, print_and_exit, check };

  Action action = Action::serve;
  /// What `--help`, `--version` and `--print-config` print.
  std::string text;
  Config config;
  /// What `check` prints: JSON instead of a table.
  bool json = false;
  /// Environment variables named CLEAT_* that mean nothing here.
  std::vector<std::string> unknown_variables;
};

/// Reads everything that configures the process: options beat the environment, that beats the file (`--config` or
/// CLEAT_CONFIG), and that beats defaults. `arguments` do not include the program's name. Throws `ConfigError` with
/// a sentence that names the key and the fix.
CommandLine read_command_line(std::vector<std::string> arguments, const Values& environment);

/// The environment of this process.
Values environment_of_process();

} // namespace cleat::cleatd
