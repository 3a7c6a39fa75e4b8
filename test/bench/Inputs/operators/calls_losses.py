"""Calls of losses.py, as calls.py has them."""
import library_calls
import torch
import torch.nn.functional as F
from library_calls import bf16, cdiv, f16, f32, rand, randn, zeros
from operators.calls import adds_to, i64, int32, ints, launch

CALLS = []
add = adds_to(CALLS)


def log_softmaxes(M, N, kind):
    x = randn(M, N, dtype=kind)
    return x.float().log_softmax(1).to(kind) if library_calls.FILLED else x


def nll_2d(N, C, P, tile, warps, kind=f32):
    x, weight, target = randn(N, C, P, dtype=kind), rand(C, low=0.5, high=1.5), \
        ints(0, C, N, P, dtype=i64)
    target[0, 1] = -100
    outs = [zeros(1, dtype=f32), zeros(1, dtype=f32)]

    def reference():
        loss = F.nll_loss(x.float(), target, weight, reduction="sum")
        return [loss, torch.where(target >= 0, weight[target.clamp_min(0)], 0.0).sum()]
    return launch([x, target, weight, *outs, N, C, P, -100],
                  {"BLOCK_N": tile[0], "BLOCK_P": tile[1]}, (cdiv(P, tile[1]), cdiv(N, tile[0])),
                  outs, warps, reference)


def nll_back(N, C, tile, warps, kind=bf16):
    dout, weight, target = rand(1), rand(C, low=0.5, high=1.5), ints(0, C, N, dtype=i64)
    target[1] = -100
    total, dx = rand(1, low=float(N), high=N + 1.0), zeros(N, C, dtype=kind)

    def reference():
        leaf = torch.zeros(N, C, requires_grad=True)
        (F.nll_loss(leaf, target, weight, reduction="sum") * dout / total).sum().backward()
        return [leaf.grad]
    return launch([dout, target, weight, total, dx, N, C, -100],
                  {"BLOCK_N": tile[0], "BLOCK_C": tile[1]}, cdiv(N, tile[0]), [dx], warps,
                  reference)


def focal(boxes, C, block, warps, gamma=2.0, alpha=0.25, kind=bf16):
    x, target = randn(boxes, C, dtype=kind), ints(-1, C, boxes, dtype=int32)
    grid = cdiv(boxes * C, block)
    part = zeros(grid, dtype=f32)

    def reference():
        v, hit = x.float(), (target[:, None] == torch.arange(C)).float()
        p = v.sigmoid()
        pt, at = p * hit + (1 - p) * (1 - hit), alpha * hit + (1 - alpha) * (1 - hit)
        loss = at * (1 - pt) ** gamma * \
            F.binary_cross_entropy_with_logits(v, hit, reduction="none")
        return [F.pad(loss.flatten(), (0, grid * block - boxes * C)).view(grid, block).sum(1)]
    return launch([x, target, part, boxes * C, C, gamma, alpha], {"BLOCK": block}, grid, [part],
                  warps, reference)


def smooth_l1(n, block, warps, beta=0.7, kind=f32):
    x, y, grid = randn(n, dtype=kind), randn(n, dtype=kind), cdiv(n, block)
    part = zeros(grid, dtype=f32)

    def reference():
        loss = F.smooth_l1_loss(x.float(), y.float(), reduction="none", beta=beta)
        return [F.pad(loss, (0, grid * block - n)).view(grid, block).sum(1)]
    return launch([x, y, part, n, beta], {"BLOCK": block}, grid, [part], warps, reference)


def sum_parts(parts, block, warps):
    part, out = rand(parts), zeros(1, dtype=f32)
    return launch([part, out, parts, 1000.0], {"BLOCK": block}, 1, [out], warps,
                  lambda: [part.sum() / 1000.0])


def kl_div(rows, N, block, warps, log_target, kind=bf16):
    pred, true = log_softmaxes(rows, N, kind), log_softmaxes(rows, N, kind)
    true, loss = true if log_target else true.exp(), zeros(rows, dtype=f32)
    return launch([pred, true, loss, N, 1e-10], {"LOG_TARGET": log_target, "BLOCK": block}, rows,
                  [loss], warps,
                  lambda: [F.kl_div(pred.float(), true.float(), reduction="none",
                                    log_target=log_target).sum(1)])


def jsd(rows, N, block, warps, beta=0.5, kind=bf16):
    x, y = log_softmaxes(rows, N, kind), log_softmaxes(rows, N, kind)
    labels, loss, dx = ints(0, N, rows, dtype=i64), zeros(rows, dtype=f32), \
        zeros(rows, N, dtype=kind)
    labels[1] = -100
    scale = 1.0 / (rows - 1)

    def reference():
        leaf, b = x.float().requires_grad_(), y.float()
        m = (beta * b.exp() + (1 - beta) * leaf.exp()).log()
        each = beta * b.exp() * (b - m) + (1 - beta) * leaf.exp() * (leaf - m)
        each = each.sum(1) * (labels != -100) * scale
        each.sum().backward()
        return [each.detach(), leaf.grad]
    return launch([x, y, loss, dx, labels, beta, scale, -100, N],
                  {"HAS_LABELS": True, "BLOCK": block}, rows, [loss, dx], warps, reference)


