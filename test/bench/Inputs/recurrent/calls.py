"""Calls of the kernels in this folder, for library_compare.py: linear attention, the delta rule and what is around them, at sizes of models and at small ones.

As in ../library_calls.py; B sequences of T steps or, with `lengths`, one array of several sequences; H heads of K and V channels, chunks of BT steps.
"""
import library_calls
from library_calls import Box, Call, Launch, bf16, cdiv, f16, f32, i32, rand, randn, steps, zeros

CALLS = []


def add(file, kernel, what, build, full, small, /, **same):
    CALLS.append(Call("recurrent", file, kernel, what, build, {**same, **full}, {**same, **small}))


def gates(batch, length, *rest, chunk=1, low=-0.2):
    """Logarithms of gates, summed within chunks"""
    out = rand(batch, length, *rest, low=low)
    if library_calls.FILLED:
        out -= rand(batch, length, *rest, low=0.0, high=-low / 2)
        out.clamp_(max=0)
        for t in range(0, length, chunk) if chunk > 1 else ():
            out[:, t : t + chunk] = out[:, t : t + chunk].cumsum(1)
    return out


class Sizes:
    """The arrays of a call by their form, and its sequences."""

    def __init__(self, T, H, K=16, V=16, B=1, BT=64, kind=bf16, lengths=None, **rest):
        self.B, self.T, self.H, self.K, self.V, self.BT, self.kind = B, T, H, K, V, BT, kind
        self.chunks = B * cdiv(T, BT)
        self.sequences, self.starts, self.offsets, self.indices = B, None, None, None
        if lengths:
            self.T, self.sequences = sum(lengths), len(lengths)
            each = [cdiv(n, BT) for n in lengths]
            self.chunks, self.starts, self.offsets = sum(each), i32(steps(lengths)), i32(steps(each))
            self.indices = i32([[n, i] for n, count in enumerate(each) for i in range(count)])

    def keys(self, scale=1.0):
        return randn(self.B, self.T, self.H, self.K, dtype=self.kind, scale=scale)

    def values(self, scale=1.0):
        return randn(self.B, self.T, self.H, self.V, dtype=self.kind, scale=scale)

    def states(self, scale=1.0):
        return randn(self.chunks, self.H, self.K, self.V, dtype=self.kind, scale=scale)

    def state(self):
        return randn(self.sequences, self.H, self.K, self.V, dtype=f32, scale=0.5)

    def no_keys(self):
        return zeros(self.B, self.T, self.H, self.K, dtype=self.kind)

    def no_values(self):
        return zeros(self.B, self.T, self.H, self.V, dtype=self.kind)

    def no_states(self):
        return zeros(self.chunks, self.H, self.K, self.V, dtype=self.kind)

    def no_state(self):
        return zeros(self.sequences, self.H, self.K, self.V, dtype=f32)

    def rows(self, width, scale=1.0, dtype=None):
        return randn(self.B, self.T, self.H, width, dtype=dtype or self.kind, scale=scale)

    def gates(self, *rest):
        return gates(self.B, self.T, self.H, *rest, chunk=self.BT, low=-0.1)

    def numbers(self):
        return rand(self.B, self.T, self.H, low=0.1, high=0.9)

    def each_chunk(self):
        """Programs along chunks, and along heads of sequences"""
        return (self.chunks, self.H) if self.starts is not None else (self.chunks // self.B, self.B * self.H)

    def defines(self, *names, **more):
        return {"H": self.H, **{n: getattr(self, n) for n in names}, **more}


# ---------------------------------------------------------------- chunks


def fwd_h(warps, stages, BK, BV, g=False, gk=False, state=False, **sizes):
    s = Sizes(**sizes)
    h, ht = s.no_states(), s.no_state() if state else None
    args = [s.keys(s.K ** -0.5), s.values(), h, s.gates() if g else None, s.gates(s.K) if gk else None, s.state() if state else None, ht, s.starts, s.offsets,
            s.T]
    d = s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, USE_GK=gk, USE_INITIAL_STATE=state, STORE_FINAL_STATE=state, IS_VARLEN=s.starts is not None)
    return Launch(args, d, (cdiv(s.K, BK), cdiv(s.V, BV), s.sequences * s.H), [h, ht] if state else [h], warps, stages)


def bwd_dh(warps, stages, BK, BV, g=False, gk=False, state=False, **sizes):
    s = Sizes(**sizes)
    dh, dh0 = s.no_states(), s.no_state() if state else None
    args = [s.keys(), s.values(), dh, s.gates() if g else None, s.gates(s.K) if gk else None, s.state() if state else None, dh0, s.K ** -0.5, s.T]
    d = s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, USE_GK=gk, USE_FINAL_GRADIENT=state, STORE_INITIAL_GRADIENT=state)
    return Launch(args, d, (cdiv(s.K, BK), cdiv(s.V, BV), s.B * s.H), [dh, dh0] if state else [dh], warps, stages)


