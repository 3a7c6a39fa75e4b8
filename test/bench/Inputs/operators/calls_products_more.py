"""Calls of products_more.py, as calls.py has them."""
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, randn, zeros
from operators.calls import adds_to, int32, ints, launch

CALLS = []
add = adds_to(CALLS)


def split_k(M, N, K, tile, split, warps, stages, kind=f16):
    a, b, c = randn(M, K, dtype=kind), randn(K, N, dtype=kind, scale=K ** -0.5), zeros(M, N,
                                                                                    dtype=f32)
    tiles = cdiv(M, tile[0]) * cdiv(N, tile[1])
    defines = {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "BLOCK_K": tile[2], "SPLIT_K": split,
               "GROUP_M": 8, "EVEN_K": K % (tile[2] * split) == 0}
    args = [a, b, c, zeros(tiles, dtype=int32), M, N, K, *a.stride(), *b.stride(), *c.stride()]
    return launch(args, defines, (tiles, split), [c], warps, lambda: [a.float() @ b.float()],
                  stages, 4e-3)


def batched(B, M, K, N, block, warps, kind=f16):
    x, w, y = randn(B, M, K, dtype=kind), randn(B, K, N, dtype=kind), zeros(B, M, N, dtype=kind)
    return launch([x, w, y, B], {"M": M, "K": K, "N": N, "BLOCK_B": block}, cdiv(B, block), [y],
                  warps, lambda: [x.float() @ w.float()])


def syrk(M, K, tile, warps, stages, kind=bf16):
    x, c = randn(M, K, dtype=kind), zeros(M, M, dtype=kind)
    return launch([x, c, M, K, K, M], {"BLOCK": tile[0], "BLOCK_K": tile[1], "GROUP": 8},
                  cdiv(M, tile[0]) ** 2, [c], warps, lambda: [x.float() @ x.float().T], stages)


def tril(M, N, tile, warps, stages, kind=bf16):
    a, b, c = randn(M, M, dtype=kind), randn(M, N, dtype=kind, scale=M ** -0.5), zeros(M, N,
                                                                                    dtype=kind)
    return launch([a, b, c, M, N], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(N, tile[1]), cdiv(M, tile[0])), [c], warps,
                  lambda: [a.float().tril() @ b.float()], stages)


def norm_linear(M, N, K, tile, warps, stages, kind=bf16):
    x, g, w, y = randn(M, K, dtype=kind), randn(K, dtype=kind), \
        randn(N, K, dtype=kind, scale=K ** -0.5), zeros(M, N, dtype=kind)
    return launch([x, g, w, y, M, N, K, 1e-6], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps,
                  lambda: [F.rms_norm(x.float(), (K,), g.float(), 1e-6) @ w.float().T], stages)


def residual_norm(M, K, N, tile, warps, stages, kind=f16):
    x, w, r = randn(M, K, dtype=kind), randn(K, N, dtype=kind, scale=K ** -0.5), randn(M, N,
                                                                                    dtype=kind)
    gamma, beta, y = randn(N, dtype=f32), randn(N, dtype=f32), zeros(M, N, dtype=kind)
    return launch([x, w, r, gamma, beta, y, M, K, 1e-5],
                  {"N": N, "BLOCK_M": tile[0], "BLOCK_K": tile[1]}, cdiv(M, tile[0]), [y], warps,
                  lambda: [F.layer_norm(x.float() @ w.float() + r, (N,), gamma, beta)], stages)


def weight_grad(T, N, K, tile, warps, stages, kind=bf16):
    dy, x, old, new = randn(T, N, dtype=kind), randn(T, K, dtype=kind), randn(N, K, dtype=f32), \
        zeros(N, K, dtype=f32)
    return launch([dy, x, old, new, T, N, K], dict(zip(("BLOCK_N", "BLOCK_K", "BLOCK_T"), tile)),
                  (cdiv(N, tile[0]), cdiv(K, tile[1])), [new], warps,
                  lambda: [old + dy.float().T @ x.float()], stages)


