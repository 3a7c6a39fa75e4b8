"""Calls of arithmetic.py, as calls.py has them."""
import library_calls
import torch
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, i8, i64, int32, ints, launch

CALLS = []
add = adds_to(CALLS)


def power_of(n, exponent, block, warps, kind=f32):
    x, out = rand(n, low=0.1, high=3.0).to(kind), zeros(n, dtype=kind)
    return launch([x, out, exponent, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x.float() ** exponent])


def divisors(n, kind):
    """Numbers of both signs, none of them 0"""
    sign = ints(0, 2, n, dtype=kind) * 2 - 1
    return ints(1, 100, n, dtype=kind) * sign


def floor_int(n, block, warps, kind=int32):
    x, y = ints(-10000, 10000, n, dtype=kind), divisors(n, kind)
    outs = [zeros(n, dtype=kind), zeros(n, dtype=kind)]
    return launch([x, y, *outs, n], {"BLOCK": block}, cdiv(n, block), outs, warps,
                  lambda: [x // y, x % y])


def floor_float(n, block, warps, kind=f32):
    x, y, out = randn(n, dtype=kind, scale=100.0), randn(n, dtype=kind), zeros(n, dtype=kind)
    if library_calls.FILLED:
        y = torch.where(y.abs() < 0.1, 0.5, y).to(kind)
    return launch([x, y, out, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x.float() // y.float()])


def remainder(n, y, block, warps, kind=bf16):
    x, out = randn(n, dtype=kind, scale=10.0), zeros(n, dtype=kind)
    return launch([x, out, y, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x.float().remainder(y)])


def polar(n, block, warps):
    r, angle, out = rand(n), rand(n, low=-20.0, high=20.0), zeros(n, 2, dtype=f32)
    return launch([r, angle, out, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [torch.view_as_real(torch.polar(r, angle))])


def broken(n, kind):
    """Numbers, and some that are none"""
    x = randn(n, dtype=kind)
    if library_calls.FILLED:
        for i, value in enumerate((float("nan"), float("inf"), float("-inf"))):
            x[i::17] = value
    return x


def nan_to_num(n, block, warps, kind=f16):
    x, out = broken(n, kind), zeros(n, dtype=kind)
    return launch([x, out, 0.5, 100.0, -50.0, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x.nan_to_num(0.5, 100.0, -50.0)])


def isclose(n, block, warps, kind=f32):
    x, y, out = broken(n, kind), broken(n, kind), zeros(n, dtype=i8)
    if library_calls.FILLED:
        y[::2] = x[::2] * (1 + 1e-6)
    return launch([x, y, out, 1e-5, 1e-8, n], {"EQUAL_NAN": True, "BLOCK": block}, cdiv(n, block),
                  [out], warps, lambda: [torch.isclose(x, y, equal_nan=True).to(i8)])


def gcd(n, block, warps, kind=int32):
    x, y, out = ints(-50000, 50000, n, dtype=kind), ints(0, 50000, n, dtype=kind), \
        zeros(n, dtype=kind)
    return launch([x, y, out, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [torch.gcd(x, y)])


def diff(M, N, tile, warps, kind=f32):
    x, out = randn(M, N, dtype=kind), zeros(M, N - 1, dtype=kind)
    return launch([x, out, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps, lambda: [x.diff(dim=1)])


add("arithmetic.py", "pow_scalar", "fp32 2^26 ** 2.7, 4 warps", power_of, dict(n=1 << 26),
    dict(n=3001), exponent=2.7, block=1024, warps=4)
add("arithmetic.py", "pow_scalar", "bf16 2^26 ** -0.3, 4 warps", power_of, dict(n=1 << 26),
    dict(n=3001), exponent=-0.3, block=512, warps=4, kind=bf16)
for kind, name in ((int32, "int32"), (i64, "int64")):
    add("arithmetic.py", "floor_divide_int", f"{name} 2^24, 4 warps", floor_int, dict(n=1 << 24),
        dict(n=3001), block=512, warps=4, kind=kind)
add("arithmetic.py", "floor_divide_float", "fp32 2^25, 4 warps", floor_float, dict(n=1 << 25),
    dict(n=3001), block=512, warps=4)
add("arithmetic.py", "remainder_scalar", "bf16 2^26 by -1.75, 4 warps", remainder, dict(n=1 << 26),
    dict(n=3001), y=-1.75, block=1024, warps=4)
add("arithmetic.py", "polar", "2^24 of complex64, 4 warps", polar, dict(n=1 << 24), dict(n=3001),
    block=1024, warps=4)
add("arithmetic.py", "nan_to_num", "fp16 2^27, 4 warps", nan_to_num, dict(n=1 << 27), dict(n=3001),
    block=2048, warps=4)
add("arithmetic.py", "isclose", "fp32 2^26, 4 warps", isclose, dict(n=1 << 26), dict(n=3001),
    block=1024, warps=4)
add("arithmetic.py", "gcd", "int32 2^22, 4 warps", gcd, dict(n=1 << 22), dict(n=1001), block=256,
    warps=4)
add("arithmetic.py", "diff_rows", "fp32 8192×4097, 4 warps", diff, dict(M=8192, N=4097),
    dict(M=5, N=300), tile=(4, 256), warps=4)