def fwd_o(warps, stages, BK, BV, g=True, **sizes):
    s = Sizes(**sizes)
    o = s.no_values()
    args = [s.keys(), s.keys(), s.values(), s.states(), s.gates() if g else None, o, s.starts, s.indices, s.K ** -0.5, s.T]
    d = s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, IS_VARLEN=s.starts is not None)
    return Launch(args, d, (cdiv(s.V, BV), *s.each_chunk()), [o], warps, stages)


def bwd_dqkwg(warps, stages, BK, BV, g=True, w=False, **sizes):
    s = Sizes(**sizes)
    dq, dk, dw = s.no_keys(), s.no_keys(), s.no_keys() if w else None
    dg = zeros(cdiv(s.K, BK), s.B, s.T, s.H, dtype=f32) if g else None
    args = [s.keys(), s.keys(), s.values(), s.states(), s.gates() if g else None, s.values(), s.states(), dq, dk, dg, s.keys() if w else None,
            s.values() if w else None, dw, s.K ** -0.5, s.B, s.T]
    d = s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, USE_DW=w)
    return Launch(args, d, (cdiv(s.K, BK), *s.each_chunk()), [dq, dk, *([dg] if g else []), *([dw] if w else [])], warps, stages)


def bwd_dv(warps, stages, BK, BV, g=True, state=True, **sizes):
    s = Sizes(**sizes)
    dv = s.no_values()
    args = [s.keys(), s.keys(), s.gates() if g else None, s.values(), dv, s.states() if state else None, s.K ** -0.5, s.T]
    return Launch(args, s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, USE_STATE=state), (cdiv(s.V, BV), *s.each_chunk()), [dv], warps, stages)


def fused(warps, stages, BV, **sizes):
    s = Sizes(**sizes)
    o, ht = s.no_values(), s.no_state()
    d = s.defines("K", "V", "BT", BK=s.K, BV=BV, USE_INITIAL_STATE=True, STORE_FINAL_STATE=True)
    args = [s.keys(), s.keys(s.K ** -0.5), s.values(), o, s.state(), ht, s.K ** -0.5, s.T]
    return Launch(args, d, (cdiv(s.V, BV), s.B * s.H, 1), [o, ht], warps, stages)


# ---------------------------------------------------------------- the delta rule


def kkt(warps, stages, BK, g=True, **sizes):
    s = Sizes(**sizes)
    A = zeros(s.B, s.T, s.H, s.BT, dtype=f32)
    args = [s.keys(s.K ** -0.5), s.gates() if g else None, s.numbers(), A, s.starts, s.indices, s.T]
    return Launch(args, s.defines("K", "BT", BK=BK, USE_G=g, IS_VARLEN=s.starts is not None), (*s.each_chunk(), 1), [A], warps, stages)


def solve(warps, stages, **sizes):
    s = Sizes(**sizes)
    out = zeros(s.B, s.T, s.H, 16, dtype=f32)
    return Launch([s.rows(s.BT, 0.1, f32), out, s.T], s.defines("BT"), (cdiv(s.T, 16), s.B * s.H, 1), [out], warps, stages)


def merge(warps, stages, precision, out=f32, **sizes):
    s = Sizes(**sizes)
    out = zeros(s.B, s.T, s.H, s.BT, dtype=out)
    return Launch([s.rows(s.BT, 0.1, f32), s.rows(16, 0.5, f32), out, s.T], s.defines("BT", PRECISION=precision), (*s.each_chunk(), 1), [out], warps, stages)


def w_u(warps, stages, BK, BV, g=True, **sizes):
    s = Sizes(**sizes)
    w, u = s.no_keys(), s.no_values()
    args = [s.keys(), s.values(), s.numbers(), w, u, s.rows(s.BT, 0.2), s.gates() if g else None, s.starts, s.indices, s.T]
    return Launch(args, s.defines("K", "V", "BT", BK=BK, BV=BV, USE_G=g, IS_VARLEN=s.starts is not None), (*s.each_chunk(), 1), [w, u], warps, stages)


def wy_bwd(warps, stages, BK, BV, **sizes):
    s = Sizes(**sizes)
    dk, dv, dbeta, dg = s.no_keys(), s.no_values(), zeros(s.B, s.T, s.H, dtype=f32), zeros(s.B, s.T, s.H, dtype=f32)
    args = [s.keys(s.K ** -0.5), s.values(), s.numbers(), s.gates(), s.rows(s.BT, 0.1), s.keys(), s.values(), dk, dv, dbeta, dg, s.T]
    return Launch(args, s.defines("K", "V", "BT", BK=BK, BV=BV), (*s.each_chunk(), 1), [dk, dv, dbeta, dg], warps, stages)


