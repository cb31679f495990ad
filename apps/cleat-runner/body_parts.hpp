#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "apps/cleat-runner/journal.hpp"
#include "protocol/runner_messages.hpp"

namespace cleat::runner {

/// Parts of session bodies that have come before their starts. Holds a bounded number of bytes; the oldest go first,
/// and their starts then fail for want of them.
class BodyParts {
public:
  void add(const OperationKey& key, std::int64_t dispatch, const wire::BodyPart& part);

  /// The body of a dispatch, if exactly this many parts of it have come, in order; forgets it either way.
  std::optional<std::string> take(const OperationKey& key, std::int64_t dispatch, std::int64_t parts);

  void clear();

private:
  struct Body {
    OperationKey key;
    std::int64_t dispatch = 0;
    /// How many parts have come; -1 when one was missing.
    std::int64_t parts = 0;
    std::string bytes;
  };

  std::list<Body>::iterator find(const OperationKey& key, std::int64_t dispatch);

  std::list<Body> bodies_;
  std::size_t bytes_ = 0;
};

} // namespace cleat::runner
