"""Calls of tensors_more.py, as calls.py has them."""
import library_calls
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, i32, rand, randint, randn, steps, zeros
from operators.calls import adds_to, i8, i64, int32, ints, launch, philox, power, u8

CALLS = []
add = adds_to(CALLS)


def trilinear(NC, D, H, OD, OH, align, block, warps, kind=f16):
    x, y = randn(NC, D, H, H, dtype=kind), zeros(NC, OD, OH, OH, dtype=kind)
    ratio = lambda a, b: (a - 1) / (b - 1) if align else a / b

    def reference():
        return [F.interpolate(x[None].float(), (OD, OH, OH), mode="trilinear", align_corners=align)]
    args = [x, y, D, H, H, OD, OH, OH, ratio(D, OD), ratio(H, OH), ratio(H, OH)]
    return launch(args, {"ALIGN": align, "BLOCK": block}, (cdiv(OD * OH * OH, block), NC), [y],
                  warps, reference)


def pool_back(planes, H, block, warps, kind=f16):
    x = torch.randn(planes, H, H)
    y, index = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    dy, dx = randn(*y.shape, dtype=kind), zeros(planes, H, H, dtype=f32)
    out = y[0].numel()

    def reference():
        return [torch.zeros(planes, H * H).scatter_add(1, index.flatten(1), dy.float().flatten(1))]
    return launch([dy, index.to(library_calls.DEVICE), dx, planes, out, H * H], {"BLOCK": block},
                  cdiv(planes * out, block), [dx], warps, reference)


def pool3d(NC, D, H, counted, tile, warps, kind=f16):
    OD, OH = (D + 2 - 3) // 2 + 1, (H + 2 - 3) // 2 + 1
    x, y = randn(NC, D, H, H, dtype=kind), zeros(NC, OD, OH, OH, dtype=kind)
    return launch([x, y, D, H, H, OD, OH, OH],
                  {"K": 3, "S": 2, "P": 1, "COUNT_PAD": counted, "BLOCK_H": tile[0],
                   "BLOCK_W": tile[1]}, (NC * OD, cdiv(OH, tile[0]), cdiv(OH, tile[1])), [y], warps,
                  lambda: [F.avg_pool3d(x.float(), 3, 2, 1, count_include_pad=counted)])


def amax(M, N, K, tile, warps, kind=f32):
    src, index = rand(M, N, dtype=kind) if kind == f32 else ints(0, 1000, M, N), ints(0, K, M, N,
                                                                                    dtype=i64)
    out = zeros(M, K, dtype=kind)
    return launch([src, index, out, M, N, K], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [out], warps,
                  lambda: [torch.zeros(M, K, dtype=kind).scatter_reduce(1, index, src, "amax")])


def bincount(n, bins, block, per, warps):
    x, w, out = ints(0, bins, n), randn(n, dtype=f32), zeros(bins, dtype=f32)
    return launch([x, w, out, n, bins], {"BLOCK": block, "PER": per}, cdiv(n, block * per), [out],
                  warps, lambda: [torch.bincount(x, w, bins)])


def cdist(M, N, K, tile, warps):
    x, y, d = randn(M, K, dtype=f32), randn(N, K, dtype=f32), zeros(M, N, dtype=f32)
    return launch([x, y, d, M, N, K], dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile)),
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [d], warps,
                  lambda: [torch.cdist(x, y, 1.0)])


def radix(n, bits, block, warps):
    key, value = ints(0, 1 << 30, n), torch.arange(n, dtype=int32).to(library_calls.DEVICE)
    bit, blocks = 8, cdiv(n, block)
    digit = (key >> bit) & ((1 << bits) - 1)
    of_block = torch.arange(n, device=key.device) // block
    counts = torch.bincount(of_block * (1 << bits) + digit, minlength=blocks << bits)
    first = counts.view(blocks, -1).T.flatten().cumsum(0)
    before = (first - counts.view(blocks, -1).T.flatten()).view(-1, blocks).T.contiguous()
    keys, values = zeros(n, dtype=int32), zeros(n, dtype=int32)

    def reference():
        order = torch.argsort(digit, stable=True)
        return [key[order], value[order]]
    return launch([key, value, before.to(int32), keys, values, n, bit],
                  {"BITS": bits, "BLOCK": block}, blocks, [keys, values], warps, reference)


