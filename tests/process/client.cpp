#include "tests/process/client.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <httplib.h>

#include "tests/process/contract.hpp"

namespace cleat::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

} // namespace

std::string Response::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string Response::problem() const {
  if (!header("content-type").starts_with("application/problem+json"))
    return "";
  const Json body_json = json();
  return body_json["code"].string() + (body_json.has("reason") ? "/" + body_json["reason"].string() : "");
}

Headers Response::uniform_headers() const {
  Headers result = headers;
  for (const char* free : {"date", "x-request-id", "ratelimit", "ratelimit-policy"})
    result.erase(free);
  return result;
}

Client::Client(Endpoint endpoint, std::string token, std::chrono::milliseconds patience)
  : endpoint_(std::move(endpoint)),
    token_(std::move(token)),
    http_(std::make_unique<httplib::Client>((endpoint_.authority.empty() ? "http://" : "https://") + endpoint_.host +
                                            ":" + std::to_string(endpoint_.port))) {
  if (!endpoint_.authority.empty())
    http_->set_ca_cert_path(endpoint_.authority.c_str());
  http_->set_keep_alive(true);
  http_->set_tcp_nodelay(true);
  http_->set_connection_timeout(patience);
  http_->set_read_timeout(patience);
  http_->set_write_timeout(patience);
}

Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

std::optional<Response> Client::send(const std::string& method, const std::string& path,
                                     const std::optional<std::string>& body, const Headers& headers) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  if (!token_.empty())
    request.headers.emplace("Authorization", "Bearer " + token_);
  if (body) {
    request.body = *body;
    if (!headers.contains("Content-Type"))
      request.headers.emplace("Content-Type", "application/json");
  }
  for (const auto& [name, value] : headers)
    request.headers.emplace(name, value);
  const auto result = http_->send(request);
  may_have_arrived_ = result.error() != httplib::Error::Connection;
  if (!result)
    return std::nullopt;
  Response response{result->status, result->body, {}};
  for (const auto& [name, value] : result->headers)
    response.headers.emplace(lower(name), value);
  record_answer({method, path, body}, response);
  return response;
}

Response Client::expect(const std::string& method, const std::string& path, const std::optional<std::string>& body,
                        const Headers& headers) {
  auto response = send(method, path, body, headers);
  if (!response)
    throw std::runtime_error("no answer to " + method + " " + path);
  return std::move(*response);
}

Response Client::get(const std::string& path, const Headers& headers) {
  return expect("GET", path, std::nullopt, headers);
}

Response Client::post(const std::string& path, const std::string& body, const Headers& headers) {
  return expect("POST", path, body, headers);
}

Response Client::patch(const std::string& path, const std::string& body, const Headers& headers) {
  return expect("PATCH", path, body, headers);
}

Response Client::put(const std::string& path, const std::string& body, const Headers& headers) {
  return expect("PUT", path, body, headers);
}

Response Client::del(const std::string& path, const Headers& headers) {
  return expect("DELETE", path, std::nullopt, headers);
}

} // namespace cleat::test
