#include "http/docs_yaml.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>

namespace cleat::http::docs {
namespace {

/// How long a list or an object may be to stand on one line.
constexpr std::size_t line_length = 90;

/// A chain of references longer than this is a circle.
constexpr int most_references = 16;

YAML::Node nothing() {
  return YAML::Node(YAML::NodeType::Undefined);
}

/// Whether a scalar is a number, a boolean or null. The tag of what stands in quotes or in a block is `!`.
bool is_literal(const YAML::Node& scalar) {
  static const std::regex literal(R"(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)");
  return scalar.Tag() != "!" && std::regex_match(scalar.Scalar(), literal);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> buffer{};
      std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned>(c));
      out += buffer.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// JSON on one line.
std::string flat(const YAML::Node& node) {
  if (node.IsScalar())
    return is_literal(node) ? node.Scalar() : quoted(node.Scalar());
  std::string out;
  if (node.IsMap()) {
    for (const auto& entry : node)
      out += (out.empty() ? "" : ", ") + quoted(text(entry.first)) + ": " + flat(entry.second);
    return "{" + out + "}";
  }
  if (node.IsSequence()) {
    for (const auto& item : node)
      out += (out.empty() ? "" : ", ") + flat(item);
    return "[" + out + "]";
  }
  return "null";
}

std::string indented(const YAML::Node& node, const std::string& indent, std::size_t before) {
  auto short_form = flat(node);
  if (node.IsScalar() || node.size() == 0 || (!indent.empty() && before + short_form.size() <= line_length))
    return short_form;
  const auto inner = indent + "  ";
  std::string out;
  for (const auto& entry : node) {
    out += (out.empty() ? "" : ",") + ("\n" + inner);
    if (node.IsMap()) {
      const auto name = quoted(text(entry.first)) + ": ";
      out += name + indented(entry.second, inner, inner.size() + name.size());
    } else {
      out += indented(entry, inner, inner.size());
    }
  }
  return (node.IsMap() ? "{" : "[") + out + "\n" + indent + (node.IsMap() ? "}" : "]");
}

/// yaml-cpp's own way of writing a node forgets which scalars were in quotes, which makes a boolean of `'true'`.
void emit(YAML::Emitter& out, const YAML::Node& node) {
  if (node.IsMap()) {
    if (node.Style() == YAML::EmitterStyle::Flow)
      out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& entry : node) {
      out << YAML::Key;
      emit(out, entry.first);
      out << YAML::Value;
      emit(out, entry.second);
    }
    out << YAML::EndMap;
  } else if (node.IsSequence()) {
    if (node.Style() == YAML::EmitterStyle::Flow)
      out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& item : node)
      emit(out, item);
    out << YAML::EndSeq;
  } else if (node.IsScalar()) {
    // What is taken for something else without quotes gets them back.
    static const std::regex other("|~|true|false|yes|no|on|off|null|[-+.0-9].*", std::regex::icase);
    if (node.Tag() == "!" && std::regex_match(node.Scalar(), other))
      out << YAML::DoubleQuoted;
    out << node.Scalar();
  } else {
    out << YAML::Null;
  }
}

/// `~1` and `~0` in a JSON pointer (RFC 6901).
std::string unescaped(std::string step) {
  for (const auto& [from, to] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}})
    for (auto at = step.find(from); at != std::string::npos; at = step.find(from, at + 1))
      step.replace(at, 2, to);
  return step;
}

YAML::Node pointed_at(const YAML::Node& node, std::string_view path) {
  if (path.empty())
    return node;
  path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  return pointed_at(member(node, unescaped(std::string(path.substr(0, end)))), path.substr(end));
}

} // namespace

YAML::Node member(const YAML::Node& node, std::string_view name) {
  if (!node.IsDefined() || !node.IsMap())
    return nothing();
  // The index operator of a constant node gives a node that throws when it is asked anything.
  const auto found = node[std::string(name)];
  return found.IsDefined() ? found : nothing();
}

std::string text(const YAML::Node& node) {
  return node.IsDefined() && node.IsScalar() ? node.Scalar() : std::string();
}

std::string text(const YAML::Node& node, std::string_view name) {
  return text(member(node, name));
}

YAML::Node resolve(const YAML::Node& document, const YAML::Node& node) {
  auto current = YAML::Node(node);
  for (int steps = 0; steps < most_references; ++steps) {
    const auto reference = member(current, "$ref");
    if (!reference.IsDefined())
      return current;
    const auto path = text(reference);
    if (!path.starts_with("#/"))
      return nothing();
    // Assigning would change the document: a node is a reference into it.
    current.reset(pointed_at(document, std::string_view(path).substr(1)));
  }
  return nothing();
}

std::string component_name(std::string_view kind, std::string_view reference) {
  const auto prefix = "#/components/" + std::string(kind) + "/";
  if (!reference.starts_with(prefix) || reference.find('/', prefix.size()) != std::string_view::npos)
    return {};
  return unescaped(std::string(reference.substr(prefix.size())));
}

std::string json(const YAML::Node& node) {
  return indented(node, "", 0);
}

std::string yaml(const Entries& entries) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const auto& [name, value] : entries) {
    out << YAML::Key << name << YAML::Value;
    emit(out, value);
  }
  out << YAML::EndMap;
  return out.c_str();
}

} // namespace cleat::http::docs
