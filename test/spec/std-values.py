#!/usr/bin/env python3
# What the library's functions and the operations compute, on cpu, against numpy: std-values.py TKC [NAME...]
# REQUIRES: numpy
# RUN: %python %s %build/tkc | FileCheck %s
# CHECK: {{^[0-9]+ passed, 0 failed$}}
"""Elementwise functions are judged in units in the last place of a double precision reference, on numbers from the whole
range where they are defined; everything else must be exact or within a tolerance that its case states."""
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

np.seterr(all="ignore")
rng = np.random.default_rng(3)
N = 4096
TKC, NAMES = sys.argv[1], sys.argv[2:]
FOLDER = tempfile.TemporaryDirectory()
passed = failed = 0

HEAD = """import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice


@triton.jit
def kernel({params}):
    {body}
"""


def run(params, body, arguments, out):
    """The named array after one program; None when it was refused."""
    source = os.path.join(FOLDER.name, "kernel.tk")
    with open(source, "w") as f:
        f.write(HEAD.format(params=params, body="\n    ".join(body.strip().split("\n"))))
    words = []
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            np.save(os.path.join(FOLDER.name, name + ".npy"), value)
            value = os.path.join(FOLDER.name, name + ".npy")
        words.append(f"{name}={value}")
    result = os.path.join(FOLDER.name, "result.npy")
    command = [TKC, "-run", "-device", "cpu", "-grid", "1", source, *words, "-save", f"{out}={result}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
        return None
    return np.load(result)


def judge(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED", name, why)


def wanted(name):
    return not NAMES or any(n in name for n in NAMES)


def ulps(got, want):
    nearest = want.astype(np.float32)
    unit = np.maximum(np.spacing(np.abs(nearest)).astype(np.float64), 2.0**-149)
    error = np.abs(got.astype(np.float64) - want) / unit
    error[(got == nearest) | (np.isnan(got) & np.isnan(nearest))] = 0
    error[np.isnan(error)] = np.inf
    return error


# ---- elementwise functions ----

def anything():
    x = rng.integers(0, 2**32, N, dtype=np.uint64).astype(np.uint32).view(np.float32).copy()
    x[np.isnan(x)] = 0.5
    return x


def between(low, high, tiny=False):
    x = rng.uniform(low, high, N)
    if tiny:
        x[: N // 4] *= 1e-5
    return x.astype(np.float32)


each = np.vectorize
FUNCTIONS = [
    # name, reference, arguments, units allowed
    ("atan", np.arctan, anything, 2.5),
    ("asin", np.arcsin, lambda: between(-1, 1, True), 2.5),
    ("acos", np.arccos, lambda: between(-1, 1, True), 2.5),
    ("expm1", np.expm1, lambda: between(-104, 89, True), 2.5),
    ("log1p", np.log1p, lambda: np.maximum(anything(), np.float32(-0.99)), 2.5),
    ("sinh", np.sinh, lambda: between(-90, 90, True), 2),
    ("cosh", np.cosh, lambda: between(-90, 90, True), 2),
    ("asinh", np.arcsinh, anything, 3.5),
    ("acosh", np.arccosh, lambda: np.float32(1) + np.abs(anything()), 3.5),
    ("atanh", np.arctanh, lambda: between(-1, 1, True), 3.5),
    ("cbrt", np.cbrt, anything, 2.5),
    ("exp10", lambda x: 10.0**x, lambda: between(-44, 38.5), 2.5),
    ("log10", np.log10, lambda: np.abs(anything()), 2.5),
    ("tan", np.tan, lambda: between(-20, 20), 3),
    ("sinpi", lambda x: np.sin(np.pi * (x - 2 * np.rint(x / 2))), lambda: between(-19.9, 20.1), 2.5),
    ("erfc", each(math.erfc), lambda: between(-4, 10), 4),
    ("round", lambda x: np.trunc(x + np.copysign(0.5, x)), lambda: between(-20, 20), 0),
    ("trunc", np.trunc, anything, 0),
    ("rint", np.rint, anything, 0),
]


def test_functions():
    for name, reference, arguments, limit in FUNCTIONS:
        if not wanted(name):
            continue
        x = arguments()
        body = f"i = tl.arange(0, {N})\ntl.store(o + i, libdevice.{name}(tl.load(x + i)))"
        got = run('x: "*fp32", o: "*fp32"', body, {"x": x, "o": np.zeros(N, np.float32)}, "o")
        if got is None:
            judge(name, False, "refused")
            continue
        error = ulps(got, reference(x.astype(np.float64)))
        worst = int(np.argmax(error))
        judge(name, error[worst] <= limit, f"{error[worst]} units at {x[worst]!r}: {got[worst]!r}")


PAIRS = [
    ("pow", np.power, 2),
    ("atan2", np.arctan2, 3),
    ("fmod", np.fmod, 0),
    ("hypot", np.hypot, 2.5),
    ("copysign", np.copysign, 0),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, math.inf, -math.inf, math.nan, 1e-40, -2.5, 1e30]


def test_pairs():
    for name, reference, limit in PAIRS:
        if not wanted(name):
            continue
        x, y = between(0.01, 40), between(-20, 20)
        special = np.array([(a, b) for a in SPECIAL for b in SPECIAL], np.float32)
        x[: len(special)], y[: len(special)] = special[:, 0], special[:, 1]
        body = f"i = tl.arange(0, {N})\ntl.store(o + i, libdevice.{name}(tl.load(x + i), tl.load(y + i)))"
        arrays = {"x": x, "y": y, "o": np.zeros(N, np.float32)}
        got = run('x: "*fp32", y: "*fp32", o: "*fp32"', body, arrays, "o")
        if got is None:
            judge(name, False, "refused")
            continue
        error = ulps(got, reference(x.astype(np.float64), y.astype(np.float64)))
        if name in ("hypot", "fmod"):  # NaN beside infinity is a matter of convention
            error[: len(special)][np.isnan(special).any(axis=1)] = 0
        worst = int(np.argmax(error))
        judge(name, error[worst] <= limit, f"{error[worst]} units at {x[worst]!r}, {y[worst]!r}: {got[worst]!r}")


# ---- random numbers ----

def philox(counter, key):
    c, k = [int(n) for n in counter], [int(n) for n in key]
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def test_random():
    if not wanted("random"):
        return
    judge("random reference", philox([0] * 4, [0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])
    seed = 0x123456789ABCDEF
    words = np.array([philox([i, 0, 0, 0], [seed % 2**32, seed >> 32]) for i in range(64)], np.uint32)
    body = """i = tl.arange(0, 64)
a, b, c, d = tl.randint4x(seed, i)
tl.store(o + i * 4, a)
tl.store(o + i * 4 + 1, b)
tl.store(o + i * 4 + 2, c)
tl.store(o + i * 4 + 3, d)"""
    got = run('o: "*u32", seed: "i64"', body, {"o": np.zeros(256, np.uint32), "seed": seed}, "o")
    judge("random words", got is not None and np.array_equal(got.reshape(64, 4), words))
    signed = words[:, 0].view(np.int32)
    uniform = np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
    body = "i = tl.arange(0, 64)\ntl.store(o + i, tl.rand(seed, i))"
    got = run('o: "*fp32", seed: "i64"', body, {"o": np.zeros(64, np.float32), "seed": seed}, "o")
    judge("random uniform", got is not None and np.array_equal(got, uniform))


# ---- across elements ----

def expect(name, params, body, arguments, out, want, tolerance=0.0):
    if not wanted(name):
        return
    got = run(params, body, arguments, out)
    if got is None:
        judge(name, False, "refused")
    elif tolerance:
        judge(name, np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True), f"{got}\nwanted\n{want}")
    else:
        judge(name, np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), f"{got}\nwanted\n{want}")


def test_order():
    x = rng.normal(size=48).astype(np.float32)
    x[5] = np.nan
    params, load = 'x: "*fp32", o: "*fp32"', "i = tl.arange(0, 48)\nv = tl.load(x + i)\n"
    arrays = {"x": x, "o": np.zeros(48, np.float32)}
    down = np.concatenate([np.sort(x[~np.isnan(x)])[::-1], [np.nan]]).astype(np.float32)
    expect("sort", params, load + "tl.store(o + i, tl.sort(v))", arrays, "o", np.sort(x))
    expect("sort down", params, load + "tl.store(o + i, tl.sort(v, descending=True))", arrays, "o", down)
    expect("flip", params, load + "tl.store(o + i, tl.flip(v))", arrays, "o", x[::-1])
    top = np.zeros(48, np.float32)
    top[:5] = down[:5]
    expect("topk", params, load + "tl.store(o + tl.arange(0, 5), tl.topk(v, 5))", arrays, "o", top)
    arrays["x"] = np.nan_to_num(x)
    expect("cumsum", params, load + "tl.store(o + i, tl.cumsum(v, 0, reverse=True))", arrays, "o",
           np.cumsum(arrays["x"][::-1])[::-1], 1e-5)


def test_reductions():
    m = rng.normal(size=(7, 13)).astype(np.float32)
    m[2, 3] = np.nan
    m[4] = np.nan
    m[1, 5] = m[1, 9] = 99
    params = 'x: "*fp32[7, 13]", o: "*fp32", a: "*i32"'
    load = "v = x[tl.arange(0, 7)[:, None], tl.arange(0, 13)[None, :]]\nr = tl.arange(0, 7)\n"
    arrays = {"x": m, "o": np.zeros(7, np.float32), "a": np.zeros(7, np.int32)}
    best = [0 if np.isnan(row).all() else np.nanargmax(row) for row in m]
    least = [0 if np.isnan(row).all() else np.nanargmin(row) for row in m]
    expect("max", params, load + "tl.store(o + r, tl.max(v, 1))", arrays, "o", np.fmax.reduce(m, 1))
    expect("min", params, load + "tl.store(o + r, tl.min(v, 1))", arrays, "o", np.fmin.reduce(m, 1))
    expect("sum", params, load + "tl.store(o + r, tl.sum(v, 1))", arrays, "o", m.sum(1), 1e-5)
    expect("argmax", params, load + "tl.store(a + r, tl.argmax(v, 1))", arrays, "a", np.array(best))
    expect("argmin", params, load + "tl.store(a + r, tl.argmin(v, 1))", arrays, "a", np.array(least))
    expect("reduce", params, load + "tl.store(o + r, tl.reduce(tl.where(v == v, v, 1.0), 1, lambda p, q: p * q))",
           arrays, "o", np.where(m == m, m, 1).prod(1), 1e-4)


# ---- memory ----

def test_memory():
    x = rng.normal(size=(5, 6)).astype(np.float32)
    padded = np.zeros((8, 8), np.float32)
    padded[1:6, :6] = x
    rows = "i = tl.arange(0, 8)[:, None]\nj = tl.arange(0, 8)[None, :]\n"
    expect("extents", 'x: "*fp32[M, N]", M: "i32", N: "i32", o: "*fp32[8, 8]"',
           rows + "o[i, j] = x[i - 1, j]\nx[i + 100, j] = 5.0",
           {"x": x, "M": 5, "N": 6, "o": np.ones((8, 8), np.float32)}, "o", padded)
    corner = np.full((4, 4), np.nan, np.float32)
    corner[:3, :3] = x[2:5, 3:6]
    expect("block pointer", 'x: "*fp32", M: "i32", N: "i32", o: "*fp32"', """
p = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (4, 4), (1, 0))
p = tl.advance(p, (2, 3))
q = tl.make_block_ptr(o, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="nan"))""",
           {"x": x, "M": 5, "N": 6, "o": np.zeros((4, 4), np.float32)}, "o", corner)
    copied = np.zeros((6, 8), np.float32)
    copied[:5, :6] = x
    expect("descriptor", 'x: "*fp32", M: "i32", N: "i32", o: "*fp32"', """
d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [2, 4])
e = tl.make_tensor_descriptor(o, [6, 8], [8, 1], [2, 4])
for s in range(0, 3):
    e.store([s * 2, 0], d.load([s * 2, 0]))
    e.store([s * 2, 4], d.load([s * 2, 4]))""",
           {"x": x, "M": 5, "N": 6, "o": np.ones((6, 8), np.float32)}, "o", copied)
    old = np.array([1, -1, 2, -3, 0, 5, -7, 0.5], np.float32)
    new = np.array([0.5, -2, 3, 1, -1, 6, -8, -0.5], np.float32)
    params, arrays = 'x: "*fp32", o: "*fp32"', {"x": new, "o": old}
    body = "i = tl.arange(0, 8)\ntl.atomic_{}(o + i, tl.load(x + i))"
    expect("atomic max", params, body.format("max"), arrays, "o", np.maximum(old, new))
    expect("atomic min", params, body.format("min"), arrays, "o", np.minimum(old, new))
    expect("atomic add", params, body.format("add"), arrays, "o", old + new)


def test_dot_scaled():
    a, b = (rng.integers(0, 256, shape).astype(np.uint8) for shape in ((16, 32), (32, 16)))
    scale_a, scale_b = (rng.integers(120, 130, (16, 2)).astype(np.uint8) for _ in range(2))
    numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    numbers = np.concatenate([numbers, -numbers])

    def wide(x, scale):
        return np.stack([numbers[x & 15], numbers[x >> 4]], -1).reshape(16, 64) * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 1)

    expect("dot_scaled", 'a: "*u8[16, 32]", b: "*u8[32, 16]", sa: "*u8[16, 2]", sb: "*u8[16, 2]", o: "*fp32[16, 16]"', """
r = tl.arange(0, 16)
k = tl.arange(0, 32)
s = tl.arange(0, 2)[None, :]
x = a[r[:, None], k[None, :]]
y = b[k[:, None], r[None, :]]
o[r[:, None], r[None, :]] = tl.dot_scaled(x, sa[r[:, None], s], "e2m1", y, sb[r[:, None], s], "e2m1")""",
           {"a": a, "b": b, "sa": scale_a, "sb": scale_b, "o": np.zeros((16, 16), np.float32)}, "o",
           wide(a, scale_a) @ wide(b.T, scale_b).T, 1e-5)


test_functions()
test_pairs()
test_random()
test_order()
test_reductions()
test_memory()
test_dot_scaled()
print(f"{passed} passed, {failed} failed")
