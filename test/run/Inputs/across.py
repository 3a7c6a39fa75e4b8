"""Operations across the elements of a block: reductions, scans, sorting, selection, matrix products."""
import numpy as np

from formats import ALL, ALL_FLOATS, DTYPES, FLOATS, FP8, INTS, NUMBERS, SIGNED, cast, decode, encode, from_bits, random
from batches import Case, Want, rng_of, shape_name
from shapes import numbers

SHAPES = ((256,), (781,), (1,), (16, 16), (6, 10), (4, 8, 8), (3, 5, 7))


def axes(shape):
    return [None] + list(range(len(shape)))


def summed(dt):
    """Integers narrower than 32 bits are summed in 32; int1 counts as unsigned, as in Triton."""
    d = DTYPES[dt]
    return dt if d.kind == "f" or d.bits >= 32 else "i32" if d.kind == "i" else "u32"


def ordered(dt):
    """What max and min without indices give."""
    d = DTYPES[dt]
    return dt if d.bits >= 32 else "fp32" if d.kind == "f" else "i32"


def indexed(dt):
    return "fp32" if dt == "bf16" else dt


def countable(dt, shape, rng):
    """Numbers whose sums are exact in every order: -1, 0 and 1 where the type is narrow."""
    d = DTYPES[dt]
    if d.kind != "f":
        return numbers(dt, shape, rng)
    limit = {"fp16": 2, "bf16": 1, "fp32": 1000, "fp64": 1000}[dt]
    return encode(dt, rng.integers(-limit, limit + 1, shape).astype(float))


def distinct_or_not(dt, shape, rng, nan=False):
    """Few different numbers, so that there are ties, with infinities, and NaN where asked for."""
    d = DTYPES[dt]
    if d.kind == "b":
        return numbers(dt, shape, rng)
    if d.kind != "f":
        return np.where(rng.integers(0, 3, shape) > 0, rng.integers(0, 12, shape).astype(d.storage),
                        numbers(dt, shape, rng))
    values = np.array([1, 2, 3, -4, 0.5, -7, 100, 3, -0.25] + ([-np.inf, np.inf] if dt not in FP8
            else []) + ([np.nan] * 4 if nan else []))
    return encode(dt, values[rng.integers(0, len(values), shape)])


def spell(op, axis, keep, form, more=""):
    """A call of a reduction in one of its forms."""
    arguments = [] if axis is None and op != "reduce_or" else [str(axis)] if form == 0 else [f"axis={axis}"]
    if keep:
        arguments.append("keep_dims=True")
    if more:
        arguments.append(more)
    return f"a.{op}({', '.join(arguments)})" if form % 2 else f"tl.{op}({', '.join(['a'] + arguments)})"


def over(f, a, axis, keep):
    return np.array(f(a, axis=axis, keepdims=keep))


def reductions(long):
    for i, dt in enumerate(NUMBERS + ("i1",)):
        for j, shape in enumerate(SHAPES):
            for k, axis in enumerate(axes(shape)):
                keep = bool((i + j + k) % 2)
                form = (i + j + k) % 4
                name = f"{dt} {shape_name(shape)} axis {axis}{' keep_dims' if keep else ''}"
                rng = rng_of(name)
                if dt not in FP8:
                    a, to = countable(dt, shape, rng), summed(dt)
                    total = over(np.sum, cast(dt, to, a) if DTYPES[to].kind != "f" else decode(dt, a), axis, keep)
                    want = Want(to, value=total, any_zero=True) if DTYPES[to].kind == "f" else Want(to,
                            total.astype(DTYPES[to].storage))
                    yield Case("sum " + name, "r = " + spell("sum", axis, keep, form), {"a": (dt, a)}, {"r": want},
                               covers=["sum"])
                for nan in (False, True) if DTYPES[dt].kind == "f" else (False,):
                    a = distinct_or_not(dt, shape, rng, nan)
                    for op, f, g in (("max", np.max, np.fmax.reduce), ("min", np.min, np.fmin.reduce)):
                        to = ordered(dt)
                        value = over(g if nan else f, decode(dt, a), axis, keep)
                        want = Want(to, value=value, any_zero=True) if DTYPES[to].kind == "f" else Want(to,
                                value.astype(DTYPES[to].storage))
                        yield Case(f"{op} {name}{' nan' if nan else ''}", "r = " + spell(op, axis, keep, form),
                                   {"a": (dt, a)}, {"r": want}, covers=[op])
                if DTYPES[dt].kind != "f":
                    a = numbers(dt, shape, rng)
                    for op, f in (("xor_sum", np.bitwise_xor.reduce), ("reduce_or", np.bitwise_or.reduce)):
                        yield Case(f"{op} {name}", "r = " + spell(op, axis, keep, form), {"a": (dt, a)},
                                   {"r": Want(dt, over(f, a, axis, keep))}, covers=[op])


