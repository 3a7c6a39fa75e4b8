"""State-space models: Mamba's scan, one step of it, and what is around Mamba 2's chunks."""
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.where(x <= 20.0, tl.math.log(tl.math.exp(x) + 1), x)


@triton.jit
def selective_scan(u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, bias_ptr, out_ptr,
                   state_ptr, D, L, N: tl.constexpr, BLOCK_D: tl.constexpr):
    """Mamba 1: states of BLOCK_D channels, a step after the other; u, delta, z are B x D x L, b and
    c are B x N x L."""
    b = tl.program_id(1)
    d = tl.program_id(0) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, N)
    mask = d < D
    a = tl.load(a_ptr + d[:, None] * N + n[None, :], mask=mask[:, None], other=0.0)
    skip = tl.load(d_ptr + d, mask=mask, other=0.0)
    bias = tl.load(bias_ptr + d, mask=mask, other=0.0)
    h = tl.zeros([BLOCK_D, N], dtype=tl.float32)
    row = (b * D + d) * L
    for t in range(0, L):
        u = tl.load(u_ptr + row + t, mask=mask, other=0.0).to(tl.float32)
        dt = tl.load(delta_ptr + row + t, mask=mask, other=0.0).to(tl.float32)
        z = tl.load(z_ptr + row + t, mask=mask, other=0.0).to(tl.float32)
        bt = tl.load(b_ptr + (b * N + n) * L + t).to(tl.float32)
        ct = tl.load(c_ptr + (b * N + n) * L + t).to(tl.float32)
        dt = softplus(dt + bias)
        h = h * tl.exp(dt[:, None] * a) + (dt * u)[:, None] * bt[None, :]
        y = tl.sum(h * ct[None, :], axis=1) + u * skip
        y = y * z * tl.sigmoid(z)
        tl.store(out_ptr + row + t, y.to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(state_ptr + (b * D + d)[:, None] * N + n[None, :], h, mask=mask[:, None])


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def selective_scan_chunked(u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, out_ptr, D, L, N: tl.constexpr,
                           BLOCK_L: tl.constexpr):
    """The same of one channel by associative scans over chunks of time, states carried along; all
    are B x L x D, b and c B x L x N."""
    d = tl.program_id(0)
    b = tl.program_id(1)
    n = tl.arange(0, N)
    a = tl.load(a_ptr + d * N + n)
    h = tl.zeros([1, N], dtype=tl.float32)
    for start in range(0, L, BLOCK_L):
        t = start + tl.arange(0, BLOCK_L)
        mask = t < L
        u = tl.load(u_ptr + (b * L + t) * D + d, mask=mask, other=0.0).to(tl.float32)
        dt = tl.load(delta_ptr + (b * L + t) * D + d, mask=mask, other=0.0).to(tl.float32)
        bt = tl.load(b_ptr + (b * L + t[:, None]) * N + n[None, :], mask=mask[:, None], other=0.0)
        ct = tl.load(c_ptr + (b * L + t[:, None]) * N + n[None, :], mask=mask[:, None], other=0.0)
        decay = tl.exp(dt[:, None] * a[None, :])
        x = (dt * u)[:, None] * bt
        decays, states = tl.associative_scan((decay, x), 0, first_order)
        states += decays * h
        y = tl.sum(states * ct, axis=1)
        tl.store(out_ptr + (b * L + t) * D + d, y.to(out_ptr.dtype.element_ty), mask=mask)
        last = tl.arange(0, BLOCK_L)[:, None] == BLOCK_L - 1
        h = tl.sum(tl.where(last, states, 0.0), axis=0)[None, :]


@triton.jit
def state_update(state_ptr, x_ptr, dt_ptr, bias_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, new_ptr,
                 out_ptr, H, P, N, ratio, TIED: tl.constexpr, BLOCK_P: tl.constexpr,
                 BLOCK_N: tl.constexpr):
    """One step of decoding, a head's state of P x N; with TIED dt and a are one number a head."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    b = tl.program_id(1)
    h = tl.program_id(2)
    n = tl.arange(0, BLOCK_N)
    mask_p = p < P
    mask = mask_p[:, None] & (n[None, :] < N)
    offs = ((b * H + h) * P + p[:, None]) * N + n[None, :]
    state = tl.load(state_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    at = (b * H + h) * P + p
    x = tl.load(x_ptr + at, mask=mask_p, other=0.0).to(tl.float32)
    if TIED:
        dt = tl.load(dt_ptr + b * H + h).to(tl.float32)
        dt = softplus(dt + tl.load(bias_ptr + h).to(tl.float32))
        decay = tl.exp(tl.load(a_ptr + h).to(tl.float32) * dt)
    else:
        dt = tl.load(dt_ptr + at, mask=mask_p, other=0.0).to(tl.float32)
        dt = softplus(dt + tl.load(bias_ptr + h * P + p, mask=mask_p, other=0.0).to(tl.float32))
        a = tl.load(a_ptr + (h * P + p[:, None]) * N + n[None, :], mask=mask, other=0.0)
        decay = tl.exp(a.to(tl.float32) * dt[:, None])
    group = (b * (H // ratio) + h // ratio) * N
    bt = tl.load(b_ptr + group + n, mask=n < N, other=0.0).to(tl.float32)
    ct = tl.load(c_ptr + group + n, mask=n < N, other=0.0).to(tl.float32)
    if TIED:
        step = bt[None, :] * dt
    else:
        step = bt[None, :] * dt[:, None]
    state = state * decay + step * x[:, None]
    tl.store(new_ptr + offs, state, mask=mask)
    y = tl.sum(state * ct[None, :], axis=1)
    y += x * tl.load(d_ptr + h).to(tl.float32)
    z = tl.load(z_ptr + at, mask=mask_p, other=0.0).to(tl.float32)
    y *= z * tl.sigmoid(z)
    tl.store(out_ptr + at, y, mask=mask_p)


@triton.jit
def chunk_cumsum(dt_ptr, a_ptr, bias_ptr, dt_out_ptr, sums_ptr, T, H, CHUNK: tl.constexpr,
                 low, high, BLOCK_H: tl.constexpr):
    """Mamba 2's steps: softplus, limits, and sums of dt * a within chunks; B x T x H in, B x H x
    chunks x CHUNK out."""
    b = tl.program_id(0)
    chunk = tl.program_id(1)
    h = tl.program_id(2) * BLOCK_H + tl.arange(0, BLOCK_H)
    c = tl.arange(0, CHUNK)
    left = tl.minimum(CHUNK, T - chunk * CHUNK)
    dt_ptrs = dt_ptr + (b * T + chunk * CHUNK + c[None, :]) * H + h[:, None]
    mask = (h[:, None] < H) & (c[None, :] < left)
    dt = tl.load(dt_ptrs, mask=mask, other=0.0).to(tl.float32)
    dt += tl.load(bias_ptr + h, mask=h < H, other=0.0).to(tl.float32)[:, None]
    dt = tl.where(dt <= 20.0, softplus(dt), dt)
    dt = tl.clamp(dt, low, high)
    dt = tl.where(mask, dt, 0.0)
    out = ((b * H + h[:, None]) * tl.num_programs(1) + chunk) * CHUNK + c[None, :]
    tl.store(dt_out_ptr + out, dt, mask=h[:, None] < H)
    a = tl.load(a_ptr + h, mask=h < H, other=0.0).to(tl.float32)
    tl.store(sums_ptr + out, tl.cumsum(dt * a[:, None], axis=1), mask=h[:, None] < H)


@triton.jit
def state_passing(states_ptr, decay_ptr, first_ptr, out_ptr, final_ptr, size, chunks, H,
                  CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """States of chunks into states before chunks, one after the other; decay_ptr has the sums."""
    b = tl.program_id(1)
    h = tl.program_id(2)
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = m < size
    state = tl.load(first_ptr + (b * H + h) * size + m, mask=mask, other=0.0).to(tl.float32)
    states_ptr += (b * chunks * H + h) * size
    out_ptr += (b * chunks * H + h) * size
    decay_ptr += (b * H + h) * chunks * CHUNK + CHUNK - 1
    tl.store(out_ptr + m, state, mask=mask)
    for c in range(chunks):
        new = tl.load(states_ptr + m, mask=mask, other=0.0).to(tl.float32)
        scale = tl.exp(tl.load(decay_ptr).to(tl.float32))
        state = scale * state + new
        if c < chunks - 1:
            tl.store(out_ptr + H * size + m, state, mask=mask)
        else:
            tl.store(final_ptr + (b * H + h) * size + m, state, mask=mask)
        states_ptr += H * size
        out_ptr += H * size
        decay_ptr += CHUNK


@triton.jit
def chunk_scan(cb_ptr, x_ptr, dt_ptr, sums_ptr, c_ptr, states_ptr, d_ptr, out_ptr, T, chunks,
               H, ratio, P: tl.constexpr, N: tl.constexpr, CHUNK: tl.constexpr,
               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Mamba 2's outputs of a chunk: what the state before it gives, and the masked products within
    it by blocks of K."""
    bc = tl.program_id(1)
    h = tl.program_id(2)
    b = bc // chunks
    chunk = bc % chunks
    num_n = tl.cdiv(P, BLOCK_N)
    pid_m = tl.program_id(0) // num_n
    pid_n = tl.program_id(0) % num_n
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    p = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    n = tl.arange(0, N)
    G = H // ratio
    g = h // ratio
    left = tl.minimum(CHUNK, T - chunk * CHUNK)
    t = b * T + chunk * CHUNK
    head = ((b * H + h) * chunks + chunk) * CHUNK
    sums_m = tl.load(sums_ptr + head + m, mask=m < CHUNK, other=0.0)
    c = tl.load(c_ptr + ((t + m[:, None]) * G + g) * N + n[None, :], mask=m[:, None] < left,
                other=0.0)
    state = tl.load(states_ptr + ((bc * H + h) * P + p[None, :]) * N + n[:, None],
                    mask=p[None, :] < P, other=0.0).to(c.dtype)
    acc = tl.dot(c, state) * tl.exp(sums_m)[:, None]
    k = tl.arange(0, BLOCK_K)
    cb_ptrs = cb_ptr + (bc * G + g) * CHUNK * CHUNK + m[:, None] * CHUNK + k[None, :]
    x_ptrs = x_ptr + ((t + k[:, None]) * H + h) * P + p[None, :]
    for start in range(0, tl.minimum((pid_m + 1) * BLOCK_M, left), BLOCK_K):
        inside = k < left - start
        cb = tl.load(cb_ptrs, mask=(m[:, None] < CHUNK) & inside[None, :], other=0.0)
        cb = cb.to(tl.float32)
        sums_k = tl.load(sums_ptr + head + start + k, mask=inside, other=0.0)
        cb *= tl.exp(tl.minimum(sums_m[:, None] - sums_k[None, :], 0.0))
        cb *= tl.load(dt_ptr + head + start + k, mask=inside, other=0.0)[None, :]
        cb = tl.where(m[:, None] >= start + k[None, :], cb, 0.0)
        x = tl.load(x_ptrs, mask=inside[:, None] & (p[None, :] < P), other=0.0)
        acc += tl.dot(cb.to(x.dtype), x)
        cb_ptrs += BLOCK_K
        x_ptrs += BLOCK_K * H * P
    mask = (m[:, None] < left) & (p[None, :] < P)
    out = ((t + m[:, None]) * H + h) * P + p[None, :]
    x = tl.load(x_ptr + out, mask=mask, other=0.0).to(tl.float32)
    acc += x * tl.load(d_ptr + h)
    tl.store(out_ptr + out, acc.to(out_ptr.dtype.element_ty), mask=mask)
