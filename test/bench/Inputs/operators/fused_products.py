"""Products with more around them: chains, blocks by tables, weights of few bits, structure."""
import triton
import triton.language as tl


@triton.jit
def mlp_chain(x_ptr, gate_ptr, up_ptr, down_ptr, y_ptr, M, D: tl.constexpr, F: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_F: tl.constexpr):
    """Gate, up and down of narrow features in one: what is between them never leaves."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + m[:, None] * D + d[None, :], mask=(m < M)[:, None], other=0.0)
    y = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, F, BLOCK_F):
        f = start + tl.arange(0, BLOCK_F)
        gate = tl.load(gate_ptr + f[None, :] * D + d[:, None])
        up = tl.load(up_ptr + f[None, :] * D + d[:, None])
        g = tl.dot(x, gate)
        h = g * tl.sigmoid(g) * tl.dot(x, up)
        down = tl.load(down_ptr + f[:, None] * D + d[None, :])
        y = tl.dot(h.to(x.dtype), down, y)
    tl.store(y_ptr + m[:, None] * D + d[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None])


@triton.jit
def lora_linear(x_ptr, w_ptr, a_ptr, b_ptr, y_ptr, M, N, K, scale, R: tl.constexpr,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A linear layer with its adapter of low rank: both products of x in one loop."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    r = tl.arange(0, R)
    k = tl.arange(0, BLOCK_K)
    y = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    low = tl.zeros([BLOCK_M, R], tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + (start + k)[:, None], mask=(n < N)[None, :], other=0.0)
        a = tl.load(a_ptr + r[None, :] * K + (start + k)[:, None])
        y = tl.dot(x, w, y)
        low = tl.dot(x, a, low)
    b = tl.load(b_ptr + n[None, :] * R + r[:, None], mask=(n < N)[None, :], other=0.0)
    y += tl.dot(low.to(b.dtype), b) * scale
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def sparse_out(a_ptr, b_ptr, lut_ptr, c_ptr, K, stride_a, stride_b, BLOCK: tl.constexpr,
               BLOCK_K: tl.constexpr):
    """Blocks of a b^T that a table names, one after the other: block (row, column) of each."""
    here = tl.program_id(0)
    row = tl.load(lut_ptr + 2 * here)
    column = tl.load(lut_ptr + 2 * here + 1)
    i = tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK_K)
    a = a_ptr + (row * BLOCK + i).to(tl.int64)[:, None] * stride_a + k[None, :]
    b = b_ptr + (column * BLOCK + i).to(tl.int64)[None, :] * stride_b + k[:, None]
    c = tl.zeros([BLOCK, BLOCK], tl.float32)
    for _ in range(0, K, BLOCK_K):
        c = tl.dot(tl.load(a), tl.load(b), c)
        a += BLOCK_K
        b += BLOCK_K
    tl.store(c_ptr + here.to(tl.int64) * BLOCK * BLOCK + i[:, None] * BLOCK + i[None, :],
             c.to(c_ptr.dtype.element_ty))


@triton.jit
def sparse_left(a_ptr, start_ptr, column_ptr, b_ptr, c_ptr, N, BLOCK: tl.constexpr,
                BLOCK_N: tl.constexpr):
    """Blocks of rows, each a list of blocks and their columns, times a dense matrix."""
    row = tl.program_id(1)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    i = tl.arange(0, BLOCK)
    first = tl.load(start_ptr + row)
    end = tl.load(start_ptr + row + 1)
    c = tl.zeros([BLOCK, BLOCK_N], tl.float32)
    for at in range(first, end):
        column = tl.load(column_ptr + at)
        a = tl.load(a_ptr + at.to(tl.int64) * BLOCK * BLOCK + i[:, None] * BLOCK + i[None, :])
        b = tl.load(b_ptr + (column * BLOCK + i).to(tl.int64)[:, None] * N + n[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + (row * BLOCK + i).to(tl.int64)[:, None] * N + n[None, :],
             c.to(c_ptr.dtype.element_ty))


@triton.jit
def sparse_2_4(x_ptr, w_ptr, place_ptr, y_ptr, M, N, K, BLOCK_M: tl.constexpr,
               BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of which two in four are kept, their places two bits each, four to a byte."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    g = k // 4
    y = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        pair = w_ptr + n[None, :] * (K // 2) + (start // 2 + 2 * g)[:, None]
        first = tl.load(pair)
        second = tl.load(pair + 1)
        places = tl.load(place_ptr + n[None, :] * (K // 8) + (start // 8 + k // 8)[:, None])
        bits = places.to(tl.int32) >> ((g % 2) * 4)[:, None]
        here = (k % 4)[:, None]
        w = tl.where((bits & 3) == here, first, tl.where(((bits >> 2) & 3) == here, second, 0.0))
        y = tl.dot(x, w.to(x.dtype), y)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None])


@triton.jit
def nf4_linear(x_ptr, w_ptr, code_ptr, absmax_ptr, y_ptr, M, N, K, GROUP: tl.constexpr,
               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of four bits by a table of 16, scaled by groups; high half of a byte first."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    h = tl.arange(0, BLOCK_K // 2)
    y = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        q = tl.load(w_ptr + n[:, None] * (K // 2) + (start // 2 + h)[None, :]).to(tl.int32)
        scale = tl.load(absmax_ptr + n * (K // GROUP) + start // GROUP)
        high = tl.load(code_ptr + (q >> 4), eviction_policy="evict_last")
        low = tl.load(code_ptr + (q & 15), eviction_policy="evict_last")
        w = tl.interleave(high, low) * scale[:, None]
        y = tl.dot(x, tl.trans(w.to(x.dtype)), y)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None])


@triton.jit
def fp4_value(q):
    """A number of four bits: sign, two of exponent, one of mantissa."""
    e = (q >> 1) & 3
    f = (q & 1).to(tl.float32)
    v = tl.where(e == 0, 0.5 * f, (1 << e).to(tl.float32) * (0.5 + 0.25 * f))
    return tl.where((q & 8) != 0, -v, v)


@triton.jit
def mxfp4_gemv(x_ptr, w_ptr, scale_ptr, y_ptr, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A product with one row of weights of four bits; 32 of them share a power of two."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    h = tl.arange(0, BLOCK_K // 2)
    g = tl.arange(0, BLOCK_K // 32)
    y = tl.zeros([BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        q = tl.load(w_ptr + n.to(tl.int64)[:, None] * (K // 2) + (start // 2 + h)[None, :],
                    eviction_policy="evict_first").to(tl.int32)
        e = tl.load(scale_ptr + n[:, None] * (K // 32) + (start // 32 + g)[None, :]).to(tl.int32)
        even = tl.load(x_ptr + start + 2 * h).to(tl.float32)
        odd = tl.load(x_ptr + start + 2 * h + 1).to(tl.float32)
        both = fp4_value(q & 15) * even[None, :] + fp4_value(q >> 4) * odd[None, :]
        part = tl.sum(tl.reshape(both, [BLOCK_N, BLOCK_K // 32, 16]), 2)
        y += tl.sum(part * (e << 23).to(tl.float32, bitcast=True), 1)
    tl.store(y_ptr + n, y.to(y_ptr.dtype.element_ty), mask=n < N)


@triton.jit
def complex_product(ar_ptr, ai_ptr, br_ptr, bi_ptr, cr_ptr, ci_ptr, M, N, K, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Matrices of complex numbers, parts apart, by three products."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    at_a = m[:, None] * K + k[None, :]
    at_b = k[:, None] * N + n[None, :]
    one = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    two = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    three = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        ar = tl.load(ar_ptr + at_a)
        ai = tl.load(ai_ptr + at_a)
        br = tl.load(br_ptr + at_b)
        bi = tl.load(bi_ptr + at_b)
        one = tl.dot(ar, br, one)
        two = tl.dot(ai, bi, two)
        three = tl.dot(ar + ai, br + bi, three)
        at_a += BLOCK_K
        at_b += BLOCK_K * N
    at = m[:, None] * N + n[None, :]
    tl.store(cr_ptr + at, (one - two).to(cr_ptr.dtype.element_ty))
    tl.store(ci_ptr + at, (three - one - two).to(ci_ptr.dtype.element_ty))


@triton.jit
def long_convolution(x_ptr, filter_ptr, gate_ptr, y_ptr, T, D, BLOCK: tl.constexpr,
                     BATCH: tl.constexpr):
    """A causal convolution as long as the sequence, a channel a program: products of Toeplitz."""
    d = tl.program_id(1)
    t0 = tl.program_id(0) * BLOCK
    i = tl.arange(0, BLOCK)
    b = tl.arange(0, BATCH)
    y = tl.zeros([BATCH, BLOCK], tl.float32)
    for s0 in range(0, t0 + BLOCK, BLOCK):
        lag = (t0 - s0) + i[None, :] - i[:, None]
        h = tl.load(filter_ptr + d * T + lag, mask=lag >= 0, other=0.0)
        x = tl.load(x_ptr + (b[:, None] * D + d) * T + (s0 + i)[None, :])
        y = tl.dot(x, h, y)
    at = (b[:, None] * D + d) * T + (t0 + i)[None, :]
    gate = tl.load(gate_ptr + at).to(tl.float32)
    tl.store(y_ptr + at, (y * gate).to(y_ptr.dtype.element_ty))


@triton.jit
def experts_gate_up(x_ptr, w_ptr, row_ptr, tile_ptr, y_ptr, rows, D, F, TOPK: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Rows of tokens, gathered, by their expert's gate and up: tiles (expert, first, end)."""
    tile = tl.program_id(1)
    expert = tl.load(tile_ptr + 3 * tile).to(tl.int64)
    first = tl.load(tile_ptr + 3 * tile + 1)
    end = tl.load(tile_ptr + 3 * tile + 2)
    m = first + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    row = tl.load(row_ptr + m, mask=m < end, other=0)
    token = (row // TOPK).to(tl.int64)
    x = x_ptr + token[:, None] * D + k[None, :]
    w = w_ptr + expert * (2 * F * D) + n[None, :] * D + k[:, None]
    gate = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    up = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for _ in range(0, D, BLOCK_K):
        here = tl.load(x, mask=(m < end)[:, None], other=0.0)
        gate = tl.dot(here, tl.load(w), gate)
        up = tl.dot(here, tl.load(w + F * D), up)
        x += BLOCK_K
        w += BLOCK_K
    y = gate * tl.sigmoid(gate) * up
    tl.store(y_ptr + m.to(tl.int64)[:, None] * F + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < end)[:, None])


@triton.jit
def newton_schulz(x_ptr, g_ptr, a, b, c, y_ptr, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr):
    """b g + c g g and a of what it is added to: the step's polynomial of a symmetric matrix."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, N, BLOCK_K):
        left = tl.load(g_ptr + m[:, None] * N + (start + k)[None, :])
        right = tl.load(g_ptr + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total)
    at = m[:, None] * N + n[None, :]
    y = a * tl.load(x_ptr + at).to(tl.float32) + b * tl.load(g_ptr + at).to(tl.float32) + c * total
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty))
