"""Calls of lattices.py, as calls.py has them."""
import library_calls
import torch
import torch.nn.functional as F
from library_calls import f32, rand, randn, zeros
from operators.calls import adds_to, i64, int32, ints, launch, power, u8

CALLS = []
add = adds_to(CALLS)


def edits(pairs, longest, letters, warps):
    a, b = (ints(0, letters, pairs, longest, dtype=u8) for _ in range(2))
    n, m = (ints(1, longest + 1, pairs) for _ in range(2))
    out = zeros(pairs, dtype=int32)

    def distance(x, y):
        row = list(range(len(y) + 1))
        for i, c in enumerate(x, 1):
            now = [i]
            for j, d in enumerate(y, 1):
                now.append(min(now[-1] + 1, row[j] + 1, row[j - 1] + (c != d)))
            row = now
        return row[-1]
    return launch([a, b, n, m, out, longest, longest], {"BLOCK": power(longest)}, pairs, [out],
                  warps, lambda: [torch.tensor([distance(a[i, :n[i]].tolist(), b[i, :m[i]].tolist())
                                                for i in range(pairs)])])


def warp(pairs, N, M, D, warps, kind=f32):
    x, y, out = randn(pairs, N, D, dtype=kind), randn(pairs, M, D, dtype=kind), \
        zeros(pairs, dtype=f32)

    def reference():
        cost = torch.cdist(x.float(), y.float()) ** 2
        table = torch.full((pairs, N + 1, M + 1), 1e30)
        table[:, 0, 0] = 0
        for i in range(N):
            for j in range(M):
                before = torch.stack([table[:, i, j], table[:, i, j + 1], table[:, i + 1, j]])
                table[:, i + 1, j + 1] = cost[:, i, j] + before.amin(0)
        return [table[:, -1, -1]]
    return launch([x, y, out, N, M], {"D": D, "BLOCK": power(M)}, pairs, [out], warps, reference)


def ctc(B, T, V, L, warps):
    logp = randn(T, B, V, dtype=f32)
    if library_calls.SMALL:
        logp = logp.log_softmax(-1)
    labels, frames, lengths = ints(1, V, B, L), ints(T - T // 8, T + 1, B), ints(L // 2, L + 1, B)
    block = power(2 * L + 1)
    alpha, loss = zeros(B, T, block, dtype=f32), zeros(B, dtype=f32)
    return launch([logp, labels, frames, lengths, alpha, loss, T, V, L, B * V],
                  {"BLOCK": block, "BLANK": 0}, B, [loss], warps,
                  lambda: [F.ctc_loss(logp, labels, frames.to(i64), lengths.to(i64),
                                      reduction="none")])


def best_paths(B, T, S, warps):
    e, step, start = randn(B, T, S, dtype=f32), randn(S, S, dtype=f32), randn(S, dtype=f32)
    came, best = zeros(B, T, S, dtype=int32), zeros(B, S, dtype=f32)

    def reference():
        score, at = start + e[:, 0], torch.zeros(B, T, S)
        for t in range(1, T):
            score, at[:, t] = (score[:, :, None] + step).max(1)
            score = score + e[:, t]
        return [at, score]
    return launch([e, step, start, came, best, T], {"S": S}, B, [came, best], warps, reference)


def plan(B, N, M, rounds, warps, reg=0.1):
    cost, out = rand(B, N, M), zeros(B, N, M, dtype=f32)

    def reference():
        k, g = -cost / reg, 0.0
        share_n, share_m = torch.tensor(1 / N).log(), torch.tensor(1 / M).log()
        for _ in range(rounds):
            f = share_n - (k + g).logsumexp(2, keepdim=True)
            g = share_m - (k + f).logsumexp(1, keepdim=True)
        return [(k + f + g).exp()]
    return launch([cost, out, N, M, reg],
                  {"ROUNDS": rounds, "BLOCK_N": power(N), "BLOCK_M": power(M)}, B, [out], warps,
                  reference)


add("lattices.py", "edit_distance", "4096 pairs of up to 256 letters, 1 warp", edits,
    dict(pairs=4096, longest=256), dict(pairs=5, longest=30), letters=4, warps=1)
add("lattices.py", "edit_distance", "512 pairs of up to 1024 letters, 4 warps", edits,
    dict(pairs=512, longest=1024), dict(pairs=3, longest=150), letters=20, warps=4)
add("lattices.py", "time_warp", "fp32 1024×128×128×4, 1 warp", warp, dict(pairs=1024, N=128, M=128),
    dict(pairs=3, N=9, M=50), D=4, warps=1)
add("lattices.py", "ctc_forward", "128×500×1000, labels of up to 100, 2 warps", ctc,
    dict(B=128, T=500, V=1000, L=100), dict(B=3, T=20, V=30, L=8), warps=2)
add("lattices.py", "viterbi", "256×512×64, 4 warps", best_paths, dict(B=256, T=512, S=64),
    dict(B=2, T=9, S=32), warps=4)
add("lattices.py", "sinkhorn", "1024×64×64, 20 rounds, 4 warps", plan,
    dict(B=1024, N=64, M=64, rounds=20), dict(B=2, N=20, M=30, rounds=5), warps=4)
