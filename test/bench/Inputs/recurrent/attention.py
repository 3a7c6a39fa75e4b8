"""What is measured beside recurrences: attention with a window and lengths, retention, and Mamba 2's chunks.

q [B, T, HQ, K]; k [B, T, H, K]; v [B, T, H, V]; o [B, T, HQ, V]. Mamba 2: x [B, T, H, P], dt and dA [B, H, chunks, BT], b and c [B, T, G, N],
states [B, chunks, H, P, N].
"""
import triton
import triton.language as tl


@triton.jit
def add_scores(b_s, b_v, b_m, b_acc, b_o):
    """To the sums of a softmax over what came before"""
    b_mp = b_m
    b_m = tl.maximum(b_m, tl.max(b_s, 1))
    b_r = tl.exp2(b_mp - b_m)
    b_p = tl.exp2(b_s - b_m[:, None])
    b_acc = b_acc * b_r + tl.sum(b_p, 1)
    return b_m, b_acc, b_o * b_r[:, None] + tl.dot(b_p.to(b_v.dtype), b_v)


@triton.jit
def parallel_fwd(q, k, v, o, lse, cu_seqlens, chunk_indices, scale, T, HQ: tl.constexpr, H: tl.constexpr, G: tl.constexpr, K: tl.constexpr, V: tl.constexpr,
                 BT: tl.constexpr, BS: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr, WINDOW: tl.constexpr, IS_VARLEN: tl.constexpr):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_hq = i_bh // HQ, i_bh % HQ
    i_h = i_hq // G
    if IS_VARLEN:
        i_n, i_t = tl.load(chunk_indices + i_t * 2).to(tl.int32), tl.load(chunk_indices + i_t * 2 + 1).to(tl.int32)
        bos, eos = tl.load(cu_seqlens + i_n).to(tl.int32), tl.load(cu_seqlens + i_n + 1).to(tl.int32)
        T = eos - bos
    else:
        bos = i_b * T
    p_q = tl.make_block_ptr(q + (bos * HQ + i_hq) * K, (T, K), (HQ * K, 1), (i_t * BT, 0), (BT, BK), (1, 0))
    p_o = tl.make_block_ptr(o + (bos * HQ + i_hq) * V, (T, V), (HQ * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    p_lse = tl.make_block_ptr(lse + bos * HQ + i_hq, (T,), (HQ,), (i_t * BT,), (BT,), (0,))
    b_q = tl.load(p_q, boundary_check=(0, 1))
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_m = tl.full([BT], float("-inf"), dtype=tl.float32)
    b_acc = tl.zeros([BT], dtype=tl.float32)
    o_q = i_t * BT + tl.arange(0, BT)
    begin = 0
    if WINDOW is not None:
        begin = max(i_t * BT - WINDOW + 1, 0) // BS * BS
    for i_s in range(begin, i_t * BT, BS):
        p_k = tl.make_block_ptr(k + (bos * H + i_h) * K, (K, T), (1, H * K), (0, i_s), (BK, BS), (0, 1))
        p_v = tl.make_block_ptr(v + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_s, i_v * BV), (BS, BV), (1, 0))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_s = tl.dot(b_q, b_k) * scale * 1.44269504
        if WINDOW is not None:
            o_s = i_s + tl.arange(0, BS)
            b_s = tl.where(o_q[:, None] - o_s[None, :] < WINDOW, b_s, -1e30)
        b_m, b_acc, b_o = add_scores(b_s, b_v, b_m, b_acc, b_o)
    for i_s in range(i_t * BT, min((i_t + 1) * BT, T), BS):
        p_k = tl.make_block_ptr(k + (bos * H + i_h) * K, (K, T), (1, H * K), (0, i_s), (BK, BS), (0, 1))
        p_v = tl.make_block_ptr(v + (bos * H + i_h) * V, (T, V), (H * V, 1), (i_s, i_v * BV), (BS, BV), (1, 0))
        o_s = i_s + tl.arange(0, BS)
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_s = tl.dot(b_q, b_k) * scale * 1.44269504
        m_s = (o_q[:, None] >= o_s[None, :]) & (o_s < T)[None, :]
        if WINDOW is not None:
            m_s = m_s & (o_q[:, None] - o_s[None, :] < WINDOW)
        b_s = tl.where(m_s, b_s, -1e30)
        b_m, b_acc, b_o = add_scores(b_s, b_v, b_m, b_acc, b_o)
    b_o = b_o / b_acc[:, None]
    b_m += tl.log2(b_acc)
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_lse, b_m.to(p_lse.dtype.element_ty), boundary_check=(0,))


