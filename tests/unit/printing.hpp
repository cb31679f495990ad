#pragma once

#include <ostream>

#include "base/problem.hpp"
#include "protocol/resources.hpp"

/// How GoogleTest shows our types when a test fails. Found by argument, so they stand beside the types.
namespace cleat {

/// The canonical text.
inline void PrintTo(const Id& id, std::ostream* out) {
  *out << id.str();
}

/// The name on the wire.
inline void PrintTo(FieldCode code, std::ostream* out) {
  *out << to_string(code);
}

/// Code, reason and every member that is wrong.
inline void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << to_string(refusal.code) << ' ' << to_string(refusal.reason);
  for (const FieldError& error : refusal.errors)
    *out << " [" << error.pointer << ' ' << to_string(error.code) << ']';
  *out << refusal.current;
}

} // namespace cleat

namespace cleat::unit {

/// What `result` was refused with; `internal` when it was granted, which no rule refuses with.
template <class T>
Refusal refusal_of(const Result<T>& result) {
  return result ? Refusal{Code::internal} : result.error();
}

/// A refusal of wrong members.
inline Refusal invalid(std::vector<FieldError> errors) {
  return {Code::validation_failed, Reason::none, std::move(errors), ""};
}

} // namespace cleat::unit
