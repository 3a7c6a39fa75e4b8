"""Losses and what is reduced with them, and a loss from a product that is not kept."""
import triton
import triton.language as tl


@triton.jit
def nll_loss_2d(x_ptr, target_ptr, weight_ptr, out_ptr, total_ptr, N, C, P, ignore_index,
                BLOCK_N: tl.constexpr, BLOCK_P: tl.constexpr):
    """Weighted negative likelihood of N x C x P; sums of losses and of weights by atomics."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (n < N)[:, None] & (p < P)[None, :]
    target = tl.load(target_ptr + n[:, None] * P + p[None, :], mask=mask, other=0)
    keep = mask & (target != ignore_index)
    at = tl.where(keep, target, 0)
    weight = tl.load(weight_ptr + at, mask=keep, other=0).to(tl.float32)
    x = tl.load(x_ptr + n[:, None] * C * P + at * P + p[None, :], mask=keep, other=0)
    loss = tl.sum(tl.sum(-x.to(tl.float32) * weight, axis=1), axis=0)
    tl.atomic_add(out_ptr, loss, sem="relaxed")
    tl.atomic_add(total_ptr, tl.sum(tl.sum(weight, axis=1), axis=0), sem="relaxed")


@triton.jit
def nll_loss_backward(dout_ptr, target_ptr, weight_ptr, total_ptr, dx_ptr, N, C, ignore_index,
                      BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr):
    """The gradient of rows: zeros but for one place."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    target = tl.load(target_ptr + n, mask=n < N, other=ignore_index)
    keep = target != ignore_index
    weight = tl.load(weight_ptr + target, mask=keep, other=0.0)
    g = -weight * tl.load(dout_ptr) / tl.load(total_ptr)
    for start in range(0, C, BLOCK_C):
        c = start + tl.arange(0, BLOCK_C)
        dx = tl.where((target[:, None] == c[None, :]) & keep[:, None], g[:, None], 0.0)
        tl.store(dx_ptr + n[:, None] * C + c[None, :], dx.to(dx_ptr.dtype.element_ty),
                 mask=(n < N)[:, None] & (c < C)[None, :])


@triton.jit
def softplus(x):
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


@triton.jit
def focal_loss_forward(x_ptr, target_ptr, part_ptr, n, C, gamma, alpha, BLOCK: tl.constexpr):
    """Sigmoid focal loss of boxes by classes; a program's sum."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + i // C, mask=mask, other=-1)
    positive = t == i % C
    p = tl.sigmoid(x)
    pt = tl.where(positive, p, 1.0 - p)
    at = tl.where(positive, alpha, 1.0 - alpha)
    ce = softplus(tl.where(positive, -x, x))
    loss = at * tl.exp(gamma * tl.log(tl.maximum(1.0 - pt, 1e-20))) * ce
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.where(mask, loss, 0.0), axis=0))


@triton.jit
def smooth_l1_part(x_ptr, y_ptr, part_ptr, n, beta, BLOCK: tl.constexpr):
    """Smooth L1, the first of two steps of its mean."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=mask, other=0.0).to(tl.float32)
    d = tl.abs(x - y)
    loss = tl.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)
    tl.store(part_ptr + tl.program_id(0), tl.sum(loss, axis=0))


@triton.jit
def sum_parts(part_ptr, out_ptr, parts, divisor, BLOCK: tl.constexpr):
    """The second step: one program adds what all have left."""
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, parts, BLOCK):
        acc += tl.load(part_ptr + start + i, mask=start + i < parts, other=0.0)
    tl.store(out_ptr, tl.sum(acc, axis=0) / divisor)


