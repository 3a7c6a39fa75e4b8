# Parameters fill the space that PTX has for them: past 4352 bytes the text asks for PTX 8.1, past 32764 the kernel is refused
# before anything is lowered.
# RUN: %python %s %t
# RUN: tkc %t-544.tk | FileCheck %s --check-prefix=SMALL
# RUN: tkc %t-545.tk | FileCheck %s --check-prefix=LARGE
# RUN: tkc %t-4095.tk | FileCheck %s --check-prefix=LARGE
# RUN: not tkc %t-4096.tk 2>&1 | FileCheck %s --check-prefix=REFUSED
# SMALL: .version 7.0
# LARGE: .version 8.1
# REFUSED: 4096.tk:4:5: error: kernel 'k' takes 32768 bytes of parameters, and a kernel on sm_80 has room for 32764
# REFUSED: note: numbers that are known now can be constexprs, others an array that is loaded
import sys

for n in (544, 545, 4095, 4096):
    with open("%s-%d.tk" % (sys.argv[1], n), "w") as f:
        names = "".join(", p%d: 'i64'" % i for i in range(n - 1))
        f.write("import triton\nimport triton.language as tl\n@triton.jit\ndef k(x: '*fp32'%s):\n    tl.store(x, 1.0)\n" % names)
