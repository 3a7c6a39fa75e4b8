"""Products of matrices and attention in Triton's text for foreign.py: every matrix instruction, rings of tiles, descriptors."""
import numpy as np
import triton
import triton.language as tl
from foreign_cases import case, exact, narrow, near, normal, rng, unwritten, whole, widen


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr,
           TRANSPOSED: tl.constexpr):
    i, j, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), OUT)
    for at in range(0, K, BK):
        x = tl.load(a + i[:, None] * K + (at + k)[None, :], (i[:, None] < M) & ((at + k)[None, :] < K), other=0.0)
        if TRANSPOSED:
            y = tl.load(b + j[:, None] * K + (at + k)[None, :], (j[:, None] < N) & ((at + k)[None, :] < K), other=0.0).T
        else:
            y = tl.load(b + (at + k)[:, None] * N + j[None, :], ((at + k)[:, None] < K) & (j[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=OUT)
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty), (i[:, None] < M) & (j[None, :] < N))


def product(kind, out, m, n, k, tiles, stages=3, warps=4, precision="tf32", transposed=False, archs=(80, 90), acc=None):
    if kind == "int8":
        a, b = whole("int8", -100, 100, m, k), whole("int8", -100, 100, k, n)
    else:
        a, b = normal(kind, m, k), normal(kind, k, n)
    x, y = widen(a).astype(np.float64), widen(b).astype(np.float64)
    # of the sum of the products' sizes: tensor cores may cut tf32 operands, and keep 14 bits in a step of fp8
    is_tf32 = kind == "fp32" and precision == "tf32"
    loose = 2**-9 if is_tf32 else 2**-10 if kind.startswith("fp8") else 2**-8 if acc == tl.float16 else 2**-17
    tolerance = (0, 0) if out == "int32" else ({"fp16": 2**-10, "bf16": 2**-8}.get(out, 2**-22), loose * (np.abs(x) @ np.abs(y)))
    given = b
    if transposed:
        given = type(b)(b.kind, np.ascontiguousarray(b.array.T)) if hasattr(b, "kind") else np.ascontiguousarray(b.T)
    case(matmul, dict(a=a, b=given, c=unwritten(out, m, n), M=m, N=n, K=k, BM=tiles[0], BN=tiles[1], BK=tiles[2], PRECISION=precision,
                      OUT=acc or (tl.int32 if kind == "int8" else tl.float32), TRANSPOSED=transposed),
         (-(-m // tiles[0]), -(-n // tiles[1])), dict(c=(x @ y, *tolerance)),
         f"matmul {kind} to {out} {m}x{n}x{k} by {tiles}, {stages} stages, {warps} warps, {precision}" + " transposed" * transposed,
         stages=stages, warps=warps, archs=archs)


product("fp16", "fp32", 64, 64, 64, (64, 64, 32), stages=1)
product("fp16", "fp32", 128, 128, 128, (64, 64, 32), stages=2)
product("fp16", "fp16", 128, 128, 256, (128, 128, 64), stages=3, warps=8)
product("fp16", "fp32", 128, 256, 128, (64, 256, 64), stages=4)
product("fp16", "fp16", 64, 64, 128, (64, 64, 64), acc=tl.float16)
product("fp16", "fp32", 16, 64, 128, (16, 64, 64), stages=2)
product("fp16", "fp32", 100, 72, 88, (64, 32, 32), stages=3)
product("fp16", "fp32", 128, 64, 128, (64, 64, 64), transposed=True)
product("bf16", "fp32", 128, 128, 128, (64, 128, 64), stages=4)
product("bf16", "bf16", 128, 64, 192, (128, 64, 64), stages=3, warps=8)
product("fp32", "fp32", 64, 64, 64, (64, 64, 32), stages=3)
product("fp32", "fp32", 64, 64, 64, (32, 32, 32), stages=2, precision="ieee")
product("fp32", "fp32", 64, 64, 64, (64, 64, 32), stages=2, precision="tf32x3")
product("fp64", "fp64", 32, 32, 32, (16, 16, 16), stages=2, precision="ieee", acc=tl.float64)
product("int8", "int32", 64, 64, 128, (64, 64, 64), stages=3)
product("int8", "int32", 64, 128, 128, (64, 128, 128), stages=2, transposed=True)
product("fp8e5", "fp32", 64, 64, 128, (64, 64, 64), stages=3, transposed=True)
product("fp8e4nv", "fp32", 64, 64, 128, (64, 64, 64), stages=3, transposed=True, archs=(90,))
product("fp8e4nv", "fp16", 128, 128, 256, (128, 128, 128), stages=3, warps=8, transposed=True, archs=(90,))


@triton.jit
def matmul_persistent(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      GROUP: tl.constexpr, PROGRAMS: tl.constexpr):
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), rows * columns, PROGRAMS, flatten=True):
        first = t // (GROUP * columns) * GROUP
        height = min(rows - first, GROUP)
        p, q = first + t % height, t % (GROUP * columns) // height
        i, j, k = p * BM + tl.arange(0, BM), q * BN + tl.arange(0, BN), tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for at in range(0, K, BK):
            x = tl.load(a + i[:, None] * K + (at + k)[None, :])
            acc = tl.dot(x, tl.load(b + (at + k)[:, None] * N + j[None, :]), acc)
        tl.store(c + i[:, None] * N + j[None, :], acc.to(tl.float16))


