# The archive that users link defines the functions that the public headers declare and no other global symbol.
# RUN: nm --defined-only --extern-only %build/libtkc.a > %t
# RUN: %python %s %include/tkc %t | FileCheck %s
# UNSUPPORTED: asan
# CHECK: {{[1-9][0-9]+}} functions
# CHECK-NOT: {{.}}
import re
import sys

headers = "".join(open("%s/%s.h" % (sys.argv[1], name)).read() for name in ("tkc", "runtime"))
declared = set(re.findall(r"^TKC_API [^(]*?(tkc_\w+)\(", headers, re.MULTILINE))
defined = {line.split()[-1] for line in open(sys.argv[2]) if len(line.split()) == 3}
print("%d functions" % len(declared))
for name in sorted(declared - defined):
    print("declared, not defined:", name)
for name in sorted(defined - declared):
    print("defined, not declared:", name)
