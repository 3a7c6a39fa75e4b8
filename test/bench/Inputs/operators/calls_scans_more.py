"""Calls of scans_more.py, as calls.py has them."""
import library_calls
import torch
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, i8, i64, int32, ints, launch, power

CALLS = []
add = adds_to(CALLS)


def advantages(B, T, warps):
    r, v, done = randn(B, T, dtype=f32), randn(B, T + 1, dtype=f32), (rand(B, T) < 0.05).to(i8)
    out, returns = zeros(B, T, dtype=f32), zeros(B, T, dtype=f32)

    def reference():
        adv, last = torch.zeros(B, T), torch.zeros(B)
        for t in reversed(range(T)):
            on = 1 - done[:, t].float()
            last = r[:, t] + 0.99 * v[:, t + 1] * on - v[:, t] + 0.99 * 0.95 * on * last
            adv[:, t] = last
        return [adv, adv + v[:, :T]]
    return launch([r, v, done, out, returns, T, 0.99, 0.95], {"BLOCK": power(T)}, B, [out, returns],
                  warps, reference)


def segmented(M, N, rows, block, warps):
    x, flag, out = randn(M, N, dtype=f32), (rand(M, N) < 0.02).to(i8), zeros(M, N, dtype=f32)

    def reference():
        total, result = torch.zeros(M), torch.zeros(M, N)
        for n in range(N):
            total = torch.where(flag[:, n] != 0, x[:, n], total + x[:, n])
            result[:, n] = total
        return [result]
    return launch([x, flag, out, N], {"ROWS": rows, "BLOCK": block}, M // rows, [out], warps,
                  reference)


def lookback(n, block, warps):
    """What a launch leaves behind would do for the next one: it need not wait then."""
    x, y = ints(0, 10, n), zeros(n, dtype=int32)
    return launch([x, y, zeros(cdiv(n, block), dtype=i64), n], {"BLOCK": block}, cdiv(n, block),
                  [y], warps, lambda: [x.cumsum(0)])


def matrices(T, C, block, warps):
    m, out = randn(4, T, C, dtype=f32, scale=0.6), zeros(4, T, C, dtype=f32)

    def reference():
        now, result = torch.eye(2).expand(C, 2, 2), torch.zeros(4, T, C)
        for t in range(T):
            now = m[:, t].T.reshape(C, 2, 2) @ now
            result[:, t] = now.reshape(C, 4).T
        return [result]
    return launch([m, out, T, C], {"BLOCK_T": power(T), "BLOCK_C": block}, cdiv(C, block), [out],
                  warps, reference)


def wkv(B, T, C, block, warps, kind=bf16):
    w, u, k, v = randn(C, dtype=f32), randn(C, dtype=f32), randn(B, T, C, dtype=kind), \
        randn(B, T, C, dtype=kind)
    y, state = zeros(B, T, C, dtype=kind), zeros(B, 3, C, dtype=f32)

    def reference():
        decay, a, b, out = -w.exp(), torch.zeros(B, C), torch.zeros(B, C), torch.zeros(B, T, C)
        eps = torch.full((B, C), -1e38)
        for t in range(T):
            kt, vt = k[:, t].float(), v[:, t].float()
            tau = torch.maximum(u + kt, eps)
            e1, e2 = (eps - tau).exp(), (u + kt - tau).exp()
            out[:, t] = (e1 * a + e2 * vt) / (e1 * b + e2)
            high = torch.maximum(decay + eps, kt)
            e1, e2 = (decay + eps - high).exp(), (kt - high).exp()
            a, b, eps = e1 * a + e2 * vt, e1 * b + e2, high
        return [out, torch.stack([a, b, eps], 1)]
    return launch([w, u, k, v, y, state, T, C], {"BLOCK": block}, (B, cdiv(C, block)), [y, state],
                  warps, reference)