@triton.jit
def retention_fwd(q, k, v, o, scale, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, BK: tl.constexpr,
                  BV: tl.constexpr):
    """No softmax: a head's scores decay by 1 - 2 ** (-5 - head) a step."""
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    b_b = tl.log2(1 - tl.exp2(-5 - i_h * 1.0))
    base_k, base_v = (i_b * T * H + i_h) * K, (i_b * T * H + i_h) * V
    p_q = tl.make_block_ptr(q + base_k, (T, K), (H * K, 1), (i_t * BT, 0), (BT, BK), (1, 0))
    p_k = tl.make_block_ptr(k + base_k, (K, T), (1, H * K), (0, 0), (BK, BS), (0, 1))
    p_v = tl.make_block_ptr(v + base_v, (T, V), (H * V, 1), (0, i_v * BV), (BS, BV), (1, 0))
    b_q = tl.load(p_q, boundary_check=(0, 1))
    b_q = (b_q * scale).to(b_q.dtype)
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    o_k = tl.arange(0, BS)
    o_q = tl.arange(0, BT)
    d_h = tl.exp2((BS - o_k) * b_b)
    for _ in range(0, i_t * BT, BS):
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_s = tl.dot(b_q, b_k, allow_tf32=False) * d_h[None, :]
        b_o = b_o * tl.exp2(b_b * BS)
        b_o = b_o + tl.dot(b_s.to(b_v.dtype), b_v, allow_tf32=False)
        p_k = tl.advance(p_k, (0, BS))
        p_v = tl.advance(p_v, (BS, 0))
    tl.debug_barrier()
    b_o *= tl.exp2(o_q * b_b)[:, None]
    p_k = tl.make_block_ptr(k + base_k, (K, T), (1, H * K), (0, i_t * BT), (BK, BS), (0, 1))
    p_v = tl.make_block_ptr(v + base_v, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BS, BV), (1, 0))
    for _ in range(i_t * BT, (i_t + 1) * BT, BS):
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        m_s = o_q[:, None] >= o_k[None, :]
        d_s = tl.where(m_s, tl.exp2((o_q[:, None] - o_k[None, :]) * b_b), 0)
        b_s = tl.dot(b_q, b_k, allow_tf32=False) * d_s
        b_o += tl.dot(b_s.to(b_q.dtype), b_v, allow_tf32=False)
        p_k = tl.advance(p_k, (0, BS))
        p_v = tl.advance(p_v, (BS, 0))
        o_k += BS
    p_o = tl.make_block_ptr(o + base_v, (T, V), (H * V, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def ssd_chunk_state(x, b, states, dt, dA, P, N, length, chunks, per_group, x_batch, x_step, x_head, b_batch, b_step, b_head, s_batch, s_chunk, s_head,
                    d_batch, d_head, d_chunk, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """What a chunk of BT steps adds to the state: P×N, a product over its steps"""
    pid_bc, pid_h = tl.program_id(1).to(tl.int64), tl.program_id(2)
    pid_b, pid_c = pid_bc // chunks, pid_bc % chunks
    many = tl.cdiv(N, BN)
    pid_m, pid_n = tl.program_id(0) // many, tl.program_id(0) % many
    b += pid_b * b_batch + pid_c * BT * b_step + (pid_h // per_group) * b_head
    x += pid_b * x_batch + pid_c * BT * x_step + pid_h * x_head
    dt += pid_b * d_batch + pid_c * d_chunk + pid_h * d_head
    dA += pid_b * d_batch + pid_c * d_chunk + pid_h * d_head
    o_m = pid_m * BM + tl.arange(0, BM)
    o_n = pid_n * BN + tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    p_x = x + o_m[:, None] + o_k[None, :] * x_step
    p_b = b + o_n[None, :] + o_k[:, None] * b_step
    last = tl.load(dA + BT - 1).to(tl.float32)
    limit = min(BT, length - pid_c * BT)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i_k in range(0, limit, BK):
        t_x = tl.load(p_x, mask=(o_m[:, None] < P) & (o_k[None, :] < limit - i_k), other=0.0)
        t_b = tl.load(p_b, mask=(o_k[:, None] < limit - i_k) & (o_n[None, :] < N), other=0.0).to(tl.float32)
        t_dA = tl.load(dA + i_k + o_k, mask=o_k < limit - i_k, other=0.0).to(tl.float32)
        t_dt = tl.load(dt + i_k + o_k, mask=o_k < limit - i_k, other=0.0).to(tl.float32)
        t_b *= (tl.exp(last - t_dA) * t_dt)[:, None]
        acc += tl.dot(t_x, t_b.to(x.dtype.element_ty))
        p_x += BK * x_step
        p_b += BK * b_step
    states += pid_b * s_batch + pid_c * s_chunk + pid_h * s_head
    tl.store(states + o_m[:, None] * N + o_n[None, :], acc.to(states.dtype.element_ty), mask=(o_m[:, None] < P) & (o_n[None, :] < N))


@triton.jit
def ssd_chunk_scan(cb, x, z, out, dt, dA, c, states, D, P, N, length, chunks, per_group, cb_batch, cb_chunk, cb_head, x_batch, x_step, x_head, d_batch, d_head,
                   d_chunk, c_batch, c_step, c_head, s_batch, s_chunk, s_head, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   BD: tl.constexpr, HAS_D: tl.constexpr, HAS_Z: tl.constexpr):
    """From the state before the chunk and from its own steps up to each one; D adds x, z gates."""
    pid_bc, pid_h = tl.program_id(1).to(tl.int64), tl.program_id(2)
    pid_b, pid_c = pid_bc // chunks, pid_bc % chunks
    many = tl.cdiv(P, BN)
    pid_m, pid_n = tl.program_id(0) // many, tl.program_id(0) % many
    group = pid_h // per_group
    cb += pid_b * cb_batch + pid_c * cb_chunk + group * cb_head
    x += pid_b * x_batch + pid_c * BT * x_step + pid_h * x_head
    dt += pid_b * d_batch + pid_c * d_chunk + pid_h * d_head
    dA += pid_b * d_batch + pid_c * d_chunk + pid_h * d_head
    c += pid_b * c_batch + pid_c * BT * c_step + group * c_head
    states += pid_b * s_batch + pid_c * s_chunk + pid_h * s_head
    o_m = pid_m * BM + tl.arange(0, BM)
    o_n = pid_n * BN + tl.arange(0, BN)
    limit = min(BT, length - pid_c * BT)
    t_dA = tl.load(dA + o_m, mask=o_m < BT, other=0.0).to(tl.float32)
    o_d = tl.arange(0, BD)
    t_c = tl.load(c + o_m[:, None] * c_step + o_d[None, :], mask=(o_m[:, None] < limit) & (o_d[None, :] < N), other=0.0)
    t_s = tl.load(states + o_n[None, :] * N + o_d[:, None], mask=(o_d[:, None] < N) & (o_n[None, :] < P), other=0.0).to(c.dtype.element_ty)
    acc = tl.dot(t_c, t_s) * tl.exp(t_dA)[:, None]
    o_k = tl.arange(0, BK)
    p_cb = cb + o_m[:, None] * BT + o_k[None, :]
    p_x = x + o_k[:, None] * x_step + o_n[None, :]
    for i_k in range(0, min((pid_m + 1) * BM, limit), BK):
        t_cb = tl.load(p_cb, mask=(o_m[:, None] < BT) & (o_k[None, :] < BT - i_k), other=0.0).to(tl.float32)
        t_dAk = tl.load(dA + i_k + o_k, mask=o_k < BT - i_k, other=0.0).to(tl.float32)
        t_dtk = tl.load(dt + i_k + o_k, mask=o_k < BT - i_k, other=0.0).to(tl.float32)
        t_cb *= tl.exp(tl.minimum(t_dA[:, None] - t_dAk[None, :], 0.0))
        t_cb *= t_dtk
        t_cb = tl.where(o_m[:, None] >= i_k + o_k[None, :], t_cb, 0.0).to(x.dtype.element_ty)
        t_x = tl.load(p_x, mask=(o_k[:, None] < limit - i_k) & (o_n[None, :] < P), other=0.0)
        acc += tl.dot(t_cb, t_x)
        p_cb += BK
        p_x += BK * x_step
    at = pid_b * x_batch + pid_c * BT * x_step + pid_h * x_head
    mask = (o_m[:, None] < limit) & (o_n[None, :] < P)
    if HAS_D:
        t_D = tl.load(D + pid_h).to(tl.float32)
        acc += tl.load(x + o_m[:, None] * x_step + o_n[None, :], mask=mask, other=0.0).to(tl.float32) * t_D
    if HAS_Z:
        t_z = tl.load(z + at + o_m[:, None] * x_step + o_n[None, :], mask=mask, other=0.0).to(tl.float32)
        acc *= t_z * tl.sigmoid(t_z)
    tl.store(out + at + o_m[:, None] * x_step + o_n[None, :], acc, mask=mask)


@triton.jit
def chunk_products(c, b, out, chunks, G: tl.constexpr, N: tl.constexpr, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c bᵀ of each chunk, from descriptors of [B T, G N]; out [B chunks G BT, BT] is a descriptor too"""
    pid_c, pid_g = tl.program_id(1), tl.program_id(2)
    many: tl.constexpr = BT // BN
    pid_m, pid_n = tl.program_id(0) // many, tl.program_id(0) % many
    if pid_n * BN >= (pid_m + 1) * BM:
        return
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i_k in range(0, N, BK):
        t_c = c.load([pid_c * BT + pid_m * BM, pid_g * N + i_k])
        t_b = b.load([pid_c * BT + pid_n * BN, pid_g * N + i_k])
        acc += tl.dot(t_c, t_b.T)
    out.store([(pid_c * G + pid_g) * BT + pid_m * BM, pid_n * BN], acc.to(tl.bfloat16))


@triton.jit
def chunk_fwd_o_boxes(q, k, v, h, o, g, scale, T, NT, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr,
                      BV: tl.constexpr):
    """A gated chunk's results by descriptors: q, k [B T, H K], v, o [B T, H V], h [B chunks H K, V]"""
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    row = i_b * T + i_t * BT
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(0, K, BK):
        b_q = q.load([row, i_h * K + i_k])
        b_k = k.load([row, i_h * K + i_k])
        b_h = h.load([((i_b * NT + i_t) * H + i_h) * K + i_k, i_v * BV])
        b_o += tl.dot(b_q, b_h)
        b_A += tl.dot(b_q, b_k.T)
    o_t = tl.arange(0, BT)
    b_g = tl.load(g + (row + o_t) * H + i_h)
    b_o = b_o * tl.exp(b_g)[:, None]
    b_A = tl.where(o_t[:, None] >= o_t[None, :], b_A * tl.exp(b_g[:, None] - b_g[None, :]), 0)
    b_v = v.load([row, i_h * V + i_v * BV])
    b_o = (b_o + tl.dot(b_A.to(b_v.dtype), b_v)) * scale
    o.store([row, i_h * V + i_v * BV], b_o.to(tl.bfloat16))