def first_index(values, axis, keep, best, last=False):
    """Index of the best number along axis; a NaN is never better, ties go left (or right)."""
    if axis is None:
        values, axis = values.reshape(-1), 0
        keep = False
    if values.dtype.kind == "f":
        worst = -np.inf if best is np.argmax else np.inf
        is_nan = np.isnan(values)
        filled = np.where(is_nan, worst, values)
        extreme = (np.max if best is np.argmax else np.min)(filled, axis=axis, keepdims=True)
        hit = (filled == extreme) & (~is_nan | np.all(is_nan, axis=axis, keepdims=True))
    else:
        hit = values == (np.max if best is np.argmax else np.min)(values, axis=axis, keepdims=True)
    index = values.shape[axis] - 1 - np.argmax(np.flip(hit, axis), axis=axis) if last else np.argmax(hit, axis=axis)
    return np.expand_dims(index, axis) if keep else index


def index_reductions(long):
    for i, dt in enumerate(NUMBERS + ("i1",)):
        for j, shape in enumerate(SHAPES):
            for k, axis in enumerate(range(len(shape))):
                for nan in (False, True) if DTYPES[dt].kind == "f" else (False,):
                    keep = bool((i + j + k) % 2)
                    form = (i + j + k) % 4
                    name = f"{dt} {shape_name(shape)} axis {axis}{' keep_dims' if keep else ''}{' nan' if nan else ''}"
                    rng = rng_of(name)
                    a = distinct_or_not(dt, shape, rng, nan)
                    value = decode(dt, a)
                    for op, best in (("max", np.argmax), ("min", np.argmin)):
                        index = first_index(value, axis, keep, best)
                        at = first_index(value, axis, True, best)
                        picked = np.take_along_axis(a, at, axis)
                        picked = cast(dt, indexed(dt), picked if keep else np.squeeze(picked, axis))
                        yield Case(f"arg{op} {name}", "r = " + spell("arg" + op, axis, keep, form), {"a": (dt, a)},
                                   {"r": Want("i32", index)}, covers=["arg" + op])
                        want = {"r": Want(indexed(dt), picked, any_zero=True), "s": Want("i32", index)}
                        yield Case(f"{op} with indices {name}",
                                   "r, s = " + spell(op, axis, keep, form, "return_indices=True"), {"a": (dt, a)}, want,
                                   covers=[op + " return_indices"])
                        free = "return_indices=True, return_indices_tie_break_left=False"
                        want = {"r": Want(indexed(dt), picked, any_zero=True)}
                        yield Case(f"{op} with indices, any tie {name}", "r, s = " + spell(op, axis, keep, form, free),
                                   {"a": (dt, a)}, want,
                                   covers=[op + " return_indices_tie_break_left"])
                        yield Case(f"arg{op} tie_break_left {name}",
                                   "r = " + spell("arg" + op, axis, keep, form, "tie_break_left=True"), {"a": (dt, a)},
                                   {"r": Want("i32", index)},
                                   covers=["arg" + op])


ADD = """@triton.jit
def add(x, y):
    return x + y
"""
LARGER = """@triton.jit
def larger(x, i, y, j):
    left = (x > y) | ((x == y) & (i < j))
    return tl.where(left, x, y), tl.where(left, i, j)
"""
MOMENTS = """@triton.jit
def moments(n, s, q, m, t, u):
    return n + m, s + t, q + u
"""
# x -> b + a * x, one after the other: associative, but the order counts
COMPOSE = """@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d
"""
LAST = """@triton.jit
def last(x, y):
    return y
"""


