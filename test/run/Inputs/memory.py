"""Loads, stores, block pointers, tensor descriptors, declared extents and atomics."""
import numpy as np

from formats import ALL, ALL_FLOATS, DTYPES, INTS, cast, decode, encode, random
from batches import Case, Want, rng_of, shape_name
from shapes import numbers


def loads(long):
    for i, dt in enumerate(ALL):
        d = DTYPES[dt]
        other_text = {"b": "True", "i": "-3", "u": "9", "f": "1.5"}[d.kind]
        other = encode(dt, 1.5) if d.kind == "f" else np.array(eval(other_text), d.storage)
        for shape in ((256,), (781,), (16, 16), (6, 10), (3, 5, 7)):
            name = f"load {dt} {shape_name(shape)}"
            rng = rng_of(name)
            a = numbers(dt, shape, rng)
            n = a.size
            m = rng.integers(0, 2, shape).astype(bool)
            index = "tl.reshape(tl.arange(0, %d), %s)" % (n, tuple(shape))
            zero = np.zeros((), d.storage)
            forms = [("mask", "r = tl.load(p + i, mask=m)", np.where(m, a, zero)),
                     ("mask by position, other", f"r = tl.load(p + i, m, {other_text})", np.where(m, a, other)),
                     ("other", f"r = tl.load(p + i, mask=m, other={other_text})", np.where(m, a, other)),
                     ("other of a block", "r = tl.load(p + i, mask=m, other=tl.load(p + i) if True else 0)", a),
                     ("mask is a number", "r = tl.load(p + i, mask=True)", a),
                     ("nothing is loaded", "r = tl.load(p + i, mask=False)", np.zeros(shape, d.storage)),
                     ("cache modifiers", 'r = tl.load(p + i, mask=m, cache_modifier=".cg", eviction_policy="evict_first", volatile=True)', np.where(m, a, zero)),
                     (".ca, evict_last", 'r = tl.load(p + i, cache_modifier=".ca", eviction_policy="evict_last")', a)]
            for what, text, want in forms:
                yield Case(f"{name} {what}", f"i = {index}\n{text}", {"m": ("i1", m)}, {"r": Want(dt, want)},
                           pointers={"p": (dt, a)}, covers=["load"])
        scalar = numbers(dt, (4,), rng_of("load scalar" + dt))
        yield Case(f"load {dt} of a scalar", "r = tl.load(p + 2)", results={"r": Want(dt, scalar[2])},
                   pointers={"p": (dt, scalar)}, covers=["load"])
        yield Case(f"load {dt} of a scalar, masked", f"r = tl.load(p + 2, mask=tl.load(q) != 0, other={other_text})",
                   results={"r": Want(dt, other)},
                   pointers={"p": (dt, scalar), "q": ("i1", np.array([False]))}, covers=["load"])
    bytes_ = np.array([0, 1, 1, 0, 1], bool)
    yield Case("load i1: any byte but 0 is True", "r = tl.load((p + tl.arange(0, 6)).to(tl.pointer_type(tl.int1)))",
               pointers={"p": ("u8", np.array([0, 1, 2, 128, 255, 0]))},
               results={"r": Want("i1", np.array([0, 1, 1, 1, 1, 0], bool))}, covers=["load"])


