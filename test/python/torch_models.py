# What tutorials of Triton do, host code and all, with `import tkc as triton`: on the CPU's tensors, agreeing with torch.
# REQUIRES: torch
# RUN: %torch-python %s | FileCheck %s
import torch

import tkc as triton
import tkc.language as tl
from tkc.runtime import driver

DEVICE = triton.runtime.driver.active.get_active_torch_device()
assert DEVICE.type == "cpu" and driver.active.get_current_target().backend == "cpu"
torch.manual_seed(0)


# ---- vectors ----
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


def add(x, y):
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, out, n, BLOCK_SIZE=1024)
    return out


for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8):
    x, y = (torch.rand(9843, device=DEVICE) * 100).to(dtype), (torch.rand(9843, device=DEVICE) * 100).to(dtype)
    assert torch.equal(add(x, y), x + y), dtype
x = torch.arange(20.)
assert torch.equal(add(x[3:], torch.nn.Parameter(x[:-3].clone())), x[3:] + x[:-3])
# CHECK: add
print("add")


# ---- softmax: a grid of as many programs as run at once, which a compiled kernel's needs decide ----
@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=num_stages):
        at = tl.arange(0, BLOCK_SIZE)
        v = tl.load(in_ptr + row * in_stride + at, mask=at < n_cols, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out_ptr + row * out_stride + at, e / tl.sum(e, axis=0), mask=at < n_cols)


properties = driver.active.utils.get_device_properties(DEVICE.index)


def softmax(x):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    y = torch.empty_like(x)
    kernel = softmax_kernel.warmup(y, x, x.stride(0), y.stride(0), rows, columns, BLOCK_SIZE=block, num_stages=4, num_warps=8, grid=(1,))
    kernel._init_handles()
    at_once = properties["max_num_regs"] // (kernel.n_regs * properties["warpSize"] * 8)
    assert kernel.metadata.shared <= properties["max_shared_mem"]
    programs = min(properties["multiprocessor_count"] * at_once, rows)
    kernel[(programs, 1, 1)](y, x, x.stride(0), y.stride(0), rows, columns, block, 4)
    return y


x = torch.randn(183, 781)
# CHECK: softmax True True
print("softmax", torch.allclose(softmax(x), torch.softmax(x, 1)), torch.allclose(softmax(x[:, ::1][:40, :77]), torch.softmax(x[:40, :77], 1)))


# ---- dropout ----
@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK_SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    keep = tl.rand(seed, at) > p
    v = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.where(keep, v / (1 - p), 0.0), mask=at < n)


def dropout(x, p, seed):
    assert x.is_contiguous()
    out = torch.empty_like(x)
    dropout_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)](x, out, x.numel(), p, seed, BLOCK_SIZE=1024)
    return out


x = torch.rand(5000) + 0.1
a, b, c = dropout(x, 0.5, 123), dropout(x, 0.5, 123), dropout(x, 0.5, 512)
kept = a != 0
# CHECK: dropout True True True
print("dropout", torch.equal(a, b) and not torch.equal(a, c), torch.allclose(a[kept], 2 * x[kept]), 0.45 < float(kept.float().mean()) < 0.55)


