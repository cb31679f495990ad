# cleat_embed_files(TARGET HEADER NAMESPACE FILE...): makes HEADER (relative to the build folder, included as
# "generated/HEADER") with one `inline constexpr std::string_view` a file, named after the file with everything but
# letters and digits turned into `_`, and an array `all` of {name, text} in the order given.
function(cleat_embed_files target header namespace)
  set(output "${PROJECT_BINARY_DIR}/generated/${header}")
  set(files "")
  foreach(file IN LISTS ARGN)
    list(APPEND files "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endforeach()
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DNAMESPACE=${namespace}" "-DFILES=${files}" -P
            "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    DEPENDS ${files} "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    COMMENT "Embedding ${header}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  target_include_directories(${target} PUBLIC "${PROJECT_BINARY_DIR}")
endfunction()
