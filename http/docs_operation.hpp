#pragma once

#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

namespace cleat::http::docs {

/// One operation of a contract: a method on a path.
struct Operation {
  std::string path;
  std::string method;
  YAML::Node item; ///< Everything on the path, of which the parameters are shared.
  YAML::Node node; ///< What belongs to the method.

  /// The anchor of its section: its id, or else method and path.
  std::string anchor() const;

  /// Method and path as HTML.
  std::string title() const;
};

/// The section of an operation.
std::string operation_section(const YAML::Node& document, const Operation& operation);

/// The section of an answer that operations share, a member of `components/responses`.
std::string shared_answer_section(const YAML::Node& document, std::string_view name, const YAML::Node& response);

/// The anchors of a shared answer and of a shared header.
std::string answer_anchor(std::string_view name);
std::string header_anchor(std::string_view name);

} // namespace cleat::http::docs
