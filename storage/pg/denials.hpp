#pragma once

#include <map>
#include <vector>

#include "base/encoding.hpp"
#include "protocol/resources.hpp"
#include "storage/messages.hpp"
#include "storage/pg/params.hpp"

namespace cleat::storage::pg {

/// Denials that wait to be counted, equal ones of one window merged already (spec 03 section 2).
class DenialCounts {
public:
  void add(const RecordDenial& denial);

  [[nodiscard]] bool empty() const { return entries_.empty(); }

  /// The parameters of count_denials, ordered by key so that servers do not wait for each other in a circle.
  [[nodiscard]] Params params() const;

private:
  std::map<Digest, AuditEntry> entries_;
};

/// Adds the columns that insert_audit and count_denials have in common.
void add_audit_columns(Params& params, const std::vector<const AuditEntry*>& rows);

} // namespace cleat::storage::pg
