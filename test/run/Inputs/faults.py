"""Kernels of PTX that go wrong: what a program finds there, and how one is tried."""
import ctypes
import re

import numpy as np

from driver import Driver, DriverError

# %a0: 252 bytes of zeros; %t0: the thread; tile: shared memory, %t4: the thread's four bytes of it
START = """.version 8.6\n.target sm_90a\n.address_size 64\n.file 1 "kernel.tk"
.visible .entry k(.param .u64 out) {
.reg .b32 %t<16>, %d<4>; .reg .b64 %a<8>, %q<2>; .reg .pred %p<4>;
.shared .align 1024 .b8 tile[4096];
ld.param.u64 %a0, [out]; mov.u32 %t0, %tid.x; mov.u32 %t1, tile; mov.u32 %t2, %ctaid.x; setp.ne.u32 %p0, %t2, 1; @%p0 ret;
shl.b32 %t3, %t0, 2; add.u32 %t4, %t1, %t3; mov.u32 %t5, 1; setp.eq.u32 %p0, %t0, 37; setp.ge.u32 %p1, %t0, 32;
"""


def text(body):
    """`12: …` is on line 12 of the kernel, `12<39: …` also in a function that is called on line 39."""
    called = r".loc 1 \2 5\n.loc 1 \1 3, function_name 0, inlined_at 1 \2 5\n"
    body = re.sub(r"^(\d+)<(\d+): ", called, body, flags=re.M)
    return START + re.sub(r"^(\d+): ", r".loc 1 \1 3\n", body, flags=re.M) + "\nret; }\n"


def attempt(library, name, threads, body):
    driver = Driver(library)
    out = driver.array(np.zeros(63, np.uint32))
    print("== %s" % name, flush=True)
    try:
        driver.load(text(body)).launch("k", (3, 1, 1), threads, [out.pointer])
        print("no error", flush=True)
    except DriverError as error:
        print(error, flush=True)
    driver.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.library.cuDevicePrimaryCtxRelease_v2(driver.device)
