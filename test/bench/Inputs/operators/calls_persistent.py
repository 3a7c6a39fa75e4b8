"""Calls of persistent.py, as calls.py has them."""
import math

import library_calls
import torch
import torch.nn.functional as F
from library_calls import Box, bf16, cdiv, f16, f32, i32, randn, zeros
from operators.calls import adds_to, below, blocks, ints, launch, philox, power, scores

CALLS = []
add = adds_to(CALLS)


def softmax(rows, N, programs, stages, warps, kind=f32):
    x, out = randn(rows, N, dtype=kind), zeros(rows, N, dtype=kind)
    return launch([x, out, N, N, rows, N], {"BLOCK": power(N), "STAGES": stages},
                  min(rows, programs), [out], warps, lambda: [x.float().softmax(1)])


def rms_norm(rows, N, tile, programs, warps, kind=bf16):
    x, w, y = randn(rows, N, dtype=kind), randn(N, dtype=kind), zeros(rows, N, dtype=kind)
    return launch([x, w, y, rows, N, 1e-6], {"BLOCK_M": tile, "BLOCK_N": power(N), "STAGES": 2},
                  programs, [y], warps,
                  lambda: [F.rms_norm(x.float(), (N,), w.float(), 1e-6)])


def layer_norm(rows, N, programs, warps, kind=f16):
    x, w, b, y = randn(rows, N, dtype=kind), randn(N, dtype=kind), randn(N, dtype=kind), \
        zeros(rows, N, dtype=kind)
    return launch([x, w, b, y, rows, N, 1e-5], {"BLOCK": power(N)}, programs, [y], warps,
                  lambda: [F.layer_norm(x.float(), (N,), w.float(), b.float(), 1e-5)])


def dropout(M, N, block, warps, p=0.3, kind=f32):
    x, seeds, out = randn(M, N, dtype=kind), ints(0, 1 << 30, M), zeros(M, N, dtype=kind)

    def reference():
        keep = torch.stack([philox(torch.arange(N), s)[0] > p for s in seeds.tolist()])
        return [torch.where(keep, x / (1 - p), 0.0)]
    return launch([x, seeds, out, M, N, p], {"BLOCK": block}, M, [out], warps, reference)


def matmul(kernel, M, N, K, tile, warps, stages, kind=f16, trans_b=False):
    a = randn(M, K, dtype=kind)
    b = randn(*((N, K) if trans_b else (K, N)), dtype=kind, scale=K ** -0.5)
    b = b.T if trans_b else b
    c, tiles = zeros(M, N, dtype=kind), cdiv(M, tile[0]) * cdiv(N, tile[1])

    def reference():
        y = a.float() @ b.float()
        return [F.leaky_relu(y) if kernel == "matmul_leaky" else y]
    defines = {**blocks(tile), "GROUP_M": 8}
    if kernel == "matmul_leaky":
        defines["ACTIVATION"] = "leaky_relu"
    else:
        tiles = min(tiles, library_calls.UNITS)
    return launch([a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride()], defines, tiles, [c],
                  warps, reference, stages)


def descriptors(M, N, K, tile, warps, stages, halves, kind=f16):
    a, b, c = randn(M, K, dtype=kind), randn(N, K, dtype=kind, scale=K ** -0.5), \
        zeros(M, N, dtype=kind)
    tiles = cdiv(M, tile[0]) * cdiv(N, tile[1])
    return launch([a, b, c, M, N, K], {**blocks(tile), "GROUP_M": 8, "SUBTILE": halves},
                  min(tiles, library_calls.UNITS), [c], warps,
                  lambda: [a.float() @ b.float().T], stages)


def grouped(sizes, tile, warps, stages, kind=f16):
    """Sizes are multiples of a tile's."""
    a, b = (randn(sum(m * k for m, _, k in sizes), dtype=kind),
            randn(sum(n * k for _, n, k in sizes), dtype=kind, scale=sizes[0][2] ** -0.5))
    c, starts = zeros(sum(m * n for m, n, _ in sizes), dtype=kind), [[0, 0, 0]]
    for m, n, k in sizes:
        starts.append([s + more for s, more in zip(starts[-1], (m * k, k * n, m * n))])

    def reference():
        out = []
        for (m, n, k), (i, j, _) in zip(sizes, starts):
            out.append((a[i : i + m * k].view(m, k).float() @ b[j : j + k * n].view(k, n).float()))
        return [torch.cat([o.flatten() for o in out])]
    return launch([a, b, c, i32(sizes), i32(starts), len(sizes)], blocks(tile),
                  library_calls.UNITS, [c], warps, reference, stages)


