"""Calls of training.py, as calls.py has them."""
import torch
from library_calls import bf16, cdiv, f16, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, launch, philox_words, power, u8

CALLS = []
add = adds_to(CALLS)


def stochastic(n, block, warps, lr=0.01, seed=2024):
    p, g, out = randn(n), randn(n), zeros(n)

    def reference():
        new = (g.double() * -torch.tensor(lr).double() + p.double()).float()
        bits = (new.view(torch.int32) + (philox_words(torch.arange(n), seed)[0] & 0xFFFF)
                .to(torch.int32)) & -65536
        return [bits.view(f32)]
    return launch([p, g, out, lr, seed, n], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  reference)


def lamb(n, block, warps):
    p, g, m, v = randn(n, dtype=f32), randn(n), randn(n, dtype=f32), rand(n)
    outs, norms = [zeros(n, dtype=f32) for _ in range(3)], zeros(cdiv(n, block), 2, dtype=f32)
    b1, b2, eps, decay, c1, c2 = 0.9, 0.999, 1e-6, 0.01, 1.5, 5.0

    def reference():
        gf = g.float()
        m2, v2 = b1 * m + (1 - b1) * gf, b2 * v + (1 - b2) * gf * gf
        u = m2 * c1 / ((v2 * c2).sqrt() + eps) + decay * p
        shares = [torch.stack([s.square().sum() for s in a.split(block)]) for a in (p, u)]
        return [m2, v2, u, torch.stack(shares, 1)]
    return launch([p, g, m, v, *outs, norms, b1, b2, eps, decay, c1, c2, n], {"BLOCK": block},
                  cdiv(n, block), [*outs, norms], warps, reference)


def adagrad(rows, used, mean, D, warps, lr=0.1, eps=1e-6, kind=f16):
    counts = [1 + 7 * i % (2 * mean) for i in range(used)]
    table, state = randn(rows, D, dtype=kind), rand(rows)
    row, place = i32(torch.randperm(rows)[:used]), i32(torch.randperm(sum(counts)))
    grad, out, new = randn(sum(counts), D, dtype=kind), zeros(used, D, dtype=kind), \
        zeros(used, dtype=f32)

    def reference():
        g = torch.stack([s.sum(0) for s in grad[place.long()].float().split(counts)])
        s = state[row.long()] + g.square().mean(1)
        return [table[row.long()].float() - lr * g / (s.sqrt() + eps)[:, None], s]
    return launch([table, state, row, i32(steps(counts)), place, grad, out, new, lr, eps, D],
                  {"BLOCK": power(D)}, used, [out, new], warps, reference)


def nf4(n, group, groups, warps, kind=bf16):
    x, q, most = randn(n, dtype=kind), zeros(n // 2, dtype=u8), zeros(n // group, dtype=f32)
    bounds = torch.tensor([-0.8480, -0.6106, -0.4599, -0.3395, -0.2346, -0.1377, -0.0455, 0.0398,
                           0.1203, 0.2035, 0.2921, 0.3892, 0.5016, 0.6427, 0.8614])

    def reference():
        each = x.float().view(-1, group)
        top = each.abs().amax(1)
        code = (each / top[:, None])[..., None].gt(bounds).sum(-1).view(-1, 2)
        return [code[:, 0] << 4 | code[:, 1], top]
    return launch([x, q, most, n], {"GROUP": group, "GROUPS": groups},
                  cdiv(n // group, groups), [q, most], warps, reference)


def turned(B, H, W, heads, D, block, warps, kind=bf16):
    x, out = randn(B, H * W, heads, D, dtype=kind), zeros(B, H * W, heads, D, dtype=kind)
    freq = (100.0 ** (-torch.arange(D // 4) / (D // 4))).to(x.device)

    def reference():
        t = torch.arange(H * W)
        angle = torch.cat([(t // W)[:, None] * freq, (t % W)[:, None] * freq], 1)[:, None]
        a, b = x.float().view(B, H * W, heads, D // 2, 2).unbind(-1)
        c, s = angle.cos(), angle.sin()
        return [torch.stack([a * c - b * s, a * s + b * c], -1)]
    return launch([x, out, freq, H, W], {"HEADS": heads, "D": D, "BLOCK": block},
                  (cdiv(H * W, block), B), [out], warps, reference)


def middle(B, M, N, block, warps, kind=f16):
    x, gate, y = randn(B, M, N, dtype=kind), randn(B, M, dtype=kind), zeros(B, N, dtype=kind)
    return launch([x, gate, y, M, N], {"MIDDLE": power(M), "BLOCK": block}, (cdiv(N, block), B),
                  [y], warps,
                  lambda: [(gate.float().softmax(1)[..., None] * x.float()).sum(1)])


def patches(N, side, P, block, warps, C=3, kind=bf16):
    x, scale, shift = randint(0, 256, N, side, side, C, dtype=u8), rand(C, high=0.02), rand(C)
    across = side // P
    y = zeros(N, across * across, P * P * C, dtype=kind)

    def reference():
        v = (x.float() * scale + shift).view(N, across, P, across, P, C)
        return [v.transpose(2, 3)]
    return launch([x, scale, shift, y, side, side], {"C": C, "P": P, "BLOCK": block},
                  (cdiv(across * P * P * C, block), across, N), [y], warps, reference)


add("training.py", "stochastic_bf16", "2^26, 4 warps", stochastic, dict(n=1 << 26), dict(n=3001),
    block=1024, warps=4)
add("training.py", "lamb_parts", "fp32 2^24, 8 warps", lamb, dict(n=1 << 24, block=2048),
    dict(n=1100, block=256), warps=8)
add("training.py", "rowwise_adagrad", "fp16 65536 rows of 4 gradients of 128, 1 warp", adagrad,
    dict(rows=1 << 20, used=65536, mean=4, D=128), dict(rows=50, used=9, mean=3, D=40), warps=1)
add("training.py", "nf4_quantize", "bf16 2^26 in groups of 64, 4 warps", nf4,
    dict(n=1 << 26, groups=64), dict(n=64 * 9, groups=4), group=64, warps=4)
add("training.py", "rope_2d", "bf16 32×32×32×16×64, 4 warps", turned,
    dict(B=32, H=32, W=32, heads=16, D=64, block=4), dict(B=2, H=3, W=5, heads=2, D=16, block=2),
    warps=4)
add("training.py", "gated_middle", "fp16 512×100×2048, 4 warps", middle,
    dict(B=512, M=100, N=2048, block=64), dict(B=2, M=9, N=50, block=32), warps=4)
add("training.py", "patchify", "256×224×224×3 to 16×16, 4 warps", patches,
    dict(N=256, side=224, P=16, block=1024), dict(N=2, side=12, P=4, block=64), warps=4)
