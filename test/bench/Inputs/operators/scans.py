"""Scans and sorts: cumulative sums, products and maxima, sorts, the k largest, selections."""
import triton
import triton.language as tl


@triton.jit
def cumsum_rows(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    """Cumulative sums of rows, longer than a block: what came before is carried along."""
    row = tl.program_id(0).to(tl.int64)
    carry = 0.0
    for start in range(0, N, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=0) + carry
        carry += tl.sum(x, axis=0)
        tl.store(out_ptr + row * N + offs, y.to(out_ptr.dtype.element_ty), mask=offs < N)


@triton.jit
def cumsum_part(x_ptr, out_ptr, sums_ptr, n, parts, BLOCK: tl.constexpr):
    """The first of three kernels for one long array: sums within blocks, and those of blocks."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    if tl.constexpr(x.dtype.is_int64()) or tl.constexpr(x.dtype.is_uint64()):
        x = x.to(tl.int64)
    else:
        x = x.to(tl.float32)
    r = tl.cumsum(x, axis=0)
    tl.store(out_ptr + offs, r, mask=mask)
    last = tl.sum(tl.where(offs == min(pid * BLOCK + BLOCK, n) - 1, r, 0), axis=0)
    tl.store(sums_ptr + pid, last)


@triton.jit
def cumsum_columns(x_ptr, out_ptr, A, B, C, BLOCK_B: tl.constexpr, BLOCK_C: tl.constexpr):
    """Cumulative sums along the middle dimension of A x B x C, a tile after the other."""
    pid_c = tl.program_id(0)
    pid_a = tl.program_id(1)
    c = pid_c * BLOCK_C + tl.arange(0, BLOCK_C)
    carry = tl.zeros([1, BLOCK_C], dtype=tl.float32)
    for start in range(0, B, BLOCK_B):
        b = start + tl.arange(0, BLOCK_B)
        offs = pid_a * B * C + b[:, None] * C + c[None, :]
        mask = (b[:, None] < B) & (c[None, :] < C)
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + offs, tl.cumsum(x, axis=0) + carry, mask=mask)
        carry += tl.sum(x, axis=0)[None, :]


@triton.jit
def larger_with_index(v1, i1, v2, i2):
    take = v2 >= v1
    return tl.where(take, v2, v1), tl.where(take, i2, i1)


@triton.jit
def cummax_rows(x_ptr, out_ptr, index_ptr, N, BLOCK: tl.constexpr):
    """Cumulative maxima of rows and where they are, by an associative scan of pairs."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=-float("inf")).to(tl.float32)
    value, at = tl.associative_scan((x, offs), 0, larger_with_index)
    tl.store(out_ptr + row * N + offs, value.to(out_ptr.dtype.element_ty), mask=offs < N)
    tl.store(index_ptr + row * N + offs, at, mask=offs < N)


@triton.jit
def cumprod_rows(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Cumulative products of rows that fit into a block, several at once, from the end."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    offs = m[:, None] * N + n[None, :]
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask, other=1.0).to(tl.float32)
    tl.store(out_ptr + offs, tl.cumprod(x, axis=1, reverse=True), mask=mask)


@triton.jit
def log_add(a, b):
    m = tl.maximum(a, b)
    return m + tl.log(1 + tl.exp(tl.minimum(a, b) - m))


@triton.jit
def logcumsumexp(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    """log(cumsum(exp(x))) of a row, by a scan with a function of its own."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=-1e30)
    tl.store(out_ptr + row * N + offs, tl.associative_scan(x, 0, log_add), mask=offs < N)


@triton.jit
def sort_rows(x_ptr, out_ptr, N, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    """Rows sorted by tl.sort."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    fill = -float("inf") if DESCENDING else float("inf")
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=fill)
    x = tl.sort(x, descending=DESCENDING)
    tl.store(out_ptr + row * N + offs, x, mask=offs < N)


@triton.jit
def topk_rows(x_ptr, out_ptr, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, K: tl.constexpr):
    """The k largest of rows by tl.topk, several rows in a program (scores of experts)."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=n[None, :] < N, other=-float("inf"))
    best = tl.topk(x, K, dim=1)
    k = tl.arange(0, K)
    tl.store(out_ptr + m[:, None] * K + k[None, :], best)


@triton.jit
def topk_packed(x_ptr, values_ptr, index_ptr, N, K: tl.constexpr, BLOCK: tl.constexpr):
    """The k largest and where they are: numbers made into keys that sort as integers, packed
    with their indices into 64 bits, the best of each block merged with those before."""
    row = tl.program_id(0).to(tl.int64)
    best = tl.zeros([K], dtype=tl.uint64)
    for start in range(0, N, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=-float("inf"))
        bits = x.to(tl.float32).to(tl.uint32, bitcast=True)
        key = bits ^ tl.where(bits >> 31 != 0, 0xFFFFFFFF, 0x80000000).to(tl.uint32)
        packed = (key.to(tl.uint64) << 32) | (0x7FFFFFFF - offs).to(tl.uint64)
        packed = tl.where(offs < N, packed, 0)
        both = tl.join(tl.topk(packed, K), best)
        best = tl.topk(tl.reshape(both, [2 * K]), K)
    key = (best >> 32).to(tl.uint32)
    bits = key ^ tl.where(key >> 31 != 0, 0x80000000, 0xFFFFFFFF).to(tl.uint32)
    k = tl.arange(0, K)
    tl.store(values_ptr + row * K + k, bits.to(tl.float32, bitcast=True))
    tl.store(index_ptr + row * K + k, 0x7FFFFFFF - (best & 0x7FFFFFFF).to(tl.int32))


@triton.jit
def exchange(x, ids, flip, i: tl.constexpr, n_dims: tl.constexpr):
    shape: tl.constexpr = [2**i, 2, 2**(n_dims - i - 1)]
    y = tl.reshape(x, shape)
    mask = tl.arange(0, 2)[None, :, None]
    left = tl.broadcast_to(tl.sum(y * (1 - mask), 1)[:, None, :], shape).to(x.dtype)
    right = tl.broadcast_to(tl.sum(y * mask, 1)[:, None, :], shape).to(x.dtype)
    left = tl.reshape(left, x.shape)
    right = tl.reshape(right, x.shape)
    y_ids = tl.reshape(ids, shape)
    left_ids = tl.broadcast_to(tl.sum(y_ids * (1 - mask), 1)[:, None, :], shape)
    right_ids = tl.broadcast_to(tl.sum(y_ids * mask, 1)[:, None, :], shape)
    left_ids = tl.reshape(left_ids, x.shape)
    right_ids = tl.reshape(right_ids, x.shape)
    ileft = left.to(tl.int32, bitcast=True)
    iright = right.to(tl.int32, bitcast=True)
    ix = x.to(tl.int32, bitcast=True)
    cond = (left > right) != flip
    ret = ix ^ tl.where(cond, ileft ^ iright, tl.zeros_like(ix))
    new_ids = ids ^ tl.where(cond, left_ids ^ right_ids, tl.zeros_like(ids))
    return ret.to(x.dtype, bitcast=True), new_ids


@triton.jit
def bitonic_merge(x, ids, stage: tl.constexpr, last: tl.constexpr, n_dims: tl.constexpr):
    if last:
        flip = ids < 0
    else:
        shape: tl.constexpr = [x.numel >> (stage + 1), 2, 2**stage]
        half = tl.broadcast_to(tl.arange(0, 2)[None, :, None], shape)
        flip = tl.reshape(half, x.shape) != 0
    for j in tl.static_range(stage):
        x, ids = exchange(x, ids, flip, j + (n_dims - stage), n_dims)
    return x, ids


@triton.jit
def argsort_rows(x_ptr, out_ptr, index_ptr, N, BLOCK: tl.constexpr, LOG: tl.constexpr):
    """A bitonic sort by hand, of numbers and their indices, by reshapes and sums."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + offs, mask=offs < N, other=1e30)
    ids = offs
    for i in tl.static_range(1, LOG + 1):
        x, ids = bitonic_merge(x, ids, i, i == LOG, LOG)
    tl.store(out_ptr + row * N + offs, x, mask=offs < N)
    tl.store(index_ptr + row * N + offs, ids, mask=offs < N)


@triton.jit
def masked_select(x_ptr, mask_ptr, before_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """x[mask]: the places come from sums within a block and what earlier blocks have."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n
    x = tl.load(x_ptr + offs, mask=inside, other=0.0)
    keep = tl.load(mask_ptr + offs, mask=inside, other=0).to(tl.int1)
    place = tl.cumsum(keep.to(tl.int32), axis=0) - 1 + tl.load(before_ptr + pid)
    tl.store(out_ptr + place, x, mask=keep & inside)


@triton.jit
def histogram_shared(x_ptr, bins_ptr, n, PER: tl.constexpr, BLOCK: tl.constexpr,
                     BINS: tl.constexpr):
    """How often each of BINS numbers occurs: tl.histogram over blocks, then atomics."""
    start = tl.program_id(0) * PER * BLOCK
    counts = tl.zeros([BINS], dtype=tl.int32)
    for i in range(PER):
        offs = start + i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0)
        counts += tl.histogram(x, BINS, mask=offs < n)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts, sem="relaxed")
