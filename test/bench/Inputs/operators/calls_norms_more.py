"""Calls of norms_more.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f8, f16, f32, rand, randint, randn, zeros
from operators.calls import adds_to, i8, i64, ints, launch, power

CALLS = []
add = adds_to(CALLS)


def gated(M, groups, N, before, warps, kind=bf16):
    x, z, w = randn(M, groups * N, dtype=kind), randn(M, groups * N, dtype=kind), \
        randn(groups * N, dtype=kind)
    y, rstd = zeros(M, groups * N, dtype=kind), zeros(groups, M, dtype=f32)

    def reference():
        v, gate = x.float(), F.silu(z.float())
        v = v if before else v * gate
        r = (v.view(M, groups, N).square().mean(-1) + 1e-5).rsqrt()
        out = v * r.repeat_interleave(N, 1) * w.float()
        return [out * gate if before else out, r.T.contiguous()]
    return launch([x, z, w, y, rstd, groups * N, groups * N, M, N, 1e-5],
                  {"BLOCK": power(N), "NORM_BEFORE_GATE": before}, (M, groups), [y, rstd], warps,
                  reference)


def poly(rows, N, warps, kind=bf16):
    x, y = randn(rows, N, dtype=kind), zeros(rows, N, dtype=kind)
    w, b = randn(3, dtype=f32), randn(1, dtype=f32)

    def reference():
        v = x.float()
        return [sum(w[2 - i] * F.rms_norm(v ** (i + 1), (N,), None, 1e-6) for i in range(3)) + b]
    return launch([x, w, b, y, N, 1e-6], {"BLOCK": power(N)}, rows, [y], warps, reference)


def dyt(M, N, block, rows, warps, kind=bf16):
    dy, x, gamma, dx = randn(M, N, dtype=kind), randn(M, N, dtype=kind), randn(N, dtype=kind), \
        zeros(M, N, dtype=kind)
    alpha = torch.full((1,), 0.5, device=x.device)
    dalpha, dgamma, dbeta = zeros(1, dtype=f32), zeros(N, dtype=f32), zeros(N, dtype=f32)

    def reference():
        t = torch.tanh(0.5 * x.float())
        slope = (1 - t * t) * dy.float() * gamma.float()
        return [0.5 * slope, (x.float() * slope).sum(), (dy.float() * t).sum(0), dy.float().sum(0)]
    return launch([dy, x, alpha, gamma, dx, dalpha, dgamma, dbeta, M, N],
                  {"BLOCK_N": block, "ROWS": rows}, (cdiv(N, block), cdiv(M, rows)),
                  [dx, dalpha, dgamma, dbeta], warps, reference)


def nhwc(B, HW, C, G, block, warps, kind=bf16):
    x, w, b, y = randn(B, HW, C, dtype=kind), randn(C, dtype=kind), randn(C, dtype=kind), \
        zeros(B, HW, C, dtype=kind)

    def reference():
        out = F.group_norm(x.float().transpose(1, 2), G, w.float(), b.float(), 1e-5)
        return [F.silu(out).transpose(1, 2).contiguous()]
    return launch([x, w, b, y, HW, 1e-5], {"C": C, "G": G, "BLOCK": block, "ACT": "silu"}, B, [y],
                  warps, reference)


def relu_add(B, C, HW, block, warps, kind=f16):
    x, r, y = (randn(B, C, HW, dtype=kind) for _ in range(3))
    y.zero_()
    mean, var, w, b = randn(C, dtype=f32), rand(C, low=0.5), randn(C, dtype=f32), randn(C,
                                                                                       dtype=f32)

    def reference():
        return [F.relu(F.batch_norm(x.float(), mean, var, w, b, eps=1e-5) + r.float())]
    n = B * C * HW
    return launch([x, r, mean, var, w, b, y, n, C, HW, 1e-5], {"BLOCK": block}, cdiv(n, block), [y],
                  warps, reference)


def add_fp8(rows, N, block, warps, kind=bf16):
    x, r, w = randn(rows, N, dtype=kind), randn(rows, N, dtype=kind), randn(N, dtype=kind)
    total, q, s = zeros(rows, N, dtype=kind), zeros(rows, N, dtype=f8), zeros(rows, dtype=f32)

    def reference():
        whole = x.float() + r.float()
        rstd = (whole.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
        y = whole.to(kind).float() * rstd * w.float()
        scale = y.abs().amax(-1) / 448
        return [whole, y / scale[:, None], scale]
    return launch([x, r, w, total, q, s, N, 1e-6], {"BLOCK": block, "CHUNKS": cdiv(N, block)}, rows,
                  [total, q, s], warps, reference, within=4e-2)


def capped(rows, V, block, cap, warps, kind=bf16):
    x, t = randn(rows, V, dtype=kind, scale=3.0), ints(0, V, rows, dtype=i64)
    t[1] = -100
    loss, z = zeros(rows, dtype=f32), zeros(rows, dtype=f32)

    def reference():
        v = x.float()
        v = cap * torch.tanh(v / cap) if cap else v
        lse = v.logsumexp(-1)
        keep = (t != -100).float()
        zs = 1e-4 * lse * lse * keep
        return [(F.cross_entropy(v, t, label_smoothing=0.1, reduction="none") + zs), zs]
    return launch([x, t, loss, z, V, V, cap, 0.1, 1e-4, -100], {"BLOCK": block, "HAS_CAP": cap > 0},
                  rows, [loss, z], warps, reference)


def grpo(B, T, V, block, beta, warps, kind=bf16):
    x, old, ref = randn(B, T + 1, V, dtype=kind), randn(B, T, dtype=f32), randn(B, T, dtype=f32)
    old, ref = old * 0.1 - 7, ref * 0.1 - 7
    ids, mask, advantage = ints(0, V, B, T, dtype=i64), ints(0, 4, B, T), randn(B, dtype=f32)
    loss, kl, clipped = (zeros(B, T, dtype=f32) for _ in range(3))

    def reference():
        logp = (x[:, :T].float() / 0.9).log_softmax(-1).gather(-1, ids[..., None])[..., 0]
        keep, a = (mask != 0).float(), advantage[:, None]
        ratio = (logp - old).exp()
        first, second = ratio * a, ratio.clamp(0.8, 1.2) * a
        k = (ref - logp).exp() - (ref - logp) - 1
        return [(-torch.minimum(first, second) + beta * k) * keep, k * keep,
                (first > second).float() * keep]
    return launch([x, old, ref, ids, mask, advantage, loss, kl, clipped, 0.9, 0.2, 0.2, T],
                  {"beta": beta, "V": V, "BLOCK": block}, (B, T), [loss, kl, clipped], warps,
                  reference)


def dice(B, N, block, warps, kind=f16):
    x, y, sums = randn(B, N, dtype=kind), randint(0, 2, B, N, dtype=i8), zeros(B, 3, dtype=f32)

    def reference():
        p, t = x.float().sigmoid(), y.float()
        return [torch.stack([(p * t).sum(1), (p * (1 - t)).sum(1), ((1 - p) * t).sum(1)], 1)]
    return launch([x, y, sums, N], {"BLOCK": block}, (cdiv(N, block), B), [sums], warps, reference)


def spectral(M, N, tile, warps, kind=bf16):
    w, u, v = randn(M, N, dtype=kind), randn(M, dtype=f32, scale=M ** -0.5), zeros(N + 1, dtype=f32)

    def reference():
        out = w.float().T @ u
        return [torch.cat([out, out.square().sum()[None]])]
    return launch([w, u, v, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}, cdiv(N, tile[1]), [v],
                  warps, reference)


FILE = "norms_more.py"
add(FILE, "rms_norm_gated_groups", "bf16 8192×8×1024, 4 warps", gated,
    dict(M=8192, groups=8, N=1024), dict(M=5, groups=3, N=50), before=False, warps=4)
add(FILE, "poly_norm", "bf16 8192×4096, 8 warps", poly, dict(rows=8192, N=4096),
    dict(rows=5, N=90), warps=8)
add(FILE, "dynamic_tanh_backward", "bf16 8192×4096, blocks of 1024, 4 warps", dyt,
    dict(M=8192, N=4096, block=1024, rows=64), dict(M=9, N=90, block=64, rows=4), warps=4)
add(FILE, "group_norm_nhwc", "bf16 256×1024×128, 32 groups, 8 warps", nhwc,
    dict(B=256, HW=1024, C=128, G=32, block=32), dict(B=3, HW=50, C=32, G=4, block=16), warps=8)
add(FILE, "batch_norm_relu_add", "fp16 64×256×56×56, 4 warps", relu_add,
    dict(B=64, C=256, HW=3136, block=1024), dict(B=2, C=5, HW=49, block=128), warps=4)
add(FILE, "add_norm_fp8_dynamic", "bf16 8192×7168, chunks of 2048, 8 warps", add_fp8,
    dict(rows=8192, N=7168, block=2048), dict(rows=5, N=200, block=64), warps=8)
add(FILE, "cross_entropy_capped", "bf16 4096×128256, capped, 16 warps", capped,
    dict(rows=4096, V=128256, block=8192), dict(rows=5, V=300, block=128), cap=30.0, warps=16)
add(FILE, "cross_entropy_capped", "bf16 4096×128256, 16 warps", capped,
    dict(rows=4096, V=128256, block=16384), dict(rows=5, V=300, block=128), cap=0.0, warps=16)
add(FILE, "grpo_loss", "bf16 8×1024×128256, 4 warps", grpo,
    dict(B=8, T=1024, V=128256, block=2048), dict(B=2, T=5, V=300, block=128), beta=0.04, warps=4)
add(FILE, "dice_parts", "fp16 32×1048576, 4 warps", dice, dict(B=32, N=1 << 20, block=2048),
    dict(B=3, N=300, block=128), warps=4)
add(FILE, "spectral_power_step", "bf16 8192×8192, 4 warps", spectral,
    dict(M=8192, N=8192, tile=(32, 128)), dict(M=90, N=70, tile=(16, 32)), warps=4)
