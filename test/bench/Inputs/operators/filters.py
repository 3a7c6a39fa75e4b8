"""Filters of pictures: blurs, edges, order statistics, transforms of blocks, likeness."""
import triton
import triton.language as tl


@triton.jit
def gaussian_columns(x_ptr, w_ptr, y_ptr, H, W, R: tl.constexpr, BLOCK_Y: tl.constexpr,
                     BLOCK_X: tl.constexpr):
    """The second pass of a separable blur: weights of 2 R + 1 rows, borders repeated."""
    plane = tl.program_id(2).to(tl.int64) * H * W
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    mask = (y < H)[:, None] & (x < W)[None, :]
    total = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    for r in tl.static_range(-R, R + 1):
        row = tl.minimum(tl.maximum(y + r, 0), H - 1)
        v = tl.load(x_ptr + plane + row[:, None] * W + x[None, :], mask=mask, other=0.0)
        total += tl.load(w_ptr + r + R) * v.to(tl.float32)
    tl.store(y_ptr + plane + y[:, None] * W + x[None, :], total.to(y_ptr.dtype.element_ty),
             mask=mask)


@triton.jit
def bilateral(x_ptr, y_ptr, H, W, space, tone, R: tl.constexpr, BLOCK: tl.constexpr):
    """Means of neighbours near in place and tone."""
    plane = tl.program_id(1) * H * W
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < H * W
    px = i % W
    py = i // W
    here = tl.load(x_ptr + plane + i, mask=mask, other=0.0)
    total = tl.zeros([BLOCK], tl.float32)
    weights = tl.zeros([BLOCK], tl.float32)
    for dy in range(-R, R + 1):
        for dx in tl.static_range(-R, R + 1):
            inside = mask & (px + dx >= 0) & (px + dx < W) & (py + dy >= 0) & (py + dy < H)
            v = tl.load(x_ptr + plane + i + dy * W + dx, mask=inside, other=0.0)
            far = space * (dx * dx + dy * dy)
            w = tl.exp(-far - tone * (v - here) * (v - here))
            w = tl.where(inside, w, 0.0)
            total += w * v
            weights += w
    tl.store(y_ptr + plane + i, total / weights, mask=mask)


