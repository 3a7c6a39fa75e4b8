"""What is searched, chosen, counted and put elsewhere: bounds, ranks, draws, bins, indices."""
import triton
import triton.language as tl


@triton.jit
def bucketize(x_ptr, bounds_ptr, out_ptr, n, count, RIGHT: tl.constexpr, STEPS: tl.constexpr,
              BLOCK: tl.constexpr):
    """Which of sorted bounds a number lies between, by halving."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    low = tl.zeros([BLOCK], dtype=tl.int32)
    high = tl.zeros([BLOCK], dtype=tl.int32) + count
    for _ in range(STEPS):
        open_ = low < high
        mid = (low + high) // 2
        bound = tl.load(bounds_ptr + mid, mask=open_, other=0.0)
        if RIGHT:
            after = bound <= x
        else:
            after = bound < x
        low = tl.where(open_ & after, mid + 1, low)
        high = tl.where(open_ & (after == 0), mid, high)
    tl.store(out_ptr + i, low.to(tl.int64), mask=i < n)


@triton.jit
def searchsorted_rows(sorted_ptr, x_ptr, out_ptr, N, Q, BLOCK: tl.constexpr):
    """The same in rows, each with bounds of its own; a while loop over all of a block."""
    row = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * Q + i, mask=i < Q, other=0.0)
    base = sorted_ptr + row * N
    low = tl.zeros([BLOCK], dtype=tl.int32)
    high = tl.zeros([BLOCK], dtype=tl.int32) + N
    width = N
    while width > 0:
        mid = low + (high - low) // 2
        go = low < high
        after = tl.load(base + mid, mask=go, other=0.0) < x
        low = tl.where(go & after, mid + 1, low)
        high = tl.where(go & (after == 0), mid, high)
        width = width // 2
    tl.store(out_ptr + row * Q + i, low, mask=i < Q)


@triton.jit
def isin_small(x_ptr, tests_ptr, out_ptr, n, count, BLOCK: tl.constexpr, BLOCK_T: tl.constexpr):
    """Whether an element is among some others: all are compared."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    found = tl.zeros([BLOCK], dtype=tl.int1)
    for start in range(0, count, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        test = tl.load(tests_ptr + t, mask=t < count, other=0)
        equal = (x[:, None] == test[None, :]) & (t < count)[None, :]
        found = found | (tl.max(equal.to(tl.int32), axis=1) != 0)
    tl.store(out_ptr + i, found.to(tl.int8), mask=i < n)


@triton.jit
def nonzero_write(x_ptr, before_ptr, out_ptr, n, s1, s2, BLOCK: tl.constexpr):
    """Indices of what is not 0 in three dimensions, to where a cumulative sum says."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    take = mask & (tl.load(x_ptr + i, mask=mask, other=0) != 0)
    at = tl.load(before_ptr + i, mask=take, other=1) - 1
    rest = i
    i2 = rest % s2
    rest = rest // s2
    i1 = rest % s1
    i0 = rest // s1
    tl.store(out_ptr + at * 3, i0.to(tl.int64), mask=take)
    tl.store(out_ptr + at * 3 + 1, i1.to(tl.int64), mask=take)
    tl.store(out_ptr + at * 3 + 2, i2.to(tl.int64), mask=take)


@triton.jit
def unique_sorted(x_ptr, starts_ptr, values_ptr, inverse_ptr, n, BLOCK: tl.constexpr):
    """Different ones of sorted numbers; where a block's first one goes is known."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0)
    previous = tl.load(x_ptr + i - 1, mask=mask & (i > 0), other=0)
    new = mask & ((x != previous) | (i == 0))
    rank = tl.load(starts_ptr + pid) + tl.cumsum(new.to(tl.int32), axis=0) - 1
    tl.store(values_ptr + rank, x, mask=new)
    tl.store(inverse_ptr + i, rank, mask=mask)


@triton.jit
def kth_radix(x_ptr, out_ptr, N, k, BLOCK: tl.constexpr):
    """The k-th smallest of a row: eight bits of it in each of four passes, from histograms."""
    row = tl.program_id(0)
    bins = tl.arange(0, 256)
    prefix = tl.full((), 0, dtype=tl.uint32)
    fixed = tl.full((), 0, dtype=tl.uint32)
    left = k
    for step in tl.static_range(4):
        counts = tl.zeros([256], dtype=tl.int32)
        for start in range(0, N, BLOCK):
            n = start + tl.arange(0, BLOCK)
            bits = tl.load(x_ptr + row * N + n, mask=n < N, other=0.0).to(tl.uint32, bitcast=True)
            key = bits ^ tl.where((bits >> 31) != 0, 0xFFFFFFFF, 0x80000000)
            mine = (n < N) & ((key & fixed) == prefix)
            counts += tl.histogram(((key >> (24 - 8 * step)) & 255).to(tl.int32), 256, mask=mine)
        up_to = tl.cumsum(counts, axis=0)
        digit = tl.sum((up_to < left).to(tl.int32), axis=0)
        left -= tl.sum(tl.where(bins < digit, counts, 0), axis=0)
        prefix = prefix | (digit.to(tl.uint32) << (24 - 8 * step))
        fixed = fixed | (255 << (24 - 8 * step))
    bits = tl.where((prefix >> 31) != 0, prefix ^ 0x80000000, ~prefix)
    tl.store(out_ptr + row, bits.to(tl.float32, bitcast=True))


@triton.jit
def kth_bisection(x_ptr, out_ptr, N, k, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """About the k-th largest of a row in registers: a threshold that is halved."""
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + n, mask=n < N, other=-float("inf"))
    high = tl.max(x, axis=0)
    low = tl.min(tl.where(n < N, x, float("inf")), axis=0)
    for _ in range(STEPS):
        mid = 0.5 * (low + high)
        enough = tl.sum((x >= mid).to(tl.int32), axis=0) >= k
        low = tl.where(enough, mid, low)
        high = tl.where(enough, high, mid)
    tl.store(out_ptr + row, low)


@triton.jit
def quantile_rows(x_ptr, q_ptr, out_ptr, M, N, Q, BLOCK: tl.constexpr):
    """Quantiles of a row, linear between the two nearest, after sorting it."""
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + n, mask=n < N, other=float("inf"))
    ordered = tl.where(n < N, tl.sort(x), 0.0)
    for j in range(Q):
        rank = tl.load(q_ptr + j) * (N - 1)
        below = tl.floor(rank)
        at = below.to(tl.int32)
        a = tl.sum(tl.where(n == at, ordered, 0.0), axis=0)
        b = tl.sum(tl.where(n == min(at + 1, N - 1), ordered, 0.0), axis=0)
        tl.store(out_ptr + j * M + row, a + (b - a) * (rank - below))


