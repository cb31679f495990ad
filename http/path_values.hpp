#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"

namespace cleat::http {

/// What a path says in the places of its pattern's `{names}`, in the order of the path.
struct PathValues {
  /// Where the name is none of the following.
  std::vector<Id> ids;
  /// Of `{name}`, a container's name; of `{session_id}`; of `{secret_name}`.
  std::vector<std::string> texts;
};

/// Reads the values of a path. Nothing when one of them is what no resource can be called like, which is the same as an
/// unknown one (spec 05); names of secrets are left to the rules, because whoever puts one is told what is wrong.
std::optional<PathValues> read_path(std::string_view pattern, const std::vector<std::string>& values);

} // namespace cleat::http
