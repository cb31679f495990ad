#include "http/docs_type.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "http/docs_html.hpp"
#include "http/docs_yaml.hpp"

namespace cleat::http::docs {
namespace {

using Parts = std::vector<std::string>;

constexpr std::array<std::pair<const char*, const char*>, 3> combinations{
  {{"oneOf", "one of "}, {"anyOf", "any of "}, {"allOf", "all of "}}};

std::string joined(const Parts& parts, std::string_view separator = ", ") {
  std::string out;
  for (const auto& part : parts)
    out += (out.empty() ? "" : std::string(separator)) + part;
  return out;
}

/// A value as `<code>`. A text without characters needs its quotes to be seen.
std::string value(const YAML::Node& node) {
  if (!node.IsScalar())
    return code(json(node));
  return code(node.Scalar().empty() ? "\"\"" : node.Scalar());
}

/// Whether `type_of` says everything about a schema.
bool is_said(const YAML::Node& schema) {
  if (!schema.IsMap())
    return true;
  const bool names_a_type = std::ranges::any_of(std::array{"$ref", "type", "const", "enum", "oneOf", "anyOf", "allOf"},
                                                [&](const char* key) { return member(schema, key).IsDefined(); });
  const bool needs_more = std::ranges::any_of(std::array{"properties", "required", "description"},
                                              [&](const char* key) { return member(schema, key).IsDefined(); });
  return names_a_type && !needs_more && unsaid(schema).empty();
}

/// Whether a member holds schemas that can be enumerated in a sentence; otherwise it is a condition.
bool is_enumerable(const YAML::Node& variants) {
  return variants.IsDefined() && variants.IsSequence() && variants.size() > 0 &&
         std::all_of(variants.begin(), variants.end(), [](const YAML::Node& variant) { return is_said(variant); });
}

/// The phrase for a minimum and a maximum of things; empty when there is neither.
std::string range(const YAML::Node& schema, const char* least, const char* most, const std::string& thing) {
  const auto low = text(schema, least);
  const auto high = text(schema, most);
  if (low.empty() && high.empty())
    return {};
  const auto& last = high.empty() ? low : high;
  const auto unit = thing.empty() ? thing : " " + thing + (last == "1" ? "" : "s");
  const auto first = high.empty() ? "at least " : low.empty() ? "at most " : low == high ? "" : low + " to ";
  return escape(first + last) + unit;
}

std::string type_name(const YAML::Node& schema) {
  const auto type = member(schema, "type");
  std::string out;
  if (type.IsDefined() && type.IsSequence())
    for (const auto& name : type)
      out += (out.empty() ? "" : " or ") + code(text(name));
  else if (const auto name = text(type); !name.empty())
    out = code(name);
  if (const auto format = text(schema, "format"); !out.empty() && !format.empty())
    out += " (" + escape(format) + ")";
  return out;
}

std::string list_of(const YAML::Node& document, const YAML::Node& items) {
  const auto words = type_of(document, items);
  return (words.find(", ") == std::string::npos ? "list of " : "list, each ") + words;
}

std::string object_of(const YAML::Node& document, const YAML::Node& schema) {
  const auto others = member(schema, "additionalProperties");
  if (others.IsDefined() && others.IsMap())
    return "<code>object</code>, each other member " + type_of(document, others);
  if (member(schema, "properties").IsDefined())
    return text(others) == "true" ? "<code>object</code> with any other members" : "<code>object</code>";
  return text(others) == "false" ? "<code>object</code> without members" : "<code>object</code> with any members";
}

/// What values there are: references, constants, enumerations, combinations, or else the type.
Parts values_of(const YAML::Node& document, const YAML::Node& schema) {
  Parts parts;
  if (const auto reference = text(schema, "$ref"); !reference.empty())
    parts.push_back(schema_link(document, reference));
  if (const auto constant = member(schema, "const"); constant.IsDefined())
    parts.push_back("always " + value(constant));
  if (const auto values = member(schema, "enum"); values.IsDefined() && values.IsSequence()) {
    Parts names;
    std::transform(values.begin(), values.end(), std::back_inserter(names), value);
    parts.push_back((names.size() == 1 ? "only " : "one of ") + joined(names));
  }
  for (const auto& [key, words] : combinations)
    if (const auto variants = member(schema, key); is_enumerable(variants)) {
      Parts names;
      for (const auto& variant : variants)
        names.push_back(type_of(document, variant));
      parts.push_back((names.size() == 1 ? "" : words) + joined(names));
    }
  const auto type = text(schema, "type");
  if (const auto items = member(schema, "items"); items.IsDefined() || type == "array")
    parts.push_back(list_of(document, items));
  else if (type == "object" || (type.empty() && member(schema, "properties").IsDefined())) {
    // An object that is one of several others is described there.
    if (parts.empty() || member(schema, "properties").IsDefined())
      parts.push_back(object_of(document, schema));
  } else if (const auto name = type_name(schema); !name.empty() && (parts.empty() || type != "string"))
    parts.insert(parts.begin(), name);
  if (parts.empty())
    parts.emplace_back("any value");
  return parts;
}

/// What narrows the values down.
Parts limits_of(const YAML::Node& schema) {
  Parts parts{range(schema, "minimum", "maximum", ""), range(schema, "minLength", "maxLength", "character"),
              range(schema, "minItems", "maxItems", "item"), range(schema, "minProperties", "maxProperties", "member")};
  if (const auto bound = text(schema, "exclusiveMinimum"); !bound.empty())
    parts.push_back("above " + escape(bound));
  if (const auto bound = text(schema, "exclusiveMaximum"); !bound.empty())
    parts.push_back("below " + escape(bound));
  if (const auto step = text(schema, "multipleOf"); !step.empty())
    parts.push_back("a multiple of " + escape(step));
  if (text(schema, "uniqueItems") == "true")
    parts.emplace_back("without duplicates");
  if (const auto pattern = text(schema, "pattern"); !pattern.empty())
    parts.push_back("matches <code class=\"long\">" + escape(pattern) + "</code>");
  if (const auto format = text(schema, "format"); !format.empty() && type_name(schema).empty())
    parts.push_back("format " + escape(format));
  if (const auto preset = member(schema, "default"); preset.IsDefined())
    parts.push_back("default " + value(preset));
  for (const auto& [key, words] : {std::pair{"readOnly", "only in answers"}, std::pair{"writeOnly", "only in requests"},
                                   std::pair{"deprecated", "deprecated"}})
    if (text(schema, key) == "true")
      parts.emplace_back(words);
  std::erase(parts, "");
  return parts;
}

} // namespace

std::string type_of(const YAML::Node& document, const YAML::Node& schema) {
  if (!schema.IsDefined() || !schema.IsMap())
    return text(schema) == "false" ? "nothing" : "any value";
  auto parts = values_of(document, schema);
  for (auto& limit : limits_of(schema))
    parts.push_back(std::move(limit));
  return joined(parts);
}

std::string schema_link(const YAML::Node& document, std::string_view reference) {
  const auto name = component_name("schemas", reference);
  const auto known = member(member(member(document, "components"), "schemas"), name).IsDefined();
  return known ? link(name, escape(name)) : code(reference.substr(reference.rfind('/') + 1));
}

Entries unsaid(const YAML::Node& schema) {
  static const std::set<std::string, std::less<>> said{"$ref",
                                                       "additionalProperties",
                                                       "const",
                                                       "default",
                                                       "deprecated",
                                                       "description",
                                                       "discriminator",
                                                       "enum",
                                                       "example",
                                                       "examples",
                                                       "exclusiveMaximum",
                                                       "exclusiveMinimum",
                                                       "format",
                                                       "items",
                                                       "maxItems",
                                                       "maxLength",
                                                       "maxProperties",
                                                       "maximum",
                                                       "minItems",
                                                       "minLength",
                                                       "minProperties",
                                                       "minimum",
                                                       "multipleOf",
                                                       "pattern",
                                                       "properties",
                                                       "readOnly",
                                                       "required",
                                                       "type",
                                                       "uniqueItems",
                                                       "writeOnly"};
  Entries rest;
  if (!schema.IsMap())
    return rest;
  for (const auto& entry : schema) {
    const auto key = text(entry.first);
    const bool combination = std::ranges::any_of(combinations, [&](const auto& known) { return key == known.first; });
    if (!said.contains(key) && !(combination && is_enumerable(entry.second)))
      rest.emplace_back(key, entry.second);
  }
  return rest;
}

} // namespace cleat::http::docs
