#include "http/docs_page.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "http/docs_html.hpp"
#include "http/docs_operation.hpp"
#include "http/docs_schema.hpp"
#include "http/docs_type.hpp"
#include "http/docs_yaml.hpp"

namespace cleat::http {
namespace {

using namespace docs;

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1c2430; --faint: #5b6675; --line: #d5dbe3; --ground: #fff; --code: #f2f5f8;
  --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #d9e0e8; --faint: #97a3b2; --line: #313b48; --ground: #12171e;
  --code: #1d2530; --link: #7db4ff; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--text);
  background: var(--ground); }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2.5rem 0 .25rem; } p { margin: .5rem 0; } ul { margin: .5rem 0; padding-left: 1.25rem; }
:target { background: color-mix(in srgb, var(--link) 15%, transparent); }
code, pre { font: 14px/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; } .long, h3 code, nav code { overflow-wrap: anywhere; }
td:first-child code { white-space: nowrap; }
pre { padding: .75rem; margin: .5rem 0; overflow-x: auto; }
a code, h3 code { background: none; padding: 0; }
.method { display: inline-block; min-width: 4rem; font-weight: 700; }
.text p, .text li { white-space: pre-wrap; }
.label { font-weight: 600; margin: 1rem 0 .25rem; } .example, .faint { color: var(--faint); }
.note { border: 1px solid var(--line); border-radius: 4px; padding: 0 .4em; font-size: 14px; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
td, th { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--line); }
td:last-child, th:last-child { padding-right: 0; } th { font-size: 14px; color: var(--faint); font-weight: 600; }
@media (max-width: 45rem) { table { display: block; overflow-x: auto; } }
summary { cursor: pointer; color: var(--faint); }
nav ul { list-style: none; padding: 0; } nav li li { display: flex; gap: 0 1rem; flex-wrap: wrap; }
nav li li a { flex: 0 1 32rem; } nav li li span.faint { flex: 1 1 16rem; }
)";

/// A tag with what stands under it.
struct Chapter {
  std::string name;
  std::string description;
  std::vector<Operation> operations;

  std::string anchor() const { return "tag-" + name; }
};

/// The operations by their first tag: tags in the order of the document, then those that it does not describe.
std::vector<Chapter> chapters_of(const YAML::Node& document) {
  std::vector<Chapter> chapters;
  for (const auto& tag : member(document, "tags"))
    chapters.push_back({text(tag, "name"), text(tag, "description"), {}});
  for (const auto& path : member(document, "paths"))
    for (const auto* method : {"get", "head", "options", "trace", "post", "put", "patch", "delete"}) {
      const auto node = member(path.second, method);
      if (!node.IsDefined())
        continue;
      const auto tags = member(node, "tags");
      const auto name = tags.IsDefined() && tags.IsSequence() && tags.size() > 0 ? text(tags[0]) : "Other";
      auto found = std::ranges::find(chapters, name, &Chapter::name);
      if (found == chapters.end())
        found = chapters.insert(found, {name, {}, {}});
      found->operations.push_back({text(path.first), method, path.second, node});
    }
  std::erase_if(chapters, [](const Chapter& chapter) { return chapter.operations.empty(); });
  return chapters;
}

/// Links to sections of the same kind, in one paragraph.
std::string links(const YAML::Node& components, std::string (*anchor)(std::string_view)) {
  std::string out;
  for (const auto& entry : components)
    out += (out.empty() ? "" : ", ") + link(anchor(text(entry.first)), escape(text(entry.first)));
  return out;
}

std::string same(std::string_view name) {
  return std::string(name);
}

std::string contents(const YAML::Node& components, const std::vector<Chapter>& chapters) {
  std::string out = "<nav>\n<h2>Contents</h2>\n<ul>\n";
  for (const auto& chapter : chapters) {
    out += "<li>" + link(chapter.anchor(), "<b>" + escape(chapter.name) + "</b>") + "\n<ul>\n";
    for (const auto& operation : chapter.operations)
      out += "<li>" + link(operation.anchor(), operation.title()) + " <span class=\"faint\">" +
             phrase(text(operation.node, "summary")) + "</span></li>\n";
    out += "</ul></li>\n";
  }
  const auto section = [&out](std::string_view anchor, std::string_view title, const std::string& inner) {
    if (!inner.empty())
      out += "<li>" + link(anchor, "<b>" + std::string(title) + "</b>") + "\n<p>" + inner + "</p></li>\n";
  };
  section("schemas", "Schemas", links(member(components, "schemas"), &same));
  section("headers", "Headers", links(member(components, "headers"), &header_anchor));
  section("answers", "Shared answers", links(member(components, "responses"), &answer_anchor));
  return out + "</ul>\n</nav>\n";
}

