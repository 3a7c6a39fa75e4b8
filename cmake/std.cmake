# The standard library, lib/std/*.tk, as C arrays (declared in lib/spec/std_files.h).
file(GLOB std_files CONFIGURE_DEPENDS lib/std/*.tk)
set(std_sources ${CMAKE_CURRENT_BINARY_DIR}/std_embed.c)
add_custom_command(OUTPUT ${std_sources}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${std_files}" -DOUT=${std_sources}
          -DTYPE=StdFile -DTABLE=std_files -DCOUNT=std_file_count -DHEADER=spec/std_files.h
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${std_files} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM COMMENT "Embedding the standard library")