# ---- layer norm, with its gradients ----
@triton.jit
def norm_forward(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    total = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        at = off + tl.arange(0, BLOCK_SIZE)
        total += tl.load(X + at, mask=at < N, other=0.).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        at = off + tl.arange(0, BLOCK_SIZE)
        v = tl.where(at < N, tl.load(X + at, mask=at < N, other=0.).to(tl.float32) - mean, 0.)
        squares += v * v
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        at = off + tl.arange(0, BLOCK_SIZE)
        v = (tl.load(X + at, mask=at < N, other=0.).to(tl.float32) - mean) * rstd
        tl.store(Y + at, v * tl.load(W + at, mask=at < N) + tl.load(B + at, mask=at < N), mask=at < N)


@triton.jit
def norm_backward(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUPS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK_SIZE)
    inside = at < N
    group = row % GROUPS
    lock, count = Lock + group, Lock + GROUPS + group
    x = tl.load(X + row * stride + at, mask=inside, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + at, mask=inside, other=0).to(tl.float32)
    w = tl.load(W + at, mask=inside).to(tl.float32)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(inside, (x - tl.load(Mean + row)) * rstd, 0.)
    wdy = tl.where(inside, w * dy, 0.)
    c1, c2 = tl.sum(xhat * wdy, axis=0) / N, tl.sum(wdy, axis=0) / N
    tl.store(DX + row * stride + at, (wdy - (xhat * c1 + c2)) * rstd, mask=inside)
    dw, db = (dy * xhat).to(w.dtype), dy.to(w.dtype)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(DW + group * N + at, mask=inside)
        db += tl.load(DB + group * N + at, mask=inside)
    tl.store(DW + group * N + at, dw, mask=inside)
    tl.store(DB + group * N + at, db, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        y = torch.empty_like(x)
        M, N = x.shape
        mean, rstd = torch.empty(M), torch.empty(M)
        block = min(65536 // x.element_size(), triton.next_power_of_2(N))
        norm_forward[(M,)](x, y, weight, bias, mean, rstd, x.stride(0), N, eps, BLOCK_SIZE=block, num_warps=min(max(block // 256, 1), 8),
                           num_ctas=1)
        ctx.save_for_backward(x, weight, mean, rstd)
        ctx.block = block
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, mean, rstd = ctx.saved_tensors
        N, groups = w.shape[0], 8
        locks = torch.zeros(2 * groups, dtype=torch.int32)
        dw, db = torch.zeros((groups, N)), torch.zeros((groups, N))
        dx = torch.empty_like(dy)
        norm_backward[(x.shape[0],)](dx, dy, dw, db, x, w, mean, rstd, locks, x.stride(0), N, BLOCK_SIZE=ctx.block, GROUPS=groups)
        return dx, dw.sum(0), db.sum(0), None


x = (-2.3 + 0.5 * torch.randn(31, 200)).requires_grad_()
w, b = torch.rand(200, requires_grad=True), torch.rand(200, requires_grad=True)
dy = 0.1 * torch.randn(31, 200)
y = LayerNorm.apply(x, w, b, 1e-5)
y.backward(dy)
ours = [t.grad.clone() for t in (x, w, b)]
for t in (x, w, b):
    t.grad = None
want = torch.nn.functional.layer_norm(x, (200,), w, b, 1e-5)
want.backward(dy)
# CHECK: layer norm True [True, True, True]
print("layer norm", torch.allclose(y, want, atol=1e-5), [torch.allclose(g, t.grad, atol=1e-4) for g, t in zip(ours, (x, w, b))])


# ---- a product with configurations and an activation ----
@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=[triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP_M": 8}, num_stages=3, num_warps=4),
                          triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 8}, num_stages=4, num_warps=2)],
                 key=["M", "N", "K"])
@triton.jit
def matmul_kernel(A, B, C, M, N, K, sam, sak, sbk, sbn, scm, scn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                  GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * columns
    first = pid // in_group * GROUP_M
    size = min(rows - first, GROUP_M)
    m, n = first + pid % in_group % size, pid % in_group // size
    tl.assume(m >= 0)
    am, bn, k = (m * BLOCK_M + tl.arange(0, BLOCK_M)) % M, (n * BLOCK_N + tl.arange(0, BLOCK_N)) % N, tl.arange(0, BLOCK_K)
    a, b = A + (am[:, None] * sam + k[None, :] * sak), B + (k[:, None] * sbk + bn[None, :] * sbn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BLOCK_K)):
        acc = tl.dot(tl.load(a, mask=k[None, :] < K - i * BLOCK_K, other=0.0), tl.load(b, mask=k[:, None] < K - i * BLOCK_K, other=0.0), acc)
        a += BLOCK_K * sak
        b += BLOCK_K * sbk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    cm, cn = m * BLOCK_M + tl.arange(0, BLOCK_M), n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(C + scm * cm[:, None] + scn * cn[None, :], acc.to(tl.float16), mask=(cm[:, None] < M) & (cn[None, :] < N))


def matmul(a, b, activation=""):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=torch.float16)
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), ACTIVATION=activation)
    return c


a, b = torch.randn(70, 50).half(), torch.randn(40, 50).half().T
want = a.float() @ b.float()
# CHECK: matmul True True
print("matmul", torch.allclose(matmul(a, b).float(), want, atol=1e-2, rtol=1e-2),
      torch.allclose(matmul(a, b, "leaky_relu").float(), torch.nn.functional.leaky_relu(want), atol=1e-2, rtol=1e-2))


