# Each mistake is an exception of a fitting kind whose text says what is wrong and what to write.
# REQUIRES: numpy
# The numbers of its lines are in what it expects.
# RUN: %tkc-python %s | FileCheck %s
import sys
import warnings

import numpy as np

import tkc
import tkc.language as tl


@tkc.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@tkc.jit
def wrong(x):
    tl.store(x, nobody)


@tkc.jit
def outside(x, n):
    tl.store(x + n, 1.0)


@tkc.jit
def unused(x, n):
    tl.store(x, 1.0)


@tkc.jit
def hosts(x):
    tl.store(x, sys.maxsize)
    tl.store(x, np.sum(3))


def no_kernel(x):
    return x


@tkc.jit
def calls(x):
    tl.store(x, no_kernel(1.0))


@tkc.jit
def starred(*xs):
    pass


@tkc.autotune([tkc.Config({"BLOCK": 4}), tkc.Config({"BLOCK": 8})], key=[])
@tkc.jit
def tuned(x, BLOCK: tl.constexpr):
    tl.store(x, BLOCK)


x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
at = type(add)


def told(what, *kinds):
    try:
        what()
    except Exception as e:
        print("%s: %s" % (type(e).__name__, e))
        return e
    print("nothing was told")


# Arguments.
# CHECK: TypeError: add() missing 1 required positional argument: 'n'
told(lambda: add[(1,)](x, y, BLOCK=8))
# CHECK-NEXT: TypeError: add() is missing 'n'; it takes x, y, n, BLOCK
told(lambda: tkc.jit(__file__, kernel="add")[(1,)](x, y))
# CHECK-NEXT: TypeError: add() takes 4 arguments, x, y, n, BLOCK; 6 were given
told(lambda: add[(1,)](x, y, 8, 8, 8, 8))
# CHECK-NEXT: TypeError: add() got an unexpected keyword argument 'block': it is no parameter of the kernel, and no option; these are num_warps, num_stages,
told(lambda: add[(1,)](x, y, 8, 8, block=8))
# CHECK-NEXT: OptionError: add(): num_ctas=3: it must be a power of 2
told(lambda: add[(1,)](x, y, 8, 8, num_ctas=3))
# CHECK-NEXT: OptionError: add(): maxnreg=0: it must be 1 or more
told(lambda: add[(1,)](x, y, 8, 8, maxnreg=0))
# CHECK-NEXT: TypeError: add(): num_warps='4': it must be an integer
told(lambda: add[(1,)](x, y, 8, 8, num_warps="4"))
# CHECK-NEXT: OptionError: add(): num_warps=4294967296: it does not fit 32 bits
told(lambda: add[(1,)](x, y, 8, 8, num_warps=1 << 32))
# CHECK-NEXT: ValueError: add(): launch_cooperative_grid=True is not supported
told(lambda: add[(1,)](x, y, 8, 8, launch_cooperative_grid=True))
# CHECK-NEXT: ValueError: add(): enable_reflect_ftz=False is not supported
told(lambda: add[(1,)](x, y, 8, 8, enable_reflect_ftz=False))
# CHECK-NEXT: ValueError: add(): extern_libs: kernels call no functions of mine, ours; those of libdevice there are without it
told(lambda: add[(1,)](x, y, 8, 8, extern_libs={"mine": "mine.bc", "libdevice": "libdevice.10.bc", "ours": ""}))
# CHECK-NEXT: KernelWarning: add(): num_ctas has no effect: a program is one block of threads, clusters are not used
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    add[(1,)](x, y, 8, 8, num_ctas=2)
    print(*["%s: %s" % (w.category.__name__, w.message) for w in said])
# CHECK-NEXT: KernelWarning: add(): extern_libs has no effect: the functions of libdevice are the compiler's own
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    add[(1,)](x, y, 8, 8, extern_libs={"libdevice": "libdevice.10.bc"}, enable_reflect_ftz=True)
    print(*["%s: %s" % (w.category.__name__, w.message) for w in said])
