#include "http/docs_page.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

/// The page that is made from a contract: one construct at a time, then the contract of this server.
namespace cleat::http {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// What a reader sees: no tags, no entities, cells and blocks apart from each other.
std::string visible(const std::string& html) {
  static const std::regex block("</(td|th|p|li|div|h1|h2|h3|pre|summary)>");
  static const std::regex tag("<[^>]*>");
  auto text = std::regex_replace(std::regex_replace(html, block, " | "), tag, "");
  for (const auto& [entity, character] : {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""},
                                          std::pair{"&#39;", "'"}, std::pair{"&amp;", "&"}})
    text = replaced(text, entity, character);
  return text;
}

/// Lines of YAML, moved to the right.
std::string indented(const std::string& yaml, std::size_t spaces) {
  const std::string indent(spaces, ' ');
  return indent + replaced(yaml, "\n", "\n" + indent) + "\n";
}

/// The page of a contract with one operation, which has the given members.
std::string page_of_operation(const std::string& members, const std::string& components = "{}") {
  return docs_page("paths:\n  /things/{id}:\n    put:\n      operationId: putThing\n" + indented(members, 6) +
                   "components:\n" + indented(components, 2));
}

/// The page of a contract with the schema `Subject` and another one, `Other`.
std::string page_of_schema(const std::string& members) {
  return docs_page("components:\n  schemas:\n    Subject:\n" + indented(members, 6) +
                   "    Other: {type: string}\n    Another: {type: integer}\n");
}

std::string part(const std::string& html, const std::string& anchor, const std::string& end) {
  const auto begin = html.find("id=\"" + anchor + "\"");
  if (begin == std::string::npos)
    return "there is no anchor " + anchor;
  return html.substr(begin, html.find(end, begin) - begin);
}

std::string subject(const std::string& members) {
  return visible(part(page_of_schema(members), "Subject", "<h3"));
}

/// Every value of an attribute.
std::vector<std::string> attributes(const std::string& html, const std::string& name) {
  const std::regex attribute("<[^>]* " + name + "=\"([^\"]*)\"");
  std::vector<std::string> values;
  for (std::sregex_iterator it(html.begin(), html.end(), attribute), end; it != end; ++it)
    values.push_back((*it)[1]);
  return values;
}

TEST(DocsPage, NamesMediaTypesOtherThanJson) {
  const auto html = page_of_operation(R"(responses:
  '200': {content: {text/csv: {schema: {type: string}}, application/json: {schema: {type: integer}}}}
  '201': {content: {application/json: {schema: {type: boolean}}}}
  '202': {content: {application/problem+json: {schema: {type: number}}}})");
  EXPECT_THAT(visible(html), HasSubstr("text/csv: string"));
  EXPECT_THAT(visible(html), HasSubstr("application/json: integer"));
  EXPECT_THAT(visible(html), Not(HasSubstr("application/json: boolean")));
  EXPECT_THAT(visible(html), Not(HasSubstr("application/problem+json")));
}

TEST(DocsPage, ShowsTheItemsOfAStream) {
  const std::string components = "schemas:\n  Event: {type: object}\n  Row: {type: object}";
  const auto html = page_of_operation(R"(responses:
  '200':
    content:
      text/event-stream: {schema: {type: string}, x-item-schema: {$ref: '#/components/schemas/Event'}}
      application/x-ndjson: {schema: {type: string}, x-item-schema: {$ref: '#/components/schemas/Row'}})",
                                      components);
  EXPECT_THAT(visible(html), HasSubstr("text/event-stream: events, each an Event"));
  EXPECT_THAT(visible(html), HasSubstr("application/x-ndjson: items, each a Row"));
  EXPECT_THAT(html, HasSubstr("each an <a href=\"#Event\">Event</a>"));
}

