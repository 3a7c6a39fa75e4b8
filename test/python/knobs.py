# tkc.knobs: hooks of launches and of what they compile, debug; and names, options and specialization of @jit.
# REQUIRES: numpy
# RUN: %tkc-python %s | FileCheck %s
import os

import numpy as np

import tkc
import tkc.language as tl
from tkc import knobs


def named(s):
    return "scale_%s_%s_%s" % (s.signature["n"], s.signature["y"], "_".join("%s%s" % c for c in sorted(s.constants.items())))


def more(grid, metadata, args):
    return {"grid": grid, "n": args["n"], "warps": metadata.num_warps}


@tkc.jit(repr=named, launch_metadata=more)
def scale(y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), n)


y = np.zeros(4, np.float32)
# CHECK: scale_i32_*fp32_BLOCK4
print(scale[(1,)](y, 5, BLOCK=4).name)
# CHECK: scale_i32_*fp32_BLOCK4_n1
print(scale[(1,)](y, 1, BLOCK=4).name)
# CHECK: scale_i64_*fp32_BLOCK4
print(scale[(1,)](y, 2**40, BLOCK=4).name)

# ---- launches ----
enter, leave = lambda m: print("enter", m.get()), lambda m: print("exit", m.get()["name"], y[0])
knobs.runtime.launch_enter_hook.add(enter)
with knobs.runtime.scope():
    knobs.runtime.launch_exit_hook.add(leave)
    # CHECK: enter {'name': 'scale_i32_*fp32_BLOCK4', 'function': None, 'stream': None, 'grid': (1, 1, 1), 'n': 7, 'warps': 4}
    # CHECK-NEXT: exit scale_i32_*fp32_BLOCK4 7.0
    scale[(1,)](y, 7, BLOCK=4)
# CHECK-NEXT: enter {{.*}}'n': 8
scale[(1,)](y, 8, BLOCK=4)
knobs.runtime.launch_enter_hook.remove(enter)
# CHECK-NEXT: none
scale[(1,)](y, 9, BLOCK=4)
print("none", bool(knobs.runtime.launch_enter_hook))


# ---- what is compiled ----
def compiled(kernel, values):
    said = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **k: said.append((k["is_manual_warmup"], k["fn"].name)) and False
        for n in values:
            kernel[(1,)](y, n, BLOCK=4)
    return len(said)


@tkc.jit
def plain(y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), n)


open_to_all = tkc.jit(plain.fn, do_not_specialize=["n"])
but_one = tkc.jit(do_not_specialize_on_alignment=[1])(plain.fn)
# CHECK: compiled 3 1 2
print("compiled", compiled(plain, [1, 2, 4, 16, 32, 2]), compiled(open_to_all, [1, 2, 4, 16, 32]), compiled(but_one, [1, 2, 4, 16, 32]))
assert open_to_all[(1,)](y, 1, BLOCK=4) and (y == 1).all() and but_one[(1,)](y, 16, BLOCK=4) and (y == 16).all()


@tkc.jit(do_not_specialize=["flag"])
def chosen(y, flag):
    if flag:
        v = 1.0
    else:
        v = 2.0
    tl.static_assert(flag == 1)  # not known
    tl.store(y, v)


try:
    chosen[(1,)](y, 1)
except tkc.KernelError as e:
    # CHECK: 'cond' of tl.static_assert must be known while compiling, found int1
    print(str(e).split(": error: ")[1].splitlines()[0])

with knobs.runtime.scope():
    knobs.runtime.jit_cache_hook = lambda **k: print("refused", k["compile"]["signature"], k["compile"]["num_warps"], sorted(k)) or True
    # CHECK: refused {'y': '*fp32', 'n': 'i32'} 2 ['already_compiled', 'compile', 'fn', 'is_manual_warmup', 'key', 'repr']
    assert plain[(1,)](y, 5, BLOCK=2, num_warps=2) is None
with knobs.runtime.scope():
    knobs.runtime.jit_post_compile_hook = lambda **k: print("compiled", k["fn"].jit_function is plain)
    knobs.runtime.kernel_load_end_hook.add(lambda module, function, name, metadata, hash: print("loaded", name, len(hash)))
    # CHECK-NEXT: compiled True
    # CHECK-NEXT: loaded plain 64
    plain.warmup(y, 5, BLOCK=2, num_warps=8)

