# What hosts of Triton's reach for beside launching: types, compiling for a target, hooks, replaced texts, exceptions.
# REQUIRES: numpy
# RUN: %tkc-python %s | FileCheck %s
import numpy as np

import tkc as triton
import tkc.language as tl
from tkc.backends.compiler import GPUTarget
from tkc.compiler import ASTSource, CompilationError
from tkc.language.core import constexpr
from tkc.language.extra.libdevice import rint
from tkc.runtime.autotuner import Autotuner, OutOfResources
from tkc.runtime.driver import driver
from tkc.runtime.jit import type_canonicalisation_dict
from tkc.tools.tensor_descriptor import TensorDescriptor

assert constexpr is tl.constexpr and TensorDescriptor is triton.TensorDescriptor
assert driver is triton.runtime.driver and triton.compiler.compiler.ASTSource is ASTSource
assert Autotuner is triton.runtime.autotuner.Autotuner and OutOfResources is triton.KernelError
# ---- types ----
# CHECK: fp32 int32 32 4 triton.language.float32
print(tl.float32, tl.int32, tl.float32.primitive_bitwidth, tl.int32.itemsize, repr(tl.float32))
# CHECK: True False True True True False
print(tl.float8e5.is_fp8(), tl.float32.is_fp16(), tl.bfloat16.is_bf16(), tl.uint8.is_int_unsigned(), tl.int1.is_bool(), tl.int1.is_int_signed())
assert tl.dtype("i8") == tl.int8 == tl.constexpr(tl.int8) != tl.uint8 and tl.str_to_ty("*fp32") == tl.pointer_type(tl.float32)
assert tl.float16.fp_mantissa_width == 10 and tl.float8e4nv.exponent_bias == 7 and tl.int16.int_bitwidth == 16
assert type_canonicalisation_dict["uint8"] == "u8" and type_canonicalisation_dict["bfloat16"] == "bf16"
try:
    tl.dtype("fp24")
except ValueError as e:
    # CHECK: there is no element type 'fp24'; there are bfloat16,
    print(e)
# CHECK: 4 8 constexpr[5]
print(triton.cdiv(tl.constexpr(7), 2), triton.next_power_of_2(5), tl.constexpr(2) + 3)


# ---- without a launch ----
@triton.jit
def scale(x, y, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, rint(tl.load(x + i, mask=i < n)) * by, mask=i < n)


types = {"x": "*fp32", "y": "*fp32", "n": "i32", "by": "fp32", "BLOCK": "constexpr"}
made = triton.compile(ASTSource(scale, types, constexprs={"BLOCK": 256}, attrs={(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]],
                                                                                 (2,): [["tt.divisibility", 16]]}),
                      target=GPUTarget("cuda", 90, 32), options={"num_warps": 2})
# CHECK: scale 2 True True
print(made.metadata.name, made.metadata.num_warps, ".target sm_90a" in made.asm["ptx"], "ld.global.v4" in made.asm["ptx"])
made = triton.compile(ASTSource(scale, types, constexprs={(4,): 256}), target=GPUTarget("cuda", 80))
# CHECK: for other addresses: True False
print("for other addresses:", ".target sm_80" in made.asm["ptx"], "ld.global.v4" in made.asm["ptx"])
for wrong in (lambda: triton.compile(ASTSource(scale, {"z": "i32"})), lambda: triton.compile(scale), lambda: made.asm["ttir"],
              lambda: triton.compile(ASTSource(scale, types, {"BLOCK": "four"}), GPUTarget("cuda", 80)),
              lambda: triton.compile(ASTSource(scale, types, {"BLOCK": 4}), GPUTarget("hip", "gfx942"))):
    try:
        wrong()
    except (ValueError, TypeError, KeyError, CompilationError) as e:
        print(type(e).__name__, e)
# CHECK: ValueError scale has no parameter 'z'; it has x, y, n, by, BLOCK
# CHECK: TypeError tkc.compile takes an ASTSource, not an object of type JitFunction
# CHECK: KeyError "a kernel of tkc has no 'ttir'; it has 'ptx'"
# CHECK: KernelError {{.*}}hosts.py:[[#]]:[[#]]: error:
# CHECK: ValueError tkc compiles for CUDA, not for 'hip'

# ---- kernels as objects ----
x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
seen = []
scale.add_pre_run_hook(lambda first, *places, **given: seen.append([first is x, len(places), *sorted(given)]))
compiled = scale[(1,)](x, y, 8, 2.0, BLOCK=8, waves_per_eu=2)
# CHECK: hooked: True 3 BLOCK 14.0 scale
print("hooked:", *seen[0], y[7], compiled.name)
scale.run(x, y, 8, 3.0, BLOCK=8, grid=(1,))
# CHECK: as a call: 21.0 21.0
print("as a call:", y[7], end=" ")
scale.run(x, y, 8, 4.0, BLOCK=8, grid=(1,), warmup=True)
print(y[7])
key, fresh = scale.cache_key, triton.JITFunction(scale.fn)
assert key == fresh.cache_key and len(compiled.hash) == 64
fresh._unsafe_update_src(fresh.src.replace("rint(", "-("))
fresh[(1,)](x, y, 8, 2.0, BLOCK=8)
# CHECK: replaced: -14.0 True
print("replaced:", y[7], fresh.cache_key != key)
fresh._unsafe_update_src(scale.src)
assert fresh.cache_key == key  # its lines are where the function's own are


@triton.constexpr_function
def step():
    return 1


@triton.jit
def inner(v):
    return v + step()


@triton.jit
def outer(y, f: tl.constexpr):
    tl.store(y, f(1.0) + inner(10.0))


# CHECK: of helpers: 13.0 41.0 48.0 48.0 True
outer[(1,)](y, inner)
print("of helpers:", y[0], end=" ")
own, first = inner.src, outer.cache_key
inner._unsafe_update_src(own.replace("v +", "v * 3 +"))
step._unsafe_update_src(step.src.replace("1", "4"))
outer[(1,)](y, inner)
print(y[0], end=" ")
changed = outer.cache_key
step._unsafe_update_src(step.src.replace("4", "7.5"))
outer[(1,)](y, inner)
print(y[0], outer[(1,)](y, inner) and y[0], len({first, changed, outer.cache_key}) == 3)
wild = triton.reinterpret
try:
    wild(3, tl.int8)
except TypeError as e:
    # CHECK: only tensors can be reinterpreted, not an object of type int
    print(e)
try:
    triton.compiler.CompilationError is triton.KernelError and scale[(1,)](x, y, 8, 2.0, BLOCK="four")
except RuntimeError as e:
    # CHECK: TritonError: True
    print("TritonError:", isinstance(e, triton.TritonError))
try:
    triton.runtime._allocation.NullAllocator()(8, 8, None)
except RuntimeError as e:
    # CHECK: kernels of tkc need no memory beside their arguments
    print(e)
