#pragma once

#include <array>
#include <span>
#include <string_view>

#include "http/route.hpp"

/// The route tables, one a resource; `routes()` joins them.
namespace cleat::http {

/// Each stands in the file of its resource.
std::span<const Route> session_routes();
std::span<const Route> space_routes();
std::span<const Route> channel_routes();
std::span<const Route> thread_routes();
std::span<const Route> principal_routes();
std::span<const Route> grant_routes();
std::span<const Route> audit_routes();
std::span<const Route> run_routes();
std::span<const Route> event_routes();
std::span<const Route> account_routes();
std::span<const Route> runner_routes();
std::span<const Route> container_routes();
std::span<const Route> agent_session_routes();
std::span<const Route> operating_routes();

/// The query parameters of a paged list.
inline constexpr std::array<std::string_view, 2> page_parameters{"limit", "cursor"};

/// The part of a list that the query asks for.
Result<PageRange> page_of(const Query& query);

/// The same for a list with filters, in which `errors` were found already: everything that is wrong at once.
Result<PageRange> page_with(const Query& query, std::vector<FieldError> errors);

} // namespace cleat::http
