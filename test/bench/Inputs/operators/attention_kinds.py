"""Attention of other kinds: features instead of a softmax, biases, documents, pictures, caches."""
import triton
import triton.language as tl


@triton.jit
def feature(x):
    """elu(x) + 1"""
    return tl.where(x > 0, x + 1.0, tl.exp(tl.minimum(x, 0.0)))


@triton.jit
def linear_attention(q_ptr, k_ptr, v_ptr, o_ptr, T, D: tl.constexpr, E: tl.constexpr,
                     BLOCK: tl.constexpr):
    """Causal attention by positive features: a state and its norm pass from block to block."""
    head = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, D)
    e = tl.arange(0, E)
    i = tl.arange(0, BLOCK)
    q_ptr += head * T * D
    k_ptr += head * T * D
    v_ptr += head * T * E
    o_ptr += head * T * E
    state = tl.zeros([D, E], tl.float32)
    norm = tl.zeros([D], tl.float32)
    for start in range(0, T, BLOCK):
        t = start + i
        q = feature(tl.load(q_ptr + t[:, None] * D + d[None, :]).to(tl.float32))
        k = feature(tl.load(k_ptr + t[:, None] * D + d[None, :]).to(tl.float32))
        v = tl.load(v_ptr + t[:, None] * E + e[None, :])
        s = tl.dot(q.to(v.dtype), tl.trans(k.to(v.dtype)))
        s = tl.where(i[:, None] >= i[None, :], s, 0.0)
        o = tl.dot(s.to(v.dtype), v) + tl.dot(q.to(v.dtype), state.to(v.dtype))
        z = tl.sum(s, 1) + tl.sum(q * norm[None, :], 1)
        tl.store(o_ptr + t[:, None] * E + e[None, :], (o / z[:, None]).to(o_ptr.dtype.element_ty))
        state += tl.dot(tl.trans(k.to(v.dtype)), v)
        norm += tl.sum(k, 0)


