#pragma once

#include <string>
#include <string_view>

namespace cleat::http {

/// A readable page of an OpenAPI 3.1 contract: every operation with its parameters, body and answers, then every
/// schema. One HTML document without scripts and without requests to anywhere. `contract` is trusted: it is ours.
std::string docs_page(std::string_view contract);

} // namespace cleat::http
