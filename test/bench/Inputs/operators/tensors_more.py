"""More of what tensors go through: volumes, scatters, sorts by digits, packed masks, draws."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def trilinear(x_ptr, y_ptr, D, H, W, OD, OH, OW, rd, rh, rw, ALIGN: tl.constexpr,
              BLOCK: tl.constexpr):
    """A volume made larger: eight neighbours of each place."""
    nc = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < OD * OH * OW
    od = i // (OH * OW)
    oh = i // OW % OH
    ow = i % OW
    if ALIGN:
        d, h, w = rd * od, rh * oh, rw * ow
    else:
        d = tl.maximum(rd * (od + 0.5) - 0.5, 0.0)
        h = tl.maximum(rh * (oh + 0.5) - 0.5, 0.0)
        w = tl.maximum(rw * (ow + 0.5) - 0.5, 0.0)
    d0, h0, w0 = d.to(tl.int32), h.to(tl.int32), w.to(tl.int32)
    d1 = tl.minimum(d0 + 1, D - 1)
    h1 = tl.minimum(h0 + 1, H - 1)
    w1 = tl.minimum(w0 + 1, W - 1)
    fd, fh, fw = d - d0, h - h0, w - w0
    base = x_ptr + nc * D * H * W
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for a in tl.static_range(2):
        for b in tl.static_range(2):
            for c in tl.static_range(2):
                dd, hh, ww = (d1 if a else d0), (h1 if b else h0), (w1 if c else w0)
                weight = (fd if a else 1 - fd) * (fh if b else 1 - fh) * (fw if c else 1 - fw)
                acc += weight * tl.load(base + (dd * H + hh) * W + ww, mask=mask, other=0.0)
    tl.store(y_ptr + nc * OD * OH * OW + i, acc.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def max_pool_backward(dy_ptr, index_ptr, dx_ptr, planes, OUT, IN, BLOCK: tl.constexpr):
    """Gradients go to where the largest were, by atomics."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < planes * OUT
    dy = tl.load(dy_ptr + i, mask=mask, other=0.0).to(tl.float32)
    at = tl.load(index_ptr + i, mask=mask, other=0)
    tl.atomic_add(dx_ptr + (i // OUT) * IN + at, dy, mask=mask, sem="relaxed")


@triton.jit
def avg_pool3d(x_ptr, y_ptr, D, H, W, OD, OH, OW, K: tl.constexpr, S: tl.constexpr,
               P: tl.constexpr, COUNT_PAD: tl.constexpr, BLOCK_H: tl.constexpr,
               BLOCK_W: tl.constexpr):
    """Means of cubes, padding counted or not."""
    pid = tl.program_id(0)
    nc = pid // OD
    od = pid % OD
    oh = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = tl.program_id(2) * BLOCK_W + tl.arange(0, BLOCK_W)
    acc = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.float32)
    count = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.int32)
    x_ptr += nc.to(tl.int64) * D * H * W
    for kd in tl.static_range(K):
        for kh in tl.static_range(K):
            for kw in tl.static_range(K):
                d = od * S - P + kd
                h = oh[:, None] * S - P + kh
                w = ow[None, :] * S - P + kw
                ok = (d >= 0) & (d < D) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
                acc += tl.load(x_ptr + (d * H + h) * W + w, mask=ok, other=0.0)
                count += ok.to(tl.int32)
    if COUNT_PAD:
        y = acc / (K * K * K)
    else:
        y = acc / count
    mask = (oh[:, None] < OH) & (ow[None, :] < OW)
    tl.store(y_ptr + (nc * OD + od).to(tl.int64) * OH * OW + oh[:, None] * OW + ow[None, :], y,
             mask=mask)


