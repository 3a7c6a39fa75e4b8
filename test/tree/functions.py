# Each public function has a row in docs/functions.md, with a unit test that calls it; the check sees what is wrong with a table.
# RUN: %python %src/manual/functions.py %src | FileCheck %s
# CHECK: {{^[1-9][0-9]+}} public functions, 0 problems
# CHECK-NOT: {{.}}
# RUN: rm -rf %t && mkdir -p %t/docs %t/test && cp -r %src/include %t && cp -r %src/test/unit %t/test
# RUN: grep -v tkc_compile %src/docs/functions.md | sed 's#`tkc_check` | .*#`tkc_check` | `test/unit/arena_test.c` |#; s#tkc_launch#tkc_lunch#' > %t/docs/functions.md
# RUN: not %python %src/manual/functions.py %t | FileCheck %s --check-prefix=WRONG
# WRONG: tkc_compile: docs/functions.md has no row for it
# WRONG: tkc_check: test/unit/arena_test.c does not call it
# WRONG: tkc_launch: docs/functions.md has no row for it
# WRONG: tkc_lunch: no header has it
# WRONG: 4 problems
