"""More scans and recurrences: from behind, by segments, of small matrices, in one pass."""
import triton
import triton.language as tl


@triton.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def advantages_reverse(reward_ptr, value_ptr, done_ptr, out_ptr, return_ptr, T, gamma, lam,
                       BLOCK: tl.constexpr):
    """Estimates of advantages: a recurrence from the end of an episode, all of it in a scan."""
    b = tl.program_id(0)
    t = tl.arange(0, BLOCK)
    mask = t < T
    r = tl.load(reward_ptr + b * T + t, mask=mask, other=0.0)
    v = tl.load(value_ptr + b * (T + 1) + t, mask=mask, other=0.0)
    after = tl.load(value_ptr + b * (T + 1) + t + 1, mask=mask, other=0.0)
    goes_on = 1.0 - tl.load(done_ptr + b * T + t, mask=mask, other=0).to(tl.float32)
    delta = r + gamma * after * goes_on - v
    decay = tl.where(mask, gamma * lam * goes_on, 1.0)
    _, adv = tl.associative_scan((decay, tl.where(mask, delta, 0.0)), 0, affine, reverse=True)
    tl.store(out_ptr + b * T + t, adv, mask=mask)
    tl.store(return_ptr + b * T + t, adv + v, mask=mask)


@triton.jit
def segment_add(x1, f1, x2, f2):
    return tl.where(f2 != 0, x2, x1 + x2), f1 | f2


