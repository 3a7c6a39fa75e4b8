"""Kernels in Triton's text for foreign.py: elementwise, reductions, scans, shapes, atomics, random numbers, control flow."""
import numpy as np
import triton
import triton.language as tl
from foreign_cases import case, exact, narrow, near, normal, rng, unwritten, whole, widen


# ---- elementwise ----

@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, m) + tl.load(y + i, m, other=0.0), m)


for n, block, warps in ((1000, 128, 4), (4096, 1024, 8), (77, 32, 1)):
    x, y = normal("fp32", n), normal("fp32", n)
    case(add, dict(x=x, y=y, out=unwritten("fp32", n), n=n, B=block), -(-n // block), dict(out=exact(x + y)), f"add {n}", warps=warps)
x, y = normal("fp16", 700), normal("fp16", 700)
case(add, dict(x=x, y=y, out=unwritten("fp16", 700), n=700, B=256), 3, dict(out=exact(x + y)), "add fp16")
x, y = normal("bf16", 700), normal("bf16", 700)
case(add, dict(x=x, y=y, out=unwritten("bf16", 700), n=700, B=256), 3, dict(out=near(widen(x) + widen(y), 2**-8)), "add bf16")
x, y = normal("fp64", 300), normal("fp64", 300)
case(add, dict(x=x, y=y, out=unwritten("fp64", 300), n=300, B=128), 3, dict(out=exact(x + y)), "add fp64")


@triton.jit
def integers(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    r = a // b + (a % b) * 3 + (a & b) - (a | 5) + (a ^ b) + (a << 2) + (b >> 1)
    r += tl.minimum(a, b) * tl.maximum(a, 7) + tl.abs(a) + tl.where(a > b, -a, b)
    tl.store(out + i, r)


def integers_in_numpy(a, b):
    q = np.trunc(a.astype(np.longdouble) / b.astype(np.longdouble)).astype(a.dtype)
    r = q + (a - q * b) * 3 + (a & b) - (a | 5) + (a ^ b) + (a << 2) + (b >> 1)
    return r + np.minimum(a, b) * np.maximum(a, 7) + np.abs(a) + np.where(a > b, -a, b)


for dtype, limit in (("int32", 20000), ("int64", 2**30), ("int16", 60)):
    a, b = whole(dtype, -limit, limit, 512), whole(dtype, 1, 50, 512)
    case(integers, dict(x=a, y=b, out=unwritten(dtype, 512), B=512), 1, dict(out=exact(integers_in_numpy(a, b).astype(dtype))),
         f"integers {dtype}")


@triton.jit
def unsigned(x, y, out, high, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b + a % b + (a >> 3))
    tl.store(high + i, tl.umulhi(a, b))


a, b = rng.integers(0, 2**32, 256, dtype=np.uint32), rng.integers(1, 2**32, 256, dtype=np.uint32)
case(unsigned, dict(x=a, y=b, out=unwritten("uint32", 256), high=unwritten("uint32", 256), B=256), 1,
     dict(out=exact(a // b + a % b + (a >> 3)), high=exact((a.astype(np.uint64) * b >> 32).astype(np.uint32))))


@triton.jit
def functions(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i)
    p = tl.abs(a) + 0.25
    r = tl.exp(a) + tl.log(p) + tl.sqrt(p) + tl.rsqrt(p) + tl.sin(a) + tl.cos(a) + tl.exp2(a) + tl.log2(p)
    tl.store(out + i, r + tl.erf(a) + tl.sigmoid(a) + tl.floor(a) + tl.ceil(a) + tl.math.fma(a, a, p) + tl.div_rn(a, p) + tl.sqrt_rn(p))


def functions_in_numpy(a):
    from math import erf
    a = a.astype(np.float64)
    p = np.abs(a) + 0.25
    r = np.exp(a) + np.log(p) + np.sqrt(p) + 1 / np.sqrt(p) + np.sin(a) + np.cos(a) + np.exp2(a) + np.log2(p)
    return r + np.vectorize(erf)(a) + 1 / (1 + np.exp(-a)) + np.floor(a) + np.ceil(a) + (a * a + p) + a / p + np.sqrt(p)


x = normal("fp32", 512)
case(functions, dict(x=x, out=unwritten("fp32", 512), B=256), 2, dict(out=near(functions_in_numpy(x), 4e-6, 4e-6)))


@triton.jit
def extremes(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.minimum(a, b))
    tl.store(out + B + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 2 * B + i, tl.clamp(tl.where(a == a, a, 0.0), -0.5, 0.5))


x, y = normal("fp32", 128), normal("fp32", 128)
x[::7] = np.nan
y[::5] = np.nan
with np.errstate(invalid="ignore"):
    case(extremes, dict(x=x, y=y, out=unwritten("fp32", 384), B=128), 1,
         dict(out=exact(np.concatenate([np.fmin(x, y), np.maximum(x, y), np.clip(np.nan_to_num(x), np.float32(-.5), np.float32(.5))]))), warps=2)


@triton.jit
def casts(x, half, small, integer, back, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(half + i, a.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(small + i, a.to(tl.int8))
    tl.store(integer + i, (a * 1000).to(tl.int64))
    tl.store(back + i, a.to(tl.int32, bitcast=True))


x = (rng.standard_normal(256) * 20).astype(np.float32)
toward_zero = x.astype(np.float16)
toward_zero = np.where(np.abs(toward_zero.astype(np.float32)) > np.abs(x), np.nextafter(toward_zero, np.float16(0)), toward_zero)
case(casts, dict(x=x, half=unwritten("fp16", 256), small=unwritten("int8", 256), integer=unwritten("int64", 256),
                 back=unwritten("int32", 256), B=256), 1,
     dict(half=exact(toward_zero), small=exact(np.trunc(x).astype(np.int8)), integer=exact((x * np.float32(1000)).astype(np.int64)),
          back=exact(x.view(np.int32))))


@triton.jit
def through_fp8(x, five, back, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i).to(five.dtype.element_ty)
    tl.store(five + i, a)
    tl.store(back + i, a.to(tl.float32))


for kind, archs in (("fp8e5", (80, 90)), ("fp8e4nv", (90,))):
    x = (rng.standard_normal(512) * 3).astype(np.float32)
    rounded = narrow(kind, x)
    case(through_fp8, dict(x=x, five=unwritten(kind, 512), back=unwritten("fp32", 512), B=256), 2,
         dict(five=exact(widen(rounded)), back=exact(widen(rounded))), f"through {kind}", archs=archs)


@triton.jit
def quantize(x, q, scales, COLS: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COLS)
    a = tl.load(x + row * COLS + i)
    scale = tl.max(tl.abs(a), 0) / 127
    tl.store(scales + row, scale)
    tl.store(q + row * COLS + i, tl.floor(a / scale + 0.5).to(tl.int8))


x = normal("fp32", 6, 256)
scale = np.abs(x).max(1) / np.float32(127)
case(quantize, dict(x=x, q=unwritten("int8", 6, 256), scales=unwritten("fp32", 6), COLS=256), 6,
     dict(scales=near(scale), q=(np.floor(x / scale[:, None] + .5), 0, 1)))


# ---- rows ----

@triton.jit
def softmax(x, out, cols, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    a = tl.load(x + row * cols + i, i < cols, other=-float("inf"))
    e = tl.exp(a - tl.max(a, 0))
    tl.store(out + row * cols + i, e / tl.sum(e, 0), i < cols)


def softmax_in_numpy(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


for cols, block, warps in ((781, 1024, 4), (64, 64, 1), (3000, 4096, 8)):
    x = normal("fp32", 4, cols)
    case(softmax, dict(x=x, out=unwritten("fp32", 4, cols), cols=cols, B=block), 4, dict(out=near(softmax_in_numpy(x), 1e-5)),
         f"softmax {cols}", warps=warps)


@triton.jit
def layer_norm(x, w, b, out, cols, eps, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    m = i < cols
    a = tl.load(x + row * cols + i, m, other=0.0).to(tl.float32)
    mean = tl.sum(a, 0) / cols
    d = tl.where(m, a - mean, 0.0)
    y = d * tl.rsqrt(tl.sum(d * d, 0) / cols + eps)
    tl.store(out + row * cols + i, y * tl.load(w + i, m) + tl.load(b + i, m), m)


x, w, b = normal("fp16", 5, 500), normal("fp32", 500), normal("fp32", 500)
d = x.astype(np.float64) - x.astype(np.float64).mean(1, keepdims=True)
y = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w + b
case(layer_norm, dict(x=x, w=w, b=b, out=unwritten("fp32", 5, 500), cols=500, eps=1e-5, B=512), 5, dict(out=near(y, 1e-5, 1e-5)))


@triton.jit
def rms_norm_loop(x, out, cols, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for k in range(0, cols, B):
        i = k + tl.arange(0, B)
        a = tl.load(x + row * cols + i, i < cols, other=0.0)
        total += a * a
    r = tl.rsqrt(tl.sum(total) / cols + 1e-6)
    for k in range(0, cols, B):
        i = k + tl.arange(0, B)
        tl.store(out + row * cols + i, tl.load(x + row * cols + i, i < cols) * r, i < cols)


x = normal("fp32", 3, 1500)
y = x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-6)
case(rms_norm_loop, dict(x=x, out=unwritten("fp32", 3, 1500), cols=1500, B=256), 3, dict(out=near(y, 1e-5)), stages=3)


@triton.jit
def cross_entropy(x, labels, loss, cols, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    a = tl.load(x + row * cols + i, i < cols, other=-float("inf"))
    top = tl.max(a, 0)
    label = tl.load(labels + row)
    tl.store(loss + row, tl.log(tl.sum(tl.exp(a - top), 0)) + top - tl.load(x + row * cols + label))


x, labels = normal("fp32", 8, 100), whole("int64", 0, 100, 8)
y = np.log(np.exp(x.astype(np.float64)).sum(1)) - x[np.arange(8), labels]
case(cross_entropy, dict(x=x, labels=labels, loss=unwritten("fp32", 8), cols=100, B=128), 8, dict(loss=near(y, 1e-5)))


# ---- reductions, scans ----

@triton.jit
def reduce_tile(x, over_rows, over_columns, most, least, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(x + i * N + j)
    tl.store(over_rows + tl.arange(0, N), tl.sum(a, 0))
    tl.store(over_columns + tl.arange(0, M), tl.sum(a, 1))
    tl.store(most + tl.arange(0, N), tl.max(a, 0))
    tl.store(least + tl.arange(0, M), tl.min(a, 1))


for m, n, warps in ((32, 64, 4), (128, 16, 4), (8, 512, 8)):
    x = whole("int32", -1000, 1000, m, n)
    case(reduce_tile, dict(x=x, over_rows=unwritten("int32", n), over_columns=unwritten("int32", m), most=unwritten("int32", n),
                           least=unwritten("int32", m), M=m, N=n), 1,
         dict(over_rows=exact(x.sum(0)), over_columns=exact(x.sum(1)), most=exact(x.max(0)), least=exact(x.min(1))),
         f"reduce {m}x{n}", warps=warps)


@triton.jit
def arg_reduce(x, high, low, value, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(x + i * N + j)
    top, at = tl.max(a, 1, return_indices=True)
    tl.store(high + tl.arange(0, M), at)
    tl.store(value + tl.arange(0, M), top)
    tl.store(low + tl.arange(0, N), tl.argmin(a, 0))


x = whole("float32", -20, 20, 16, 128)
case(arg_reduce, dict(x=x, high=unwritten("int32", 16), low=unwritten("int32", 128), value=unwritten("fp32", 16), M=16, N=128), 1,
     dict(high=exact(x.argmax(1)), low=exact(x.argmin(0)), value=exact(x.max(1))))


@triton.jit
def product_and_count(a, n, b, m):
    return a * b, n + m


@triton.jit
def reduce_own(x, out, parity, count, B: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    p, n = tl.reduce((a, tl.full((B,), 1, tl.int32)), 0, product_and_count)
    tl.store(out, p)
    tl.store(count, n)
    tl.store(parity, tl.xor_sum(a.to(tl.int32, bitcast=True), 0))


x = (1 + rng.standard_normal(256) * 0.01).astype(np.float32)
case(reduce_own, dict(x=x, out=unwritten("fp32", 1), parity=unwritten("int32", 1), count=unwritten("int32", 1), B=256), 1,
     dict(out=near(np.prod(x.astype(np.float64), keepdims=True), 1e-4), parity=exact(np.bitwise_xor.reduce(x.view(np.int32), keepdims=True)),
          count=exact(np.array([256]))))


@triton.jit
def scans(x, total, back, product, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(x + i * N + j)
    tl.store(total + i * N + j, tl.cumsum(a, 1))
    tl.store(back + i * N + j, tl.cumsum(a, 0, reverse=True))
    tl.store(product + i * N + j, tl.cumprod(a, 1))


x = whole("int32", -3, 4, 8, 256)
case(scans, dict(x=x, total=unwritten("int32", 8, 256), back=unwritten("int32", 8, 256), product=unwritten("int32", 8, 256), N=256, M=8), 1,
     dict(total=exact(np.cumsum(x, 1)), back=exact(np.cumsum(x[::-1], 0)[::-1]), product=exact(np.cumprod(x, 1, dtype=np.int32))))


@triton.jit
def after(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    _, r = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, after)
    tl.store(out + i, r)


a, b, y, last = rng.uniform(0.5, 1, 512).astype(np.float32), normal("fp32", 512), [], 0.0
for p, q in zip(a.astype(np.float64), b.astype(np.float64)):
    last = last * p + q
    y.append(last)
case(recurrence, dict(a=a, b=b, out=unwritten("fp32", 512), N=512), 1, dict(out=near(np.array(y), 1e-5, 1e-5)))


@triton.jit
def sorts(x, up, down, best, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(x + i * N + j)
    tl.store(up + i * N + j, tl.sort(a, 1))
    tl.store(down + i * N + j, tl.sort(a, 1, descending=True))
    tl.store(best + i * 8 + tl.arange(0, 8)[None, :], tl.topk(a, 8))


for dtype in ("int32", "float32"):
    x = whole(dtype, -1000, 1000, 4, 128)
    case(sorts, dict(x=x, up=unwritten(dtype, 4, 128), down=unwritten(dtype, 4, 128), best=unwritten(dtype, 4, 8), N=128, M=4), 1,
         dict(up=exact(np.sort(x, 1)), down=exact(np.sort(x, 1)[:, ::-1]), best=exact(np.sort(x, 1)[:, ::-1][:, :8])), f"sorts {dtype}")


@triton.jit
def histogram(x, out, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, B)
    h = tl.histogram(tl.load(x + i, i < n, other=0), BINS, mask=i < n)
    tl.store(out + tl.arange(0, BINS), h)


x = whole("int32", 0, 64, 512)
case(histogram, dict(x=x, out=unwritten("int32", 64), n=400, B=512, BINS=64), 1, dict(out=exact(np.bincount(x[:400], minlength=64))))


# ---- shapes ----

@triton.jit
def transposed(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(a))


for kind, m, n in (("fp32", 32, 64), ("fp16", 64, 64), ("int8", 32, 128)):
    x = whole("int8", -100, 100, m, n) if kind == "int8" else normal(kind, m, n)
    case(transposed, dict(x=x, out=unwritten(kind, n, m), M=m, N=n), 1, dict(out=exact(x.T)), f"transposed {kind}")


@triton.jit
def permuted(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    a = tl.permute(tl.reshape(tl.load(x + i), (A, B, C)), (2, 0, 1))
    tl.store(out + i, tl.reshape(a, (A * B * C,)))


x = whole("int32", 0, 10**6, 4, 8, 16)
case(permuted, dict(x=x, out=unwritten("int32", 16, 4, 8), A=4, B=8, C=16), 1, dict(out=exact(x.transpose(2, 0, 1))))


@triton.jit
def joined(x, y, woven, even, odd, mirrored, both, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    w = tl.interleave(a, b)
    tl.store(woven + tl.arange(0, 2 * B), w)
    e, o = tl.split(tl.reshape(w * 2, (B, 2)))
    tl.store(even + i, e)
    tl.store(odd + i, o)
    tl.store(mirrored + i, tl.flip(a, 0))
    tl.store(both + tl.arange(0, 2 * B), tl.reshape(tl.trans(tl.join(a, b)), (2 * B,)))


x, y = whole("int32", 0, 1000, 128), whole("int32", 0, 1000, 128)
case(joined, dict(x=x, y=y, woven=unwritten("int32", 256), even=unwritten("int32", 128), odd=unwritten("int32", 128),
                  mirrored=unwritten("int32", 128), both=unwritten("int32", 256), B=128), 1,
     dict(woven=exact(np.stack([x, y], 1).ravel()), even=exact(2 * x), odd=exact(2 * y), mirrored=exact(x[::-1]),
          both=exact(np.concatenate([x, y]))))


@triton.jit
def gathered(x, at, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)[None, :]
    tl.store(out + i * K + k, tl.gather(tl.load(x + i * N + j), tl.load(at + i * K + k), 1))


x, at = normal("fp32", 16, 64), whole("int32", 0, 64, 16, 32)
case(gathered, dict(x=x, at=at, out=unwritten("fp32", 16, 32), M=16, N=64, K=32), 1, dict(out=exact(np.take_along_axis(x, at.astype(int), 1))))


@triton.jit
def outer(x, y, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + i[:, None] * N + j[None, :], tl.load(x + i)[:, None] * tl.load(y + j)[None, :])


x, y = normal("fp32", 64), normal("fp32", 32)
case(outer, dict(x=x, y=y, out=unwritten("fp32", 64, 32), M=64, N=32), 1, dict(out=exact(np.outer(x, y))))


@triton.jit
def embedding(table, at, out, N: tl.constexpr, ROWS: tl.constexpr):
    r, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    rows = tl.load(at + r).to(tl.int64)
    tl.store(out + r[:, None] * N + j[None, :], tl.load(table + rows[:, None] * N + j[None, :]))


x, at = normal("fp16", 100, 64), whole("int32", 0, 100, 32)
case(embedding, dict(table=x, at=at, out=unwritten("fp16", 32, 64), N=64, ROWS=8), 4, dict(out=exact(x[at])))


@triton.jit
def stencil(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, (i > 0) & (i < n), other=0.0)
    right = tl.load(x + i + 1, i < n - 1, other=0.0)
    tl.store(out + i, 0.25 * left + 0.5 * tl.load(x + i, i < n) + 0.25 * right, i < n)


x = normal("fp32", 333)
p = np.pad(x, 1).astype(np.float64)
case(stencil, dict(x=x, out=unwritten("fp32", 333), n=333, B=64), 6, dict(out=near(0.25 * p[:-2] + 0.5 * p[1:-1] + 0.25 * p[2:])), warps=2)


# ---- atomics ----

@triton.jit
def add_up(x, total, count, tickets, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(total, tl.sum(tl.load(x + i, i < n, other=0.0)))
    tl.store(tickets + tl.program_id(0), tl.atomic_add(count, 1))


x = whole("float32", -100, 100, 1000)
case(add_up, dict(x=x, total=np.zeros(1, np.float32), count=np.zeros(1, np.int32), tickets=unwritten("int32", 8), n=1000, B=128), 8,
     dict(total=exact(x.sum(keepdims=True)), count=exact(np.array([8])), tickets=lambda t: sorted(t.tolist()) == list(range(8))))


@triton.jit
def scatter_add(at, values, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(at + i), tl.load(values + i))


for dtype in ("float32", "int32", "float16"):
    at, values = whole("int32", 0, 16, 512), whole(dtype, 0, 4, 512)
    y = np.zeros(16)
    np.add.at(y, at, values)
    case(scatter_add, dict(at=at, values=values, out=np.zeros(16, dtype), B=128), 4, dict(out=exact(y)), f"scatter_add {dtype}")


@triton.jit
def atomics(x, f, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i)
    same = i * 0
    tl.atomic_max(out + same, a)
    tl.atomic_min(out + 1 + same, a)
    tl.atomic_and(out + 2 + same, a)
    tl.atomic_or(out + 3 + same, a)
    tl.atomic_xor(out + 4 + same, a)
    tl.atomic_max(f + same, a.to(tl.float32))
    tl.atomic_min(f + 1 + same, a.to(tl.float32))


x = whole("int32", -2**30, 2**30, 512)
y = [x.max(), x.min(), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
case(atomics, dict(x=x, f=np.array([-1, 1], np.float32), out=np.array([-2**31, 2**31 - 1, -1, 0, 0], np.int32), B=128), 4,
     dict(out=exact(np.array(y)), f=exact(np.array([x.max(), x.min()], np.float32))))


@triton.jit
def locked(lock, value, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    old = tl.load(value, volatile=True)
    tl.store(value, old * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.store(out + tl.program_id(0), old)


y = [1]
for _ in range(6):
    y.append(y[-1] * 3 + 1)
case(locked, dict(lock=np.zeros(1, np.int32), value=np.ones(1, np.int32), out=unwritten("int32", 6)), 6,
     dict(value=exact(np.array(y[6:])), lock=exact(np.zeros(1)), out=lambda t, olds=tuple(y[:6]): tuple(sorted(t.tolist())) == olds))


# ---- random numbers, printing, control ----

def philox(seed, offsets):
    """Philox4x32-10 of Salmon et al.: the first word."""
    c = [offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))]
    k = [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low, high = np.uint64(0xffffffff), np.uint64(32)
        c = [(b >> high) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> high) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c[0].astype(np.uint32)


@triton.jit
def random(out, uniform, seed, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.randint(seed, i).to(tl.uint32, bitcast=True))
    tl.store(uniform + i, tl.rand(seed, i))


y = philox(1234, np.arange(256))
signed = y.view(np.int32).astype(np.int64)
case(random, dict(out=unwritten("uint32", 256), uniform=unwritten("fp32", 256), seed=1234, B=256), 1,
     dict(out=exact(y), uniform=near(np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10, 1e-6)))


@triton.jit
def dropout(x, out, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i) / (1 - p), 0.0))


x = normal("fp32", 512)
signed = philox(99, np.arange(512)).view(np.int32).astype(np.int64)
kept = np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10 > 0.3
case(dropout, dict(x=x, out=unwritten("fp32", 512), p=0.3, seed=99, B=128), 4, dict(out=near(np.where(kept, x / 0.7, 0), 1e-5)))


@triton.jit
def prints(x):
    tl.device_print("value", tl.load(x + tl.program_id(0)))


case(prints, dict(x=np.array([41, 42], np.int32)), 2, {}, warps=1,
     says=("pid (0, 0, 0) idx () value: 41", "pid (1, 0, 0) idx () value: 42"))


@triton.jit
def collatz(x, steps):
    n = tl.load(x + tl.program_id(0))
    k = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        k += 1
    tl.store(steps + tl.program_id(0), k)


def collatz_in_python(n):
    k = 0
    while n != 1:
        n, k = (3 * n + 1 if n % 2 else n // 2), k + 1
    return k


x = np.array([1, 2, 7, 27, 97], np.int32)
case(collatz, dict(x=x, steps=unwritten("int32", 5)), 5, dict(steps=exact(np.array([collatz_in_python(int(n)) for n in x]))))


@triton.jit
def branches(x, out, limit, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    if pid % 3 == 0:
        r = tl.load(x + i) * 2
        if pid > limit:
            r = tl.cumsum(r, 0)
    elif pid % 3 == 1:
        r = tl.sort(tl.load(x + i))
    else:
        r = tl.full((B,), 5, tl.int32)
    for k in tl.static_range(3):
        r += k * pid
    tl.store(out + i, r)


x, y = whole("int32", -50, 50, 7, 64), []
for pid, row in enumerate(x):
    r = [row * 2, np.sort(row), np.full(64, 5)][pid % 3]
    y.append((np.cumsum(r) if pid % 3 == 0 and pid > 2 else r) + 3 * pid)
case(branches, dict(x=x, out=unwritten("int32", 7, 64), limit=2, B=64), 7, dict(out=exact(np.array(y))), warps=2)


@triton.jit
def persistent(x, out, tiles, PROGRAMS: tl.constexpr, B: tl.constexpr):
    for t in tl.range(tl.program_id(0), tiles, PROGRAMS, num_stages=3):
        i = t * B + tl.arange(0, B)
        tl.store(out + i, tl.sqrt(tl.abs(tl.load(x + i))))


x = normal("fp32", 13 * 128)
case(persistent, dict(x=x, out=unwritten("fp32", 13 * 128), tiles=13, PROGRAMS=4, B=128), 4, dict(out=near(np.sqrt(np.abs(x)))), stages=3)


@triton.jit
def far(x, out, stride, B: tl.constexpr):
    i = tl.arange(0, B).to(tl.int64) * stride
    tl.store(out + tl.arange(0, B), tl.load(x + i) + (i >> 20))


x = whole("int64", -2**62, 2**62, 64 * 1000)
case(far, dict(x=x, out=unwritten("int64", 64), stride=1000, B=64), 1, dict(out=exact(x[::1000] + (np.arange(64) * 1000 >> 20))), warps=1)