TEST(DocsPage, EnumeratesSchemas) {
  const std::string variants = "[{$ref: '#/components/schemas/Other'}, {$ref: '#/components/schemas/Another'}]";
  EXPECT_THAT(page_of_schema("oneOf: " + variants),
              HasSubstr("one of <a href=\"#Other\">Other</a>, <a href=\"#Another\">Another</a>"));
  EXPECT_THAT(subject("anyOf: " + variants), HasSubstr("any of Other, Another"));
  EXPECT_THAT(subject("allOf: " + variants), HasSubstr("all of Other, Another"));
  EXPECT_THAT(subject("items: {oneOf: " + variants + "}"), HasSubstr("list, each one of Other, Another"));
}

TEST(DocsPage, ShowsValuesAndTypes) {
  EXPECT_THAT(subject("enum: [red, green]"), HasSubstr("one of red, green"));
  EXPECT_THAT(subject("{type: integer, enum: [1, 2]}"), HasSubstr("integer, one of 1, 2"));
  EXPECT_THAT(subject("{type: string, enum: [only]}"), HasSubstr("only only"));
  EXPECT_THAT(subject("const: fixed"), HasSubstr("always fixed"));
  EXPECT_THAT(subject("const: ''"), HasSubstr("always \"\""));
  EXPECT_THAT(subject("description: Says nothing."), HasSubstr("any value"));
  EXPECT_THAT(subject("true"), HasSubstr("any value"));
  EXPECT_THAT(subject("false"), HasSubstr("nothing"));
  EXPECT_THAT(subject("type: [string, 'null']"), HasSubstr("string or null"));
  EXPECT_THAT(subject("{type: array, items: {type: string}}"), HasSubstr("list of string"));
  EXPECT_THAT(subject("{type: string, format: uuid}"), HasSubstr("string (uuid)"));
  EXPECT_THAT(subject("{type: object, additionalProperties: {type: integer}}"),
              HasSubstr("object, each other member integer"));
  EXPECT_THAT(subject("{type: object, additionalProperties: false}"), HasSubstr("object without members"));
  EXPECT_THAT(subject("type: object"), HasSubstr("object with any members"));
}

TEST(DocsPage, ShowsRanges) {
  EXPECT_THAT(subject("{type: integer, minimum: 1, maximum: 200, default: 50}"),
              HasSubstr("integer, 1 to 200, default 50"));
  EXPECT_THAT(subject("{type: integer, minimum: 0}"), HasSubstr("integer, at least 0"));
  EXPECT_THAT(subject("{type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}"), HasSubstr("above 0, below 1"));
  EXPECT_THAT(subject("{type: string, minLength: 1}"), HasSubstr("string, at least 1 character "));
  EXPECT_THAT(subject("{type: string, maxLength: 9, pattern: '^a'}"), HasSubstr("at most 9 characters, matches ^a"));
  EXPECT_THAT(subject("{type: array, items: {type: string}, minItems: 3, maxItems: 3, uniqueItems: true}"),
              HasSubstr("list of string, 3 items, without duplicates"));
  EXPECT_THAT(subject("{type: string, deprecated: true}"), HasSubstr("string, deprecated"));
}

TEST(DocsPage, ShowsParameters) {
  const auto text = visible(docs_page(R"(
paths:
  /things/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
      - {name: level, in: query, description: From the path.}
    get:
      operationId: getThing
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 9, default: 5}, description: How `many`.}
        - {name: level, in: query, schema: {enum: [low, high]}, example: low}
        - {name: kind, in: query, schema: {$ref: '#/components/schemas/Kind'}}
components:
  schemas: {Kind: {type: string, enum: [small, large]}}
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: string}}
)"));
  EXPECT_THAT(text, HasSubstr("id | path | string | yes |"));
  EXPECT_THAT(text, HasSubstr("limit | query | integer, 1 to 9, default 5 |  | How many. |"));
  EXPECT_THAT(text, HasSubstr("level | query | one of low, high |  | Example: low |"));
  EXPECT_THAT(text, HasSubstr("kind | query | Kind, one of small, large |"));
  EXPECT_THAT(text, Not(HasSubstr("From the path.")));
  EXPECT_LT(text.find("id | path"), text.find("limit | query"));
}

