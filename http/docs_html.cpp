#include "http/docs_html.hpp"

#include <algorithm>
#include <utility>

namespace cleat::http::docs {
namespace {

constexpr std::string_view bullet = "- ";

/// Builds paragraphs and lists from lines.
class Prose {
public:
  void line(std::string_view text) {
    const auto indent = std::min(text.find_first_not_of(' '), text.size());
    const auto content = text.substr(indent);
    if (content.empty())
      return empty_line();
    if (content.starts_with(bullet)) {
      end_paragraph();
      if (!m_list)
        m_html += "<ul>\n";
      m_list = true;
      m_indent = indent + bullet.size();
      m_text = content.substr(bullet.size());
      return;
    }
    // What is not indented below an item is no part of it.
    if (m_list && indent < m_indent)
      end_list();
    append(text.substr(m_list ? m_indent : 0));
  }

  std::string finish() {
    end_list();
    return std::move(m_html);
  }

private:
  void append(std::string_view text) {
    if (!m_text.empty())
      m_text += '\n';
    m_text += text;
  }

  /// An item goes on below an empty line if that is indented like it, a paragraph does not.
  void empty_line() {
    if (m_list)
      m_text += '\n';
    else
      end_paragraph();
  }

  void end_paragraph() {
    while (m_text.ends_with('\n'))
      m_text.pop_back();
    if (m_text.empty())
      return;
    const std::string_view element = m_list ? "li" : "p";
    m_html.append("<").append(element).append(">").append(phrase(m_text)).append("</").append(element).append(">\n");
    m_text.clear();
  }

  void end_list() {
    end_paragraph();
    if (m_list)
      m_html += "</ul>\n";
    m_list = false;
  }

  std::string m_html;
  std::string m_text;
  std::size_t m_indent = 0;
  bool m_list = false;
};

} // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string code(std::string_view text) {
  return "<code>" + escape(text) + "</code>";
}

std::string preformatted(std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return "<pre>" + escape(text) + "</pre>\n";
}

std::string link(std::string_view anchor, std::string_view html) {
  return "<a href=\"#" + escape(anchor) + "\">" + std::string(html) + "</a>";
}

std::string phrase(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto begin = text.find('`');
    const auto end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    // A backtick without a second one, and two without anything between them, are only characters.
    if (end == std::string_view::npos)
      return out + escape(text);
    out += escape(text.substr(0, begin));
    const auto quoted = text.substr(begin + 1, end - begin - 1);
    out += quoted.empty() ? "``" : code(quoted);
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string prose(std::string_view text) {
  Prose out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out.finish();
}

std::string cell(std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return text.find('\n') == std::string_view::npos ? phrase(text) : prose(text);
}

std::string heading(std::string_view level, std::string_view anchor, std::string_view html) {
  const std::string element(level);
  return "<" + element + " id=\"" + escape(anchor) + "\">" + std::string(html) + "</" + element + ">\n";
}

} // namespace cleat::http::docs
