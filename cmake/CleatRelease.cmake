# Development manifests: what is built passes the real gate (spec 04 section 9), with a key that the build makes for
# itself. Packages are signed with the key of whoever releases them (cmake/CleatPackage.cmake).
set(cleat_release_folder "${PROJECT_BINARY_DIR}/release")

# Not remade when cleat-release is rebuilt: every manifest would have to be signed again.
add_custom_command(
  OUTPUT "${cleat_release_folder}/release.key" "${cleat_release_folder}/release.pub"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${cleat_release_folder}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${cleat_release_folder}"
  COMMAND cleat-release keygen --key "${cleat_release_folder}/release.key" --public "${cleat_release_folder}/release.pub"
  COMMENT "Making the key of development manifests"
  VERBATIM)
add_custom_target(cleat_release_key DEPENDS "${cleat_release_folder}/release.key")

# Signs TARGET as ARTIFACT whenever it is linked, beside the program and wherever else manifests are named.
function(cleat_sign target artifact)
  set(commands "")
  foreach(manifest "$<TARGET_FILE:${target}>.manifest.json" ${ARGN})
    list(APPEND commands COMMAND cleat-release sign --key "${cleat_release_folder}/release.key" --artifact ${artifact}
         --version "${PROJECT_VERSION}" --binary "$<TARGET_FILE:${target}>" --manifest "${manifest}")
  endforeach()
  add_custom_command(TARGET ${target} POST_BUILD ${commands}
    COMMAND "${CMAKE_COMMAND}" -E copy "${cleat_release_folder}/release.pub" "$<TARGET_FILE_DIR:${target}>/release.pub"
    VERBATIM)
  add_dependencies(${target} cleat_release_key)
endfunction()
