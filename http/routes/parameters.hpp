#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/problem.hpp"
#include "http/message.hpp"
#include "http/target.hpp"

namespace cleat::http {

/// Reads the query of an operation into values and collects everything that is wrong, each under its parameter's name.
/// The names themselves have been checked before.
class Parameters {
public:
  explicit Parameters(const Query& query) : query_(query) {}

  /// An id, if the query has one; `invalid_format` for anything else.
  std::optional<Id> id(std::string_view name);

  /// A text of at most 200 visible characters, if the query has one.
  std::optional<std::string> text(std::string_view name);

  /// A whole number from `min` to `max` in decimal digits, else `out_of_range`; `absent` when the query has none.
  std::int64_t number(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t absent);

  /// What was wrong.
  std::vector<FieldError> errors;

private:
  void wrong(std::string_view name, FieldCode code) { errors.push_back({"/" + std::string(name), code}); }

  const Query& query_;
};

/// A whole number from `min` to `max`, in decimal digits alone.
std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t min, std::int64_t max);

/// The cursors of a log: any number that an entry may have, and 0 for what stands before the first.
inline constexpr std::int64_t max_seq = std::numeric_limits<std::int64_t>::max();

/// Where a stream begins: behind the last entry that the client has (`Last-Event-ID`), else where the query says, else
/// at the beginning, because then nothing is left out.
Result<std::int64_t> begin_of(const HeaderFields& headers, std::int64_t after);

} // namespace cleat::http
