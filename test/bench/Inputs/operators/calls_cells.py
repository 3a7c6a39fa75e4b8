"""Calls of cells.py, as calls.py has them."""
import torch
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, i8, launch

CALLS = []
add = adds_to(CALLS)


def lstm(B, H, block, warps, kind=f16):
    g, h, bias = randn(B, 4 * H, dtype=kind), randn(B, 4 * H, dtype=kind), randn(4 * H, dtype=kind)
    c, outs = randn(B, H, dtype=f32), [zeros(B, H, dtype=f32), zeros(B, H, dtype=kind)]

    def reference():
        i, f, n, o = (g.float() + h.float() + bias.float()).chunk(4, 1)
        new = f.sigmoid() * c + i.sigmoid() * n.tanh()
        return [new, o.sigmoid() * new.tanh()]
    return launch([g, h, bias, c, *outs, B, H], {"BLOCK": block}, cdiv(B * H, block), outs, warps,
                  reference)


def gru(T, B, H, block, warps, kind=bf16):
    x, w = randn(T, B, 3, H, dtype=kind), randn(3, H, H, dtype=kind, scale=H ** -0.5)
    first, out = randn(B, H, dtype=kind), zeros(T, B, H, dtype=kind)

    def reference():
        h, all_of = first.float(), []
        for now in x.float():
            r, z, n = (h.to(kind).float() @ w.float().mT)
            r, z = (now[:, 0] + r).sigmoid(), (now[:, 1] + z).sigmoid()
            h = (1 - z) * (now[:, 2] + r * n).tanh() + z * h
            all_of.append(h)
        return [torch.stack(all_of)]
    return launch([x, w, first, out, T, B], {"H": H, "BLOCK_B": block}, cdiv(B, block), [out],
                  warps, reference)


def minimal(B, T, D, tile, warps, kind=bf16):
    k, g, h = randn(B, T, D, dtype=kind), randn(B, T, D, dtype=kind), zeros(B, T, D, dtype=kind)

    def reference():
        z, new = k.float().sigmoid(), torch.where(g >= 0, g.float() + 0.5, g.float().sigmoid())
        now, all_of = 0.0, []
        for t in range(T):
            now = (1 - z[:, t]) * now + z[:, t] * new[:, t]
            all_of.append(now)
        return [torch.stack(all_of, 1)]
    return launch([k, g, h, T, D], {"BLOCK_T": tile[0], "BLOCK_D": tile[1]},
                  (cdiv(D, tile[1]), B), [h], warps, reference)


def diagonal(H, N, L, block, warps):
    re, im = rand(H, N, low=-0.6, high=-0.4), rand(H, N, high=20.0)
    cr, ci, dt, k = randn(H, N, dtype=f32), randn(H, N, dtype=f32), rand(H, low=1e-3, high=1e-1), \
        zeros(H, L, dtype=f32)

    def reference():
        a = torch.complex(re, im).to(torch.complex128) * dt[:, None]
        powers = (a[..., None] * torch.arange(L)).exp()
        return [2 * (torch.complex(cr, ci)[..., None] * powers).sum(1).real]
    return launch([re, im, cr, ci, dt, k, L], {"N": N, "BLOCK": block}, (cdiv(L, block), H), [k],
                  warps, reference)


def neurons(T, N, block, warps, kind=f16):
    x, spikes, v = rand(T, N).to(kind), zeros(T, N, dtype=i8), zeros(N, dtype=f32)

    def reference():
        now, all_of = torch.zeros(N), []
        for row in x.float():
            now = now * 0.875 + row
            all_of.append(now >= 1)
            now = torch.where(all_of[-1], now - 1, now)
        return [torch.stack(all_of).to(i8), now]
    return launch([x, spikes, v, T, N, 0.875, 1.0], {"BLOCK": block}, cdiv(N, block), [spikes, v],
                  warps, reference)


def tracks(T, N, block, warps, dt=0.1, q=0.5, r=2.0):
    z, x, p = randn(T, N, dtype=f32), zeros(T, N, dtype=f32), zeros(3, N, dtype=f32)

    def reference():
        step, noise = torch.tensor([[1, dt], [0, 1]]), \
            q * torch.tensor([[dt ** 3 / 3, dt ** 2 / 2], [dt ** 2 / 2, dt]])
        at, cov, all_of = torch.zeros(2, N), 10 * torch.eye(2), []
        for row in z:
            at, cov = step @ at, step @ cov @ step.T + noise
            gain = cov[:, :1] / (cov[0, 0] + r)
            at, cov = at + gain * (row - at[0]), cov - gain @ cov[:1]
            all_of.append(at[0])
        return [torch.stack(all_of), cov[(0, 0, 1), (0, 1, 1)][:, None].expand(3, N)]
    return launch([z, x, p, T, N, dt, q, r], {"BLOCK": block}, cdiv(N, block), [x, p], warps,
                  reference)


add("cells.py", "lstm_cell", "fp16 16384×1024, 4 warps", lstm, dict(B=16384, H=1024),
    dict(B=5, H=70), block=512, warps=4)
add("cells.py", "gru_steps", "bf16 128 steps of 4096×64, 4 warps", gru,
    dict(T=128, B=4096, H=64, block=32), dict(T=4, B=20, H=32, block=16), warps=4)
add("cells.py", "gru_steps", "bf16 128 steps of 8192×128, 8 warps", gru,
    dict(T=128, B=8192, H=128, block=64), dict(T=3, B=70, H=32, block=64), warps=8)
add("cells.py", "min_gru", "bf16 8×4096×1024, 4 warps", minimal,
    dict(B=8, T=4096, D=1024, tile=(64, 32)), dict(B=2, T=50, D=40, tile=(16, 32)), warps=4)
add("cells.py", "vandermonde", "fp32 1024×64×2048, 4 warps", diagonal, dict(H=1024, N=64, L=2048),
    dict(H=3, N=16, L=100), block=64, warps=4)
add("cells.py", "spiking", "fp16 256 steps of 262144, 4 warps", neurons, dict(T=256, N=262144),
    dict(T=9, N=300), block=256, warps=4)
add("cells.py", "kalman", "fp32 512 steps of 65536, 1 warp", tracks, dict(T=512, N=65536),
    dict(T=9, N=100), block=64, warps=1)