def custom_reductions(long):
    for shape in SHAPES:
        for axis in (*range(len(shape)), None):
            for keep in (False, True):
                name = f"reduce {shape_name(shape)} axis {axis}{' keep_dims' if keep else ''}"
                rng = rng_of(name)
                more = ", keep_dims=True" if keep else ""
                for dt in ("i32", "u8", "fp32", "fp16", "i64"):
                    a = countable(dt, shape, rng)
                    total = over(np.sum, decode(dt, a), axis, keep)
                    want = Want(dt, value=total, any_zero=True) if DTYPES[dt].kind == "f" else Want(dt,
                            total.astype(DTYPES[dt].storage))
                    for form in (f"tl.reduce(a, {axis}, add{more})", f"a.reduce({axis}, add{more})",
                                 f"tl.reduce(a, axis={axis}, combine_fn=add{more})"):
                        yield Case(f"{name} {dt}: {form}", "r = " + form, {"a": (dt, a)}, {"r": want}, helpers=ADD,
                                   covers=["reduce"])
                x = countable("fp32", shape, rng)
                n = np.ones(shape, np.int32)
                sums = [over(np.sum, v, axis, keep) for v in (n, x.astype(float), x.astype(float)**2)]
                want = {"r": Want("i32", sums[0].astype(np.int32)), "s": Want("fp32", value=sums[1], any_zero=True),
                        "t": Want("fp32", value=sums[2], ulp=2)}
                yield Case(f"{name} of three", f"r, s, t = tl.reduce((n, x, x * x), {axis}, moments{more})",
                           {"n": ("i32", n), "x": ("fp32", x)}, want, helpers=MOMENTS,
                           covers=["reduce of several"])
                if axis is None:
                    continue
                a = distinct_or_not("fp32", shape, rng)
                index = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if d == axis else 1
                        for d in range(len(shape))]), shape).astype(np.int32)
                at = first_index(a.astype(float), axis, True, np.argmax)
                picked = np.take_along_axis(a, at, axis)
                want = {"r": Want("fp32", picked if keep else np.squeeze(picked, axis)),
                        "s": Want("i32", at if keep else np.squeeze(at, axis))}
                yield Case(f"{name} of a pair", f"r, s = tl.reduce((a, b), {axis}, larger{more})",
                           {"a": ("fp32", a), "b": ("i32", index)}, want, helpers=LARGER, covers=["reduce of several"])


def reversed_along(a, axis, reverse):
    return np.flip(a, axis) if reverse else a


def scans(long):
    for i, dt in enumerate(INTS + FLOATS + ("i1",)):
        for j, shape in enumerate(SHAPES):
            for axis in range(len(shape)):
                for reverse in (False, True):
                    name = f"{dt} {shape_name(shape)} axis {axis}{' reverse' if reverse else ''}"
                    rng = rng_of("scan" + name)
                    a = countable(dt, shape, rng)
                    to = "fp32" if dt == "bf16" else summed(dt)
                    value = decode(dt, a) if DTYPES[to].kind == "f" else cast(dt, to, a)
                    total = reversed_along(np.cumsum(reversed_along(value, axis, reverse), axis=axis), axis, reverse)
                    want = Want(to, value=total, any_zero=True) if DTYPES[to].kind == "f" else Want(to,
                            total.astype(DTYPES[to].storage))
                    more = ", reverse=True" if reverse else ""
                    form = (f"tl.cumsum(a, {axis}{more})", f"a.cumsum(axis={axis}{more})",
                            f"tl.cumsum(a, axis={axis}{more})" if axis or reverse else "tl.cumsum(a)")[(i + j) % 3]
                    yield Case(f"cumsum {name}: {form}", "r = " + form, {"a": (dt, a)}, {"r": want}, covers=["cumsum"])
                    if dt == "i1":
                        continue
                    a = countable(dt, shape, rng) if DTYPES[dt].kind != "f" else encode(dt,
                            rng.choice([1.0, -1.0, 2.0, 0.5, 1.0, 1.0], shape))
                    to = "fp32" if dt == "bf16" else dt
                    value = decode(dt, a)
                    if DTYPES[dt].kind == "f":
                        value = np.where(np.abs(value) != 1,
                                         np.where(np.cumsum(np.abs(value) != 1, axis=axis) <= 10, value, 1.0), value)
                        a = encode(dt, value)
                    product = reversed_along(np.cumprod(reversed_along(value, axis, reverse), axis=axis,
                                                        dtype=value.dtype), axis, reverse)
                    want = Want(to, value=product) if DTYPES[to].kind == "f" else Want(to, product)
                    form = (f"tl.cumprod(a, {axis}{more})", f"a.cumprod(axis={axis}{more})")[(i + j) % 2]
                    yield Case(f"cumprod {name}: {form}", "r = " + form, {"a": (dt, a)}, {"r": want},
                               covers=["cumprod"])
    for dt, to in (("i8", "i64"), ("fp16", "fp32"), ("i32", "fp64"), ("bf16", "bf16"), ("u8", "u8")):
        a = countable(dt, (60,), rng_of("dtype" + dt))
        for op, f in (("sum", np.sum), ("cumsum", np.cumsum)):
            total = f(as_numbers(dt, to, a))
            want = Want(to, value=total, any_zero=True) if DTYPES[to].kind == "f" else Want(to,
                    np.asarray(total).astype(DTYPES[to].storage))
            yield Case(f"{op} {dt} dtype={to}", f"r = tl.{op}(a, axis=0, dtype=tl.{DTYPES[to].tl})", {"a": (dt, a)},
                       {"r": want}, covers=[op + " dtype"])
        ones = 1 + (np.arange(60) % 7 == 3)
        ones = encode(dt, ones.astype(float)) if DTYPES[dt].kind == "f" else ones.astype(DTYPES[dt].storage)
        product = np.cumprod(as_numbers(dt, to, ones))
        want = Want(to, value=product) if DTYPES[to].kind == "f" else Want(to, product.astype(DTYPES[to].storage))
        yield Case(f"cumprod {dt} dtype={to}", f"r = a.cumprod(0, dtype=tl.{DTYPES[to].tl})", {"a": (dt, ones)}, {"r": want},
                   covers=["cumprod dtype"])


