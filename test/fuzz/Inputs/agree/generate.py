"""Makes kernels. One number decides everything about a kernel; what an operation may not take is tried again with other operands."""
import random

from kernel import Array, Kernel, Node, Scope, anything, infer, walk
from ops import OPS
from values import DTYPES, FP8, I1, I32, Reject, exact, need, numel

COUNT = 4096  # elements of an array that is read
SIZES = ([1, 2, 4, 8, 16, 32, 64, 128], [2, 16, 32, 64], [1, 3, 5, 13, 16, 32, 33])
MOST = 4096  # elements of a block


class Generator:
    def __init__(self, number):
        self.rng = random.Random(number)
        self.kernel, self.counter, self.loops = Kernel(), 0, []
        self.kernel.programs = self.choice([1, 2, 3])
        self.kernel.contract = self.chance(35)
        for i in range(self.choice([2, 3, 4])):
            d = self.choice(list(DTYPES.values()) + [DTYPES["fp16"], DTYPES["fp32"], I32, DTYPES["i8"]])
            kind = self.choice(["rand", "randn", "arange"]) if d is not I1 else "rand"
            self.kernel.arrays.append(Array(f"x{i}", d, kind, COUNT))
        self.types = [a.dtype for a in self.kernel.arrays] + [I32, I1, self.choice(list(DTYPES.values()))]
        sizes = self.choice(SIZES)
        self.weights = [o.weight * self.choice([0.2, 1, 1, 5]) for o in OPS.values()]  # each kernel has its favourites
        self.extents = [self.choice(sizes) for _ in range(3)]
        self.shapes = self.some_shapes()
        self.scope = Scope(self.kernel, OPS)
        self.body = self.kernel.nodes

    # what operations draw from

    def choice(self, items):
        return items[self.rng.randrange(len(items))]

    def below(self, n):
        return self.rng.randrange(n)

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def sample(self, items, n):
        return self.rng.sample(list(items), n)

    def some_shapes(self):
        a, b, c = self.extents
        shapes = [(a,), (b,), (a, b), (a, b), (b, a), (a, c), (a, b, c), (a * b,), (a, 1), (1, b)]
        return [s for s in shapes if numel(s) <= MOST] or [(a,)]

    def shape(self):
        return () if self.chance(8) else self.choice(self.shapes)

    def extent(self):
        return self.choice(self.extents)

    def dot_extent(self):
        return self.choice([16, 16, 32, 64, self.extent(), self.extent()])

    def dtype(self, among=tuple(DTYPES.values())):
        """One of these; rather one that the kernel has already."""
        return self.choice([d for d in self.types if d in among] if self.chance(85) and any(d in among for d in self.types) else among)

    def constant(self, d):
        if d is I1:
            return self.below(2)
        if d.is_float:
            return self.choice([0.0, 1.0, -1.5, 0.5, 3.0, 8.0])
        return self.choice([0, 1, 2, 5, 8, 31, 100, 127] + ([-1, -7] if d.kind == "i" else []))

    def array(self, d):
        return self.choice([a for a in self.kernel.arrays if d is None or a.dtype is d] or self.kernel.arrays)

    def new_array(self, letter):
        self.counter += 1
        return f"{letter}{self.counter}"

    def shape_of(self, x):
        return x[1].shape

    def known(self, pred):
        """A value that is there already, rather a late one."""
        found = [(name, self.scope.vals[name]) for name in self.scope.visible() if name[0] != "i" and pred(self.scope.vals[name])]
        need(found)
        return self.choice(found[-6:] if self.chance(60) else found)

    def any_value(self):
        return self.known(lambda v: True)

    def scalar(self):
        return self.known(lambda v: v.shape == ())

    def block(self, rank=1, even=False):
        return self.known(lambda v: len(v.shape) >= rank and (not even or v.shape[-1] % 2 == 0))

    def reshaped(self, shape):
        """Another shape of as many elements."""
        n, out = numel(shape), []
        for f in (2, 2, 2, 2, 2, 2, 2, 3, 3, 5, 7, 11, 13):
            if n % f == 0 and n > 1:
                if out and (self.chance(70) or len(out) == 3):
                    at = self.below(len(out))
                    out[at] *= f
                else:
                    out.insert(self.below(len(out) + 1), f)
                n //= f
        out.append(n) if n > 1 or not out else None
        return tuple(out)

    def factor(self, d, shape):
        """An operand of a product: mostly one whose products are exact."""
        if self.chance(60):
            return self.make(d, shape, "small" if d.is_float else None)
        return self.value(d, shape)

    def value(self, d, shape):
        """One of this type and shape: there already, a cast, a shape that fits, or a new one."""
        hows = self.sample(("cast", "fit", "new"), 3)
        hows.insert(0 if self.chance(75) else self.below(4), "same")
        for how in hows:
            try:
                if how == "same":
                    return self.known(lambda v: v.dtype is d and v.shape == shape)
                if how == "cast":
                    x = self.known(lambda v: v.dtype is not d and v.shape == shape)
                    return self.emit("cast", [x], {"dtype": d})
                if how == "fit" and shape:
                    return self.fit(d, shape)
                if how == "new":
                    return self.make(d, shape)
            except Reject:
                pass
        raise Reject

    def fit(self, d, shape):
        """Of a value with as many elements, or with one dim less."""
        if self.chance(50):
            x = self.known(lambda v: v.dtype is d and v.shape and v.shape != shape and numel(v.shape) == numel(shape))
            return self.emit("reshape", [x], {"shape": shape, "form": "tl.reshape({0}, {1})"})
        axis = self.below(len(shape))
        x = self.known(lambda v: v.dtype is d and v.shape and v.shape == shape[:axis] + shape[axis + 1:])
        return self.emit("expand", [x], {"axis": axis, "k": shape[axis]})

    def make(self, d, shape, how=None):
        """A new one, from memory if there is an array of the type, else small numbers, or a cast of what there is."""
        if d is I1:
            array = self.choice(self.kernel.arrays)
            args, attrs = OPS["load"].make(self, array.dtype, shape)
            x = self.emit("load", args, attrs)
            return self.emit("cast", [x], {"dtype": I1}) if x[1].dtype is not I1 else x
        if how != "small" and (any(a.dtype is d for a in self.kernel.arrays) or not d.is_float):
            args, attrs = OPS["load"].make(self, d, shape)
            x = self.emit("load", args, attrs)
            return x if x[1].dtype is d else self.emit("cast", [x], {"dtype": d})
        if d.is_float:
            ints = [a for a in self.kernel.arrays if a.dtype.is_int]
            args, attrs = OPS["load"].make(self, self.choice(ints).dtype if ints else I32, shape)
            x = self.emit("load", args, attrs)
            if x[1].dtype.is_int:
                return self.emit("small", [x], {"dtype": d, "most": self.choice([1, 3, 7])})
            return x if x[1].dtype is d else self.emit("cast", [x], {"dtype": d})
        raise Reject

    # nodes

    def emit(self, op, args, attrs):
        """Adds a node; its first result as (name, value), or None."""
        node = Node(op, [name for name, _ in args], attrs)
        vals = OPS[op].infer(self.scope, [self.scope.get(a) for a in node.args], attrs)
        need(all(numel(v.shape) <= MOST and len(v.shape) <= 4 for v in vals))
        for v in vals:
            self.counter += 1
            node.results.append(f"v{self.counter}")
        self.scope.add(node)
        self.body.append(node)
        return (node.results[0], vals[0]) if vals else None

    def step(self, depth):
        r = self.below(100)
        if depth and r < 5:
            return self.loop(depth)
        if depth and r < 10:
            return self.branch(depth)
        op = self.rng.choices(list(OPS), self.weights)[0]
        need(op != "index" or self.loops)
        made = OPS[op].make(self)
        self.emit(op, *made)

    def steps(self, n, depth):
        tries = 0
        while n > 0 and tries < 40 * n + 40:
            tries += 1
            try:
                self.step(depth)
                n -= 1
            except Reject:
                pass

    def inside(self, make):
        """Nodes of a body: what `make` emits, with names that are unknown behind it."""
        outer, self.body = self.body, []
        self.scope.seen.append({})
        try:
            make()
            return self.body
        finally:
            self.body = outer
            self.scope.seen.pop()

    def loop(self, depth):
        trips, form = self.choice([1, 2, 3, 4]), self.choice(["literal", "runtime", "runtime", "while", "data"])
        trips = 3 if form == "data" else trips
        bound = [self.value(I32, ())[0]] if form == "data" else []
        self.counter += 1
        node = Node("for", [], {"trips": trips, "form": form, "index": f"i{self.counter}"})
        hows = self.carried(node)
        node.args += bound
        self.scope.seen.append({})
        self.scope.define(node.attrs["index"], self.scope.vals["n"])
        self.loops.append((node.attrs["index"], self.scope.vals["n"]))
        for name, (how, init) in hows.items():
            if how == "set":
                self.scope.define(name, anything(init))
        self.scope.trips *= trips
        try:
            node.bodies = [self.inside(lambda: self.loop_body(node, hows, depth))]
        finally:
            self.scope.trips //= trips
            self.scope.seen.pop()
            self.loops.pop()
        self.scope.add(node)
        self.body.append(node)

    def carried(self, node):
        """What the loop carries: names that are assigned anew each turn, and sums, which nothing in the loop reads."""
        hows = {}
        for _ in range(self.choice([1, 1, 2, 3])):
            how = self.choice(["set", "set", "add", "max", "dot"])
            if how == "dot":
                init = self.value(DTYPES["fp32"], (self.choice([16, 32]), self.choice([16, 32])))
            else:
                init = self.known(lambda v: v.dtype not in FP8 and (how != "set" or exact(v)) and (how == "set" or v.dtype is not I1 and (v.dtype.bits >= 32 or how == "add" and v.dtype.is_float)))
            self.counter += 1
            name = f"v{self.counter}"
            node.args.append(init[0])
            node.results.append(name)
            hows[name] = how, init[1]
        return hows

    def loop_body(self, node, hows, depth):
        self.steps(1 + self.below(5), depth - 1)
        for name, (how, init) in hows.items():
            if how == "dot":
                k = self.choice([16, 32])
                d = self.choice([DTYPES["fp16"], DTYPES["fp32"], DTYPES["bf16"], DTYPES["fp8e5"]])
                args = [self.factor(d, (init.shape[0], k)), self.factor(d, (k, init.shape[1]))]
            else:
                args = [self.value(init.dtype, init.shape)]
            need(how != "set" or exact(args[0][1]))
            self.body.append(Node("next", [a[0] for a in args], {"target": name, "how": how}))

    def branch(self, depth):
        condition = self.value(I1, ())
        kinds = [self.any_value()[1] for _ in range(self.choice([1, 1, 2]))]
        names = []
        for _ in kinds:
            self.counter += 1
            names.append(f"v{self.counter}")
        node = Node("if", [condition[0]], {}, names)
        node.bodies = [self.inside(lambda: self.arm(names, kinds, depth)) for _ in range(2)]
        self.scope.add(node)
        self.body.append(node)

    def arm(self, names, kinds, depth):
        self.steps(self.below(4), depth - 1)
        for name, v in zip(names, kinds):
            self.body.append(Node("next", [self.value(v.dtype, v.shape)[0]], {"target": name, "how": "set"}))

    def stores(self):
        """Of all that nobody uses, and a few more."""
        used = {a for n in walk(self.kernel.nodes) for a in n.args}
        names = [n for n in self.scope.visible() if n[0] == "v"]
        for name in ([n for n in names if n not in used] or names[-2:])[-8:]:
            store(self, name, self.scope.vals[name])


def store(g, name, v):
    rank = len(v.shape)
    perm = tuple(g.sample(range(rank), rank) if g.chance(25) else range(rank))
    bound = (g.below(rank), g.choice([1, 3, 8, 17])) if rank and g.chance(20) else None
    reverse = (g.below(rank),) if rank and g.chance(10) else ()
    g.counter += 1
    g.kernel.nodes.append(Node("store", [name], {"array": f"o{g.counter}", "dtype": v.dtype, "kind": "zeros", "shape": v.shape, "perm": perm,
                                                 "count": numel(v.shape) * g.kernel.programs, "bound": bound, "reverse": reverse,
                                                 "form": "block" if rank == 2 and v.dtype is not I1 and g.chance(20) else "plain"}))


def generate(number):
    g = Generator(number)
    for _ in range(3):
        g.steps(1, 0)
    g.steps(g.choice([6, 10, 14, 20]), 2)
    g.stores()
    infer(g.kernel, OPS)
    return g.kernel
