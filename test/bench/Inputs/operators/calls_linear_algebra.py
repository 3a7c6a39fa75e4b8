"""Calls of linear_algebra.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, launch, power

CALLS = []
add = adds_to(CALLS)


def outer(M, N, tile, warps, kind=f32):
    x, y, out = randn(M, dtype=kind), randn(N, dtype=kind), zeros(M, N, dtype=kind)
    return launch([x, y, out, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps,
                  lambda: [torch.outer(x, y)])


def kron(a, b, tile, warps, kind=f16):
    x, y, (M, N) = randn(*a, dtype=kind), randn(*b, dtype=kind), (a[0] * b[0], a[1] * b[1])
    out = zeros(M, N, dtype=kind)
    return launch([x, y, out, a[1], *b, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps,
                  lambda: [torch.kron(x.float(), y.float())])


def vdot(n, step, block, programs, warps, kind=f32):
    x, y, part = randn(n, dtype=kind), randn(n, step, dtype=kind), zeros(programs, dtype=f32)

    def reference():
        z = F.pad(x.float() * y[:, 0].float(), (0, -n % (programs * block)))
        return [z.view(-1, programs, block).sum((0, 2))]
    return launch([x, y, part, n, 1, step], {"BLOCK": block}, programs, [part], warps, reference)


def addmv(N, M, tile, warps, kind=bf16):
    a, x, v, out = randn(N, M, dtype=kind), randn(M, dtype=kind), randn(N, dtype=kind), \
        zeros(N, dtype=kind)
    return launch([a, x, v, out, 0.5, 2.0, N, M, M, 1], {"BLOCK_N": tile[0], "BLOCK_M": tile[1]},
                  cdiv(N, tile[0]), [out], warps,
                  lambda: [2.0 * v.float() + 0.5 * (a.float() @ x.float())])


def baddbmm(B, M, N, K, tile, group, warps, stages, kind=f16):
    a, b = randn(B, M, K, dtype=kind), randn(B, K, N, dtype=kind, scale=K ** -0.5)
    bias, out = randn(B, 1, N, dtype=kind).expand(B, M, N), zeros(B, M, N, dtype=kind)
    defines = {"TILE_M": tile[0], "TILE_N": tile[1], "TILE_K": tile[2], "GROUP_M": group}
    return launch([a, b, bias, out, 0.5, 2.0, M, N, K, *bias.stride()], defines,
                  (cdiv(M, tile[0]), cdiv(N, tile[1]), B), [out], warps,
                  lambda: [2.0 * bias.float() + 0.5 * (a.float() @ b.float())], stages)


def small_matmuls(batch, N, per, warps, stages, kind=f16):
    a, b, out = randn(batch, N, N, dtype=kind), randn(batch, N, N, dtype=kind), \
        zeros(batch, N, N, dtype=kind)
    return launch([a, b, out, batch], {"N": N, "PAD": max(16, power(N)), "PER": per},
                  cdiv(batch, per), [out], warps, lambda: [a.float() @ b.float()], stages)


def norm_of(x, order):
    return torch.linalg.vector_norm(x.float(), float("inf") if order == 3 else order)


def norm_part(n, block, order, warps, kind=bf16):
    x, part = randn(n, dtype=kind), zeros(cdiv(n, block), dtype=f32)

    def reference():
        norms = torch.stack([norm_of(p, order) for p in x.split(block)])
        return [norms ** 2 if order == 2 else norms]
    return launch([x, part, n], {"BLOCK": block, "ORDER": order}, cdiv(n, block), [part], warps,
                  reference)


def norm_final(parts, order, warps):
    part, out = rand(parts), zeros(1, dtype=f32)
    return launch([part, out, parts], {"ORDER": order, "BLOCK": power(parts)}, 1, [out], warps,
                  lambda: [part.sum().sqrt() if order == 2 else norm_of(part, order)])


def weight_norm(kernel, M, N, tile, warps, kind=f32):
    v, g = randn(M, N, dtype=kind), randn(M, dtype=kind)
    grid, defines = cdiv(M, tile[0]), {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    if kernel == "weight_norm_forward":
        out, norm = zeros(M, N, dtype=kind), zeros(M, dtype=f32)

        def forward():
            length = v.float().norm(dim=1)
            return [v.float() * (g.float() / length)[:, None], length]
        return launch([v, g, out, norm, M, N, 0.0], defines, grid, [out, norm], warps, forward)
    dw, dv, dg, norm = randn(M, N, dtype=kind), zeros(M, N, dtype=kind), zeros(M, dtype=kind), \
        v.float().norm(dim=1)

    def backward():
        a, b = v.float().requires_grad_(), g.float().requires_grad_()
        (a * (b / a.norm(dim=1))[:, None]).backward(dw.float())
        return [a.grad, b.grad]
    return launch([dw, v, g, norm, dv, dg, M, N], defines, grid, [dv, dg], warps, backward)


def instance_norm(B, C, HW, block, warps, kind=f16):
    x, w, b, y = randn(B, C, HW, dtype=kind), randn(C, dtype=kind), randn(C, dtype=kind), \
        zeros(B, C, HW, dtype=kind)
    return launch([x, w, b, y, C, HW, 1e-5], {"BLOCK": block}, B * C, [y], warps,
                  lambda: [F.instance_norm(x.float(), weight=w.float(), bias=b.float())])


def cosine(M, N, tile, warps, kind=f16):
    x, y, out = randn(M, N, dtype=kind), randn(M, N, dtype=kind), zeros(M, dtype=f32)
    return launch([x, y, out, M, N, 1e-8], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  cdiv(M, tile[0]), [out], warps,
                  lambda: [F.cosine_similarity(x.float(), y.float())])


def distance(M, N, D, p, tile, warps, kind=f32):
    x, y, out = randn(M, D, dtype=kind), randn(N, D, dtype=kind), zeros(M, N, dtype=f32)
    return launch([x, y, out, M, N, D],
                  {"P": p, "BLOCK_M": tile[0], "BLOCK_N": tile[1], "BLOCK_D": tile[2]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps,
                  lambda: [torch.cdist(x, y, p)])


def cross(rows, block, warps):
    x, y, out = randn(rows, 3, dtype=f32), randn(rows, 3, dtype=f32), zeros(rows, 3, dtype=f32)
    return launch([x, y, out, rows], {"BLOCK": block}, cdiv(rows, block), [out], warps,
                  lambda: [torch.linalg.cross(x, y)])


add("linear_algebra.py", "outer", "fp32 8192×8192, 4 warps", outer, dict(M=8192, N=8192),
    dict(M=70, N=90), tile=(32, 128), warps=4)
add("linear_algebra.py", "kron", "fp16 96×96 by 80×80, 4 warps", kron, dict(a=(96, 96), b=(80, 80)),
    dict(a=(3, 5), b=(7, 9)), tile=(16, 128), warps=4)
add("linear_algebra.py", "vdot_part", "fp32 2^26, 4 warps", vdot, dict(n=1 << 26, programs=1056),
    dict(n=9001, programs=3), step=1, block=1024, warps=4)
add("linear_algebra.py", "vdot_part", "bf16 2^24, one of them strided by 3, 4 warps", vdot,
    dict(n=1 << 24, programs=528), dict(n=9001, programs=3), step=3, block=2048, warps=4, kind=bf16)
add("linear_algebra.py", "addmv", "bf16 16384×8192, 4 warps", addmv, dict(N=16384, M=8192),
    dict(N=21, M=700), tile=(4, 512), warps=4)
add("linear_algebra.py", "baddbmm", "fp16 32×1024×1024×512, 8 warps", baddbmm,
    dict(B=32, M=1024, N=1024, K=512, tile=(128, 128, 32)),
    dict(B=2, M=70, N=90, K=72, tile=(32, 32, 32)), group=8, warps=8, stages=3)
add("linear_algebra.py", "baddbmm", "fp32 64×256×256×256, 4 warps", baddbmm,
    dict(B=64, M=256, N=256, K=256), dict(B=2, M=70, N=90, K=40), tile=(32, 32, 16), group=1,
    warps=4, stages=2, kind=f32)
add("linear_algebra.py", "small_matmuls", "fp16 131072×32×32, 1 warp", small_matmuls,
    dict(batch=1 << 17), dict(batch=7), N=32, per=4, warps=1, stages=3)
add("linear_algebra.py", "small_matmuls", "fp16 65536×24×24, 1 warp", small_matmuls,
    dict(batch=1 << 16), dict(batch=7), N=24, per=4, warps=1, stages=2)
for order in (0, 1, 2, 3):
    add("linear_algebra.py", "norm_part", f"bf16 2^26, order {order if order < 3 else 'inf'}, "
        "4 warps", norm_part, dict(n=1 << 26, block=8192), dict(n=3001, block=1024), order=order,
        warps=4)
add("linear_algebra.py", "norm_final", "16384, 8 warps", norm_final, dict(parts=16384),
    dict(parts=300), order=2, warps=8)
add("linear_algebra.py", "weight_norm_forward", "fp32 8192×8192, 4 warps", weight_norm,
    dict(M=8192, N=8192), dict(M=9, N=700), kernel="weight_norm_forward", tile=(2, 1024), warps=4)
add("linear_algebra.py", "weight_norm_backward", "fp32 8192×4096, 8 warps", weight_norm,
    dict(M=8192, N=4096), dict(M=9, N=700), kernel="weight_norm_backward", tile=(4, 512), warps=8)
add("linear_algebra.py", "instance_norm", "fp16 32×128×112×112, 4 warps", instance_norm,
    dict(B=32, C=128, HW=12544), dict(B=2, C=3, HW=2500), block=2048, warps=4)
add("linear_algebra.py", "cosine_similarity", "fp16 65536×768, 4 warps", cosine,
    dict(M=65536, N=768), dict(M=9, N=150), tile=(8, 128), warps=4)
add("linear_algebra.py", "pairwise_distance", "fp32 4096×4096×128, 4 warps", distance,
    dict(M=4096, N=4096, D=128, tile=(64, 64, 32)), dict(M=40, N=50, D=40, tile=(32, 32, 16)), p=2,
    warps=4)
add("linear_algebra.py", "pairwise_distance", "fp32 2048×2048×64, order 1, 4 warps", distance,
    dict(M=2048, N=2048, D=64), dict(M=40, N=50, D=20), p=1, tile=(16, 32, 8), warps=4)
add("linear_algebra.py", "cross_rows", "fp32 2^23×3, 4 warps", cross, dict(rows=1 << 23),
    dict(rows=3001), block=512, warps=4)