def as_numbers(source, target, storage):
    return decode(target, cast(source, target, storage))


def custom_scans(long):
    for shape in SHAPES:
        for axis in range(len(shape)):
            for reverse in (False, True):
                name = f"associative_scan {shape_name(shape)} axis {axis}{' reverse' if reverse else ''}"
                rng = rng_of(name)
                more = ", reverse=True" if reverse else ""
                a, b = (rng.integers(-2**31, 2**31, shape).astype(np.int32) for _ in range(2))
                x, y = (np.moveaxis(reversed_along(v, axis, reverse), axis, 0).copy() for v in (a, b))
                for k in range(1, x.shape[0]):
                    c, d = x[k].copy(), y[k].copy()
                    x[k], y[k] = x[k - 1] * c, y[k - 1] * c + d
                r, s = (reversed_along(np.moveaxis(v, 0, axis), axis, reverse) for v in (x, y))
                yield Case(f"{name} of a pair", f"r, s = tl.associative_scan((a, b), {axis}, compose{more})",
                           {"a": ("i32", a), "b": ("i32", b)},
                           {"r": Want("i32", r), "s": Want("i32", s)}, helpers=COMPOSE, covers=["associative_scan"])
                for dt in ("i32", "fp32", "u8", "bf16", "i1", "i64"):
                    v = numbers(dt, shape, rng)
                    first = np.take(v, [-1 if reverse else 0], axis=axis)
                    form = (f"tl.associative_scan(a, {axis}, last{more})",
                            f"a.associative_scan(axis={axis}, combine_fn=last{more})")[axis % 2]
                    yield Case(f"{name} {dt}: {form}", "r = " + form, {"a": (dt, v)}, {"r": Want(dt, v)}, helpers=LAST,
                               covers=["associative_scan"])


# ---- order ----

def sorts(long):
    for i, dt in enumerate(NUMBERS):
        for shape in SHAPES[:6] + ((3, 5, 7), (4, 781)):
            name = f"{dt} {shape_name(shape)}"
            rng = rng_of("sort" + name)
            a = distinct_or_not(dt, shape, rng)
            order = np.argsort(decode(dt, a), axis=-1, kind="stable")
            up = np.take_along_axis(a, order, -1)
            for form, want in (("tl.sort(a)", up), ("a.sort()", up), ("tl.sort(a, descending=True)", up[..., ::-1]),
                               (f"tl.sort(a, dim={len(shape) - 1})", up),
                               ("a.sort(-1, True)" if len(shape) == 1 else f"a.sort({len(shape) - 1}, True)",
                                up[..., ::-1])):
                yield Case(f"sort {name}: {form}", "r = " + form, {"a": (dt, a)}, {"r": Want(dt, want, any_zero=True)},
                           covers=["sort"])
            for k in (1, 4, shape[-1]):
                if k <= shape[-1]:
                    for form in (f"tl.topk(a, {k})", f"a.topk(k={k})", f"tl.topk(a, {k}, dim=-1)"):
                        yield Case(f"topk {name}: {form}", "r = " + form, {"a": (dt, a)},
                                   {"r": Want(dt, up[..., ::-1][..., :k], any_zero=True)}, covers=["topk"])
                    yield Case(f"topk {name}: the least", f"r = tl.topk(a, {k}, descending=False)", {"a": (dt, a)},
                               {"r": Want(dt, up[..., :k], any_zero=True)}, covers=["topk"])
            half = shape[-1] // 2
            bitonic = np.concatenate([up[..., :half], up[..., half:][..., ::-1]], axis=-1)
            yield Case(f"bitonic_merge {name}", "r = tl.bitonic_merge(a, dim=-1)", {"a": (dt, bitonic)},
                       {"r": Want(dt, up, any_zero=True)}, covers=["bitonic_merge"])
            yield Case(f"bitonic_merge {name} descending", "r = tl.bitonic_merge(a, descending=True)",
                       {"a": (dt, bitonic)}, {"r": Want(dt, up[..., ::-1], any_zero=True)}, covers=["bitonic_merge"])
        if DTYPES[dt].kind == "f":
            a = distinct_or_not(dt, (100,), rng_of("sort nan" + dt), True)
            a = np.where(np.isnan(decode(dt, a)), encode(dt, np.nan), a)
            value = decode(dt, a)
            real, broken = np.sort(value[~np.isnan(value)]), value[np.isnan(value)]
            for call, first in (("tl.sort(a)", real), ("tl.sort(a, descending=True)", real[::-1])):
                yield Case(f"sort {dt} with NaN: {call}", "r = " + call, {"a": (dt, a)},
                           {"r": Want(dt, encode(dt, np.concatenate([first, broken])), any_zero=True)}, covers=["sort"])


