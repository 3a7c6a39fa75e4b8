"""Calls of the kernels with tl.dot of four public libraries, for library_compare.py: what their launchers pass, at sizes of their models and at small ones.

A row of CALLS is Call(library, file, kernel, what, build, full, small): build(**full) makes a Launch. Tiles, warps and stages are those of the library's
launcher; where it tunes, one of its own list, where it has measured lists (lightllm), what these say for an H200 or H100. Nothing of the libraries is here.
"""
import collections
import dataclasses
import math

import torch

DEVICE, UNITS = "cuda", 132  # where arrays are; multiprocessors
FILLED, SMALL = True, False  # whether all arrays hold numbers, not only indices; whether sizes are small
Call = collections.namedtuple("Call", "library file kernel what build full small")
f16, bf16, f32, f8 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn
LOG2E = 1.4426950408889634


@dataclasses.dataclass
class Launch:
    """args: those that are no constexpr, in order, None and Box among them; outputs: the arrays to compare; reference: a function that makes them by torch;
    within: how far from that they may be, if not as far as their types say"""

    args: list
    defines: dict
    grid: tuple
    outputs: list
    warps: int = 4
    stages: int = 3
    reference: object = None
    within: float = None


@dataclasses.dataclass
class Box:
    """A tensor descriptor that the host makes."""

    array: torch.Tensor
    block: list


class Type(str):
    """A type as a constexpr, in tkc's words and Triton's."""

    __repr__ = str.__str__


def cdiv(a, b):
    return -(-a // b)


def randn(*shape, dtype=bf16, scale=1.0):
    if not FILLED:
        return torch.empty(shape, dtype=dtype, device=DEVICE)
    return (torch.randn(shape, device=DEVICE) * scale).to(dtype)


def rand(*shape, dtype=f32, low=0.0, high=1.0):
    return (torch.rand(shape, device=DEVICE) * (high - low) + low).to(dtype) if FILLED else torch.empty(shape, dtype=dtype, device=DEVICE)


def randint(low, high, *shape, dtype):
    return torch.randint(low, high, shape, dtype=dtype, device=DEVICE) if FILLED else torch.empty(shape, dtype=dtype, device=DEVICE)


def zeros(*shape, dtype=bf16):
    return torch.zeros(shape, dtype=dtype, device=DEVICE)


def i32(values):
    return torch.as_tensor(values, dtype=torch.int32).to(DEVICE)


def steps(counts):
    """0 and the sums of what comes before."""
    return torch.cat([torch.zeros(1, dtype=torch.int64), torch.as_tensor(counts).long().cumsum(0)])


def strides(*arrays):
    return [s for a in arrays for s in a.stride()]


def tiled(m, n, defines, bm, bn):
    return cdiv(m, defines[bm]) * cdiv(n, defines[bn])


# ---------------------------------------------------------------- experts


class Routing:
    """Each token goes to topk of the experts: places of a token's copies in the order of experts."""

    def __init__(self, tokens, experts, topk):
        chosen = torch.rand(tokens, experts, generator=torch.Generator().manual_seed(tokens + experts)).topk(topk, 1).indices.flatten()
        self.order = torch.argsort(chosen, stable=True)
        self.counts = torch.bincount(chosen, minlength=experts)
        self.start = steps(self.counts)

    def tiles(self, rows):
        """(expert, tile within it), one after the other"""
        return [(e, i) for e, c in enumerate(self.counts.tolist()) for i in range(cdiv(c, rows))]


def liger_moe(kernel, tokens, experts, topk, hidden, inner, tile, warps, stages):
    r, n, rows = Routing(tokens, experts, topk), tokens * topk, 64
    gather, scatter, start = i32(r.order // topk), i32(r.order), i32(r.start)
    tiles = r.tiles(rows)
    tile_row, tile_expert = i32([r.start[e] + rows * i for e, i in tiles]), i32([e for e, _ in tiles])
    up, down = (lambda: randn(experts, 2 * inner, hidden, scale=hidden ** -0.5)), (lambda: randn(experts, hidden, inner, scale=inner ** -0.5))
    d = {"H_dim": hidden, "I_dim": inner}
    if kernel.startswith("_moe_bwd_dW"):
        d.update(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile))
    else:
        d.update(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), (rows, *tile)))
    one = lambda *names: d.update({f"stride_{name}": 1 for name in names})
    by_tiles = lambda width: (len(tiles), cdiv(width, d["BLOCK_N"]), 1)
    by_experts = lambda height, width: (experts * cdiv(height, d["BLOCK_M"]), cdiv(width, d["BLOCK_N"]), 1)
    if kernel == "_fused_up_proj_swiglu_kernel":
        x, w, before, behind = randn(tokens, hidden), up(), zeros(n, 2 * inner), zeros(n, inner)
        one("x_H", "w_K", "pre_N", "post_N")
        args = [x, w, gather, start, tile_row, tile_expert, before, behind, hidden, w.stride(0), hidden, 2 * inner, inner]
        return Launch(args, d, by_tiles(inner), [before, behind], warps, stages)
    if kernel == "_fused_down_proj_kernel":
        x, w, y = randn(n, inner), down(), zeros(n, hidden)
        one("post_I", "w_I", "Y_H")
        return Launch([x, w, start, tile_row, tile_expert, y, inner, w.stride(0), inner, hidden], d, by_tiles(hidden), [y], warps, stages)
    if kernel == "_moe_bwd_down_proj_kernel":
        do, weights, w, before = randn(tokens, hidden), rand(n, dtype=bf16), down(), randn(n, 2 * inner)
        d_before, weighted, ds = zeros(n, 2 * inner), zeros(n, inner), zeros(n)
        one("dO_H", "w_I", "pre_N", "d_pre_N", "wact_I")
        args = [do, gather, scatter, weights, w, before, start, tile_row, tile_expert, d_before, weighted, ds, hidden, w.stride(0), inner, 2 * inner, 2 * inner,
                inner]
        return Launch(args, d, by_tiles(inner), [d_before, weighted, ds], warps, stages)
    if kernel == "_moe_bwd_dX_expanded_kernel":
        d_before, w, dx = randn(n, 2 * inner), up(), zeros(n, hidden)
        one("d_pre_N", "w_K", "dxe_H")
        return Launch([d_before, w, start, tile_row, tile_expert, dx, 2 * inner, w.stride(0), hidden, hidden], d, by_tiles(hidden), [dx], warps, stages)
    if kernel == "_moe_bwd_dW2_kernel":
        weighted, do, dw = randn(n, inner), randn(tokens, hidden), zeros(experts, hidden, inner)
        one("wact_I", "dout_H", "dW2_I")
        return Launch([weighted, do, gather, start, dw, inner, hidden, dw.stride(0), inner], d, by_experts(inner, hidden), [dw], warps, stages)
    x, d_before, dw = randn(tokens, hidden), randn(n, 2 * inner), zeros(experts, 2 * inner, hidden)  # _moe_bwd_dW1_kernel
    one("x_H", "d_pre_N", "dW1_H")
    return Launch([x, d_before, gather, start, dw, hidden, 2 * inner, dw.stride(0), hidden], d, by_experts(hidden, 2 * inner), [dw], warps, stages)


