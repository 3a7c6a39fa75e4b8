"""Attention as servers and single authors have it: packed queries, trees, bytes, chosen blocks."""
import triton
import triton.language as tl


@triton.jit
def find_sequence(starts_ptr, place, count, BLOCK_Q: tl.constexpr):
    """Which sequence a block of queries is of, by halving: each has one block more than it fills"""
    left = 0
    right = count
    while left < right:
        mid = (left + right) // 2
        first = tl.load(starts_ptr + mid) // BLOCK_Q + mid
        if first <= place:
            left = mid + 1
        else:
            right = mid
    return left - 1


@triton.jit
def soft_cap(s, cap):
    p = s / cap
    a, b = tl.exp(p), tl.exp(-p)
    return cap * (a - b) / (a + b)


@triton.jit
def unified_paged(q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, starts_ptr, slopes_ptr, o_ptr, count,
                  scale, cap, table_stride: tl.int64, HQ: tl.constexpr, HK: tl.constexpr,
                  D: tl.constexpr, PAGE: tl.constexpr, BLOCK_Q: tl.constexpr,
                  BLOCK_M: tl.constexpr, WINDOW: tl.constexpr, USE_CAP: tl.constexpr,
                  USE_ALIBI: tl.constexpr):
    """Prefill and decoding in one: rows are queries and the heads of a group, keys in pages."""
    place, kh = tl.program_id(0), tl.program_id(1)
    per: tl.constexpr = HQ // HK
    b = find_sequence(starts_ptr, place, count, BLOCK_Q)
    begin = tl.load(starts_ptr + b)
    local = place - (begin // BLOCK_Q + b)
    queries = tl.load(starts_ptr + b + 1) - begin
    if local * BLOCK_Q >= queries:
        return
    m = tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    pos = local * BLOCK_Q + m // per
    head = kh * per + m % per
    at = (begin + pos)[:, None] * HQ * D + head[:, None] * D + d[None, :]
    mask_m = (pos < queries) & (m < BLOCK_Q * per)
    q = tl.load(q_ptr + at, mask=mask_m[:, None], other=0.0)
    length = tl.load(lengths_ptr + b)
    context = length - queries
    if USE_ALIBI:
        slope = tl.load(slopes_ptr + head, mask=mask_m, other=0.0)
    high = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    longest = tl.minimum(context + local * BLOCK_Q + (BLOCK_M - 1) // per + 1, length)
    n = tl.arange(0, PAGE)
    for j in range(0, tl.cdiv(longest, PAGE)):
        page = tl.load(table_ptr + b * table_stride + j).to(tl.int64)
        k = tl.load(k_ptr + ((page * PAGE + n[None, :]) * HK + kh) * D + d[:, None])
        v = tl.load(v_ptr + ((page * PAGE + n[:, None]) * HK + kh) * D + d[None, :])
        offset = j * PAGE + n
        seen = offset[None, :] < context + pos[:, None] + 1
        s = tl.zeros([BLOCK_M, PAGE], dtype=tl.float32)
        s += scale * tl.dot(q, k)
        if USE_CAP:
            s = soft_cap(s, cap)
        s = tl.where(mask_m[:, None] & seen, s, float("-inf"))
        if WINDOW > 0:
            s = tl.where((context + pos[:, None] - offset) < WINDOW, s, float("-inf"))
        if USE_ALIBI:
            s += slope[:, None] * (offset - context)
        higher = tl.maximum(high, tl.max(s, axis=1))
        higher = tl.where(higher > float("-inf"), higher, 0.0)
        p = tl.exp(s - higher[:, None])
        alpha = tl.exp(high - higher)
        acc = acc * alpha[:, None]
        total = total * alpha + tl.sum(p, axis=1)
        high = higher
        acc += tl.dot(p.to(v.dtype), v)
    acc = acc / total[:, None]
    tl.store(o_ptr + at, acc, mask=mask_m[:, None])


@triton.jit
def extend_tree(q_ptr, k_ptr, v_ptr, o_ptr, cache_k_ptr, cache_v_ptr, starts_ptr, kv_starts_ptr,
                kv_index_ptr, mask_ptr, mask_starts_ptr, scale, GROUP: tl.constexpr,
                HK: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """New tokens over a prefix whose rows an index names, then over themselves by a tree's mask."""
    b, h, block_m = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    kh = h // GROUP
    start = tl.load(starts_ptr + b)
    new = tl.load(starts_ptr + b + 1) - start
    kv_start = tl.load(kv_starts_ptr + b)
    prefix = tl.load(kv_starts_ptr + b + 1) - kv_start
    d = tl.arange(0, D)
    m = tl.arange(0, BLOCK_M)
    mask_m = (block_m * BLOCK_M + m) < new
    row = (start + block_m * BLOCK_M + m)[:, None] * (HK * GROUP * D) + h * D + d[None, :]
    q = tl.load(q_ptr + row, mask=mask_m[:, None], other=0.0)
    n = tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    high = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    for start_n in range(0, prefix, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        mask_n = (start_n + n) < prefix
        at = tl.load(kv_index_ptr + kv_start + start_n + n, mask=mask_n, other=0)
        k = tl.load(cache_k_ptr + at[None, :] * (HK * D) + kh * D + d[:, None],
                    mask=mask_n[None, :], other=0.0)
        s = tl.dot(q.to(k.dtype), k)
        s *= scale
        s = tl.where(mask_m[:, None] & mask_n[None, :], s, float("-inf"))
        higher = tl.maximum(tl.max(s, 1), high)
        rescale = tl.exp(high - higher)
        p = tl.exp(s - higher[:, None])
        total = total * rescale + tl.sum(p, 1)
        v = tl.load(cache_v_ptr + at[:, None] * (HK * D) + kh * D + d[None, :],
                    mask=mask_n[:, None], other=0.0)
        p = p.to(v.dtype)
        acc = acc * rescale[:, None] + tl.dot(p, v)
        high = higher
    mask_start = tl.load(mask_starts_ptr + b)
    for start_n in range(0, new, BLOCK_N):
        mask_n = (start_n + n) < new
        at = (start + start_n + n) * (HK * D) + kh * D
        k = tl.load(k_ptr + at[None, :] + d[:, None], mask=mask_n[None, :], other=0.0)
        s = tl.dot(q, k, out_dtype=tl.float32) * scale
        tree = tl.load(mask_ptr + mask_start + (block_m * BLOCK_M + m)[:, None] * (prefix + new)
                       + prefix + start_n + n[None, :],
                       mask=mask_m[:, None] & mask_n[None, :], other=0)
        s = tl.where(tree != 0, s, -1e20)
        higher = tl.maximum(tl.max(s, 1), high)
        rescale = tl.exp(high - higher)
        p = tl.exp(s - higher[:, None])
        total = total * rescale + tl.sum(p, 1)
        v = tl.load(v_ptr + at[:, None] + d[None, :], mask=mask_n[:, None], other=0.0)
        acc = acc * rescale[:, None] + tl.dot(p.to(v.dtype), v)
        high = higher
    tl.store(o_ptr + row, acc / total[:, None], mask=mask_m[:, None])


@triton.jit
def fp8_inner(acc, total, high, q, k_block, v_block, qk_scale, start_m, T, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr, STAGE: tl.constexpr, m, n):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, T
    k_block = tl.advance(k_block, (0, lo))
    v_block = tl.advance(v_block, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(k_block)
        s = tl.dot(q, k)
        if STAGE == 2:
            s = s * qk_scale + tl.where(m[:, None] >= (start_n + n[None, :]), 0, -1.0e6)
            higher = tl.maximum(high, tl.max(s, 1))
            s -= higher[:, None]
        else:
            higher = tl.maximum(high, tl.max(s, 1) * qk_scale)
            s = s * qk_scale - higher[:, None]
        p = tl.math.exp2(s)
        alpha = tl.math.exp2(high - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_block)
        acc = tl.dot(p.to(v.type.element_ty), v, acc)
        high = higher
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    return acc, total, high


@triton.jit
def flash_fp8(q_ptr, k_ptr, v_ptr, o_ptr, scale, v_scale, T, D: tl.constexpr, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    """Bytes through block pointers, v stored D x T; weights become bytes, too."""
    start_m, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * T * D
    q_block = tl.make_block_ptr(q_ptr + base, (T, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D),
                                (1, 0))
    k_block = tl.make_block_ptr(k_ptr + base, (D, T), (1, D), (0, 0), (D, BLOCK_N), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + base, (T, D), (1, T), (0, 0), (BLOCK_N, D), (0, 1))
    o_block = tl.make_block_ptr(o_ptr + base, (T, D), (D, 1), (start_m * BLOCK_M, 0), (BLOCK_M, D),
                                (1, 0))
    m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    high = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    total = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    qk_scale = scale
    qk_scale *= 1.44269504
    q = tl.load(q_block)
    if STAGE & 1:
        acc, total, high = fp8_inner(acc, total, high, q, k_block, v_block, qk_scale, start_m, T,
                                     BLOCK_M, BLOCK_N, 4 - STAGE, m, n)
    if STAGE & 2:
        acc, total, high = fp8_inner(acc, total, high, q, k_block, v_block, qk_scale, start_m, T,
                                     BLOCK_M, BLOCK_N, 2, m, n)
    acc = acc / total[:, None] * v_scale
    tl.store(o_block, acc.to(o_ptr.type.element_ty))


@triton.jit
def int8_keys(q_ptr, k_ptr, qs_ptr, ks_ptr, v_ptr, o_ptr, T, HQ: tl.constexpr, HK: tl.constexpr,
              D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """q and k are bytes with a scale for each block; weights times v are summed in fp16."""
    start_m = tl.program_id(0)
    h = tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    kh = h // (HQ // HK)
    m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    q_base = (b * HQ + h) * T * D
    k_base = (b * HK + kh) * T * D
    q = tl.load(q_ptr + q_base + m[:, None] * D + d[None, :], mask=m[:, None] < T)
    q_scale = tl.load(qs_ptr + (b * HQ + h) * tl.cdiv(T, BLOCK_M) + start_m)
    ks_ptr += (b * HK + kh) * tl.cdiv(T, BLOCK_N)
    k_ptrs = k_ptr + k_base + n[None, :] * D + d[:, None]
    v_ptrs = v_ptr + k_base + n[:, None] * D + d[None, :]
    high = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    total = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in range(0, T, BLOCK_N):
        k = tl.load(k_ptrs, mask=n[None, :] < (T - start_n))
        k_scale = tl.load(ks_ptr)
        s = tl.dot(q, k).to(tl.float32) * (q_scale * k_scale)
        s = tl.where(n[None, :] < (T - start_n), s, -1e6)
        higher = tl.maximum(high, tl.max(s, 1))
        s = s - higher[:, None]
        p = tl.math.exp2(s)
        alpha = tl.math.exp2(high - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs, mask=n[:, None] < (T - start_n))
        acc += tl.dot(p.to(tl.float16), v, out_dtype=tl.float16)
        high = higher
        k_ptrs += BLOCK_N * D
        ks_ptr += 1
        v_ptrs += BLOCK_N * D
    acc = acc / total[:, None]
    tl.store(o_ptr + q_base + m[:, None] * D + d[None, :], acc.to(o_ptr.type.element_ty),
             mask=m[:, None] < T)


@triton.jit
def selected_blocks(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, chosen_ptr, scale, T, HK: tl.constexpr,
                    GROUP: tl.constexpr, D: tl.constexpr, S: tl.constexpr, BS: tl.constexpr):
    """A token's heads of a group over the blocks of keys that it chose."""
    t, kh, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    row = (b * T + t).to(tl.int64)
    q_block = tl.make_block_ptr(q_ptr + (row * HK + kh) * GROUP * D, (GROUP, D), (D, 1), (0, 0),
                                (GROUP, D), (1, 0))
    o_block = tl.make_block_ptr(o_ptr + (row * HK + kh) * GROUP * D, (GROUP, D), (D, 1), (0, 0),
                                (GROUP, D), (1, 0))
    q = tl.load(q_block, boundary_check=(0, 1))
    q = (q * scale).to(q.dtype)
    k_ptr += (b * T * HK + kh).to(tl.int64) * D
    v_ptr += (b * T * HK + kh).to(tl.int64) * D
    chosen_ptr += (row * HK + kh) * S
    acc = tl.zeros([GROUP, D], dtype=tl.float32)
    high = tl.full([GROUP], float("-inf"), dtype=tl.float32)
    total = tl.zeros([GROUP], dtype=tl.float32)
    for i in range(S):
        first = tl.load(chosen_ptr + i).to(tl.int32) * BS
        if first <= t and first >= 0:
            k_block = tl.make_block_ptr(k_ptr, (D, T), (1, HK * D), (0, first), (D, BS), (0, 1))
            v_block = tl.make_block_ptr(v_ptr, (T, D), (HK * D, 1), (first, 0), (BS, D), (1, 0))
            k = tl.load(k_block, boundary_check=(0, 1))
            v = tl.load(v_block, boundary_check=(0, 1))
            s = tl.dot(q, k)
            s = tl.where((t >= (first + tl.arange(0, BS)))[None, :], s, float("-inf"))
            before = high
            high = tl.maximum(high, tl.max(s, 1))
            r = tl.exp(before - high)
            p = tl.exp(s - high[:, None])
            total = total * r + tl.sum(p, 1)
            acc = acc * r[:, None] + tl.dot(p.to(q.dtype), v)
    acc = acc / total[:, None]
    high += tl.log(total)
    tl.store(o_block, acc.to(o_ptr.dtype.element_ty), boundary_check=(0, 1))
    tl.store(lse_ptr + (row * HK + kh) * GROUP + tl.arange(0, GROUP), high)


@triton.jit
def prefix_vectors(q_ptr, k_ptr, v_ptr, kc_ptr, vc_ptr, table_ptr, starts_ptr, lengths_ptr, o_ptr,
                   scale, table_stride, HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr,
                   PAGE: tl.constexpr, X: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """Keys in a cache of pages as [page, head, D / X, PAGE, X], values as [page, head, D, PAGE]."""
    b, h, start_m = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    kh = h // (HQ // HK)
    length = tl.load(lengths_ptr + b)
    start = tl.load(starts_ptr + b)
    new = tl.load(starts_ptr + b + 1) - start
    context = length - new
    if start_m * BLOCK_M >= new:
        return
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    at = (start + m[:, None]) * HQ * D + h * D + d[None, :]
    q = tl.load(q_ptr + at, mask=m[:, None] < new, other=0.0)
    high = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in range(0, context, BLOCK_N):
        page = tl.load(table_ptr + b * table_stride + (start_n + n) // PAGE,
                       mask=(start_n + n) < context, other=0).to(tl.int64)
        inside = (start_n + n) % PAGE
        k = tl.load(kc_ptr + (page[None, :] * HK + kh) * D * PAGE + (d[:, None] // X) * PAGE * X
                    + inside[None, :] * X + d[:, None] % X,
                    mask=(start_n + n[None, :]) < context, other=0.0)
        v = tl.load(vc_ptr + (page[:, None] * HK + kh) * D * PAGE + d[None, :] * PAGE
                    + inside[:, None], mask=(start_n + n[:, None]) < context, other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where((start_n + n[None, :]) < context, s, float("-inf"))
        higher = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - higher[:, None])
        alpha = tl.exp(high - higher)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        high = higher
    for start_n in range(0, (start_m + 1) * BLOCK_M, BLOCK_N):
        off = (start + start_n + n) * HK * D + kh * D
        k = tl.load(k_ptr + off[None, :] + d[:, None], mask=(start_n + n[None, :]) < new, other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where(m[:, None] >= (start_n + n[None, :]), s, float("-inf"))
        higher = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - higher[:, None])
        alpha = tl.exp(high - higher)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + off[:, None] + d[None, :], mask=(start_n + n[:, None]) < new, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        high = higher
    acc = acc / total[:, None]
    tl.store(o_ptr + at, acc, mask=m[:, None] < new)


@triton.jit
def relative(score, b, h, m, n):
    """A bias by distance, within a reach"""
    return tl.where(m - n < 256, score + tl.abs(n - m).to(tl.float32) * -0.01 * (h + 1), score)


@triton.jit
def flex_blocks(acc, total, high, q, k_ptr, v_ptr, index_ptr, count, b, h, m, d, T, scale,
                D: tl.constexpr, BLOCK_N: tl.constexpr, PARTIAL: tl.constexpr):
    n = tl.arange(0, BLOCK_N)
    for i in range(0, count):
        start_n = tl.load(index_ptr + i) * BLOCK_N
        k = tl.load(k_ptr + (start_n + n)[None, :] * D + d[:, None])
        s = tl.dot(q, k) * scale
        s = relative(s, b, h, m[:, None], start_n + n[None, :])
        if PARTIAL:
            s = tl.where(m[:, None] >= (start_n + n)[None, :], s, float("-inf"))
        s *= 1.44269504
        higher = tl.maximum(high, tl.max(s, 1))
        safe = tl.where(higher == float("-inf"), 0.0, higher)
        alpha = tl.math.exp2(high - safe)
        p = tl.math.exp2(s - safe[:, None])
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + (start_n + n)[:, None] * D + d[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc)
        high = higher
    return acc, total, high


@triton.jit
def flex_attention(q_ptr, k_ptr, v_ptr, o_ptr, full_count_ptr, full_index_ptr, part_count_ptr,
                   part_index_ptr, scale, H, T, D: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """Lists of blocks for each block of queries, those without and with a mask; a score's change is
    a function."""
    start_m, bh = tl.program_id(0), tl.program_id(1)
    base = bh.to(tl.int64) * T * D
    m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    high = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    blocks = T // BLOCK_N
    count = tl.load(part_count_ptr + start_m)
    acc, total, high = flex_blocks(acc, total, high, q, k_ptr + base, v_ptr + base,
                                   part_index_ptr + start_m * blocks, count, bh // H, bh % H, m, d,
                                   T, scale, D, BLOCK_N, True)
    count = tl.load(full_count_ptr + start_m)
    acc, total, high = flex_blocks(acc, total, high, q, k_ptr + base, v_ptr + base,
                                   full_index_ptr + start_m * blocks, count, bh // H, bh % H, m, d,
                                   T, scale, D, BLOCK_N, False)
    total = tl.where(total == 0.0, 1, total)
    tl.store(o_ptr + base + m[:, None] * D + d[None, :],
             (acc / total[:, None]).to(o_ptr.dtype.element_ty))


@triton.jit
def causal_softmax_tiles(x_ptr, y_ptr, T, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Softmax of the scores of a causal triangle, in place of what is above it 0."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    base = tl.program_id(1).to(tl.int64) * T * T
    n = tl.arange(0, BLOCK_N)
    high = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    end = (tl.program_id(0) + 1) * BLOCK_M
    for start in range(0, end, BLOCK_N):
        c = start + n
        x = tl.load(x_ptr + base + m[:, None] * T + c[None, :],
                    mask=(c[None, :] <= m[:, None]) & (m < T)[:, None], other=float("-inf"))
        x = x.to(tl.float32) * scale
        higher = tl.maximum(high, tl.max(x, 1))
        total = total * tl.exp(high - higher) + tl.sum(tl.exp(x - higher[:, None]), 1)
        high = higher
    for start in range(0, T, BLOCK_N):
        c = start + n
        inside = (c[None, :] <= m[:, None]) & (m < T)[:, None]
        x = tl.load(x_ptr + base + m[:, None] * T + c[None, :], mask=inside, other=float("-inf"))
        p = tl.exp(x.to(tl.float32) * scale - high[:, None]) / total[:, None]
        tl.store(y_ptr + base + m[:, None] * T + c[None, :], p.to(y_ptr.dtype.element_ty),
                 mask=(c < T)[None, :] & (m < T)[:, None])
