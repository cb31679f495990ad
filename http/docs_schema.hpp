#pragma once

#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

namespace cleat::http::docs {

/// Everything about a schema that its type in a few words leaves out: description, members, the values of its
/// discriminator, conditions and examples. Empty for a mere reference, which is described where it leads to.
std::string schema_details(const YAML::Node& document, const YAML::Node& schema);

/// The section of a named schema, with the name as its anchor.
std::string schema_section(const YAML::Node& document, std::string_view name, const YAML::Node& schema);

/// Examples next to a schema or to the schema of a parameter: `example` and each of `examples`.
std::string short_examples(const YAML::Node& owner);

} // namespace cleat::http::docs
