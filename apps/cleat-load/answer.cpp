#include "apps/cleat-load/answer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>

#include <simdjson.h>

namespace cleat::load {
namespace {

constexpr std::size_t first_capacity = 16 << 10;
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

[[noreturn]] void fail(std::string_view what) {
  throw std::runtime_error("The server sent no HTTP answer that is understood here: " + std::string(what));
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    fail("a number is missing");
  return value;
}

} // namespace

AnswerBuffer::AnswerBuffer() : bytes_(first_capacity) {}

std::span<char> AnswerBuffer::space(std::size_t room) {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t needed = end_ + room + simdjson::SIMDJSON_PADDING;
  if (bytes_.size() < needed)
    bytes_.resize(std::max(needed, bytes_.size() * 2));
  return std::span(bytes_).subspan(end_, bytes_.size() - end_ - simdjson::SIMDJSON_PADDING);
}

std::optional<Answer> AnswerBuffer::peek() {
  const std::string_view waiting(bytes_.data() + begin_, end_ - begin_);
  if (head_size_ == 0) {
    const auto end = waiting.find(head_end);
    if (end == std::string_view::npos)
      return std::nullopt;
    head_size_ = end + head_end.size();
    read_head(waiting.substr(0, end));
  }
  if (waiting.size() < head_size_ + body_size_)
    return std::nullopt;
  // Views are made last, because `space` moves the bytes.
  answer_.etag = waiting.substr(etag_at_, etag_size_);
  answer_.body = waiting.substr(head_size_, body_size_);
  return answer_;
}

void AnswerBuffer::drop() {
  begin_ += head_size_ + body_size_;
  head_size_ = 0;
}

void AnswerBuffer::read_head(std::string_view head) {
  constexpr std::string_view version = "HTTP/1.1 ";
  constexpr std::size_t status_digits = 3;
  if (!head.starts_with(version) || head.size() < version.size() + status_digits)
    fail("the status line is wrong");
  answer_ = Answer{};
  answer_.status = static_cast<int>(number(head.substr(version.size(), status_digits)));
  body_size_ = 0;
  etag_at_ = 0;
  etag_size_ = 0;
  has_length_ = false;
  for (auto at = head.find(line_end); at < head.size();) {
    const auto from = at + line_end.size();
    at = std::min(head.find(line_end, from), head.size());
    read_field(head, from, at);
  }
  constexpr int no_content = 204;
  if (!has_length_ && answer_.status != no_content)
    fail("Content-Length is missing");
}

void AnswerBuffer::read_field(std::string_view head, std::size_t from, std::size_t to) {
  const auto line = head.substr(from, to - from);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos)
    fail("a header line has no colon");
  const auto name = line.substr(0, colon);
  auto value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (same(name, "Content-Length")) {
    body_size_ = number(value);
    has_length_ = true;
  } else if (same(name, "ETag")) {
    etag_size_ = value.size();
    etag_at_ = static_cast<std::size_t>(value.data() - head.data());
  } else if (same(name, "Connection")) {
    answer_.closes = same(value, "close");
  } else if (same(name, "Transfer-Encoding")) {
    fail("Transfer-Encoding is in use");
  }
}

} // namespace cleat::load
