#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/options.hpp"

namespace cleat::storage {

/// A rule that no sound database breaks, as a query of the folder `invariants`: each row that it returns is a sentence
/// that says in words what is wrong where.
struct Invariant {
  /// The name of its file.
  std::string_view name;
  /// The rule in a sentence, which is the comment that the file begins with.
  std::string rule;
  std::string_view sql;
};

/// What an invariant had to say.
struct Finding {
  std::string_view invariant;
  std::string what;
};

/// What `check` found.
struct CheckReport {
  std::vector<Finding> findings;
  /// The invariants of which only the first `limits::check_findings_max` findings are listed.
  std::vector<std::string_view> shortened;
};

/// Every invariant there is, in the order of their names.
std::span<const Invariant> invariants();

/// Asks every invariant in one snapshot and writes nothing, however long it takes. Throws `MigrationError` when the
/// database is away or its schema is not the one of this program.
CheckReport check(const DatabaseOptions& options);

} // namespace cleat::storage
