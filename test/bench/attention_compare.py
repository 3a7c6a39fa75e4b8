#!/usr/bin/env python3
"""The attention of Triton's tutorial 06 by tkc and by Triton, and cuDNN's beside them: attention_compare.py TUTORIAL [back] [SHAPE...]

TUTORIAL is Triton's file, python/tutorials/06-fused-attention.py; tkc runs the same text with `triton` in its imports replaced by `tkc`. Both
choose from the same configurations, of which the tutorial has more, anew for each row: its key does not tell causal from full. A SHAPE is batch,heads,length,size; without any, those of the project's
figures. All sides are timed in alternated rounds of one process, in each order, by events around five calls, which are issued while the GPU pauses before them; with `back` the way back, cuDNN left out.
A ratio is the other side's median time over tkc's. Needs torch, triton and the package tkc.
"""
import importlib.util
import itertools
import os
import re
import statistics
import sys
import tempfile

import torch

ROUNDS, CALLS = 12, 5
PAUSE = 10_000_000  # cycles, some 5 ms
TILES = (128, 128, 2, 8), (128, 128, 3, 8), (128, 64, 3, 8), (128, 64, 4, 8), (128, 64, 3, 4), (64, 64, 3, 4), (64, 64, 4, 4)
SHAPES = [(4, 32, 1024, 64), (4, 32, 4096, 64), (1, 32, 16384, 64), (4, 32, 1024, 128), (4, 32, 4096, 128), (1, 32, 16384, 128)]


def load(text, name, folder):
    path = os.path.join(folder, name + ".py")
    with open(path, "w") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook = module._host_descriptor_pre_hook
    module._attn_fwd.configs = [module.triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_stages=s, num_warps=w, pre_hook=hook) for m, n, s, w in TILES]
    return module


def cudnn(q, k, v, causal):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=SCALE)


SCALE = 0.5


def timed(run):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    run()
    torch.cuda._sleep(PAUSE)
    start.record()
    for _ in range(CALLS):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / CALLS


def compare(modules, shape, causal, back):
    batch, heads, length, size = shape
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.float16, requires_grad=back) for _ in range(3))
    runs = {name: lambda m=m: m.attention(q, k, v, causal, SCALE, False) for name, m in modules.items()}
    if not back:
        runs["cuDNN"] = lambda: cudnn(q, k, v, causal)
    outs = {name: run() for name, run in runs.items()}
    if back:
        grad = torch.randn_like(q)
        runs = {name: lambda o=o: o.backward(grad, retain_graph=True) for name, o in outs.items()}
        grads = {}
        for name, run in runs.items():
            q.grad = k.grad = v.grad = None
            run()
            grads[name] = torch.cat([x.grad.flatten().float() for x in (q, k, v)])
        outs = grads
    far = max((outs["tkc"].float() - o.float()).abs().max().item() for o in outs.values())
    orders = itertools.islice(itertools.cycle(itertools.permutations(runs)), ROUNDS)  # none always behind the same other
    rounds = [{name: timed(runs[name]) for name in order} for order in orders]
    times = {name: statistics.median(r[name] for r in rounds) for name in runs}
    work = 4 * batch * heads * length * length * size * (0.5 if causal else 1) * (2.5 if back else 1)
    rates = " | ".join(f"{work / t / 1e9:.0f}" for t in times.values())
    ratios = " | ".join(f"{statistics.median(r[n] / r['tkc'] for r in rounds):.3f}" for n in times if n != "tkc")
    print(f"| {shape}{' causal' if causal else ''}{' back' if back else ''} | {rates} | {ratios} | {far:.4f} |", flush=True)


def main():
    words = sys.argv[2:]
    back = "back" in words
    shapes = [tuple(int(n) for n in w.split(",")) for w in words if w != "back"] or SHAPES
    text = open(sys.argv[1]).read()
    ours = re.sub(r"^import triton$", "import tkc as triton", re.sub(r"^from triton\.", "from tkc.", re.sub(r"^import triton\.", "import tkc.", text, flags=re.M), flags=re.M), flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{torch.cuda.get_device_name()}\n\n| shape | tkc TFLOP/s | Triton{'' if back else ' | cuDNN'} | ratio{'' if back else ' | ratio'} | furthest apart |")
        for shape in shapes:
            for causal in (False, True):
                compare({"tkc": load(ours, "ours", folder), "Triton": load(text, "theirs", folder)}, shape, causal, back)


if __name__ == "__main__":
    main()
