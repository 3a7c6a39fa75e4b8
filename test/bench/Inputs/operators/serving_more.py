"""More of what servers launch: experts, caches of bytes with scales inside, rotations, drafts."""
import triton
import triton.language as tl


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def routing_bits(chosen_ptr, bits_ptr, tokens, TOPK: tl.constexpr, WORDS: tl.constexpr,
                 BLOCK: tl.constexpr):
    """Which experts a token goes to, a bit for each."""
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, TOPK)
    e = tl.load(chosen_ptr + t[:, None] * TOPK + k[None, :], mask=t[:, None] < tokens, other=-1)
    word = e // 32
    bit = (e % 32).to(tl.uint32)
    for i in tl.static_range(WORDS):
        one = tl.where((word == i) & (e >= 0), tl.full([], 1, tl.uint32) << bit, 0)
        row = tl.reduce(one, 1, either)
        tl.store(bits_ptr + t * WORDS + i, row.to(tl.int32, bitcast=True), mask=t < tokens)


@triton.jit
def sortable(x):
    bits = x.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def topk_streamed(x_ptr, value_ptr, index_ptr, rows, E, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, K: tl.constexpr, SOFTMAX: tl.constexpr):
    """The best of a row by blocks from the end: value and place in 64 bits, tl.topk of each."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    best = tl.full([BLOCK_M, K], -9223372036854775808, dtype=tl.int64)
    for start in range(0, E, BLOCK_N):
        c = start + n
        x = tl.load(x_ptr + m[:, None] * E + c[None, :],
                    mask=(m < rows)[:, None] & (c < E)[None, :], other=float("-inf"))
        key = (sortable(x.to(tl.float32)).to(tl.int64) << 32) | (0x7FFFFFFF - c)[None, :]
        best = tl.topk(tl.reshape(tl.join(best, tl.topk(key, K)), [BLOCK_M, 2 * K]), K)
    place = 0x7FFFFFFF - (best & 0xFFFFFFFF).to(tl.int32)
    value = sortable((best >> 32).to(tl.int32).to(tl.float32, bitcast=True)).to(tl.float32,
                                                                            bitcast=True)
    if SOFTMAX:
        value = tl.softmax(value, dim=1, keep_dims=True)
    k = tl.arange(0, K)
    mask = m[:, None] < rows
    tl.store(value_ptr + m[:, None] * K + k[None, :], value, mask=mask)
    tl.store(index_ptr + m[:, None] * K + k[None, :], place, mask=mask)


@triton.jit
def experts_int4(a_ptr, b_ptr, c_ptr, scale_ptr, zero_ptr, weight_ptr, sorted_ptr, expert_ptr,
                 padded_ptr, N, K, EM, valid, stride_am, stride_be, stride_bk, stride_bn, stride_cm,
                 GROUP: tl.constexpr, HAS_ZERO: tl.constexpr, WEIGH: tl.constexpr,
                 TOPK: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Products of experts with weights of 4 bits, two along k in a byte that is loaded twice."""
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(EM, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    first = (pid // in_group) * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    pid_m = first + ((pid % in_group) % size)
    pid_n = (pid % in_group) // size
    if pid_m * BLOCK_M >= tl.load(padded_ptr):
        return
    token_id = tl.load(sorted_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    mask_m = token_id < valid
    expert = tl.load(expert_ptr + pid_m).to(tl.int64)
    n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (token_id[:, None] // TOPK * stride_am + k[None, :])
    b_ptrs = b_ptr + expert * stride_be + (k[:, None] // 2) * stride_bk + n[None, :] * stride_bn
    shift = (k[:, None] % 2) * 4
    groups = K // GROUP
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        k_mask = k[:, None] < K - i * BLOCK_K
        a = tl.load(a_ptrs, mask=mask_m[:, None] & (k[None, :] < K - i * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs)
        b = (b >> shift) & 0xF
        at = expert * N * groups + n[None, :] * groups + (k[:, None] + BLOCK_K * i) // GROUP
        s = tl.load(scale_ptr + at, mask=k_mask, other=0.0).to(tl.float32)
        if HAS_ZERO:
            z_at = expert * (N // 2) * groups + (n[None, :] // 2) * groups \
                + (k[:, None] + BLOCK_K * i) // GROUP
            z = tl.load(zero_ptr + z_at, mask=k_mask, other=0)
            z = ((z >> ((n[None, :] % 2) * 4)) & 0xF).to(tl.float32)
            b = ((b.to(tl.float32) - z) * s).to(a.dtype)
        else:
            b = ((b.to(tl.float32) - 8) * s).to(a.dtype)
        acc = tl.dot(a, b, acc=acc)
        a_ptrs += BLOCK_K
        b_ptrs += (BLOCK_K // 2) * stride_bk
    if WEIGH:
        w = tl.load(weight_ptr + token_id, mask=mask_m, other=0)
        acc = acc * w[:, None]
    cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + stride_cm * token_id[:, None] + cn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=mask_m[:, None] & (cn[None, :] < N))


@triton.jit
def experts_finalize(y_ptr, shared_ptr, row_ptr, weight_ptr, out_ptr, D, TOPK: tl.constexpr,
                     BLOCK: tl.constexpr):
    """A token's copies from where the experts left them, weighed, onto the shared expert's."""
    t = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.load(shared_ptr + t * D + d, mask=d < D, other=0.0).to(tl.float32)
    for k in tl.static_range(TOPK):
        row = tl.load(row_ptr + t * TOPK + k).to(tl.int64)
        if row >= 0:
            w = tl.load(weight_ptr + t * TOPK + k).to(tl.float32)
            acc += w * tl.load(y_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
    tl.store(out_ptr + t * D + d, acc.to(out_ptr.dtype.element_ty), mask=d < D)


@triton.jit
def latent_cache_fp8(x_ptr, slot_ptr, cache_ptr, NOPE: tl.constexpr, ROPE: tl.constexpr,
                     TILE: tl.constexpr, ROW: tl.constexpr):
    """A row of a latent cache: bytes of fp8, a scale of fp32 a tile, 16 bits for the rest."""
    t = tl.program_id(0)
    slot = tl.load(slot_ptr + t)
    if slot == -1:
        return
    tiles: tl.constexpr = NOPE // TILE
    i = tl.arange(0, tiles)[:, None] * TILE + tl.arange(0, TILE)[None, :]
    x = tl.load(x_ptr + t * (NOPE + ROPE) + i).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(x), axis=1), 1e-4) / 448.0
    s = tl.exp2(tl.ceil(tl.log2(s)))
    row = cache_ptr + slot * ROW
    q = (x / s[:, None]).to(tl.float8e4nv)
    tl.store(row + i, q.to(tl.uint8, bitcast=True))
    tl.store((row + NOPE).to(tl.pointer_type(tl.float32)) + tl.arange(0, tiles), s)
    r = tl.arange(0, ROPE)
    rest = tl.load(x_ptr + t * (NOPE + ROPE) + NOPE + r)
    tl.store((row + NOPE + tiles * 4).to(tl.pointer_type(tl.bfloat16)) + r, rest)


@triton.jit
def rope_sections(q_ptr, k_ptr, cos_ptr, sin_ptr, qo_ptr, ko_ptr, tokens, HQ: tl.constexpr,
                  HK: tl.constexpr, PQ: tl.constexpr, PK: tl.constexpr, D: tl.constexpr,
                  FIRST: tl.constexpr, SECOND: tl.constexpr):
    """Rotation by time, height and width: a section of the angles from each of three tables."""
    t = tl.program_id(0)
    half: tl.constexpr = D // 2
    c = tl.arange(0, half)
    first = c < FIRST
    second = (c >= FIRST) & (c < FIRST + SECOND)
    third = c >= FIRST + SECOND
    step = tokens * half
    cos = tl.load(cos_ptr + t * half + c, mask=first, other=0) \
        + tl.load(cos_ptr + step + t * half + c, mask=second, other=0) \
        + tl.load(cos_ptr + 2 * step + t * half + c, mask=third, other=0)
    sin = tl.load(sin_ptr + t * half + c, mask=first, other=0) \
        + tl.load(sin_ptr + step + t * half + c, mask=second, other=0) \
        + tl.load(sin_ptr + 2 * step + t * half + c, mask=third, other=0)
    hq = tl.arange(0, PQ)[:, None]
    hk = tl.arange(0, PK)[:, None]
    at_q = t * HQ * D + hq * D + c[None, :]
    at_k = t * HK * D + hk * D + c[None, :]
    q1 = tl.load(q_ptr + at_q, mask=hq < HQ, other=0).to(sin.dtype)
    k1 = tl.load(k_ptr + at_k, mask=hk < HK, other=0).to(sin.dtype)
    q2 = tl.load(q_ptr + at_q + half, mask=hq < HQ, other=0).to(sin.dtype)
    k2 = tl.load(k_ptr + at_k + half, mask=hk < HK, other=0).to(sin.dtype)
    tl.store(qo_ptr + at_q, q1 * cos - q2 * sin, mask=hq < HQ)
    tl.store(qo_ptr + at_q + half, q2 * cos + q1 * sin, mask=hq < HQ)
    tl.store(ko_ptr + at_k, k1 * cos - k2 * sin, mask=hk < HK)
    tl.store(ko_ptr + at_k + half, k2 * cos + k1 * sin, mask=hk < HK)


@triton.jit
def rope_inline(x_ptr, pos_ptr, y_ptr, T, H, theta, R: tl.constexpr, D: tl.constexpr,
                BLOCK_T: tl.constexpr):
    """Angles made in the kernel, pairs beside each other, the rest of a head copied."""
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    h = tl.program_id(1)
    d = tl.arange(0, D)
    mask = (t < T)[:, None]
    at = (t * H + h)[:, None] * D + d[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    pos = tl.load(pos_ptr + t, mask=t < T, other=0).to(tl.float32)
    pair = tl.arange(0, D // 2)
    angle = pos[:, None] * tl.exp2(-(2.0 * pair / R) * tl.log2(theta))[None, :]
    turns = pair[None, :] < R // 2
    cos = tl.where(turns, tl.cos(angle), 1.0)
    sin = tl.where(turns, tl.sin(angle), 0.0)
    even, odd = tl.split(tl.reshape(x, (BLOCK_T, D // 2, 2)))
    y = tl.interleave(even * cos - odd * sin, even * sin + odd * cos)
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def verify_tree(predict_ptr, accept_ptr, count_ptr, tokens_ptr, next_ptr, sibling_ptr, target_ptr,
                DRAFT: tl.constexpr, DEPTH: tl.constexpr):
    """Greedy walk down a tree of drafted tokens, siblings one after the other."""
    b = tl.program_id(0)
    base = b * DRAFT
    at = 0
    count = 0
    tl.store(accept_ptr + b * DEPTH, base)
    wanted = tl.load(target_ptr + base)
    child = tl.load(next_ptr + base)
    while (child >= 0) & (count < DEPTH - 1):
        token = tl.load(tokens_ptr + base + child)
        if token == wanted:
            tl.store(predict_ptr + base + at, token)
            at = child
            count += 1
            tl.store(accept_ptr + b * DEPTH + count, base + at)
            wanted = tl.load(target_ptr + base + at)
            child = tl.load(next_ptr + base + at)
        else:
            child = tl.load(sibling_ptr + base + child)
    tl.store(predict_ptr + base + at, wanted)
    tl.store(count_ptr + b, count)


@triton.jit
def typical_acceptance(p_ptr, drafts_ptr, out_ptr, kept_ptr, V, threshold, alpha,
                       K: tl.constexpr, BLOCK: tl.constexpr):
    """A draft stays while it is likely enough for how uncertain the model is there."""
    b = tl.program_id(0)
    stays = True
    kept = 0
    for i in range(K):
        entropy = 0.0
        for start in range(0, V, BLOCK):
            v = start + tl.arange(0, BLOCK)
            p = tl.load(p_ptr + (b * K + i) * V + v, mask=v < V, other=0.0)
            entropy -= tl.sum(p * tl.log(p + 1e-5))
        bound = tl.minimum(threshold, alpha * tl.exp(-entropy))
        draft = tl.load(drafts_ptr + b * K + i)
        mine = tl.load(p_ptr + (b * K + i) * V + draft)
        stays = stays & (mine > bound)
        tl.store(out_ptr + b * K + i, tl.where(stays, draft, -1))
        kept += stays.to(tl.int32)
    tl.store(kept_ptr + b, kept)


@triton.jit
def copy_pages(src_ptr, dst_ptr, pairs_ptr, words, layer_stride, BLOCK: tl.constexpr):
    """Pages of caches of all layers to other places, as words of 64 bits."""
    pair, layer = tl.program_id(0), tl.program_id(1)
    a = tl.load(pairs_ptr + 2 * pair).to(tl.int64)
    b = tl.load(pairs_ptr + 2 * pair + 1).to(tl.int64)
    src = src_ptr + layer.to(tl.int64) * layer_stride + a * words
    dst = dst_ptr + layer.to(tl.int64) * layer_stride + b * words
    for start in tl.range(0, words, BLOCK, num_stages=2):
        i = start + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.load(src + i, mask=i < words), mask=i < words)


@triton.jit
def conv1d_update_slots(x_ptr, state_ptr, w_ptr, bias_ptr, slots_ptr, y_ptr, new_ptr, D,
                        W: tl.constexpr, SILU: tl.constexpr, BLOCK: tl.constexpr):
    """A step of a short convolution; states are in slots, W - 1 numbers of each channel."""
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    slot = tl.load(slots_ptr + b).to(tl.int64)
    if slot < 0:
        return
    mask = d < D
    s = state_ptr + (slot * D + d) * (W - 1)
    n = new_ptr + (slot * D + d) * (W - 1)
    w = w_ptr + d * W
    acc = tl.load(bias_ptr + d, mask=mask, other=0.0).to(tl.float32)
    s0 = tl.load(s, mask=mask, other=0.0)
    acc += s0 * tl.load(w, mask=mask, other=0.0)
    if W >= 3:
        s1 = tl.load(s + 1, mask=mask, other=0.0)
        acc += s1 * tl.load(w + 1, mask=mask, other=0.0)
        tl.store(n, s1, mask=mask)
    if W >= 4:
        s2 = tl.load(s + 2, mask=mask, other=0.0)
        acc += s2 * tl.load(w + 2, mask=mask, other=0.0)
        tl.store(n + 1, s2, mask=mask)
    x = tl.load(x_ptr + b * D + d, mask=mask, other=0.0)
    acc += x * tl.load(w + W - 1, mask=mask, other=0.0)
    tl.store(n + W - 2, x, mask=mask)
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(y_ptr + b * D + d, acc, mask=mask)


@triton.jit
def gated_delta_step(q_ptr, k_ptr, v_ptr, a_ptr, b_ptr, log_a_ptr, bias_ptr, state_ptr, slots_ptr,
                     o_ptr, new_ptr, scale, HQ: tl.constexpr, HV: tl.constexpr, K: tl.constexpr,
                     V: tl.constexpr, BV: tl.constexpr):
    """A step of the gated delta rule: gates from logits, norms of q and k, states in slots."""
    b, hv, iv = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    h = hv // (HV // HQ)
    k_ = tl.arange(0, K)
    v_ = iv * BV + tl.arange(0, BV)
    slot = tl.load(slots_ptr + b).to(tl.int64)
    q = tl.load(q_ptr + (b * HQ + h) * K + k_).to(tl.float32)
    k = tl.load(k_ptr + (b * HQ + h) * K + k_).to(tl.float32)
    v = tl.load(v_ptr + (b * HV + hv) * V + v_).to(tl.float32)
    x = tl.load(a_ptr + b * HV + hv).to(tl.float32) + tl.load(bias_ptr + hv)
    soft = tl.where(x <= 20.0, tl.log(1.0 + tl.exp(x)), x)
    g = -tl.exp(tl.load(log_a_ptr + hv)) * soft
    beta = tl.sigmoid(tl.load(b_ptr + b * HV + hv).to(tl.float32))
    q = q / tl.sqrt(tl.sum(q * q) + 1e-6) * scale
    k = k / tl.sqrt(tl.sum(k * k) + 1e-6)
    at = (slot * HV + hv) * K * V + k_[:, None] * V + v_[None, :]
    state = tl.load(state_ptr + at).to(tl.float32) * tl.exp(g)
    v = (v - tl.sum(state * k[:, None], 0)) * beta
    state += k[:, None] * v[None, :]
    tl.store(o_ptr + (b * HV + hv) * V + v_,
             tl.sum(state * q[:, None], 0).to(o_ptr.dtype.element_ty))
    tl.store(new_ptr + at, state.to(new_ptr.dtype.element_ty))
