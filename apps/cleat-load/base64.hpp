#pragma once

#include <string>
#include <string_view>

namespace cleat::load {

/// Base64 with padding (RFC 4648 section 4), as etcd's JSON gateway wants keys and values.
std::string to_base64(std::string_view bytes);

} // namespace cleat::load
