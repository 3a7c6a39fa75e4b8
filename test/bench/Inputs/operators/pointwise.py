"""Elementwise operators: activations, broadcasting by strides, dropout, optimizers, rotations."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def silu_and_mul(out_ptr, x_ptr, d, BLOCK_SIZE: tl.constexpr):
    """The gated activation of an MLP: out[t] = silu(x[t, :d]) * x[t, d:]; one token a row."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < d
    gate = tl.load(x_ptr + row * 2 * d + offs, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + row * 2 * d + d + offs, mask=mask, other=0.0)
    gate = gate / (1 + tl.exp(-gate))
    tl.store(out_ptr + row * d + offs, gate.to(up.dtype) * up, mask=mask)


@triton.jit
def gelu_backward(grad_ptr, x_ptr, out_ptr, n, APPROXIMATE: tl.constexpr, BLOCK: tl.constexpr):
    """The way back of GELU, by erf or by tanh, over a flat array."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    g = tl.load(grad_ptr + offs, mask=mask).to(tl.float32)
    if APPROXIMATE:
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        t = libdevice.tanh(inner)
        dinner = 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)
        d = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * dinner
    else:
        cdf = 0.5 * (1 + tl.erf(x * 0.7071067811865476))
        pdf = 0.3989422804014327 * tl.exp(-0.5 * x * x)
        d = cdf + x * pdf
    tl.store(out_ptr + offs, (g * d).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def binary_broadcast(x_ptr, y_ptr, out_ptr, n, s1, s2, s3, x0, x1, x2, x3, y0, y1, y2, y3,
                     OP: tl.constexpr, BLOCK: tl.constexpr):
    """A binary operator of two arrays of four dimensions, each with strides of its own, 0 where it
    is broadcast; the place in each comes from the flat index by division."""
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    i3 = idx % s3
    rest = idx // s3
    i2 = rest % s2
    rest = rest // s2
    i1 = rest % s1
    i0 = rest // s1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask).to(tl.float32)
    if OP == "add":
        r = x + y
    elif OP == "mul":
        r = x * y
    elif OP == "pow":
        r = libdevice.pow(tl.abs(x), y)
    else:
        r = libdevice.atan2(x, y)
    tl.store(out_ptr + idx, r.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def where_clamp(cond_ptr, x_ptr, y_ptr, out_ptr, low, high, n, BLOCK: tl.constexpr):
    """where(cond, clamp(x, low, high), y), flat; cond has a byte for each element."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    cond = tl.load(cond_ptr + offs, mask=mask, other=0)
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    x = tl.minimum(tl.maximum(x, low), high)
    tl.store(out_ptr + offs, tl.where(cond != 0, x, y), mask=mask)


