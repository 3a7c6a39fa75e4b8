"""Attention: forward and backward, of packed sequences, of paged caches."""
import triton
import triton.language as tl


@triton.jit
def flash_inner(acc, l_i, m_i, q, K_block, V_block, start_m, qk_scale, lo, hi, offs_m, offs_n,
                MASKED: tl.constexpr, BLOCK_N: tl.constexpr):
    K_block = tl.advance(K_block, (0, lo))
    V_block = tl.advance(V_block, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block)
        qk = tl.dot(q, k)
        if MASKED:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V_block)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        V_block = tl.advance(V_block, (BLOCK_N, 0))
        K_block = tl.advance(K_block, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.jit
def flash_forward(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, sm_scale, H, T, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """Attention of B x H x T x D with block pointers: what lies before the diagonal first, without
    masks, then the diagonal."""
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    base = bh.to(tl.int64) * T * D
    Q = tl.make_block_ptr(q_ptr + base, (T, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D),
                          (1, 0))
    V = tl.make_block_ptr(v_ptr + base, (T, D), (D, 1), (0, 0), (BLOCK_N, D), (1, 0))
    K = tl.make_block_ptr(k_ptr + base, (D, T), (1, D), (0, 0), (D, BLOCK_N), (0, 1))
    O = tl.make_block_ptr(o_ptr + base, (T, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D),
                          (1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    q = tl.load(Q)
    if CAUSAL:
        acc, l_i, m_i = flash_inner(acc, l_i, m_i, q, K, V, start_m, qk_scale, 0, start_m * BLOCK_M,
                                    offs_m, offs_n, False, BLOCK_N)
        acc, l_i, m_i = flash_inner(acc, l_i, m_i, q, K, V, start_m, qk_scale, start_m * BLOCK_M,
                                    (start_m + 1) * BLOCK_M, offs_m, offs_n, True, BLOCK_N)
    else:
        acc, l_i, m_i = flash_inner(acc, l_i, m_i, q, K, V, start_m, qk_scale, 0, T, offs_m, offs_n,
                                    False, BLOCK_N)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(lse_ptr + bh * T + offs_m, m_i)
    tl.store(O, acc.to(o_ptr.dtype.element_ty))


@triton.jit
def attention_masked(q_ptr, k_ptr, v_ptr, slopes_ptr, o_ptr, scale, T, stride_qb, stride_qh,
                     stride_qt, stride_kb, stride_kh, stride_kt, HQ: tl.constexpr,
                     GROUP: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                     BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, WINDOW: tl.constexpr,
                     ALIBI: tl.constexpr):
    """Causal attention by pointers and masks: heads share keys (GQA), a sliding window or slopes of
    ALiBi; heads need not be of a power of two."""
    pid_m = tl.program_id(0)
    b = tl.program_id(1) // HQ
    h = tl.program_id(1) % HQ
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    q_ptrs = q_ptr + b * stride_qb + h * stride_qh + offs_m[:, None] * stride_qt + offs_d[None, :]
    k_base = b * stride_kb + (h // GROUP) * stride_kh
    mask_d = offs_d < D
    q = tl.load(q_ptrs, mask=(offs_m[:, None] < T) & mask_d[None, :], other=0.0)
    q = (q * scale).to(q.dtype)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    if ALIBI:
        slope = tl.load(slopes_ptr + h)
    first = 0
    if WINDOW > 0:
        first = tl.maximum(pid_m * BLOCK_M - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    last = tl.minimum((pid_m + 1) * BLOCK_M, T)
    for start in range(first, last, BLOCK_N):
        n = start + offs_n
        k = tl.load(k_ptr + k_base + n[None, :] * stride_kt + offs_d[:, None],
                    mask=(n[None, :] < T) & mask_d[:, None], other=0.0)
        s = tl.dot(q, k)
        mask = (offs_m[:, None] >= n[None, :]) & (n[None, :] < T)
        if WINDOW > 0:
            mask = mask & (offs_m[:, None] - n[None, :] < WINDOW)
        if ALIBI:
            s -= slope * (offs_m[:, None] - n[None, :])
        s = tl.where(mask, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(s - safe[:, None])
        alpha = tl.exp(m_i - safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + k_base + n[:, None] * stride_kt + offs_d[None, :],
                    mask=(n[:, None] < T) & mask_d[None, :], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    o_ptrs = o_ptr + b * stride_qb + h * stride_qh + offs_m[:, None] * stride_qt + offs_d[None, :]
    tl.store(o_ptrs, acc.to(o_ptr.dtype.element_ty), mask=(offs_m[:, None] < T) & mask_d[None, :])


@triton.jit
def prefill_varlen(q_ptr, k_ptr, v_ptr, start_ptr, length_ptr, o_ptr, scale, stride_qt, stride_kt,
                   GROUP: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """Prompts of several lengths, packed, tokens x heads x channels; a grid for the longest."""
    b = tl.program_id(0)
    h = tl.program_id(1)
    start_m = tl.program_id(2)
    length = tl.load(length_ptr + b)
    begin = tl.load(start_ptr + b)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (begin + offs_m[:, None]) * stride_qt + h * D + d[None, :],
                mask=offs_m[:, None] < length, other=0.0)
    k_ptrs = k_ptr + offs_n[None, :] * stride_kt + (h // GROUP) * D + d[:, None]
    v_ptrs = v_ptr + offs_n[:, None] * stride_kt + (h // GROUP) * D + d[None, :]
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    block = tl.where(start_m * BLOCK_M < length, 1, 0)
    for start_n in range(0, block * tl.minimum((start_m + 1) * BLOCK_M, length), BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_ptrs + (begin + start_n) * stride_kt,
                    mask=(start_n + offs_n[None, :]) < length, other=0.0)
        qk = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        qk += tl.dot(q, k)
        qk *= scale
        qk += tl.where((offs_m[:, None] >= (start_n + offs_n[None, :])), 0, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptrs + (begin + start_n) * stride_kt,
                    mask=(start_n + offs_n[:, None]) < length, other=0.0)
        acc = acc * alpha[:, None]
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_ij
    acc = acc / l_i[:, None]
    tl.store(o_ptr + (begin + offs_m[:, None]) * stride_qt + h * D + d[None, :],
             acc.to(o_ptr.dtype.element_ty), mask=offs_m[:, None] < length)


@triton.jit
def paged_decode_split(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, part_ptr, lse_ptr, scale,
                       table_stride, HK: tl.constexpr, GROUP: tl.constexpr, PAD: tl.constexpr,
                       D: tl.constexpr, PAGE: tl.constexpr, BLOCK_N: tl.constexpr,
                       SPLITS: tl.constexpr):
    """One new token of each request: a program has a group of heads and a share of the cache, whose
    pages are looked up in a table."""
    b = tl.program_id(0)
    hk = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(length_ptr + b)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    begin = share * split
    end = tl.minimum(begin + share, length)
    g = tl.arange(0, PAD)
    d = tl.arange(0, D)
    heads = hk * GROUP + g
    q = tl.load(q_ptr + (b * HK * GROUP + heads[:, None]) * D + d[None, :],
                mask=g[:, None] < GROUP, other=0.0)
    m_i = tl.full([PAD], -float("inf"), dtype=tl.float32)
    l_i = tl.zeros([PAD], dtype=tl.float32)
    acc = tl.zeros([PAD, D], dtype=tl.float32)
    if end > begin:
        for start in range(begin, end, BLOCK_N):
            n = start + tl.arange(0, BLOCK_N)
            page = tl.load(table_ptr + b * table_stride + n // PAGE, mask=n < end, other=0)
            at = (page.to(tl.int64) * PAGE + n % PAGE) * HK * D + hk * D
            k = tl.load(k_ptr + at[None, :] + d[:, None], mask=n[None, :] < end, other=0.0)
            qk = tl.dot(q, k) * scale
            qk = tl.where((g[:, None] < GROUP) & (n[None, :] < end), qk, float("-inf"))
            m_new = tl.maximum(tl.max(qk, 1), m_i)
            m_new = tl.where(m_new == float("-inf"), 0.0, m_new)
            v = tl.load(v_ptr + at[:, None] + d[None, :], mask=n[:, None] < end, other=0.0)
            p = tl.exp(qk - m_new[:, None])
            alpha = tl.exp(m_i - m_new)
            acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
            l_i = l_i * alpha + tl.sum(p, 1)
            m_i = m_new
        place = (b * HK * GROUP + heads) * SPLITS + split
        tl.store(part_ptr + place[:, None] * D + d[None, :], acc / l_i[:, None],
                 mask=g[:, None] < GROUP)
        tl.store(lse_ptr + place, m_i + tl.log(l_i), mask=g < GROUP)


@triton.jit
def paged_decode_merge(part_ptr, lse_ptr, length_ptr, o_ptr, H: tl.constexpr, D: tl.constexpr,
                       BLOCK_N: tl.constexpr, SPLITS: tl.constexpr):
    """The shares of the same put together, those that are empty left out."""
    b = tl.program_id(0)
    h = tl.program_id(1)
    length = tl.load(length_ptr + b)
    d = tl.arange(0, D)
    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    for split in range(0, SPLITS):
        if share * split < length:
            place = (b * H + h) * SPLITS + split
            part = tl.load(part_ptr + place * D + d)
            lse = tl.load(lse_ptr + place)
            m_new = tl.maximum(lse, m_i)
            alpha = tl.exp(m_i - m_new)
            weight = tl.exp(lse - m_new)
            acc = acc * alpha + weight * part
            l_i = l_i * alpha + weight
            m_i = m_new
    tl.store(o_ptr + (b * H + h) * D + d, acc / l_i)


@triton.jit
def paged_decode_vector(q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, o_ptr, scale, table_stride,
                        H, HK, D: tl.constexpr, PAGE: tl.constexpr):
    """The same for one head at a time, no products of matrices: a page in a turn, sums instead."""
    b = tl.program_id(0)
    h = tl.program_id(1)
    hk = h // (H // HK)
    length = tl.load(length_ptr + b)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (b * H + h) * D + d).to(tl.float32) * scale
    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for i in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table_ptr + b * table_stride + i).to(tl.int64)
        n = tl.arange(0, PAGE)
        offs = (page * PAGE + n[:, None]) * HK * D + hk * D + d[None, :]
        mask = i * PAGE + n < length
        k = tl.load(k_ptr + offs, mask=mask[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[None, :] * k, axis=1)
        s = tl.where(mask, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=0))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new)
        v = tl.load(v_ptr + offs, mask=mask[:, None], other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        l_i = l_i * alpha + tl.sum(p, axis=0)
        m_i = m_new
    tl.store(o_ptr + (b * H + h) * D + d, (acc / l_i).to(o_ptr.dtype.element_ty))


@triton.jit
def attention_delta(o_ptr, do_ptr, delta_ptr, T, BLOCK_M: tl.constexpr, D: tl.constexpr):
    """sum(o * do) of each row, before the way back."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    bh = tl.program_id(1)
    d = tl.arange(0, D)
    o = tl.load(o_ptr + bh * T * D + m[:, None] * D + d[None, :])
    do = tl.load(do_ptr + bh * T * D + m[:, None] * D + d[None, :]).to(tl.float32)
    tl.store(delta_ptr + bh * T + m, tl.sum(o * do, axis=1))


@triton.jit
def attention_backward_kv(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, T,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """Gradients of keys and values of a block, over queries from the diagonal on; powers of 2."""
    start_n = tl.program_id(0) * BLOCK_N
    bh = tl.program_id(1)
    base = bh * T * D
    d = tl.arange(0, D)
    offs_n = start_n + tl.arange(0, BLOCK_N)
    k = tl.load(k_ptr + base + offs_n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + base + offs_n[:, None] * D + d[None, :])
    k = (k * (scale * 1.44269504)).to(k.dtype)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    first = start_n // BLOCK_M * BLOCK_M
    for start_m in range(first, T, BLOCK_M):
        offs_m = start_m + tl.arange(0, BLOCK_M)
        qT = tl.load(q_ptr + base + offs_m[None, :] * D + d[:, None])
        m = tl.load(lse_ptr + bh * T + offs_m)
        qkT = tl.dot(k, qT)
        pT = tl.math.exp2(qkT - m[None, :])
        pT = tl.where(offs_m[None, :] >= offs_n[:, None], pT, 0.0)
        do = tl.load(do_ptr + base + offs_m[:, None] * D + d[None, :])
        dv += tl.dot(pT.to(do.dtype), do)
        delta = tl.load(delta_ptr + bh * T + offs_m)
        dpT = tl.dot(v, tl.trans(do)).to(tl.float32)
        dsT = pT * (dpT - delta[None, :])
        dk += tl.dot(dsT.to(do.dtype), tl.trans(qT))
    tl.store(dv_ptr + base + offs_n[:, None] * D + d[None, :], dv.to(dv_ptr.dtype.element_ty))
    dk *= scale
    tl.store(dk_ptr + base + offs_n[:, None] * D + d[None, :], dk.to(dk_ptr.dtype.element_ty))


@triton.jit
def attention_backward_q(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, scale, T,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """Gradients of a block of queries, over keys up to the diagonal."""
    start_m = tl.program_id(0) * BLOCK_M
    bh = tl.program_id(1)
    base = bh * T * D
    d = tl.arange(0, D)
    offs_m = start_m + tl.arange(0, BLOCK_M)
    q = tl.load(q_ptr + base + offs_m[:, None] * D + d[None, :])
    do = tl.load(do_ptr + base + offs_m[:, None] * D + d[None, :])
    m = tl.load(lse_ptr + bh * T + offs_m)[:, None]
    delta = tl.load(delta_ptr + bh * T + offs_m)
    dq = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in range(0, start_m + BLOCK_M, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        kT = tl.load(k_ptr + base + offs_n[None, :] * D + d[:, None])
        vT = tl.load(v_ptr + base + offs_n[None, :] * D + d[:, None])
        qk = tl.dot(q, kT) * (scale * 1.44269504)
        p = tl.math.exp2(qk - m)
        p = tl.where(offs_m[:, None] >= offs_n[None, :], p, 0.0)
        dp = tl.dot(do, vT).to(tl.float32)
        ds = (p * (dp - delta[:, None])).to(kT.dtype)
        dq += tl.dot(ds, tl.trans(kT))
    tl.store(dq_ptr + base + offs_m[:, None] * D + d[None, :],
             (dq * scale).to(dq_ptr.dtype.element_ty))


@triton.jit
def merge_states(a_ptr, a_lse_ptr, b_ptr, b_lse_ptr, o_ptr, lse_ptr, H, D: tl.constexpr,
                 PAD: tl.constexpr):
    """Two attentions of the same queries, to a shared prefix and to what follows, made one."""
    t = tl.program_id(0)
    h = tl.program_id(1)
    tokens = tl.num_programs(0)
    a_lse = tl.load(a_lse_ptr + h * tokens + t)
    b_lse = tl.load(b_lse_ptr + h * tokens + t)
    a_lse = float("-inf") if a_lse == float("inf") else a_lse
    b_lse = float("-inf") if b_lse == float("inf") else b_lse
    most = tl.maximum(a_lse, b_lse)
    a_w = tl.exp(a_lse - most)
    b_w = tl.exp(b_lse - most)
    total = a_w + b_w
    tl.store(lse_ptr + h * tokens + t, tl.log(total) + most)
    d = tl.arange(0, PAD)
    offs = (t * H + h) * D + d
    a = tl.load(a_ptr + offs, mask=d < D)
    b = tl.load(b_ptr + offs, mask=d < D)
    tl.store(o_ptr + offs, a * (a_w / total) + b * (b_w / total), mask=d < D)
