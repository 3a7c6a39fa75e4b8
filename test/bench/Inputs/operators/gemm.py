"""Products: plain, fused, batched, of odd shapes, split along K, of few bits, of experts."""
import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def matmul_bias_act(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk,
                    stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr,
                    HAS_BIAS: tl.constexpr):
    """act(a @ b + bias), operands of any strides; programs in groups of rows for the L2 cache."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
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
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    if HAS_BIAS:
        acc += tl.load(bias_ptr + offs_cn, mask=offs_cn < N, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "gelu":
        acc = gelu(acc)
    elif ACTIVATION == "relu":
        acc = tl.maximum(acc, 0.0)
    c = acc.to(c_ptr.dtype.element_ty)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def addmm(a_ptr, b_ptr, i_ptr, c_ptr, alpha, beta, M, N, K, stride_am, stride_ak, stride_bk,
          stride_bn, stride_im, stride_in, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
          BLOCK_K: tl.constexpr):
    """beta * input + alpha * a @ b, masked along all dimensions, the input of any strides."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k * BLOCK_K),
                    other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k * BLOCK_K) & (offs_n[None, :] < N),
                    other=0.0)
        acc += tl.dot(a, b, allow_tf32=False)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    i_ptrs = i_ptr + stride_im * offs_m[:, None] + stride_in * offs_n[None, :]
    old = tl.load(i_ptrs, mask=mask, other=0.0)
    acc = acc * alpha + old * beta
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(old.dtype), mask=mask)


