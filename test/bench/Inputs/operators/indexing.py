"""Lookups, gathers and scatters, ragged arrays, boxes, and what a server does with tokens."""
import triton
import triton.language as tl


@triton.jit
def embedding_forward(ids_ptr, w_ptr, out_ptr, n, D: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_D: tl.constexpr):
    """Rows of a table by tokens, a tile of tokens and channels."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    ids = tl.load(ids_ptr + m, mask=m < n, other=0)
    mask = (m[:, None] < n) & (d[None, :] < D)
    x = tl.load(w_ptr + ids[:, None] * D + d[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + m[:, None] * D + d[None, :], x, mask=mask)


@triton.jit
def embedding_backward(ids_ptr, dy_ptr, dw_ptr, D, padding_idx, BLOCK: tl.constexpr):
    """The table's gradient in fp32: a program adds one token's row by atomics."""
    t = tl.program_id(0)
    row = tl.load(ids_ptr + t).to(tl.int32)
    if row != padding_idx:
        for start in range(0, D, BLOCK):
            d = start + tl.arange(0, BLOCK)
            dy = tl.load(dy_ptr + t * D + d, mask=d < D, other=0.0).to(tl.float32)
            tl.atomic_add(dw_ptr + row * D + d, dy, mask=d < D, sem="relaxed")


@triton.jit
def index_select(x_ptr, index_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    """x[:, index] of M x N: tiles of rows and of indices, so columns are gathered."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)[None, :]
    index = tl.load(index_ptr + k, mask=k < K, other=0)
    mask = (m < M) & (k < K)
    x = tl.load(x_ptr + m * N + index, mask=mask)
    tl.store(out_ptr + m * K + k, x, mask=mask)


