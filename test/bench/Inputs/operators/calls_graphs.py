"""Calls of graphs.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import cdiv, f16, f32, i32, randn, steps, zeros
from operators.calls import adds_to, int32, ints, launch

CALLS = []
add = adds_to(CALLS)


def degrees(nodes, mean):
    return [(13 * i % (2 * mean)) for i in range(nodes)]


def over(values, counts):
    """Parts of what belongs to each node"""
    return values.split(counts)


def sums(nodes, mean, D, tile, warps, kind=f16):
    counts = degrees(nodes, mean)
    column, w = ints(0, nodes, sum(counts)), randn(sum(counts), dtype=f32)
    x, y = randn(nodes, D, dtype=kind), zeros(nodes, D, dtype=kind)

    def reference():
        each = w[:, None] * x[column.long()].float()
        return [torch.stack([part.sum(0) for part in over(each, counts)])]
    return launch([i32(steps(counts)), column, w, x, y, D, D, D],
                  {"BLOCK_E": tile[0], "BLOCK_D": tile[1]}, (nodes, cdiv(D, tile[1])), [y], warps,
                  reference)


def edges(nodes, mean, heads, D, warps, kind=f16):
    counts = degrees(nodes, mean)
    source, left, right = ints(0, nodes, sum(counts)), randn(nodes, heads, dtype=f32), \
        randn(nodes, heads, dtype=f32)
    v, y = randn(nodes, heads, D, dtype=kind), zeros(nodes, heads, D, dtype=kind)

    def reference():
        rows = []
        for n, part in enumerate(over(source.long(), counts)):
            w = F.leaky_relu(left[part] + right[n], 0.2).softmax(0)
            rows.append((w[..., None] * v[part].float()).sum(0))
        return [torch.stack(rows)]
    return launch([i32(steps(counts)), source, left, right, v, y, 0.2], {"HEADS": heads, "D": D},
                  nodes, [y], warps, reference)


def most(segments, mean, D, tile, warps, kind=f16):
    counts = degrees(segments, mean)
    x, y, at = randn(sum(counts), D, dtype=kind), zeros(segments, D, dtype=kind), \
        zeros(segments, D, dtype=int32)

    def reference():
        best, where = torch.zeros(segments, D), torch.full((segments, D), -1)
        for s, part in enumerate(over(x.float(), counts)):
            if len(part):
                best[s], row = part.max(0)
                row = (part == best[s]).int().argmax(0)
                where[s] = row + sum(counts[:s])
        return [best, where]
    return launch([x, i32(steps(counts)), y, at, D], {"ROWS": tile[0], "BLOCK": tile[1]},
                  (segments, cdiv(D, tile[1])), [y, at], warps, reference)


def scatter(N, D, groups, tile, warps, kind=f16):
    x, to = randn(N, D, dtype=kind), ints(0, groups, N)
    total, count = zeros(groups, D, dtype=f32), zeros(groups, dtype=f32)

    def reference():
        return [torch.zeros(groups, D).index_add_(0, to.long(), x.float()),
                torch.bincount(to.long(), minlength=groups).float()]
    return launch([x, to, total, count, N, D], {"ROWS": tile[0], "BLOCK": tile[1]},
                  cdiv(N, tile[0]), [total, count], warps, reference)


def centres(N, K, D, tile, warps, stages, kind=f16):
    x, c = randn(N, D, dtype=kind), randn(K, D, dtype=kind)
    label, dist = zeros(N, dtype=int32), zeros(N, dtype=f32)

    def reference():
        d, at = (torch.cdist(x.float(), c.float()) ** 2).min(1)
        return [at, d]
    return launch([x, c, label, dist, N, K],
                  {"D": D, "BLOCK_N": tile[0], "BLOCK_K": tile[1]}, cdiv(N, tile[0]),
                  [label, dist], warps, reference, stages)


add("graphs.py", "neighbour_sum", "fp16 100000 nodes of 20 edges, 128, 1 warp", sums,
    dict(nodes=100000, mean=20, D=128, tile=(8, 128)), dict(nodes=20, mean=5, D=40, tile=(4, 32)),
    warps=1)
add("graphs.py", "graph_attention", "fp16 100000 nodes of 20 edges, 8×32, 2 warps", edges,
    dict(nodes=100000, mean=20, heads=8, D=32), dict(nodes=9, mean=4, heads=2, D=16), warps=2)
add("graphs.py", "segment_most", "fp16 16384 segments of 64 rows, 256, 4 warps", most,
    dict(segments=16384, mean=64, D=256, tile=(16, 256)),
    dict(segments=9, mean=5, D=70, tile=(4, 64)), warps=4)
add("graphs.py", "scatter_sums", "fp16 262144×128 to 20000, 4 warps", scatter,
    dict(N=262144, D=128, groups=20000, tile=(16, 128)), dict(N=50, D=40, groups=9, tile=(8, 32)),
    warps=4)
add("graphs.py", "nearest_centre", "fp16 262144×64, 1024 centres, 4 warps", centres,
    dict(N=262144, K=1024, D=64, tile=(128, 64)), dict(N=70, K=50, D=32, tile=(64, 32)), warps=4,
    stages=2)
