#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/route.hpp"

namespace cleat::http {

/// A route and what the path says in the places of its `{names}`, not yet read (`path_values.hpp`).
struct Match {
  const Route* route = nullptr;
  std::vector<std::string> values;
};

/// The path exists, for other methods: the value of `Allow` (RFC 9110 section 10.2.1).
struct OtherMethods {
  std::string allow;
};

/// There is no such path.
struct NoSuchPath {};

/// Finds routes by path and method: one step a segment, however many routes there are. Read-only once it is made.
class Router {
public:
  /// `routes` must outlive the router.
  explicit Router(std::span<const Route> routes);
  ~Router();

  /// HEAD finds the routes of GET.
  [[nodiscard]] std::variant<Match, OtherMethods, NoSuchPath> find(std::string_view method,
                                                                   std::span<const std::string> segments) const;

private:
  struct Node;
  std::unique_ptr<Node> root_;
};

} // namespace cleat::http
