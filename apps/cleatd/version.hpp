#pragma once

namespace cleat::cleatd {

/// The version of this build, from the project's CMakeLists.txt.
inline constexpr const char* version = CLEAT_VERSION;

} // namespace cleat::cleatd