def unsloth_moe(kernel, tokens, experts, topk, width, depth, tile, warps, stages, permute=None, boxes=(), weigh=False):
    """Products of `depth` with weights of width×depth for each expert; permute: X or Y; boxes: the USE_TMA_ that are on"""
    r, n = Routing(tokens, experts, topk), tokens * topk
    sizes, gather = i32(r.counts), i32(r.order)
    d = {"NUM_EXPERTS": experts, "TOPK": topk, "N": width, "K": depth, "PERMUTE_X": permute == "X", "PERMUTE_Y": permute == "Y",
         **dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), tile)), **{f"USE_TMA_{b}": True for b in boxes}}
    x = randn(tokens if permute == "X" else n, depth)
    if kernel == "_grouped_gemm_forward_kernel":
        w, y = randn(experts, width, depth, scale=depth ** -0.5), zeros(n, width)
        d["FUSE_MUL_POST"] = weigh
        return Launch([x, w, y, sizes, gather, rand(n, dtype=bf16) if weigh else None, tokens, UNITS], d, (UNITS, 1, 1), [y], warps, stages)
    if kernel == "_grouped_gemm_dX_kernel":
        w, dy, dx = randn(experts, width, depth, scale=width ** -0.5), randn(n, width), zeros(n, depth)
        return Launch([dy, w, dx, gather, sizes, tokens, UNITS], d, (UNITS, 1, 1), [dx], warps, stages)
    dy, dw = randn(n, width), zeros(experts, width, depth)
    return Launch([x, dy, dw, sizes, gather, tokens, UNITS], d, (UNITS, 1, 1), [dw], warps, stages)


