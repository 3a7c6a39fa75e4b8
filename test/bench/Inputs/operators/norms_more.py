"""More norms and losses: gated, channels last, softly capped, of policies."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def rms_norm_gated_groups(x_ptr, z_ptr, w_ptr, y_ptr, rstd_ptr, stride_x, stride_z, M, N, eps,
                          BLOCK: tl.constexpr, NORM_BEFORE_GATE: tl.constexpr):
    """RMS norm of a group of channels, with a gate before or behind."""
    row, group = tl.program_id(0), tl.program_id(1)
    x_ptr += row * stride_x + group * N
    z_ptr += row * stride_z + group * N
    y_ptr += row * stride_x + group * N
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + cols, mask=cols < N, other=0.).to(tl.float32)
    z = tl.load(z_ptr + cols, mask=cols < N, other=0.).to(tl.float32)
    if not NORM_BEFORE_GATE:
        x *= z * tl.sigmoid(z)
    xbar = tl.where(cols < N, x, 0.)
    rstd = 1 / tl.sqrt(tl.sum(xbar * xbar, axis=0) / N + eps)
    tl.store(rstd_ptr + group * M + row, rstd)
    y = x * rstd * tl.load(w_ptr + group * N + cols, mask=mask).to(tl.float32)
    if NORM_BEFORE_GATE:
        y *= z * tl.sigmoid(z)
    tl.store(y_ptr + cols, y, mask=mask)


@triton.jit
def poly_norm(x_ptr, w_ptr, bias_ptr, y_ptr, N, eps, BLOCK: tl.constexpr):
    """Norms of x, x² and x³, weighed and added."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    w0, w1, w2 = tl.load(w_ptr), tl.load(w_ptr + 1), tl.load(w_ptr + 2)
    x2 = x * x
    x3 = x2 * x
    r1 = tl.rsqrt(tl.sum(x2) / N + eps)
    r2 = tl.rsqrt(tl.sum(x2 * x2) / N + eps)
    r3 = tl.rsqrt(tl.sum(x3 * x3) / N + eps)
    y = w2 * x * r1 + w1 * x2 * r2 + w0 * x3 * r3 + tl.load(bias_ptr)
    tl.store(y_ptr + row * N + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def dynamic_tanh_backward(dy_ptr, x_ptr, alpha_ptr, gamma_ptr, dx_ptr, dalpha_ptr, dgamma_ptr,
                          dbeta_ptr, M, N, BLOCK_N: tl.constexpr, ROWS: tl.constexpr):
    """gamma * tanh(alpha * x) + beta: a program has some columns of many rows."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = n < N
    alpha = tl.load(alpha_ptr)
    gamma = tl.load(gamma_ptr + n, mask=mask, other=0.0).to(tl.float32)
    da = 0.0
    dg = tl.zeros((BLOCK_N,), dtype=tl.float32)
    db = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for row in range(tl.program_id(1) * ROWS, min(M, (tl.program_id(1) + 1) * ROWS)):
        x = tl.load(x_ptr + row * N + n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * N + n, mask=mask, other=0.0).to(tl.float32)
        t = libdevice.tanh(alpha * x)
        dg += dy * t
        db += dy
        slope = (1 - t * t) * dy * gamma
        da += tl.sum(x * slope, axis=0)
        tl.store(dx_ptr + row * N + n, (alpha * slope).to(dx_ptr.dtype.element_ty), mask=mask)
    tl.atomic_add(dgamma_ptr + n, dg, mask=mask)
    tl.atomic_add(dbeta_ptr + n, db, mask=mask)
    tl.atomic_add(dalpha_ptr, da)


@triton.jit
def group_norm_nhwc(x_ptr, w_ptr, b_ptr, y_ptr, HW, C: tl.constexpr, G: tl.constexpr, eps,
                    BLOCK: tl.constexpr, ACT: tl.constexpr):
    """Channels last: all groups of an image at once, in three dimensions."""
    base = tl.program_id(0).to(tl.int64) * HW * C
    c = tl.arange(0, C)
    p = tl.arange(0, BLOCK)
    sums = tl.zeros((G,), dtype=tl.float32)
    squares = tl.zeros((G,), dtype=tl.float32)
    for start in range(0, HW, BLOCK):
        x = tl.load(x_ptr + base + (start + p)[:, None] * C + c[None, :],
                    mask=(start + p)[:, None] < HW, other=0.0).to(tl.float32)
        x = tl.reshape(x, (BLOCK, G, C // G))
        sums += tl.sum(tl.sum(x, axis=2), axis=0)
        squares += tl.sum(tl.sum(x * x, axis=2), axis=0)
    count = HW * (C // G)
    mean = sums / count
    rstd = tl.rsqrt(squares / count - mean * mean + eps)
    w = tl.reshape(tl.load(w_ptr + c).to(tl.float32), (G, C // G)) * rstd[:, None]
    b = tl.reshape(tl.load(b_ptr + c).to(tl.float32), (G, C // G)) - mean[:, None] * w
    for start in range(0, HW, BLOCK):
        at = base + (start + p)[:, None] * C + c[None, :]
        x = tl.load(x_ptr + at, mask=(start + p)[:, None] < HW, other=0.0).to(tl.float32)
        y = tl.reshape(x, (BLOCK, G, C // G)) * w[None, :, :] + b[None, :, :]
        if ACT == "silu":
            y = y * tl.sigmoid(y)
        tl.store(y_ptr + at, tl.reshape(y, (BLOCK, C)).to(y_ptr.dtype.element_ty),
                 mask=(start + p)[:, None] < HW)


@triton.jit
def batch_norm_relu_add(x_ptr, r_ptr, mean_ptr, var_ptr, w_ptr, b_ptr, y_ptr, n, C, HW, eps,
                        BLOCK: tl.constexpr):
    """What runs at inference: NCHW in a line, the channel by division."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    c = (i // HW) % C
    x = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    r = tl.load(r_ptr + i, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + c, mask=mask, eviction_policy="evict_last")
    var = tl.load(var_ptr + c, mask=mask, eviction_policy="evict_last")
    w = tl.load(w_ptr + c, mask=mask, eviction_policy="evict_last")
    b = tl.load(b_ptr + c, mask=mask, eviction_policy="evict_last")
    y = (x - mean) * (1.0 / libdevice.sqrt(var + eps)) * w + b + r
    tl.store(y_ptr + i, triton_relu(y), mask=mask)


@triton.jit
def triton_relu(x):
    return tl.maximum(x, tl.zeros_like(x))


@triton.jit
def add_norm_fp8_dynamic(x_ptr, r_ptr, w_ptr, sum_ptr, q_ptr, s_ptr, N, eps, BLOCK: tl.constexpr,
                         CHUNKS: tl.constexpr):
    """Residual, RMS norm and fp8 with a scale of the row, a row by chunks that stay in registers
    only while they are looked at."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * N
    r_ptr += row * N
    sum_ptr += row * N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for i in tl.static_range(CHUNKS):
        n = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        x += tl.load(r_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        tl.store(sum_ptr + n, x.to(sum_ptr.dtype.element_ty), mask=n < N)
        squares += x * x
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    tl.debug_barrier()
    top = 0.0
    for i in tl.static_range(CHUNKS):
        n = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(sum_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.max(tl.abs(x * rstd * w)))
    scale = tl.maximum(top, 1e-10) / 448.0
    tl.store(s_ptr + row, scale)
    for i in tl.static_range(CHUNKS):
        n = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(sum_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        q = tl.clamp(x * rstd * w / scale, -448.0, 448.0)
        tl.store(q_ptr + row * N + n, q.to(tl.float8e4nv), mask=n < N)


@triton.jit
def cross_entropy_capped(x_ptr, t_ptr, loss_ptr, z_ptr, stride, V, cap, smoothing, z_weight,
                         ignore, BLOCK: tl.constexpr, HAS_CAP: tl.constexpr):
    """Loss of a row by blocks online: scores capped, smoothed labels, a penalty of the sum."""
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(t_ptr + row)
    x_ptr += row * stride
    if target == ignore:
        tl.store(loss_ptr + row, 0.0)
        tl.store(z_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    mine = tl.load(x_ptr + target).to(tl.float32)
    if HAS_CAP:
        mine = cap * libdevice.tanh(mine / cap)
    for i in range(0, V, BLOCK):
        n = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + n, mask=n < V, other=float("-inf")).to(tl.float32)
        if HAS_CAP:
            x = cap * libdevice.tanh(x / cap)
        block_max = tl.max(tl.where(n < V, x, float("-inf")))
        total += tl.sum(tl.where(n < V, x, 0.0))
        higher = tl.maximum(m, block_max)
        d = d * tl.exp(m - higher) + tl.sum(tl.where(n < V, tl.exp(x - higher), 0.0))
        m = higher
    lse = m + tl.log(d)
    loss = lse - (1 - smoothing) * mine - smoothing * total / V
    z = z_weight * lse * lse
    tl.store(loss_ptr + row, loss + z)
    tl.store(z_ptr + row, z)


@triton.jit
def selective_log_softmax(x_ptr, index_ptr, temperature, V: tl.constexpr, BLOCK: tl.constexpr):
    m = float("-inf")
    l = 0.0
    for start in range(0, V, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + n, mask=n < V, other=float("-inf")).to(tl.float32) / temperature
        higher = tl.maximum(m, tl.max(x))
        l = l * tl.exp(m - higher) + tl.sum(tl.exp(x - higher))
        m = higher
    at = tl.load(index_ptr)
    return tl.load(x_ptr + at).to(tl.float32) / temperature - (m + tl.log(l))


@triton.jit
def grpo_loss(x_ptr, old_ptr, ref_ptr, ids_ptr, mask_ptr, advantage_ptr, loss_ptr, kl_ptr,
              clipped_ptr, temperature, beta: tl.constexpr, low, high, T, V: tl.constexpr,
              BLOCK: tl.constexpr):
    """Clipped loss of a policy for each token, with a divergence from another one."""
    b, t = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    at = b * T + t
    if tl.load(mask_ptr + at) == 0:
        return
    logp = selective_log_softmax(x_ptr + (b * (T + 1) + t) * V, ids_ptr + at, temperature, V, BLOCK)
    old = tl.load(old_ptr + at).to(tl.float32)
    ratio = tl.exp(logp - old)
    bounded = tl.clamp(ratio, 1 - low, 1 + high)
    advantage = tl.load(advantage_ptr + b).to(tl.float32)
    first = ratio * advantage
    second = bounded * advantage
    loss = -tl.minimum(first, second)
    is_clipped = (first > second).to(tl.float32)
    if beta != 0.0:
        ref = tl.load(ref_ptr + at).to(tl.float32)
        kl = tl.exp(ref - logp) - (ref - logp) - 1
        loss += beta * kl
        tl.store(kl_ptr + at, kl)
    tl.store(loss_ptr + at, loss)
    tl.store(clipped_ptr + at, is_clipped)


@triton.jit
def dice_parts(x_ptr, y_ptr, sums_ptr, N, BLOCK: tl.constexpr):
    """Three sums of an image's logits and labels for a loss of overlap, added by atomics."""
    b = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + b * N + i, mask=i < N, other=float("-inf")).to(tl.float32)
    y = tl.load(y_ptr + b * N + i, mask=i < N, other=0).to(tl.float32)
    p = tl.sigmoid(x)
    tl.atomic_add(sums_ptr + b * 3 + 0, tl.sum(p * y))
    tl.atomic_add(sums_ptr + b * 3 + 1, tl.sum(p * (1 - y)))
    tl.atomic_add(sums_ptr + b * 3 + 2, tl.sum((1 - p) * y))


@triton.jit
def spectral_power_step(w_ptr, u_ptr, v_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """v = W^T u without its norm: columns of a program, rows one block after the other; beside it
    the square of its length."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for start in tl.range(0, M, BLOCK_M, num_stages=3):
        m = start + tl.arange(0, BLOCK_M)
        w = tl.load(w_ptr + m[:, None] * N + n[None, :], mask=(m < M)[:, None] & (n < N)[None, :],
                    other=0.0).to(tl.float32)
        u = tl.load(u_ptr + m, mask=m < M, other=0.0)
        acc += tl.sum(w * u[:, None], axis=0)
    tl.store(v_ptr + n, acc, mask=n < N)
    tl.atomic_add(v_ptr + N, tl.sum(acc * acc, axis=0))
