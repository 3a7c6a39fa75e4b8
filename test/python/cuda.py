# Launches on device cuda, of objects with __cuda_array_interface__ and of torch's tensors: the emulated driver is the GPU, and a module
# with the few names of torch's that are asked for stands for torch, so that the short way of a launch is tried where there is none.
# The short way is the extension's, which looks at tensors by DLPack's table where they have it, and where there is none that of ctypes.
# RUN: env LD_LIBRARY_PATH=%driver SIMT_TRACE=1 %tkc-python %s 2> %t.trace | FileCheck %s --check-prefixes=CHECK,EXTENSION
# RUN: env LD_LIBRARY_PATH=%driver WITH_DLPACK=1 %tkc-python %s | FileCheck %s --check-prefixes=CHECK,EXTENSION,DLPACK
# RUN: env LD_LIBRARY_PATH=%driver TKC_LAUNCHES=ctypes %tkc-python %s | FileCheck %s --check-prefixes=CHECK,CTYPES
# RUN: FileCheck %s --check-prefix=TRACE < %t.trace
import contextlib
import ctypes
import os
import sys
import time
import types

import tkc
import tkc.language as tl
from tkc import _arrays, _jit, _launch

driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert not driver.cuInit(0) and not driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) and not driver.cuCtxSetCurrent(context)


def alloc(values, element=ctypes.c_float):
    address, data = ctypes.c_uint64(), (element * len(values))(*values)
    assert not driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(ctypes.sizeof(data)))
    assert not driver.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(ctypes.sizeof(data)))
    return address.value


def fetch(address, n, element=ctypes.c_float):
    data = (element * n)()
    assert not driver.cuCtxSynchronize()
    assert not driver.cuMemcpyDtoH_v2(data, ctypes.c_uint64(address), ctypes.c_size_t(ctypes.sizeof(data)))
    return [float(v) for v in data]


class Interface:
    def __init__(self, address, n, typestr="<f4", stream=None):
        self.__cuda_array_interface__ = {"shape": (n,), "typestr": typestr, "data": (address, False), "version": 3, "stream": stream}


FACTOR = 2
library, streams = tkc._library.library(), []
real_launch = library.tkc_launch


def spying_launch(jit, grid, stream, args, n):
    streams.append(stream)
    return real_launch(jit, grid, stream, args, n)


library.tkc_launch = ctypes.CFUNCTYPE(ctypes.c_int, *library.tkc_launch.argtypes)(spying_launch)
# EXTENSION: launches by extension
# CTYPES: launches by ctypes
print("launches by", tkc.launches_by)


@tkc.jit
def scale(x, y, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * by * FACTOR, mask=i < n)


stream = ctypes.c_void_p()
assert not driver.cuStreamCreate(ctypes.byref(stream), 0)
x, y = alloc(range(40)), alloc([0] * 40)
scale[lambda meta: (tkc.cdiv(40, meta["BLOCK"]),)](Interface(x, 40), Interface(y, 40), 40, 0.5, BLOCK=16)
# CHECK: interface: 39.0
print("interface:", fetch(y, 40)[39])
scale[(1,)](Interface(x, 40), Interface(y, 40, stream=stream.value), 16, 1.5, BLOCK=16)
# CHECK: its stream: 45.0
print("its stream:", fetch(y, 40)[15])
scale[(1,)](Interface(x, 40), Interface(y, 40), 16, 2.5, BLOCK=16, stream=stream.value)
# CHECK: the caller's: 75.0
print("the caller's:", fetch(y, 40)[15])
# CHECK: streams: None True True
print("streams:", streams[0], *[s == stream.value for s in streams[1:]])
# TRACE: cuLaunchKernel scale: *160 *160 40
try:
    scale[(1,)](Interface(x, 40, stream=1), Interface(y, 40, stream=2), 16, 1.0, BLOCK=16)
except ValueError as e:
    # CHECK: arguments 'x' and 'y' want to be used on different streams; say which with stream=
    print(e)
