#!/usr/bin/env python3
# The emulator's mma, ldmatrix, stmatrix and movmatrix give what numpy gives, and say what is wrong with their use.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
"""Kernels of one instruction each: its registers come from memory and go there. What the numbers should be is told by
Inputs/fragments.py and numpy; which kernels are refused, and in which words, by the lines below."""
import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver, DriverError
from fragments import of_a, of_b, of_c, pack, some, unpack

HEADER = ".version 8.6\n.target %s\n.address_size 64\n"
START = """.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %t<4>; .reg .b64 %a<4>; .reg .pred %p<2>;
.shared .align 1024 .b8 tile[1024];
ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u32 %t0, %tid.x;
"""


def names(letter, n):
    return "{%s}" % ", ".join("%%%s%d" % (letter, i) for i in range(n))


def moves(verb, letter, n, bits, at, first):
    """Loads or stores of n registers, [register][lane]."""
    lines = ["mul.wide.u32 %%a2, %%t0, %d; add.s64 %%a2, %s, %%a2;" % (bits // 8, at)]
    for i in range(n):
        register, address = "%%%s%d" % (letter, i), "[%%a2+%d]" % ((first + i) * 32 * bits // 8)
        lines.append("%s.global.b%d %s;" % (verb, bits, "%s, %s" % ((register, address) if verb == "ld" else (address, register))))
    return "\n".join(lines) + "\n"


def run(driver, text, given, wanted_like):
    source, target = driver.array(given), driver.array(np.zeros_like(wanted_like))
    module = driver.load(text)
    module.launch("k", (1, 1, 1), 32, [source.pointer, target.pointer])
    out = target.read()
    module.unload()
    source.free()
    target.free()
    return out


# ---- mma ----

QUAD, INNER = np.arange(32) % 16 // 4, np.arange(32) % 4
UPPER = np.arange(32) // 16 * 4


def quad_places(which, kind, column):
    """m8n8k4 of f16 as four products: (product, row, column) of each element."""
    i = np.arange(8 if which in "cd" else 4)[:, None]
    along, across = i + 0 * INNER, INNER + UPPER + 0 * i
    if which in "cd" and kind == "f32":
        row, col = (INNER & 1) + (i & 2) + UPPER, (i & 4) + (INNER & 2) + (i & 1)
    elif which in "cd":
        row, col = across, along
    elif which == "a":
        row, col = (i + UPPER, INNER + 0 * i) if column else (across, along)
    else:
        row, col = (along, across) if column else (INNER + 0 * i, i + UPPER)
    return QUAD + 0 * i, row, col


def forms():
    for m, n, k, a, b, d, c in [
            (16, 8, 8, "f16", "f16", "f16", "f16"), (16, 8, 8, "f16", "f16", "f32", "f32"), (16, 8, 16, "f16", "f16", "f16", "f16"),
            (16, 8, 16, "f16", "f16", "f32", "f32"), (16, 8, 8, "bf16", "bf16", "f32", "f32"), (16, 8, 16, "bf16", "bf16", "f32", "f32"),
            (16, 8, 4, "tf32", "tf32", "f32", "f32"), (16, 8, 8, "tf32", "tf32", "f32", "f32"), (16, 8, 32, "e4m3", "e5m2", "f32", "f32"),
            (16, 8, 32, "e5m2", "e4m3", "f16", "f16"), (16, 8, 16, "e4m3", "e4m3", "f32", "f32"), (8, 8, 4, "f64", "f64", "f64", "f64"),
            (16, 8, 4, "f64", "f64", "f64", "f64"), (16, 8, 8, "f64", "f64", "f64", "f64"), (16, 8, 16, "f64", "f64", "f64", "f64"),
            (8, 8, 16, "s8", "u8", "s32", "s32"), (16, 8, 16, "u8", "s8", "s32", "s32"), (16, 8, 32, "s8", "s8", "s32", "s32"),
            (8, 8, 32, "u4", "s4", "s32", "s32"), (16, 8, 32, "s4", "s4", "s32", "s32"), (16, 8, 64, "s4", "u4", "s32", "s32"),
            (8, 8, 128, "b1", "b1", "s32", "s32"), (16, 8, 128, "b1", "b1", "s32", "s32"), (16, 8, 256, "b1", "b1", "s32", "s32")]:
        tails = [".xor.popc", ".and.popc"] if a == "b1" else [""]
        infix = [".satfinite", ""] if a in ("s8", "u8", "s4", "u4") else [""]
        for tail in tails:
            for saturated in infix:
                yield (m, n, k), (a, b, d, c), ".row.col", saturated, tail
    for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
        for layout in (".row.col", ".row.row", ".col.col", ".col.row"):
            yield (8, 8, 4), ("f16", "f16", d, c), layout, "", ""


def mma_kernel(name, counts, bits):
    na, nb, nc, nd = counts
    registers = ".reg .b%d %%x<%d>, %%y<%d>, %%c<%d>, %%d<%d>;\n" % (bits, na, nb, nc, nd)
    loads = moves("ld", "x", na, bits, "%a0", 0) + moves("ld", "y", nb, bits, "%a0", na) + moves("ld", "c", nc, bits, "%a0", na + nb)
    lists = ", ".join(names(*x) for x in (("d", nd), ("x", na), ("y", nb), ("c", nc)))
    return START + registers + loads + "%s %s;\n" % (name, lists) + moves("st", "d", nd, bits, "%a1", 0) + "ret; }\n"


def check_mma(driver, rng, shape, types, layout, saturated, tail):
    (m, n, k), (a, b, d, c) = shape, types
    quad = shape == (8, 8, 4) and a == "f16"
    stack = (4,) if quad else ()
    x, y, z = some(a, rng, *stack, m, k), some(b, rng, *stack, k, n), some(c, rng, *stack, m, n)
    if saturated:
        z = rng.choice([2**31 - 5, -2**31 + 3, 17], z.shape)
    if quad:
        places = [quad_places("a", a, layout.startswith(".col")), quad_places("b", b, layout.endswith(".col")),
                  quad_places("c", c, False), quad_places("d", d, False)]
    else:
        places = [of_a(a, m, k), of_b(b, k, n), of_c(m, n), of_c(m, n)]
    packed = [pack(kind, matrix, at) for kind, matrix, at in ((a, x, places[0]), (b, y, places[1]), (c, z, places[2]))]
    wanted = (np.abs(x[:, :, None] - y[None]).sum(1) if "xor" in tail else x @ y) + z
    if saturated:
        wanted = np.clip(wanted, -2**31, 2**31 - 1)
    order = "%s.%s.%s.%s" % (d, a, b, c)
    name = "mma.sync.aligned.m%dn%dk%d%s%s.%s%s" % (*shape, layout, saturated, order, tail)
    like = pack(d, np.zeros_like(wanted), places[3])
    text = HEADER % "sm_90" + mma_kernel(name, [*map(len, packed), len(like)], 64 if a == "f64" else 32)
    out = unpack(d, run(driver, text, np.concatenate(packed), like), places[3], wanted.shape)
    return name if not np.array_equal(out, wanted) else None


# ---- ldmatrix and its kin ----

def address_of_rows(space):
    """Lane l names the row 5 l + 3 (mod 32) of 16 bytes: %t1, and as a generic address %a3."""
    return ("mad.lo.u32 %t1, %t0, 5, 3; and.b32 %t1, %t1, 31; shl.b32 %t1, %t1, 4; mov.u32 %t2, tile; add.u32 %t1, %t1, %t2;\n"
            "cvt.u64.u32 %a3, %t1; cvta.shared.u64 %a3, %a3;\n")


def fragments(rows, count, transposed):
    """What lanes get of [8 count][8] elements of 16 bits."""
    matrices = rows.reshape(-1, 8, 8)[:count]
    pairs = (matrices.transpose(0, 2, 1) if transposed else matrices).reshape(count, 32, 2).astype(np.uint32)
    return pairs[..., 0] | pairs[..., 1] << 16


FILL = "mul.wide.u32 %a2, %t0, 16; add.s64 %a2, %a0, %a2; shl.b32 %t3, %t0, 4; add.u32 %t3, %t3, %t2;\n.reg .b32 %v<4>;\n"


def check_moves(driver, rng, count, transposed, space):
    lanes = (5 * np.arange(32) + 3) % 32
    rows = rng.integers(0, 2**16, (32, 8)).astype(np.uint16)
    suffix = "m8n8.x%d%s%s.b16" % (count, ".trans" if transposed else "", space)
    address = "[%t1]" if space else "[%a3]"
    registers = ".reg .b32 %%d<%d>;\n" % count
    load = (START + registers + address_of_rows(space) + FILL + "ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%a2];\n"
            "st.shared.v4.b32 [%t3], {%v0, %v1, %v2, %v3}; bar.warp.sync -1;\n" +
            "ldmatrix.sync.aligned.%s %s, %s;\n" % (suffix, names("d", count), address) + moves("st", "d", count, 32, "%a1", 0) + "ret; }\n")
    wanted = fragments(rows[lanes], count, transposed)
    bad = [] if np.array_equal(run(driver, HEADER % "sm_75" + load, rows, wanted), wanted) else ["ldmatrix." + suffix]
    store = (START + registers + address_of_rows(space) + FILL + moves("ld", "d", count, 32, "%a0", 0) +
             "mov.b32 %v0, 0; st.shared.v4.b32 [%t3], {%v0, %v0, %v0, %v0}; bar.warp.sync -1;\n"
             "stmatrix.sync.aligned." + suffix + " " + address + ", " + names("d", count) + ";\n"
             "bar.warp.sync -1; ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%t3];\n"
             "mul.wide.u32 %a2, %t0, 16; add.s64 %a2, %a1, %a2; st.global.v4.b32 [%a2], {%v0, %v1, %v2, %v3}; ret; }\n")
    back = np.zeros_like(rows)
    back[lanes[:8 * count]] = rows[lanes[:8 * count]]
    return bad + ([] if np.array_equal(run(driver, HEADER % "sm_90" + store, wanted, rows), back) else ["stmatrix." + suffix])


def check_movmatrix(driver, rng):
    rows = rng.integers(0, 2**16, (8, 8)).astype(np.uint16)
    text = (START + ".reg .b32 %d<1>;\n" + moves("ld", "d", 1, 32, "%a0", 0) + "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %d0;\n" +
            moves("st", "d", 1, 32, "%a1", 0) + "ret; }\n")
    wanted = fragments(rows, 1, True)
    return [] if np.array_equal(run(driver, HEADER % "sm_75" + text, fragments(rows, 1, False), wanted), wanted) else ["movmatrix"]


# ---- what is refused ----

def refused(library, target, body, threads=32):
    """What the driver says of a kernel."""
    driver = Driver(library)
    text = HEADER % target + START + ".reg .b32 %d<8>; .reg .b64 %q<8>;\n" + body + "\nret; }\n"
    try:
        driver.load(text).launch("k", (1, 1, 1), threads, [ctypes.c_uint64(0), ctypes.c_uint64(0)])
        print("no error: %s" % body, flush=True)
    except DriverError as error:
        print(error, flush=True)
    driver.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.library.cuDevicePrimaryCtxRelease_v2(driver.device)


F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%d4, %d5, %d6, %d7}, {%d0, %d1}, {%d0, %d1, %d2, %d3};"
REFUSED = [
    # CHECK: 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' needs sm_80, the text is for sm_75
    ("sm_75", F16),
    # CHECK: 'mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' is no form of the instruction that is known here
    ("sm_80", F16.replace("mma.", "mma.sp.")),
    # CHECK: 'mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32' is no form of the instruction
    ("sm_80", F16.replace("f16.f16", "f16.bf16")),
    # CHECK: 'mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32' is no form of the instruction
    ("sm_80", F16.replace("row.col", "row.row")),
    # CHECK: 'mma.sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32' is no form of the instruction
    ("sm_80", F16.replace("row.col", "row.col.rn")),
    # CHECK: 'mma.sync.m16n8k16.row.col.f32.f16.f16.f32' is no form of the instruction
    ("sm_80", F16.replace(".aligned", "")),
    # CHECK: expected ','
    ("sm_80", F16.replace(", {%d0, %d1, %d2, %d3};", ", {%d0, %d1};")),
    # CHECK: 'stmatrix.sync.aligned.m8n8.x1.shared.b16' needs sm_90, the text is for sm_80
    ("sm_80", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%d0};"),
    # CHECK: 'ldmatrix.sync.aligned.m8n8.x3.shared.b16' is no form of the instruction
    ("sm_80", "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%d0}, [tile];"),
    # CHECK: 'ldmatrix.sync.aligned.m8n8.x1.global.b16' is no form of the instruction
    ("sm_80", "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%d0}, [%a0];"),
    # CHECK: 'movmatrix.sync.aligned.m8n8.b16' is no form of the instruction
    ("sm_80", "movmatrix.sync.aligned.m8n8.b16 %d0, %d1;"),
    # CHECK: 16 bytes at 0x408, which is no multiple of 16
    # CHECK: in 'ldmatrix.sync.aligned.m8n8.x1.shared.b16', line {{[0-9]+}} of the PTX of 'k'
    ("sm_80", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [tile+8];"),
    # CHECK: 16 bytes at shared address 0x800, which is outside of it
    ("sm_80", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [tile+1024];"),
    # CHECK: reads shared memory at 0x400 that nothing has written
    ("sm_80", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [tile];"),
    # Warps that write the same are no race.
    # CHECK: no error: mov.b32 %d0, 5; stmatrix
    ("sm_90", "mov.b32 %d0, 5; stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%d0};", 64),
    # CHECK: race in shared memory: writes 0x400, with nothing that orders it after where it was written
    ("sm_90", "mov.u32 %d0, %tid.x; shr.u32 %d0, %d0, 5; stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%d0};", 64),
    # CHECK: the generic address 0x1000 does not lead to shared memory
    ("sm_80", "mov.u64 %q0, 4096; ldmatrix.sync.aligned.m8n8.x1.b16 {%d0}, [%q0];"),
    # CHECK: lanes that the instruction names do not come to it: only 0x0000000f wait here of 0xffffffff that run
    ("sm_80", "setp.lt.u32 %p0, %t0, 4; @%p0 " + F16 + " bar.warp.sync -1;"),
    # CHECK: all 32 lanes of a warp execute this together, but only 0x0000ffff are there
    ("sm_80", F16, 16),
]
# CHECK: 45 forms of mma, 12 of ldmatrix and stmatrix, movmatrix: 0 differ


def main():
    library = sys.argv[1]
    for case in REFUSED:
        refused(library, *case)
    driver, rng = Driver(library), np.random.default_rng(8)
    products = [check_mma(driver, rng, *form) for form in forms()]
    ways = [(count, transposed, space) for count in (1, 2, 4) for transposed in (False, True) for space in (".shared", "")]
    bad = [x for x in products if x] + [x for way in ways for x in check_moves(driver, rng, *way)] + check_movmatrix(driver, rng)
    for name in bad:
        print("differs: %s" % name)
    print("%d forms of mma, %d of ldmatrix and stmatrix, movmatrix: %d differ" % (len(products), len(ways), len(bad)))


main()
