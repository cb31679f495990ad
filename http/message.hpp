#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "http/client_address.hpp"

/// Requests and answers as the rest of the room sees them, free of the library that reads and writes them.
namespace cleat::http {

/// Header fields in the order of the message. Names compare without regard to case.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// Whether two header names are the same one.
bool same_name(std::string_view a, std::string_view b);

/// The values of every field with this name.
std::vector<std::string_view> values_of(const HeaderFields& fields, std::string_view name);

/// Takes what stands before the next `separator` off `text`, without the blanks around it; all of it when there is
/// none.
std::string_view take_part(std::string_view& text, char separator);

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
  /// Who has sent it.
  ClientAddress client = {};
};

/// The client's end of a connection, for answers that take their time. Used by the connection's thread alone.
class Line {
public:
  virtual ~Line() = default;

  /// Waits at most `time` for a reason to come to an end: the client went away, or the server drains. True: there was
  /// none. A client that has closed its sending side counts as gone; nothing else tells of one that only listens.
  virtual bool holds(std::chrono::milliseconds time) = 0;

  /// Sends all of `bytes`. False when the client does not take them within `http.write_timeout_s`, has gone, or keeps a
  /// server waiting that drains; from then on nothing is sent, and `holds` says so.
  virtual bool send(std::string_view bytes) = 0;
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
  /// Sends a body without a known end, behind the head; `body` is empty then, and `close` is set, because the end of
  /// the connection is the end of the body. Not called for HEAD.
  std::function<void(Line&)> follow = nullptr;
};

/// One connection's side that answers. Used by the connection's thread alone.
class Conversation {
public:
  virtual ~Conversation() = default;

  /// Answers a request; what goes wrong is an answer too. An answer that waits asks `line` whether that still makes
  /// sense, and sends nothing on it before its head is out.
  virtual Outgoing answer(const Incoming& incoming, Line& line) = 0;

  /// Answers bytes that were no request at all.
  virtual Outgoing fault(Code code) = 0;
};

} // namespace cleat::http