std::string introduction(const YAML::Node& document) {
  const auto info = member(document, "info");
  auto out = "<h1>" + escape(text(info, "title")) + "</h1>\n<p><b>" + phrase(text(info, "summary")) +
             "</b> <span class=\"faint\">Version " + escape(text(info, "version")) +
             "</span> <a href=\"/openapi.yaml\">openapi.yaml</a></p>\n<div class=\"text\">" +
             prose(text(info, "description")) + "</div>\n";
  for (const auto& server : member(document, "servers"))
    out += "<p>Server " + code(text(server, "url")) + ": " + phrase(text(server, "description")) + "</p>\n";
  for (const auto& scheme : member(member(document, "components"), "securitySchemes"))
    out += "<p>Authentication with " + code(text(scheme.first)) + " (" +
           escape(text(scheme.second, "type") + " " + text(scheme.second, "scheme")) +
           "): " + phrase(text(scheme.second, "description")) + "</p>\n";
  return out;
}

std::string chapter_section(const YAML::Node& document, const Chapter& chapter) {
  auto out = heading("h2", chapter.anchor(), escape(chapter.name)) + prose(chapter.description);
  for (const auto& operation : chapter.operations)
    out += operation_section(document, operation);
  return out;
}

using Names = std::map<std::string, std::vector<std::string>>;

/// Takes note of the names under which an answer has the headers of the components.
void collect_names(const YAML::Node& response, Names& names) {
  for (const auto& entry : member(response, "headers"))
    if (const auto component = component_name("headers", text(entry.second, "$ref")); !component.empty())
      if (auto& known = names[component]; std::ranges::find(known, text(entry.first)) == known.end())
        known.push_back(text(entry.first));
}

/// What the headers are called in answers; their names in the components are only for references.
Names header_names(const YAML::Node& components, const std::vector<Chapter>& chapters) {
  Names names;
  for (const auto& entry : member(components, "responses"))
    collect_names(entry.second, names);
  for (const auto& chapter : chapters)
    for (const auto& operation : chapter.operations)
      for (const auto& entry : member(operation.node, "responses"))
        collect_names(entry.second, names);
  return names;
}

std::string headers_section(const YAML::Node& document, const std::vector<Chapter>& chapters) {
  const auto components = member(document, "components");
  const auto names = header_names(components, chapters);
  std::string rows;
  for (const auto& entry : member(components, "headers")) {
    const auto name = text(entry.first);
    const auto found = names.find(name);
    std::string shown;
    if (found == names.end())
      shown = code(name);
    else
      for (const auto& used : found->second)
        shown += (shown.empty() ? "" : ", ") + code(used);
    const auto header = resolve(document, entry.second);
    rows += "<tr id=\"" + escape(header_anchor(name)) + "\"><td>" + shown + "</td><td>" +
            type_of(document, member(header, "schema")) + "</td><td>" +
            (text(header, "required") == "true" ? "yes" : "") + "</td><td>" + cell(text(header, "description")) +
            short_examples(header) + "</td></tr>\n";
  }
  if (rows.empty())
    return {};
  return heading("h2", "headers", "Headers") +
         "<table><tr><th>header</th><th>type</th><th>always there</th><th>description</th></tr>\n" + rows +
         "</table>\n";
}

} // namespace

std::string docs_page(std::string_view contract) {
  const auto document = YAML::Load(std::string(contract));
  const auto components = member(document, "components");
  const auto chapters = chapters_of(document);
  auto out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
             escape(text(member(document, "info"), "title")) + "</title><style>" + std::string(style) +
             "</style></head><body>\n" + introduction(document) + contents(components, chapters);
  for (const auto& chapter : chapters)
    out += chapter_section(document, chapter);
  if (const auto schemas = member(components, "schemas"); schemas.IsDefined()) {
    out += heading("h2", "schemas", "Schemas");
    for (const auto& entry : schemas)
      out += schema_section(document, text(entry.first), entry.second);
  }
  out += headers_section(document, chapters);
  if (const auto responses = member(components, "responses"); responses.IsDefined()) {
    out += heading("h2", "answers", "Shared answers");
    for (const auto& entry : responses)
      out += shared_answer_section(document, text(entry.first), entry.second);
  }
  return out + "</body></html>\n";
}

} // namespace cleat::http
