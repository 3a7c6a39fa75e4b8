# The programs that the README and the head of tkc.h show compile without a warning and run.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %src/README.md %t/readme.c
# RUN: %cc -std=c11 -Wall -Wextra -Werror -I %include %t/readme.c %build/libtkc.a %llvm-link -lpthread -lm -ldl -o %t/readme
# RUN: cd %src && env CUDA_VISIBLE_DEVICES= %t/readme | FileCheck %s --check-prefix=README
# README: 0 + 0 = 0
# RUN: %python %s %include/tkc/tkc.h %t/header.c
# RUN: %cc -std=c11 -Wall -Wextra -Werror -I %include %t/header.c %build/libtkc.a %llvm-link -lpthread -lm -ldl -o %t/header
# RUN: %t/header | FileCheck %s --check-prefix=HEADER
# HEADER: // tkc {{.*}}, kernel fill
# HEADER: .visible .entry fill(
# UNSUPPORTED: asan
import re
import sys
import textwrap

text = open(sys.argv[1]).read()
if sys.argv[1].endswith(".md"):
    program = re.search(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
else:
    head = text[:text.index("*/")]
    program = textwrap.dedent("\n".join(line for line in head.split("\n") if line.startswith(" " * 7) or not line))
assert "int main" in program
open(sys.argv[2], "w").write(program)
