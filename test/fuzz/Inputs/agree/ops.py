"""The operations: how one is made at random (make), what its results are (infer), and how it is written (text).

A kernel that is wrong by design is worthless, so infer is strict: it rejects what the language leaves open, and what two right devices may
answer differently (a comparison of numbers that are known only up to an error, the order of two NaNs)."""
import math

import dots
from values import (DTYPES, F32, F64, FLOATS, FP8, I1, I32, INTS, U32, WIDE, Facts, Val, coarser, either, exact, held, known_int, need, numel,
                    rounded, strides_of, unit, wild)

OPS = {}


class Op:
    weight = 1
    results = 1

    def put(self, style, node):
        names = [style.use(a) for a in node.args]
        text = style.call(self.text(style, names, node.attrs, [style.vals[a] for a in node.args]))
        style.line(f"{', '.join(node.results)} = {text}" if node.results else text)
        for name in node.results:
            if style.chance(5):
                style.line(f"tl.static_assert({name}.dtype == {style.vals[name].dtype.tl})")


def op(name, weight=1.0):
    def add(cls):
        OPS[name] = cls()
        OPS[name].name, OPS[name].weight = name, weight
        return cls
    return add


def index_of(shape, d, reverse=False):
    """The index along dim d, as it broadcasts to the shape."""
    i = f"({shape[d] - 1} - tl.arange(0, {shape[d]}))" if reverse else f"tl.arange(0, {shape[d]})"
    return i if len(shape) == 1 else i + "[" + ", ".join(":" if e == d else "None" for e in range(len(shape))) + "]"


def index_text(shape, strides, reverse=()):
    """Offsets of a block: the sum over its dims of index times stride."""
    terms = [(index_of(shape, d, d in reverse), s) for d, s in enumerate(strides)]
    return " + ".join(i if s == 1 else f"{i} * {s}" for i, s in terms) or "0"


def same(a, b):
    """Shape of two operands of one type; either may be a scalar."""
    need(a.dtype is b.dtype and (a.shape == b.shape or () in (a.shape, b.shape)))
    return a.shape or b.shape


# ---- made from nothing, and memory ----

@op("full", 0.4)
class Full(Op):
    def make(self, g):
        d = g.dtype()
        return [], {"shape": g.shape(), "dtype": d, "value": g.constant(d)}

    def infer(self, scope, args, a):
        value, d = a["value"], a["dtype"]
        if not d.is_float:
            return [Val(d, a["shape"], known_int(d, abs(value)))]
        grain = next((g for g in range(10, -20, -1) if value * 2.0**-g == int(value * 2.0**-g)), None)
        need(held(d, abs(value), grain))
        return [Val(d, a["shape"], Facts(abs(value), grain, 0.0))]

    def text(self, style, names, a, vals):
        return f"tl.full({list(a['shape'])}, {a['value']}, {a['dtype'].tl})"


@op("arange", 0.5)
class Arange(Op):
    def make(self, g):
        return [], {"shape": (g.extent(),), "start": g.choice([0, 0, 0, 5, -3])}

    def infer(self, scope, args, a):
        return [Val(I32, a["shape"], known_int(I32, a["shape"][0] + abs(a["start"])))]

    def text(self, style, names, a, vals):
        return f"tl.arange({a['start']}, {a['start'] + a['shape'][0]})"


@op("index", 0.5)
class Index(Op):
    """A loop's index: `tl.to_tensor` makes a number of it where the loop is unrolled."""

    def make(self, g):
        return [g.choice(g.loops)], {}

    def infer(self, scope, args, a):
        need(args[0].dtype is I32 and args[0].shape == ())
        return [args[0]]

    def text(self, style, names, a, vals):
        return f"tl.to_tensor({names[0]})"


def most_index(shape, strides):
    return sum((n - 1) * s for n, s in zip(shape, strides))


@op("load", 5)
class Load(Op):
    """From an array, with any strides (0, transposed, with gaps), masked or not; attrs["mask"]: None, "value" (the operand), or a bound for an
    index along a dim."""

    def make(self, g, dtype=None, shape=None):
        array = g.array(dtype)
        shape = g.shape() if shape is None else shape
        perm = g.sample(range(len(shape)), len(shape)) if g.chance(40) else list(range(len(shape)))
        strides = list(strides_of(shape, perm))
        if shape and g.chance(15):
            strides[g.below(len(shape))] = g.choice([0, 1, 3])
        a = {"array": array.name, "shape": shape, "strides": tuple(strides), "start": g.choice([0, 0, 0, 1, 16, 64]),
             "step": g.choice([0, 1, numel(shape), 64]), "mask": None, "other": None, "bound": None, "form": g.choice(["plain", "plain", "base", "run"]),
             "modifier": g.choice(["", "", "", ", cache_modifier='.cg'", ", eviction_policy='evict_last'", ", volatile=True"])}
        args = []
        if shape and g.chance(45):
            a["mask"] = "value" if g.chance(40) else "bound"
            a["bound"] = (g.below(len(shape)), g.choice([1, 3, 7, 8, 31, 50]))
            if a["mask"] == "value":
                args = [g.value(I1, shape)]
            a["other"] = None if g.chance(40) else g.choice([0, 1, 3, 7])
        if array.dtype is I1 and a["other"]:
            a["other"] = 1
        return args, a

    def infer(self, scope, args, a):
        array, shape = scope.kernel.array(a["array"]), a["shape"]
        need(a["start"] + (scope.kernel.programs - 1) * a["step"] + most_index(shape, a["strides"]) < array.count)
        if a["mask"] == "value":
            need(args[0].dtype is I1 and args[0].shape == shape)
        facts = array.facts()
        if a["mask"]:
            other = float(a["other"] or 0)
            facts = either(facts, Facts(other, 0, 0.0) if array.dtype.is_float else known_int(array.dtype, other))
        return [Val(array.dtype, shape, facts)]

    def text(self, style, names, a, vals):
        offset = index_text(a["shape"], a["strides"])
        start = f"pid * {a['step']} + {a['start']}" if a["step"] else str(a["start"])
        where = {"plain": f"{a['array']} + ({start} + {offset})", "base": f"{a['array']} + ({start}) + ({offset})",
                 "run": f"{a['array']} + ({start} + (n - 3)) + ({offset})"}[a["form"]]
        if not a["mask"]:
            return f"tl.load({where}{a['modifier']})"
        mask = names[0] if a["mask"] == "value" else self.bound_text(a["shape"], *a["bound"])
        return f"tl.load({where}, mask={mask}" + ("" if a["other"] is None else f", other={a['other']}") + a["modifier"] + ")"

    @staticmethod
    def bound_text(shape, d, bound):
        return f"({index_of(shape, d)} < {bound})"