def offsets(long):
    """Signed offsets are extended by their sign, unsigned ones with zeros, and scaled by the element's size."""
    for dt in ("u8", "fp16", "fp32", "i64"):
        a = numbers(dt, (200,), rng_of("offset" + dt))
        for index in INTS:
            text = f"r = tl.load(p + (tl.arange(0, 100) + 50).to(tl.{DTYPES[index].tl}))" if index != "i8" else f"r = tl.load(p + tl.arange(0, 100).to(tl.int8))"
            yield Case(f"pointer + {index}, {dt}", text,
                       results={"r": Want(dt, a[50:150] if index != "i8" else a[:100])}, pointers={"p": (dt, a)},
                       covers=["pointer"])
            if DTYPES[index].kind == "i":
                yield Case(f"pointer + negative {index}, {dt}",
                           f"r = tl.load(p + 100 + (-tl.arange(0, 100)).to(tl.{DTYPES[index].tl}))",
                           results={"r": Want(dt, a[100:0:-1])},
                           pointers={"p": (dt, a)}, covers=["pointer"])
                yield Case(f"pointer - {index}, {dt}", f"r = tl.load(p + 100 - tl.arange(0, 100).to(tl.{DTYPES[index].tl}))", results={"r": Want(dt, a[100:0:-1])},
                           pointers={"p": (dt, a)}, covers=["pointer"])
        yield Case(f"integer + pointer, {dt}", "q = p\nq += 3\nr = tl.load(tl.arange(0, 100) + q)",
                   results={"r": Want(dt, a[3:103])}, pointers={"p": (dt, a)}, covers=["pointer"])
        yield Case(f"pointers compared, {dt}", "r = (p + tl.arange(0, 8)) < (p + 5)\ns = p == p",
                   results={"r": Want("i1", np.arange(8) < 5), "s": Want("i1", np.array(True))},
                   pointers={"p": (dt, a)}, covers=["pointer"])
        yield Case(f"pointer chosen, {dt}", "r = tl.load(tl.where(tl.arange(0, 8) < 4, p, p + 100) + tl.arange(0, 8))",
                   results={"r": Want(dt, np.concatenate([a[:4], a[104:108]]))},
                   pointers={"p": (dt, a)}, covers=["pointer"])
    b = numbers("u64", (16,), rng_of("reinterpreted"))
    yield Case("pointer cast to another type", "r = tl.load(p.to(tl.pointer_type(tl.uint16)) + tl.arange(0, 64))",
               results={"r": Want("u16", b.view(np.uint16))}, pointers={"p": ("u64", b)},
               covers=["pointer", "pointer_type"])
    yield Case("pointer to integer and back", "n = p.to(tl.int64) + 8\nr = tl.load(n.to(tl.pointer_type(tl.uint64)))",
               results={"r": Want("u64", b[1])}, pointers={"p": ("u64", b)},
               covers=["pointer"])
    yield Case("offset of 32 bits that wraps", "i = tl.arange(0, 4) + 2147483647\nj = i - 2147483647\n"
               "r = tl.load(p + j)", results={"r": Want("u64", b[:4])}, pointers={"p": ("u64", b)}, covers=["pointer"])


def stores(long):
    for dt in ALL:
        d = DTYPES[dt]
        for shape in ((256,), (781,), (16, 16), (6, 10), (3, 5, 7)):
            name = f"store {dt} {shape_name(shape)}"
            rng = rng_of(name)
            a, before = numbers(dt, shape, rng), numbers(dt, shape, rng)
            m = rng.integers(0, 2, shape).astype(bool)
            index = "i = tl.reshape(tl.arange(0, %d), %s)\n" % (a.size, tuple(shape))
            for what, text, after in (("plain", "tl.store(p + i, a)", a),
                                      ("mask", "tl.store(p + i, a, mask=m)", np.where(m, a, before)),
                                      ("by position", "tl.store(p + i, a, m)", np.where(m, a, before)),
                                      ("by keyword", "tl.store(pointer=p + i, value=a, mask=m)",
                                       np.where(m, a, before)),
                                      ("no lane", "tl.store(p + i, a, mask=False)", before),
                                      ("modifiers", 'tl.store(p + i, a, mask=m, cache_modifier=".wt", eviction_policy="evict_last")', np.where(m, a, before))):
                yield Case(f"{name} {what}", index + text, {"a": (dt, a), "m": ("i1", m)},
                           memory={"p": (dt, before, Want(dt, after))}, covers=["store"])
        before = numbers(dt, (4,), rng_of("store scalar" + dt))
        one = encode(dt, 1.0) if d.kind == "f" else np.array(1, d.storage)
        after = before.copy()
        after[1] = one
        yield Case(f"store {dt} of a scalar", "tl.store(p + 1, 1)", memory={"p": (dt, before, Want(dt, after))},
                   covers=["store"])
        spread = np.full((6, 10), one)
        yield Case(f"store {dt} of a scalar to a block", "tl.store(p + tl.arange(0, 60), 1)",
                   memory={"p": (dt, np.zeros((6, 10), d.storage), Want(dt, spread))}, covers=["store"])
        for source in ("fp32", "i32"):
            value = numbers(source, (60,), rng_of(source + dt))
            yield Case(f"store of {source} to {dt}", "tl.store(p + tl.arange(0, 60), a)", {"a": (source, value)},
                       memory={"p": (dt, np.zeros(60, d.storage), Want(dt, cast(source, dt, value)))}, covers=["store"])


