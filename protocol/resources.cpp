#include "protocol/resources.hpp"

#include <array>

#include "protocol/enum_names.hpp"

namespace cleat {

template <>
struct Names<Level> {
  static constexpr std::array<std::string_view, 5> all{"none", "read", "write", "trigger", "manage"};
};
template <>
struct Names<PrincipalKind> {
  static constexpr std::array<std::string_view, 3> all{"human", "agent", "app"};
};
template <>
struct Names<ToolClass> {
  static constexpr std::array<std::string_view, 2> all{"container", "host"};
};
template <>
struct Names<BillingMode> {
  static constexpr std::array<std::string_view, 2> all{"shared", "personal"};
};
template <>
struct Names<ChannelMode> {
  static constexpr std::array<std::string_view, 3> all{"open", "read_only", "archived"};
};
template <>
struct Names<ThreadKind> {
  static constexpr std::array<std::string_view, 2> all{"main", "thread"};
};
template <>
struct Names<ThreadState> {
  static constexpr std::array<std::string_view, 2> all{"open", "closed"};
};
template <>
struct Names<EndReason> {
  static constexpr std::array<std::string_view, 4> all{"reset", "rebind", "import", "agent_changed"};
};
template <>
struct Names<ScopeKind> {
  static constexpr std::array<std::string_view, 3> all{"space", "channel", "thread"};
};

template <>
struct Names<RunKind> {
  static constexpr std::array<std::string_view, 2> all{"operator", "guest"};
};
template <>
struct Names<RunState> {
  static constexpr std::array<std::string_view, 7> all{"held",      "queued", "running",  "waiting_input",
                                                       "succeeded", "failed", "cancelled"};
};
template <>
struct Names<MessageKind> {
  static constexpr std::array<std::string_view, 2> all{"message", "system"};
};
template <>
struct Names<MessageOrigin> {
  static constexpr std::array<std::string_view, 3> all{"human", "agent", "system"};
};
template <>
struct Names<SystemCode> {
  static constexpr std::array<std::string_view, 2> all{"thread.reopened", "agent_session.resume_failed"};
};
template <>
struct Names<SessionMode> {
  static constexpr std::array<std::string_view, 3> all{"new", "resume", "bind"};
};

std::string_view to_string(Level value) {
  return name_of(value);
}
std::string_view to_string(PrincipalKind value) {
  return name_of(value);
}
std::string_view to_string(ToolClass value) {
  return name_of(value);
}
std::string_view to_string(BillingMode value) {
  return name_of(value);
}
std::string_view to_string(ChannelMode value) {
  return name_of(value);
}
std::string_view to_string(ThreadKind value) {
  return name_of(value);
}
std::string_view to_string(ThreadState value) {
  return name_of(value);
}
std::string_view to_string(EndReason value) {
  return name_of(value);
}
std::string_view to_string(ScopeKind value) {
  return name_of(value);
}
std::string_view to_string(RunKind value) {
  return name_of(value);
}
std::string_view to_string(RunState value) {
  return name_of(value);
}
std::string_view to_string(MessageKind value) {
  return name_of(value);
}
std::string_view to_string(MessageOrigin value) {
  return name_of(value);
}
std::string_view to_string(SystemCode value) {
  return name_of(value);
}
std::string_view to_string(SessionMode value) {
  return name_of(value);
}

template <>
std::optional<Level> from_string<Level>(std::string_view name) {
  for (const Level level : {Level::read, Level::write, Level::trigger, Level::manage})
    if (name_of(level) == name)
      return level;
  return std::nullopt;
}

template std::optional<PrincipalKind> from_string(std::string_view);
template std::optional<ToolClass> from_string(std::string_view);
template std::optional<BillingMode> from_string(std::string_view);
template std::optional<ChannelMode> from_string(std::string_view);
template std::optional<ThreadKind> from_string(std::string_view);
template std::optional<ThreadState> from_string(std::string_view);
template std::optional<EndReason> from_string(std::string_view);
template std::optional<ScopeKind> from_string(std::string_view);
template std::optional<RunKind> from_string(std::string_view);
template std::optional<RunState> from_string(std::string_view);
template std::optional<MessageKind> from_string(std::string_view);
template std::optional<MessageOrigin> from_string(std::string_view);
template std::optional<SystemCode> from_string(std::string_view);
template std::optional<SessionMode> from_string(std::string_view);

} // namespace cleat
