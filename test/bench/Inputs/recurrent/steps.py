"""Recurrences step after step: linear attention with gates and its way back, the delta rule, RWKV's sixth and seventh. A program has a part of a head's state.

q, k [B, T, H, K]; v, o [B, T, H, V]; g, beta [B, T, H]; gk, w, a, b [B, T, H, K]; h0, ht [B, H, K, V]; results of several parts of the keys
[parts, B, T, H, V] are summed later.
"""
import triton
import triton.language as tl


@triton.jit
def recurrent_fwd(q, k, v, g, gk, o, h0, ht, scale, B, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
                  REVERSE: tl.constexpr, USE_G: tl.constexpr, USE_GK: tl.constexpr, USE_INITIAL_STATE: tl.constexpr, STORE_FINAL_STATE: tl.constexpr):
    i_v, i_k, i_nh = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_n, i_h = i_nh // H, i_nh % H
    bos = i_n * T
    o_k = i_k * BK + tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    first = bos + ((T - 1) if REVERSE else 0)
    p_q = q + (first * H + i_h) * K + o_k
    p_k = k + (first * H + i_h) * K + o_k
    p_v = v + (first * H + i_h) * V + o_v
    p_o = o + ((i_k * B * T + first) * H + i_h) * V + o_v
    if USE_G:
        p_g = g + first * H + i_h
    if USE_GK:
        p_gk = gk + (first * H + i_h) * K + o_k
    m_k = o_k < K
    m_v = o_v < V
    m_h = m_k[None, :] & m_v[:, None]
    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    if USE_INITIAL_STATE:
        p_h0 = h0 + i_nh * K * V + o_k[None, :] * V + o_v[:, None]
        b_h += tl.load(p_h0, mask=m_h, other=0).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q, mask=m_k, other=0).to(tl.float32) * scale
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        if USE_G:
            b_h = b_h * tl.exp(tl.load(p_g).to(tl.float32))
        if USE_GK:
            b_h = b_h * tl.exp(tl.load(p_gk, mask=m_k, other=0).to(tl.float32))[None, :]
        b_h += b_k[None, :] * b_v[:, None]
        b_o = tl.sum(b_h * b_q[None, :], axis=1)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=m_v)
        p_q += (-1 if REVERSE else 1) * H * K
        p_k += (-1 if REVERSE else 1) * H * K
        p_v += (-1 if REVERSE else 1) * H * V
        p_o += (-1 if REVERSE else 1) * H * V
        if USE_G:
            p_g += (-1 if REVERSE else 1) * H
        if USE_GK:
            p_gk += (-1 if REVERSE else 1) * H * K
    if STORE_FINAL_STATE:
        p_ht = ht + i_nh * K * V + o_k[None, :] * V + o_v[:, None]
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), mask=m_h)


@triton.jit
def recurrent_bwd(q, k, v, gk, do, dq, dk, dv, scale, B, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """Forwards for the gradient of q, backwards for those of k and v"""
    i_v, i_k, i_nh = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_n, i_h = i_nh // H, i_nh % H
    bos = i_n * T
    o_k = i_k * BK + tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k = o_k < K
    m_v = o_v < V
    p_k = k + (bos * H + i_h) * K + o_k
    p_v = v + (bos * H + i_h) * V + o_v
    p_do = do + (bos * H + i_h) * V + o_v
    p_dq = dq + ((i_v * B * T + bos) * H + i_h) * K + o_k
    p_gk = gk + (bos * H + i_h) * K + o_k
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    for _ in range(0, T):
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        b_do = tl.load(p_do, mask=m_v, other=0).to(tl.float32)
        b_h = b_h * tl.exp(tl.load(p_gk, mask=m_k, other=0).to(tl.float32))[:, None]
        b_h += b_k[:, None] * b_v[None, :]
        b_dq = tl.sum(b_h * b_do[None, :], axis=1) * scale
        tl.store(p_dq, b_dq.to(p_dq.dtype.element_ty), mask=m_k)
        p_k += H * K
        p_v += H * V
        p_do += H * V
        p_dq += H * K
        p_gk += H * K

    tl.debug_barrier()
    last = bos + T - 1
    p_q = q + (last * H + i_h) * K + o_k
    p_k = k + (last * H + i_h) * K + o_k
    p_v = v + (last * H + i_h) * V + o_v
    p_do = do + (last * H + i_h) * V + o_v
    p_dk = dk + ((i_v * B * T + last) * H + i_h) * K + o_k
    p_dv = dv + ((i_k * B * T + last) * H + i_h) * V + o_v
    p_gk = gk + (last * H + i_h) * K + o_k
    b_dh = tl.zeros([BK, BV], dtype=tl.float32)
    for _ in range(T):
        b_q = tl.load(p_q, mask=m_k, other=0).to(tl.float32) * scale
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        b_do = tl.load(p_do, mask=m_v, other=0).to(tl.float32)
        b_dh += b_q[:, None] * b_do[None, :]
        b_dk = tl.sum(b_dh * b_v[None, :], axis=1)
        b_dv = tl.sum(b_dh * b_k[:, None], axis=0)
        b_dh *= tl.exp(tl.load(p_gk, mask=m_k, other=0).to(tl.float32))[:, None]
        tl.store(p_dk, b_dk.to(p_dk.dtype.element_ty), mask=m_k)
        tl.store(p_dv, b_dv.to(p_dv.dtype.element_ty), mask=m_v)
        p_q -= H * K
        p_k -= H * K
        p_v -= H * V
        p_do -= H * V
        p_dk -= H * K
        p_dv -= H * V
        p_gk -= H * K


@triton.jit
def recurrent_delta_fwd(q, k, v, g, beta, o, h0, ht, scale, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
                        USE_NORM: tl.constexpr, STORE_FINAL_STATE: tl.constexpr):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_h = i_nh // H, i_nh % H
    bos = i_n * T
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k = o_k < K
    m_v = o_v < V
    m_h = m_k[:, None] & m_v[None, :]
    p_q = q + (bos * H + i_h) * K + o_k
    p_k = k + (bos * H + i_h) * K + o_k
    p_v = v + (bos * H + i_h) * V + o_v
    p_g = g + bos * H + i_h
    p_beta = beta + bos * H + i_h
    p_o = o + (bos * H + i_h) * V + o_v
    p_h0 = h0 + i_nh * K * V + o_k[:, None] * V + o_v[None, :]
    b_h = tl.load(p_h0, mask=m_h, other=0).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q, mask=m_k, other=0).to(tl.float32)
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        b_g = tl.load(p_g).to(tl.float32)
        if USE_NORM:
            b_q = b_q / (tl.sqrt(tl.sum(b_q * b_q)) + 1e-6)
            b_k = b_k / (tl.sqrt(tl.sum(b_k * b_k)) + 1e-6)
        b_q = b_q * scale
        b_h *= tl.exp(b_g)
        b_v -= tl.sum(b_h * b_k[:, None], 0)
        b_v *= tl.load(p_beta).to(tl.float32)
        b_h += b_k[:, None] * b_v[None, :]
        b_o = tl.sum(b_h * b_q[:, None], 0)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=m_v)
        p_q += H * K
        p_k += H * K
        p_v += H * V
        p_o += H * V
        p_g += H
        p_beta += H
    if STORE_FINAL_STATE:
        p_ht = ht + i_nh * K * V + o_k[:, None] * V + o_v[None, :]
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), mask=m_h)


