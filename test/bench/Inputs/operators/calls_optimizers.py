"""Calls of optimizers.py, as calls.py has them."""
import torch
from library_calls import cdiv, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, i8, launch, power, u8

CALLS = []
add = adds_to(CALLS)


def lion(n, block, warps):
    p, g, m = randn(n), randn(n), randn(n, dtype=f32)
    outs, (lr, b1, b2, decay) = [zeros(n), zeros(n, dtype=f32)], (1e-2, 0.9, 0.99, 0.1)

    def reference():
        gf = g.float()
        return [p.float() * (1 - lr * decay) - lr * (b1 * (m - gf) + gf).sign(),
                b2 * (m - gf) + gf]
    return launch([p, g, m, *outs, lr, b1, b2, decay, n], {"BLOCK": block}, cdiv(n, block), outs,
                  warps, reference)


def sgd(n, block, warps, nesterov):
    p, g, m = randn(n, dtype=f32), randn(n), randn(n, dtype=f32)
    outs, (lr, b, damp, decay) = [zeros(n, dtype=f32), zeros(n, dtype=f32)], (1e-1, 0.9, 0.1, 1e-2)

    def reference():
        gf = g.float() + decay * p
        new = b * m + (1 - damp) * gf
        return [p - lr * (gf + b * new if nesterov else new), new]
    return launch([p, g, m, *outs, lr, b, damp, decay, n], {"NESTEROV": nesterov, "BLOCK": block},
                  cdiv(n, block), outs, warps, reference)


def adafactor(kernel, M, N, tile, warps):
    g, r = randn(M, N), rand(M, low=0.5, high=1.5)
    if kernel == "adafactor_rows":
        out, beta, eps = zeros(M, dtype=f32), 0.8, 1e-3
        return launch([g, r, out, beta, eps, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                      cdiv(M, tile[0]), [out], warps,
                      lambda: [beta * r + (1 - beta) * (g.float() ** 2 + eps).mean(1)])
    p, c, mean, out = randn(M, N), rand(N, low=0.5, high=1.5), rand(1, low=0.9), zeros(M, N)
    return launch([p, g, r, c, mean, out, 0.1, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps,
                  lambda: [p.float() - 0.1 * g.float() * (r[:, None] * c / mean).rsqrt()])


def many_norms(sizes, chunk, block, warps):
    x, starts, out = randn(sum(sizes)), steps(sizes), zeros(len(sizes), dtype=f32)
    chunks = [(t, i) for t, n in enumerate(sizes) for i in range(cdiv(n, chunk))]
    tables = [starts[:-1].to(x.device), i32(sizes), i32([t for t, _ in chunks]),
              i32([i for _, i in chunks])]
    return launch([x, *tables, out], {"CHUNK": chunk, "BLOCK": block}, len(chunks), [out], warps,
                  lambda: [torch.stack([p.float().square().sum() for p in x.split(sizes)])])


def clip(n, count, block, warps):
    x, norms, out = randn(n), rand(count), zeros(n)
    return launch([x, norms, out, count, 1.0, n], {"PAD": power(count), "BLOCK": block},
                  cdiv(n, block), [out], warps,
                  lambda: [x.float() * (1.0 / (norms.sum().sqrt() + 1e-6)).clamp(max=1.0)])


def ema(n, block, warps):
    p, e, outs = randn(n), randn(n, dtype=f32), [zeros(n, dtype=f32), zeros(n)]
    return launch([p, e, *outs, 0.9, n], {"BLOCK": block}, cdiv(n, block), outs, warps,
                  lambda: [e + 0.1 * (p.float() - e)] * 2)


def adam_8bit(n, block, warps):
    grid, (lr, b1, b2, eps) = cdiv(n, block), (1e-1, 0.9, 0.95, 1e-6)
    p, g, m, v = randn(n, dtype=f32), randn(n), randint(-127, 128, n, dtype=i8), \
        randint(1, 256, n, dtype=u8)
    scales = [rand(grid, low=0.5, high=1.0) / 127, rand(grid, low=0.5, high=1.0) / 255]
    outs = [zeros(n, dtype=f32), zeros(n, dtype=i8), zeros(n, dtype=u8), zeros(grid, dtype=f32),
            zeros(grid, dtype=f32)]

    def reference():
        each = lambda s: s.repeat_interleave(block)[:n]
        gf = g.float()
        m2 = b1 * m.float() * each(scales[0]) + (1 - b1) * gf
        v2 = (b2 * (v.float() * each(scales[1])) ** 2 + (1 - b2) * gf * gf).sqrt()
        sm, sv = (torch.stack([q.abs().max() for q in a.split(block)]) / top
                  for a, top in ((m2, 127), (v2, 255)))
        return [p - lr * m2 / (v2 + eps), (m2 / each(sm)).round(), (v2 / each(sv)).round(), sm, sv]
    return launch([p, g, m, v, *scales, *outs, lr, b1, b2, eps, n], {"BLOCK": block}, grid, outs,
                  warps, reference)


LAYER = [4096 * 4096] * 2 + [1024 * 4096] * 2 + [4096] * 2 + [14336 * 4096 // 4] * 3
add("optimizers.py", "lion_step", "bf16 2^25, 4 warps", lion, dict(n=1 << 25), dict(n=3001),
    block=1024, warps=4)
add("optimizers.py", "sgd_momentum_step", "fp32 2^25, nesterov, 4 warps", sgd, dict(n=1 << 25),
    dict(n=3001), block=1024, warps=4, nesterov=True)
add("optimizers.py", "adafactor_rows", "bf16 16384×4096, 4 warps", adafactor, dict(M=16384, N=4096),
    dict(M=9, N=300), kernel="adafactor_rows", tile=(4, 512), warps=4)
add("optimizers.py", "adafactor_step", "bf16 16384×4096, 4 warps", adafactor, dict(M=16384, N=4096),
    dict(M=9, N=300), kernel="adafactor_step", tile=(4, 256), warps=4)
add("optimizers.py", "multi_tensor_norm", "bf16 9 arrays of a layer, 8 warps", many_norms,
    dict(sizes=LAYER, chunk=65536, block=2048), dict(sizes=[3000, 17, 1025], chunk=1024, block=512),
    warps=8)
add("optimizers.py", "clip_scale", "bf16 2^26 of 300 arrays, 4 warps", clip, dict(n=1 << 26),
    dict(n=3001), count=300, block=2048, warps=4)
add("optimizers.py", "ema_update", "bf16 2^25, 4 warps", ema, dict(n=1 << 25), dict(n=3001),
    block=1024, warps=4)
add("optimizers.py", "adam_8bit", "2^25 in blocks of 2048, 8 warps", adam_8bit, dict(n=1 << 25,
    block=2048), dict(n=1100, block=256), warps=8)
