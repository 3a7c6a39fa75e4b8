#!/usr/bin/env python3
# What the emulator tells of a kernel that goes wrong: what, the kernel's line, the program and the thread, and the other access of a race.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
# RUN: env SIMT_SEED=5 %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
"""Each kernel is PTX with the lines of a kernel.tk; of three programs only the second does what is wrong, always in the same order."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from faults import attempt

FILL = "st.shared.b32 [%t4], %t0; bar.sync 0;\n"
ODD = "@%p0 bra odd;\n"  # thread 37 goes another way
ONE = "setp.ne.u32 %p0, %t0, 0; @%p0 ret;\n"
# Warp 0 goes first, and says so in global memory, which orders nothing in shared memory.
FIRST = "@%p1 bra second;\n"
THEN = """st.volatile.global.b32 [%a0], %t5; ret;
second: ld.volatile.global.b32 %t6, [%a0]; setp.eq.u32 %p2, %t6, 0; @%p2 bra second;
"""
# Both matrices are at the start of the tile.
PRODUCT = """shl.b32 %t3, %t0, 5; add.u32 %t4, %t1, %t3; mov.u32 %t7, 0;
st.shared.v4.b32 [%t4], {%t7, %t7, %t7, %t7}; st.shared.v4.b32 [%t4+16], {%t7, %t7, %t7, %t7};
fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;
shr.u32 %t8, %t1, 4; cvt.u64.u32 %q0, %t8; add.s64 %q0, %q0, 0x2000080000;
121: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q0, %q0, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;
"""

CASES = [
    # CHECK: == reads what another warp has written
    # CHECK-NEXT: simt: race in shared memory: reads 0x400, with nothing that orders it after where it was written by lane 0 of warp 0
    # CHECK-NEXT: at kernel.tk:11
    # CHECK-NEXT: in 'st.shared.b32', line [[#LINE:]] of the PTX of 'k'
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:12
    # CHECK-NEXT: in 'ld.shared.b32', line [[#LINE+4]] of the PTX of 'k'
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("reads what another warp has written", 64,
     FIRST + "11: st.shared.b32 [%t4], %t0;\n" + THEN + "12: ld.shared.b32 %t7, [%t4+-128];"),
    # CHECK: == writes what another warp has written
    # CHECK-NEXT: simt: race in shared memory: writes 0x400, with nothing that orders it after where it was written by lane 0 of warp 0
    # CHECK-NEXT: at kernel.tk:21
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:22
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    ("writes what another warp has written", 64,
     FIRST + "21: st.shared.b32 [%t4], %t0;\n" + THEN + "22: st.shared.b32 [%t4+-128], %t0;"),
    # CHECK: == writes what another warp has read
    # CHECK-NEXT: simt: race in shared memory: writes 0x400, with nothing that orders it after where it was read by lane 0 of warp 0
    # CHECK-NEXT: at kernel.tk:31
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:32
    # CHECK-NEXT: called at kernel.tk:39
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    ("writes what another warp has read", 64,
     FILL + FIRST + "31: ld.shared.b32 %t7, [%t4];\n" + THEN + "32<39: st.shared.b32 [%t4+-128], %t0;"),
    # CHECK: == writes what another warp changes by an atomic
    # CHECK-NEXT: simt: race in shared memory: writes 0x400, with nothing that orders it after where it was changed by an atomic by lane 0 of warp 0
    # CHECK-NEXT: at kernel.tk:41
    # CHECK-NEXT: in 'atom.shared.add.u32', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:42
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    ("writes what another warp changes by an atomic", 64,
     FILL + FIRST + "41: atom.shared.add.u32 %t7, [%t4], 1;\n" + THEN + "42: st.shared.b32 [%t4+-128], %t0;"),
    # CHECK: == reads what another lane has written
    # CHECK-NEXT: simt: race in shared memory: reads 0x404, with nothing that orders it after where it was written by lane 1 of warp 0
    # CHECK-NEXT: at kernel.tk:51
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:52
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    ("reads what another lane has written", 32, "51: st.shared.b32 [%t4], %t0;\nxor.b32 %t8, %t4, 4;\n52: ld.shared.b32 %t7, [%t8];"),
    # CHECK: == reads what nothing has written
    # CHECK-NEXT: simt: reads shared memory at 0x494 that nothing has written
    # CHECK-NEXT: at kernel.tk:62
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("reads what nothing has written", 64, "61: @!%p0 st.shared.b32 [%t4], %t0;\nbar.sync 0;\n62: ld.shared.b32 %t7, [%t4];"),
    # CHECK: == a barrier in divergent code
    # CHECK-NEXT: simt: a barrier in divergent code: lanes 0xffffffdf execute it of 0xffffffff that run
    # CHECK-NEXT: at kernel.tk:71
    # CHECK-NEXT: in 'bar.sync', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("a barrier in divergent code", 64, ODD + "71: bar.sync 0;\nodd: st.global.b32 [%a0], %t0;"),
    # CHECK: == lanes that are missing
    # CHECK-NEXT: simt: lanes that the instruction names do not come to it: only 0xffffffdf wait here of 0xffffffff that run
    # CHECK-NEXT: at kernel.tk:81
    # CHECK-NEXT: in 'shfl.sync.bfly.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("lanes that are missing", 64, ODD + "81: shfl.sync.bfly.b32 %t7, %t0, 1, 31, -1;\nodd:\n82: bar.warp.sync -1;"),
    # CHECK: == a lane that is not named
    # CHECK-NEXT: simt: the mask of members, 0x0000ffff, does not name the lane itself
    # CHECK-NEXT: at kernel.tk:83
    # CHECK-NEXT: in 'shfl.sync.idx.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (16, 0, 0), lane 16 of warp 0
    ("a lane that is not named", 32, "83: shfl.sync.idx.b32 %t7, %t0, 1, 31, 0xffff;"),
    # CHECK: == an instruction of all lanes
    # CHECK-NEXT: simt: all 32 lanes of a warp execute this together, but only 0xffffffdf are there
    # CHECK-NEXT: at kernel.tk:84
    # CHECK-NEXT: in 'ldmatrix.sync.aligned.m8n8.x1.shared.b16', line
    # CHECK-NEXT: program (1, 0, 0), warp 1
    ("an instruction of all lanes", 64, FILL + "@%p0 ret;\n84: ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%t7}, [%t1];"),
    # CHECK: == barriers that wait for each other
    # CHECK-NEXT: simt: deadlock: 2 of 2 warps wait at barriers, 32 threads have come to barrier 1, and nothing else runs
    # CHECK-NEXT: at kernel.tk:91
    # CHECK-NEXT: in 'bar.sync', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("barriers that wait for each other", 64, FIRST + "91: bar.sync 1, 64;\nret;\nsecond:\n92: bar.sync 2, 64;"),
    # CHECK: == an mbarrier that nobody completes
    # CHECK-NEXT: simt: deadlock: all warps that can run wait at mbarriers, and nothing is under way that could complete one
    # CHECK-NEXT: at kernel.tk:93
    # CHECK-NEXT: in '{{.*}}', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    ("an mbarrier that nobody completes", 32, ONE + "mbarrier.init.shared.b64 [tile], 2;\nmbarrier.arrive.shared.b64 _, [tile];\n"
     "again:\n93: mbarrier.try_wait.parity.shared.b64 %p3, [tile], 0;\n@!%p3 bra again;"),
    # CHECK: == outside of global memory
    # CHECK-NEXT: simt: 8 bytes at 0x{{[0-9a-f]+}}, 44 bytes behind the end of an allocation of 252
    # CHECK-NEXT: at kernel.tk:101
    # CHECK-NEXT: in 'st.global.b64', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: an illegal memory access was encountered (700)
    ("outside of global memory", 64, "mul.wide.u32 %a1, %t0, 8; add.u64 %a2, %a0, %a1;\n101: @%p0 st.global.b64 [%a2], %a1;"),
    # CHECK: == outside of shared memory
    # CHECK-NEXT: simt: 4 bytes at shared address 0x1400, which is outside of it
    # CHECK-NEXT: at kernel.tk:102
    # CHECK-NEXT: in 'st.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: an illegal memory access was encountered (700)
    ("outside of shared memory", 64, "102: st.shared.b32 [%t4+3948], %t0;"),
    # CHECK: == an address that is not aligned
    # CHECK-NEXT: simt: 8 bytes at 0x{{[0-9a-f]+}}, which is no multiple of 8
    # CHECK-NEXT: at kernel.tk:103
    # CHECK-NEXT: in 'ld.global.v2.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (1, 0, 0), lane 1 of warp 0
    # CHECK-NEXT: cuStreamSynchronize: misaligned address (716)
    ("an address that is not aligned", 32, "mul.wide.u32 %a1, %t0, 4; add.u64 %a2, %a0, %a1;\n103: ld.global.v2.b32 {%t7, %t8}, [%a2];"),
    # CHECK: == a copy that is not waited for
    # CHECK-NEXT: simt: race in shared memory: reads 0x400, with nothing that orders it after where it was written by an asynchronous operation that nobody has waited for
    # CHECK-NEXT: at kernel.tk:111
    # CHECK-NEXT: in 'cp.async.ca.shared.global', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:112
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("a copy that is not waited for", 32, "111: cp.async.ca.shared.global [%t4], [%a0], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 1;\n112: ld.shared.b32 %t7, [%t4];"),
    # CHECK: == a copy that only another warp has waited for
    # CHECK-NEXT: simt: race in shared memory: reads 0x400, with nothing that orders it after where it was written by an asynchronous operation that nobody has waited for
    # CHECK-NEXT: at kernel.tk:113
    # CHECK-NEXT: in 'cp.async.ca.shared.global', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:114
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (32, 0, 0), lane 0 of warp 1
    ("a copy that only another warp has waited for", 64, FIRST + "113: cp.async.ca.shared.global [%t4], [%a0], 4;\n"
     "cp.async.wait_all;\n" + THEN + "114: ld.shared.b32 %t7, [%t4+-128];"),
    # CHECK: == a bulk copy that is not waited for
    # CHECK-NEXT: simt: race in shared memory: reads 0x480, with nothing that orders it after where it was written by an asynchronous operation that nobody has waited for
    # CHECK-NEXT: at kernel.tk:115
    # CHECK-NEXT: in 'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:116
    # CHECK-NEXT: in 'ld.shared.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    ("a bulk copy that is not waited for", 32, ONE + "mbarrier.init.shared.b64 [tile], 1; fence.proxy.async.shared::cta;\n"
     "115: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%a0], 64, [tile];\n"
     "116: ld.shared.b32 %t7, [tile+128];"),
    # CHECK: == a bulk copy without a fence
    # CHECK-NEXT: simt: what it starts reads shared memory at 0x400 without a fence.proxy.async behind where it was written by lane 0 of warp 0
    # CHECK-NEXT: at kernel.tk:117
    # CHECK-NEXT: in 'st.shared.v4.b32', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:118
    # CHECK-NEXT: in 'cp.async.bulk.global.shared::cta.bulk_group', line
    # CHECK-NEXT: program (1, 0, 0), thread (0, 0, 0), lane 0 of warp 0
    ("a bulk copy without a fence", 32, ONE + "117: st.shared.v4.b32 [tile], {%t0, %t0, %t0, %t0};\n"
     "118: cp.async.bulk.global.shared::cta.bulk_group [%a0], [tile], 16;"),
    # CHECK: == a product's result before its wait
    # CHECK-NEXT: simt: reads a register that holds the result of a product in flight, with no wgmma.wait_group for it in between
    # CHECK-NEXT: at kernel.tk:121
    # CHECK-NEXT: in 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:122
    # CHECK-NEXT: in 'st.global.b32', line
    # CHECK-NEXT: program (1, 0, 0), warp {{[0-3]$}}
    # CHECK-NEXT: cuStreamSynchronize: unspecified launch failure (719)
    ("a product's result before its wait", 128, PRODUCT + "122: st.global.b32 [%a0], %d0;"),
    # CHECK: == a product's register written before its wait
    # CHECK-NEXT: simt: writes a register that holds the result of a product in flight, with no wgmma.wait_group for it in between
    # CHECK-NEXT: at kernel.tk:121
    # CHECK-NEXT: in 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16', line
    # CHECK-NEXT: and then here:
    # CHECK-NEXT: at kernel.tk:123
    # CHECK-NEXT: in 'mov.b32', line
    # CHECK-NEXT: program (1, 0, 0), warp {{[0-3]$}}
    ("a product's register written before its wait", 128, PRODUCT + "123: mov.b32 %d3, 0;"),
    # CHECK: == all of it in order
    # CHECK-NEXT: no error
    ("all of it in order", 128, PRODUCT + "wgmma.wait_group.sync.aligned 0; bar.sync 0; @!%p1 cp.async.ca.shared.global [%t4], [%a0], 4;\n"
     "cp.async.wait_all; bar.sync 0; ld.shared.b32 %t7, [tile]; st.global.b32 [%a0], %d0;"),
]


def main():
    for case in CASES:
        attempt(sys.argv[1], *case)


main()
