#!/usr/bin/env python3
# The PTX in a header is what the jit compiles for such arguments, byte for byte.
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir %t && env LD_LIBRARY_PATH=%driver %python %s %build/tkc %S/Inputs/scale.tk %t | FileCheck %s
# CHECK: 6 kernels of the jit, each in the header
"""ahead_same.py TKC FILE FOLDER: what runs leave in the cache against the bytes in the header. Runs' arrays are aligned."""
import os
import re
import subprocess
import sys

tkc, source, folder = sys.argv[1:]
cache, header = folder + "/cache", folder + "/scale.h"
kernel = [source, "-k", "scale"]
for block in 64, 128:
    for n in 1, 48, 50:
        subprocess.run([tkc, "-run", "-device", "cuda", *kernel, "-DB=%d" % block, "-grid", "1", "n=%d" % n, "factor=2.0", "x=ones:f32[64]",
                        "z=empty:f32[64]"], check=True, env={**os.environ, "TKC_CACHE_DIR": cache})
entries = [open(os.path.join(at, name), "rb").read() for at, _, names in os.walk(cache) for name in names]
sig = "x=*fp32:16|any,z=*fp32:16|any,n=i32:16|1|any,factor=fp32"
subprocess.run([tkc, *kernel, "-ptxas=none", "-arch=sm_90a", "-sig", sig, "-entry", "small: -DB=64", "-entry", "large: -DB=128", "-o", header], check=True)
codes = [bytes(map(int, m.replace("\n", "").replace(" ", "").split(","))) for m in
         re.findall(r"_ptx\[\] = \{([0-9,\s]+)\};", open(header).read())]
assert len(codes) == 24 and all(c.endswith(b"}\n\0") or c.endswith(b"\n\0") for c in codes), len(codes)
found = 0
for entry in entries:
    begin = entry.find(b"// tkc ")
    if begin >= 0:
        assert sum(entry[begin:].startswith(c[:-1]) for c in codes) >= 1, entry[:200]
        found += 1
print("%d kernels of the jit, each in the header" % found)
