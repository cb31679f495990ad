#pragma once

#include <memory>

#include <httplib.h>

#include "http/head.hpp"
#include "http/message.hpp"
#include "http/options.hpp"
#include "http/socket_stream.hpp"

namespace cleat::http {

/// One client's connection while its thread serves it: the request in hand, and the seam where the library's request
/// and response become ours.
class Connection {
public:
  /// With a context it speaks TLS.
  Connection(int socket, int wake_fd, const HttpOptions& options, std::shared_ptr<tls::Context> context,
             std::unique_ptr<Conversation> conversation)
    : stream(socket, wake_fd, options.write_timeout, std::move(context)),
      options_(options),
      conversation_(std::move(conversation)),
      client_(client_address_of(socket)) {}

  /// Waits for a request and reads its head. True: it is there and its body may be read. False: the connection ends,
  /// and the client has been told why if it can be told. A request that has arrived is served even when the server is
  /// draining; the answer then says that it was the last.
  bool next_request();

  /// Takes everything out of the library's hands that would make it interpret the message instead of framing it.
  void prepare(httplib::Request& request) const;

  /// Reads the body through the library, at most `http.max_json_body_bytes`.
  void read_body(const httplib::ContentReader& reader);

  /// Answers the request in hand.
  void answer(httplib::Response& response);

  /// Answers what the library refused by itself, with a status of its choice.
  void answer_library_error(httplib::Response& response);

  /// The last word on the header fields of an answer, after the library's.
  void finish(const httplib::Request& request, httplib::Response& response, bool draining);

  /// Whether the connection ends after the present answer.
  [[nodiscard]] bool closes() const { return closes_; }

  SocketStream stream;

private:
  void put(const Outgoing& outgoing, httplib::Response& response);
  /// Writes an answer to bytes that the library is never shown.
  void write_directly(const Outgoing& outgoing);
  bool take_head(Head head);

  const HttpOptions& options_;
  std::unique_ptr<Conversation> conversation_;
  /// Asked for once: it does not change while the connection lives.
  const ClientAddress client_;
  Incoming incoming_;
  bool fresh_ = true;
  bool has_body_ = false;
  bool answered_ = false;
  bool closes_ = false;
};

/// An answer as bytes, for the places where the library has no say.
std::string serialize(const Outgoing& outgoing, bool encrypted);

} // namespace cleat::http