a, b = normal("fp16", 192, 128), normal("fp16", 128, 192)
y = a.astype(np.float64) @ b.astype(np.float64)
case(matmul_persistent, dict(a=a, b=b, c=unwritten("fp16", 192, 192), M=192, N=192, K=128, BM=64, BN=64, BK=32, GROUP=2, PROGRAMS=4), 4,
     dict(c=near(y, 2**-10, 1e-3)), stages=3)


@triton.jit
def split_k(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.program_id(0) * BK + tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for at in range(0, K, BK * PARTS):
        acc = tl.dot(tl.load(a + i[:, None] * K + (at + k)[None, :]), tl.load(b + (at + k)[:, None] * N + j[None, :]), acc)
    tl.atomic_add(c + i[:, None] * N + j[None, :], acc)


a, b = normal("fp16", 64, 512), normal("fp16", 512, 64)
y = a.astype(np.float64) @ b.astype(np.float64)
case(split_k, dict(a=a, b=b, c=np.zeros((64, 64), np.float32), M=64, N=64, K=512, BK=64, PARTS=4), 4, dict(c=near(y, 1e-4, 1e-3)))


@triton.jit
def batched(a, b, c, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    d, i, j, k = tl.arange(0, D)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + d * M * K + i[None, :, None] * K + k[None, None, :])
    y = tl.load(b + d * K * N + k[None, :, None] * N + j[None, None, :])
    tl.store(c + d * M * N + i[None, :, None] * N + j[None, None, :], tl.dot(x, y))


a, b = normal("fp16", 4, 32, 32), normal("fp16", 4, 32, 16)
case(batched, dict(a=a, b=b, c=unwritten("fp32", 4, 32, 16), D=4, M=32, N=16, K=32), 1,
     dict(c=near(a.astype(np.float64) @ b.astype(np.float64), 1e-4, 1e-4)))


@triton.jit
def chained(a, b, c, out, S: tl.constexpr):
    i, j = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    t = tl.dot(tl.load(a + i * S + j), tl.load(b + i * S + j))
    t = tl.maximum(t, 0.0).to(tl.float16)
    tl.store(out + i * S + j, tl.dot(t, tl.load(c + i * S + j)))


a, b, c = (normal("fp16", 64, 64, scale=0.3) for _ in range(3))
y = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0).astype(np.float16).astype(np.float64) @ c.astype(np.float64)
case(chained, dict(a=a, b=b, c=c, out=unwritten("fp32", 64, 64), S=64), 1, dict(out=near(y, 2e-3, 2e-2)))


