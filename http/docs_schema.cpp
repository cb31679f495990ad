#include "http/docs_schema.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "http/docs_html.hpp"
#include "http/docs_type.hpp"
#include "http/docs_yaml.hpp"

namespace cleat::http::docs {
namespace {

/// Whether a keyword holds schemas that a value has to meet, rather than being some extension.
bool is_condition(std::string_view key) {
  constexpr std::array<std::string_view, 8> words{"if",    "then",  "else",  "not",
                                                  "oneOf", "anyOf", "allOf", "dependentRequired"};
  return std::ranges::find(words, key) != words.end();
}

/// The keywords that have no words of their own, as YAML under a title.
std::string conditions(const YAML::Node& schema) {
  Entries known;
  Entries others;
  for (auto& entry : unsaid(schema))
    (is_condition(entry.first) ? known : others).push_back(std::move(entry));
  std::string out;
  if (!known.empty())
    out += "<p class=\"label\">Conditions</p>\n" + preformatted(yaml(known));
  if (!others.empty())
    out += "<p class=\"label\">Also</p>\n" + preformatted(yaml(others));
  return out;
}

/// The rows of a table of members, those of objects inside it below their owner as `owner.member`.
class MemberRows {
public:
  explicit MemberRows(const YAML::Node& document) : m_document(document) {}

  void add(const YAML::Node& schema, const std::string& prefix) {
    std::set<std::string> required;
    for (const auto& name : member(schema, "required"))
      required.insert(text(name));
    for (const auto& entry : member(schema, "properties")) {
      const auto name = text(entry.first);
      row(prefix + name, entry.second, required.erase(name) != 0 ? "yes" : "");
    }
    // What is required without being described.
    for (const auto& name : required)
      row(prefix + name, YAML::Node(YAML::NodeType::Map), "yes");
  }

  /// Items and other members get a row of their own only if there is more to say about them than their type.
  void inner(const std::string& path, const YAML::Node& schema) {
    if (!schema.IsDefined() || !schema.IsMap())
      return;
    if (member(schema, "description").IsDefined() || !unsaid(schema).empty())
      return row(path, schema, "");
    add(schema, path + ".");
    inner(path + "[]", member(schema, "items"));
    inner(path + ".*", member(schema, "additionalProperties"));
  }

  std::string html;

private:
  void row(const std::string& path, const YAML::Node& schema, std::string_view required) {
    html += "<tr><td>" + code(path) + "</td><td>" + type_of(m_document, schema) + "</td><td>" + std::string(required) +
            "</td><td>" + cell(text(schema, "description")) + short_examples(schema) + conditions(schema) +
            "</td></tr>\n";
    add(schema, path + ".");
    inner(path + "[]", member(schema, "items"));
    inner(path + ".*", member(schema, "additionalProperties"));
  }

  const YAML::Node& m_document;
};

std::string members(const YAML::Node& document, const YAML::Node& schema) {
  MemberRows rows(document);
  rows.add(schema, "");
  rows.inner("[]", member(schema, "items"));
  rows.inner("*", member(schema, "additionalProperties"));
  if (rows.html.empty())
    return {};
  return "<table><tr><th>member</th><th>type</th><th>required</th><th>description</th></tr>\n" + rows.html +
         "</table>\n";
}

std::string discriminator_row(const YAML::Node& document, const std::string& value, const std::string& reference) {
  YAML::Node target(YAML::NodeType::Map);
  target["$ref"] = reference;
  return "<tr><td>" + code(value) + "</td><td>" + schema_link(document, reference) + "</td><td>" +
         cell(text(resolve(document, target), "description")) + "</td></tr>\n";
}

/// A table from the values of a discriminator to schemas. A schema that no value is given for goes by its name.
std::string discriminator(const YAML::Node& document, const YAML::Node& schema) {
  const auto node = member(schema, "discriminator");
  std::set<std::string> mapped;
  std::string rows;
  for (const auto& entry : member(node, "mapping")) {
    auto reference = text(entry.second);
    if (reference.find('/') == std::string::npos)
      reference.insert(0, "#/components/schemas/");
    rows += discriminator_row(document, text(entry.first), reference);
    mapped.insert(reference);
  }
  for (const auto* key : {"oneOf", "anyOf"})
    for (const auto& variant : member(schema, key))
      if (const auto reference = text(variant, "$ref"); !reference.empty() && !mapped.contains(reference))
        rows += discriminator_row(document, reference.substr(reference.rfind('/') + 1), reference);
  const auto name = text(node, "propertyName");
  if (name.empty() || rows.empty())
    return {};
  return "<table><tr><th>" + code(name) + "</th><th>schema</th><th>description</th></tr>\n" + rows + "</table>\n";
}

} // namespace

std::string short_examples(const YAML::Node& owner) {
  std::string out;
  const auto add = [&out](const YAML::Node& value) {
    out += value.IsScalar() ? "<p class=\"example\">Example: " + code(value.Scalar()) + "</p>\n"
                            : "<p class=\"label\">Example</p>\n" + preformatted(json(value));
  };
  if (const auto example = member(owner, "example"); example.IsDefined())
    add(example);
  const auto examples = member(owner, "examples");
  if (examples.IsDefined() && examples.IsSequence())
    for (const auto& example : examples)
      add(example);
  if (examples.IsDefined() && examples.IsMap())
    for (const auto& entry : examples)
      if (const auto value = member(entry.second, "value"); value.IsDefined())
        add(value);
  return out;
}

std::string schema_details(const YAML::Node& document, const YAML::Node& schema) {
  return prose(text(schema, "description")) + discriminator(document, schema) + members(document, schema) +
         conditions(schema) + short_examples(schema);
}

std::string schema_section(const YAML::Node& document, std::string_view name, const YAML::Node& schema) {
  auto out = heading("h3", name, escape(name));
  // The table of members says that it is an object, the one of a discriminator which others it may be.
  const auto type = type_of(document, schema);
  if (type != "<code>object</code>" && discriminator(document, schema).empty())
    out += "<p class=\"type\">" + type + "</p>\n";
  return out + schema_details(document, schema);
}

} // namespace cleat::http::docs