def mode(rows, N, warps):
    x, value, count = ints(0, N // 4, rows, N), zeros(rows, dtype=int32), zeros(rows, dtype=int32)

    def reference():
        counts = torch.stack([torch.bincount(r, minlength=N) for r in x])
        return [counts.argmax(1), counts.amax(1)]
    return launch([x, value, count, N], {"BLOCK": power(N)}, rows, [value, count], warps, reference)


def truncated(n, block, warps):
    out = zeros(n, dtype=f32)

    def reference():
        u = philox(torch.arange(n), 77)[0].double()
        a, b = (0.5 * (1 + torch.erf(torch.tensor((x - 0.1) / 0.8 * 0.5 ** 0.5)).double())
                for x in (-1.0, 2.0))
        return [0.1 + 0.8 * 2 ** 0.5 * torch.erfinv(2 * (a + u * (b - a)) - 1)]
    return launch([out, n, 0.1, 0.8, -1.0, 2.0, 77], {"BLOCK": block}, cdiv(n, block), [out], warps,
                  reference)


def dropout(n, block, warps, kind=bf16):
    x, y, bits = randn(n, dtype=kind), zeros(n, dtype=kind), zeros(n // 8, dtype=u8)
    grid = cdiv(n, 4 * block)

    def reference():
        a, b, c, d = philox(torch.arange(grid * block), 99)
        keep = (torch.stack([a, c, b, d], -1).flatten()[:n]) > 0.3
        packed = (keep.view(-1, 8).int() << torch.arange(8)).sum(1)
        return [torch.where(keep, x.float() / 0.7, 0.0), packed]
    return launch([x, y, bits, n, 0.3, 99], {"BLOCK": block}, grid, [y, bits], warps, reference)


def lp_norm(M, N, K, p, tile, warps, kind=f16):
    x, out = randn(M, N, K, dtype=kind), zeros(M, K, dtype=f32)
    return launch([x, out, M, N, K, p], {"BLOCK_N": tile[0], "BLOCK_K": tile[1]},
                  (cdiv(K, tile[1]), M), [out], warps,
                  lambda: [x.float().abs().pow(p).sum(1).pow(1 / p)])


def index_add(rows, n, D, block, warps, kind=bf16):
    index = torch.randint(0, rows, (n,))
    order, start = torch.argsort(index, stable=True), steps(torch.bincount(index, minlength=rows))
    src, base, out = randn(n, D, dtype=kind), randn(rows, D, dtype=kind), zeros(rows, D, dtype=kind)
    return launch([src, i32(order), i32(start), out, base, D], {"BLOCK": block},
                  (rows, cdiv(D, block)), [out], warps,
                  lambda: [base.float().index_add(0, index, src.float())])


def transpose(M, N, tile, warps):
    x, y = randint(-127, 128, M, N, dtype=i8), zeros(N, M, dtype=i8)
    return launch([x, y, M, N], {"BLOCK_M": tile[0], "BLOCK_N": tile[1]},
                  (cdiv(M, tile[0]), cdiv(N, tile[1])), [y], warps, lambda: [x.T.contiguous()])


def to_depth(NC, C, H, S, tile, warps, kind=f16):
    x, y = randn(NC, H, H, dtype=kind), zeros(NC, S * S, H // S, H // S, dtype=kind)
    return launch([x, y, C, H, H], {"S": S, "BLOCK_Y": tile[0], "BLOCK_X": tile[1]},
                  (NC, cdiv(H, S * tile[0]), cdiv(H, S * tile[1])), [y], warps,
                  lambda: [F.pixel_unshuffle(x[:, None], S)])


def family(n, which, block, warps, kind=bf16):
    x, out = randn(n, dtype=kind, scale=2.0), zeros(n, dtype=kind)
    functions = {"celu": lambda v: F.celu(v, 1.5), "hardswish": F.hardswish, "logit": lambda v: v,
                 "quick_gelu": lambda v: v * (1.702 * v).sigmoid(), "log_sigmoid": F.logsigmoid,
                 "trig": lambda v: v.asinh() + v.atan() * (v * 0.1).sinh()}
    return launch([x, out, n], {"WHICH": which, "BLOCK": block}, cdiv(n, block), [out], warps,
                  lambda: [functions[which](x.float())])


def strided(a, b, c, block, warps, kind=f16):
    x, y = randn(c, a, b, dtype=kind).permute(1, 2, 0), zeros(a, b, c, dtype=kind)
    n = a * b * c
    return launch([x, y, n, a, b, c, *x.stride()], {"BLOCK": block}, cdiv(n, block), [y], warps,
                  lambda: [x.contiguous()])


FILE = "tensors_more.py"
add(FILE, "trilinear", "fp16 64×32×64×64 to twice, 4 warps", trilinear,
    dict(NC=64, D=32, H=64, OD=64, OH=128, block=512), dict(NC=3, D=3, H=5, OD=6, OH=10, block=128),
    align=False, warps=4)
add(FILE, "max_pool_backward", "fp16 8192×56×56, 4 warps", pool_back,
    dict(planes=8192, H=56, block=1024), dict(planes=5, H=9, block=64), warps=4)
add(FILE, "avg_pool3d", "fp16 256×16×56×56, 4 warps", pool3d,
    dict(NC=256, D=16, H=56, tile=(16, 32)), dict(NC=3, D=5, H=9, tile=(4, 8)), counted=False,
    warps=4)
add(FILE, "scatter_amax", "fp32 4096×4096 to 1024, 4 warps", amax,
    dict(M=4096, N=4096, K=1024, tile=(4, 256)), dict(M=7, N=90, K=20, tile=(2, 32)), warps=4)
add(FILE, "scatter_amax", "int32 4096×4096 to 1024, 4 warps", amax,
    dict(M=4096, N=4096, K=1024, tile=(4, 256)), dict(M=7, N=90, K=20, tile=(2, 32)), warps=4,
    kind=int32)
add(FILE, "bincount_weighted", "16777216 into 65536, 4 warps", bincount,
    dict(n=1 << 24, bins=65536, block=1024, per=4), dict(n=900, bins=50, block=64, per=3), warps=4)
add(FILE, "cdist_one", "fp32 2048×2048×128, 4 warps", cdist,
    dict(M=2048, N=2048, K=128, tile=(32, 32, 16)), dict(M=40, N=50, K=20, tile=(16, 16, 8)),
    warps=4)
add(FILE, "radix_scatter", "16777216 keys, 4 bits, blocks of 1024, 4 warps", radix,
    dict(n=1 << 24, bits=4, block=1024), dict(n=700, bits=3, block=128), warps=4)
add(FILE, "mode_rows", "16384×1000, 4 warps", mode, dict(rows=16384, N=1000), dict(rows=5, N=50),
    warps=4)
add(FILE, "truncated_normal", "16777216, 4 warps", truncated, dict(n=1 << 24, block=1024),
    dict(n=700, block=128), warps=4)
add(FILE, "dropout_bits", "bf16 16777216, 4 warps", dropout, dict(n=1 << 24, block=512),
    dict(n=840, block=64), warps=4)
add(FILE, "lp_norm_dims", "fp16 64×512×1024, 4 warps", lp_norm,
    dict(M=64, N=512, K=1024, tile=(16, 128)), dict(M=3, N=30, K=40, tile=(8, 32)), p=3.0, warps=4)
add(FILE, "index_add_sorted", "bf16 100000 rows of 256 to 20000, 1 warp", index_add,
    dict(rows=20000, n=100000, D=256, block=256), dict(rows=9, n=30, D=40, block=32), warps=1)
add(FILE, "transpose_bytes", "8192×8192, 4 warps", transpose, dict(M=8192, N=8192, tile=(64, 64)),
    dict(M=50, N=40, tile=(16, 32)), warps=4)
add(FILE, "space_to_depth", "fp16 1024×256×256 by 2, 4 warps", to_depth,
    dict(NC=1024, C=64, H=256, S=2, tile=(8, 64)), dict(NC=3, C=3, H=20, S=2, tile=(4, 8)),
    warps=4)
for which in ("celu", "hardswish", "logit", "quick_gelu", "log_sigmoid", "trig"):
    add(FILE, "erf_family", f"bf16 16777216, {which}, 4 warps", family,
        dict(n=1 << 24, block=1024), dict(n=700, block=128), which=which, warps=4)
add(FILE, "strided_copy_int64", "fp16 256×256×256 permuted, 4 warps", strided,
    dict(a=256, b=256, c=256, block=1024), dict(a=5, b=6, c=7, block=64), warps=4)
