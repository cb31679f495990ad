# What is installed, and the Debian packages `cleat-server` and `cleat-runner`: run `cpack` in the build folder
# (docs/operating/installing.md). Tests, the load generator and the Runner that crashes on purpose are never installed.

set(CLEAT_RELEASE_KEY "${PROJECT_BINARY_DIR}/release/release.key"
    CACHE FILEPATH "The private key that signs the manifests of what is installed; the default is for development")
set(CLEAT_RELEASE_PUBLIC_KEY "${PROJECT_BINARY_DIR}/release/release.pub"
    CACHE FILEPATH "The public key of CLEAT_RELEASE_KEY: the trust root of what is installed")

set(packaging "${PROJECT_SOURCE_DIR}/packaging")
set(made "${PROJECT_BINARY_DIR}/packaging")
# Where Debian looks, whatever the prefix is. DESTDIR stands before both.
set(etc /etc/cleat)
set(units /lib/systemd/system)

# cleat_install_man(COMPONENT PAGE): a manual page as policy wants it, compressed and always to the same bytes.
function(cleat_install_man component page)
  string(REGEX MATCH "[0-9]$" section "${page}")
  set(compressed "${made}/${page}.gz")
  add_custom_command(OUTPUT "${compressed}" COMMAND gzip --best --no-name --stdout "${packaging}/man/${page}" > "${compressed}"
                     DEPENDS "${packaging}/man/${page}" VERBATIM)
  add_custom_target("cleat_man_${page}" ALL DEPENDS "${compressed}")
  install(FILES "${compressed}" DESTINATION "share/man/man${section}" COMPONENT ${component})
endfunction()

# cleat_maintainer_scripts(COMPONENT CONFFILE...): the scripts of a package and its list of conffiles. Takes the
# variables account, unit, config, gecos and purged.
function(cleat_maintainer_scripts component)
  set(folder "${made}/${component}")
  foreach(script postinst prerm postrm)
    configure_file("${packaging}/deb/${script}.in" "${folder}/${script}" @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
  list(JOIN ARGN "\n" conffiles)
  file(CONFIGURE OUTPUT "${folder}/conffiles" CONTENT "@conffiles@\n" @ONLY)
  string(TOUPPER "${component}" name)
  set(CPACK_DEBIAN_${name}_PACKAGE_CONTROL_EXTRA
      "${folder}/postinst;${folder}/prerm;${folder}/postrm;${folder}/conffiles" PARENT_SCOPE)
endfunction()

# cleat_install_manifest(COMPONENT TARGET MANIFEST): signs a program when it is installed. Stripping changes a binary, so
# a manifest made by the build would not be true of what is installed. The program may be one of another component; it is
# then treated in the same way beside the folder that is filled.
function(cleat_install_manifest component target manifest)
  install(
    CODE "
      set(copy \"${made}/signing/${component}\")
      file(COPY \"$<TARGET_FILE:${target}>\" DESTINATION \"\${copy}\")
      if(CMAKE_INSTALL_DO_STRIP)
        execute_process(COMMAND \"${CMAKE_STRIP}\" \"\${copy}/$<TARGET_FILE_NAME:${target}>\" COMMAND_ERROR_IS_FATAL ANY)
      endif()
      set(manifest \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${manifest}\")
      get_filename_component(folder \"\${manifest}\" DIRECTORY)
      file(MAKE_DIRECTORY \"\${folder}\")
      message(STATUS \"Signing: \${manifest}\")
      execute_process(COMMAND \"$<TARGET_FILE:cleat-release>\" sign --key \"${CLEAT_RELEASE_KEY}\" --artifact ${target}
                              --version \"${PROJECT_VERSION}\" --binary \"\${copy}/$<TARGET_FILE_NAME:${target}>\"
                              --manifest \"\${manifest}\" COMMAND_ERROR_IS_FATAL ANY)
      file(REMOVE_RECURSE \"\${copy}\")"
    COMPONENT ${component})
endfunction()

set(readable_by_group OWNER_READ OWNER_WRITE GROUP_READ)
set(operating "${PROJECT_SOURCE_DIR}/docs/operating")

# The server. Its maintainer script gives the configuration to the group of the service.
install(TARGETS cleatd cleat-release RUNTIME DESTINATION bin COMPONENT server)
install(FILES "${packaging}/units/cleatd.service" DESTINATION "${units}" COMPONENT server)
install(FILES "${packaging}/config/cleatd.toml" DESTINATION "${etc}" PERMISSIONS ${readable_by_group} COMPONENT server)
install(FILES "${CLEAT_RELEASE_PUBLIC_KEY}" DESTINATION "${etc}" RENAME release.pub COMPONENT server)
install(DIRECTORY "${operating}/" DESTINATION share/doc/cleat-server COMPONENT server)
install(FILES "${PROJECT_SOURCE_DIR}/docs/openapi.yaml" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION share/doc/cleat-server COMPONENT server)
cleat_install_man(server cleatd.8)
cleat_install_man(server cleat-release.1)
cleat_install_manifest(server cleatd share/cleat/cleatd.manifest.json)
cleat_install_manifest(server cleat-runner share/cleat/cleat-runner.manifest.json)

# The Runner. Nothing in it belongs to the other package, so that each can be installed without it.
install(TARGETS cleat-runner RUNTIME DESTINATION bin COMPONENT runner)
install(FILES "${packaging}/units/cleat-runner.service" DESTINATION "${units}" COMPONENT runner)
install(FILES "${packaging}/config/runner.toml" DESTINATION "${etc}" PERMISSIONS ${readable_by_group} COMPONENT runner)
install(FILES "${CLEAT_RELEASE_PUBLIC_KEY}" DESTINATION "${etc}" RENAME runner-release.pub COMPONENT runner)
install(FILES "${operating}/runner.md" "${operating}/security.md" "${operating}/installing.md"
              "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION share/doc/cleat-runner COMPONENT runner)
cleat_install_man(runner cleat-runner.8)
cleat_install_manifest(runner cleat-runner share/cleat-runner/cleat-runner.manifest.json)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL server runner)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME cleat)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "Cleat maintainers <cleat@example.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Cleat, the authority for agent sessions") # of both packages; what differs follows it
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME cleat-server)
set(CPACK_DEBIAN_SERVER_DESCRIPTION
    "The server: knows which session of an agent's runtime belongs to which chat thread, and starts agents on Runners.\n.\nKeeps everything in PostgreSQL: one that it starts itself, or one of yours.")
# The embedded database is the default and takes PostgreSQL's programs; who names one elsewhere needs none.
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "postgresql (>= 15)")
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS cleat-runner)
set(account cleat)
set(unit cleatd.service)
set(config "${etc}/cleatd.toml")
set(gecos "Cleat server")
set(purged "")
cleat_maintainer_scripts(server "${config}" "${etc}/release.pub")

set(CPACK_DEBIAN_RUNNER_PACKAGE_NAME cleat-runner)
set(CPACK_DEBIAN_RUNNER_DESCRIPTION
    "The Runner: starts, resumes and stops agents as processes or inside bubblewrap where a\nserver tells it to, and keeps a journal of it.")
set(CPACK_DEBIAN_RUNNER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_RUNNER_PACKAGE_RECOMMENDS bubblewrap)
set(account cleat-runner)
set(unit cleat-runner.service)
set(config "${etc}/runner.toml")
set(gecos "Cleat Runner")
set(purged "${etc}/runner.token")
cleat_maintainer_scripts(runner "${config}" "${etc}/runner-release.pub")

include(CPack)
