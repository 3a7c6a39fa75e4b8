"""Calls of filters.py, as calls.py has them."""
import math

import torch
import torch.nn.functional as F
from library_calls import cdiv, f16, f32, rand, randint, randn, zeros
from operators.calls import adds_to, i8, launch, u8

CALLS = []
add = adds_to(CALLS)


def tiles(tile):
    return {"BLOCK_Y": tile[0], "BLOCK_X": tile[1]}


def over(H, W, tile, *more):
    return (cdiv(W, tile[1]), cdiv(H, tile[0]), *more)


def weights(K, sigma=1.5):
    w = torch.exp(-(torch.arange(K) - K // 2) ** 2 / (2 * sigma * sigma))
    return (w / w.sum()).to(zeros(1).device)


def blur(planes, H, W, R, tile, warps, kind=f16):
    x, y, w = randn(planes, H, W, dtype=kind), zeros(planes, H, W, dtype=kind), weights(2 * R + 1)
    return launch([x, w, y, H, W], {"R": R, **tiles(tile)}, over(H, W, tile, planes), [y], warps,
                  lambda: [F.conv2d(F.pad(x.float()[:, None], (0, 0, R, R), mode="replicate"),
                                    w[None, None, :, None])])


def near(planes, H, W, R, block, warps, space=0.05, tone=2.0):
    x, y = randn(planes, H, W, dtype=f32), zeros(planes, H, W, dtype=f32)

    def reference():
        k = 2 * R + 1
        there = F.unfold(x[:, None], k, padding=R).view(planes, k * k, H, W)
        inside = F.unfold(torch.ones(1, 1, H, W), k, padding=R).view(1, k * k, H, W)
        d = torch.arange(-R, R + 1) ** 2
        far = (d[:, None] + d).view(1, -1, 1, 1) * space
        w = (-far - tone * (there - x[:, None]) ** 2).exp() * inside
        return [(w * there).sum(1) / w.sum(1)]
    return launch([x, y, H, W, space, tone], {"R": R, "BLOCK": block},
                  (cdiv(H * W, block), planes), [y], warps, reference)


def middle(H, W, block, warps, kind=u8):
    x, y = randint(0, 256, H, W, dtype=u8), zeros(H, W, dtype=u8)
    if kind != u8:
        x, y = randn(H, W, dtype=kind), zeros(H, W, dtype=kind)

    def reference():
        wide = F.pad(x.float()[None, None], (1, 1, 1, 1), mode="replicate")
        return [F.unfold(wide, 3).view(9, H, W).median(0).values]
    return launch([x, y, H, W], {"BLOCK": block}, (cdiv(W, block), H), [y], warps, reference)


def slopes(H, W, tile, warps):
    x, size, angle = randint(0, 256, H, W, dtype=u8), zeros(H, W, dtype=f32), zeros(H, W, dtype=u8)

    def reference():
        k = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        g = F.conv2d(x.float()[None, None], torch.stack([k, k.T])[:, None], padding=1)[0]
        steep = g[1].abs() > g[0].abs()
        return [g.norm(dim=0), (g[0] < 0).to(u8) + 2 * (g[1] < 0).to(u8) + 4 * steep.to(u8)]
    return launch([x, size, angle, H, W], tiles(tile), over(H, W, tile), [size, angle], warps,
                  reference)


def cosines(H, W, count, warps):
    x, y = randint(0, 256, H, W, dtype=u8), zeros(H, W, dtype=i8)
    k = torch.arange(8.0)
    basis = torch.cos(math.pi / 8 * (k + 0.5) * k[:, None]) / 2
    basis[0] /= 2 ** 0.5
    quant = 16.0 + 4 * (k[:, None] + k)

    def reference():
        b = (x.float() - 128).view(H // 8, 8, W // 8, 8).transpose(1, 2)
        level = ((basis @ b @ basis.T) / quant + 0.5).floor().clamp(-127, 127)
        return [level.transpose(1, 2)]
    return launch([x, basis.to(x.device), quant.to(x.device), y, W], {"COUNT": count},
                  (W // 8 // count, H // 8), [y], warps, reference)


def lift(rows, N, rounds, block, warps, kind=f16):
    x, high = randn(rows, N, dtype=kind), zeros(rows, N, dtype=kind)
    low = zeros(rows, N >> rounds, dtype=f32)

    def reference():
        now, details = x.float(), torch.zeros(rows, N)
        for _ in range(rounds):
            even, odd = now[:, 0::2], now[:, 1::2]
            details[:, even.shape[1] : 2 * even.shape[1]] = odd - even
            now = even + (odd - even) / 2
        return [now, details]
    return launch([x, low, high, N], {"ROUNDS": rounds, "BLOCK": block}, (cdiv(N, block), rows),
                  [low, high], warps, reference)


def hues(H, W, tile, warps):
    x = randint(0, 256, H, W, 3, dtype=u8)
    outs = [zeros(H, W, dtype=u8), *(zeros(H // 2, W // 2, dtype=u8) for _ in range(2))]

    def reference():
        r, g, b = x.float().unbind(2)
        y = 0.299 * r + 0.587 * g + 0.114 * b
        u, v = (F.avg_pool2d(c[None], 2)[0] for c in (b - y, r - y))
        return [(y + 0.5).to(u8), (u * 0.564 + 128.5).to(u8), (v * 0.713 + 128.5).to(u8)]
    return launch([x, *outs, H, W], tiles(tile), over(H, W, tile), outs, warps, reference)


def alike(planes, H, W, K, tile, warps, c1=1e-4, c2=9e-4):
    a, b = rand(planes, H, W), rand(planes, H, W)
    out, w = zeros(planes, H - K + 1, W - K + 1, dtype=f32), weights(K)

    def reference():
        window = (w[:, None] * w)[None, None]
        mean = lambda v: F.conv2d(v[:, None], window)[:, 0]
        ma, mb = mean(a), mean(b)
        va, vb, ab = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
        return [(2 * ma * mb + c1) * (2 * ab + c2)
                / ((ma * ma + mb * mb + c1) * (va + vb + c2))]
    return launch([a, b, w, out, H, W, c1, c2], {"K": K, **tiles(tile)},
                  over(H - K + 1, W - K + 1, tile, planes), [out], warps, reference)


def volume(N, C, H, W, R, tile, warps, kind=f16):
    a, b, D = randn(N, C, H, W, dtype=kind), randn(N, C, H, W, dtype=kind), 2 * R + 1
    out = zeros(N, D * D, H, W, dtype=f32)

    def reference():
        wide = F.pad(b.float(), (R, R, R, R))
        return [torch.stack([(a * wide[..., y : y + H, x : x + W]).mean(1)
                             for y in range(D) for x in range(D)], 1)]
    return launch([a, b, out, C, H, W], {"R": R, "BLOCK_X": tile[0], "BLOCK_C": tile[1]},
                  (cdiv(W, tile[0]), H, N), [out], warps, reference)


def disc(H, W, R, tile, warps):
    x, y = randint(0, 256, H, W, dtype=u8), zeros(H, W, dtype=u8)

    def reference():
        d = torch.arange(-R, R + 1) ** 2
        inside = (d[:, None] + d <= R * R).view(-1, 1)
        there = F.unfold(x.float()[None, None], 2 * R + 1, padding=R)[0]
        return [(there * inside).amax(0)]
    return launch([x, y, H, W], {"R": R, **tiles(tile)}, over(H, W, tile), [y], warps, reference)


add("filters.py", "gaussian_columns", "fp16 48×1024×1024, 13, 4 warps", blur,
    dict(planes=48, H=1024, W=1024, tile=(8, 256)), dict(planes=2, H=20, W=70, tile=(4, 32)), R=6,
    warps=4)
add("filters.py", "bilateral", "fp32 8×1024×1024, 7×7, 4 warps", near,
    dict(planes=8, H=1024, W=1024, R=3), dict(planes=2, H=9, W=20, R=2), block=512, warps=4)
add("filters.py", "median_9", "bytes, 8192×8192, 4 warps", middle, dict(H=8192, W=8192, block=2048),
    dict(H=9, W=70, block=64), warps=4)
add("filters.py", "median_9", "fp16 8192×8192, 4 warps", middle, dict(H=8192, W=8192, block=1024),
    dict(H=9, W=70, block=64), warps=4, kind=f16)
add("filters.py", "sobel", "8192×8192, 4 warps", slopes, dict(H=8192, W=8192, tile=(4, 256)),
    dict(H=9, W=70, tile=(4, 32)), warps=4)
add("filters.py", "dct_8", "bytes, 4096×4096, 4 warps", cosines, dict(H=4096, W=4096, count=16),
    dict(H=16, W=64, count=4), warps=4)
add("filters.py", "wavelet_lift", "fp16 4096×8192, 3 rounds, 4 warps", lift,
    dict(rows=4096, N=8192, block=4096), dict(rows=2, N=512, block=256), rounds=3, warps=4)
add("filters.py", "rgb_to_yuv420", "4320×7680, 4 warps", hues, dict(H=4320, W=7680, tile=(8, 256)),
    dict(H=10, W=36, tile=(4, 32)), warps=4)
add("filters.py", "likeness", "fp32 24×512×512, 11×11, 4 warps", alike,
    dict(planes=24, H=512, W=512, K=11), dict(planes=2, H=15, W=40, K=5), tile=(8, 64), warps=4)
add("filters.py", "correlation_volume", "fp16 4×64×96×128, 81, 4 warps", volume,
    dict(N=4, C=64, H=96, W=128, R=4, tile=(128, 16)), dict(N=2, C=20, H=5, W=20, R=1,
    tile=(32, 16)), warps=4)
add("filters.py", "dilate", "bytes, 4096×4096, a disc of 3, 4 warps", disc,
    dict(H=4096, W=4096, tile=(8, 256)), dict(H=9, W=70, tile=(4, 32)), R=3, warps=4)
