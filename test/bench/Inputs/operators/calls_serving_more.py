"""Calls of serving_more.py, as calls.py has them."""
import library_calls
import torch
import torch.nn.functional as F
from library_calls import Routing, bf16, cdiv, f8, f32, i32, rand, randint, randn, zeros
from operators.calls import adds_to, i64, int32, ints, launch, u8

CALLS = []
add = adds_to(CALLS)


def bits(tokens, experts, topk, block, warps):
    chosen = torch.rand(tokens, experts).topk(topk, 1).indices.to(int32).to(library_calls.DEVICE)
    words, out = cdiv(experts, 32), zeros(tokens, cdiv(experts, 32), dtype=int32)

    def reference():
        hot = torch.zeros(tokens, words * 32, dtype=i64).scatter(1, chosen.long(), 1)
        sums = (hot.view(tokens, words, 32) << torch.arange(32)).sum(-1)
        return [torch.where(sums >= 1 << 31, sums - (1 << 32), sums)]
    return launch([chosen, out, tokens], {"TOPK": topk, "WORDS": words, "BLOCK": block},
                  cdiv(tokens, block), [out], warps, reference)


def streamed(rows, E, k, tile, warps, kind=f32):
    x, value, index = randn(rows, E, dtype=kind), zeros(rows, k, dtype=f32), zeros(rows, k,
                                                                                dtype=int32)

    def reference():
        best = x.float().topk(k, 1)
        return [best.values.softmax(-1), best.indices]
    return launch([x, value, index, rows, E],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "K": k, "SOFTMAX": True},
                  cdiv(rows, tile[0]), [value, index], warps, reference)


