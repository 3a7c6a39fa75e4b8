# Kernels on the host's arrays: numpy's and what speaks DLPack, on cpu and on the emulated GPU; every kind of argument, of grid and of
# constexpr; what is written is written in place.
# REQUIRES: numpy
# RUN: %tkc-python %s cpu | FileCheck %s
# RUN: %tkc-python %s simt | FileCheck %s
# RUN: env TKC_DEVICE=simt:sm_80 %tkc-python %s | FileCheck %s
import enum
import sys
import threading
import warnings

import numpy as np

import tkc
import tkc as triton
import tkc.language as tl
from tkc.language.extra import libdevice
from tkc.language.math import exp2

warnings.simplefilter("error")
if len(sys.argv) > 1:
    tkc.use(sys.argv[1])


@tkc.jit
def add(x, y, z, n, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


x, y = np.arange(50, dtype=np.float32), np.ones(50, np.float32)
for grid in ((4,), [4], 4, (np.int64(4), 1), (4, 1, 1), lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),),
             lambda meta: [tkc.cdiv(meta["x"].size, meta["BLOCK"])]):
    z = np.zeros(50, np.float32)
    add[grid](x, y, z, 50)
    assert (z == x + 1).all(), (grid, z)
add[(0,)](x, x, z, 50)
assert (z == x + 1).all()
add[(4,)](z=z, x=x, y=x, n=np.int32(50), BLOCK=16)
assert (z == 2 * x).all()
held = np.zeros(50, np.float32)
code = add[(4,)](x, y, held, 50, maxnreg=48).asm
assert (held == x + 1).all() and ("ptx" not in code or ".maxnreg 48" in code["ptx"])
# CHECK: grids
print("grids")

# Every type of elements; an array that shares memory with another, and one that is a part of a larger one.
for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
    a = np.arange(20, dtype=name)
    add[(1,)](a, a[1:], a, 19, BLOCK=32)
    want = np.arange(20, dtype=name)
    want[:19] += np.arange(1, 20, dtype=name)
    assert (a == want).all(), (name, a)
    b = np.zeros((3, 40), name)
    add[(2,)](np.arange(20, dtype=name), np.ones(20, name), b[1, 10:], 20)
    assert (b[1, 10:30] == np.arange(1, 21, dtype=name)).all() and b.sum() == b[1, 10:30].sum(), (name, b)
flags = np.array([True, False, True])
out = np.zeros(3, np.int32)


@tkc.jit
def count(flags, out):
    i = tl.arange(0, 3)
    tl.store(out + i, tl.where(tl.load(flags + i), 7, 1))


count[(1,)](flags, out)
# CHECK: elements [7, 1, 7]
print("elements", out.tolist())


@tkc.jit
def strided(x, y, rows, columns, STEP: tl.constexpr):
    i, j = tl.arange(0, 4)[:, None], tl.arange(0, 4)[None, :]
    tl.store(y + i * 4 + j, tl.load(x + i * rows + j * columns * STEP))


