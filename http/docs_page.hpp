#pragma once

#include <string>
#include <string_view>

namespace cleat::http {

/// A readable page of an OpenAPI 3.1 contract: contents, every operation with its parameters, body, answers and
/// examples, then every schema, header and shared answer. One HTML document without scripts and without requests to
/// anywhere. Whatever the contract says comes out as text; a contract that is no YAML is an exception of the parser.
std::string docs_page(std::string_view contract);

} // namespace cleat::http
