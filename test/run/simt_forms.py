#!/usr/bin/env python3
# Instructions and calls of the driver that our own code has no use for, as other programs use them: what they give.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
# CHECK: {{^[1-9][0-9]*}} results, 0 wrong
import ctypes
import functools
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver, DriverError

# %t0: the thread; %t7: the result; %a0: 256 words that count up from 100; tile: shared memory
HEAD = """.version 8.6\n.target sm_90a\n.address_size 64\n.global .u32 counter = 7;
.func add_one(.param .b32 x) { .reg .b32 %%f<2>; ld.param.b32 %%f0, [x]; add.u32 %%f1, %%f0, 1; st.param.b32 [x], %%f1; ret; }
.visible .entry k(.param .u64 out, .param .u64 words) {
.reg .b32 %%t<24>, %%m; .reg .b64 %%a<12>; .reg .pred %%p<4>; .reg .b16 %%h<4>;
.shared .align 1024 .b8 tile[2048]; .param .b32 x;
ld.param.u64 %%a9, [out]; ld.param.u64 %%a0, [words]; mov.u32 %%t0, %%tid.x; mov.u32 %%t1, tile; mov.u32 %%m, -1; mov.u32 %%t7, 0;
setp.lt.u32 %%p0, %%t0, 20; shl.b32 %%t2, %%t0, 2; add.u32 %%t3, %%t1, %%t2; st.shared.u32 [%%t3], %%t0; and.b32 %%t4, %%t0, 3;
mul.wide.u32 %%a8, %%t0, 4; add.s64 %%a8, %%a8, %%a0;
%s
mul.wide.u32 %%a7, %%t0, 4; add.s64 %%a9, %%a9, %%a7; st.global.u32 [%%a9], %%t7; ret; }
"""
ALL = 2**32 - 1
FLAG = "selp.u32 %t7, 1, 0, %p1;"
TAKE = "fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p2, %t0, 0; @%p2 bra after;\n"
MAP = "".join("tensormap.replace.tile.%s;\n" % field for field in (
    "global_address.global.b1024.b64 [%a3], %a0", "global_dim.global.b1024.b32 [%a3], 0, 32", "box_dim.global.b1024.b32 [%a3], 0, 32",
    "element_stride.global.b1024.b32 [%a3], 0, 1", "elemtype.global.b1024.b32 [%a3], 2"))

SPECIALS = ("tid.x tid.y tid.z ntid.x ntid.y nctaid.z laneid warpid nwarpid ctaid.x clusterid.y nclusterid.x nclusterid.y cluster_nctaid.z "
            "cluster_ctaid.x cluster_ctarank cluster_nctarank nsmid dynamic_smem_size total_smem_size").split()


def words(change=lambda i: 100 + i):
    return [change(i) for i in range(32)]


