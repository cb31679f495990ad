#include "http/router.hpp"

#include <algorithm>

namespace cleat::http {

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  std::unique_ptr<Node> any;
  /// In the order of the method's name.
  std::map<std::string_view, const Route*> methods;
};

Router::Router(std::span<const Route> routes) : root_(std::make_unique<Node>()) {
  for (const auto& route : routes) {
    auto* node = root_.get();
    auto rest = route.pattern;
    while (!rest.empty()) {
      rest.remove_prefix(1);
      const auto end = std::min(rest.find('/'), rest.size());
      const auto segment = rest.substr(0, end);
      auto& child = segment.starts_with('{') ? node->any : node->children[std::string(segment)];
      if (!child)
        child = std::make_unique<Node>();
      node = child.get();
      rest.remove_prefix(end);
    }
    node->methods[route.method] = &route;
  }
}

Router::~Router() = default;

std::variant<Match, OtherMethods, NoSuchPath> Router::find(std::string_view method,
                                                           std::span<const std::string> segments) const {
  Match match;
  const auto* node = root_.get();
  for (const auto& segment : segments) {
    if (const auto child = node->children.find(segment); child != node->children.end()) {
      node = child->second.get();
    } else if (node->any) {
      match.values.push_back(segment);
      node = node->any.get();
    } else {
      return NoSuchPath{};
    }
  }
  if (node->methods.empty())
    return NoSuchPath{};
  if (const auto found = node->methods.find(method == "HEAD" ? "GET" : method); found != node->methods.end()) {
    match.route = found->second;
    return match;
  }
  OtherMethods other;
  for (const auto& [name, route] : node->methods)
    other.allow += (other.allow.empty() ? "" : ", ") + std::string(name) + (name == "GET" ? ", HEAD" : "");
  return other;
}

} // namespace cleat::http
