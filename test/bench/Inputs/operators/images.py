"""Pictures and volumes: resampling, pooling, regions, and convolutions that widen."""
import triton
import triton.language as tl


@triton.jit
def cubic(t, A: tl.constexpr):
    """Weights of four neighbours at a place between the middle two."""
    near = ((A + 2) * t - (A + 3)) * t * t + 1
    u = 1 - t
    near_2 = ((A + 2) * u - (A + 3)) * u * u + 1
    v = t + 1
    far = ((A * v - 5 * A) * v + 8 * A) * v - 4 * A
    w = 2 - t
    far_2 = ((A * w - 5 * A) * w + 8 * A) * w - 4 * A
    return far, near, near_2, far_2


@triton.jit
def bicubic_row(x_ptr, row, W, x0, w0, w1, w2, w3, mask):
    base = x_ptr + row * W
    a = tl.load(base + tl.minimum(tl.maximum(x0 - 1, 0), W - 1), mask=mask, other=0.0)
    b = tl.load(base + tl.minimum(tl.maximum(x0, 0), W - 1), mask=mask, other=0.0)
    c = tl.load(base + tl.minimum(tl.maximum(x0 + 1, 0), W - 1), mask=mask, other=0.0)
    d = tl.load(base + tl.minimum(tl.maximum(x0 + 2, 0), W - 1), mask=mask, other=0.0)
    return (a.to(tl.float32) * w0 + b.to(tl.float32) * w1 + c.to(tl.float32) * w2
            + d.to(tl.float32) * w3)