def attention(B, H, T, D, tile, warps, stages, causal, kind=f16):
    q, k, v, o = (make(B * H * T, D, dtype=kind) for make in (randn, randn, randn, zeros))
    lse = zeros(B * H, T, dtype=f32)

    def reference():
        qq, kk, vv = (x.view(B * H, T, D) for x in (q, k, v))
        s = scores(qq, kk, D ** -0.5, below(T) if causal else None)
        return [s.softmax(-1) @ vv.float(), s.logsumexp(-1) / math.log(2)]
    boxes = [Box(x, [rows, D]) for x, rows in zip((q, k, v, o), (*tile, tile[1], tile[0]))]
    return launch([*boxes, lse, D ** -0.5, H, T],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "D": D, "CAUSAL": causal},
                  (cdiv(T, tile[0]), B * H), [o, lse], warps, reference, stages)


add("persistent.py", "softmax_persistent", "fp32 8192×8192, 8 warps", softmax,
    dict(rows=8192, N=8192, programs=264), dict(rows=7, N=200, programs=3), stages=4, warps=8)
add("persistent.py", "softmax_persistent", "fp16 32768×781, 4 warps", softmax,
    dict(rows=32768, N=781, programs=1056), dict(rows=7, N=181, programs=3), stages=2, warps=4,
    kind=f16)
add("persistent.py", "rms_norm_persistent", "bf16 16384×2048, 8 warps", rms_norm,
    dict(rows=16384, N=2048, programs=264), dict(rows=9, N=100, programs=2), tile=4, warps=8)
add("persistent.py", "rms_norm_persistent", "bf16 524288×128, 4 warps", rms_norm,
    dict(rows=524288, N=128, programs=1056), dict(rows=40, N=100, programs=2), tile=16, warps=4)
add("persistent.py", "layer_norm_persistent", "fp16 16384×4096, 8 warps", layer_norm,
    dict(rows=16384, N=4096, programs=528), dict(rows=9, N=100, programs=2), warps=8)
add("persistent.py", "dropout_rows", "fp32 4096×10000, 4 warps", dropout, dict(M=4096, N=10000),
    dict(M=3, N=1500), block=1024, warps=4)
add("persistent.py", "matmul_leaky", "fp16 4096×4096×4096, 8 warps", matmul,
    dict(M=4096, N=4096, K=4096, tile=(128, 256, 64)), dict(M=70, N=90, K=72, tile=(32, 64, 32)),
    kernel="matmul_leaky", warps=8, stages=3)
add("persistent.py", "matmul_leaky", "fp16 1024×1024×512, 4 warps", matmul,
    dict(M=1024, N=1024, K=512, tile=(64, 64, 32)), dict(M=70, N=90, K=72, tile=(32, 32, 32)),
    kernel="matmul_leaky", warps=4, stages=4)
add("persistent.py", "matmul_persistent", "fp16 8192×4096×2048, b transposed, 8 warps", matmul,
    dict(M=8192, N=4096, K=2048, tile=(128, 256, 64)), dict(M=100, N=90, K=72, tile=(32, 32, 32)),
    kernel="matmul_persistent", trans_b=True, warps=8, stages=3)
for halves in (False, True):
    add("persistent.py", "matmul_device_descriptor",
        f"fp16 8192×4096×2048{', by halves' * halves}, 8 warps", descriptors,
        dict(M=8192, N=4096, K=2048, tile=(128, 256, 64)),
        dict(M=104, N=96, K=72, tile=(64, 32, 32)), halves=halves, warps=8, stages=3)
add("persistent.py", "grouped_matmul_tables", "fp16 6 shapes of up to 4096×4096×2048, 4 warps",
    grouped, dict(sizes=[(1024, 1024, 1024), (512, 512, 512), (2048, 1024, 4096), (128, 256, 8192),
                         (4096, 4096, 2048), (256, 2048, 1024)], tile=(128, 128, 64)),
    dict(sizes=[(64, 32, 64), (32, 32, 32), (32, 96, 96)], tile=(32, 32, 32)), warps=4, stages=3)
add("persistent.py", "attention_descriptor", "fp16 4×32×2048×128, causal, 8 warps", attention,
    dict(B=4, H=32, T=2048, D=128, tile=(128, 128)), dict(B=1, H=2, T=256, D=64, tile=(64, 32)),
    causal=True, warps=8, stages=2)
add("persistent.py", "attention_descriptor", "fp16 8×16×2048×64, 4 warps", attention,
    dict(B=8, H=16, T=2048, D=64, tile=(64, 128)), dict(B=1, H=2, T=128, D=64, tile=(64, 32)),
    causal=False, warps=4, stages=3)