@triton.jit
def kl_div_rows(y_pred_ptr, y_true_ptr, loss_ptr, N, eps, LOG_TARGET: tl.constexpr,
                BLOCK: tl.constexpr):
    """Kullback-Leibler divergence, summed over rows of a vocabulary."""
    row = tl.program_id(0).to(tl.int64)
    y_pred_ptr += row * N
    y_true_ptr += row * N
    total = 0.0
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        pred = tl.load(y_pred_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        true = tl.load(y_true_ptr + n, mask=n < N, other=0.0).to(tl.float32)
        if LOG_TARGET:
            loss = tl.where(n < N, tl.exp(true) * (true - pred), 0.0)
        else:
            loss = true * (tl.log(tl.maximum(true, eps)) - pred)
        total += tl.sum(loss, axis=0)
    tl.store(loss_ptr + row, total)


@triton.jit
def jsd_forward_grad(x_ptr, y_ptr, loss_ptr, dx_ptr, labels_ptr, beta, scale, ignore_index, N,
                     HAS_LABELS: tl.constexpr, BLOCK: tl.constexpr):
    """Generalized Jensen-Shannon divergence of logarithms, its gradient in the same pass."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * N
    y_ptr += row * N
    dx_ptr += row * N
    if HAS_LABELS:
        if tl.load(labels_ptr + row) == ignore_index:
            for start in range(0, N, BLOCK):
                n = start + tl.arange(0, BLOCK)
                tl.store(dx_ptr + n, tl.zeros([BLOCK], dx_ptr.dtype.element_ty), mask=n < N)
            tl.store(loss_ptr + row, 0.0)
            return
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + n, mask=n < N, other=float("-inf")).to(tl.float32)
        y = tl.load(y_ptr + n, mask=n < N, other=float("-inf")).to(tl.float32)
        largest = tl.maximum(tl.max(x, axis=0), tl.max(y, axis=0))
        q = tl.exp(x - largest) * tl.exp(largest)
        p = tl.exp(y - largest) * tl.exp(largest)
        bp = beta * p
        wq = q - beta * q
        m = bp + wq
        log_m = tl.log(m)
        loss = tl.where(n < N, bp * (y - log_m) + wq * (x - log_m), 0.0)
        dx = wq * (x - log_m)
        total += loss * scale
        tl.store(dx_ptr + n, (dx * scale).to(dx_ptr.dtype.element_ty), mask=n < N)
    tl.store(loss_ptr + row, tl.sum(total, axis=0))


@triton.jit
def triplet_loss(a_ptr, p_ptr, n_ptr, loss_ptr, rows, D, margin, eps, BLOCK_M: tl.constexpr,
                 BLOCK_D: tl.constexpr):
    """max(|a - p| - |a - n| + margin, 0) of rows."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    near = tl.zeros([BLOCK_M], dtype=tl.float32)
    far = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        mask = (m < rows)[:, None] & (d < D)[None, :]
        offs = m[:, None] * D + d[None, :]
        a = tl.load(a_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        p = tl.load(p_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        n = tl.load(n_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        dp = tl.where(mask, a - p + eps, 0.0)
        dn = tl.where(mask, a - n + eps, 0.0)
        near += tl.sum(dp * dp, axis=1)
        far += tl.sum(dn * dn, axis=1)
    loss = tl.maximum(tl.sqrt(near) - tl.sqrt(far) + margin, 0.0)
    tl.store(loss_ptr + m, loss, mask=m < rows)


@triton.jit
def contrastive_loss(a_ptr, b_ptr, loss_ptr, rows, D, scale, BLOCK_M: tl.constexpr,
                     BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    """Pictures against all captions: the diagonal of a @ b.T against its rows' sums of powers."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    top = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    own = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(0, rows, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for k in range(0, D, BLOCK_D):
            d = k + tl.arange(0, BLOCK_D)
            a = tl.load(a_ptr + m[:, None] * D + d[None, :],
                        mask=(m < rows)[:, None] & (d < D)[None, :], other=0.0)
            b = tl.load(b_ptr + n[None, :] * D + d[:, None],
                        mask=(n < rows)[None, :] & (d < D)[:, None], other=0.0)
            acc += tl.dot(a, b)
        s = tl.where((n < rows)[None, :], acc * scale, float("-inf"))
        own += tl.sum(tl.where(m[:, None] == n[None, :], s, 0.0), axis=1)
        higher = tl.maximum(top, tl.max(s, axis=1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(s - higher[:, None]), axis=1)
        top = higher
    tl.store(loss_ptr + m, top + tl.log(total) - own, mask=m < rows)


@triton.jit
def linear_cross_entropy(x_ptr, w_ptr, target_ptr, top_ptr, sum_ptr, own_ptr, T, V, H,
                         BLOCK_T: tl.constexpr, BLOCK_V: tl.constexpr, BLOCK_H: tl.constexpr,
                         SPLIT_V: tl.constexpr):
    """Cross entropy of x @ w.T, whose logits are not kept: maxima and sums of a share of the
    vocabulary, and the target's logit from the share that it is in."""
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    split = tl.program_id(1)
    target = tl.load(target_ptr + t, mask=t < T, other=-1)
    share = tl.cdiv(tl.cdiv(V, BLOCK_V), SPLIT_V) * BLOCK_V
    first = split * share
    top = tl.full([BLOCK_T], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_T], dtype=tl.float32)
    own = tl.full([BLOCK_T], float("-inf"), dtype=tl.float32)
    for start in range(first, min(first + share, V), BLOCK_V):
        v = start + tl.arange(0, BLOCK_V)
        acc = tl.zeros([BLOCK_T, BLOCK_V], dtype=tl.float32)
        for k in range(0, H, BLOCK_H):
            h = k + tl.arange(0, BLOCK_H)
            x = tl.load(x_ptr + t[:, None] * H + h[None, :],
                        mask=(t < T)[:, None] & (h < H)[None, :], other=0.0)
            w = tl.load(w_ptr + v.to(tl.int64)[:, None] * H + h[None, :],
                        mask=(v < V)[:, None] & (h < H)[None, :], other=0.0)
            acc = tl.dot(x, tl.trans(w), acc)
        logits = tl.where((v < V)[None, :], acc, float("-inf"))
        hit = target[:, None] == v[None, :]
        own = tl.maximum(own, tl.max(tl.where(hit, logits, float("-inf")), axis=1))
        higher = tl.maximum(top, tl.max(logits, axis=1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(logits - higher[:, None]), axis=1)
        top = higher
    tl.store(top_ptr + split * T + t, top, mask=t < T)
    tl.store(sum_ptr + split * T + t, total, mask=t < T)
    mine = (target >= first) & (target < first + share) & (t < T)
    tl.store(own_ptr + t, own, mask=mine)


@triton.jit
def cosine_embedding_loss(x_ptr, y_ptr, sign_ptr, loss_ptr, D, margin, eps, BLOCK: tl.constexpr):
    """1 - cos of rows that belong together, max(cos - margin, 0) of others."""
    row = tl.program_id(0)
    xy = tl.zeros([BLOCK], dtype=tl.float32)
    xx = tl.zeros([BLOCK], dtype=tl.float32)
    yy = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, D, BLOCK):
        d = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
        xy += x * y
        xx += x * x
        yy += y * y
    cos = tl.sum(xy, axis=0) / tl.sqrt((tl.sum(xx, axis=0) + eps) * (tl.sum(yy, axis=0) + eps))
    if tl.load(sign_ptr + row) == 1:
        tl.store(loss_ptr + row, 1.0 - cos)
    else:
        tl.store(loss_ptr + row, tl.maximum(cos - margin, 0.0))