try:
    scale[(1,)](Interface(x, 40), bytearray(8), 16, 1.0, BLOCK=16)
except TypeError as e:
    # CHECK: argument 'y' is of type bytearray; kernels take arrays
    print(e)
try:
    scale[(1,)](Interface(x, 40), Interface(y, 40, ">f4"), 16, 1.0, BLOCK=16)
except TypeError as e:
    # CHECK: argument 'y': the array's elements have the other byte order
    print(e)
try:
    scale[(1,)](Interface(x, 40), Interface(y, 40, "<c8"), 16, 1.0, BLOCK=16)
except TypeError as e:
    # CHECK: argument 'y': the array has elements of type <c8, which kernels do not have; they have
    print(e)

# ---- as torch's tensors ----


class DType:
    def __init__(self, name, size):
        self.name, self.itemsize = name, size

    def __str__(self):
        return "torch." + self.name


class Device:
    def __init__(self, type, index):
        self.type, self.index = type, index

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)


class Tensor:
    layout, negated = "strided", False

    def __init__(self, address, n, dtype, device):
        self.address, self.n, self.dtype, self.device = address, n, dtype, device
        self.is_cuda = device.type == "cuda"

    def data_ptr(self):
        asked[0] += 1
        return self.address

    def get_device(self):
        return -1 if self.device.index is None else self.device.index

    def is_neg(self):
        return self.negated

    def untyped_storage(self):
        return types.SimpleNamespace(nbytes=lambda: self.n * self.dtype.itemsize)

    def storage_offset(self):
        return 0

    def element_size(self):
        return self.dtype.itemsize

    def clone(self):
        return fetch(self.address, self.n)

    def copy_(self, values):
        data = (ctypes.c_float * self.n)(*values)
        assert not driver.cuMemcpyHtoD_v2(ctypes.c_uint64(self.address), data, ctypes.c_size_t(ctypes.sizeof(data)))

    def zero_(self):
        self.copy_([0] * self.n)


asked = [0]  # how often for its address by a method


# ---- DLPack's table of them ----


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


LOOK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))
STREAM_OF = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class DlExchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p), ("functions", ctypes.c_void_p * 3),
                ("look", LOOK), ("stream_of", STREAM_OF)]


@LOOK
def look(tensor, out):
    place, code = {"cpu": 1, "cuda": 2}.get(tensor.device.type), 2 if tensor.dtype.name.startswith("float") else 0
    if place is None:
        return -1
    out[0] = DlTensor(tensor.address - 256, place, tensor.device.index or 0, 1, code, 8 * tensor.dtype.itemsize, 1, None, None, 256)
    return 0


@STREAM_OF
def stream_of(device_type, device, out):
    assert (device_type, device) == (2, 0)
    out[0] = current[0]
    return 0


if "WITH_DLPACK" in os.environ:
    first = DlExchange(1, 3, None, (ctypes.c_void_p * 3)(), look, stream_of)
    newer = DlExchange(2, 0, ctypes.addressof(first))  # of a version that is not known here
    capsule_of = ctypes.pythonapi.PyCapsule_New
    capsule_of.restype, capsule_of.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    Tensor.__dlpack_c_exchange_api__ = capsule_of(ctypes.addressof(newer), b"dlpack_exchange_api", None)



class Event:
    """Of torch's, the time between two."""

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        driver.cuCtxSynchronize()
        self.at = time.perf_counter()

    def elapsed_time(self, later):
        return (later.at - self.at) * 1e3


torch = types.ModuleType("torch")
torch.Tensor, torch.strided, torch.int8 = Tensor, "strided", "int8"
emptied = [0]  # how often the cache
torch.empty = lambda n, dtype, device: types.SimpleNamespace(zero_=lambda: emptied.__setitem__(0, emptied[0] + 1))
current = [stream.value]
torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, is_available=lambda: True, Event=Event, synchronize=driver.cuCtxSynchronize, current_device=lambda: 0,
                                   current_stream=lambda i: types.SimpleNamespace(cuda_stream=current[0]))
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda i: current[0])
sys.modules["torch"] = torch
fp32, int32, gpu = DType("float32", 4), DType("int32", 4), Device("cuda", 0)

