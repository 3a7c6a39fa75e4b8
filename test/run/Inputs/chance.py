"""Random numbers: Philox with 10 rounds as published (Salmon and others, 2011), bit for bit."""
import numpy as np

from formats import DTYPES, encode
from batches import Case, Want, rng_of, shape_name


def philox(width, seed, c0, c1, c2, c3, rounds):
    """Four words; counters as Python integers in object arrays."""
    mask = (1 << width) - 1
    if width == 32:
        keys, multipliers = (0x9E3779B9, 0xBB67AE85), (0xD2511F53, 0xCD9E8D57)
        k0, k1 = seed & mask, seed >> 32 & mask
    else:
        keys, multipliers = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B), (0xD2E7470EE14C6C93, 0xCA5A826395121157)
        k0, k1 = seed & mask, 0
    for _ in range(rounds):
        a, b = multipliers[0] * c0, multipliers[1] * c2
        c0, c1, c2, c3 = (b >> width) ^ c1 ^ k0, b & mask, (a >> width) ^ c3 ^ k1, a & mask
        k0, k1 = k0 + keys[0] & mask, k1 + keys[1] & mask
    return c0, c1, c2, c3


def words(width, values):
    return np.array(np.vectorize(int, otypes=[object])(values), dtype=object).astype("u%d" % (width // 8))


def counters(offset):
    """randint4x counts with the offset's low and high 32 bits."""
    whole = np.vectorize(int, otypes=[object])(offset)
    bits = DTYPES["i64"].bits if offset.dtype.itemsize == 8 else 32
    whole = np.vectorize(lambda v: v & ((1 << bits) - 1), otypes=[object])(whole)
    zero = whole * 0
    return np.vectorize(lambda v: v & 0xFFFFFFFF, otypes=[object])(whole), np.vectorize(lambda v: v >> 32,
            otypes=[object])(whole), zero, zero


def uniform(u32):
    """[0, 1): distance from zero of the word as a signed integer, times a little less than 2^-31."""
    x = u32.view(np.int32)
    x = np.where(x < 0, -x - 1, x).astype(np.float32)
    return x * np.float32(4.6566127342e-10)


def normals(u, v):
    """Box and Muller."""
    u = np.maximum(np.float32(1.0e-7), u).astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(u)), 6.283185307179586 * v.astype(np.float64)
    return radius * np.cos(angle), radius * np.sin(angle)


def numbers(long):
    for shape in ((256,), (781,), (6, 10), (3, 5, 7), ()):
        for offset_type in ("i32", "u32", "i64", "u64"):
            for seed in (0, 42, 1234567890123):
                for rounds in (10, 7):
                    name = f"{shape_name(shape)} {offset_type} seed {seed} rounds {rounds}"
                    rng = rng_of(name)
                    high = 2**31 if offset_type in ("i32", "u32") else 2**62
                    offset = rng.integers(0, high, shape).astype(DTYPES[offset_type].storage)
                    drawn = [words(32, w) for w in philox(32, seed, *counters(offset), rounds)]
                    uniforms = [uniform(w) for w in drawn]
                    pairs = [*normals(uniforms[0], uniforms[1]), *normals(uniforms[2], uniforms[3])]
                    blocks = {"o": (offset_type, offset)}
                    more = "" if rounds == 10 else f", n_rounds={rounds}"
                    four = lambda wants: dict(zip("rstu", wants))
                    near = lambda value: Want("fp32", value=value, ulp=4, atol=4e-6)
                    for call, wants in ((f"tl.randint({seed}, o{more})", {"r": Want("u32", drawn[0])}),
                                        (f"tl.rand({seed}, o{more})", {"r": Want("fp32", uniforms[0])}),
                                        (f"tl.randn({seed}, o{more})", {"r": near(pairs[0])}),
                                        (f"tl.randint4x({seed}, o{more})", four(Want("u32", w) for w in drawn)),
                                        (f"tl.rand4x({seed}, o{more})", four(Want("fp32", w) for w in uniforms)),
                                        (f"tl.randn4x({seed}, o{more})", four(map(near, pairs)))):
                        yield Case(f"{call} {name}", f"{', '.join(wants)} = {call}", blocks, wants,
                                   covers=[call[3:call.index('(')]])
    for width in (32, 64):
        rng = rng_of(f"philox {width}")
        dt = f"u{width}"
        for rounds in (10, 6):
            c = [rng.integers(0, 2**width, 60, dtype=DTYPES[dt].storage) for _ in range(4)]
            drawn = philox(width, 0x123456789ABCDEF0, *(v.astype(object) for v in c), rounds)
            blocks = {n: (dt, v) for n, v in zip("abcd", c)}
            wants = {n: Want(dt, words(width, w)) for n, w in zip("rstu", drawn)}
            yield Case(f"philox {width} rounds {rounds}",
                       f"r, s, t, u = tl.philox({0x123456789ABCDEF0}, a, b, c, d, n_rounds={rounds})", blocks, wants,
                       covers=["philox"])
            k = [rng.integers(0, 2**width, 60, dtype=DTYPES[dt].storage) for _ in range(2)]
            if width == 32:
                drawn = [philox(32, int(k[0][i]) | int(k[1][i]) << 32, *(int(v[i]) for v in c), rounds)
                         for i in range(60)]
                wants = {n: Want(dt, np.array([w[j] for w in drawn], DTYPES[dt].storage)) for j, n in enumerate("rstu")}
                yield Case(f"philox_impl rounds {rounds}",
                           f"r, s, t, u = tl.philox_impl(a, b, c, d, k, l, n_rounds={rounds})",
                           {**blocks, "k": (dt, k[0]), "l": (dt, k[1])}, wants, covers=["philox_impl"])
    x = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 12345, 0xDEADBEEF], np.uint32)
    yield Case("uint_to_uniform_float u32", "r = tl.uint_to_uniform_float(x)", {"x": ("u32", x)},
               {"r": Want("fp32", uniform(x))}, covers=["uint_to_uniform_float"])
    yield Case("uint_to_uniform_float i32", "r = tl.uint_to_uniform_float(x)", {"x": ("i32", x.view("i4"))},
               {"r": Want("fp32", uniform(x))}, covers=["uint_to_uniform_float"])
    u, v = (rng_of(n).random(60).astype(np.float32) for n in ("u", "v"))
    p, q = normals(u, v)
    yield Case("pair_uniform_to_normal", "r, s = tl.pair_uniform_to_normal(u, v)", {"u": ("fp32", u), "v": ("fp32", v)},
               {"r": Want("fp32", value=p, ulp=4, atol=4e-6), "s": Want("fp32", value=q, ulp=4, atol=4e-6)},
               covers=["pair_uniform_to_normal"])


def all_cases(long):
    yield from numbers(long)
