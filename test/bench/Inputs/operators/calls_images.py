"""Calls of images.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, ints, launch

CALLS = []
add = adds_to(CALLS)


def bicubic(N, C, H, OH, block, warps, kind=f16):
    x, y = randn(N, C, H, H, dtype=kind), zeros(N, C, OH, OH, dtype=kind)
    return launch([x, y, H, H, OH, OH, H / OH, H / OH], {"BLOCK": block},
                  (cdiv(OH * OH, block), N * C), [y], warps,
                  lambda: [F.interpolate(x.float(), size=(OH, OH), mode="bicubic")])


def shuffle(N, C, H, R, block, warps, kind=f16):
    x, y = randn(N, C * R * R, H, H, dtype=kind), zeros(N, C, H * R, H * R, dtype=kind)
    return launch([x, y, C, H, H], {"R": R, "BLOCK": block},
                  (cdiv(C * H * R * H * R, block), N), [y], warps,
                  lambda: [F.pixel_shuffle(x, R)])


def grid_sample(N, C, H, OH, tile, warps, kind=f32):
    x, at = randn(N, C, H, H, dtype=kind), rand(N, OH, OH, 2, low=-1.1, high=1.1)
    y = zeros(N, C, OH, OH, dtype=kind)
    return launch([x, at, y, C, H, H, OH * OH], {"BLOCK_C": tile[0], "BLOCK_P": tile[1]},
                  (cdiv(OH * OH, tile[1]), cdiv(C, tile[0]), N), [y], warps,
                  lambda: [F.grid_sample(x.float(), at, align_corners=False)])


def adaptive(NC, H, OH, tile, warps, kind=f16):
    x, y = randn(NC, H, H, dtype=kind), zeros(NC, OH, OH, dtype=kind)
    return launch([x, y, NC, H, H],
                  {"OH": OH, "OW": OH, "BLOCK_C": tile[0], "BLOCK_W": tile[1]},
                  (cdiv(NC, tile[0]), OH * OH), [y], warps,
                  lambda: [F.adaptive_avg_pool2d(x.float(), OH)])


def max_pool3d(NC, D, H, K, block, warps, stride=2, kind=f16):
    OD, OH = ((n + 2 * (K // 2) - K) // stride + 1 for n in (D, H))
    x, y = randn(NC, D, H, H, dtype=kind), zeros(NC, OD, OH, OH, dtype=kind)
    return launch([x, y, D, H, H, OD, OH, OH, stride, K // 2], {"K": K, "BLOCK": block},
                  (cdiv(OD * OH * OH, block), NC), [y], warps,
                  lambda: [F.max_pool3d(x.float(), K, stride, K // 2)])


def conv_transpose(N, C, H, O, K, tile, warps, stages, stride=2, kind=f16):
    x, w, v = randn(N, C, H, H, dtype=kind), randn(C, O, K, K, dtype=kind, scale=C ** -0.5), \
        randn(O, dtype=kind)
    OH = (H - 1) * stride - 2 * (K // 4) + K
    y = zeros(N, O, OH, OH, dtype=kind)
    defines = {"KH": K, "KW": K, "BLOCK_P": tile[0], "BLOCK_O": tile[1], "BLOCK_C": tile[2]}
    return launch([x, w, v, y, N, C, H, H, O, OH, OH, stride, K // 4], defines,
                  (cdiv(N * OH * OH, tile[0]), cdiv(O, tile[1])), [y], warps,
                  lambda: [F.conv_transpose2d(x.float(), w.float(), v.float(), stride, K // 4)],
                  stages)


def fold(N, C, H, K, stride, block, warps, kind=f16):
    OH = (H + 2 * (K // 2) - K) // stride + 1
    x, y = randn(N, C * K * K, OH * OH, dtype=kind), zeros(N, C, H, H, dtype=kind)
    return launch([x, y, C, H, H, OH, OH, stride, K // 2], {"K": K, "BLOCK": block},
                  (cdiv(C * H * H, block), N), [y], warps,
                  lambda: [F.fold(x.float(), (H, H), K, padding=K // 2, stride=stride)])


def roi_align(N, C, H, boxes, P, samples, block, warps, scale=0.25, kind=f32):
    x, y = randn(N, H, H, C, dtype=kind), zeros(boxes, P, P, C, dtype=kind)
    corner, size = rand(boxes, 2, high=2.5 * H), rand(boxes, 2, low=8.0, high=1.5 * H)
    box = torch.cat([ints(0, N, boxes, 1).float(), corner, corner + size], 1)

    def reference():
        out, picture = [], x.permute(0, 3, 1, 2).float()
        i = torch.arange(P * samples)
        for b in box:
            left, top, right, bottom = (b[1:] * scale - 0.5).tolist()
            at = lambda a, e: a + (i + 0.5) * (e - a) / (P * samples)
            xs, ys = at(left, right), at(top, bottom)
            inside = ((ys >= -1) & (ys <= H))[:, None] & ((xs >= -1) & (xs <= H))
            unit = lambda v: (v.clamp(0, H - 1) * 2 + 1) / H - 1
            place = torch.stack(torch.meshgrid(unit(ys), unit(xs), indexing="ij")[::-1], -1)
            v = F.grid_sample(picture[int(b[0])][None], place[None], padding_mode="border",
                              align_corners=False)
            out.append(F.avg_pool2d(v * inside, samples)[0].permute(1, 2, 0))
        return [torch.stack(out)]
    return launch([x, box, y, C, H, H, scale],
                  {"PH": P, "PW": P, "SAMPLES": samples, "BLOCK_C": block},
                  (boxes, P * P, cdiv(C, block)), [y], warps, reference)


add("images.py", "upsample_bicubic", "fp16 8×32×128×128 to 256×256, 4 warps", bicubic,
    dict(N=8, C=32, H=128, OH=256, block=512), dict(N=2, C=2, H=9, OH=17, block=128), warps=4)
add("images.py", "pixel_shuffle", "fp16 16×(64×4)×128×128, 4 warps", shuffle,
    dict(N=16, C=64, H=128), dict(N=2, C=3, H=7), R=2, block=1024, warps=4)
add("images.py", "grid_sample", "fp32 8×64×128×128, 4 warps", grid_sample,
    dict(N=8, C=64, H=128, OH=128), dict(N=2, C=5, H=9, OH=11), tile=(8, 128), warps=4)
add("images.py", "adaptive_avg_pool", "fp16 65536×14×14 to 7×7, 4 warps", adaptive,
    dict(NC=65536, H=14, OH=7), dict(NC=40, H=9, OH=4), tile=(128, 2), warps=4)
add("images.py", "adaptive_avg_pool", "fp16 8192×56×56 to 6×6, 4 warps", adaptive,
    dict(NC=8192, H=56, OH=6), dict(NC=20, H=23, OH=3), tile=(16, 16), warps=4)
add("images.py", "max_pool3d", "fp16 512×32×56×56, 3×3×3 by 2, 4 warps", max_pool3d,
    dict(NC=512, D=32, H=56), dict(NC=2, D=7, H=9), K=3, block=256, warps=4)
add("images.py", "conv_transpose2d", "fp16 8×128×64×64 to 64, 4×4 by 2, 4 warps", conv_transpose,
    dict(N=8, C=128, H=64, O=64), dict(N=2, C=20, H=7, O=30), K=4, tile=(64, 64, 32), warps=4,
    stages=3)
add("images.py", "fold", "fp16 16×64×112×112, 3×3, 4 warps", fold, dict(N=16, C=64, H=112),
    dict(N=2, C=3, H=9), K=3, stride=1, block=512, warps=4)
add("images.py", "roi_align", "fp32 512 regions of 2×200×200×256 to 7×7, 4 warps", roi_align,
    dict(N=2, C=256, H=200, boxes=512), dict(N=2, C=70, H=20, boxes=5), P=7, samples=2, block=256,
    warps=4)
