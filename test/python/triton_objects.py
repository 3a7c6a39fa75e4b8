# Kernels under Triton's own decorators, as they are: its jit functions, autotuner, heuristics, types and descriptors.
# REQUIRES: torch, triton
# RUN: %torch-python %s | FileCheck %s
import warnings

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc, utils
from triton.language.extra.cuda.gdc import gdc_wait
from triton.language.extra.cuda.utils import num_threads
from triton.language.math import exp2
from triton.tools.tensor_descriptor import TensorDescriptor

import tkc

warnings.simplefilter("error")
FACTOR: tl.constexpr = tl.constexpr(3)
CAST = tl.float16


@triton.jit
def helper(v):
    return v * FACTOR


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"],
                 prune_configs_by={"early_config_prune": lambda configs, args, **kw: configs[1:]})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x: torch.Tensor, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i) if EVEN else tl.load(x + i, mask=i < n)
    e = libdevice.rint(exp2(1.2)) + tl.cdiv(n, BLOCK) + triton.cdiv(7, 2) + tl.sum(tl.full([4], 1.0, CAST), 0)
    tl.store(y + i, helper(v) + e, mask=i < n)


ours = tkc.jit(kernel)
x, y = torch.randn(200), torch.zeros(200)
ours[lambda meta: (triton.cdiv(200, meta["BLOCK"]),)](x, y, 200)
# CHECK: True {'BLOCK': 128}
print(torch.allclose(y, 3 * x + 2 + 2 + 4 + 4), ours.best_config.kwargs)


@triton.jit
def blocks(d, o, T: tl.constexpr, F: tl.constexpr):
    o.store([0, 0], F(d.load([2, 0])).to(T).to(tl.float32))


a, o = torch.arange(32.).reshape(4, 8) / 4, torch.zeros(4, 8)
tkc.jit(blocks)[(1,)](TensorDescriptor.from_tensor(a, [4, 4]), TensorDescriptor.from_tensor(o, [4, 4]), tl.int32, helper)
# CHECK: [12.0, 12.0, 13.0, 14.0, 0.0, 0.0, 0.0, 0.0]
print(o[0].tolist())
for function in (tl.exp2, tl.sigmoid, libdevice.rint):  # as the language has them, in Python and not
    tkc.jit(blocks)[(1,)](TensorDescriptor.from_tensor(a, [4, 4]), TensorDescriptor.from_tensor(o, [4, 4]), tl.float32, function)
    # CHECK: [16.0, 19.02
    # CHECK: [0.98
    # CHECK: [4.0, 4.0, 4.0, 5.0
    print(o[0].tolist())
# CHECK: tkc.jit(blocks)
print(tkc.jit(blocks))


# Under tkc.jit, with Triton's language.
@tkc.jit
def mixed(x, BLOCK: tl.constexpr, T: tl.constexpr = tl.float32):
    tl.store(x + tl.arange(0, BLOCK), helper(2).to(T))


mixed[(1,)](x, 4)
# CHECK: [6.0, 6.0, 6.0, 6.0]
print(x[:4].tolist())


@triton.jit
def chip(o):
    gdc_wait()
    gdc.gdc_launch_dependents()
    tl.store(o, num_threads() + utils.num_warps())


tkc.jit(chip)[(1,)](o)
# CHECK: 132.0
print(o[0, 0].item())
