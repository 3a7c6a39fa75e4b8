"""Products as single authors publish them: split, triangular, symmetric, batched, with norms."""
import triton
import triton.language as tl


@triton.jit
def matmul_split_k_locked(a_ptr, b_ptr, c_ptr, locks_ptr, M, N, K, stride_am, stride_ak, stride_bk,
                          stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr,
                          BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
                          GROUP_M: tl.constexpr, EVEN_K: tl.constexpr):
    """Parts of a product's k, added by atomics; who comes last of a tile sets its counter back."""
    pid, pid_z = tl.program_id(0), tl.program_id(1)
    pid_m, pid_n = tl.swizzle2d(pid // tl.cdiv(N, BLOCK_N), pid % tl.cdiv(N, BLOCK_N),
                                tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    A = a_ptr + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    B = b_ptr + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            k_remaining = K - k * (BLOCK_K * SPLIT_K)
            a = tl.load(A, mask=rk[None, :] < k_remaining, other=0.0)
            b = tl.load(B, mask=rk[:, None] < k_remaining, other=0.0)
        acc = tl.dot(a, b, acc)
        A += BLOCK_K * SPLIT_K * stride_ak
        B += BLOCK_K * SPLIT_K * stride_bk
    C = c_ptr + (rm[:, None] * stride_cm + rn[None, :] * stride_cn)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.atomic_add(C, acc, mask=mask, sem="relaxed")
    tl.debug_barrier()
    count = tl.atomic_add(locks_ptr + pid, 1)
    if count == SPLIT_K - 1:
        tl.atomic_xchg(locks_ptr + pid, 0)


@triton.jit
def batched_small_dot(x_ptr, w_ptr, y_ptr, B, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr,
                      BLOCK_B: tl.constexpr):
    """tl.dot of three dimensions: a program multiplies several small matrices."""
    b = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    mask = b[:, None, None] < B
    x = tl.load(x_ptr + b[:, None, None] * M * K + m[None, :, None] * K + k[None, None, :],
                mask=mask, other=0.0)
    w = tl.load(w_ptr + b[:, None, None] * K * N + k[None, :, None] * N + n[None, None, :],
                mask=mask, other=0.0)
    y = tl.dot(x, w)
    tl.store(y_ptr + b[:, None, None] * M * N + m[None, :, None] * N + n[None, None, :],
             y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def syrk_mirrored(x_ptr, c_ptr, M, K, stride_xm, stride_cm, BLOCK: tl.constexpr,
                  BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """x times its transpose: tiles below the diagonal only, each stored a second time turned."""
    pid = tl.program_id(0)
    tiles = tl.cdiv(M, BLOCK)
    width = GROUP * tiles
    group = pid // width
    size = tl.minimum(tiles - group * GROUP, GROUP)
    pid_m = group * GROUP + (pid % width) % size
    pid_n = (pid % width) // size
    if pid_m < pid_n:
        return
    rm = pid_m * BLOCK + tl.arange(0, BLOCK)
    rn = pid_n * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK_K)
    a = x_ptr + (rm % M)[:, None] * stride_xm + k[None, :]
    b = x_ptr + (rn % M)[:, None] * stride_xm + k[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k0 in tl.range(0, K, BLOCK_K):
        left = tl.load(a, mask=k[None, :] < K - k0, other=0.0)
        right = tl.load(b, mask=k[None, :] < K - k0, other=0.0)
        acc = tl.dot(left, tl.trans(right), acc)
        a += BLOCK_K
        b += BLOCK_K
    c = acc.to(c_ptr.dtype.element_ty)
    mask = (rm[:, None] < M) & (rn[None, :] < M)
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], c, mask=mask)
    if pid_m != pid_n:
        tl.store(c_ptr + rn[:, None] * stride_cm + rm[None, :], c.T, mask=mask.T)


@triton.jit
def tril_matmul(a_ptr, b_ptr, c_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                BLOCK_K: tl.constexpr):
    """A lower triangle times a matrix: whole blocks without a mask, the diagonal ones with."""
    pid_m = tl.num_programs(1) - 1 - tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, pid_m * BLOCK_M, BLOCK_K):
        a = tl.load(a_ptr + rm[:, None] * M + (k0 + k)[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + (k0 + k)[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(a, b)
    for k0 in range(pid_m * BLOCK_M, (pid_m + 1) * BLOCK_M, BLOCK_K):
        rk = k0 + k
        a = tl.load(a_ptr + rm[:, None] * M + rk[None, :],
                    mask=(rm[:, None] < M) & (rk[None, :] <= rm[:, None]), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :],
                    mask=(rk[:, None] < M) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def norm_linear(x_ptr, g_ptr, w_ptr, y_ptr, M, N, K, eps, BLOCK_M: tl.constexpr,
                BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """RMS norm and a product in one pass over the rows: squares are summed beside the product."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    squares = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        g = tl.load(g_ptr + k + rk)
        w = tl.load(w_ptr + (k + rk)[:, None] + rn[None, :] * K, mask=rn[None, :] < N, other=0.0)
        xf = x.to(tl.float32)
        squares += xf * xf
        acc += tl.dot((x * g[None, :]), w)
    r = tl.rsqrt(tl.sum(squares, axis=1) / K + eps)
    y = acc * r[:, None]
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def linear_residual_norm(x_ptr, w_ptr, r_ptr, gamma_ptr, beta_ptr, y_ptr, M, K, eps,
                         N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    """A product with whole rows in a program, a residual and a layer norm behind it."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BLOCK_K)
    x = x_ptr + rm[:, None] * K + rk[None, :]
    w = w_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BLOCK_M, N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(tl.load(x, mask=rm[:, None] < M, other=0.0), tl.load(w), acc)
        x += BLOCK_K
        w += BLOCK_K * N
    acc += tl.load(r_ptr + rm[:, None] * N + rn[None, :], mask=rm[:, None] < M, other=0.0)
    mean = tl.sum(acc, axis=1) / N
    acc -= mean[:, None]
    rstd = 1 / tl.sqrt(tl.sum(acc * acc, axis=1) / N + eps)
    y = acc * rstd[:, None] * tl.load(gamma_ptr + rn)[None, :] + tl.load(beta_ptr + rn)[None, :]
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], y.to(y_ptr.dtype.element_ty),
             mask=rm[:, None] < M)


@triton.jit
def weight_grad_accumulate(dy_ptr, x_ptr, old_ptr, new_ptr, T, N, K, BLOCK_N: tl.constexpr,
                           BLOCK_K: tl.constexpr, BLOCK_T: tl.constexpr):
    """dy transposed times x, onto a gradient of fp32; through block pointers."""
    n0, k0 = tl.program_id(0) * BLOCK_N, tl.program_id(1) * BLOCK_K
    dy = tl.make_block_ptr(dy_ptr, (N, T), (1, N), (n0, 0), (BLOCK_N, BLOCK_T), (0, 1))
    x = tl.make_block_ptr(x_ptr, (T, K), (K, 1), (0, k0), (BLOCK_T, BLOCK_K), (1, 0))
    acc = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for _ in range(0, T, BLOCK_T):
        acc += tl.dot(tl.load(dy, boundary_check=(0, 1)), tl.load(x, boundary_check=(0, 1)))
        dy = tl.advance(dy, (0, BLOCK_T))
        x = tl.advance(x, (BLOCK_T, 0))
    old = tl.make_block_ptr(old_ptr, (N, K), (K, 1), (n0, k0), (BLOCK_N, BLOCK_K), (1, 0))
    new = tl.make_block_ptr(new_ptr, (N, K), (K, 1), (n0, k0), (BLOCK_N, BLOCK_K), (1, 0))
    acc += tl.load(old, boundary_check=(0, 1))
    tl.store(new, acc, boundary_check=(0, 1))


@triton.jit
def matmul_fp32_exact(a_ptr, b_ptr, c_ptr, M, N, K, PRECISION: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """fp32 by three products of tf32, or by plain sums."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        rk = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :],
                    mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :],
                    mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc,
             mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def sparse_conv_gathered(x_ptr, w_ptr, map_ptr, y_ptr, rows, C_IN, C_OUT, VOLUME: tl.constexpr,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A convolution of points in a volume: a table says which row is at each of its places."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    parts = tl.cdiv(C_IN, BLOCK_K)
    for step in range(VOLUME * parts):
        place = step // parts
        k = (step % parts) * BLOCK_K + rk
        row = tl.load(map_ptr + rm * VOLUME + place, mask=rm < rows, other=-1)
        x = tl.load(x_ptr + row[:, None].to(tl.int64) * C_IN + k[None, :],
                    mask=(row >= 0)[:, None] & (k < C_IN)[None, :], other=0.0)
        w = tl.load(w_ptr + (place * C_IN + k)[:, None] * C_OUT + rn[None, :],
                    mask=(k < C_IN)[:, None] & (rn < C_OUT)[None, :], other=0.0)
        acc = tl.dot(x, w, acc)
    tl.store(y_ptr + rm[:, None] * C_OUT + rn[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(rm < rows)[:, None] & (rn < C_OUT)[None, :])


@triton.jit
def vector_matrix(x_ptr, w_ptr, y_ptr, K, N, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr,
                  SPLIT: tl.constexpr):
    """A row times a matrix stored by rows, parts of k added by atomics."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.cdiv(K, SPLIT)
    first = tl.program_id(1) * part
    acc = tl.zeros((BLOCK_K, BLOCK_N), dtype=tl.float32)
    for k0 in range(first, first + part, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + k, mask=k < min(K, first + part), other=0.0,
                    eviction_policy="evict_last").to(tl.float32)
        w = tl.load(w_ptr + k[:, None] * N + n[None, :],
                    mask=(k < min(K, first + part))[:, None] & (n < N)[None, :], other=0.0,
                    eviction_policy="evict_first")
        acc += x[:, None] * w
    tl.atomic_add(y_ptr + n, tl.sum(acc, axis=0), mask=n < N)


@triton.jit
def conv2d_weight_grad(x_ptr, dy_ptr, dw_ptr, B, C_IN, C_OUT, H, W, OH, OW, R: tl.constexpr,
                       S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, PARTS,
                       BLOCK_O: tl.constexpr, BLOCK_I: tl.constexpr, BLOCK_P: tl.constexpr):
    """Gradients of a convolution's weights: NHWC, a place of the filter and a part of the pixels to
    a program, parts added by atomics."""
    o = tl.program_id(0) * BLOCK_O + tl.arange(0, BLOCK_O)
    rsi = tl.program_id(1)
    blocks = tl.cdiv(C_IN, BLOCK_I)
    rs = rsi // blocks
    i = (rsi % blocks) * BLOCK_I + tl.arange(0, BLOCK_I)
    r, s = rs // S, rs % S
    pixels = B * OH * OW
    acc = tl.zeros((BLOCK_O, BLOCK_I), dtype=tl.float32)
    for p0 in range(tl.program_id(2) * BLOCK_P, pixels, PARTS * BLOCK_P):
        p = p0 + tl.arange(0, BLOCK_P)
        b = p // (OH * OW)
        y = p // OW % OH * STRIDE - PAD + r
        x = p % OW * STRIDE - PAD + s
        inside = (p < pixels) & (y >= 0) & (y < H) & (x >= 0) & (x < W)
        dy = tl.load(dy_ptr + p[None, :] * C_OUT + o[:, None],
                     mask=(p < pixels)[None, :] & (o < C_OUT)[:, None], other=0.0)
        image = tl.load(x_ptr + ((b * H + y) * W + x)[:, None] * C_IN + i[None, :],
                        mask=inside[:, None] & (i < C_IN)[None, :], other=0.0)
        acc += tl.dot(dy, image)
    tl.atomic_add(dw_ptr + (o[:, None] * R * S + rs) * C_IN + i[None, :], acc,
                  mask=(o < C_OUT)[:, None] & (i < C_IN)[None, :])


@triton.jit
def conv3d_direct(x_ptr, w_ptr, bias_ptr, y_ptr, C_IN, C_OUT, D, H, W, OD, OH, OW,
                  KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr,
                  PAD: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr,
                  BLOCK_O: tl.constexpr):
    """NCDHW: the places of the filter one after the other, a product over channels at each."""
    b = tl.program_id(2)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    od = p // (OH * OW)
    oh = (p // OW) % OH
    ow = p % OW
    c = tl.arange(0, BLOCK_C)
    acc = tl.zeros((BLOCK_O, BLOCK_P), dtype=tl.float32)
    for kd in range(KD):
        for kh in range(KH):
            for kw in range(KW):
                d, h, w = od * STRIDE - PAD + kd, oh * STRIDE - PAD + kh, ow * STRIDE - PAD + kw
                ok = (d >= 0) & (d < D) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
                for c0 in range(0, C_IN, BLOCK_C):
                    x = tl.load(x_ptr + ((b * C_IN + c0 + c[:, None]) * D + d[None, :]) * H * W
                                + h[None, :] * W + w[None, :],
                                mask=ok[None, :] & (c0 + c[:, None] < C_IN), other=0.0)
                    f = tl.load(w_ptr + (o[:, None] * C_IN + c0 + c[None, :]) * KD * KH * KW
                                + (kd * KH + kh) * KW + kw,
                                mask=(o[:, None] < C_OUT) & (c0 + c[None, :] < C_IN), other=0.0)
                    acc += tl.dot(f, x)
    acc += tl.load(bias_ptr + o, mask=o < C_OUT, other=0.0)[:, None]
    out = OD * OH * OW
    tl.store(y_ptr + (b * C_OUT + o[:, None]) * out + p[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(o[:, None] < C_OUT) & (p[None, :] < out))
