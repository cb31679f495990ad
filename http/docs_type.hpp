#pragma once

#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

#include "http/docs_yaml.hpp"

namespace cleat::http::docs {

/// A schema in a few words of HTML: links to the schemas it names, its type, values, ranges and default.
std::string type_of(const YAML::Node& document, const YAML::Node& schema);

/// A link to the named schema that a reference leads to; only the reference's last step where it leads to none.
std::string schema_link(const YAML::Node& document, std::string_view reference);

/// The keywords of a schema that neither `type_of` nor the table of its members says: `if`, `not` and the like, and
/// whatever the page does not know.
Entries unsaid(const YAML::Node& schema);

} // namespace cleat::http::docs
