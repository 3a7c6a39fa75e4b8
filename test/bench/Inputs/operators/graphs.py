"""Graphs and clusters: sums over neighbours, softmax over edges, nearest centres."""
import triton
import triton.language as tl


@triton.jit
def neighbour_sum(start_ptr, column_ptr, weight_ptr, x_ptr, y_ptr, D, stride_x, stride_y,
                  BLOCK_E: tl.constexpr, BLOCK_D: tl.constexpr):
    """Rows of a sparse matrix (CSR) times features: some edges at once, a node a program."""
    node = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    d = tl.max_contiguous(tl.multiple_of(d, BLOCK_D), BLOCK_D)
    first = tl.load(start_ptr + node)
    end = tl.load(start_ptr + node + 1)
    total = tl.zeros([BLOCK_D], tl.float32)
    for at in range(first, end, BLOCK_E):
        e = at + tl.arange(0, BLOCK_E)
        column = tl.load(column_ptr + e, mask=e < end, other=0).to(tl.int64)
        w = tl.load(weight_ptr + e, mask=e < end, other=0.0)
        x = tl.load(x_ptr + column[:, None] * stride_x + d[None, :],
                    mask=(e < end)[:, None] & (d < D)[None, :], other=0.0)
        total += tl.sum(w[:, None] * x.to(tl.float32), 0)
    tl.store(y_ptr + node.to(tl.int64) * stride_y + d, total.to(y_ptr.dtype.element_ty),
             mask=d < D)


@triton.jit
def graph_attention(start_ptr, source_ptr, left_ptr, right_ptr, v_ptr, y_ptr, slope,
                    HEADS: tl.constexpr, D: tl.constexpr):
    """Weights of edges by a leaky sum of both ends, their softmax and the mean, in one pass."""
    node = tl.program_id(0)
    h = tl.arange(0, HEADS)
    d = tl.arange(0, D)
    first = tl.load(start_ptr + node)
    end = tl.load(start_ptr + node + 1)
    here = tl.load(right_ptr + node * HEADS + h)
    high = tl.full([HEADS], -1e30, tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    y = tl.zeros([HEADS, D], tl.float32)
    for e in range(first, end):
        source = tl.load(source_ptr + e).to(tl.int64)
        s = tl.load(left_ptr + source * HEADS + h) + here
        s = tl.where(s > 0, s, slope * s)
        new = tl.maximum(high, s)
        fade = tl.exp(high - new)
        w = tl.exp(s - new)
        v = tl.load(v_ptr + (source * HEADS + h[:, None]) * D + d[None, :]).to(tl.float32)
        y = y * fade[:, None] + w[:, None] * v
        total = total * fade + w
        high = new
    y = y / tl.where(total > 0, total, 1.0)[:, None]
    tl.store(y_ptr + (node.to(tl.int64) * HEADS + h[:, None]) * D + d[None, :],
             y.to(y_ptr.dtype.element_ty))


@triton.jit
def segment_most(x_ptr, start_ptr, y_ptr, at_ptr, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Greatest of the rows of each segment, and which row it was; -1 where there is none."""
    segment = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(start_ptr + segment)
    end = tl.load(start_ptr + segment + 1)
    most = tl.full([BLOCK], float("-inf"), tl.float32)
    where = tl.full([BLOCK], -1, tl.int32)
    for begin in range(first, end, ROWS):
        r = begin + tl.arange(0, ROWS)
        x = tl.load(x_ptr + r.to(tl.int64)[:, None] * D + d[None, :],
                    mask=(r < end)[:, None] & (d < D)[None, :], other=float("-inf"))
        best, row = tl.max(x.to(tl.float32), 0, return_indices=True)
        where = tl.where(best > most, begin + row, where)
        most = tl.maximum(most, best)
    tl.store(y_ptr + segment * D + d, tl.where(where < 0, 0.0, most).to(y_ptr.dtype.element_ty),
             mask=d < D)
    tl.store(at_ptr + segment * D + d, where, mask=d < D)


@triton.jit
def scatter_sums(x_ptr, to_ptr, sum_ptr, count_ptr, N, D, ROWS: tl.constexpr,
                 BLOCK: tl.constexpr):
    """Rows and their numbers added where an index says, by atomics."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    to = tl.load(to_ptr + r, mask=r < N, other=0).to(tl.int64)
    tl.atomic_add(count_ptr + to, tl.full([ROWS], 1.0, tl.float32), mask=r < N, sem="relaxed")
    for start in range(0, D, BLOCK):
        d = start + tl.arange(0, BLOCK)
        mask = (r < N)[:, None] & (d < D)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64)[:, None] * D + d[None, :], mask=mask, other=0.0)
        tl.atomic_add(sum_ptr + to[:, None] * D + d[None, :], x.to(tl.float32), mask=mask,
                      sem="relaxed")


@triton.jit
def nearest_centre(x_ptr, c_ptr, label_ptr, dist_ptr, N, K, D: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Which of K centres is nearest, and how far: products with all, a block after the other."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + n[:, None] * D + d[None, :], mask=(n < N)[:, None], other=0.0)
    least = tl.full([BLOCK_N], float("inf"), tl.float32)
    label = tl.zeros([BLOCK_N], tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = tl.load(c_ptr + k[None, :] * D + d[:, None], mask=(k < K)[None, :], other=0.0)
        square = tl.sum(c.to(tl.float32) * c.to(tl.float32), 0)
        apart = tl.where((k < K)[None, :], square[None, :] - 2.0 * tl.dot(x, c), float("inf"))
        best, at = tl.min(apart, 1, return_indices=True)
        label = tl.where(best < least, start + at, label)
        least = tl.minimum(least, best)
    least += tl.sum(x.to(tl.float32) * x.to(tl.float32), 1)
    tl.store(label_ptr + n, label, mask=n < N)
    tl.store(dist_ptr + n, tl.maximum(least, 0.0), mask=n < N)