# ---- block pointers ----

def window(array, offsets, shape, fill):
    """array[offsets:offsets + shape], `fill` outside; and where it is inside."""
    out, inside = np.full(shape, fill), np.zeros(shape, bool)
    for where in np.ndindex(*shape):
        at = tuple(o + w for o, w in zip(offsets, where))
        if all(0 <= i < n for i, n in zip(at, array.shape)):
            out[where], inside[where] = array[at], True
    return out, inside


def block_pointers(long):
    for dt in ALL:
        d = DTYPES[dt]
        rng = rng_of("block pointer" + dt)
        a = numbers(dt, (20, 30), rng)
        zero = np.zeros((), d.storage)
        make = "b = tl.make_block_ptr(base=p, shape=(20, 30), strides=(30, 1), offsets=({0}, {1}), block_shape=({2}, {3}), order=(1, 0))\n"
        for offsets, shape in (((0, 0), (16, 16)), ((4, 8), (16, 16)), ((3, 20), (6, 10)), ((2, 1), (7, 5))):
            want, _ = window(a, offsets, shape, zero)
            yield Case(f"make_block_ptr {dt} {offsets} {shape}", make.format(*offsets, *shape) + "r = tl.load(b)",
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)}, covers=["make_block_ptr"])
        for offsets, shape in (((16, 24), (16, 16)), ((18, 28), (6, 10)), ((-3, -2), (8, 8)), ((30, 0), (4, 4))):
            want, inside = window(a, offsets, shape, zero)
            text = make.format(*offsets, *shape)
            yield Case(f"boundary_check {dt} {offsets} {shape}", text + "r = tl.load(b, boundary_check=(0, 1))",
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)}, covers=["load boundary_check"])
            if d.kind == "f":
                nan, _ = window(a, offsets, shape, encode(dt, np.nan))
                yield Case(f"padding_option nan {dt} {offsets} {shape}",
                           text + 'r = tl.load(b, boundary_check=[1, 0], padding_option="nan")',
                           results={"r": Want(dt, nan)}, pointers={"p": (dt, a)},
                           covers=["load padding_option"])
            yield Case(f"padding_option zero {dt} {offsets} {shape}",
                       text + 'r = tl.load(b, boundary_check=(0, 1), padding_option="zero")',
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)},
                       covers=["load padding_option"])
            before, v = numbers(dt, (20, 30), rng), numbers(dt, shape, rng)
            after = before.copy()
            for where in np.argwhere(inside):
                after[tuple(where + offsets)] = v[tuple(where)]
            yield Case(f"store boundary_check {dt} {offsets} {shape}", text + "tl.store(b, v, boundary_check=(0, 1))",
                       {"v": (dt, v)}, memory={"p": (dt, before, Want(dt, after))},
                       covers=["store boundary_check"])
        want, _ = window(a, (16, 4), (16, 8), zero)
        yield Case(f"boundary_check of one dimension {dt}",
                   make.format(16, 4, 16, 8) + "r = tl.load(b, boundary_check=(0,))", results={"r": Want(dt, want)},
                   pointers={"p": (dt, a)}, covers=["load boundary_check"])
        for form in ("b = tl.advance(b, (2, 8))", "b = b.advance((2, 8))", "b = tl.advance(base=b, offsets=[2, 8])"):
            want, _ = window(a, (5, 9), (8, 8), zero)
            yield Case(f"advance {dt}: {form}", make.format(3, 1, 8, 8) + form + "\nr = tl.load(b)",
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)}, covers=["advance"])
        total = np.concatenate([a[:4, c:c + 10] for c in (0, 10, 20)])
        loop = make.format(0, 0, 4, 10) + "for k in range(0, 3):\n    tl.store(q + (k * 40 + tl.arange(0, 4)[:, None] * 10 + tl.arange(0, 10)), tl.load(b))\n    b = tl.advance(b, (0, 10))"
        yield Case(f"advance {dt} in a loop", loop, memory={"q": (dt, np.zeros((12, 10), d.storage), Want(dt, total))},
                   pointers={"p": (dt, a)}, covers=["advance"])
    a = numbers("fp32", (20, 30), rng_of("transposed"))
    yield Case("make_block_ptr transposed", "b = tl.make_block_ptr(p, (30, 20), (1, 30), (2, 3), (16, 8), (0, 1))\n"
               "r = tl.load(b)", results={"r": Want("fp32", np.ascontiguousarray(a.T[2:18, 3:11]))},
               pointers={"p": ("fp32", a)}, covers=["make_block_ptr"])
    yield Case("make_block_ptr in one dimension", "b = tl.make_block_ptr(p, (600,), (1,), (590,), (16,), (0,))\n"
               "r = tl.load(b, boundary_check=(0,))",
               results={"r": Want("fp32", np.append(a.reshape(-1)[590:], np.zeros(6, np.float32)))},
               pointers={"p": ("fp32", a)}, covers=["make_block_ptr"])
    yield Case("make_block_ptr of more than int32", "b = tl.make_block_ptr(p, (4294967296 + 4,), (1,), (590,), (8,), (0,))\n"
               "r = tl.load(b, boundary_check=(0,))", results={"r": Want("fp32", a.reshape(-1)[590:598])}, pointers={"p": ("fp32", a)}, covers=["make_block_ptr"])
    yield Case("make_block_ptr in three dimensions", "b = tl.make_block_ptr(p, (5, 4, 30), (120, 30, 1), (1, 1, 2), (2, 4, 8), (2, 1, 0))\nr = tl.load(b, boundary_check=(0, 1, 2))",
               results={"r": Want("fp32", window(a.reshape(5, 4, 30), (1, 1, 2), (2, 4, 8), np.float32(0))[0])},
               pointers={"p": ("fp32", a)}, covers=["make_block_ptr"])


