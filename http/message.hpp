#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"

/// Requests and answers as the rest of the room sees them, free of the library that reads and writes them.
namespace cleat::http {

/// Header fields in the order of the message. Names compare without regard to case.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// Whether two header names are the same one.
bool same_name(std::string_view a, std::string_view b);

/// The values of every field with this name.
std::vector<std::string_view> values_of(const HeaderFields& fields, std::string_view name);

/// Whether the comma-separated list in the fields of this name has `token`, without regard to case.
bool list_has(const HeaderFields& fields, std::string_view name, std::string_view token);

/// What became of reading a request's body.
enum class BodyState {
  complete,
  too_large, ///< longer than `http.max_json_body_bytes`; what was read is not kept
  broken,    ///< cut off, late or wrongly framed
};

/// A request as it arrived.
struct Incoming {
  std::string method;
  /// As sent: path and query, percent-encoded.
  std::string target;
  HeaderFields headers;
  std::string body;
  BodyState body_state = BodyState::complete;
};

/// An answer to send.
struct Outgoing {
  int status = 200;
  /// Empty when there is no body.
  std::string content_type;
  std::string body;
  HeaderFields headers;
  /// Whether the connection ends after this answer.
  bool close = false;
};

/// One connection's side that answers. Used by the connection's thread alone.
class Conversation {
public:
  virtual ~Conversation() = default;

  /// Answers a request; what goes wrong is an answer too.
  virtual Outgoing answer(const Incoming& incoming) = 0;

  /// Answers bytes that were no request at all.
  virtual Outgoing fault(Code code) = 0;
};

} // namespace cleat::http