def delta_h(warps, stages, BV, g=True, state=True, **sizes):
    s = Sizes(**sizes)
    v_new, h, ht = s.no_values(), s.no_states(), s.no_state() if state else None
    args = [s.keys(s.K ** -0.5), s.values(), s.keys(0.3 * s.K ** -0.5), v_new, s.gates() if g else None, h, s.state() if state else None, ht, s.starts,
            s.offsets, s.T]
    d = s.defines("K", "V", "BT", BV=BV, USE_G=g, USE_INITIAL_STATE=state, STORE_FINAL_STATE=state, IS_VARLEN=s.starts is not None)
    return Launch(args, d, (cdiv(s.V, BV), s.sequences * s.H, 1), [v_new, h, *([ht] if state else [])], warps, stages)


def delta_dhu(warps, stages, BV, g=True, **sizes):
    s = Sizes(**sizes)
    dh0, dh, dv2 = s.no_state(), s.no_states(), s.no_values()
    args = [s.keys(), s.keys(s.K ** -0.5), s.keys(0.3 * s.K ** -0.5), s.gates() if g else None, s.state(), dh0, s.values(), dh, s.values(), dv2,
            s.K ** -0.5, s.T]
    d = s.defines("K", "V", "BT", BV=BV, USE_G=g, USE_FINAL_GRADIENT=True, STORE_INITIAL_GRADIENT=True)
    return Launch(args, d, (cdiv(s.V, BV), s.B * s.H, 1), [dh0, dh, dv2], warps, stages)


# ---------------------------------------------------------------- gates of channels


def cumsum(kernel, warps, reverse=False, BS=None, **sizes):
    s = Sizes(**sizes)
    rest = () if kernel == "cumsum_scalar" else (s.K,)
    g, out = gates(s.B, s.T, s.H, *rest), zeros(s.B, s.T, s.H, *rest, dtype=f32)
    d, parts = s.defines("BT", REVERSE=reverse), cdiv(s.K, BS or 1)
    if kernel == "cumsum_scalar":
        return Launch([g, out, s.T], {**d, "HEAD_FIRST": False}, (*s.each_chunk(), 1), [out], warps)
    d.update(S=s.K, BS=BS)
    return Launch([g, out, s.T], d, (parts, *s.each_chunk()) if kernel == "cumsum_vector" else (parts, s.B * s.H, 1), [out], warps)


def gated_A(kernel, warps, stages, BC, BK, **sizes):
    s = Sizes(**sizes)
    A, d = zeros(s.B, s.T, s.H, s.BT, dtype=f32), s.defines("K", "BT", BC=BC, BK=BK)
    chunks, heads = s.each_chunk()
    parts = s.BT // BC
    if kernel == "gated_A_inter":
        d["NC"], parts = parts, parts * parts
    return Launch([s.keys(), s.keys(), s.gates(s.K), A, s.K ** -0.5, s.T], d, (chunks, parts, heads), [A], warps, stages)


def gated_o(warps, stages, BK, BV, **sizes):
    s = Sizes(**sizes)
    o = s.no_values()
    args = [s.keys(), s.values(), s.gates(s.K), s.states(), o, s.rows(s.BT, dtype=f32), s.K ** -0.5, s.T]
    return Launch(args, s.defines("K", "V", "BT", BK=BK, BV=BV), (cdiv(s.V, BV), *s.each_chunk()), [o], warps, stages)


def gated_dA(warps, stages, BV, **sizes):
    s = Sizes(**sizes)
    dA = zeros(s.B, s.T, s.H, s.BT, dtype=f32)
    return Launch([s.values(), s.values(), dA, 0.125, s.T], s.defines("V", "BT", BV=BV), (*s.each_chunk(), 1), [dA], warps, stages)


def gated_intra(warps, stages, BC, BK, **sizes):
    s = Sizes(**sizes)
    chunks, heads = s.each_chunk()
    dq, dk, parts = zeros(s.B, s.T, s.H, s.K, dtype=f32), zeros(s.B, s.T, s.H, s.K, dtype=f32), s.BT // BC
    args = [s.keys(), s.keys(), s.gates(s.K), s.rows(s.BT, dtype=f32), dq, dk, s.T]
    return Launch(args, s.defines("K", "BT", BC=BC, BK=BK, NC=parts), (cdiv(s.K, BK), chunks * parts, heads), [dq, dk], warps, stages)


# ---------------------------------------------------------------- step after step