# ---- descriptors ----

DESC_FORMS = ("tl.make_tensor_descriptor(p, shape=[20, 32], strides=[32, 1], block_shape=[{0}, {1}])",
              "tl.make_tensor_descriptor(p, [20, 32], [32, 1], [{0}, {1}])",
              "tl._experimental_make_tensor_descriptor(p, [20, 32], [32, 1], [{0}, {1}], padding_option='zero')")
DESC_LOADS = ("d.load([{0}, {1}])", "tl.load_tensor_descriptor(d, [{0}, {1}])",
              "tl._experimental_descriptor_load(d, [{0}, {1}], shape=[{2}, {3}], dtype=tl.{4})")
DESC_STORES = ("d.store([{0}, {1}], v)", "tl.store_tensor_descriptor(d, [{0}, {1}], v)",
               "tl._experimental_descriptor_store(d, v, [{0}, {1}])")


def descriptors(long):
    for i, dt in enumerate(dt for dt in ALL if dt != "i1"):
        d = DTYPES[dt]
        rng = rng_of("descriptor" + dt)
        a = numbers(dt, (20, 32), rng)
        zero = np.zeros((), d.storage)
        for j, (offsets, shape) in enumerate((((0, 0), (16, 16)), ((4, 16), (16, 32)), ((18, 20), (8, 16)),
                                              ((-2, -4), (8, 16)))):
            want, inside = window(a, offsets, shape, zero)
            make = "d = " + DESC_FORMS[(i + j) % 3].format(*shape) + "\n"
            load = DESC_LOADS[(i + j) % 3].format(*offsets, *shape, d.tl)
            yield Case(f"descriptor load {dt} {offsets} {shape}: {load}", make + "r = " + load,
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)}, covers=["make_tensor_descriptor"])
            before, v = numbers(dt, (20, 32), rng), numbers(dt, shape, rng)
            after = before.copy()
            for where in np.argwhere(inside):
                after[tuple(where + offsets)] = v[tuple(where)]
            store = DESC_STORES[(i + j) % 3].format(*offsets)
            yield Case(f"descriptor store {dt} {offsets} {shape}: {store}", make + store, {"v": (dt, v)},
                       memory={"p": (dt, before, Want(dt, after))}, covers=["make_tensor_descriptor"])
        if d.kind == "f":
            want, _ = window(a, (18, 20), (8, 16), encode(dt, np.nan))
            yield Case(f"descriptor padding_option nan {dt}",
                       'd = tl.make_tensor_descriptor(p, [20, 32], [32, 1], [8, 16], padding_option="nan")\n'
                       'r = d.load([18, 20])',
                       results={"r": Want(dt, want)}, pointers={"p": (dt, a)},
                       covers=["make_tensor_descriptor padding_option"])
        rows = np.array([3, 19, 0, 7, 7, 25, 1, 2])
        make = "d = tl.make_tensor_descriptor(p, [20, 32], [32, 1], [1, 16])\n"
        want = np.where((rows < 20)[:, None], a[np.minimum(rows, 19), 8:24], zero)
        yield Case(f"descriptor gather {dt}", make + "r = d.gather(x, 8)", {"x": ("i32", rows)}, {"r": Want(dt, want)},
                   pointers={"p": (dt, a)}, covers=["descriptor gather"])
        rows = np.array([3, 19, 0, 7, 8, 25, 1, 2])
        before, v = numbers(dt, (20, 32), rng), numbers(dt, (8, 16), rng)
        after = before.copy()
        for k, row in enumerate(rows):
            if row < 20:
                after[row, 8:24] = v[k]
        yield Case(f"descriptor scatter {dt}", make + "d.scatter(v, x, 8)", {"x": ("i32", rows), "v": (dt, v)},
                   memory={"p": (dt, before, Want(dt, after))}, covers=["descriptor scatter"])
    for op in ("add", "min", "max", "and", "or", "xor"):
        for dt in ("i32", "u32", "i64", "u64") + (("fp32", "fp16", "bf16") if op == "add" else ()):
            rng = rng_of(op + dt)
            before, v = small(dt, (20, 32), rng), small(dt, (8, 16), rng)
            after = before.copy()
            after[16:20, 20:32] = combine(op, dt, before[16:20, 20:32], v[:4, :12])
            yield Case(f"descriptor atomic_{op} {dt}", f"d = tl.make_tensor_descriptor(p, [20, 32], [32, 1], [8, 16])\n"
                       f"d.atomic_{op}([16, 20], v)", {"v": (dt, v)},
                       memory={"p": (dt, before, Want(dt, after))}, covers=["descriptor atomics"])


