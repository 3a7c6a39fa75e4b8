"""Calls of simulation.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import cdiv, f32, rand, randn, zeros
from operators.calls import adds_to, i64, int32, ints, launch, philox

CALLS = []
add = adds_to(CALLS)


def heat(D, H, W, slab, tile, warps, k=0.1):
    u, out = randn(D, H, W, dtype=f32), zeros(D, H, W, dtype=f32)

    def reference():
        w = torch.zeros(1, 1, 3, 3, 3)
        for axis in range(3):
            for side in (0, 2):
                w[(0, 0, *(side if a == axis else 1 for a in range(3)))] = k
        w[0, 0, 1, 1, 1] = 1 - 6 * k
        return [F.conv3d(u[None, None], w, padding=1)]
    return launch([u, out, D, H, W, k], {"SLAB": slab, "BLOCK_Y": tile[0], "BLOCK_X": tile[1]},
                  (cdiv(W, tile[1]), cdiv(H, tile[0]), cdiv(D, slab)), [out], warps, reference)


def relax(N, block, warps, omega=1.7):
    u, f, out = randn(N, N, dtype=f32), randn(N, N, dtype=f32), zeros(N, N, dtype=f32)

    def reference():
        new, i = u.clone(), torch.arange(1, N - 1)
        near = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 0.01 * f[1:-1, 1:-1]
        moved = u[1:-1, 1:-1] + omega * (0.25 * near - u[1:-1, 1:-1])
        new[1:-1, 1:-1] = torch.where((i[:, None] + i) % 2 == 1, moved, u[1:-1, 1:-1])
        return [new]
    return launch([u, f, out, N, 0.01, omega], {"COLOUR": 1, "BLOCK": block}, (cdiv(N, block), N),
                  [out], warps, reference)


def lattice(H, W, block, warps, omega=1.2):
    f, out = rand(9, H, W, low=0.05, high=0.2), zeros(9, H, W, dtype=f32)
    cx, cy = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)

    def reference():
        came = torch.stack([a.roll((y, x), (0, 1)) for a, x, y in zip(f, cx, cy)])
        c = torch.tensor([cx, cy]).float()
        w = torch.tensor([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)[:, None, None]
        rho = came.sum(0)
        u = torch.einsum("dq,qhw->dhw", c, came) / rho
        cu = torch.einsum("dq,dhw->qhw", c, u)
        still = w * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (u * u).sum(0))
        return [came + omega * (still - came)]
    return launch([f, out, H, W, omega], {"BLOCK": block}, cdiv(H * W, block), [out], warps,
                  reference)


def bodies(N, tile, warps, soft=0.01):
    b, out = rand(N, 4), zeros(N, 3, dtype=f32)

    def reference():
        d = b[None, :, :3] - b[:, None, :3]
        r = ((d * d).sum(-1) + soft).rsqrt()
        return [((b[None, :, 3] * r ** 3)[..., None] * d).sum(1)]
    return launch([b, out, N, soft], {"BLOCK_I": tile[0], "BLOCK_J": tile[1]}, cdiv(N, tile[0]),
                  [out], warps, reference)


def escape(W, H, limit, block, warps):
    out, step = zeros(H, W, dtype=int32), 2.5 / H

    def reference():
        fma = lambda a, b, c: (a.double() * b + c).float()
        cx = fma(torch.arange(W), torch.tensor(step).float().double(), -2.0).expand(H, W)
        cy = fma(torch.arange(H), torch.tensor(step).float().double(), -1.25)[:, None].expand(H, W)
        x, y, count = torch.zeros(H, W), torch.zeros(H, W), torch.zeros(H, W, dtype=int32)
        for _ in range(limit):
            square = y * y
            near = fma(x, x, square) <= 4
            x, y = (torch.where(near, *v) for v in ((fma(x, x, cx - square), x),
                                                    (fma(x + x, y, cy), y)))
            count += near
        return [count]
    return launch([out, W, H, -2.0, -1.25, step], {"LIMIT": limit, "BLOCK": block},
                  cdiv(W * H, block), [out], warps, reference)


def option(count, paths, steps, block, warps, rate=0.03, vol=0.3, dt=1 / 64, seed=77):
    spot, strike, out = rand(count, low=90.0, high=110.0), rand(count, low=90.0, high=110.0), \
        zeros(count, dtype=f32)

    def reference():
        u = torch.stack(philox(torch.arange(paths * steps // 4), seed), 1).view(paths, steps)
        log = ((rate - vol * vol / 2) * dt + vol * (12 * dt) ** 0.5 * (u - 0.5)).cumsum(1)
        gain = spot[:, None] * log.exp().mean(1) - strike[:, None]
        return [gain.clamp_min(0).mean(1) * torch.tensor(-rate * dt * steps).exp()]
    return launch([spot, strike, out, rate, vol, dt, seed],
                  {"PATHS": paths, "STEPS": steps, "BLOCK": block}, count, [out], warps, reference)


def game(H, words, block, warps):
    board, out = ints(-(1 << 31), 1 << 31, H, words, dtype=i64).to(int32), \
        zeros(H, words, dtype=int32)

    def reference():
        bit = torch.arange(32)
        cells = (board[..., None] >> bit & 1).view(H, -1)
        near = sum(cells.roll((y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - cells
        alive = (near == 3) | (near == 2) & (cells == 1)
        return [(alive.view(H, words, 32).to(i64) << bit).sum(-1).to(int32)]
    return launch([board, out, H, words], {"BLOCK": block}, (cdiv(words, block), H), [out], warps,
                  reference)


add("simulation.py", "heat_3d", "fp32 512×512×512, slabs of 32, 8 warps", heat,
    dict(D=512, H=512, W=512, slab=32, tile=(8, 128)), dict(D=7, H=9, W=70, slab=4, tile=(8, 32)),
    warps=8)
add("simulation.py", "red_black", "fp32 8192×8192, 4 warps", relax, dict(N=8192, block=1024),
    dict(N=70, block=32), warps=4)
add("simulation.py", "lattice_boltzmann", "fp32 2048×2048, 4 warps", lattice, dict(H=2048, W=2048),
    dict(H=9, W=31), block=256, warps=4)
add("simulation.py", "gravity", "fp32 16384 bodies, 64×64, 4 warps", bodies, dict(N=16384),
    dict(N=150), tile=(64, 64), warps=4)
add("simulation.py", "gravity", "fp32 16384 bodies, 128×1, 4 warps", bodies, dict(N=16384),
    dict(N=150), tile=(128, 1), warps=4)
add("simulation.py", "mandelbrot", "2048×2048, 200 steps, 1 warp", escape,
    dict(W=2048, H=2048, limit=200), dict(W=40, H=30, limit=30), block=64, warps=1)
add("simulation.py", "asian_option", "1024 options of 4096 paths of 64 steps, 8 warps", option,
    dict(count=1024, paths=4096, steps=64, block=1024), dict(count=2, paths=256, steps=8, block=64),
    warps=8)
add("simulation.py", "life", "16384×16384 cells, 2 warps", game, dict(H=16384, words=512),
    dict(H=9, words=5), block=512, warps=2)
