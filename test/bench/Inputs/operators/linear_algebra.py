"""Vectors and small matrices: outer products, products with vectors, norms, distances."""
import triton
import triton.language as tl


@triton.jit
def outer(x_ptr, y_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """All products of two vectors."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    x = tl.load(x_ptr + m, mask=m < M)
    y = tl.load(y_ptr + n, mask=n < N)
    tl.store(out_ptr + m * N + n, x * y, mask=(m < M) & (n < N))


@triton.jit
def kron(a_ptr, b_ptr, out_ptr, AN, BM, BN, OM, ON, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Kronecker's product: quotients and remainders of rows and of columns."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m < OM)[:, None] & (n < ON)[None, :]
    a = tl.load(a_ptr + (m // BM)[:, None] * AN + (n // BN)[None, :], mask=mask)
    b = tl.load(b_ptr + (m % BM)[:, None] * BN + (n % BN)[None, :], mask=mask)
    tl.store(out_ptr + m[:, None] * ON + n[None, :], a * b, mask=mask)


@triton.jit
def vdot_part(x_ptr, y_ptr, part_ptr, n, x_stride, y_stride, BLOCK: tl.constexpr):
    """The first step of a scalar product: programs walk in strides of the grid."""
    pid = tl.program_id(0)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i * x_stride, mask=i < n, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + i * y_stride, mask=i < n, other=0.0).to(tl.float32)
        acc += x * y
    tl.store(part_ptr + pid, tl.sum(acc, axis=0))


@triton.jit
def addmv(a_ptr, x_ptr, v_ptr, out_ptr, alpha, beta, N, M, stride_n, stride_m,
          BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    """beta * v + alpha * (a @ x), rows of a program, columns in a loop."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    m = tl.arange(0, BLOCK_M)[None, :]
    a_ptrs = a_ptr + n * stride_n + m * stride_m
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        inside = m < M - start
        a = tl.load(a_ptrs, mask=(n < N) & inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + start + m, mask=inside, other=0.0).to(tl.float32)
        acc += a * x
        a_ptrs += BLOCK_M * stride_m
    y = alpha * tl.sum(acc, axis=1)[:, None] + beta * tl.load(v_ptr + n, mask=n < N).to(tl.float32)
    tl.store(out_ptr + n, y.to(out_ptr.dtype.element_ty), mask=n < N)


@triton.jit
def baddbmm(a_ptr, b_ptr, bias_ptr, o_ptr, alpha, beta, M, N, K, bias_b, bias_m, bias_n,
            TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
            GROUP_M: tl.constexpr):
    """Batched products with a bias that may be broadcast, tiles in groups of rows."""
    batch = tl.program_id(2)
    a_ptr += batch * M * K
    b_ptr += batch * K * N
    o_ptr += batch * M * N
    bias_ptr += batch * bias_b
    pidx = tl.program_id(0)
    pidy = tl.program_id(1)
    if GROUP_M == 1:
        pid_m, pid_n = pidx, pidy
    else:
        grid_x = tl.num_programs(0)
        grid_y = tl.num_programs(1)
        pid = pidx + pidy * grid_x
        per_group = grid_y * GROUP_M
        group = pid // per_group
        inner = pid % per_group
        size = tl.where((group * GROUP_M + GROUP_M) > grid_x, grid_x % GROUP_M, GROUP_M)
        pid_m = group * GROUP_M + inner % size
        pid_n = inner // size
    m = pid_m * TILE_M + tl.arange(0, TILE_M)
    n = pid_n * TILE_N + tl.arange(0, TILE_N)
    k = tl.arange(0, TILE_K)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] * N + n[None, :]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, K, TILE_K):
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & (start + k < K)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(start + k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc += tl.dot(a, b, allow_tf32=False)
        a_ptrs += TILE_K
        b_ptrs += TILE_K * N
    mask = (m < M)[:, None] & (n < N)[None, :]
    bias = tl.load(bias_ptr + m[:, None] * bias_m + n[None, :] * bias_n, mask=mask, other=0.0)
    out = alpha * acc + beta * bias.to(tl.float32)
    tl.store(o_ptr + m[:, None] * N + n[None, :], out.to(o_ptr.dtype.element_ty), mask=mask)


@triton.jit
def small_matmuls(a_ptr, b_ptr, out_ptr, batch, N: tl.constexpr, PAD: tl.constexpr,
                  PER: tl.constexpr):
    """Products of N x N matrices that fit into one step; several in a program, one at a time."""
    i = tl.arange(0, PAD)
    inside = (i < N)[:, None] & (i < N)[None, :]
    offs = i[:, None] * N + i[None, :]
    for j in range(PER):
        one = tl.program_id(0) * PER + j
        mask = inside & (one < batch)
        a = tl.load(a_ptr + one * N * N + offs, mask=mask, other=0.0)
        b = tl.load(b_ptr + one * N * N + offs, mask=mask, other=0.0)
        c = tl.dot(a, b)
        tl.store(out_ptr + one * N * N + offs, c.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def norm_part(x_ptr, part_ptr, n, BLOCK: tl.constexpr, ORDER: tl.constexpr):
    """A vector's norm of order 0, 1, 2 or infinity: a program's share."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    if ORDER == 2:
        out = tl.sum(x * x, axis=0)
    elif ORDER == 1:
        out = tl.sum(tl.abs(x), axis=0)
    elif ORDER == 0:
        out = tl.sum(tl.where(x != 0, 1.0, 0.0), axis=0)
    else:
        out = tl.max(tl.abs(x), axis=0)
    tl.store(part_ptr + tl.program_id(0), out)


@triton.jit
def norm_final(part_ptr, out_ptr, parts, ORDER: tl.constexpr, BLOCK: tl.constexpr):
    """Its second step: all shares in one block."""
    i = tl.arange(0, BLOCK)
    x = tl.load(part_ptr + i, mask=i < parts, other=0.0)
    if ORDER == 2:
        out = tl.sqrt(tl.sum(x, axis=0))
    elif ORDER < 2:
        out = tl.sum(x, axis=0)
    else:
        out = tl.max(x, axis=0)
    tl.store(out_ptr, out)


@triton.jit
def weight_norm_forward(v_ptr, g_ptr, out_ptr, norm_ptr, M, N, eps, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr):
    """g * v / |v| of rows, their norms kept."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    squares = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        v = tl.load(v_ptr + m * N + n, mask=(m < M) & (n < N), other=0.0).to(tl.float32)
        squares += v * v
    norm = tl.sqrt(tl.sum(squares, axis=1) + eps)[:, None]
    tl.store(norm_ptr + m, norm, mask=m < M)
    g = tl.load(g_ptr + m, mask=m < M, other=0.0).to(tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        mask = (m < M) & (n < N)
        v = tl.load(v_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + m * N + n, (v / norm * g).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def weight_norm_backward(dw_ptr, v_ptr, g_ptr, norm_ptr, dv_ptr, dg_ptr, M, N,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Gradients of v and of g."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    g = tl.load(g_ptr + m, mask=m < M, other=0.0).to(tl.float32)
    norm = tl.load(norm_ptr + m, mask=m < M, other=1.0)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        mask = (m < M) & (n < N)
        v = tl.load(v_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        dw = tl.load(dw_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        acc += v * dw
    dot = tl.sum(acc, axis=1)[:, None]
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        mask = (m < M) & (n < N)
        v = tl.load(v_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        dw = tl.load(dw_ptr + m * N + n, mask=mask, other=0.0).to(tl.float32)
        dv = g * (dw / norm - v * dot / (norm * norm * norm))
        tl.store(dv_ptr + m * N + n, dv.to(dv_ptr.dtype.element_ty), mask=mask)
    tl.store(dg_ptr + m, (dot / norm).to(dg_ptr.dtype.element_ty), mask=m < M)


@triton.jit
def instance_norm(x_ptr, w_ptr, b_ptr, y_ptr, C, HW, eps, BLOCK: tl.constexpr):
    """A plane of a channel each: mean and variance in one pass, then y."""
    plane = tl.program_id(0).to(tl.int64)
    x_ptr += plane * HW
    y_ptr += plane * HW
    s = tl.zeros([BLOCK], dtype=tl.float32)
    q = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < HW, other=0.0).to(tl.float32)
        s += x
        q += x * x
    mean = tl.sum(s, axis=0) / HW
    rstd = tl.rsqrt(tl.sum(q, axis=0) / HW - mean * mean + eps)
    c = plane % C
    scale = tl.load(w_ptr + c).to(tl.float32) * rstd
    shift = tl.load(b_ptr + c).to(tl.float32) - mean * scale
    for start in range(0, HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < HW, other=0.0).to(tl.float32)
        tl.store(y_ptr + i, (x * scale + shift).to(y_ptr.dtype.element_ty), mask=i < HW)


@triton.jit
def cosine_similarity(x_ptr, y_ptr, out_ptr, M, N, eps, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr):
    """Cosines between rows."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    xy = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    xx = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    yy = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = (m < M)[:, None] & (n < N)[None, :]
        x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
        xy += x * y
        xx += x * x
        yy += y * y
    length = tl.maximum(tl.sqrt(tl.sum(xx, 1)), eps) * tl.maximum(tl.sqrt(tl.sum(yy, 1)), eps)
    tl.store(out_ptr + m, (tl.sum(xy, 1) / length).to(out_ptr.dtype.element_ty), mask=m < M)


@triton.jit
def pairwise_distance(x_ptr, y_ptr, out_ptr, M, N, D, P: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    """Distances of all pairs, of order 1 by differences, of order 2 by a product."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    xx = tl.zeros([BLOCK_M], dtype=tl.float32)
    yy = tl.zeros([BLOCK_N], dtype=tl.float32)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        x = tl.load(x_ptr + m[:, None] * D + d[None, :],
                    mask=(m < M)[:, None] & (d < D)[None, :], other=0.0)
        y = tl.load(y_ptr + n[:, None] * D + d[None, :],
                    mask=(n < N)[:, None] & (d < D)[None, :], other=0.0)
        if P == 2:
            acc = tl.dot(x, tl.trans(y), acc, input_precision="ieee")
            xx += tl.sum(x * x, axis=1)
            yy += tl.sum(y * y, axis=1)
        else:
            acc += tl.sum(tl.abs(x[:, None, :] - y[None, :, :]), axis=2)
    if P == 2:
        acc = tl.sqrt(tl.maximum(xx[:, None] + yy[None, :] - 2 * acc, 0.0))
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def cross_rows(x_ptr, y_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    """Vector products in three dimensions, numbers a stride of 3 apart."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < rows
    x0 = tl.load(x_ptr + 3 * i, mask=mask)
    x1 = tl.load(x_ptr + 3 * i + 1, mask=mask)
    x2 = tl.load(x_ptr + 3 * i + 2, mask=mask)
    y0 = tl.load(y_ptr + 3 * i, mask=mask)
    y1 = tl.load(y_ptr + 3 * i + 1, mask=mask)
    y2 = tl.load(y_ptr + 3 * i + 2, mask=mask)
    tl.store(out_ptr + 3 * i, x1 * y2 - x2 * y1, mask=mask)
    tl.store(out_ptr + 3 * i + 1, x2 * y0 - x0 * y2, mask=mask)
    tl.store(out_ptr + 3 * i + 2, x0 * y1 - x1 * y0, mask=mask)
