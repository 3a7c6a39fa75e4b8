"""Calls of serving.py, as calls.py has them."""
import math

import library_calls
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f8, f16, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import (adds_to, below, blocks, halves, i8, i64, int32, ints, launch, power,
                             scores)

CALLS = []
add = adds_to(CALLS)


def lengths_of(B, longest):
    seed = torch.Generator().manual_seed(B)
    return torch.randint(longest // 2, longest + 1, (B,), generator=seed)


def kv_append(tokens, slots, H, D, block, warps, kind=bf16):
    k, v = randn(tokens, H, D, dtype=kind), randn(tokens, H, D, dtype=kind)
    to = torch.randperm(slots)[:tokens].to(library_calls.DEVICE)
    to[1] = -1
    outs = [zeros(slots, H, D, dtype=i8), zeros(slots, H, D, dtype=i8),
            zeros(slots, H, dtype=f32), zeros(slots, H, dtype=f32)]

    def reference():
        caches = [torch.zeros_like(o) for o in outs]
        keep = to >= 0
        for i, x in enumerate((k, v)):
            scale = x.float().abs().amax(-1) / 127
            q = x.float() / scale[..., None]
            caches[i][to[keep]] = (q + q.sign() * 0.5).trunc().to(i8)[keep]
            caches[i + 2][to[keep]] = scale[keep]
        return caches
    return launch([k, v, to, *outs, H], {"D": D, "BLOCK_H": block}, (tokens, cdiv(H, block)), outs,
                  warps, reference)


def kv_gather(B, longest, H, D, page, warps, kind=bf16):
    lengths, wide = lengths_of(B, longest), cdiv(longest, page)
    starts, table = steps(lengths), torch.randperm(B * wide).view(B, wide)
    cache, scale = randint(-127, 128, B * wide, page, H, D, dtype=i8), \
        rand(B * wide, page, H, low=0.01, high=0.02)
    out = zeros(int(starts[-1]), H, D, dtype=kind)

    def reference():
        all_rows = cache.float() * scale[..., None]
        return [torch.cat([all_rows[table[b]].flatten(0, 1)[:n]
                           for b, n in enumerate(lengths.tolist())])]
    defines = {"D": D, "PAGE": page, "BLOCK_H": power(H)}
    return launch([cache, scale, i32(table), i32(starts), out, wide, H], defines, (wide, B), [out],
                  warps, reference)


def qk_norm_rope(tokens, hq, hk, D, warps, kind=bf16):
    qkv, wq, wk = randn(tokens, hq + 2 * hk, D, dtype=kind), randn(D, dtype=kind), \
        randn(D, dtype=kind)
    cos_sin, pos = rand(4096, D, low=-1.0), ints(0, 4096, tokens, dtype=i64)
    outs = [zeros(tokens, hq, D, dtype=kind), zeros(tokens, hk, D, dtype=kind)]

    def reference():
        cos, sin = cos_sin[pos][:, None].chunk(2, -1)
        normed = lambda x, w: F.rms_norm(x.float(), (D,), w.float(), 1e-6)
        return [halves(normed(qkv[:, :hq], wq), cos, sin),
                halves(normed(qkv[:, hq : hq + hk], wk), cos, sin)]
    return launch([qkv, wq, wk, cos_sin, pos, *outs, 1e-6], {"HQ": hq, "HK": hk, "D": D},
                  (tokens, hq + hk), outs, warps, reference)


def align_sums(experts, parts, tile, warps):
    counts = ints(0, 40, parts, experts)
    sums, total = zeros(experts + 1, dtype=int32), zeros(1, dtype=int32)

    def reference():
        padded = cdiv(counts.sum(0), tile) * tile
        return [F.pad(padded.cumsum(0), (1, 0)), padded.sum()]
    return launch([counts, sums, total], {"PARTS": parts, "EXPERTS": experts, "TILE": tile}, 1,
                  [sums, total], warps, reference)


def sum_reduce(tokens, topk, D, tile, warps, kind=bf16):
    x, out = randn(tokens, topk, D, dtype=kind), zeros(tokens, D, dtype=kind)
    defines = {"TOPK": topk, "BLOCK_M": tile[0], "BLOCK_D": tile[1], "STAGES": 1}
    return launch([x, out, tokens, D, 2.5], defines, (cdiv(tokens, tile[0]), cdiv(D, tile[1])),
                  [out], warps, lambda: [x.float().sum(1) * 2.5])


def grouped_topk(rows, experts, groups, topk_groups, topk, warps, kind=f32):
    x, bias = randn(rows, experts, dtype=kind), rand(experts, high=0.2)
    weights, index = zeros(rows, topk, dtype=f32), zeros(rows, topk, dtype=int32)

    def reference():
        s = x.float().sigmoid()
        choice = (s + bias).view(rows, groups, -1)
        best = choice.topk(2, -1).values.sum(-1).topk(topk_groups, -1).indices
        kept = torch.zeros(rows, groups, dtype=torch.bool).scatter(1, best, True)
        at = choice.masked_fill(~kept[..., None], -math.inf).flatten(1).topk(topk, 1).indices
        return [s.gather(1, at) * 2.5, at]
    defines = {"EXPERTS": experts, "GROUPS": groups, "TOPK_GROUPS": topk_groups, "TOPK": topk}
    # of many rows some have two that are nearly equal, whose order is anyone's
    outputs = [weights, index] if library_calls.SMALL else [weights]
    return launch([x, bias, weights, index, 2.5], defines, rows, outputs, warps, reference)


def penalties(B, V, L, tile, warps, kind=f32):
    logits, tokens, lengths = randn(B, V, dtype=kind), ints(0, V, B, L), i32(lengths_of(B, L))
    presence, frequency, out = rand(B), rand(B), zeros(B, V, dtype=kind)

    def reference():
        counts = torch.stack([torch.bincount(t[:n], minlength=V)
                              for t, n in zip(tokens, lengths.tolist())])
        return [logits - frequency[:, None] * counts - presence[:, None] * (counts > 0)]
    return launch([logits, tokens, lengths, presence, frequency, out, V, L],
                  {"BLOCK_L": tile[0], "BLOCK_V": tile[1]}, (B, cdiv(V, tile[1])), [out], warps,
                  reference)


def min_p(B, V, block, warps, kind=bf16):
    logits, p, out = randn(B, V, dtype=kind), rand(B, low=0.05, high=0.2), zeros(B, V, dtype=f32)
    t = 2.0 ** ints(-1, 2, B).float()  # quotients that are exact: what is removed is the same

    def reference():
        x = logits.float() / t[:, None]
        return [x.masked_fill(x < x.amax(1, keepdim=True) + p[:, None].log(), -math.inf)]
    return launch([logits, p, t, out, V], {"BLOCK": block}, B, [out], warps, reference)


def tree_mask(B, draft, depth, longest, block, warps):
    seed = torch.Generator().manual_seed(B)
    parents = torch.stack([torch.full((B,), -1), *(torch.randint(max(0, i - 4), i, (B,),
                          generator=seed) for i in range(1, draft))], 1)
    lengths, T = lengths_of(B, longest), longest + draft
    mask = zeros(B, draft, T, dtype=i8)

    def reference():
        out = torch.zeros(B, draft, T, dtype=i8)
        for b, n in enumerate(lengths.tolist()):
            out[b, :, :n] = 1
            for i in range(draft):
                at = i
                for _ in range(depth):
                    if at >= 0:
                        out[b, i, n + at], at = 1, int(parents[b, at])
        return [out]
    return launch([i32(parents), i32(lengths), mask, T],
                  {"DRAFT": draft, "DEPTH": depth, "BLOCK": block}, (B, draft), [mask], warps,
                  reference)


def block_sparse(B, H, T, D, block, chance, warps, stages, kind=bf16):
    q, k, v, o = (make(B, H, T, D, dtype=kind) for make in (randn, randn, randn, zeros))
    n = cdiv(T, block)
    chosen = torch.rand(H, n, n, generator=torch.Generator().manual_seed(T)) < chance
    chosen = (chosen | torch.eye(n, dtype=torch.bool)).tril()
    crow = F.pad(chosen.sum(-1).cumsum(-1), (1, 0))
    wide = int(crow[:, -1].max())
    col = torch.stack([F.pad(c.nonzero()[:, 1], (0, wide - int(c.sum()))) for c in chosen])

    def reference():
        mask = chosen.repeat_interleave(block, 1).repeat_interleave(block, 2)[:, :T, :T]
        return [scores(q, k, D ** -0.5, mask & below(T)).softmax(-1) @ v.float()]
    return launch([q, k, v, i32(crow), i32(col), o, D ** -0.5, H, T, n + 1, wide],
                  {"BLOCK": block, "D": D}, (n, B * H), [o], warps, reference, stages)


def window_sink(B, HQ, HK, T, D, window, first, tile, warps, stages, kind=bf16):
    q, o = randn(B, T, HQ, D, dtype=kind), zeros(B, T, HQ, D, dtype=kind)
    k, v, sinks = randn(B, T, HK, D, dtype=kind), randn(B, T, HK, D, dtype=kind), rand(HQ)

    def reference():
        heads = lambda a: a.float().transpose(1, 2)
        kk, vv = (heads(a).repeat_interleave(HQ // HK, 1) for a in (k, v))
        far = torch.arange(T)[:, None] - torch.arange(T)
        mask = (far >= 0) & ((far < window) | (torch.arange(T) < first))
        s = scores(heads(q), kk, D ** -0.5, mask)
        sink = sinks[None, :, None, None].expand(B, HQ, T, 1)
        return [(torch.cat([s, sink], -1).softmax(-1)[..., :-1] @ vv).transpose(1, 2)]
    defines = {"HQ": HQ, "GROUP": HQ // HK, "WINDOW": window, "FIRST": first, "BLOCK_M": tile[0],
               "BLOCK_N": tile[1], "D": D}
    return launch([q, k, v, sinks, o, D ** -0.5, T, HQ * D, HK * D], defines,
                  (cdiv(T, tile[0]), B * HQ), [o], warps, reference, stages)


def mla(B, longest, H, latent, rope, tile, page, splits, warps, stages, kind=bf16):
    lengths, wide, width = lengths_of(B, longest), cdiv(longest, page), latent + rope
    table = torch.randperm(B * wide).view(B, wide)
    q, kv = randn(B, H, width, dtype=kind), randn(B * wide, page, width, dtype=kind)
    part, lse = zeros(B, H, splits, latent, dtype=f32), zeros(B, H, splits, dtype=f32)

    def reference():
        parts, sums = torch.zeros_like(part), torch.zeros_like(lse)
        for b, n in enumerate(lengths.tolist()):
            rows = kv[table[b]].flatten(0, 1)[:n].float()
            share = cdiv(cdiv(n, splits), tile[1]) * tile[1]
            for i, here in enumerate(rows.split(share)):
                s = scores(q[b], here, width ** -0.5)
                parts[b, :, i], sums[b, :, i] = s.softmax(-1) @ here[:, :latent], s.logsumexp(-1)
        return [parts, sums]
    defines = {"LATENT": latent, "ROPE": rope, "BLOCK_H": tile[0], "BLOCK_N": tile[1], "PAGE": page,
               "SPLITS": splits}
    return launch([q, kv, i32(table), i32(lengths), part, lse, width ** -0.5, wide, H], defines,
                  (B, cdiv(H, tile[0]), splits), [part, lse], warps, reference, stages, 2e-2)


def scaled_mm(M, N, K, tile, warps, stages, kind=bf16):
    a, b = randn(M, K, dtype=f8), randn(N, K, dtype=f8)
    sa, sb, bias = rand(M, low=0.01, high=0.02), rand(N, low=0.5), randn(N, dtype=kind)
    c = zeros(M, N, dtype=kind)
    return launch([a, b, sa, sb, bias, c, M, N, K], {**blocks(tile), "GROUP_M": 8},
                  cdiv(M, tile[0]) * cdiv(N, tile[1]), [c], warps,
                  lambda: [a.float() @ b.float().T * sa[:, None] * sb + bias.float()], stages)


def gptq(M, N, K, group, tile, warps, stages, kind=f16):
    a, q = randn(M, K, dtype=kind), ints(-1 << 31, 1 << 31, K // 8, N)
    scales, holds = rand(K // group, N, low=0.01, high=0.02).to(kind), \
        ints(-1 << 31, 1 << 31, K // group, N // 8)
    groups = i32(torch.randperm(K, generator=torch.Generator().manual_seed(K)) // group)
    c, bits = zeros(M, N, dtype=kind), torch.arange(8, device=a.device) * 4

    def reference():
        w = ((q[:, None] >> bits[:, None]) & 15).view(K, N)
        z = ((holds[..., None] >> bits) & 15).view(K // group, N) + 1
        g = groups.long()
        return [a.float() @ ((w - z[g]).to(kind) * scales[g]).float()]
    return launch([a, q, scales, holds, groups, c, M, N, K], blocks(tile),
                  (cdiv(M, tile[0]), N // tile[1]), [c], warps, reference, stages)


def sgmv(lengths, adapters, rank, N, tile, warps, kind=bf16):
    at, T = steps(lengths), sum(lengths)
    x, b = randn(T, rank, dtype=f32), randn(adapters, N, rank, dtype=kind, scale=rank ** -0.5)
    y, out, lora = randn(T, N, dtype=kind), zeros(T, N, dtype=kind), ints(0, adapters, len(lengths))
    lora[1] = -1

    def reference():
        rows = lora.repeat_interleave(torch.tensor(lengths, device=lora.device))
        more = torch.einsum("tr,tnr->tn", x.to(kind).float(), b[rows.clamp_min(0)].float()) * 0.5
        return [y.float() + more * (rows >= 0)[:, None]]
    return launch([x, b, i32(at[:-1]), i32(lengths), lora, y, out, N, 0.5],
                  {"RANK": rank, "BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(max(lengths), tile[0]) * cdiv(N, tile[1]), len(lengths)), [out], warps,
                  reference)


def beam_step(B, beams, V, keep, block, warps, kind=f32):
    logits, before = randn(B, beams, V, dtype=kind), rand(B, beams, low=-3.0)
    lse = logits.float().logsumexp(-1) if library_calls.FILLED else rand(B, beams)
    new, beam, token = zeros(B, keep, dtype=f32), zeros(B, keep, dtype=int32), \
        zeros(B, keep, dtype=int32)

    def reference():
        total = (logits.float() + (before - lse)[..., None]).flatten(1).topk(keep, 1)
        return [total.values, total.indices // V, total.indices % V]
    return launch([before, logits, lse, new, beam, token, V],
                  {"BEAMS": beams, "KEEP": keep, "BLOCK": block}, B, [new, beam, token], warps,
                  reference)


add("serving.py", "kv_append_int8", "bf16 16384×8×128, 2 warps", kv_append,
    dict(tokens=16384, slots=65536, H=8, D=128), dict(tokens=5, slots=9, H=3, D=32), block=4,
    warps=2)
add("serving.py", "kv_gather_dequant", "bf16 64 of up to 4096×8×128, pages of 16, 4 warps",
    kv_gather, dict(B=64, longest=4096, H=8, D=128, page=16),
    dict(B=3, longest=20, H=3, D=32, page=4), warps=4)
add("serving.py", "qk_norm_rope", "bf16 8192×(32 + 2×8)×128, 1 warp", qk_norm_rope,
    dict(tokens=8192, hq=32, hk=8, D=128), dict(tokens=3, hq=3, hk=2, D=64), warps=1)
add("serving.py", "moe_align_sums", "256 experts, 257 parts, 4 warps", align_sums,
    dict(experts=256, parts=257), dict(experts=16, parts=5), tile=64, warps=4)
add("serving.py", "moe_sum_reduce", "bf16 8192×8×7168, 8 warps", sum_reduce,
    dict(tokens=8192, topk=8, D=7168, tile=(1, 2048)), dict(tokens=5, topk=3, D=300, tile=(2, 128)),
    warps=8)
add("serving.py", "grouped_topk", "32768, 8 of 256 experts, 4 of 8 groups, 1 warp", grouped_topk,
    dict(rows=32768, experts=256, groups=8, topk_groups=4, topk=8),
    dict(rows=5, experts=64, groups=4, topk_groups=2, topk=3), warps=1)
add("serving.py", "penalties_bincount", "256×32000, lists of up to 2048, 4 warps", penalties,
    dict(B=256, V=32000, L=2048, tile=(1024, 1024)), dict(B=3, V=700, L=200, tile=(128, 256)),
    warps=4)
add("serving.py", "min_p_filter", "bf16 512×128256, 8 warps", min_p, dict(B=512, V=128256,
    block=8192), dict(B=3, V=700, block=256), warps=8)
add("serving.py", "tree_mask", "64 requests, 64 drafted, up to 8192, 4 warps", tree_mask,
    dict(B=64, draft=64, depth=8, longest=8192, block=1024),
    dict(B=3, draft=6, depth=4, longest=100, block=128), warps=4)
add("serving.py", "block_sparse_attention", "bf16 2×32×8192×128, blocks of 64, 4 warps",
    block_sparse, dict(B=2, H=32, T=8192, D=128, block=64, chance=0.15),
    dict(B=2, H=2, T=150, D=64, block=32, chance=0.5), warps=4, stages=2)
add("serving.py", "window_sink_attention", "bf16 2×64×8192×64, of 8 heads, window 128, 4 warps",
    window_sink, dict(B=2, HQ=64, HK=8, T=8192, D=64, window=128, tile=(64, 64)),
    dict(B=1, HQ=4, HK=2, T=150, D=64, window=40, tile=(32, 32)), first=0, warps=4, stages=3)
add("serving.py", "window_sink_attention", "bf16 2×32×8192×128, window 1024 and the first 4, "
    "8 warps", window_sink, dict(B=2, HQ=32, HK=8, T=8192, D=128, window=1024, tile=(128, 64)),
    dict(B=1, HQ=4, HK=2, T=150, D=64, window=40, tile=(32, 32)), first=4, warps=8, stages=2)
add("serving.py", "mla_decode", "bf16 64×128×(512 + 64), up to 4096, pages of 64, 4 warps", mla,
    dict(B=64, longest=4096, H=128, latent=512, rope=64, tile=(16, 32), page=64, splits=4),
    dict(B=2, longest=150, H=20, latent=64, rope=16, tile=(16, 16), page=8, splits=2), warps=4,
    stages=2)
add("serving.py", "scaled_mm_rows", "fp8 4096×4096×8192, 8 warps", scaled_mm,
    dict(M=4096, N=4096, K=8192, tile=(128, 256, 128)), dict(M=70, N=90, K=80, tile=(64, 32, 32)),
    warps=8, stages=3)
add("serving.py", "scaled_mm_rows", "fp8 64×8192×8192, 4 warps", scaled_mm,
    dict(M=64, N=8192, K=8192, tile=(64, 64, 128)), dict(M=20, N=90, K=80, tile=(64, 32, 32)),
    warps=4, stages=4)
add("serving.py", "matmul_gptq", "fp16 16×8192×8192, groups of 128 by a table, 4 warps", gptq,
    dict(M=16, N=8192, K=8192, group=128), dict(M=5, N=96, K=128, group=32), tile=(16, 32, 64),
    warps=4, stages=2)
add("serving.py", "sgmv_expand", "bf16 32 requests of up to 1024×4096, rank 16, 4 warps", sgmv,
    dict(lengths=[32 * i for i in range(1, 33)], adapters=16, N=4096, tile=(64, 128)),
    dict(lengths=[30, 1, 70], adapters=3, N=300, tile=(32, 64)), rank=16, warps=4)
add("serving.py", "beam_step", "fp32 64×8 beams of 32000, the best 16, 4 warps", beam_step,
    dict(B=64, beams=8, V=32000, keep=16, block=2048), dict(B=3, beams=2, V=700, keep=4, block=256),
    warps=4)
