# LLVM 22: where its headers are, and how a program is linked with it: LLVM_LINK by ours, LLVM_PC (for pkg-config) by
# those of libtkc.a.
find_program(LLVM_CONFIG NAMES llvm-config-22 HINTS /usr/lib/llvm-22/bin)
if(NOT LLVM_CONFIG)
  message(FATAL_ERROR "LLVM 22 is missing: install it with `apt-get install llvm-22-dev llvm-22-tools` "
                      "(Debian 12 has it in its security archive; ./dev build installs all that is missing), "
                      "or name another with -DLLVM_CONFIG=/path/to/llvm-config")
endif()

# Sets `variable` to the one line that llvm-config prints for the arguments.
function(tkc_llvm_config variable)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status)
    message(FATAL_ERROR "${LLVM_CONFIG} ${ARGN} failed: ${err}")
  endif()
  set(${variable} ${out} PARENT_SCOPE)
endfunction()

tkc_llvm_config(LLVM_VERSION --version)
tkc_llvm_config(LLVM_INCLUDE_DIR --includedir)
tkc_llvm_config(LLVM_LIB_DIR --libdir)
tkc_llvm_config(LLVM_TOOLS_DIR --bindir)
if(NOT LLVM_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "${LLVM_CONFIG} is LLVM ${LLVM_VERSION}; tkc needs 22 (`apt-get install llvm-22-dev`)")
endif()
if(NOT EXISTS ${LLVM_INCLUDE_DIR}/llvm-c/Core.h)
  message(FATAL_ERROR "LLVM's headers are missing: install them with `apt-get install llvm-22-dev`")
endif()

# The archive of a library, by asking the compiler where it would look.
function(tkc_static_library variable name package)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a OUTPUT_VARIABLE path
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "lib${name}.a is missing: install it with `apt-get install ${package}`, "
                        "or configure with -DTKC_STATIC=OFF")
  endif()
  set(${variable} ${path} PARENT_SCOPE)
endfunction()

if(TKC_STATIC)
  tkc_llvm_config(libs --link-static --libs passes nvptx)
  tkc_static_library(stdcxx stdc++ g++)
  tkc_static_library(zlib z zlib1g-dev)
  tkc_static_library(zstd zstd libzstd-dev)
  separate_arguments(libs UNIX_COMMAND "${libs}")
  # llvm-config also names libz3 and libxml2: nothing that we link uses them.
  set(LLVM_LINK -L${LLVM_LIB_DIR} ${libs} ${stdcxx} ${zlib} ${zstd})
  set(LLVM_PC "") # it is in libtkc.a
else()
  tkc_llvm_config(LLVM_LINK --link-shared --libs)
  set(LLVM_LINK -L${LLVM_LIB_DIR} ${LLVM_LINK})
  set(LLVM_PC ${LLVM_LINK})
endif()

# The command is at a fixed address: LLVM's tables then need no relocation at every start.
function(tkc_link_llvm target)
  target_link_libraries(${target} PRIVATE ${LLVM_LINK})
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,--gc-sections)
  if(TKC_STATIC)
    target_link_options(${target} PRIVATE -no-pie -static-libgcc -s)
  endif()
endfunction()