general_ways = [0]
way = _jit.Jit._launch


def counted(*args):
    general_ways[0] += 1
    return way(*args)


_jit.Jit._launch = counted


def launch(*args, **kwargs):
    """The 16th result, and how often the general way was gone."""
    general_ways[0] = 0
    grid = kwargs.pop("grid", (1,))
    kernel = scale[grid](*args, **kwargs)
    assert type(kernel).__name__ == "Kernel", kernel
    out = args[1]
    return fetch(out.address, 16, ctypes.c_float if out.dtype is fp32 else ctypes.c_int32)[15], general_ways[0]


tx, ty = Tensor(x, 40, fp32, gpu), Tensor(y, 40, fp32, gpu)
ix = Tensor(alloc(range(40), ctypes.c_int32), 40, int32, gpu)
# CHECK: first (30.0, 1)
print("first", launch(tx, ty, 16, 1.0, BLOCK=16))
# CHECK: again (60.0, 0)
print("again", launch(tx, ty, 16, 2.0, BLOCK=16))
asked[0] = 0
# CHECK: by a function of the arguments (90.0, 0)
print("by a function of the arguments", launch(tx, ty, 16, 3.0, BLOCK=16, grid=lambda meta: (meta["n"] // meta["BLOCK"], 1)))
# DLPACK: asked for addresses: 0
print("asked for addresses:", asked[0])
# CHECK: the defaults by name (120.0, 0)
print("the defaults by name", launch(by=4.0, BLOCK=16, n=16, *(tx, ty)))
# CHECK: other alignment (32.0, 0)
print("other alignment", launch(Tensor(x + 4, 39, fp32, gpu), ty, 17, 1.0, BLOCK=16))
# CHECK: other elements (30.0, 1)
print("other elements", launch(ix, ty, 16, 1.0, BLOCK=16))
# CHECK: they again (60.0, 0)
print("they again", launch(ix, ty, 16, 2.0, BLOCK=16))
# CHECK: other constexpr (150.0, 1)
print("other constexpr", launch(tx, ty, 16, 5.0, BLOCK=32))
# CHECK: other warps (180.0, 1)
print("other warps", launch(tx, ty, 16, 6.0, BLOCK=32, num_warps=1))
launch(tx, ty, 16, 6.0, BLOCK=32, num_ctas=1, maxnreg=64, num_stages=None)
# EXTENSION: more options (150.0, 0) (180.0, 1)
# CTYPES: more options (150.0, 1) (180.0, 1)
print("more options", launch(tx, ty, 16, 5.0, maxnreg=64, BLOCK=32, num_ctas=1), launch(tx, ty, 16, 6.0, maxnreg=32, BLOCK=32, num_ctas=1))
# CHECK: without options {}
print("without options", scale[(1,)](tx, ty, 16, 5.0, BLOCK=32).options)
launched, general_ways[0] = scale[(1,)](Tensor(x + 4, 39, fp32, gpu), ty, 17, 1.0, BLOCK=16), 0
text = launched.asm["ptx"]
warm = [scale.warmup(t, ty, n, 1.0, BLOCK=16, grid=(1,)) for t, n in ((tx, 16), (Tensor(x + 4, 39, fp32, gpu), 17))]
# CHECK: compiled for what was launched: True True True
print("compiled for what was launched:", warm[0] is launched, warm[1] is launched, warm[1].asm["ptx"] == text, end=" ")
# CHECK-SAME: other alignment: True
print("other alignment:", scale.warmup(tx, ty, 16, 1.0, BLOCK=16).asm["ptx"] != text)
# EXTENSION: by the general way: 0
# CTYPES: by the general way: 3
print("by the general way:", general_ways[0])
# CHECK: an int for a float (210, 1)
print("an int for a float (%d, %d)" % launch(tx, ty, 16, 7, BLOCK=16))
# CHECK: a number past 64 bits argument 'n': 36893488147419103232 does not fit 64 bits
try:
    print(launch(tx, ty, 2**65, 1.0, BLOCK=16))
except OverflowError as e:
    print("a number past 64 bits", e)
# CHECK: no programs (210.0, 1)
print("no programs", launch(tx, ty, 16, 1.0, BLOCK=16, grid=(0,)))
for grid in ((1, 1, 1, 1), (1.0,), (-1,)):
    try:
        print(launch(tx, ty, 16, 1.0, BLOCK=16, grid=grid))
    except (ValueError, TypeError, tkc.KernelError) as e:
        print(e)
# CHECK: a grid has 1 to 3 dimensions; (1, 1, 1, 1) has 4
# CHECK: a grid is made of integers, not (1.0,); for a quotient take tkc.cdiv(n, BLOCK)
# CHECK: error: the grid has -1 programs along x; it must have from 1 to 2147483647
FACTOR = 10
# CHECK: another global (150.0, 1)
print("another global", launch(tx, ty, 16, 1.0, BLOCK=16))
# CHECK: and again (300.0, 0)
print("and again", launch(tx, ty, 16, 2.0, BLOCK=16))


# The fastest configuration that compiles; what the kernel adds to is as it was before the trials, and what it counts in begins at 0.
@tkc.autotune([tkc.Config({"TURNS": 0}), tkc.Config({"TURNS": 2000}), tkc.Config({"TURNS": 1})], key=["n"], restore_value=["y"],
              reset_to_zero=["z"])
@tkc.jit
def add_up(x, y, z, n, TURNS: tl.constexpr):
    tl.static_assert(TURNS > 0)
    i = tl.arange(0, 16)
    v = tl.zeros([16], tl.float32)
    for turn in range(TURNS):
        v = tl.load(x + i, mask=i < n, volatile=True)
    tl.store(y + i, tl.load(y + i) + v)
    tl.store(z + i, tl.load(z + i) + 1)


tz = Tensor(alloc([5] * 16), 16, fp32, gpu)
ty.copy_([100] * 40)
add_up[(1,)](tx, ty, tz, 16)
# CHECK: tuned: TURNS 1, sums 101.0 115.0, counted 1.0
print("tuned: TURNS %d, sums" % add_up.best_config.kwargs["TURNS"], *["%.1f" % v for v in fetch(y, 40)[1:16:14]], end=", ")
print("counted", fetch(tz.address, 16)[3])
general_ways[0] = 0
add_up[(1,)](tx, ty, tz, 16)
# CHECK: once tuned, the short way: 0
print("once tuned, the short way:", general_ways[0])
# CHECK: given, too: add_up(): 'TURNS' is given, and the configurations of @autotune give it, too
# CHECK: given, too: add_up(): 'TURNS' is given, and the configurations of @autotune give it, too
for args, more in (((tx, ty, tz, 16), {"TURNS": 1}), ((tx, ty, tz, 16, 1), {})):
    try:
        add_up[(1,)](*args, **more)
    except ValueError as e:
        print("given, too:", e)
before = emptied[0]
add_up[(1,)](tx, ty, n=8, z=tz)
add_up[(1,)](tx, ty, tz, 8)
after = emptied[0]
add_up[(1,)](tx, ty, tz, 16)
# CHECK: another key is tuned, once: 2 True
print("another key is tuned, once:", len(add_up.cache), before < after == emptied[0])
add_up.cache.clear()
add_up[(1,)](tx, ty, tz, 16)
# CHECK: what was forgotten is tuned anew: True
print("what was forgotten is tuned anew:", after < emptied[0])
# CHECK: between runs the cache was emptied: True
print("between runs the cache was emptied:", emptied[0] > 1000)




@tkc.jit
def divide_by(x, BY: tl.constexpr):
    tl.store(x, tl.load(x) / BY)


def divided(by):
    tz.copy_([1] * 16)
    general_ways[0] = 0
    divide_by[(1,)](tz, BY=by)
    return "%g" % fetch(tz.address, 1)[0], general_ways[0]


# CHECK: by floats: ('inf', 1) ('-inf', 1) ('2', 1)
print("by floats:", divided(0.0), divided(-0.0), divided(0.5))
# CHECK: again: ('2', 0) ('-inf', 0) ('inf', 0) ('2', 0)
print("again:", divided(0.25 * 2), divided(-0.0), divided(0.0), divided(0.5))


@tkc.jit
def times(d, n, BY: tl.constexpr):
    d.store([n], d.load([n]) * BY)


def described(base, n, block, **more):
    return tkc.tools.tensor_descriptor.TensorDescriptor(base, [n], [1], [block], **more)


def through(d, n=0):
    """The first two and the 10th element, and how often the general way was gone."""
    d.base.copy_(range(1, d.base.n + 1))
    general_ways[0] = 0
    kernel = times[(1,)](d, n, BY=8)
    values = fetch(d.base.address, d.base.n)
    return [values[i] for i in (0, 1, 9)], general_ways[0], kernel


tall = Tensor(alloc([0] * 64), 64, fp32, gpu)
# CHECK: a descriptor [8.0, 16.0, 80.0] 1
print("a descriptor", *through(described(tz, 16, 16))[:2])
# EXTENSION: the same, of another tensor [8.0, 16.0, 80.0] 0
# CTYPES: the same, of another tensor [8.0, 16.0, 80.0] 1
print("the same, of another tensor", *through(described(tall, 64, 16))[:2])
# EXTENSION: another shape [8.0, 16.0, 10.0] 0
# CTYPES: another shape [8.0, 16.0, 10.0] 1
print("another shape", *through(described(tall, 9, 16))[:2])
# CHECK: another block [8.0, 16.0, 10.0] 1
print("another block", *through(described(tall, 64, 8))[:2])
# CHECK: another padding [8.0, 16.0, 80.0] 1
print("another padding", *through(described(tall, 64, 16, padding="nan"))[:2])
# EXTENSION: and the first again [1.0, 16.0, 80.0] 0
print("and the first again", *through(described(tz, 16, 16), 1)[:2])
_, _, again = through(described(tz, 16, 16))
# CHECK: its code: True
print("its code:", "times" in again.asm["ptx"])
try:
    through(described(tz, 0, 16))
except tkc.KernelError as e:
    # CHECK: said once: error: argument 'd': its shape is 0 along dimension 0; it must be from 1 to 2147483647{{$}}
    # CHECK-NOT: its shape is 0
    # CHECK: told
    print("said once:", e)

# What measures may be the caller's, and is told what to run; a descriptor's memory is on a GPU as its tensor's is.
measured, told = [], []


def pretend(run, quantiles):
    run()
    measured.append(quantiles)
    return [float(len(told)), 0.0, 0.0]


@tkc.autotune([tkc.Config({"BY": 8.0}, pre_hook=lambda a: told.append(("config", a["BY"]))), tkc.Config({"BY": 4.0})], key=[], do_bench=pretend,
              pre_hook=lambda a: told.append(("before", a["BY"])), post_hook=lambda a, exception: told.append(("behind", a["BY"])))
@tkc.jit
def by_descriptor(x, BY: tl.constexpr):
    x.store([0], x.load([0]) * BY)


tz.copy_([1] * 16)
by_descriptor[(1,)](tkc.tools.tensor_descriptor.TensorDescriptor(tz, [16], [1], [16]))
# CHECK-SAME: ('before', 8.0) ('config', 8.0) ('behind', 8.0) ('before', 4.0) ('behind', 4.0) ('config', 8.0)
print("told", *told)
# CHECK: 256.0 by the least of 2
print(fetch(tz.address, 16)[3], "by the least of", len(measured))


# A run that fails is told, too; where there is no array none is reset, and none is kept.
@tkc.autotune([tkc.Config({"BY": 0}), tkc.Config({"BY": 3})], key=[], reset_to_zero=["y"], restore_value=["z"],
              post_hook=lambda a, exception: told.append((a["BY"], type(exception).__name__)))
@tkc.jit
def may_have_none(x, y, z, BY: tl.constexpr):
    tl.static_assert(BY > 0)
    tl.store(x, BY)


told.clear()
may_have_none[(1,)](tz, None, z=None)
# CHECK: failed and not: [(0, 'KernelError'), (3, 'NoneType')] 3.0
print("failed and not:", sorted(set(told)), fetch(tz.address, 1)[0])


# A graph of one launch is made after a launch, and replayed.
class Graph:
    def __enter__(self):
        ran.append("capture")

    def __exit__(self, *error):
        ran.append("end")

    def replay(self):
        ran.append("replay")


ran = []
torch.cuda.Stream, torch.cuda.CUDAGraph, torch.cuda.graph = object, Graph, lambda graph: graph
torch.cuda.stream = lambda stream: contextlib.nullcontext(ran.append("stream"))
took = tkc.testing.do_bench_cudagraph(lambda: ran.append("run"), rep=1)
# CHECK: of a graph: ['stream', 'run', 'capture', 'run', 'end'] {'replay'} True
print("of a graph:", ran[:5], set(ran[5:]), took > 0)


# Once the kernel has gone the short way, so does its autotuner, for each key of its own: what the configuration gives is what the kernel and
# a grid that is a function see, and none of it may be the caller's.
@tkc.autotune([tkc.Config({"BY": 2, "shift": 1}), tkc.Config({"BY": 4, "shift": 3}, num_warps=8)], key=["n", "MORE"],
              do_bench=lambda run, quantiles: (run(), [1.0, 1.0, 1.0])[1])
@tkc.jit
def shifted(x, n, a, shift, BY: tl.constexpr, MORE: tl.constexpr = 0):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.load(x + i) * BY * a + shift + n + MORE + FACTOR, mask=i < n)


tuner_ways = [0]
of_python = shifted._run


def count_tuner(*args, **kwargs):
    tuner_ways[0] += 1
    return of_python(*args, **kwargs)


def shift(*args, grid=(1,), **kwargs):
    tz.copy_([1] * 16)
    tuner_ways[0] = 0
    shifted[grid](tz, *args, **kwargs)
    return "%g by %d way %d" % (fetch(tz.address, 16)[3], shifted.best_config.kwargs["BY"], tuner_ways[0])


FACTOR = 0
shifted._run = count_tuner
shift(16, 1.0), shift(8, 1.0)  # both are tuned, and the first of equals taken
shifted.cache = {key: shifted.configs[key[0] == 8] for key in shifted.cache}
shift(16, 1.0), shift(8, 1.0)
shift(8, 2.0, MORE=6), shift(8, 2.0, MORE=6)
# EXTENSION: each its own: 19 by 2 way 0 / 15 by 4 way 0 / 21 by 2 way 0 / 19 by 2 way 0
# CTYPES: each its own: 19 by 2 way 1 / 15 by 4 way 1 / 21 by 2 way 1 / 19 by 2 way 1
print("each its own: %s / %s / %s / %s" % (shift(16, 1.0), shift(8, 1.0), shift(n=16, a=2.0), shift(8, 2.0, MORE=6, num_warps=None)))
# CHECK: a grid is told 4 3 0 8 15 by 4
told.clear()
said = shift(8, 1.0, grid=lambda meta: told.extend(meta[n] for n in ("BY", "shift", "MORE", "n")) or (1,))
print("a grid is told", *told, said)
# CHECK: all are compiled: 2 4 8
kernels = shifted.warmup(tz, 8, 1.0, grid=(1,))
print("all are compiled:", kernels[0].constants["BY"], kernels[1].constants["BY"], kernels[1].options["num_warps"])
# CHECK: chosen anew: 11 by 2 way 1 / 15 by 4 way 1
shifted.cache = {key: shifted.configs[0] for key in shifted.cache}
anew = shift(8, 1.0), shift(8, 1.0)
shifted.cache.update({key: shifted.configs[1] for key in shifted.cache})
print("chosen anew: %s / %s" % (anew[0], shift(8, 1.0)))
# EXTENSION: another global: 15 by 4 way 0 / 16 by 4 way 1
# CTYPES: another global: 15 by 4 way 1 / 16 by 4 way 1
before = shift(8, 1.0), shift(8, 1.0)
FACTOR = 1
print("another global: %s / %s" % (before[1], shift(8, 1.0)))
# CHECK: heard: 1 way 1
told.clear()
shift(8, 1.0), shift(8, 1.0)
tkc.knobs.runtime.launch_enter_hook = lambda metadata: told.append(metadata)
shift(8, 1.0)
tkc.knobs.runtime.launch_enter_hook = None
print("heard:", len(told), "way", tuner_ways[0])
# CHECK: not so: shifted() missing 1 required positional argument: 'a'
# CHECK: not so: shifted(): 'shift' is given, and the configurations of @autotune give it, too
# CHECK: not so: shifted(): 'shift' is given, and the configurations of @autotune give it, too
# CHECK: not so: shifted() got an unexpected keyword argument 'BLOCK'
for args, more in (((8,), {}), ((8, 1.0, 1), {}), ((8, 1.0), {"shift": 1}), ((8, 1.0), {"BLOCK": 1})):
    try:
        print(shift(*args, **more))
    except (TypeError, ValueError) as e:
        print("not so:", e)
alone = tkc.autotune([tkc.Config({"BY": 3, "shift": 0})], key=[])(shifted.fn)
# CHECK: replaced: 11 11 11 10
alone_says = []
for turn in range(4):
    tz.copy_([1] * 16)
    alone[(1,)](tz, 7, 1.0)
    alone_says.append(fetch(tz.address, 16)[3])
    if turn == 2:
        alone.configs = [tkc.Config({"BY": 2, "shift": 0})]
print("replaced: %g %g %g %g" % tuple(alone_says))


@tkc.jit
def outside(x):
    tl.store(x + 100000, 1.0)


# CHECK: streams True 0 True False 0
launch(tx, ty, 16, 1.0, BLOCK=16)  # FACTOR is another
streams.clear()
ways = [launch(tx, ty, 16, 1.0, BLOCK=16)[1]]
scale[(1,)](tx, ty, 16, 1.0, BLOCK=16, stream=torch.cuda.current_stream(0))
current[0] = None
ways.append(launch(tx, ty, 16, 1.0, BLOCK=16)[1])
on = [s == stream.value for s in streams]
print("streams", on[0], ways[0], *on[1:], ways[1])
current[0] = stream.value
ty.negated = True


class Pinned:
    is_pinned = staticmethod(lambda: True)


# CHECK: CUDA {{1[2-9]\.[0-9]}}
print("CUDA", tkc.knobs.nvidia.ptxas.version)
# CHECK: in pinned memory ('cuda', 0)
print("in pinned memory", _launch.choose_place({"x": _arrays.Array(x, 160, "*fp32", 0), "y": _arrays.Array(y, 160, "*fp32", _arrays.HOST, owner=Pinned())}))
for call in (lambda: scale[(1,)](tx, Tensor(y, 40, fp32, Device("cpu", None)), 1, 1.0, BLOCK=16),
             lambda: scale[(1,)](tx, Tensor(y, 40, fp32, Device("cuda", 1)), 1, 1.0, BLOCK=16),
             lambda: scale[(1,)](tx, Tensor(y, 40, fp32, Device("xpu", 0)), 1, 1.0, BLOCK=16),
             lambda: outside[(1,)](ty)):
    try:
        call()
    except ValueError as e:
        print(e)
# CHECK: Pointer argument 'y' cannot be accessed from Triton (cpu tensor?): it is in the host's memory and 'x' in a GPU's;
# CHECK: argument 'x' is on GPU 0 and 'y' on GPU 1; a kernel takes all its arrays from one
# CHECK: argument 'y' is a tensor on the device 'xpu:0'; kernels run on tensors of cuda and cpu
# CHECK: argument 'x' is a view whose elements torch would negate when it reads them; pass its .resolve_neg()
# CHECK-NOT: {{.}}
