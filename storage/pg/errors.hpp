#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cleat::storage::pg {

/// What an SQLSTATE means for us (spec 07, point 6).
enum class SqlCategory {
  retry,       ///< deadlock or serialization failure: the same again may work
  unique,      ///< a unique index refused a row: somebody was faster
  unavailable, ///< the server cannot work at the moment: full disk, shut down, timeout, read only
  mistake,     ///< anything else: our SQL or our rows are wrong
};

/// The category of a five character SQLSTATE.
SqlCategory categorize(std::string_view sqlstate);

/// A statement that PostgreSQL refused. Carries names only, never values, so it may be logged.
class SqlError : public std::runtime_error {
public:
  SqlError(std::string sqlstate, std::string constraint);

  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }
  [[nodiscard]] SqlCategory category() const { return categorize(sqlstate_); }

private:
  std::string sqlstate_;
};

/// The connection is gone, or is of no use any more. Whatever was sent last may or may not have been done.
class ConnectionLost : public std::runtime_error {
public:
  /// `timed_out` tells a server that does not answer from one that went away; asking it again would only cost time.
  explicit ConnectionLost(const std::string& what, bool timed_out = false)
    : std::runtime_error(what), timed_out_(timed_out) {}

  [[nodiscard]] bool timed_out() const { return timed_out_; }

private:
  bool timed_out_;
};

} // namespace cleat::storage::pg