def exact(M, N, K, precision, tile, warps, stages):
    a, b, c = randn(M, K, dtype=f32), randn(K, N, dtype=f32), zeros(M, N, dtype=f32)
    return launch([a, b, c, M, N, K],
                  {"PRECISION": precision, **dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [c], warps, lambda: [a @ b], stages, 2e-6)


def sparse_conv(rows, c_in, c_out, tile, warps, stages, kind=f16):
    x, w, y = randn(rows, c_in, dtype=kind), randn(27, c_in, c_out, dtype=kind, scale=0.05), \
        zeros(rows, c_out, dtype=kind)
    table = ints(0, rows, rows, 27)
    table[ints(0, 10, rows, 27) < 6] = -1

    def reference():
        out = torch.zeros(rows, c_out)
        for k in range(27):
            near = x[table[:, k].clamp_min(0).long()].float().masked_fill(table[:, k, None] < 0, 0)
            out += near @ w[k].float()
        return [out]
    return launch([x, w, table, y, rows, c_in, c_out],
                  {"VOLUME": 27, **dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))},
                  (cdiv(rows, tile[0]), cdiv(c_out, tile[1])), [y], warps, reference, stages)


def vector_matrix(K, N, tile, split, warps, kind=bf16):
    x, w, y = randn(K, dtype=kind), randn(K, N, dtype=kind), zeros(N, dtype=f32)
    return launch([x, w, y, K, N], {"BLOCK_K": tile[0], "BLOCK_N": tile[1], "SPLIT": split},
                  (cdiv(N, tile[1]), split), [y], warps, lambda: [x.float() @ w.float()])


def weight_grad_conv(B, c_in, c_out, H, R, stride, pad, tile, parts, warps, stages, kind=f16):
    OH = (H + 2 * pad - R) // stride + 1
    x, dy, dw = randn(B, H, H, c_in, dtype=kind), randn(B, OH, OH, c_out, dtype=kind), \
        zeros(c_out, R, R, c_in, dtype=f32)

    def reference():
        w = torch.zeros(c_out, c_in, R, R, requires_grad=True)
        F.conv2d(x.float().permute(0, 3, 1, 2), w, stride=stride, padding=pad).backward(
            dy.float().permute(0, 3, 1, 2))
        return [w.grad.permute(0, 2, 3, 1).contiguous()]
    return launch([x, dy, dw, B, c_in, c_out, H, H, OH, OH, parts],
                  {"R": R, "S": R, "STRIDE": stride, "PAD": pad,
                   **dict(zip(("BLOCK_O", "BLOCK_I", "BLOCK_P"), tile))},
                  (cdiv(c_out, tile[0]), R * R * cdiv(c_in, tile[1]), parts), [dw], warps,
                  reference, stages)


def conv3d(B, c_in, c_out, D, H, R, stride, pad, tile, warps, stages, kind=f16):
    OD, OH = (D + 2 * pad - R) // stride + 1, (H + 2 * pad - R) // stride + 1
    x, w, bias = randn(B, c_in, D, H, H, dtype=kind), \
        randn(c_out, c_in, R, R, R, dtype=kind, scale=0.1), randn(c_out, dtype=kind)
    y = zeros(B, c_out, OD, OH, OH, dtype=kind)
    return launch([x, w, bias, y, c_in, c_out, D, H, H, OD, OH, OH],
                  {"KD": R, "KH": R, "KW": R, "STRIDE": stride, "PAD": pad,
                   **dict(zip(("BLOCK_P", "BLOCK_C", "BLOCK_O"), tile))},
                  (cdiv(OD * OH * OH, tile[0]), cdiv(c_out, tile[2]), B), [y], warps,
                  lambda: [F.conv3d(x.float(), w.float(), bias.float(), stride, pad)], stages)


FILE = "products_more.py"
add(FILE, "matmul_split_k_locked", "fp16 128×4096×8192, 8 parts, 4 warps", split_k,
    dict(M=128, N=4096, K=8192, tile=(64, 64, 64), split=8),
    dict(M=40, N=70, K=120, tile=(32, 32, 16), split=3), warps=4, stages=3)
