#!/usr/bin/env python3
# The emulated driver's cuLaunchKernelEx, cuTensorMapEncodeTiled and cuTensorMapReplaceAddress: what they do and what they refuse.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
# RUN: env SIMT_ARCH=sm_80 %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s --check-prefix=OLD
# OLD: cuTensorMapEncodeTiled: tensor maps need sm_90
# OLD: cuTensorMapReplaceAddress: tensor maps need sm_90
import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver, DriverError

PTX = """.version 8.6\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {
.reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p;
ld.param.u64 %a0, [out]; ld.param.u64 %a1, [map]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;
mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r0, %r2, %r1; mul.wide.u32 %a2, %r3, 8; add.s64 %a2, %a0, %a2; st.global.u64 [%a2], %a1; ret; }
"""


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("unused", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Map:
    """128 bytes, aligned to 64."""

    def __init__(self, off=0):
        self.room = ctypes.create_string_buffer(512)
        self.at = (ctypes.addressof(self.room) + 63) // 64 * 64 + off

    def bytes(self):
        return (ctypes.c_uint8 * 128).from_address(self.at)


def attempt(name, call):
    try:
        call()
        print("%s: done" % name, flush=True)
    except DriverError as error:
        print("%s: %s" % (name, error), flush=True)


def encode(driver, map, address, dims=(64, 32), strides=(128,), box=(32, 8), steps=(1, 1), type=6, interleave=0, swizzle=2, rank=None):
    array = lambda of, values: (of * max(len(values), 1))(*values) if values is not None else None
    driver.call("cuTensorMapEncodeTiled", ctypes.c_void_p(map.at if map else None), type, len(dims) if rank is None else rank,
                ctypes.c_void_p(address), array(ctypes.c_uint64, dims), array(ctypes.c_uint64, strides), array(ctypes.c_uint32, box),
                array(ctypes.c_uint32, steps), interleave, swizzle, 0, 0)


def maps(driver, memory):
    at, map = memory.pointer.value, Map()
    # CHECK: a map: done
    attempt("a map", lambda: encode(driver, map, at))
    # CHECK: one dimension: done
    attempt("one dimension", lambda: encode(driver, Map(), at, (64,), None, (64,), (1,), swizzle=0))
    # CHECK: nothing: cuTensorMapEncodeTiled: invalid argument (1)
    attempt("nothing", lambda: encode(driver, None, at))
    # CHECK: no strides: cuTensorMapEncodeTiled: invalid argument (1)
    attempt("no strides", lambda: encode(driver, Map(), at, strides=None))
    # CHECK: simt: cuTensorMapEncodeTiled: the tensor map is not aligned to 64 bytes
    # CHECK-NEXT: its place: cuTensorMapEncodeTiled: invalid argument (1)
    attempt("its place", lambda: encode(driver, Map(16), at))
    # CHECK: simt: cuTensorMapEncodeTiled: the rank is not in 1 ... 5
    attempt("rank", lambda: encode(driver, Map(), at, rank=6))
    # CHECK: simt: cuTensorMapEncodeTiled: the global address is not a multiple of 16
    attempt("address", lambda: encode(driver, Map(), at + 8))
    # CHECK: simt: cuTensorMapEncodeTiled: the inner box dimension is wider than the swizzle
    attempt("box", lambda: encode(driver, Map(), at, box=(64, 8)))
    # CHECK: simt: cuTensorMapEncodeTiled: interleaved layouts are not emulated
    # CHECK-NEXT: interleaved: cuTensorMapEncodeTiled: operation not supported (801)
    attempt("interleaved", lambda: encode(driver, Map(), at, interleave=1))
    replace = lambda map, address: driver.call("cuTensorMapReplaceAddress", ctypes.c_void_p(map), ctypes.c_void_p(address))
    # CHECK: another address: done
    attempt("another address", lambda: replace(map.at, at + 1024))
    # CHECK: simt: cuTensorMapReplaceAddress: the global address is not a multiple of 16
    attempt("a crooked address", lambda: replace(map.at, at + 8))
    # CHECK: no map: cuTensorMapReplaceAddress: invalid argument (1)
    attempt("no map", lambda: replace(map.at + 16, at))
    # CHECK: simt: cuTensorMapReplaceAddress: a dimension is not in 1 ... 2^32
    attempt("an empty map", lambda: replace(Map().at, at))
    return map


def launches(driver, memory, map):
    module, function, out = driver.load(PTX), ctypes.c_void_p(), driver.array(np.zeros(64, np.uint64))
    driver.call("cuModuleGetFunction", ctypes.byref(function), module.handle, b"k")
    params = (ctypes.c_void_p * 2)(ctypes.addressof(out.pointer), map.at)

    def launch(name, *attributes, count=None, config=True):
        all_of = (Attribute * max(len(attributes), 1))()
        for a, (number, values) in zip(all_of, attributes):
            a.id = number
            a.value[:len(values)] = values
        given = Config((2, 1, 1), (32, 1, 1), 0, None, all_of if attributes else None, len(attributes) if count is None else count)
        out.write(np.zeros(64, np.uint64))
        attempt(name, lambda: driver.call("cuLaunchKernelEx", ctypes.byref(given) if config else None, function, params, None))
        return (out.read() == memory.pointer.value + 1024).all()

    # CHECK: no attributes: done
    # CHECK-NEXT: it ran: True
    print("it ran: %s" % launch("no attributes"), flush=True)
    # CHECK: those that are so anyway: done
    # CHECK-NEXT: it ran: True
    print("it ran: %s" % launch("those that are so anyway", (0, []), (2, [1]), (4, [1, 1, 1]), (6, [1])), flush=True)
    # CHECK: simt: cuLaunchKernelEx: attribute 4 asks for clusters of several programs, which are not emulated
    # CHECK-NEXT: a cluster: cuLaunchKernelEx: operation not supported (801)
    # CHECK-NEXT: it ran: False
    print("it ran: %s" % launch("a cluster", (4, [2, 1, 1])), flush=True)
    # CHECK: an empty cluster: cuLaunchKernelEx: invalid argument (1)
    launch("an empty cluster", (4, [0, 1, 1]))
    # CHECK: simt: cuLaunchKernelEx: attribute 8 is not emulated
    # CHECK-NEXT: a priority: cuLaunchKernelEx: operation not supported (801)
    launch("a priority", (8, [1]))
    # CHECK: attributes from nowhere: cuLaunchKernelEx: invalid argument (1)
    launch("attributes from nowhere", count=1)
    # CHECK: no launch: cuLaunchKernelEx: invalid argument (1)
    launch("no launch", config=False)


def main():
    driver = Driver(sys.argv[1])
    memory = driver.array(np.zeros(8192, np.uint8))
    launches(driver, memory, maps(driver, memory))


main()
