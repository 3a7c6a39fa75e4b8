"""Random numbers, ramps, and copies to other places: padding, joining, repeating, turning."""
import triton
import triton.language as tl


@triton.jit
def counters(seed, offset, pid, BLOCK: tl.constexpr):
    """The four words of Philox for a block of counters: offset in the first two of the key's."""
    i = pid * BLOCK + tl.arange(0, BLOCK)
    c0 = (offset & 0xFFFFFFFF).to(tl.uint32)
    c1 = ((offset >> 32) & 0xFFFFFFFF).to(tl.uint32)
    c0 += i.to(tl.uint32)
    zero = c0 * 0
    return tl.philox(seed.to(tl.int64), c0, c1 + zero, zero, zero)


@triton.jit
def uniform_philox(out_ptr, n, low, high, seed, offset, BLOCK: tl.constexpr):
    """Numbers from low to high, four blocks of them from a block of counters."""
    pid = tl.program_id(0)
    seed = seed.to(tl.int64)
    offset = offset.to(tl.int64)
    r0, r1, r2, r3 = counters(seed, offset, pid, BLOCK)
    offs = pid * BLOCK * 4 + tl.arange(0, BLOCK)
    r0 = tl.uint_to_uniform_float(r0) * (high - low) + low
    r1 = tl.uint_to_uniform_float(r1) * (high - low) + low
    r2 = tl.uint_to_uniform_float(r2) * (high - low) + low
    r3 = tl.uint_to_uniform_float(r3) * (high - low) + low
    tl.store(out_ptr + offs, r0, mask=offs < n, eviction_policy="evict_first")
    offs += BLOCK
    tl.store(out_ptr + offs, r1, mask=offs < n, eviction_policy="evict_first")
    offs += BLOCK
    tl.store(out_ptr + offs, r2, mask=offs < n, eviction_policy="evict_first")
    offs += BLOCK
    tl.store(out_ptr + offs, r3, mask=offs < n, eviction_policy="evict_first")


@triton.jit
def normal_philox(out_ptr, n, mean, std, seed, offset, BLOCK: tl.constexpr):
    """Normal numbers by Box and Muller, pairs of pairs."""
    pid = tl.program_id(0)
    seed = seed.to(tl.int64)
    offset = offset.to(tl.int64)
    r0, r1, r2, r3 = counters(seed, offset, pid, BLOCK)
    n0, n1 = tl.pair_uniform_to_normal(tl.uint_to_uniform_float(r0), tl.uint_to_uniform_float(r1))
    n2, n3 = tl.pair_uniform_to_normal(tl.uint_to_uniform_float(r2), tl.uint_to_uniform_float(r3))
    kind = out_ptr.dtype.element_ty
    offs = pid * BLOCK * 4 + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, (n0 * std + mean).to(kind), mask=offs < n)
    tl.store(out_ptr + offs + BLOCK, (n1 * std + mean).to(kind), mask=offs + BLOCK < n)
    tl.store(out_ptr + offs + 2 * BLOCK, (n2 * std + mean).to(kind), mask=offs + 2 * BLOCK < n)
    tl.store(out_ptr + offs + 3 * BLOCK, (n3 * std + mean).to(kind), mask=offs + 3 * BLOCK < n)


@triton.jit
def random_keys(out_ptr, n, seed, BLOCK: tl.constexpr):
    """Keys that a permutation is sorted by: a random word above, the place below."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    word, _, _, _ = tl.randint4x(seed, i)
    key = ((word.to(tl.int64) & 0x7FFFFFFF) << 32) | i.to(tl.int64)
    tl.store(out_ptr + i, key, mask=i < n)


@triton.jit
def linspace(out_ptr, start, mid, end, step, n, BLOCK: tl.constexpr):
    """A ramp counted from its nearer end."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    up = start + step * i
    down = end - step * (n - i - 1)
    tl.store(out_ptr + i, tl.where(i < mid, up, down), mask=i < n)