# ---- atomics ----

ATOMICS = {"add": ("i32", "i64", "u32", "u64", "fp16", "bf16", "fp32", "fp64"), "and": INTS[2:4] + INTS[6:8],
           "or": INTS[2:4] + INTS[6:8], "xor": INTS[2:4] + INTS[6:8],
           "xchg": ("i32", "i64", "u32", "u64", "fp32", "fp64"), "max": ("i32", "i64", "u32", "u64", "fp32", "fp64"),
           "min": ("i32", "i64", "u32", "u64", "fp32", "fp64")}
SEMS = ("", ', sem="relaxed"', ', sem="acquire"', ', sem="release"', ', sem="acq_rel"', ', scope="cta"',
        ', scope="gpu"', ', scope="sys"', ', sem="relaxed", scope="sys"')


def small(dt, shape, rng):
    """Numbers that add exactly."""
    values = rng.integers(0 if DTYPES[dt].kind == "u" else -20, 20, shape)
    return encode(dt, values.astype(float)) if DTYPES[dt].kind == "f" else values.astype(DTYPES[dt].storage)


def combine(op, dt, x, y):
    u, v = decode(dt, x), decode(dt, y)
    r = {"add": lambda: u + v, "max": lambda: np.maximum(u, v), "min": lambda: np.minimum(u, v), "and": lambda: u & v,
         "or": lambda: u | v, "xor": lambda: u ^ v,
         "xchg": lambda: v}[op]()
    return encode(dt, r) if DTYPES[dt].kind == "f" else r.astype(DTYPES[dt].storage)


