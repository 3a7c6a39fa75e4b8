# The scanner and the parser, generated into the build tree.
set(grammar_dir ${CMAKE_CURRENT_BINARY_DIR}/grammar)
file(MAKE_DIRECTORY ${grammar_dir})
set(grammar_sources "")

add_custom_command(OUTPUT ${grammar_dir}/tkc.lex.c ${grammar_dir}/tkc.lex.h
  COMMAND ${FLEX} --outfile=tkc.lex.c --header-file=tkc.lex.h ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.l
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.l
  WORKING_DIRECTORY ${grammar_dir} VERBATIM COMMENT "Generating the scanner")
add_custom_command(OUTPUT ${grammar_dir}/tkc.tab.c ${grammar_dir}/tkc.tab.h
  COMMAND ${BISON} -Wall -Werror --defines=tkc.tab.h --output=tkc.tab.c
          ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.y
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.y
  WORKING_DIRECTORY ${grammar_dir} VERBATIM COMMENT "Generating the parser")
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.l)
  list(APPEND grammar_sources ${grammar_dir}/tkc.lex.c)
endif()
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/grammar/tkc.y)
  list(APPEND grammar_sources ${grammar_dir}/tkc.tab.c)
endif()
