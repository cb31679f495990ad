#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/cleat-runner/config.hpp"

namespace cleat::runner {

/// A program ready to be executed.
struct Launch {
  std::string program;
  std::vector<std::string> arguments; ///< the program's name first
  std::map<std::string, std::string> environment;
  std::string folder;
  /// The first process is bubblewrap's and not the agent's, which is asked to end before it.
  bool wrapped = false;
};

/// What a start knows beside the container.
struct LaunchFacts {
  std::string session_id;
  /// Of a resume: where the session body is.
  std::string body_file;
  std::string secrets_socket;
  /// What an agent in bubblewrap does not get to see.
  std::string state_folder;
  std::string token_file;
};

/// An agent that cannot be started; says why.
struct LaunchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says what is to be executed by the process and bwrap drivers. Throws `LaunchError` for a program that is not there.
Launch plan_launch(const ContainerSpec& container, const LaunchFacts& facts);

} // namespace cleat::runner
