"""Conversions between all types, over every number of the types of 8 and 16 bits, and what two types promote to."""
import numpy as np

from elementwise import Row, case as row_case, same
from formats import ALL, ALL_FLOATS, DTYPES, FLOATS, FP8, INTS, SIGNED, bits_of, cast, decode, encode, from_bits, largest_finite, random, special
from batches import Case, Want, rng_of

FORMS = ("a.to({t})", "tl.cast(a, {t})", "a.cast({t})", "tl.cast(input=a, dtype={t}, bitcast=False)", "a.to(dtype={t})")


def everything(dt):
    """Every number of a narrow type."""
    bits = max(8, DTYPES[dt].bits)
    return np.array([False, True]) if dt == "i1" else from_bits(dt, np.arange(1 << bits))


def edges(source, target, rng):
    """Numbers of a wide type around which a conversion to target changes its answer."""
    s, t = DTYPES[source], DTYPES[target]
    values = [special(source), random(source, 500, rng)]
    if s.kind == "f" and t.kind == "f" and t.bits <= 16:
        positive = decode(target, from_bits(target, np.arange(largest_finite(target) + 1)))
        middle = (positive[1:] + positive[:-1]) / 2  # a tie; its neighbours are not
        last = encode(source, np.append(middle, 2 * positive[-1] - positive[-2] if len(positive) < 300
                                        else positive[-1] + (positive[-1] - positive[-2]) / 2))
        bits = bits_of(source, last)
        ties = np.concatenate([from_bits(source, bits - np.uint64(1)), last, from_bits(source, bits + np.uint64(1)),
                               encode(source, positive)])
        values += [ties, encode(source, -decode(source, ties))]
    elif s.kind == "f" and t.kind == "f":
        wide = rng.standard_normal(500) * np.exp2(rng.uniform(-160, 140, 500))
        values.append(encode(source, wide))
    elif s.kind == "f":
        limits = np.array([float(1 << k) for k in (7, 8, 15, 16, 31, 32, 63, 64)])
        limits = np.concatenate([limits - 1, limits, limits + 1, limits * 1.5])
        around = np.concatenate([limits, -limits, [0.99, -0.99, 1e30, -1e30]])
        near = encode(source, around)
        values += [near, encode(source, np.nextafter(around, 0)), encode(source, np.nextafter(around, 1e300))]
    else:
        powers = [sign * ((1 << k) + d) for k in range(s.bits) for d in (-1, 0, 1) for sign in (1, -1)]
        ties = [(1 << k) + (1 << (k - m - 1)) * odd + d for m in (7, 10, 23, 52) for k in range(m + 2, s.bits - 1)
                for odd in (1, 3) for d in (-1, 0, 1)]
        mask = (1 << s.bits) - 1
        values.append(from_bits(source, np.array([v & mask for v in powers + ties], np.uint64)))
    return np.concatenate(values)


STEP = 1024
LOOP = """for k in range(0, {n}, {step}):
    i = k + tl.arange(0, {step})
    a = tl.load(p + i, mask=i < {n})
    r = {form}
    tl.static_assert(r.dtype == {t})
    tl.store(q + i, r, mask=i < {n})"""


def conversions(long):
    for i, source in enumerate(ALL):
        for j, target in enumerate(ALL):
            if source == target:
                continue
            name = f"cast {source} to {target}"
            storage = everything(source) if DTYPES[source].bits <= 16 else edges(source, target, rng_of(name))
            form = FORMS[(i + j) % len(FORMS)].format(t="tl." + DTYPES[target].tl)
            yield conversion(f"{name}: {form}", source, target, storage, form,
                             Want(target, cast(source, target, storage)), "cast")


def conversion(name, source, target, storage, form, want, covers):
    """One block, or a loop over blocks where there are many numbers."""
    if len(storage) <= STEP:
        return Case(name, "r = " + form, {"a": (source, storage)}, {"r": want}, covers=[covers])
    text = LOOP.format(n=len(storage), step=STEP, t="tl." + DTYPES[target].tl, form=form)
    before = np.zeros(len(storage), DTYPES[target].storage)
    return Case(name, text, pointers={"p": (source, storage)}, memory={"q": (target, before, want)}, covers=[covers])


