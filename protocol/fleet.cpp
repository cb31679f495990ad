#include "protocol/fleet.hpp"

#include "protocol/enum_names.hpp"

namespace cleat {

template <>
struct Names<OperationKind> {
  static constexpr std::array<std::string_view, 3> all{"fresh", "resume", "stop"};
};
template <>
struct Names<OperationState> {
  static constexpr std::array<std::string_view, 4> all{"reserved", "dispatched", "promoted", "failed"};
};
template <>
struct Names<FailureClass> {
  static constexpr std::array<std::string_view, 2> all{"retryable", "terminal"};
};
template <>
struct Names<BindingState> {
  static constexpr std::array<std::string_view, 3> all{"live", "suspended", "released"};
};
template <>
struct Names<Direction> {
  static constexpr std::array<std::string_view, 2> all{"in", "out"};
};
template <>
struct Names<Cleanup> {
  static constexpr std::array<std::string_view, 4> all{"none", "claimed", "done", "failed"};
};

std::string secret_place(const Id& account_id, std::string_view name) {
  return account_id.str() + '/' + std::string(name);
}

std::string_view to_string(OperationKind value) {
  return name_of(value);
}
std::string_view to_string(OperationState value) {
  return name_of(value);
}
std::string_view to_string(FailureClass value) {
  return name_of(value);
}
std::string_view to_string(BindingState value) {
  return name_of(value);
}
std::string_view to_string(Direction value) {
  return name_of(value);
}
std::string_view to_string(Cleanup value) {
  return name_of(value);
}

template std::optional<OperationKind> from_string(std::string_view);
template std::optional<OperationState> from_string(std::string_view);
template std::optional<FailureClass> from_string(std::string_view);
template std::optional<BindingState> from_string(std::string_view);
template std::optional<Direction> from_string(std::string_view);
template std::optional<Cleanup> from_string(std::string_view);

} // namespace cleat
