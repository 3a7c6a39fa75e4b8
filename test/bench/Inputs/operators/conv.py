"""Convolutions, pooling, resizing, transforms."""
import triton
import triton.language as tl


@triton.jit
def conv1d(x_ptr, w_ptr, bias_ptr, y_ptr, C, L, O, OL, stride, padding, KW: tl.constexpr,
           BLOCK_L: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr):
    """Convolution along time (audio), NCL: for each tap a product along channels."""
    b = tl.program_id(0)
    ol = tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)
    o = tl.program_id(2) * BLOCK_O + tl.arange(0, BLOCK_O)
    acc = tl.zeros((BLOCK_L, BLOCK_O), dtype=tl.float32)
    for kw in range(KW):
        at = ol * stride + kw - padding
        for start in range(0, C, BLOCK_C):
            c = start + tl.arange(0, BLOCK_C)
            x = tl.load(x_ptr + b * C * L + c[None, :] * L + at[:, None],
                        mask=(c[None, :] < C) & (at[:, None] >= 0) & (at[:, None] < L), other=0.0)
            w = tl.load(w_ptr + o[None, :] * C * KW + c[:, None] * KW + kw,
                        mask=(o[None, :] < O) & (c[:, None] < C), other=0.0)
            acc += tl.dot(x, w)
    acc += tl.load(bias_ptr + o, mask=o < O, other=0.0)[None, :].to(tl.float32)
    tl.store(y_ptr + b * O * OL + o[None, :] * OL + ol[:, None], acc.to(y_ptr.dtype.element_ty),
             mask=(o[None, :] < O) & (ol[:, None] < OL))