@triton.jit
def scatter_amax(src_ptr, index_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr):
    """scatter_reduce along rows by the largest; what is there is not negative."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (m < M) & (n < N)
    src = tl.load(src_ptr + m * N + n, mask=mask, other=0)
    index = tl.load(index_ptr + m * N + n, mask=mask, other=0)
    tl.atomic_max(out_ptr + m * K + index, src, mask=mask, sem="relaxed")


@triton.jit
def bincount_weighted(x_ptr, w_ptr, out_ptr, n, bins, BLOCK: tl.constexpr, PER: tl.constexpr):
    """Weights of equal numbers are added; a program has several blocks."""
    first = tl.program_id(0) * BLOCK * PER
    for j in range(PER):
        i = first + j * BLOCK + tl.arange(0, BLOCK)
        mask = i < n
        x = tl.load(x_ptr + i, mask=mask, other=0)
        w = tl.load(w_ptr + i, mask=mask, other=0.0)
        tl.atomic_add(out_ptr + x, w, mask=mask & (x < bins) & (x >= 0), sem="relaxed", scope="gpu")


@triton.jit
def cdist_one(x_ptr, y_ptr, d_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              BLOCK_K: tl.constexpr):
    """Sums of absolute differences of all pairs of rows, by blocks of three dimensions."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :],
                    other=0.0)
        y = tl.load(y_ptr + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :],
                    other=0.0)
        acc += tl.sum(tl.abs(x[:, None, :] - y[None, :, :]), axis=2)
    tl.store(d_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def radix_scatter(key_ptr, value_ptr, before_ptr, key_out_ptr, value_out_ptr, n, bit,
                  BITS: tl.constexpr, BLOCK: tl.constexpr):
    """A pass of a sort by digits: ranks within a block from sums of who has which digit."""
    pid = tl.program_id(0)
    bins: tl.constexpr = 2 ** BITS
    i = pid * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    key = tl.load(key_ptr + i, mask=mask, other=0)
    value = tl.load(value_ptr + i, mask=mask, other=0)
    digit = (key >> bit) & (bins - 1)
    digit = tl.where(mask, digit, bins - 1)
    hot = (digit[:, None] == tl.arange(0, bins)[None, :]).to(tl.int32)
    rank = tl.cumsum(hot, axis=0) - hot
    start = tl.load(before_ptr + pid * bins + tl.arange(0, bins))
    to = tl.sum((rank + start[None, :]) * hot, axis=1)
    tl.store(key_out_ptr + to, key, mask=mask)
    tl.store(value_out_ptr + to, value, mask=mask)


@triton.jit
def mode_rows(x_ptr, value_ptr, count_ptr, N, BLOCK: tl.constexpr):
    """The most frequent number of a row: sorted, then the longest run, the smallest of equal."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=2147483647)
    x = tl.sort(x)
    left = tl.gather(x, tl.maximum(i - 1, 0), axis=0)
    start = tl.where((i == 0) | (x != left), i, 0)
    run = i - tl.associative_scan(start, 0, larger) + 1
    run = tl.where(i < N, run, 0)
    longest, at = tl.max(run, axis=0, return_indices=True)
    tl.store(value_ptr + row, tl.sum(tl.where(i == at, x, 0)))
    tl.store(count_ptr + row, longest)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def truncated_normal(out_ptr, n, mean, std, low, high, seed, BLOCK: tl.constexpr):
    """Numbers of a bell between two bounds, by the inverse of its sum."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.rand(seed, i)
    a = 0.5 * (1 + tl.erf((low - mean) / std * 0.7071067811865476))
    b = 0.5 * (1 + tl.erf((high - mean) / std * 0.7071067811865476))
    x = libdevice.erfinv(2 * (a + u * (b - a)) - 1)
    x = mean + std * 1.4142135623730951 * x
    tl.store(out_ptr + i, tl.minimum(tl.maximum(x, low), high), mask=i < n)


@triton.jit
def dropout_bits(x_ptr, y_ptr, bits_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Dropout whose mask is kept as bits: four numbers of one Philox, 8 kept or not in a byte."""
    pid = tl.program_id(0)
    i = pid * BLOCK * 4 + tl.arange(0, BLOCK * 4)
    a, b, c, d = tl.rand4x(seed, pid * BLOCK + tl.arange(0, BLOCK))
    r = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), (BLOCK * 4,))
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    keep = r > p
    y = tl.where(keep, x / (1 - p), 0.0)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)
    byte = tl.reshape(keep.to(tl.int32), (BLOCK // 2, 8)) << tl.arange(0, 8)[None, :]
    j = pid * (BLOCK // 2) + tl.arange(0, BLOCK // 2)
    tl.store(bits_ptr + j, tl.sum(byte, axis=1).to(tl.uint8), mask=j * 8 < n)


@triton.jit
def lp_norm_dims(x_ptr, out_ptr, M, N, K, p, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """(Σ |x|^p)^(1/p) along the middle of three dimensions."""
    m = tl.program_id(1)
    k = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_N, BLOCK_K], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        x = tl.load(x_ptr + (m * N + n[:, None]) * K + k[None, :],
                    mask=(n < N)[:, None] & (k < K)[None, :], other=0.0).to(tl.float32)
        acc += libdevice.pow(tl.abs(x), p)
    s = tl.sum(acc, axis=0)
    tl.store(out_ptr + m * K + k, libdevice.pow(s, 1.0 / p).to(out_ptr.dtype.element_ty),
             mask=k < K)


@triton.jit
def index_add_sorted(src_ptr, order_ptr, start_ptr, out_ptr, base_ptr, D, BLOCK: tl.constexpr):
    """Rows that go to the same one, which a sort has put together, are added without atomics."""
    row = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    acc = tl.load(base_ptr + row.to(tl.int64) * D + d, mask=mask, other=0.0).to(tl.float32)
    i = tl.load(start_ptr + row)
    end = tl.load(start_ptr + row + 1)
    while i < end:
        at = tl.load(order_ptr + i).to(tl.int64)
        acc += tl.load(src_ptr + at * D + d, mask=mask, other=0.0).to(tl.float32)
        i += 1
    tl.store(out_ptr + row.to(tl.int64) * D + d, acc.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def transpose_bytes(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """A matrix of bytes turned, by block pointers of both orders."""
    m0, n0 = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (m0, n0), (BLOCK_M, BLOCK_N), (1, 0))
    y = tl.make_block_ptr(y_ptr, (N, M), (M, 1), (n0, m0), (BLOCK_N, BLOCK_M), (1, 0))
    tl.store(y, tl.trans(tl.load(x, boundary_check=(0, 1), padding_option="zero")),
             boundary_check=(0, 1))


@triton.jit
def space_to_depth(x_ptr, y_ptr, C, H, W, S: tl.constexpr, BLOCK_Y: tl.constexpr,
                   BLOCK_X: tl.constexpr):
    """Squares of S × S become channels: a block of five dimensions, permuted."""
    nc = tl.program_id(0).to(tl.int64)
    y = tl.program_id(1) * BLOCK_Y * S + tl.arange(0, BLOCK_Y * S)
    x = tl.program_id(2) * BLOCK_X * S + tl.arange(0, BLOCK_X * S)
    a = tl.load(x_ptr + nc * H * W + y[:, None] * W + x[None, :],
                mask=(y < H)[:, None] & (x < W)[None, :], other=0.0)
    a = tl.permute(tl.reshape(a, (BLOCK_Y, S, BLOCK_X, S)), (1, 3, 0, 2))
    s = tl.arange(0, S)
    oy = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    ox = tl.program_id(2) * BLOCK_X + tl.arange(0, BLOCK_X)
    at = (s[:, None, None, None] * S + s[None, :, None, None]) * (H // S) \
        + oy[None, None, :, None]
    mask = (oy[None, None, :, None] < H // S) & (ox[None, None, None, :] < W // S)
    tl.store(y_ptr + nc * H * W + at * (W // S) + ox[None, None, None, :], a, mask=mask)


@triton.jit
def erf_family(x_ptr, out_ptr, n, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    """One of several functions of elements, by its name."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    if WHICH == "celu":
        y = tl.where(x > 0, x, 1.5 * (tl.exp(x / 1.5) - 1))
    elif WHICH == "hardswish":
        y = x * tl.minimum(tl.maximum(x + 3, 0), 6) / 6
    elif WHICH == "logit":
        z = tl.clamp(tl.sigmoid(x), 1e-6, 1 - 1e-6)
        y = tl.log(z / (1 - z))
    elif WHICH == "quick_gelu":
        y = x * (1 / (1 + tl.exp(-1.702 * x)))
    elif WHICH == "log_sigmoid":
        y = tl.minimum(x, 0.0) - libdevice.log1p(tl.exp(-tl.abs(x)))
    else:
        tl.static_assert(WHICH == "trig", "which?")
        y = libdevice.asinh(x) + libdevice.atan(x) * libdevice.sinh(x * 0.1)
    tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def strided_copy_int64(x_ptr, y_ptr, n, s0, s1, s2, t0: tl.int64, t1: tl.int64, t2: tl.int64,
                       BLOCK: tl.constexpr):
    """Any view of three dimensions in a line, strides of 64 bits."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i2 = i % s2
    i1 = (i // s2) % s1
    i0 = i // (s2 * s1)
    tl.store(y_ptr + i, tl.load(x_ptr + i0 * t0 + i1 * t1 + i2 * t2, mask=mask), mask=mask)
