#pragma once

#include <string>
#include <string_view>

namespace cleat::http::docs {

/// Text as HTML, in an element or in a quoted attribute.
std::string escape(std::string_view text);

/// `<code>` around text.
std::string code(std::string_view text);

/// `<pre>` around text.
std::string preformatted(std::string_view text);

/// A link to an anchor of the same page; `html` is what it shows.
std::string link(std::string_view anchor, std::string_view html);

/// One line of prose: what stands between backticks becomes `<code>`.
std::string phrase(std::string_view text);

/// Prose of several lines: paragraphs, lists whose items begin with `- `, and `<code>` for backticks. Line breaks and
/// spaces inside a paragraph stay as they are written, for a style that keeps them.
std::string prose(std::string_view text);

/// Prose for a cell of a table: of one line when it has only one.
std::string cell(std::string_view text);

/// A heading that is an anchor; `level` is its element, `h2` for example.
std::string heading(std::string_view level, std::string_view anchor, std::string_view html);

} // namespace cleat::http::docs
