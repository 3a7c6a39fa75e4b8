"""Kernels that people run, in Triton's text, for foreign.py: parts of models, image and signal processing, compaction."""
from math import erf

import numpy as np
import triton
import triton.language as tl
from foreign_cases import case, exact, near, normal, rng, unwritten, whole, widen


@triton.jit
def swiglu(x, gate, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    g = tl.load(gate + i, i < n).to(tl.float32)
    tl.store(out + i, (tl.load(x + i, i < n).to(tl.float32) * g * tl.sigmoid(g)).to(tl.float16), i < n)


x, g = normal("fp16", 900), normal("fp16", 900)
y = x.astype(np.float64) * g / (1 + np.exp(-g.astype(np.float64)))
case(swiglu, dict(x=x, gate=g, out=unwritten("fp16", 900), n=900, B=256), 4, dict(out=near(y, 2**-10, 1e-4)))


@triton.jit
def rotary(x, angles, out, HALF: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, HALF)
    a, b = tl.load(x + row * 2 * HALF + i), tl.load(x + row * 2 * HALF + HALF + i)
    t = tl.load(angles + i) * row.to(tl.float32)
    s, c = tl.sin(t), tl.cos(t)
    tl.store(out + row * 2 * HALF + i, a * c - b * s)
    tl.store(out + row * 2 * HALF + HALF + i, a * s + b * c)


x, angles = normal("fp32", 6, 128), (0.9 ** np.arange(64)).astype(np.float32)
t = np.arange(6)[:, None] * angles.astype(np.float64)
a, b = x[:, :64].astype(np.float64), x[:, 64:].astype(np.float64)
case(rotary, dict(x=x, angles=angles, out=unwritten("fp32", 6, 128), HALF=64), 6,
     dict(out=near(np.concatenate([a * np.cos(t) - b * np.sin(t), a * np.sin(t) + b * np.cos(t)], 1), 1e-5, 1e-5)), warps=2)


@triton.jit
def conv(x, w, out, n, TAPS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for t in range(TAPS):
        acc += tl.load(x + i + t, i + t < n, other=0.0) * tl.load(w + t)
    tl.store(out + i, acc, i < n - TAPS + 1)


x, w = normal("fp32", 400), normal("fp32", 7)
case(conv, dict(x=x, w=w, out=unwritten("fp32", 394), n=400, TAPS=7, B=128), 4,
     dict(out=near(np.correlate(x.astype(np.float64), w.astype(np.float64), "valid"), 1e-5, 1e-5)), stages=4)


@triton.jit
def merge(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    part = tl.where(n == 0, 0.0, n_b / n)
    d = mean_b - mean_a
    return mean_a + d * part, m2_a + m2_b + d * d * n_a * part, n


@triton.jit
def welford(x, mean, variance, cols, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    a = tl.load(x + row * cols + i, i < cols, other=0.0)
    m, m2, n = tl.reduce((a, tl.zeros((B,), tl.float32), (i < cols).to(tl.float32)), 0, merge)
    tl.store(mean + row, m)
    tl.store(variance + row, m2 / n)


x = normal("fp32", 4, 200)
case(welford, dict(x=x, mean=unwritten("fp32", 4), variance=unwritten("fp32", 4), cols=200, B=256), 4,
     dict(mean=near(x.astype(np.float64).mean(1), 1e-5, 1e-5), variance=near(x.astype(np.float64).var(1), 1e-4)))


@triton.jit
def compacted(x, out, count, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    keep = (a > 0).to(tl.int32)
    at = tl.cumsum(keep, 0) - keep
    tl.store(out + at, a, keep != 0)
    tl.store(count, tl.sum(keep, 0))


x = whole("int32", -9, 10, 512)
kept = x[x > 0]
case(compacted, dict(x=x, out=np.zeros(512, np.int32), count=unwritten("int32", 1), B=512), 1,
     dict(out=exact(np.pad(kept, (0, 512 - len(kept)))), count=exact(np.array([len(kept)]))))


@triton.jit
def matmul_bias_gelu(a, b, bias, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    y = tl.dot(tl.load(a + i * K + k[None, :]), tl.load(b + k[:, None] * N + j)) + tl.load(bias + j)
    tl.store(out + i * N + j, 0.5 * y * (1 + tl.erf(y * 0.70710678)))


a, b, bias = normal("fp16", 64, 64, scale=.3), normal("fp16", 64, 64, scale=.3), normal("fp32", 64)
y = a.astype(np.float64) @ b.astype(np.float64) + bias
y = 0.5 * y * (1 + np.vectorize(erf)(y / np.sqrt(2)))
case(matmul_bias_gelu, dict(a=a, b=b, bias=bias, out=unwritten("fp32", 64, 64), M=64, N=64, K=64), 1, dict(out=near(y, 1e-4, 1e-4)))


@triton.jit
def matmul_int4(a, packed, scales, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    word = tl.load(packed + (k[:, None] // 2) * N + j)
    nibble = (word >> ((k[:, None] % 2) * 4).to(tl.uint8)) & 15
    w = (nibble.to(tl.float32) - 8.0) * tl.load(scales + j)
    tl.store(out + i * N + j, tl.dot(tl.load(a + i * K + k[None, :]), w.to(tl.float16)))


a, packed, scales = normal("fp16", 32, 64), whole("uint8", 0, 256, 32, 64), rng.uniform(0.1, 1, 64).astype(np.float32)
w = np.stack([packed & 15, packed >> 4], 1).reshape(64, 64).astype(np.float64) - 8
w = (w.astype(np.float32) * scales).astype(np.float16).astype(np.float64)
case(matmul_int4, dict(a=a, packed=packed, scales=scales, out=unwritten("fp32", 32, 64), M=32, N=64, K=64), 1,
     dict(out=near(a.astype(np.float64) @ w, 1e-4, 1e-3)))


@triton.jit
def strided_copy(x, out, s0, s1, s2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j, k = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    tl.store(out + (i * B + j) * C + k, tl.load(x + i * s0 + j * s1 + k * s2))


x = whole("int16", -1000, 1000, 16, 8, 4)
case(strided_copy, dict(x=x, out=unwritten("int16", 4, 8, 16), s0=1, s1=4, s2=32, A=4, B=8, C=16), 1,
     dict(out=exact(x.transpose(2, 1, 0))), warps=2)


@triton.jit
def blur(x, out, H, W, BH: tl.constexpr, BW: tl.constexpr):
    i = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    j = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    total = tl.zeros((BH, BW), tl.int32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            y, z = i + dy, j + dx
            total += tl.load(x + y * W + z, (y >= 0) & (y < H) & (z >= 0) & (z < W), other=0).to(tl.int32)
    tl.store(out + i * W + j, (total // 9).to(tl.uint8), (i < H) & (j < W))


x = whole("uint8", 0, 256, 37, 50)
p = np.pad(x.astype(np.int64), 1)
total = sum(p[dy:dy + 37, dx:dx + 50] for dy in range(3) for dx in range(3))
case(blur, dict(x=x, out=unwritten("uint8", 37, 50), H=37, W=50, BH=16, BW=32), (3, 2), dict(out=exact(total // 9)))


@triton.jit
def wide_sort(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sort(tl.load(x + i)))


x = whole("int64", -2**62, 2**62, 256)
case(wide_sort, dict(x=x, out=unwritten("int64", 256), N=256), 1, dict(out=exact(np.sort(x))), warps=8)


@triton.jit
def softmax_tile(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + i * N + j, tl.softmax(tl.load(x + i * N + j).to(tl.float32), dim=1, keep_dims=True).to(tl.bfloat16))


x = normal("bf16", 32, 64)
v = widen(x)
e = np.exp(v - v.max(1, keepdims=True))
case(softmax_tile, dict(x=x, out=unwritten("bf16", 32, 64), M=32, N=64), 1, dict(out=near(e / e.sum(1, keepdims=True), 2**-7)))


@triton.jit
def accumulated(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    best, at = tl.full((B,), -float("inf"), tl.float32), tl.zeros((B,), tl.int32)
    for k in range(0, n, B):
        a = tl.load(x + k + i, k + i < n, other=-float("inf"))
        at = tl.where(a > best, k + i, at)
        best = tl.maximum(best, a)
    top = tl.max(best, 0)
    tl.store(out, tl.min(tl.where(best == top, at, n), 0))


x = normal("fp32", 3000)
case(accumulated, dict(x=x, out=unwritten("int32", 1), n=3000, B=256), 1, dict(out=exact(np.array([x.argmax()]))), stages=4)


@triton.jit
def adam(p, g, m, v, n, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    k = i < n
    grad = tl.load(g + i, k).to(tl.float32)
    a = 0.9 * tl.load(m + i, k) + 0.1 * grad
    b = 0.99 * tl.load(v + i, k) + 0.01 * grad * grad
    tl.store(m + i, a, k)
    tl.store(v + i, b, k)
    tl.store(p + i, tl.load(p + i, k) - step * a / (tl.sqrt(b) + 1e-8), k)


p, g, m, v = normal("fp32", 500), normal("bf16", 500), normal("fp32", 500), np.abs(normal("fp32", 500)) + np.float32(.1)
a = 0.9 * m.astype(np.float64) + 0.1 * widen(g)
b = 0.99 * v.astype(np.float64) + 0.01 * widen(g) ** 2
case(adam, dict(p=p, g=g, m=m, v=v, n=500, step=0.01, B=128), 4,
     dict(m=near(a, 1e-5, 1e-6), v=near(b, 1e-5), p=near(p - 0.01 * a / (np.sqrt(b) + 1e-8), 1e-5, 1e-6)))


@triton.jit
def asserted(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.device_assert(a >= 0, "a negative number")
    tl.store(out + i, tl.sqrt(a.to(tl.float32)))


x = whole("int32", 0, 1000, 128)
case(asserted, dict(x=x, out=unwritten("fp32", 128), B=128), 1, dict(out=near(np.sqrt(x))))