grid_ = np.arange(64, dtype=np.int32).reshape(8, 8)
part, out = grid_.T[::2, ::2], np.zeros((4, 4), np.int32)
strided[(1,)](part, out, part.strides[0] // 4, part.strides[1] // 4, 1)
# CHECK: not contiguous True
print("not contiguous", (out == part).all())


class Exchange:
    """Somebody else's array."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


out = np.zeros(16, np.float32)
add[(1,)](Exchange(x[3:]), Exchange(np.float32([1] * 16)), Exchange(out), 16)
# CHECK: by DLPack True
print("by DLPack", (out == x[3:19] + 1).all())


class Kind(enum.IntEnum):
    PLAIN = 3


@tkc.jit
def twice(v):
    return 2 * v


@tkc.jit
def values(out, a, b, c, d, e, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, E: tl.constexpr, F: tl.constexpr):
    tl.store(out, a + 0.0)
    tl.store(out + 1, b)
    tl.store(out + 2, tl.where(~c, 6.0, 5.0))
    if d is None:
        tl.store(out + 3, 9.0)
    tl.store(out + 4, (e // 4294967296).to(tl.float64))
    tl.store(out + 5, A + B[1])
    if C == "text":
        tl.store(out + 6, tl.full([], 2.7, tl.float32).to(D).to(tl.float64))
    tl.store(out + 7, E(21))
    if F == -float("inf"):
        tl.store(out + 8, libdevice.rint(exp2(3.0)))


out = np.zeros(9)
values[(1,)](out, 3, np.float64(2.5), True, None, 2**63, Kind.PLAIN, (1, 2.5, None), "text", tl.int8, twice, -float("inf"))
# CHECK: values [3.0, 2.5, 5.0, 9.0, 2147483648.0, 5.5, 2.0, 42.0, 8.0]
print("values", out.tolist())
values[(1,)](out, -3, np.float32(2.5), np.bool_(False), None, -2**63, tl.constexpr(1), (1, 2), "text", tl.float32, twice, 0)
# CHECK: others [-3.0, 2.5, 6.0, 9.0, -2147483648.0, 3.0, 2.7, 42.0, 8.0]
print("others", [round(v, 3) for v in out.tolist()])


@tkc.jit
def same(out, A: tl.constexpr):
    tl.store(out, A / 2 if A is True else A * 4.0)


for a in (1, True, 1.0, 2):
    out = np.zeros(1, np.float32)
    same[(1,)](out, a)
    # CHECK: 1 4.0
    # CHECK: True 0.5
    # CHECK: 1.0 4.0
    # CHECK: 2 8.0
    print(a, out[0])


@tkc.jit
def through(d, e):
    e.store([2, 0], d.load([0, 1]).to(tl.float32) + 1)


d, e = np.arange(16, dtype=np.float32).reshape(2, 8), np.zeros((4, 4), np.float32)
through[(1,)](tkc.TensorDescriptor(d, [2, 8], [8, 1], [2, 4]), tkc.TensorDescriptor.from_tensor(e, [2, 4]))
# CHECK: descriptors {{\[\[}}0, 0, 0, 0], [0, 0, 0, 0], [2, 3, 4, 5], [10, 11, 12, 13]]
print("descriptors", e.astype(int).tolist())
kernel = through[(1,)](tkc.TensorDescriptor(d, [2, 3], [8, 1], [2, 4], "nan"), tkc.TensorDescriptor.from_tensor(e, [2, 4]))
# What a launch returns is asked of later: its arguments are still there, the descriptors, too.
others = [tkc._library.Descriptor(2**63, 1, 99) for _ in range(100)]
assert len(kernel.asm) == 1
# CHECK: padded [2.0, 3.0, nan, nan]
print("padded", e[2].tolist())

# What must not be written may be read.
frozen = np.arange(16, dtype=np.float32)
frozen.flags.writeable = False
add[(1,)](frozen, frozen, out16 := np.zeros(16, np.float32), 16)
assert (out16 == 2 * frozen).all()
try:
    add[(1,)](out16, out16, frozen, 16)
except ValueError as error:
    # CHECK: argument 'z' is an array that must not be written, and the kernel wrote to it; pass a copy
    print(error)
assert (frozen == np.arange(16)).all()


@tkc.jit
def say(x):
    tl.static_print("of", x.dtype.element_ty)
    tl.device_print("value", tl.load(x))


# CHECK: of fp32
say[(1,)](np.float32([2.5]))
sys.stdout.flush()
# CHECK: value: 2.5
compiled = add.warmup(x, y, z, 50, grid=(1,))
before = z.copy()
compiled[(4,)](x, y, z, 50)
# CHECK: warmed up True 4 True
print("warmed up", (z == x + 1).all() and not (before == z).all(), compiled.metadata.num_warps,
      ("ptx" if tkc.host_device() != "cpu" else "ir") in compiled.asm and compiled.n_regs >= 1 and compiled.n_spills == 0)
# CHECK: warps 2
print("warps", add.warmup(x, y, z, 50, grid=(1,), num_warps=2).metadata.num_warps)


@tkc.jit(num_warps=8)
def wide(x):
    tl.store(x, tl.load(x) + 1)


# CHECK: 8 1
print(wide.warmup(z).metadata.num_warps, wide.warmup(z, num_warps=1).metadata.num_warps)


def count_up():
    mine = np.zeros(8, np.float32)
    for turn in range(40):
        add[(1,)](mine, np.ones(8, np.float32), mine, 8, BLOCK=8 + turn % 3)
    done.append(mine.tolist() == [40.0] * 8)


done = []
threads = [threading.Thread(target=count_up) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# CHECK: threads [True, True, True, True]
print("threads", done)
assert tkc.version() == "0.1.0" and tkc.next_power_of_2(781) == 1024 and tkc.next_power_of_2(1) == 1