@triton.jit
def gemv(a_ptr, x_ptr, y_ptr, N, M, stride_n, stride_m, BLOCK_N: tl.constexpr,
         BLOCK_M: tl.constexpr):
    """A matrix times a vector, products summed over a tile in the end."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    m = tl.arange(0, BLOCK_M)[None, :]
    a_ptrs = a_ptr + n * stride_n + m * stride_m
    x_ptrs = x_ptr + m
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        a = tl.load(a_ptrs, mask=(n < N) & (m < M - start), other=0.0).to(tl.float32)
        x = tl.load(x_ptrs, mask=m < M - start, other=0.0).to(tl.float32)
        acc += a * x
        a_ptrs += BLOCK_M * stride_m
        x_ptrs += BLOCK_M
    y = tl.sum(acc, axis=1)
    tl.store(y_ptr + tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N), y,
             mask=tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N) < N)


@triton.jit
def bmm(a_ptr, b_ptr, o_ptr, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
        TILE_K: tl.constexpr, GROUP_M: tl.constexpr, EVEN_K: tl.constexpr):
    """Batched products, rows and columns masked, K only where it is not even."""
    pid_b = tl.program_id(2)
    a_ptr += pid_b * M * K
    b_ptr += pid_b * K * N
    o_ptr += pid_b * M * N
    pidx = tl.program_id(0)
    pidy = tl.program_id(1)
    gridx = tl.num_programs(0)
    gridy = tl.num_programs(1)
    pid = pidx + pidy * gridx
    per_group = gridy * GROUP_M
    group = pid // per_group
    inner = pid % per_group
    rows = tl.where((group * GROUP_M + GROUP_M) > gridx, gridx % GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + inner % rows
    pid_n = inner // rows
    offs_m = pid_m * TILE_M + tl.arange(0, TILE_M)
    offs_n = pid_n * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    mask_m = offs_m < M
    mask_n = offs_n < N
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
    o = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(tl.cdiv(K, TILE_K)):
        if EVEN_K:
            mask_a = mask_m[:, None]
            mask_b = mask_n[None, :]
        else:
            mask_k = offs_k < K
            mask_a = mask_m[:, None] & mask_k[None, :]
            mask_b = mask_k[:, None] & mask_n[None, :]
        a = tl.load(a_ptrs, mask_a, other=0.0)
        b = tl.load(b_ptrs, mask_b, other=0.0)
        offs_k += TILE_K
        a_ptrs += TILE_K
        b_ptrs += TILE_K * N
        o += tl.dot(a, b)
    tl.store(o_ptr + offs_m[:, None] * N + offs_n[None, :], o.to(o_ptr.dtype.element_ty),
             mask_m[:, None] & mask_n[None, :])


@triton.jit
def matmul_split_k(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                   SPLIT_K: tl.constexpr, EVEN_K: tl.constexpr):
    """Few rows, long K: programs share K in turns and add into fp32 by atomics."""
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    grid_m = tl.cdiv(M, BLOCK_M)
    pid_m = pid % grid_m
    pid_n = pid // grid_m
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    b_ptrs = b_ptr + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            left = K - k * (BLOCK_K * SPLIT_K)
            a = tl.load(a_ptrs, mask=rk[None, :] < left, other=0.0)
            b = tl.load(b_ptrs, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * SPLIT_K * stride_ak
        b_ptrs += BLOCK_K * SPLIT_K * stride_bk
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask, sem="relaxed")


@triton.jit
def stream_k(a_ptr, b_ptr, c_ptr, M, N, K, total, per_program, iters_per_tile, stride_am,
             stride_bk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Stream-K: each program has the same share of all steps along K of all tiles, and adds what
    it has of a tile by atomics, or stores it when it has the whole."""
    pid = tl.program_id(0)
    start = pid * per_program
    last = tl.minimum(start + per_program, total)
    while start < last:
        remainder = start % iters_per_tile
        end = tl.minimum(start + (iters_per_tile - remainder), last)
        tile = start // iters_per_tile
        pid_m = tile // tl.cdiv(N, BLOCK_N)
        pid_n = tile % tl.cdiv(N, BLOCK_N)
        rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        rk = tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + rm[:, None] * stride_am + (rk[None, :] + BLOCK_K * remainder)
        b_ptrs = b_ptr + (rk[:, None] + BLOCK_K * remainder) * stride_bk + rn[None, :]
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for it in range(start, end):
            k = (it % iters_per_tile) * BLOCK_K
            a = tl.load(a_ptrs, mask=(rm < M)[:, None] & (k + rk < K)[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=(k + rk < K)[:, None] & (rn < N)[None, :], other=0.0)
            acc += tl.dot(a, b)
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * stride_bk
        c_ptrs = c_ptr + rm[:, None] * N + rn[None, :]
        mask = (rm < M)[:, None] & (rn < N)[None, :]
        if remainder == 0 and end % iters_per_tile == 0:
            tl.store(c_ptrs, acc, mask=mask)
        else:
            tl.atomic_add(c_ptrs, acc, mask=mask)
        start = end


@triton.jit
def matmul_w8a16(x_ptr, w_ptr, scale_ptr, y_ptr, M, N, K, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of int8, stored N x K, with a scale for each channel."""
    pid_n = tl.program_id(0)
    pid_m = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        kk = start + k
        x = tl.load(x_ptr + m[:, None] * K + kk[None, :], mask=(m[:, None] < M) & (kk[None, :] < K),
                    other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + kk[:, None], mask=(n[None, :] < N) & (kk[:, None] < K),
                    other=0)
        acc += tl.dot(x, w.to(x.dtype))
    acc *= tl.load(scale_ptr + n, mask=n < N, other=0.0)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_w4a16(x_ptr, w_ptr, scale_ptr, zero_ptr, y_ptr, M, N, K, GROUP: tl.constexpr,
                 BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of int4 in the manner of GPTQ: eight along K in a word, scales and zeros by groups of
    K; every word is loaded for each of its eight rows."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + m[:, None] * K + k[None, :]
    w_ptrs = w_ptr + (k // 8)[:, None] * N + n[None, :]
    shift = (k % 8) * 4
    zero_shift = (n % 8) * 4
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(x_ptrs, mask=m[:, None] < M, other=0.0)
        w = tl.load(w_ptrs)
        g = i * BLOCK_K // GROUP
        scale = tl.load(scale_ptr + g * N + n)
        zero = tl.load(zero_ptr + g * (N // 8) + n // 8)
        zero = (zero >> zero_shift) & 0xF
        w = (w >> shift[:, None]) & 0xF
        w = (w - zero[None, :]) * scale[None, :]
        acc += tl.dot(x, w.to(x.dtype))
        x_ptrs += BLOCK_K
        w_ptrs += (BLOCK_K // 8) * N
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=m[:, None] < M)


@triton.jit
def matmul_int8(a_ptr, b_ptr, sa_ptr, sb_ptr, bias_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr,
                BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """int8 times int8, summed in int32, scaled by token and by channel, and a bias."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] + n[None, :] * K
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        mask_k = k < K - i * BLOCK_K
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & mask_k[None, :], other=0)
        b = tl.load(b_ptrs, mask=(n < N)[None, :] & mask_k[:, None], other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    sa = tl.load(sa_ptr + m, mask=m < M, other=0.0)
    sb = tl.load(sb_ptr + n, mask=n < N, other=0.0)
    c = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    c += tl.load(bias_ptr + n, mask=n < N, other=0.0)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], c.to(c_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_block_fp8(a_ptr, b_ptr, c_ptr, as_ptr, bs_ptr, M, N, K, group_n, group_k,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                     GROUP_M: tl.constexpr):
    """fp8 with scales of 1 x 128 of a and of 128 x 128 of b, which is stored N x K."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    first = pid // in_group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    pid_m = first + (pid % size)
    pid_n = (pid % in_group) // size
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_am[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] + offs_bn[None, :] * K
    as_ptrs = as_ptr + offs_am * tl.cdiv(K, group_k)
    bs_ptrs = bs_ptr + offs_bn // group_n * tl.cdiv(K, group_k)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        at = k * BLOCK_K // group_k
        a_s = tl.load(as_ptrs + at)
        b_s = tl.load(bs_ptrs + at)
        acc += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + N * offs_cm[:, None] + offs_cn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@triton.jit
def fused_moe(a_ptr, b_ptr, c_ptr, weights_ptr, sorted_ptr, experts_ptr, total_ptr, N, K, copies,
              TOP_K: tl.constexpr, WEIGHTED: tl.constexpr, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Products of experts: rows are copies of tokens sorted by expert, padded to tiles; what a tile
    pads has an index beyond all."""
    pid = tl.program_id(axis=0)
    total = tl.load(total_ptr)
    num_pid_m = tl.cdiv(total, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    first = pid // in_group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    pid_m = first + ((pid % in_group) % size)
    pid_n = (pid % in_group) // size
    if pid_m * BLOCK_M >= total:
        return
    offs = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    token = tl.load(sorted_ptr + offs).to(tl.int64)
    mask = token < copies
    expert = tl.load(experts_ptr + pid_m).to(tl.int64)
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (token[:, None] // TOP_K * K + offs_k[None, :])
    b_ptrs = b_ptr + expert * N * K + (offs_k[:, None] + offs_bn[None, :] * K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=mask[:, None] & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    if WEIGHTED:
        acc = acc * tl.load(weights_ptr + token, mask=mask, other=0)[:, None]
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + token[:, None] * N + offs_cn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=mask[:, None] & (offs_cn[None, :] < N))


@triton.jit
def grouped_gemm(a_ptr, b_ptr, c_ptr, sizes_ptr, groups, N, K, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Persistent programs walk over the tiles of groups of rows, each with a weight of its own."""
    tile = tl.program_id(0)
    done = 0
    row = 0
    for g in range(groups):
        m = tl.load(sizes_ptr + g)
        num_n = tl.cdiv(N, BLOCK_N)
        tiles = tl.cdiv(m, BLOCK_M) * num_n
        while tile >= done and tile < done + tiles:
            at = tile - done
            offs_m = at // num_n * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = at % num_n * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + (row + offs_m)[:, None] * K + offs_k[None, :]
            b_ptrs = b_ptr + g * K * N + offs_k[:, None] * N + offs_n[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(K, BLOCK_K)):
                a = tl.load(a_ptrs, mask=offs_m[:, None] < m, other=0.0)
                b = tl.load(b_ptrs, mask=offs_n[None, :] < N, other=0.0)
                acc = tl.dot(a, b, acc)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * N
            tl.store(c_ptr + (row + offs_m)[:, None] * N + offs_n[None, :],
                     acc.to(c_ptr.dtype.element_ty),
                     mask=(offs_m[:, None] < m) & (offs_n[None, :] < N))
            tile += tl.num_programs(0)
        done += tiles
        row += m


@triton.jit
def matmul_descriptor(a_desc, b_desc, c_desc, M, N, K, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Persistent programs, tensor descriptors of the host, b stored N x K."""
    start_pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_pid_n
    for tile in range(start_pid, num_pid_m * num_pid_n, tl.num_programs(0)):
        first = tile // in_group * GROUP_M
        size = min(num_pid_m - first, GROUP_M)
        m = (first + tile % in_group % size) * BLOCK_M
        n = (tile % in_group) // size * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([m, k])
            b = b_desc.load([n, k])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([m, n], acc.to(tl.float16))


@triton.jit
def dual_gemm_silu(x_ptr, w1_ptr, w2_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """silu(x @ w1) * (x @ w2), two sums side by side, block pointers."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    x = tl.make_block_ptr(x_ptr, (M, K), (K, 1), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    w1 = tl.make_block_ptr(w1_ptr, (K, N), (N, 1), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    w2 = tl.make_block_ptr(w2_ptr, (K, N), (N, 1), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc1 = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    acc2 = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        b_x = tl.load(x, boundary_check=(0, 1))
        acc1 += tl.dot(b_x, tl.load(w1, boundary_check=(0, 1)))
        acc2 += tl.dot(b_x, tl.load(w2, boundary_check=(0, 1)))
        x = tl.advance(x, (0, BLOCK_K))
        w1 = tl.advance(w1, (BLOCK_K, 0))
        w2 = tl.advance(w2, (BLOCK_K, 0))
    y = acc1 * tl.sigmoid(acc1) * acc2
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (pid_m * BLOCK_M, pid_n * BLOCK_N),
                            (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(out, y.to(out_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def lora_shrink(x_ptr, a_ptr, index_ptr, out_ptr, tokens, K, scale, RANK: tl.constexpr,
                BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    """A token's channels times the low-rank matrix of its adapter, K shared by atomics."""
    t = tl.program_id(0)
    part = tl.program_id(1)
    lora = tl.load(index_ptr + t)
    if lora == -1:
        return
    r = tl.arange(0, RANK)
    acc = tl.zeros([RANK], dtype=tl.float32)
    for start in range(part * BLOCK_K, K, BLOCK_K * SPLIT_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + t * K + k, mask=k < K, other=0.0).to(tl.float32)
        a = tl.load(a_ptr + lora * RANK * K + r[:, None] * K + k[None, :], mask=k[None, :] < K,
                    other=0.0)
        acc += tl.sum(x[None, :] * a, axis=1)
    tl.atomic_add(out_ptr + t * RANK + r, acc * scale)
