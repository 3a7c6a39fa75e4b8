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

MIXED = "v = (tl.arange(0, 8) * 3 + 1) % 8\n"  # 1, 4, 7, 2, 5, 0, 3, 6
ALL = "tl.store(y + tl.arange(0, 8), v)"
SORTS = "from triton.language.standard import sort_impl, _bitonic_merge, _log2\n"

PRIVATE = [
    S("Triton's private names", MIXED + "for j in tl.static_range(1, 4):\n    v = _bitonic_merge(v, j, 2 if j < 3 else True, _log2(8))\n" + ALL,
      [7, 6, 5, 4, 3, 2, 1, 0], top=SORTS),
    S("Triton's private names", MIXED + "v = tl._bitonic_merge(v.to(tl.float16), 1, 2, 1)\nv = tl._bitonic_merge(v, 2, False, 2).to(tl.int32)\n" + ALL,
      [1, 2, 4, 7, 0, 3, 5, 6]),
    S("Triton's private names", MIXED + "v = tl._bitonic_merge_hypercube(v.reshape(2, 4), 1, 2).reshape(8)\n" + ALL,
      [1, 4, 7, 2, 0, 5, 6, 3]),
    S("Triton's private names", MIXED + "h = tl.reshape(v, [2] * 3)\nv = tl._compare_and_swap(h, tl._indicator(3, 2), 1).reshape(8)\n" + ALL,
      [1, 2, 7, 4, 5, 6, 3, 0]),
    S("Triton's private names", "v = tl.where(tl.arange(0, 8) == 2, float('nan'), 8.0 - tl.arange(0, 8))\n"
      "v = tl._compare_and_swap(v, False, 1).to(tl.int8)\nv = tl._compare_and_swap(v, True, 2)\n" + ALL,
      [8, 5, 4, 7, 2, 1, 0, 3]),
    S("Triton's private names", MIXED + "w = sort_impl(v)\nu = tl.sort_impl(v.reshape(2, 4), k=2, descending=True)\n"
      "tl.store(y + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2), u)\ntl.store(y + 4 + tl.arange(0, 4), w.reshape(2, 4).sum(0))",
      [7, 4, 6, 5, 4, 6, 8, 10], top=SORTS),
    S("Triton's private names", "tl.static_assert(tl._get_flip_dim(None, (2, 3)) == 1 and tl._get_flip_dim(-2, (2, 3)) == 0)\n"
      "tl.static_assert(tl._pick_sum_dtype(tl.int8, None) == tl.int32 and tl._pick_sum_dtype(tl.int1, None) == tl.uint32)\n"
      "tl.static_assert(tl._pick_sum_dtype(tl.float16, None) is None and tl._pick_sum_dtype(tl.uint32, None) is None)\n"
      "tl.static_assert(tl._pick_sum_dtype(tl.int8, tl.int16) == tl.int16 and tl._get_int_dtype(bitwidth=8, signed=False) == tl.uint8)\n"
      "b = tl._promote_bfloat16_to_float32(tl.zeros([4], tl.bfloat16))\n"
      "tl.static_assert(b.dtype == tl.float32 and tl._promote_bfloat16_to_float32(n).dtype == tl.int32)\n" + MIXED +
      "a, i = tl.core._reduce_with_indices(v.reshape(2, 4), -1, tl._argmax_combine_tie_break_left, keep_dims=True)\n"
      "tl.store(y + tl.arange(0, 2)[:, None], i)\na, i = tl._reduce_with_indices(v, 0, tl._argmin_combine_tie_break_fast)\n"
      "tl.store(y + 2, i)", [2, 3, 5]),
    S("Triton's private names", "tl._bitonic_merge(tl.arange(0, 6), 2, 0, 2)", err="the elements of the block must be a power of two"),
    S("Triton's private names", "tl.sort_impl(tl.zeros([4, 4], tl.int32), dim=0)", err="tl.sort works along the last dimension, found 0 of 2"),
    S("Triton's private names", "tl.sort_impl(tl.arange(0, 8), k=9)", err="'k' of tl.topk must be 1 to the extent"),
]

