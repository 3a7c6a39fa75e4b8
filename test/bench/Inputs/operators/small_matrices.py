"""Many small matrices and short transforms, each in registers."""
import triton
import triton.language as tl


@triton.jit
def inverse_3(a_ptr, out_ptr, det_ptr, N, BLOCK: tl.constexpr):
    """Inverses of matrices 3 x 3 by their cofactors, and determinants."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    p = a_ptr + i * 9
    a = tl.load(p, mask=mask, other=1.0)
    b = tl.load(p + 1, mask=mask, other=0.0)
    c = tl.load(p + 2, mask=mask, other=0.0)
    d = tl.load(p + 3, mask=mask, other=0.0)
    e = tl.load(p + 4, mask=mask, other=1.0)
    f = tl.load(p + 5, mask=mask, other=0.0)
    g = tl.load(p + 6, mask=mask, other=0.0)
    h = tl.load(p + 7, mask=mask, other=0.0)
    k = tl.load(p + 8, mask=mask, other=1.0)
    c00 = e * k - f * h
    c01 = f * g - d * k
    c02 = d * h - e * g
    det = a * c00 + b * c01 + c * c02
    r = 1.0 / det
    o = out_ptr + i * 9
    tl.store(o, c00 * r, mask=mask)
    tl.store(o + 1, (c * h - b * k) * r, mask=mask)
    tl.store(o + 2, (b * f - c * e) * r, mask=mask)
    tl.store(o + 3, c01 * r, mask=mask)
    tl.store(o + 4, (a * k - c * g) * r, mask=mask)
    tl.store(o + 5, (c * d - a * f) * r, mask=mask)
    tl.store(o + 6, c02 * r, mask=mask)
    tl.store(o + 7, (b * g - a * h) * r, mask=mask)
    tl.store(o + 8, (a * e - b * d) * r, mask=mask)
    tl.store(det_ptr + i, det, mask=mask)


@triton.jit
def lu_pivoted(a_ptr, lu_ptr, pivot_ptr, N: tl.constexpr):
    """L and U of one matrix with rows exchanged: pivots by argmax, rows by masks and sums."""
    base = tl.program_id(0) * N * N
    i = tl.arange(0, N)
    at = base + i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at)
    for k in range(N):
        column = tl.sum(tl.where(i[None, :] == k, a, 0.0), 1)
        pivot = tl.argmax(tl.where(i >= k, tl.abs(column), -1.0), 0)
        tl.store(pivot_ptr + tl.program_id(0) * N + k, pivot + 1)
        row_k = tl.sum(tl.where((i == k)[:, None], a, 0.0), 0)
        row_p = tl.sum(tl.where((i == pivot)[:, None], a, 0.0), 0)
        a = tl.where((i == pivot)[:, None], row_k[None, :], a)
        a = tl.where((i == k)[:, None], row_p[None, :], a)
        diagonal = tl.sum(tl.where(i == k, row_p, 0.0), 0)
        factor = tl.sum(tl.where(i[None, :] == k, a, 0.0), 1) / diagonal
        below = (i > k)[:, None]
        new = a - factor[:, None] * row_p[None, :]
        a = tl.where(below & (i > k)[None, :], new, a)
        a = tl.where(below & (i == k)[None, :], factor[:, None], a)
    tl.store(lu_ptr + at, a)


@triton.jit
def triangle_inverse(a_ptr, out_ptr, N: tl.constexpr):
    """The inverse of a lower triangle of ones on the diagonal: (1 + x)(1 + x^2)(1 + x^4)..."""
    i = tl.arange(0, N)
    at = tl.program_id(0) * N * N + i[:, None] * N + i[None, :]
    x = -tl.where(i[:, None] > i[None, :], tl.load(a_ptr + at), 0.0)
    y = x + tl.where(i[:, None] == i[None, :], 1.0, 0.0)
    size: tl.constexpr = N
    power = 2
    while power < size:
        x = tl.dot(x, x, input_precision="tf32x3")
        y += tl.dot(y, x, input_precision="tf32x3")
        power *= 2
    tl.store(out_ptr + at, y)


@triton.jit
def exponential(a_ptr, out_ptr, TERMS: tl.constexpr, SQUARES: tl.constexpr, N: tl.constexpr):
    """A matrix's exponential: a series of what is scaled down, then squares of it."""
    i = tl.arange(0, N)
    at = tl.program_id(0) * N * N + i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at) * (1.0 / (1 << SQUARES))
    one = tl.where(i[:, None] == i[None, :], 1.0, 0.0)
    y = one
    for t in tl.static_range(TERMS, 0, -1):
        y = one + tl.dot(a, y, input_precision="ieee") * (1.0 / t)
    for _ in tl.static_range(SQUARES):
        y = tl.dot(y, y, input_precision="ieee")
    tl.store(out_ptr + at, y)