# CHECK-NEXT: TypeError: argument 'x' is of type dict; kernels take arrays (torch's, numpy's, and what has __dlpack__ or __cuda_array_interface__), numbers, None and tensor descriptors
told(lambda: add[(1,)]({}, y, 8, 8))
# CHECK-NEXT: KernelError: {{.*}}errors.py:[[#]]:[[#]]: error: '<' does not work on block<8xint32> and a tuple (int 1, int32)
# CHECK-NEXT: tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
# CHECK-NEXT: ^~~~~
# CHECK-NEXT: <launch of add>:3:5: note: called from here
# CHECK-NEXT: tkc_kernel(x, y, (n__0, n__1, ), BLOCK)
told(lambda: add[(1,)](x, y, (1, 2), 8))
# CHECK: TypeError: argument 'BLOCK': an object of type ndarray cannot be a constexpr; numbers, strings, None, types such as tl.float32, members of an Enum, jit functions and those of tl, and tuples, lists, dicts, named tuples and dataclasses of these can
told(lambda: add[(1,)](x, y, 8, x))
# CHECK-NEXT: TypeError: argument 'x': the array has elements of type complex64, which kernels do not have; they have
told(lambda: add[(1,)](x.astype(np.complex64), y, 8, 8))
# CHECK-NEXT: TypeError: argument 'x': the array's elements have the other byte order; pass array.astype(array.dtype.newbyteorder('='))
told(lambda: add[(1,)](x.astype(">f4"), y, 8, 8))
# CHECK-NEXT: ValueError: argument 'x': the array has a negative stride, so that it reaches to below its first element; pass numpy.ascontiguousarray(array)
told(lambda: add[(1,)](x[::-1], y, 8, 8))
# CHECK-NEXT: OverflowError: argument 'n': 18446744073709551616 does not fit 64 bits
told(lambda: add[(1,)](x, y, 2**64, 8))
# CHECK-NEXT: TypeError: starred: a kernel that is launched has parameters with names, not *xs
told(lambda: starred[(1,)](x))

# Grids.
# CHECK-NEXT: ValueError: a grid has 1 to 3 dimensions; (1, 1, 1, 1) has 4
told(lambda: add[(1, 1, 1, 1)](x, y, 8, 8))
# CHECK-NEXT: ValueError: a grid has 1 to 3 dimensions; () has 0
told(lambda: add[()](x, y, 8, 8))
# CHECK-NEXT: TypeError: a grid is made of integers, not (2.0,); for a quotient take tkc.cdiv(n, BLOCK)
told(lambda: add[(8 / 4,)](x, y, 8, 8))
# CHECK-NEXT: OverflowError: the extents of a grid have 64 bits; (1, 18446744073709551616) does not fit
told(lambda: add[1, 1 << 64](x, y, 8, 8))
# CHECK-NEXT: KernelError: error: the grid has -1 programs along x; it must have from 1 to 2147483647
told(lambda: add[(-1,)](x, y, 8, 8))
# CHECK-NEXT: TypeError: add is a kernel: it is launched as add[grid](…), and called only by other kernels
told(lambda: add(x, y, 8, 8))
# CHECK-NEXT: TypeError: triton.language.load is for kernels: functions under @tkc.jit, which are launched as kernel[grid](…)
told(lambda: tl.load(x))

# Kernels: the place is that of this file.
# CHECK-NEXT: KernelError: {{.*}}errors.py:22:17: error: the name 'nobody' is not defined
# CHECK-NEXT: tl.store(x, nobody)
# CHECK-NEXT: ^~~~~~
e = told(lambda: wrong[(1,)](x))
# CHECK-NEXT: [('error', 22, 17, 'unknown-name')]
print([(d.severity, d.line, d.column, d.id) for d in e.diagnostics])
# CHECK-NEXT: KernelError: {{.*}}errors.py:27:5: error: store outside 'x': element 8 of 8 (fp32), in program (0, 0, 0)
told(lambda: outside[(1,)](x, 8))
# CHECK: KernelError: {{.*}}errors.py:38:17: error: 'numpy.sum' is host code: a kernel cannot call it
told(lambda: hosts[(1,)](x))
# CHECK: KernelError: {{.*}}errors.py:47:17: error: '__main__.no_kernel' is host code: a kernel cannot call it
told(lambda: calls[(1,)](x))
# CHECK: ValueError: tuned(): 'BLOCK' is given, and the configurations of @autotune give it, too
told(lambda: tuned[(1,)](x, BLOCK=4))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    unused[(1,)](x, 3)
# CHECK: KernelWarning a parameter is never used: 'n' True
print(caught[0].category.__name__, caught[0].message, caught[0].filename == __file__)