def selections(long):
    for dt in INTS:
        for n, bins in ((256, 16), (781, 10), (60, 7), (1, 1)):
            name = f"histogram {dt} {n} {bins}"
            rng = rng_of(name)
            a = rng.integers(0, bins, n).astype(DTYPES[dt].storage)
            m = rng.integers(0, 2, n).astype(bool)
            count = lambda v: Want("i32", np.bincount(v.astype(np.int64), minlength=bins))
            yield Case(name, f"r = tl.histogram(a, {bins})", {"a": (dt, a)}, {"r": count(a)}, covers=["histogram"])
            yield Case(name + " method", f"r = a.histogram(num_bins={bins})", {"a": (dt, a)}, {"r": count(a)},
                       covers=["histogram"])
            yield Case(name + " mask", f"r = tl.histogram(a, {bins}, mask=m)", {"a": (dt, a), "m": ("i1", m)},
                       {"r": count(a[m])}, covers=["histogram mask"])
    for i, dt in enumerate(ALL):
        for j, (shape, index_shape, axis) in enumerate((((256,), (256,), 0), ((7,), (100,), 0), ((6, 10), (13, 10), 0),
                                                        ((6, 10), (6, 3), 1), ((16, 16), (16, 16), 1),
                                                        ((3, 5, 7), (3, 9, 7), 1),
                                                        ((3, 5, 7), (3, 5, 4), 2))):
            name = f"gather {dt} {shape_name(shape)} axis {axis}"
            rng = rng_of(name)
            a = numbers(dt, shape, rng)
            index_type = ("i32", "i64", "u8", "i16", "u32")[(i + j) % 5]
            limit = min(shape[axis], 127)
            index = rng.integers(0, limit, index_shape).astype(DTYPES[index_type].storage)
            want = Want(dt, np.take_along_axis(a, index.astype(np.int64), axis))
            for form in (f"tl.gather(a, b, {axis})", f"a.gather(b, axis={axis})",
                         f"tl.gather(src=a, index=b, axis={axis})"):
                yield Case(f"{name}: {form}", "r = " + form, {"a": (dt, a), "b": (index_type, index)}, {"r": want},
                           covers=["gather"])


def softmaxes(long):
    for shape, dim, call in (((256,), 0, "tl.softmax(a)"), ((781,), 0, "tl.softmax(a, 0)"),
                             ((6, 10), 0, "tl.softmax(a)"), ((6, 10), 0, "a.softmax(dim=0)"),
                             ((6, 10), 1, "tl.softmax(a, dim=1, keep_dims=True)"),
                             ((16, 16), 1, "tl.softmax(a, 1, keep_dims=True, ieee_rounding=True)")):
        for dt in ("fp32", "fp64"):
            a = encode(dt, rng_of(call).standard_normal(shape) * 5)
            e = np.exp(a.astype(float) - a.astype(float).max(axis=dim, keepdims=True))
            yield Case(f"softmax {dt} {shape_name(shape)}: {call}", "r = " + call, {"a": (dt, a)},
                       {"r": Want(dt, value=e / e.sum(axis=dim, keepdims=True), ulp=32, gpu=96)}, covers=["softmax"])