@triton.jit
def gather_dim(x_ptr, index_ptr, out_ptr, n, s1, s2, xs0, xs1, xs2, DIM: tl.constexpr,
               BLOCK: tl.constexpr):
    """torch.gather in three dimensions, by divisions of the flat index."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    i2 = offs % s2
    i1 = (offs // s2) % s1
    i0 = offs // (s1 * s2)
    at = tl.load(index_ptr + offs, mask=mask, other=0)
    if DIM == 0:
        place = at * xs0 + i1 * xs1 + i2 * xs2
    elif DIM == 1:
        place = i0 * xs0 + at * xs1 + i2 * xs2
    else:
        place = i0 * xs0 + i1 * xs1 + at * xs2
    tl.store(out_ptr + offs, tl.load(x_ptr + place, mask=mask), mask=mask)


@triton.jit
def scatter_add_rows(src_ptr, index_ptr, out_ptr, n, D, BLOCK_M: tl.constexpr,
                     BLOCK_D: tl.constexpr):
    """out[index[i]] += src[i] by atomics, as of edges of a graph; D channels each."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    index = tl.load(index_ptr + m, mask=m < n, other=0)
    mask = (m < n)[:, None] & (d < D)[None, :]
    x = tl.load(src_ptr + m[:, None] * D + d[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + index[:, None] * D + d[None, :], x, mask=mask)


@triton.jit
def jagged_to_dense(x_ptr, offsets_ptr, out_ptr, longest, D, fill, BLOCK_T: tl.constexpr,
                    BLOCK_D: tl.constexpr):
    """Rows of sequences of several lengths into B x longest x D, the rest filled."""
    b = tl.program_id(1)
    begin = tl.load(offsets_ptr + b)
    end = tl.load(offsets_ptr + b + 1)
    length = tl.minimum(end - begin, longest)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        inside = (t[:, None] < length) & (d[None, :] < D)
        x = tl.load(x_ptr + (begin + t)[:, None] * D + d[None, :], mask=inside, other=fill)
        tl.store(out_ptr + b * longest * D + t[:, None] * D + d[None, :], x,
                 mask=(t[:, None] < longest) & (d[None, :] < D))


@triton.jit
def jagged_mean(x_ptr, offsets_ptr, out_ptr, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """The mean row of each sequence."""
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin, end = tl.load(offsets_ptr + b), tl.load(offsets_ptr + b + 1)
    acc = tl.zeros([BLOCK_T, BLOCK_D], dtype=tl.float32)
    for i in range(begin, end, BLOCK_T):
        t = i + tl.arange(0, BLOCK_T)
        mask = (t[:, None] < end) & (d[None, :] < D)
        acc += tl.load(x_ptr + t[:, None] * D + d[None, :], mask=mask, other=0.0)
    mean = tl.sum(acc, axis=0) / tl.maximum(end - begin, 1)
    tl.store(out_ptr + b * D + d, mean.to(out_ptr.dtype.element_ty), mask=d < D)


@triton.jit
def nms_mask(boxes_ptr, out_ptr, n, threshold, WORDS, BLOCK: tl.constexpr):
    """Which of the next 32 * WORDS boxes a box overlaps by more than a threshold, in bits."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.program_id(1)
    j = word * 32 + tl.arange(0, 32)
    ax0 = tl.load(boxes_ptr + i * 4, mask=i < n, other=0.0)[:, None]
    ay0 = tl.load(boxes_ptr + i * 4 + 1, mask=i < n, other=0.0)[:, None]
    ax1 = tl.load(boxes_ptr + i * 4 + 2, mask=i < n, other=0.0)[:, None]
    ay1 = tl.load(boxes_ptr + i * 4 + 3, mask=i < n, other=0.0)[:, None]
    bx0 = tl.load(boxes_ptr + j * 4, mask=j < n, other=0.0)[None, :]
    by0 = tl.load(boxes_ptr + j * 4 + 1, mask=j < n, other=0.0)[None, :]
    bx1 = tl.load(boxes_ptr + j * 4 + 2, mask=j < n, other=0.0)[None, :]
    by1 = tl.load(boxes_ptr + j * 4 + 3, mask=j < n, other=0.0)[None, :]
    w = tl.maximum(tl.minimum(ax1, bx1) - tl.maximum(ax0, bx0), 0.0)
    h = tl.maximum(tl.minimum(ay1, by1) - tl.maximum(ay0, by0), 0.0)
    both = w * h
    union = (ax1 - ax0) * (ay1 - ay0) + (bx1 - bx0) * (by1 - by0) - both
    hit = (both > threshold * union) & (j[None, :] > i[:, None]) & (j[None, :] < n)
    bits = tl.sum(hit.to(tl.int32) << tl.arange(0, 32)[None, :], axis=1)
    tl.store(out_ptr + i * WORDS + word, bits, mask=i < n)


@triton.jit
def count_tokens(ids_ptr, counts_ptr, n, EXPERTS: tl.constexpr, PER: tl.constexpr):
    """How many copies of tokens in each program's share go to each expert (one after the other)."""
    pid = tl.program_id(0)
    start = pid * PER
    row = (pid + 1) * EXPERTS
    for i in range(PER):
        if start + i < n:
            e = tl.load(ids_ptr + start + i)
            tl.store(counts_ptr + row + e, tl.load(counts_ptr + row + e) + 1)


@triton.jit
def place_tokens(ids_ptr, start_ptr, sorted_ptr, experts_ptr, n, BLOCKS, EXPERTS: tl.constexpr,
                 BLOCK: tl.constexpr):
    """A program an expert: the places of its copies among all, by a cumulative sum of who chose
    it, from where its padded share begins; and which expert each tile belongs to."""
    e = tl.program_id(0)
    begin = tl.load(start_ptr + e)
    end = tl.load(start_ptr + e + 1)
    done = begin
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mine = tl.load(ids_ptr + offs, mask=offs < n, other=-1) == e
        ones = mine.to(tl.int32)
        place = done + tl.cumsum(ones, 0) - 1
        tl.store(sorted_ptr + place, offs, mask=mine)
        done += tl.sum(ones, 0)
    for i in range(begin // BLOCKS, end // BLOCKS):
        tl.store(experts_ptr + i, e)


@triton.jit
def topk_softmax(x_ptr, weights_ptr, index_ptr, rows, EXPERTS: tl.constexpr, TOPK: tl.constexpr,
                 BLOCK_M: tl.constexpr):
    """A router: softmax over experts, then the best TOPK one after the other, renormalized."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    e = tl.arange(0, EXPERTS)
    x = tl.load(x_ptr + m[:, None] * EXPERTS + e[None, :], mask=m[:, None] < rows, other=0.0)
    x = x.to(tl.float32)
    x = tl.exp(x - tl.max(x, axis=1)[:, None])
    p = x / tl.sum(x, axis=1)[:, None]
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    for k in range(TOPK):
        best = tl.max(p, axis=1)
        at = tl.argmax(p, axis=1)
        total += best
        tl.store(weights_ptr + m * TOPK + k, best, mask=m < rows)
        tl.store(index_ptr + m * TOPK + k, at, mask=m < rows)
        p = tl.where(e[None, :] == at[:, None], -1.0, p)
    tl.debug_barrier()
    for k in range(TOPK):
        w = tl.load(weights_ptr + m * TOPK + k, mask=m < rows, other=0.0)
        tl.store(weights_ptr + m * TOPK + k, w / total, mask=m < rows)


@triton.jit
def token_penalties(logits_ptr, counts_ptr, repetition_ptr, frequency_ptr, presence_ptr,
                    temperature_ptr, out_ptr, V, BLOCK: tl.constexpr):
    """Penalties of repetition, frequency and presence, and the temperature, of one request."""
    b = tl.program_id(0)
    v = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = v < V
    repetition = tl.load(repetition_ptr + b)
    frequency = tl.load(frequency_ptr + b)
    presence = tl.load(presence_ptr + b)
    temperature = tl.load(temperature_ptr + b)
    temperature = tl.where(temperature == 0.0, 1.0, temperature)
    logits = tl.load(logits_ptr + b * V + v, mask=mask).to(tl.float32)
    counts = tl.load(counts_ptr + b * V + v, mask=mask, other=0)
    seen = counts > 0
    scale = tl.where(seen, repetition, 1.0)
    logits = tl.where(logits > 0, logits / scale, logits * scale)
    logits -= frequency * counts
    logits -= presence * seen
    tl.store(out_ptr + b * V + v, logits / temperature, mask=mask)


@triton.jit
def top_k_top_p(logits_ptr, k_ptr, p_ptr, out_ptr, V, PAD_V: tl.constexpr, STEPS: tl.constexpr):
    """Keeps the k largest of a row, then of these what makes up p of the probability; thresholds
    come from bisections over values, with a whole row in a block."""
    row = tl.program_id(0)
    v = tl.arange(0, PAD_V)
    x = tl.load(logits_ptr + row * V + v, mask=v < V, other=-float("inf"))
    k = tl.load(k_ptr + row)
    p = tl.load(p_ptr + row)
    high = tl.max(x, axis=0)
    low = tl.min(tl.where(v < V, x, float("inf")), axis=0) - 1.0
    top = high
    for _ in range(STEPS):
        mid = (low + high) * 0.5
        many = tl.sum((x > mid).to(tl.int32), axis=0)
        low = tl.where(many >= k, mid, low)
        high = tl.where(many >= k, high, mid)
    x = tl.where(x > low, x, -float("inf"))
    e = tl.exp(x - top)
    e = e / tl.sum(e, axis=0)
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        mid = (low + high) * 0.5
        enough = tl.sum(tl.where(e > mid, e, 0.0), axis=0) >= p
        low = tl.where(enough, mid, low)
        high = tl.where(enough, high, mid)
    tl.store(out_ptr + row * V + v, tl.where(e > low, x, -float("inf")), mask=v < V)


@triton.jit
def gumbel_sample(logits_ptr, seeds_ptr, out_ptr, V, BLOCK: tl.constexpr):
    """A token drawn by Gumbel's noise from Philox: argmax(logits + noise) in a loop."""
    row = tl.program_id(0)
    seed = tl.load(seeds_ptr + row)
    best = -float("inf")
    token = 0
    for start in range(0, V, BLOCK):
        v = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + v, mask=v < V, other=-float("inf")).to(tl.float32)
        u = tl.rand(seed, v)
        u = tl.maximum(u, 1e-7)
        x = x - tl.log(-tl.log(u))
        here, at = tl.max(x, axis=0, return_indices=True)
        token = tl.where(here > best, start + at, token)
        best = tl.maximum(best, here)
    tl.store(out_ptr + row, token)


@triton.jit
def rejection_sample(cu_drafts_ptr, draft_ptr, target_probs_ptr, draft_probs_ptr, uniform_ptr,
                     recovered_ptr, bonus_ptr, out_ptr, V, SPEC: tl.constexpr):
    """Speculative decoding: drafts of a request are taken one after the other until one fails,
    which a token drawn from the rest replaces; after the last there is one more."""
    req = tl.program_id(0)
    start = tl.load(cu_drafts_ptr + req)
    n = tl.load(cu_drafts_ptr + req + 1) - start
    rejected = False
    for pos in range(n):
        if not rejected:
            token = tl.load(draft_ptr + start + pos)
            q = tl.load(draft_probs_ptr + (start + pos) * V + token)
            p = tl.load(target_probs_ptr + (start + pos) * V + token)
            u = tl.load(uniform_ptr + start + pos)
            if q > 0 and p / q >= u:
                chosen = token
            else:
                rejected = True
                chosen = tl.load(recovered_ptr + start + pos)
            tl.store(out_ptr + req * (SPEC + 1) + pos, chosen)
    if not rejected:
        tl.store(out_ptr + req * (SPEC + 1) + n, tl.load(bonus_ptr + req))


@triton.jit
def recovered_tokens(cu_drafts_ptr, draft_ptr, target_probs_ptr, draft_probs_ptr, noise_ptr,
                     out_ptr, V, PAD_V: tl.constexpr):
    """The token that replaces a draft: argmax of what the target has more, over noise of the
    request, a whole vocabulary in a block."""
    req = tl.program_id(0)
    pos = tl.program_id(1)
    start = tl.load(cu_drafts_ptr + req)
    end = tl.load(cu_drafts_ptr + req + 1)
    if pos >= end - start:
        return
    v = tl.arange(0, PAD_V)
    q = tl.load(draft_probs_ptr + (start + pos) * V + v, mask=v < V, other=0)
    p = tl.load(target_probs_ptr + (start + pos) * V + v, mask=v < V, other=0)
    noise = tl.load(noise_ptr + req * V + v, mask=v < V, other=float("inf"))
    at = tl.argmax(tl.maximum(p - q, 0) / noise, axis=-1)
    tl.store(out_ptr + start + pos, at)


@triton.jit
def store_kv(k_ptr, v_ptr, k_cache_ptr, v_cache_ptr, slots_ptr, key_stride, block_stride,
             page_stride, HD: tl.constexpr, PAGE: tl.constexpr, PAD: tl.constexpr):
    """New keys and values of a token into their slot of a paged cache."""
    t = tl.program_id(0)
    slot = tl.load(slots_ptr + t)
    if slot < 0:
        return
    block = slot // PAGE
    within = slot % PAGE
    i = tl.arange(0, PAD)
    to = block * block_stride + within * page_stride + i
    tl.store(k_cache_ptr + to, tl.load(k_ptr + t * key_stride + i, mask=i < HD), mask=i < HD)
    tl.store(v_cache_ptr + to, tl.load(v_ptr + t * key_stride + i, mask=i < HD), mask=i < HD)
