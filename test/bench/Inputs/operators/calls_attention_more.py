"""Calls of attention_more.py, as calls.py has them."""
import math

import library_calls
import torch
from library_calls import bf16, cdiv, f8, f16, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, i8, int32, launch, u8

CALLS = []
add = adds_to(CALLS)


def attend(q, k, v, bias):
    """q is H x T x D, of k and v the heads are fewer; bias is added to the scaled scores"""
    per = q.shape[0] // k.shape[0]
    k, v = (x.float().repeat_interleave(per, 0) for x in (k, v))
    return (q.float() @ k.transpose(1, 2) + bias).softmax(-1) @ v


def lengths(B, low, high):
    return torch.randint(low, high + 1, (B,), generator=torch.Generator().manual_seed(B))


def seen_from(new, length, window=0):
    m, n = torch.arange(new)[:, None] + length - new, torch.arange(length)[None]
    return (n <= m) & ((m - n < window) if window else True)


def paged(B, HQ, HK, D, page, longest, queries, block_q, window, cap, alibi, warps, stages,
          kind=bf16):
    length = lengths(B, longest // 2, longest)
    new = torch.minimum(lengths(B + 1, 1, queries)[:B], length)
    starts, wide = steps(new), cdiv(longest, page)
    tokens, per = int(starts[-1]), HQ // HK
    q, k, v = randn(tokens, HQ, D, dtype=kind), randn(B * wide, page, HK, D, dtype=kind), \
        randn(B * wide, page, HK, D, dtype=kind)
    table, slopes, o = i32(torch.randperm(B * wide).view(B, wide)), rand(HQ, high=0.1), \
        zeros(tokens, HQ, D, dtype=kind)
    scale = D ** -0.5

    def reference():
        out = torch.zeros(tokens, HQ, D)
        for b in range(B):
            n, L = int(new[b]), int(length[b])
            kb, vb = (x[table[b].long()].flatten(0, 1)[:L].transpose(0, 1) for x in (k, v))
            s = (q[starts[b] : starts[b] + n].transpose(0, 1).float() * scale) \
                @ kb.float().repeat_interleave(per, 0).transpose(1, 2)
            if cap:
                s = cap * torch.tanh(s / cap)
            s = s.masked_fill(~seen_from(n, L, window), -math.inf)
            if alibi:
                s = s + slopes[:, None, None] * (torch.arange(L) - (L - n))
            out[starts[b] : starts[b] + n] = (s.softmax(-1) @ vb.float().repeat_interleave(
                per, 0)).transpose(0, 1)
        return [out]
    defines = {"HQ": HQ, "HK": HK, "D": D, "PAGE": page, "BLOCK_Q": block_q,
               "BLOCK_M": max(16, block_q * per), "WINDOW": window, "USE_CAP": cap > 0,
               "USE_ALIBI": alibi}
    return launch([q, k, v, table, i32(length), i32(starts), slopes, o, B, scale, cap, wide],
                  defines, (tokens // block_q + B, HK), [o], warps, reference, stages)


def extend(B, GROUP, HK, D, prefix, new, tile, warps, stages, kind=bf16):
    before, fresh = lengths(B, prefix // 2, prefix), lengths(B + 1, new // 2, new)[:B]
    starts, kv_starts = steps(fresh), steps(before)
    tokens, slots, HQ = int(starts[-1]), int(kv_starts[-1]), HK * GROUP
    q, k, v = (randn(tokens, h, D, dtype=kind) for h in (HQ, HK, HK))
    ck, cv = randn(slots, HK, D, dtype=kind), randn(slots, HK, D, dtype=kind)
    index, o = torch.randperm(slots).to(library_calls.DEVICE), zeros(tokens, HQ, D, dtype=kind)
    masks = []
    for n, p in zip(fresh.tolist(), before.tolist()):
        tree = (torch.rand(n, n) < 0.5).tril() | torch.eye(n, dtype=torch.bool)
        masks.append(torch.cat([torch.ones(n, p, dtype=torch.bool), tree], 1).to(u8))
    mask_starts = steps([m.numel() for m in masks])
    flat = torch.cat([m.flatten() for m in masks]).to(library_calls.DEVICE)
    scale = D ** -0.5

    def reference():
        out = []
        for b in range(B):
            mine, old = slice(starts[b], starts[b + 1]), index[kv_starts[b] : kv_starts[b + 1]]
            keys, values = torch.cat([ck[old], k[mine]]), torch.cat([cv[old], v[mine]])
            bias = torch.zeros(masks[b].shape).masked_fill(masks[b] == 0, -math.inf)
            out.append(attend(q[mine].transpose(0, 1).float() * scale, keys.transpose(0, 1),
                              values.transpose(0, 1), bias).transpose(0, 1))
        return [torch.cat(out)]
    return launch([q, k, v, o, ck, cv, i32(starts), i32(kv_starts), index, flat, i32(mask_starts),
                   scale],
                  {"GROUP": GROUP, "HK": HK, "D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (B, HQ, cdiv(int(fresh.max()), tile[0])), [o], warps, reference, stages)


def flash_fp8(BH, T, D, tile, causal, warps, stages):
    q, k, v = randn(BH, T, D, dtype=f8), randn(BH, T, D, dtype=f8), randn(BH, D, T, dtype=f8)
    o, scale = zeros(BH, T, D, dtype=bf16), D ** -0.5

    def reference():
        bias = torch.zeros(T, T)
        if causal:
            bias = bias.masked_fill(~seen_from(T, T), -math.inf)
        return [attend(q.float() * scale, k, v.transpose(1, 2), bias) * 0.5]
    return launch([q, k, v, o, scale, 0.5, T],
                  {"D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1], "STAGE": 3 if causal else 1},
                  (cdiv(T, tile[0]), BH), [o], warps, reference, stages, 0.1)


def int8_keys(B, HQ, HK, T, D, tile, warps, stages):
    q, k = (randint(-127, 128, B, h, T, D, dtype=i8) for h in (HQ, HK))
    v = randn(B, HK, T, D, dtype=f16)
    qs, ks = rand(B, HQ, cdiv(T, tile[0]), high=0.001), rand(B, HK, cdiv(T, tile[1]), high=0.1)
    o = zeros(B, HQ, T, D, dtype=f16)

    def reference():
        left = q.float() * qs.repeat_interleave(tile[0], 2)[:, :, :T, None]
        right = k.float() * ks.repeat_interleave(tile[1], 2)[:, :, :T, None]
        return [torch.stack([attend(x * math.log(2), y, z, 0.0)
                             for x, y, z in zip(left, right, v)])]
    return launch([q, k, qs, ks, v, o, T],
                  {"HQ": HQ, "HK": HK, "D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(T, tile[0]), HQ, B), [o], warps, reference, stages, 2e-2)


def selected(B, T, HK, GROUP, D, S, BS, warps, stages, kind=bf16):
    q, k, v = randn(B, T, HK * GROUP, D, dtype=kind), randn(B, T, HK, D, dtype=kind), \
        randn(B, T, HK, D, dtype=kind)
    scores = torch.rand(B, T, HK, cdiv(T, BS))
    own = torch.arange(T) // BS
    scores = scores.masked_fill(torch.arange(cdiv(T, BS)) > own[:, None, None], -1)
    scores.scatter_(3, own[None, :, None, None].expand(B, T, HK, 1), 2.0)
    best = scores.topk(min(S, cdiv(T, BS)), -1)
    chosen = best.indices.masked_fill(best.values < 0, -1)
    chosen = torch.nn.functional.pad(chosen, (0, S - chosen.shape[-1]), value=-1)
    o, lse = zeros(B, T, HK * GROUP, D, dtype=kind), zeros(B, T, HK * GROUP, dtype=f32)

    def reference():
        out, sums = torch.zeros(B, T, HK, GROUP, D), torch.zeros(B, T, HK, GROUP)
        block = torch.arange(T) // BS
        for b in range(B):
            for h in range(HK):
                near = (block[None, None] == chosen[b, :, h].to("cpu")[..., None]).any(1)
                near &= torch.arange(T)[None] <= torch.arange(T)[:, None]
                bias = torch.zeros(T, T).masked_fill(~near, -math.inf)
                mine = q.view(B, T, HK, GROUP, D)[b, :, h].transpose(0, 1).float() * D ** -0.5
                s = mine @ k[b, :, h].float().T + bias
                out[b, :, h] = (s.softmax(-1) @ v[b, :, h].float()).transpose(0, 1)
                sums[b, :, h] = s.logsumexp(-1).T
        return [out, sums]
    return launch([q, k, v, o, lse, i32(chosen), D ** -0.5, T],
                  {"HK": HK, "GROUP": GROUP, "D": D, "S": S, "BS": BS}, (T, HK, B), [o, lse],
                  warps, reference, stages, 2e-2)


def prefix(B, HQ, HK, D, page, X, longest, new, tile, warps, stages, kind=f16):
    fresh = lengths(B + 1, new // 2, new)[:B]
    length = fresh + lengths(B, longest // 2, longest)
    starts, wide = steps(fresh), cdiv(longest, page)
    tokens = int(starts[-1])
    q, k, v = (randn(tokens, h, D, dtype=kind) for h in (HQ, HK, HK))
    kc, vc = randn(B * wide, HK, D // X, page, X, dtype=kind), randn(B * wide, HK, D, page,
                                                                     dtype=kind)
    table, o = i32(torch.randperm(B * wide).view(B, wide)), zeros(tokens, HQ, D, dtype=kind)

    def reference():
        out = []
        for b in range(B):
            n, c = int(fresh[b]), int(length[b] - fresh[b])
            mine, pages = slice(starts[b], starts[b + 1]), table[b].long()
            old_k = kc[pages].permute(0, 3, 1, 2, 4).reshape(-1, HK, D)[:c]
            old_v = vc[pages].permute(0, 3, 1, 2).reshape(-1, HK, D)[:c]
            keys, values = torch.cat([old_k, k[mine]]), torch.cat([old_v, v[mine]])
            bias = torch.zeros(n, n + c).masked_fill(~seen_from(n, n + c), -math.inf)
            out.append(attend(q[mine].transpose(0, 1).float() * D ** -0.5, keys.transpose(0, 1),
                              values.transpose(0, 1), bias).transpose(0, 1))
        return [torch.cat(out)]
    defines = {"HQ": HQ, "HK": HK, "D": D, "PAGE": page, "X": X, "BLOCK_M": tile[0],
               "BLOCK_N": tile[1]}
    return launch([q, k, v, kc, vc, table, i32(starts), i32(length), o, D ** -0.5, wide], defines,
                  (B, HQ, cdiv(int(fresh.max()), tile[0])), [o], warps, reference, stages)


def flex(B, H, T, D, tile, warps, stages, kind=bf16):
    q, k, v, o = (randn(B, H, T, D, dtype=kind) for _ in range(4))
    o.zero_()
    rows, columns = T // tile[0], T // tile[1]
    full, part = torch.zeros(rows, columns, dtype=int32), torch.zeros(rows, columns, dtype=int32)
    full_count, part_count = torch.zeros(rows, dtype=int32), torch.zeros(rows, dtype=int32)
    for r in range(rows):
        some = list(range(r * tile[0] // tile[1]))
        rest = list(range(len(some), cdiv((r + 1) * tile[0], tile[1])))
        full[r, : len(some)], full_count[r] = i32(some).cpu(), len(some)
        part[r, : len(rest)], part_count[r] = i32(rest).cpu(), len(rest)

    def reference():
        m, n = torch.arange(T)[:, None], torch.arange(T)[None]
        h = torch.arange(1, H + 1)[:, None, None]
        bias = torch.where(m - n < 256, (n - m).abs() * -0.01 * h, 0.0)
        bias = bias.masked_fill(n > m, -math.inf)
        return [torch.stack([attend(q[b].float() * D ** -0.5, k[b], v[b], bias) for b in range(B)])]
    args = [q, k, v, o, i32(full_count), i32(full), i32(part_count), i32(part), D ** -0.5, H, T]
    return launch(args, {"D": D, "BLOCK_M": tile[0], "BLOCK_N": tile[1]}, (rows, B * H), [o],
                  warps, reference, stages)


def triangle(BH, T, tile, warps, kind=f16):
    x, y = randn(BH, T, T, dtype=kind), zeros(BH, T, T, dtype=kind)
    return launch([x, y, T, 0.3], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, (cdiv(T, tile[0]), BH),
                  [y], warps,
                  lambda: [(x.float() * 0.3).masked_fill(~seen_from(T, T), -math.inf).softmax(-1)])


FILE = "attention_more.py"
add(FILE, "unified_paged", "bf16 64 of up to 4096, 32 heads of 8, decoding, 4 warps", paged,
    dict(B=64, HQ=32, HK=8, D=128, page=16, longest=4096, queries=1, block_q=4),
    dict(B=3, HQ=8, HK=2, D=32, page=16, longest=90, queries=1, block_q=4), window=0, cap=0.0,
    alibi=False, warps=4, stages=3)
add(FILE, "unified_paged", "bf16 8 of up to 4096, 32 heads of 8, up to 2048 new, capped, window, "
    "4 warps", paged,
    dict(B=8, HQ=32, HK=8, D=128, page=32, longest=4096, queries=2048, block_q=16, window=1024),
    dict(B=3, HQ=8, HK=2, D=32, page=16, longest=90, queries=40, block_q=4, window=30), cap=30.0,
    alibi=True, warps=4, stages=2)
add(FILE, "extend_tree", "bf16 32×32 heads of 8, 2048 and 64 new, 4 warps", extend,
    dict(B=32, GROUP=4, HK=8, D=128, prefix=2048, new=64, tile=(64, 64)),
    dict(B=3, GROUP=2, HK=2, D=32, prefix=50, new=20, tile=(16, 16)), warps=4, stages=2)
add(FILE, "flash_fp8", "64×4096×128, causal, 8 warps", flash_fp8,
    dict(BH=64, T=4096, D=128, tile=(128, 128)), dict(BH=2, T=128, D=64, tile=(64, 32)),
    causal=True, warps=8, stages=3)
add(FILE, "flash_fp8", "64×4096×128, 4 warps", flash_fp8,
    dict(BH=64, T=4096, D=128, tile=(64, 128)), dict(BH=2, T=128, D=64, tile=(64, 32)),
    causal=False, warps=4, stages=2)
add(FILE, "int8_keys", "2×32×4096×128, of 8 heads, 8 warps", int8_keys,
    dict(B=2, HQ=32, HK=8, T=4096, D=128, tile=(128, 64)),
    dict(B=2, HQ=4, HK=2, T=90, D=32, tile=(32, 16)), warps=8, stages=3)
add(FILE, "selected_blocks", "bf16 4096×4×16×128, 16 blocks of 64, 4 warps", selected,
    dict(B=1, T=4096, HK=4, GROUP=16, D=128, S=16, BS=64),
    dict(B=1, T=70, HK=2, GROUP=16, D=32, S=3, BS=16), warps=4, stages=3)
add(FILE, "prefix_vectors", "fp16 16×32 heads of 8, 2048 and 512 new, 8 warps", prefix,
    dict(B=16, HQ=32, HK=8, D=128, page=16, X=8, longest=2048, new=512, tile=(128, 64)),
    dict(B=3, HQ=4, HK=2, D=32, page=8, X=8, longest=40, new=30, tile=(32, 16)), warps=8, stages=1)
add(FILE, "flex_attention", "bf16 2×32×4096×128, 8 warps", flex,
    dict(B=2, H=32, T=4096, D=128, tile=(128, 64)), dict(B=2, H=2, T=128, D=32, tile=(32, 16)),
    warps=8, stages=3)
add(FILE, "causal_softmax_tiles", "fp16 64×2048×2048, 4 warps", triangle,
    dict(BH=64, T=2048, tile=(16, 256)), dict(BH=2, T=50, tile=(8, 16)), warps=4)