TEST(DocsPage, LinksHeadersOfAnswers) {
  const auto html = page_of_operation(R"(responses:
  '200':
    description: Done.
    headers:
      X-Trace: {$ref: '#/components/headers/Trace'}
      X-Own: {schema: {type: integer}, description: Its own.}
  '404': {$ref: '#/components/responses/Missing'})",
                                      R"(headers:
  Trace: {required: true, schema: {type: string}, description: Where it went.}
  Unused: {schema: {type: string}}
responses:
  Missing:
    description: There is none.
    headers:
      X-Trace: {$ref: '#/components/headers/Trace'}
    content: {application/json: {schema: {type: boolean}, example: false}})");
  EXPECT_THAT(html, HasSubstr("<a href=\"#header-Trace\"><code>X-Trace</code></a>, <code>X-Own</code>"));
  EXPECT_THAT(visible(html), HasSubstr("X-Own (integer) Its own. | Done. |"));
  const auto headers = visible(part(html, "headers", "<h2"));
  EXPECT_THAT(headers, HasSubstr("X-Trace | string | yes | Where it went. |"));
  EXPECT_THAT(headers, HasSubstr("Unused | string |  |  |"));
  // An answer that operations share is in the table of each and has a section for its example.
  EXPECT_THAT(html, HasSubstr("<a href=\"#answer-Missing\">404</a>"));
  EXPECT_THAT(visible(html), HasSubstr("404 | boolean |"));
  EXPECT_THAT(part(html, "answer-Missing", "</body>"), HasSubstr("<pre>false</pre>"));
}

