"""Calls of geometry.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, i32, rand, randn, steps, zeros
from operators.calls import adds_to, i64, int32, ints, launch, power

CALLS = []
add = adds_to(CALLS)


def nearest(N, M, K, tile, warps):
    q, p = rand(N, 3), rand(M, 3)
    index, dist = zeros(N, K, dtype=int32), zeros(N, K, dtype=f32)

    def reference():
        d, at = ((q[:, None] - p) ** 2).sum(-1).topk(K, 1, largest=False)
        return [at, d]
    return launch([q, p, index, dist, N, M], {"K": K, "BLOCK_Q": tile[0], "BLOCK_P": tile[1]},
                  cdiv(N, tile[0]), [index, dist], warps, reference)


def clouds(B, N, M, D, tile, warps, kind=bf16):
    a, b, out = randn(B, N, D, dtype=kind), randn(B, M, D, dtype=kind), zeros(B, N, dtype=f32)
    return launch([a, b, out, N, M], {"D": D, "BLOCK_N": tile[0], "BLOCK_M": tile[1]},
                  (cdiv(N, tile[0]), B), [out], warps,
                  lambda: [torch.cdist(a.float(), b.float()).amin(2) ** 2])


def farthest(B, N, picks, warps):
    p, out = rand(B, N, 3), zeros(B, picks, dtype=int32)

    def reference():
        far, last, all_of = torch.full((B, N), 1e10), torch.zeros(B, dtype=i64), []
        for _ in range(picks):
            all_of.append(last)
            far = torch.minimum(far, ((p - p[torch.arange(B), last][:, None]) ** 2).sum(-1))
            last = far.argmax(1)
        return [torch.stack(all_of, 1)]
    return launch([p, out, N], {"PICKS": picks, "BLOCK": power(N)}, B, [out], warps, reference)


def balls(B, N, M, K, radius, block, warps):
    q, p, out = rand(B, N, 3), rand(B, M, 3), zeros(B, N, K, dtype=int32)

    def reference():
        near = ((q[:, :, None] - p[:, None]) ** 2).sum(-1) < radius * radius
        place = torch.where(near, torch.arange(M), M).sort(-1).values[..., :K]
        return [torch.where(place < M, place, -1)]
    return launch([q, p, out, N, M, radius * radius], {"K": K, "BLOCK": block}, (N, B), [out],
                  warps, reference)


def colours(N, block, warps):
    d, c, out = randn(N, 3, dtype=f32), randn(N, 16, 3, dtype=f32, scale=0.3), \
        zeros(N, 3, dtype=f32)

    def reference():
        x, y, z = F.normalize(d).unbind(1)
        xx, yy, zz = x * x, y * y, z * z
        basis = torch.stack([
            torch.full_like(x, 0.28209479), -0.48860251 * y, 0.48860251 * z, -0.48860251 * x,
            1.09254843 * x * y, -1.09254843 * y * z, 0.31539157 * (2 * zz - xx - yy),
            -1.09254843 * x * z, 0.54627422 * (xx - yy), -0.59004359 * y * (3 * xx - yy),
            2.89061144 * x * y * z, -0.45704579 * y * (4 * zz - xx - yy),
            0.37317633 * z * (2 * zz - 3 * xx - 3 * yy), -0.45704579 * x * (4 * zz - xx - yy),
            1.44530572 * z * (xx - yy), -0.59004359 * x * (xx - 3 * yy)], 1)
        return [((basis[..., None] * c).sum(1) + 0.5).clamp_min(0)]
    return launch([d, c, out, N], {"BLOCK": block}, cdiv(N, block), [out], warps, reference)


def splats(side, tile, each, count, warps):
    across = side // tile
    counts = [each // 2 + 7 * i % each for i in range(across * across)]
    start, order = i32(steps(counts)), ints(0, count, sum(counts))
    mean, colour, opacity = rand(count, 2, high=float(side)), rand(count, 3), rand(count)
    conic = torch.stack([rand(count, low=0.005, high=0.05), rand(count, low=-0.004, high=0.004),
                         rand(count, low=0.005, high=0.05)], 1)
    out, light = zeros(3, side, side, dtype=f32), zeros(side, side, dtype=f32)

    def reference():
        picture, left = torch.zeros(3, side, side), torch.ones(side, side)
        for t, part in enumerate(order.long().split(counts)):
            y, x = (torch.arange(tile) + tile * v for v in divmod(t, across))
            here = (slice(tile * (t // across), tile * (t // across + 1)),
                    slice(tile * (t % across), tile * (t % across + 1)))
            for g in part:
                dx, dy = mean[g, 0] - x, (mean[g, 1] - y)[:, None]
                e = -(conic[g, 0] * dx * dx + conic[g, 2] * dy * dy) / 2 - conic[g, 1] * dx * dy
                a = (opacity[g] * e.exp()).clamp_max(0.99)
                on = (e <= 0) & (a >= 1 / 255) & (left[here] >= 1e-4)
                w = torch.where(on, a * left[here], 0.0)
                picture[(slice(None), *here)] += w * colour[g][:, None, None]
                left[here] -= w
        return [picture, left]
    return launch([start, order, mean, conic, colour, opacity, out, light, side], {"TILE": tile},
                  (across, across), [out, light], warps, reference)


def encode(N, levels, log, block, warps, kind=f16):
    x, table, out = rand(N, 3), randn(levels, 1 << log, 2, dtype=kind), \
        zeros(N, levels, 2, dtype=kind)
    scales = torch.tensor([16 * 1.4 ** i for i in range(levels)]).to(x.device)

    def reference():
        parts = []
        for s, t in zip(scales, table.float()):
            low, total = (x * s).floor(), 0.0
            for corner in range(8):
                c = torch.tensor([corner & 1, corner >> 1 & 1, corner >> 2])
                w = torch.where(c == 1, x * s - low, 1 - (x * s - low)).prod(1)
                at = (low.to(i64) + c) * torch.tensor([1, 2654435761, 805459861])
                key = (at[:, 0] ^ at[:, 1] ^ at[:, 2]) & ((1 << log) - 1)
                total += w[:, None] * t[key]
            parts.append(total)
        return [torch.stack(parts, 1)]
    return launch([x, table, scales, out, N], {"LEVELS": levels, "LOG": log, "BLOCK": block},
                  (cdiv(N, block), levels), [out], warps, reference)


def rays(counts, block, warps, step=0.01, kind=f16):
    n = sum(counts)
    sigma, colour = rand(n, high=8.0).to(kind), rand(n, 3).to(kind)
    out, depth = zeros(len(counts), 3, dtype=f32), zeros(len(counts), dtype=f32)

    def reference():
        both = []
        for s, c in zip(sigma.float().split(counts), colour.float().split(counts)):
            after = (-s * step).exp().cumprod(0)
            w = torch.cat([torch.ones(1), after])[:-1] - after
            both.append(((w[:, None] * c).sum(0) + after[-1],
                         (w * (torch.arange(len(s)) + 0.5) * step).sum()))
        return [torch.stack(v) for v in zip(*both)]
    return launch([sigma, colour, i32(steps(counts)), out, depth, step], {"BLOCK": block},
                  len(counts), [out, depth], warps, reference)


def turned(N, block, warps):
    q, p, out = randn(N, 4, dtype=f32), randn(N, 3, dtype=f32), zeros(N, 3, dtype=f32)

    def reference():
        w, v = F.normalize(q).split([1, 3], 1)
        t = torch.linalg.cross(v, p) + w * p
        return [p + 2 * torch.linalg.cross(v, t)]
    return launch([q, p, out, N], {"BLOCK": block}, cdiv(N, block), [out], warps, reference)


add("geometry.py", "nearest_k", "8192 of 16384 points, 8, 4 warps", nearest,
    dict(N=8192, M=16384, tile=(16, 256)), dict(N=20, M=150, tile=(16, 32)), K=8, warps=4)
add("geometry.py", "chamfer", "bf16 8×8192×8192×64, 8 warps", clouds,
    dict(B=8, N=8192, M=8192, D=64, tile=(128, 128)), dict(B=2, N=50, M=70, D=32, tile=(64, 32)),
    warps=8)
add("geometry.py", "farthest_point", "64 clouds of 4096, 256 picks, 8 warps", farthest,
    dict(B=64, N=4096, picks=256), dict(B=2, N=300, picks=9), warps=8)
add("geometry.py", "ball_query", "16 clouds, 1024 places, 4096 points, 32 each, 1 warp", balls,
    dict(B=16, N=1024, M=4096, K=32, radius=0.2), dict(B=2, N=5, M=300, K=16, radius=0.3),
    block=128, warps=1)
add("geometry.py", "harmonics", "2^20 splats, 4 warps", colours, dict(N=1 << 20), dict(N=200),
    block=128, warps=4)
add("geometry.py", "splat_tiles", "1024×1024, tiles of 16, some 400 splats each, 4 warps", splats,
    dict(side=1024, tile=16, each=400, count=100000), dict(side=32, tile=16, each=20, count=50),
    warps=4)
add("geometry.py", "hash_grid", "fp16 2^20 places, 16 levels of 2^19, 4 warps", encode,
    dict(N=1 << 20, levels=16, log=19), dict(N=100, levels=3, log=8), block=256, warps=4)
add("geometry.py", "ray_march", "fp16 65536 rays of up to 256, 1 warp", rays,
    dict(counts=[64 + 31 * i % 192 for i in range(65536)]), dict(counts=[30, 1, 70, 33]), block=64,
    warps=1)
add("geometry.py", "rotate_points", "2^22, 4 warps", turned, dict(N=1 << 22), dict(N=500),
    block=256, warps=4)