@triton.jit
def jacobi_3(a_ptr, value_ptr, N, SWEEPS: tl.constexpr, BLOCK: tl.constexpr):
    """Eigenvalues of symmetric matrices 3 x 3 by rotations, least first."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    p = a_ptr + i * 6
    a00 = tl.load(p, mask=mask, other=1.0)
    a01 = tl.load(p + 1, mask=mask, other=0.0)
    a02 = tl.load(p + 2, mask=mask, other=0.0)
    a11 = tl.load(p + 3, mask=mask, other=1.0)
    a12 = tl.load(p + 4, mask=mask, other=0.0)
    a22 = tl.load(p + 5, mask=mask, other=1.0)
    for _ in range(SWEEPS):
        a00, a01, a02, a11, a12 = turn(a00, a01, a02, a11, a12)
        a00, a02, a01, a22, a12 = turn(a00, a02, a01, a22, a12)
        a11, a12, a01, a22, a02 = turn(a11, a12, a01, a22, a02)
    low = tl.minimum(a00, a11)
    high = tl.maximum(a00, a11)
    o = value_ptr + i * 3
    tl.store(o, tl.minimum(low, a22), mask=mask)
    tl.store(o + 1, tl.maximum(low, tl.minimum(high, a22)), mask=mask)
    tl.store(o + 2, tl.maximum(high, a22), mask=mask)


@triton.jit
def turn(pp, pq, pr, qq, qr):
    """The rotation that makes the number between p and q nothing; r is the third."""
    none = tl.abs(pq) < 1e-20
    theta = (qq - pp) / tl.where(none, 1.0, 2.0 * pq)
    t = 1.0 / (tl.abs(theta) + tl.sqrt(theta * theta + 1.0))
    t = tl.where(none, 0.0, tl.where(theta < 0, -t, t))
    c = tl.rsqrt(t * t + 1.0)
    s = t * c
    return pp - t * pq, 0.0 * pq, c * pr - s * qr, qq + t * pq, s * pr + c * qr


@triton.jit
def butterfly(re, im, wr_ptr, wi_ptr, ROWS: tl.constexpr, N: tl.constexpr, SPAN: tl.constexpr):
    """A round of a transform: halves of each span, sums and turned differences."""
    j = tl.arange(0, SPAN)
    wr = tl.load(wr_ptr + j * (N // (2 * SPAN)))
    wi = tl.load(wi_ptr + j * (N // (2 * SPAN)))
    re = tl.permute(tl.reshape(re, [ROWS, N // (2 * SPAN), 2, SPAN]), [0, 1, 3, 2])
    im = tl.permute(tl.reshape(im, [ROWS, N // (2 * SPAN), 2, SPAN]), [0, 1, 3, 2])
    ar, br = tl.split(re)
    ai, bi = tl.split(im)
    dr = ar - br
    di = ai - bi
    tr = dr * wr[None, None, :] - di * wi[None, None, :]
    ti = dr * wi[None, None, :] + di * wr[None, None, :]
    re = tl.reshape(tl.permute(tl.join(ar + br, tr), [0, 1, 3, 2]), [ROWS, N])
    im = tl.reshape(tl.permute(tl.join(ai + bi, ti), [0, 1, 3, 2]), [ROWS, N])
    return re, im


@triton.jit
def fft_registers(re_ptr, im_ptr, wr_ptr, wi_ptr, order_ptr, out_re_ptr, out_im_ptr, M,
                  ROWS: tl.constexpr, N: tl.constexpr):
    """Transforms of 64 numbers, six rounds of two; results go where their bits reversed say."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.arange(0, N)
    at = r[:, None] * N + n[None, :]
    re = tl.load(re_ptr + at, mask=(r < M)[:, None], other=0.0)
    im = tl.load(im_ptr + at, mask=(r < M)[:, None], other=0.0)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 32)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 16)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 8)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 4)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 2)
    re, im = butterfly(re, im, wr_ptr, wi_ptr, ROWS, N, 1)
    to = r[:, None] * N + tl.load(order_ptr + n)[None, :]
    tl.store(out_re_ptr + to, re, mask=(r < M)[:, None])
    tl.store(out_im_ptr + to, im, mask=(r < M)[:, None])
