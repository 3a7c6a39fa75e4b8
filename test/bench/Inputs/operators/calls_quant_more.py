"""Calls of quant_more.py, as calls.py has them."""
import torch
from library_calls import bf16, cdiv, f8, f16, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, i8, ints, int32, launch, power, u8

CALLS = []
add = adds_to(CALLS)
FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
NF4 = torch.tensor([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
                    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                    0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
                    0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                    0.7229568362236023, 1.0])


def mxfp8(M, N, tile, warps, kind=bf16):
    x, q, s = randn(M, N, dtype=kind), zeros(M, N, dtype=f8), zeros(M, N // 32, dtype=u8)

    def reference():
        groups = x.float().view(M, N // 32, 32)
        exponent = (groups.abs().amax(-1) / 448).log2().ceil()
        return [(groups / exponent.exp2()[..., None]).to(f8), (exponent + 127).to(u8)]
    return launch([x, q, s, M, N, N], {"ROWS": tile[0], "BLOCK": tile[1], "GROUP": 32},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [q, s], warps, reference)


def nvfp4(M, N, tile, warps, kind=bf16):
    x, q, s = randn(M, N, dtype=kind), zeros(M, N // 2, dtype=u8), zeros(M, N // 16, dtype=f8)

    def reference():
        groups = x.float().view(M, N // 16, 16)
        scale = (groups.abs().amax(-1) * 4 / 6).to(f8)
        v = groups * (4 / scale.float())[..., None]
        a = v.abs()
        code = (a > 0.25).int() + (a >= 0.75) + (a > 1.25) + (a >= 1.75) + (a > 2.5) \
            + (a >= 3.5) + (a > 5)
        code = (code | ((v < 0).int() << 3)).view(M, N // 2, 2)
        return [(code[..., 0] | (code[..., 1] << 4)).to(u8), scale]
    whole = torch.full((1,), 4.0, device=x.device)
    return launch([x, whole, q, s, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [q, s], warps, reference, within=0)


def fp4_linear(M, N, K, tile, warps, stages, kind=bf16):
    x, w, s = randn(M, K, dtype=kind), randint(0, 256, N, K // 2, dtype=u8), \
        randint(120, 126, N, K // 32, dtype=u8)
    y = zeros(M, N, dtype=kind)

    def reference():
        v = torch.stack([FP4[(w & 15).long()], FP4[(w >> 4).long()]], -1).view(N, K // 32, 32)
        v = v * torch.exp2(s.float() - 127)[..., None]
        return [x.float() @ v.view(N, K).T]
    return launch([x, w, s, y, M, N, K], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps, reference, stages)


def ternary(M, N, K, tile, warps, stages, kind=bf16):
    x, w, xs = randint(-127, 128, M, K, dtype=i8), randint(0, 256, N, K // 4, dtype=u8), \
        rand(M, high=0.01)
    ws, y = torch.full((1,), 0.7, device=x.device), zeros(M, N, dtype=kind)

    def reference():
        v = torch.cat([((w >> 2 * i) & 3).int() - 1 for i in range(4)], 1)
        return [(x.float() @ v.float().T) * xs[:, None] * 0.7]
    return launch([x, w, xs, ws, y, M, N, K], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps, reference, stages)


def asymmetric(M, N, K, tile, warps, stages, bias, kind=bf16):
    x, w, xs, xz = randint(-127, 128, M, K, dtype=i8), randint(-127, 128, N, K, dtype=i8), \
        rand(M, high=0.01), ints(-60, 60, M)
    ws, b, y = rand(N, high=0.01), randn(N, dtype=kind), zeros(M, N, dtype=kind)
    sums = w.int().sum(1).to(int32)

    def reference():
        out = (x.double() - xz[:, None]) @ w.double().T * xs[:, None] * ws
        return [out + b.float() if bias else out]
    return launch([x, w, xs, xz, ws, sums, b if bias else None, y, M, N, K],
                  {"HAS_BIAS": bias, "GROUP_M": 8,
                   **dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))},
                  cdiv(M, tile[0]) * cdiv(N, tile[1]), [y], warps, reference, stages)


def by_blocks(M, N, K, tile, warps, stages, kind=bf16):
    x, w = randint(-127, 128, M, K, dtype=i8), randint(-127, 128, N, K, dtype=i8)
    xs, ws, y = rand(M, K // 128, high=0.01), rand(cdiv(N, 128), K // 128, high=0.01), \
        zeros(M, N, dtype=kind)

    def reference():
        left = x.float() * xs.repeat_interleave(128, 1)
        right = w.float() * ws.repeat_interleave(128, 0)[:N].repeat_interleave(128, 1)
        return [left @ right.T]
    return launch([x, w, xs, ws, y, M, N, K], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps, reference, stages)


def nf4_back(n, block, warps, kind=bf16):
    q, absmax = randint(0, 256, n // 2, dtype=u8), randint(0, 256, n // 64, dtype=u8)
    absmax2, code = rand(cdiv(n, 64 * 256)), rand(256, low=-1.0)
    out = zeros(n, dtype=kind)

    def reference():
        scale = code[absmax.long()] * absmax2.repeat_interleave(256)[: n // 64] + 0.3
        v = torch.stack([NF4[(q >> 4).long()], NF4[(q & 15).long()]], -1).view(-1, 64)
        return [v * scale[:, None]]
    return launch([q, absmax, absmax2, code, 0.3, out, n],
                  {"BLOCK": block, "GROUP": 64, "GROUP2": 256}, cdiv(n, 2 * block), [out], warps,
                  reference)


def bag(rows, bags, longest, D, warps):
    seed = torch.Generator().manual_seed(bags)
    start = steps(torch.randint(0, longest + 1, (bags,), generator=seed))
    index, row = ints(0, rows, int(start[-1])), 4 + D // 2
    table = ints(0, 256, rows, row, dtype=u8)
    heads = torch.stack([torch.rand(rows), torch.randn(rows)], 1).to(f16)
    table[:, :4] = heads.view(u8).to(table.device)
    out = zeros(bags, D, dtype=f32)

    def reference():
        both = torch.stack([table[:, 4:] & 15, table[:, 4:] >> 4], -1).flatten(1)
        whole = both.float() * heads[:, :1].float() + heads[:, 1:].float()
        return [torch.stack([whole[index[a:b].long()].sum(0) for a, b in zip(start, start[1:])])]
    return launch([table, index, i32(start), out], {"D": D, "ROW": row, "BLOCK": power(D)}, bags,
                  [out], warps, reference)


def gemv_asm(N, K, tile, warps):
    x, w, s = randn(K, dtype=f16), ints(-(1 << 31), (1 << 31) - 1, N, K // 8), rand(N, K // 128,
                                                                                  dtype=f16)
    y = zeros(N, dtype=f16)

    def reference():
        v = torch.stack([(w >> 4 * j) & 15 for j in (0, 4, 1, 5, 2, 6, 3, 7)], -1).view(N, K) - 8
        return [(v.float() * s.float().repeat_interleave(128, 1)) @ x.float()]
    return launch([x, w, s, y, N, K], {"GROUP": 128, "BLOCK_N": tile[0], "BLOCK_K": tile[1]},
                  cdiv(N, tile[0]), [y], warps, reference)


def clamped(rows, D, warps, kind=bf16):
    x, q, s, smooth = randn(rows, 2 * D, dtype=kind, scale=3.0), zeros(rows, D, dtype=i8), \
        zeros(rows, dtype=f32), rand(D, low=0.5)

    def reference():
        gate, up = x.float().view(rows, D, 2).unbind(-1)
        gate, up = gate.clamp(max=7.0), up.clamp(-7.0, 7.0)
        y = gate * (1.702 * gate).sigmoid() * (up + 1) * smooth
        scale = y.abs().amax(-1) / 127
        return [(y / scale[:, None]).round(), scale]
    return launch([x, q, s, smooth, D, 7.0, 1.702], {"BLOCK": power(D)}, rows, [q, s], warps,
                  reference)


FILE = "quant_more.py"
add(FILE, "mxfp8_quantize", "bf16 8192×8192, tiles of 16×128, 4 warps", mxfp8,
    dict(M=8192, N=8192, tile=(16, 128)), dict(M=11, N=96, tile=(4, 64)), warps=4)
add(FILE, "nvfp4_quantize", "bf16 8192×8192, tiles of 16×64, 4 warps", nvfp4,
    dict(M=8192, N=8192, tile=(16, 64)), dict(M=11, N=96, tile=(4, 64)), warps=4)
add(FILE, "mxfp4_linear", "bf16 4096×4096×4096, 8 warps", fp4_linear,
    dict(M=4096, N=4096, K=4096, tile=(128, 128, 64)), dict(M=40, N=64, K=128, tile=(32, 32, 64)),
    warps=8, stages=3)
add(FILE, "mxfp4_linear", "bf16 16×8192×8192, 4 warps", fp4_linear,
    dict(M=16, N=8192, K=8192, tile=(16, 64, 128)), dict(M=10, N=64, K=128, tile=(16, 32, 64)),
    warps=4, stages=3)
add(FILE, "ternary_linear", "int8 2048×4096×8192, 4 warps", ternary,
    dict(M=2048, N=4096, K=8192, tile=(64, 128, 64)), dict(M=40, N=64, K=256, tile=(32, 32, 32)),
    warps=4, stages=3)
add(FILE, "int8_asymmetric_linear", "4096×4096×4096 and a bias, 8 warps", asymmetric,
    dict(M=4096, N=4096, K=4096, tile=(128, 128, 128)), dict(M=70, N=50, K=96, tile=(32, 32, 32)),
    warps=8, stages=3, bias=True)
add(FILE, "int8_block_linear", "512×7168×4096, 4 warps", by_blocks,
    dict(M=512, N=7168, K=4096, tile=(64, 128, 128)), dict(M=40, N=150, K=256, tile=(32, 32, 128)),
    warps=4, stages=3)
add(FILE, "nf4_dequantize", "bf16 16777216, blocks of 1024, 4 warps", nf4_back,
    dict(n=1 << 24, block=1024), dict(n=3200, block=256), warps=4)
add(FILE, "rows_int4_bag", "8192 bags of up to 64 rows of 128, 1 warp", bag,
    dict(rows=100000, bags=8192, longest=64, D=128), dict(rows=50, bags=7, longest=9, D=40),
    warps=1)
add(FILE, "gemv_int4_asm", "fp16 8192×8192, groups of 128, 4 warps", gemv_asm,
    dict(N=8192, K=8192, tile=(16, 1024)), dict(N=32, K=512, tile=(8, 256)), warps=4)
add(FILE, "silu_mul_clamped_int8", "bf16 8192×2880, 8 warps", clamped, dict(rows=8192, D=2880),
    dict(rows=5, D=90), warps=8)