@triton.jit
def eye(out_ptr, N, M, BLOCK_I: tl.constexpr, BLOCK_J: tl.constexpr):
    """Ones on the diagonal; tiles off it are only zeros."""
    i0 = tl.program_id(0) * BLOCK_I
    j0 = tl.program_id(1) * BLOCK_J
    i = i0 + tl.arange(0, BLOCK_I)[:, None]
    j = j0 + tl.arange(0, BLOCK_J)[None, :]
    value = tl.zeros([BLOCK_I, BLOCK_J], dtype=tl.float32)
    if i0 < j0 + BLOCK_J and j0 < i0 + BLOCK_I:
        value += tl.where(i == j, 1.0, 0.0)
    tl.store(out_ptr + i * M + j, value.to(out_ptr.dtype.element_ty), mask=(i < N) & (j < M))


@triton.jit
def pad_constant(x_ptr, out_ptr, n, o1, o2, o3, x0, x1, x2, x3, p0, p1, p2, p3, s0, s1, s2, s3,
                 value, BLOCK: tl.constexpr):
    """Four dimensions with a constant around them, from the flat index of the result."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rest = offs
    i3 = rest % o3 - p3
    rest //= o3
    i2 = rest % o2 - p2
    rest //= o2
    i1 = rest % o1 - p1
    i0 = rest // o1 - p0
    inside = (i0 >= 0) & (i0 < x0) & (i1 >= 0) & (i1 < x1) & (i2 >= 0) & (i2 < x2)
    inside = inside & (i3 >= 0) & (i3 < x3) & (offs < n)
    x = tl.load(x_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=inside, other=0.0)
    x = tl.where(inside, x, value)
    tl.store(out_ptr + offs, x, mask=offs < n)


@triton.jit
def pad_reflect(x_ptr, out_ptr, H, W, OH, OW, top, left, BLOCK_H: tl.constexpr,
                BLOCK_W: tl.constexpr):
    """Pictures with their borders mirrored around them."""
    plane = tl.program_id(2)
    y = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    x = tl.program_id(0) * BLOCK_W + tl.arange(0, BLOCK_W)
    iy = tl.abs(y - top)
    iy = tl.where(iy >= H, 2 * (H - 1) - iy, iy)
    ix = tl.abs(x - left)
    ix = tl.where(ix >= W, 2 * (W - 1) - ix, ix)
    mask = (y < OH)[:, None] & (x < OW)[None, :]
    v = tl.load(x_ptr + plane * H * W + iy[:, None] * W + ix[None, :], mask=mask)
    tl.store(out_ptr + plane * OH * OW + y[:, None] * OW + x[None, :], v, mask=mask)


@triton.jit
def cat_copy(a_ptr, b_ptr, c_ptr, d_ptr, out_ptr, na, nb, nc, nd, ta, tb, tc, td, inner, total,
             BLOCK: tl.constexpr):
    """Joins four arrays along a middle dimension; the second of the grid says which it copies."""
    which = tl.program_id(1)
    if which == 0:
        src, rows, start = a_ptr, na, ta
    elif which == 1:
        src, rows, start = b_ptr, nb, tb
    elif which == 2:
        src, rows, start = c_ptr, nc, tc
    else:
        src, rows, start = d_ptr, nd, td
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    width = rows * inner
    outer = tl.program_id(2)
    mask = offs < width
    x = tl.load(src + outer * width + offs, mask=mask)
    tl.store(out_ptr + (outer * total + start) * inner + offs, x, mask=mask)


@triton.jit
def tile_copy(x_ptr, out_ptr, n, o1, o2, x0, x1, x2, BLOCK: tl.constexpr):
    """Repeats three dimensions: remainders of the indices of the result."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    i2 = offs % o2 % x2
    i1 = offs // o2 % o1 % x1
    i0 = offs // (o1 * o2) % x0
    tl.store(out_ptr + offs, tl.load(x_ptr + (i0 * x1 + i1) * x2 + i2, mask=mask), mask=mask)