def int4(tokens, experts, topk, N, K, tile, zero, warps, stages, group=64, kind=bf16):
    r, block = Routing(tokens, experts, topk), tile[0]
    order, where = [], []
    for e in range(experts):
        mine = r.order[r.start[e] : r.start[e + 1]].tolist()
        mine += [tokens * topk] * (-len(mine) % block)
        order += mine
        where += [e] * (len(mine) // block)
    a, b, c = randn(tokens, K, dtype=kind), randint(0, 256, experts, N, K // 2, dtype=u8), \
        zeros(tokens * topk, N, dtype=kind)
    scale, zeros_, weight = rand(experts, N, K // group, dtype=kind, high=0.1), \
        randint(0, 256, experts, N // 2, K // group, dtype=u8), rand(tokens * topk)

    def reference():
        both = torch.stack([b & 15, b >> 4], -1).view(experts, N, K).float()
        z = torch.stack([zeros_ & 15, zeros_ >> 4], 2).view(experts, N, -1).float() if zero else 8.0
        w = (both.view(experts, N, -1, group) - (z[..., None] if zero else z)) \
            * scale.float()[..., None]
        w = w.view(experts, N, K)
        out = torch.zeros(tokens * topk, N)
        for e in range(experts):
            mine = r.order[r.start[e] : r.start[e + 1]]
            out[mine] = a[mine // topk].float() @ w[e].T * weight[mine, None]
        return [out]
    args = [a, b, c, scale, zeros_ if zero else None, weight, i32(order), i32(where),
            i32([len(order)]), N, K, len(order), tokens * topk, K, b.stride(0), 1, b.stride(1), N]
    defines = {"GROUP": group, "HAS_ZERO": zero, "WEIGH": True, "TOPK": topk, "GROUP_M": 8,
               **dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))}
    return launch(args, defines, cdiv(len(order), block) * cdiv(N, tile[1]), [c], warps, reference,
                  stages)


def finalize(tokens, D, topk, block, warps, kind=bf16):
    rows = tokens * topk
    y, shared, out = randn(rows, D, dtype=kind), randn(tokens, D, dtype=kind), zeros(tokens, D,
                                                                                    dtype=kind)
    row, weight = torch.randperm(rows).view(tokens, topk), rand(tokens, topk)
    row[0, 0] = -1

    def reference():
        part = y[row.clamp_min(0)].float() * (weight * (row >= 0))[..., None]
        return [shared.float() + part.sum(1)]
    return launch([y, shared, i32(row), weight, out, D], {"TOPK": topk, "BLOCK": block},
                  (tokens, cdiv(D, block)), [out], warps, reference)


def latent(tokens, slots, warps, nope=512, rope=64, tile=128):
    x = randn(tokens, nope + rope)
    slot = torch.randperm(slots)[:tokens]
    slot[1] = -1
    row = nope + nope // tile * 4 + rope * 2
    cache = zeros(slots, row, dtype=u8)

    def reference():
        out = torch.zeros(slots, row, dtype=u8)
        groups = x[:, :nope].float().view(tokens, -1, tile)
        s = (groups.abs().amax(-1).clamp_min(1e-4) / 448).log2().ceil().exp2()
        q = (groups / s[..., None]).to(f8).view(u8).flatten(1)
        rows = torch.cat([q, s.contiguous().view(u8), x[:, nope:].contiguous().view(u8)], 1)
        out[slot[slot >= 0]] = rows[slot >= 0]
        return [out]
    return launch([x, slot.to(library_calls.DEVICE), cache],
                  {"NOPE": nope, "ROPE": rope, "TILE": tile, "ROW": row}, tokens, [cache], warps,
                  reference)


def sections(tokens, HQ, HK, D, first, second, warps, kind=bf16):
    q, k = randn(tokens, HQ, D, dtype=kind), randn(tokens, HK, D, dtype=kind)
    angle = torch.rand(3, tokens, D // 2) * 6
    cos, sin = angle.cos().to(library_calls.DEVICE), angle.sin().to(library_calls.DEVICE)
    outs = [zeros(tokens, HQ, D, dtype=kind), zeros(tokens, HK, D, dtype=kind)]

    def reference():
        which = torch.full((D // 2,), 2)
        which[: first + second], which[:first] = 1, 0
        c, s = (x.permute(1, 2, 0).gather(2, which[None, :, None].expand(tokens, -1, 1)).permute(
            0, 2, 1) for x in (cos, sin))
        turn = lambda a, b: torch.cat([a * c - b * s, b * c + a * s], -1)
        return [turn(*x.float().chunk(2, -1)) for x in (q, k)]
    return launch([q, k, cos, sin, *outs, tokens],
                  {"HQ": HQ, "HK": HK, "PQ": HQ, "PK": HK, "D": D, "FIRST": first,
                   "SECOND": second}, tokens, outs, warps, reference)


def inline(T, H, D, R, block, warps, kind=bf16):
    x, y, pos = randn(T, H, D, dtype=kind), zeros(T, H, D, dtype=kind), ints(0, 4096, T, dtype=i64)

    def reference():
        angle = pos.double()[:, None] * 10000.0 ** (-torch.arange(0, R, 2).double() / R)
        cos, sin = (f(angle)[:, None].float() for f in (torch.cos, torch.sin))
        even, odd = x[..., :R:2].float(), x[..., 1:R:2].float()
        turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
        return [torch.cat([turned, x[..., R:].float()], -1)]
    return launch([x, pos, y, T, H, 10000.0], {"R": R, "D": D, "BLOCK_T": block},
                  (cdiv(T, block), H), [y], warps, reference)


def tree(B, draft, depth, warps):
    seed = torch.Generator().manual_seed(B)
    parent = [[-1, *(int(torch.randint(0, i, (1,), generator=seed)) for i in range(1, draft))]
              for _ in range(B)]
    tokens = torch.randint(0, 4, (B, draft), generator=seed)
    target = torch.randint(0, 4, (B, draft), generator=seed)
    child, sibling = torch.full((B, draft), -1), torch.full((B, draft), -1)
    for b in range(B):
        for i in range(draft - 1, 0, -1):
            p = parent[b][i]
            sibling[b, i], child[b, p] = child[b, p], i
    predict, accept, count = zeros(B, draft, dtype=int32), zeros(B, depth, dtype=int32), \
        zeros(B, dtype=int32)

    def reference():
        outs = [torch.zeros_like(o, device="cpu") for o in (predict, accept, count)]
        for b in range(B):
            at, n = 0, 0
            outs[1][b, 0] = b * draft
            c = int(child[b, 0])
            while c >= 0 and n < depth - 1:
                if tokens[b, c] == target[b, at]:
                    outs[0][b, at] = tokens[b, c]
                    at, n = c, n + 1
                    outs[1][b, n], c = b * draft + at, int(child[b, at])
                else:
                    c = int(sibling[b, c])
            outs[0][b, at], outs[2][b] = target[b, at], n
        return outs
    return launch([predict, accept, count, i32(tokens), i32(child), i32(sibling), i32(target)],
                  {"DRAFT": draft, "DEPTH": depth}, B, [predict, accept, count], warps, reference)


def typical(B, K, V, block, warps):
    p = rand(B, K, V).pow_(24)
    p /= p.sum(-1, keepdim=True)
    drafts = p.argmax(-1).to(int32)
    drafts[:, 2::3] = 0
    out, kept = zeros(B, K, dtype=int32), zeros(B, dtype=int32)

    def reference():
        entropy = -(p * (p + 1e-5).log()).sum(-1)
        bound = (0.3 * (-entropy).exp()).clamp_max(0.09)
        stays = (p.gather(2, drafts.long()[..., None])[..., 0] > bound).int().cumprod(1)
        return [torch.where(stays != 0, drafts, -1), stays.sum(1)]
    return launch([p, drafts, out, kept, V, 0.09, 0.3], {"K": K, "BLOCK": block}, B, [out, kept],
                  warps, reference)


def pages(layers, count, words, pairs, block, warps):
    src, dst = ints(0, 1 << 60, layers, count, words, dtype=i64), zeros(layers, count, words,
                                                                       dtype=i64)
    both = torch.stack([torch.randperm(count)[:pairs], torch.randperm(count)[:pairs]], 1)

    def reference():
        out = torch.zeros(layers, count, words, dtype=i64)
        out[:, both[:, 1]] = src[:, both[:, 0]]
        return [out]
    return launch([src, dst, i32(both), words, count * words], {"BLOCK": block}, (pairs, layers),
                  [dst], warps, reference)


def conv_update(B, D, W, slots, block, warps, kind=bf16):
    x, state, w, bias = randn(B, D, dtype=kind), randn(slots, D, W - 1, dtype=kind), \
        randn(D, W, dtype=kind), randn(D, dtype=kind)
    at, y, new = torch.randperm(slots)[:B], zeros(B, D, dtype=kind), zeros(slots, D, W - 1,
                                                                         dtype=kind)

    def reference():
        whole = torch.cat([state[at], x[..., None]], -1)
        out = torch.zeros(slots, D, W - 1)
        out[at] = whole[..., 1:].float()
        return [F.silu((whole.float() * w.float()).sum(-1) + bias.float()), out]
    return launch([x, state, w, bias, i32(at), y, new, D], {"W": W, "SILU": True, "BLOCK": block},
                  (B, cdiv(D, block)), [y, new], warps, reference)


def delta_step(B, HQ, HV, K, V, BV, warps, kind=bf16):
    q, k, v = randn(B, HQ, K, dtype=kind), randn(B, HQ, K, dtype=kind), randn(B, HV, V, dtype=kind)
    a, b, log_a, bias = randn(B, HV, dtype=kind), randn(B, HV, dtype=kind), randn(HV, dtype=f32), \
        randn(HV, dtype=f32)
    slots = torch.randperm(2 * B)[:B]
    state, o = randn(2 * B, HV, K, V, dtype=f32), zeros(B, HV, V, dtype=kind)
    new = zeros(2 * B, HV, K, V, dtype=f32)

    def reference():
        norm = lambda x: F.normalize(x.float(), dim=-1, eps=1e-8).repeat_interleave(HV // HQ, 1)
        g = -log_a.exp() * F.softplus(a.float() + bias)
        s = state[slots] * g.exp()[..., None, None]
        keys = norm(k)
        fresh = (v.float() - (s * keys[..., None]).sum(2)) * b.float().sigmoid()[..., None]
        s = s + keys[..., None] * fresh[:, :, None]
        out = torch.zeros(2 * B, HV, K, V)
        out[slots] = s
        return [(s * (norm(q) * K ** -0.5)[..., None]).sum(2), out]
    return launch([q, k, v, a, b, log_a, bias, state, i32(slots), o, new, K ** -0.5],
                  {"HQ": HQ, "HV": HV, "K": K, "V": V, "BV": BV}, (B, HV, V // BV), [o, new], warps,
                  reference)


FILE = "serving_more.py"
add(FILE, "routing_bits", "65536, 8 of 256 experts, 4 warps", bits,
    dict(tokens=65536, experts=256, topk=8, block=128),
    dict(tokens=20, experts=70, topk=4, block=16), warps=4)
add(FILE, "topk_streamed", "fp32 32768, 8 of 256 experts by 64, 4 warps", streamed,
    dict(rows=32768, E=256, k=8, tile=(32, 64)), dict(rows=9, E=50, k=4, tile=(4, 16)), warps=4)
add(FILE, "experts_int4", "bf16 1024, 8 of 64 experts, 2048×4096, 4 warps", int4,
    dict(tokens=1024, experts=64, topk=8, N=2048, K=4096, tile=(64, 128, 64)),
    dict(tokens=9, experts=4, topk=2, N=64, K=128, tile=(16, 32, 32)), zero=False, warps=4,
    stages=3)
add(FILE, "experts_int4", "bf16 16, 8 of 64 experts, 2048×4096, zeros, 4 warps", int4,
    dict(tokens=16, experts=64, topk=8, N=2048, K=4096, tile=(16, 64, 64)),
    dict(tokens=9, experts=4, topk=2, N=64, K=128, tile=(16, 32, 32)), zero=True, warps=4, stages=3)
add(FILE, "experts_finalize", "bf16 8192×7168, 8 experts, 4 warps", finalize,
    dict(tokens=8192, D=7168, topk=8, block=1024), dict(tokens=5, D=90, topk=3, block=64), warps=4)
add(FILE, "latent_cache_fp8", "bf16 8192 rows of 512 + 64, 4 warps", latent,
    dict(tokens=8192, slots=65536), dict(tokens=5, slots=9), warps=4)
add(FILE, "rope_sections", "bf16 8192×(32 + 8)×128, 4 warps", sections,
    dict(tokens=8192, HQ=32, HK=8, D=128, first=16, second=24),
    dict(tokens=5, HQ=4, HK=2, D=32, first=4, second=6), warps=4)
add(FILE, "rope_inline", "bf16 8192×32×128, 64 of them turned, 4 warps", inline,
    dict(T=8192, H=32, D=128, R=64, block=16), dict(T=11, H=3, D=32, R=16, block=8), warps=4)
add(FILE, "verify_tree", "1024 requests, 64 drafted, 1 warp", tree, dict(B=1024, draft=64, depth=8),
    dict(B=7, draft=12, depth=4), warps=1)
add(FILE, "typical_acceptance", "64 requests, 5 drafted of 32000, 4 warps", typical,
    dict(B=64, K=5, V=32000, block=2048), dict(B=5, K=4, V=300, block=128), warps=4)
add(FILE, "copy_pages", "64 layers, 256 of 512 pages of 32 KiB, 4 warps", pages,
    dict(layers=64, count=512, words=4096, pairs=256, block=1024),
    dict(layers=2, count=6, words=50, pairs=3, block=32), warps=4)
add(FILE, "conv1d_update_slots", "bf16 1024×8192, width 4, 4 warps", conv_update,
    dict(B=1024, D=8192, W=4, slots=2048, block=256), dict(B=3, D=90, W=4, slots=5, block=64),
    warps=4)
add(FILE, "gated_delta_step", "bf16 256×32 of 16×128×128, blocks of 32, 1 warp", delta_step,
    dict(B=256, HQ=16, HV=32, K=128, V=128, BV=32), dict(B=3, HQ=2, HV=4, K=32, V=32, BV=16),
    warps=1)
