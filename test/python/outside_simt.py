"""What a kernel does behind the end of an array is told on the emulated GPU, too, wherever in memory the array lies."""
# REQUIRES: numpy
# RUN: %tkc-python %s | FileCheck %s
import numpy
import tkc
import tkc.language as tl

tkc.use("simt")


@tkc.jit
def put(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), n)


room = numpy.zeros(64, numpy.int32)
for begin in (0, 1, 17):
    put[(1,)](room[begin:begin + 8], 8)
# CHECK: [8, 8, 8, 8, 8, 8, 8, 8, 8, 0]
# CHECK: [8, 8, 8, 8, 8, 8, 8, 8, 0]
print(room[:10].tolist(), room[17:26].tolist(), sep="\n")
# CHECK: KernelError{{.*}}illegal memory access
# CHECK-NEXT: note: 4 bytes at {{.*}}, 0 bytes behind the end of an allocation of {{.*}}, of 'x'
# CHECK-NEXT: at {{.*}}outside_simt.py:[[#]]
try:
    put[(1,)](numpy.zeros(8, numpy.int32), 16)
except tkc.KernelError as error:
    print("KernelError", error)