@triton.jit
def attention_documents(q_ptr, k_ptr, v_ptr, doc_ptr, o_ptr, T, scale, cap, p, seed,
                        D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Causal attention within documents, scores capped softly, weights dropped by Philox."""
    m0 = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    base = head.to(tl.int64) * T * D
    m = m0 + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    doc_m = tl.load(doc_ptr + m)
    high = tl.full([BLOCK_M], -1e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    o = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, m0 + BLOCK_M, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None])
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
        doc_n = tl.load(doc_ptr + n)
        s = tl.dot(q, k) * (scale / cap)
        e = tl.exp(-2.0 * tl.abs(s))
        s = tl.where(s < 0, -cap, cap) * ((1.0 - e) / (1.0 + e))
        s = tl.where((m[:, None] >= n[None, :]) & (doc_m[:, None] == doc_n[None, :]), s, -1e30)
        new = tl.maximum(high, tl.max(s, 1))
        w = tl.exp(s - new[:, None])
        fade = tl.exp(high - new)
        total = total * fade + tl.sum(w, 1)
        keep = tl.rand(seed, (head * T + m)[:, None] * T + n[None, :]) >= p
        w = tl.where(keep, w / (1.0 - p), 0.0)
        o = tl.dot(w.to(v.dtype), v, o * fade[:, None])
        high = new
    tl.store(o_ptr + base + m[:, None] * D + d[None, :],
             (o / total[:, None]).to(o_ptr.dtype.element_ty))


@triton.jit
def attention_backward_one(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr,
                           T, scale, D: tl.constexpr, BLOCK_M: tl.constexpr,
                           BLOCK_N: tl.constexpr):
    """All gradients in one kernel, a block of keys a program: those of q by atomic sums."""
    n0 = tl.program_id(0) * BLOCK_N
    base = tl.program_id(1).to(tl.int64) * T
    n = n0 + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + (base + n)[:, None] * D + d[None, :])
    v = tl.load(v_ptr + (base + n)[:, None] * D + d[None, :])
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for start in range(n0 // BLOCK_M * BLOCK_M, T, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + (base + m)[:, None] * D + d[None, :])
        do = tl.load(do_ptr + (base + m)[:, None] * D + d[None, :])
        lse = tl.load(lse_ptr + base + m)
        delta = tl.load(delta_ptr + base + m)
        s = tl.dot(k, tl.trans(q)) * scale
        w = tl.where(m[None, :] >= n[:, None], tl.exp(s - lse[None, :]), 0.0)
        dv = tl.dot(w.to(do.dtype), do, dv)
        ds = w * (tl.dot(v, tl.trans(do)) - delta[None, :]) * scale
        ds = ds.to(q.dtype)
        dk = tl.dot(ds, q, dk)
        dq = tl.dot(tl.trans(ds), k)
        tl.atomic_add(dq_ptr + (base + m)[:, None] * D + d[None, :], dq, sem="relaxed")
    tl.store(dk_ptr + (base + n)[:, None] * D + d[None, :], dk.to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + (base + n)[:, None] * D + d[None, :], dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def decode_int8(q_ptr, k_ptr, v_ptr, k_scale_ptr, v_scale_ptr, length_ptr, o_ptr, lse_ptr, scale,
                CAPACITY, SHARE, GROUP: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr):
    """A step of a group's queries over a share of keys and values of eight bits, scaled by row."""
    row = tl.program_id(0)
    share = tl.program_id(1)
    g = tl.arange(0, 16)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (row * GROUP + g)[:, None] * D + d[None, :], mask=(g < GROUP)[:, None],
                other=0.0)
    first = share * SHARE
    end = tl.minimum(first + SHARE, tl.load(length_ptr + row))
    base = row.to(tl.int64) * CAPACITY
    high = tl.full([16], -1e30, tl.float32)
    total = tl.zeros([16], tl.float32)
    o = tl.zeros([16, D], tl.float32)
    for start in range(first, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = n < end
        k = tl.load(k_ptr + (base + n)[:, None] * D + d[None, :], mask=mask[:, None], other=0)
        ks = tl.load(k_scale_ptr + base + n, mask=mask, other=0.0)
        s = tl.dot(q, tl.trans(k.to(q.dtype))) * (ks * scale)[None, :]
        s = tl.where(mask[None, :], s, -1e30)
        new = tl.maximum(high, tl.max(s, 1))
        w = tl.exp(s - new[:, None])
        fade = tl.exp(high - new)
        total = total * fade + tl.sum(w, 1)
        v = tl.load(v_ptr + (base + n)[:, None] * D + d[None, :], mask=mask[:, None], other=0)
        vs = tl.load(v_scale_ptr + base + n, mask=mask, other=0.0)
        o = tl.dot((w * vs[None, :]).to(q.dtype), v.to(q.dtype), o * fade[:, None])
        high = new
    at = (row * tl.num_programs(1) + share) * GROUP + g
    safe = tl.where(total > 0, total, 1.0)
    tl.store(o_ptr + at[:, None] * D + d[None, :], o / safe[:, None], mask=(g < GROUP)[:, None])
    tl.store(lse_ptr + at, high + tl.log(safe), mask=g < GROUP)


@triton.jit
def window_attention(qkv_ptr, table_ptr, o_ptr, H, scale, SIDE: tl.constexpr, PAD: tl.constexpr,
                     D: tl.constexpr):
    """Windows of SIDE x SIDE places, all in a program, biases by a table of their differences."""
    window = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    N: tl.constexpr = SIDE * SIDE
    i = tl.arange(0, PAD)
    d = tl.arange(0, D)
    at = (window * N + i)[:, None] * (3 * H * D) + h * D + d[None, :]
    mask = (i < N)[:, None]
    q = tl.load(qkv_ptr + at, mask=mask, other=0.0)
    k = tl.load(qkv_ptr + at + H * D, mask=mask, other=0.0)
    v = tl.load(qkv_ptr + at + 2 * H * D, mask=mask, other=0.0)
    dy = i[:, None] // SIDE - i[None, :] // SIDE + SIDE - 1
    dx = i[:, None] % SIDE - i[None, :] % SIDE + SIDE - 1
    both = mask & (i < N)[None, :]
    bias = tl.load(table_ptr + (dy * (2 * SIDE - 1) + dx) * H + h, mask=both, other=-1e30)
    s = tl.dot(q, tl.trans(k)) * scale + bias
    w = tl.exp(s - tl.max(s, 1)[:, None])
    w = w / tl.sum(w, 1)[:, None]
    o = tl.dot(w.to(v.dtype), v)
    tl.store(o_ptr + (window * N + i)[:, None] * (H * D) + h * D + d[None, :],
             o.to(o_ptr.dtype.element_ty), mask=mask)


@triton.jit
def neighbourhood(q_ptr, k_ptr, v_ptr, o_ptr, H, W, scale, R: tl.constexpr, D: tl.constexpr,
                  BLOCK: tl.constexpr):
    """Attention of places of a picture to those up to R away, a row of places a program."""
    plane = tl.program_id(2).to(tl.int64) * H * W
    y = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    at = (plane + y * W + x)[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, mask=(x < W)[:, None], other=0.0).to(tl.float32) * scale
    high = tl.full([BLOCK], -1e30, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    o = tl.zeros([BLOCK, D], tl.float32)
    for dy in range(tl.maximum(-R, -y), tl.minimum(R + 1, H - y)):
        for dx in tl.static_range(-R, R + 1):
            inside = (x + dx >= 0) & (x + dx < W)
            there = at + (dy * W + dx) * D
            k = tl.load(k_ptr + there, mask=inside[:, None], other=0.0).to(tl.float32)
            v = tl.load(v_ptr + there, mask=inside[:, None], other=0.0).to(tl.float32)
            s = tl.where(inside, tl.sum(q * k, 1), -1e30)
            new = tl.maximum(high, s)
            w = tl.exp(s - new)
            fade = tl.exp(high - new)
            total = total * fade + w
            o = o * fade[:, None] + w[:, None] * v
            high = new
    tl.store(o_ptr + at, (o / total[:, None]).to(o_ptr.dtype.element_ty), mask=(x < W)[:, None])


@triton.jit
def cross_few(q_ptr, k_ptr, v_ptr, o_ptr, T, S, stride_t, stride_h, scale, D: tl.constexpr,
              BLOCK_M: tl.constexpr, PAD: tl.constexpr):
    """Attention to keys so few that all fit: no running sums; 64-bit strides."""
    head = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    s = tl.arange(0, PAD)
    d = tl.arange(0, D)
    at = batch * T * stride_t + m.to(tl.int64)[:, None] * stride_t + head * stride_h + d[None, :]
    few = batch * S * stride_t + s.to(tl.int64)[:, None] * stride_t + head * stride_h + d[None, :]
    q = tl.load(q_ptr + at, mask=(m < T)[:, None], other=0.0)
    k = tl.load(k_ptr + few, mask=(s < S)[:, None], other=0.0)
    v = tl.load(v_ptr + few, mask=(s < S)[:, None], other=0.0)
    score = tl.where((s < S)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
    w = tl.softmax(score, 1)
    tl.store(o_ptr + at, tl.dot(w.to(v.dtype), v).to(o_ptr.dtype.element_ty),
             mask=(m < T)[:, None])
