# What `cmake --install` gives, and the Debian package that `cpack` makes of it.
install(TARGETS tkc_shared tkc)
install(FILES ${libtkc} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tkc/tkc.h include/tkc/runtime.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tkc)
if(TARGET tkc_redis)
  install(TARGETS tkc_redis)
  install(FILES stores/tkc/redis.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tkc)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
file(GLOB examples examples/*)
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# Both ways to find it, by paths from their own place: the installed tree may be moved.
list(JOIN LLVM_PC " " pc_llvm)
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(pc_files tkc tkc-static)
if(TARGET tkc_redis)
  list(APPEND pc_files tkc-redis)
endif()
foreach(pc ${pc_files})
  configure_file(cmake/${pc}.pc.in ${pc}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tkc)
configure_package_config_file(cmake/tkc-config.cmake.in tkc-config.cmake INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(tkc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tkc-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tkc-config-version.cmake cmake/tkc-kernels.cmake
        DESTINATION ${package_dir})

# The manual and the completions, of the headers' comments, the option table and docs/.
if(PYTHON3)
  set(share ${CMAKE_CURRENT_BINARY_DIR}/share)
  file(GLOB manual_sources CONFIGURE_DEPENDS manual/*.py docs/*.md)
  add_custom_command(OUTPUT ${share}.stamp
    COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/manual/write.py ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_VERSION} ${share}
    COMMAND ${CMAKE_COMMAND} -E touch ${share}.stamp
    DEPENDS ${manual_sources} include/tkc/tkc.h include/tkc/runtime.h src/options.def lib/base/diag_ids.def lib/ir/machines.def README.md
    VERBATIM COMMENT "Writing the manual and the completions")
  add_custom_target(tkc_manual ALL DEPENDS ${share}.stamp)
  install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "the authors of tkc <tkc@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The command tkc, the library libtkc for C and C++ programs, its headers and its manual.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)      # from dpkg-dev: what the binaries need, of which version
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and others of ours; with it comes the call of ldconfig
include(CPack)