@triton.jit
def block_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    x = tl.make_block_ptr(a, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    y = tl.make_block_ptr(b, (K, N), (N, 1), (0, tl.program_id(1) * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(x, boundary_check=(0, 1), padding_option="zero"), tl.load(y, boundary_check=(0, 1), padding_option="zero"))
        x, y = tl.advance(x, (0, BK)), tl.advance(y, (BK, 0))
    z = tl.make_block_ptr(c, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    tl.store(z, acc, boundary_check=(0, 1))


a, b = normal("bf16", 80, 96), normal("bf16", 96, 48)
case(block_pointers, dict(a=a, b=b, c=unwritten("fp32", 80, 48), M=80, N=48, K=96, BM=64, BN=32, BK=32), (2, 2),
     dict(c=near(widen(a) @ widen(b), 1e-4, 1e-4)))


# ---- descriptors ----

@triton.jit
def copy_tiles(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, (M, N), (N, 1), (BM, BN))
    to = tl.make_tensor_descriptor(out, (M, N), (N, 1), (BM, BN))
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    to.store((i, j), source.load((i, j)))


for kind in ("fp32", "fp16", "uint8"):
    x = whole("uint8", 0, 255, 100, 96) if kind == "uint8" else normal(kind, 100, 96)
    case(copy_tiles, dict(x=x, out=unwritten(kind, 100, 96), M=100, N=96, BM=32, BN=32), (4, 3), dict(out=exact(x)), f"copy_tiles {kind}")


@triton.jit
def matmul_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    x = tl.make_tensor_descriptor(a, (M, K), (K, 1), (BM, BK))
    y = tl.make_tensor_descriptor(b, (K, N), (N, 1), (BK, BN))
    z = tl.make_tensor_descriptor(c, (M, N), (N, 1), (BM, BN))
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        acc = tl.dot(x.load((i, at)), y.load((at, j)), acc)
    z.store((i, j), acc.to(c.dtype.element_ty))


for kind, m, n, k, tiles, stages, warps in (("fp16", 128, 128, 256, (64, 64, 64), 3, 4), ("bf16", 192, 128, 192, (64, 128, 64), 4, 4),
                                            ("fp16", 200, 136, 104, (128, 64, 32), 2, 8)):
    a, b = normal(kind, m, k), normal(kind, k, n)
    case(matmul_descriptors, dict(a=a, b=b, c=unwritten(kind, m, n), M=m, N=n, K=k, BM=tiles[0], BN=tiles[1], BK=tiles[2]),
         (-(-m // tiles[0]), -(-n // tiles[1])),
         dict(c=near(widen(a).astype(np.float64) @ widen(b).astype(np.float64), 2**-7 if kind == "bf16" else 2**-10, 1e-2)),
         f"matmul_descriptors {kind} {m}x{n}x{k}, {stages} stages", stages=stages, warps=warps)


@triton.jit
def row_sums(x, out, M, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, (M, N), (N, 1), (BM, BN))
    total = tl.zeros((BM,), tl.float32)
    for at in tl.range(0, N, BN, num_stages=3):
        total += tl.sum(source.load((tl.program_id(0) * BM, at)).to(tl.float32), 1)
    tl.store(out + tl.program_id(0) * BM + tl.arange(0, BM), total)


x = normal("fp16", 64, 256)
case(row_sums, dict(x=x, out=unwritten("fp32", 64), M=64, N=256, BM=32, BN=64), 2, dict(out=near(x.astype(np.float64).sum(1), 1e-4, 1e-4)))


# ---- attention ----

@triton.jit
def attention(q, k, v, out, scale, LENGTH: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    i, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    head = tl.program_id(1) * LENGTH * D
    x = tl.load(q + head + i[:, None] * D + d[None, :])
    top, total, acc = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    last = (tl.program_id(0) + 1) * BM if CAUSAL else LENGTH
    for at in range(0, last, BN):
        j = at + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + head + j[:, None] * D + d[None, :]).T) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(i[:, None] >= j[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.exp2(s - new[:, None]), tl.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + head + j[:, None] * D + d[None, :]), acc * shrink[:, None])
        top = new
    tl.store(out + head + i[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


for kind, heads, length, size, tiles, causal, stages, warps in (
        ("fp16", 2, 128, 64, (64, 32), False, 2, 4), ("fp16", 1, 128, 64, (64, 64), True, 3, 4), ("bf16", 1, 128, 128, (128, 64), False, 2, 8),
        ("fp32", 1, 64, 32, (32, 32), True, 2, 4)):
    q, k, v = (normal(kind, heads, length, size) for _ in range(3))
    x, y, z = (widen(t).astype(np.float64) for t in (q, k, v))
    s = x @ y.transpose(0, 2, 1) / 8
    if causal:
        s = np.where(np.tri(length, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    case(attention, dict(q=q, k=k, v=v, out=unwritten(kind, heads, length, size), scale=0.125, LENGTH=length, D=size, BM=tiles[0], BN=tiles[1],
                         CAUSAL=causal), (length // tiles[0], heads),
         dict(out=near(p / p.sum(-1, keepdims=True) @ z, *{"fp16": (4e-3, 4e-3)}.get(kind, (2**-6, 2e-2)))),
         f"attention {kind} {heads}x{length}x{size}" + " causal" * causal, stages=stages, warps=warps)
