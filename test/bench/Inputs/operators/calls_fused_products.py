"""Calls of fused_products.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, ints, launch, u8

CALLS = []
add = adds_to(CALLS)


def blocks(tile):
    return dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))


def over(M, N, tile):
    return (cdiv(M, tile[0]), cdiv(N, tile[1]))


def chain(M, D, inner, tile, warps, stages, kind=bf16):
    x, gate, up = randn(M, D, dtype=kind), randn(inner, D, dtype=kind, scale=D ** -0.5), \
        randn(inner, D, dtype=kind, scale=D ** -0.5)
    down, y = randn(inner, D, dtype=kind, scale=inner ** -0.5), zeros(M, D, dtype=kind)

    def reference():
        xf = x.float()
        return [F.silu(xf @ gate.float().mT) * (xf @ up.float().mT) @ down.float()]
    return launch([x, gate, up, down, y, M],
                  {"D": D, "F": inner, "BLOCK_M": tile[0], "BLOCK_F": tile[1]}, cdiv(M, tile[0]),
                  [y], warps, reference, stages)


def lora(M, N, K, R, tile, warps, stages, scale=0.5, kind=bf16):
    x, w = randn(M, K, dtype=kind), randn(N, K, dtype=kind, scale=K ** -0.5)
    a, b = randn(R, K, dtype=kind, scale=K ** -0.5), randn(N, R, dtype=kind)
    y = zeros(M, N, dtype=kind)

    def reference():
        xf = x.float()
        return [xf @ w.float().mT + scale * (xf @ a.float().mT) @ b.float().mT]
    return launch([x, w, a, b, y, M, N, K, scale], {"R": R, **blocks(tile)}, over(M, N, tile), [y],
                  warps, reference, stages)


def sampled(T, K, block, deep, per_row, warps, stages, kind=f16):
    a, b, rows = randn(T, K, dtype=kind), randn(T, K, dtype=kind), T // block
    lut = [(r, (r * 7 + 3 * j) % rows) for r in range(rows) for j in range(per_row)]
    c = zeros(len(lut), block, block, dtype=kind)

    def reference():
        whole = (a.float() @ b.float().mT).view(rows, block, rows, block)
        return [torch.stack([whole[r, :, s] for r, s in lut])]
    return launch([a, b, i32(lut), c, K, K, K], {"BLOCK": block, "BLOCK_K": deep}, len(lut), [c],
                  warps, reference, stages)


def by_blocks(T, N, block, wide, warps, stages, kind=f16):
    rows = T // block
    counts = [1 + 5 * r % (rows // 2) for r in range(rows)]
    columns = [(r + 3 * j) % rows for r, n in enumerate(counts) for j in range(n)]
    a, b, c = randn(len(columns), block, block, dtype=kind), randn(T, N, dtype=kind), \
        zeros(T, N, dtype=kind)

    def reference():
        out, at = torch.zeros(rows, block, N), 0
        for r, n in enumerate(counts):
            for j in range(at, at + n):
                s = columns[j] * block
                out[r] += a[j].float() @ b[s : s + block].float()
            at += n
        return [out]
    return launch([a, i32(steps(counts)), i32(columns), b, c, N],
                  {"BLOCK": block, "BLOCK_N": wide}, (N // wide, rows), [c], warps, reference,
                  stages)


def two_of_four(M, N, K, tile, warps, stages, kind=f16):
    x, w = randn(M, K, dtype=kind), randn(N, K // 2, dtype=kind, scale=K ** -0.5)
    first = ints(0, 3, N, K // 4)
    second = first + 1 + ints(0, 3, N, K // 4) % (3 - first)
    four = first | second << 2
    places, y = (four[:, 0::2] | four[:, 1::2] << 4).to(u8), zeros(M, N, dtype=kind)

    def reference():
        wide = torch.zeros(N, K // 4, 4)
        wide.scatter_(2, torch.stack([first, second], 2).long(), w.float().view(N, -1, 2))
        return [x.float() @ wide.view(N, K).mT]
    return launch([x, w, places, y, M, N, K], blocks(tile), over(M, N, tile), [y], warps, reference,
                  stages)


def nf4(M, N, K, tile, warps, stages, kind=bf16):
    group = tile[2]
    x, q, scale = randn(M, K, dtype=kind), randint(0, 256, N, K // 2, dtype=u8), \
        rand(N, K // group, low=0.02, high=0.05)
    code, y = torch.linspace(-1, 1, 16).to(x.device) ** 3, zeros(M, N, dtype=kind)

    def reference():
        w = code[torch.stack([q >> 4, q & 15], 2).long()].view(N, -1, group) * scale[..., None]
        return [x.float() @ w.view(N, K).mT]
    return launch([x, q, code, scale, y, M, N, K], {"GROUP": group, **blocks(tile)},
                  over(M, N, tile), [y], warps, reference, stages)


def fp4(N, K, tile, warps, kind=bf16):
    x, q, e = randn(K, dtype=kind), randint(0, 256, N, K // 2, dtype=u8), \
        randint(118, 124, N, K // 32, dtype=u8)
    y = zeros(N, dtype=kind)

    def reference():
        half = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        table = torch.cat([half, -half])
        w = table[torch.stack([q & 15, q >> 4], 2).long()].view(N, -1, 32)
        return [(w * torch.exp2(e.float() - 127)[..., None]).view(N, K) @ x.float()]
    return launch([x, q, e, y, N, K], {"BLOCK_N": tile[0], "BLOCK_K": tile[1]}, cdiv(N, tile[0]),
                  [y], warps, reference)


def complexes(M, N, K, tile, warps, stages, kind=f16):
    ar, ai = randn(M, K, dtype=kind), randn(M, K, dtype=kind)
    br, bi = randn(K, N, dtype=kind), randn(K, N, dtype=kind)
    outs = [zeros(M, N, dtype=kind) for _ in range(2)]

    def reference():
        c = torch.complex(ar.float(), ai.float()) @ torch.complex(br.float(), bi.float())
        return [c.real, c.imag]
    return launch([ar, ai, br, bi, *outs, M, N, K], blocks(tile), over(M, N, tile), outs, warps,
                  reference, stages)


def long(B, D, T, block, warps, stages, kind=bf16):
    x, h, gate = randn(B, D, T, dtype=kind), randn(D, T, dtype=kind, scale=T ** -0.5), \
        randn(B, D, T, dtype=kind)
    y = zeros(B, D, T, dtype=kind)

    def reference():
        spectrum = torch.fft.rfft(x.float(), 2 * T) * torch.fft.rfft(h.float(), 2 * T)
        return [torch.fft.irfft(spectrum, 2 * T)[..., :T] * gate.float()]
    return launch([x, h, gate, y, T, D], {"BLOCK": block, "BATCH": B}, (T // block, D), [y], warps,
                  reference, stages)


def experts(tokens, D, inner, count, topk, tile, warps, stages, kind=bf16):
    rows = tokens * topk
    chosen = torch.rand(tokens, count, generator=torch.Generator().manual_seed(tokens)) \
        .topk(topk, 1).indices.flatten()
    order, counts = torch.argsort(chosen, stable=True), torch.bincount(chosen, minlength=count)
    start = steps(counts).tolist()
    table = [(e, at, start[e + 1]) for e in range(count)
             for at in range(start[e], start[e + 1], tile[0])]
    x, w = randn(tokens, D, dtype=kind), randn(count, 2, inner, D, dtype=kind, scale=D ** -0.5)
    y = zeros(rows, inner, dtype=kind)

    def reference():
        parts = []
        for e, part in enumerate(order.split(counts.tolist())):
            here = x[part // topk].float()
            parts.append(F.silu(here @ w[e, 0].float().mT) * (here @ w[e, 1].float().mT))
        return [torch.cat(parts)]
    return launch([x, w, i32(order), i32(table), y, rows, D, inner],
                  {"TOPK": topk, **blocks(tile)}, (inner // tile[1], len(table)), [y], warps,
                  reference, stages)


def polynomial(N, tile, warps, stages, kind=bf16):
    x, g, y = randn(N, N, dtype=kind), randn(N, N, dtype=kind, scale=N ** -0.5), \
        zeros(N, N, dtype=kind)
    a, b, c = 3.4445, -4.775, 2.0315
    return launch([x, g, a, b, c, y, N], blocks(tile), over(N, N, tile), [y], warps,
                  lambda: [a * x.float() + b * g.float() + c * g.float() @ g.float()], stages)


add("fused_products.py", "mlp_chain", "bf16 65536×128 by 512, 8 warps", chain,
    dict(M=65536, D=128, inner=512, tile=(128, 64)), dict(M=40, D=32, inner=64, tile=(16, 32)),
    warps=8, stages=2)
add("fused_products.py", "mlp_chain", "fp16 32768×64 by 256, 4 warps", chain,
    dict(M=32768, D=64, inner=256, tile=(64, 32)), dict(M=70, D=32, inner=64, tile=(64, 32)),
    warps=4, stages=3, kind=f16)
add("fused_products.py", "lora_linear", "bf16 4096×4096×4096, 16, 8 warps", lora,
    dict(M=4096, N=4096, K=4096, tile=(128, 128, 64)),
    dict(M=50, N=70, K=64, tile=(32, 32, 32)), R=16, warps=8, stages=3)
add("fused_products.py", "sparse_out", "fp16 8192×8192×512, 8 blocks of 64 a row, 4 warps", sampled,
    dict(T=8192, K=512, block=64, deep=64, per_row=8),
    dict(T=64, K=64, block=16, deep=32, per_row=2), warps=4, stages=4)
add("fused_products.py", "sparse_left", "fp16 4096×4096 in blocks of 32, by 1024, 4 warps",
    by_blocks, dict(T=4096, N=1024, block=32, wide=128), dict(T=96, N=64, block=16, wide=32),
    warps=4, stages=3)
add("fused_products.py", "sparse_2_4", "fp16 2048×4096×4096, 4 warps", two_of_four,
    dict(M=2048, N=4096, K=4096, tile=(64, 64, 64)), dict(M=20, N=32, K=64, tile=(16, 32, 32)),
    warps=4, stages=3)
add("fused_products.py", "nf4_linear", "bf16 64×8192×4096, groups of 64, 4 warps", nf4,
    dict(M=64, N=8192, K=4096, tile=(64, 64, 64)), dict(M=10, N=32, K=64, tile=(16, 16, 32)),
    warps=4, stages=2)
add("fused_products.py", "mxfp4_gemv", "bf16 28672×8192, 4 warps", fp4,
    dict(N=28672, K=8192, tile=(16, 512)), dict(N=20, K=256, tile=(4, 128)), warps=4)
add("fused_products.py", "complex_product", "fp16 2048×2048×2048, 4 warps", complexes,
    dict(M=2048, N=2048, K=2048, tile=(64, 64, 32)), dict(M=32, N=64, K=64, tile=(16, 32, 32)),
    warps=4, stages=3)
add("fused_products.py", "long_convolution", "bf16 16×256×2048, 4 warps", long,
    dict(B=16, D=256, T=2048, block=64), dict(B=16, D=2, T=96, block=32), warps=4, stages=2)
add("fused_products.py", "experts_gate_up", "bf16 4096×2048 by 2 of 32 of 1024, 8 warps", experts,
    dict(tokens=4096, D=2048, inner=1024, count=32, topk=2, tile=(64, 128, 64)),
    dict(tokens=30, D=64, inner=64, count=4, topk=2, tile=(16, 32, 32)), warps=8, stages=3)
add("fused_products.py", "newton_schulz", "bf16 4096, 128×256×64, 8 warps", polynomial,
    dict(N=4096, tile=(128, 256, 64)), dict(N=96, tile=(32, 32, 32)), warps=8, stages=3)