# ---- matrices ----

def few(dt, shape, rng):
    """Small integers: products and sums of them are exact in every accumulator but fp16, where they stay small."""
    values = rng.integers(-3, 4, shape)
    return encode(dt, values.astype(float)) if DTYPES[dt].kind == "f" else values.astype(DTYPES[dt].storage)


def dots(long):
    sizes = (((16, 16), (16, 16)), ((32, 64), (64, 16)), ((6, 10), (10, 7)), ((1, 1), (1, 1)), ((5, 33), (33, 3)),
             ((2, 6, 10), (2, 10, 7)), ((4, 16, 16), (4, 16, 16)), ((3, 2, 6, 10), (3, 2, 10, 7)),
             ((2, 2, 2, 16, 16), (2, 2, 2, 16, 16)))
    for dt, out in (("fp16", "fp32"), ("bf16", "fp32"), ("fp32", "fp32"), ("fp64", "fp64"), ("i8", "i32"),
                    ("fp8e4nv", "fp32"), ("fp8e5", "fp32")):
        for s, t in sizes:
            name = f"dot {dt} {shape_name(s)} by {shape_name(t)}"
            rng = rng_of(name)
            a, b = few(dt, s, rng), few(dt, t, rng)
            product = np.matmul(decode(dt, a).astype(float), decode(dt, b).astype(float))
            c = few(out, product.shape, rng)
            total = product + decode(out, c).astype(float)
            blocks, full = {"a": (dt, a), "b": (dt, b)}, {"a": (dt, a), "b": (dt, b), "c": (out, c)}
            want, more = exact(out, product), exact(out, total)
            forms = [("tl.dot(a, b)", blocks, want), ("a.dot(b)", blocks, want), ("tl.dot(a, b, c)", full, more),
                     ("tl.dot(a, b, acc=c)", full, more), ("tl.dot(input=a, other=b)", blocks, want)]
            if dt == "fp32":
                forms += [(f"tl.dot(a, b, {more_})", blocks, want)
                          for more_ in ('input_precision="ieee"', 'input_precision="tf32"', 'input_precision="tf32x3"',
                                        'input_precision="bf16x3"', 'input_precision="bf16x6"', "allow_tf32=False", "allow_tf32=True")]
            if dt != "i8":
                forms.append((f"tl.dot(a, b, out_dtype=tl.{DTYPES[out].tl})", blocks, want))
            if dt in FP8:
                forms.append(("tl.dot(a, b, max_num_imprecise_acc=32)", blocks, want))
            for form, given, wanted in forms:
                yield Case(f"{name}: {form}", "r = " + form, given, {"r": wanted}, covers=["dot"])
            if dt in ("fp16",) + FP8:
                yield Case(f"{name} out_dtype fp16", "r = tl.dot(a, b, out_dtype=tl.float16)", blocks,
                           {"r": exact("fp16", product)}, covers=["dot out_dtype"])
                h = few("fp16", product.shape, rng)
                yield Case(f"{name} acc fp16", "r = tl.dot(a, b, h)", {**blocks, "h": ("fp16", h)},
                           {"r": exact("fp16", product + decode("fp16", h))}, covers=["dot out_dtype"])
    a, b = few("fp8e4nv", (16, 32), rng_of("mix")), few("fp8e5", (32, 16), rng_of("mixed"))
    yield Case("dot of two fp8 types", "r = tl.dot(a, b)", {"a": ("fp8e4nv", a), "b": ("fp8e5", b)},
               {"r": exact("fp32", np.matmul(decode("fp8e4nv", a), decode("fp8e5", b)))}, covers=["dot"])
    rng = rng_of("precision")
    a, b = encode("fp32", rng.standard_normal((32, 64))), encode("fp32", rng.standard_normal((64, 48)))
    product = np.matmul(a.astype(float), b.astype(float))
    size = np.matmul(np.abs(a).astype(float), np.abs(b).astype(float))
    for option, bound in (('input_precision="ieee"', 2**-19), ("allow_tf32=False", 2**-19),
                          ('input_precision="tf32x3"', 2**-19), ('input_precision="tf32"', 2**-9), ("", 2**-9),
                          ('input_precision="bf16x6"', 2**-19), ('input_precision="bf16x3"', 2**-15)):
        call = f"tl.dot(a, b, {option})" if option else "tl.dot(a, b)"
        yield Case(f"dot of broken numbers: {call}", "r = " + call, {"a": ("fp32", a), "b": ("fp32", b)},
                   {"r": Want("fp32", value=product, atol=bound * size)}, covers=["dot input_precision"])
    for dt in ("fp16", "bf16"):
        x, y = encode(dt, rng.standard_normal((32, 64))), encode(dt, rng.standard_normal((64, 48)))
        u, v = decode(dt, x), decode(dt, y)
        yield Case(f"dot of broken numbers {dt}", "r = tl.dot(a, b)", {"a": (dt, x), "b": (dt, y)},
                   {"r": Want("fp32", value=np.matmul(u, v), atol=2**-20 * np.matmul(np.abs(u), np.abs(v)))},
                   covers=["dot"])
    yield from edges_of_dots()


PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")


def edges_of_dots():
    """Infinite numbers: what pads K and what parts leave of them must not reach a sum."""
    ways = [("fp32", f', input_precision="{p}"') for p in PRECISIONS] + [(dt, "") for dt in ("fp16", "bf16", "fp64", "i8")]
    for dt, more in ways:
        out = {"fp64": "fp64", "i8": "i32"}.get(dt, "fp32")
        for k in (1, 3, 5, 17) if dt != "i8" else ():
            name = f"dot {dt} 5x{k} by {k}x5{more} of infinite numbers"
            yield Case(name, f"r = tl.dot(a, tl.broadcast_to(b, ({k}, 5)){more})",
                       {"a": (dt, encode(dt, np.ones((5, k)))), "b": (dt, encode(dt, np.full((k, 1), np.inf)))},
                       {"r": exact(out, np.full((5, 5), np.inf))}, covers=["dot"])
        for k in (1, 3, 17):
            name = f"dot {dt} 5x{k} by {k}x6{more} of computed numbers"
            a, b = few(dt, (5, k), rng_of(name)), few(dt, (k, 6), rng_of(name + "b"))
            yield Case(name, f"r = tl.dot(a - 1, b - 1{more})", {"a": (dt, a), "b": (dt, b)},
                       {"r": exact(out, np.matmul(decode(dt, a).astype(float) - 1, decode(dt, b).astype(float) - 1))}, covers=["dot"])
        if dt == "i8":
            continue
        a = np.ones((16, 32))
        a[2, 3], a[5, 6], a[7, 8] = np.inf, -np.inf, np.nan
        wanted = np.full((16, 8), 32.0)
        wanted[2], wanted[5], wanted[7] = np.inf, -np.inf, np.nan
        yield Case(f"dot {dt}{more} of rows with infinite numbers and NaN", f"r = tl.dot(a, b{more})",
                   {"a": (dt, encode(dt, a)), "b": (dt, encode(dt, np.ones((32, 8))))}, {"r": exact(out, wanted)}, covers=["dot"])
    for a in (2.0**127 * (2 - 2**-23), 2.0**-126, 2.0**-149):
        x = np.full((16, 16), a)
        for p in ("ieee", "tf32x3"):
            yield Case(f"dot {p} of {a}", f'r = tl.dot(a, b, input_precision="{p}")',
                       {"a": ("fp32", encode("fp32", x)), "b": ("fp32", encode("fp32", np.eye(16) / 2))},
                       {"r": Want("fp32", value=x / 2, atol=2.0**-22 * a + 2.0**-149)}, covers=["dot input_precision"])


def exact(dt, value):
    return Want(dt, value=value, any_zero=True) if DTYPES[dt].kind == "f" else Want(dt,
            np.asarray(value).astype(np.int64).astype(DTYPES[dt].storage))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled_operand(format, rows, k, rng):
    """Storage type, storage [rows, k] (packed for e2m1), and numbers."""
    if format == "e2m1":
        codes = rng.integers(0, 16, (rows, k))
        return "u8", (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8), E2M1[codes]
    dt = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}[format]
    storage = few(dt, (rows, k), rng)
    return dt, storage, decode(dt, storage)


