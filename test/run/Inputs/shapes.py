"""Operations that make blocks and move their elements; nothing is computed, so every result is exact, over every type."""
import numpy as np

from formats import ALL, DTYPES, INTS, NUMBERS, cast, encode, random, special
from batches import Case, Want, rng_of, shape_name


def numbers(dt, shape, rng):
    n = int(np.prod(shape, dtype=np.int64))
    storage = random(dt, n, rng)
    return storage.reshape(shape)


def swap(perm):
    return lambda x: np.transpose(x, perm)


def interleaved(x, y):
    return np.stack([x, y], axis=-1).reshape(x.shape[:-1] + (2 * x.shape[-1],))


# key, spellings, shapes of the operands, reference on storage
MOVES = [
    ("expand_dims", ["tl.expand_dims(a, 0)", "a.expand_dims(0)", "a[None, :]", "tl.unsqueeze(a, 0)",
                     "a.unsqueeze(dim=0)"], [(6,), (256,), (781,)], lambda x: x[None]),
    ("expand_dims", ["tl.expand_dims(a, -1)", "a.expand_dims(axis=1)", "a[:, None]", "tl.expand_dims(input=a, axis=1)"],
     [(6,), (256,), (1,)], lambda x: x[:, None]),
    ("expand_dims", ["tl.expand_dims(a, 1)", "a[:, None, :]", "a.expand_dims(-2)"], [(6, 10), (16, 16)],
     lambda x: x[:, None, :]),
    ("expand_dims", ["tl.expand_dims(a, (0, 2))", "a[None, :, None]", "a.expand_dims([0, 2])"], [(6,), (64,)],
     lambda x: x[None, :, None]),
    ("x[None]", ["a[None]", "a[None, :, :]", "tl.expand_dims(a, 0)"], [(6, 10)], lambda x: x[None]),
    ("x[:, :]", ["a[:, :]", "a[:]"], [(6, 10), (8, 8)], lambda x: x),
    ("x[None, :, None]", ["a[None, :, None]"], [(5,)], lambda x: x[None, :, None]),
    ("x[:, None, None]", ["a[:, None, None]", "a[:, None][:, :, None]"], [(5,)], lambda x: x[:, None, None]),
    ("squeeze", ["tl.squeeze(a, 0)", "a.squeeze(dim=0)"], [(1, 6), (1, 64)], lambda x: x[0]),
    ("squeeze", ["tl.squeeze(a, 1)", "tl.squeeze(a, dim=-2)"], [(6, 1, 10)], lambda x: x[:, 0]),
    ("broadcast_to", ["tl.broadcast_to(a, (6, 10))", "a.broadcast_to(6, 10)", "tl.broadcast_to(a, [6, 10])",
                      "a.broadcast_to((6, 10))", "tl.broadcast_to(a, 6, 10)"],
     [(6, 1), (1, 10), (1, 1), ()], lambda x: np.broadcast_to(x, (6, 10))),
    ("broadcast_to", ["tl.broadcast_to(a, (4, 8, 8))", "tl.broadcast_to(a, 4, 8, 8)"], [(1, 8, 1), (4, 1, 8)],
     lambda x: np.broadcast_to(x, (4, 8, 8))),
    ("trans", ["tl.trans(a)", "a.T", "a.trans()", "tl.trans(a, 1, 0)", "a.trans(1, 0)", "tl.permute(a, (1, 0))",
               "a.permute(1, 0)", "tl.trans(a, (1, 0))"],
     [(16, 16), (6, 10), (1, 7), (64, 2)], lambda x: x.T),
    ("trans", ["tl.trans(a)", "tl.permute(a, 0, 2, 1)"], [(3, 5, 7)], swap((0, 2, 1))),
    ("permute", ["tl.permute(a, (2, 0, 1))", "a.permute((2, 0, 1))", "tl.permute(a, 2, 0, 1)", "tl.trans(a, 2, 0, 1)",
                 "a.permute(2, 0, 1)", "tl.permute(a, -1, 0, 1)"],
     [(3, 5, 7), (4, 8, 8)], swap((2, 0, 1))),
    ("permute", ["tl.permute(a, [1, 0, 2])", "a.trans(1, 0, 2)"], [(3, 5, 7), (4, 8, 2)], swap((1, 0, 2))),
    ("reshape", ["tl.reshape(a, (10, 6))", "a.reshape(10, 6)", "tl.reshape(a, 10, 6)", "a.reshape((10, 6))",
                 "tl.reshape(a, (10, 6), can_reorder=False)", "tl.reshape(a, [10, 6])"],
     [(60,), (6, 10), (3, 4, 5)], lambda x: x.reshape(10, 6)),
    ("reshape", ["tl.reshape(a, (4, 4, 16))", "a.reshape(4, 4, 16)"], [(256,), (16, 16), (8, 32)],
     lambda x: x.reshape(4, 4, 16)),
    ("view", ["tl.view(a, (15, 4))", "a.view(15, 4)", "tl.view(a, 15, 4)", "a.view([15, 4])",
              "tl.view(a, (15, 4), can_reorder=False)"], [(60,), (4, 15)], lambda x: x.reshape(15, 4)),
    ("ravel", ["tl.ravel(a)", "a.ravel()", "tl.ravel(a, can_reorder=False)"], [(6, 10), (16, 16), (3, 5, 7), (9,)],
     lambda x: x.reshape(-1)),
    ("flip", ["tl.flip(a)", "a.flip()", "tl.flip(a, dim=-1)"], [(256,), (7,), (6, 10)], lambda x: x[..., ::-1]),
    ("flip", ["tl.flip(a, 0)", "a.flip(dim=0)", "tl.flip(a, dim=-2)"], [(6, 10), (8, 8)], lambda x: x[::-1]),
    ("flip", ["tl.flip(a, 1)"], [(3, 5, 7)], lambda x: x[:, ::-1]),
    ("join", ["tl.join(a, b)", "a.join(b)"], [((256,),) * 2, ((7,),) * 2, ((6, 10),) * 2, ((3, 5, 7),) * 2, ((),) * 2],
     lambda x, y: np.stack([x, y], axis=-1)),
    ("interleave", ["tl.interleave(a, b)"], [((256,),) * 2, ((7,),) * 2, ((6, 10),) * 2, ((2, 4, 8),) * 2],
     interleaved),
    ("cat", ["tl.cat(a, b)", "tl.cat(a, b, dim=0)", "a.cat(b)", "tl.cat(a, b, can_reorder=False)"],
     [((128,),) * 2, ((6,), (7,)), ((6, 10), (3, 10))], lambda x, y: np.concatenate([x, y])),
    ("cat", ["tl.cat(a, b, dim=1)", "tl.cat(a, b, dim=-1)"], [((6, 10), (6, 3)), ((16, 16),) * 2], lambda x,
     y: np.concatenate([x, y], axis=1)),
    ("broadcast of operands", ["tl.where(True, a, b)", "tl.where(b == b, a, b)"],
     [((6, 1), (1, 10)), ((6, 1), (6, 10))], lambda x, y: np.broadcast_to(x, (6, 10))),
]