@triton.jit
def multinomial_race(probs_ptr, out_ptr, seed, V, BLOCK: tl.constexpr):
    """A draw from each row: the largest of probabilities over exponential numbers."""
    row = tl.program_id(0)
    best = -1.0
    chosen = 0
    for start in range(0, V, BLOCK):
        v = start + tl.arange(0, BLOCK)
        p = tl.load(probs_ptr + row * V + v, mask=v < V, other=0.0)
        u = tl.rand(seed, row * V + v)
        e = -tl.log(tl.maximum(u, 1e-10))
        score = tl.where(v < V, p / e, -1.0)
        top, at = tl.max(score, axis=0, return_indices=True)
        if top > best:
            best = top
            chosen = start + at
    tl.store(out_ptr + row, chosen.to(tl.int64))


@triton.jit
def smaller_with_index(v1, i1, v2, i2):
    first = (v1 < v2) | ((v1 == v2) & (i1 > i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)


@triton.jit
def cummin_columns(x_ptr, out_ptr, index_ptr, A, B, C, BLOCK_B: tl.constexpr,
                   BLOCK_C: tl.constexpr):
    """Cumulative minima along the middle dimension, with their places."""
    a = tl.program_id(1)
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    least = tl.full([BLOCK_C], float("inf"), dtype=tl.float32)
    where = tl.zeros([BLOCK_C], dtype=tl.int32)
    for start in range(0, B, BLOCK_B):
        b = start + tl.arange(0, BLOCK_B)
        mask = (b < B)[:, None] & (c < C)[None, :]
        offs = a * B * C + b[:, None] * C + c[None, :]
        x = tl.load(x_ptr + offs, mask=mask, other=float("inf"))
        at = tl.broadcast_to(b[:, None], (BLOCK_B, BLOCK_C))
        v, i = tl.associative_scan((x, at), 0, smaller_with_index)
        older = v > least[None, :]
        v = tl.where(older, least[None, :], v)
        i = tl.where(older, where[None, :], i)
        tl.store(out_ptr + offs, v, mask=mask)
        tl.store(index_ptr + offs, i.to(tl.int64), mask=mask)
        last = (b == start + BLOCK_B - 1)[:, None]
        least = tl.min(v, axis=0)
        where = tl.sum(tl.where(last, i, 0), axis=0)


@triton.jit
def histc(x_ptr, bins_ptr, n, low, high, BINS: tl.constexpr, BLOCK: tl.constexpr,
          PER: tl.constexpr):
    """Counts of numbers in equal bins, what a program counts added by atomics."""
    pid = tl.program_id(0)
    counts = tl.zeros([BINS], dtype=tl.int32)
    for j in range(PER):
        i = (pid * PER + j) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        inside = (i < n) & (x >= low) & (x <= high)
        b = ((x - low) * (BINS / (high - low))).to(tl.int32)
        b = tl.minimum(tl.maximum(b, 0), BINS - 1)
        counts += tl.histogram(b, BINS, mask=inside)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit
def count_nonzero(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """How many of a row are not 0."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    count = tl.zeros([BLOCK_M], dtype=tl.int64)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m < M)[:, None] & (n < N)[None, :],
                    other=0.0)
        count += tl.sum((x != 0).to(tl.int32), axis=1)
    tl.store(out_ptr + m, count, mask=m < M)


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def all_dim(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Whether all of a row are not 0."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    every = tl.full([BLOCK_M, BLOCK_N], 1, dtype=tl.int1)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        x = tl.load(x_ptr + m * N + n, mask=(m < M) & (n < N), other=1)
        every = every & (x != 0)
    out = tl.reduce(every, axis=1, combine_fn=both)
    tl.store(out_ptr + m, out[:, None].to(tl.int8), mask=m < M)


@triton.jit
def std_dim(x_ptr, out_ptr, M, N, correction, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Standard deviations of rows: sums, then sums of squares of differences."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        acc += tl.load(x_ptr + m * N + n, mask=(m < M) & (n < N), other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=1)[:, None] / N
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        mask = (m < M) & (n < N)
        x = tl.load(x_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        d = tl.where(mask, x - mean, 0.0)
        acc += d * d
    out = tl.sqrt(tl.sum(acc, axis=1) / (N - correction))
    tl.store(out_ptr + m, out[:, None].to(out_ptr.dtype.element_ty), mask=m < M)


@triton.jit
def aminmax_part(x_ptr, low_ptr, high_ptr, n, BLOCK: tl.constexpr):
    """The least and the largest of all, the first of two steps."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=float("inf"))
    y = tl.where(i < n, x, -float("inf"))
    tl.store(low_ptr + tl.program_id(0), tl.min(x, axis=0))
    tl.store(high_ptr + tl.program_id(0), tl.max(y, axis=0))


@triton.jit
def scatter_dim(src_ptr, index_ptr, out_ptr, n, s1, s2, o0, o1, o2, DIM: tl.constexpr,
                ADD: tl.constexpr, BLOCK: tl.constexpr):
    """torch.scatter in three dimensions, or the one that adds, by atomics."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    i2 = offs % s2
    i1 = offs // s2 % s1
    i0 = offs // (s1 * s2)
    at = tl.load(index_ptr + offs, mask=mask, other=0)
    src = tl.load(src_ptr + offs, mask=mask, other=0.0)
    if DIM == 0:
        place = at * o0 + i1 * o1 + i2 * o2
    elif DIM == 1:
        place = i0 * o0 + at * o1 + i2 * o2
    else:
        place = i0 * o0 + i1 * o1 + at * o2
    if ADD:
        tl.atomic_add(out_ptr + place, src, mask=mask, sem="relaxed")
    else:
        tl.store(out_ptr + place, src, mask=mask)


@triton.jit
def index_put(i_ptr, j_ptr, src_ptr, out_ptr, M, rows, columns, D, BLOCK_M: tl.constexpr,
              BLOCK_D: tl.constexpr):
    """out[i, j] += src for pairs of indices, which may be negative; D channels each."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    i = tl.load(i_ptr + m, mask=m < M, other=0)
    j = tl.load(j_ptr + m, mask=m < M, other=0)
    i = tl.where(i < 0, i + rows, i)
    j = tl.where(j < 0, j + columns, j)
    mask = (m < M)[:, None] & (d < D)[None, :]
    x = tl.load(src_ptr + m[:, None] * D + d[None, :], mask=mask, other=0.0)
    place = (i * columns + j)[:, None] * D + d[None, :]
    tl.atomic_add(out_ptr + place, x, mask=mask, sem="relaxed")


@triton.jit
def take_along_rows(x_ptr, index_ptr, out_ptr, N, K, BLOCK: tl.constexpr):
    """x[row, index[row]], a row and a block of its indices in a program."""
    row = tl.program_id(0)
    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + row * K + k, mask=k < K, other=0)
    at = tl.where(at < 0, at + N, at)
    x = tl.load(x_ptr + row * N + at, mask=k < K, other=0.0)
    tl.store(out_ptr + row * K + k, x, mask=k < K)


@triton.jit
def embedding_bag(ids_ptr, offsets_ptr, weights_ptr, table_ptr, out_ptr, D, MODE: tl.constexpr,
                  WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    """Sums, means or maxima of a bag's rows of a table."""
    bag = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(offsets_ptr + bag)
    end = tl.load(offsets_ptr + bag + 1)
    if MODE == "max":
        acc = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    else:
        acc = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(begin, end):
        row = tl.load(ids_ptr + i)
        x = tl.load(table_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
        if WEIGHTED:
            x *= tl.load(weights_ptr + i)
        if MODE == "max":
            acc = tl.maximum(acc, x)
        else:
            acc += x
    if MODE == "mean":
        acc /= tl.maximum(end - begin, 1).to(tl.float32)
    if MODE == "max":
        acc = tl.where(end > begin, acc, 0.0)
    tl.store(out_ptr + bag * D + d, acc.to(out_ptr.dtype.element_ty), mask=d < D)
