"""To fewer bits and back: int8 and fp8 by token, by block and by tensor, int4 in words."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def round_int8(x):
    return libdevice.round(x).to(tl.int8)


@triton.jit
def per_token_int8(x_ptr, q_ptr, scale_ptr, sum_ptr, stride, N, BLOCK: tl.constexpr):
    """int8 with a scale for each token, and the row's sum for a product with shifted weights."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), 1e-10)
    scale = absmax / 127
    q = round_int8(x * (127 / absmax))
    tl.store(sum_ptr + row, tl.sum(x, axis=0))
    tl.store(q_ptr + row * stride + cols, q, mask=mask)
    tl.store(scale_ptr + row, scale)


@triton.jit
def per_group_fp8(x_ptr, q_ptr, scale_ptr, group, columns, row_stride, eps, fp8_min, fp8_max,
                  BLOCK: tl.constexpr, COLUMN_MAJOR: tl.constexpr):
    """fp8 with a scale for each 128 channels of a token; a program is one group."""
    g = tl.program_id(0).to(tl.int64)
    per_row = columns // group
    row = g // per_row
    col = g % per_row
    x_ptr += row * row_stride + col * group
    q_ptr += g * group
    cols = tl.arange(0, BLOCK)
    mask = cols < group
    x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), eps)
    scale = absmax / fp8_max
    q = tl.clamp(x / scale, fp8_min, fp8_max).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + cols, q, mask=mask)
    if COLUMN_MAJOR:
        tl.store(scale_ptr + col * (tl.num_programs(0) // per_row) + row, scale)
    else:
        tl.store(scale_ptr + g, scale)


@triton.jit
def block_fp8(x_ptr, q_ptr, scale_ptr, M, N, BLOCK: tl.constexpr):
    """fp8 with a scale for each tile of a weight."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    m = pid_m * BLOCK + tl.arange(0, BLOCK)
    n = pid_n * BLOCK + tl.arange(0, BLOCK)
    offs = m[:, None] * N + n[None, :]
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x)) / 448.0
    y = (x / scale).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + offs, y, mask=mask)
    tl.store(scale_ptr + pid_m * tl.cdiv(N, BLOCK) + pid_n, scale)


@triton.jit
def silu_mul_fp8(x_ptr, q_ptr, scale_ptr, H, GROUP: tl.constexpr, STAGES: tl.constexpr):
    """The gated activation of experts and fp8 by groups behind it; a program walks over groups of
    a row."""
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, GROUP)
    for g in tl.range(tl.program_id(1), H // GROUP, tl.num_programs(1), num_stages=STAGES):
        gate = tl.load(x_ptr + row * 2 * H + g * GROUP + i).to(tl.float32)
        up = tl.load(x_ptr + row * 2 * H + H + g * GROUP + i).to(tl.float32)
        y = gate * tl.sigmoid(gate) * up
        scale = tl.maximum(tl.max(tl.abs(y)), 1e-10) / 448.0
        q = tl.minimum(tl.maximum(y / scale, -448.0), 448.0)
        tl.store(q_ptr + row * H + g * GROUP + i, q.to(q_ptr.dtype.element_ty))
        tl.store(scale_ptr + row * (H // GROUP) + g, scale)


@triton.jit
def dequant_int4(q_ptr, scales_ptr, zeros_ptr, out_ptr, cols, rows, GROUP: tl.constexpr,
                 BLOCK_X: tl.constexpr, BLOCK_Y: tl.constexpr):
    """Weights of AWQ: eight of a row in a word, in the order 0 4 1 5 2 6 3 7, zeros the same."""
    pid_x = tl.program_id(0)
    pid_y = tl.program_id(1)
    y = pid_y * BLOCK_Y + tl.arange(0, BLOCK_Y)
    x = pid_x * BLOCK_X + tl.arange(0, BLOCK_X)
    mask = (y[:, None] < rows) & (x[None, :] < cols)
    out_x = pid_x * BLOCK_X * 8 + tl.arange(0, BLOCK_X * 8)
    out_mask = (y[:, None] < rows) & (out_x[None, :] < cols * 8)
    words = tl.load(q_ptr + y[:, None] * cols + x[None, :], mask=mask, other=0)
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    order = (tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]
    shifts = tl.reshape(order, 8) * 4
    shifts = tl.broadcast_to(shifts[None, :], (BLOCK_Y * BLOCK_X, 8))
    shifts = tl.reshape(shifts, (BLOCK_Y, BLOCK_X * 8))
    words = (words >> shifts) & 0xF
    zy = pid_y * BLOCK_Y // GROUP + tl.arange(0, 1)
    zeros = tl.load(zeros_ptr + zy[:, None] * cols + x[None, :], mask=x[None, :] < cols, other=0)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.broadcast_to(zeros, (BLOCK_Y, BLOCK_X * 8))
    zeros = (zeros >> shifts) & 0xF
    scales = tl.load(scales_ptr + zy[:, None] * cols * 8 + out_x[None, :],
                     mask=out_x[None, :] < cols * 8, other=0.0)
    scales = tl.broadcast_to(scales, (BLOCK_Y, BLOCK_X * 8))
    w = (words - zeros) * scales
    tl.store(out_ptr + y[:, None] * cols * 8 + out_x[None, :], w.to(scales.dtype), mask=out_mask)


@triton.jit
def pack_int4(x_ptr, q_ptr, scale_ptr, N, GROUP: tl.constexpr, ROWS: tl.constexpr):
    """int4 by groups of a row, two in a byte: neighbours split apart after a reshape."""
    pid = tl.program_id(0)
    r = pid * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, GROUP)
    x = tl.load(x_ptr + r[:, None] * GROUP + i[None, :]).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=1), 1e-8) / 7.0
    q = libdevice.rint(x / scale[:, None]).to(tl.int32) + 8
    low, high = tl.split(tl.reshape(q, (ROWS, GROUP // 2, 2)))
    both = (low | (high << 4)).to(tl.uint8)
    half = tl.arange(0, GROUP // 2)
    tl.store(q_ptr + r[:, None] * (GROUP // 2) + half[None, :], both)
    tl.store(scale_ptr + r, scale)
