"""first_result.c with Triton."""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(y, x, y_stride, x_stride, width, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    inside = col < width
    row = tl.load(x + r * x_stride + col, mask=inside, other=-float("inf"))
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + r * y_stride + col, e / tl.sum(e, axis=0), mask=inside)


x = torch.zeros(64, 784, device="cuda")
y = torch.empty_like(x)
softmax[(64,)](y, x, 784, 784, 781, BLOCK=1024)
assert abs(float(y[63, 0]) * 781 - 1) < 1e-4
print("ok", flush=True)
print("Python, torch and triton")
