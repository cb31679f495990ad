#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"

/// The rules of single fields (spec 03 section 9). Each answers what is wrong, or nothing.
namespace cleat::validate {

/// Text that people will see: valid UTF-8, no control and no bidirectional formatting characters.
std::optional<FieldCode> display_text(std::string_view text);

/// `external_session_ref`: not empty or only white space, display text, at most `max_bytes` bytes. Stored exactly
/// as sent, because the server does not interpret it.
std::optional<FieldCode> external_session_ref(std::string_view text, std::size_t max_bytes);

/// `model`: 1 to 128 characters, letters, digits and `._:/@-[]`, first a letter or digit.
std::optional<FieldCode> model(std::string_view text);

/// Names, titles and labels: display text of 1 to 200 characters that is not only white space.
std::optional<FieldCode> name(std::string_view text);

/// A currency: three upper-case letters (ISO 4217).
std::optional<FieldCode> currency(std::string_view text);

/// Content of a message, or what an agent says about a failure: not empty or only white space, valid UTF-8, no control
/// characters but tabs and line ends, at most `max_bytes` bytes.
std::optional<FieldCode> content(std::string_view text, std::size_t max_bytes);

/// The code of a failure: a word of lower-case letters, digits and underscores that begins with a letter, at most
/// `limits::failure_code_max_bytes` long.
std::optional<FieldCode> failure_code(std::string_view text);

/// A container's name: 1 to 63 lower-case letters, digits and `._-`, first and last a letter or digit.
std::optional<FieldCode> container_name(std::string_view text);

/// A secret's name, as environments have them: 1 to 64 upper-case letters, digits and underscores, first a letter.
std::optional<FieldCode> secret_name(std::string_view text);

/// A secret's value: anything but the zero character, at least one and at most `max_bytes` bytes.
std::optional<FieldCode> secret(std::string_view text, std::size_t max_bytes);

/// A line for an agent: without an end of line or a zero character in it, at most `max_bytes` bytes. It may be empty.
std::optional<FieldCode> line(std::string_view text, std::size_t max_bytes);

/// Whether a session in a container can have this id: 64 lower-case hexadecimal digits (spec 04 section 1).
bool is_session_id(std::string_view text);

/// Whether `text` is valid UTF-8 (no surrogates, no overlong forms, nothing over U+10FFFF).
bool valid_utf8(std::string_view text);

/// The text with `replacement` in the place of every byte that belongs to no character of UTF-8.
std::string replace_invalid_utf8(std::string_view text, std::string_view replacement);

} // namespace cleat::validate