def triplet(rows, D, tile, warps, kind=f16):
    a, p, n, loss = (*(randn(rows, D, dtype=kind) for _ in range(3)), zeros(rows, dtype=f32))
    return launch([a, p, n, loss, rows, D, 1.0, 1e-6], {"BLOCK_M": tile[0], "BLOCK_D": tile[1]},
                  cdiv(rows, tile[0]), [loss], warps,
                  lambda: [F.triplet_margin_loss(a.float(), p.float(), n.float(),
                                                 reduction="none")])


def contrastive(rows, D, tile, warps, stages, kind=f16):
    a, b, loss = randn(rows, D, dtype=kind), randn(rows, D, dtype=kind), zeros(rows, dtype=f32)
    scale = D ** -0.5
    return launch([a, b, loss, rows, D, scale],
                  {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "BLOCK_D": tile[2]},
                  cdiv(rows, tile[0]), [loss], warps,
                  lambda: [F.cross_entropy(a.float() @ b.float().T * scale, torch.arange(rows),
                                           reduction="none")], stages)


def linear_loss(T, V, H, tile, split, warps, stages, kind=bf16):
    x, w = randn(T, H, dtype=kind), randn(V, H, dtype=kind, scale=H ** -0.5)
    target = ints(0, V, T, dtype=i64)
    top, total, own = zeros(split, T, dtype=f32), zeros(split, T, dtype=f32), zeros(T, dtype=f32)

    def reference():
        logits = x.float() @ w.float().T
        parts = logits.split(cdiv(cdiv(V, tile[1]), split) * tile[1], 1)
        tops = torch.stack([p.amax(1) for p in parts])
        return [tops, torch.stack([(p - m[:, None]).exp().sum(1) for p, m in zip(parts, tops)]),
                logits.gather(1, target[:, None])]
    defines = {"BLOCK_T": tile[0], "BLOCK_V": tile[1], "BLOCK_H": tile[2], "SPLIT_V": split}
    return launch([x, w, target, top, total, own, T, V, H], defines, (cdiv(T, tile[0]), split),
                  [top, total, own], warps, reference, stages)


def cosine_embedding(rows, D, block, warps, kind=bf16):
    x, y = randn(rows, D, dtype=kind), randn(rows, D, dtype=kind)
    sign, loss = ints(0, 2, rows) * 2 - 1, zeros(rows, dtype=f32)
    return launch([x, y, sign, loss, D, 0.01, 1e-12], {"BLOCK": block}, rows, [loss], warps,
                  lambda: [F.cosine_embedding_loss(x.float(), y.float(), sign, 0.01,
                                                   reduction="none")])


add("losses.py", "nll_loss_2d", "fp32 16×21×512×512, 4 warps", nll_2d, dict(N=16, C=21, P=1 << 18),
    dict(N=3, C=5, P=70), tile=(1, 1024), warps=4)
add("losses.py", "nll_loss_backward", "bf16 16384×4096, 4 warps", nll_back, dict(N=16384, C=4096),
    dict(N=9, C=70), tile=(4, 512), warps=4)
add("losses.py", "focal_loss_forward", "bf16 524288×80, 4 warps", focal, dict(boxes=1 << 19, C=80),
    dict(boxes=31, C=80), block=1024, warps=4)
add("losses.py", "smooth_l1_part", "fp32 2^25, 4 warps", smooth_l1, dict(n=1 << 25), dict(n=5001),
    block=2048, warps=4)
add("losses.py", "sum_parts", "fp32 262144, 8 warps", sum_parts, dict(parts=1 << 18),
    dict(parts=5000), block=2048, warps=8)
add("losses.py", "kl_div_rows", "bf16 4096×32000, 8 warps", kl_div, dict(rows=4096, N=32000,
    block=4096), dict(rows=3, N=700, block=256), warps=8, log_target=False)
add("losses.py", "kl_div_rows", "bf16 4096×32000, of logarithms, 8 warps", kl_div,
    dict(rows=4096, N=32000, block=4096), dict(rows=3, N=700, block=256), warps=8, log_target=True)
add("losses.py", "jsd_forward_grad", "bf16 4096×32000, 8 warps", jsd, dict(rows=4096, N=32000,
    block=8192), dict(rows=3, N=700, block=256), warps=8)
add("losses.py", "triplet_loss", "fp16 65536×768, 4 warps", triplet, dict(rows=65536, D=768),
    dict(rows=9, D=150), tile=(4, 256), warps=4)
add("losses.py", "contrastive_loss", "fp16 8192×512, 8 warps", contrastive,
    dict(rows=8192, D=512, tile=(64, 128, 64)), dict(rows=70, D=72, tile=(32, 32, 32)), warps=8,
    stages=3)
add("losses.py", "linear_cross_entropy", "bf16 1024×32000×2048, 8 warps", linear_loss,
    dict(T=1024, V=32000, H=2048, tile=(128, 128, 64), split=8),
    dict(T=40, V=300, H=72, tile=(32, 32, 32), split=3), warps=8, stages=3)
add("losses.py", "cosine_embedding_loss", "bf16 65536×1024, 4 warps", cosine_embedding,
    dict(rows=65536, D=1024, block=1024), dict(rows=9, D=150, block=128), warps=4)