def recurrent(warps, BK, BV, back=False, g=False, gk=False, state=True, reverse=False, **sizes):
    s = Sizes(BT=1, **sizes)
    parts_k, parts_v = cdiv(s.K, BK), cdiv(s.V, BV)
    grid, d = (parts_v, parts_k, s.B * s.H), s.defines("K", "V", BK=BK, BV=BV)
    decay = lambda *rest: gates(s.B, s.T, s.H, *rest)
    if back:
        dq, dk, dv = (zeros(n, s.B, s.T, s.H, w, dtype=f32) for n, w in ((parts_v, s.K), (parts_v, s.K), (parts_k, s.V)))
        return Launch([s.keys(), s.keys(s.K ** -0.5), s.values(), decay(s.K), s.values(), dq, dk, dv, s.K ** -0.5, s.B, s.T], d, grid, [dq, dk, dv], warps, 1)
    o, ht = zeros(parts_k, s.B, s.T, s.H, s.V, dtype=f32), s.no_state() if state else None
    d.update(REVERSE=reverse, USE_G=g, USE_GK=gk, USE_INITIAL_STATE=state, STORE_FINAL_STATE=state)
    args = [s.keys(), s.keys(s.K ** -0.5), s.values(), decay() if g else None, decay(s.K) if gk else None, o, s.state() if state else None, ht, s.K ** -0.5,
            s.B, s.T]
    return Launch(args, d, grid, [o, ht] if state else [o], warps, 1)


def recurrent_delta(warps, stages, BV, **sizes):
    s = Sizes(BT=1, **sizes)
    o, ht = s.no_values(), s.no_state()
    args = [s.keys(), s.keys(), s.values(), gates(s.B, s.T, s.H), s.numbers(), o, s.state(), ht, s.K ** -0.5, s.T]
    d = s.defines("K", "V", BK=s.K, BV=BV, USE_NORM=True, STORE_FINAL_STATE=True)
    return Launch(args, d, (cdiv(s.V, BV), s.B * s.H, 1), [o, ht], warps, stages)


def rwkv6(warps, BV, **sizes):
    s = Sizes(BT=1, **sizes)
    o, ht = s.no_values(), s.no_state()
    args = [s.keys(), s.keys(s.K ** -0.5), s.values(), s.keys(), randn(s.H, s.K, dtype=s.kind), o, ht, s.K ** -0.5, s.T]
    return Launch(args, s.defines("K", "V", BK=s.K, BV=BV), (cdiv(s.V, BV), 1, s.B * s.H), [o, ht], warps, 1)


def rwkv7(warps, BV, **sizes):
    s = Sizes(BT=1, **sizes)
    o, ht = s.no_values(), s.no_state()
    args = [s.keys(), gates(s.B, s.T, s.H, s.K), s.keys(s.K ** -0.5), s.values(), s.keys(0.3 * s.K ** -0.5), s.keys(0.3 * s.K ** -0.5), o, s.state(), ht, s.T]
    return Launch(args, s.defines("K", "V", BK=s.K, BV=BV), (cdiv(s.V, BV), s.B * s.H, 1), [o, ht], warps, 1)


# ---------------------------------------------------------------- rows


def l2norm(kernel, rows, D, BT, warps, kind=bf16):
    x, y, r = randn(rows, D, dtype=kind), zeros(rows, D, dtype=kind), zeros(rows, dtype=f32)
    d = {"D": D, "BD": D, "BT": BT}
    if kernel == "l2norm_fwd":
        return Launch([x, y, r, 1e-6, rows], d, (cdiv(rows, BT), 1, 1), [y, r], warps)
    return Launch([x, rand(rows, low=0.5), randn(rows, D, dtype=kind), y, rows], d, (cdiv(rows, BT), 1, 1), [y], warps)


def norm_gated(kernel, rows, D, BT, warps, rms=True, residual=False, kind=bf16, programs=0):
    x, g, w, y = randn(rows, D, dtype=kind), randn(rows, D, dtype=kind), rand(D, low=0.5, high=1.5, dtype=kind), zeros(rows, D, dtype=kind)
    d = {"D": D, "BT": BT, "BD": 1 << (D - 1).bit_length()}
    if kernel == "norm_gated_fwd":
        d.update(IS_RMS=rms, SIGMOID=False, HAS_BIAS=not rms, HAS_RESIDUAL=residual)
        more, mean, rstd = zeros(rows, D, dtype=kind) if residual else None, None if rms else zeros(rows, dtype=f32), zeros(rows, dtype=f32)
        args = [x, g, y, w, None if rms else randn(D, dtype=kind), randn(rows, D, dtype=kind) if residual else None, more, mean, rstd, 1e-5, rows]
        return Launch(args, d, (cdiv(rows, BT), 1, 1), [y, rstd, *([more] if residual else []), *([] if rms else [mean])], warps)
    dg, dw, d["MANY"] = zeros(rows, D, dtype=kind), zeros(programs, D, dtype=f32), cdiv(rows, programs)
    return Launch([x, g, w, randn(rows, D, dtype=kind), y, dg, dw, rand(rows, low=0.5), rows], d, (programs, 1, 1), [y, dg, dw], warps)


