#pragma once

#include <optional>

#include "base/problem.hpp"
#include "protocol/commands.hpp"

namespace cleat::http {

/// A token and whose it is, as the database has them.
struct KnownToken {
  Token token;
  Principal principal;
};

/// What stands behind the HTTP surface, seen from one connection. Each call waits for the answer, at most
/// `http.answer_timeout_s`; without one the refusal is `outcome_unknown`. Not thread safe: one a connection.
class Backend {
public:
  virtual ~Backend() = default;

  virtual Result<Reply> list(ListSessions command) = 0;
  virtual Result<Reply> reset(ResetSession command) = 0;
  virtual Result<Reply> bind(BindSession command) = 0;
  virtual Result<Reply> import_sessions(ImportSessions command) = 0;
  virtual Result<Reply> directory(DirectoryCommand command) = 0;

  /// The token with this digest, whatever its state. `unavailable` when the database cannot say.
  virtual Result<std::optional<KnownToken>> find_token(const Digest& digest) = 0;

  /// Whether the database answers within `http.ready_timeout_s`.
  virtual bool database_answers() = 0;
};

} // namespace cleat::http
