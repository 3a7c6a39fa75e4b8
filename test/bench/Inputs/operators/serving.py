"""What servers of language models launch: caches of bytes, experts, draws, masks, and attention."""
import triton
import triton.language as tl


@triton.jit
def kv_append_int8(k_ptr, v_ptr, slots_ptr, k_cache_ptr, v_cache_ptr, k_scale_ptr, v_scale_ptr, H,
                   D: tl.constexpr, BLOCK_H: tl.constexpr):
    """New keys and values into slots of a cache of bytes, a scale for each head."""
    t = tl.program_id(0)
    slot = tl.load(slots_ptr + t)
    if slot < 0:
        return
    h = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    d = tl.arange(0, D)
    mask = (h < H)[:, None] & (d < D)[None, :]
    offs = h[:, None] * D + d[None, :]
    k = tl.load(k_ptr + t * H * D + offs, mask=mask, other=0.0).to(tl.float32)
    v = tl.load(v_ptr + t * H * D + offs, mask=mask, other=0.0).to(tl.float32)
    ks = tl.maximum(tl.max(tl.abs(k), axis=1), 1e-6) / 127.0
    vs = tl.maximum(tl.max(tl.abs(v), axis=1), 1e-6) / 127.0
    kq = (k / ks[:, None])
    vq = (v / vs[:, None])
    kq = tl.where(kq > 0, kq + 0.5, kq - 0.5).to(tl.int8)
    vq = tl.where(vq > 0, vq + 0.5, vq - 0.5).to(tl.int8)
    tl.store(k_cache_ptr + slot * H * D + offs, kq, mask=mask)
    tl.store(v_cache_ptr + slot * H * D + offs, vq, mask=mask)
    tl.store(k_scale_ptr + slot * H + h, ks, mask=h < H)
    tl.store(v_scale_ptr + slot * H + h, vs, mask=h < H)


