"""Reductions: softmax and its relatives, cross entropy, and reductions along any dimension."""
import triton
import triton.language as tl


@triton.jit
def softmax_row(x_ptr, out_ptr, x_row, out_row, N, BLOCK: tl.constexpr):
    """Softmax of rows that fit into a block."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    y = e / tl.sum(e, axis=0)
    tl.store(out_ptr + row * out_row + offs, y.to(out_ptr.dtype.element_ty), mask=offs < N)


@triton.jit
def softmax_online(x_ptr, out_ptr, N, TILE: tl.constexpr):
    """Softmax of long rows (a vocabulary): maxima and sums of lanes in one pass, the quotients in
    another, which goes backwards since the end of the row is still in the cache."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * N
    out_ptr += row * N
    m = tl.full([TILE], value=float("-inf"), dtype=tl.float32)
    z = tl.full([TILE], value=0.0, dtype=tl.float32)
    for start in range(0, N, TILE):
        offs = start + tl.arange(0, TILE)
        inp = tl.load(x_ptr + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, inp)
        all_neg_inf = m_new == float("-inf")
        z = tl.where(all_neg_inf, z, z * tl.exp(m - m_new) + tl.exp(inp - m_new))
        m = m_new
    final_m = tl.max(m, 0)
    z = tl.sum(z * tl.exp(m - final_m), 0)
    previous = tl.cdiv(N, TILE) * TILE
    for start in range(TILE, previous + 1, TILE):
        offs = (previous - start) + tl.arange(0, TILE)
        inp = tl.load(x_ptr + offs, mask=offs < N, other=-float("inf"),
                      eviction_policy="evict_first").to(tl.float32)
        o = tl.exp(inp - final_m) / z
        tl.store(out_ptr + offs, o.to(out_ptr.dtype.element_ty), mask=offs < N)


