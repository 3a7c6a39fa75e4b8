#!/usr/bin/env python3
# The emulator's wgmma gives what numpy gives, from any layout in shared memory, and says when its results are touched too early.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
"""Each kernel copies an image of shared memory that numpy has made, multiplies twice (the second time on top of the first), and
stores its registers. Then come kernels that do something wrong; what they are told is in the lines below."""
import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver, DriverError
from fragments import BITS, codes, of_a, of_c, pack, some, unpack

START = """.version 8.6\n.target %s\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %%t<8>, %%d<128>, %%e<128>, %%x<8>; .reg .b64 %%a<8>, %%q<8>; .reg .pred %%p<4>;
.shared .align 1024 .b8 tile[%d];
ld.param.u64 %%a0, [in]; ld.param.u64 %%a1, [out]; mov.u32 %%t0, %%tid.x; mov.u32 %%t1, tile;
setp.ne.u32 %%p1, %%t1, 0; not.pred %%p0, %%p1; shr.u32 %%t4, %%t1, 4; cvt.u64.u32 %%a3, %%t4;
"""
COPY = """mul.wide.u32 %%a2, %%t0, 4; add.s64 %%a4, %%a0, %%a2; shl.b32 %%t2, %%t0, 2; add.u32 %%t3, %%t1, %%t2;
copy: ld.global.b32 %%t5, [%%a4]; st.shared.b32 [%%t3], %%t5; add.s64 %%a4, %%a4, 512; add.u32 %%t3, %%t3, 512;
add.u32 %%t2, %%t2, 512; setp.lt.u32 %%p2, %%t2, %d; @%%p2 bra copy;
fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;
"""


def names(letter, n, first=0):
    return "{%s}" % ", ".join("%%%s%d" % (letter, first + i) for i in range(n))


# ---- layouts ----

