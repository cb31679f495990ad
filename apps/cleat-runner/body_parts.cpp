#include "apps/cleat-runner/body_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"

namespace cleat::runner {

std::list<BodyParts::Body>::iterator BodyParts::find(const OperationKey& key, std::int64_t dispatch) {
  return std::find_if(bodies_.begin(), bodies_.end(),
                      [&](const Body& body) { return body.key == key && body.dispatch == dispatch; });
}

void BodyParts::add(const OperationKey& key, std::int64_t dispatch, const wire::BodyPart& part) {
  auto body = find(key, dispatch);
  if (body == bodies_.end())
    body = bodies_.insert(bodies_.end(), {key, dispatch, 0, {}});
  const bool is_next = body->parts == part.index;
  body->parts = is_next ? body->parts + 1 : -1;
  if (is_next) {
    body->bytes += part.bytes;
    bytes_ += part.bytes.size();
  }
  while (bytes_ > static_cast<std::size_t>(limits::runner_pending_bodies_bytes)) {
    bytes_ -= bodies_.front().bytes.size();
    bodies_.pop_front();
  }
}

std::optional<std::string> BodyParts::take(const OperationKey& key, std::int64_t dispatch, std::int64_t parts) {
  const auto found = find(key, dispatch);
  if (found == bodies_.end())
    return parts == 0 ? std::optional<std::string>("") : std::nullopt;
  const auto body = std::move(*found);
  bodies_.erase(found);
  bytes_ -= body.bytes.size();
  return body.parts == parts ? std::optional(body.bytes) : std::nullopt;
}

void BodyParts::clear() {
  bodies_.clear();
  bytes_ = 0;
}

} // namespace cleat::runner
