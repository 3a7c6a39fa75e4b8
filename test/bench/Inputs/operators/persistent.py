"""Programs that stay: as many as fit the device, each walks over rows or tiles."""
import triton
import triton.language as tl


@triton.jit
def softmax_persistent(x_ptr, out_ptr, x_row, out_row, rows, N, BLOCK: tl.constexpr,
                       STAGES: tl.constexpr):
    """Softmax of rows a stride of programs apart, the next ones' loads ahead."""
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, rows, step, num_stages=STAGES):
        offs = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + offs, mask=offs < N, other=-float("inf"))
        x = (x - tl.max(x, axis=0)).to(tl.float32)
        e = tl.exp(x)
        y = e / tl.sum(e, axis=0)
        tl.store(out_ptr + row * out_row + offs, y.to(out_ptr.dtype.element_ty), mask=offs < N)


@triton.jit
def rms_norm_persistent(x_ptr, w_ptr, y_ptr, rows, N, eps, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr, STAGES: tl.constexpr):
    """RMS norm, tiles of rows; weights are loaded once."""
    n = tl.arange(0, BLOCK_N)
    w = tl.load(w_ptr + n, mask=n < N, other=0.0).to(tl.float32)
    for tile in tl.range(tl.program_id(0), tl.cdiv(rows, BLOCK_M), tl.num_programs(0),
                         num_stages=STAGES):
        m = tile * BLOCK_M + tl.arange(0, BLOCK_M)
        mask = (m < rows)[:, None] & (n < N)[None, :]
        x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
        r = tl.rsqrt(tl.sum(x * x, axis=1) / N + eps)
        y = x * r[:, None] * w[None, :]
        tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_persistent(x_ptr, w_ptr, b_ptr, y_ptr, rows, N, eps, BLOCK: tl.constexpr):
    """Layer norm of rows that fit into a block, weights kept; every program takes a run of rows."""
    n = tl.arange(0, BLOCK)
    mask = n < N
    w = tl.load(w_ptr + n, mask=mask, other=0.0)
    b = tl.load(b_ptr + n, mask=mask, other=0.0)
    per = tl.cdiv(rows, tl.num_programs(0))
    first = tl.program_id(0) * per
    for row in range(first, min(first + per, rows)):
        x = tl.load(x_ptr + row.to(tl.int64) * N + n, mask=mask, other=0.0).to(tl.float32)
        mean = tl.sum(x, axis=0) / N
        d = tl.where(mask, x - mean, 0.0)
        rstd = 1 / tl.sqrt(tl.sum(d * d, axis=0) / N + eps)
        y = d * rstd * w + b
        tl.store(y_ptr + row.to(tl.int64) * N + n, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def dropout_rows(x_ptr, seeds_ptr, out_ptr, M, N, p, BLOCK: tl.constexpr):
    """Dropout of a matrix with a seed for each row."""
    row = tl.program_id(0)
    seed = tl.load(seeds_ptr + row)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + n, mask=n < N)
        keep = tl.rand(seed, n) > p
        tl.store(out_ptr + row * N + n, tl.where(keep, x / (1 - p), 0.0), mask=n < N)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_leaky(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                 stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr):
    """The product in grouped order, rows and columns wrapped around the edges."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    group = pid // in_group
    first = group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    pid_m = first + ((pid % in_group) % size)
    pid_n = (pid % in_group) // size
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(stride_am > 0)
    tl.assume(stride_bk > 0)
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    c = acc.to(c_ptr.dtype.element_ty)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def tile_place(tile, in_group, num_pid_m, GROUP_M: tl.constexpr):
    group = tile // in_group
    first = group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    return first + (tile % size), (tile % in_group) // size


@triton.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                      stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """The product by pointers: tiles and steps of k are one loop, which is flattened."""
    start = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    k_tiles = tl.cdiv(K, BLOCK_K)
    num_tiles = num_pid_m * num_pid_n
    tile_c = start - tl.num_programs(0)
    offs_k_for_mask = tl.arange(0, BLOCK_K)
    in_group = GROUP_M * num_pid_n
    for tile in tl.range(start, num_tiles, tl.num_programs(0), flatten=True):
        pid_m, pid_n = tile_place(tile, in_group, num_pid_m, GROUP_M)
        start_m = pid_m * BLOCK_M
        start_n = pid_n * BLOCK_N
        offs_am = start_m + tl.arange(0, BLOCK_M)
        offs_bn = start_n + tl.arange(0, BLOCK_N)
        offs_am = tl.where(offs_am < M, offs_am, 0)
        offs_bn = tl.where(offs_bn < N, offs_bn, 0)
        offs_am = tl.max_contiguous(tl.multiple_of(offs_am, BLOCK_M), BLOCK_M)
        offs_bn = tl.max_contiguous(tl.multiple_of(offs_bn, BLOCK_N), BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            offs_k = ki * BLOCK_K + tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
            b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
            a = tl.load(a_ptrs, mask=offs_k_for_mask[None, :] < K - ki * BLOCK_K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k_for_mask[:, None] < K - ki * BLOCK_K, other=0.0)
            acc = tl.dot(a, b, acc)
        tile_c += tl.num_programs(0)
        pid_m, pid_n = tile_place(tile_c, in_group, num_pid_m, GROUP_M)
        offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty),
                 mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def matmul_device_descriptor(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr,
                             BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                             SUBTILE: tl.constexpr):
    """The product by descriptors that the kernel makes, b stored N x K; c in two halves."""
    start = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    k_tiles = tl.cdiv(K, BLOCK_K)
    num_tiles = num_pid_m * num_pid_n
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1],
                                       block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1],
                                       block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[
        BLOCK_M, BLOCK_N // 2 if SUBTILE else BLOCK_N])
    in_group = GROUP_M * num_pid_n
    for tile in tl.range(start, num_tiles, tl.num_programs(0)):
        pid_m, pid_n = tile_place(tile, in_group, num_pid_m, GROUP_M)
        offs_am = pid_m * BLOCK_M
        offs_bn = pid_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            a = a_desc.load([offs_am, ki * BLOCK_K])
            b = b_desc.load([offs_bn, ki * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        if SUBTILE:
            acc = tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2))
            acc = tl.permute(acc, (0, 2, 1))
            acc0, acc1 = tl.split(acc)
            c_desc.store([offs_am, offs_bn], acc0.to(c_ptr.dtype.element_ty))
            c_desc.store([offs_am, offs_bn + BLOCK_N // 2], acc1.to(c_ptr.dtype.element_ty))
        else:
            c_desc.store([offs_am, offs_bn], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def grouped_matmul_tables(a_ptr, b_ptr, c_ptr, sizes_ptr, starts_ptr, groups, BLOCK_M: tl.constexpr,
                          BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Products of several shapes, which tables on the device say with where their parts begin."""
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        gm = tl.load(sizes_ptr + g * 3)
        gn = tl.load(sizes_ptr + g * 3 + 1)
        gk = tl.load(sizes_ptr + g * 3 + 2)
        num_m = tl.cdiv(gm, BLOCK_M)
        num_n = tl.cdiv(gn, BLOCK_N)
        tiles = num_m * num_n
        while tile >= before and tile < before + tiles:
            k = gk
            a_base = a_ptr + tl.load(starts_ptr + g * 3)
            b_base = b_ptr + tl.load(starts_ptr + g * 3 + 1)
            c_base = c_ptr + tl.load(starts_ptr + g * 3 + 2)
            at = tile - before
            offs_m = at // num_n * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = at % num_n * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            a_ptrs = a_base + offs_m[:, None] * k + offs_k[None, :]
            b_ptrs = b_base + offs_k[:, None] * gn + offs_n[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for kk in range(0, tl.cdiv(k, BLOCK_K)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                a = tl.load(a_ptrs)
                b = tl.load(b_ptrs)
                acc += tl.dot(a, b)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * gn
            c = acc.to(c_ptr.dtype.element_ty)
            tl.store(c_base + offs_m[:, None] * gn + offs_n[None, :], c)
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def attention_steps(acc, l_i, m_i, q, desc_k, desc_v, base, start_m, scale, offs_m, offs_n, T,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, T
    row = base + lo
    for start_n in tl.range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = desc_k.load([row, 0]).T
        qk = tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * scale)
            qk = qk * scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_ij = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = desc_v.load([row, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
        l_i = l_i * alpha + l_ij
        m_i = m_ij
        row += BLOCK_N
    return acc, l_i, m_i


@triton.jit
def attention_descriptor(desc_q, desc_k, desc_v, desc_o, lse_ptr, sm_scale, H, T,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
                         CAUSAL: tl.constexpr):
    """Flash attention of B*H*T x D by descriptors: steps below the diagonal, then those on it."""
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    base = bh * T
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale = sm_scale * 1.44269504
    q = desc_q.load([base + start_m * BLOCK_M, 0])
    if CAUSAL:
        acc, l_i, m_i = attention_steps(acc, l_i, m_i, q, desc_k, desc_v, base, start_m, scale,
                                        offs_m, offs_n, T, BLOCK_M, BLOCK_N, 1)
        acc, l_i, m_i = attention_steps(acc, l_i, m_i, q, desc_k, desc_v, base, start_m, scale,
                                        offs_m, offs_n, T, BLOCK_M, BLOCK_N, 2)
    else:
        acc, l_i, m_i = attention_steps(acc, l_i, m_i, q, desc_k, desc_v, base, start_m, scale,
                                        offs_m, offs_n, T, BLOCK_M, BLOCK_N, 3)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(lse_ptr + base + offs_m, m_i)
    desc_o.store([base + start_m * BLOCK_M, 0], acc.to(tl.float16))