@triton.jit
def ordered(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def median_9(x_ptr, y_ptr, H, W, BLOCK: tl.constexpr):
    """The middle of nine neighbours by a network of minima and maxima, borders repeated."""
    row = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = x < W
    left = tl.maximum(x - 1, 0)
    right = tl.minimum(x + 1, W - 1)
    up = x_ptr + tl.maximum(row - 1, 0) * W
    here = x_ptr + row * W
    down = x_ptr + tl.minimum(row + 1, H - 1) * W
    a = tl.load(up + left, mask=mask, other=0)
    b = tl.load(up + x, mask=mask, other=0)
    c = tl.load(up + right, mask=mask, other=0)
    d = tl.load(here + left, mask=mask, other=0)
    e = tl.load(here + x, mask=mask, other=0)
    f = tl.load(here + right, mask=mask, other=0)
    g = tl.load(down + left, mask=mask, other=0)
    h = tl.load(down + x, mask=mask, other=0)
    i = tl.load(down + right, mask=mask, other=0)
    a, d = ordered(a, d)
    a, g = ordered(a, g)
    d, g = ordered(d, g)
    b, e = ordered(b, e)
    b, h = ordered(b, h)
    e, h = ordered(e, h)
    c, f = ordered(c, f)
    c, i = ordered(c, i)
    f, i = ordered(f, i)
    low = tl.maximum(tl.maximum(a, b), c)
    high = tl.minimum(tl.minimum(g, h), i)
    d, e = ordered(d, e)
    middle = tl.maximum(d, tl.minimum(e, f))
    low, high = ordered(low, high)
    tl.store(y_ptr + row * W + x, tl.maximum(low, tl.minimum(high, middle)), mask=mask)


@triton.jit
def sobel(x_ptr, size_ptr, angle_ptr, H, W, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr):
    """Sizes of slopes, and which of eight directions they have; bytes in, nothing outside."""
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    mask = (y < H) & (x < W)
    gx = tl.zeros([BLOCK_Y, BLOCK_X], tl.int32)
    gy = tl.zeros([BLOCK_Y, BLOCK_X], tl.int32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            inside = (y + dy >= 0) & (y + dy < H) & (x + dx >= 0) & (x + dx < W)
            v = tl.load(x_ptr + (y + dy) * W + x + dx, mask=inside, other=0).to(tl.int32)
            gx += (dx * (2 - dy * dy)) * v
            gy += (dy * (2 - dx * dx)) * v
    size = tl.sqrt((gx * gx + gy * gy).to(tl.float32))
    steep = tl.abs(gy) > tl.abs(gx)
    angle = (gx < 0).to(tl.int32) + 2 * (gy < 0).to(tl.int32) + 4 * steep.to(tl.int32)
    tl.store(size_ptr + y * W + x, size, mask=mask)
    tl.store(angle_ptr + y * W + x, angle.to(tl.uint8), mask=mask)


@triton.jit
def dct_8(x_ptr, basis_ptr, quant_ptr, y_ptr, W, COUNT: tl.constexpr):
    """Cosine transforms of blocks of 8 x 8 bytes, along rows and columns, and their rounding."""
    first = tl.program_id(0) * COUNT
    row = tl.program_id(1) * 8
    b = tl.arange(0, COUNT)[:, None, None]
    i = tl.arange(0, 8)
    at = (row + i[None, :, None]) * W + (first + b) * 8 + i[None, None, :]
    x = tl.load(x_ptr + at).to(tl.float32) - 128.0
    basis = tl.load(basis_ptr + i[:, None] * 8 + i[None, :])
    rows = tl.sum(x[:, :, None, :] * basis[None, None, :, :], 3)
    both = tl.sum(rows[:, None, :, :] * basis[None, :, :, None], 2)
    q = tl.load(quant_ptr + i[:, None] * 8 + i[None, :])
    level = tl.floor(both / q[None, :, :] + 0.5)
    tl.store(y_ptr + at, tl.minimum(tl.maximum(level, -127.0), 127.0).to(tl.int8))


@triton.jit
def wavelet_lift(x_ptr, low_ptr, high_ptr, N, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    """Haar's transform in steps of lifting: each round parts what is smooth in two."""
    row = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0).to(tl.float32)
    SIZE: tl.constexpr = BLOCK
    half = N
    for r in tl.static_range(ROUNDS):
        even, odd = tl.split(tl.reshape(x, [(SIZE >> r) // 2, 2]))
        detail = odd - even
        x = even + 0.5 * detail
        half = half // 2
        j = (first >> (r + 1)) + tl.arange(0, (SIZE >> r) // 2)
        tl.store(high_ptr + row * N + half + j, detail.to(high_ptr.dtype.element_ty), mask=j < half)
    j = (first >> ROUNDS) + tl.arange(0, SIZE >> ROUNDS)
    tl.store(low_ptr + row * half + j, x, mask=j < half)


@triton.jit
def rgb_to_yuv420(x_ptr, y_ptr, u_ptr, v_ptr, H, W, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr):
    """Bytes of three colours to brightness and to hues of every fourth place."""
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    mask = (y < H)[:, None] & (x < W)[None, :]
    at = y[:, None] * W + x[None, :]
    r = tl.load(x_ptr + 3 * at, mask=mask, other=0).to(tl.float32)
    g = tl.load(x_ptr + 3 * at + 1, mask=mask, other=0).to(tl.float32)
    b = tl.load(x_ptr + 3 * at + 2, mask=mask, other=0).to(tl.float32)
    bright = 0.299 * r + 0.587 * g + 0.114 * b
    tl.store(y_ptr + at, (bright + 0.5).to(tl.uint8), mask=mask)
    four = tl.reshape(b - bright, [BLOCK_Y // 2, 2, BLOCK_X // 2, 2])
    u = tl.sum(tl.sum(four, 3), 1) * (0.25 * 0.564) + 128.5
    four = tl.reshape(r - bright, [BLOCK_Y // 2, 2, BLOCK_X // 2, 2])
    v = tl.sum(tl.sum(four, 3), 1) * (0.25 * 0.713) + 128.5
    hy = tl.program_id(1) * (BLOCK_Y // 2) + tl.arange(0, BLOCK_Y // 2)
    hx = tl.program_id(0) * (BLOCK_X // 2) + tl.arange(0, BLOCK_X // 2)
    mask = (hy < H // 2)[:, None] & (hx < W // 2)[None, :]
    at = hy[:, None] * (W // 2) + hx[None, :]
    tl.store(u_ptr + at, u.to(tl.uint8), mask=mask)
    tl.store(v_ptr + at, v.to(tl.uint8), mask=mask)


@triton.jit
def likeness(a_ptr, b_ptr, w_ptr, out_ptr, H, W, c1, c2, K: tl.constexpr, BLOCK_Y: tl.constexpr,
             BLOCK_X: tl.constexpr):
    """Structural similarity of windows of K x K, weighted; the means of five products at once."""
    plane = tl.program_id(2).to(tl.int64)
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    OH = H - K + 1
    OW = W - K + 1
    mask = (y < OH) & (x < OW)
    a_ptr += plane * H * W + y * W + x
    b_ptr += plane * H * W + y * W + x
    ma = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    mb = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    aa = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    bb = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    ab = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    for i in range(K):
        for j in tl.static_range(K):
            w = tl.load(w_ptr + i) * tl.load(w_ptr + j)
            a = tl.load(a_ptr + i * W + j, mask=mask, other=0.0)
            b = tl.load(b_ptr + i * W + j, mask=mask, other=0.0)
            ma += w * a
            mb += w * b
            aa += w * a * a
            bb += w * b * b
            ab += w * a * b
    top = (2 * ma * mb + c1) * (2 * (ab - ma * mb) + c2)
    under = (ma * ma + mb * mb + c1) * (aa - ma * ma + bb - mb * mb + c2)
    tl.store(out_ptr + plane * OH * OW + y * OW + x, top / under, mask=mask)


@triton.jit
def correlation_volume(a_ptr, b_ptr, out_ptr, C, H, W, R: tl.constexpr, BLOCK_X: tl.constexpr,
                       BLOCK_C: tl.constexpr):
    """Products of features with those up to R places away, a row of places a program."""
    n = tl.program_id(2)
    y = tl.program_id(1)
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    D: tl.constexpr = 2 * R + 1
    a_ptr += n * C * H * W
    b_ptr += n * C * H * W
    for d in range(D * D):
        dy = d // D - R
        dx = d % D - R
        inside = (x + dx >= 0) & (x + dx < W) & (y + dy >= 0) & (y + dy < H) & (x < W)
        total = tl.zeros([BLOCK_C, BLOCK_X], tl.float32)
        for start in range(0, C, BLOCK_C):
            c = start + tl.arange(0, BLOCK_C)
            mask = (c < C)[:, None] & inside[None, :]
            at = c[:, None] * (H * W) + y * W + x[None, :]
            a = tl.load(a_ptr + at, mask=mask, other=0.0)
            b = tl.load(b_ptr + at + dy * W + dx, mask=mask, other=0.0)
            total += a.to(tl.float32) * b.to(tl.float32)
        tl.store(out_ptr + ((n * D * D + d) * H + y) * W + x, tl.sum(total, 0) / C, mask=x < W)


@triton.jit
def dilate(x_ptr, y_ptr, H, W, R: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr):
    """The greatest of a disc of radius R, bytes."""
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    most = tl.zeros([BLOCK_Y, BLOCK_X], tl.uint8)
    for dy in tl.static_range(-R, R + 1):
        for dx in tl.static_range(-R, R + 1):
            if dy * dy + dx * dx <= R * R:
                inside = (y + dy >= 0) & (y + dy < H) & (x + dx >= 0) & (x + dx < W)
                most = tl.maximum(most, tl.load(x_ptr + (y + dy) * W + x + dx, mask=inside,
                                                other=0))
    tl.store(y_ptr + y * W + x, most, mask=(y < H) & (x < W))
