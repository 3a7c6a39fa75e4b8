"""Recurrences over lattices of pairs: alignments, best paths and sums over paths, a row a step."""
import triton
import triton.language as tl

NEVER = tl.constexpr(-1e30)


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b)


@triton.jit
def min_plus(m_a, c_a, m_b, c_b):
    """x -> min(m, x + c), one after the other."""
    return tl.minimum(m_b, m_a + c_b), c_a + c_b


@triton.jit
def log_add_two(a, b):
    high = tl.maximum(a, b)
    return high + tl.log(1 + tl.exp(tl.minimum(a, b) - high))


@triton.jit
def edit_distance(a_ptr, b_ptr, a_len_ptr, b_len_ptr, out_ptr, stride_a, stride_b,
                  BLOCK: tl.constexpr):
    """Levenshtein's distance of two strings: insertions of a row by a running minimum."""
    pair = tl.program_id(0).to(tl.int64)
    n = tl.load(a_len_ptr + pair)
    m = tl.load(b_len_ptr + pair)
    j = tl.arange(0, BLOCK)
    b = tl.load(b_ptr + pair * stride_b + j, mask=j < m, other=-1).to(tl.int32)
    row = j + 1
    before = tl.maximum(j - 1, 0)
    for i in range(n):
        a = tl.load(a_ptr + pair * stride_a + i).to(tl.int32)
        diagonal = tl.where(j == 0, i, tl.gather(row, before, 0))
        best = tl.minimum(row + 1, diagonal + (b != a).to(tl.int32))
        best = tl.where(j == 0, tl.minimum(best, i + 2), best)
        row = tl.associative_scan(best - j, 0, smaller) + j
    last = tl.sum(tl.where(j == m - 1, row, 0))
    tl.store(out_ptr + pair, last)


@triton.jit
def time_warp(x_ptr, y_ptr, out_ptr, N, M, D: tl.constexpr, BLOCK: tl.constexpr):
    """Dynamic time warping of two sequences of D features: a row is a scan of min-plus maps."""
    pair = tl.program_id(0)
    x_ptr += pair * N * D
    y_ptr += pair * M * D
    j = tl.arange(0, BLOCK)
    inside = j < M
    row = tl.full([BLOCK], 1e30, tl.float32)
    first = 0.0
    for i in range(N):
        cost = tl.zeros([BLOCK], tl.float32)
        for d in tl.static_range(D):
            x = tl.load(x_ptr + i * D + d).to(tl.float32)
            y = tl.load(y_ptr + j * D + d, mask=inside, other=0.0).to(tl.float32)
            cost += (x - y) * (x - y)
        diagonal = tl.where(j == 0, first, tl.gather(row, tl.maximum(j - 1, 0), 0))
        best = tl.minimum(row, diagonal) + cost
        row, _ = tl.associative_scan((best, cost), 0, min_plus)
        first = 1e30
    tl.store(out_ptr + pair, tl.sum(tl.where(j == M - 1, row, 0.0)))


@triton.jit
def ctc_forward(logp_ptr, label_ptr, frames_ptr, length_ptr, alpha_ptr, loss_ptr, T, V, L,
                stride_t, BLOCK: tl.constexpr, BLANK: tl.constexpr):
    """Logarithms of sums over the paths of a labelling, blanks between the labels; all are kept."""
    row = tl.program_id(0)
    frames = tl.load(frames_ptr + row)
    states = 2 * tl.load(length_ptr + row) + 1
    s = tl.arange(0, BLOCK)
    odd = s % 2 == 1
    here = tl.load(label_ptr + row * L + s // 2, mask=odd & (s < states), other=BLANK)
    two = tl.load(label_ptr + row * L + s // 2 - 1, mask=odd & (s > 2) & (s < states), other=BLANK)
    skips = odd & (s > 2) & (here != two)
    logp_ptr += row.to(tl.int64) * V
    alpha_ptr += row.to(tl.int64) * T * BLOCK
    p = tl.load(logp_ptr + here)
    alpha = tl.where((s < 2) & (s < states), p, NEVER)
    tl.store(alpha_ptr + s, alpha)
    for t in range(1, frames):
        p = tl.load(logp_ptr + t * stride_t + here)
        one = tl.where(s > 0, tl.gather(alpha, tl.maximum(s - 1, 0), 0), NEVER)
        skip = tl.where(skips, tl.gather(alpha, tl.maximum(s - 2, 0), 0), NEVER)
        alpha = log_add_two(log_add_two(alpha, one), skip) + p
        alpha = tl.where(s < states, alpha, NEVER)
        tl.store(alpha_ptr + t * BLOCK + s, alpha)
    end = tl.where((s == states - 1) | (s == states - 2), alpha, NEVER)
    high = tl.max(end, 0)
    tl.store(loss_ptr + row, -high - tl.log(tl.sum(tl.exp(end - high), 0)))


@triton.jit
def viterbi(emission_ptr, transition_ptr, start_ptr, from_ptr, best_ptr, T, S: tl.constexpr):
    """Best scores of paths through S states, and where each came from."""
    row = tl.program_id(0)
    i = tl.arange(0, S)
    step = tl.load(transition_ptr + i[:, None] * S + i[None, :])
    emission_ptr += row * T * S
    from_ptr += row * T * S
    score = tl.load(start_ptr + i) + tl.load(emission_ptr + i)
    for t in range(1, T):
        emitted = tl.load(emission_ptr + t * S + i)
        best, at = tl.max(score[:, None] + step, 0, return_indices=True)
        tl.store(from_ptr + t * S + i, at)
        score = best + emitted
    tl.store(best_ptr + row * S + i, score)


@triton.jit
def sinkhorn(cost_ptr, out_ptr, N, M, reg, ROUNDS: tl.constexpr, BLOCK_N: tl.constexpr,
             BLOCK_M: tl.constexpr):
    """A plan of equal margins: potentials of rows and columns in turn, in logarithms."""
    pair = tl.program_id(0)
    n = tl.arange(0, BLOCK_N)
    m = tl.arange(0, BLOCK_M)
    inside = (n < N)[:, None] & (m < M)[None, :]
    at = pair * N * M + n[:, None] * M + m[None, :]
    k = tl.load(cost_ptr + at, mask=inside, other=0.0) / -reg
    k = tl.where(inside, k, NEVER)
    g = tl.zeros([BLOCK_M], tl.float32)
    f = tl.zeros([BLOCK_N], tl.float32)
    share_n = -tl.log(N.to(tl.float32))
    share_m = -tl.log(M.to(tl.float32))
    for _ in range(ROUNDS):
        z = k + g[None, :]
        high = tl.max(z, 1)
        f = tl.where(n < N, share_n - high - tl.log(tl.sum(tl.exp(z - high[:, None]), 1)), 0.0)
        z = k + f[:, None]
        high = tl.max(z, 0)
        g = tl.where(m < M, share_m - high - tl.log(tl.sum(tl.exp(z - high[None, :]), 0)), 0.0)
    tl.store(out_ptr + at, tl.exp(k + f[:, None] + g[None, :]), mask=inside)
