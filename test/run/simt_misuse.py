#!/usr/bin/env python3
# What the emulator tells of instructions that get what they cannot take, with the kernel's line and the thread.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from faults import attempt

ODD = "selp.b32 %%t9, %d, %d, %%p0;\n"  # thread 37 has another number
MBARRIER = "setp.ne.u32 %p0, %t0, 0; @%p0 ret; mbarrier.init.shared.b64 [tile], 1;\n"
TENSOR = "cp.async.bulk.tensor.%s.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile+128], "
REPLACE = "tensormap.replace.tile.%s;\n"
# 16 bytes, on top of zeros
MAP = "".join(REPLACE % field for field in (
    "global_address.global.b1024.b64 [%a0], %a0", "global_dim.global.b1024.b32 [%a0], 0, 16", "box_dim.global.b1024.b32 [%a0], 0, 16",
    "element_stride.global.b1024.b32 [%a0], 0, 1"))

CASES = [
    # CHECK: == a register that nothing wrote
    # CHECK-NEXT: simt: the address is in a register that nothing has written
    # CHECK-NEXT: at kernel.tk:11
    # CHECK-NEXT: in 'ld.global.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    # CHECK-NEXT: cuStreamSynchronize: an illegal memory access was encountered (700)
    ("a register that nothing wrote", "@!%p0 mov.b64 %a5, %a0;\n11: ld.global.b32 %t7, [%a5];"),
    # CHECK: == an address where nothing is
    # CHECK-NEXT: simt: 4 bytes at 0x40, where nothing is
    # CHECK-NEXT: at kernel.tk:12
    ("an address where nothing is", "mov.b64 %a5, 64;\n12: ld.global.b32 %t7, [%a5];"),
    # CHECK: == an address of another space
    # CHECK-NEXT: simt: the generic address 0x{{[0-9a-f]+}} is not of that space
    # CHECK-NEXT: at kernel.tk:13
    ("an address of another space", "13: cvta.to.shared.u64 %a5, %a0;"),
    # CHECK: == half of it outside
    # CHECK-NEXT: simt: 8 bytes at 0x{{[0-9a-f]+}}, 248 bytes into an allocation of 252
    # CHECK-NEXT: at kernel.tk:14
    ("half of it outside", "14: ld.global.b64 %a5, [%a0+248];"),
    # CHECK: == another program's shared memory
    # CHECK-NEXT: simt: the program 1 of a cluster of 1
    # CHECK-NEXT: at kernel.tk:15
    ("another program's shared memory", "15: mapa.shared::cluster.u32 %t7, %t1, 1;"),
    # CHECK: == a barrier there is not
    # CHECK-NEXT: simt: barrier 16; there are 16
    # CHECK-NEXT: at kernel.tk:21
    # CHECK: illegal instruction was encountered (715)
    ("a barrier there is not", "mov.u32 %t9, 16;\n21: bar.sync %t9;"),
    # CHECK: == a barrier of 48 threads
    # CHECK-NEXT: simt: 48 threads at a barrier; it is a multiple of 32 above 0
    # CHECK-NEXT: at kernel.tk:22
    ("a barrier of 48 threads", "22: bar.sync 1, 48;"),
    # CHECK: == lanes at two barriers
    # CHECK-NEXT: simt: lanes name different barriers or counts
    # CHECK-NEXT: at kernel.tk:23
    # CHECK-NEXT: in 'bar.sync', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    ("lanes at two barriers", ODD % (1, 2) + "23: bar.sync %t9;"),
    # CHECK: == a barrier of two counts
    # CHECK-NEXT: simt: barrier 1 is waited for by different numbers of threads, {{64 and 96|96 and 64}} (0: all)
    # CHECK-NEXT: at kernel.tk:24
    ("a barrier of two counts", "selp.b32 %t9, 64, 96, %p1;\n24: bar.sync 1, %t9;"),
    # CHECK: == lanes that name others
    # CHECK-NEXT: simt: lanes name different members, 0x00000020 and others
    # CHECK-NEXT: at kernel.tk:25
    # CHECK-NEXT: in 'vote.sync.ballot.b32', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    ("lanes that name others", ODD % (32, -1) + "25: vote.sync.ballot.b32 %t7, %p0, %t9;"),
    # CHECK: == an mbarrier for nobody
    # CHECK-NEXT: simt: an mbarrier for 0 arrivals; 1 to 1048575
    # CHECK-NEXT: at kernel.tk:31
    ("an mbarrier for nobody", "31: mbarrier.init.shared.b64 [tile], 0;"),
    # CHECK: == an mbarrier that crosses
    # CHECK-NEXT: simt: an mbarrier at the shared address 0x404, which is no multiple of 8
    # CHECK-NEXT: at kernel.tk:32
    # CHECK: misaligned address (716)
    ("an mbarrier that crosses", MBARRIER + "32: mbarrier.init.shared.b64 [tile+4], 1;"),
    # CHECK: == no mbarrier
    # CHECK-NEXT: simt: an mbarrier that is not initialized
    # CHECK-NEXT: at kernel.tk:33
    ("no mbarrier", MBARRIER + "mbarrier.inval.shared.b64 [tile];\n33: mbarrier.arrive.shared.b64 _, [tile];"),
    # CHECK: == too many at an mbarrier
    # CHECK-NEXT: simt: 2 arrivals at an mbarrier whose phase expects 1 more
    # CHECK-NEXT: at kernel.tk:34
    ("too many at an mbarrier", MBARRIER + "34: mbarrier.arrive.shared.b64 _, [tile], 2;"),
    # CHECK: == an mbarrier elsewhere
    # CHECK-NEXT: simt: 0x{{[0-9a-f]+}} is no address of shared memory
    # CHECK-NEXT: at kernel.tk:35
    ("an mbarrier elsewhere", "add.u64 %a5, %a0, 0x100000000000;\n35: mbarrier.arrive.b64 _, [%a5];"),
    # CHECK: == an mbarrier outside
    # CHECK-NEXT: simt: an mbarrier at the shared address 0x1408, which is outside of shared memory
    # CHECK-NEXT: at kernel.tk:36
    # CHECK: an illegal memory access was encountered (700)
    ("an mbarrier outside", "36: mbarrier.init.shared.b64 [tile+4104], 1;"),
    # CHECK: == too many bytes at an mbarrier
    # CHECK-NEXT: simt: an mbarrier that 2147483664 bytes are pending at; at most 1048575
    # CHECK-NEXT: at kernel.tk:37
    ("too many bytes at an mbarrier", MBARRIER + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 16;\n"
     "37: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 0x80000000;"),
    # CHECK: == too many bytes arrive
    # CHECK-NEXT: simt: an mbarrier that -1048576 bytes are pending at; at most 1048575
    # CHECK-NEXT: at kernel.tk:38
    ("too many bytes arrive", MBARRIER + "38: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [tile], 0x100000;"),
    # CHECK: == copies that nobody expects
    # CHECK-NEXT: simt: 1 arrivals at an mbarrier whose phase expects 0 more
    # CHECK-NEXT: at kernel.tk:39
    ("copies that nobody expects", MBARRIER + "mbarrier.arrive.expect_tx.shared.b64 _, [tile], 16;\n"
     "39: cp.async.mbarrier.arrive.noinc.shared.b64 [tile];"),
    # CHECK: == copies that arrive elsewhere
    # CHECK-NEXT: simt: 0x{{[0-9a-f]+}} is no address of shared memory
    # CHECK-NEXT: at kernel.tk:40
    ("copies that arrive elsewhere", "add.u64 %a5, %a0, 0x100000000000;\n40: cp.async.mbarrier.arrive.b64 [%a5];"),
    # CHECK: == a copy of more than it has
    # CHECK-NEXT: simt: 8 bytes to read of a copy of 4
    # CHECK-NEXT: at kernel.tk:41
    ("a copy of more than it has", "41: cp.async.ca.shared.global [%t4], [%a0], 4, 8;"),
    # CHECK: == a copy of less, from where nothing is
    # CHECK-NEXT: simt: 3 bytes at 0x40, where nothing is
    # CHECK-NEXT: at kernel.tk:57
    ("a copy of less, from where nothing is", "mov.b64 %a5, 64;\n57: cp.async.ca.shared.global [%t4], [%a5], 4, 3;"),
    # CHECK: == a copy of less that is not aligned
    # CHECK-NEXT: simt: 4 bytes at 0x{{[0-9a-f]+}}, which is no multiple of 4
    # CHECK-NEXT: at kernel.tk:58
    ("a copy of less that is not aligned", "58: cp.async.ca.shared.global [%t4], [%a0+2], 4, 2;"),
    # CHECK: == a bulk copy that is not aligned
    # CHECK-NEXT: simt: a bulk copy at the shared address 0x408, which is no multiple of 16
    # CHECK-NEXT: at kernel.tk:42
    ("a bulk copy that is not aligned", MBARRIER + "42: cp.async.bulk.global.shared::cta.bulk_group [%a0], [tile+8], 16;"),
    # CHECK: == a bulk copy of what is outside
    # CHECK-NEXT: simt: a bulk copy of 64 bytes at the shared address 0x13e0, which is outside
    # CHECK-NEXT: at kernel.tk:43
    ("a bulk copy of what is outside", MBARRIER + "43: cp.async.bulk.global.shared::cta.bulk_group [%a0], [tile+4064], 64;"),
    # CHECK: == a bulk copy of 8 bytes
    # CHECK-NEXT: simt: a bulk copy of 8 bytes at the global address 0x{{[0-9a-f]+}}; both are multiples of 16
    # CHECK-NEXT: at kernel.tk:44
    ("a bulk copy of 8 bytes", MBARRIER + "44: cp.async.bulk.global.shared::cta.bulk_group [%a0], [tile], 8;"),
    # CHECK: == a bulk copy for no mbarrier
    # CHECK-NEXT: simt: an mbarrier that is not initialized
    # CHECK-NEXT: at kernel.tk:45
    ("a bulk copy for no mbarrier", MBARRIER + "mbarrier.inval.shared.b64 [tile]; fence.proxy.async.shared::cta;\n"
     "45: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%a0], 64, [tile];"),
    # CHECK: == a tensor map that is none
    # CHECK-NEXT: simt: the tensor map: a dimension is not in 1 ... 2^32
    # CHECK-NEXT: at kernel.tk:46
    # CHECK: illegal instruction was encountered (715)
    ("a tensor map that is none", MBARRIER + "46: " + TENSOR % "1d" + "[%a0, {0}], [tile];"),
    # CHECK: == a tensor map of another rank
    # CHECK-NEXT: simt: a tensor map of rank 1 in an instruction for rank 2
    # CHECK-NEXT: at kernel.tk:47
    ("a tensor map of another rank", MBARRIER + MAP + "47: " + TENSOR % "2d" + "[%a0, {0, 0}], [tile];"),
    # CHECK: == a swizzled box that begins anywhere
    # CHECK-NEXT: simt: rows of a swizzled box that begin at element 24, which is no multiple of 16 bytes
    # CHECK-NEXT: at kernel.tk:55
    # CHECK: illegal instruction was encountered (715)
    ("a swizzled box that begins anywhere", MBARRIER + MAP + REPLACE % "swizzle_mode.global.b1024.b32 [%a0], 1" + "55: " + TENSOR % "1d" + "[%a0, {24}], [tile];"),
    # CHECK: == a box that is written before its tensor
    # CHECK-NEXT: simt: a box that is written from element -4 of a dimension on
    # CHECK-NEXT: at kernel.tk:56
    # CHECK: illegal instruction was encountered (715)
    ("a box that is written before its tensor", MBARRIER + MAP + "56: cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%a0, {-4}], [tile];"),
    # CHECK: == a sum of bytes
    # CHECK-NEXT: simt: a reduction that the tensor map's type of elements does not have
    # CHECK-NEXT: at kernel.tk:50
    ("a sum of bytes", MBARRIER + MAP + "50: cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%a0, {0}], [tile];"),
    # CHECK: == a field there is not
    # CHECK-NEXT: simt: field 5 of that name in a tensor map cannot be 0x10
    # CHECK-NEXT: at kernel.tk:48
    ("a field there is not", MBARRIER + "48: tensormap.replace.tile.box_dim.global.b1024.b32 [%a0], 5, 16;"),
    # CHECK: == a swizzle there is not
    # CHECK-NEXT: simt: field 0 of that name in a tensor map cannot be 0x100
    # CHECK-NEXT: at kernel.tk:49
    ("a swizzle there is not", MBARRIER + "49: tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%a0], 256;"),
    # CHECK: == a target there is not
    # CHECK-NEXT: simt: a branch to the target 7 of 2
    # CHECK-NEXT: at kernel.tk:51
    # CHECK-NEXT: in 'brx.idx', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    ("a target there is not", ODD % (7, 0) + "list: .branchtargets here, there;\n51: brx.idx %t9, list;\nhere:\nthere:"),
    # CHECK: == a trap
    # CHECK-NEXT: simt: the kernel stopped itself
    # CHECK-NEXT: at kernel.tk:52
    # CHECK-NEXT: in 'trap', line
    # CHECK-NEXT: program (1, 0, 0), thread (37, 0, 0), lane 5 of warp 1
    ("a trap", "52: @%p0 trap;"),
    # CHECK: == no end
    # CHECK-NEXT: simt: the launch takes longer than 1 seconds
    # CHECK-NEXT: at kernel.tk:53
    # CHECK-NEXT: in '{{bra|add.u32}}', line
    # CHECK-NEXT: program (1, 0, 0), thread
    # CHECK-NEXT: cuStreamSynchronize: the launch timed out and was terminated (702)
    ("no end", "mov.b32 %t7, 0;\nagain:\n53: add.u32 %t7, %t7, 1;\nbra again;"),
    # CHECK: == no end, and nothing changes
    # CHECK-NEXT: simt: the loop never ends: a round of it changes nothing
    # CHECK-NEXT: at kernel.tk:54
    # CHECK: unspecified launch failure (719)
    ("no end, and nothing changes", "again:\n54: mov.b32 %t7, %t0;\nbra again;"),
]


def main():
    for name, body in CASES:
        os.environ["SIMT_TIMEOUT"] = "1" if name == "no end" else "0"  # the others take as long as a busy machine makes them
        attempt(sys.argv[1], name, 64, body)


main()