COPIED = """
@tl.core.builtin
def widened(a: tl.tuple, b, t, _semantic=None) -> tl.tuple:
    c = _semantic.cast(b, t).__add__(1, _semantic=_semantic)
    return tl.tuple([*a.values, c])
@tl.core.builtin
def lanes(_semantic=None):
    return tl.constexpr(_semantic.builder.options.num_warps * 32)
@tl.core.extern
def power(a, b, _semantic=None):
    return tl.core.extern_elementwise("libdevice", "", [a, b], {
        (tl.float32, tl.float32): ("__nv_powf", tl.float32),
        (tl.float64, tl.int32): ("__nv_powi", tl.float64),
    }, is_pure=True, _semantic=_semantic)
@tl.core.extern
def symbol(a, name: tl.constexpr, _semantic=None):
    return tl.extern_elementwise("", "", [a], {(tl.int32,): (name, tl.int32)}, is_pure=True, _semantic=_semantic)
"""
SPECIAL = ["add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod", "and", "rand", "or", "ror", "xor", "rxor",
           "lshift", "rlshift", "rshift", "rrshift", "lt", "le", "gt", "ge", "eq", "ne"]
FIVE_AND_THREE = [8, 8, 2, -2, 15, 15, 1, 0, 2, 3, 1, 1, 7, 7, 6, 6, 40, 96, 0, 0, 0, 0, 1, 1, 0, 1]

