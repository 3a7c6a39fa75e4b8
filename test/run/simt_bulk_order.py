#!/usr/bin/env python3
# Bulk copies of one thread are done in any order but where it waits in between: of two to one place either may be the last, by the seed.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: %python %s %driver/libcuda.so.1 2>&1 | FileCheck %s
# CHECK: no wait: [5, 9]
# CHECK-NEXT: cp.async.bulk.wait_group 1;: [5, 9]
# CHECK-NEXT: cp.async.bulk.wait_group 0;: [9]
import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))

from driver import Driver

COPY = "cp.async.bulk.global.shared::cta.bulk_group [%%a0], [tile+%d], 16; cp.async.bulk.commit_group;\n"
KERNEL = (""".version 8.6\n.target sm_90a\n.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %%t; .reg .b64 %%a0; .shared .align 128 .b8 tile[32];
ld.param.u64 %%a0, [out]; mov.u32 %%t, 5; st.shared.u32 [tile], %%t; st.shared.u32 [tile+4], %%t; st.shared.u32 [tile+8], %%t; st.shared.u32 [tile+12], %%t;
mov.u32 %%t, 9; st.shared.u32 [tile+16], %%t; st.shared.u32 [tile+20], %%t; st.shared.u32 [tile+24], %%t; st.shared.u32 [tile+28], %%t;
fence.proxy.async.shared::cta;
""" + COPY % 0 + "%s\n" + COPY % 16 + "cp.async.bulk.wait_group 0; ret; }\n").replace("%%", "%")


def last(library, between, seed):
    os.environ["SIMT_SEED"] = str(seed)
    driver = Driver(library)
    out = driver.array(np.zeros(4, np.uint32))
    driver.load(KERNEL.replace("%s", between)).launch("k", (1, 1, 1), 1, [out.pointer])
    words = out.read()
    assert len(set(words)) == 1, words
    driver.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.library.cuDevicePrimaryCtxRelease_v2(driver.device)
    return int(words[0])


for wait in ("", "cp.async.bulk.wait_group 1;", "cp.async.bulk.wait_group 0;"):
    print("%s: %s" % (wait or "no wait", sorted({last(sys.argv[1], wait, seed) for seed in range(24)})))