@triton.jit
def segmented_cumsum(x_ptr, flag_ptr, out_ptr, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Sums that begin anew where a flag says so, rows by blocks with what is carried."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    carry = tl.zeros([ROWS, 1], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=0.0)
        f = tl.load(flag_ptr + row * N + n, mask=n < N, other=0).to(tl.int32)
        s, seen = tl.associative_scan((x, f), 1, segment_add)
        s += tl.where(seen != 0, 0.0, carry)
        tl.store(out_ptr + row * N + n, s, mask=n < N)
        last = tl.arange(0, BLOCK)[None, :] == BLOCK - 1
        carry = tl.sum(tl.where(last, s, 0.0), axis=1, keep_dims=True)


@triton.jit
def scan_lookback(x_ptr, y_ptr, state_ptr, n, BLOCK: tl.constexpr):
    """A sum of all before, in one pass: each block says what it has, then looks back for the rest.
    A word of 64 bits holds what is known (1: of the block, 2: up to it) and the number."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    s = tl.cumsum(x, axis=0)
    total = tl.sum(x, axis=0).to(tl.int64)
    if pid == 0:
        tl.atomic_xchg(state_ptr + pid, (tl.full([], 2, tl.int64) << 32) | total)
        before = total * 0
    else:
        tl.atomic_xchg(state_ptr + pid, (tl.full([], 1, tl.int64) << 32) | total)
        before = total * 0
        at = pid - 1
        while at >= 0:
            word = tl.atomic_add(state_ptr + at, 0)
            known = word >> 32
            if known == 2:
                before += word & 0xFFFFFFFF
                at = -1
            elif known == 1:
                before += word & 0xFFFFFFFF
                at -= 1
        tl.atomic_xchg(state_ptr + pid, (tl.full([], 2, tl.int64) << 32) | (before + total))
    tl.store(y_ptr + i, before + s, mask=i < n)


@triton.jit
def times(a, b, c, d, e, f, g, h):
    return e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d


@triton.jit
def matrix_scan(m_ptr, out_ptr, T, C, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr):
    """Products of all matrices of 2 × 2 so far, of several channels: four numbers a step."""
    t = tl.arange(0, BLOCK_T)[:, None]
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    mask = (t < T) & (c < C)
    step = T * C
    at = t * C + c
    m00 = tl.load(m_ptr + at, mask=mask, other=1.0)
    m01 = tl.load(m_ptr + step + at, mask=mask, other=0.0)
    m10 = tl.load(m_ptr + 2 * step + at, mask=mask, other=0.0)
    m11 = tl.load(m_ptr + 3 * step + at, mask=mask, other=1.0)
    p00, p01, p10, p11 = tl.associative_scan((m00, m01, m10, m11), 0, times)
    tl.store(out_ptr + at, p00, mask=mask)
    tl.store(out_ptr + step + at, p01, mask=mask)
    tl.store(out_ptr + 2 * step + at, p10, mask=mask)
    tl.store(out_ptr + 3 * step + at, p11, mask=mask)


@triton.jit
def wkv_steps(w_ptr, u_ptr, k_ptr, v_ptr, y_ptr, state_ptr, T, C, BLOCK: tl.constexpr):
    """Attention without heads: two sums and their largest exponent, a step after the other."""
    b = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = c < C
    w = -tl.exp(tl.load(w_ptr + c, mask=mask, other=0.0))
    u = tl.load(u_ptr + c, mask=mask, other=0.0)
    k_ptr += b * T * C
    v_ptr += b * T * C
    y_ptr += b * T * C
    alpha = tl.zeros([BLOCK], tl.float32)
    beta = tl.zeros([BLOCK], tl.float32)
    eps = tl.full([BLOCK], -1e38, tl.float32)
    for t in range(T):
        k = tl.load(k_ptr + t * C + c, mask=mask, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + t * C + c, mask=mask, other=0.0).to(tl.float32)
        ukt = u + k
        tau = tl.maximum(ukt, eps)
        e1 = tl.exp(eps - tau)
        e2 = tl.exp(ukt - tau)
        y = (e1 * alpha + e2 * v) / (e1 * beta + e2)
        tl.store(y_ptr + t * C + c, y.to(y_ptr.dtype.element_ty), mask=mask)
        w_eps = w + eps
        higher = tl.maximum(w_eps, k)
        e1 = tl.exp(w_eps - higher)
        e2 = tl.exp(k - higher)
        alpha = e1 * alpha + e2 * v
        beta = e1 * beta + e2
        eps = higher
    tl.store(state_ptr + (b * 3 + 0) * C + c, alpha, mask=mask)
    tl.store(state_ptr + (b * 3 + 1) * C + c, beta, mask=mask)
    tl.store(state_ptr + (b * 3 + 2) * C + c, eps, mask=mask)


@triton.jit
def decayed_blocks(q_ptr, k_ptr, v_ptr, slope_ptr, o_ptr, state_ptr, T, H, D: tl.constexpr,
                   E: tl.constexpr, BLOCK: tl.constexpr, BE: tl.constexpr):
    """Linear attention with a decay of the head, block by block: within, from before, the state."""
    bh, e0 = tl.program_id(0).to(tl.int64), tl.program_id(1) * BE
    slope = tl.load(slope_ptr + bh % H).to(tl.float32)
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    e = e0 + tl.arange(0, BE)
    q_decay = tl.exp(-slope * i[:, None])
    k_decay = tl.exp(-slope * (BLOCK - i[None, :]))
    block_decay = tl.exp(-slope * BLOCK)
    index = i[:, None] - i[None, :]
    s_index = tl.where(index >= 0, -slope * index, float("-inf"))
    diag = tl.exp(s_index)
    kv = tl.zeros([D, BE], dtype=tl.float32)
    q = q_ptr + bh * T * D + i[:, None] * D + d[None, :]
    k = k_ptr + bh * T * D + i[None, :] * D + d[:, None]
    v = v_ptr + bh * T * E + i[:, None] * E + e[None, :]
    o = o_ptr + bh * T * E + i[:, None] * E + e[None, :]
    for start in range(0, T, BLOCK):
        bq = tl.load(q, mask=(start + i)[:, None] < T, other=0.0).to(tl.float32)
        bk = tl.load(k, mask=(start + i)[None, :] < T, other=0.0).to(tl.float32)
        bv = tl.load(v, mask=(start + i)[:, None] < T, other=0.0).to(tl.float32)
        inside = tl.dot(tl.dot(bq, bk) * diag, bv)
        before = tl.dot(bq, kv) * q_decay
        tl.store(o, (inside + before).to(o_ptr.dtype.element_ty), mask=(start + i)[:, None] < T)
        kv = block_decay * kv + tl.dot(bk * k_decay, bv)
        q += BLOCK * D
        k += BLOCK * D
        v += BLOCK * E
        o += BLOCK * E
    tl.store(state_ptr + bh * D * E + d[:, None] * E + e[None, :], kv)


@triton.jit
def learned_at_test(q_ptr, k_ptr, v_ptr, eta_ptr, w_ptr, o_ptr, T, D: tl.constexpr,
                    BLOCK: tl.constexpr):
    """A layer whose weights take a step of descent for each block: products of 64 × 64."""
    bh = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    at = bh * T * D + i[:, None] * D + d[None, :]
    w = tl.load(w_ptr + bh * D * D + d[:, None] * D + d[None, :]).to(tl.float32)
    for start in range(0, T, BLOCK):
        q = tl.load(q_ptr + at + start * D)
        k = tl.load(k_ptr + at + start * D)
        v = tl.load(v_ptr + at + start * D)
        eta = tl.load(eta_ptr + bh * T + start + i)
        z = tl.dot(k, w.to(k.dtype))
        target = (v - k).to(tl.float32)
        mean = tl.sum(z, axis=1)[:, None] / D
        centred = z - mean
        std = tl.sqrt(tl.sum(centred * centred, axis=1)[:, None] / D + 1e-6)
        hat = centred / std
        g = hat - target
        grad = (g * D - tl.sum(g, axis=1)[:, None] - hat * tl.sum(g * hat, axis=1)[:, None]) \
            / (D * std)
        step = (eta[:, None] * grad).to(k.dtype)
        attention = tl.dot(q, tl.trans(k))
        attention = tl.where(i[:, None] >= i[None, :], attention, 0.0)
        o = tl.dot(q, w.to(q.dtype)) - tl.dot(attention.to(k.dtype), step)
        w -= tl.dot(tl.trans(k), step)
        tl.store(o_ptr + at + start * D, o.to(o_ptr.dtype.element_ty))


@triton.jit
def later_larger(v1, i1, v2, i2):
    take = (v2 > v1) | ((v2 == v1) & (i2 > i1))
    return tl.where(take, v2, v1), tl.where(take, i2, i1)


@triton.jit
def cummax_columns_behind(x_ptr, value_ptr, index_ptr, M, N, BLOCK_M: tl.constexpr,
                          BLOCK_N: tl.constexpr):
    """The largest from here to the end of a column, and where."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    m = tl.arange(0, BLOCK_M)[:, None]
    mask = (m < M) & (n < N)
    x = tl.load(x_ptr + m * N + n, mask=mask, other=float("-inf")).to(tl.float32)
    at = tl.broadcast_to(m, (BLOCK_M, BLOCK_N))
    v, i = tl.associative_scan((x, at), axis=0, combine_fn=later_larger, reverse=True)
    tl.store(value_ptr + m * N + n, v, mask=mask)
    tl.store(index_ptr + m * N + n, i.to(tl.int64), mask=mask)
