"""What layers of such models do beside: norms and their ways back, gated norms, rotations, short convolutions, shifts by one step; no products."""
import triton
import triton.language as tl


@triton.jit
def l2norm_fwd(x, y, rstd, eps, rows, D: tl.constexpr, BD: tl.constexpr, BT: tl.constexpr):
    i_t = tl.program_id(0)
    p_x = tl.make_block_ptr(x, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_y = tl.make_block_ptr(y, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_rstd = tl.make_block_ptr(rstd, (rows,), (1,), (i_t * BT,), (BT,), (0,))
    b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
    b_rstd = 1 / tl.sqrt(tl.sum(b_x * b_x, 1) + eps)
    b_y = b_x * b_rstd[:, None]
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_rstd, b_rstd.to(p_rstd.dtype.element_ty), boundary_check=(0,))


@triton.jit
def l2norm_bwd(y, rstd, dy, dx, rows, D: tl.constexpr, BD: tl.constexpr, BT: tl.constexpr):
    i_t = tl.program_id(0)
    p_y = tl.make_block_ptr(y, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dy = tl.make_block_ptr(dy, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dx = tl.make_block_ptr(dx, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_rstd = tl.make_block_ptr(rstd, (rows,), (1,), (i_t * BT,), (BT,), (0,))
    b_y = tl.load(p_y, boundary_check=(0, 1)).to(tl.float32)
    b_rstd = tl.load(p_rstd, boundary_check=(0,)).to(tl.float32)
    b_dy = tl.load(p_dy, boundary_check=(0, 1)).to(tl.float32)
    b_dx = b_dy * b_rstd[:, None] - tl.sum(b_dy * b_y, 1)[:, None] * b_y * b_rstd[:, None]
    tl.store(p_dx, b_dx.to(p_dx.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def norm_gated_fwd(x, g, y, w, b, residual, residual_out, mean, rstd, eps, rows, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, IS_RMS: tl.constexpr,
                   SIGMOID: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_RESIDUAL: tl.constexpr):
    """A layer's norm, with a weight, then a gate beside it: swish or sigmoid"""
    i_t = tl.program_id(0)
    o_d = tl.arange(0, BD)
    m_d = o_d < D
    p_x = tl.make_block_ptr(x, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
    if HAS_RESIDUAL:
        p_r = tl.make_block_ptr(residual, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
        p_ro = tl.make_block_ptr(residual_out, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
        b_x += tl.load(p_r, boundary_check=(0, 1)).to(tl.float32)
        tl.store(p_ro, b_x.to(p_ro.dtype.element_ty), boundary_check=(0, 1))
    if not IS_RMS:
        b_mean = tl.sum(b_x, axis=1) / D
        p_mean = tl.make_block_ptr(mean, (rows,), (1,), (i_t * BT,), (BT,), (0,))
        tl.store(p_mean, b_mean.to(p_mean.dtype.element_ty), boundary_check=(0,))
        b_xbar = tl.where(m_d[None, :], b_x - b_mean[:, None], 0.0)
    else:
        b_xbar = tl.where(m_d[None, :], b_x, 0.0)
    b_rstd = 1 / tl.sqrt(tl.sum(b_xbar * b_xbar, axis=1) / D + eps)
    p_rstd = tl.make_block_ptr(rstd, (rows,), (1,), (i_t * BT,), (BT,), (0,))
    tl.store(p_rstd, b_rstd.to(p_rstd.dtype.element_ty), boundary_check=(0,))
    b_y = b_xbar * b_rstd[:, None] * tl.load(w + o_d, mask=m_d).to(tl.float32)[None, :]
    if HAS_BIAS:
        b_y += tl.load(b + o_d, mask=m_d).to(tl.float32)[None, :]
    p_g = tl.make_block_ptr(g, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_g = tl.load(p_g, boundary_check=(0, 1)).to(tl.float32)
    b_y = b_y * (tl.sigmoid(b_g) if SIGMOID else b_g * tl.sigmoid(b_g))
    p_y = tl.make_block_ptr(y, (rows, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def norm_gated_bwd(x, g, w, dy, dx, dg, dw, rstd, rows, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, MANY: tl.constexpr):
    """The way back of the root mean square's norm with swish; a program takes MANY rows and has sums for w of its own."""
    i_s = tl.program_id(0)
    o_d = tl.arange(0, BD)
    m_d = o_d < D
    b_w = tl.load(w + o_d, mask=m_d, other=0).to(tl.float32)
    b_dw = tl.zeros([BT, BD], dtype=tl.float32)
    end = min(i_s * MANY + MANY, rows)
    for i_t in range(i_s * MANY, end, BT):
        p_x = tl.make_block_ptr(x, (end, D), (D, 1), (i_t, 0), (BT, BD), (1, 0))
        p_g = tl.make_block_ptr(g, (end, D), (D, 1), (i_t, 0), (BT, BD), (1, 0))
        p_dy = tl.make_block_ptr(dy, (end, D), (D, 1), (i_t, 0), (BT, BD), (1, 0))
        p_dx = tl.make_block_ptr(dx, (end, D), (D, 1), (i_t, 0), (BT, BD), (1, 0))
        p_dg = tl.make_block_ptr(dg, (end, D), (D, 1), (i_t, 0), (BT, BD), (1, 0))
        p_rstd = tl.make_block_ptr(rstd, (end,), (1,), (i_t,), (BT,), (0,))
        b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
        b_g = tl.load(p_g, boundary_check=(0, 1)).to(tl.float32)
        b_dy = tl.load(p_dy, boundary_check=(0, 1)).to(tl.float32)
        b_rstd = tl.load(p_rstd, boundary_check=(0,))
        b_xhat = b_x * b_rstd[:, None]
        b_sig = tl.sigmoid(b_g)
        b_dg = b_dy * b_xhat * b_w[None, :] * (b_sig + b_g * b_sig * (1 - b_sig))
        b_dy = b_dy * b_g * b_sig
        b_dw += b_dy * b_xhat
        b_wdy = b_dy * b_w[None, :]
        b_c = tl.sum(b_xhat * b_wdy, axis=1) / D
        b_dx = (b_wdy - b_xhat * b_c[:, None]) * b_rstd[:, None]
        tl.store(p_dx, b_dx.to(p_dx.dtype.element_ty), boundary_check=(0, 1))
        tl.store(p_dg, b_dg.to(p_dg.dtype.element_ty), boundary_check=(0, 1))
    tl.store(dw + i_s * D + o_d, tl.sum(b_dw, axis=0), mask=m_d)


@triton.jit
def rotary(x, cos, sin, y, T, H: tl.constexpr, D: tl.constexpr, R: tl.constexpr, BT: tl.constexpr, INTERLEAVED: tl.constexpr, CONJUGATE: tl.constexpr):
    """The first 2R of D channels, by halves or by pairs"""
    i_t, i_b, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    x = x + i_b * T * H * D + i_h * D
    y = y + i_b * T * H * D + i_h * D
    o_t = i_t * BT + tl.arange(0, BT)
    m_t = o_t < T
    if not INTERLEAVED:
        o_r = tl.arange(0, R)
        p_x = x + o_t[:, None] * H * D + o_r[None, :]
        p_cos = cos + o_t[:, None] * R + o_r[None, :]
        p_sin = sin + o_t[:, None] * R + o_r[None, :]
        mask = (o_t[:, None] >= 0) & m_t[:, None] & (o_r < R)[None, :]
        b_cos = tl.load(p_cos, mask=mask, other=1.0).to(tl.float32)
        b_sin = tl.load(p_sin, mask=mask, other=0.0).to(tl.float32)
        b_x0 = tl.load(p_x, mask=mask, other=0.0).to(tl.float32)
        b_x1 = tl.load(p_x + R, mask=mask, other=0.0).to(tl.float32)
        if CONJUGATE:
            b_sin = -b_sin
        p_y = y + o_t[:, None] * H * D + o_r[None, :]
        tl.store(p_y, b_x0 * b_cos - b_x1 * b_sin, mask=mask)
        tl.store(p_y + R, b_x0 * b_sin + b_x1 * b_cos, mask=mask)
    else:
        o_d = tl.arange(0, 2 * R)
        o_swap = o_d + ((o_d + 1) % 2) * 2 - 1
        o_cs = o_d // 2
        mask = m_t[:, None] & (o_d < 2 * R)[None, :]
        b_cos = tl.load(cos + o_t[:, None] * R + o_cs[None, :], mask=mask, other=1.0).to(tl.float32)
        b_sin = tl.load(sin + o_t[:, None] * R + o_cs[None, :], mask=mask, other=0.0).to(tl.float32)
        b_x0 = tl.load(x + o_t[:, None] * H * D + o_d[None, :], mask=mask, other=0.0).to(tl.float32)
        b_x1 = tl.load(x + o_t[:, None] * H * D + o_swap[None, :], mask=mask, other=0.0).to(tl.float32)
        if CONJUGATE:
            b_sin = -b_sin
        b_y = tl.where(o_d[None, :] % 2 == 0, b_x0 * b_cos - b_x1 * b_sin, b_x0 * b_cos + b_x1 * b_sin)
        tl.store(y + o_t[:, None] * H * D + o_d[None, :], b_y, mask=mask)


@triton.jit
def conv1d_fwd(x, w, b, residual, y, T, D: tl.constexpr, W: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, HAS_BIAS: tl.constexpr,
               HAS_RESIDUAL: tl.constexpr, SILU: tl.constexpr):
    """A causal convolution of W steps, each channel for itself; the W weights of a channel are one block, of which a column is summed out each turn."""
    i_d, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_d = i_d * BD + tl.arange(0, BD)
    o_w = tl.arange(0, W)
    m_d = o_d < D
    b_w = tl.load(w + o_d[:, None] * W + o_w, mask=m_d[:, None], other=0).to(tl.float32)
    b_y = tl.zeros([BT, BD], dtype=tl.float32)
    for i_w in tl.static_range(-W + 1, 1):
        p_x = tl.make_block_ptr(x + i_b * T * D, (T, D), (D, 1), (i_t * BT + i_w, i_d * BD), (BT, BD), (1, 0))
        b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
        b_x *= tl.sum(b_w * (o_w == (i_w + W - 1)), 1)
        b_y += b_x
    if HAS_BIAS:
        b_y += tl.load(b + o_d, mask=m_d, other=0).to(tl.float32)
    if SILU:
        b_y = b_y * tl.sigmoid(b_y)
    if HAS_RESIDUAL:
        p_r = tl.make_block_ptr(residual + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
        b_y += tl.load(p_r, boundary_check=(0, 1))
    p_y = tl.make_block_ptr(y + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    tl.store(p_y, tl.cast(b_y, dtype=p_y.dtype.element_ty, fp_downcast_rounding="rtne"), boundary_check=(0, 1))


@triton.jit
def conv1d_bwd(x, w, dy, dx, dw, T, D: tl.constexpr, W: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """dw [B, chunks, D, W]: sums of a program"""
    i_d, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_d = i_d * BD + tl.arange(0, BD)
    o_w = tl.arange(0, W)
    m_d = o_d < D
    i_tg = i_b * tl.num_programs(1) + i_t
    p_x = tl.make_block_ptr(x + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
    b_w = tl.load(w + o_d[:, None] * W + o_w, mask=m_d[:, None], other=0).to(tl.float32)
    b_dx = tl.zeros([BT, BD], dtype=tl.float32)
    for i_w in tl.static_range(0, W):
        p_dy = tl.make_block_ptr(dy + i_b * T * D, (T, D), (D, 1), (i_t * BT + i_w, i_d * BD), (BT, BD), (1, 0))
        b_dy = tl.load(p_dy, boundary_check=(0, 1)).to(tl.float32)
        b_dx += b_dy * tl.sum(b_w * (o_w == (W - i_w - 1)), 1)
        tl.store(dw + (i_tg * D + o_d) * W + W - i_w - 1, tl.sum(b_dy * b_x, 0), mask=m_d)
    p_dx = tl.make_block_ptr(dx + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    tl.store(p_dx, b_dx.to(p_dx.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def conv1d_update(x, cache, new_cache, w, b, y, D: tl.constexpr, W: tl.constexpr, BD: tl.constexpr, SILU: tl.constexpr):
    """One step more: the cache [B, D, W] moves on by it."""
    i_d, i_n = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    o_w = tl.arange(0, W)
    m_d = o_d < D
    m_c = m_d[:, None] & (o_w < W - 1)[None, :]
    b_x = tl.load(x + i_n * D + o_d, mask=m_d, other=0).to(tl.float32)
    b_cache = tl.load(cache + i_n * D * W + o_d[:, None] * W + o_w[None, :] + 1, mask=m_c, other=0).to(tl.float32)
    b_cache = tl.where(m_c, b_cache, b_x[:, None])
    b_w = tl.load(w + o_d[:, None] * W + o_w[None, :], mask=m_d[:, None], other=0).to(tl.float32)
    b_y = tl.sum(b_cache * b_w, 1) + tl.load(b + o_d, mask=m_d, other=0).to(tl.float32)
    if SILU:
        b_y = b_y * tl.sigmoid(b_y)
    tl.store(y + i_n * D + o_d, b_y.to(y.dtype.element_ty), mask=m_d)
    tl.store(new_cache + i_n * D * W + o_d[:, None] * W + o_w[None, :], b_cache.to(cache.dtype.element_ty), mask=m_d[:, None])


@triton.jit
def token_shift(x, y, mix, out, cu_seqlens, D: tl.constexpr, BD: tl.constexpr, IS_VARLEN: tl.constexpr):
    """What the step before has more than this one, and x by it"""
    i_b, i_t = tl.program_id(0), tl.program_id(1)
    T = tl.num_programs(1)
    i = i_b * T + i_t
    if IS_VARLEN:
        first = i_t == tl.load(cu_seqlens + i_b)
    else:
        first = i_t == 0
    o_d = tl.arange(0, BD)
    m_d = o_d < D
    b_x = tl.load(x + i * D + o_d, mask=m_d, other=0).to(tl.float32)
    if first:
        b_d = -b_x
    else:
        b_d = tl.load(x + (i - 1) * D + o_d, mask=m_d, other=0).to(tl.float32) - b_x
    tl.store(y + i * D + o_d, b_d.to(y.dtype.element_ty), mask=m_d)
    b_m = tl.load(mix + o_d, mask=m_d, other=0).to(tl.float32)
    tl.store(out + i * D + o_d, (b_x + b_d * b_m).to(out.dtype.element_ty), mask=m_d)
