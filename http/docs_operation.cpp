#include "http/docs_operation.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "http/docs_html.hpp"
#include "http/docs_schema.hpp"
#include "http/docs_type.hpp"
#include "http/docs_yaml.hpp"

namespace cleat::http::docs {
namespace {

bool is_json(std::string_view media_type) {
  return media_type == "application/json" || media_type == "application/problem+json";
}

/// "a" or "an" before the name of a schema.
std::string article(std::string_view reference) {
  constexpr std::string_view vowels = "AEIOUaeiou";
  const auto begin = reference.rfind('/') + 1;
  return begin < reference.size() && vowels.find(reference[begin]) != std::string_view::npos ? "an " : "a ";
}

/// What a body of one media type is. A stream is its items, whose schema OpenAPI 3.1 has no place for.
std::string body_type(const YAML::Node& document, const std::string& media_type, const YAML::Node& media) {
  const auto schema = member(media, "schema");
  const auto item = member(media, "x-item-schema");
  if (!item.IsDefined())
    return type_of(document, schema);
  const auto reference = text(item, "$ref");
  return (media_type == "text/event-stream" ? "events, each " : "items, each ") +
         (reference.empty() ? "" : article(reference)) + type_of(document, item);
}

/// The bodies of a request or an answer, each a line. JSON is what the reader expects; other media types are named,
/// and then JSON next to them is too.
std::string bodies(const YAML::Node& document, const YAML::Node& owner) {
  const auto content = member(owner, "content");
  bool named = false;
  for (const auto& entry : content)
    named = named || !is_json(text(entry.first));
  std::string out;
  for (const auto& entry : content) {
    const auto media_type = text(entry.first);
    out += "<div>" + (named ? code(media_type) + ": " : "") + body_type(document, media_type, entry.second) +
           "</div>\n" + schema_details(document, member(entry.second, "schema"));
  }
  return out;
}

std::string example(const std::string& title, const std::string& media_type, const YAML::Node& value) {
  const bool as_text = value.IsScalar() && !media_type.ends_with("json");
  return "<p class=\"label\">" + title + "</p>\n" + preformatted(as_text ? value.Scalar() : json(value));
}

/// The examples of the bodies of a request or an answer.
std::string body_examples(const YAML::Node& owner, const std::string& what) {
  const auto content = member(owner, "content");
  std::string out;
  for (const auto& entry : content) {
    const auto media_type = text(entry.first);
    const auto title = "Example" + what + (content.size() > 1 || !is_json(media_type) ? " as " + code(media_type) : "");
    if (const auto value = member(entry.second, "example"); value.IsDefined())
      out += example(title, media_type, value);
    for (const auto& named : member(entry.second, "examples")) {
      const auto summary = text(named.second, "summary");
      const auto name = summary.empty() ? code(text(named.first)) : phrase(summary);
      if (const auto value = member(named.second, "value"); value.IsDefined())
        out += example(std::string(title).append(": ").append(name), media_type, value);
    }
  }
  return out;
}

/// The parameters of an operation, those in its path first. What it describes itself counts more than what the path
/// says for all of its operations.
std::vector<YAML::Node> parameters_of(const YAML::Node& document, const Operation& operation) {
  std::vector<YAML::Node> found;
  std::set<std::pair<std::string, std::string>> keys;
  for (const auto& owner : {operation.node, operation.item})
    for (const auto& reference : member(owner, "parameters"))
      if (const auto parameter = resolve(document, reference);
          keys.emplace(text(parameter, "in"), text(parameter, "name")).second)
        found.push_back(parameter);
  // Two passes, because an algorithm that assigns nodes to each other would write into the document.
  std::vector<YAML::Node> sorted;
  for (const bool in_path : {true, false})
    std::ranges::copy_if(found, std::back_inserter(sorted),
                         [&](const auto& it) { return (text(it, "in") == "path") == in_path; });
  return sorted;
}

/// The type of a parameter. The values of a named enumeration are what a reader wants to see right here.
std::string parameter_type(const YAML::Node& document, const YAML::Node& schema) {
  const auto target = resolve(document, schema);
  const bool is_named_enum = member(schema, "$ref").IsDefined() && member(target, "enum").IsDefined();
  return type_of(document, schema) + (is_named_enum ? ", " + type_of(document, target) : "");
}

std::string parameters(const YAML::Node& document, const Operation& operation) {
  std::string rows;
  for (const auto& parameter : parameters_of(document, operation)) {
    const auto schema = member(parameter, "schema");
    rows += "<tr><td>" + code(text(parameter, "name")) + "</td><td>" + escape(text(parameter, "in")) + "</td><td>" +
            (schema.IsDefined() ? parameter_type(document, schema) : bodies(document, parameter)) +
            (text(parameter, "deprecated") == "true" ? ", deprecated" : "") + "</td><td>" +
            (text(parameter, "required") == "true" ? "yes" : "") + "</td><td>" + cell(text(parameter, "description")) +
            short_examples(parameter) + schema_details(document, schema) + "</td></tr>\n";
  }
  if (rows.empty())
    return {};
  return "<table><tr><th>parameter</th><th>in</th><th>type</th><th>required</th><th>description</th></tr>\n" + rows +
         "</table>\n";
}

std::string request_body(const YAML::Node& document, const Operation& operation) {
  const auto reference = member(operation.node, "requestBody");
  if (!reference.IsDefined())
    return {};
  const auto body = resolve(document, reference);
  return "<p class=\"label\">Body" + std::string(text(body, "required") == "true" ? "" : ", optional") + "</p>\n" +
         bodies(document, body) + prose(text(body, "description")) + body_examples(body, "");
}

/// The headers of an answer. Those that stand in the components are links to their section.
std::string headers(const YAML::Node& document, const YAML::Node& response) {
  std::string out;
  for (const auto& entry : member(response, "headers")) {
    const auto name = code(text(entry.first));
    const auto component = component_name("headers", text(entry.second, "$ref"));
    const auto header = resolve(document, entry.second);
    out += out.empty() ? "" : ", ";
    if (!component.empty() && header.IsDefined()) {
      out += link(header_anchor(component), name);
      continue;
    }
    out += name + " (" + type_of(document, member(header, "schema")) + ")";
    if (const auto description = text(header, "description"); !description.empty())
      out += " " + cell(description);
  }
  return out;
}

std::string answer_row(const YAML::Node& document, const std::string& status, const YAML::Node& reference) {
  const auto name = component_name("responses", text(reference, "$ref"));
  const auto response = resolve(document, reference);
  const bool shared = !name.empty() && response.IsDefined();
  return "<tr><td>" + (shared ? link(answer_anchor(name), escape(status)) : escape(status)) + "</td><td>" +
         bodies(document, response) + "</td><td>" + headers(document, response) + "</td><td>" +
         cell(text(response, "description")) + "</td></tr>\n";
}

std::string answer_table(const std::string& rows) {
  return "<table><tr><th>answer</th><th>body</th><th>headers</th><th>description</th></tr>\n" + rows + "</table>\n";
}

/// The answers of an operation. Refusals that are the same everywhere are folded away, or they would be most of the
/// page.
std::string answers(const YAML::Node& document, const Operation& operation) {
  std::string own;
  std::string shared;
  std::string statuses;
  std::string examples;
  for (const auto& entry : member(operation.node, "responses")) {
    const auto status = text(entry.first);
    const bool is_shared = !component_name("responses", text(entry.second, "$ref")).empty();
    const auto row = answer_row(document, status, entry.second);
    if (is_shared && (status.starts_with('4') || status.starts_with('5'))) {
      shared += row;
      statuses += " " + escape(status);
      continue;
    }
    own += row;
    // The example of a shared answer stands in its own section.
    if (!is_shared)
      examples += body_examples(entry.second, " of the answer " + escape(status));
  }
  auto out = own.empty() ? "" : answer_table(own);
  if (!shared.empty())
    out +=
      "<details><summary>Refusals and failures:" + statuses + "</summary>\n" + answer_table(shared) + "</details>\n";
  return out + examples;
}

/// Whether the operation takes no token, by its own word or the document's.
bool is_open(const YAML::Node& document, const Operation& operation) {
  const auto own = member(operation.node, "security");
  const auto security = own.IsDefined() ? own : member(document, "security");
  return security.IsDefined() && security.IsSequence() && security.size() == 0;
}

} // namespace

std::string Operation::anchor() const {
  const auto id = text(node, "operationId");
  return id.empty() ? method + " " + path : id;
}

std::string Operation::title() const {
  auto name = method;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "<span class=\"method\">" + escape(name) + "</span> " + code(path);
}

std::string operation_section(const YAML::Node& document, const Operation& operation) {
  auto out = heading("h3", operation.anchor(), operation.title());
  out +=
    "<p><b>" + phrase(text(operation.node, "summary")) + "</b> " + link(operation.anchor(), code(operation.anchor()));
  if (is_open(document, operation))
    out += " <span class=\"note\">no token needed</span>";
  if (text(operation.node, "deprecated") == "true")
    out += " <span class=\"note\">deprecated</span>";
  return out + "</p>\n" + prose(text(operation.node, "description")) + parameters(document, operation) +
         request_body(document, operation) + answers(document, operation);
}

std::string shared_answer_section(const YAML::Node& document, std::string_view name, const YAML::Node& response) {
  auto out = heading("h3", answer_anchor(name), escape(name)) + prose(text(response, "description"));
  if (const auto body = bodies(document, response); !body.empty())
    out += "<p class=\"label\">Body</p>\n" + body;
  if (const auto names = headers(document, response); !names.empty())
    out += "<p>Headers: " + names + "</p>\n";
  return out + body_examples(response, "");
}

std::string answer_anchor(std::string_view name) {
  return "answer-" + std::string(name);
}

std::string header_anchor(std::string_view name) {
  return "header-" + std::string(name);
}

} // namespace cleat::http::docs
