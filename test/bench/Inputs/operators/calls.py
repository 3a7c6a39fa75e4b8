"""Calls of the kernels in this folder, for library_compare.py: what an operator library and a
server of language models launch, at their sizes and at small ones.

As in ../library_calls.py. Each call has a reference by torch, which --simt compares with, too: a
function that makes what the outputs must hold, in their order. Kernels do not write where they
read, so that a launch may be repeated.
"""
import math

import library_calls
import torch
import torch.nn.functional as F
from library_calls import (Box, Call, Launch, bf16, cdiv, f8, f16, f32, i32, rand, randint, randn,
                           steps, zeros)

u8, i8, int32, i64 = torch.uint8, torch.int8, torch.int32, torch.int64
NAMES = {bf16: "bf16", f16: "fp16", f32: "fp32", i8: "int8", f8: "fp8"}


def adds_to(calls):
    def add(file, kernel, what, build, full, small, /, **same):
        both = {**same, **full}, {**same, **small}
        calls.append(Call("operators", file, kernel, what, build, *both))
    return add


CALLS = []
add = adds_to(CALLS)


def launch(args, defines, grid, outputs, warps, reference, stages=3, within=None):
    """within: how far outputs may be from the reference, if not as far as their type says"""
    grid = (*grid, 1, 1)[:3] if isinstance(grid, tuple) else (grid, 1, 1)
    return Launch(args, defines, grid, outputs, warps, stages, reference, within)


def power(n):
    return 1 << max(n - 1, 0).bit_length()


def ints(low, high, *shape, dtype=int32):
    """Indices: numbers in any case"""
    return torch.randint(low, high, shape).to(dtype).to(library_calls.DEVICE)


# ---------------------------------------------------------------- pointwise


def silu_mul(tokens, d, block, warps, kind=bf16):
    x, out = randn(tokens, 2 * d, dtype=kind), zeros(tokens, d, dtype=kind)
    return launch([out, x, d], {"BLOCK_SIZE": block}, (tokens, cdiv(d, block)), [out], warps,
                  lambda: [F.silu(x[:, :d].float()).to(kind) * x[:, d:]])


def gelu_back(n, block, warps, approximate, kind=bf16):
    g, x, out = randn(n, dtype=kind), randn(n, dtype=kind), zeros(n, dtype=kind)

    def reference():
        leaf = x.float().requires_grad_()
        F.gelu(leaf, approximate="tanh" if approximate else "none").backward(g.float())
        return [leaf.grad]
    return launch([g, x, out, n], {"APPROXIMATE": approximate, "BLOCK": block}, cdiv(n, block),
                  [out], warps, reference)


def broadcast(op, shape, x_shape, y_shape, block, warps, kind=f16):
    x, y, out = randn(*x_shape, dtype=kind), randn(*y_shape, dtype=kind), zeros(*shape, dtype=kind)
    n = math.prod(shape)
    flat = [s for a in (x, y) for s in a.expand(shape).stride()]
    functions = {"add": torch.add, "mul": torch.mul, "pow": lambda a, b: a.abs().pow(b),
                 "atan2": torch.atan2}
    return launch([x, y, out, n, *shape[1:], *flat], {"OP": op, "BLOCK": block}, cdiv(n, block),
                  [out], warps, lambda: [functions[op](x.float(), y.float())])


