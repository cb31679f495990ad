#include "http/connection.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/crash_points.hpp"
#include "http/constant_fields.hpp"

namespace cleat::http {
namespace {

/// The methods that the library parses; others are answered before it sees them.
constexpr std::array<std::string_view, 10> library_methods{"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                                           "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"};
/// The ones that it hands to a handler together with a body.
constexpr std::array<std::string_view, 4> body_methods{"POST", "PUT", "PATCH", "DELETE"};
/// The ones that it hands to a handler at all.
constexpr std::array<std::string_view, 3> bodiless_methods{"GET", "HEAD", "OPTIONS"};

template <class List>
bool contains(const List& list, std::string_view value) {
  return std::ranges::find(list, value) != list.end();
}

ConstantFields constant_fields(const Outgoing& outgoing, bool encrypted) {
  return {encrypted, std::ranges::any_of(outgoing.headers, [](const auto& field) {
            return same_name(field.first, "Content-Security-Policy");
          })};
}

} // namespace

std::string serialize(const Outgoing& outgoing, bool encrypted) {
  // The reason phrase may be empty, its separating space may not (RFC 9112 section 4).
  auto bytes = "HTTP/1.1 " + std::to_string(outgoing.status) + " \r\n";
  const auto field = [&bytes](std::string_view name, std::string_view value) {
    bytes.append(name).append(": ").append(value).append("\r\n");
  };
  for (const auto& [name, value] : outgoing.headers)
    field(name, value);
  const auto [constant, others] = constant_fields(outgoing, encrypted).bytes();
  field(constant, others);
  if (!outgoing.content_type.empty())
    field("Content-Type", outgoing.content_type);
  field("Content-Length", std::to_string(outgoing.body.size()));
  field("Connection", "close");
  return bytes + "\r\n" + outgoing.body;
}

bool Connection::next_request() {
  if (answered_)
    crash_point(CrashPoint::answer_written);
  // A client that connects and says nothing is given less time than one that has asked before.
  const auto patience = std::exchange(fresh_, false) ? options_.read_timeout : options_.keep_alive;
  if (closes_ || !stream.wait_for_request(patience))
    return false;
  const auto deadline = SocketStream::Clock::now() + options_.read_timeout;
  switch (stream.read_head(options_.max_header_bytes, deadline)) {
    case SocketStream::HeadStatus::closed:
      return false;
    case SocketStream::HeadStatus::too_large:
      write_directly(conversation_->fault(Code::headers_too_large));
      return false;
    case SocketStream::HeadStatus::complete:
      break;
  }
  auto head = parse_head(stream.head());
  if (head)
    return take_head(std::move(*head));
  write_directly(conversation_->fault(head.error().code));
  return false;
}

bool Connection::take_head(Head head) {
  incoming_ = Incoming{std::move(head.method), std::move(head.target), std::move(head.headers), {}};
  incoming_.client = client_;
  has_body_ = head.has_body;
  answered_ = false;
  closes_ = !head.keep_alive;
  if (!contains(library_methods, incoming_.method)) {
    write_directly(conversation_->answer(incoming_, stream));
    return false;
  }
  // Chunks bring lines of their own along; twice the body's limit leaves room for every sensible encoding.
  stream.set_budget(stream.head().size() + 2 * options_.max_json_body_bytes);
  return true;
}

void Connection::prepare(httplib::Request& request) const {
  // One pattern for every path: the library's own routing tries regular expressions one after the other.
  request.path = "/";
  request.ranges.clear();
  for (const char* name : {"Accept-Encoding", "Content-Encoding", "Content-Type", "Range"})
    request.headers.erase(name);
  // Without a length the library would read until the client closes.
  if (values_of(incoming_.headers, "Content-Length").empty() &&
      values_of(incoming_.headers, "Transfer-Encoding").empty())
    request.headers.emplace("Content-Length", "0");
  if (!contains(body_methods, request.method) && !contains(bodiless_methods, request.method))
    request.method = "OPTIONS";
}

void Connection::read_body(const httplib::ContentReader& reader) {
  const bool complete = reader([this](const char* data, std::size_t size) {
    if (incoming_.body.size() + size > options_.max_json_body_bytes) {
      incoming_.body_state = BodyState::too_large;
      return false;
    }
    incoming_.body.append(data, size);
    return true;
  });
  if (!complete && incoming_.body_state == BodyState::complete) {
    const auto lengths = values_of(incoming_.headers, "Content-Length");
    const bool announced_too_much =
      !lengths.empty() && std::stoull(std::string(lengths[0])) > options_.max_json_body_bytes;
    incoming_.body_state = announced_too_much ? BodyState::too_large : BodyState::broken;
  }
  if (incoming_.body_state != BodyState::complete)
    incoming_.body.clear();
  // The library leaves a chunked body at the first thing that it does not understand, so what follows is uncertain.
  if (!complete || !values_of(incoming_.headers, "Transfer-Encoding").empty())
    closes_ = true;
}

void Connection::answer(httplib::Response& response) {
  if (!contains(body_methods, incoming_.method) && has_body_)
    closes_ = true; // The library does not read this body, and it must not be taken for the next request.
  put(conversation_->answer(incoming_, stream), response);
  crash_point(CrashPoint::answer_made);
}

void Connection::answer_library_error(httplib::Response& response) {
  if (answered_)
    return;
  const auto code = response.status == 413   ? Code::payload_too_large
                    : response.status == 414 ? Code::uri_too_long
                    : response.status < 500  ? Code::bad_request
                                             : Code::internal;
  closes_ = true;
  put(conversation_->fault(code), response);
}

void Connection::put(const Outgoing& outgoing, httplib::Response& response) {
  answered_ = true;
  closes_ = closes_ || outgoing.close;
  response.status = outgoing.status;
  response.headers.clear();
  for (const auto& [name, value] : outgoing.headers)
    response.set_header(name, value);
  // Several fields as one, which the library writes as it stands; its `set_header` would not take line breaks.
  const auto [constant, others] = constant_fields(outgoing, options_.encrypts()).bytes();
  response.headers.emplace(constant, others);
  if (outgoing.follow)
    response.set_content_provider(outgoing.content_type, [this, follow = outgoing.follow](std::size_t, auto& sink) {
      // Past the library, which would hold bytes back and knows nothing of clients that are slow or gone.
      follow(stream);
      sink.done();
      return true;
    });
  else if (!outgoing.content_type.empty())
    response.set_content(outgoing.body, outgoing.content_type);
}

void Connection::finish(const httplib::Request& request, httplib::Response& response, bool draining) {
  closes_ = closes_ || draining;
  response.headers.erase("Keep-Alive");
  response.headers.erase("Accept-Ranges");
  response.headers.erase("Connection");
  if (closes_)
    response.set_header("Connection", "close");
  else if (request.version == "HTTP/1.0")
    response.set_header("Connection", "keep-alive");
  constexpr int no_content = 204;
  if (response.status == no_content)
    response.headers.erase("Content-Length");
}

void Connection::write_directly(const Outgoing& outgoing) {
  const auto bytes = serialize(outgoing, options_.encrypts());
  stream.write(bytes.data(), bytes.size());
  closes_ = true;
}

} // namespace cleat::http
