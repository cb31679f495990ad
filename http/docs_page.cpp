#include "http/docs_page.hpp"

#include <vector>

#include <yaml-cpp/yaml.h>

namespace cleat::http {
namespace {

constexpr std::string_view style = R"(
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c2430; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dbe3; }
h3 { margin-bottom: .25rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; background: #f2f5f8; border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .75rem; overflow-x: auto; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; }
table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; }
@media (prefers-color-scheme: dark) {
  body { background: #12171e; color: #d9e0e8; } code, pre { background: #1d2530; } a { color: #7db4ff; }
}
)";

std::string escape(std::string_view text) {
  std::string out;
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
      default:
        out.push_back(c);
    }
  }
  return out;
}

/// The text of a scalar member, or nothing.
std::string text(const YAML::Node& node, const char* member) {
  const auto value = node[member];
  return value && value.IsScalar() ? escape(value.as<std::string>()) : std::string();
}

/// Follows a `$ref` inside the document.
YAML::Node resolve(const YAML::Node& document, const YAML::Node& node) {
  if (!node.IsMap() || !node["$ref"])
    return node;
  auto path = node["$ref"].as<std::string>().substr(2);
  std::vector<YAML::Node> steps{document};
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    steps.push_back(steps.back()[path.substr(0, end)]);
    path.erase(0, std::min(end + 1, path.size()));
  }
  return steps.back();
}

/// A link to the schema that a node refers to, or its type.
std::string schema_name(const YAML::Node& schema) {
  if (schema["$ref"]) {
    const auto reference = schema["$ref"].as<std::string>();
    const auto name = escape(reference.substr(reference.rfind('/') + 1));
    return "<a href=\"#" + name + "\">" + name + "</a>";
  }
  if (schema["items"])
    return "list of " + schema_name(schema["items"]);
  return "<code>" + text(schema, "type") + "</code>";
}

std::string content_of(const YAML::Node& node) {
  std::string out;
  for (const auto& content : node["content"])
    out += (out.empty() ? "" : ", ") + schema_name(content.second["schema"]);
  return out;
}

std::string parameters(const YAML::Node& document, const YAML::Node& owner) {
  std::string out;
  for (const auto& reference : owner["parameters"]) {
    const auto parameter = resolve(document, reference);
    out += "<tr><td><code>" + text(parameter, "name") + "</code></td><td>" + text(parameter, "in") + "</td><td>" +
           text(parameter, "description") + "</td></tr>\n";
  }
  return out;
}

std::string responses(const YAML::Node& document, const YAML::Node& operation) {
  std::string out;
  for (const auto& entry : operation["responses"]) {
    const auto response = resolve(document, entry.second);
    out += "<tr><td>" + escape(entry.first.as<std::string>()) + "</td><td>" + content_of(response) + "</td><td>" +
           text(response, "description") + "</td></tr>\n";
  }
  return out;
}

std::string operation(const YAML::Node& document, const std::string& path, const YAML::Node& item,
                      const std::string& method) {
  const auto node = item[method];
  auto out = "<h3 id=\"" + text(node, "operationId") + "\"><span class=\"method\">" + escape(method) +
             "</span> <code>" + escape(path) + "</code></h3>\n<p><b>" + text(node, "summary") + "</b> " +
             text(node, "description") + "</p>\n";
  if (const auto rows = parameters(document, item) + parameters(document, node); !rows.empty())
    out += "<table><tr><th>parameter</th><th>in</th><th></th></tr>\n" + rows + "</table>\n";
  if (node["requestBody"])
    out += "<p>Body: " + content_of(resolve(document, node["requestBody"])) + "</p>\n";
  return out + "<table><tr><th>answer</th><th>body</th><th></th></tr>\n" + responses(document, node) + "</table>\n";
}

std::string schema(const std::string& name, const YAML::Node& node) {
  YAML::Emitter emitter;
  emitter << node;
  return "<h3 id=\"" + escape(name) + "\">" + escape(name) + "</h3>\n<pre>" + escape(emitter.c_str()) + "</pre>\n";
}

} // namespace

std::string docs_page(std::string_view contract) {
  const auto document = YAML::Load(std::string(contract));
  const auto title = text(document["info"], "title");
  auto out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title + "</title><style>" +
             std::string(style) + "</style></head><body>\n<h1>" + title + "</h1>\n<pre>" +
             text(document["info"], "description") + "</pre>\n<p><a href=\"/openapi.yaml\">openapi.yaml</a></p>\n";
  for (const auto& tag : document["tags"]) {
    const auto name = tag["name"].as<std::string>();
    out += "<h2>" + escape(name) + "</h2>\n<p>" + text(tag, "description") + "</p>\n";
    for (const auto& path : document["paths"])
      for (const auto* method : {"get", "post", "put", "patch", "delete"})
        if (const auto found = path.second[method]; found && found["tags"][0].as<std::string>() == name)
          out += operation(document, path.first.as<std::string>(), path.second, method);
  }
  out += "<h2>Schemas</h2>\n";
  for (const auto& entry : document["components"]["schemas"])
    out += schema(entry.first.as<std::string>(), entry.second);
  return out + "</body></html>\n";
}

} // namespace cleat::http
