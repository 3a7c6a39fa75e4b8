# The shared library exports the functions that the public headers declare, each under a version, and nothing else; its soname says with
# which others it may be exchanged.
# RUN: nm --dynamic --defined-only --with-symbol-versions %build/libtkc.so > %t && readelf -d %build/libtkc.so > %t.elf
# RUN: %python %s %include/tkc %t %t.elf | FileCheck %s
# UNSUPPORTED: asan
# CHECK: {{[1-9][0-9]+}} functions, soname libtkc.so.0
# CHECK-NOT: {{.}}
import re
import sys

headers = "".join(open("%s/%s.h" % (sys.argv[1], name)).read() for name in ("tkc", "runtime"))
declared = set(re.findall(r"^TKC_API [^(]*?(tkc_\w+)\(", headers, re.MULTILINE))
symbols = [line.split()[-1] for line in open(sys.argv[2])]
defined = {s.partition("@@")[0] for s in symbols if s != "TKC_0.1" and not s.startswith("TKC_0.1@@")}
print("%d functions, soname %s" % (len(declared), re.search(r"soname: \[(.*)\]", open(sys.argv[3]).read()).group(1)))
for name in sorted(declared - defined):
    print("declared, not exported:", name)
for name in sorted(defined - declared):
    print("exported, not declared:", name)
for symbol in symbols:
    if symbol.startswith("tkc_") and not symbol.endswith("@@TKC_0.1"):
        print("without its version:", symbol)