def scaled_dots(long):
    for lhs in ("e2m1", "e4m3", "e5m2", "bf16", "fp16"):
        for rhs in ("e2m1", "e4m3", "e5m2", "bf16", "fp16"):
            name = f"dot_scaled {lhs} {rhs}"
            rng = rng_of(name)
            a_type, a, x = scaled_operand(lhs, 16, 64, rng)
            b_type, b, y = scaled_operand(rhs, 32, 64, rng)
            s, t = rng.integers(125, 130, (16, 2)).astype(np.uint8), rng.integers(125, 130, (32, 2)).astype(np.uint8)
            wide = lambda v: np.repeat(np.exp2(v.astype(float) - 127), 32, axis=1)
            c = few("fp32", (16, 32), rng)
            blocks = {"a": (a_type, a), "b": (b_type, np.ascontiguousarray(b.T)), "s": ("u8", s), "t": ("u8", t),
                      "c": ("fp32", c)}
            full = np.matmul(x * wide(s), (y * wide(t)).T)
            for call, value in ((f'tl.dot_scaled(a, s, "{lhs}", b, t, "{rhs}")', full),
                                (f'tl.dot_scaled(a, s, "{lhs}", b, t, "{rhs}", acc=c, fast_math=True)', full + c),
                                (f'tl.dot_scaled(a, s, "{lhs}", b, None, "{rhs}", c)', np.matmul(x * wide(s), y.T) + c),
                                (f'tl.dot_scaled(a, None, "{lhs}", b, t, "{rhs}", lhs_k_pack=True, rhs_k_pack=True, out_dtype=tl.float32)', np.matmul(x, (y * wide(t)).T))):
                yield Case(f"{name}: {call}", "r = " + call, blocks, {"r": Want("fp32", value=value, any_zero=True)},
                           covers=["dot_scaled"])
            yield from float_scales(lhs, rhs, x, y, blocks, rng)
            yield from packed_across(lhs, rhs, x, y, full, blocks)
            yield batch(lhs, rhs, x * wide(s), y * wide(t), blocks)


def batch(lhs, rhs, x, y, blocks):
    """Two products at once: the second one of the rows in the other order."""
    both = lambda v: np.ascontiguousarray(np.stack([v, v[::-1]]))
    given = {name: (type, both(v)) for name, (type, v) in blocks.items() if name != "b"}
    type, b = blocks["b"]
    given["b"] = type, np.ascontiguousarray(np.stack([b, b[:, ::-1]]))
    return Case(f"dot_scaled {lhs} {rhs} batch", f'r = tl.dot_scaled(a, s, "{lhs}", b, t, "{rhs}", c)', given,
                {"r": Want("fp32", value=np.matmul(both(x), both(y).swapaxes(1, 2)) + both(blocks["c"][1]), any_zero=True)}, covers=["dot_scaled"])


def packed_across(lhs, rhs, x, y, full, blocks):
    """4-bit numbers two to an element along the dimension that is not K."""
    codes = lambda numbers: np.argmax((E2M1 == numbers[..., None]) & (np.signbit(E2M1) == np.signbit(numbers[..., None])), axis=-1)
    across = lambda numbers: (lambda c: (c[0::2] | c[1::2] << 4).astype(np.uint8))(codes(numbers))
    given, options = dict(blocks), []
    if lhs == "e2m1":
        given["a"] = ("u8", across(x))
        options.append("lhs_k_pack=False")
    if rhs == "e2m1":
        given["b"] = ("u8", np.ascontiguousarray(across(y).T))
        options.append("rhs_k_pack=False")
    if options:
        yield Case(f"dot_scaled {lhs} {rhs} packed across", f'r = tl.dot_scaled(a, s, "{lhs}", b, t, "{rhs}", {", ".join(options)})', given,
                   {"r": Want("fp32", value=full, any_zero=True)}, covers=["dot_scaled"])


def float_scales(lhs, rhs, x, y, blocks, rng):
    """One fp8e4nv scale for each 16 elements, of one operand or of both."""
    s, t = (encode("fp8e4nv", rng.choice([0.25, 0.5, 1, 1.5, -2], (rows, 4))) for rows in (16, 32))
    wide = lambda v: np.repeat(decode("fp8e4nv", v), 16, axis=1)
    of_both = {**blocks, "s": ("fp8e4nv", s), "t": ("fp8e4nv", t)}
    for call, given, value in ((f'tl.dot_scaled(a, s, "{lhs}", b, t, "{rhs}")', of_both, np.matmul(x * wide(s), (y * wide(t)).T)),
                               (f'tl.dot_scaled(a, s, "{lhs}", b, None, "{rhs}")', of_both, np.matmul(x * wide(s), y.T))):
        yield Case(f"dot_scaled {lhs} {rhs} by floats: {call}", "r = " + call, given, {"r": Want("fp32", value=value, any_zero=True)},
                   covers=["dot_scaled"])


def all_cases(long):
    for family in (reductions, index_reductions, custom_reductions, scans, custom_scans, sorts, selections, softmaxes,
                   dots, scaled_dots):
        yield from family(long)
