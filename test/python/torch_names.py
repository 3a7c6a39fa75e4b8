# Tensors that stand for others, launches that compile alone, and the layer of docs/examples.md through autograd and torch.compile.
# REQUIRES: torch
# RUN: %torch-python %s | FileCheck %s
# RUN: env TKC_DEVICE=simt %torch-python %s | FileCheck %s
# RUN: env OMP_NUM_THREADS=1 %torch-python %src/examples/torch_layer.py aot_eager | FileCheck %s --check-prefix=LAYER
# LAYER: eager: gradients agree with torch's: True
# LAYER: compiled: gradients agree with torch's: True
import torch

import tkc as triton
import tkc.language as tl


@triton.jit
def widen(x, y, N: tl.constexpr):
    tl.store(y + tl.arange(0, N), tl.load(x + tl.arange(0, N)).to(tl.float32))


x, y = torch.tensor([1, 200, -1, 0x38], dtype=torch.int16).to(torch.int8), torch.zeros(4)
for kind in (tl.int8, tl.uint8, tl.float8e4nv):
    widen[(1,)](triton.reinterpret(x, kind), y, N=4)
    # CHECK: int8: [1.0, -56.0, -1.0, 56.0]
    # CHECK: uint8: [1.0, 200.0, 255.0, 56.0]
    # CHECK: fp8e4nv: [0.001953125, -4.0, nan, 1.0]
    print("%s: %s" % (kind, y.tolist()))
other = triton.reinterpret(triton.reinterpret(x, tl.uint8), tl.int8).clone()
other.copy_(triton.reinterpret(x, tl.uint8))
assert other.stride(0) == 1 and other.cpu().to("cpu").new_empty((2,)).shape == (2,) and triton.reinterpret(other, torch.int8) is other.base
# CHECK: TensorWrapper[int8](tensor(
print(other)
before = y.clone()
compiled = widen.warmup(triton.MockTensor(torch.float16), triton.MockTensor(torch.float32), N=4, grid=(1,))
assert compiled.n_regs >= 1 and torch.equal(before.nan_to_num(), y.nan_to_num()) and triton.MockTensor(torch.int8, (2, 3)).stride() == (3, 1)
try:
    compiled = widen.warmup(triton.MockTensor(torch.complex64), y, N=4, grid=(1,))
except TypeError as e:
    # CHECK: argument 'x': the array has elements of type torch.complex64, which kernels do not have; they have
    print(e)
# Sizes of torch's are tuples.
@triton.jit
def first(x, y, shape, strides, ALL: tl.constexpr):
    tl.static_assert(ALL[1] == 3)
    tl.store(y, tl.load(x + strides[0] * (shape[0] - 1)))


x = torch.arange(12.0).reshape(4, 3)
first[(1,)](x, y, x.shape, x.stride(), x.size())
# CHECK: 9.0
print(y[0].item())
