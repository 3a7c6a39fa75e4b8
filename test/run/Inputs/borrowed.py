"""Snippets for what users borrow from Triton's and PyTorch's own libraries: combine functions, PyTorch's helpers, a profiler's marks."""
from snippets import S

REDUCE = ("v = tl.load(x + tl.arange(0, 4)) ^ 2\ni = tl.arange(0, 4)\n")  # 2, 3, 0, 1
STORES = "".join(f"tl.store(y + {k}, r{k})\n" for k in range(6))

COMBINES = [
    S("combine functions", REDUCE + "r0 = tl.reduce(v, 0, tl.standard._sum_combine)\n"
      "r1 = tl.reduce(v + 1, 0, tl.standard._prod_combine)\nr2 = tl.reduce(v, 0, tl.standard._xor_combine)\n"
      "r3 = tl.reduce(v, 0, tl._or_combine)\nr4 = tl.reduce(v, 0, tl._elementwise_max)\n"
      "r5 = tl.reduce(v, 0, tl._elementwise_min)\n" + STORES, [6, 24, 0, 3, 3, 0],
      top="_ = tl._sum_combine, tl._prod_combine, tl._xor_combine\n"),
    S("combine functions", "i = tl.arange(0, 4)\nv = (i & 1) + C\n"
      "a, r0 = tl.reduce((v, i), 0, tl._argmax_combine_tie_break_left)\n"
      "b, r1 = tl.reduce((v, i), 0, tl._argmin_combine_tie_break_left)\n"
      "r2, d = tl.reduce((v + i * 2, i), 0, tl._argmax_combine_tie_break_fast)\n"
      "r3, g = tl.reduce((v + i * 2, i), 0, tl._argmin_combine_tie_break_fast)\n"
      "h, r4 = tl._argmax_combine(n, n + 1, 5, 3, True)\nh, r5 = tl._argmin_combine(n, n + 1, 7, 3, tie_break_left=False)\n"
      + STORES, [1, 0, 11, 4, 3, 6]),
]

HELPERS = "from torch._inductor.runtime import triton_helpers\n"

INDUCTOR = [
    S("inductor helpers", "v = triton_helpers.promote_to_tensor(n)\nr0 = triton_helpers.maximum(v, 7)\n"
      "r1 = triton_helpers.minimum(v, 7)\nr2 = triton_helpers.div_floor_integer(-v, 2)\n"
      "r3 = triton_helpers.remainder_integer(-v, 2 * C)\nw = tl.load(x + tl.arange(0, 4))\n"
      "r4 = triton_helpers.prod(w + 1, 0)\nr5 = triton_helpers.any(w > 3, 0).to(tl.int32)\n" + STORES, [7, 5, -3, 3, 24, 0],
      top=HELPERS),
    S("inductor helpers", "i = tl.arange(0, 4)\nv = tl.where(i == 2, float('nan'), i.to(tl.float32))\n"
      "r0 = triton_helpers.max2(i ^ 2, 0)\nr1 = triton_helpers.min2(i + 3, 0)\n"
      "a, r2 = triton_helpers.max_with_index(v, i, 0)\nb, r3 = triton_helpers.min_with_index(v, i, 0)\n"
      "r4 = (a != a).to(tl.int32)\nc, r5 = triton_helpers.min_with_index((i ^ 3) // 2, i, 0)\n" + STORES, [3, 3, 2, 2, 1, 2],
      top=HELPERS),
    S("inductor helpers", "i = tl.arange(0, 8).to(tl.float32)\nz = tl.zeros([8], tl.float32)\n"
      "m, q, w = triton_helpers.welford_reduce(i, z, z, z, True)\n"
      "m, q, w = triton_helpers.welford_reduce(i + 8, m, q, w, False)\n"
      "a, b, c = triton_helpers.welford(m, q, w, 0)\n"
      "d, e, g = triton_helpers.welford_combine(a, b, c, a, b, c)\n"
      "tl.store(y, a)\ntl.store(y + 1, b)\ntl.store(y + 2, c)\ntl.store(y + 3, d)\ntl.store(y + 4, e)\ntl.store(y + 5, g)\n",
      [7.5, 340, 16, 7.5, 680, 32], top=HELPERS, y="f32"),
]

PROFILE = [
    S("profiler's marks", "pl.enter_scope('all')\nwith pl.scope('load'):\n    v = tl.load(x + 3)\n    if n > 3:\n        v += 1\n"
      "pl.exit_scope('all')\ntl.store(y, v)", [4], top="import triton.profiler.language as pl\n"),
    S("profiler's marks", "with pl.scope('a'), open('f'):\n    tl.store(y, 1)", err=r"'with' is not supported",
      top="import triton.profiler.language as pl\n"),
]

BORROWED = COMBINES + INDUCTOR + PROFILE