# ---- attention, by descriptors that the kernel makes ----
@triton.jit
def turn(acc, l, m, q, desc_k, desc_v, begin, end, at_m, scale, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    at_n = tl.arange(0, BLOCK_N)
    for n in tl.range(begin, end, BLOCK_N):
        qk = tl.dot(q, desc_k.load([n, 0]).T) * scale
        if MASKED:
            qk = tl.where(at_m[:, None] >= (n + at_n)[None, :], qk, -1.0e6)
        top = tl.maximum(m, tl.max(qk, 1))
        p = tl.math.exp2(qk - top[:, None])
        alpha = tl.math.exp2(m - top)
        l = l * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), desc_v.load([n, 0]), acc * alpha[:, None])
        m = top
    return acc, l, m


@triton.jit
def attention_kernel(Q, K, V, O, N, scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    base = tl.program_id(1) * N * HEAD
    start = tl.program_id(0) * BLOCK_M
    q = tl.make_tensor_descriptor(Q + base, [N, HEAD], [HEAD, 1], [BLOCK_M, HEAD]).load([start, 0])
    k = tl.make_tensor_descriptor(K + base, [N, HEAD], [HEAD, 1], [BLOCK_N, HEAD])
    v = tl.make_tensor_descriptor(V + base, [N, HEAD], [HEAD, 1], [BLOCK_N, HEAD])
    at_m = start + tl.arange(0, BLOCK_M)
    m, l = tl.full([BLOCK_M], -float("inf"), tl.float32), tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], tl.float32)
    acc, l, m = turn(acc, l, m, q, k, v, 0, start if CAUSAL else N, at_m, scale, BLOCK_N, False)
    if CAUSAL:
        acc, l, m = turn(acc, l, m, q, k, v, start, start + BLOCK_M, at_m, scale, BLOCK_N, True)
    o = tl.make_tensor_descriptor(O + base, [N, HEAD], [HEAD, 1], [BLOCK_M, HEAD])
    o.store([start, 0], (acc / l[:, None]).to(tl.float16))


triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8))
q, k, v = (torch.randn(2, 3, 64, 32).half() for _ in range(3))
for causal in (False, True):
    o = torch.empty_like(q)
    attention_kernel[lambda args: (triton.cdiv(64, args["BLOCK_M"]), 6, 1)](q, k, v, o, 64, 32**-0.5 * 1.44269504, HEAD=32, BLOCK_M=32,
                                                                            BLOCK_N=16, CAUSAL=causal)
    want = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
    # CHECK: attention False True
    # CHECK: attention True True
    print("attention", causal, torch.allclose(o.float(), want, atol=1e-2))


@triton.testing.perf_report(triton.testing.Benchmark(x_names=["n"], x_vals=[64, 128], line_arg="provider", line_vals=["tkc", "torch"],
                                                     line_names=["ours", "torch"], plot_name="sums", args={"k": 1}))
def bench(n, provider, k):
    x = torch.rand(n)
    ms, low, high = triton.testing.do_bench(lambda: add(x, x) if provider == "tkc" else x + x, warmup=1, rep=1, quantiles=[0.5, 0.2, 0.8])
    assert 0 < low <= ms <= high
    return ms, low, high


# CHECK: sums:
# CHECK-NEXT: n{{ +}}ours{{ +}}torch
# CHECK-NEXT: {{^ +64 +[0-9.e+-]+ +[0-9.e+-]+$}}
bench.run(print_data=True)
try:
    add(torch.zeros(4, dtype=torch.complex64), torch.zeros(4, dtype=torch.complex64))
except TypeError as e:
    # CHECK: argument 'x_ptr': the array has elements of type torch.complex64, which kernels do not have
    print(e)
for wrong in (torch.eye(3).to_sparse(), torch.zeros(3, device="meta"), torch.ones(3, dtype=torch.cfloat).conj().imag):
    try:
        add(wrong, wrong)
    except (TypeError, ValueError) as e:
        print(e)
# CHECK: argument 'x_ptr' is a tensor of layout torch.sparse_coo; kernels take strided ones, such as its .to_dense()
# CHECK: argument 'x_ptr' is a tensor on the device 'meta'; kernels run on tensors of cuda and cpu
# CHECK: argument 'x_ptr' is a view whose elements torch would negate when it reads them; pass its .resolve_neg()