def decayed(B, H, T, D, E, BE, block, warps, stages, kind=bf16):
    q, k, v = randn(B * H, T, D, dtype=kind), randn(B * H, T, D, dtype=kind, scale=D ** -0.5), \
        randn(B * H, T, E, dtype=kind)
    slope, o, state = rand(H, high=0.1), zeros(B * H, T, E, dtype=kind), zeros(B * H, D, E,
                                                                             dtype=f32)

    def reference():
        t = torch.arange(T)
        s = slope.repeat(B)[:, None, None]
        weight = torch.where(t[:, None] >= t, torch.exp(-s * (t[:, None] - t)), 0.0)
        out = (q.float() @ k.float().transpose(1, 2) * weight) @ v.float()
        left = torch.exp(-s * (T - t)[None, :, None])
        return [out, (k.float() * left).transpose(1, 2) @ v.float()]
    return launch([q, k, v, slope, o, state, T, H], {"D": D, "E": E, "BLOCK": block, "BE": BE},
                  (B * H, E // BE), [o, state], warps, reference, stages)


def learned(BH, T, D, block, warps, stages, kind=bf16):
    q, k, v = (randn(BH, T, D, dtype=kind, scale=0.3) for _ in range(3))
    eta, w, o = rand(BH, T, high=0.05), randn(BH, D, D, dtype=f32, scale=0.1), zeros(BH, T, D,
                                                                                   dtype=kind)

    def reference():
        now, out = w.clone(), torch.zeros(BH, T, D)
        for t in range(0, T, block):
            a, b, c = (x[:, t : t + block].float() for x in (q, k, v))
            z = b @ now
            target, centred = c - b, z - z.mean(-1, keepdim=True)
            std = (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()
            hat = centred / std
            g = hat - target
            grad = (g * D - g.sum(-1, keepdim=True) - hat * (g * hat).sum(-1, keepdim=True)) \
                / (D * std)
            step = eta[:, t : t + block, None] * grad
            out[:, t : t + block] = a @ now - (a @ b.transpose(1, 2)).tril() @ step
            now = now - b.transpose(1, 2) @ step
        return [out]
    return launch([q, k, v, eta, w, o, T], {"D": D, "BLOCK": block}, BH, [o], warps, reference,
                  stages, 4e-2)


def behind(M, N, block, warps, kind=f16):
    x, value, index = randn(M, N, dtype=kind), zeros(M, N, dtype=f32), zeros(M, N, dtype=i64)

    def reference():
        values, at = x.float().flip(0).cummax(0)
        first = (x.float().flip(0)[None] == values[:, None]) if library_calls.SMALL else None
        if first is not None:
            at = first.int().argmax(1)
        return [values.flip(0), (M - 1 - at).flip(0)]
    return launch([x, value, index, M, N], {"BLOCK_M": power(M), "BLOCK_N": block}, cdiv(N, block),
                  [value, index], warps, reference)


FILE = "scans_more.py"
add(FILE, "advantages_reverse", "fp32 16384×512, 4 warps", advantages, dict(B=16384, T=512),
    dict(B=5, T=50), warps=4)
add(FILE, "segmented_cumsum", "fp32 4096×8192, 4 warps", segmented,
    dict(M=4096, N=8192, rows=1, block=2048), dict(M=6, N=90, rows=2, block=32), warps=4)
add(FILE, "scan_lookback", "int32 16777216, blocks of 4096, 8 warps", lookback,
    dict(n=1 << 24, block=4096), dict(n=700, block=128), warps=8)
add(FILE, "matrix_scan", "fp32 256×65536, 4 warps", matrices, dict(T=256, C=65536, block=8),
    dict(T=12, C=20, block=8), warps=4)
add(FILE, "wkv_steps", "bf16 32×1024×4096, 1 warp", wkv, dict(B=32, T=1024, C=4096, block=32),
    dict(B=2, T=9, C=50, block=32), warps=1)
add(FILE, "decayed_blocks", "bf16 8×32×4096×128, 4 warps", decayed,
    dict(B=8, H=32, T=4096, D=128, E=128, BE=32, block=64),
    dict(B=2, H=2, T=64, D=32, E=32, BE=16, block=16), warps=4, stages=2)
add(FILE, "learned_at_test", "bf16 512×2048×64, 4 warps", learned,
    dict(BH=512, T=2048, D=64, block=16), dict(BH=3, T=64, D=32, block=16), warps=4, stages=2)
add(FILE, "cummax_columns_behind", "fp16 512×16384, 4 warps", behind,
    dict(M=512, N=16384, block=16), dict(M=20, N=40, block=8), warps=4)
