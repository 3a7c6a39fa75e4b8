"""More formats of few bits: microscaled, ternary, trees of codes, rows with their scales inside."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mxfp8_quantize(x_ptr, q_ptr, s_ptr, M, N, stride_xm, ROWS: tl.constexpr, BLOCK: tl.constexpr,
                   GROUP: tl.constexpr):
    """fp8 with a power of two for each 32: the exponent of the largest, from its bits."""
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(x_ptr + m[:, None] * stride_xm + n[None, :], mask=mask, other=0.0).to(tl.float32)
    x = tl.reshape(x, (ROWS, BLOCK // GROUP, GROUP))
    top = tl.max(tl.abs(x), axis=2, keep_dims=True)
    bits = (top / 448.0).to(tl.uint32, bitcast=True)
    bits = (bits + 0x007FFFFF) & 0x7F800000
    scale = bits.to(tl.float32, bitcast=True)
    q = tl.where(scale == 0, 0.0, x * (1.0 / scale)).to(tl.float8e4nv)
    tl.store(q_ptr + m[:, None] * N + n[None, :], tl.reshape(q, (ROWS, BLOCK)), mask=mask)
    g = tl.program_id(1) * (BLOCK // GROUP) + tl.arange(0, BLOCK // GROUP)
    exponent = tl.reshape((bits >> 23).to(tl.uint8), (ROWS, BLOCK // GROUP))
    tl.store(s_ptr + m[:, None] * (N // GROUP) + g[None, :], exponent,
             mask=(m < M)[:, None] & (g < N // GROUP)[None, :])


@triton.jit
def fp4_code(x):
    """The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, by bounds between them"""
    a = tl.abs(x)
    code = tl.where(a > 0.25, 1, 0) + tl.where(a >= 0.75, 1, 0) + tl.where(a > 1.25, 1, 0)
    code += tl.where(a >= 1.75, 1, 0) + tl.where(a > 2.5, 1, 0) + tl.where(a >= 3.5, 1, 0)
    code += tl.where(a > 5.0, 1, 0)
    return code | tl.where(x < 0, 8, 0)


@triton.jit
def nvfp4_quantize(x_ptr, global_ptr, q_ptr, s_ptr, M, N, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    """Pairs of fp4 with a scale of fp8 for each 16, below one scale for all."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (m < M)[:, None] & (n < N)[None, :]
    whole = tl.load(global_ptr)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
    x = tl.reshape(x, [BLOCK_M, BLOCK_N // 16, 16])
    scale = (tl.max(tl.abs(x), axis=-1) * whole / 6.0).to(tl.float8e4nv)
    back = scale.to(tl.float32)
    inverse = tl.where(back == 0.0, 0.0, whole / back)
    code = fp4_code(x * inverse[:, :, None])
    even, odd = tl.split(tl.reshape(code, [BLOCK_M, BLOCK_N // 2, 2]))
    packed = (even | (odd << 4)).to(tl.uint8)
    n2 = tl.program_id(1) * (BLOCK_N // 2) + tl.arange(0, BLOCK_N // 2)
    tl.store(q_ptr + m[:, None] * (N // 2) + n2[None, :], packed,
             mask=(m < M)[:, None] & (n2 < N // 2)[None, :])
    g = tl.program_id(1) * (BLOCK_N // 16) + tl.arange(0, BLOCK_N // 16)
    tl.store(s_ptr + m[:, None] * (N // 16) + g[None, :], scale,
             mask=(m < M)[:, None] & (g < N // 16)[None, :])


@triton.jit
def mxfp4_linear(x_ptr, w_ptr, s_ptr, y_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr):
    """bf16 times weights of fp4 with a power of two for each 32 along k: tl.dot_scaled."""
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    rp = tl.arange(0, BLOCK_K // 2)
    rg = tl.arange(0, BLOCK_K // 32)
    x_ptrs = x_ptr + (rm % M)[:, None] * K + rk[None, :]
    w_ptrs = w_ptr + rp[:, None] + rn[None, :] * (K // 2)
    s_ptrs = s_ptr + rn[:, None] * (K // 32) + rg[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        x = tl.load(x_ptrs)
        w = tl.load(w_ptrs)
        s = tl.load(s_ptrs)
        acc = tl.dot_scaled(x, None, "bf16", w, s, "e2m1", acc=acc)
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K // 2
        s_ptrs += BLOCK_K // 32
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(rm < M)[:, None])


@triton.jit
def ternary_linear(x_ptr, w_ptr, xs_ptr, ws_ptr, y_ptr, M, N, K, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """int8 times -1, 0, 1: four weights of two bits in a byte, quarters of k beside each other."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for i in tl.static_range(4):
        x_ptrs = x_ptr + m[:, None] * K + (i * (K // 4) + k)[None, :]
        w_ptrs = w_ptr + k[:, None] + n[None, :] * (K // 4)
        for _ in range(0, K // 4, BLOCK_K):
            x = tl.load(x_ptrs, mask=(m < M)[:, None], other=0)
            w = tl.load(w_ptrs)
            w = ((w >> (2 * i)) & 3).to(tl.int8) - 1
            acc += tl.dot(x, w.to(tl.int8))
            x_ptrs += BLOCK_K
            w_ptrs += BLOCK_K
    xs = tl.load(xs_ptr + m, mask=m < M, other=0.0)
    ws = tl.load(ws_ptr)
    y = acc.to(tl.float32) * xs[:, None] * ws
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None])


@triton.jit
def int8_asymmetric_linear(x_ptr, w_ptr, xs_ptr, xz_ptr, ws_ptr, sums_ptr, bias_ptr, y_ptr, M, N, K,
                           HAS_BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                           BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """int8 with a zero of each token: sums of the weights' columns are taken off behind."""
    pid = tl.program_id(0)
    num_m, num_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP_M * num_n)
    size = min(num_m - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + (pid % (GROUP_M * num_n)) % size
    pid_n = (pid % (GROUP_M * num_n)) // size
    m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a = x_ptr + (m % M)[:, None] * K + k[None, :]
    b = w_ptr + k[:, None] + (n % N)[None, :] * K
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for _ in range(tl.cdiv(K, BLOCK_K)):
        acc = tl.dot(tl.load(a), tl.load(b), acc=acc, out_dtype=tl.int32)
        a += BLOCK_K
        b += BLOCK_K
    zero = tl.load(xz_ptr + m, mask=m < M, other=0)
    acc -= zero[:, None] * tl.load(sums_ptr + n, mask=n < N, other=0)[None, :]
    y = acc.to(tl.float32) * tl.load(xs_ptr + m, mask=m < M, other=0.0)[:, None]
    y *= tl.load(ws_ptr + n, mask=n < N, other=0.0)[None, :]
    if HAS_BIAS:
        y += tl.load(bias_ptr + n, mask=n < N, other=0.0)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def int8_block_linear(x_ptr, w_ptr, xs_ptr, ws_ptr, y_ptr, M, N, K, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """int8 with scales of 1×128 and 128×128."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + (m % M)[:, None] * K + k[None, :]
    w_ptrs = w_ptr + (n % N)[None, :] * K + k[:, None]
    xs_ptrs = xs_ptr + (m % M) * (K // 128)
    ws_ptrs = ws_ptr + (n % N) // 128 * (K // 128)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(x_ptrs, mask=k[None, :] < K - i * BLOCK_K, other=0)
        w = tl.load(w_ptrs, mask=k[:, None] < K - i * BLOCK_K, other=0)
        at = i * BLOCK_K // 128
        acc += tl.dot(x, w).to(tl.float32) * tl.load(xs_ptrs + at)[:, None] * tl.load(
            ws_ptrs + at)[None, :]
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def nf4_value(code):
    """A tree of choices, as a table without memory"""
    high = tl.where(code & 4 != 0,
                    tl.where(code & 2 != 0, tl.where(code & 1 != 0, 1.0, 0.7229568362236023),
                             tl.where(code & 1 != 0, 0.5626170039176941, 0.44070982933044434)),
                    tl.where(code & 2 != 0,
                             tl.where(code & 1 != 0, 0.33791524171829224, 0.24611230194568634),
                             tl.where(code & 1 != 0, 0.16093020141124725, 0.07958029955625534)))
    low = tl.where(code & 4 != 0,
                   tl.where(code & 2 != 0, tl.where(code & 1 != 0, 0.0, -0.09105003625154495),
                            tl.where(code & 1 != 0, -0.18477343022823334, -0.28444138169288635)),
                   tl.where(code & 2 != 0,
                            tl.where(code & 1 != 0, -0.39491748809814453, -0.5250730514526367),
                            tl.where(code & 1 != 0, -0.6961928009986877, -1.0)))
    return tl.where(code & 8 != 0, high, low)


@triton.jit
def nf4_dequantize(q_ptr, absmax_ptr, absmax2_ptr, code_ptr, offset, out_ptr, n,
                   BLOCK: tl.constexpr, GROUP: tl.constexpr, GROUP2: tl.constexpr):
    """Bytes of two codes, scales that are bytes themselves; both halves interleaved at the end."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_ptr + i, mask=i < n // 2, other=0, eviction_policy="evict_first")
    group = i // (GROUP // 2)
    a = tl.load(absmax_ptr + group, mask=i < n // 2, other=0)
    scale = tl.load(code_ptr + a.to(tl.int32)) * tl.load(absmax2_ptr + group // GROUP2,
                                                       mask=i < n // 2, other=0.0) + offset
    high = nf4_value(q >> 4) * scale
    low = nf4_value(q & 0xF) * scale
    out = tl.interleave(high, low).to(out_ptr.dtype.element_ty)
    o = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + o, out, mask=o < n)


@triton.jit
def rows_int4_bag(table_ptr, index_ptr, start_ptr, out_ptr, D: tl.constexpr, ROW: tl.constexpr,
                  BLOCK: tl.constexpr):
    """Bags of an embedding whose rows of bytes begin with scale and shift of fp16."""
    b = tl.program_id(0)
    start, end = tl.load(start_ptr + b), tl.load(start_ptr + b + 1)
    d = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(start, end):
        row = table_ptr + tl.load(index_ptr + i).to(tl.int64) * ROW
        head = row.to(tl.pointer_type(tl.float16))
        scale = tl.load(head).to(tl.float32)
        shift = tl.load(head + 1).to(tl.float32)
        q = tl.load(row + 4 + d // 2, mask=d < D, other=0)
        acc += ((q >> ((d & 1) * 4).to(tl.uint8)) & 0xF).to(tl.float32) * scale + shift
    tl.store(out_ptr + b * D + d, acc, mask=d < D)


@triton.jit
def gemv_int4_asm(x_ptr, w_ptr, s_ptr, y_ptr, N, K, GROUP: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr):
    """One row times weights of 4 bits: pairs are made fp16 by a line of assembly, 4 out of a word;
    the nibbles 0, 4, 1, 5, ... are neighbours."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k8 = tl.arange(0, BLOCK_K // 8)
    acc = tl.zeros((BLOCK_N, BLOCK_K // 8), dtype=tl.float32)
    for k0 in range(0, K // 8, BLOCK_K // 8):
        w = tl.load(w_ptr + n[:, None] * (K // 8) + (k0 + k8)[None, :])
        s = tl.load(s_ptr + n[:, None] * (K // GROUP) + ((k0 + k8) * 8 // GROUP)[None, :])
        part = tl.zeros((BLOCK_N, BLOCK_K // 8), dtype=tl.float32)
        for j in tl.static_range(4):
            low, high = tl.inline_asm_elementwise("""{
                .reg .b32 t, bias;
                lop3.b32 t, $2, 0x000f000f, 0x64006400, 0xea;
                mov.b32 bias, 0x64086408;
                sub.f16x2 t, t, bias;
                mov.b32 {$0, $1}, t;
                }""", "=h,=h,r", [w >> (4 * j)], dtype=(tl.float16, tl.float16), is_pure=True,
                pack=1)
            x0 = tl.load(x_ptr + (k0 + k8) * 8 + 2 * j)
            x1 = tl.load(x_ptr + (k0 + k8) * 8 + 2 * j + 1)
            part += low.to(tl.float32) * x0[None, :] + high.to(tl.float32) * x1[None, :]
        acc += part * s
    tl.store(y_ptr + n, tl.sum(acc, axis=1).to(y_ptr.dtype.element_ty))


@triton.jit
def silu_mul_clamped_int8(x_ptr, q_ptr, s_ptr, smooth_ptr, D, limit, alpha, BLOCK: tl.constexpr):
    """Gate and value side by side in pairs, both limited; bytes with a scale of each row."""
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    pair = tl.arange(0, 2 * BLOCK)
    both = tl.load(x_ptr + row * 2 * D + pair, mask=pair < 2 * D, other=0.0).to(tl.float32)
    gate, up = tl.split(tl.reshape(both, (BLOCK, 2)))
    gate = tl.minimum(gate, limit)
    up = tl.clamp(up, -limit, limit)
    y = gate / (1 + tl.exp(-alpha * gate)) * (up + 1)
    y *= tl.load(smooth_ptr + i, mask=i < D, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(y)), 1e-8) / 127
    q = libdevice.rint(y / scale).to(tl.int8)
    tl.store(q_ptr + row * D + i, q, mask=i < D)
    tl.store(s_ptr + row, scale)
