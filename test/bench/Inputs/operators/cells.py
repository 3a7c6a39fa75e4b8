"""Recurrent cells: over many steps in one launch, or one step of many; filters and neurons."""
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def lstm_cell(gate_ptr, h_ptr, bias_ptr, c_ptr, c_out_ptr, h_out_ptr, B, H, BLOCK: tl.constexpr):
    """A step from both products of an LSTM: gates i, f, g, o side by side."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < B * H
    j = i % H
    base = i // H * (4 * H) + j
    gi = tl.load(gate_ptr + base, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(h_ptr + base, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(bias_ptr + j, mask=mask, other=0.0).to(tl.float32)
    gf = tl.load(gate_ptr + base + H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(h_ptr + base + H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(bias_ptr + j + H, mask=mask, other=0.0).to(tl.float32)
    gg = tl.load(gate_ptr + base + 2 * H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(h_ptr + base + 2 * H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(bias_ptr + j + 2 * H, mask=mask, other=0.0).to(tl.float32)
    go = tl.load(gate_ptr + base + 3 * H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(h_ptr + base + 3 * H, mask=mask, other=0.0).to(tl.float32) \
        + tl.load(bias_ptr + j + 3 * H, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(c_ptr + i, mask=mask, other=0.0)
    c = tl.sigmoid(gf) * c + tl.sigmoid(gi) * tanh(gg)
    tl.store(c_out_ptr + i, c, mask=mask)
    tl.store(h_out_ptr + i, (tl.sigmoid(go) * tanh(c)).to(h_out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gru_steps(x_ptr, w_ptr, h0_ptr, out_ptr, T, B, H: tl.constexpr, BLOCK_B: tl.constexpr):
    """All steps of a GRU for a block of rows: three matrices stay, the state is what they left."""
    b = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    j = tl.arange(0, H)
    wr = tl.load(w_ptr + j[None, :] * H + j[:, None])
    wz = tl.load(w_ptr + H * H + j[None, :] * H + j[:, None])
    wn = tl.load(w_ptr + 2 * H * H + j[None, :] * H + j[:, None])
    at = b[:, None] * H + j[None, :]
    mask = (b < B)[:, None]
    h = tl.load(h0_ptr + at, mask=mask, other=0.0).to(tl.float32)
    x = x_ptr + b[:, None] * (3 * H) + j[None, :]
    for t in range(T):
        half = h.to(wr.dtype)
        r = tl.sigmoid(tl.load(x, mask=mask, other=0.0).to(tl.float32) + tl.dot(half, wr))
        z = tl.sigmoid(tl.load(x + H, mask=mask, other=0.0).to(tl.float32) + tl.dot(half, wz))
        n = tanh(tl.load(x + 2 * H, mask=mask, other=0.0).to(tl.float32) + r * tl.dot(half, wn))
        h = (1.0 - z) * n + z * h
        tl.store(out_ptr + t * B * H + at, h.to(out_ptr.dtype.element_ty), mask=mask)
        x += B * 3 * H


@triton.jit
def affine(a, x, b, y):
    return a * b, y + b * x


@triton.jit
def min_gru(k_ptr, g_ptr, h_ptr, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """A recurrence whose gates know no state: scans of blocks of steps, one after the other."""
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    base = tl.program_id(1).to(tl.int64) * T * D
    i = tl.arange(0, BLOCK_T)
    state = tl.zeros([BLOCK_D], tl.float32)
    for start in range(0, T, BLOCK_T):
        at = base + (start + i)[:, None] * D + d[None, :]
        mask = (start + i < T)[:, None] & (d < D)[None, :]
        z = tl.sigmoid(tl.load(k_ptr + at, mask=mask, other=-float("inf")).to(tl.float32))
        g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
        g = tl.where(g >= 0, g + 0.5, tl.sigmoid(g))
        a, h = tl.associative_scan((1.0 - z, z * g), 0, affine)
        h += a * state[None, :]
        tl.store(h_ptr + at, h.to(h_ptr.dtype.element_ty), mask=mask)
        state = tl.sum(tl.where((i == BLOCK_T - 1)[:, None], h, 0.0), 0)


@triton.jit
def vandermonde(a_re_ptr, a_im_ptr, c_re_ptr, c_im_ptr, dt_ptr, k_ptr, L, N: tl.constexpr,
                BLOCK: tl.constexpr):
    """The kernel of a diagonal state-space layer: real parts of sums of complex powers."""
    h = tl.program_id(1)
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, N)
    dt = tl.load(dt_ptr + h)
    re = tl.load(a_re_ptr + h * N + n) * dt
    im = tl.load(a_im_ptr + h * N + n) * dt
    cr = tl.load(c_re_ptr + h * N + n)
    ci = tl.load(c_im_ptr + h * N + n)
    grow = tl.exp(re[:, None] * t[None, :])
    angle = im[:, None] * t[None, :]
    k = grow * (cr[:, None] * tl.cos(angle) - ci[:, None] * tl.sin(angle))
    tl.store(k_ptr + h * L + t, 2.0 * tl.sum(k, 0), mask=t < L)


@triton.jit
def spiking(x_ptr, spike_ptr, v_ptr, T, N, decay, threshold, BLOCK: tl.constexpr):
    """Neurons that leak, fire and start anew, over time; spikes as bytes."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    v = tl.zeros([BLOCK], tl.float32)
    for t in tl.range(0, T, num_stages=4):
        x = tl.load(x_ptr + t * N + i, mask=mask, other=0.0).to(tl.float32)
        v = v * decay + x
        fires = v >= threshold
        tl.store(spike_ptr + t * N + i, fires.to(tl.int8), mask=mask)
        v = tl.where(fires, v - threshold, v)
    tl.store(v_ptr + i, v, mask=mask)


@triton.jit
def kalman(z_ptr, x_ptr, p_ptr, T, N, dt, q, r, BLOCK: tl.constexpr):
    """Filters of place and speed for many tracks: two states, their three covariances."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    x = tl.zeros([BLOCK], tl.float32)
    v = tl.zeros([BLOCK], tl.float32)
    p00 = tl.full([BLOCK], 10.0, tl.float32)
    p01 = tl.zeros([BLOCK], tl.float32)
    p11 = tl.full([BLOCK], 10.0, tl.float32)
    for t in range(T):
        z = tl.load(z_ptr + t * N + i, mask=mask, other=0.0)
        x += dt * v
        p00 += dt * (2.0 * p01 + dt * p11) + q * dt * dt * dt / 3.0
        p01 += dt * p11 + q * dt * dt / 2.0
        p11 += q * dt
        s = 1.0 / (p00 + r)
        k0 = p00 * s
        k1 = p01 * s
        e = z - x
        x += k0 * e
        v += k1 * e
        p11 -= k1 * p01
        p01 -= k0 * p01
        p00 -= k0 * p00
        tl.store(x_ptr + t * N + i, x, mask=mask)
    tl.store(p_ptr + i, p00, mask=mask)
    tl.store(p_ptr + N + i, p01, mask=mask)
    tl.store(p_ptr + 2 * N + i, p11, mask=mask)