# ---- knobs ----
# CHECK-NEXT: True False False
print(knobs.language.default_fp_fusion, knobs.autotuning.print, knobs.runtime.debug)
for wrong in (lambda: knobs.amd, lambda: knobs.runtime.interpret, lambda: setattr(knobs.runtime, "nothing", 1)):
    try:
        wrong()
    except AttributeError as e:
        print(e)
# CHECK-NEXT: module 'tkc.knobs' has no attribute 'amd'
# CHECK-NEXT: tkc has no knob 'interpret'; here it has debug, jit_cache_hook, jit_post_compile_hook, launch_enter_hook, launch_exit_hook, kernel_load_start_hook, kernel_load_end_hook
# CHECK-NEXT: tkc has no knob 'nothing'
before = os.environ.get("TKC_CACHE_DIR")
with knobs.cache.scope():
    knobs.cache.dir = "/nowhere"
    print(os.environ["TKC_CACHE_DIR"], knobs.cache.dir)
assert os.environ.get("TKC_CACHE_DIR") == before
# CHECK-NEXT: /nowhere /nowhere
knobs.runtime.debug = True
assert scale[(1,)](y, 5, BLOCK=4).options["debug"]
del knobs.runtime.debug
assert "debug" not in scale[(1,)](y, 5, BLOCK=4).options
os.environ["TRITON_DEBUG"] = "1"
knobs.refresh_knobs()
assert knobs.runtime.debug and scale[(1,)](y, 5, BLOCK=4).options["debug"]
del os.environ["TRITON_DEBUG"]

# ---- options ----
for kind in (ValueError, AssertionError):
    try:
        plain[(1,)](y, 5, BLOCK=4, num_warps=3)
    except kind as e:
        print(e)
# CHECK-NEXT: plain(): num_warps=3: it must be a power of 2
# CHECK-NEXT: plain(): num_warps=3: it must be a power of 2
try:
    tkc.jit(plain.fn, do_not_specialize=["BLOCK"])[(1,)](y, 5, BLOCK=4)
except tkc.CompilationError as e:
    print(e)
# CHECK-NEXT: BLOCK marked as constexpr and listed in do_not_specialize


# ---- assertions and overflow ----
@tkc.jit
def asserts(y, n):
    tl.device_assert(n > 5, "n is large")
    tl.store(y, n + n)


for options in ({}, {"debug": True}, {"debug": False}, {"debug": True, "sanitize_overflow": False}):
    for n in (5, 2**30):
        try:
            y[0] = 0
            asserts[(1,)](y, n, **options)
            print(options, n, y[0])
        except RuntimeError as e:
            print(options, n, e.error_message)
# CHECK-NEXT: {} 5 device-side assert failed: n is large, in program (0, 0, 0)
# CHECK-NEXT: {} 1073741824 -2147483600.0
# CHECK-NEXT: {'debug': True} 5 device-side assert failed: n is large
# CHECK-NEXT: {'debug': True} 1073741824 device-side assert failed: int32 overflow in '+', in program (0, 0, 0)
# CHECK-NEXT: {'debug': False} 5 10.0
# CHECK-NEXT: {'debug': False} 1073741824 -2147483600.0
# CHECK-NEXT: {'debug': True, 'sanitize_overflow': False} 5 device-side assert failed
# CHECK-NEXT: {'debug': True, 'sanitize_overflow': False} 1073741824 -2147483600.0


# ---- results ----
@tkc.must_use_result("It is a cube.")
@tkc.jit
def cube(v):
    return v * v * v


@tkc.jit
def wasteful(y):
    v = tl.load(y)
    cube(v)


@tkc.jit
def thrifty(y):
    tl.store(y, cube(tl.load(y)))


thrifty[(1,)](y)
try:
    wasteful[(1,)](y)
except tkc.CompilationError as e:
    print(e)
# CHECK-NEXT: {{.*}}knobs.py:[[#@LINE-13]]: error: The result of cube is not being used. It is a cube.
assert tkc.must_use_result(thrifty) is thrifty and thrifty.must_use == ""


# ---- types of other makers' chips ----
@tkc.jit
def typed(y, kind: tl.constexpr):
    tl.store(y, 0.0)


for y_, kind in ((tkc.MockTensor(tl.float8e4b8), tl.int8), (y, tl.float8e4b15)):
    try:
        typed.warmup(y_, kind)
    except tkc.CompilationError as e:
        print(e, "|", e.__cause__)
# CHECK-NEXT: argument 'y': type fp8e4b8 not supported in this architecture | type fp8e4b8 not supported in this architecture
# CHECK-NEXT: argument 'kind': type fp8e4b15 not supported in this architecture | type fp8e4b15