@triton.jit
def upsample_bicubic(x_ptr, y_ptr, H, W, OH, OW, scale_h, scale_w, BLOCK: tl.constexpr):
    """Bicubic interpolation, corners not aligned: sixteen loads for each place."""
    plane = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < OH * OW
    ox = i % OW
    oy = i // OW
    rx = (ox + 0.5) * scale_w - 0.5
    ry = (oy + 0.5) * scale_h - 0.5
    fx = tl.floor(rx)
    fy = tl.floor(ry)
    x0 = fx.to(tl.int32)
    y0 = fy.to(tl.int32)
    wx0, wx1, wx2, wx3 = cubic(rx - fx, -0.75)
    wy0, wy1, wy2, wy3 = cubic(ry - fy, -0.75)
    x_ptr += plane * H * W
    r0 = bicubic_row(x_ptr, tl.minimum(tl.maximum(y0 - 1, 0), H - 1), W, x0, wx0, wx1, wx2, wx3,
                     mask)
    r1 = bicubic_row(x_ptr, tl.minimum(tl.maximum(y0, 0), H - 1), W, x0, wx0, wx1, wx2, wx3, mask)
    r2 = bicubic_row(x_ptr, tl.minimum(tl.maximum(y0 + 1, 0), H - 1), W, x0, wx0, wx1, wx2, wx3,
                     mask)
    r3 = bicubic_row(x_ptr, tl.minimum(tl.maximum(y0 + 2, 0), H - 1), W, x0, wx0, wx1, wx2, wx3,
                     mask)
    y = r0 * wy0 + r1 * wy1 + r2 * wy2 + r3 * wy3
    tl.store(y_ptr + plane * OH * OW + i, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def pixel_shuffle(x_ptr, y_ptr, C, H, W, R: tl.constexpr, BLOCK: tl.constexpr):
    """Channels become places: C*R*R x H x W to C x H*R x W*R."""
    n = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    OW = W * R
    OH = H * R
    mask = i < C * OH * OW
    ox = i % OW
    oy = i // OW % OH
    c = i // (OW * OH)
    channel = c * R * R + (oy % R) * R + ox % R
    x = tl.load(x_ptr + n * C * OH * OW + (channel * H + oy // R) * W + ox // R, mask=mask)
    tl.store(y_ptr + n * C * OH * OW + i, x, mask=mask)


@triton.jit
def grid_corner(x_ptr, base, yy, xx, H, W, stride_c, weight, mask_p, mask_c):
    inside = (yy >= 0) & (yy < H) & (xx >= 0) & (xx < W) & mask_p
    offs = base + (yy * W + xx)[None, :] + stride_c[:, None]
    v = tl.load(x_ptr + offs, mask=inside[None, :] & mask_c[:, None], other=0.0)
    return v.to(tl.float32) * weight[None, :]


@triton.jit
def grid_sample(x_ptr, grid_ptr, y_ptr, C, H, W, P, BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr):
    """Bilinear samples at places of a grid, zeros outside; a tile of channels and places."""
    n = tl.program_id(2)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask_p = p < P
    mask_c = c < C
    gx = tl.load(grid_ptr + (n * P + p) * 2, mask=mask_p, other=0.0)
    gy = tl.load(grid_ptr + (n * P + p) * 2 + 1, mask=mask_p, other=0.0)
    x = ((gx + 1) * W - 1) * 0.5
    y = ((gy + 1) * H - 1) * 0.5
    fx = tl.floor(x)
    fy = tl.floor(y)
    wx = x - fx
    wy = y - fy
    x0 = fx.to(tl.int32)
    y0 = fy.to(tl.int32)
    base = n * C * H * W
    sc = c * H * W
    out = grid_corner(x_ptr, base, y0, x0, H, W, sc, (1 - wx) * (1 - wy), mask_p, mask_c)
    out += grid_corner(x_ptr, base, y0, x0 + 1, H, W, sc, wx * (1 - wy), mask_p, mask_c)
    out += grid_corner(x_ptr, base, y0 + 1, x0, H, W, sc, (1 - wx) * wy, mask_p, mask_c)
    out += grid_corner(x_ptr, base, y0 + 1, x0 + 1, H, W, sc, wx * wy, mask_p, mask_c)
    tl.store(y_ptr + n * C * P + c[:, None] * P + p[None, :], out.to(y_ptr.dtype.element_ty),
             mask=mask_c[:, None] & mask_p[None, :])


@triton.jit
def adaptive_avg_pool(x_ptr, y_ptr, NC, H, W, OH: tl.constexpr, OW: tl.constexpr,
                      BLOCK_C: tl.constexpr, BLOCK_W: tl.constexpr):
    """Means of regions whose borders are where a division puts them."""
    o = tl.program_id(1)
    oy = o // OW
    ox = o % OW
    top = oy * H // OH
    bottom = ((oy + 1) * H + OH - 1) // OH
    left = ox * W // OW
    right = ((ox + 1) * W + OW - 1) // OW
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    acc = tl.zeros([BLOCK_C, BLOCK_W], dtype=tl.float32)
    for y in range(top, bottom):
        for start in range(left, right, BLOCK_W):
            x = start + tl.arange(0, BLOCK_W)
            v = tl.load(x_ptr + c.to(tl.int64)[:, None] * H * W + y * W + x[None, :],
                        mask=(c < NC)[:, None] & (x < right)[None, :], other=0.0)
            acc += v.to(tl.float32)
    mean = tl.sum(acc, axis=1) / ((bottom - top) * (right - left))
    tl.store(y_ptr + c * (OH * OW) + o, mean.to(y_ptr.dtype.element_ty), mask=c < NC)


@triton.jit
def max_pool3d(x_ptr, y_ptr, D, H, W, OD, OH, OW, stride, padding, K: tl.constexpr,
               BLOCK: tl.constexpr):
    """Maxima of cubes, from the flat index of the result."""
    plane = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < OD * OH * OW
    ox = i % OW
    oy = i // OW % OH
    oz = i // (OW * OH)
    best = tl.full([BLOCK], float("-inf"), dtype=tl.float32)
    x_ptr += plane * D * H * W
    for kz in tl.static_range(K):
        z = oz * stride - padding + kz
        for ky in tl.static_range(K):
            y = oy * stride - padding + ky
            for kx in tl.static_range(K):
                x = ox * stride - padding + kx
                inside = (z >= 0) & (z < D) & (y >= 0) & (y < H) & (x >= 0) & (x < W) & mask
                v = tl.load(x_ptr + (z * H + y) * W + x, mask=inside, other=float("-inf"))
                best = tl.maximum(best, v.to(tl.float32))
    tl.store(y_ptr + plane * OD * OH * OW + i, best.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def conv_transpose2d(x_ptr, w_ptr, bias_ptr, y_ptr, N, C, H, W, O, OH, OW, stride, padding,
                     KH: tl.constexpr, KW: tl.constexpr, BLOCK_P: tl.constexpr,
                     BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr):
    """A transposed convolution: a place of the result gathers what would have come to it."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n = p // (OH * OW)
    oy = p // OW % OH
    ox = p % OW
    acc = tl.zeros((BLOCK_P, BLOCK_O), dtype=tl.float32)
    for ky in range(KH):
        ty = oy + padding - ky
        for kx in range(KW):
            tx = ox + padding - kx
            iy = ty // stride
            ix = tx // stride
            fits = (ty >= 0) & (tx >= 0) & (ty % stride == 0) & (tx % stride == 0)
            fits = fits & (iy < H) & (ix < W) & (n < N)
            for start in range(0, C, BLOCK_C):
                c = start + tl.arange(0, BLOCK_C)
                place = ((n * C)[:, None] + c[None, :]) * (H * W) + (iy * W + ix)[:, None]
                x = tl.load(x_ptr + place, mask=fits[:, None] & (c < C)[None, :], other=0.0)
                w = tl.load(w_ptr + (c[:, None] * O + o[None, :]) * (KH * KW) + ky * KW + kx,
                            mask=(c < C)[:, None] & (o < O)[None, :], other=0.0)
                acc += tl.dot(x, w)
    bias = tl.load(bias_ptr + o, mask=o < O, other=0.0).to(tl.float32)
    acc += bias[None, :]
    y_ptrs = y_ptr + ((n * O)[:, None] + o[None, :]) * (OH * OW) + (oy * OW + ox)[:, None]
    tl.store(y_ptrs, acc.to(y_ptr.dtype.element_ty), mask=(n < N)[:, None] & (o < O)[None, :])


@triton.jit
def fold(x_ptr, y_ptr, C, H, W, OH, OW, stride, padding, K: tl.constexpr, BLOCK: tl.constexpr):
    """Sums overlapping blocks into a picture, what they were cut from gathers them."""
    n = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < C * H * W
    x = i % W
    y = i // W % H
    c = i // (W * H)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for ky in tl.static_range(K):
        ty = y + padding - ky
        oy = ty // stride
        for kx in tl.static_range(K):
            tx = x + padding - kx
            ox = tx // stride
            fits = (ty >= 0) & (tx >= 0) & (oy * stride == ty) & (ox * stride == tx)
            fits = fits & (oy < OH) & (ox < OW) & mask
            row = (n * C + c) * (K * K) + ky * K + kx
            v = tl.load(x_ptr + row * (OH * OW) + oy * OW + ox, mask=fits, other=0.0)
            acc += v.to(tl.float32)
    tl.store(y_ptr + n * C * H * W + i, acc.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def roi_align(x_ptr, boxes_ptr, y_ptr, C, H, W, scale, PH: tl.constexpr, PW: tl.constexpr,
              SAMPLES: tl.constexpr, BLOCK_C: tl.constexpr):
    """Means of bilinear samples in the bins of a region, channels of a program; pictures have
    their channels last."""
    box = tl.program_id(0)
    bin_ = tl.program_id(1)
    c = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    n = tl.load(boxes_ptr + box * 5).to(tl.int32)
    x1 = tl.load(boxes_ptr + box * 5 + 1) * scale - 0.5
    y1 = tl.load(boxes_ptr + box * 5 + 2) * scale - 0.5
    x2 = tl.load(boxes_ptr + box * 5 + 3) * scale - 0.5
    y2 = tl.load(boxes_ptr + box * 5 + 4) * scale - 0.5
    bin_h = (y2 - y1) / PH
    bin_w = (x2 - x1) / PW
    top = y1 + (bin_ // PW) * bin_h
    left = x1 + (bin_ % PW) * bin_w
    base = x_ptr + n.to(tl.int64) * H * W * C + c
    acc = tl.zeros([BLOCK_C], dtype=tl.float32)
    for sy in tl.static_range(SAMPLES):
        y = top + (sy + 0.5) * bin_h / SAMPLES
        for sx in tl.static_range(SAMPLES):
            x = left + (sx + 0.5) * bin_w / SAMPLES
            inside = (y >= -1.0) & (y <= H) & (x >= -1.0) & (x <= W)
            yy = tl.minimum(tl.maximum(y, 0.0), H - 1.0)
            xx = tl.minimum(tl.maximum(x, 0.0), W - 1.0)
            y0 = tl.floor(yy).to(tl.int32)
            x0 = tl.floor(xx).to(tl.int32)
            yn = min(y0 + 1, H - 1)
            xn = min(x0 + 1, W - 1)
            wy = yy - y0
            wx = xx - x0
            mask = (c < C) & inside
            a = tl.load(base + (y0 * W + x0) * C, mask=mask, other=0.0).to(tl.float32)
            b = tl.load(base + (y0 * W + xn) * C, mask=mask, other=0.0).to(tl.float32)
            d = tl.load(base + (yn * W + x0) * C, mask=mask, other=0.0).to(tl.float32)
            e = tl.load(base + (yn * W + xn) * C, mask=mask, other=0.0).to(tl.float32)
            acc += (a * (1 - wx) + b * wx) * (1 - wy) + (d * (1 - wx) + e * wx) * wy
    y_ptrs = y_ptr + (box * (PH * PW) + bin_) * C + c
    tl.store(y_ptrs, (acc / (SAMPLES * SAMPLES)).to(y_ptr.dtype.element_ty), mask=c < C)
