"""Runs a kernel that takes a tensor map of each of N arrays: many_boxes.py TKC FILE N; the kernel is left in FILE."""
import subprocess
import sys

tkc, path, count = sys.argv[1:]
names = ["a%d" % i for i in range(int(count) - 1)]
text = """import triton
import triton.language as tl


@triton.jit
def product(%s, b: "*fp16:16", c: "*fp32:16", n: "i32:16"):
    sum = tl.zeros((64, 16), tl.float32)
    for k in range(0, n, 64):
        y = tl.make_tensor_descriptor(b, shape=[64, n], strides=[n, 1], block_shape=[64, 64]).load([0, k])
""" % ", ".join(n + ': "*fp16:16"' for n in names)
for n in names:
    text += "        x = tl.make_tensor_descriptor(%s, shape=[16, n], strides=[n, 1], block_shape=[16, 64]).load([0, k])\n" % n
    text += "        sum = tl.dot(y, x.T, sum)\n"
text += "    tl.store(c + tl.arange(0, 64)[:, None] * 16 + tl.arange(0, 16)[None, :], sum)\n"
with open(path, "w") as file:
    file.write(text)
arrays = [n + "=ones:f16[16,64]" for n in names] + ["b=ones:f16[64,64]", "c=zeros:f32[64,16]", "n=64", "-print", "c"]
sys.exit(subprocess.run([tkc, "-run", "-device", "simt", "-arch", "sm_90a", "-num-stages=2", "-grid", "1", path, *arrays]).returncode)