def where_clamp(n, block, warps, kind=f32):
    c, x, y, out = randint(0, 2, n, dtype=u8), randn(n, dtype=kind), randn(n, dtype=kind), \
        zeros(n, dtype=kind)
    return launch([c, x, y, out, -0.5, 1.5, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [torch.where(c != 0, x.clamp(-0.5, 1.5), y)])


def special(n, block, unroll, warps, kind=bf16):
    x, out = randn(n, dtype=kind, scale=3.0), zeros(n, dtype=kind)

    def reference():
        v = x.float()
        return [F.mish(v) + torch.expm1(-F.softplus(v)) * (1 + v * v).rsqrt()]
    return launch([x, out, n], {"BLOCK": block, "UNROLL": unroll}, cdiv(n, block * unroll), [out],
                  warps, reference)


def philox_words(counter, seed):
    """Ten rounds of Philox 4x32 as Triton has it: the counter in the first word, a seed as key."""
    c = [counter.long(), *(torch.zeros_like(counter, dtype=i64) for _ in range(3))]
    k0, k1, low = seed & 0xFFFFFFFF, seed >> 32, 0xFFFFFFFF

    def product(a, b):  # the halves of a product of 32 bits each
        part = (a & 0xFFFF) * b
        high = (a >> 16) * b + (part >> 16)
        return high >> 16, ((high & 0xFFFF) << 16) | (part & 0xFFFF)
    for _ in range(10):
        hi0, lo0 = product(c[0], 0xD2511F53)
        hi2, lo2 = product(c[2], 0xCD9E8D57)
        c = [hi2 ^ c[1] ^ k0, lo2, hi0 ^ c[3] ^ k1, lo0]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c


def philox(counter, seed):
    """Its four words as numbers below 1"""
    words = philox_words(counter, seed)
    signed = [torch.where(w >= 1 << 31, w - (1 << 32), w) for w in words]
    return [torch.where(w < 0, -w - 1, w).float() * 4.6566127342e-10 for w in signed]


def dropout(kernel, n, block, warps, kind=bf16, p=0.1, seed=123456):
    x, r, out = randn(n, dtype=kind), randn(n, dtype=kind), zeros(n, dtype=kind)
    if kernel == "dropout_seeded":
        def one():
            keep = philox(torch.arange(n), seed)[0] > p
            return [torch.where(keep, x.float() / (1 - p), 0.0)]
        return launch([x, out, n, p, seed], {"BLOCK": block}, cdiv(n, block), [out], warps, one)
    kept, grid = zeros(n, dtype=i8), cdiv(n, 4 * block)

    def four():
        words = philox(torch.arange(grid * block), seed)
        keep = torch.stack([w.view(grid, block) for w in words], 1).flatten()[:n] > p
        return [torch.where(keep, x.float() / (1 - p), 0.0) + r.float(), keep.to(i8)]
    return launch([x, r, out, kept, n, p, seed], {"BLOCK": block}, grid, [out, kept], warps, four)


def adamw(n, block, warps):
    p, g, m, v = randn(n, dtype=f32), randn(n), randn(n, dtype=f32), rand(n)
    outs, half = [zeros(n, dtype=f32) for _ in range(3)], zeros(n)
    lr, b1, b2, eps, decay = 1e-3, 0.9, 0.95, 1e-8, 0.1
    c1, c2 = 1 - b1 ** 10, 1 - b2 ** 10

    def reference():
        gf = g.float()
        m2, v2 = b1 * m + (1 - b1) * gf, b2 * v + (1 - b2) * gf * gf
        p2 = p * (1 - lr * decay) - lr * (m2 / c1) / ((v2 / c2).sqrt() + eps)
        return [p2, m2, v2, p2]
    return launch([p, g, m, v, *outs, half, lr, b1, b2, eps, decay, c1, c2, n], {"BLOCK": block},
                  cdiv(n, block), [*outs, half], warps, reference)


def halves(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def neox(tokens, hq, hk, d, warps, kind=bf16):
    q, k = randn(tokens, hq, d, dtype=kind), randn(tokens, hk, d, dtype=kind)
    cos, sin = rand(tokens, d // 2, low=-1.0), rand(tokens, d // 2, low=-1.0)
    qo, ko = zeros(tokens, hq, d, dtype=kind), zeros(tokens, hk, d, dtype=kind)
    defines = {"HQ": hq, "HK": hk, "D": d, "PAD_HQ": power(hq), "PAD_HK": power(hk)}
    return launch([q, k, cos, sin, qo, ko, hq * d, hk * d], defines, tokens, [qo, ko], warps,
                  lambda: [halves(x, cos[:, None], sin[:, None]) for x in (q, k)])


def gptj(tokens, heads, d, block, warps, kind=bf16):
    x, out, pos = randn(tokens, heads, d, dtype=kind), zeros(tokens, heads, d, dtype=kind), \
        ints(0, 2048, tokens, dtype=i64)
    cos, sin = rand(2048, d // 2, low=-1.0), rand(2048, d // 2, low=-1.0)

    def reference():
        a, b = x.float()[..., 0::2], x.float()[..., 1::2]
        c, s = cos[pos][:, None], sin[pos][:, None]
        return [torch.stack([a * c - b * s, a * s + b * c], -1)]
    return launch([x, pos, cos, sin, out, tokens, heads], {"D": d, "BLOCK_T": block},
                  (cdiv(tokens, block), heads), [out], warps, reference)


def complexes(n, period, block, warps):
    x, w, out = randn(n, 2, dtype=f32), randn(period, 2, dtype=f32), zeros(n, 2, dtype=f32)

    def reference():
        c = torch.view_as_complex(x).view(-1, period) * torch.view_as_complex(w)
        return [torch.view_as_real(c)]
    return launch([x, w, out, n, period], {"BLOCK": block}, cdiv(n, block), [out], warps, reference)


def permute(B, T, H, D, order, tile, warps, kind=f16):
    x = randn(B, T, H, D, dtype=kind).permute(order)
    out = zeros(*x.shape, dtype=kind)
    grid = (cdiv(x.shape[2], tile[0]), cdiv(x.shape[3], tile[1]), x.shape[0] * x.shape[1])
    return launch([x, out, *x.shape, *x.stride()], {"BLOCK_T": tile[0], "BLOCK_D": tile[1]}, grid,
                  [out], warps, lambda: [x.contiguous()])


add("pointwise.py", "silu_and_mul", "bf16 8192×11008, 4 warps", silu_mul,
    dict(tokens=8192, d=11008), dict(tokens=3, d=300), block=1024, warps=4)
for tanh in (False, True):
    add("pointwise.py", "gelu_backward", f"bf16 2^26, {'tanh' if tanh else 'erf'}, 4 warps",
        gelu_back, dict(n=1 << 26), dict(n=3000), block=1024, warps=4, approximate=tanh)
add("pointwise.py", "binary_broadcast", "fp16 32×256×56×56 + 1×256×1×1, 4 warps", broadcast,
    dict(shape=(32, 256, 56, 56), x_shape=(32, 256, 56, 56), y_shape=(1, 256, 1, 1)),
    dict(shape=(2, 6, 7, 9), x_shape=(2, 6, 7, 9), y_shape=(1, 6, 1, 1)), op="add", block=1024,
    warps=4)
add("pointwise.py", "binary_broadcast", "fp32 abs(16×1×512×512) ** 1×8×1×512, 4 warps", broadcast,
    dict(shape=(16, 8, 512, 512), x_shape=(16, 1, 512, 512), y_shape=(1, 8, 1, 512)),
    dict(shape=(2, 3, 5, 24), x_shape=(2, 1, 5, 24), y_shape=(1, 3, 1, 24)), op="pow", block=512,
    warps=4, kind=f32)
add("pointwise.py", "where_clamp", "fp32 2^26, 8 warps", where_clamp, dict(n=1 << 26),
    dict(n=3001), block=2048, warps=8)
add("pointwise.py", "special_chain", "bf16 2^26, 4 warps", special, dict(n=1 << 26), dict(n=3001),
    block=512, unroll=4, warps=4)
for name, block in (("dropout_forward", 256), ("dropout_seeded", 1024)):
    add("pointwise.py", name, "bf16 2^26, 4 warps", dropout, dict(n=1 << 26), dict(n=3001),
        kernel=name, block=block, warps=4)
add("pointwise.py", "adamw_step", "2^25, 4 warps", adamw, dict(n=1 << 25), dict(n=3001),
    block=1024, warps=4)
add("pointwise.py", "rope_neox", "bf16 16384×(32 + 8)×128, 4 warps", neox,
    dict(tokens=16384, hq=32, hk=8), dict(tokens=3, hq=6, hk=2), d=128, warps=4)
add("pointwise.py", "rope_gptj", "bf16 8192×32×64, 4 warps", gptj, dict(tokens=8192, heads=32),
    dict(tokens=37, heads=2), d=64, block=32, warps=4)
add("pointwise.py", "complex_mul", "2^24 of complex64, 4 warps", complexes,
    dict(n=1 << 24, period=1 << 12), dict(n=1280, period=64), block=512, warps=4)
add("pointwise.py", "permute_copy", "fp16 16×1024×32×128, T and H change places, 4 warps", permute,
    dict(B=16, T=1024, H=32, D=128), dict(B=2, T=40, H=3, D=72), order=(0, 2, 1, 3), tile=(32, 64),
    warps=4)
add("pointwise.py", "permute_copy", "fp16 16×1024×32×128, transposed, 4 warps", permute,
    dict(B=16, T=1024, H=32, D=128), dict(B=2, T=40, H=3, D=72), order=(0, 2, 3, 1), tile=(64, 64),
    warps=4)

# ---------------------------------------------------------------- softmax and reductions


def softmax(kernel, M, N, block, warps, kind=f16):
    x, out = randn(M, N, dtype=kind), zeros(M, N, dtype=kind)
    args = [x, out, N, N, N] if kernel == "softmax_row" else [x, out, N]
    return launch(args, {"BLOCK" if kernel == "softmax_row" else "TILE": block}, M, [out], warps,
                  lambda: [x.float().softmax(1)])


def softmax_3d(M, N, K, tile, warps, kind=f16):
    x, out = randn(M, N, K, dtype=kind), zeros(M, N, K, dtype=kind)
    return launch([x, out, M, N, K], {"TILE_N": tile[0], "TILE_K": tile[1]}, (cdiv(K, tile[1]), M),
                  [out], warps, lambda: [x.float().softmax(1)])


def softmax_back(M, N, tile, warps, kind=bf16):
    y, dy = rand(M, N, high=2.0 / N).to(kind), randn(M, N, dtype=kind)
    dx = zeros(M, N, dtype=kind)

    def reference():
        a, b = y.float(), dy.float()
        return [a * (b - (a * b).sum(1, keepdim=True))]
    return launch([y, dy, dx, M, N], {"TILE_M": tile[0], "TILE_N": tile[1]}, cdiv(M, tile[0]), [dx],
                  warps, reference)


def log_softmax(M, N, block, warps, kind=f32):
    x, out = randn(M, N, dtype=kind), zeros(M, N, dtype=kind)
    return launch([x, out, M, N], {"BLOCK_M": block, "BLOCK_N": power(N)}, cdiv(M, block), [out],
                  warps, lambda: [x.float().log_softmax(1)])


def cross_entropy(kernel, rows, V, block, warps, smoothing=0.1, kind=bf16):
    x, target = randn(rows, V, dtype=kind), ints(0, V, rows, dtype=i64)
    target[1] = -100
    if kernel == "cross_entropy_forward":
        loss, lse = zeros(rows, dtype=f32), zeros(rows, dtype=f32)

        def forward():
            part = F.cross_entropy(x.float(), target, label_smoothing=smoothing, reduction="none")
            return [part, x.float().logsumexp(1).masked_fill(target == -100, 0.0)]
        return launch([x, target, loss, lse, V, V, smoothing, -100], {"BLOCK": block}, rows,
                      [loss, lse], warps, forward)
    dx, dloss = zeros(rows, V, dtype=kind), rand(rows)
    lse = x.float().logsumexp(1) if library_calls.SMALL else rand(rows, low=10.0, high=11.0)

    def backward():
        leaf = x.float().requires_grad_()
        part = F.cross_entropy(leaf, target, label_smoothing=smoothing, reduction="none")
        part.backward(dloss)
        return [leaf.grad]
    return launch([x, target, lse, dloss, dx, V, V, smoothing, -100], {"BLOCK": block},
                  (rows, cdiv(V, block)), [dx], warps, backward)


def mean(M, N, tile, warps, kind=bf16):
    x, out = randn(M, N, dtype=kind), zeros(M, dtype=kind)
    return launch([x, out, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, cdiv(M, tile[0]), [out],
                  warps, lambda: [x.float().mean(1)])


def var_mean(M, N, tile, warps, kind=f32):
    x, var, mid = randn(M, N, dtype=kind), zeros(M, dtype=f32), zeros(M, dtype=f32)
    return launch([x, var, mid, M, N, 1.0], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  cdiv(M, tile[0]), [var, mid], warps, lambda: list(torch.var_mean(x.float(), 1)))


def amax(M, N, K, tile, warps, kind=f32):
    x, out = randn(M, N, K, dtype=kind), zeros(M, K, dtype=kind)
    return launch([x, out, M, N, K], {"BLOCK_N": tile[0], "BLOCK_K": tile[1]},
                  (M, cdiv(K, tile[1])), [out], warps, lambda: [x.amax(1)])


def argmax(M, N, K, tile, warps, kind=f32):
    x, out = randn(M, N, K, dtype=kind), zeros(M, K, dtype=i64)
    return launch([x, out, M, N, K], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), K), [out], warps, lambda: [x.argmax(1)])


def least(M, N, warps):
    x, values, index = randn(M, N, dtype=f32), zeros(M, dtype=f32), zeros(M, dtype=i64)
    return launch([x, values, index, N], {"BLOCK": power(N)}, M, [values, index], warps,
                  lambda: list(x.min(1)))


def any_of(M, N, tile, warps):
    x, out = rand(M, N, high=1.0).to(f16), zeros(M, dtype=i8)
    if library_calls.FILLED:
        x *= torch.rand(M, N, device=x.device) > 1 - 0.7 / N
    return launch([x, out, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, cdiv(M, tile[0]), [out],
                  warps, lambda: [(x != 0).any(1).to(i8)])


def column_sums(M, N, rows, tile, warps):
    x, out = randn(M, N, dtype=bf16), zeros(N, dtype=f32)
    return launch([x, out, M, N, rows], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(N, tile[1]), cdiv(M, rows)), [out], warps, lambda: [x.float().sum(0)])


def products(M, N, block, warps):
    x, out = rand(M, N, low=0.9, high=1.1), zeros(M, dtype=f32)
    return launch([x, out, M, N], {"BLOCK_M": block, "BLOCK_N": power(N)}, cdiv(M, block), [out],
                  warps, lambda: [x.prod(1)])


add("reductions.py", "softmax_row", "fp16 16384×2048, 4 warps", softmax, dict(M=16384, N=2048,
    block=2048), dict(M=3, N=200, block=256), kernel="softmax_row", warps=4)
add("reductions.py", "softmax_row", "fp32 4096×6000, 8 warps", softmax, dict(M=4096, N=6000,
    block=8192), dict(M=3, N=900, block=1024), kernel="softmax_row", warps=8, kind=f32)
add("reductions.py", "softmax_online", "bf16 1024×128256, 8 warps", softmax,
    dict(M=1024, N=128256, block=4096), dict(M=2, N=3000, block=1024), kernel="softmax_online",
    warps=8, kind=bf16)
add("reductions.py", "softmax_middle", "fp16 64×512×1024, 4 warps", softmax_3d,
    dict(M=64, N=512, K=1024), dict(M=2, N=70, K=90), tile=(32, 64), warps=4)
add("reductions.py", "softmax_backward", "bf16 4096×8192, 4 warps", softmax_back,
    dict(M=4096, N=8192, tile=(1, 2048)), dict(M=5, N=700, tile=(1, 256)), warps=4)
add("reductions.py", "softmax_backward", "bf16 65536×256, 4 warps", softmax_back,
    dict(M=65536, N=256), dict(M=37, N=200), tile=(16, 128), warps=4)
add("reductions.py", "log_softmax", "fp32 262144×100, 4 warps", log_softmax,
    dict(M=262144, N=100), dict(M=37, N=10), block=8, warps=4)
add("reductions.py", "cross_entropy_forward", "bf16 4096×32000, 8 warps", cross_entropy,
    dict(rows=4096, V=32000, block=4096), dict(rows=4, V=700, block=256),
    kernel="cross_entropy_forward", warps=8)
add("reductions.py", "cross_entropy_forward", "bf16 1024×128256, no smoothing, 16 warps",
    cross_entropy, dict(rows=1024, V=128256, block=16384), dict(rows=4, V=3000, block=1024),
    kernel="cross_entropy_forward", warps=16, smoothing=0.0)
add("reductions.py", "cross_entropy_backward", "bf16 4096×32000, 8 warps", cross_entropy,
    dict(rows=4096, V=32000, block=4096), dict(rows=4, V=700, block=256),
    kernel="cross_entropy_backward", warps=8)
add("reductions.py", "mean_inner", "bf16 16384×4096, 4 warps", mean, dict(M=16384, N=4096),
    dict(M=13, N=300), tile=(8, 256), warps=4)
add("reductions.py", "var_mean", "fp32 8192×4096, 8 warps", var_mean, dict(M=8192, N=4096),
    dict(M=9, N=300), tile=(4, 1024), warps=8)
add("reductions.py", "amax_middle", "fp32 128×1024×384, 4 warps", amax, dict(M=128, N=1024, K=384),
    dict(M=2, N=70, K=40), tile=(64, 32), warps=4)
add("reductions.py", "argmax_dim", "fp32 8192×4096, inner, 4 warps", argmax,
    dict(M=8192, N=4096, K=1), dict(M=11, N=300, K=1), tile=(4, 512), warps=4)
add("reductions.py", "argmax_dim", "fp32 4096×512×16, middle, 4 warps", argmax,
    dict(M=4096, N=512, K=16), dict(M=11, N=50, K=3), tile=(8, 128), warps=4)
add("reductions.py", "min_with_index", "fp32 32768×1000, 4 warps", least, dict(M=32768, N=1000),
    dict(M=5, N=100), warps=4)
add("reductions.py", "any_dim", "fp16 16384×4096, 4 warps", any_of, dict(M=16384, N=4096),
    dict(M=40, N=300), tile=(4, 512), warps=4)
add("reductions.py", "sum_outer", "bf16 65536×1024, 4 warps", column_sums,
    dict(M=65536, N=1024, rows=1024), dict(M=100, N=200, rows=64), tile=(32, 64), warps=4)
add("reductions.py", "prod_inner", "fp32 262144×128, 4 warps", products, dict(M=262144, N=128),
    dict(M=21, N=50), block=16, warps=4)

# ---------------------------------------------------------------- norms


def layer_norm(kernel, M, N, block, warps, kind=f16):
    x, y, w, b = randn(M, N, dtype=kind), zeros(M, N, dtype=kind), randn(N, dtype=kind), \
        randn(N, dtype=kind)

    def reference():
        v = x.float()
        r = (v.var(1, correction=0) + 1e-5).rsqrt()
        out = F.layer_norm(v, (N,), w.float(), b.float(), 1e-5)
        return [out, v.mean(1), r] if kernel == "layer_norm_forward" else [out]
    if kernel == "layer_norm_forward":
        mid, rstd = zeros(M, dtype=f32), zeros(M, dtype=f32)
        return launch([x, y, w, b, mid, rstd, N, N, 1e-5], {"BLOCK_SIZE": block}, M, [y, mid, rstd],
                      warps, reference)
    return launch([x, y, w, b, M, N, 1e-5], {"TILE": block}, M, [y], warps, reference)


def layer_norm_back(M, N, groups, warps, kind=f16):
    x, dy, w, dx = randn(M, N, dtype=kind), randn(M, N, dtype=kind), randn(N, dtype=kind), \
        zeros(M, N, dtype=kind)
    dw, db = zeros(groups, N, dtype=f32), zeros(groups, N, dtype=f32)
    v = x.float()
    mid, rstd = v.mean(1), (v.var(1, correction=0) + 1e-5).rsqrt()

    def reference():
        leaf = v.clone().requires_grad_()
        F.layer_norm(leaf, (N,), w.float(), None, 1e-5).backward(dy.float())
        rows = [dy.float() * (v - mid[:, None]) * rstd[:, None], dy.float()]
        parts = (torch.stack([r[g::groups].sum(0) for g in range(groups)]) for r in rows)
        return [leaf.grad, *parts]
    return launch([dx, dy, dw, db, x, w, mid, rstd, zeros(2 * groups, dtype=int32), N, N],
                  {"GROUPS": groups, "BLOCK": power(N)}, M, [dx, dw, db], warps, reference)


def partial_sums(M, N, tile, warps):
    dw, db = randn(M, N, dtype=f32), randn(M, N, dtype=f32)
    outs = [zeros(N, dtype=f32), zeros(N, dtype=f32)]
    return launch([dw, db, *outs, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  cdiv(N, tile[1]), outs, warps, lambda: [dw.sum(0), db.sum(0)])


def rms_add(rows, N, warps, kind=bf16):
    x, r, w = randn(rows, N, dtype=kind), randn(rows, N, dtype=kind), randn(N, dtype=kind)
    y, added = zeros(rows, N, dtype=kind), zeros(rows, N, dtype=kind)

    def reference():
        v = x.float() + r.float()
        return [v * (v.square().mean(1, keepdim=True) + 1e-6).rsqrt() * w.float(), v]
    return launch([x, r, w, y, added, N, N, N, 1e-6], {"BLOCK": power(N)}, rows, [y, added], warps,
                  reference)


def rms_back(rows, N, programs, warps, kind=bf16):
    x, dy, w, dx = randn(rows, N, dtype=kind), randn(rows, N, dtype=kind), randn(N, dtype=kind), \
        zeros(rows, N, dtype=kind)
    dw, rstd = zeros(N, dtype=f32), (x.float().square().mean(1) + 1e-6).rsqrt()

    def reference():
        leaf, weight = x.float().requires_grad_(), w.float().requires_grad_()
        F.rms_norm(leaf, (N,), weight, 1e-6).backward(dy.float())
        return [leaf.grad, weight.grad]
    return launch([x, dy, w, rstd, dx, dw, rows, N, cdiv(rows, programs)], {"BLOCK": power(N)},
                  programs, [dx, dw], warps, reference)


def group_norm(B, C, HW, groups, block, warps, kind=f16):
    x, y, w, b = randn(B, C, HW, dtype=kind), zeros(B, C, HW, dtype=kind), randn(C, dtype=kind), \
        randn(C, dtype=kind)
    mid, rstd, size = zeros(B * groups, dtype=f32), zeros(B * groups, dtype=f32), C // groups

    def reference():
        v = x.float()
        each = v.view(B * groups, -1)
        return [F.group_norm(v, groups, w.float(), b.float(), 1e-5), each.mean(1),
                (each.var(1, correction=0) + 1e-5).rsqrt()]
    return launch([x, y, w, b, mid, rstd, size, C, HW, groups, 1e-5],
                  {"BLOCK_C": power(size), "BLOCK_HW": block}, B * groups, [y, mid, rstd], warps,
                  reference)


def batch_norm(B, C, L, tile, warps, kind=f16):
    x, y, w, b = randn(B, C, L, dtype=kind), zeros(B, C, L, dtype=kind), rand(C), rand(C)
    old = [rand(C), rand(C, low=0.5)]
    mid, rstd, *new = (zeros(C, dtype=f32) for _ in range(4))

    def reference():
        v, running = x.float(), [a.clone() for a in old]
        out = F.batch_norm(v, *running, w, b, True, 0.1, 1e-5)
        each = v.transpose(0, 1).reshape(C, -1)
        return [each.mean(1), (each.var(1, correction=0) + 1e-5).rsqrt(), *running, out]
    return launch([x, w, b, mid, rstd, *old, *new, y, B, L, *x.stride(), 0.1, 1e-5],
                  {"BLOCK_B": tile[0], "BLOCK_L": tile[1]}, C, [mid, rstd, *new, y], warps,
                  reference)


def batch_norm_back(B, C, L, tile, warps, kind=f16):
    x, dy, w, dx = randn(B, C, L, dtype=kind), randn(B, C, L, dtype=kind), rand(C), \
        zeros(B, C, L, dtype=kind)
    each = x.float().transpose(0, 1).reshape(C, -1)
    mid, rstd = each.mean(1), (each.var(1, correction=0) + 1e-5).rsqrt()
    dw, db = zeros(C, dtype=f32), zeros(C, dtype=f32)

    def reference():
        leaf, weight, bias = x.float().requires_grad_(), w.clone().requires_grad_(), \
            w.clone().requires_grad_()
        F.batch_norm(leaf, None, None, weight, bias, True, 0.1, 1e-5).backward(dy.float())
        return [leaf.grad, weight.grad, bias.grad]
    return launch([dy, x, mid, rstd, w, dx, dw, db, B, C, L],
                  {"BLOCK_B": tile[0], "BLOCK_L": tile[1]}, C, [dx, dw, db], warps, reference)


def l2_normalize(M, N, tile, warps, kind=bf16):
    x, y = randn(M, N, dtype=kind), zeros(M, N, dtype=kind)
    return launch([x, y, M, N, 1e-12], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, cdiv(M, tile[0]),
                  [y], warps, lambda: [F.normalize(x.float(), dim=1)])


add("norms.py", "layer_norm_forward", "fp16 4096×8192, 8 warps", layer_norm,
    dict(M=4096, N=8192, block=4096), dict(M=3, N=700, block=256), kernel="layer_norm_forward",
    warps=8)
add("norms.py", "layer_norm_welford", "bf16 8192×5120, 8 warps", layer_norm,
    dict(M=8192, N=5120, block=2048), dict(M=3, N=700, block=256), kernel="layer_norm_welford",
    warps=8, kind=bf16)
add("norms.py", "layer_norm_backward_dx", "fp16 4096×8192, 96 locks, 8 warps", layer_norm_back,
    dict(M=4096, N=8192, groups=96), dict(M=7, N=300, groups=3), warps=8)
add("norms.py", "layer_norm_backward_dwdb", "fp32 1024×16384, 4 warps", partial_sums,
    dict(M=1024, N=16384), dict(M=70, N=200), tile=(32, 128), warps=4)
add("norms.py", "rms_norm_add", "bf16 16384×4096, 8 warps", rms_add, dict(rows=16384, N=4096),
    dict(rows=3, N=300), warps=8)
add("norms.py", "rms_norm_backward", "bf16 16384×4096, 8 warps", rms_back,
    dict(rows=16384, N=4096, programs=264), dict(rows=7, N=300, programs=3), warps=8)
add("norms.py", "group_norm", "fp16 16×512×4096, 32 groups, 4 warps", group_norm,
    dict(B=16, C=512, HW=4096, groups=32, block=256), dict(B=2, C=12, HW=100, groups=4, block=32),
    warps=4)
add("norms.py", "batch_norm_forward", "fp16 256×256×784, 4 warps", batch_norm,
    dict(B=256, C=256, L=784), dict(B=5, C=3, L=70), tile=(2, 1024), warps=4)
add("norms.py", "batch_norm_forward", "fp16 32768×1024×1, 4 warps", batch_norm,
    dict(B=32768, C=1024, L=1), dict(B=100, C=3, L=1), tile=(1024, 1), warps=4)
add("norms.py", "batch_norm_backward", "fp16 64×256×784, 4 warps", batch_norm_back,
    dict(B=64, C=256, L=784), dict(B=5, C=3, L=70), tile=(4, 256), warps=4)
add("norms.py", "l2_normalize", "bf16 65536×1024, 8 warps", l2_normalize, dict(M=65536, N=1024),
    dict(M=11, N=300), tile=(8, 256), warps=8)

# ---------------------------------------------------------------- scans, sorts


def cumsum_rows(M, N, block, warps, kind=f32):
    x, out = randn(M, N, dtype=kind), zeros(M, N, dtype=kind)
    return launch([x, out, N], {"BLOCK": block}, M, [out], warps, lambda: [x.float().cumsum(1)])


def cumsum_part(n, block, warps):
    x, out, parts = randn(n, dtype=f32), zeros(n, dtype=f32), cdiv(n, block)
    sums = zeros(parts, dtype=f32)

    def reference():
        each = F.pad(x, (0, parts * block - n)).view(parts, block).cumsum(1)
        return [each.flatten()[:n], each[:, -1]]
    return launch([x, out, sums, n, parts], {"BLOCK": block}, parts, [out, sums], warps, reference)


def cumsum_columns(A, B, C, tile, warps):
    x, out = randn(A, B, C, dtype=f32), zeros(A, B, C, dtype=f32)
    return launch([x, out, A, B, C], {"BLOCK_B": tile[0], "BLOCK_C": tile[1]},
                  (cdiv(C, tile[1]), A), [out], warps, lambda: [x.cumsum(1)])


def cummax(M, N, warps):
    x, out, index = randn(M, N, dtype=f32), zeros(M, N, dtype=f32), zeros(M, N, dtype=i64)
    return launch([x, out, index, N], {"BLOCK": power(N)}, M, [out, index], warps,
                  lambda: list(x.cummax(1)))


def cumprod(M, N, block, warps):
    x, out = rand(M, N, low=0.9, high=1.1), zeros(M, N, dtype=f32)
    return launch([x, out, M, N], {"BLOCK_M": block, "BLOCK_N": power(N)}, cdiv(M, block), [out],
                  warps, lambda: [x.flip(1).cumprod(1).flip(1)])


def logcumsumexp(M, N, warps):
    x, out = randn(M, N, dtype=f32), zeros(M, N, dtype=f32)
    return launch([x, out, N], {"BLOCK": power(N)}, M, [out], warps, lambda: [x.logcumsumexp(1)])


def sort_rows(M, N, warps, descending, kind=f32):
    x, out = randn(M, N, dtype=kind), zeros(M, N, dtype=kind)
    return launch([x, out, N], {"BLOCK": power(N), "DESCENDING": descending}, M, [out], warps,
                  lambda: [x.sort(1, descending)[0]])


def topk(M, N, k, block, warps):
    x, out = randn(M, N, dtype=f32), zeros(M, k, dtype=f32)
    return launch([x, out, N], {"BLOCK_M": block, "BLOCK_N": power(N), "K": k}, M // block, [out],
                  warps, lambda: [x.topk(k, 1)[0]])


def topk_packed(M, N, k, block, warps):
    x, values, index = randn(M, N, dtype=f32), zeros(M, k, dtype=f32), zeros(M, k, dtype=int32)
    return launch([x, values, index, N], {"K": k, "BLOCK": block}, M, [values, index], warps,
                  lambda: list(x.topk(k, 1)))


def argsort(M, N, warps):
    x, out, index = randn(M, N, dtype=f32), zeros(M, N, dtype=f32), zeros(M, N, dtype=int32)
    defines = {"BLOCK": power(N), "LOG": power(N).bit_length() - 1}
    return launch([x, out, index, N], defines, M, [out, index], warps, lambda: list(x.sort(1)))


def masked_select(n, block, warps):
    x, keep = randn(n, dtype=f32), ints(0, 2, n, dtype=u8)
    counts = F.pad(keep.int(), (0, -n % block)).view(-1, block).sum(1)
    before, out = i32(counts.cumsum(0) - counts), zeros(int(keep.sum()), dtype=f32)
    return launch([x, keep, before, out, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x[keep != 0]])


def histogram(n, bins, block, per, warps):
    x, out = ints(0, bins, n), zeros(bins, dtype=int32)
    return launch([x, out, n], {"PER": per, "BLOCK": block, "BINS": bins}, cdiv(n, per * block),
                  [out], warps, lambda: [torch.bincount(x, minlength=bins).to(int32)])


add("scans.py", "cumsum_rows", "fp32 4096×16384, 8 warps", cumsum_rows,
    dict(M=4096, N=16384, block=2048), dict(M=3, N=700, block=256), warps=8)
add("scans.py", "cumsum_rows", "bf16 32768×1000, 4 warps", cumsum_rows,
    dict(M=32768, N=1000, block=1024), dict(M=3, N=200, block=256), warps=4, kind=bf16)
add("scans.py", "cumsum_part", "fp32 2^26, 8 warps", cumsum_part, dict(n=1 << 26, block=4096),
    dict(n=2500, block=1024), warps=8)
add("scans.py", "cumsum_columns", "fp32 32×2048×512, 4 warps", cumsum_columns,
    dict(A=32, B=2048, C=512), dict(A=2, B=70, C=40), tile=(64, 32), warps=4)
add("scans.py", "cummax_rows", "fp32 16384×2048, 8 warps", cummax, dict(M=16384, N=2048),
    dict(M=3, N=200), warps=8)
add("scans.py", "cumprod_rows", "fp32 262144×128, 4 warps", cumprod, dict(M=262144, N=128),
    dict(M=37, N=50), block=16, warps=4)
add("scans.py", "logcumsumexp", "fp32 16384×1024, 4 warps", logcumsumexp, dict(M=16384, N=1024),
    dict(M=3, N=200), warps=4)
add("scans.py", "sort_rows", "fp32 16384×1024, 4 warps", sort_rows, dict(M=16384, N=1024),
    dict(M=2, N=100), warps=4, descending=False)
add("scans.py", "sort_rows", "fp16 4096×4096, descending, 8 warps", sort_rows,
    dict(M=4096, N=4096), dict(M=2, N=200), warps=8, descending=True, kind=f16)
add("scans.py", "topk_rows", "fp32 65536×256, 8 of them, 4 warps", topk, dict(M=65536, N=256),
    dict(M=8, N=60), k=8, block=4, warps=4)
add("scans.py", "topk_packed", "fp32 256×32000, 64 of them, 4 warps", topk_packed,
    dict(M=256, N=32000, block=1024), dict(M=2, N=600, block=256), k=64, warps=4)
add("scans.py", "argsort_rows", "fp32 8192×512, 4 warps", argsort, dict(M=8192, N=512),
    dict(M=2, N=60), warps=4)
add("scans.py", "masked_select", "fp32 2^25, 4 warps", masked_select, dict(n=1 << 25, block=1024),
    dict(n=2500, block=512), warps=4)
add("scans.py", "histogram_shared", "2^25 of 256 kinds, 4 warps", histogram,
    dict(n=1 << 25, bins=256, per=16), dict(n=3000, bins=64, per=2), block=1024, warps=4)

# ---------------------------------------------------------------- lookups, ragged arrays, tokens


def embedding(n, V, D, tile, warps, kind=bf16):
    ids, w, out = ints(0, V, n, dtype=i64), randn(V, D, dtype=kind), zeros(n, D, dtype=kind)
    return launch([ids, w, out, n], {"D": D, "BLOCK_M": tile[0], "BLOCK_D": tile[1]},
                  (cdiv(n, tile[0]), cdiv(D, tile[1])), [out], warps, lambda: [w[ids]])


def embedding_back(n, V, D, block, warps, kind=bf16):
    ids, dy, dw = ints(0, V, n, dtype=i64), randn(n, D, dtype=kind), zeros(V, D, dtype=f32)

    def reference():
        out = torch.zeros_like(dw).index_add_(0, ids, dy.float())
        out[3] = 0
        return [out]
    return launch([ids, dy, dw, D, 3], {"BLOCK": block}, n, [dw], warps, reference)


def select(M, N, K, tile, warps, kind=f16):
    x, index, out = randn(M, N, dtype=kind), ints(0, N, K, dtype=i64), zeros(M, K, dtype=kind)
    return launch([x, index, out, M, N, K], {"BLOCK_M": tile[0], "BLOCK_K": tile[1]},
                  (cdiv(M, tile[0]), cdiv(K, tile[1])), [out], warps, lambda: [x[:, index]])


def gather(shape, width, dim, block, warps, kind=f32):
    x, to = randn(*shape, dtype=kind), [*shape[:dim], width, *shape[dim + 1:]]
    index, out = ints(0, shape[dim], *to, dtype=i64), zeros(*to, dtype=kind)
    return launch([x, index, out, out.numel(), *to[1:], *x.stride()], {"DIM": dim, "BLOCK": block},
                  cdiv(out.numel(), block), [out], warps, lambda: [x.gather(dim, index)])


def scatter_add(n, rows, D, tile, warps):
    src, index, out = randn(n, D, dtype=f32), ints(0, rows, n, dtype=i64), zeros(rows, D, dtype=f32)
    return launch([src, index, out, n, D], {"BLOCK_M": tile[0], "BLOCK_D": tile[1]},
                  (cdiv(n, tile[0]), cdiv(D, tile[1])), [out], warps,
                  lambda: [torch.zeros_like(out).index_add_(0, index, src)])


def ragged(B, longest):
    """Where sequences of up to `longest` rows begin, in all"""
    lengths = torch.randint(0, longest + 1, (B,), generator=torch.Generator().manual_seed(B))
    return steps(lengths).to(library_calls.DEVICE)


def jagged_dense(B, longest, D, tile, warps, kind=bf16):
    at = ragged(B, longest + 1)
    x, out = randn(int(at[-1]), D, dtype=kind), zeros(B, longest, D, dtype=kind)

    def reference():
        full = torch.full_like(out, -1.0)
        for b, (i, j) in enumerate(zip(at[:-1].tolist(), at[1:].tolist())):
            full[b, : min(j - i, longest)] = x[i : min(j, i + longest)]
        return [full]
    return launch([x, at, out, longest, D, -1.0], {"BLOCK_T": tile[0], "BLOCK_D": tile[1]},
                  (cdiv(longest, tile[0]), B), [out], warps, reference)


def jagged_mean(B, longest, D, tile, warps, kind=bf16):
    at = ragged(B, longest)
    x, out = randn(int(at[-1]), D, dtype=kind), zeros(B, D, dtype=kind)

    def reference():
        ends = zip(at[:-1].tolist(), at[1:].tolist())
        return [torch.stack([x[i:j].float().sum(0) / max(j - i, 1) for i, j in ends])]
    return launch([x, at, out, D], {"BLOCK_T": tile[0], "BLOCK_D": tile[1]}, (B, cdiv(D, tile[1])),
                  [out], warps, reference)


def nms(n, block, warps, threshold=0.3):
    corner, size = rand(n, 2, high=100.0), rand(n, 2, low=5.0, high=40.0)
    boxes, words = torch.cat([corner, corner + size], 1), cdiv(n, 32)
    out = zeros(n, words, dtype=int32)

    def reference():
        low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
        both = (torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:]) - low).clamp(min=0).prod(-1)
        area = size.prod(1)
        hit = both > threshold * (area[:, None] + area[None, :] - both)
        hit = F.pad(hit.triu(1), (0, -n % 32)).view(n, words, 32).long()
        return [(hit << torch.arange(32)).sum(-1).to(int32)]
    return launch([boxes, out, n, threshold, words], {"BLOCK": block},
                  (cdiv(n, block), words), [out], warps, reference)


def count_tokens(tokens, topk, experts, warps):
    ids = ints(0, experts, tokens * topk)
    n, counts = tokens * topk, zeros(experts + 1, experts, dtype=int32)
    per = cdiv(n, experts)

    def reference():
        each = [torch.bincount(part, minlength=experts) for part in ids.split(per)]
        return [F.pad(torch.stack(each), (0, 0, 1, experts - len(each))).to(int32)]
    return launch([ids, counts, n], {"EXPERTS": experts, "PER": per}, experts, [counts], warps,
                  reference)


def place_tokens(tokens, topk, experts, rows, block, warps):
    ids = ints(0, experts, tokens * topk)
    n, counts = tokens * topk, torch.bincount(ids.cpu(), minlength=experts)
    start = steps(counts + (-counts) % rows)
    total = int(start[-1])
    out, of = zeros(total, dtype=int32), zeros(total // rows, dtype=int32)

    def reference():
        places, owners = torch.zeros(total, dtype=int32), torch.zeros(total // rows, dtype=int32)
        for e in range(experts):
            mine = (ids == e).nonzero().flatten().to(int32)
            places[start[e] : start[e] + len(mine)] = mine
            owners[start[e] // rows : start[e + 1] // rows] = e
        return [places, owners]
    return launch([ids, i32(start), out, of, n, rows], {"EXPERTS": experts, "BLOCK": block},
                  experts, [out, of], warps, reference)


def router(rows, experts, topk, block, warps):
    x = randn(rows, experts, dtype=f32)
    if library_calls.FILLED:  # no two so near that rounding decides
        x = x.argsort(1).float() * (4.0 / experts)
    weights, index = zeros(rows, topk, dtype=f32), zeros(rows, topk, dtype=int32)

    def reference():
        best, at = x.softmax(1).topk(topk, 1)
        return [best / best.sum(1, keepdim=True), at]
    return launch([x, weights, index, rows], {"EXPERTS": experts, "TOPK": topk, "BLOCK_M": block},
                  cdiv(rows, block), [weights, index], warps, reference)


def penalties(B, V, block, warps):
    x, counts, out = randn(B, V, dtype=f32), ints(0, 3, B, V), zeros(B, V, dtype=f32)
    r, f, p, t = rand(B, low=1.0, high=1.5), rand(B), rand(B), rand(B, low=0.5)

    def reference():
        seen = counts > 0
        scale = torch.where(seen, r[:, None], 1.0)
        v = torch.where(x > 0, x / scale, x * scale)
        return [(v - f[:, None] * counts - p[:, None] * seen) / t[:, None]]
    return launch([x, counts, r, f, p, t, out, V], {"BLOCK": block}, (B, cdiv(V, block)), [out],
                  warps, reference)


def top_k_top_p(B, V, k, warps):
    x, out = randn(B, V, dtype=f32, scale=2.0), zeros(B, V, dtype=f32)
    ks, ps = ints(k // 2, k + 1, B), rand(B, low=0.5, high=0.95)

    def reference():
        v, at = x.sort(1, descending=True)
        v = v.masked_fill(torch.arange(V) >= ks[:, None], -math.inf)
        p = v.softmax(1)
        v = v.masked_fill(p.cumsum(1) - p >= ps[:, None], -math.inf)
        return [torch.empty_like(x).scatter_(1, at, v)]
    return launch([x, ks, ps, out, V], {"PAD_V": power(V), "STEPS": 32}, B, [out], warps, reference)


def gumbel(B, V, block, warps, kind=f32):
    x, seeds, out = randn(B, V, dtype=kind), ints(0, 1 << 40, B, dtype=i64), zeros(B, dtype=i64)

    def reference():
        noise = torch.stack([philox(torch.arange(V), s)[0] for s in seeds.tolist()])
        return [(x.float() - (-noise.clamp_min(1e-7).log()).log()).argmax(1)]
    return launch([x, seeds, out, V], {"BLOCK": block}, B, [out], warps, reference)


def drafts(kernel, B, V, longest, warps):
    """Of each request up to `longest` tokens, which the draft and the target give a probability"""
    counts = torch.randint(1, longest + 1, (B,), generator=torch.Generator().manual_seed(B))
    at, n = i32(steps(counts)), int(counts.sum())
    draft, target, guess = ints(0, V, n), rand(n, V), rand(n, V)
    if kernel == "recovered_tokens":
        noise, out = rand(B, V, low=0.05), zeros(n, dtype=int32)

        def recovered():
            each = noise.repeat_interleave(counts, 0)
            return [((target - guess).clamp_min(0) / each).argmax(1)]
        return launch([at, draft, target, guess, noise, out, V], {"PAD_V": power(V)}, (B, longest),
                      [out], warps, recovered)
    u, new, bonus = rand(n, high=1.2), ints(0, V, n), ints(0, V, B)
    out = zeros(B, longest + 1, dtype=int32)

    def rejected():
        rows = torch.zeros_like(out)
        for b in range(B):
            i, many, good = int(at[b]), int(counts[b]), True
            for j in range(i, i + many):
                good = target[j, draft[j]] / guess[j, draft[j]] >= u[j]
                rows[b, j - i] = draft[j] if good else new[j]
                if not good:
                    break
            if good:
                rows[b, many] = bonus[b]
        return [rows]
    return launch([at, draft, target, guess, u, new, bonus, out, V], {"SPEC": longest}, B, [out],
                  warps, rejected)


def store_kv(tokens, blocks, page, width, warps, kind=bf16):
    k, v = randn(tokens, width, dtype=kind), randn(tokens, width, dtype=kind)
    caches = [zeros(blocks, page, width, dtype=kind) for _ in range(2)]
    slots = torch.randperm(blocks * page)[:tokens].to(library_calls.DEVICE)
    slots[0] = -1

    def reference():
        right = [torch.zeros_like(c).view(-1, width) for c in caches]
        for new, to in zip((k, v), right):
            to[slots[1:]] = new[1:]
        return right
    return launch([k, v, *caches, slots, width, page * width, width],
                  {"HD": width, "PAGE": page, "PAD": power(width)}, tokens, caches, warps,
                  reference)


add("indexing.py", "embedding_forward", "bf16 16384 of 128256×4096, 8 warps", embedding,
    dict(n=16384, V=128256, D=4096), dict(n=21, V=50, D=200), tile=(8, 256), warps=8)
add("indexing.py", "embedding_backward", "bf16 16384 of 32000×2048, 4 warps", embedding_back,
    dict(n=16384, V=32000, D=2048, block=2048), dict(n=9, V=10, D=300, block=256), warps=4)
add("indexing.py", "index_select", "fp16 8192×8192, 4096 of its columns, 4 warps", select,
    dict(M=8192, N=8192, K=4096), dict(M=13, N=50, K=70), tile=(4, 256), warps=4)
add("indexing.py", "gather_dim", "fp32 64×4096×128, 1024 of the middle, 4 warps", gather,
    dict(shape=(64, 4096, 128), width=1024), dict(shape=(3, 20, 30), width=7), dim=1, block=512,
    warps=4)
add("indexing.py", "gather_dim", "fp32 256×256×4096, 512 of the last, 4 warps", gather,
    dict(shape=(256, 256, 4096), width=512), dict(shape=(3, 7, 30), width=20), dim=2, block=1024,
    warps=4)
add("indexing.py", "scatter_add_rows", "fp32 2^20 edges of 65536×64, 4 warps", scatter_add,
    dict(n=1 << 20, rows=65536, D=64), dict(n=50, rows=9, D=40), tile=(16, 64), warps=4)
add("indexing.py", "jagged_to_dense", "bf16 256 of up to 1024×256, 4 warps", jagged_dense,
    dict(B=256, longest=1024, D=256), dict(B=3, longest=40, D=90), tile=(32, 64), warps=4)
add("indexing.py", "jagged_mean", "bf16 512 of up to 2048×256, 4 warps", jagged_mean,
    dict(B=512, longest=2048, D=256), dict(B=3, longest=90, D=90), tile=(32, 64), warps=4)
add("indexing.py", "nms_mask", "16384 boxes, 4 warps", nms, dict(n=16384), dict(n=70), block=64,
    warps=4)
add("indexing.py", "count_tokens", "16384×8 to 256 experts, 1 warp", count_tokens,
    dict(tokens=16384, experts=256), dict(tokens=40, experts=16), topk=8, warps=1)
add("indexing.py", "place_tokens", "4096×8 to 256 experts, 8 warps", place_tokens,
    dict(tokens=4096, experts=256, rows=64), dict(tokens=40, experts=8, rows=16), topk=8,
    block=2048, warps=8)
add("indexing.py", "topk_softmax", "65536, 8 of 128 experts, 4 warps", router,
    dict(rows=65536, experts=128), dict(rows=11, experts=16), topk=8, block=16, warps=4)
add("indexing.py", "token_penalties", "256×128256, 8 warps", penalties,
    dict(B=256, V=128256, block=8192), dict(B=3, V=700, block=512), warps=8)
add("indexing.py", "top_k_top_p", "512×32000, 16 warps", top_k_top_p, dict(B=512, V=32000, k=200),
    dict(B=3, V=500, k=40), warps=16)
add("indexing.py", "gumbel_sample", "256×128256, 8 warps", gumbel, dict(B=256, V=128256,
    block=2048), dict(B=3, V=700, block=256), warps=8)
add("indexing.py", "rejection_sample", "65536 requests of up to 8, 1 warp", drafts,
    dict(B=65536, V=32), dict(B=9, V=20), kernel="rejection_sample", longest=8, warps=1)
add("indexing.py", "recovered_tokens", "256 requests of up to 5, 32000 tokens, 8 warps", drafts,
    dict(B=256, V=32000), dict(B=5, V=300), kernel="recovered_tokens", longest=5, warps=8)
add("indexing.py", "store_kv", "bf16 32768×1024, pages of 16, 4 warps", store_kv,
    dict(tokens=32768, blocks=4096, width=1024), dict(tokens=20, blocks=5, width=200), page=16,
    warps=4)

# ---------------------------------------------------------------- fewer bits


def token_int8(M, N, warps, kind=bf16):
    x, q = randn(M, N, dtype=kind), zeros(M, N, dtype=i8)
    scale, total = zeros(M, dtype=f32), zeros(M, dtype=f32)

    def reference():
        v = x.float()
        most = v.abs().amax(1)
        return [(v * (127 / most)[:, None]).round().to(i8), most / 127, v.sum(1)]
    return launch([x, q, scale, total, N, N], {"BLOCK": power(N)}, M, [q, scale, total], warps,
                  reference)


def scaled_f8(x, group):
    """fp8 of groups along the last dimension, and the scales"""
    v = x.float().unflatten(-1, (-1, group))
    scale = v.abs().amax(-1) / 448
    return (v / scale[..., None]).to(f8).float(), scale


def group_fp8(M, N, warps, columns=False, group=128, kind=bf16):
    x, q = randn(M, N, dtype=kind), zeros(M, N, dtype=f8)
    scale = zeros(*((N // group, M) if columns else (M, N // group)), dtype=f32)

    def reference():
        right, scales = scaled_f8(x, group)
        return [right, scales.T.contiguous() if columns else scales]
    return launch([x, q, scale, group, N, N, 1e-10, -448.0, 448.0],
                  {"BLOCK": power(group), "COLUMN_MAJOR": columns}, M * N // group, [q, scale],
                  warps, reference, 1)


def block_fp8(M, N, warps, block=128, kind=bf16):
    x, q = randn(M, N, dtype=kind), zeros(M, N, dtype=f8)
    scale = zeros(cdiv(M, block), cdiv(N, block), dtype=f32)

    def reference():
        rows, cols = scale.shape
        v = F.pad(x.float(), (0, cols * block - N, 0, rows * block - M))
        scales = v.view(rows, block, cols, block).abs().amax((1, 3)) / 448
        each = scales.repeat_interleave(block, 0).repeat_interleave(block, 1)[:M, :N]
        return [(x.float() / each).to(f8).float(), scales]
    return launch([x, q, scale, M, N], {"BLOCK": block}, tuple(scale.shape), [q, scale], warps,
                  reference)


def silu_fp8(rows, H, group, programs, warps, kind=bf16):
    x, q, scale = randn(rows, 2 * H, dtype=kind), zeros(rows, H, dtype=f8), \
        zeros(rows, H // group, dtype=f32)

    def reference():
        a, b = x.float().chunk(2, 1)
        return list(scaled_f8(F.silu(a) * b, group))
    return launch([x, q, scale, H], {"GROUP": group, "STAGES": 3}, (rows, programs), [q, scale],
                  warps, reference)


def awq(K, N, group, tile, warps):
    cols, words = N // 8, lambda *shape: ints(-1 << 31, 1 << 31, *shape, dtype=int32)
    q, z, s = words(K, cols), words(K // group, cols), rand(K // group, N, low=0.1).to(f16)
    out = zeros(K, N, dtype=f16)

    def reference():
        shifts = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7]) * 4
        w, b = (((a[..., None] >> shifts) & 15).flatten(1) for a in (q, z))
        return [(w - b.repeat_interleave(group, 0)) * s.float().repeat_interleave(group, 0)]
    return launch([q, s, z, out, cols, K], {"GROUP": group, "BLOCK_X": tile[0], "BLOCK_Y": tile[1]},
                  (cdiv(cols, tile[0]), cdiv(K, tile[1])), [out], warps, reference)


def pack_int4(M, N, group, rows, warps, kind=bf16):
    x, q = randn(M, N, dtype=kind), zeros(M, N // 2, dtype=u8)
    scale = zeros(M, N // group, dtype=f32)

    def reference():
        v = x.float().view(M, -1, group)
        scales = v.abs().amax(-1) / 7
        right = (v / scales[..., None]).round().int().view(M, -1, 2) + 8
        return [right[..., 0] | (right[..., 1] << 4), scales]
    return launch([x, q, scale, N], {"GROUP": group, "ROWS": rows}, M * N // group // rows,
                  [q, scale], warps, reference)


add("quant.py", "per_token_int8", "bf16 16384×4096, 8 warps", token_int8, dict(M=16384, N=4096),
    dict(M=3, N=300), warps=8)
for columns in (False, True):
    add("quant.py", "per_group_fp8", f"bf16 4096×7168{', scales by columns' * columns}, 1 warp",
        group_fp8, dict(M=4096, N=7168), dict(M=3, N=256), columns=columns, warps=1)
add("quant.py", "block_fp8", "bf16 8192×8192, 4 warps", block_fp8, dict(M=8192, N=8192),
    dict(M=140, N=200), warps=4)
add("quant.py", "silu_mul_fp8", "bf16 16384×2×2048, 1 warp", silu_fp8, dict(rows=16384, H=2048,
    programs=4), dict(rows=3, H=512, programs=2), group=128, warps=1)
add("quant.py", "dequant_int4", "8192×8192, groups of 128, 4 warps", awq, dict(K=8192, N=8192),
    dict(K=256, N=512), group=128, tile=(32, 32), warps=4)
add("quant.py", "pack_int4", "bf16 8192×8192, groups of 128, 4 warps", pack_int4,
    dict(M=8192, N=8192), dict(M=4, N=512), group=128, rows=8, warps=4)

# ---------------------------------------------------------------- products


def matmul(M, N, K, tile, warps, stages, trans_a=False, trans_b=False, act="", bias=True,
           kind=bf16):
    a = randn(K, M, dtype=kind).T if trans_a else randn(M, K, dtype=kind)
    b = randn(*((N, K) if trans_b else (K, N)), dtype=kind, scale=K ** -0.5)
    b = b.T if trans_b else b
    v, c = randn(N, dtype=kind) if bias else None, zeros(M, N, dtype=kind)

    def reference():
        y = a.float() @ b.float() + (v.float() if bias else 0.0)
        return [F.gelu(y) if act == "gelu" else y.relu() if act == "relu" else y]
    args = [a, b, v, c, M, N, K, *a.stride(), *b.stride(), *c.stride()]
    defines = {**blocks(tile), "GROUP_M": 8, "ACTIVATION": act, "HAS_BIAS": bias}
    return launch(args, defines, cdiv(M, tile[0]) * cdiv(N, tile[1]), [c], warps, reference, stages)


def blocks(tile):
    return dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))


def addmm(M, N, K, tile, warps, stages, kind=f16):
    a, b, old = randn(M, K, dtype=kind), randn(K, N, dtype=kind, scale=K ** -0.5), \
        randn(1, N, dtype=kind).expand(M, N)
    c = zeros(M, N, dtype=kind)
    return launch([a, b, old, c, 0.75, 1.5, M, N, K, *a.stride(), *b.stride(), *old.stride()],
                  blocks(tile), (cdiv(M, tile[0]), cdiv(N, tile[1])), [c], warps,
                  lambda: [1.5 * old.float() + 0.75 * (a.float() @ b.float())], stages)


def gemv(N, M, tile, warps, kind=bf16):
    a, x, y = randn(N, M, dtype=kind), randn(M, dtype=kind), zeros(N, dtype=f32)
    return launch([a, x, y, N, M, *a.stride()], {"BLOCK_N": tile[0], "BLOCK_M": tile[1]},
                  cdiv(N, tile[0]), [y], warps, lambda: [a.float() @ x.float()])


def bmm(B, M, N, K, tile, warps, stages, kind=f16):
    a, b, o = randn(B, M, K, dtype=kind), randn(B, K, N, dtype=kind), zeros(B, M, N, dtype=kind)
    defines = {**dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile)), "GROUP_M": 2,
               "EVEN_K": K % tile[2] == 0}
    return launch([a, b, o, M, N, K], defines, (cdiv(M, tile[0]), cdiv(N, tile[1]), B), [o], warps,
                  lambda: [a.float() @ b.float()], stages)


def split_k(M, N, K, tile, split, warps, stages, kind=bf16):
    a, b, c = randn(M, K, dtype=kind), randn(N, K, dtype=kind, scale=K ** -0.5).T, \
        zeros(M, N, dtype=f32)
    defines = {**blocks(tile), "SPLIT_K": split, "EVEN_K": K % (tile[2] * split) == 0}
    return launch([a, b, c, M, N, K, *a.stride(), *b.stride()], defines,
                  (cdiv(M, tile[0]) * cdiv(N, tile[1]), split), [c], warps,
                  lambda: [a.float() @ b.float()], stages)


def stream_k(M, N, K, tile, warps, stages, kind=f16):
    a, b, c = randn(M, K, dtype=kind), randn(K, N, dtype=kind, scale=K ** -0.5), \
        zeros(M, N, dtype=f32)
    each = cdiv(K, tile[2])
    total = cdiv(M, tile[0]) * cdiv(N, tile[1]) * each
    programs = library_calls.UNITS
    return launch([a, b, c, M, N, K, total, cdiv(total, programs), each, K, N], blocks(tile),
                  programs, [c], warps, lambda: [a.float() @ b.float()], stages)


def w8a16(M, N, K, tile, warps, stages, kind=bf16):
    x, w, s = randn(M, K, dtype=kind), ints(-127, 128, N, K, dtype=i8), rand(N, high=0.01)
    y = zeros(M, N, dtype=kind)
    return launch([x, w, s, y, M, N, K], blocks(tile), (cdiv(N, tile[1]), cdiv(M, tile[0])), [y],
                  warps, lambda: [x.float() @ w.float().T * s], stages)


def w4a16(M, N, K, group, tile, warps, stages, kind=f16):
    words = lambda *shape: ints(-1 << 31, 1 << 31, *shape, dtype=int32)
    x, w, z = randn(M, K, dtype=kind), words(K // 8, N), words(K // group, N // 8)
    s, y = rand(K // group, N, low=0.005, high=0.01).to(kind), zeros(M, N, dtype=kind)

    def reference():
        shifts = torch.arange(8) * 4
        full = (w[:, None] >> shifts[:, None] & 15).view(K, N)
        zero = (z[..., None] >> shifts & 15).view(K // group, N).repeat_interleave(group, 0)
        return [x.float() @ ((full - zero) * s.float().repeat_interleave(group, 0))]
    return launch([x, w, s, z, y, M, N, K], {"GROUP": group, **blocks(tile)},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps, reference, stages)


def int8(M, N, K, tile, warps, stages):
    a, b = ints(-127, 128, M, K, dtype=i8), ints(-127, 128, N, K, dtype=i8)
    sa, sb, v, c = rand(M, high=0.01), rand(N, high=0.01), randn(N, dtype=f32), zeros(M, N)
    return launch([a, b, sa, sb, v, c, M, N, K], blocks(tile), (cdiv(M, tile[0]), cdiv(N, tile[1])),
                  [c], warps, lambda: [a.float() @ b.float().T * sa[:, None] * sb + v], stages)


def block_scaled(M, N, K, tile, warps, stages):
    a, b, c = randn(M, K, dtype=f8), randn(N, K, dtype=f8), zeros(M, N)
    sa, sb = rand(M, K // 128, low=0.5), rand(cdiv(N, 128), K // 128, low=0.5)

    def reference():
        left = a.float() * sa.repeat_interleave(128, 1)
        right = b.float() * sb.repeat_interleave(128, 1).repeat_interleave(128, 0)[:N]
        return [left @ right.T]
    return launch([a, b, c, sa, sb, M, N, K, 128, 128], {**blocks(tile), "GROUP_M": 8},
                  cdiv(M, tile[0]) * cdiv(N, tile[1]), [c], warps, reference, stages)


def moe(tokens, experts, topk, N, K, tile, warps, stages, weighted=False, kind=bf16):
    seed = torch.Generator().manual_seed(tokens)
    chosen = torch.rand(tokens, experts, generator=seed).topk(topk, 1).indices.flatten()
    places, owners, rows = [], [], tile[0]
    for e in range(experts):
        mine = (chosen == e).nonzero().flatten()
        places.append(F.pad(mine, (0, -len(mine) % rows), value=tokens * topk))
        owners += [e] * (len(places[-1]) // rows)
    places = i32(torch.cat(places))
    copies = tokens if topk == 1 else tokens * topk
    a, b = randn(tokens, K, dtype=kind), randn(experts, N, K, dtype=kind, scale=K ** -0.5)
    w, c = rand(copies) if weighted else None, zeros(copies, N, dtype=kind)

    def reference():
        y = torch.stack([b[e].float() @ a[i // topk].float() for i, e in enumerate(chosen)])
        return [y * w[:, None] if weighted else y]
    defines = {"TOP_K": topk, "WEIGHTED": weighted, **blocks(tile), "GROUP_M": 8}
    return launch([a, b, c, w, places, i32(owners), i32([len(places)]), N, K, copies], defines,
                  len(owners) * cdiv(N, tile[1]), [c], warps, reference, stages)


def grouped(sizes, N, K, tile, warps, stages, kind=f16):
    rows = sum(sizes)
    a, b, c = randn(rows, K, dtype=kind), randn(len(sizes), K, N, dtype=kind, scale=K ** -0.5), \
        zeros(rows, N, dtype=kind)

    def reference():
        parts = zip(a.float().split(sizes), b.float())
        return [torch.cat([x @ w for x, w in parts])]
    return launch([a, b, c, i32(sizes), len(sizes), N, K], blocks(tile), library_calls.UNITS, [c],
                  warps, reference, stages)


def descriptors(M, N, K, tile, warps, stages):
    a, b, c = randn(M, K, dtype=f16), randn(N, K, dtype=f16, scale=K ** -0.5), \
        zeros(M, N, dtype=f16)
    boxes = [Box(a, [tile[0], tile[2]]), Box(b, [tile[1], tile[2]]), Box(c, list(tile[:2]))]
    return launch([*boxes, M, N, K], {**blocks(tile), "GROUP_M": 8}, library_calls.UNITS, [c],
                  warps, lambda: [a.float() @ b.float().T], stages)


def dual(M, N, K, tile, warps, stages, kind=bf16):
    x, out = randn(M, K, dtype=kind), zeros(M, N, dtype=kind)
    w1, w2 = (randn(K, N, dtype=kind, scale=K ** -0.5) for _ in range(2))
    return launch([x, w1, w2, out, M, N, K], blocks(tile), (cdiv(M, tile[0]), cdiv(N, tile[1])),
                  [out], warps,
                  lambda: [F.silu(x.float() @ w1.float()) * (x.float() @ w2.float())], stages)


def lora(tokens, adapters, K, rank, block, split, warps, kind=f16):
    x, a = randn(tokens, K, dtype=kind), randn(adapters, rank, K, dtype=kind, scale=K ** -0.5)
    index, out = ints(0, adapters, tokens), zeros(tokens, rank, dtype=f32)
    index[1] = -1

    def reference():
        y = torch.einsum("tk,trk->tr", x.float(), a[index.clamp_min(0)].float()) * 0.5
        return [y * (index >= 0)[:, None]]
    return launch([x, a, index, out, tokens, K, 0.5],
                  {"RANK": rank, "BLOCK_K": block, "SPLIT_K": split}, (tokens, split), [out], warps,
                  reference)


SQUARE = dict(M=4096, N=4096, K=4096)
add("gemm.py", "matmul_bias_act", "bf16 8192×11008×4096, gelu, 8 warps", matmul,
    dict(M=8192, N=11008, K=4096, tile=(128, 256, 64)), dict(M=70, N=90, K=72, tile=(64, 64, 32)),
    act="gelu", warps=8, stages=3)
add("gemm.py", "matmul_bias_act", "fp16 4096×4096×4096, a transposed, relu, 4 warps", matmul,
    SQUARE, dict(M=72, N=96, K=80), tile=(128, 128, 32), act="relu", trans_a=True, warps=4,
    stages=4, kind=f16)
add("gemm.py", "matmul_bias_act", "bf16 4096×4096×4096, b transposed, no bias, 8 warps", matmul,
    SQUARE, dict(M=72, N=96, K=80), tile=(128, 128, 64), trans_b=True, bias=False, warps=8,
    stages=3)
add("gemm.py", "matmul_bias_act", "fp32 2048×2048×2048, 4 warps", matmul,
    dict(M=2048, N=2048, K=2048), dict(M=72, N=96, K=80), tile=(64, 128, 32), warps=4, stages=3,
    kind=f32)
add("gemm.py", "matmul_bias_act", "bf16 1×8192×8192, b transposed, 4 warps", matmul,
    dict(M=1, N=8192, K=8192), dict(M=1, N=96, K=160), tile=(16, 64, 128), trans_b=True, warps=4,
    stages=4)
add("gemm.py", "matmul_bias_act", "bf16 33×7168×4095, odd strides, 4 warps", matmul,
    dict(M=33, N=7168, K=4095), dict(M=33, N=96, K=75), tile=(64, 64, 64), warps=4, stages=3)
add("gemm.py", "addmm", "fp16 2000×3000×1000, 4 warps", addmm, dict(M=2000, N=3000, K=1000),
    dict(M=50, N=60, K=70), tile=(64, 64, 32), warps=4, stages=3)
add("gemm.py", "gemv", "bf16 8192×28672, 4 warps", gemv, dict(N=8192, M=28672),
    dict(N=21, M=700), tile=(8, 512), warps=4)
add("gemm.py", "gemv", "bf16 262144×128, 4 warps", gemv, dict(N=262144, M=128), dict(N=70, M=100),
    tile=(32, 128), warps=4)
add("gemm.py", "bmm", "fp16 64×1024×1024×128, 4 warps", bmm, dict(B=64, M=1024, N=1024, K=128),
    dict(B=2, M=70, N=80, K=64), tile=(128, 128, 32), warps=4, stages=3)
add("gemm.py", "bmm", "fp16 512×197×197×72, 4 warps", bmm, dict(B=512, M=197, N=197, K=72),
    dict(B=2, M=50, N=50, K=40), tile=(64, 64, 32), warps=4, stages=2)
add("gemm.py", "matmul_split_k", "bf16 16×4096×14336 in 8 parts, 4 warps", split_k,
    dict(M=16, N=4096, K=14336, split=8), dict(M=16, N=128, K=600, split=2), tile=(16, 128, 128),
    warps=4, stages=4)
add("gemm.py", "matmul_split_k", "bf16 64×8192×8192 in 4 parts, 4 warps", split_k,
    dict(M=64, N=8192, K=8192, split=4), dict(M=64, N=128, K=640, split=2), tile=(64, 128, 64),
    warps=4, stages=4)
add("gemm.py", "stream_k", "fp16 1280×3968×4096, 8 warps", stream_k,
    dict(M=1280, N=3968, K=4096, tile=(128, 128, 64)), dict(M=70, N=90, K=200, tile=(64, 32, 32)),
    warps=8, stages=3)
add("gemm.py", "matmul_w8a16", "bf16 16×14336×4096, 4 warps", w8a16, dict(M=16, N=14336, K=4096),
    dict(M=9, N=80, K=300), tile=(16, 64, 128), warps=4, stages=4)
add("gemm.py", "matmul_w8a16", "bf16 512×4096×14336, 8 warps", w8a16, dict(M=512, N=4096, K=14336),
    dict(M=70, N=80, K=128), tile=(64, 128, 64), warps=8, stages=3)
add("gemm.py", "matmul_w4a16", "fp16 16×8192×8192, groups of 128, 4 warps", w4a16,
    dict(M=16, N=8192, K=8192), dict(M=9, N=128, K=256), group=128, tile=(16, 64, 64), warps=4,
    stages=4)
add("gemm.py", "matmul_w4a16", "fp16 256×8192×8192, groups of 64, 4 warps", w4a16,
    dict(M=256, N=8192, K=8192), dict(M=70, N=128, K=128), group=64, tile=(64, 128, 32), warps=4,
    stages=3)
add("gemm.py", "matmul_int8", "2048×4096×4096, 8 warps", int8, dict(M=2048, N=4096, K=4096),
    dict(M=70, N=140, K=200), tile=(128, 128, 64), warps=8, stages=3)
add("gemm.py", "matmul_block_fp8", "4096×4096×7168, 4 warps", block_scaled,
    dict(M=4096, N=4096, K=7168), dict(M=70, N=140, K=256), tile=(64, 128, 128), warps=4, stages=3)
add("gemm.py", "matmul_block_fp8", "32×24576×1536, 4 warps", block_scaled,
    dict(M=32, N=24576, K=1536), dict(M=30, N=140, K=256), tile=(16, 128, 128), warps=4, stages=4)
add("gemm.py", "fused_moe", "bf16 4096, 2 of 8 experts, 3584×4096, 8 warps", moe,
    dict(tokens=4096, experts=8, N=3584, K=4096, tile=(128, 128, 64)),
    dict(tokens=30, experts=4, N=80, K=96, tile=(16, 64, 32)), topk=2, warps=8, stages=3)
add("gemm.py", "fused_moe", "bf16 512 copies, 128 experts, 2048×768, weighted, 4 warps",
    moe, dict(tokens=512, experts=128, N=2048, K=768), dict(tokens=30, experts=4, N=80, K=64),
    topk=1, tile=(16, 64, 64), warps=4, stages=4, weighted=True)
add("gemm.py", "grouped_gemm", "fp16 16 groups, 2048×2048, 8 warps", grouped,
    dict(sizes=[1000, 30, 517, 2048, 0, 128, 700, 3000, 1, 900, 64, 256, 1500, 333, 20, 800],
         N=2048, K=2048, tile=(128, 128, 64)),
    dict(sizes=[30, 0, 70, 1, 64], N=80, K=64, tile=(32, 32, 32)), warps=8, stages=3)
add("gemm.py", "matmul_descriptor", "fp16 8192×8192×2048, 8 warps", descriptors,
    dict(M=8192, N=8192, K=2048, tile=(128, 256, 64)), dict(M=70, N=96, K=80, tile=(64, 32, 32)),
    warps=8, stages=3)
add("gemm.py", "dual_gemm_silu", "bf16 4096×5504×4096, 8 warps", dual,
    dict(M=4096, N=5504, K=4096), dict(M=70, N=90, K=72), tile=(64, 128, 64), warps=8, stages=3)
add("gemm.py", "lora_shrink", "fp16 1024 tokens, 32 adapters of 16×4096, 4 warps", lora,
    dict(tokens=1024, adapters=32, K=4096, block=256, split=4),
    dict(tokens=7, adapters=3, K=300, block=128, split=2), rank=16, warps=4)

# ---------------------------------------------------------------- pictures, transforms, systems


def conv1d(B, C, L, O, K, tile, warps, stages, stride=1, kind=f16):
    x, w, v = randn(B, C, L, dtype=kind), randn(O, C, K, dtype=kind, scale=(C * K) ** -0.5), \
        randn(O, dtype=kind)
    OL = (L - 1) // stride + 1
    y = zeros(B, O, OL, dtype=kind)
    return launch([x, w, v, y, C, L, O, OL, stride, K // 2],
                  {"KW": K, "BLOCK_L": tile[0], "BLOCK_O": tile[1], "BLOCK_C": tile[2]},
                  (B, cdiv(OL, tile[0]), cdiv(O, tile[1])), [y], warps,
                  lambda: [F.conv1d(x.float(), w.float(), v.float(), stride, K // 2)], stages)


def conv2d(N, C, H, O, K, tile, warps, stages, stride=1, kind=f16):
    x, w, v = randn(N, C, H, H, dtype=kind), randn(O, C, K, K, dtype=kind, scale=C ** -0.5 / K), \
        randn(O, dtype=kind)
    OH, pad = (H - 1) // stride + 1, K // 2
    y = zeros(N, O, OH, OH, dtype=kind)
    return launch([x, w, v, y, N, C, H, H, O, OH, OH, stride, stride, pad, pad],
                  {"KH": K, "KW": K, "BLOCK_P": tile[0], "BLOCK_O": tile[1], "BLOCK_C": tile[2]},
                  (cdiv(N * OH * OH, tile[0]), cdiv(O, tile[1])), [y], warps,
                  lambda: [F.conv2d(x.float(), w.float(), v.float(), stride, pad)], stages)


def conv2d_nhwc(N, C, H, O, K, tile, warps, stages, kind=f16):
    x, w = randn(N, H, H, C, dtype=kind), randn(O, K, K, C, dtype=kind, scale=C ** -0.5 / K)
    y = zeros(N, H, H, O, dtype=kind)

    def reference():
        a, b = (v.float().permute(0, 3, 1, 2) for v in (x, w))
        out = F.conv2d(a, b, None, 1, K // 2)
        return [out.permute(0, 2, 3, 1)]
    defines = {"C": C, "KH": K, "KW": K, "BLOCK_P": tile[0], "BLOCK_O": tile[1], "BLOCK_K": tile[2]}
    return launch([x, w, y, N, H, H, O], defines, (cdiv(N * H * H, tile[0]), cdiv(O, tile[1])), [y],
                  warps, reference, stages)


def depthwise(N, C, H, K, tile, warps, stride=1, kind=f16):
    x, w, OH = randn(N, C, H, H, dtype=kind), randn(C, 1, K, K, dtype=kind), (H - 1) // stride + 1
    y = zeros(N, C, OH, OH, dtype=kind)
    return launch([x, w, y, C, H, H, OH, OH, stride, K // 2],
                  {"KH": K, "KW": K, "BLOCK_H": tile[0], "BLOCK_W": tile[1]},
                  (cdiv(OH, tile[0]), cdiv(OH, tile[1]), N * C), [y], warps,
                  lambda: [F.conv2d(x.float(), w.float(), None, stride, K // 2, 1, C)])


def im2col(N, C, H, K, block, warps, kind=f16):
    x, out = randn(N, C, H, H, dtype=kind), zeros(N, C * K * K, H * H, dtype=kind)
    return launch([x, out, C, H, H, H, H, 1, K // 2], {"KH": K, "KW": K, "BLOCK": block},
                  (cdiv(C * K * K * H * H, block), N), [out], warps,
                  lambda: [F.unfold(x.float(), K, padding=K // 2)])


def max_pool(N, C, H, K, tile, warps, stride=2, kind=f16):
    x, OH = randn(N, C, H, H, dtype=kind), (H + 2 * (K // 2) - K) // stride + 1
    y, index = zeros(N, C, OH, OH, dtype=kind), zeros(N, C, OH, OH, dtype=i64)
    return launch([x, y, index, H, H, OH, OH, stride, K // 2],
                  {"K": K, "BLOCK_H": tile[0], "BLOCK_W": tile[1]},
                  (N * C, cdiv(OH, tile[0]) * cdiv(OH, tile[1])), [y, index], warps,
                  lambda: list(F.max_pool2d(x.float(), K, stride, K // 2, return_indices=True)))


def avg_pool_back(N, C, H, K, block, warps, stride=2, kind=f16):
    OH = (H + 2 * (K // 2) - K) // stride + 1
    dy, dx = randn(N, C, OH, OH, dtype=kind), zeros(N, C, H, H, dtype=kind)

    def reference():
        leaf = torch.zeros(N, C, H, H, requires_grad=True)
        F.avg_pool2d(leaf, K, stride, K // 2).backward(dy.float())
        return [leaf.grad]
    return launch([dy, dx, H, H, OH, OH, stride, K // 2], {"K": K, "BLOCK": block},
                  (cdiv(H * H, block), N * C), [dx], warps, reference)


def upsample(kernel, N, C, H, OH, tile, warps, programs=1, kind=f16):
    x, y = randn(N, C, H, H, dtype=kind), zeros(N, C, OH, OH, dtype=kind)
    if kernel == "upsample_nearest":
        return launch([x, y, H, H, OH, OH, H / OH, H / OH], {"BLOCK": tile},
                      (cdiv(OH * OH, tile), N * C), [y], warps,
                      lambda: [F.interpolate(x.float(), size=(OH, OH))])
    return launch([x, y, N * C, H, H, OH, OH, H / OH, H / OH],
                  {"BLOCK_X": tile[0], "BLOCK_Y": tile[1]},
                  (cdiv(OH, tile[0]), cdiv(OH, tile[1]), programs), [y], warps,
                  lambda: [F.interpolate(x.float(), size=(OH, OH), mode="bilinear")])


def hadamard(rows, N, each, warps, kind=bf16):
    x, y, log = randn(rows, N, dtype=kind), zeros(rows, N, dtype=kind), N.bit_length() - 1

    def reference():
        h = torch.ones(1, 1)
        for _ in range(log):
            h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
        return [x.float() @ h * N ** -0.5]
    return launch([x, y, N ** -0.5], {"N": N, "LOG": log, "ROWS": each}, rows // each, [y], warps,
                  reference)


def fft(rows, R, each, warps, kind=f16):
    x, y = randn(rows, 2, R * R, dtype=kind), zeros(rows, 2, R * R, dtype=kind)
    i = torch.arange(R)
    turn = -2 * math.pi * i[:, None] * i
    planes = lambda angle, like: torch.stack([angle.cos(), angle.sin()]).to(like).to(x.device)
    f, t = planes(turn / R, kind), planes(turn / (R * R), torch.float32)
    if library_calls.FILLED:
        x *= 1 / R

    def reference():
        out = torch.fft.fft(torch.complex(x[:, 0].float(), x[:, 1].float()))
        return [torch.stack([out.real, out.imag], 1)]
    return launch([x, f, t, y], {"R": R, "ROWS": each}, rows // each, [y], warps, reference)


def triangular(batch, N, M, block, warps):
    a, b = randn(batch, N, N, dtype=f32, scale=N ** -0.5), randn(batch, N, M, dtype=f32)
    x = zeros(batch, N, M, dtype=f32)
    if library_calls.FILLED:
        a += 2 * torch.eye(N, device=a.device)
    return launch([a, b, x, M], {"N": N, "BLOCK_M": block}, (batch, cdiv(M, block)), [x], warps,
                  lambda: [torch.linalg.solve_triangular(a.tril(), b, upper=False)])


def cholesky(batch, N, warps):
    half, out = randn(batch, N, N, dtype=f32), zeros(batch, N, N, dtype=f32)
    a = half @ half.mT + N * torch.eye(N, device=half.device) if library_calls.FILLED else half
    return launch([a, out], {"N": N}, batch, [out], warps, lambda: [torch.linalg.cholesky(a)])


add("conv.py", "conv1d", "fp16 8×512×3000 to 512, 3 taps, 4 warps", conv1d,
    dict(B=8, C=512, L=3000, O=512), dict(B=2, C=20, L=50, O=30), K=3, tile=(64, 64, 32), warps=4,
    stages=3)
add("conv.py", "conv2d", "fp16 32×128×56×56 to 128, 3×3, 4 warps", conv2d,
    dict(N=32, C=128, H=56, O=128), dict(N=2, C=20, H=9, O=30), K=3, tile=(64, 64, 32), warps=4,
    stages=3)
add("conv.py", "conv2d", "fp16 32×3×224×224 to 64, 7×7 by 2, 8 warps", conv2d,
    dict(N=32, C=3, H=224, O=64), dict(N=2, C=3, H=15, O=20), K=7, stride=2, tile=(128, 32, 16),
    warps=8, stages=2)
add("conv.py", "conv2d_nhwc", "fp16 32×56×56×128 to 128, 3×3, 8 warps", conv2d_nhwc,
    dict(N=32, C=128, H=56, O=128), dict(N=2, C=24, H=9, O=30), K=3, tile=(128, 64, 32), warps=8,
    stages=3)
add("conv.py", "depthwise_conv2d", "fp16 32×256×56×56, 3×3, 4 warps", depthwise,
    dict(N=32, C=256, H=56), dict(N=2, C=3, H=13), K=3, tile=(16, 64), warps=4)
add("conv.py", "depthwise_conv2d", "fp16 32×384×14×14, 7×7, 1 warp", depthwise,
    dict(N=32, C=384, H=14), dict(N=2, C=3, H=13), K=7, tile=(16, 16), warps=1)
add("conv.py", "im2col", "fp16 8×64×56×56, 3×3, 4 warps", im2col, dict(N=8, C=64, H=56),
    dict(N=2, C=3, H=9), K=3, block=1024, warps=4)
add("conv.py", "max_pool2d", "fp16 32×64×112×112, 3×3 by 2, 4 warps", max_pool,
    dict(N=32, C=64, H=112), dict(N=2, C=3, H=21), K=3, tile=(16, 32), warps=4)
add("conv.py", "avg_pool2d_backward", "fp16 32×64×112×112, 3×3 by 2, 4 warps", avg_pool_back,
    dict(N=32, C=64, H=112), dict(N=2, C=3, H=21), K=3, block=1024, warps=4)
add("conv.py", "upsample_bilinear", "fp16 8×64×128×128 to 256×256, 4 warps", upsample,
    dict(N=8, C=64, H=128, OH=256, programs=8), dict(N=2, C=3, H=11, OH=23, programs=2),
    kernel="upsample_bilinear", tile=(64, 16), warps=4)
add("conv.py", "upsample_nearest", "fp16 8×128×128×128 to 256×256, 4 warps", upsample,
    dict(N=8, C=128, H=128, OH=256), dict(N=2, C=3, H=11, OH=22), kernel="upsample_nearest",
    tile=1024, warps=4)
add("conv.py", "hadamard", "bf16 65536×128, 4 warps", hadamard, dict(rows=65536, N=128, each=16),
    dict(rows=8, N=64, each=4), warps=4)
add("conv.py", "hadamard", "bf16 8192×4096, 8 warps", hadamard, dict(rows=8192, N=4096),
    dict(rows=2, N=256), each=1, warps=8)
add("conv.py", "fft_two_steps", "fp16 4096×1024, 4 warps", fft, dict(rows=4096, R=32, each=4),
    dict(rows=4, R=16, each=2), warps=4)
add("conv.py", "triangular_solve", "fp32 1024×64×64, 4 warps", triangular,
    dict(batch=1024, N=64, M=64), dict(batch=2, N=16, M=20), block=32, warps=4)
add("conv.py", "cholesky", "fp32 8192×32×32, 1 warp", cholesky, dict(batch=8192, N=32),
    dict(batch=2, N=16), warps=1)

# ---------------------------------------------------------------- attention


def scores(q, k, scale, mask=None):
    s = q.float() @ k.float().mT * scale
    return s if mask is None else s.masked_fill(~mask, -math.inf)


def below(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def flash(B, H, T, D, tile, warps, stages, causal, kind=f16):
    q, k, v = (randn(B, H, T, D, dtype=kind) for _ in range(3))
    o, lse = zeros(B, H, T, D, dtype=kind), zeros(B, H, T, dtype=f32)

    def reference():
        s = scores(q, k, D ** -0.5, below(T) if causal else None)
        return [s.softmax(-1) @ v.float(), s.logsumexp(-1) / math.log(2)]
    return launch([q, k, v, o, lse, D ** -0.5, H, T],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "D": D, "CAUSAL": causal},
                  (cdiv(T, tile[0]), B * H), [o, lse], warps, reference, stages)


def masked(B, HQ, HK, T, D, tile, warps, stages, window=0, alibi=False, kind=bf16):
    q, o = randn(B, T, HQ, D, dtype=kind), zeros(B, T, HQ, D, dtype=kind)
    k, v = randn(B, T, HK, D, dtype=kind), randn(B, T, HK, D, dtype=kind)
    slopes = 2.0 ** -torch.arange(1, HQ + 1, device=q.device).float() if alibi else None

    def reference():
        heads = lambda a: a.float().transpose(1, 2)
        kk, vv = (heads(a).repeat_interleave(HQ // HK, 1) for a in (k, v))
        far = torch.arange(T)[:, None] - torch.arange(T)
        mask = (far >= 0) & (far < window if window else True)
        s = scores((heads(q) * D ** -0.5).to(kind), kk, 1.0)
        s = s - slopes[:, None, None] * far if alibi else s
        return [(s.masked_fill(~mask, -math.inf).softmax(-1) @ vv).transpose(1, 2)]
    step = lambda a: (a.stride(0), a.stride(2), a.stride(1))
    defines = {"HQ": HQ, "GROUP": HQ // HK, "D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1],
               "BLOCK_D": power(D), "WINDOW": window, "ALIBI": alibi}
    return launch([q, k, v, slopes, o, D ** -0.5, T, *step(q), *step(k)],
                  defines, (cdiv(T, tile[0]), B * HQ), [o], warps, reference, stages)


def varlen(lengths, HQ, HK, D, tile, warps, stages, kind=bf16):
    at, T = steps(lengths), sum(lengths)
    q, k, v, o = (make(T, h, D, dtype=kind) for make, h in
                  ((randn, HQ), (randn, HK), (randn, HK), (zeros, HQ)))

    def reference():
        out = []
        for i, n in zip(at.tolist(), lengths):
            a, b, c = (x[i : i + n].float().transpose(0, 1) for x in (q, k, v))
            b, c = (x.repeat_interleave(HQ // HK, 0) for x in (b, c))
            out.append((scores(a, b, D ** -0.5, below(n)).softmax(-1) @ c).transpose(0, 1))
        return [torch.cat(out)]
    return launch([q, k, v, i32(at), i32(lengths), o, D ** -0.5, HQ * D, HK * D],
                  {"GROUP": HQ // HK, "D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (len(lengths), HQ, cdiv(max(lengths), tile[0])), [o], warps, reference, stages)


def paged(kernel, B, longest, HQ, HK, D, page, warps, stages=2, block=64, splits=8, kind=bf16):
    seed = torch.Generator().manual_seed(B)
    lengths = torch.randint(longest // 2, longest + 1, (B,), generator=seed)
    wide = cdiv(longest, page)
    table = i32(torch.randperm(B * wide).view(B, wide))
    q, group = randn(B, HQ, D, dtype=kind), HQ // HK
    k, v = (randn(B * wide, page, HK, D, dtype=kind) for _ in range(2))

    def each():
        for b, n in enumerate(lengths.tolist()):
            kk, vv = (a[table[b].long()].flatten(0, 1)[:n].float().transpose(0, 1)
                      .repeat_interleave(group, 0) for a in (k, v))
            yield scores(q[b, :, None], kk, D ** -0.5)[:, 0], vv
    weigh = lambda s, c: (s.softmax(-1)[:, None] @ c)[:, 0]
    where = [table, i32(lengths)]
    if kernel == "paged_decode_vector":
        o = zeros(B, HQ, D, dtype=kind)
        return launch([q, k, v, *where, o, D ** -0.5, wide, HQ, HK],
                      {"D": D, "PAGE": page}, (B, HQ), [o], warps,
                      lambda: [torch.stack([weigh(s, c) for s, c in each()])])
    part, lse = zeros(B, HQ, splits, D, dtype=f32), zeros(B, HQ, splits, dtype=f32)

    def reference():
        parts, sums = torch.zeros_like(part), torch.zeros_like(lse)
        for b, (s, c) in enumerate(each()):
            share = cdiv(cdiv(s.shape[1], splits), block) * block
            for i, here in enumerate(s.split(share, 1)):
                parts[b, :, i] = weigh(here, c[:, i * share : (i + 1) * share])
                sums[b, :, i] = here.logsumexp(-1)
        return [parts, sums]
    defines = {"HK": HK, "GROUP": group, "PAD": max(16, power(group)), "D": D, "PAGE": page,
               "BLOCK_N": block, "SPLITS": splits}
    return launch([q, k, v, *where, part, lse, D ** -0.5, wide], defines, (B, HK, splits),
                  [part, lse], warps, reference, stages, 2e-2)


def merge_parts(B, H, D, length, warps, block=64, splits=8, kind=bf16):
    part, lse, o = randn(B, H, splits, D, dtype=f32), randn(B, H, splits, dtype=f32), \
        zeros(B, H, D, dtype=kind)
    lengths = torch.arange(length - B + 1, length + 1)

    def reference():
        out = []
        for b, n in enumerate(lengths.tolist()):
            full = cdiv(n, cdiv(cdiv(n, splits), block) * block)
            out.append((lse[b, :, :full].softmax(-1)[:, None] @ part[b, :, :full])[:, 0])
        return [torch.stack(out)]
    return launch([part, lse, i32(lengths), o],
                  {"H": H, "D": D, "BLOCK_N": block, "SPLITS": splits}, (B, H), [o], warps,
                  reference)


def attention_back(kernel, B, H, T, D, tile, warps, stages, kind=f16):
    q, k, v, do = (randn(B, H, T, D, dtype=kind) for _ in range(4))
    outs = [zeros(B, H, T, D, dtype=kind) for _ in range(1 if kernel.endswith("q") else 2)]
    o, lse, delta = randn(B, H, T, D, dtype=kind), rand(B, H, T, low=8.0), rand(B, H, T)
    if library_calls.SMALL:
        s = scores(q, k, D ** -0.5, below(T))
        lse, delta = s.logsumexp(-1) / math.log(2), ((s.softmax(-1) @ v.float()) * do).sum(-1)

    def reference():
        leaves = [a.float().requires_grad_() for a in (q, k, v)]
        p = scores(*leaves[:2], D ** -0.5, below(T)).softmax(-1)
        (p @ leaves[2]).backward(do.float())
        return [a.grad for a in (leaves[:1] if kernel.endswith("q") else leaves[1:])]
    if kernel == "attention_delta":
        return launch([o, do, delta := zeros(B, H, T, dtype=f32), T], {"BLOCK_M": tile[0], "D": D},
                      (T // tile[0], B * H), [delta], warps, lambda: [(o.float() * do).sum(-1)])
    return launch([q, k, v, do, lse, delta, *outs, D ** -0.5, T],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "D": D},
                  (T // tile[0 if kernel.endswith("q") else 1], B * H), outs, warps, reference,
                  stages)


def merge_states(tokens, H, D, warps, kind=bf16):
    a, b, o = randn(tokens, H, D, dtype=kind), randn(tokens, H, D, dtype=kind), \
        zeros(tokens, H, D, dtype=kind)
    la, lb, lse = randn(H, tokens, dtype=f32), randn(H, tokens, dtype=f32), \
        zeros(H, tokens, dtype=f32)

    def reference():
        w = torch.stack([la, lb]).softmax(0).mT[..., None]
        return [w[0] * a.float() + w[1] * b.float(), torch.logaddexp(la, lb)]
    return launch([a, la, b, lb, o, lse, H], {"D": D, "PAD": power(D)}, (tokens, H), [o, lse],
                  warps, reference)


add("attention.py", "flash_forward", "fp16 4×32×4096×128, causal, 8 warps", flash,
    dict(B=4, H=32, T=4096, D=128), dict(B=1, H=2, T=256, D=64), tile=(128, 64), warps=8, stages=3,
    causal=True)
add("attention.py", "flash_forward", "bf16 16×16×2048×64, 4 warps", flash,
    dict(B=16, H=16, T=2048, D=64), dict(B=1, H=2, T=128, D=32), tile=(128, 64), warps=4, stages=3,
    causal=False, kind=bf16)
FEW = dict(B=1, HQ=2, HK=1, T=150)
add("attention.py", "attention_masked", "bf16 2×4096×32 on 8×128, 8 warps", masked,
    dict(B=2, HQ=32, HK=8, T=4096, D=128), dict(D=64, **FEW), tile=(128, 64), warps=8, stages=2)
add("attention.py", "attention_masked", "bf16 1×16384×32 on 8×128, window 1024, 4 warps", masked,
    dict(B=1, HQ=32, HK=8, T=16384, D=128), dict(B=1, HQ=2, HK=1, T=300, D=64, window=100),
    tile=(64, 64), warps=4, stages=3, window=1024)
add("attention.py", "attention_masked", "fp16 4×2048×32×80, ALiBi, 4 warps", masked,
    dict(B=4, HQ=32, HK=32, T=2048, D=80), dict(D=40, **FEW), tile=(64, 64), warps=4, stages=2,
    alibi=True, kind=f16)
add("attention.py", "prefill_varlen", "bf16 12 prompts×32 on 8×128, 4 warps", varlen,
    dict(lengths=[3000, 17, 512, 2048, 900, 1, 128, 4000, 777, 64, 1500, 333], HQ=32, HK=8, D=128),
    dict(lengths=[70, 1, 33], HQ=2, HK=1, D=64), tile=(64, 64), warps=4, stages=2)
add("attention.py", "paged_decode_split", "bf16 64 of up to 8192×32 on 8×128, pages of 16, 4 warps",
    paged, dict(B=64, longest=8192, HQ=32, HK=8), dict(B=2, longest=300, HQ=4, HK=2, splits=2),
    kernel="paged_decode_split", D=128, page=16, warps=4)
add("attention.py", "paged_decode_split", "bf16 16 of up to 32768×64 on 8×128, in 16, 8 warps",
    paged, dict(B=16, longest=32768, HQ=64, HK=8, splits=16), dict(B=2, longest=300, HQ=4, HK=2,
    splits=2), kernel="paged_decode_split", D=128, page=64, warps=8, block=128)
add("attention.py", "paged_decode_merge", "bf16 256×64×128, 8 shares, 4 warps", merge_parts,
    dict(B=256, H=64, length=4096), dict(B=3, H=2, length=300), D=128, warps=4)
add("attention.py", "paged_decode_vector", "bf16 64 of up to 2048×32 on 8×128, 4 warps",
    paged, dict(B=64, longest=2048, HQ=32, HK=8), dict(B=2, longest=100, HQ=4, HK=2),
    kernel="paged_decode_vector", D=128, page=16, warps=4)
add("attention.py", "attention_delta", "fp16 4×32×4096×128, 4 warps", attention_back,
    dict(B=4, H=32, T=4096, D=128), dict(B=1, H=2, T=256, D=64), kernel="attention_delta",
    tile=(128, 0), warps=4, stages=3)
add("attention.py", "attention_backward_kv", "fp16 4×16×2048×128, 8 warps", attention_back,
    dict(B=4, H=16, T=2048, D=128), dict(B=1, H=2, T=256, D=64), kernel="attention_backward_kv",
    tile=(32, 128), warps=8, stages=3)
add("attention.py", "attention_backward_q", "fp16 4×16×2048×128, 8 warps", attention_back,
    dict(B=4, H=16, T=2048, D=128), dict(B=1, H=2, T=256, D=64), kernel="attention_backward_q",
    tile=(128, 32), warps=8, stages=3)
add("attention.py", "attention_backward_kv", "fp16 8×16×2048×64, 4 warps", attention_back,
    dict(B=8, H=16, T=2048, D=64), dict(B=1, H=2, T=256, D=64), kernel="attention_backward_kv",
    tile=(64, 64), warps=4, stages=2)
add("attention.py", "merge_states", "bf16 8192×32×128, 4 warps", merge_states,
    dict(tokens=8192, H=32, D=128), dict(tokens=9, H=2, D=72), warps=4)

# ---------------------------------------------------------------- state-space models


def scan_inputs(B, D, L, N, kind, time_last):
    shape = (lambda w: (B, w, L)) if time_last else (lambda w: (B, L, w))
    u, delta = randn(*shape(D), dtype=kind), rand(*shape(D), low=0.01, high=0.5).to(kind)
    b, c = randn(*shape(N), dtype=f32), randn(*shape(N), dtype=f32, scale=N ** -0.5)
    return u, delta, rand(D, N, low=-2.0, high=-0.1), b, c


def scan_by_steps(u, dt, a, b, c):
    """Outputs and the last state, all B x L x ..."""
    h, out = torch.zeros(u.shape[0], *a.shape), []
    for t in range(u.shape[1]):
        x = (dt[:, t] * u[:, t])[..., None] * b[:, t, None]
        h = h * (dt[:, t, :, None] * a).exp() + x
        out.append((h * c[:, t, None]).sum(-1))
    return torch.stack(out, 1), h


def selective_scan(B, D, L, N, block, warps, kind=bf16):
    u, delta, a, b, c = scan_inputs(B, D, L, N, kind, True)
    skip, bias, z = rand(D), rand(D, low=-1.0), randn(B, D, L, dtype=kind)
    out, state = zeros(B, D, L, dtype=kind), zeros(B, D, N, dtype=f32)

    def reference():
        dt = F.softplus(delta.float() + bias[:, None])
        y, h = scan_by_steps(u.float().mT, dt.mT, a, b.mT, c.mT)
        return [(y.mT + u.float() * skip[:, None]) * F.silu(z.float()), h]
    return launch([u, delta, a, b, c, skip, z, bias, out, state, D, L], {"N": N, "BLOCK_D": block},
                  (cdiv(D, block), B), [out, state], warps, reference)


def scan_chunked(B, D, L, N, block, warps, kind=bf16):
    u, delta, a, b, c = scan_inputs(B, D, L, N, kind, False)
    out = zeros(B, L, D, dtype=kind)
    return launch([u, delta, a, b, c, out, D, L], {"N": N, "BLOCK_L": block}, (D, B), [out], warps,
                  lambda: [scan_by_steps(u.float(), delta.float(), a, b, c)[0]])


def state_update(B, H, P, N, groups, block, warps, tied, kind=bf16):
    state, new = randn(B, H, P, N, dtype=f32), zeros(B, H, P, N, dtype=f32)
    x, z, out = randn(B, H, P, dtype=kind), randn(B, H, P, dtype=kind), zeros(B, H, P, dtype=kind)
    wide = () if tied else (P,)
    dt, bias = randn(B, H, *wide, dtype=kind), rand(H, *wide)
    a = rand(H, *(() if tied else (P, N)), low=-2.0, high=-0.1)
    b, c, d = randn(B, groups, N, dtype=kind), randn(B, groups, N, dtype=kind), rand(H)

    def reference():
        step = F.softplus(dt.float() + bias)
        step = step[..., None, None] if tied else step[..., None]
        each = a[:, None, None] if tied else a
        bb, cc = (v.float().repeat_interleave(H // groups, 1)[:, :, None] for v in (b, c))
        now = state * (each * step).exp() + step * bb * x.float()[..., None]
        y = (now * cc).sum(-1) + x.float() * d[:, None]
        return [now, y * F.silu(z.float())]
    return launch([state, x, dt, bias, a, b, c, d, z, new, out, H, P, N, H // groups],
                  {"TIED": tied, "BLOCK_P": block, "BLOCK_N": power(N)}, (cdiv(P, block), B, H),
                  [new, out], warps, reference)


def chunk_cumsum(B, T, H, chunk, block, warps, kind=bf16):
    dt, a, bias, chunks = randn(B, T, H, dtype=kind), rand(H, low=-2.0), rand(H), cdiv(T, chunk)
    outs = [zeros(B, H, chunks, chunk, dtype=f32) for _ in range(2)]

    def reference():
        v = F.softplus(dt.float() + bias).clamp(0.0, 1.5)
        v = F.pad(v, (0, 0, 0, chunks * chunk - T)).view(B, chunks, chunk, H).permute(0, 3, 1, 2)
        return [v, (v * a[:, None, None]).cumsum(-1)]
    return launch([dt, a, bias, *outs, T, H, 0.0, 1.5], {"CHUNK": chunk, "BLOCK_H": block},
                  (B, chunks, cdiv(H, block)), outs, warps, reference)


def state_passing(B, chunks, H, size, chunk, block, warps, kind=bf16):
    states, first = randn(B, chunks, H, size, dtype=f32), randn(B, H, size, dtype=f32)
    sums = rand(B, H, chunks, chunk, low=-1.0)
    out, final = zeros(B, chunks, H, size, dtype=kind), zeros(B, H, size, dtype=f32)

    def reference():
        now, before = first, []
        for c in range(chunks):
            before.append(now)
            now = now * sums[:, :, c, -1:].exp() + states[:, c]
        return [torch.stack(before, 1), now]
    return launch([states, sums, first, out, final, size, chunks, H],
                  {"CHUNK": chunk, "BLOCK": block}, (cdiv(size, block), B, H), [out, final], warps,
                  reference)


def chunk_scan(B, T, H, groups, P, N, chunk, tile, warps, stages, kind=bf16):
    chunks = cdiv(T, chunk)
    cb, x = randn(B, chunks, groups, chunk, chunk, dtype=kind), randn(B, T, H, P, dtype=kind)
    dt, c = rand(B, H, chunks, chunk, high=0.2), randn(B, T, groups, N, dtype=kind, scale=0.1)
    sums, d = -rand(B, H, chunks, chunk, high=0.1), rand(H)
    if library_calls.FILLED:
        sums = sums.cumsum(-1)
    states, out = randn(B, chunks, H, P, N, dtype=f32), zeros(B, T, H, P, dtype=kind)

    def reference():
        split = lambda v: F.pad(v.float(), (0, 0, 0, 0, 0, chunks * chunk - T)) \
            .view(B, chunks, chunk, *v.shape[2:]).transpose(2, 3)
        heads = lambda v: v.repeat_interleave(H // groups, 2)
        xs, cs = split(x), heads(split(c))
        rows, near = sums.transpose(1, 2), dt.transpose(1, 2)[..., None, :]
        decay = (rows[..., None] - rows[..., None, :]).clamp_max(0).exp()
        y = (heads(cb.float()) * decay * near * below(chunk)) @ xs
        y += (cs @ states.mT) * rows.exp()[..., None]
        return [y.transpose(2, 3).reshape(B, -1, H, P)[:, :T] + x.float() * d[:, None]]
    defines = {"P": P, "N": N, "CHUNK": chunk, **blocks(tile)}
    return launch([cb, x, dt, sums, c, states, d, out, T, chunks, H, H // groups], defines,
                  (cdiv(chunk, tile[0]) * cdiv(P, tile[1]), B * chunks, H), [out], warps, reference,
                  stages)


add("ssm.py", "selective_scan", "bf16 4×4096×1024×16, 4 warps", selective_scan,
    dict(B=4, D=4096, L=1024), dict(B=2, D=40, L=30), N=16, block=32, warps=4)
add("ssm.py", "selective_scan_chunked", "bf16 2×2048×1024×16, 4 warps", scan_chunked,
    dict(B=2, D=2048, L=1024), dict(B=1, D=4, L=150), N=16, block=64, warps=4)
add("ssm.py", "state_update", "bf16 128×80×64×128, tied, 4 warps", state_update,
    dict(B=128, H=80, P=64, N=128, groups=8), dict(B=2, H=4, P=20, N=32, groups=2), block=32,
    warps=4, tied=True)
add("ssm.py", "state_update", "bf16 256×1×4096×16, 4 warps", state_update,
    dict(B=256, H=1, P=4096, groups=1), dict(B=2, H=1, P=70, groups=1), N=16, block=32, warps=4,
    tied=False)
add("ssm.py", "chunk_cumsum", "bf16 8×8192×80, chunks of 256, 4 warps", chunk_cumsum,
    dict(B=8, T=8192, H=80, chunk=256), dict(B=1, T=100, H=6, chunk=32), block=4, warps=4)
add("ssm.py", "state_passing", "fp32 4×32×64×8192, 4 warps", state_passing,
    dict(B=4, chunks=32, H=64, size=8192, chunk=128), dict(B=1, chunks=4, H=2, size=300, chunk=16),
    block=256, warps=4)
add("ssm.py", "chunk_scan", "bf16 2×4096×64×64×128, chunks of 256, 4 warps", chunk_scan,
    dict(B=2, T=4096, H=64, groups=1, P=64, N=128, chunk=256),
    dict(B=1, T=150, H=2, groups=1, P=32, N=32, chunk=64), tile=(64, 64, 32), warps=4, stages=3)
