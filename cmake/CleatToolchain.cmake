# How everything of ours is compiled: one language level, the same warnings everywhere, warnings are errors.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(CLEAT_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for example address,undefined or thread")
set(CLEAT_TEST_SANITIZERS OFF CACHE BOOL "Whether ctest builds and runs suites with sanitizers, which takes some ten minutes more")
set(CLEAT_FUZZ OFF CACHE BOOL "Whether tests/fuzz builds the fuzzers, which takes clang")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Options that every target of ours links against.
add_library(cleat_options INTERFACE)
target_compile_options(cleat_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                                               -Wconversion -Wno-sign-conversion -Werror)
# GCC 12 reports moves of std::variant and std::optional with strings in them as uninitialized when it inlines them
# (its bugs 105562 and 105593); clang and the sanitizers see none of it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(cleat_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_include_directories(cleat_options INTERFACE "${PROJECT_SOURCE_DIR}")

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CLEAT_SANITIZE)
  target_link_options(cleat_options INTERFACE -fuse-ld=mold)
endif()

if(CLEAT_SANITIZE)
  # Whatever is found ends the program.
  target_compile_options(cleat_options INTERFACE -fsanitize=${CLEAT_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer -O1 -g1)
  if(CLEAT_FUZZ)
    target_compile_options(cleat_options INTERFACE "-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/ignorelist")
    # The library's assertions find what sanitizers cannot see: a front() of nothing. CAF does not pass them (it refers to
    # an empty tuple by a null pointer), and fuzzers are without CAF.
    target_compile_definitions(cleat_options INTERFACE _GLIBCXX_ASSERTIONS)
  endif()
  target_link_options(cleat_options INTERFACE -fsanitize=${CLEAT_SANITIZE})
endif()

# Compiles a target's sources together, some at a time, where sanitizers are on: most of the time that such a file takes
# goes to the headers of CAF, and nobody waits for the next change of one file there.
function(cleat_unite target)
  if(CLEAT_SANITIZE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    # It warns where a header is meant, and here a source includes a source.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