def rotary(T, H, D, BT, warps, B=1, interleaved=False, kind=bf16):
    x, y = randn(B, T, H, D, dtype=kind), zeros(B, T, H, D, dtype=kind)
    d = {"H": H, "D": D, "R": D // 2, "BT": BT, "INTERLEAVED": interleaved, "CONJUGATE": interleaved}
    return Launch([x, rand(T, D // 2, low=-1.0), rand(T, D // 2, low=-1.0), y, T], d, (cdiv(T, BT), B, H), [y], warps)


def conv(kernel, D, BD, warps, B=1, T=1, BT=1, kind=bf16):
    w, y, d = randn(D, 4, dtype=kind), zeros(B, T, D, dtype=kind), {"D": D, "W": 4, "BD": BD}
    x, b = randn(B, T, D, dtype=kind), randn(D, dtype=kind)
    if kernel == "conv1d_update":
        new = zeros(B, D, 4, dtype=kind)
        return Launch([x, randn(B, D, 4, dtype=kind), new, w, b, y], {**d, "SILU": True}, (cdiv(D, BD), B, 1), [y, new], warps)
    grid = cdiv(D, BD), cdiv(T, BT), B
    if kernel == "conv1d_fwd":
        return Launch([x, w, b, x, y, T], {**d, "BT": BT, "HAS_BIAS": True, "HAS_RESIDUAL": True, "SILU": True}, grid, [y], warps)
    dw = zeros(B, grid[1], D, 4, dtype=f32)
    return Launch([x, w, randn(B, T, D, dtype=kind), y, dw, T], {**d, "BT": BT}, grid, [y, dw], warps)


def shift(T, D, warps, B=1, kind=bf16):
    x, y, out = randn(B, T, D, dtype=kind), zeros(B, T, D, dtype=kind), zeros(B, T, D, dtype=kind)
    return Launch([x, y, randn(D, dtype=kind), out, None], {"D": D, "BD": 1 << (D - 1).bit_length(), "IS_VARLEN": False}, (B, T, 1), [y, out], warps)


# ---------------------------------------------------------------- attention, Mamba 2


def attention(warps, stages, groups, BS, window=None, **sizes):
    s = Sizes(**sizes)
    heads = s.H * groups
    q, o = randn(s.B, s.T, heads, s.K, dtype=s.kind), zeros(s.B, s.T, heads, s.V, dtype=s.kind)
    lse = zeros(s.B, s.T, heads, dtype=f32)
    d = s.defines("K", "V", "BT", HQ=heads, G=groups, BS=BS, BK=s.K, BV=s.V, WINDOW=window, IS_VARLEN=s.starts is not None)
    chunks, programs = s.each_chunk()
    return Launch([q, s.keys(), s.values(), o, lse, s.starts, s.indices, s.K ** -0.5, s.T], d, (1, chunks, programs * groups), [o, lse], warps, stages)


def retention(warps, stages, BS, BV, **sizes):
    s = Sizes(**sizes)
    o = s.no_values()
    args, d = [s.keys(), s.keys(), s.values(), o, s.K ** -0.5, s.T], s.defines("K", "V", "BT", BS=BS, BK=s.K, BV=BV)
    return Launch(args, d, (cdiv(s.V, BV), *s.each_chunk()), [o], warps, stages)


def ssd(kernel, B, T, H, P, N, BT, tile, warps, stages, G=1, kind=bf16, z=False):
    chunks = cdiv(T, BT)
    x, c, dt = randn(B, T, H, P, dtype=kind), randn(B, T, G, N, dtype=kind, scale=N ** -0.5), rand(B, H, chunks, BT, high=0.5)
    dA = gates(B * H * chunks, BT, chunk=BT, low=-0.05).view(B, H, chunks, BT)
    d, programs = dict(zip(("BM", "BN", "BK"), tile)), (B * chunks, H)
    if kernel == "chunk_products":
        rows, out = B * T, zeros(B * chunks * G * BT, BT, dtype=kind)
        boxes = [Box(randn(rows, G * N, dtype=kind), [tile[0], tile[2]]), Box(c.view(rows, G * N), [tile[1], tile[2]]), Box(out, list(tile[:2]))]
        return Launch([*boxes, chunks], {**d, "G": G, "N": N, "BT": BT}, (cdiv(BT, tile[0]) * cdiv(BT, tile[1]), B * chunks, G), [out], warps, stages)
    d["BT"], near = BT, [dt.stride(0), dt.stride(1), dt.stride(2)]
    states = (randn if kernel == "ssd_chunk_scan" else zeros)(B, chunks, H, P, N, dtype=kind)
    if kernel == "ssd_chunk_state":
        args = [x, c, states, dt, dA, P, N, T, chunks, H // G, *x.stride()[:3], *c.stride()[:3], *states.stride()[:3], *near]
        return Launch(args, d, (cdiv(P, tile[0]) * cdiv(N, tile[1]), *programs), [states], warps, stages)
    cb, out = randn(B, chunks, G, BT, BT, dtype=kind, scale=0.1), zeros(B, T, H, P, dtype=kind)
    args = [cb, x, randn(B, T, H, P, dtype=kind) if z else None, out, dt, dA, c, states, randn(H, dtype=f32), P, N, T, chunks, H // G, *cb.stride()[:3],
            *x.stride()[:3], *near, *c.stride()[:3], *states.stride()[:3]]
    d.update(BD=N, HAS_D=True, HAS_Z=z)
    return Launch(args, d, (cdiv(BT, tile[0]) * cdiv(P, tile[1]), *programs), [out], warps, stages)


def fwd_o_boxes(warps, stages, BK, BV, **sizes):
    s = Sizes(**sizes)
    o, rows, BT = s.no_values(), s.B * s.T, s.BT
    key, value = (lambda: Box(s.keys().view(rows, s.H * s.K), [BT, BK])), (lambda a: Box(a.view(rows, s.H * s.V), [BT, BV]))
    args = [key(), key(), value(s.values()), Box(s.states().view(-1, s.V), [BK, BV]), value(o), s.gates(), s.K ** -0.5, s.T, s.T // BT]
    return Launch(args, s.defines("K", "V", "BT", BK=BK, BV=BV), (cdiv(s.V, BV), *s.each_chunk()), [args[4].array], warps, stages)


# ---------------------------------------------------------------- the table

HEADS, FEW = dict(B=4, T=4096, H=16), dict(B=1, T=150, H=2)
LENGTHS, SHORT = dict(lengths=[4096, 1000, 7000, 300, 3988], T=0, H=16), dict(lengths=[70, 5, 100], T=0, H=2)
STEPS, BRIEF = dict(B=4, T=2048, H=16), dict(B=1, T=24, H=2)
NAMES = {bf16: "bf16", f16: "fp16", f32: "fp32"}


def many(file, kernel, build, *each, full=HEADS, small=FEW, what=""):
    """A call for each dict of `each`; its title from what is said of sizes"""
    for one in each:
        one = dict(one)
        note, big, little = one.pop("what", what), one.pop("full", full), one.pop("small", small)
        size = "×".join(str(one[n]) for n in ("K", "V") if n in one)
        length = f"{len(big['lengths'])} lengths×{big['H']}" if "lengths" in big else f"{big['B']}×{big['T']}×{big['H']}"
        words = [f"{NAMES[one.get('kind', bf16)]} {length}" + (f"×{size}" if size else ""), f"chunks of {one['BT']}" if one.get("BT", 1) > 1 else "",
                 note, f"{one['warps']} warp{'s' * (one['warps'] > 1)}"]
        add(file, kernel, ", ".join(filter(None, words)), build, big, little, **one)


wide, square = dict(K=128, V=128), dict(K=64, V=64)
many("chunks.py", "chunk_fwd_h", fwd_h,
     dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, g=True, state=True, what="g"),
     dict(**wide, BT=64, BK=64, BV=64, warps=8, stages=2, gk=True, state=True, what="gk"),
     dict(**square, BT=32, BK=32, BV=64, warps=2, stages=3, what="no gate", kind=f16),
     dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=2, g=True, state=True, what="g", full=LENGTHS, small=SHORT))
many("chunks.py", "chunk_bwd_dh", bwd_dh, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, g=True, state=True, what="g"),
     dict(**square, BT=16, BK=64, BV=64, warps=2, stages=4, gk=True, what="gk"))
many("chunks.py", "chunk_fwd_o", fwd_o, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, what="g"),
     dict(**wide, BT=64, BK=128, BV=128, warps=8, stages=2, what="g"), dict(K=256, V=256, BT=32, BK=64, BV=64, warps=2, stages=3, what="g", kind=f16,
     full=dict(B=4, T=4096, H=8)), dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=2, what="g", full=LENGTHS, small=SHORT))
many("chunks.py", "chunk_bwd_dqkwg", bwd_dqkwg, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, what="g"),
     dict(**wide, BT=64, BK=64, BV=64, warps=8, stages=2, w=True, what="g, w"), dict(**square, BT=32, BK=32, BV=64, warps=2, stages=3, g=False, kind=f16))