def moves(long):
    for key, spellings, shapes, ref in MOVES:
        for i, dt in enumerate(ALL):
            for j, shape in enumerate(shapes):
                pair = shape and isinstance(shape[0], tuple)
                operands = shape if pair else (shape,)
                for spelling in spellings if long else [spellings[(i + j) % len(spellings)]]:
                    name = f"{key}: {spelling} {dt} {' '.join(map(shape_name, operands))}"
                    rng = rng_of(name)
                    blocks = {n: (dt, numbers(dt, s, rng)) for n, s in zip("ab", operands)}
                    if "== b" in spelling or "where" in spelling:
                        blocks["b"] = (dt, np.resize(cast("i32", dt, np.array([1, 0, 1])), operands[1]))
                    want = Want(dt, np.array(ref(*(s for _, s in blocks.values())), order="C"))
                    yield Case(name, "r = " + spelling, blocks, {"r": want}, covers=[key])


def pairs(long):
    """Operations with two results."""
    for dt in ALL:
        rng = rng_of("split" + dt)
        for form in ("tl.split(a)", "a.split()"):
            for shape in ((256, 2), (7, 2), (6, 10, 2), (2,)):
                a = numbers(dt, shape, rng)
                yield Case(f"split: {form} {dt} {shape_name(shape)}", f"r, s = {form}", {"a": (dt, a)},
                           {"r": Want(dt, np.array(a[..., 0], order="C")),
                            "s": Want(dt, np.array(a[..., 1], order="C"))}, covers=["split"])
        a, b = numbers(dt, (6, 1), rng), numbers(dt, (1, 10), rng)
        want = {"r": Want(dt, np.broadcast_to(a, (6, 10))), "s": Want(dt, np.broadcast_to(b, (6, 10)))}
        yield Case(f"broadcast: {dt}", "r, s = tl.broadcast(a, b)", {"a": (dt, a), "b": (dt, b)}, want,
                   covers=["broadcast"])
        scalar = np.array(b[0, 0])
        want = {"r": Want(dt, a), "s": Want(dt, np.broadcast_to(scalar, (6, 1)))}
        yield Case(f"broadcast: {dt} scalar", "r, s = tl.broadcast(input=a, other=b)",
                   {"a": (dt, a), "b": (dt, scalar)}, want, covers=["broadcast"])


