#include "http/constant_fields.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace cleat::http {
namespace {

std::string value_and_lines(bool encrypted, bool has_policy) {
  std::string text = "no-store\r\n"
                     "X-Content-Type-Options: nosniff\r\n"
                     "X-Frame-Options: DENY\r\n"
                     "Referrer-Policy: no-referrer\r\n"
                     "Cross-Origin-Resource-Policy: same-origin";
  if (!has_policy)
    text += "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'";
  // A year. Not for subdomains: they are not ours.
  if (encrypted)
    text += "\r\nStrict-Transport-Security: max-age=31536000";
  return text;
}

} // namespace

std::pair<std::string_view, std::string_view> ConstantFields::bytes() const {
  static const std::array texts{value_and_lines(false, false), value_and_lines(false, true),
                                value_and_lines(true, false), value_and_lines(true, true)};
  const auto index = std::size_t{encrypted ? 2U : 0U} + std::size_t{has_policy ? 1U : 0U};
  return {"Cache-Control", texts.at(index)};
}

} // namespace cleat::http