# name, code, the result by thread, and what becomes of the words where they change; %m names all lanes
CASES = [
    ("vote.all", "vote.sync.all.pred %p1, %p0, %m;" + FLAG, lambda i: 0),
    ("vote.any", "vote.sync.any.pred %p1, %p0, %m;" + FLAG, lambda i: 1),
    ("vote.uni", "vote.sync.uni.pred %p1, !%p0, %m;" + FLAG, lambda i: 0),
    ("vote.ballot", "vote.sync.ballot.b32 %t7, %p0, %m;", lambda i: 0xfffff),
    ("match.any", "match.any.sync.b32 %t7, %t4, %m;", lambda i: 0x11111111 << i % 4),
    ("match.all", "match.all.sync.b32 %t8|%p1, %t4, %m; selp.u32 %t7, 1, %t8, %p1;", lambda i: 0),
    ("match.all of one", "match.all.sync.b64 %t8|%p1, %a0, %m;" + FLAG, lambda i: 1),
    ("elect", "elect.sync %t8|%p1, %m; selp.u32 %t7, 9, %t8, %p1;", lambda i: 0 if i else 9),
    ("activemask", "activemask.b32 %t7;", lambda i: ALL),
    ("redux.add", "redux.sync.add.u32 %t7, %t0, %m;", lambda i: 496),
    ("redux.min", "neg.s32 %t8, %t0; redux.sync.min.s32 %t7, %t8, %m;", lambda i: ALL - 30),
    ("redux.and", "or.b32 %t8, %t0, 64; redux.sync.and.b32 %t7, %t8, %m;", lambda i: 64),
    ("redux.or", "redux.sync.or.b32 %t7, %t0, %m;", lambda i: 31),
    ("redux.xor", "redux.sync.xor.b32 %t7, %t4, %m;", lambda i: 0),
    ("lanemask_eq", "mov.u32 %t7, %lanemask_eq;", lambda i: 1 << i),
    ("lanemask_le", "mov.u32 %t7, %lanemask_le;", lambda i: (2 << i) - 1),
    ("lanemask_lt", "mov.u32 %t7, %lanemask_lt;", lambda i: (1 << i) - 1),
    ("lanemask_ge", "mov.u32 %t7, %lanemask_ge;", lambda i: ALL + 1 - (1 << i)),
    ("lanemask_gt", "mov.u32 %t7, %lanemask_gt;", lambda i: ALL + 1 - (2 << i)),
    ("other registers", "".join("mov.u32 %%t8, %%%s; mad.lo.u32 %%t7, %%t7, 3, %%t8;\n" % name for name in SPECIALS),
     lambda i: functools.reduce(lambda sum, x: 3 * sum + x, [i, 0, 0, 32, 1, 1, i, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 2048]) & ALL),
    ("gridid", "mov.u64 %a1, %gridid; cvt.u32.u64 %t7, %a1;", lambda i: 1),
    ("shfl", "shfl.sync.down.b32 %t7, %t0, 1, 31, %m;", lambda i: min(i + 1, 31)),
    ("shfl with a predicate", "shfl.sync.up.b32 %t8|%p1, %t0, 1, 0, %m;" + FLAG, lambda i: i > 0),
    ("isspacep", "mov.u64 %a1, tile; cvta.shared.u64 %a1, %a1; isspacep.shared %p1, %a1; isspacep.global %p2, %a0; and.pred %p1, %p1, %p2;" + FLAG,
     lambda i: 1),
    ("getctarank", "getctarank.shared::cluster.u32 %t7, %t1;", lambda i: 0),
    ("mapa", "mapa.shared::cluster.u32 %t8, %t3, 0; ld.shared::cluster.u32 %t7, [%t8];", lambda i: i),
    ("atom in the ISA's order", "atom.acq_rel.gpu.global.add.u32 %t7, [%a8], 7;", lambda i: 100 + i, lambda i: 107 + i),
    ("atom in Triton's order", "atom.global.gpu.acq_rel.add.u32 %t7, [%a8], 7;", lambda i: 100 + i, lambda i: 107 + i),
    ("atom.inc", "atom.global.inc.u32 %t7, [%a8], 7;", lambda i: 100 + i, lambda i: 0),
    ("atom.dec", "atom.global.dec.u32 %t7, [%a8], 110;", lambda i: 100 + i, lambda i: 99 + i if i <= 10 else 110),
    ("atom.cas", "atom.global.cas.b32 %t7, [%a8], 105, 3;", lambda i: 100 + i, lambda i: 3 if i == 5 else 100 + i),
    ("atom.max of halves", "mov.b32 %t8, 0x3c003c00; st.global.u32 [%a8], %t8; mov.b32 %t9, 0x40003800;\n"
     "atom.global.max.noftz.f16x2 %t7, [%a8], %t9;", lambda i: 0x3c003c00, lambda i: 0x40003c00),
    ("red of a vector", "mov.f32 %t8, 0f3f800000; st.global.f32 [%a8], %t8; bar.sync 0; and.b32 %t10, %t0, 1; setp.eq.u32 %p2, %t10, 0;\n"
     "@%p2 red.global.add.v2.f32 [%a8], {%t8, %t8};", lambda i: 0, lambda i: 0x40000000),
    ("bar.red.popc", "bar.red.popc.u32 %t7, 0, %p0;", lambda i: 20),
    ("bar.red.and", "bar.red.and.pred %p1, 0, !%p0;" + FLAG, lambda i: 0),
    ("bar.red.or", "barrier.cta.red.or.aligned.pred %p1, 0, 32, %p0;" + FLAG, lambda i: 1),
    ("bar.warp.sync", "bar.warp.sync %m; ld.shared.u32 %t7, [%t3];", lambda i: i),
    ("barrier.cluster", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %t7, 5;", lambda i: 5),
    ("hints", "createpolicy.fractional.L2::evict_first.b64 %a1, 1.0; prefetch.global.L2 [%a8]; griddepcontrol.wait; nanosleep.u32 20;\n"
     "ld.global.L2::cache_hint.u32 %t7, [%a8], %a1; setmaxnreg.dec.sync.aligned.u32 40;", lambda i: 100 + i),
    ("a guarded call", "st.param.b32 [x], %t0; @%p0 call add_one, (x); ld.param.b32 %t7, [x];", lambda i: i + (i < 20)),
    ("ldmatrix and stmatrix", "shl.b32 %t8, %t0, 4; add.u32 %t8, %t8, %t1; and.b32 %t9, %t0, 7; shl.b32 %t9, %t9, 4; add.u32 %t9, %t9, %t1;\n"
     "bar.sync 0; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%t9], {%t0}; bar.sync 0;\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%t7}, [%t9];", lambda i: i),
    ("mbarrier.pending_count", "add.u32 %t8, %t1, 1024; setp.ne.u32 %p1, %t0, 0; @!%p1 mbarrier.init.shared.b64 [%t8], 33; bar.sync 0;\n"
     "mbarrier.arrive.shared.b64 %a1, [%t8]; mbarrier.pending_count.b64 %t9, %a1; setp.gt.u32 %p1, %t9, 1;" + FLAG, lambda i: 1),
    ("cp.async.mbarrier", "add.u32 %t8, %t1, 1024; setp.ne.u32 %p1, %t0, 0; @!%p1 mbarrier.init.shared.b64 [%t8], 32; bar.sync 0;\n"
     "cp.async.ca.shared.global [%t3], [%a8], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%t8];\n"
     "again: mbarrier.try_wait.parity.shared.b64 %p1, [%t8], 0; @!%p1 bra again; ld.shared.u32 %t7, [%t3];", lambda i: 100 + i),
    ("cp.async.wait", "cp.async.ca.shared.global [%t3], [%a8], 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %t7, [%t3];\n"
     "cp.async.ca.shared.global [%t3], [%a8], 4; cp.async.wait_all;", lambda i: 100 + i),
    ("a bulk copy out", TAKE + "cp.async.bulk.prefetch.L2.global [%a0], 128; cp.async.bulk.global.shared::cta.bulk_group [%a0], [%t1], 128;\n"
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nafter: bar.sync 0; ld.global.u32 %t7, [%a8];", lambda i: i, lambda i: i),
    ("a sum of tensors", "add.s64 %a3, %a0, 512; bar.sync 0;\n" + TAKE + MAP +
     "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%a3, {0}], [%t1];\n"
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nafter: bar.sync 0; ld.global.u32 %t7, [%a8];",
     lambda i: 100 + 2 * i, lambda i: 100 + 2 * i),
]


def run_cases(driver):
    for name, code, want, *rest in CASES:
        out, memory = driver.array(np.zeros(32, np.uint32)), driver.array(np.arange(100, 356, dtype=np.uint32))
        memory.write(np.concatenate([memory.array[:128], np.zeros(128, np.uint32)]))
        driver.load(HEAD % code).launch("k", (1, 1, 1), 32, [out.pointer, memory.pointer])
        driver.call("cuCtxSynchronize")
        yield name, out.read().tolist(), [int(want(i)) for i in range(32)]
        yield name + ": words", memory.read()[:32].tolist(), words(*rest)


def run_calls(driver):
    """Streams and events, copies and settings of memory on them."""
    at, other, host, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_size_t()
    stream, event, late, time = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float(-1)
    count = ctypes.c_size_t(64)
    driver.call("cuStreamCreate", ctypes.byref(stream), 0)
    driver.call("cuEventCreate", ctypes.byref(event), 0)
    driver.call("cuEventCreate", ctypes.byref(late), 0)
    driver.call("cuMemAllocAsync", ctypes.byref(at), count, stream)
    driver.call("cuMemAlloc_v2", ctypes.byref(other), count)
    driver.call("cuMemAllocHost_v2", ctypes.byref(host), count)
    values = (ctypes.c_uint32 * 16).from_address(host.value)
    driver.call("cuEventRecord", event, stream)
    driver.call("cuMemsetD8_v2", at, 1, count)
    driver.call("cuMemsetD16_v2", at, 2, ctypes.c_size_t(8))
    driver.call("cuMemsetD32_v2", at, 3, ctypes.c_size_t(2))
    driver.call("cuMemsetD32Async", ctypes.c_uint64(at.value + 60), 4, ctypes.c_size_t(1), stream)
    driver.call("cuMemsetD8Async", ctypes.c_uint64(at.value + 56), 5, ctypes.c_size_t(1), stream)
    driver.call("cuMemcpyDtoDAsync_v2", other, at, count, stream)
    driver.call("cuMemcpyDtoHAsync_v2", host, other, count, stream)
    yield "memory", list(values), [3, 3, 0x20002, 0x20002] + [0x1010101] * 10 + [0x1010105, 4]
    values[0] = 77
    driver.call("cuMemcpyHtoDAsync_v2", at, host, count, stream)
    driver.call("cuMemcpyDtoD_v2", other, at, count)
    driver.call("cuMemcpyDtoH_v2", host, other, count)
    yield "back", values[0], 77
    driver.call("cuEventRecord", late, stream)
    driver.call("cuStreamWaitEvent", stream, late, 0)
    driver.call("cuEventSynchronize", late)
    driver.call("cuEventQuery", late)
    driver.call("cuStreamQuery", stream)
    driver.call("cuEventElapsedTime", ctypes.byref(time), event, late)
    yield "time", time.value >= 0, True
    driver.call("cuMemGetAddressRange_v2", ctypes.byref(other), ctypes.byref(size), ctypes.c_uint64(at.value + 8))
    yield "range", (other.value, size.value), (at.value, 64)
    driver.call("cuMemGetInfo_v2", ctypes.byref(size), ctypes.byref(count))
    yield "all memory", count.value >= size.value > 0, True
    driver.call("cuMemFreeAsync", at, stream)
    for name, what in (("cuMemFreeHost", host), ("cuEventDestroy_v2", event), ("cuEventDestroy_v2", late), ("cuStreamDestroy_v2", stream)):
        driver.call(name, what)
    module, variable = ctypes.c_void_p(), ctypes.c_uint64()
    driver.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p((HEAD % "").encode()))
    driver.call("cuModuleGetGlobal_v2", ctypes.byref(variable), ctypes.byref(size), module, b"counter")
    driver.call("cuMemcpyDtoH_v2", ctypes.byref(count), variable, ctypes.c_size_t(4))
    yield "a variable", (count.value & ALL, size.value), (7, 4)
    driver.call("cuModuleUnload", module)
    context = ctypes.c_void_p()
    driver.call("cuCtxCreate_v2", ctypes.byref(context), 0, driver.device)
    driver.call("cuCtxSetCurrent", driver.context)
    driver.call("cuCtxDestroy_v2", context)
    try:
        driver.call("cuCtxSetCurrent", context)
        yield "a context that is gone", "set", "refused"
    except DriverError as error:
        yield "a context that is gone", str(error), "cuCtxSetCurrent: invalid device context (201)"


def main():
    driver = Driver(sys.argv[1])
    count = wrong = 0
    for run in (run_cases, run_calls):
        for name, got, want in run(driver):
            count += 1
            if got != want:
                wrong += 1
                print("%s: got %s, wanted %s" % (name, got, want))
    print("%d results, %d wrong" % (count, wrong))


main()