many("chunks.py", "chunk_bwd_dv", bwd_dv, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, what="g"),
     dict(**wide, BT=64, BK=128, BV=64, warps=4, stages=2, state=False, what="g, within chunks"))
many("chunks.py", "fused_chunk", fused, dict(K=64, V=128, BT=32, BV=32, warps=1, stages=3), dict(**wide, BT=64, BV=64, warps=4, stages=2, kind=f16))

many("delta.py", "chunk_scaled_dot_kkt", kkt, dict(K=128, BT=64, BK=64, warps=4, stages=3, what="g"),
     dict(K=128, BT=32, BK=64, warps=2, stages=3, g=False), dict(K=128, BT=64, BK=128, warps=8, stages=2, full=LENGTHS, small=SHORT, what="g"))
many("delta.py", "solve_tril_16", solve, dict(kind=f32, BT=64, warps=1, stages=4), dict(kind=f32, BT=64, warps=2, stages=2))
many("delta.py", "merge_16_to_32", merge, dict(kind=f32, BT=32, warps=1, stages=3, precision="ieee", what="IEEE"))
many("delta.py", "merge_16_to_64", merge, dict(kind=f32, BT=64, warps=4, stages=3, precision="tf32", what="tf32", out=bf16),
     dict(kind=f32, BT=64, warps=2, stages=4, precision="ieee", what="IEEE"))