@op("block_load", 0.8)
class BlockLoad(Op):
    """Through a block pointer or a tensor descriptor, also beyond the border."""

    def make(self, g):
        array = g.array(None)
        rows, cols = g.extent(), g.extent()
        form = g.choice(["block", "turned", "desc"])
        wide = max(16, cols, 16 * 8 // array.dtype.bits)
        return [], {"array": array.name, "shape": (rows, cols), "whole": (g.choice([rows, rows + 3, max(1, rows - 1)]), wide),
                    "at": (g.choice([0, 0, 1, rows // 2]), g.choice([0, 0, cols // 2])), "form": form}

    def infer(self, scope, args, a):
        array, (rows, cols), (height, width) = scope.kernel.array(a["array"]), a["shape"], a["whole"]
        need(array.dtype is not I1 and height * width <= array.count and min(rows, cols, height, width) > 0)
        need(a["form"] != "desc" or width * array.dtype.bits % 128 == 0 and cols * array.dtype.bits >= 128)
        facts = array.facts()
        return [Val(array.dtype, a["shape"], Facts(facts.mag, coarser(facts.grain, 0), 0.0))]

    def text(self, style, names, a, vals):
        (rows, cols), (height, width), (r, c) = a["shape"], a["whole"], a["at"]
        if a["form"] == "desc":
            return f"tl.make_tensor_descriptor({a['array']}, [{height}, {width}], [{width}, 1], [{rows}, {cols}]).load([{r} + pid * 0, {c}])"
        if a["form"] == "turned":
            return (f"tl.trans(tl.load(tl.make_block_ptr({a['array']}, ({width}, {height}), (1, {width}), ({c}, {r}), ({cols}, {rows}), (0, 1)), "
                    "boundary_check=(0, 1)))")
        return (f"tl.load(tl.make_block_ptr({a['array']}, ({height}, {width}), ({width}, 1), ({r}, {c}), ({rows}, {cols}), (1, 0)), "
                "boundary_check=(0, 1))")


@op("gather_load", 1)
class GatherLoad(Op):
    def make(self, g):
        array = g.array(None)
        return [g.value(g.choice([I32, DTYPES["u16"], DTYPES["i64"], DTYPES["u8"]]), g.shape())], {"array": array.name, "most": g.choice([15, 63, 1023])}

    def infer(self, scope, args, a):
        array = scope.kernel.array(a["array"])
        need(args[0].dtype.is_int and a["most"] < array.count)
        return [Val(array.dtype, args[0].shape, array.facts())]

    def text(self, style, names, a, vals):
        d = vals[0].dtype
        most = min(a["most"], 127 if d.bits == 8 else a["most"])
        return f"tl.load({a['array']} + ({names[0]} & {most}))"


@op("store", 0)
class Store(Op):
    """An output: an array of its own, a part of it for each program."""

    def infer(self, scope, args, a):
        need(args[0].dtype is a["dtype"] and args[0].shape == a["shape"])
        need(a["count"] >= numel(a["shape"]) * scope.kernel.programs and (a["form"] == "plain" or len(a["shape"]) == 2))
        return []

    def put(self, style, node):
        a, shape = node.attrs, node.attrs["shape"]
        if a["form"] == "block":
            rows, cols = shape
            high = min(a["bound"][1], rows) if a["bound"] else rows
            where = f"tl.make_block_ptr({a['array']} + pid * {rows * cols}, ({high}, {cols}), ({cols}, 1), (0, 0), ({rows}, {cols}), (1, 0))"
            style.line(f"tl.store({where}, {style.use(node.args[0])}, boundary_check=(0, 1))")
            return
        offset = index_text(shape, strides_of(shape, a["perm"]), a["reverse"])
        mask = "" if a["bound"] is None else f", mask={Load.bound_text(shape, *a['bound'])}"
        style.line(f"tl.store({a['array']} + pid * {numel(shape)} + ({offset}), {style.use(node.args[0])}{mask})")


ATOMIC_TYPES = {"add": WIDE + [DTYPES["fp16"], F32, F64], "and": WIDE, "or": WIDE, "xor": WIDE, "max": WIDE + [F32, F64], "min": WIDE + [F32, F64]}


@op("atomic", 0.6)
class Atomic(Op):
    """All lanes, programs and turns into a few elements, by one operation that is exact in every order."""
    results = 0

    def make(self, g):
        how = g.choice(list(ATOMIC_TYPES))
        d = g.dtype(ATOMIC_TYPES[how])
        x = g.value(d, g.shape())
        mask = [g.value(I1, g.shape_of(x))] if g.chance(30) else []
        return [x, g.value(I32, g.shape_of(x))] + mask, {"array": g.new_array("q"), "dtype": d, "kind": g.choice(["arange", "ones"]), "count": g.choice([1, 4, 64]), "how": how}

    def infer(self, scope, args, a):
        x, i = args[:2]
        need(x.dtype is a["dtype"] and i.dtype is I32 and i.shape == x.shape and exact(x) and not wild(x.facts))
        need(len(args) == 2 or args[2].dtype is I1 and args[2].shape == x.shape)
        if x.dtype.is_float and a["how"] == "add":
            need(held(x.dtype, a["count"] + x.facts.mag * numel(x.shape) * scope.kernel.programs * scope.trips, coarser(x.facts.grain, 0)))
        return []

    def text(self, style, names, a, vals):
        mask = f", mask={names[2]}" if len(names) > 2 else ""
        return f"tl.atomic_{a['how']}({a['array']} + ({names[1]} & {a['count'] - 1}), {names[0]}{mask})"


@op("atomic_old", 0.5)
class AtomicOld(Op):
    """Each lane an element of its own: what was there is known."""

    def make(self, g):
        how = g.choice(["add", "max", "min", "xchg", "cas"])
        d = g.choice(WIDE + [F32, F64] if how != "cas" else WIDE + [F32, F64, DTYPES["fp16"], DTYPES["i16"]])
        x = g.value(d, g.shape())
        return [x], {"array": g.new_array("q"), "dtype": d, "kind": "arange", "count": numel(g.shape_of(x)) * 3, "how": how}

    def infer(self, scope, args, a):
        (x,) = args
        need(scope.trips == 1 and x.dtype is a["dtype"] and exact(x) and not wild(x.facts) and numel(x.shape) * scope.kernel.programs <= a["count"])
        need(not x.dtype.is_float or held(x.dtype, a["count"], 0))
        return [Val(x.dtype, x.shape, Facts(float(a["count"]), 0, 0.0) if x.dtype.is_float else known_int(x.dtype))]

    def text(self, style, names, a, vals):
        (x,) = vals
        where = f"{a['array']} + pid * {numel(x.shape)} + ({index_text(x.shape, strides_of(x.shape, range(len(x.shape))))})"
        if a["how"] == "cas":
            return f"tl.atomic_cas({where}, {names[0]}, {names[0]} - {names[0]})"
        return f"tl.atomic_{a['how']}({where}, {names[0]})"


# ---- elementwise ----

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "//", "rem": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
COMMUTE = {"add", "mul", "and", "or", "xor", "max", "min", "umulhi"}


def binary_text(style, how, a, b):
    if how in COMMUTE:
        a, b = style.swap(a, b)
    if how in SYMBOLS:
        return f"{a} {SYMBOLS[how]} {b}"
    return {"max": "tl.maximum({0}, {1})", "min": "tl.minimum({0}, {1})", "umulhi": "tl.umulhi({0}, {1})", "cdiv": "tl.cdiv({0}, {1})",
            "max_nan": "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
            "min_nan": "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)"}[how].format(a, b)


@op("int", 5)
class IntBinary(Op):
    def make(self, g):
        d, shape = g.dtype(INTS), g.shape()
        return [g.value(d, shape), g.value(d, () if g.chance(12) else shape)], {"how": g.choice(list(SYMBOLS) + ["add", "mul", "max", "min", "umulhi"])}

    def infer(self, scope, args, a):
        x, y = args
        shape, d, how = same(x, y), x.dtype, a["how"]
        need(d.is_int and (how != "umulhi" or d.bits >= 32))
        mag = d.mag
        if d.kind == "u" and how in ("and", "div", "rem", "shr", "max", "min", "or"):
            mag = max(x.facts.mag, y.facts.mag) * (2 if how == "or" else 1)
        return [Val(d, shape, known_int(d, mag))]

    def text(self, style, names, a, vals):
        return binary_text(style, a["how"], *names)


@op("int_constant", 2)
class IntConstant(Op):
    def make(self, g):
        d = g.dtype(INTS)
        return [g.value(d, g.shape())], {"how": g.choice(list(SYMBOLS)), "value": g.choice([0, 1, 2, 3, 7, 8, 15, 31, 100])}

    def infer(self, scope, args, a):
        d, how, value = args[0].dtype, a["how"], a["value"]
        need(d.is_int and (value or how not in ("div", "rem")) and (value < d.bits or how not in ("shl", "shr")))
        mag = value if how == "and" else value if how == "rem" else d.mag
        return [Val(d, args[0].shape, known_int(d, mag))]

    def text(self, style, names, a, vals):
        return binary_text(style, a["how"], names[0], str(a["value"]))


@op("int_unary", 1)
class IntUnary(Op):
    def make(self, g):
        return [g.value(g.dtype(INTS), g.shape())], {"how": g.choice(["-{0}", "~{0}", "tl.abs({0})"])}

    def infer(self, scope, args, a):
        need(args[0].dtype.is_int and (args[0].dtype.kind == "i" or a["how"] == "~{0}"))
        return [Val(args[0].dtype, args[0].shape, known_int(args[0].dtype))]

    def text(self, style, names, a, vals):
        return a["how"].format(names[0])


@op("float", 5)
class FloatBinary(Op):
    def make(self, g):
        d, shape = g.dtype(FLOATS + [F32]), g.shape()
        return [g.value(d, shape), g.value(d, () if g.chance(12) else shape)], {"how": g.choice(["add", "sub", "mul", "max", "min", "max_nan", "min_nan"])}

    def infer(self, scope, args, a):
        x, y = args
        shape, d, how = same(x, y), x.dtype, a["how"]
        need(d in FLOATS)
        fx, fy = x.facts, y.facts
        if how in ("max", "min", "max_nan", "min_nan"):
            need(exact(x) and exact(y) or not wild(fx) and not wild(fy))
            return [Val(F32 if d.name == "bf16" else d, shape, either(fx, fy))]
        need(not wild(fx) and not wild(fy) or exact(x) and exact(y) and not scope.kernel.contract)
        if how != "mul":
            return [Val(d, shape, rounded(d, fx.mag + fy.mag, coarser(fx.grain, fy.grain), fx.err + fy.err))]
        if wild(fx) or wild(fy):
            return [Val(d, shape, Facts(math.inf, None, 0.0))]
        grain = None if fx.grain is None or fy.grain is None else fx.grain + fy.grain
        err = fx.err * fy.mag + fy.err * fx.mag + fx.err * fy.err
        return [Val(d, shape, rounded(d, fx.mag * fy.mag, grain, err, free=scope.kernel.contract))]

    def text(self, style, names, a, vals):
        return binary_text(style, a["how"], *names)


@op("fma", 0.6)
class Fma(Op):
    def make(self, g):
        d, shape = g.choice([F32, F32, F64, DTYPES["fp16"]]), g.shape()
        return [g.value(d, shape) for _ in range(3)], {}

    def infer(self, scope, args, a):
        d, shape = args[0].dtype, args[0].shape
        need(d in FLOATS and all(v.dtype is d and v.shape == shape and not wild(v.facts) for v in args))
        x, y, z = (v.facts for v in args)
        grain = coarser(None if x.grain is None or y.grain is None else x.grain + y.grain, z.grain)
        return [Val(d, shape, rounded(d, x.mag * y.mag + z.mag, grain, x.err * y.mag + y.err * x.mag + x.err * y.err + z.err))]

    def text(self, style, names, a, vals):
        x, y = style.swap(names[0], names[1])
        return f"tl.fma({x}, {y}, {names[2]})"


@op("divide", 0.7)
class Divide(Op):
    """By something that is at least 1; fp32's quotient may be off by two units on a GPU."""

    def make(self, g):
        d, shape = g.choice([F32, F32, F64]), g.shape()
        return [g.value(d, shape), g.value(d, shape)], {"how": g.choice(["{0} / {1}", "tl.div_rn({0}, {1})", "tl.fdiv({0}, {1})"])}

    def infer(self, scope, args, a):
        x, y = args
        need(x.dtype is y.dtype and x.shape == y.shape and x.dtype in (F32, F64) and not wild(x.facts) and not wild(y.facts))
        d, fx, fy = x.dtype, x.facts, y.facts
        err = fx.err + fx.mag * (fy.err + (unit(d, fy.mag + 1) if fy.err else 0))
        if "rn" not in a["how"]:
            err += 3 * unit(d, fx.mag)
        return [Val(d, x.shape, rounded(d, fx.mag, None, err))]

    def text(self, style, names, a, vals):
        return a["how"].format(names[0], f"(tl.abs({names[1]}) + 1.0)")


@op("float_unary", 1.5)
class FloatUnary(Op):
    def make(self, g):
        d = g.dtype(FLOATS)
        return [g.value(d, g.shape())], {"how": g.choice(["neg", "abs", "floor", "ceil", "half", "small"])}

    def infer(self, scope, args, a):
        d, f, how = args[0].dtype, args[0].facts, a["how"]
        need(d in FLOATS)
        if how in ("floor", "ceil"):
            need(exact(args[0]) and d in (F32, F64))
            f = Facts(f.mag + 1, 0, 0.0) if not wild(f) else f
        elif how == "small":
            need(exact(args[0]))
            f = Facts(8.0, 0, 0.0)
        elif how == "half":
            need(not wild(f))
            f = rounded(d, f.mag / 2, None if f.grain is None else f.grain - 1, f.err / 2)
        return [Val(d, args[0].shape, f)]

    def text(self, style, names, a, vals):
        return {"neg": "-{0}", "abs": "tl.abs({0})", "floor": "tl.floor({0})", "ceil": "tl.ceil({0})", "half": "{0} * 0.5",
                "small": "(({0}).to(tl.int32) & 7).to({1})"}[a["how"]].format(names[0], vals[0].dtype.tl)


# How a function is written, its largest value for |x| <= m, units of the last place that a GPU may be off, and how much it stretches errors.
FUNCTIONS = {
    "sqrt": ("tl.sqrt(tl.abs({0}))", lambda m: math.sqrt(m), 2), "sqrt_rn": ("tl.sqrt_rn(tl.abs({0}))", lambda m: math.sqrt(m), 0),
    "exp2": ("tl.exp2(-tl.abs({0}))", lambda m: 1.0, 4), "sin": ("tl.sin({0} * 0.125)", lambda m: 1.0, 8),
    "log": ("tl.log(tl.abs({0}) + 1.0)", lambda m: math.log(m + 1) + 1, 4), "rsqrt": ("tl.rsqrt(tl.abs({0}) + 1.0)", lambda m: 1.0, 4)}


@op("function", 0.7)
class Function(Op):
    def make(self, g):
        return [g.value(F32, g.shape())], {"how": g.choice(list(FUNCTIONS))}

    def infer(self, scope, args, a):
        x = args[0]
        need(x.dtype is F32 and exact(x) and x.facts.mag < 1000)
        _, largest, ulps = FUNCTIONS[a["how"]]
        mag = largest(x.facts.mag)
        err = 0.0 if not ulps else 2.0**-20 if a["how"] == "sin" else (ulps + 1) * unit(F32, mag)
        return [Val(F32, x.shape, rounded(F32, mag, None, err))]

    def text(self, style, names, a, vals):
        return FUNCTIONS[a["how"]][0].format(names[0])


@op("compare", 3)
class Compare(Op):
    def make(self, g):
        d, shape = g.dtype(INTS + FLOATS + [I32, F32]), g.shape()
        return [g.value(d, shape), g.value(d, () if g.chance(20) else shape)], {"how": g.choice(["<", "<=", ">", ">=", "==", "!="])}

    def infer(self, scope, args, a):
        need(exact(args[0]) and exact(args[1]) and args[0].dtype not in FP8 and args[0].dtype is not I1)
        shape = same(*args)
        return [Val(I1, shape, known_int(I1, 1))]

    def text(self, style, names, a, vals):
        x, y = names
        if style.chance(40):
            return f"{y} {a['how'].translate(str.maketrans('<>', '><'))} {x}"
        return f"{x} {a['how']} {y}"


@op("logic", 1)
class Logic(Op):
    def make(self, g):
        shape = g.shape()
        return [g.value(I1, shape), g.value(I1, shape)], {"how": g.choice(["and", "or", "xor"])}

    def infer(self, scope, args, a):
        need(args[0].dtype is I1)
        return [Val(I1, same(*args), known_int(I1, 1))]

    def text(self, style, names, a, vals):
        return binary_text(style, a["how"], *names)


@op("where", 3)
class Where(Op):
    def make(self, g):
        d, shape = g.dtype(), g.shape()
        return [g.value(I1, () if g.chance(10) else shape), g.value(d, shape), g.value(d, shape)], {}

    def infer(self, scope, args, a):
        c, x, y = args
        need(c.dtype is I1 and x.dtype is y.dtype and x.shape == y.shape and c.shape in ((), x.shape))
        return [Val(x.dtype, x.shape, either(x.facts, y.facts))]

    def text(self, style, names, a, vals):
        c, x, y = names
        if style.chance(40):
            return f"tl.where({c} == 0, {y}, {x})"
        return f"tl.where({c}, {x}, {y})"


@op("cast", 3)
class Cast(Op):
    def make(self, g):
        return [g.any_value()], {"dtype": g.dtype(), "rtz": g.chance(10)}

    def infer(self, scope, args, a):
        (x,), d = args, a["dtype"]
        need(x.dtype is not d and not (x.dtype in FP8 and d is I1))
        need(not a.get("rtz") or x.dtype is F32 and d.name in ("fp16", "bf16") and exact(x))
        return [Val(d, x.shape, cast_facts(x, d))]

    def text(self, style, names, a, vals):
        return f"{names[0]}.to({a['dtype'].tl}{', fp_downcast_rounding=' + repr('rtz') if a.get('rtz') else ''})"


def cast_facts(x, d):
    if not d.is_float:
        need(exact(x))
        mag = 1 if d is I1 else d.mag if wild(x.facts) or d.kind == "u" and x.dtype.kind != "u" and x.dtype is not I1 else x.facts.mag
        return known_int(d, mag)
    if d in FP8 and x.facts.mag > d.mag:  # what is beyond the ends becomes the end
        need(exact(x))
        return Facts(math.inf if wild(x.facts) else d.mag, d.low, 0.0)
    return rounded(d, x.facts.mag, x.facts.grain, x.facts.err)


@op("small", 4)
class Small(Op):
    """Small whole numbers of a float type, out of integers: what sums and products of stay exact."""

    def make(self, g, dtype=None, shape=None):
        return [g.value(g.dtype(INTS), g.shape() if shape is None else shape)], {"dtype": dtype or g.dtype(FLOATS + FP8), "most": g.choice([1, 3, 7])}

    def infer(self, scope, args, a):
        x, d = args[0], a["dtype"]
        need(x.dtype.is_int and d.is_float)
        return [Val(d, x.shape, Facts(float(a["most"]), 0, 0.0))]

    def text(self, style, names, a, vals):
        whole = f"({names[0]} & {a['most']}).to(tl.float32)"
        return f"({whole} - {a['most'] // 2}).to({a['dtype'].tl})"


@op("bitcast", 0.8)
class Bitcast(Op):
    """A float's bits as an integer where they are certain: no NaN, and 0 has lost its sign to the sum."""

    def make(self, g):
        x = g.any_value()
        d = g.dtype([d for d in DTYPES.values() if d.bits == x[1].dtype.bits and d is not x[1].dtype] or [I1])
        return [x], {"dtype": d}

    def infer(self, scope, args, a):
        (x,), d = args, a["dtype"]
        need(x.dtype.bits == d.bits and x.dtype is not d and I1 not in (x.dtype, d))
        if x.dtype.is_float:
            need(exact(x) and not wild(x.facts) and x.dtype not in FP8)
            return [Val(d, x.shape, Facts(math.inf, None, 0.0) if d.is_float else known_int(d))]
        return [Val(d, x.shape, Facts(math.inf, None, 0.0) if d.is_float else known_int(d))]

    def text(self, style, names, a, vals):
        x = f"({names[0]} + 0.0)" if vals[0].dtype.is_float else names[0]
        return f"{x}.to({a['dtype'].tl}, bitcast=True)"


@op("randint", 0.2)
class Randint(Op):
    def make(self, g):
        return [g.value(I32, g.shape())], {"seed": g.below(100)}

    def infer(self, scope, args, a):
        need(args[0].dtype is I32 and args[0].shape)
        return [Val(U32, args[0].shape, known_int(U32))]

    def text(self, style, names, a, vals):
        return f"tl.randint({a['seed']}, {names[0]})"


# ---- shapes ----

@op("reshape", 2)
class Reshape(Op):
    def make(self, g):
        x = g.block()
        return [x], {"shape": g.reshaped(x[1].shape), "form": g.choice(["tl.reshape({0}, {1})", "{0}.reshape({1})", "tl.view({0}, {1})"])}

    def infer(self, scope, args, a):
        need(args[0].shape and numel(args[0].shape) == numel(a["shape"]) and a["shape"])
        return [args[0]._replace(shape=a["shape"])]

    def text(self, style, names, a, vals):
        return a["form"].format(names[0], list(a["shape"]))


@op("trans", 3)
class Trans(Op):
    def make(self, g):
        x = g.block(2)
        return [x], {"perm": tuple(g.sample(range(len(x[1].shape)), len(x[1].shape)))}

    def infer(self, scope, args, a):
        need(sorted(a["perm"]) == list(range(len(args[0].shape))))
        return [args[0]._replace(shape=tuple(args[0].shape[d] for d in a["perm"]))]

    def text(self, style, names, a, vals):
        return f"tl.trans({names[0]}, {list(a['perm'])})"


@op("expand", 1.5)
class Expand(Op):
    """A new dim, and maybe a block that is as long there."""

    def make(self, g):
        x = g.block()
        return [x], {"axis": g.below(len(x[1].shape) + 1), "k": g.choice([1, g.extent(), g.extent()])}

    def infer(self, scope, args, a):
        shape = args[0].shape
        need(0 < len(shape) < 4 and a["axis"] <= len(shape))
        return [args[0]._replace(shape=shape[:a["axis"]] + (a["k"],) + shape[a["axis"]:])]

    def text(self, style, names, a, vals):
        shape = list(vals[0].shape)
        x = f"tl.expand_dims({names[0]}, {a['axis']})" if style.chance(50) else f"{names[0]}[{', '.join([':'] * a['axis'] + ['None'] + [':'] * (len(shape) - a['axis']))}]"
        return x if a["k"] == 1 else f"tl.broadcast_to({x}, {shape[:a['axis']] + [a['k']] + shape[a['axis']:]})"


@op("broadcast", 0.5)
class Broadcast(Op):
    def make(self, g):
        return [g.scalar()], {"shape": g.shape()}

    def infer(self, scope, args, a):
        need(args[0].shape == () and a["shape"])
        return [args[0]._replace(shape=a["shape"])]

    def text(self, style, names, a, vals):
        return f"tl.broadcast_to({names[0]}, {list(a['shape'])})"


@op("join", 1)
class Join(Op):
    def make(self, g):
        d, shape = g.dtype(), g.shape()
        return [g.value(d, shape), g.value(d, shape)], {"how": g.choice(["join", "interleave"])}

    def infer(self, scope, args, a):
        x, y = args
        need(x.dtype is y.dtype and x.shape == y.shape and 0 < len(x.shape) < 4)
        shape = x.shape + (2,) if a["how"] == "join" else x.shape[:-1] + (2 * x.shape[-1],)
        return [Val(x.dtype, shape, either(x.facts, y.facts))]

    def text(self, style, names, a, vals):
        return f"tl.{a['how']}({names[0]}, {names[1]})"


@op("split", 1)
class Split(Op):
    results = 2

    def make(self, g):
        x = g.block(even=True)
        return [x], {}

    def infer(self, scope, args, a):
        shape = args[0].shape
        need(shape and shape[-1] % 2 == 0 and numel(shape) > 2)
        half = shape[:-1] + ((shape[-1] // 2,) if shape[-1] > 2 else ())
        return [args[0]._replace(shape=half)] * 2

    def text(self, style, names, a, vals):
        shape = list(vals[0].shape)
        return f"tl.split({names[0]})" if shape[-1] == 2 else f"tl.split(tl.reshape({names[0]}, {shape[:-1] + [shape[-1] // 2, 2]}))"


@op("cat", 0.7)
class Cat(Op):
    def make(self, g):
        x = g.block()
        axis = g.below(len(x[1].shape))
        return [x, g.value(x[1].dtype, x[1].shape)], {"axis": axis}

    def infer(self, scope, args, a):
        x, y, d = *args, a["axis"]
        need(x.dtype is y.dtype and len(x.shape) == len(y.shape) > d and all(m == n for e, (m, n) in enumerate(zip(x.shape, y.shape)) if e != d))
        return [Val(x.dtype, x.shape[:d] + (x.shape[d] + y.shape[d],) + x.shape[d + 1:], either(x.facts, y.facts))]

    def text(self, style, names, a, vals):
        return f"tl.cat({names[0]}, {names[1]}, dim={a['axis']})"


@op("flip", 1)
class Flip(Op):
    def make(self, g):
        x = g.block()
        return [x], {"axis": g.below(len(x[1].shape))}

    def infer(self, scope, args, a):
        need(a["axis"] < len(args[0].shape) and args[0].dtype is not I1)
        return [args[0]]

    def text(self, style, names, a, vals):
        return f"tl.flip({names[0]}, {a['axis']})"


# ---- across elements ----

def without(shape, axis, keep):
    if axis is None:
        return (1,) * len(shape) if keep else ()
    return shape[:axis] + ((1,) if keep else ()) + shape[axis + 1:]


def widened(d):
    """What sums of narrow integers are."""
    return d if d.is_float or d.bits >= 32 else I32 if d.kind == "i" else U32


def sum_facts(d, f, n):
    """Of n elements in any order."""
    if not d.is_float:
        return known_int(d, f.mag * n)
    need(not wild(f))
    if held(d, f.mag * n, f.grain):
        return Facts(f.mag * n, f.grain, f.err * n)
    mag = f.mag * n * (1 + n * 2.0**-d.precision)
    need(mag * 2 < d.mag and n * 2.0**-d.precision < 0.25)
    return Facts(mag, None, n * f.err + (n - 1) * unit(d, mag))


@op("reduce", 4)
class Reduce(Op):
    def make(self, g):
        x = g.block()
        axis = None if g.chance(20) else g.below(len(x[1].shape))
        how = g.choice(["sum", "sum", "max", "min", "xor_sum", "plus", "larger"])
        return [x], {"how": how, "axis": axis, "keep": g.chance(30)}

    def infer(self, scope, args, a):
        x, how, axis = args[0], a["how"], a["axis"]
        d, shape = x.dtype, x.shape
        need(shape and (axis is None or axis < len(shape)) and d not in FP8)
        n = numel(shape) if axis is None else shape[axis]
        out = without(shape, axis, a["keep"])
        if how == "sum":
            to = U32 if d is I1 else widened(d)
            return [Val(to, out, sum_facts(to, x.facts, n))]
        need(d is not I1)
        if how in ("max", "min"):
            need(not wild(x.facts))
            to = d if d.bits >= 32 else F32 if d.is_float else I32
            return [Val(to, out, x.facts if d.is_float else known_int(to, None if d.bits >= 32 else x.facts.mag))]
        if how == "xor_sum":
            need(d.is_int)
            return [Val(d, out, known_int(d))]
        need(axis is not None)
        if how == "plus":
            return [Val(d, out, sum_facts(d, x.facts, n))]
        need(not wild(x.facts) and d.name != "bf16")
        return [Val(d, out, x.facts)]

    def text(self, style, names, a, vals):
        x, axis, keep = names[0], a["axis"], ", keep_dims=True" if a["keep"] else ""
        if a["how"] in ("sum", "max", "min", "xor_sum"):
            if len(vals[0].shape) == 2 and axis is not None and not keep and style.chance(40):
                return f"tl.{a['how']}(tl.trans({x}), {1 - axis})"
            return f"tl.{a['how']}({x}, {axis}{keep})"
        return f"tl.reduce({x}, {axis}, {style.helper(a['how'])}{keep})"


@op("reduce_index", 1.5)
class ReduceIndex(Op):
    results = 1

    def make(self, g):
        x = g.block()
        return [x], {"how": g.choice(["max", "min"]), "axis": g.below(len(x[1].shape)), "keep": g.chance(20), "form": g.choice(["arg", "indices", "pair"])}

    def infer(self, scope, args, a):
        x, axis = args[0], a["axis"]
        need(x.shape and axis < len(x.shape) and x.dtype not in FP8 and x.dtype is not I1 and exact(x) and not wild(x.facts))
        return [Val(I32, without(x.shape, axis, a["keep"]), known_int(I32, x.shape[axis]))]

    def text(self, style, names, a, vals):
        x, axis, keep = names[0], a["axis"], ", keep_dims=True" if a["keep"] else ""
        shape = vals[0].shape
        form = a["form"] if not style.chance(40) else style.rng.choice(["arg", "indices", "pair"])
        if form == "arg":
            return f"tl.arg{a['how']}({x}, {axis}{keep})"
        if form == "indices":
            return f"tl.{a['how']}({x}, {axis}, return_indices=True{keep})[1]"
        index = f"tl.broadcast_to({index_of(shape, axis)}, {list(shape)})"
        fn = style.helper("better" if a["how"] == "max" else "least")
        return f"tl.reduce(({x}, {index}), {axis}, {fn}{keep})[1]"


@op("scan", 2.5)
class Scan(Op):
    def make(self, g):
        x = g.block()
        return [x], {"how": g.choice(["cumsum", "cumsum", "cumprod", "plus", "larger", "last", "compose"]), "axis": g.below(len(x[1].shape)), "reverse": g.chance(35)}

    def infer(self, scope, args, a):
        x, how = args[0], a["how"]
        d, shape, f = x.dtype, x.shape, x.facts
        need(shape and a["axis"] < len(shape) and d not in FP8)
        n = shape[a["axis"]]
        if how == "last":
            return [x]
        if how == "cumsum":
            to = U32 if d is I1 else F32 if d.name == "bf16" else widened(d)
            return [Val(to, shape, sum_facts(to, f, n))]
        need(d is not I1)
        if how == "plus":
            return [Val(d, shape, sum_facts(d, f, n))]
        if how == "larger":
            need(not wild(f) and d.name != "bf16")
            return [x]
        need(d.is_int and (how != "cumprod" or d.bits >= 32))
        return [Val(d, shape, known_int(d))]

    def text(self, style, names, a, vals):
        x, axis, reverse = names[0], a["axis"], a["reverse"]
        turned = vals[0].dtype is not I1 and style.chance(35)  # the other way, of a block that is turned round
        more = ", reverse=True" if reverse != turned else ""
        x = f"tl.flip({x}, {axis})" if turned else x
        if a["how"].startswith("cum"):
            scan = f"tl.{a['how']}({x}, {axis}{more})"
        elif a["how"] == "compose":
            scan = f"tl.associative_scan(({x}, {x} + 1), {axis}, {style.helper('compose')}{more})[1]"
        else:
            scan = f"tl.associative_scan({x}, {axis}, {style.helper(a['how'])}{more})"
        return f"tl.flip({scan}, {axis})" if turned else scan


@op("sort", 1.2)
class Sort(Op):
    def make(self, g):
        x = g.block()
        return [x], {"down": g.chance(40), "k": None if g.chance(60) else g.choice([1, 2, 4, 8])}

    def infer(self, scope, args, a):
        x, k = args[0], a["k"]
        need(x.shape and x.dtype is not I1 and not wild(x.facts))
        need(k is None or k <= x.shape[-1])
        return [x if k is None else x._replace(shape=x.shape[:-1] + (k,))]

    def text(self, style, names, a, vals):
        down, last = a["down"], len(vals[0].shape) - 1
        if a["k"] is not None:
            return f"tl.topk({names[0]}, {a['k']}, descending={down})"
        if style.chance(40):
            return f"tl.flip(tl.sort({names[0]}, descending={not down}), {last})"
        return f"tl.sort({names[0]}, descending={down})"


@op("histogram", 0.8)
class Histogram(Op):
    def make(self, g):
        x = g.value(g.choice([I32, U32, DTYPES["u8"], DTYPES["i64"]]), (g.extent() * g.choice([1, 4]),))
        return [x] + ([g.value(I1, g.shape_of(x))] if g.chance(40) else []), {"k": g.choice([1, 2, 8, 16, 64])}

    def infer(self, scope, args, a):
        x = args[0]
        need(x.dtype.is_int and len(x.shape) == 1 and (len(args) == 1 or args[1].dtype is I1 and args[1].shape == x.shape))
        return [Val(I32, (a["k"],), known_int(I32, x.shape[0]))]

    def text(self, style, names, a, vals):
        return f"tl.histogram({names[0]} & {a['k'] - 1}, {a['k']}{', mask=' + names[1] if len(names) > 1 else ''})"


@op("gather", 1)
class Gather(Op):
    def make(self, g):
        x = g.block()
        return [x, g.value(I32, x[1].shape)], {"axis": g.below(len(x[1].shape))}

    def infer(self, scope, args, a):
        x, i = args
        need(x.shape and len(i.shape) == len(x.shape) and a["axis"] < len(x.shape) and i.dtype is I32)
        need(all(m == n for d, (m, n) in enumerate(zip(x.shape, i.shape)) if d != a["axis"]))
        return [x._replace(shape=i.shape)]

    def text(self, style, names, a, vals):
        n = vals[0].shape[a["axis"]]
        return f"tl.gather({names[0]}, ({names[1]}.to(tl.uint32) % {n}).to(tl.int32), {a['axis']})"


@op("dot", 3)
class Dot(Op):
    def make(self, g):
        d = g.choice([DTYPES[n] for n in ("fp16", "fp16", "bf16", "fp32", "fp32", "i8", "i8", "fp8e5", "fp8e4nv", "fp64")])
        m, n, k = (g.dot_extent() for _ in range(3))
        batch = (g.choice([1, 2, 3]),) if g.chance(12) else ()
        b = g.choice(FP8) if d in FP8 else d
        attrs = {"precision": g.choice(["ieee", "tf32", "tf32", "tf32x3", "bf16x3", "bf16x6"])}
        if d in FP8 + [DTYPES["fp16"]] and g.chance(20):
            attrs["out"] = "fp16"
        args = [g.factor(d, batch + (m, k)), g.factor(b, batch + (k, n))]
        if g.chance(40):
            args.append(g.value(dots.out_of(d, b, attrs), batch + (m, n)))
        return args, attrs

    def infer(self, scope, args, a):
        return [dots.product(scope.kernel, args[0], args[1], args[2] if len(args) > 2 else None, a)]

    def text(self, style, names, a, vals):
        more = f', input_precision="{a["precision"]}"' if vals[0].dtype is F32 else ""
        more += ", out_dtype=tl.float16" if "out" in a else ""
        rank = len(vals[0].shape)
        turn = list(range(rank - 2)) + [rank - 1, rank - 2]
        turned = [f"tl.trans({x}, {turn})" for x in names]
        if style.chance(30):
            call = f"tl.dot({turned[1]}, {turned[0]}{', ' + turned[2] if len(names) > 2 else ''}{more})"
            return f"tl.trans({call}, {turn})"
        return f"tl.dot({', '.join(names)}{more})"


SCALED = {"fp8e4nv": "e4m3", "fp8e5": "e5m2", "bf16": "bf16", "fp16": "fp16"}


@op("dot_scaled", 0.4)
class DotScaled(Op):
    """With scales from 1/2 to 4."""

    def make(self, g):
        a, b = (g.choice([DTYPES[n] for n in SCALED]) for _ in range(2))
        m, n, k = g.dot_extent(), g.dot_extent(), g.choice([32, 64])
        u8 = DTYPES["u8"]
        return [g.factor(a, (m, k)), g.value(u8, (m, k // 32)), g.factor(b, (k, n)), g.value(u8, (n, k // 32))], {}

    def infer(self, scope, args, a):
        x, s, y, t = args
        k = x.shape[-1]
        need(x.dtype.name in SCALED and y.dtype.name in SCALED and s.dtype is t.dtype is DTYPES["u8"] and k % 32 == 0)
        need(s.shape == (x.shape[0], k // 32) and y.shape[0] == k and t.shape == (y.shape[1], k // 32))
        need(all(exact(v) and v.facts.grain is not None and v.facts.mag <= 16 and v.facts.grain >= -1 for v in (x, y)))
        mag, grain = 16 * k * x.facts.mag * y.facts.mag, x.facts.grain + y.facts.grain - 2
        need(held(F32, mag, grain))
        return [Val(F32, (x.shape[0], y.shape[1]), Facts(mag, grain, 0.0))]

    def text(self, style, names, a, vals):
        x, s, y, t = names
        return (f'tl.dot_scaled({x}, ({s} & 3) + 126, "{SCALED[vals[0].dtype.name]}", {y}, ({t} & 3) + 126, '
                f'"{SCALED[vals[2].dtype.name]}")')