@triton.jit
def softmax_middle(x_ptr, out_ptr, M, N, K, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """Softmax along the middle one of three dimensions, whose columns are K apart."""
    pid_k = tl.program_id(0)
    pid_m = tl.program_id(1)
    k_offs = pid_k * TILE_K + tl.arange(0, TILE_K)
    m = tl.full([TILE_N, TILE_K], value=float("-inf"), dtype=tl.float32)
    z = tl.full([TILE_N, TILE_K], value=0.0, dtype=tl.float32)
    for start_n in range(0, N, TILE_N):
        n_offs = start_n + tl.arange(0, TILE_N)
        offsets = pid_m * N * K + n_offs[:, None] * K + k_offs[None, :]
        mask = (n_offs[:, None] < N) & (k_offs[None, :] < K)
        inp = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, inp)
        dead = m_new == float("-inf")
        z = tl.where(dead, z, z * tl.exp(m - m_new) + tl.exp(inp - m_new))
        m = m_new
    m_reduced = tl.max(m, 0)
    z = tl.sum(tl.where(m == float("-inf"), 0.0, z * tl.exp(m - m_reduced[None, :])), 0)
    for start_n in range(0, N, TILE_N):
        n_offs = start_n + tl.arange(0, TILE_N)
        offsets = pid_m * N * K + n_offs[:, None] * K + k_offs[None, :]
        mask = (n_offs[:, None] < N) & (k_offs[None, :] < K)
        inp = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        o = tl.exp(inp - m_reduced[None, :]) / z[None, :]
        tl.store(out_ptr + offsets, o.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_backward(y_ptr, dy_ptr, dx_ptr, M, N, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    """dx = y * (dy - sum(y * dy)), several rows in a program, two loops over each."""
    m_offs = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    scale = tl.zeros([TILE_M, TILE_N], dtype=tl.float32)
    for start in range(0, N, TILE_N):
        n_offs = start + tl.arange(0, TILE_N)
        offs = m_offs[:, None] * N + n_offs[None, :]
        mask = (m_offs[:, None] < M) & (n_offs[None, :] < N)
        y = tl.load(y_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        scale += y * dy
    total = tl.sum(scale, 1)
    for start in range(0, N, TILE_N):
        n_offs = start + tl.arange(0, TILE_N)
        offs = m_offs[:, None] * N + n_offs[None, :]
        mask = (m_offs[:, None] < M) & (n_offs[None, :] < N)
        y = tl.load(y_ptr + offs, mask=mask, eviction_policy="evict_first").to(tl.float32)
        dy = tl.load(dy_ptr + offs, mask=mask).to(tl.float32)
        dx = y * (dy - total[:, None])
        tl.store(dx_ptr + offs, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def log_softmax(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Logarithms of a softmax, several short rows in a program."""
    m_offs = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n_offs = tl.arange(0, BLOCK_N)
    offs = m_offs[:, None] * N + n_offs[None, :]
    mask = (m_offs[:, None] < M) & (n_offs[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=1)[:, None]
    y = x - tl.log(tl.sum(tl.exp(x), axis=1))[:, None]
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def cross_entropy_forward(x_ptr, target_ptr, loss_ptr, lse_ptr, x_row, V, smoothing, ignore_index,
                          BLOCK: tl.constexpr):
    """Cross entropy of logits with label smoothing, a program a row, in one loop."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_row
    target = tl.load(target_ptr + row)
    if target == ignore_index:
        tl.store(loss_ptr + row, 0.0)
        tl.store(lse_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    for i in range(0, V, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < V, other=float("-inf")).to(tl.float32)
        if smoothing > 0:
            total += tl.sum(tl.where(offs < V, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    x_target = tl.load(x_ptr + target).to(tl.float32)
    loss = (1 - smoothing) * (lse - x_target) + smoothing * (lse - total / V)
    tl.store(loss_ptr + row, loss)
    tl.store(lse_ptr + row, lse)


@triton.jit
def cross_entropy_backward(x_ptr, target_ptr, lse_ptr, dloss_ptr, dx_ptr, x_row, V, smoothing,
                           ignore_index, BLOCK: tl.constexpr):
    """The gradient of the logits, a block of one row in a program."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    mask = offs < V
    if target != ignore_index:
        dloss = tl.load(dloss_ptr + row)
    else:
        dloss = 0.0
    x = tl.load(x_ptr + row * x_row + offs, mask=mask, other=float("-inf")).to(tl.float32)
    lse = tl.load(lse_ptr + row)
    probs = tl.exp(x - lse)
    probs -= tl.where(offs == target, 1.0 - smoothing, 0.0)
    probs -= smoothing / V
    tl.store(dx_ptr + row * x_row + offs, (dloss * probs).to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def mean_inner(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Means of rows: a tile of sums, added up in the end."""
    pid = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    x_ptr = x_ptr + pid * N
    row_mask = pid < M
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)[None, :]
        mask = row_mask and cols < N
        acc += tl.load(x_ptr + cols, mask, other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=1) / N
    tl.store(out_ptr + pid, mean[:, None].to(out_ptr.dtype.element_ty), row_mask)


@triton.jit
def welford_combine(mean_1, m2_1, n_1, mean_2, m2_2, n_2):
    delta = mean_2 - mean_1
    n = n_1 + n_2
    share = tl.where(n == 0.0, 0.0, n_2 / n)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * n_1 * share, n


@triton.jit
def var_mean(x_ptr, var_ptr, mean_ptr, M, N, correction, BLOCK_M: tl.constexpr,
             BLOCK_N: tl.constexpr):
    """Welford's mean and variance: in each lane over a loop, then across lanes by tl.reduce."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    x_ptr = x_ptr + rows * N
    row_mask = rows < M
    mean = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    m2 = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    count = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)[None, :]
        mask = row_mask & (cols < N)
        x = tl.load(x_ptr + cols, mask, other=0.0).to(tl.float32)
        new_count = count + mask
        cnt = tl.maximum(new_count, 1)
        cur_mean = (mean * count + x) / cnt
        m2 += mask * (x - cur_mean) * (x - mean) * mask
        mean = tl.where(mask, cur_mean, mean)
        count = new_count
    mean, m2, count = tl.reduce((mean, m2, count), axis=1, combine_fn=welford_combine)
    tl.store(mean_ptr + rows, mean[:, None], row_mask)
    tl.store(var_ptr + rows, m2[:, None] / (N - correction), row_mask)


@triton.jit
def amax_middle(x_ptr, out_ptr, M, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Largest elements along the middle dimension of an array of M x N x K."""
    pid_m = tl.program_id(0)
    pid_k = tl.program_id(1)
    k = pid_k * BLOCK_K + tl.arange(0, BLOCK_K)
    best = tl.full([BLOCK_N, BLOCK_K], float("-inf"), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = (n[:, None] < N) & (k[None, :] < K)
        x = tl.load(x_ptr + pid_m * N * K + n[:, None] * K + k[None, :], mask=mask,
                    other=float("-inf"))
        best = tl.maximum(best, x)
    tl.store(out_ptr + pid_m * K + k, tl.max(best, axis=0), mask=k < K)


@triton.jit
def argmax_dim(x_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Indices of the largest along dimension N of M x N x K, K elements apart (K may be 1)."""
    pid_m = tl.program_id(0)
    pid_k = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    best = tl.full([BLOCK_M], dtype=tl.float32, value=float("-inf"))
    where = tl.full([BLOCK_M], dtype=tl.int64, value=0)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        offset = m[:, None] * N * K + n[None, :] * K + pid_k
        mask = (m[:, None] < M) & (n[None, :] < N)
        x = tl.load(x_ptr + offset, mask=mask, other=-float("inf")).to(tl.float32)
        local, local_at = tl.max(x, 1, return_indices=True, return_indices_tie_break_left=True)
        update = local > best
        best = tl.where(update, local, best)
        where = tl.where(update, start + local_at, where)
    tl.store(out_ptr + m * K + pid_k, where, mask=m < M)


@triton.jit
def min_with_index(x_ptr, values_ptr, index_ptr, N, BLOCK: tl.constexpr):
    """The least of a row and where it is; the row fits into a block."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=float("inf"))
    value, at = tl.min(x, axis=0, return_indices=True)
    tl.store(values_ptr + row, value)
    tl.store(index_ptr + row, at)


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def any_dim(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Whether anything of a row is not 0."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    row_mask = rows < M
    seen = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.int1)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)[None, :]
        x = tl.load(x_ptr + rows * N + cols, row_mask & (cols < N), other=0.0)
        seen = seen or (x != 0)
    found = tl.reduce(seen, axis=1, combine_fn=either)
    tl.store(out_ptr + rows, found[:, None].to(tl.int8), row_mask)


@triton.jit
def sum_outer(x_ptr, out_ptr, M, N, ROWS, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Sums of columns (a bias's gradient): a program has ROWS rows, and adds by atomics."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    first = tl.program_id(1) * ROWS
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for i in range(first, first + ROWS, BLOCK_M):
        r = i + tl.arange(0, BLOCK_M)
        mask = (r[:, None] < M) & (cols[None, :] < N)
        acc += tl.load(x_ptr + r[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + cols, tl.sum(acc, axis=0), mask=cols < N)


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def prod_inner(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Products of short rows, by tl.reduce."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=1.0).to(tl.float32)
    tl.store(out_ptr + rows, tl.reduce(x, 1, multiply), mask=rows < M)