many("delta.py", "recompute_w_u", w_u, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3, what="g"),
     dict(**wide, BT=32, BK=64, BV=64, warps=2, stages=2, full=LENGTHS, small=SHORT, kind=f16, what="g"))
many("delta.py", "prepare_wy_bwd", wy_bwd, dict(**wide, BT=64, BK=64, BV=64, warps=4, stages=3), dict(**wide, BT=32, BK=32, BV=32, warps=2, stages=4, kind=f16))
many("delta.py", "delta_fwd_h", delta_h, dict(**wide, BT=64, BV=32, warps=4, stages=2, what="g"), dict(K=256, V=256, BT=64, BV=32, warps=4, stages=1, what="g",
     full=dict(B=4, T=4096, H=8)), dict(**wide, BT=64, BV=64, warps=2, stages=3, what="g", full=LENGTHS, small=SHORT))
many("delta.py", "delta_bwd_dhu", delta_dhu, dict(**wide, BT=64, BV=32, warps=4, stages=2, what="g"), dict(**wide, BT=32, BV=64, warps=2, stages=1, g=False))

many("gated.py", "cumsum_scalar", cumsum, dict(kind=f32, kernel="cumsum_scalar", BT=64, warps=1), dict(kind=f32, kernel="cumsum_scalar", BT=64, warps=4,
     reverse=True,
     what="reversed"), full=dict(B=8, T=8192, H=64))
many("gated.py", "cumsum_vector", cumsum, dict(kind=f32, kernel="cumsum_vector", K=128, BT=64, BS=32, warps=4), dict(kind=f32, kernel="cumsum_vector",
     K=128, BT=32, BS=64, warps=2,
     reverse=True, what="reversed"))
many("gated.py", "cumsum_whole", cumsum, dict(kind=f32, kernel="cumsum_whole", K=128, BT=32, BS=32, warps=4, reverse=True, what="reversed"))
many("gated.py", "gated_A_inter", gated_A, dict(kernel="gated_A_inter", K=128, BT=64, BC=16, BK=64, warps=1, stages=3))
many("gated.py", "gated_A_diagonal", gated_A, dict(kernel="gated_A_diagonal", K=128, BT=64, BC=16, BK=128, warps=4, stages=3),
     dict(kernel="gated_A_diagonal", K=64, BT=64, BC=16, BK=64, warps=1, stages=3, kind=f16))
many("gated.py", "gated_fwd_o", gated_o, dict(**wide, BT=64, BK=32, BV=64, warps=4, stages=3))
many("gated.py", "gated_bwd_dA", gated_dA, dict(V=128, BT=64, BV=64, warps=4, stages=3))
many("gated.py", "gated_bwd_intra", gated_intra, dict(K=128, BT=64, BC=16, BK=64, warps=2, stages=3), dict(K=64, BT=32, BC=16, BK=32, warps=1, stages=3,
     kind=f16))

many("steps.py", "recurrent_fwd", recurrent, dict(**wide, BK=64, BV=8, warps=1, gk=True, what="gk"), dict(**wide, BK=128, BV=32, warps=4, g=True, reverse=True,
     what="g, reversed", kind=f16), full=STEPS, small=BRIEF)
