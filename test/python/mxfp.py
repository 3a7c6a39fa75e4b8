# tkc.tools.mxfp: E2M1 and E8M0 to and from torch's floats, every code; packing.
# REQUIRES: torch
# RUN: %torch-python %s | FileCheck %s
import torch

from tkc.tools.mxfp import MXFP4Tensor, MXScaleTensor

codes = MXFP4Tensor(size=16)
codes.data = torch.arange(16, dtype=torch.uint8)
# CHECK: [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]
print(codes.to(torch.float32).tolist())
assert MXFP4Tensor(codes.to(torch.float32)).data.tolist() == list(range(16))
# CHECK: [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0, -6.0, 6.0, -0.0, 3.0]
print(MXFP4Tensor(torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0, float("inf"), -float("inf"), float("nan"), -0.1, 2.51])).to(torch.float32).tolist())
for shape in ((6, 4, 2), (3, 5, 1), (1, 1, 7)):
    t = MXFP4Tensor(size=shape).random()
    for dim in range(3):
        packed = t.to_packed_tensor(dim)
        assert packed.shape[dim] == (shape[dim] + 1) // 2 and packed.is_contiguous()
        assert torch.equal(t.unpack_packed_tensor(packed, dim, shape), t.data)
# CHECK: 33 2
print(MXFP4Tensor(torch.tensor([0.5, 1.0, 1.0])).to_packed_tensor(0).tolist()[0], MXFP4Tensor(torch.tensor([0.5, 1.0, 1.0])).to_packed_tensor(0).tolist()[1])
every = MXScaleTensor(size=255)
every.data = torch.arange(255, dtype=torch.uint8)
assert MXScaleTensor(every.to(torch.float32)).data.tolist() == list(range(255)) and every.to(torch.float32)[0] == 2.0**-127
# CHECK: [255, 255, 255, 255, 127, 127, 128, 128, 126]
print(MXScaleTensor(torch.tensor([0.0, -1.0, float("nan"), float("inf"), 1.0, 1.9, 2.0, 3.9, 0.5])).data.tolist())
some = MXScaleTensor(size=(50, 20)).random(low=0.5, high=4.0)
# CHECK: 126 129 True
print(some.data.min().item(), some.data.max().item(), MXScaleTensor(size=(1,)).to is not None)
for wrong in (lambda: codes.to_packed_tensor(1), lambda: codes.to(torch.float16), lambda: MXScaleTensor(), lambda: some.random(low=8.0, high=1.0), lambda: MXFP4Tensor([1.0])):
    try:
        wrong()
    except (AssertionError, ValueError) as e:
        print(e)
# CHECK: dimension 1 of a tensor of 1 dimensions cannot be packed
# CHECK: MXFP4Tensor becomes torch.float32, not torch.float16
# CHECK: MXScaleTensor takes data, a torch tensor, or a size
# CHECK: low is at most high
# CHECK: data is a torch tensor, not an object of type list
