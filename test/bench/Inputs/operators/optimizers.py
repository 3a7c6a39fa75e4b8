"""Steps of optimizers and what goes with them: norms of many arrays, averages that follow."""
import triton
import triton.language as tl


@triton.jit
def lion_step(p_ptr, g_ptr, m_ptr, p_out, m_out, lr, beta1, beta2, decay, n, BLOCK: tl.constexpr):
    """Signs of an interpolated momentum."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask).to(tl.float32)
    g = tl.load(g_ptr + i, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + i, mask=mask)
    p = p * (1 - lr * decay)
    diff = m - g
    update = diff * beta1 + g
    can_update = update != 0
    step = tl.where(update > 0, -lr, lr)
    p = p + tl.where(can_update, step, 0.0)
    tl.store(p_out + i, p.to(p_out.dtype.element_ty), mask=mask)
    tl.store(m_out + i, diff * beta2 + g, mask=mask)


@triton.jit
def sgd_momentum_step(p_ptr, g_ptr, m_ptr, p_out, m_out, lr, momentum, dampening, decay, n,
                      NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    """Gradient descent with momentum."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask)
    g = tl.load(g_ptr + i, mask=mask).to(tl.float32) + decay * p
    m = momentum * tl.load(m_ptr + i, mask=mask) + (1 - dampening) * g
    tl.store(m_out + i, m, mask=mask)
    if NESTEROV:
        m = g + momentum * m
    tl.store(p_out + i, p - lr * m, mask=mask)


@triton.jit
def adafactor_rows(g_ptr, r_ptr, r_out, beta, eps, M, N, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """Means of squares of rows, which follow."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = (m < M)[:, None] & (n < N)[None, :]
        g = tl.load(g_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
        acc += tl.where(mask, g * g + eps, 0.0)
    r = tl.load(r_ptr + m, mask=m < M, other=0.0)
    r = beta * r + (1 - beta) * tl.sum(acc, axis=1) / N
    tl.store(r_out + m, r, mask=m < M)


@triton.jit
def adafactor_step(p_ptr, g_ptr, r_ptr, c_ptr, mean_ptr, p_out, lr, M, N, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """The step: gradients by the root of a product of rows' and columns' means."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m < M)[:, None] & (n < N)[None, :]
    offs = m[:, None] * N + n[None, :]
    g = tl.load(g_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    p = tl.load(p_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + m, mask=m < M, other=1.0)
    c = tl.load(c_ptr + n, mask=n < N, other=1.0)
    scale = tl.rsqrt(r / tl.load(mean_ptr))[:, None] * tl.rsqrt(c)[None, :]
    tl.store(p_out + offs, (p - lr * g * scale).to(p_out.dtype.element_ty), mask=mask)


@triton.jit
def multi_tensor_norm(x_ptr, starts_ptr, sizes_ptr, chunk_tensor_ptr, chunk_index_ptr, out_ptr,
                      CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """Squares' sums of many arrays: a program takes a chunk that tables name, and adds to the
    array's sum by an atomic."""
    pid = tl.program_id(0)
    t = tl.load(chunk_tensor_ptr + pid)
    first = tl.load(chunk_index_ptr + pid) * CHUNK
    start = tl.load(starts_ptr + t)
    size = tl.load(sizes_ptr + t)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for at in range(0, CHUNK, BLOCK):
        i = first + at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + i, mask=i < size, other=0.0).to(tl.float32)
        acc += x * x
    tl.atomic_add(out_ptr + t, tl.sum(acc, axis=0), sem="relaxed")


@triton.jit
def clip_scale(x_ptr, norms_ptr, out_ptr, count, most, n, PAD: tl.constexpr, BLOCK: tl.constexpr):
    """Gradients scaled by what the norm of all exceeds the allowed one by."""
    j = tl.arange(0, PAD)
    total = tl.sqrt(tl.sum(tl.load(norms_ptr + j, mask=j < count, other=0.0), axis=0))
    scale = tl.minimum(most / (total + 1e-6), 1.0)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, (x * scale).to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def ema_update(p_ptr, e_ptr, e_out, half_out, decay, n, BLOCK: tl.constexpr):
    """An average that follows the weights, and a copy of it in 16 bits."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask).to(tl.float32)
    e = tl.load(e_ptr + i, mask=mask)
    e += (1 - decay) * (p - e)
    tl.store(e_out + i, e, mask=mask)
    tl.store(half_out + i, e.to(half_out.dtype.element_ty), mask=mask)


@triton.jit
def adam_8bit(p_ptr, g_ptr, m_ptr, v_ptr, m_scale_ptr, v_scale_ptr, p_out, m_out, v_out,
              m_scale_out, v_scale_out, lr, beta1, beta2, eps, n, BLOCK: tl.constexpr):
    """Adam with moments in bytes, a scale for each block; the second one as its root."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(g_ptr + i, mask=mask, other=0.0).to(tl.float32)
    m = tl.load(m_ptr + i, mask=mask, other=0).to(tl.float32) * tl.load(m_scale_ptr + pid)
    v = tl.load(v_ptr + i, mask=mask, other=0).to(tl.float32) * tl.load(v_scale_ptr + pid)
    m = beta1 * m + (1 - beta1) * g
    v = tl.sqrt(beta2 * v * v + (1 - beta2) * g * g)
    p = tl.load(p_ptr + i, mask=mask)
    tl.store(p_out + i, p - lr * m / (v + eps), mask=mask)
    m_scale = tl.maximum(tl.max(tl.abs(m), axis=0), 1e-12) / 127.0
    v_scale = tl.maximum(tl.max(v, axis=0), 1e-12) / 255.0
    q = m / m_scale
    q = tl.where(q >= 0, tl.floor(q + 0.5), tl.ceil(q - 0.5))
    tl.store(m_out + i, q.to(tl.int8), mask=mask)
    tl.store(v_out + i, tl.floor(v / v_scale + 0.5).to(tl.int32).to(tl.uint8), mask=mask)
    tl.store(m_scale_out + pid, m_scale)
    tl.store(v_scale_out + pid, v_scale)