@triton.jit
def conv2d(x_ptr, w_ptr, bias_ptr, y_ptr, N, C, H, W, O, OH, OW, stride_h, stride_w, pad_h, pad_w,
           KH: tl.constexpr, KW: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr,
           BLOCK_C: tl.constexpr):
    """Convolution of pictures, NCHW, as a product of implicit columns: one loop over taps and
    blocks of channels."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    n = p // (OH * OW)
    oh = p // OW % OH
    ow = p % OW
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    acc = tl.zeros((BLOCK_P, BLOCK_O), dtype=tl.float32)
    count = tl.cdiv(C, BLOCK_C)
    for hwc in range(KH * KW * count):
        c = (hwc % count) * BLOCK_C
        hw = hwc // count
        kh = hw // KW
        kw = hw % KW
        ic = c + tl.arange(0, BLOCK_C)
        ih = kh - pad_h + oh * stride_h
        iw = kw - pad_w + ow * stride_w
        x_ptrs = x_ptr + (n * C * H * W + ih * W + iw)[:, None] + (ic * H * W)[None, :]
        w_ptrs = w_ptr + (ic * KH * KW)[:, None] + (o * C * KH * KW)[None, :] + kh * KW + kw
        inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (n < N)
        x = tl.load(x_ptrs, mask=inside[:, None] & (ic < C)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(ic < C)[:, None] & (o < O)[None, :], other=0.0)
        acc += tl.dot(x, w, allow_tf32=False)
    acc += tl.load(bias_ptr + o, mask=o < O, other=0.0)[None, :].to(tl.float32)
    y_ptrs = y_ptr + (n * O * OH * OW + oh * OW + ow)[:, None] + (o * OH * OW)[None, :]
    tl.store(y_ptrs, acc.to(y_ptr.dtype.element_ty), mask=(n < N)[:, None] & (o < O)[None, :])


@triton.jit
def conv2d_nhwc(x_ptr, w_ptr, y_ptr, N, H, W, C: tl.constexpr, O, KH: tl.constexpr,
                KW: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr,
                BLOCK_K: tl.constexpr):
    """The same of channels last, 'same' padding; the index along K is taken apart by division."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n = p // (H * W)
    h = p // W % H
    w = p % W
    acc = tl.zeros((BLOCK_P, BLOCK_O), dtype=tl.float32)
    for start in range(0, KH * KW * C, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = k % C
        kw = k // C % KW
        kh = k // (C * KW)
        ih = h[:, None] + kh[None, :] - KH // 2
        iw = w[:, None] + kw[None, :] - KW // 2
        inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (n < N)[:, None]
        x = tl.load(x_ptr + ((n[:, None] * H + ih) * W + iw) * C + c[None, :],
                    mask=inside & (k < KH * KW * C)[None, :], other=0.0)
        wt = tl.load(w_ptr + o[None, :] * (KH * KW * C) + k[:, None],
                     mask=(k < KH * KW * C)[:, None] & (o < O)[None, :], other=0.0)
        acc = tl.dot(x, wt, acc)
    tl.store(y_ptr + p[:, None] * O + o[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(p < N * H * W)[:, None] & (o < O)[None, :])


@triton.jit
def depthwise_conv2d(x_ptr, w_ptr, y_ptr, C, H, W, OH, OW, stride, padding, KH: tl.constexpr,
                     KW: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    """A filter of its own for each channel, NCHW, a tile of one plane in a program."""
    nc = tl.program_id(2)
    c = nc % C
    oh = tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    acc = tl.zeros((BLOCK_H, BLOCK_W), dtype=tl.float32)
    for kh in tl.static_range(KH):
        for kw in tl.static_range(KW):
            ih = oh[:, None] * stride + kh - padding
            iw = ow[None, :] * stride + kw - padding
            mask = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            x = tl.load(x_ptr + nc * H * W + ih * W + iw, mask=mask, other=0.0)
            w = tl.load(w_ptr + c * KH * KW + kh * KW + kw)
            acc += x.to(tl.float32) * w.to(tl.float32)
    tl.store(y_ptr + nc * OH * OW + oh[:, None] * OW + ow[None, :],
             acc.to(y_ptr.dtype.element_ty), mask=(oh[:, None] < OH) & (ow[None, :] < OW))


@triton.jit
def im2col(x_ptr, out_ptr, C, H, W, OH, OW, stride, padding, KH: tl.constexpr, KW: tl.constexpr,
           BLOCK: tl.constexpr):
    """Columns of patches, flat: where each comes from by divisions."""
    b = tl.program_id(1)
    total = C * KH * KW * OH * OW
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ow = i % OW
    oh = i // OW % OH
    k = i // (OW * OH)
    kw = k % KW
    kh = k // KW % KH
    c = k // (KW * KH)
    ih = oh * stride + kh - padding
    iw = ow * stride + kw - padding
    mask = (i < total) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
    x = tl.load(x_ptr + ((b * C + c) * H + ih) * W + iw, mask=mask, other=0.0)
    tl.store(out_ptr + b * total + i, x, mask=i < total)


@triton.jit
def max_pool2d(x_ptr, y_ptr, index_ptr, H, W, OH, OW, stride, padding, K: tl.constexpr,
               BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    """The largest of windows and its place in the plane, for the way back."""
    nc = tl.program_id(0).to(tl.int64)
    tiles = tl.cdiv(OW, BLOCK_W)
    pid_h = tl.program_id(1) // tiles
    pid_w = tl.program_id(1) % tiles
    oh = pid_h * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = pid_w * BLOCK_W + tl.arange(0, BLOCK_W)
    best = tl.full((BLOCK_H, BLOCK_W), float("-inf"), dtype=tl.float32)
    at = tl.full((BLOCK_H, BLOCK_W), -1, dtype=tl.int64)
    for kh in tl.static_range(0, K):
        for kw in tl.static_range(0, K):
            ih = oh[:, None] * stride - padding + kh
            iw = ow[None, :] * stride - padding + kw
            mask = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            x = tl.load(x_ptr + nc * H * W + ih * W + iw, mask=mask, other=float("-inf"))
            x = x.to(tl.float32)
            larger = x > best
            best = tl.where(larger, x, best)
            at = tl.where(larger & mask, ih * W + iw, at)
    mask = (oh[:, None] < OH) & (ow[None, :] < OW)
    offs = nc * OH * OW + oh[:, None] * OW + ow[None, :]
    tl.store(y_ptr + offs, best.to(y_ptr.dtype.element_ty), mask=mask)
    tl.store(index_ptr + offs, at, mask=mask)


@triton.jit
def avg_pool2d_backward(dy_ptr, dx_ptr, H, W, OH, OW, stride, padding, K: tl.constexpr,
                        BLOCK: tl.constexpr):
    """The way back of mean windows: each place gathers the windows that have it."""
    nc = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = i // W
    w = i % W
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for kh in range(K):
        for kw in range(K):
            top = h + padding - kh
            left = w + padding - kw
            oh = top // stride
            ow = left // stride
            inside = (top >= 0) & (left >= 0) & (top % stride == 0) & (left % stride == 0)
            inside = inside & (oh < OH) & (ow < OW) & (i < H * W)
            acc += tl.load(dy_ptr + nc * OH * OW + oh * OW + ow, mask=inside, other=0.0)
    tl.store(dx_ptr + nc * H * W + i, (acc / (K * K)).to(dx_ptr.dtype.element_ty), mask=i < H * W)


@triton.jit
def upsample_bilinear(x_ptr, y_ptr, NC, H, W, OH, OW, scale_h, scale_w, BLOCK_X: tl.constexpr,
                      BLOCK_Y: tl.constexpr):
    """Pictures made larger, four neighbours for each place; a program goes through all planes."""
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)
    sx = tl.maximum((x + 0.5) * scale_w - 0.5, 0.0)
    sy = tl.maximum((y + 0.5) * scale_h - 0.5, 0.0)
    x0 = sx.to(tl.int32)
    y0 = sy.to(tl.int32)
    x1 = tl.minimum(x0 + 1, W - 1)
    y1 = tl.minimum(y0 + 1, H - 1)
    fx = (sx - x0)[None, :]
    fy = (sy - y0)[:, None]
    mask = (y[:, None] < OH) & (x[None, :] < OW)
    for nc in range(tl.program_id(2), NC, tl.num_programs(2)):
        base = x_ptr + nc * H * W
        a = tl.load(base + y0[:, None] * W + x0[None, :], mask=mask).to(tl.float32)
        b = tl.load(base + y0[:, None] * W + x1[None, :], mask=mask).to(tl.float32)
        c = tl.load(base + y1[:, None] * W + x0[None, :], mask=mask).to(tl.float32)
        d = tl.load(base + y1[:, None] * W + x1[None, :], mask=mask).to(tl.float32)
        top = a + (b - a) * fx
        low = c + (d - c) * fx
        r = top + (low - top) * fy
        tl.store(y_ptr + nc * OH * OW + y[:, None] * OW + x[None, :],
                 r.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def upsample_nearest(x_ptr, y_ptr, H, W, OH, OW, scale_h, scale_w, BLOCK: tl.constexpr):
    """The nearest neighbour instead, flat within a plane."""
    nc = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oh = i // OW
    ow = i % OW
    ih = tl.minimum((oh * scale_h).to(tl.int32), H - 1)
    iw = tl.minimum((ow * scale_w).to(tl.int32), W - 1)
    x = tl.load(x_ptr + nc * H * W + ih * W + iw, mask=i < OH * OW)
    tl.store(y_ptr + nc * OH * OW + i, x, mask=i < OH * OW)


@triton.jit
def hadamard(x_ptr, y_ptr, scale, N: tl.constexpr, LOG: tl.constexpr, ROWS: tl.constexpr):
    """Walsh's and Hadamard's transform of rows: sums and differences of pairs, stage by stage."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + r[:, None] * N + n[None, :]).to(tl.float32)
    for i in tl.static_range(LOG):
        y = tl.reshape(x, (ROWS, N // (2 << i), 2, 1 << i))
        y = tl.permute(y, (0, 1, 3, 2))
        a, b = tl.split(y)
        y = tl.join(a + b, a - b)
        x = tl.reshape(tl.permute(y, (0, 1, 3, 2)), (ROWS, N))
    tl.store(y_ptr + r[:, None] * N + n[None, :], (x * scale).to(y_ptr.dtype.element_ty))


@triton.jit
def fft_two_steps(x_ptr, f_ptr, t_ptr, y_ptr, R: tl.constexpr, ROWS: tl.constexpr):
    """A Fourier transform of R * R complex numbers by two products with the matrix of R and
    twiddle factors between; real and imaginary parts in planes of their own."""
    i = tl.arange(0, R)
    place = i[:, None] * R + i[None, :]
    f_re = tl.load(f_ptr + place)
    f_im = tl.load(f_ptr + R * R + place)
    t_re = tl.load(t_ptr + place)
    t_im = tl.load(t_ptr + R * R + place)
    for row in range(tl.program_id(0) * ROWS, tl.program_id(0) * ROWS + ROWS):
        x = x_ptr + row * 2 * R * R
        x_re = tl.load(x + place)
        x_im = tl.load(x + R * R + place)
        a_re = tl.dot(f_re, x_re) - tl.dot(f_im, x_im)
        a_im = tl.dot(f_re, x_im) + tl.dot(f_im, x_re)
        b_re = (a_re * t_re - a_im * t_im).to(x_re.dtype)
        b_im = (a_re * t_im + a_im * t_re).to(x_re.dtype)
        c_re = tl.dot(b_re, f_re) - tl.dot(b_im, f_im)
        c_im = tl.dot(b_re, f_im) + tl.dot(b_im, f_re)
        y = y_ptr + row * 2 * R * R
        out = i[None, :] * R + i[:, None]
        tl.store(y + out, c_re.to(y_ptr.dtype.element_ty))
        tl.store(y + R * R + out, c_im.to(y_ptr.dtype.element_ty))


@triton.jit
def triangular_solve(a_ptr, b_ptr, x_ptr, N: tl.constexpr, M, BLOCK_M: tl.constexpr):
    """Lower triangular systems, a row after the other, each picked out of a block by a sum."""
    batch = tl.program_id(0)
    i = tl.arange(0, N)
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs = batch * N * M + i[:, None] * M + m[None, :]
    x = tl.load(b_ptr + offs, mask=m[None, :] < M, other=0.0)
    for k in range(N):
        column = tl.load(a_ptr + batch * N * N + i * N + k)
        pivot = tl.load(a_ptr + batch * N * N + k * N + k)
        row = tl.sum(tl.where(i[:, None] == k, x, 0.0), axis=0) / pivot
        x = tl.where(i[:, None] == k, row[None, :],
                     x - tl.where(i > k, column, 0.0)[:, None] * row[None, :])
    tl.store(x_ptr + offs, x, mask=m[None, :] < M)


@triton.jit
def cholesky(a_ptr, l_ptr, N: tl.constexpr):
    """Cholesky's factor of a small matrix held in registers."""
    batch = tl.program_id(0)
    i = tl.arange(0, N)
    offs = batch * N * N + i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + offs)
    for k in range(N):
        column = tl.sum(tl.where(i[None, :] == k, a, 0.0), axis=1)
        pivot = tl.sqrt(tl.sum(tl.where(i == k, column, 0.0), axis=0))
        column = tl.where(i >= k, column / pivot, 0.0)
        update = column[:, None] * tl.where(i > k, column, 0.0)[None, :]
        a = tl.where(i[None, :] == k, column[:, None], a - update)
    tl.store(l_ptr + offs, tl.where(i[:, None] >= i[None, :], a, 0.0))