@triton.jit
def repeat_interleave(x_ptr, ends_ptr, out_ptr, rows, D, BLOCK_R: tl.constexpr,
                      BLOCK_D: tl.constexpr):
    """Each row as often as its count says, which are given as sums: a row of x writes its own."""
    row = tl.program_id(0)
    end = tl.load(ends_ptr + row)
    begin = tl.load(ends_ptr + row - 1, mask=row > 0, other=0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    x = tl.load(x_ptr + row * D + d, mask=d < D)
    for at in range(begin, end, BLOCK_R):
        r = at + tl.arange(0, BLOCK_R)
        tl.store(out_ptr + r[:, None] * D + d[None, :],
                 tl.broadcast_to(x[None, :], (BLOCK_R, BLOCK_D)),
                 mask=(r < end)[:, None] & (d < D)[None, :])


@triton.jit
def flip_roll(x_ptr, out_ptr, M, N, shift_m, shift_n, FLIP_M: tl.constexpr, FLIP_N: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Rolls and mirrors the last two dimensions."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    plane = tl.program_id(2).to(tl.int64) * M * N
    from_m = (m + M - shift_m) % M
    from_n = (n + N - shift_n) % N
    if FLIP_M:
        from_m = M - 1 - from_m
    if FLIP_N:
        from_n = N - 1 - from_n
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + plane + from_m[:, None] * N + from_n[None, :], mask=mask)
    tl.store(out_ptr + plane + m[:, None] * N + n[None, :], x, mask=mask)


@triton.jit
def triu(x_ptr, out_ptr, M, N, diagonal, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The upper triangle: rows of a program, columns in a loop; what is below is not read."""
    x_ptr += tl.program_id(1).to(tl.int64) * M * N
    out_ptr += tl.program_id(1).to(tl.int64) * M * N
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)[None, :]
        mask = (m < M) & (n < N)
        x = tl.load(x_ptr + m * N + n, mask=mask & (m + diagonal <= n), other=0.0)
        tl.store(out_ptr + m * N + n, x, mask=mask)


@triton.jit
def diag_embed(x_ptr, out_ptr, rows, N, diagonal, size, BLOCK_I: tl.constexpr,
               BLOCK_J: tl.constexpr):
    """Vectors on a diagonal of matrices of zeros."""
    batch = tl.program_id(2)
    i = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)[:, None]
    j = tl.program_id(1) * BLOCK_J + tl.arange(0, BLOCK_J)[None, :]
    on = j == i + diagonal
    at = tl.where(diagonal >= 0, i, j)
    x = tl.load(x_ptr + batch * N + at, mask=on & (at < N), other=0.0)
    tl.store(out_ptr + batch * size * size + i * size + j, x, mask=(i < size) & (j < size))


@triton.jit
def one_hot(ids_ptr, out_ptr, n, CLASSES, BLOCK_M: tl.constexpr, BLOCK_C: tl.constexpr):
    """int64 rows with a 1 where the index is."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    ids = tl.load(ids_ptr + m, mask=m < n, other=-1)
    hit = ids[:, None] == c[None, :]
    tl.store(out_ptr + m[:, None] * CLASSES + c[None, :], hit.to(tl.int64),
             mask=(m < n)[:, None] & (c < CLASSES)[None, :])


@triton.jit
def masked_fill(x_ptr, mask_ptr, out_ptr, value, H, M, N, BLOCK_M: tl.constexpr,
                BLOCK_N: tl.constexpr):
    """Attention's scores where a mask of bytes, the same for all heads, is not set."""
    bh = tl.program_id(2)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inside = (m < M) & (n < N)
    fill = tl.load(mask_ptr + (bh // H) * M * N + m * N + n, mask=inside, other=0).to(tl.int1)
    x = tl.load(x_ptr + bh.to(tl.int64) * M * N + m * N + n, mask=inside & (fill == 0), other=0)
    x = tl.where(fill, value, x)
    tl.store(out_ptr + bh.to(tl.int64) * M * N + m * N + n, x, mask=inside)


@triton.jit
def stack_last(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Two arrays side by side in a new last dimension, written in one go."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    offs = tl.program_id(0) * BLOCK * 2 + tl.arange(0, 2 * BLOCK)
    tl.store(out_ptr + offs, tl.interleave(a, b), mask=offs < 2 * n)