def image(kind, matrix, layout):
    """[rows][k] in shared memory, two products' worth along k: its bytes, the descriptor, and what it grows by for the second."""
    rows, k = matrix.shape
    if layout == "mn":  # eight places along k are eight lines of 128 bytes, 64 rows each
        row, place = np.indices(matrix.shape)
        at = row // 64 * (k * 128) + place * 128 + row % 64 * 2
        return scatter(kind, matrix, at ^ (at >> 7 & 7) << 4), describe(k * 128, 1024, 1), (k // 2 * 128) >> 4
    element = np.arange(k) * BITS[kind] // 8
    row = np.arange(rows)[:, None]
    if layout == "128B":
        at = row * 128 + element
        return scatter(kind, matrix, at ^ (at >> 7 & 7) << 4), describe(16, 1024, 1), 32 >> 4
    core = row % 8 * 16 + element % 16  # 8 rows of 16 bytes; along k, then along the rows
    return scatter(kind, matrix, row // 8 * 512 + element // 16 * 128 + core), describe(128, 512, 0), 256 >> 4


def describe(leading, stride, swizzle):
    return leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62


def scatter(kind, matrix, at):
    """Elements at their bytes; single bits come eight to a byte."""
    bits = codes(kind, matrix)
    size = max(BITS[kind] // 8, 1)
    out = np.zeros(-(-(at.max() + size) // 1024) * 1024, np.uint8)
    if BITS[kind] == 1:
        for i in range(matrix.shape[1]):
            out[at[:, i]] |= (bits[:, i] << np.uint64(i % 8)).astype(np.uint8)
        return out
    for byte in range(size):
        out[at + byte] = (bits >> np.uint64(8 * byte)).astype(np.uint8)
    return out


# ---- products ----

def stores(letter, n):
    lines = ["mul.wide.u32 %a2, %t0, 4; add.s64 %a2, %a1, %a2;"]
    return "\n".join(lines + ["st.global.b32 [%%a2+%d], %%%s%d;" % (i * 512, letter, i) for i in range(n)]) + "\n"


def product(name, nd, a, b, scale, immediates):
    return "wgmma.mma_async.sync.aligned.%s %s, %s, %s, %s%s;\n" % (name, names("d", nd), a, b, scale, "".join(", %d" % i for i in immediates))


def immediates_of(kinds, signs, in_registers, transposed):
    if kinds[2] == "s32":
        return []
    if kinds[0] not in ("f16", "bf16"):
        return list(signs)
    return [*signs, *([] if in_registers else [transposed]), transposed]


def check(driver, rng, n, kinds, layout, in_registers, signs, saturated):
    """The text of what differs, or None."""
    a, b, d = kinds
    k = 256 // BITS[a]
    x, y = some(a, rng, 64, 2 * k), some(b, rng, n, 2 * k)
    left, right = [image(kind, matrix, layout) for kind, matrix in ((a, x), (b, y))]
    bytes_of_a = 0 if in_registers else len(left[0])
    shared = np.concatenate([left[0][:bytes_of_a], right[0]])
    registers = np.concatenate([pack(a, x[16 * w:16 * w + 16, :k], of_a(a, 16, k)) for w in range(4)], axis=1)
    second = np.concatenate([pack(a, x[16 * w:16 * w + 16, k:], of_a(a, 16, k)) for w in range(4)], axis=1)
    name = "m64n%dk%d%s.%s.%s.%s%s" % (n, k, ".satfinite" * saturated, d, a, b, ".and.popc" if a == "b1" else "")
    nd = n // 8 * (2 if d == "f16" else 4)
    text = START % ("sm_90a", len(shared)) + COPY % len(shared)
    text += "mul.wide.u32 %a2, %t0, 4; add.s64 %a2, %a0, %a2;\n"
    for i in range(8 * in_registers):
        text += "ld.global.b32 %%x%d, [%%a2+%d];\n" % (i, len(shared) + i * 512)
    for i in range(2):
        text += "add.s64 %%q0, %%a3, %d; add.s64 %%q1, %%a3, %d;\n" % (left[1] + i * left[2], right[1] + i * right[2] + (bytes_of_a >> 4))
        text += product(name, nd, names("x", 4, 4 * i) if in_registers else "%q0", "%q1", "%p1" if i else "%p0",
                        immediates_of(kinds, signs, in_registers, layout == "mn"))
    text += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" + stores("d", nd) + "ret; }\n"
    given = np.concatenate([shared, registers.view(np.uint8).reshape(-1), second.view(np.uint8).reshape(-1)])
    source, target = driver.array(given), driver.array(np.zeros((nd, 128), np.uint32))
    module = driver.load(text)
    module.launch("k", (1, 1, 1), 128, [source.pointer, target.pointer])
    result = target.read()
    module.unload()
    out = np.concatenate([unpack(d, result[:, 32 * w:32 * w + 32], of_c(16, n), (16, n)) for w in range(4)])
    wanted = (x @ y.T) * signs[0] * signs[1]
    return None if np.array_equal(out, wanted) else "%s, %s%s, %s" % (name, layout, ", a in registers" * in_registers, signs)


def cases(rng):
    for kinds in (("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"), ("e4m3", "e5m2", "f32"),
                  ("e5m2", "e4m3", "f16"), ("s8", "u8", "s32"), ("u8", "s8", "s32"), ("b1", "b1", "s32")):
        for layout in ("none", "128B") + (("mn",) if kinds[0] in ("f16", "bf16") else ()):
            for in_registers in (False, True):
                n = int(rng.choice([64, 128] if layout == "mn" else [8, 24, 64, 256]))
                signs = (1, 1) if kinds[2] == "s32" else tuple(rng.choice([-1, 1], 2))
                yield n, kinds, layout, in_registers, signs, kinds[0] == "s8"


# ---- what is wrong ----

# q0, q1: descriptors of both matrices; the tile is written and fenced
BEGIN = COPY % 4096 + "add.s64 %%q0, %%a3, %d; add.s64 %%q1, %%a3, %d;\n" % (describe(128, 512, 0), describe(128, 512, 0))
N8 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q0, %q1, 0, 1, 1, 0, 0;\n"
OTHER = N8.replace("%d", "%e")
N16 = OTHER.replace("n8", "n16").replace("%e3", "%e3, %d0, %d1, %d2, %d3")
IN_REGISTERS = N8.replace("%q0", "{%x0, %x1, %x2, %x3}").replace("0, 0;", "0;")
COMMIT, WAIT = "wgmma.commit_group.sync.aligned;\n", "wgmma.wait_group.sync.aligned %d;\n"
READ = "st.global.b32 [%a1], %d0;\n"
WRONG = [
    # CHECK: reads a register that holds the result of a product in flight, with no wgmma.wait_group for it in between
    # CHECK-NEXT: in 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16', line [[#PRODUCT:]] of the PTX of 'k'
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: in 'st.global.b32', line [[#PRODUCT+2]] of the PTX of 'k'
    # CHECK-NEXT: program (0, 0, 0), warp {{[0-3]}}
    BEGIN + N8 + COMMIT + READ,
    # CHECK: writes a register that holds the result of a product in flight
    BEGIN + N8 + COMMIT + "mov.b32 %d1, 0;" + WAIT % 0,
    # CHECK: reads a register that holds the result of a product in flight
    BEGIN + N8 + COMMIT + "mov.b32 %t5, %d1; add.u32 %t5, %t5, 1;" + WAIT % 0,
    # CHECK: reads a register that holds the result of a product in flight
    BEGIN + N8 + WAIT % 0 + READ,
    # CHECK: reads a register that holds the result of a product in flight
    BEGIN + OTHER + COMMIT + N8 + COMMIT + WAIT % 1 + READ,
    # CHECK: writes a register that holds matrix a of a product in flight
    BEGIN + IN_REGISTERS + COMMIT + "mov.b32 %x2, 0;" + WAIT % 0,
    # CHECK: accumulates in a register that holds the result of a product in flight
    BEGIN + N8 + N16 + COMMIT + WAIT % 0,
    # CHECK: reads a register that holds the result of a product in flight
    BEGIN + N8 + IN_REGISTERS.replace("%d", "%e").replace("%x0", "%d0") + COMMIT + WAIT % 0,
    # CHECK: what it starts reads shared memory at 0x{{[0-9a-f]+}} without a fence.proxy.async behind where it was written
    BEGIN.replace("fence.proxy.async.shared::cta;", "") + N8 + COMMIT + WAIT % 0,
    # CHECK: what it starts reads shared memory at 0x{{[0-9a-f]+}} without a fence.proxy.async behind where it was written
    BEGIN.replace("fence.proxy.async.shared::cta;", "fence.proxy.async.global;") + N8 + COMMIT + WAIT % 0,
    # CHECK: race in shared memory: writes 0x{{[0-9a-f]+}}, with nothing that orders it after where it was read by an asynchronous operation
    BEGIN + N8 + COMMIT + "st.shared.b32 [tile], %t0;" + WAIT % 0,
    # CHECK: what it starts reads shared memory at 0x{{[0-9a-f]+}} that nothing has written
    BEGIN + "add.s64 %q1, %q1, 256;" + N8 + COMMIT + WAIT % 0,
    # CHECK: matrix b: 16 bytes at shared address 0x{{[0-9a-f]+}}, which is outside of it
    BEGIN + "add.s64 %q1, %q1, 4096;" + N8,
    # CHECK: matrix a: 16 bytes at shared address 0x{{[0-9a-f]+}}, which is outside of it
    BEGIN + "sub.s64 %q0, %q0, 64;" + N8,
    # CHECK: the descriptor of matrix b is not the same in all lanes
    BEGIN + "cvt.u64.u32 %a2, %t0; add.s64 %q1, %q1, %a2;" + N8,
    # CHECK: what says whether d is added is not the same in all lanes
    BEGIN + "setp.eq.u32 %p3, %t0, 5;" + N8.replace("%q1, 0", "%q1, %p3"),
    # CHECK: 'wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16' is no form of the instruction that is known here
    BEGIN + N8.replace("n8", "n12"),
    # CHECK: 'wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16' is no form of the instruction that is known here
    BEGIN + N8.replace("async", "async.sp"),
    # CHECK: expected 1 or -1, found 2
    BEGIN + N8.replace("0, 1, 1", "0, 2, 1"),
    # CHECK: expected ';'
    BEGIN + N8.replace("k16.f32.f16.f16", "k8.f32.tf32.tf32"),
    # CHECK: '_' is no place for a product
    BEGIN + N8.replace("%d2", "_"),
    # CHECK: a number of groups is not negative
    BEGIN + WAIT % -1,
]
# CHECK: no error
RIGHT = (BEGIN + N8 + N8 + COMMIT + "mov.b32 %t5, %d1; mov.b32 %t5, 7;" + OTHER + COMMIT + WAIT % 1 + READ +
         "mov.b32 %d1, 0; mov.b32 %t6, %e0;" + WAIT % 0 + "st.global.b32 [%a1+4], %t6;")


def attempt(library, body, target="sm_90a", threads=128):
    driver = Driver(library)
    source, out = driver.array(np.zeros(4096, np.uint8)), driver.array(np.zeros(128, np.uint32))
    try:
        driver.load(START % (target, 8192) + body + "ret; }\n").launch("k", (1, 1, 1), threads, [source.pointer, out.pointer])
        print("no error", flush=True)
    except DriverError as error:
        print(error, flush=True)
    driver.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.library.cuDevicePrimaryCtxRelease_v2(driver.device)


def main():
    library = sys.argv[1]
    for body in WRONG:
        attempt(library, body)
    attempt(library, RIGHT)
    # CHECK: 'wgmma.fence.sync.aligned' is for sm_90a only
    attempt(library, "wgmma.fence.sync.aligned;", "sm_90")
    # CHECK: a warp group is four warps, the first one's number a multiple of 4; the program has 3 warps
    attempt(library, BEGIN.replace("512", "384") + N8, threads=96)
    driver, rng = Driver(library), np.random.default_rng(9)
    results = [check(driver, rng, *case) for case in cases(rng)]
    for name in filter(None, results):
        print("differs: %s" % name)
    # CHECK: 42 products, 0 differ
    print("%d products, %d differ" % (len(results), sum(r is not None for r in results)))


main()