def lightllm_moe(tokens, experts, topk, width, depth, tile, warps, stages, eight=False, weigh=False):
    """Of the second product (weigh) the rows are in a token's copies, and topk is 1 in the kernel's words."""
    r, n = Routing(tokens, experts, topk), tokens * topk
    index, weights = torch.zeros(experts, n, dtype=torch.int32), rand(experts, n)
    for e in range(experts):
        index[e, : r.counts[e]] = r.order[r.start[e] : r.start[e + 1]].int()
    tiles = r.tiles(tile[0])
    blocks = cdiv(n + experts * (tile[0] - 1), tile[0])
    to_expert, to_tile = i32([e for e, _ in tiles] + [-1] * (blocks - len(tiles))), i32([i for _, i in tiles] + [0] * (blocks - len(tiles)))
    kind = f8 if eight else bf16
    x, w, out = randn(n if weigh else tokens, depth, dtype=kind), randn(experts, width, depth, dtype=kind, scale=1.0 if eight else depth ** -0.5), zeros(n,
        width)
    scales = [rand(x.shape[0], depth // 128, low=0.5), rand(experts, width // 128, depth // 128, low=0.5, high=1.0)] if eight else [None, None]
    index = index.to(DEVICE)
    d = {"compute_type": Type("tl.bfloat16"), "use_fp8_w8a8": eight, "block_size_n": 128 if eight else 0, "block_size_k": 128 if eight else 0,
         **dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M"), tile)), "MUL_ROUTED_WEIGHT": weigh, "NEED_K_MASK": depth % tile[2] != 0}
    args = [to_expert, to_tile, depth, width, 1 if weigh else topk, *scales, *(strides(scales[1]) if eight else [0, 0, 0]), x, *strides(x), w, *strides(w),
            weights, *strides(weights), i32(r.counts), index, index.stride(0), out, *strides(out), blocks, cdiv(width, tile[1])]
    return Launch(args, d, (blocks * cdiv(width, tile[1]), 1, 1), [out], warps, stages)


# ---------------------------------------------------------------- Liger-Kernel


def neighborhood(kernel, batch, heads, length, size):
    """The launcher passes num_warps and num_stages by place: they are constexprs that nobody reads, and Triton's defaults are in force."""
    kind = f16
    many = lambda: randn(batch, heads, length, size, dtype=kind)
    scores = lambda: rand(batch, heads, length, length, dtype=kind, high=2.0 / length)
    back = kernel not in ("qk", "av")
    d = {"batch_size": batch, "num_heads": heads, "seq_len": length, "head_dim": size, "BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64,
         "BLOCK_SIZE_K": min(64, size) if back else max(16, size), "num_stages": 3, "num_warps": 4}
    if kernel in ("qk", "grad_qk", "grad_k"):
        d["scale"] = size ** -0.5
    wide = (batch * heads, cdiv(length, 64), cdiv(length, 64))
    narrow = (batch * heads, cdiv(length, 64), cdiv(size, 64))
    if kernel == "qk":
        d.update(kernel_size=7, dilation=1)
        at = torch.arange(length, device=DEVICE)
        q, k, qk, near = many(), many(), zeros(batch, heads, length, length, dtype=kind), ((at[:, None] - at[None, :]).abs() <= 3).float()
        return Launch([q, k, qk, near, *strides(q, k, qk)], d, wide, [qk])
    if kernel == "grad_attn":
        go, v, ga = many(), many(), zeros(batch, heads, length, length, dtype=kind)
        return Launch([go, v, ga, *strides(go, v, ga)], d, wide, [ga])
    a, x, y = scores(), many(), zeros(batch, heads, length, size, dtype=kind)
    return Launch([a, x, y, *strides(a, x, y)], d, narrow, [y])


def mhc(kernel, tokens, depth):
    """mix and rms of 4 streams: 24 coefficients for each token"""
    m, x, phi = 24, randn(tokens, depth), randn(depth, 24, scale=depth ** -0.5)
    mix, scale = (zeros, zeros) if kernel == "fwd" else (randn, rand)
    mix, scale = mix(tokens, m, dtype=f32), scale(tokens, dtype=f32) if kernel == "fwd" else scale(tokens, low=0.5, high=1.5)
    d = {"N": tokens, "K": depth, "M": m, "BLOCK_N": 32, "BLOCK_K": 256, "BLOCK_M": 32, "CAST_FP32": False, "stride_xn": depth, "stride_xk": 1,
         "stride_phik": m,
         "stride_phim": 1, "stride_mn": m, "stride_mm": 1}
    if kernel == "fwd":
        return Launch([x, phi, mix, scale], {**d, "eps": 1e-6}, (cdiv(tokens, 32), 1, 1), [mix, scale])
    gmix, gx, gphi = randn(tokens, m, dtype=f32), zeros(tokens, depth), zeros(depth, m, dtype=f32)
    d.update(stride_invr=1, stride_gmn=m, stride_gmm=1, stride_gxn=depth, stride_gxk=1, stride_gpk=m, stride_gpm=1)
    return Launch([x, phi, mix, scale, gmix, gx, gphi], d, (cdiv(tokens, 32), cdiv(depth, 256), 1), [gx, gphi])


def mlp(kernel, batch, length, size, inner, tile, warps, stages):
    m, n, k = tile
    d = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_SIZE_M": 8 if m > 64 else 4}
    if SMALL:
        a, g, u = (zeros(batch, length, inner) for _ in range(3))
    else:  # parts of one array, as the library has them
        a, g, u = zeros(batch, length, 3 * inner).split(inner, 2)
    x, out = randn(batch, length, size), zeros(batch, length, size)
    up = lambda: randn(inner, size, scale=size ** -0.5)
    rows = lambda t, width: Box(t, [1, m, width])
    if kernel in ("_swiglu_kernel_forward", "_swiglu_kernel_forward_inference"):
        results = [a] if kernel.endswith("inference") else [a, g, u]
        args = [rows(x, k), Box(up(), [n, k]), Box(up(), [n, k]), *(rows(t, n) for t in results), length, size, inner, 40]
        return Launch(args, {**d, "gate_multiplier": 1.0}, (cdiv(length, m) * cdiv(inner, n), batch, 1), results, warps, stages)
    g.copy_(randn(batch, length, inner)), u.copy_(randn(batch, length, inner))
    if kernel == "_swiglu_kernel_backward_dGU":
        dg, du = zeros(batch, length, inner), zeros(batch, length, inner)  # the library has them in the place of g and u, which a second launch would read
        args = [rows(x, k), Box(randn(size, inner, scale=size ** -0.5), [k, n]), rows(g, n), rows(u, n), rows(dg, n), rows(du, n), length, size, inner]
        return Launch(args, {**d, "gate_multiplier": 1.0, "down_multiplier": 1.0}, (cdiv(length, m) * cdiv(inner, n), batch, 1), [dg, du], warps, stages)
    args = [rows(g, k), Box(up(), [k, n]), rows(u, k), Box(up(), [k, n]), rows(out, n), length, size, inner, 40]
    return Launch(args, d, (cdiv(length, m) * cdiv(size, n), batch, 1), [out], warps, stages)


def int8int2(m, n, k, tile, warps, stages):
    a, b, c = randint(-128, 128, m, k, dtype=torch.int8), randint(0, 256, k // 4, n, dtype=torch.uint8), zeros(m, n, dtype=torch.int32)
    d = {"K": k, **dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M"), tile))}
    return Launch([a, b, c, m, n, *strides(a, b, c)], d, (tiled(m, n, d, "BLOCK_SIZE_M", "BLOCK_SIZE_N"), 1, 1), [c], warps, stages)


# ---------------------------------------------------------------- attorch, unsloth's fp8


def conv2d(kind, batch, features, side, outputs, tile, warps, stages):
    x, w, y = randn(batch, features, side, side, dtype=kind), randn(outputs, features, 3, 3, dtype=kind, scale=(9 * features) ** -0.5), zeros(batch, outputs,
        side, side, dtype=kind)
    d = {"kernel_height": 3, "kernel_width": 3, "stride_height": 1, "stride_width": 1, "padding_height": 1, "padding_width": 1, "groups": 1,
         "fp16": kind is f16, "tf32": True,
         **dict(zip(("BLOCK_SIZE_BATCH_HEIGHT_WIDTH", "BLOCK_SIZE_IN_FEAT", "BLOCK_SIZE_OUT_FEAT"), tile))}
    args = [x, w, y, batch, features, side, side, outputs, side, side, *strides(x, w, y)]
    return Launch(args, d, (cdiv(batch * side * side, tile[0]), cdiv(outputs, tile[2]), 1), [y], warps, stages)


def linear(kind, m, k, n, act, tile, warps, stages):
    x, w, b, y = randn(m, k, dtype=kind), randn(k, n, dtype=kind, scale=k ** -0.5), randn(n, dtype=kind), zeros(m, n, dtype=kind)
    save = act not in (None, "relu")
    before = zeros(m, n, dtype=kind) if save else y
    d = {"add_bias": True, "act_func": act, "save_pre_act": save, "fp16": kind is f16, "tf32": True,
         **dict(zip(("BLOCK_SIZE_BATCH", "BLOCK_SIZE_IN_FEAT", "BLOCK_SIZE_OUT_FEAT", "GROUP_SIZE_BATCH"), (*tile, 8)))}
    args = [x, w, b, before, y, m, k, n, *strides(x, w, before, y), None]
    return Launch(args, d, (cdiv(m, tile[0]) * cdiv(n, tile[2]), 1, 1), [before, y] if save else [y], warps, stages)


def flash(batch, heads, length, size, causal):
    q, k, v, o = (randn(batch, heads, length, size, dtype=f16) for _ in range(4))
    lse = zeros(batch * heads, length, dtype=f32)
    args = [q, k, v, size ** -0.5, lse, o.zero_(), *strides(q, k, v, o), batch, heads, length, batch * heads * length]
    return Launch(args, {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_DMODEL": size, "IS_CAUSAL": causal}, (cdiv(length, 128), batch * heads, 1), [lse, o],
                  4 if size <= 64 else 8, 4)


def flash_back(batch, heads, length, size, causal, parallel):
    q, k, v, o, do = (randn(batch, heads, length, size, dtype=f16) for _ in range(5))
    parts = cdiv(length, 128)
    dq, dk, dv = zeros(*([parts] if parallel else []), batch, heads, length, size, dtype=f16), torch.zeros_like(k), torch.zeros_like(v)
    lse = math.log2(length) + 1 + rand(batch * heads, length)
    delta = randn(batch * heads, length, dtype=f32, scale=0.1)
    rows = batch * heads * length
    args = [q, k, v, size ** -0.5, o, do, dq, dk, dv, lse, delta, o.numel(), *strides(q, k, v), batch, heads, length, rows, parts * rows]
    d = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_DMODEL": size, "SEQUENCE_PARALLEL": parallel, "CAUSAL": causal, "MMA_V3": True}
    return Launch(args, d, (batch * heads, parts if parallel else 1, 1), [dq, dk, dv], 8, 1)


def scaled_blocks(m, n, k, tile, warps, stages, mine):
    """fp8 with a scale for 128 of k (and 128 of n): unsloth's, or lightllm's, where b is k×n"""
    a, b, c = randn(m, k, dtype=f8), randn(n, k, dtype=f8), zeros(m, n)
    sa, sb = rand(m, k // 128, low=0.5), rand(n // 128, k // 128, low=0.5)
    if mine == "lightllm":
        b, sb = b.t(), rand(k // 128, n // 128, low=0.5)
        args = [a, b, c, sa, sb, m, n, k, 128, 128, *strides(a, b, c, sa, sb)]
        names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")
    else:
        args = [a, b, c, sa, sb, m, n, k, 128, 128, *strides(a), b.stride(1), b.stride(0), *strides(c, sa), sb.stride(1), sb.stride(0)]
        names = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
    return Launch(args, dict(zip(names, tile)), (cdiv(m, tile[0]) * cdiv(n, tile[1]), 1, 1), [c], warps, stages)


# ---------------------------------------------------------------- lightllm

SIZES = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")


def bmm_fp8(batch, m, n, k, tile, warps, stages):
    a, b, c = randn(batch, m, k, dtype=f8), randn(batch, n, k, dtype=f8).transpose(1, 2), zeros(batch, m, n)
    sa, sb = rand(batch, m, 1, dtype=bf16, low=0.5), rand(batch, n, 1, dtype=bf16, low=0.5)
    args = [a, b, c, sa, sb, m, n, k, *strides(a, b, c), *sa.stride()[:2], *sb.stride()[:2]]
    return Launch(args, dict(zip(SIZES, tile)), (cdiv(m, tile[0]) * cdiv(n, tile[1]), batch, 1), [c], warps, stages)


def int4(kernel, m, n, k, tile, warps, stages, split=1):
    a, b, c = randn(m, k, dtype=f16), randint(-(1 << 31), (1 << 31) - 1, k // 8, n, dtype=torch.int32), zeros(m, n, dtype=f16)
    scales, points = rand(k // 128, n, dtype=f16, low=0.01, high=0.02), randint(-(1 << 31), (1 << 31) - 1, k // 128, n // 8, dtype=torch.int32)
    d = dict(zip(SIZES, tile))
    d.update({"NO_GROUPS": False} if kernel == "matmul4_kernel" else {"SPLIT_K": split})
    args = [a, b, c, scales, points, m, n, k, *strides(a, b, c, scales, points), 128]
    return Launch(args, d, (cdiv(m, tile[0]) * cdiv(n, tile[1]), split, 1), [c], warps, stages)


def int8(m, n, k, tile, warps, stages):
    a, b, c = randint(-128, 128, m, k, dtype=torch.int8), randint(-128, 128, k, n, dtype=torch.int8), zeros(m, n, dtype=f16)
    sa, sb = rand(m, dtype=f16, low=0.001, high=0.01), rand(n, dtype=f16, low=0.001, high=0.01)
    args = [a, sa, b, sb, c, m, n, k, *strides(a), 1, *strides(b), 1, *strides(c)]
    return Launch(args, {**dict(zip(SIZES, tile)), "SPLIT_K": 1}, (cdiv(m, tile[0]) * cdiv(n, tile[1]), 1, 1), [c], warps, stages)


class Requests:
    """A batch of requests: new tokens and such as are in the cache, whose places are anywhere in it."""

    def __init__(self, new, cached):
        self.new, self.lengths, n = new, [a + b for a, b in zip(new, cached)], len(new)
        self.tokens, self.places, self.longest = sum(new), sum(self.lengths), max(self.lengths)
        self.start, self.cached, self.all = i32(steps(new)[:-1]), i32(cached), i32(self.lengths)
        table = torch.zeros(n, self.longest, dtype=torch.int32)
        places, at = torch.randperm(self.places, generator=torch.Generator().manual_seed(n)).int(), 0
        for row, length in enumerate(self.lengths):  # a request's row is not its number
            table[n - 1 - row, :length], at = places[at : at + length], at + length
        self.table, self.index = table.to(DEVICE), i32(list(range(n))[::-1])


def context(kernel, new, cached, heads, groups, size, kind=f16):
    """Attention of a prompt"""
    r = Requests(new, cached)
    from_cache = kernel in ("llama", "bloom", "phi3")
    room = r.places if from_cache else r.tokens
    q, k, v, o = (randn(n, h, size, dtype=kind) for n, h in ((r.tokens, heads), (room, groups), (room, groups), (r.tokens, heads)))
    o.zero_()
    wide, tile = 1 << (size - 1).bit_length(), 128
    d = {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_DMODEL": wide}
    tiles, batch, scale, warps = cdiv(max(new), tile), len(new), size ** -0.5, 4 if size <= 64 else 8
    four = strides(q, k, v, o)
    if kernel == "llama":
        args = [q, k, v, scale * LOG2E, o, r.start, r.all, r.table, r.index, *four, *strides(r.table), heads // groups, r.cached]
        return Launch(args, {**d, "H": heads}, (tiles, batch * heads, 1), [o], warps, 1)
    if kernel == "llama, no cache":
        return Launch([q, k, v, scale * LOG2E, o, r.start, r.all, *four, heads // groups, heads], d, (tiles, batch * heads, 1), [o], warps, 1)
    if kernel == "bloom":
        alibi = rand(heads, high=0.1)
        return Launch([q, k, v, scale, alibi, r.start, r.all, o, r.table, r.index, *four, *strides(r.table), r.cached], d, (batch, heads, tiles), [o], warps, 1)
    if kernel == "mistral":
        return Launch([q, k, v, scale, r.start, r.all, o, *four, heads // groups, 4096], d, (batch, heads, tiles), [o], warps, 1)
    if kernel == "phi3":
        args = [q, k, v, scale, r.start, r.all, o, r.table, r.index, *four, *strides(r.table), heads // groups, r.cached]
        return Launch(args, {**d, "head_dim": size}, (batch, heads, tiles), [o], warps, 1)
    if kernel == "phi3, no cache":
        return Launch([q, k, v, scale, r.start, r.all, o, *four, heads // groups, size], d, (batch, heads, tiles), [o], warps, 1)
    ends = i32(steps(new))  # vit
    d.update(BLOCK_M=64, BLOCK_N=64)
    return Launch([q, k, v, scale, o, *four, size, ends], d, (cdiv(max(new), 64), heads, batch), [o], 4, 2)


def int8kv(batch, new, cached, heads, groups, size):
    """Keys and values of each request side by side, numbers already"""
    r = Requests([new] * batch, [cached] * batch)
    q, o = randn(batch * new, heads, size, dtype=f16), zeros(batch * new, heads, size, dtype=f16)
    k, v = (randn(batch, groups, new + cached, size, dtype=f16) for _ in range(2))
    args = [q, k, v, size ** -0.5 * LOG2E, o, r.start, r.all, r.cached, *strides(q, k, v, o), heads // groups]
    d = {"H": heads, "BLOCK_DMODEL": size, "BLOCK_M": 128, "BLOCK_N": 128}
    return Launch(args, d, (cdiv(new, 128), batch * heads, 1), [o], 4 if size <= 64 else 8, 1)


def latent(kernel, new, cached, heads, size, rope=64):
    """Attention of a prompt over the latent of deepseek"""
    r = Requests(new, cached)
    both = randn(r.places, 1, size + rope)
    kv, kv_rope = both[:, :, :size], both[:, :, size:]
    q, q_rope, o = randn(r.tokens, heads, size), randn(r.tokens, heads, rope), zeros(r.tokens, heads, size)
    tile = 32 if size >= 512 else 128
    d, scale = {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_DMODEL": size, "BLOCK_ROPE_DMODEL": rope}, (size + rope) ** -0.5
    grid = (len(new), heads, cdiv(max(new), tile))
    if kernel == "with_v":
        k, v, k_rope = randn(r.places, heads, size), randn(r.places, heads, size), randn(r.places, 1, rope)
        args = [q, q_rope, k, k_rope, v, scale * LOG2E, r.start, i32(steps(r.lengths)[:-1]), r.all, o,
                *(s for t in (q, q_rope, k, k_rope, v, o) for s in t.stride()[:2]), r.cached]
        return Launch(args, d, grid, [o], 8, 1)
    if kernel == "no cache":
        return Launch([q, q_rope, kv, kv_rope, scale, r.start, r.all, o, *strides(q, q_rope, kv, kv_rope, o), heads], d, grid, [o], 8, 1)
    scales, more = [], []
    if kernel == "fp8":
        both, each = randn(r.places, 1, size + rope, dtype=f8), rand(r.places, 1, 1, dtype=bf16, low=0.5, high=1.0)
        kv, kv_rope, scales, more = both[:, :, :size], both[:, :, size:], [each], strides(each)
        d["HAS_SCALE"] = True
    args = [q, q_rope, kv, kv_rope, *scales, scale, r.start, r.all, o, r.table, r.index, *strides(q, q_rope, kv, kv_rope), *more, *strides(o, r.table), heads,
            r.cached]
    return Launch(args, d, grid, [o], 8, 1)


def parts_for(lengths, programs, block):
    """How many keys a part has where four parts are for each program, and how many parts there may be"""
    return cdiv(cdiv(sum(lengths), programs * 4), block) * block, programs * 4 + len(lengths)


def latent_decode(batch, length, heads, programs, block, warps, stages, eight=False, size=512, rope=64):
    r = Requests([1] * batch, [length - 1] * batch)
    part, rows = parts_for(r.lengths, programs, block)
    both = randn(r.places, 1, size + rope, dtype=f8 if eight else bf16)
    kv, kv_rope = both[:, :, :size], both[:, :, size:]
    q, q_rope = randn(batch, heads, size), randn(batch, heads, rope)
    mid, lse, part = zeros(heads, rows, size, dtype=f32), zeros(heads, rows, dtype=f32), torch.tensor([part], device=DEVICE)
    each = [rand(r.places, 1, 1, dtype=bf16, low=0.5)] if eight else []
    args = [q, q_rope, kv, kv_rope, *each, (size + rope) ** -0.5, r.table, r.index, r.all, mid, lse, *strides(r.table, q, q_rope, kv, kv_rope, mid, lse),
            *(t.stride(0) for t in each), part, programs, cdiv(heads, 16), heads, batch]
    d = {"Q_HEAD_NUM": 16, "BLOCK_DMODEL": size, "BLOCK_ROPE_DMODEL": rope, "BLOCK_N": block, "NUM_STAGES": stages, "NEED_HEAD_MASK": heads % 16 != 0}
    if eight:
        d["HAS_SCALE"] = 1
    return Launch(args, d, (programs, 1, 1), [mid, lse], warps, 1)


def decode(kernel, batch, length, heads, groups, size, programs=0):
    r = Requests([1] * batch, [length - 1] * batch)
    q, k, v = randn(batch, heads, size, dtype=f16), randn(r.places, groups, size, dtype=f16), randn(r.places, groups, size, dtype=f16)
    share = heads // groups
    d = {"Q_HEAD_NUM": max(16, 1 << (share - 1).bit_length()), "BLOCK_DMODEL": size}
    if kernel == "whole":
        o = zeros(batch, heads, size, dtype=f16)
        args = [q, k, v, size ** -0.5, r.table, r.index, r.all, o, *strides(q, k, v, o, r.table), share]
        return Launch(args, {**d, "BLOCK_N": 32}, (batch, groups, 1), [o], 4, 2)
    if kernel == "parts":
        part = 256
        mid, lse = zeros(batch, heads, cdiv(length, part), size, dtype=f32), zeros(batch, heads, cdiv(length, part), dtype=f32)
        args = [q, k, v, size ** -0.5, r.table, r.index, r.all, mid, lse, *strides(r.table, q, k, v, mid, lse), share]
        return Launch(args, {**d, "BLOCK_SEQ": part, "BLOCK_N": 16}, (batch, groups, cdiv(length, part)), [mid, lse], 2, 2)
    part, rows = parts_for(r.lengths, programs, 64)
    mid, lse, part = zeros(heads, rows, size, dtype=f32), zeros(heads, rows, dtype=f32), torch.tensor([part], device=DEVICE)
    args = [part, q, k, v, r.table, r.index, r.all, mid, lse, size ** -0.5, programs, share, heads, groups, batch, *strides(q, k, v, r.table, mid, lse)]
    return Launch(args, {**d, "BLOCK_N": 64, "NUM_STAGES": 2}, (programs, 1, 1), [mid, lse], 4, 2)


# ---------------------------------------------------------------- the table

CALLS = []


def add(library, file, kernel, what, build, full, small, /, **same):
    CALLS.append(Call(library, file, kernel, what, build, {**same, **full}, {**same, **small}))


LIGER, MOE = "src/liger_kernel/ops/", "src/liger_kernel/ops/fused_moe_kernels.py"
QWEN, FEW = dict(tokens=4096, experts=128, topk=8, hidden=2048, inner=768), dict(tokens=160, experts=3, topk=2, hidden=456, inner=320)
for name in ("_fused_up_proj_swiglu_kernel", "_fused_down_proj_kernel", "_moe_bwd_down_proj_kernel", "_moe_bwd_dX_expanded_kernel"):
    for warps, stages in ((8, 2), (4, 3)):
        add("Liger-Kernel", MOE, name, f"bf16 128 experts of 768×2048, {warps} warps", liger_moe, QWEN, FEW, kernel=name, tile=(128, 64), warps=warps,
            stages=stages)
for name in ("_moe_bwd_dW2_kernel", "_moe_bwd_dW1_kernel"):
    add("Liger-Kernel", MOE, name, "bf16 128 experts of 768×2048", liger_moe, QWEN, FEW, kernel=name, tile=(64, 128, 32), warps=8, stages=2)
for name in ("qk", "av", "grad_qk", "grad_k", "grad_v", "grad_attn"):
    add("Liger-Kernel", LIGER + "fused_neighborhood_attention.py", f"_fused_neighborhood_attention_{name}_kernel", "fp16 16×2048×128", neighborhood,
        dict(batch=1, heads=16, length=2048, size=128), dict(batch=1, heads=2, length=352, size=128), kernel=name)
add("Liger-Kernel", LIGER + "mhc.py", "_mhc_mm_norm_fwd_kernel", "bf16 8192×8192×24", mhc, dict(tokens=8192, depth=8192), dict(tokens=80, depth=768),
    kernel="fwd")
add("Liger-Kernel", LIGER + "mhc.py", "_mhc_mm_norm_bwd_fused_kernel", "bf16 8192×8192×24", mhc, dict(tokens=8192, depth=8192), dict(tokens=80, depth=512),
    kernel="bwd")
LLAMA, LITTLE = dict(batch=2, length=2048, size=4096, inner=11008), dict(batch=1, length=160, size=448, inner=320)
for name in ("_swiglu_kernel_forward", "_swiglu_kernel_backward_dGU", "_swiglu_kernel_backward_dI"):
    add("Liger-Kernel", LIGER + "mlp.py", name, "bf16 4096×11008×4096, descriptors", mlp, LLAMA, LITTLE, kernel=name, tile=(128, 128, 64), warps=8, stages=3)
add("Liger-Kernel", LIGER + "mlp.py", "_swiglu_kernel_forward_inference", "bf16 64×11008×4096, descriptors", mlp,
    dict(batch=1, length=64, size=4096, inner=11008), LITTLE, kernel="_swiglu_kernel_forward_inference", tile=(64, 128, 64), warps=4, stages=3)
add("Liger-Kernel", LIGER + "experimental/mm_int8int2.py", "matmul_kernel", "int8×int2 4096³", int8int2, dict(m=4096, n=4096, k=4096),
    dict(m=160, n=96, k=1536), tile=(128, 32, 64, 8), warps=4, stages=4)

MOE = "unsloth/kernels/moe/grouped_gemm/kernels/"
FIRST, SECOND = dict(tokens=4096, experts=128, topk=8, width=1536, depth=2048), dict(tokens=4096, experts=128, topk=8, width=2048, depth=768)
FEW = dict(tokens=200, experts=3, topk=2, width=512, depth=512)
add("unsloth", MOE + "forward.py", "_grouped_gemm_forward_kernel", "bf16 128 experts of 1536×2048, permuted in", unsloth_moe, FIRST, FEW,
    kernel="_grouped_gemm_forward_kernel", tile=(128, 128, 64), warps=8, stages=3, permute="X")
add("unsloth", MOE + "forward.py", "_grouped_gemm_forward_kernel", "bf16 128 experts of 2048×768, permuted out, weighed", unsloth_moe, SECOND, FEW,
    kernel="_grouped_gemm_forward_kernel", tile=(64, 128, 64), warps=4, stages=4, permute="Y", weigh=True)
add("unsloth", MOE + "forward.py", "_grouped_gemm_forward_kernel", "bf16 128 experts of 1536×2048, descriptors", unsloth_moe, FIRST, FEW,
    kernel="_grouped_gemm_forward_kernel", tile=(128, 128, 64), warps=8, stages=3, boxes=("LOAD_X", "LOAD_W"))
add("unsloth", MOE + "backward.py", "_grouped_gemm_dX_kernel", "bf16 128 experts of 1536×2048, permuted in", unsloth_moe, FIRST, FEW,
    kernel="_grouped_gemm_dX_kernel", tile=(128, 64, 128), warps=8, stages=3, permute="X")
add("unsloth", MOE + "backward.py", "_grouped_gemm_dX_kernel", "bf16 128 experts of 1536×2048, descriptors", unsloth_moe, FIRST, FEW,
    kernel="_grouped_gemm_dX_kernel", tile=(128, 64, 128), warps=8, stages=3, boxes=("LOAD_dY", "LOAD_W"))
add("unsloth", MOE + "backward.py", "_grouped_gemm_dW_kernel", "bf16 128 experts of 1536×2048, permuted in", unsloth_moe, FIRST, FEW,
    kernel="_grouped_gemm_dW_kernel", tile=(64, 128, 128), warps=8, stages=3, permute="X")
add("unsloth", MOE + "backward.py", "_grouped_gemm_dW_kernel", "bf16 128 experts of 1536×2048", unsloth_moe, FIRST, FEW, kernel="_grouped_gemm_dW_kernel",
    tile=(64, 64, 128), warps=4, stages=3)
add("unsloth", "unsloth/kernels/fp8.py", "_w8a8_block_fp8_matmul", "fp8 4096³", scaled_blocks, dict(m=4096, n=4096, k=4096), dict(m=160, n=256, k=768),
    tile=(128, 128, 128, 8), warps=4, stages=3, mine="unsloth")

for kind, tile, warps, stages in ((f16, (128, 32, 128), 8, 2), (f16, (128, 32, 64), 4, 4), (f16, (128, 64, 32), 2, 4), (f32, (128, 32, 128), 8, 2)):
    add("attorch", "attorch/conv_kernels.py", "conv2d_forward_kernel",
        f"{'fp16' if kind is f16 else 'fp32'} 32×256×56² to 256, 3×3, tiles {'×'.join(map(str, tile))}", conv2d,
        dict(batch=32, features=256, side=56, outputs=256), dict(batch=2, features=64, side=9, outputs=96), kind=kind, tile=tile, warps=warps, stages=stages)
for kind, act, tile, warps, stages in ((f16, "gelu", (128, 64, 256), 8, 3), (f16, None, (128, 32, 128), 4, 4), (f32, "silu", (128, 32, 128), 4, 4)):
    add("attorch", "attorch/linear_kernels.py", "linear_forward_kernel", f"{'fp16' if kind is f16 else 'fp32'} 4096³, {act or 'plain'}", linear,
        dict(m=4096, k=4096, n=4096), dict(m=160, k=456, n=264), kind=kind, act=act, tile=tile, warps=warps, stages=stages)
for size, causal in ((64, True), (128, True), (128, False)):
    add("attorch", "attorch/multi_head_attention_kernels.py", "_fwd_kernel", f"fp16 4×32×2048×{size}{' causal' * causal}", flash,
        dict(batch=4, heads=32, length=2048), dict(batch=1, heads=2, length=512), size=size, causal=causal)
for parallel in (False, True):
    add("attorch", "attorch/multi_head_attention_kernels.py", "_bwd_kernel", f"fp16 4×32×2048×64 causal{', parts of dq' * parallel}", flash_back,
        dict(batch=4, heads=32, length=2048), dict(batch=1, heads=2, length=512), size=64, causal=True, parallel=parallel)

BASE = "lightllm/common/basemodel/triton_kernel/"
add("lightllm", BASE + "bmm_scaled_fp8.py", "bmm_scaled_fp8_kernel", "fp8 16 of 2048×512×128", bmm_fp8, dict(batch=16, m=2048, n=512, k=128),
    dict(batch=2, m=160, n=256, k=128), tile=(128, 256, 128, 8), warps=8, stages=4)
add("lightllm", BASE + "bmm_scaled_fp8.py", "bmm_scaled_fp8_kernel", "fp8 16 of 512×128×512", bmm_fp8, dict(batch=16, m=512, n=128, k=512),
    dict(batch=2, m=160, n=128, k=512), tile=(64, 128, 128, 8), warps=4, stages=3)
add("lightllm", BASE + "dequantize_gemm_int4.py", "matmul4_kernel", "int4 4096³", int4, dict(m=4096, n=4096, k=4096), dict(m=160, n=128, k=640),
    kernel="matmul4_kernel", tile=(128, 128, 64, 8), warps=4, stages=4)
add("lightllm", BASE + "dequantize_gemm_int4.py", "matmul4_kernel", "int4 16×4096×4096", int4, dict(m=16, n=4096, k=4096), dict(m=16, n=64, k=640),
    kernel="matmul4_kernel", tile=(32, 32, 128, 8), warps=4, stages=2)
add("lightllm", BASE + "dequantize_gemm_int4.py", "matmul_kernel", "int4 4096³", int4, dict(m=4096, n=4096, k=4096), dict(m=160, n=128, k=384),
    kernel="matmul_kernel", tile=(64, 128, 32, 8), warps=4, stages=4)
add("lightllm", BASE + "dequantize_gemm_int4.py", "matmul_kernel", "int4 16×4096×4096, split", int4, dict(m=16, n=4096, k=4096), dict(m=16, n=64, k=1024),
    kernel="matmul_kernel", tile=(32, 16, 128, 8), warps=4, stages=2, split=2)
add("lightllm", BASE + "quantize_gemm_int8.py", "matmul_kernel", "int8 4096³", int8, dict(m=4096, n=4096, k=4096), dict(m=160, n=256, k=456),
    tile=(128, 256, 64, 8), warps=8, stages=3)
add("lightllm", BASE + "quantize_gemm_int8.py", "matmul_kernel", "int8 32×4096×4096", int8, dict(m=32, n=4096, k=4096), dict(m=32, n=64, k=712),
    tile=(32, 32, 128, 8), warps=4, stages=2)
MOE = "lightllm/common/fused_moe/grouped_fused_moe.py"
FEW = dict(tokens=96, experts=3, topk=2, width=256, depth=512)
add("lightllm", MOE, "grouped_matmul_kernel", "bf16 128 experts of 192×2048", lightllm_moe, dict(tokens=4096, experts=128, topk=8, width=192, depth=2048), FEW,
    tile=(128, 64, 64, 1), warps=4, stages=3)
add("lightllm", MOE, "grouped_matmul_kernel", "bf16 64 experts of 2816×2048, not tuned", lightllm_moe,
    dict(tokens=4096, experts=64, topk=6, width=2816, depth=2048), FEW, tile=(64, 64, 32, 8), warps=4, stages=1)
add("lightllm", MOE, "grouped_matmul_kernel", "bf16 128 experts of 2048×96, weighed", lightllm_moe,
    dict(tokens=4096, experts=128, topk=8, width=2048, depth=96), {**FEW, "depth": 96}, tile=(128, 128, 32, 4), warps=4, stages=4, weigh=True)
add("lightllm", MOE, "grouped_matmul_kernel", "fp8 256 experts of 512×7168", lightllm_moe, dict(tokens=1024, experts=256, topk=8, width=512, depth=7168), FEW,
    tile=(64, 128, 128, 1), warps=8, stages=4, eight=True)
add("lightllm", MOE, "grouped_matmul_kernel", "fp8 256 experts of 7168×256, weighed", lightllm_moe,
    dict(tokens=1024, experts=256, topk=8, width=7168, depth=256), FEW, tile=(64, 128, 64, 2), warps=4, stages=3, eight=True, weigh=True)
BLOCKS = "lightllm/common/quantization/triton_quant/fp8/fp8w8a8_block_gemm_kernel.py"
for sizes, tile, warps, stages in (((2048, 7168, 2048), (128, 64, 64, 8), 4, 4), ((2048, 24576, 7168), (256, 128, 128, 8), 8, 3),
                                   ((2048, 4096, 4096), (64, 128, 128, 32), 4, 3)):
    add("lightllm", BLOCKS, "_block_scaled_block_gemm", f"fp8 {'×'.join(map(str, sizes))}, tiles {'×'.join(map(str, tile[:3]))}", scaled_blocks,
        dict(zip("mnk", sizes)), dict(m=300, n=256, k=768), tile=tile, warps=warps, stages=stages, mine="lightllm")

LLAMA = "lightllm/models/llama/triton_kernel/"
PROMPT, SHORT = dict(new=[1536, 2048, 1024, 2048], cached=[512, 0, 1024, 0]), dict(new=[100, 400], cached=[360, 0])
FRESH, BRIEF = dict(new=[1536, 2048, 1024, 2048], cached=[0] * 4), dict(new=[100, 400], cached=[0, 0])
GROUPS, FEW = dict(heads=32, groups=8), dict(heads=4, groups=2)
for size in (128, 64):
    add("lightllm", LLAMA + "context_flashattention_nopad.py", "_fwd_kernel", f"fp16 4 prompts of 2048, 32 heads of {size} in 8 groups", context,
        {**PROMPT, **GROUPS}, {**SHORT, **FEW}, kernel="llama", size=size)
add("lightllm", LLAMA + "context_flashattention_nopad.py", "_fwd_kernel_no_prompt_cache", "fp16 4 prompts of 2048, 32 heads of 128 in 8 groups", context,
    {**FRESH, **GROUPS}, {**BRIEF, **FEW}, kernel="llama, no cache", size=128)
add("lightllm", LLAMA + "context_flashattention_nopad.py", "_fwd_kernel_int8kv", "fp16 4 prompts of 2048, 32 heads of 128 in 8 groups", int8kv,
    dict(batch=4, new=1536, cached=512, heads=32, groups=8), dict(batch=2, new=100, cached=360, heads=4, groups=2), size=128)
add("lightllm", LLAMA + "gqa_decode_flashattention_nopad.py", "_fwd_kernel", "fp16 64 of 2048 keys, 32 heads of 128 in 8 groups", decode,
    dict(batch=64, length=2048, heads=32, groups=8), dict(batch=2, length=300, heads=8, groups=2), kernel="whole", size=128)
add("lightllm", LLAMA + "gqa_flash_decoding_stage1.py", "_fwd_kernel_flash_decode_stage1", "fp16 32 of 4096 keys, 32 heads of 128 in 8 groups", decode,
    dict(batch=32, length=4096, heads=32, groups=8), dict(batch=2, length=300, heads=8, groups=2), kernel="parts", size=128)
add("lightllm", LLAMA + "gqa_flash_decoding_vsm.py", "_kernel_gqa_token_decode_attention_flash_decoding_vsm_stage1",
    "fp16 32 of 4096 keys, 32 heads of 128 in 8 groups", decode, dict(batch=32, length=4096, heads=32, groups=8, programs=2 * UNITS),
    dict(batch=2, length=1500, heads=8, groups=2, programs=3), kernel="shares", size=128)
add("lightllm", "lightllm/models/bloom/triton_kernel/context_flashattention_nopad.py", "_fwd_kernel", "fp16 4 prompts of 2048, 32 heads of 128", context,
    dict(**PROMPT, heads=32, groups=32), dict(**SHORT, heads=2, groups=2), kernel="bloom", size=128)
add("lightllm", "lightllm/models/mistral/triton_kernel/context_flashattention_nopad.py", "_fwd_kernel", "fp16 4 prompts of 2048, 32 heads of 128 in 8 groups",
    context, {**FRESH, **GROUPS}, {**BRIEF, **FEW}, kernel="mistral", size=128)
PHI = "lightllm/models/phi3/triton_kernel/context_flashattention_nopad.py"
add("lightllm", PHI, "_fwd_kernel", "fp16 4 prompts of 2048, 32 heads of 96", context, dict(**PROMPT, heads=32, groups=32), dict(**SHORT, heads=2, groups=2),
    kernel="phi3", size=96)
add("lightllm", PHI, "_fwd_kernel_no_prompt_cache", "fp16 4 prompts of 2048, 32 heads of 96", context, dict(**FRESH, heads=32, groups=32),
    dict(**BRIEF, heads=2, groups=2), kernel="phi3, no cache", size=96)
for size in (64, 80):
    add("lightllm", "lightllm/models/vit/triton_kernel/flashattention_nopad.py", "_fwd_kernel", f"fp16 16 pictures of 1025, 16 heads of {size}", context,
        dict(new=[1025] * 16, cached=[0] * 16, heads=16, groups=16), dict(new=[100, 330], cached=[0, 0], heads=2, groups=2), kernel="vit", size=size, kind=f16)
DEEP = "lightllm/models/deepseek2/triton_kernel/"
add("lightllm", DEEP + "context_flashattention_nopad.py", "_fwd_kernel", "bf16 4 prompts of 2048, 16 heads of 512 + 64", latent, dict(**PROMPT, heads=16),
    dict(new=[50, 170], cached=[130, 0], heads=2), kernel="cache", size=512)
add("lightllm", DEEP + "context_flashattention_nopad.py", "_fwd_kernel_no_prompt_cache", "bf16 4 prompts of 2048, 16 heads of 512 + 64", latent,
    dict(**FRESH, heads=16), dict(new=[50, 170], cached=[0, 0], heads=2), kernel="no cache", size=512)
add("lightllm", DEEP + "context_flashattention_nopad_fp8.py", "_fwd_kernel_fp8", "fp8 4 prompts of 2048, 16 heads of 512 + 64", latent,
    dict(**PROMPT, heads=16), dict(new=[50, 170], cached=[130, 0], heads=2), kernel="fp8", size=512)
add("lightllm", DEEP + "context_flashattention_nopad_with_v.py", "_fwd_kernel_with_v", "bf16 4 prompts of 2048, 16 heads of 128 + 64", latent,
    dict(**PROMPT, heads=16), dict(new=[100, 400], cached=[360, 0], heads=2), kernel="with_v", size=128)
add("lightllm", DEEP + "gqa_flash_decoding_stage1.py", "_fwd_kernel_flash_decode_stage1_padding", "bf16 32 of 4096 keys, 16 heads of 512 + 64", latent_decode,
    dict(batch=32, length=4096, programs=UNITS), dict(batch=2, length=700, programs=3), heads=16, block=32, warps=8, stages=4)
add("lightllm", DEEP + "gqa_flash_decoding_stage1_fp8.py", "_fwd_kernel_flash_decode_stage1_padding_fp8", "fp8 32 of 4096 keys, 16 heads of 512 + 64",
    latent_decode, dict(batch=32, length=4096, programs=UNITS), dict(batch=2, length=700, programs=3), heads=16, block=16, warps=4, stages=2, eight=True)