def ordered_accesses():
    """atomic_load and atomic_store, of every type, by some lanes too; several lanes and programs at one element."""
    for i, dt in enumerate(ALL):
        for j, shape in enumerate(((256,), (7,), (6, 10), ())):
            name = f"{dt} {shape_name(shape)}"
            rng = rng_of("ordered" + name)
            before, v = numbers(dt, shape, rng), numbers(dt, shape, rng)
            m = rng.integers(0, 2, shape).astype(bool)
            where = "p + tl.reshape(tl.arange(0, %d), %s)" % (before.size, tuple(shape)) if shape else "p"
            order = ("", ', sem="relaxed"', ', scope="sys"', ', sem="acquire", scope="cta"')[(i + j) % 4]
            call = f"tl.atomic_load({where}{order})" if j % 2 else f"({where}).atomic_load({order[2:]})"
            same = {"p": (dt, before, Want(dt, before))}
            yield Case("atomic_load " + name + order, "r = " + call, {}, {"r": Want(dt, before)}, memory=same, covers=["atomic_load"])
            masked = np.where(m, before, np.zeros((), DTYPES[dt].storage))
            yield Case(f"atomic_load {name} masked", f"r = tl.atomic_load({where}, mask=m)", {"m": ("i1", m)}, {"r": Want(dt, masked)},
                       memory=same, covers=["atomic_load"])
            order = order.replace("acquire", "release")
            call = f"tl.atomic_store({where}, a{order})" if j % 2 else f"({where}).atomic_store(a{order})"
            yield Case("atomic_store " + name + order, call, {"a": (dt, v)}, memory={"p": (dt, before, Want(dt, v))}, covers=["atomic_store"])
            yield Case(f"atomic_store {name} masked", f"tl.atomic_store(pointer={where}, val=a, mask=m)", {"a": (dt, v), "m": ("i1", m)},
                       memory={"p": (dt, before, Want(dt, np.where(m, v, before)))}, covers=["atomic_store"])
    x = np.arange(5, dtype="i4")
    yield Case("atomic_load of one element by many", "r = tl.atomic_load(p + tl.arange(0, 60) // 15)", {}, {"r": Want("i32", x[np.arange(60) // 15])},
               memory={"p": ("i32", x, Want("i32", x))}, covers=["atomic_load"])


def polls():
    flags = {"i16": 3, "u16": 65535, "i32": -2, "u32": 7, "i64": 1 << 40, "u64": 9}
    for i, (dt, flag) in enumerate(flags.items()):
        for j, shape in enumerate(((256,), (6, 10), ())):
            rng = rng_of(f"poll {dt} {shape}")
            here = rng.integers(0, 2, shape).astype(bool)
            p = np.where(here, flag, 1).astype(DTYPES[dt].storage)
            where = "p + tl.reshape(tl.arange(0, %d), %s)" % (p.size, tuple(shape)) if shape else "p"
            time = ("timeout_ns=0", "timeout_ns=2000", 'sem="relaxed", scope="cta", timeout_ns=tl.full((), 300, tl.int32)')[(i + j) % 3]
            call = f"tl.atomic_poll({where}, {flag}, {time})" if j % 2 else f"({where}).atomic_poll(expected_value={flag}, {time})"
            yield Case(f"atomic_poll {dt} {shape_name(shape)} {time}", "r = " + call, {}, {"r": Want("i1", here)},
                       memory={"p": (dt, p, Want(dt, p))}, covers=["atomic_poll"])
    # The programs go in turn, from the last to the first: each reads with all its threads what the one before it has written.
    chain = ("pid = tl.program_id(0)\ni = tl.arange(0, 256)\ntl.atomic_poll(p, 3 - pid)\nv = tl.load(q + (i * 7) % 256, volatile=True)\n"
             "tl.debug_barrier()\ntl.store(q + i, v * 2 + i)\ntl.atomic_store(p, 4 - pid)")
    q, i = np.arange(256), np.arange(256)
    after = q.copy()
    for _ in range(4):
        after = after[i * 7 % 256] * 2 + i
    yield Case("atomic_poll of programs in turn", chain, memory={"p": ("i32", np.zeros(1, "i4"), Want("i32", np.full(1, 4, "i4"))),
               "q": ("i32", q.astype("i4"), Want("i32", after.astype("i4")))}, grid="4", covers=["atomic_poll", "atomic_store"])
    blocks = ("pid = tl.program_id(0)\ni = tl.arange(0, 200)\ntl.store(q + pid * 200 + i, i + pid)\ntl.atomic_store(p + pid * 200 + i, 1)\n"
              "ok = tl.atomic_poll(p + (1 - pid) * 200 + 199 - i, 1, timeout_ns=4000000000)\n"
              "r = tl.where(ok, tl.load(q + (1 - pid) * 200 + i, volatile=True), -1)\ntl.store(s + pid * 200 + i, r)")
    want = np.concatenate([np.arange(200) + 1 - pid for pid in range(2)])
    yield Case("atomic_poll of a block from another program", blocks, memory={"p": ("u16", np.zeros(400, "u2"), Want("u16", np.ones(400, "u2"))),
               "q": ("i32", np.zeros(400, "i4"), Want("i32", np.concatenate([np.arange(200) + pid for pid in range(2)]).astype("i4"))),
               "s": ("i32", np.zeros(400, "i4"), Want("i32", want.astype("i4")))}, grid="2", covers=["atomic_poll", "atomic_load"])


def atomics(long):
    for op, types in ATOMICS.items():
        for i, dt in enumerate(types):
            for j, shape in enumerate(((256,), (7,), (6, 10), (16, 16), (3, 5, 7), ())):
                sem = SEMS[(i + j) % len(SEMS)]
                name = f"atomic_{op}{sem} {dt} {shape_name(shape)}"
                rng = rng_of(name)
                before, v = small(dt, shape, rng), small(dt, shape, rng)
                m = rng.integers(0, 2, shape).astype(bool)
                where = "p + tl.reshape(tl.arange(0, %d), %s)" % (before.size, tuple(shape)) if shape else "p"
                after = combine(op, dt, before, v)
                call = f"tl.atomic_{op}({where}, a{sem})" if j % 2 else f"({where}).atomic_{op}(a{sem})"
                yield Case(name, "r = " + call, {"a": (dt, v)}, {"r": Want(dt, before)},
                           memory={"p": (dt, before, Want(dt, after))}, covers=["atomic_" + op])
                call = f"tl.atomic_{op}({where}, a, mask=m{sem})" if j % 2 else f"tl.atomic_{op}(pointer={where}, val=a, mask=m{sem})"
                yield Case(name + " masked", "r = " + call, {"a": (dt, v), "m": ("i1", m)},
                           {"r": Want(dt, before, unseen=~m)},
                           memory={"p": (dt, before, Want(dt, np.where(m, after, before)))},
                           covers=["atomic_" + op])
            if op == "xchg":
                continue
            v = small(dt, (60,), rng_of(op + dt))
            before = small(dt, (6,), rng_of(op))
            after = before.copy()
            for k in range(60):
                after[k // 10] = combine(op, dt, after[k // 10], v[k])
            yield Case(f"atomic_{op} {dt} of lanes on one element", f"tl.atomic_{op}(p + tl.arange(0, 60) // 10, a)",
                       {"a": (dt, v)}, memory={"p": (dt, before, Want(dt, after))}, covers=["atomic_" + op])
            if dt in ("bf16", "fp16"):
                continue
            repeated = before
            for _ in range(1 if op != "add" and op != "xor" else 6):
                repeated = combine(op, dt, repeated, v[:6])
            yield Case(f"atomic_{op} {dt} of programs on one element", f"tl.atomic_{op}(p + tl.arange(0, 6), a)",
                       {"a": (dt, v[:6])}, memory={"p": (dt, before, Want(dt, repeated))}, grid="6",
                       covers=["atomic_" + op])
    floats = np.array([-0.0, 0.0, -1.5, 2.5, -np.inf, np.inf, -3.0, 1e-40])
    for op in ("max", "min"):
        for dt in ("fp32", "fp64"):
            pairs = np.array([(x, y) for x in floats for y in floats if x != y])
            before, v = encode(dt, pairs[:, 0]), encode(dt, pairs[:, 1])
            yield Case(f"atomic_{op} {dt} of both signs", f"r = tl.atomic_{op}(p + tl.arange(0, {len(v)}), a)",
                       {"a": (dt, v)}, {"r": Want(dt, before)},
                       memory={"p": (dt, before, Want(dt, combine(op, dt, before, v)))}, covers=["atomic_" + op])
    for i, dt in enumerate(("i16", "u16", "fp16", "bf16", "i32", "i64", "u32", "u64", "fp32", "fp64")):
        for j, shape in enumerate(((256,), (6, 10), ())):
            name = f"atomic_cas {dt} {shape_name(shape)}"
            rng = rng_of(name)
            before, v = small(dt, shape, rng), small(dt, shape, rng)
            expected = np.where(rng.integers(0, 2, shape), before, small(dt, shape, rng))
            after = np.where(expected == before, v, before)
            where = "p + tl.reshape(tl.arange(0, %d), %s)" % (before.size, tuple(shape)) if shape else "p"
            sem = SEMS[(i + j) % len(SEMS)]
            call = f"tl.atomic_cas({where}, c, a{sem})" if j % 2 else f"({where}).atomic_cas(cmp=c, val=a{sem})"
            yield Case(name + sem, "r = " + call, {"a": (dt, v), "c": (dt, expected)}, {"r": Want(dt, before)},
                       memory={"p": (dt, before, Want(dt, after))}, covers=["atomic_cas"])
    yield from ordered_accesses()
    yield from polls()
    lock = "while tl.atomic_cas(p, 0, 1) == 1:\n    pass\ntl.store(q, tl.load(q, volatile=True) + 1)\ntl.debug_barrier()\ntl.atomic_xchg(p, 0)"
    yield Case("a lock of atomic_cas", lock, memory={"p": ("i32", np.zeros(1, "i4"), Want("i32", np.zeros(1, "i4"))),
                                                     "q": ("i32", np.array([5]), Want("i32", np.array([21])))},
               grid="16",
               covers=["atomic_cas", "while"])


def all_cases(long):
    for family in (loads, offsets, stores, block_pointers, descriptors, atomics):
        yield from family(long)