BUILTINS = [
    S("builtins of Triton's kind", "t = widened((n, 2), f, tl.int32)\ntl.static_assert(len(t) == 3 and t[2].dtype == tl.int32)\n"
      "tl.store(y, t[0] + t.values[1] * 10 + t[2] * 100)\ntl.store(y + 1, lanes())\nv = tl.arange(0, 2)\n"
      "tl.store(y + 2 + v, power(v + 2.0, f * 2).to(tl.int32))\ntl.store(y + 4, power(tl.cast(f, tl.float64), n).to(tl.int32))\n"
      "tl.store(y + 5, symbol(n, '__nv_popc') + symbol(n, '__nv_brevll'))", [225, 128, 8, 27, 7, -1610612734], top=COPIED),
    S("builtins of Triton's kind", "symbol(n, '__nv_popcorn')", err="libdevice has no '__nv_popcorn'", top=COPIED),
    S("builtins of Triton's kind", "symbol(f, '__nv_popc')", err="no symbol is given for fp32", top=COPIED),
    *[S("operators' names", "\n".join(f"tl.store(y + {i}, n.__{name}__(3))" for i, name in enumerate(SPECIAL[k:k + 8])), FIVE_AND_THREE[k:k + 8])
      for k in range(0, len(SPECIAL), 8)],
    S("operators' names", "tl.store(y, n.__truediv__(f * 0 + 2.0).__mul__(4).to(tl.int32))\ntl.store(y + 1, f.__rtruediv__(3).to(tl.int32))\n"
      "p = x.__add__(3)\ntl.store(y + 2, tl.load(p))", [10, 2, 3]),
    S("operators' names", "n.__add__('3')", err=r"'\+' does not work on int32 and the string '3'"),
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
    S("inductor helpers", "i = tl.arange(0, 4)\nw = tl.load(x + i) ^ 2\np = tl.where(i == 0, 1000, tl.where(i == 1, 100, tl.where(i == 2, 10, 1)))\n"
      "a, b = triton_helpers.sort_with_index(w // 2, i, 3, dim=0, stable=True)\nr0 = tl.sum(b * p)\n"
      "a, b = triton_helpers.sort_with_index(w, i, None)\nr1 = tl.sum(b * p)\n"
      "v = tl.where(i == 2, float('nan'), w.to(tl.float32))\n"
      "a, b = triton_helpers.sort_with_index(v, i, 4, 0, stable=False, descending=True)\nr2 = tl.sum(b * p)\n"
      "a, b = triton_helpers.sort_with_index(v[None, :], i[None, :], 3, -1)\nr3 = tl.sum(b * p[None, :])\n"
      "a, r4 = triton_helpers.maximum_with_index(n, 3, 5, 2)\nr5, b = triton_helpers.minimum_with_index(n, 3, 4, 2)\n"
      + STORES, [2013, 2301, 2103, 123, 2, 4], top=HELPERS),
    S("inductor helpers", "i = tl.arange(0, 4)\nw = tl.load(x + i) ^ 2\na, b, c, d = tl.randint4x(n, i)\n"
      "q = ((a.to(tl.uint64) | (b.to(tl.uint64) << 32)) % 100).to(tl.int64) + 10\n"
      "r0 = tl.sum((triton_helpers.randint64(n, i, 10, 110) == q).to(tl.int32))\n"
      "m, r1 = triton_helpers.frexp(n * 2.0)\nr2 = (m * 80).to(tl.int32)\n"
      "r3 = triton_helpers.select_one(w.to(tl.float32)[None, :], (i == 1)[None, :], 1, keep_dims=True).sum().to(tl.int32)\n"
      "below = triton_helpers.bucketize_binary_search(w, x, 3, 3, 1, i * 0, tl.int32, False, None, None, None)\n"
      "upto = triton_helpers.bucketize_binary_search(w, x, n - 2, 16, 1, i * 0, tl.int32, True, x, 1, i * 0)\n"
      "r4 = tl.sum(below) * 10 + tl.sum(upto)\nr5 = triton_helpers.device_assert_then(n == 5, 'n', n)\n"
      + STORES, [4, 4, 50, 3, 69, 5], top=HELPERS),
    S("inductor helpers", "i = tl.arange(0, 4)\nz = tl.zeros([4], tl.float32)\n"
      "m, s = triton_helpers.online_softmax_combine(z - float('inf'), z, tl.where(i < 3, 0.0, -float('inf')), False)\n"
      "m, s = triton_helpers.online_softmax_combine(m, s, m, True)\na, b = triton_helpers.online_softmax_reduce(m, s, 0, False)\n"
      "tl.store(y, a)\ntl.store(y + 1, b)\ntl.store(y + 2, triton_helpers.exp(a, False))\n", [0, 6, 1], top=HELPERS, y="f32"),
    S("inductor helpers", "p = tl.program_id(0)\nw = (y + 2).to(tl.pointer_type(tl.uint64), bitcast=True)\n"
      "before = triton_helpers.exclusive_scan_decoupled_lookback(w, p + n, p, tl._sum_combine, tl.uint32, tl.uint64)\n"
      "tl.atomic_add(y + tl.where(p == 2, 1, 0), before)\n", [5, 11, 2, 5, 2, 11, 2, 18], top=HELPERS, grid="3"),
    S("inductor helpers", "p = tl.program_id(0)\nw = y.to(tl.pointer_type(tl.uint64), bitcast=True)\n"
      "before = triton_helpers.exclusive_scan_decoupled_lookback_64(w, (p + n).to(tl.int64), p, tl._sum_combine)\n"
      "tl.store(y + 6 + p, before)\n", [2, 0, 5, 2, 6, 11, 0, 5], top=HELPERS, grid="2", y="i64"),
    S("inductor helpers", "p = tl.program_id(0)\ns = (y + 7).to(tl.pointer_type(tl.uint32), bitcast=True)\ni = tl.arange(0, 4)\n"
      "tl.store(y + p, p + n)\ntriton_helpers.x_grid_barrier(s)\na = tl.sum(tl.load(y + i, mask=i < 3, other=0))\n"
      "triton_helpers.x_grid_barrier(s)\ntl.store(y + p, a)\ntriton_helpers.x_grid_barrier(s)\n", [18, 18, 18, 0, 0, 0, 0, -(1 << 31)],
      top=HELPERS, grid="3"),
    S("inductor helpers", "w = triton_helpers.pack_value_flag(n * 0.5, tl.full([], 2, tl.uint32), tl.uint32, tl.uint64)\n"
      "tl.store(y, (triton_helpers.unpack_value(w, tl.float32, tl.uint32) * 4).to(tl.int32))\n"
      "tl.store(y + 1, triton_helpers.unpack_flag(w, tl.uint32))\n"
      "tl.store(y + 2, tl.load(x + 2, mask=None, other=triton_helpers.if_mask(None, 7)))\n"
      "tl.store(y + 3, tl.load(x + 2, mask=n > 9, other=triton_helpers.if_mask(n > 9, 7)))\n"
      "tl.store(y + 4, triton_helpers.constexpr_next_power_of_2(C + 1))\n"
      "k: tl.constexpr = 10 * tl._unwrap_if_constexpr(tl.int16).primitive_bitwidth + tl.core._unwrap_if_constexpr(C)\n"
      "tl.store(y + 5, k + (1 if triton_helpers.is_floating(n * 0.5) and not triton_helpers.is_floating(n) else 0))\n",
      [10, 2, 2, 7, 8, 165], top=HELPERS),
]

PROFILE = [
    S("profiler's marks", "pl.enter_scope('all')\nwith pl.scope('load'):\n    v = tl.load(x + 3)\n    if n > 3:\n        v += 1\n"
      "pl.exit_scope('all')\ntl.store(y, v)", [4], top="import triton.profiler.language as pl\n"),
    S("profiler's marks", "with pl.scope('a'), open('f'):\n    tl.store(y, 1)", err=r"'with' is not supported",
      top="import triton.profiler.language as pl\n"),
]

BORROWED = COMBINES + PRIVATE + BUILTINS + INDUCTOR + PROFILE