many("steps.py", "recurrent_bwd", recurrent, dict(**wide, BK=64, BV=16, warps=1, back=True), full=STEPS, small=BRIEF)
many("steps.py", "recurrent_delta_fwd", recurrent_delta, dict(**wide, BV=8, warps=1, stages=3), dict(**wide, BV=32, warps=4, stages=1), full=STEPS, small=BRIEF)
many("steps.py", "rwkv6_fwd", rwkv6, dict(**square, BV=16, warps=1), full=dict(B=4, T=2048, H=32), small=BRIEF)
many("steps.py", "rwkv7_fwd", rwkv7, dict(**square, BV=64, warps=4), dict(**square, BV=16, warps=1), full=dict(B=4, T=2048, H=32), small=BRIEF)

for name in ("l2norm_fwd", "l2norm_bwd"):
    add("rows.py", name, "bf16 262144×128, 8 warps", l2norm, dict(rows=262144, BT=32), dict(rows=70, BT=16), kernel=name, D=128, warps=8)
add("rows.py", "norm_gated_fwd", "bf16 262144×128, RMS, 4 warps", norm_gated, dict(rows=262144), dict(rows=70), kernel="norm_gated_fwd", D=128, BT=16, warps=4)
add("rows.py", "norm_gated_fwd", "bf16 16384×2048, with a residual, 8 warps", norm_gated, dict(rows=16384, D=2048), dict(rows=5, D=200),
     kernel="norm_gated_fwd",
    BT=1, warps=8, rms=False, residual=True)
add("rows.py", "norm_gated_bwd", "bf16 262144×128, RMS, 4 warps", norm_gated, dict(rows=262144, programs=528), dict(rows=70, programs=3),
    kernel="norm_gated_bwd", D=128, BT=8, warps=4)
for pairs in (False, True):
    add("rows.py", "rotary", f"bf16 4×4096×16×128, {'pairs' if pairs else 'halves'}, 4 warps", rotary, dict(B=4, T=4096, H=16), dict(T=70, H=2), D=128, BT=32,
        warps=4, interleaved=pairs)
add("rows.py", "conv1d_fwd", "bf16 4×4096×2048, 4 warps", conv, dict(B=4, T=4096, D=2048), dict(T=70, D=100), kernel="conv1d_fwd", BT=64, BD=32, warps=4)
add("rows.py", "conv1d_bwd", "bf16 4×4096×2048, 4 warps", conv, dict(B=4, T=4096, D=2048), dict(T=70, D=100), kernel="conv1d_bwd", BT=32, BD=64, warps=4)
add("rows.py", "conv1d_update", "bf16 512×4096, 4 warps", conv, dict(B=512, D=4096), dict(B=3, D=100), kernel="conv1d_update", BD=64, warps=4)
add("rows.py", "token_shift", "bf16 4×4096×2048, 4 warps", shift, dict(B=4, T=4096, D=2048), dict(B=2, T=7, D=200), warps=4)

many("attention.py", "parallel_fwd", attention, dict(**wide, BT=128, BS=64, groups=4, warps=8, stages=3, window=1024, what="window 1024"),
     dict(**square, BT=64, BS=32, groups=4, warps=4, stages=2, full={**LENGTHS, "H": 8}, small=SHORT, kind=f16), full=dict(B=4, T=4096, H=4))
many("attention.py", "retention_fwd", retention, dict(K=128, V=256, BT=64, BS=32, BV=128, warps=4, stages=2), full=dict(B=4, T=2048, H=16),
     small=dict(B=1, T=192, H=2))
SSD, LITTLE = dict(B=4, T=4096, H=64), dict(B=1, T=150, H=2)
add("attention.py", "ssd_chunk_state", "bf16 4×4096×64×64×128, chunks of 256, 4 warps", ssd, SSD, LITTLE, kernel="ssd_chunk_state", P=64, N=128, BT=256,
    tile=(64, 128, 32), warps=4, stages=3)
add("attention.py", "ssd_chunk_scan", "bf16 4×4096×64×64×128, chunks of 256, 4 warps", ssd, SSD, LITTLE, kernel="ssd_chunk_scan", P=64, N=128, BT=256,
    tile=(128, 64, 32), warps=4, stages=3, z=True)
add("attention.py", "ssd_chunk_scan", "fp16 4×4096×64×64×64, chunks of 128, 2 warps", ssd, SSD, LITTLE, kernel="ssd_chunk_scan", P=64, N=64, BT=128,
    tile=(64, 32, 32), warps=2, stages=4, kind=f16)
add("attention.py", "chunk_products", "bf16 4×4096×8×128, chunks of 256, descriptors, 4 warps", ssd, dict(B=4, T=4096, H=8), dict(B=1, T=512, H=2),
    kernel="chunk_products", P=64, N=128, BT=256, tile=(128, 128, 64), warps=4, stages=3, G=8)
many("attention.py", "chunk_fwd_o_boxes", fwd_o_boxes, dict(**wide, BT=64, BK=64, BV=128, warps=4, stages=3, what="g, descriptors"), small=dict(B=1,
     T=192, H=2))