add(FILE, "batched_small_dot", "fp16 65536 of 16×32×16, 4 warps", batched,
    dict(B=65536, M=16, K=32, N=16, block=8), dict(B=11, M=16, K=32, N=16, block=4), warps=4)
add(FILE, "batched_small_dot", "fp32 16384 of 32×32×32, 4 warps", batched,
    dict(B=16384, M=32, K=32, N=32, block=2), dict(B=5, M=16, K=16, N=16, block=2), warps=4,
    kind=f32)
add(FILE, "syrk_mirrored", "bf16 4096×4096, 8 warps", syrk, dict(M=4096, K=4096, tile=(128, 64)),
    dict(M=70, K=100, tile=(32, 32)), warps=8, stages=4)
add(FILE, "tril_matmul", "bf16 8192×8192×1024, 4 warps", tril,
    dict(M=8192, N=1024, tile=(128, 64, 64)), dict(M=90, N=50, tile=(32, 32, 16)), warps=4,
    stages=3)
add(FILE, "norm_linear", "bf16 4096×4096×4096, 4 warps", norm_linear,
    dict(M=4096, N=4096, K=4096, tile=(128, 64, 64)), dict(M=70, N=50, K=96, tile=(32, 32, 32)),
    warps=4, stages=3)
add(FILE, "linear_residual_norm", "fp16 16384×1024×256, 8 warps", residual_norm,
    dict(M=16384, K=1024, N=256, tile=(64, 32)), dict(M=70, K=64, N=64, tile=(32, 32)), warps=8,
    stages=3)
add(FILE, "weight_grad_accumulate", "bf16 8192×4096×2048, 8 warps", weight_grad,
    dict(T=8192, N=4096, K=2048, tile=(128, 128, 64)), dict(T=100, N=72, K=56, tile=(32, 32, 32)),
    warps=8, stages=3)
add(FILE, "matmul_fp32_exact", "2048³, three of tf32, 4 warps", exact,
    dict(M=2048, N=2048, K=2048, tile=(64, 64, 32)), dict(M=70, N=50, K=40, tile=(32, 32, 32)),
    precision="tf32x3", warps=4, stages=3)
add(FILE, "matmul_fp32_exact", "2048³, plain sums, 4 warps", exact,
    dict(M=2048, N=2048, K=2048, tile=(64, 64, 16)), dict(M=70, N=50, K=40, tile=(32, 32, 16)),
    precision="ieee", warps=4, stages=3)
add(FILE, "sparse_conv_gathered", "fp16 100000 points, 27×64 to 64, 4 warps", sparse_conv,
    dict(rows=100000, c_in=64, c_out=64, tile=(128, 64, 32)),
    dict(rows=70, c_in=24, c_out=40, tile=(32, 32, 16)), warps=4, stages=3)
add(FILE, "vector_matrix", "bf16 8192×8192, 16 parts, 4 warps", vector_matrix,
    dict(K=8192, N=8192, tile=(32, 128), split=16), dict(K=300, N=200, tile=(16, 64), split=3),
    warps=4)
add(FILE, "conv2d_weight_grad", "fp16 32×56×56×64 to 64, 3×3, 4 warps", weight_grad_conv,
    dict(B=32, c_in=64, c_out=64, H=56, R=3, stride=1, pad=1, tile=(64, 64, 32), parts=32),
    dict(B=2, c_in=20, c_out=24, H=9, R=3, stride=2, pad=1, tile=(32, 16, 16), parts=2), warps=4,
    stages=3)
add(FILE, "conv3d_direct", "fp16 4×64×16×28×28 to 64, 3×3×3, 4 warps", conv3d,
    dict(B=4, c_in=64, c_out=64, D=16, H=28, R=3, stride=1, pad=1, tile=(64, 32, 64)),
    dict(B=2, c_in=20, c_out=24, D=5, H=7, R=3, stride=2, pad=1, tile=(16, 16, 32)), warps=4,
    stages=2)
