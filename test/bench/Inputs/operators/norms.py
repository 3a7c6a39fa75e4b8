"""Norms of layers, groups and batches, forward and backward."""
import triton
import triton.language as tl


@triton.jit
def welford(mean_1, m2_1, w_1, mean_2, m2_2, w_2):
    delta = mean_2 - mean_1
    w = w_1 + w_2
    share = tl.where(w == 0.0, 0.0, w_2 / w)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * w_1 * share, w


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps,
                       BLOCK_SIZE: tl.constexpr):
    """A layer's norm in three loops over a row: mean, variance, result."""
    row = tl.program_id(0)
    y_ptr += row * stride
    x_ptr += row * stride
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(x_ptr + cols, mask=cols < N, other=0.).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.)
        _var += x * x
    rstd = 1 / tl.sqrt(tl.sum(_var, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.).to(tl.float32)
        y = (x - mean) * rstd * w + b
        tl.store(y_ptr + cols, y, mask=mask)


@triton.jit
def layer_norm_welford(x_ptr, y_ptr, w_ptr, b_ptr, M, N, eps, TILE: tl.constexpr):
    """A layer's norm of long rows: Welford's numbers of each lane, combined, then the result."""
    row = tl.program_id(0)
    x_ptr += row * N
    y_ptr += row * N
    m = tl.zeros((TILE,), dtype=tl.float32)
    s = tl.zeros((TILE,), dtype=tl.float32)
    cnt = tl.zeros((TILE,), dtype=tl.float32)
    for start in range(0, N, TILE):
        offs = start + tl.arange(0, TILE)
        mask = offs < N
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        new_cnt = cnt + mask.to(tl.float32)
        delta = x - m
        new_m = tl.where(mask, m + delta / tl.maximum(new_cnt, 1.0), m)
        s = tl.where(mask, s + delta * (x - new_m), s)
        m = new_m
        cnt = new_cnt
    mean, m2, _ = tl.reduce((m, s, cnt), 0, welford)
    rstd = tl.math.rsqrt(m2 / N + eps)
    for start in range(0, N, TILE):
        offs = start + tl.arange(0, TILE)
        mask = offs < N
        x = tl.load(x_ptr + offs, mask=mask, other=0.0, eviction_policy="evict_first")
        w = tl.load(w_ptr + offs, mask=mask, eviction_policy="evict_last").to(tl.float32)
        b = tl.load(b_ptr + offs, mask=mask, eviction_policy="evict_last").to(tl.float32)
        y = (x.to(tl.float32) - mean) * rstd * w + b
        tl.store(y_ptr + offs, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_backward_dx(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr,
                           lock_ptr, stride, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """The way back of a row; rows share GROUPS partial sums of the weights' gradients, each behind
    a lock, whose second half of numbers says whether somebody has written it before."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    group = row % GROUPS
    lock = lock_ptr + group
    count = lock + GROUPS
    dw_ptrs = dw_ptr + group * N + cols
    db_ptrs = db_ptr + group * N + cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.)
    wdy = tl.where(mask, wdy, 0.)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(dx_ptr + row * stride + cols, dx, mask=mask)
    partial_dw = dy * xhat
    partial_db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    written = tl.load(count)
    if written == 0:
        tl.atomic_xchg(count, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=mask)
        partial_db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, partial_dw, mask=mask)
    tl.store(db_ptrs, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_backward_dwdb(dw_ptr, db_ptr, final_dw_ptr, final_db_ptr, M, N,
                             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Partial sums of the weights' gradients, M x N, added along M."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(dw_ptr + offs, mask=mask, other=0.)
        db += tl.load(db_ptr + offs, mask=mask, other=0.)
    tl.store(final_dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(final_db_ptr + cols, tl.sum(db, axis=0), mask=cols < N)


@triton.jit
def rms_norm_add(x_ptr, residual_ptr, w_ptr, y_ptr, added_ptr, x_stride, r_stride, N, eps,
                 BLOCK: tl.constexpr):
    """x + residual, kept, and its norm by the root mean square; a row fits into a block."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(residual_ptr + row * r_stride + cols, mask=mask, other=0.0).to(tl.float32)
    x += r
    tl.store(added_ptr + row * r_stride + cols, x, mask=mask)
    rrms = 1 / tl.sqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    y = (x * rrms).to(y_ptr.dtype.element_ty) * w
    tl.store(y_ptr + row * x_stride + cols, y, mask=mask)


@triton.jit
def rms_norm_backward(x_ptr, dy_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, rows, N, per_program,
                      BLOCK: tl.constexpr):
    """The way back, a program for many rows; the weight's gradient is added by atomics."""
    first = tl.program_id(0) * per_program
    last = min(first + per_program, rows)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(first, last):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        xhat = x * rstd
        m = dy * w
        dx = rstd * m - rstd * xhat * (tl.sum(m * xhat, axis=0) / N)
        tl.store(dx_ptr + row * N + cols, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dw += dy * xhat
    tl.atomic_add(dw_ptr + cols, dw, mask=mask, sem="relaxed")


@triton.jit
def group_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, group_size, C, HW, groups, eps,
               BLOCK_C: tl.constexpr, BLOCK_HW: tl.constexpr):
    """Norm of a group of channels of one picture (NCHW), looping over its places."""
    pid = tl.program_id(0)
    group = pid % groups
    c = tl.arange(0, BLOCK_C)
    base = pid * group_size * HW
    total = tl.zeros([BLOCK_C, BLOCK_HW], dtype=tl.float32)
    square = tl.zeros([BLOCK_C, BLOCK_HW], dtype=tl.float32)
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        mask = (c[:, None] < group_size) & (hw[None, :] < HW)
        x = tl.load(x_ptr + base + c[:, None] * HW + hw[None, :], mask=mask, other=0.0)
        x = x.to(tl.float32)
        total += x
        square += x * x
    n = group_size * HW
    mean = tl.sum(total) / n
    var = tl.sum(square) / n - mean * mean
    rstd = tl.rsqrt(var + eps)
    w = tl.load(w_ptr + group * group_size + c, mask=c < group_size, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + group * group_size + c, mask=c < group_size, other=0.0).to(tl.float32)
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        mask = (c[:, None] < group_size) & (hw[None, :] < HW)
        x = tl.load(x_ptr + base + c[:, None] * HW + hw[None, :], mask=mask, other=0.0)
        y = (x.to(tl.float32) - mean) * rstd * w[:, None] + b[:, None]
        tl.store(y_ptr + base + c[:, None] * HW + hw[None, :], y, mask=mask)
    tl.store(mean_ptr + pid, mean)
    tl.store(rstd_ptr + pid, rstd)


@triton.jit
def channel_tile(first_b, first_l, c, B, L, sb, sc, sl, BLOCK_B: tl.constexpr,
                 BLOCK_L: tl.constexpr):
    """Where a tile of channel c of (B, C, L) lies, and what of it there is."""
    b = first_b + tl.arange(0, BLOCK_B)
    l = first_l + tl.arange(0, BLOCK_L)
    offs = b[:, None] * sb + c * sc + l[None, :] * sl
    return offs, (b[:, None] < B) & (l[None, :] < L)


@triton.jit
def batch_norm_forward(x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, running_mean_ptr, running_var_ptr,
                       new_mean_ptr, new_var_ptr, y_ptr, B, L, sb, sc, sl, momentum, eps,
                       BLOCK_B: tl.constexpr, BLOCK_L: tl.constexpr):
    """Batch norm while training, a program a channel of (B, C, L): Welford's formulas over tiles,
    the running numbers, the result."""
    c = tl.program_id(0)
    mean = 0.0
    var = 0.0
    count = 0
    for m_step in range(0, tl.cdiv(B, BLOCK_B)):
        for n_step in range(0, tl.cdiv(L, BLOCK_L)):
            offs, mask = channel_tile(m_step * BLOCK_B, n_step * BLOCK_L, c, B, L, sb, sc, sl,
                                      BLOCK_B, BLOCK_L)
            x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
            n_here = min(BLOCK_B, B - m_step * BLOCK_B) * min(BLOCK_L, L - n_step * BLOCK_L)
            count += n_here
            prev = mean
            mean += (tl.sum(x) - n_here * mean) / count
            deltas = tl.where(mask, (x - mean) * (x - prev), 0.)
            var += tl.sum(deltas)
    var = var / count
    rstd = tl.rsqrt(var + eps)
    tl.store(mean_ptr + c, mean)
    tl.store(rstd_ptr + c, rstd)
    old_mean = tl.load(running_mean_ptr + c)
    old_var = tl.load(running_var_ptr + c)
    n = B * L
    tl.store(new_mean_ptr + c, (1 - momentum) * old_mean + momentum * mean)
    tl.store(new_var_ptr + c, (1 - momentum) * old_var + momentum * var * n / (n - 1))
    weight = tl.load(w_ptr + c).to(tl.float32)
    bias = tl.load(b_ptr + c).to(tl.float32)
    for m_step in range(0, tl.cdiv(B, BLOCK_B)):
        for n_step in range(0, tl.cdiv(L, BLOCK_L)):
            offs, mask = channel_tile(m_step * BLOCK_B, n_step * BLOCK_L, c, B, L, sb, sc, sl,
                                      BLOCK_B, BLOCK_L)
            x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
            y = weight * (x - mean) * rstd + bias
            tl.store(y_ptr + offs, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def batch_norm_backward(dy_ptr, x_ptr, mean_ptr, rstd_ptr, w_ptr, dx_ptr, dw_ptr, db_ptr, B, C, L,
                        BLOCK_B: tl.constexpr, BLOCK_L: tl.constexpr):
    """The way back of the same, two passes over a channel."""
    c = tl.program_id(0)
    mean = tl.load(mean_ptr + c)
    rstd = tl.load(rstd_ptr + c)
    t1 = tl.zeros([BLOCK_B, BLOCK_L], dtype=tl.float32)
    t2 = tl.zeros([BLOCK_B, BLOCK_L], dtype=tl.float32)
    for bs in range(0, B, BLOCK_B):
        for ls in range(0, L, BLOCK_L):
            offs, mask = channel_tile(bs, ls, c, B, L, C * L, L, 1, BLOCK_B, BLOCK_L)
            dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
            t1 += (x - mean) * rstd * dy
            t2 += dy
    dw = tl.sum(t1)
    db = tl.sum(t2)
    tl.store(dw_ptr + c, dw)
    tl.store(db_ptr + c, db)
    w = tl.load(w_ptr + c).to(tl.float32)
    n = 1.0 / (B * L)
    for bs in range(0, B, BLOCK_B):
        for ls in range(0, L, BLOCK_L):
            offs, mask = channel_tile(bs, ls, c, B, L, C * L, L, 1, BLOCK_B, BLOCK_L)
            dy = tl.load(dy_ptr + offs, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
            dx = w * rstd * (dy - n * ((x - mean) * rstd * dw + db))
            tl.store(dx_ptr + offs, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def l2_normalize(x_ptr, y_ptr, M, N, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """x / max(|x|, eps) of rows, two loops over each (embeddings, weight norms)."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    row_mask = rows < M
    square = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for base in range(0, N, BLOCK_N):
        cols = base + tl.arange(0, BLOCK_N)[None, :]
        x = tl.load(x_ptr + rows * N + cols, row_mask & (cols < N), other=0.0).to(tl.float32)
        square += x * x
    norm = tl.sqrt(tl.sum(square, axis=1))[:, None]
    scale = 1.0 / tl.maximum(norm, eps)
    for base in range(0, N, BLOCK_N):
        cols = base + tl.arange(0, BLOCK_N)[None, :]
        mask = row_mask & (cols < N)
        x = tl.load(x_ptr + rows * N + cols, mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + rows * N + cols, (x * scale).to(y_ptr.dtype.element_ty), mask)