FILLERS = {"b": "True", "i": "-7", "u": "200", "f": "-2.5"}


def creations(long):
    for n, start in ((256, 0), (781, 0), (6, -3), (1, 5), (64, 100)):
        for form in (f"tl.arange({start}, {start + n})", f"tl.arange(start={start}, end={start + n})"):
            yield Case(f"arange: {form}", "r = " + form, results={"r": Want("i32", np.arange(start, start + n))},
                       covers=["arange"])
    for i, dt in enumerate(ALL):
        tl, d = "tl." + DTYPES[dt].tl, DTYPES[dt]
        text = FILLERS[d.kind]
        value = encode(dt, float(text)) if d.kind == "f" else np.array(eval(text), d.storage)
        for shape, written in (((256,), "[256]"), ((781,), "(781,)"), ((6, 10), "(6, 10)"), ((3, 5, 7), "[3, 5, 7]"),
                               ((), "()"), ((7,), "7")):
            if shape != (7,):
                full, zero = np.full(shape, value), np.zeros(shape, d.storage)
                yield Case(f"full: {dt} {written}", f"r = tl.full({written}, {text}, {tl})",
                           results={"r": Want(dt, full)}, covers=["full"])
                yield Case(f"full: {dt} {written} by keyword",
                           f"r = tl.full(shape={written}, value={text}, dtype={tl})", results={"r": Want(dt, full)},
                           covers=["full"])
                yield Case(f"zeros: {dt} {written}", f"r = tl.zeros({written}, {tl})", results={"r": Want(dt, zero)},
                           covers=["zeros"])
                yield Case(f"zeros: {dt} {written} dtype=", f"r = tl.zeros({written}, dtype={tl})",
                           results={"r": Want(dt, zero)}, covers=["zeros"])
        rng = rng_of("full" + dt)
        a = numbers(dt, (6, 10), rng)
        yield Case(f"zeros_like: {dt}", "r = tl.zeros_like(a)", {"a": (dt, a)},
                   {"r": Want(dt, np.zeros((6, 10), d.storage))}, covers=["zeros_like"])
        scalar = np.array(numbers(dt, (1,), rng)[0])
        yield Case(f"full: {dt} of a run-time value", f"r = tl.full((6, 10), a, {tl})", {"a": (dt, scalar)},
                   {"r": Want(dt, np.full((6, 10), scalar))}, covers=["full"])
        yield Case(f"to_tensor: {dt}", "r = tl.to_tensor(a)", {"a": (dt, a)}, {"r": Want(dt, a)}, covers=["to_tensor"])
        yield Case(f"item: {dt}", "r = a.item()", {"a": (dt, a[:1, 0])}, {"r": Want(dt, a[0, 0])}, covers=["item"])
    yield Case("to_tensor of a number", "r = tl.to_tensor(7) + tl.to_tensor(0)",
               results={"r": Want("i32", np.array(7))}, covers=["to_tensor"])


def all_cases(long):
    for family in (moves, pairs, creations):
        yield from family(long)