@triton.jit
def kv_gather_dequant(cache_ptr, scale_ptr, table_ptr, starts_ptr, out_ptr, table_stride, H,
                      D: tl.constexpr, PAGE: tl.constexpr, BLOCK_H: tl.constexpr):
    """Pages of a request's cache of bytes, out as rows of numbers."""
    page = tl.program_id(0)
    b = tl.program_id(1)
    start = tl.load(starts_ptr + b)
    length = tl.load(starts_ptr + b + 1) - start
    if page * PAGE >= length:
        return
    block = tl.load(table_ptr + b * table_stride + page).to(tl.int64)
    h = tl.arange(0, BLOCK_H)[:, None]
    d = tl.arange(0, D)[None, :]
    for i in range(PAGE):
        t = page * PAGE + i
        mask = (h < H) & (t < length)
        slot = block * PAGE + i
        x = tl.load(cache_ptr + (slot * H + h) * D + d, mask=mask, other=0).to(tl.float32)
        s = tl.load(scale_ptr + slot * H + h, mask=mask, other=0.0)
        tl.store(out_ptr + ((start + t).to(tl.int64) * H + h) * D + d,
                 (x * s).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def qk_norm_rope(qkv_ptr, q_weight_ptr, k_weight_ptr, cos_sin_ptr, pos_ptr, q_ptr, k_ptr, eps,
                 HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr):
    """RMS norm of each head of q and k, then a rotation by halves; a program a token's head."""
    t = tl.program_id(0)
    head = tl.program_id(1)
    half: tl.constexpr = D // 2
    i = tl.arange(0, half)
    base = qkv_ptr + t * (HQ + 2 * HK) * D + head * D
    x1 = tl.load(base + i).to(tl.float32)
    x2 = tl.load(base + half + i).to(tl.float32)
    r = tl.rsqrt((tl.sum(x1 * x1, axis=0) + tl.sum(x2 * x2, axis=0)) / D + eps)
    if head < HQ:
        w1 = tl.load(q_weight_ptr + i).to(tl.float32)
        w2 = tl.load(q_weight_ptr + half + i).to(tl.float32)
        out = q_ptr + (t * HQ + head) * D
    else:
        w1 = tl.load(k_weight_ptr + i).to(tl.float32)
        w2 = tl.load(k_weight_ptr + half + i).to(tl.float32)
        out = k_ptr + (t * HK + head - HQ) * D
    x1 = x1 * r * w1
    x2 = x2 * r * w2
    p = tl.load(pos_ptr + t)
    cos = tl.load(cos_sin_ptr + p * D + i)
    sin = tl.load(cos_sin_ptr + p * D + half + i)
    tl.store(out + i, (x1 * cos - x2 * sin).to(q_ptr.dtype.element_ty))
    tl.store(out + half + i, (x2 * cos + x1 * sin).to(q_ptr.dtype.element_ty))


@triton.jit
def moe_align_sums(counts_ptr, sums_ptr, total_ptr, PARTS: tl.constexpr, EXPERTS: tl.constexpr,
                   TILE: tl.constexpr):
    """Where each expert's copies begin when its number of them is rounded up to whole tiles."""
    e = tl.arange(0, EXPERTS)
    count = tl.zeros([EXPERTS], dtype=tl.int32)
    for i in range(PARTS):
        count += tl.load(counts_ptr + i * EXPERTS + e)
    padded = (count + TILE - 1) // TILE * TILE
    ends = tl.cumsum(padded, axis=0)
    tl.store(sums_ptr, 0)
    tl.store(sums_ptr + 1 + e, ends)
    tl.store(total_ptr, tl.sum(padded, axis=0))


@triton.jit
def moe_sum_reduce(x_ptr, out_ptr, tokens, D, scale, TOPK: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_D: tl.constexpr, STAGES: tl.constexpr):
    """The sum of what a token's experts have made."""
    m = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    first = m * BLOCK_M
    last = min(first + BLOCK_M, tokens)
    for t in range(first, last):
        acc = tl.zeros((BLOCK_D,), dtype=tl.float32)
        base = x_ptr + t.to(tl.int64) * TOPK * D + d
        for i in tl.range(0, TOPK, num_stages=STAGES):
            acc += tl.load(base + i * D, mask=d < D, other=0.0)
        tl.store(out_ptr + t.to(tl.int64) * D + d, (acc * scale).to(out_ptr.dtype.element_ty),
                 mask=d < D)


@triton.jit
def grouped_topk(x_ptr, bias_ptr, weights_ptr, index_ptr, scale, EXPERTS: tl.constexpr,
                 GROUPS: tl.constexpr, TOPK_GROUPS: tl.constexpr, TOPK: tl.constexpr):
    """Sigmoid gates with a bias for choosing: the best groups by their two best, then experts."""
    row = tl.program_id(0)
    per: tl.constexpr = EXPERTS // GROUPS
    e = tl.arange(0, EXPERTS)
    s = tl.sigmoid(tl.load(x_ptr + row * EXPERTS + e).to(tl.float32))
    choice = s + tl.load(bias_ptr + e)
    grouped = tl.reshape(choice, (GROUPS, per))
    first = tl.max(grouped, axis=1)
    at = tl.argmax(grouped, axis=1)
    second = tl.max(tl.where(tl.arange(0, per)[None, :] == at[:, None], float("-inf"), grouped),
                    axis=1)
    value = first + second
    g = tl.arange(0, GROUPS)
    kept = tl.zeros([GROUPS], dtype=tl.int32)
    for _ in tl.static_range(TOPK_GROUPS):
        best = tl.argmax(value, axis=0)
        kept = tl.where(g == best, 1, kept)
        value = tl.where(g == best, float("-inf"), value)
    allowed = tl.reshape(tl.broadcast_to(kept[:, None], (GROUPS, per)), (EXPERTS,))
    choice = tl.where(allowed != 0, choice, float("-inf"))
    total = 0.0
    for k in tl.static_range(TOPK):
        best = tl.argmax(choice, axis=0)
        total += tl.sum(tl.where(e == best, s, 0.0), axis=0)
        tl.store(index_ptr + row * TOPK + k, best)
        choice = tl.where(e == best, float("-inf"), choice)
        s_k = tl.sum(tl.where(e == best, s, 0.0), axis=0)
        tl.store(weights_ptr + row * TOPK + k, s_k * scale)


@triton.jit
def penalties_bincount(logits_ptr, tokens_ptr, lengths_ptr, presence_ptr, frequency_ptr, out_ptr, V,
                       L, BLOCK_L: tl.constexpr, BLOCK_V: tl.constexpr):
    """Penalties of tokens by how often they have come, counted from their list in each block."""
    b = tl.program_id(0)
    v = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    length = tl.load(lengths_ptr + b)
    counts = tl.zeros([BLOCK_V], dtype=tl.int32)
    for start in range(0, length, BLOCK_L):
        i = start + tl.arange(0, BLOCK_L)
        token = tl.load(tokens_ptr + b * L + i, mask=i < length, other=-1)
        place = token - tl.program_id(1) * BLOCK_V
        mine = (place >= 0) & (place < BLOCK_V)
        counts += tl.histogram(tl.where(mine, place, 0), BLOCK_V, mask=mine)
    x = tl.load(logits_ptr + b * V + v, mask=v < V).to(tl.float32)
    x -= tl.load(frequency_ptr + b) * counts
    x -= tl.load(presence_ptr + b) * (counts > 0)
    tl.store(out_ptr + b * V + v, x.to(out_ptr.dtype.element_ty), mask=v < V)


@triton.jit
def min_p_filter(logits_ptr, min_p_ptr, temperature_ptr, out_ptr, V, BLOCK: tl.constexpr):
    """Logits over a temperature; tokens less likely than a share of the likeliest are removed."""
    b = tl.program_id(0)
    base = logits_ptr + b * V
    top = float("-inf")
    for start in range(0, V, BLOCK):
        v = start + tl.arange(0, BLOCK)
        x = tl.load(base + v, mask=v < V, other=float("-inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(x, axis=0))
    temperature = tl.load(temperature_ptr + b)
    bound = top / temperature + tl.log(tl.load(min_p_ptr + b))
    for start in range(0, V, BLOCK):
        v = start + tl.arange(0, BLOCK)
        x = tl.load(base + v, mask=v < V, other=float("-inf")).to(tl.float32) / temperature
        tl.store(out_ptr + b * V + v, tl.where(x < bound, float("-inf"), x), mask=v < V)


@triton.jit
def tree_mask(parents_ptr, lengths_ptr, mask_ptr, DRAFT: tl.constexpr, DEPTH: tl.constexpr, T,
              BLOCK: tl.constexpr):
    """Which tokens a drafted one sees: all before the draft, and its ancestors in the tree."""
    b = tl.program_id(0)
    i = tl.program_id(1)
    length = tl.load(lengths_ptr + b)
    row = mask_ptr + (b * DRAFT + i) * T
    for start in range(0, T, BLOCK):
        t = start + tl.arange(0, BLOCK)
        tl.store(row + t, (t < length).to(tl.int8), mask=t < T)
    tl.debug_barrier()
    at = i
    for _ in range(DEPTH):
        if at >= 0:
            tl.store(row + length + at, 1)
            at = tl.load(parents_ptr + b * DRAFT + at)


@triton.jit
def block_sparse_attention(q_ptr, k_ptr, v_ptr, crow_ptr, col_ptr, o_ptr, scale, H, T, crow_head,
                           col_head, BLOCK: tl.constexpr, D: tl.constexpr):
    """Attention over the blocks of columns that a table of compressed rows has for a head."""
    m = tl.program_id(0)
    bh = tl.program_id(1)
    h = bh % H
    offs_m = m * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    base = bh.to(tl.int64) * T * D
    q = tl.load(q_ptr + base + offs_m[:, None] * D + d[None, :], mask=offs_m[:, None] < T,
                other=0.0)
    begin = tl.load(crow_ptr + h * crow_head + m)
    end = tl.load(crow_ptr + h * crow_head + m + 1)
    m_i = tl.full([BLOCK], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK], dtype=tl.float32)
    acc = tl.zeros([BLOCK, D], dtype=tl.float32)
    for at in range(begin, end):
        column = tl.load(col_ptr + h * col_head + at)
        n = column * BLOCK + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None], mask=n[None, :] < T, other=0.0)
        s = tl.dot(q, k) * (scale * 1.44269504)
        s = tl.where((offs_m[:, None] >= n[None, :]) & (n[None, :] < T), s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :], mask=n[:, None] < T, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(o_ptr + base + offs_m[:, None] * D + d[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=offs_m[:, None] < T)


@triton.jit
def window_sink_attention(q_ptr, k_ptr, v_ptr, sinks_ptr, o_ptr, scale, T, stride_qt, stride_kt,
                          HQ: tl.constexpr, GROUP: tl.constexpr, WINDOW: tl.constexpr,
                          FIRST: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                          D: tl.constexpr):
    """Causal attention to a window and to the first tokens; a head's sink is one more score."""
    start = tl.program_id(0) * BLOCK_M
    b = tl.program_id(1) // HQ
    h = tl.program_id(1) % HQ
    m = start + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q_base = b.to(tl.int64) * T * stride_qt + h * D
    k_base = b.to(tl.int64) * T * stride_kt + (h // GROUP) * D
    q = tl.load(q_ptr + q_base + m[:, None] * stride_qt + d[None, :], mask=m[:, None] < T,
                other=0.0)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) + tl.load(sinks_ptr + h) * 1.44269504
    l_i = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    low = tl.maximum(start - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    skip = tl.maximum(low - FIRST, 0) // BLOCK_N * BLOCK_N
    high = tl.minimum(start + BLOCK_M, T)
    for at in range(skip if FIRST == 0 else 0, high, BLOCK_N):
        if (at < FIRST) | (at >= low):
            n = at + tl.arange(0, BLOCK_N)
            k = tl.load(k_ptr + k_base + n[None, :] * stride_kt + d[:, None], mask=n[None, :] < T,
                        other=0.0)
            s = tl.dot(q, k) * (scale * 1.44269504)
            far = m[:, None] - n[None, :]
            seen = (far >= 0) & ((far < WINDOW) | (n[None, :] < FIRST))
            s = tl.where(seen, s, float("-inf"))
            m_new = tl.maximum(m_i, tl.max(s, 1))
            alpha = tl.exp2(m_i - m_new)
            p = tl.exp2(s - m_new[:, None])
            l_i = l_i * alpha + tl.sum(p, 1)
            v = tl.load(v_ptr + k_base + n[:, None] * stride_kt + d[None, :], mask=n[:, None] < T,
                        other=0.0)
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
            m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(o_ptr + q_base + m[:, None] * stride_qt + d[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=m[:, None] < T)


@triton.jit
def mla_decode(q_ptr, kv_ptr, table_ptr, length_ptr, part_ptr, lse_ptr, scale, table_stride, H,
               LATENT: tl.constexpr, ROPE: tl.constexpr, BLOCK_H: tl.constexpr,
               BLOCK_N: tl.constexpr, PAGE: tl.constexpr, SPLITS: tl.constexpr):
    """One token against a cache of latents, which are keys and values at once: a part of the
    sequence, a block of heads; scores also have the rotated channels behind."""
    b = tl.program_id(0)
    h = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    split = tl.program_id(2)
    length = tl.load(length_ptr + b)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    first = split * share
    last = tl.minimum(first + share, length)
    c = tl.arange(0, LATENT)
    r = LATENT + tl.arange(0, ROPE)
    WIDE: tl.constexpr = LATENT + ROPE
    q_row = q_ptr + (b * H + h)[:, None] * WIDE
    q = tl.load(q_row + c[None, :], mask=h[:, None] < H, other=0.0)
    q_rope = tl.load(q_row + r[None, :], mask=h[:, None] < H, other=0.0)
    m_i = tl.full([BLOCK_H], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, LATENT], dtype=tl.float32)
    if last > first:
        for start in range(first, last, BLOCK_N):
            n = start + tl.arange(0, BLOCK_N)
            page = tl.load(table_ptr + b * table_stride + n // PAGE, mask=n < last, other=0)
            slot = (page * PAGE + n % PAGE).to(tl.int64)
            k = tl.load(kv_ptr + slot[None, :] * WIDE + c[:, None], mask=n[None, :] < last,
                        other=0.0)
            s = tl.dot(q, k)
            k_rope = tl.load(kv_ptr + slot[None, :] * WIDE + r[:, None], mask=n[None, :] < last,
                             other=0.0)
            s += tl.dot(q_rope, k_rope)
            s = tl.where((h[:, None] < H) & (n[None, :] < last), s * scale, float("-inf"))
            m_new = tl.maximum(m_i, tl.max(s, 1))
            m_new = tl.where(m_new == float("-inf"), 0.0, m_new)
            alpha = tl.exp(m_i - m_new)
            p = tl.exp(s - m_new[:, None])
            acc = acc * alpha[:, None]
            acc += tl.dot(p.to(k.dtype), tl.trans(k))
            l_i = l_i * alpha + tl.sum(p, 1)
            m_i = m_new
        place = (b * H + h) * SPLITS + split
        tl.store(part_ptr + place[:, None] * LATENT + c[None, :], acc / l_i[:, None],
                 mask=h[:, None] < H)
        tl.store(lse_ptr + place, m_i + tl.log(l_i), mask=h < H)


@triton.jit
def scaled_mm_rows(a_ptr, b_ptr, sa_ptr, sb_ptr, bias_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """fp8 products with a scale for each row of a and for each column of b, b stored N x K."""
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP_M * num_n) * GROUP_M
    size = min(num_m - first, GROUP_M)
    pid_m = first + pid % (GROUP_M * num_n) % size
    pid_n = pid % (GROUP_M * num_n) // size
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (m % M)[:, None] * K + k[None, :]
    b_ptrs = b_ptr + (n % N)[None, :] * K + k[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - i * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - i * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    sa = tl.load(sa_ptr + m, mask=m < M, other=0.0)
    sb = tl.load(sb_ptr + n, mask=n < N, other=0.0)
    bias = tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)
    c = acc * sa[:, None] * sb[None, :] + bias[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], c.to(c_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_gptq(a_ptr, q_ptr, scales_ptr, zeros_ptr, groups_ptr, c_ptr, M, N, K,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of 4 bits, eight in a word along k, whose groups a table names for each k."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    q_ptrs = q_ptr + (k // 8)[:, None] * N + n[None, :]
    shift = ((k % 8) * 4)[:, None]
    zero_shift = ((n % 8) * 4)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        g = tl.load(groups_ptr + start + k)
        scales = tl.load(scales_ptr + g[:, None] * N + n[None, :])
        zeros = tl.load(zeros_ptr + g[:, None] * (N // 8) + (n // 8)[None, :])
        zeros = ((zeros >> zero_shift) & 15) + 1
        a = tl.load(a_ptrs, mask=m[:, None] < M, other=0.0)
        q = (tl.load(q_ptrs) >> shift) & 15
        b = (q - zeros).to(scales.dtype) * scales
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        q_ptrs += (BLOCK_K // 8) * N
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(m < M)[:, None])


@triton.jit
def sgmv_expand(x_ptr, b_ptr, starts_ptr, lengths_ptr, lora_ptr, y_ptr, out_ptr, N, scale,
                RANK: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Low-rank rows of a request times its adapter's second matrix, added to what is there."""
    seq = tl.program_id(1)
    lora = tl.load(lora_ptr + seq)
    length = tl.load(lengths_ptr + seq)
    num_n = tl.cdiv(N, BLOCK_N)
    first = tl.program_id(0) // num_n * BLOCK_M
    if first >= length:
        return
    row = tl.load(starts_ptr + seq)
    m = first + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) % num_n * BLOCK_N + tl.arange(0, BLOCK_N)
    r = tl.arange(0, RANK)
    mask = (m < length)[:, None] & (n < N)[None, :]
    offs = (row + m)[:, None] * N + n[None, :]
    y = tl.load(y_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    if lora >= 0:
        x = tl.load(x_ptr + (row + m)[:, None] * RANK + r[None, :], mask=(m < length)[:, None],
                    other=0.0)
        b = tl.load(b_ptr + lora * N * RANK + n[None, :] * RANK + r[:, None],
                    mask=(n < N)[None, :], other=0.0)
        y += tl.dot(x.to(b.dtype), b) * scale
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def beam_step(scores_ptr, logits_ptr, lse_ptr, new_ptr, beam_ptr, token_ptr, V,
              BEAMS: tl.constexpr, KEEP: tl.constexpr, BLOCK: tl.constexpr):
    """The best continuations of a request's beams: candidates of a block, and the best so far."""
    b = tl.program_id(0)
    slots = tl.arange(0, KEEP)
    best = tl.full([KEEP], float("-inf"), dtype=tl.float32)
    where = tl.zeros([KEEP], dtype=tl.int32)
    for beam in range(BEAMS):
        row = b * BEAMS + beam
        base = tl.load(scores_ptr + row) - tl.load(lse_ptr + row)
        for start in range(0, V, BLOCK):
            v = start + tl.arange(0, BLOCK)
            x = tl.load(logits_ptr + row * V + v, mask=v < V, other=float("-inf")).to(tl.float32)
            x += base
            top = tl.max(x, axis=0)
            least = tl.min(best, axis=0)
            while top > least:
                at = tl.argmax(x, axis=0)
                out = tl.argmin(best, axis=0)
                best = tl.where(slots == out, top, best)
                where = tl.where(slots == out, beam * V + start + at, where)
                x = tl.where(tl.arange(0, BLOCK) == at, float("-inf"), x)
                top = tl.max(x, axis=0)
                least = tl.min(best, axis=0)
    for i in range(KEEP):
        at = tl.argmax(best, axis=0)
        flat = tl.sum(tl.where(slots == at, where, 0), axis=0)
        tl.store(new_ptr + b * KEEP + i, tl.max(best, axis=0))
        tl.store(beam_ptr + b * KEEP + i, flat // V)
        tl.store(token_ptr + b * KEEP + i, flat % V)
        best = tl.where(slots == at, float("-inf"), best)
