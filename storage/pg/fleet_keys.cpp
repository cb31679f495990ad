#include "storage/pg/batch_keys.hpp"

#include <utility>
#include <variant>

namespace cleat::storage::pg {
namespace {

/// One overload a write.
struct AddKeys {
  std::vector<std::uint64_t>& writes;
  std::vector<std::uint64_t>& reads;

  void operator()(const fleet::InsertAccount& write) const { add(key(Subject::account, write.row.id)); }
  void operator()(const fleet::UpdateAccount& write) const { add(key(Subject::account, write.row.id)); }
  void operator()(const fleet::PutSecret& write) const {
    add(key(Subject::secret, write.row.account_id, write.row.name));
  }
  void operator()(const fleet::DeleteSecret& write) const { add(key(Subject::secret, write.account_id, write.name)); }
  void operator()(const fleet::InsertRunner& write) const { add(key(Subject::runner, write.row.id)); }
  void operator()(const fleet::UpdateRunner& write) const { add(key(Subject::runner, write.row.id)); }
  void operator()(const fleet::InsertRunnerToken& write) const { add(key(Subject::runner_token, write.row.id)); }
  void operator()(const fleet::RevokeRunnerToken& write) const { add(key(Subject::runner_token, write.id)); }
  void operator()(const fleet::Enrol& write) const {
    add(key(Subject::runner, write.row.id));
    for (const ContainerAttempt& attempt : write.attempts)
      add(key(Subject::container, attempt.container_name));
  }
  void operator()(const fleet::InsertContainer& write) const { add_container(write.row); }
  void operator()(const fleet::UpdateContainer& write) const { add_container(write.row); }
  void operator()(const fleet::DeleteContainer& write) const { add(key(Subject::container, write.name)); }
  void operator()(const fleet::InsertAttempt& write) const { add(key(Subject::container, write.row.container_name)); }
  void operator()(const fleet::EndAttempts& write) const { add(key(Subject::container, write.container_name)); }
  void operator()(const fleet::InsertOperation& write) const { add_operation(write.row); }
  void operator()(const fleet::UpdateOperation& write) const { add_operation(write.row); }
  void operator()(const fleet::InsertBinding& write) const { add_binding(write.row); }
  void operator()(const fleet::UpdateBinding& write) const { add_binding(write.row); }
  void operator()(const fleet::AppendTranscript& write) const {
    if (!write.lines.empty())
      add(key(Subject::session, write.lines.front().session_id));
  }
  void operator()(const fleet::InsertOrphan& write) const { add(key(Subject::orphan, write.row.id)); }
  void operator()(const fleet::UpdateOrphan& write) const { add(key(Subject::orphan, write.row.id)); }

private:
  void add(std::uint64_t key) const { writes.push_back(key); }
  /// An enrolment of its Runner changes every container, also one that it does not name.
  void add_container(const Container& row) const {
    add(key(Subject::container, row.name));
    reads.push_back(key(Subject::runner, row.runner_id));
  }
  void add_operation(const Operation& row) const {
    add(key(Subject::container, row.container_name));
    add(key(Subject::operation, row.id));
    for (const auto* session : {&row.fresh_session_id, &row.resume_session_id, &row.stop_session_id})
      if (*session)
        add(key(Subject::session, **session));
  }
  void add_binding(const Binding& row) const {
    add(key(Subject::container, row.container_name));
    add(key(Subject::session, row.session_id));
  }
};

} // namespace

void add_fleet_keys(const fleet::Write& write, std::vector<std::uint64_t>& writes, std::vector<std::uint64_t>& reads) {
  std::visit(AddKeys{writes, reads}, write);
}

} // namespace cleat::storage::pg