def scalar_conversions(long):
    for source in ALL:
        for target in ALL:
            value = np.array(np.resize(special(source), 5)[3])
            yield Case(f"cast of a scalar {source} to {target}", f"r = a.to(tl.{DTYPES[target].tl})",
                       {"a": (source, value)},
                       {"r": Want(target, cast(source, target, value))}, covers=["cast"])


def downcasts(long):
    for source in ("fp32", "fp64"):
        for target in ("fp16", "bf16", "fp8e4nv", "fp8e5"):
            for mode in ("rtz", "rtne"):
                name = f"cast {source} to {target} {mode}"
                storage = edges(source, target, rng_of(name))
                for form in ('a.to({t}, fp_downcast_rounding="{m}")', 'tl.cast(a, {t}, fp_downcast_rounding="{m}")'):
                    form = form.format(t="tl." + DTYPES[target].tl, m=mode)
                    want = Want(target, cast(source, target, storage, mode == "rtz"))
                    yield conversion(f"{name}: {form}", source, target, storage, form, want,
                                     "cast fp_downcast_rounding")


def bitcasts(long):
    for source in ALL:
        for target in ALL:
            if source == target or DTYPES[source].bits != DTYPES[target].bits:
                continue
            storage = everything(source) if DTYPES[source].bits <= 16 else np.concatenate([special(source),
                    random(source, 300, rng_of(source + target))])
            want = Want(target, from_bits(target, bits_of(source, storage)))
            for form in ("a.to({t}, bitcast=True)", "tl.cast(a, {t}, bitcast=True)"):
                yield Case(f"bitcast {source} to {target}: {form}", "r = " + form.format(t="tl." + DTYPES[target].tl),
                           {"a": (source, storage)}, {"r": want},
                           covers=["cast bitcast"])


# ---- promotion ----

def promoted(a, b):
    """The type of a + b at run time; None where they do not go together."""
    order = ("fp64", "fp32", "fp16", "bf16") + FP8
    floats = [dt for dt in (a, b) if dt in order]
    if floats:
        high = min(floats, key=order.index)
        low = b if high == a else a
        if high == low or high in ("fp64", "fp32", "fp16"):
            return high
        if high == "bf16":
            return "fp32"
        return "fp16" if low in FP8 else None
    wide = max(DTYPES[a].bits, DTYPES[b].bits)
    candidates = [dt for dt in (a, b) if DTYPES[dt].bits == wide]
    return next((dt for dt in candidates if DTYPES[dt].kind == "u"), candidates[0])


def gentle(dt, n, rng):
    """Numbers that every type can hold or nearly: the type of the result is the point, not the rounding of the sum."""
    if dt == "i1":
        return rng.integers(0, 2, n).astype(bool)
    low = 0 if DTYPES[dt].kind == "u" else -6
    values = rng.integers(low, 7, n)
    return encode(dt, values.astype(float)) if DTYPES[dt].kind == "f" else values.astype(DTYPES[dt].storage)


def as_type(source, target, storage):
    return decode(target, cast(source, target, storage))


def rounded(dt, value):
    return Want(dt, value=value) if DTYPES[dt].kind == "f" else Want(dt, np.asarray(value).astype(DTYPES[dt].storage))


