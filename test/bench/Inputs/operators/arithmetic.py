"""Elementwise arithmetic that torch defines closely: powers, quotients, remainders, nearness."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def pow_scalar(x_ptr, out_ptr, exponent, n, BLOCK: tl.constexpr):
    """Powers with an exponent that the launch brings."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, libdevice.pow(x, exponent).to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def floor_divide_int(x_ptr, y_ptr, quotient_ptr, rest_ptr, n, BLOCK: tl.constexpr):
    """Quotients towards minus infinity, and remainders with the divisor's sign."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=1)
    q = x // y
    r = x % y
    wrong = (r != 0) & ((r < 0) != (y < 0))
    tl.store(quotient_ptr + i, tl.where(wrong, q - 1, q), mask=i < n)
    tl.store(rest_ptr + i, tl.where(wrong, r + y, r), mask=i < n)


@triton.jit
def floor_divide_float(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Floor division as Python's: the remainder is taken off first, zeros keep their sign."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=i < n, other=1.0).to(tl.float32)
    rest = libdevice.fmod(x, y)
    other_sign = (rest != 0.0) & ((rest < 0.0) != (y < 0.0))
    q = (x - rest) / y
    q = tl.where(other_sign, q - 1.0, q)
    floor = tl.floor(q)
    floor = tl.where(q - floor > 0.5, floor + 1.0, floor)
    floor = tl.where(q != 0.0, floor, libdevice.copysign(0.0, x / y))
    floor = tl.where(y == 0.0, x / y, floor)
    tl.store(out_ptr + i, floor.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def remainder_scalar(x_ptr, out_ptr, y, n, BLOCK: tl.constexpr):
    """x - floor(x / y) * y, by fmod."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    r = libdevice.fmod(x, y)
    r = tl.where((r != 0.0) & ((r < 0.0) != (y < 0.0)), r + y, r)
    tl.store(out_ptr + i, r.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def polar(abs_ptr, angle_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Complex numbers of lengths and angles, real and imaginary parts side by side."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.load(abs_ptr + i, mask=i < n)
    angle = tl.load(angle_ptr + i, mask=i < n)
    tl.store(out_ptr + 2 * i, r * tl.cos(angle), mask=i < n)
    tl.store(out_ptr + 2 * i + 1, r * tl.sin(angle), mask=i < n)


@triton.jit
def nan_to_num(x_ptr, out_ptr, nan, high, low, n, BLOCK: tl.constexpr):
    """Numbers instead of what is none."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    x = tl.where(x != x, nan, x)
    x = tl.where(x == float("inf"), high, x)
    x = tl.where(x == float("-inf"), low, x)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def isclose(x_ptr, y_ptr, out_ptr, rtol, atol, n, EQUAL_NAN: tl.constexpr, BLOCK: tl.constexpr):
    """|x - y| <= atol + rtol * |y|, infinities only with themselves."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    finite = tl.abs(y) < float("inf")
    near = (x == y) | (finite & (tl.abs(x - y) <= atol + tl.abs(rtol * y)))
    if EQUAL_NAN:
        near = near | ((x != x) & (y != y))
    tl.store(out_ptr + i, near.to(tl.int8), mask=i < n)


@triton.jit
def gcd(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Greatest common divisors by Euclid, until all of a block are done."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.abs(tl.load(x_ptr + i, mask=i < n, other=0))
    b = tl.abs(tl.load(y_ptr + i, mask=i < n, other=0))
    while tl.max(b, axis=0) > 0:
        some = b != 0
        rest = a % tl.where(some, b, 1)
        a = tl.where(some, b, a)
        b = tl.where(some, rest, 0)
    tl.store(out_ptr + i, a, mask=i < n)


@triton.jit
def diff_rows(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Differences of neighbours in rows."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (m < M) & (n < N - 1)
    a = tl.load(x_ptr + m * N + n, mask=mask)
    b = tl.load(x_ptr + m * N + n + 1, mask=mask)
    tl.store(out_ptr + m * (N - 1) + n, b - a, mask=mask)
