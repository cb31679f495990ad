#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace cleat::http::docs {

/// A member of a mapping. Where there is none, an undefined node that can be asked and walked like any other.
YAML::Node member(const YAML::Node& node, std::string_view name);

/// The text of a scalar; empty for everything else.
std::string text(const YAML::Node& node);

/// The text of a scalar member; empty when there is none.
std::string text(const YAML::Node& node, std::string_view name);

/// What a `$ref` into the document leads to, through further ones; the node itself when it is none. Undefined when the
/// reference leads nowhere.
YAML::Node resolve(const YAML::Node& document, const YAML::Node& node);

/// The last step of the reference when it leads to a member of `components/<kind>`; otherwise empty.
std::string component_name(std::string_view kind, std::string_view reference);

/// A value as indented JSON. Small lists and objects stay on one line.
std::string json(const YAML::Node& node);

/// Members of a mapping in a new order. Not a node, because one with parts of another takes over all of its memory.
using Entries = std::vector<std::pair<std::string, YAML::Node>>;

/// A mapping as YAML.
std::string yaml(const Entries& entries);

} // namespace cleat::http::docs
