#include "storage/pg/result.hpp"

#include <charconv>

namespace cleat::storage::pg {

std::int64_t Result::affected() const {
  const std::string_view text = PQcmdTuples(raw());
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

} // namespace cleat::storage::pg
