# What the build needs besides a C compiler, each with the Debian package that has it.
function(tkc_find_tool variable name package)
  find_program(${variable} ${name})
  if(NOT ${variable})
    message(FATAL_ERROR "${name} is missing: install it with `apt-get install ${package}` "
                        "(or run ./dev build, which installs all that is missing)")
  endif()
endfunction()

tkc_find_tool(FLEX flex flex)
tkc_find_tool(BISON bison bison)
tkc_find_tool(CXX c++ g++) # for its libraries and for a check of the public headers; nothing of ours is C++
find_package(Threads REQUIRED)