@triton.jit
def special_chain(x_ptr, out_ptr, n, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    """softplus, mish and log1p one after the other, several blocks for each program."""
    start = tl.program_id(0) * BLOCK * UNROLL
    for i in range(UNROLL):
        offs = start + i * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        soft = tl.where(x > 20.0, x, libdevice.log1p(tl.exp(x)))
        mish = x * libdevice.tanh(soft)
        y = mish + libdevice.expm1(-soft) * libdevice.rsqrt(1.0 + x * x)
        tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def dropout_forward(x_ptr, residual_ptr, out_ptr, mask_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Dropout with Philox, four numbers from each counter, a residual added, the mask kept."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.rand4x(seed, i)
    scale = 1.0 / (1.0 - p)
    base = pid * BLOCK * 4 + tl.arange(0, BLOCK)
    for k in tl.static_range(4):
        offs = base + k * BLOCK
        mask = offs < n
        if k == 0:
            r = r0
        elif k == 1:
            r = r1
        elif k == 2:
            r = r2
        else:
            r = r3
        keep = r > p
        x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
        res = tl.load(residual_ptr + offs, mask=mask).to(tl.float32)
        y = tl.where(keep, x * scale, 0.0) + res
        tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=mask)
        tl.store(mask_ptr + offs, keep.to(tl.int8), mask=mask)


@triton.jit
def dropout_seeded(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Dropout whose mask is not kept: one number of Philox for each element."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def adamw_step(p_ptr, g_ptr, m_ptr, v_ptr, p_out, m_out, v_out, half_out, lr, beta1, beta2, eps,
               weight_decay, bias1, bias2, n, BLOCK: tl.constexpr):
    """AdamW: the weights and both moments in fp32, gradients and a copy of the weights in bf16."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask=mask)
    g = tl.load(g_ptr + offs, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + offs, mask=mask)
    v = tl.load(v_ptr + offs, mask=mask)
    p = p * (1 - lr * weight_decay)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    denom = tl.sqrt(v / bias2) + eps
    p = p - lr * (m / bias1) / denom
    tl.store(p_out + offs, p, mask=mask)
    tl.store(m_out + offs, m, mask=mask)
    tl.store(v_out + offs, v, mask=mask)
    tl.store(half_out + offs, p.to(tl.bfloat16), mask=mask)


@triton.jit
def rope_neox(q_ptr, k_ptr, cos_ptr, sin_ptr, qo_ptr, ko_ptr, q_row, k_row, HQ: tl.constexpr,
              HK: tl.constexpr, D: tl.constexpr, PAD_HQ: tl.constexpr, PAD_HK: tl.constexpr):
    """Rotary embedding by halves, all heads of q and k of one token in a program."""
    t = tl.program_id(0)
    half = tl.arange(0, D // 2)
    cos = tl.load(cos_ptr + t * (D // 2) + half)
    sin = tl.load(sin_ptr + t * (D // 2) + half)
    hq = tl.arange(0, PAD_HQ)
    hk = tl.arange(0, PAD_HK)
    q_off = t * q_row + hq[:, None] * D + half[None, :]
    k_off = t * k_row + hk[:, None] * D + half[None, :]
    q_mask = (hq < HQ)[:, None]
    k_mask = (hk < HK)[:, None]
    q1 = tl.load(q_ptr + q_off, mask=q_mask, other=0).to(sin.dtype)
    q2 = tl.load(q_ptr + q_off + D // 2, mask=q_mask, other=0).to(sin.dtype)
    k1 = tl.load(k_ptr + k_off, mask=k_mask, other=0).to(sin.dtype)
    k2 = tl.load(k_ptr + k_off + D // 2, mask=k_mask, other=0).to(sin.dtype)
    tl.store(qo_ptr + q_off, q1 * cos - q2 * sin, mask=q_mask)
    tl.store(qo_ptr + q_off + D // 2, q2 * cos + q1 * sin, mask=q_mask)
    tl.store(ko_ptr + k_off, k1 * cos - k2 * sin, mask=k_mask)
    tl.store(ko_ptr + k_off + D // 2, k2 * cos + k1 * sin, mask=k_mask)


@triton.jit
def rope_gptj(x_ptr, pos_ptr, cos_ptr, sin_ptr, out_ptr, tokens, H, D: tl.constexpr,
              BLOCK_T: tl.constexpr):
    """Rotary embedding by pairs: even and odd channels loaded apart, positions from an array."""
    tt = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    head = tl.program_id(1)
    mask = tt[:, None] < tokens
    pos = tl.load(pos_ptr + tt, mask=tt < tokens, other=0)
    pair = tl.arange(0, D // 2)
    cos = tl.load(cos_ptr + pos[:, None] * (D // 2) + pair[None, :])
    sin = tl.load(sin_ptr + pos[:, None] * (D // 2) + pair[None, :])
    off = (tt[:, None] * H + head) * D + pair[None, :] * 2
    a = tl.load(x_ptr + off, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + off + 1, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + off, (a * cos - b * sin).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(out_ptr + off + 1, (a * sin + b * cos).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def complex_mul(x_ptr, w_ptr, out_ptr, n, period, BLOCK: tl.constexpr):
    """Complex numbers, interleaved, times a row of them: split, multiplied, joined again."""
    base = tl.program_id(0) * BLOCK
    offs = base * 2 + tl.arange(0, 2 * BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < 2 * n, other=0.0)
    w = tl.load(w_ptr + offs % (2 * period), mask=offs < 2 * n, other=0.0)
    xr, xi = tl.split(tl.reshape(x, (BLOCK, 2)))
    wr, wi = tl.split(tl.reshape(w, (BLOCK, 2)))
    re = xr * wr - xi * wi
    im = xr * wi + xi * wr
    tl.store(out_ptr + offs, tl.interleave(re, im), mask=offs < 2 * n)


@triton.jit
def permute_copy(x_ptr, out_ptr, B, H, T, D, sb, sh, st, sd, BLOCK_T: tl.constexpr,
                 BLOCK_D: tl.constexpr):
    """x.permute(...).contiguous(): tiles of the last two dimensions, read by x's strides."""
    pid_t = tl.program_id(0)
    pid_d = tl.program_id(1)
    bh = tl.program_id(2)
    b = bh // H
    h = bh % H
    t = pid_t * BLOCK_T + tl.arange(0, BLOCK_T)
    d = pid_d * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = (t[:, None] < T) & (d[None, :] < D)
    x = tl.load(x_ptr + b * sb + h * sh + t[:, None] * st + d[None, :] * sd, mask=mask)
    tl.store(out_ptr + (bh * T + t[:, None]) * D + d[None, :], x, mask=mask)
