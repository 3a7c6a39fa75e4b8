"""Calls of small_matrices.py, as calls.py has them."""
import library_calls
import torch
from library_calls import cdiv, f32, randn, zeros
from operators.calls import adds_to, int32, launch

CALLS = []
add = adds_to(CALLS)


def inverse(N, block, warps):
    a = randn(N, 3, 3, dtype=f32)
    if library_calls.FILLED:
        a += 3 * torch.eye(3, device=a.device)
    outs = [zeros(N, 3, 3, dtype=f32), zeros(N, dtype=f32)]
    return launch([a, *outs, N], {"BLOCK": block}, cdiv(N, block), outs, warps,
                  lambda: [a.double().inverse(), a.double().det()])


def lu(count, N, warps):
    a, out, pivots = randn(count, N, N, dtype=f32), zeros(count, N, N, dtype=f32), \
        zeros(count, N, dtype=int32)
    return launch([a, out, pivots], {"N": N}, count, [out, pivots], warps,
                  lambda: list(torch.linalg.lu_factor(a)))


def triangle(count, N, warps):
    a, out = randn(count, N, N, dtype=f32, scale=0.1), zeros(count, N, N, dtype=f32)
    return launch([a, out], {"N": N}, count, [out], warps,
                  lambda: [(a.tril(-1) + torch.eye(N)).inverse()])


def exponent(count, N, warps):
    a, out = randn(count, N, N, dtype=f32, scale=N ** -0.5), zeros(count, N, N, dtype=f32)
    return launch([a, out], {"TERMS": 6, "SQUARES": 4, "N": N}, count, [out], warps,
                  lambda: [torch.linalg.matrix_exp(a)])


def eigenvalues(N, block, warps):
    a, out = randn(N, 6, dtype=f32), zeros(N, 3, dtype=f32)

    def reference():
        whole = a[:, torch.tensor([0, 1, 2, 1, 3, 4, 2, 4, 5])].view(N, 3, 3)
        return [torch.linalg.eigvalsh(whole)]
    return launch([a, out, N], {"SWEEPS": 6, "BLOCK": block}, cdiv(N, block), [out], warps,
                  reference)


def transform(M, N, rows, warps):
    re, im = randn(M, N, dtype=f32), randn(M, N, dtype=f32)
    outs = [zeros(M, N, dtype=f32) for _ in range(2)]
    turns = torch.exp(-2j * torch.pi * torch.arange(N // 2) / N)
    order = torch.tensor([int(format(n, "06b")[::-1], 2) for n in range(N)])
    tables = [turns.real.float().contiguous(), turns.imag.float().contiguous(), order.to(int32)]

    def reference():
        y = torch.fft.fft(torch.complex(re, im))
        return [y.real, y.imag]
    return launch([re, im, *(t.to(re.device) for t in tables), *outs, M], {"ROWS": rows, "N": N},
                  cdiv(M, rows), outs, warps, reference)


add("small_matrices.py", "inverse_3", "fp32 2^21, 4 warps", inverse, dict(N=1 << 21), dict(N=300),
    block=256, warps=4)
add("small_matrices.py", "lu_pivoted", "fp32 4096 of 32×32, 1 warp", lu, dict(count=4096, N=32),
    dict(count=3, N=16), warps=1)
add("small_matrices.py", "triangle_inverse", "fp32 8192 of 64×64, 4 warps", triangle,
    dict(count=8192, N=64), dict(count=2, N=32), warps=4)
add("small_matrices.py", "exponential", "fp32 4096 of 32×32, 4 warps", exponent,
    dict(count=4096, N=32), dict(count=2, N=16), warps=4)
add("small_matrices.py", "jacobi_3", "fp32 2^21, 2 warps", eigenvalues, dict(N=1 << 21),
    dict(N=200), block=128, warps=2)
add("small_matrices.py", "fft_registers", "fp32 262144 of 64, 4 warps", transform,
    dict(M=262144, rows=16), dict(M=9, rows=4), N=64, warps=4)
