"""Calls of creation.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, randint, randn, zeros
from operators.calls import adds_to, i64, ints, launch, philox, philox_words, u8

CALLS = []
add = adds_to(CALLS)


def uniform(n, block, warps, seed=42, offset=1 << 20):
    out, grid = zeros(n, dtype=f32), cdiv(n, 4 * block)

    def reference():
        words = philox(torch.arange(grid * block) + offset, seed)
        return [torch.stack([w.view(grid, block) for w in words], 1).flatten()[:n] * 3.0 - 1.0]
    return launch([out, n, -1.0, 2.0, seed, offset], {"BLOCK": block}, grid, [out], warps,
                  reference)


def normal(n, block, warps, kind=bf16, seed=7, offset=64):
    out, grid = zeros(n, dtype=kind), cdiv(n, 4 * block)

    def pair(a, b):
        r = (-2 * a.clamp_min(1e-7).log()).sqrt()
        return r * (b * 6.283185307179586).cos(), r * (b * 6.283185307179586).sin()

    def reference():
        words = [w.view(grid, block) for w in philox(torch.arange(grid * block) + offset, seed)]
        both = [*pair(*words[:2]), *pair(*words[2:])]
        return [torch.stack(both, 1).flatten()[:n] * 0.5 + 1.0]
    return launch([out, n, 1.0, 0.5, seed, offset], {"BLOCK": block}, grid, [out], warps, reference)


def keys(n, block, warps, seed=99):
    out = zeros(n, dtype=i64)

    def reference():
        i = torch.arange(n)
        return [((philox_words(i, seed)[0] & 0x7FFFFFFF) << 32) | i]
    return launch([out, n, seed], {"BLOCK": block}, cdiv(n, block), [out], warps, reference)


def linspace(n, block, warps):
    out = zeros(n, dtype=f32)
    return launch([out, -2.0, n // 2, 3.0, 5.0 / (n - 1), n], {"BLOCK": block}, cdiv(n, block),
                  [out], warps, lambda: [torch.linspace(-2, 3, n)])


def eye(N, M, tile, warps, kind=f16):
    out = zeros(N, M, dtype=kind)
    return launch([out, N, M], {"BLOCK_I": tile[0], "BLOCK_J": tile[1]},
                  (cdiv(N, tile[0]), cdiv(M, tile[1])), [out], warps, lambda: [torch.eye(N, M)])


def pad_constant(shape, pads, block, warps, kind=f16):
    x = randn(*shape, dtype=kind)
    out = zeros(*(n + 2 * p for n, p in zip(shape, pads)), dtype=kind)
    both = [p for pad in reversed(pads) for p in (pad, pad)]
    return launch([x, out, out.numel(), *out.shape[1:], *shape, *pads, *x.stride(), 1.5],
                  {"BLOCK": block}, cdiv(out.numel(), block), [out], warps,
                  lambda: [F.pad(x, both, value=1.5)])


def pad_reflect(planes, H, W, pad, tile, warps, kind=f16):
    x, out = randn(planes, H, W, dtype=kind), zeros(planes, H + 2 * pad, W + 2 * pad, dtype=kind)
    return launch([x, out, H, W, H + 2 * pad, W + 2 * pad, pad, pad],
                  {"BLOCK_H": tile[0], "BLOCK_W": tile[1]},
                  (cdiv(W + 2 * pad, tile[1]), cdiv(H + 2 * pad, tile[0]), planes), [out], warps,
                  lambda: [F.pad(x.float(), (pad,) * 4, mode="reflect")])


def cat(outer, rows, inner, block, warps, kind=bf16):
    parts, total = [randn(outer, n, inner, dtype=kind) for n in rows], sum(rows)
    out, starts = zeros(outer, total, inner, dtype=kind), [sum(rows[:i]) for i in range(4)]
    return launch([*parts, out, *rows, *starts, inner, total], {"BLOCK": block},
                  (cdiv(max(rows) * inner, block), 4, outer), [out], warps,
                  lambda: [torch.cat(parts, 1)])


def tile_copy(shape, times, block, warps, kind=f32):
    x, out = randn(*shape, dtype=kind), zeros(*(n * t for n, t in zip(shape, times)), dtype=kind)
    return launch([x, out, out.numel(), *out.shape[1:], *shape], {"BLOCK": block},
                  cdiv(out.numel(), block), [out], warps, lambda: [x.tile(times)])


def repeat(rows, most, D, tile, warps, kind=bf16):
    counts = torch.randint(0, most + 1, (rows,), generator=torch.Generator().manual_seed(rows))
    x, ends = randn(rows, D, dtype=kind), counts.cumsum(0)
    out = zeros(int(ends[-1]), D, dtype=kind)
    return launch([x, ends.to(x.device), out, rows, D], {"BLOCK_R": tile[0], "BLOCK_D": tile[1]},
                  (rows, cdiv(D, tile[1])), [out], warps,
                  lambda: [x.repeat_interleave(counts, 0)])


def flip_roll(planes, M, N, flips, shifts, tile, warps, kind=f32):
    x, out = randn(planes, M, N, dtype=kind), zeros(planes, M, N, dtype=kind)

    def reference():
        y = x.flip([d for d, flip in zip((1, 2), flips) if flip])
        return [y.roll(shifts, (1, 2))]
    return launch([x, out, M, N, *shifts], {"FLIP_M": flips[0], "FLIP_N": flips[1],
                  "BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1]), planes), [out], warps, reference)


def triu(batch, M, N, diagonal, tile, warps, kind=f32):
    x, out = randn(batch, M, N, dtype=kind), zeros(batch, M, N, dtype=kind)
    return launch([x, out, M, N, diagonal], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), batch), [out], warps, lambda: [x.triu(diagonal)])


def diag_embed(batch, N, diagonal, tile, warps, kind=f32):
    x, size = randn(batch, N, dtype=kind), N + abs(diagonal)
    out = zeros(batch, size, size, dtype=kind)
    return launch([x, out, batch, N, diagonal, size], {"BLOCK_I": tile[0], "BLOCK_J": tile[1]},
                  (cdiv(size, tile[0]), cdiv(size, tile[1]), batch), [out], warps,
                  lambda: [torch.diag_embed(x, diagonal)])


def one_hot(n, classes, tile, warps):
    ids, out = ints(0, classes, n, dtype=i64), zeros(n, classes, dtype=i64)
    return launch([ids, out, n, classes], {"BLOCK_M": tile[0], "BLOCK_C": tile[1]},
                  (cdiv(n, tile[0]), cdiv(classes, tile[1])), [out], warps,
                  lambda: [F.one_hot(ids, classes)])


def masked_fill(B, H, M, N, tile, warps, kind=bf16):
    x, mask = randn(B, H, M, N, dtype=kind), randint(0, 2, B, 1, M, N, dtype=u8)
    out = zeros(B, H, M, N, dtype=kind)
    return launch([x, mask, out, -10000.0, H, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1]), B * H), [out], warps,
                  lambda: [x.masked_fill(mask != 0, -10000.0)])


def stack_last(n, block, warps, kind=f32):
    a, b, out = randn(n, dtype=kind), randn(n, dtype=kind), zeros(n, 2, dtype=kind)
    return launch([a, b, out, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [torch.stack([a, b], -1)])


add("creation.py", "uniform_philox", "fp32 2^26, 4 warps", uniform, dict(n=1 << 26), dict(n=3001),
    block=512, warps=4)
add("creation.py", "normal_philox", "bf16 2^26, 8 warps", normal, dict(n=1 << 26), dict(n=3001),
    block=1024, warps=8)
add("creation.py", "random_keys", "2^24, 4 warps", keys, dict(n=1 << 24), dict(n=3001), block=1024,
    warps=4)
add("creation.py", "linspace", "fp32 2^26, 4 warps", linspace, dict(n=1 << 26), dict(n=3001),
    block=1024, warps=4)
add("creation.py", "eye", "fp16 8192×8192, 4 warps", eye, dict(N=8192, M=8192), dict(N=70, M=90),
    tile=(32, 64), warps=4)
add("creation.py", "pad_constant", "fp16 32×128×56×56 by 1, 4 warps", pad_constant,
    dict(shape=(32, 128, 56, 56)), dict(shape=(2, 3, 7, 9)), pads=(0, 0, 1, 1), block=1024, warps=4)
add("creation.py", "pad_constant", "fp32 16×512×1023×3, all by 2, 4 warps", pad_constant,
    dict(shape=(16, 512, 1023, 3)), dict(shape=(2, 3, 7, 3)), pads=(2, 2, 2, 2), block=512, warps=4,
    kind=f32)
add("creation.py", "pad_reflect", "fp16 512 of 224×224 by 3, 4 warps", pad_reflect,
    dict(planes=512, H=224, W=224), dict(planes=2, H=11, W=13), pad=3, tile=(8, 128), warps=4)
add("creation.py", "cat_copy", "bf16 16×(1024 + 2048 + 512 + 77)×1024, 4 warps", cat,
    dict(outer=16, rows=(1024, 2048, 512, 77), inner=1024),
    dict(outer=2, rows=(5, 3, 1, 8), inner=40), block=2048, warps=4)
add("creation.py", "tile_copy", "fp32 64×256×96 by 2×3×4, 4 warps", tile_copy,
    dict(shape=(64, 256, 96)), dict(shape=(2, 3, 10)), times=(2, 3, 4), block=1024, warps=4)
add("creation.py", "repeat_interleave", "bf16 8192×2048 up to 7 times, 4 warps", repeat,
    dict(rows=8192, D=2048), dict(rows=6, D=40), most=7, tile=(4, 512), warps=4)
add("creation.py", "flip_roll", "fp32 64×1024×1024, columns mirrored, 4 warps", flip_roll,
    dict(planes=64, M=1024, N=1024), dict(planes=2, M=9, N=50), flips=(False, True), shifts=(0, 0),
    tile=(4, 256), warps=4)
add("creation.py", "flip_roll", "bf16 256×56×56×96 rolled by 3, 4 warps", flip_roll,
    dict(planes=256, M=56, N=5376, shifts=(3, 288)), dict(planes=2, M=7, N=70, shifts=(3, 20)),
    flips=(False, False), tile=(4, 256), warps=4, kind=bf16)
add("creation.py", "triu", "fp32 16×2048×2048, 4 warps", triu, dict(batch=16, M=2048, N=2048),
    dict(batch=2, M=21, N=300), diagonal=1, tile=(4, 256), warps=4)
add("creation.py", "diag_embed", "fp32 1024×255 above by 1, 4 warps", diag_embed,
    dict(batch=1024, N=255), dict(batch=2, N=50), diagonal=1, tile=(16, 128), warps=4)
add("creation.py", "one_hot", "65536 of 1000 classes, 4 warps", one_hot, dict(n=65536,
    classes=1000), dict(n=9, classes=70), tile=(8, 128), warps=4)
add("creation.py", "masked_fill", "bf16 8×32×1024×1024, 4 warps", masked_fill,
    dict(B=8, H=32, M=1024, N=1024), dict(B=2, H=2, M=9, N=70), tile=(16, 128), warps=4)
add("creation.py", "stack_last", "fp32 2^25, 4 warps", stack_last, dict(n=1 << 25), dict(n=3001),
    block=1024, warps=4)