@tkc.autotune(configs=[tkc.Config({})], key=["kind"])
@tkc.heuristics({"NEGATIVE": lambda args: args["sign"] < 0})
@tkc.jit
def asked_above(x, sign, kind, NEGATIVE: tl.constexpr):
    tl.store(x, 1.0 if NEGATIVE else 2.0)


# What decorators ask for is used.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    asked_above[(1,)](x, -3, 5)
# CHECK-NEXT: asked above: 1.0 0
print("asked above:", float(x[0]), len(caught))

# What a kernel is made of.
scope = {"tkc": tkc, "tl": tl}
exec("@tkc.jit\ndef typed(x):\n    tl.store(x, 1)\n", scope)
# CHECK-NEXT: SourceUnavailable: the text of typed cannot be read, and a kernel is compiled from its text: a function typed at Python's prompt or made by exec() has none. Put it in a file and import it, or give the file to tkc.jit
told(lambda: scope["typed"][(1,)](x))
# CHECK-NEXT: SourceUnavailable: {{.*}}errors.py:[[@LINE+1]]: {{.*}}<lambda> is no def of its own: a kernel cannot be a lambda or part of a statement
told(lambda: tkc.jit(lambda x: x)[(1,)](x))
# CHECK-NEXT: TypeError: tkc.jit takes a function, one of Triton's jit functions, or a file's path, not an object of type int
told(lambda: tkc.jit(3))
# CHECK-NEXT: FileNotFoundError: there is no file 'none.tk' with kernels
told(lambda: tkc.jit("none.tk"))
# CHECK-NEXT: ValueError: '{{.*}}errors.py' has the kernels {{.*}}; say which: tkc.jit('{{.*}}errors.py', kernel=…)
told(lambda: tkc.jit(__file__))
# CHECK-NEXT: TypeError: tkc.jit() got an unexpected keyword argument 'nom_warps'
told(lambda: tkc.jit(nom_warps=4))

# Devices and descriptors.
# CHECK-NEXT: ValueError: arrays in host memory are for the devices 'cpu' and 'simt' (or 'simt:sm_80', …), not 'cuda'; on a GPU kernels run when their arrays are there
told(lambda: tkc.use("cuda"))
# CHECK-NEXT: ValueError: the padding of a descriptor is 'zero' or 'nan', not 'one'
told(lambda: tkc.TensorDescriptor(x, [8], [1], [8], "one"))
# CHECK-NEXT: ValueError: shape, strides and block_shape of a descriptor have 1, 2 and 1 dimensions; they need the same number
told(lambda: tkc.TensorDescriptor(x, [8], [1, 1], [8]))
# CHECK-NEXT: ValueError: a descriptor has 1 to 5 dimensions, not 0
told(lambda: tkc.TensorDescriptor(x, [], [], []))
# CHECK-NEXT: TypeError: argument 'x': the base of its descriptor is int, which is no array
told(lambda: add[(1,)](tkc.TensorDescriptor(3, [8], [1], [8]), y, 8, 8))


class Elsewhere:
    def __init__(self, device):
        self.device = device

    def __dlpack__(self, **kwargs):
        return x.__dlpack__()

    def __dlpack_device__(self):
        return self.device


# CHECK-NEXT: ValueError: argument 'x' is on a device of DLPack's kind 8; kernels run on CUDA devices and the host
told(lambda: add[(1,)](Elsewhere((8, 0)), y, 8, 8))
# CHECK-NEXT: ValueError: Pointer argument 'y' cannot be accessed from Triton (cpu tensor?): it is in the host's memory and 'x' in a GPU's; a kernel takes all its arrays from one place, or the host's in pinned memory
told(lambda: add[(1,)](type("Gpu", (), {"__cuda_array_interface__": {"shape": (8,), "typestr": "<f4", "data": (4096, False), "version": 3}})(),
                       y, 8, 8))
tkc.use("simt:sm_12")
# CHECK-NEXT: DeviceError: error: no chip 'sm_12' can be emulated; there are sm_75{{.*}}
told(lambda: add[(1,)](x, y, 8, 8))
# CHECK-NOT: {{.}}
