# Every library from outside, all of them Debian packages (scripts/packages.txt), as imported targets.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(tl-expected REQUIRED)
find_package(GTest REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(mimalloc REQUIRED)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(YAMLCPP REQUIRED IMPORTED_TARGET yaml-cpp)

# Debian's CAF, RapidJSON and RapidCheck come without usable CMake packages.
find_path(CAF_INCLUDE_DIR caf/all.hpp REQUIRED)
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
add_library(cleat_caf INTERFACE)
target_include_directories(cleat_caf SYSTEM INTERFACE "${CAF_INCLUDE_DIR}")
target_link_libraries(cleat_caf INTERFACE "${CAF_CORE_LIBRARY}" Threads::Threads)

find_path(RAPIDJSON_INCLUDE_DIR rapidjson/writer.h REQUIRED)
add_library(cleat_rapidjson INTERFACE)
target_include_directories(cleat_rapidjson SYSTEM INTERFACE "${RAPIDJSON_INCLUDE_DIR}")
# std::string keys and the C++ language level of this project.
target_compile_definitions(cleat_rapidjson INTERFACE RAPIDJSON_HAS_STDSTRING=1)

find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h REQUIRED)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
add_library(cleat_rapidcheck INTERFACE)
target_include_directories(cleat_rapidcheck SYSTEM INTERFACE "${RAPIDCHECK_INCLUDE_DIR}")
target_link_libraries(cleat_rapidcheck INTERFACE "${RAPIDCHECK_LIBRARY}")