@triton.jit
def rwkv6_fwd(r, k, v, w, u, o, ht, scale, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """The current step's product counts by u, later ones by what w leaves of it."""
    i_v, i_k, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    o_k = i_k * BK + tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k = o_k < K
    m_v = o_v < V
    base_k, base_v = (i_b * T * H + i_h) * K, (i_b * T * H + i_h) * V
    b_u = tl.load(u + i_h * K + o_k, mask=m_k, other=0).to(tl.float32)
    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    for i in range(T):
        b_k = tl.load(k + base_k + i * H * K + o_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(v + base_v + i * H * V + o_v, mask=m_v, other=0).to(tl.float32)
        b_r = tl.load(r + base_k + i * H * K + o_k, mask=m_k, other=0).to(tl.float32) * scale
        b_w = tl.load(w + base_k + i * H * K + o_k, mask=m_k, other=0).to(tl.float32)
        b_kv = b_k[None, :] * b_v[:, None]
        b_o = tl.sum((b_h + b_kv * b_u[None, :]) * b_r[None, :], axis=1)
        b_h = b_h * tl.exp(-tl.exp(b_w))[None, :] + b_kv
        tl.store(o + base_v + i * H * V + o_v, b_o.to(o.dtype.element_ty), mask=m_v)
    tl.store(ht + i_bh * K * V + o_k[None, :] * V + o_v[:, None], b_h, mask=m_k[None, :] & m_v[:, None])


@triton.jit
def rwkv7_fwd(r, w, k, v, a, b, o, h0, ht, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """A state that decays and is changed by a matrix of rank 1, as block pointers that are advanced"""
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    base_k, base_v = (i_b * T * H + i_h) * K, (i_b * T * H + i_h) * V
    p_r = tl.make_block_ptr(r + base_k, (T * H * K,), (1,), (0,), (BK,), (0,))
    p_w = tl.make_block_ptr(w + base_k, (T * H * K,), (1,), (0,), (BK,), (0,))
    p_k = tl.make_block_ptr(k + base_k, (T * H * K,), (1,), (0,), (BK,), (0,))
    p_a = tl.make_block_ptr(a + base_k, (T * H * K,), (1,), (0,), (BK,), (0,))
    p_b = tl.make_block_ptr(b + base_k, (T * H * K,), (1,), (0,), (BK,), (0,))
    p_v = tl.make_block_ptr(v + base_v, (T * H * V,), (1,), (i_v * BV,), (BV,), (0,))
    p_o = tl.make_block_ptr(o + base_v, (T * H * V,), (1,), (i_v * BV,), (BV,), (0,))
    p_h0 = tl.make_block_ptr(h0 + i_bh * K * V, (V, K), (K, 1), (i_v * BV, 0), (BV, BK), (1, 0))
    p_ht = tl.make_block_ptr(ht + i_bh * K * V, (V, K), (K, 1), (i_v * BV, 0), (BV, BK), (1, 0))
    b_h = tl.load(p_h0).to(tl.float32)
    for _ in range(0, T):
        b_r = tl.load(p_r).to(tl.float32)
        b_w = tl.load(p_w).to(tl.float32)
        b_k = tl.load(p_k).to(tl.float32)
        b_a = tl.load(p_a).to(tl.float32)
        b_b = tl.load(p_b).to(tl.float32)
        b_v = tl.load(p_v).to(tl.float32)
        b_s = tl.sum(b_h * b_a[None, :], axis=1)
        b_h = b_h * tl.exp(b_w)[None, :] + b_s[:, None] * b_b[None, :] + b_v[:, None] * b_k[None, :]
        b_o = tl.sum(b_h * b_r[None, :], axis=1)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty))
        p_r = tl.advance(p_r, (H * K,))
        p_w = tl.advance(p_w, (H * K,))
        p_k = tl.advance(p_k, (H * K,))
        p_a = tl.advance(p_a, (H * K,))
        p_b = tl.advance(p_b, (H * K,))
        p_v = tl.advance(p_v, (H * V,))
        p_o = tl.advance(p_o, (H * V,))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty))
