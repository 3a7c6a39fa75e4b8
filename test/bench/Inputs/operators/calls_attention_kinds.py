"""Calls of attention_kinds.py, as calls.py has them."""

import library_calls
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, i32, rand, randint, randn, zeros
from operators.calls import adds_to, below, i8, ints, launch, philox, power, scores

CALLS = []
add = adds_to(CALLS)


def by_features(BH, T, D, E, block, warps, kind=bf16):
    q, k, v = (randn(BH, T, w, dtype=kind) for w in (D, D, E))
    o = zeros(BH, T, E, dtype=kind)

    def reference():
        a, b = (F.elu(x.float()) + 1 for x in (q, k))
        s = a @ b.mT * below(T)
        return [s @ v.float() / s.sum(-1, keepdim=True)]
    return launch([q, k, v, o, T], {"D": D, "E": E, "BLOCK": block}, BH, [o], warps, reference, 2)


def documents(heads, T, D, tile, warps, stages, cap=20.0, p=0.1, seed=99, kind=bf16):
    q, k, v = (randn(heads, T, D, dtype=kind) for _ in range(3))
    doc, o = i32(torch.arange(T) // max(T // 5, 1) * 3), zeros(heads, T, D, dtype=kind)

    def reference():
        s = cap * (q.float() @ k.float().mT * D ** -0.5 / cap).tanh()
        s = s.masked_fill(~(below(T).bool() & (doc[:, None] == doc)), float("-inf"))
        keep = philox(torch.arange(heads * T * T), seed)[0].view(heads, T, T) >= p
        return [(s.softmax(-1) * keep / (1 - p)) @ v.float()]
    return launch([q, k, v, doc, o, T, D ** -0.5, cap, p, seed],
                  {"D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]}, (T // tile[0], heads), [o],
                  warps, reference, stages)


def back(BH, T, D, tile, warps, stages, kind=bf16):
    q, k, v, do = (randn(BH, T, D, dtype=kind) for _ in range(4))
    dq, dk, dv = (zeros(BH, T, D, dtype=t) for t in (f32, kind, kind))
    lse, delta = rand(BH, T, low=8.0), rand(BH, T)
    if library_calls.SMALL:
        s = scores(q, k, D ** -0.5, below(T))
        lse, delta = s.logsumexp(-1), ((s.softmax(-1) @ v.float()) * do).sum(-1)

    def reference():
        leaves = [a.float().requires_grad_() for a in (q, k, v)]
        w = scores(*leaves[:2], D ** -0.5, below(T)).softmax(-1)
        (w @ leaves[2]).backward(do.float())
        return [a.grad for a in leaves]
    return launch([q, k, v, do, lse, delta, dq, dk, dv, T, D ** -0.5],
                  {"D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]}, (T // tile[1], BH),
                  [dq, dk, dv], warps, reference, stages)


def eight_bits(B, capacity, group, D, share, block, warps, stages, kind=bf16):
    q = randn(B, group, D, dtype=kind)
    k, v = (randint(-127, 128, B, capacity, D, dtype=i8) for _ in range(2))
    ks, vs = (rand(B, capacity, low=0.01, high=0.02) for _ in range(2))
    lengths, parts = ints(capacity * 3 // 4, capacity + 1, B), cdiv(capacity, share)
    o, lse = zeros(B, parts, group, D, dtype=f32), zeros(B, parts, group, dtype=f32)

    def reference():
        out, sums = torch.zeros_like(o), torch.full_like(lse, -1e30)
        for b, n in enumerate(lengths.tolist()):
            s = (q[b].float() @ k[b, :n].float().mT) * ks[b, :n] * D ** -0.5
            vv = v[b, :n].float() * vs[b, :n, None]
            for i in range(cdiv(n, share)):
                here = slice(i * share, min(n, (i + 1) * share))
                out[b, i] = s[:, here].softmax(-1) @ vv[here]
                sums[b, i] = s[:, here].logsumexp(-1)
        return [out, sums]
    return launch([q, k, v, ks, vs, lengths, o, lse, D ** -0.5, capacity, share],
                  {"GROUP": group, "D": D, "BLOCK_N": block}, (B, parts), [o, lse], warps,
                  reference, stages, 2e-2)


def windows(count, H, side, D, warps, kind=f16):
    n = side * side
    qkv, table = randn(count, n, 3, H, D, dtype=kind), randn((2 * side - 1) ** 2, H, dtype=f32)
    o = zeros(count, n, H, D, dtype=kind)

    def reference():
        q, k, v = qkv.float().permute(2, 0, 3, 1, 4)
        y, x = torch.arange(n) // side, torch.arange(n) % side
        at = (y[:, None] - y + side - 1) * (2 * side - 1) + x[:, None] - x + side - 1
        w = (q @ k.mT * D ** -0.5 + table[at].permute(2, 0, 1)).softmax(-1)
        return [(w @ v).transpose(1, 2)]
    return launch([qkv, table, o, H, D ** -0.5],
                  {"SIDE": side, "PAD": max(16, power(n)), "D": D}, (count, H), [o], warps,
                  reference)


def near(BH, H, W, R, D, block, warps, kind=f16):
    q, k, v = (randn(BH, H, W, D, dtype=kind) for _ in range(3))
    o = zeros(BH, H, W, D, dtype=kind)

    def reference():
        y, x = torch.arange(H * W) // W, torch.arange(H * W) % W
        far = ((y[:, None] - y).abs() > R) | ((x[:, None] - x).abs() > R)
        a, b, c = (t.float().flatten(1, 2) for t in (q, k, v))
        return [(a @ b.mT * D ** -0.5).masked_fill(far, float("-inf")).softmax(-1) @ c]
    return launch([q, k, v, o, H, W, D ** -0.5], {"R": R, "D": D, "BLOCK": block},
                  (cdiv(W, block), H, BH), [o], warps, reference)


def few(B, heads, T, S, D, tile, warps, kind=f16):
    q, o = randn(B, T, heads, D, dtype=kind), zeros(B, T, heads, D, dtype=kind)
    k, v = (randn(B, S, heads, D, dtype=kind) for _ in range(2))

    def reference():
        a, b, c = (t.float().transpose(1, 2) for t in (q, k, v))
        return [((a @ b.mT * D ** -0.5).softmax(-1) @ c).transpose(1, 2)]
    return launch([q, k, v, o, T, S, heads * D, D, D ** -0.5],
                  {"D": D, "BLOCK_M": tile, "PAD": max(16, power(S))}, (cdiv(T, tile), heads, B),
                  [o], warps, reference)


add("attention_kinds.py", "linear_attention", "bf16 256×2048×64×64, 4 warps", by_features,
    dict(BH=256, T=2048, D=64, E=64, block=64), dict(BH=2, T=96, D=32, E=32, block=32), warps=4)
add("attention_kinds.py", "linear_attention", "bf16 128×2048×128×64, 8 warps", by_features,
    dict(BH=128, T=2048, D=128, E=64, block=64), dict(BH=1, T=128, D=32, E=16, block=64), warps=8)
add("attention_kinds.py", "attention_documents", "bf16 32×2048×128, 8 warps", documents,
    dict(heads=32, T=2048, D=128, tile=(128, 64)), dict(heads=2, T=96, D=32, tile=(32, 32)),
    warps=8, stages=3)
add("attention_kinds.py", "attention_backward_one", "bf16 32×2048×64, 8 warps", back,
    dict(BH=32, T=2048, D=64, tile=(64, 128)), dict(BH=2, T=96, D=32, tile=(32, 32)), warps=8,
    stages=2)
add("attention_kinds.py", "decode_int8", "bf16 256 of up to 8192, groups of 8 by 128, 4 warps",
    eight_bits, dict(B=256, capacity=8192, group=8, D=128, share=2048, block=64),
    dict(B=2, capacity=150, group=4, D=32, share=64, block=32), warps=4, stages=3)
add("attention_kinds.py", "window_attention", "fp16 8192×4×7×7×32, 4 warps", windows,
    dict(count=8192, H=4, side=7, D=32), dict(count=3, H=2, side=3, D=32), warps=4)
add("attention_kinds.py", "neighbourhood", "fp16 64×56×56×32, 7×7, 4 warps", near,
    dict(BH=64, H=56, W=56, R=3, D=32, block=64), dict(BH=2, H=5, W=9, R=1, D=16, block=16),
    warps=4)
add("attention_kinds.py", "cross_few", "fp16 16×10×4096×77×64, 8 warps", few,
    dict(B=16, heads=10, T=4096, S=77, D=64, tile=128),
    dict(B=2, heads=2, T=40, S=13, D=32, tile=32), warps=8)
