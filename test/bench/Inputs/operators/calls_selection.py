"""Calls of selection.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, i8, i64, int32, ints, launch, philox, power, ragged

CALLS = []
add = adds_to(CALLS)


def bucketize(n, count, right, block, warps, kind=f32):
    x, bounds, out = randn(n, dtype=kind), rand(count, low=-3.0, high=3.0).sort().values, \
        zeros(n, dtype=i64)
    return launch([x, bounds, out, n, count],
                  {"RIGHT": right, "STEPS": count.bit_length(), "BLOCK": block}, cdiv(n, block),
                  [out], warps, lambda: [torch.bucketize(x, bounds, right=right)])


def searchsorted(rows, N, Q, block, warps, kind=f32):
    bounds, x, out = randn(rows, N, dtype=kind).sort(1).values, randn(rows, Q, dtype=kind), \
        zeros(rows, Q, dtype=int32)
    return launch([bounds, x, out, N, Q], {"BLOCK": block}, (cdiv(Q, block), rows), [out], warps,
                  lambda: [torch.searchsorted(bounds, x)])


def isin(n, count, block, warps, kind=i64):
    x, tests, out = ints(0, 4 * count, n, dtype=kind), ints(0, 4 * count, count, dtype=kind), \
        zeros(n, dtype=i8)
    return launch([x, tests, out, n, count], {"BLOCK": block, "BLOCK_T": 64}, cdiv(n, block),
                  [out], warps, lambda: [torch.isin(x, tests).to(i8)])


def nonzero(shape, block, warps):
    x, n = ints(-1, 2, *shape, dtype=int32), shape[0] * shape[1] * shape[2]
    before = (x != 0).flatten().cumsum(0)
    out = zeros(int(before[-1]), 3, dtype=i64)
    return launch([x, before, out, n, *shape[1:]], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [x.nonzero()])


def unique(n, kinds, block, warps):
    x = ints(0, kinds, n, dtype=i64).sort().values
    new = F.pad(x[1:] != x[:-1], (1, 0), value=True)
    total = new.cumsum(0)
    starts = F.pad(total, (1, 0))[: n : block].to(int32)
    values, inverse = zeros(int(total[-1]), dtype=i64), zeros(n, dtype=int32)
    return launch([x, starts, values, inverse, n], {"BLOCK": block}, cdiv(n, block),
                  [values, inverse], warps, lambda: list(x.unique(return_inverse=True)))


def kth_radix(rows, N, k, block, warps):
    x, out = randn(rows, N, dtype=f32), zeros(rows, dtype=f32)
    return launch([x, out, N, k], {"BLOCK": block}, rows, [out], warps,
                  lambda: [x.kthvalue(k, 1).values])


def kth_bisection(rows, N, k, warps):
    x, out = randn(rows, N, dtype=f32), zeros(rows, dtype=f32)
    return launch([x, out, N, k], {"STEPS": 32, "BLOCK": power(N)}, rows, [out], warps,
                  lambda: [x.topk(k, 1).values[:, -1]])


def quantile(M, N, Q, warps):
    x, q, out = randn(M, N, dtype=f32), rand(Q), zeros(Q, M, dtype=f32)
    return launch([x, q, out, M, N, Q], {"BLOCK": power(N)}, M, [out], warps,
                  lambda: [x.quantile(q, 1)])


def multinomial(rows, V, block, warps, seed=11):
    probs, out = rand(rows, V), zeros(rows, dtype=i64)

    def reference():
        u = philox(torch.arange(rows * V), seed)[0].view(rows, V)
        return [(probs / -u.clamp_min(1e-10).log()).argmax(1)]
    return launch([probs, out, seed, V], {"BLOCK": block}, rows, [out], warps, reference)


def cummin(A, B, C, tile, warps):
    x, out, index = randn(A, B, C, dtype=f32), zeros(A, B, C, dtype=f32), zeros(A, B, C, dtype=i64)
    return launch([x, out, index, A, B, C], {"BLOCK_B": tile[0], "BLOCK_C": tile[1]},
                  (cdiv(C, tile[1]), A), [out, index], warps, lambda: list(x.cummin(1)))


def histc(n, bins, block, per, warps):
    x, out = randn(n, dtype=f32), zeros(bins, dtype=int32)
    return launch([x, out, n, -2.0, 2.0], {"BINS": bins, "BLOCK": block, "PER": per},
                  cdiv(n, block * per), [out], warps, lambda: [x.histc(bins, -2, 2)])


def rows_of(kernel, M, N, tile, warps, kind=f16):
    """Reductions of the rows of M x N that have the same arguments."""
    x = (randn(M, N, dtype=kind) if kernel == "std_dim" else ints(0, 2, M, N, dtype=kind))
    if kernel == "all_dim":
        x[1:] = 1
        x[M // 2, N // 2] = 0
    out = zeros(M, dtype={"std_dim": kind, "all_dim": i8, "count_nonzero": i64}[kernel])
    functions = {"std_dim": lambda: [x.float().std(1)], "all_dim": lambda: [(x != 0).all(1).to(i8)],
                 "count_nonzero": lambda: [x.count_nonzero(1)]}
    return launch([x, out, M, N, *([1.0] if kernel == "std_dim" else [])],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, cdiv(M, tile[0]), [out], warps,
                  functions[kernel])


def aminmax(n, block, warps):
    x, grid = randn(n, dtype=f32), cdiv(n, block)
    outs = [zeros(grid, dtype=f32), zeros(grid, dtype=f32)]
    return launch([x, *outs, n], {"BLOCK": block}, grid, outs, warps,
                  lambda: [torch.stack([p.min() for p in x.split(block)]),
                           torch.stack([p.max() for p in x.split(block)])])


def scatter(shape, width, dim, adds, block, warps, kind=f32):
    to = [*shape[:dim], width, *shape[dim + 1:]]
    src, out = randn(*shape, dtype=kind), zeros(*to, dtype=kind)
    if adds:
        index = ints(0, width, *shape, dtype=i64)
    else:  # each place once
        index = torch.randperm(width)[: shape[dim]].view([-1 if d == dim else 1 for d in range(3)])
        index = index.expand(shape).contiguous().to(src.device)
    start = torch.zeros(to)
    return launch([src, index, out, src.numel(), *shape[1:], *out.stride()],
                  {"DIM": dim, "ADD": adds, "BLOCK": block}, cdiv(src.numel(), block), [out], warps,
                  lambda: [(start.scatter_add if adds else start.scatter)(dim, index, src)])


def index_put(M, rows, columns, D, tile, warps, kind=f32):
    i, j = ints(-rows, rows, M, dtype=i64), ints(-columns, columns, M, dtype=i64)
    src, out = randn(M, D, dtype=kind), zeros(rows, columns, D, dtype=kind)
    return launch([i, j, src, out, M, rows, columns, D], {"BLOCK_M": tile[0], "BLOCK_D": tile[1]},
                  (cdiv(M, tile[0]), cdiv(D, tile[1])), [out], warps,
                  lambda: [torch.zeros_like(out).index_put((i, j), src, accumulate=True)])


def take_along(M, N, K, block, warps, kind=bf16):
    x, index, out = randn(M, N, dtype=kind), ints(-N, N, M, K, dtype=i64), zeros(M, K, dtype=kind)
    return launch([x, index, out, N, K], {"BLOCK": block}, (M, cdiv(K, block)), [out], warps,
                  lambda: [x.take_along_dim(index % N, 1)])


def bags(B, longest, V, D, mode, weighted, block, warps, kind=bf16):
    offsets = ragged(B, longest)
    n = int(offsets[-1])
    ids, table, out = ints(0, V, n, dtype=i64), randn(V, D, dtype=kind), zeros(B, D, dtype=kind)
    weights = rand(n) if weighted else None

    def reference():
        return [F.embedding_bag(ids, table.float(), offsets[:-1], mode=mode,
                                per_sample_weights=weights)]
    return launch([ids, offsets, weights, table, out, D],
                  {"MODE": mode, "WEIGHTED": weighted, "BLOCK": block}, (B, cdiv(D, block)), [out],
                  warps, reference)


add("selection.py", "bucketize", "fp32 2^24 among 1000, 4 warps", bucketize, dict(n=1 << 24,
    count=1000), dict(n=3001, count=37), right=False, block=512, warps=4)
add("selection.py", "bucketize", "fp32 2^22 among 65536, 4 warps", bucketize, dict(n=1 << 22,
    count=65536), dict(n=3001, count=64), right=True, block=256, warps=4)
add("selection.py", "searchsorted_rows", "fp32 1024×4096, 4096 each, 4 warps", searchsorted,
    dict(rows=1024, N=4096, Q=4096), dict(rows=3, N=70, Q=500), block=512, warps=4)
add("selection.py", "isin_small", "int64 2^23 among 300, 4 warps", isin, dict(n=1 << 23, count=300),
    dict(n=501, count=100), block=128, warps=4)
add("selection.py", "nonzero_write", "int32 64×512×1024, 4 warps", nonzero,
    dict(shape=(64, 512, 1024)), dict(shape=(3, 7, 50)), block=1024, warps=4)
add("selection.py", "unique_sorted", "int64 2^24 of 2^20, 4 warps", unique, dict(n=1 << 24,
    kinds=1 << 20), dict(n=3001, kinds=500), block=1024, warps=4)
add("selection.py", "kth_radix", "fp32 2048×16384, 8 warps", kth_radix, dict(rows=2048, N=16384,
    k=5000, block=4096), dict(rows=3, N=700, k=300, block=256), warps=8)
add("selection.py", "kth_bisection", "fp32 8192×4096, the 64th, 8 warps", kth_bisection,
    dict(rows=8192, N=4096, k=64), dict(rows=3, N=700, k=20), warps=8)
add("selection.py", "quantile_rows", "fp32 8192×1000, 5 of them, 4 warps", quantile,
    dict(M=8192, N=1000, Q=5), dict(M=3, N=100, Q=3), warps=4)
add("selection.py", "multinomial_race", "fp32 512×32000, 8 warps", multinomial, dict(rows=512,
    V=32000, block=4096), dict(rows=3, V=1500, block=512), warps=8)
add("selection.py", "cummin_columns", "fp32 32×1024×512, 4 warps", cummin, dict(A=32, B=1024,
    C=512), dict(A=2, B=100, C=40), tile=(64, 32), warps=4)
add("selection.py", "histc", "fp32 2^25, 128 bins, 4 warps", histc, dict(n=1 << 25, per=16),
    dict(n=3001, per=2), bins=128, block=1024, warps=4)
add("selection.py", "count_nonzero", "fp16 16384×4096, 4 warps", rows_of, dict(M=16384, N=4096),
    dict(M=9, N=300), kernel="count_nonzero", tile=(4, 512), warps=4)
add("selection.py", "all_dim", "int8 32768×4096, 4 warps", rows_of, dict(M=32768, N=4096),
    dict(M=9, N=300), kernel="all_dim", tile=(4, 512), warps=4, kind=i8)
add("selection.py", "std_dim", "bf16 16384×2048, 8 warps", rows_of, dict(M=16384, N=2048),
    dict(M=9, N=300), kernel="std_dim", tile=(8, 512), warps=8, kind=bf16)
add("selection.py", "aminmax_part", "fp32 2^26, 8 warps", aminmax, dict(n=1 << 26), dict(n=9001),
    block=8192, warps=8)
add("selection.py", "scatter_dim", "fp32 64×1024×256 to 2048, 4 warps", scatter,
    dict(shape=(64, 1024, 256), width=2048), dict(shape=(2, 10, 50), width=15), dim=1, adds=False,
    block=1024, warps=4)
add("selection.py", "scatter_dim", "fp32 512×512×128, added to 64 of the last, 4 warps", scatter,
    dict(shape=(512, 512, 128), width=64), dict(shape=(2, 10, 50), width=15), dim=2, adds=True,
    block=512, warps=4)
add("selection.py", "index_put", "fp32 2^18 of 512×512×64, 4 warps", index_put,
    dict(M=1 << 18, rows=512, columns=512, D=64), dict(M=50, rows=5, columns=7, D=40),
    tile=(16, 64), warps=4)
add("selection.py", "take_along_rows", "bf16 4096×32000, 4096 each, 4 warps", take_along,
    dict(M=4096, N=32000, K=4096), dict(M=3, N=100, K=300), block=1024, warps=4)
for mode, weighted in (("mean", False), ("sum", True), ("max", False)):
    add("selection.py", "embedding_bag", f"bf16 16384 bags of 100000×256, {mode}, 2 warps", bags,
        dict(B=16384, longest=40, V=100000, D=256), dict(B=7, longest=6, V=30, D=70), mode=mode,
        weighted=weighted, block=256, warps=2)
