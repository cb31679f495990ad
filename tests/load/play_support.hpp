#pragma once

#include <algorithm>
#include <string>

#include "apps/cleat-load/play.hpp"

/// What tests of plays have in common.
namespace cleat::load {

/// An answer as bytes.
inline std::string http(int status, const std::string& etag, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " \r\nETag: " + etag +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Lets a play see an answer as if it came from a server.
inline Kind see(Play& play, const std::string& bytes) {
  AnswerBuffer buffer;
  std::copy(bytes.begin(), bytes.end(), buffer.space(bytes.size()).begin());
  buffer.filled(bytes.size());
  return play.check(*buffer.peek());
}

/// A member of a request's body, as text between quotes.
inline std::string member(const Request& request, const std::string& name) {
  const auto at = request.body.find("\"" + name + "\":\"");
  if (at == std::string::npos)
    return {};
  const auto start = at + name.size() + 4;
  return request.body.substr(start, request.body.find('"', start) - start);
}

} // namespace cleat::load