def promotions(long):
    for i, x in enumerate(ALL):
        for y in ALL:
            result = promoted(x, y)
            if result is None:
                continue
            name = f"promotion of {x} and {y}"
            rng = rng_of(name)
            a, b = gentle(x, 60, rng), gentle(y, 60, rng)
            u, v = as_type(x, result, a), as_type(y, result, b)
            scalar = np.array(b[0])
            if result != "i1":
                yield Case(name + ": +", "r = a + b", {"a": (x, a.reshape(6, 10)), "b": (y, b.reshape(6, 10))},
                           {"r": rounded(result, (u + v).reshape(6, 10))}, covers=["promotion"])
                yield Case(name + ": * with a scalar", "r = a * b", {"a": (x, a), "b": (y, scalar)},
                           {"r": rounded(result, u * v[0])}, covers=["promotion"])
            yield Case(name + ": <", "r = a < b", {"a": (x, a), "b": (y, b)}, {"r": Want("i1", u < v)},
                       covers=["promotion"])
            yield Case(name + ": where", "r = tl.where(a == b, a, b)", {"a": (x, a), "b": (y, b)},
                       {"r": rounded(result, np.where(u == v, u, v))}, covers=["promotion"])
            if x in INTS + ("i1",) and y in INTS + ("i1",):
                for op, f in (("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor)):
                    yield Case(f"{name}: {op}", f"r = a {op} b", {"a": (x, a), "b": (y, b)},
                               {"r": Want(result, f(u, v))}, covers=["promotion"])
            elif "fp8" not in x + y:
                wide = "fp32" if result in ("fp16", "bf16") else result
                u, v = as_type(x, wide, a), as_type(y, wide, b)
                yield Case(name + ": /", "r = a / b", {"a": (x, a), "b": (y, b)}, {"r": Want(wide, value=u / v, gpu=2)},
                           covers=["promotion"])


# constant, type of the block, type of block + constant: a constant of lower or equal kind adopts the block's type.
WEAK = [(c, dt, dt) for dt in INTS for c in ("1", "True", "100")]
WEAK += [("-5", dt, dt) for dt in SIGNED] + [("3", dt, dt) for dt in ALL_FLOATS] + [("0.5", dt, dt)
        for dt in ALL_FLOATS]
WEAK += [("0.5", dt, "fp32") for dt in INTS + ("i1",)]
WEAK += [("1e300", dt, "fp64") for dt in INTS] + [("1e300", "fp32", "fp32"), ("1e-40", "i32", "fp64"),
                                                  ("0.0", "i32", "fp32"), ('float("inf")', "i32", "fp32")]
WEAK += [("5", "i1", "i32"), ("3000000000", "i1", "u32"), ("-3000000000", "i1", "i64"), ("5000000000", "i1", "i64"),
         ("10000000000000000000", "i1", "u64")]
WEAK += [("2147483647", "i32", "i32"), ("4294967295", "u32", "u32"), ("-9223372036854775808", "i64", "i64"),
         ("18446744073709551615", "u64", "u64"), ("255", "u8", "u8")]

# constant assigned to a name first: its own type, and it promotes as a block does.
STRONG = [("1", "i8", "i32"), ("1", "u32", "u32"), ("1", "i64", "i64"), ("3000000000", "i32", "u32"),
          ("5000000000", "i32", "i64"), ("-3000000000", "i32", "i64"),
          ("10000000000000000000", "u8", "u64"), ("0.5", "bf16", "fp32"), ("0.5", "fp16", "fp32"),
          ("0.5", "fp32", "fp32"), ("0.5", "fp64", "fp64"), ("1e300", "fp32", "fp64"),
          ("1", "fp16", "fp16"), ("1", "bf16", "fp32"), ("True", "i8", "i8"), ("True", "bf16", "fp32")]


def constants(long):
    for text, dt, result in WEAK:
        rng = rng_of(text + dt)
        a = gentle(dt, 60, rng)
        c = eval(text)
        u = as_type(dt, result, a)
        if DTYPES[result].kind == "f":
            known = decode(result, encode(result, float(c)))
        else:
            known = np.array(int(c) & ((1 << DTYPES[result].bits) - 1), np.uint64).astype(DTYPES[result].storage)
        for form in ("a + {c}", "{c} + a"):
            yield Case(f"constant {text} with {dt}: {form}", "r = " + form.format(c=f"({text})"), {"a": (dt, a)},
                       {"r": rounded(result, u + known)}, covers=["constant"])
        yield Case(f"constant {text} with {dt}: constexpr", f"c: tl.constexpr = {text}\nr = a + c", {"a": (dt, a)},
                   {"r": rounded(result, u + known)}, covers=["constant"])
    for text, dt, result in STRONG:
        a = gentle(dt, 60, rng_of(text + dt))
        c = eval(text)
        u = as_type(dt, result, a)
        if DTYPES[result].kind == "f":
            known = decode(result, encode(result, float(c)))
        else:
            known = np.array(int(c) & ((1 << DTYPES[result].bits) - 1), np.uint64).astype(DTYPES[result].storage)
        yield Case(f"constant {text} named first, with {dt}", f"c = {text}\nr = a + c", {"a": (dt, a)},
                   {"r": rounded(result, u + known)}, covers=["constant"])


def all_cases(long):
    for family in (conversions, scalar_conversions, downcasts, bitcasts, promotions, constants):
        yield from family(long)