TEST(DocsPage, ShowsMembersOfObjects) {
  const auto html = page_of_schema(R"(type: object
description: A `thing`.
required: [id, inner, unsaid]
properties:
  id: {$ref: '#/components/schemas/Other', description: Beside the reference.}
  kind: {const: thing}
  inner: {type: object, required: [deep], properties: {deep: {type: boolean}}}
  rows: {type: array, items: {properties: {cell: {type: number, description: In a row.}}}})");
  const auto text = visible(part(html, "Subject", "<h3"));
  EXPECT_THAT(text, HasSubstr("A thing."));
  EXPECT_THAT(text, HasSubstr("id | Other | yes | Beside the reference. |"));
  EXPECT_THAT(text, HasSubstr("kind | always thing |  |  |"));
  EXPECT_THAT(text, HasSubstr("inner.deep | boolean | yes |"));
  EXPECT_THAT(text, HasSubstr("rows[].cell | number |  | In a row. |"));
  EXPECT_THAT(text, HasSubstr("unsaid | any value | yes |"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#Other\">Other</a>"));
}

TEST(DocsPage, ShowsWhatADiscriminatorLeadsTo) {
  const auto html = page_of_schema(R"(type: object
oneOf: [{$ref: '#/components/schemas/Other'}, {$ref: '#/components/schemas/Another'}]
discriminator: {propertyName: kind, mapping: {o.ther: '#/components/schemas/Other'}})");
  const auto text = visible(part(html, "Subject", "<h3"));
  EXPECT_THAT(text, HasSubstr("kind | schema |"));
  EXPECT_THAT(text, HasSubstr("o.ther | Other |"));
  EXPECT_THAT(text, HasSubstr("Another | Another |"));
  EXPECT_THAT(text, Not(HasSubstr("Other | Other |")));
  EXPECT_THAT(html, HasSubstr("<code>o.ther</code></td><td><a href=\"#Other\">Other</a>"));
}

TEST(DocsPage, KeepsConditionsAsYaml) {
  const auto html = page_of_schema(R"(type: object
properties: {a: {type: string}, b: {not: {const: 'true'}}}
if: {required: [a]}
then: {properties: {b: {const: '7'}}}
allOf:
  - not: {required: [b]}
x-note: of our own)");
  const auto section = part(html, "Subject", "<h3");
  const auto text = visible(section);
  EXPECT_THAT(text, HasSubstr("Conditions | \nif: {required: [a]}\nthen: {properties: {b: {const: \"7\"}}}\nallOf:\n"));
  EXPECT_THAT(text, HasSubstr("not: {required: [b]}"));
  // Below the table of members, those of a member next to it.
  EXPECT_THAT(text, HasSubstr("b | any value |  | Conditions | \nnot: {const: \"true\"}"));
  EXPECT_THAT(text, HasSubstr("Also | \nx-note: of our own"));
  EXPECT_THAT(section, Not(HasSubstr("properties: {a:")));
}

TEST(DocsPage, ShowsExamplesAsTheyAreSent) {
  const auto html = page_of_operation(R"(requestBody:
  content:
    application/json:
      example: {text: 'a "quoted" word', digits: '7', number: 7, flag: true, none: null, list: [1, x], empty: {}}
responses:
  '200':
    content:
      text/plain: {example: "one\ntwo\n"}
      application/json: {examples: {short: {value: 1}, long: {summary: A long one., value: [2]}}})");
  EXPECT_THAT(visible(html), HasSubstr(R"({
  "text": "a \"quoted\" word",
  "digits": "7",
  "number": 7,
  "flag": true,
  "none": null,
  "list": [1, "x"],
  "empty": {}
})"));
  EXPECT_THAT(html, HasSubstr("<pre>one\ntwo</pre>"));
  EXPECT_THAT(visible(html), HasSubstr("Example of the answer 200 as application/json: short | \n1 |"));
  EXPECT_THAT(visible(html), HasSubstr("A long one. | \n[\n  2\n] |"));
  EXPECT_THAT(visible(page_of_schema("{type: string, example: one}")), HasSubstr("Example: one"));
  EXPECT_THAT(visible(page_of_schema("{type: string, examples: [one, two]}")), HasSubstr("Example: two"));
}

TEST(DocsPage, MakesProseReadable) {
  const auto html = page_of_operation(R"(summary: Puts a `thing`.
description: |
  First `one`
  and on.

  - an item
    of two lines
  - another

  After `` the ` list.)");
  EXPECT_THAT(html, HasSubstr("<b>Puts a <code>thing</code>.</b>"));
  EXPECT_THAT(html, HasSubstr("<p>First <code>one</code>\nand on.</p>\n<ul>\n<li>an item\nof two lines</li>\n"
                              "<li>another</li>\n</ul>\n<p>After `` the ` list.</p>"));
}

TEST(DocsPage, KeepsTheLinesOfTheIntroduction) {
  const auto html = docs_page("info:\n  title: T\n  version: '7'\n  description: |\n    One\n      two   three\n");
  EXPECT_THAT(html, HasSubstr("<div class=\"text\"><p>One\n  two   three</p>"));
  EXPECT_THAT(html, HasSubstr(".text p, .text li { white-space: pre-wrap; }"));
  EXPECT_THAT(visible(html), HasSubstr("Version 7"));
}

TEST(DocsPage, SaysWhatMayBeLeftOut) {
  EXPECT_THAT(page_of_operation("security: []"), HasSubstr("no token needed"));
  EXPECT_THAT(page_of_operation("security: [{token: []}]"), Not(HasSubstr("no token needed")));
  EXPECT_THAT(page_of_operation("summary: As the document says."), Not(HasSubstr("no token needed")));
  EXPECT_THAT(docs_page("security: []\npaths: {/a: {get: {}}}"), HasSubstr("no token needed"));
  EXPECT_THAT(page_of_operation("requestBody: {required: false, content: {}}"), HasSubstr("Body, optional"));
  EXPECT_THAT(page_of_operation("requestBody: {content: {}}"), HasSubstr("Body, optional"));
  EXPECT_THAT(page_of_operation("requestBody: {required: true, content: {}}"), Not(HasSubstr("optional")));
  EXPECT_THAT(page_of_operation("deprecated: true"), HasSubstr("<span class=\"note\">deprecated</span>"));
}

TEST(DocsPage, ListsOperationsByTag) {
  const auto html = docs_page(R"(
tags: [{name: Second, description: Of `two`.}, {name: Unused}]
paths:
  /a: {get: {operationId: first, tags: [Undescribed]}, delete: {operationId: second, tags: [Second, Undescribed]}}
  /b: {get: {summary: Without a tag and an id.}}
)");
  const auto contents = visible(html.substr(html.find("<nav>"), html.find("</nav>") - html.find("<nav>")));
  const auto second = contents.find("Second");
  const auto undescribed = contents.find("Undescribed");
  const auto other = contents.find("Other");
  EXPECT_LT(second, contents.find("DELETE /a"));
  EXPECT_LT(contents.find("DELETE /a"), undescribed);
  EXPECT_LT(undescribed, contents.find("GET /a"));
  EXPECT_LT(contents.find("GET /a"), other);
  EXPECT_LT(other, contents.find("GET /b"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#second\">"));
  EXPECT_THAT(html, HasSubstr("<h3 id=\"second\">"));
  EXPECT_THAT(html, HasSubstr("<h3 id=\"get /b\">"));
  EXPECT_THAT(html, HasSubstr("<h2 id=\"tag-Second\">Second</h2>\n<p>Of <code>two</code>.</p>"));
  EXPECT_THAT(html, Not(HasSubstr("Unused")));
}

TEST(DocsPage, LinksOnlyWhatItHas) {
  const auto html = page_of_operation(R"(parameters: [{$ref: '#/components/parameters/None'}]
requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/None'}}}}
responses:
  '200': {content: {application/json: {schema: {$ref: 'https://example.com/schemas#/Far'}}}}
  '400': {$ref: '#/components/responses/None'}
  '401': {$ref: '#/components/responses/Circle'})",
                                      "responses: {Circle: {$ref: '#/components/responses/Circle'}}");
  EXPECT_THAT(html, Not(HasSubstr("#None")));
  EXPECT_THAT(html, HasSubstr("<code>None</code>"));
  EXPECT_THAT(html, HasSubstr("<code>Far</code>"));
  EXPECT_THAT(html, Not(HasSubstr("example.com")));
}

/// Whatever is written into a page has to come out as text: the only tags are those of the page, and each of their
/// attributes is in quotes.
void expect_only_own_tags(const std::string& html) {
  static const std::regex own(
    "</?(!doctype html|a|b|body|code|details|div|h1|h2|h3|head|html|li|meta|nav|p|pre|span|style|summary|table|td|"
    "th|title|tr|ul)( (charset|class|content|href|id|lang|name)=\"[^\"<>]*\")*>");
  for (auto begin = html.find('<'); begin != std::string::npos; begin = html.find('<', begin + 1)) {
    const auto tag = html.substr(begin, html.find('>', begin) - begin + 1);
    EXPECT_TRUE(std::regex_match(tag, own)) << tag;
  }
}

TEST(DocsPage, EscapesEverything) {
  // HERE stands wherever a document has room for text.
  const std::string evil = "<script>alert(1)</script><img src=x onerror=\"y\"> &amp; ' onload='z";
  const auto document = replaced(R"(
info: {title: HERE, version: HERE, summary: HERE, description: HERE}
servers: [{url: HERE, description: HERE}]
tags: [{name: HERE, description: "HERE\n\n- HERE `HERE`"}]
paths:
  HERE:
    get:
      operationId: HERE
      tags: [HERE]
      summary: HERE
      description: HERE `HERE`
      parameters:
        - name: HERE
          in: HERE
          description: HERE
          example: HERE
          schema: {type: HERE, format: HERE, pattern: HERE, default: HERE, minimum: HERE, maximum: HERE,
            minLength: HERE, exclusiveMinimum: HERE, exclusiveMaximum: HERE, multipleOf: HERE, description: HERE}
      requestBody:
        description: HERE
        content: {HERE: {schema: {$ref: HERE}, examples: {HERE: {summary: HERE, value: {HERE: [HERE]}}}}}
      responses:
        HERE:
          description: HERE
          headers: {HERE: {description: HERE, schema: {type: HERE}}, B: {$ref: '#/components/headers/HERE'}}
          content: {HERE: {schema: {type: [HERE]}, x-item-schema: {$ref: '#/components/schemas/HERE'}, example: HERE}}
        4HERE: {$ref: '#/components/responses/HERE'}
    post: {tags: [HERE]}
components:
  securitySchemes: {HERE: {type: HERE, scheme: HERE, description: HERE}}
  headers: {HERE: {description: HERE, schema: {enum: [HERE]}, example: HERE}}
  responses: {HERE: {description: HERE}}
  schemas:
    HERE:
      description: HERE
      required: [HERE, B]
      properties: {HERE: {const: HERE, description: HERE}, C: {format: HERE, not: {const: HERE}}}
      discriminator: {propertyName: HERE, mapping: {HERE: HERE, B: '#/components/schemas/HERE'}}
      if: {const: HERE}
      HERE: HERE
      examples: [HERE, {HERE: HERE}]
)",
                                 "HERE", "PLACE");
  // Each place is quoted by YAML itself, so that nothing depends on how the text would have to be quoted.
  auto node = YAML::Load(document);
  YAML::Emitter out;
  out.SetStringFormat(YAML::DoubleQuoted);
  out << node;
  const auto html = docs_page(replaced(out.c_str(), "PLACE", replaced(evil, "\"", "\\\"")));
  expect_only_own_tags(html);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  // The reader sees it as it was written, in many places.
  const auto shown = replaced(visible(html), evil, "\x01");
  EXPECT_GT(std::ranges::count(shown, '\x01'), 60);
}

/// The page of the contract of this server.
class DocsPageOfTheContract : public testing::Test {
protected:
  static std::string read() {
    std::ifstream file(CLEAT_OPENAPI);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const YAML::Node document = YAML::Load(read());
  const std::string html = docs_page(read());
};

TEST_F(DocsPageOfTheContract, HasAnAnchorForEverything) {
  const auto ids = attributes(html, "id");
  const std::set<std::string> anchors(ids.begin(), ids.end());
  EXPECT_EQ(anchors.size(), ids.size()) << "an anchor stands twice";
  std::size_t operations = 0;
  for (const auto& path : document["paths"])
    for (const auto& method : path.second)
      if (method.second.IsMap()) {
        ++operations;
        EXPECT_TRUE(anchors.contains(method.second["operationId"].as<std::string>())) << path.first;
      }
  EXPECT_GT(operations, 40U);
  for (const auto& schema : document["components"]["schemas"])
    EXPECT_TRUE(anchors.contains(schema.first.as<std::string>())) << schema.first;
}

TEST_F(DocsPageOfTheContract, HasATargetForEveryLink) {
  const auto ids = attributes(html, "id");
  const std::set<std::string> anchors(ids.begin(), ids.end());
  const auto links = attributes(html, "href");
  EXPECT_GT(links.size(), 500U);
  for (const auto& link : links)
    EXPECT_TRUE(link == "/openapi.yaml" || (link.starts_with('#') && anchors.contains(link.substr(1)))) << link;
  EXPECT_TRUE(attributes(html, "src").empty());
}

TEST_F(DocsPageOfTheContract, IsPlainHtml) {
  expect_only_own_tags(html);
  for (const auto* asked_for : {"url(", "@import", "javascript:"})
    EXPECT_THAT(html, Not(HasSubstr(asked_for)));
}

TEST_F(DocsPageOfTheContract, LeavesNothingUntold) {
  std::string outside;
  for (std::size_t begin = 0; begin < html.size();) {
    const auto end = std::min(html.find("<pre>", begin), html.size());
    outside += html.substr(begin, end - begin);
    begin = end == html.size() ? end : html.find("</pre>", end);
  }
  EXPECT_THAT(outside, Not(HasSubstr("$ref")));
  EXPECT_THAT(outside, Not(HasSubstr("<code></code>")));
  // The page has words for every keyword of the contract but conditions.
  EXPECT_THAT(outside, Not(HasSubstr(">Also<")));
  const auto stream = visible(part(html, "streamEvents", "<h3"));
  EXPECT_THAT(stream, HasSubstr("text/event-stream: events, each an Event"));
  EXPECT_THAT(stream, HasSubstr("application/json: EventPage"));
  EXPECT_THAT(visible(html), HasSubstr("run.changed | RunChanged |"));
  EXPECT_THAT(visible(part(html, "getHealth", "<h3")), HasSubstr("no token needed"));
}

} // namespace
} // namespace cleat::http
