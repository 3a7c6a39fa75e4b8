"""Steps of training by random bits, ratios of norms, tables and rotations; quantisation."""
import triton
import triton.language as tl


@triton.jit
def stochastic_bf16(p_ptr, g_ptr, out_ptr, lr, seed, N, BLOCK: tl.constexpr):
    """A step of descent on bf16, rounded up as often as what is cut off says."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    p = tl.load(p_ptr + i, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr + i, mask=mask, other=0.0).to(tl.float32)
    new = tl.fma(g, -lr, p)
    bits = new.to(tl.uint32, bitcast=True) + (tl.randint(seed, i).to(tl.uint32) & 0xFFFF)
    out = (bits & 0xFFFF0000).to(tl.float32, bitcast=True)
    tl.store(out_ptr + i, out.to(tl.bfloat16), mask=mask)


@triton.jit
def lamb_parts(p_ptr, g_ptr, m_ptr, v_ptr, m_out_ptr, v_out_ptr, u_ptr, norm_ptr, b1, b2, eps,
               decay, c1, c2, N, BLOCK: tl.constexpr):
    """LAMB's direction, and a program's share of the norms of weights and direction."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    p = tl.load(p_ptr + i, mask=mask, other=0.0)
    g = tl.load(g_ptr + i, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    m = b1 * tl.load(m_ptr + i, mask=mask, other=0.0) + (1.0 - b1) * g
    v = b2 * tl.load(v_ptr + i, mask=mask, other=0.0) + (1.0 - b2) * g * g
    u = (m * c1) / (tl.sqrt(v * c2) + eps) + decay * p
    u = tl.where(mask, u, 0.0)
    tl.store(m_out_ptr + i, m, mask=mask)
    tl.store(v_out_ptr + i, v, mask=mask)
    tl.store(u_ptr + i, u, mask=mask)
    tl.store(norm_ptr + 2 * pid, tl.sum(p * p, 0))
    tl.store(norm_ptr + 2 * pid + 1, tl.sum(u * u, 0))


@triton.jit
def rowwise_adagrad(table_ptr, state_ptr, row_ptr, start_ptr, place_ptr, grad_ptr, out_ptr,
                    state_out_ptr, lr, eps, D, BLOCK: tl.constexpr):
    """Gradients of equal rows together, one state a row, and the step of that row."""
    pid = tl.program_id(0)
    row = tl.load(row_ptr + pid).to(tl.int64)
    first = tl.load(start_ptr + pid)
    end = tl.load(start_ptr + pid + 1)
    d = tl.arange(0, BLOCK)
    g = tl.zeros([BLOCK], tl.float32)
    for at in range(first, end):
        place = tl.load(place_ptr + at).to(tl.int64)
        g += tl.load(grad_ptr + place * D + d, mask=d < D, other=0.0).to(tl.float32)
    state = tl.load(state_ptr + row) + tl.sum(g * g, 0) / D
    w = tl.load(table_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
    w -= lr * g / (tl.sqrt(state) + eps)
    tl.store(out_ptr + pid.to(tl.int64) * D + d, w.to(out_ptr.dtype.element_ty), mask=d < D)
    tl.store(state_out_ptr + pid, state)


@triton.jit
def nf4_quantize(x_ptr, q_ptr, absmax_ptr, N, GROUP: tl.constexpr, GROUPS: tl.constexpr):
    """Groups by their largest, each number to one of 16 by a chain of bounds, two to a byte."""
    r = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    c = tl.arange(0, GROUP)
    x = tl.load(x_ptr + r[:, None] * GROUP + c[None, :], mask=(r * GROUP < N)[:, None],
                other=0.0).to(tl.float32)
    most = tl.max(tl.abs(x), 1)
    x = x / tl.maximum(most, 1e-12)[:, None]
    q = (x > -0.8480).to(tl.int32) + (x > -0.6106).to(tl.int32) + (x > -0.4599).to(tl.int32)
    q += (x > -0.3395).to(tl.int32) + (x > -0.2346).to(tl.int32) + (x > -0.1377).to(tl.int32)
    q += (x > -0.0455).to(tl.int32) + (x > 0.0398).to(tl.int32) + (x > 0.1203).to(tl.int32)
    q += (x > 0.2035).to(tl.int32) + (x > 0.2921).to(tl.int32) + (x > 0.3892).to(tl.int32)
    q += (x > 0.5016).to(tl.int32) + (x > 0.6427).to(tl.int32) + (x > 0.8614).to(tl.int32)
    high, low = tl.split(tl.reshape(q, [GROUPS, GROUP // 2, 2]))
    h = tl.arange(0, GROUP // 2)
    tl.store(q_ptr + r[:, None] * (GROUP // 2) + h[None, :], (high << 4 | low).to(tl.uint8),
             mask=(r * GROUP < N)[:, None])
    tl.store(absmax_ptr + r, most, mask=r * GROUP < N)


@triton.jit
def rope_2d(x_ptr, out_ptr, freq_ptr, H, W, HEADS: tl.constexpr, D: tl.constexpr,
            BLOCK: tl.constexpr):
    """Pairs of numbers turned by the row in one half of a head, by the column in the other."""
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    batch = tl.program_id(1).to(tl.int64) * H * W
    h = tl.arange(0, HEADS)
    d = tl.arange(0, D)
    f = tl.load(freq_ptr + tl.arange(0, D // 2) % (D // 4))
    place = tl.where((tl.arange(0, D // 2) < D // 4)[None, :], (t // W)[:, None], (t % W)[:, None])
    angle = place.to(tl.float32) * f[None, :]
    cos = tl.cos(angle)[:, None, :]
    sin = tl.sin(angle)[:, None, :]
    at = ((batch + t)[:, None, None] * HEADS + h[None, :, None]) * D + d[None, None, :]
    mask = (t < H * W)[:, None, None]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    a, b = tl.split(tl.reshape(x, [BLOCK, HEADS, D // 2, 2]))
    y = tl.reshape(tl.join(a * cos - b * sin, a * sin + b * cos), [BLOCK, HEADS, D])
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gated_middle(x_ptr, gate_ptr, y_ptr, M, N, MIDDLE: tl.constexpr, BLOCK: tl.constexpr):
    """Weighted sums over the middle of B x M x N, softmax of a gate as weights."""
    b = tl.program_id(1)
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = tl.arange(0, MIDDLE)
    g = tl.load(gate_ptr + b * M + m, mask=m < M, other=-float("inf")).to(tl.float32)
    w = tl.exp(g - tl.max(g, 0))
    w = w / tl.sum(w, 0)
    x = tl.load(x_ptr + (b * M + m[:, None]).to(tl.int64) * N + n[None, :],
                mask=(m < M)[:, None] & (n < N)[None, :], other=0.0)
    tl.store(y_ptr + b * N + n, tl.sum(w[:, None] * x.to(tl.float32), 0)
             .to(y_ptr.dtype.element_ty), mask=n < N)


@triton.jit
def patchify(x_ptr, scale_ptr, shift_ptr, y_ptr, H, W, C: tl.constexpr, P: tl.constexpr,
             BLOCK: tl.constexpr):
    """Bytes of pictures, brought to a mean and a spread, cut into patches of all channels."""
    row = tl.program_id(1)
    n = tl.program_id(2)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    SIZE: tl.constexpr = P * P * C
    across = W // P
    patch = i // SIZE
    c = i % C
    px = i // C % P
    py = i // (C * P) % P
    mask = patch < across
    at = ((n * H + row * P + py) * W + patch * P + px) * C + c
    x = tl.load(x_ptr + at, mask=mask, other=0).to(tl.float32)
    y = x * tl.load(scale_ptr + c) + tl.load(shift_ptr + c)
    out = (n * (H // P) + row) * across * SIZE + i
    tl.store(y_ptr + out, y.to(y_ptr.dtype.element_ty), mask=mask)
