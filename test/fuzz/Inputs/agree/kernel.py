"""A random kernel as a tree: nodes in order, loops and branches with nodes inside. Names are given once; what a loop carries or a branch
chooses is a name that `next` nodes at the end of its bodies assign.

`infer` goes through a kernel once, gives every name its type, shape and facts, and rejects what is not well-defined; whoever makes or changes
a kernel asks it. `text` writes the kernel down, in one of many ways that mean the same (Style)."""
import random
import re

from values import I1, I32, Facts, Reject, Val, coarser, either, exact, held, known_int, need, numel, rounded, unit, wild

TRIPS = 3  # the value of the run-time parameter n


class Node:
    def __init__(self, op, args=(), attrs=None, results=(), bodies=()):
        self.op, self.args, self.attrs = op, list(args), dict(attrs or {})
        self.results, self.bodies = list(results), [list(b) for b in bodies]

    def copy(self):
        return Node(self.op, self.args, self.attrs, self.results, [[n.copy() for n in b] for b in self.bodies])


class Array:
    """An argument: what is in it before the launch (KIND of the command's KIND:TYPE[COUNT])."""

    def __init__(self, name, dtype, kind, count):
        self.name, self.dtype, self.kind, self.count = name, dtype, kind, count

    def facts(self):
        d = self.dtype
        if not d.is_float:
            most = {"zeros": 0, "ones": 1, "arange": self.count, "randn": 9, "rand": 127 if d.bits <= 8 else 999}[self.kind]
            return known_int(d, 1 if d is I1 else most)
        return {"zeros": Facts(0.0, 0, 0.0), "ones": Facts(1.0, 0, 0.0), "rand": Facts(1.0, -d.precision, 0.0),
                "randn": Facts(9.0, d.low, 0.0), "arange": Facts(min(d.mag, float(self.count)), 0, 0.0)}[self.kind]

    def argument(self):
        return f"{self.name}={self.kind}:{self.dtype}[{self.count}]"


class Kernel:
    def __init__(self):
        self.arrays, self.nodes = [], []  # what is read; stores and atomics have arrays of their own in their attrs
        self.programs, self.contract = 1, False

    def copy(self):
        k = Kernel()
        k.arrays, k.programs, k.contract = self.arrays, self.programs, self.contract
        k.nodes = [n.copy() for n in self.nodes]
        return k

    def array(self, name):
        return next(a for a in self.arrays if a.name == name)

    def written(self):
        """Arrays that the kernel changes, in order."""
        return [Array(n.attrs["array"], n.attrs["dtype"], n.attrs["kind"], n.attrs["count"])
                for n in walk(self.nodes) if "kind" in n.attrs]


def name_of(node):
    """What a node is called in a kernel: something that it alone defines, writes or assigns."""
    return (node.results or [node.attrs.get("array") or node.attrs.get("target") or node.attrs.get("index", "if")])[0] + ("=" if node.op == "next" else "")


def walk(nodes):
    for n in nodes:
        yield n
        for body in n.bodies:
            yield from walk(body)


# ---- facts ----

class Scope:
    """What is known where: `vals` of every name there is, `seen` those that may be used here."""

    def __init__(self, kernel, ops):
        self.kernel, self.ops, self.vals = kernel, ops, {}
        self.seen, self.trips = [{}], 1
        for name, most in (("pid", kernel.programs), ("n", TRIPS)):
            self.define(name, Val(I32, (), known_int(I32, most)))

    def define(self, name, val):
        self.vals[name] = val
        self.seen[-1][name] = True

    def define_all(self, names, vals):
        for name, val in zip(names, vals):
            self.define(name, val)

    def visible(self):
        return [name for layer in self.seen for name in layer]

    def get(self, name):
        need(any(name in layer for layer in self.seen))
        return self.vals[name]

    def add(self, node):
        """Defines the node's results; Reject, and nothing has changed, if it may not stand here."""
        depth, trips = len(self.seen), self.trips
        try:
            self.add_any(node)
        except Reject:
            del self.seen[depth:]
            self.trips = trips
            raise

    def add_any(self, node):
        if node.op == "for":
            return self.add_loop(node)
        if node.op == "if":
            return self.add_branch(node)
        need(node.op != "next")
        vals = self.ops[node.op].infer(self, [self.get(a) for a in node.args], node.attrs)
        need(all(len(v.shape) <= 5 and numel(v.shape) <= 8192 for v in vals))
        self.define_all(node.results, vals)

    def add_all(self, body):
        """The nodes of a body, and what its `next` nodes say: target -> (how, operands)."""
        self.seen.append({})
        nexts = {}
        for node in body:
            if node.op == "next":
                nexts[node.attrs["target"]] = node.attrs["how"], [self.get(a) for a in node.args]
            else:
                self.add(node)
        self.seen.pop()
        return nexts

    def add_loop(self, node):
        trips, inits = node.attrs["trips"], [self.get(a) for a in node.args]
        hows = {n.attrs["target"]: n.attrs["how"] for n in node.bodies[0] if n.op == "next"}
        need(set(hows) == set(node.results))
        self.seen.append({})
        need(len(inits) == len(node.results) + (node.attrs["form"] == "data"))
        need(node.attrs["form"] != "data" or inits[-1].dtype is I32 and inits[-1].shape == ())
        self.define(node.attrs["index"], Val(I32, (), known_int(I32, 2 * trips)))
        for name, init in zip(node.results, inits):
            if hows[name] == "set":  # anything, but the same everywhere
                need(exact(init))
                self.define(name, anything(init))
        self.trips *= trips
        nexts = self.add_all(node.bodies[0])
        self.trips //= trips
        self.seen.pop()
        after = [carry(self.kernel, init, *nexts[name], trips) for name, init in zip(node.results, inits)]
        self.define_all(node.results, after)

    def add_branch(self, node):
        condition = self.get(node.args[0])
        need(condition.dtype is I1 and condition.shape == ())
        nexts = [self.add_all(b) for b in node.bodies]
        after = []
        for name in node.results:
            need(all(name in n and n[name][0] == "set" for n in nexts))
            (a,), (b,) = (n[name][1] for n in nexts)
            need(a.dtype is b.dtype and a.shape == b.shape)
            after.append(a._replace(facts=either(a.facts, b.facts)))
        self.define_all(node.results, after)


def anything(v):
    """Of a value's type and shape: what a loop may make of it."""
    return v._replace(facts=Facts(float("inf"), None, 0.0) if v.dtype.is_float else known_int(v.dtype))


def carry(kernel, init, how, operands, trips):
    """What a loop leaves in a name that it starts with init."""
    d, a = init.dtype, init.facts
    if how == "dot":
        from dots import product
        total = product(kernel, *operands, init, {"precision": "tf32"}, trips)
        need(total.dtype is d and total.shape == init.shape)
        return total
    (x,) = operands
    need(x.dtype is d and x.shape == init.shape)
    if how == "set":
        need(exact(x))
        return anything(init)
    if how == "max" or not d.is_float:
        need(how != "max" or not wild(a) and not wild(x.facts))
        return Val(d, init.shape, either(a, x.facts) if d.is_float else known_int(d))
    b = x.facts  # a sum, one addition a turn
    mag, grain, err = a.mag + trips * b.mag, coarser(a.grain, b.grain), a.err + trips * b.err
    if held(d, mag, grain):
        return Val(d, init.shape, Facts(mag, grain, err))
    mag *= (1 + 2.0**-d.precision)**trips
    return Val(d, init.shape, rounded(d, mag, None, err + trips * unit(d, mag) if err else 0.0))


def infer(kernel, ops):
    scope = Scope(kernel, ops)
    for node in kernel.nodes:
        scope.add(node)
    return scope


# ---- text ----

HELPERS = {
    "plus": "def plus(x, y):\n    return x + y\n",
    "larger": "def larger(x, y):\n    return tl.maximum(x, y)\n",
    "last": "def last(x, y):\n    return y\n",
    "compose": "def compose(a, b, c, d):\n    return a * c, b * c + d\n",
    "better": "def better(x, i, y, j):\n    left = (x > y) | ((x == y) & (i < j))\n    return tl.where(left, x, y), tl.where(left, i, j)\n",
    "least": "def least(x, i, y, j):\n    left = (x < y) | ((x == y) & (i < j))\n    return tl.where(left, x, y), tl.where(left, i, j)\n",
}


class Style:
    """How a kernel is written: as it is, or, by a number, with operands exchanged, detours that change nothing, branches the other way
    round, loops of another kind, and expressions in helpers. How a node is written depends on the number and on what it defines alone, so
    that a smaller kernel is written the same way; nodes that define something of `plain` are written as they are."""

    def __init__(self, vals, number=None, plain=(), name="k"):
        self.vals, self.number, self.plain, self.name = vals, number, plain, name
        self.rng, self.lines, self.depth = None, [], 1
        self.helpers, self.made = [], 0

    def enter(self, node):
        key = name_of(node)
        self.rng = None if self.number is None or key in self.plain else random.Random(f"{self.number} {key}")

    def chance(self, percent):
        return self.rng is not None and self.rng.randrange(100) < percent

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def helper(self, name):
        text = HELPERS[name]
        if text not in self.helpers:
            self.helpers.append(text)
        return name

    def swap(self, a, b):
        return (b, a) if self.chance(50) else (a, b)

    def use(self, name):
        """An operand."""
        shape = self.vals[name].shape if name in self.vals else ()
        return self.detour(name, shape) if shape and self.chance(8) else name

    def detour(self, name, shape):
        rank, rng = len(shape), self.rng
        perm = rng.sample(range(rank), rank)
        back = [perm.index(d) for d in range(rank)]
        ways = [f"tl.reshape(tl.reshape({name}, [{numel(shape)}]), {list(shape)})",
                f"tl.trans(tl.trans({name}, {perm}), {back})",
                f"tl.split(tl.join({name}, {name}))[{rng.randrange(2)}]",
                f"tl.reshape({name}[{', '.join([':'] * rank)}, None], {list(shape)})",
                f"tl.where(tl.full({list(shape)}, {rng.randrange(2)}, tl.int1), {name}, {name})"]
        if self.vals[name].dtype is not I1:
            axis = rng.randrange(rank)
            ways.append(f"tl.flip(tl.flip({name}, {axis}), {axis})")
        return rng.choice(ways if rank > 1 else ways[:1] + ways[2:])

    def call(self, expression):
        """The expression, or a call of a helper that makes it."""
        names = list(dict.fromkeys(re.findall(r"\b(?:[a-z]\d+|pid|n)\b", expression)))
        if not names or not self.chance(6):
            return expression
        self.made += 1
        name = f"{self.name}_{self.made}"
        self.helpers.append(f"def {name}({', '.join(names)}):\n    return {expression}\n")
        return f"{name}({', '.join(names)})"


def put(style, ops, nodes):
    for node in nodes:
        style.enter(node)
        if node.op == "for":
            put_loop(style, ops, node)
        elif node.op == "if":
            put_branch(style, ops, node)
        elif node.op == "next":
            put_next(style, node)
        else:
            ops[node.op].put(style, node)


def put_next(style, node):
    name, how, args = node.attrs["target"], node.attrs["how"], [style.use(a) for a in node.args]
    style.line({"set": "{n} = {0}", "add": "{n} += {0}", "max": "{n} = tl.maximum({n}, {0})", "dot": "{n} = tl.dot({0}, {1}, {n})"}[how]
               .format(*args, n=name))


def put_loop(style, ops, node):
    form, trips, i = node.attrs["form"], node.attrs["trips"], node.attrs["index"]
    if form != "data" and style.chance(30):
        form = style.rng.choice(["literal", "static", "while"])
    for name, init in zip(node.results, node.args):
        style.line(f"{name} = {style.use(init)}")
    head = {"literal": f"for {i} in range({trips}):", "static": f"for {i} in tl.static_range({trips}):",
            "runtime": f"for {i} in range(n{trips - TRIPS:+d}):", "while": f"while {i} < n{trips - TRIPS:+d}:",
            "data": f"for {i} in range({node.args[-1]} & {trips}):"}[form]
    if form == "while":
        style.line(f"{i} = n - {TRIPS}")
    style.line(head)
    style.depth += 1
    put(style, ops, node.bodies[0])
    if form == "while":
        style.line(f"{i} += 1")
    elif not node.bodies[0]:
        style.line("pass")
    style.depth -= 1


def put_branch(style, ops, node):
    then, other = node.bodies
    condition = style.use(node.args[0])
    if style.chance(40):
        then, other, condition = other, then, f"not {condition}"
    style.line(f"if {condition}:")
    style.depth += 1
    put(style, ops, then)
    if not then:
        style.line("pass")
    style.depth -= 1
    if other:
        style.line("else:")
        style.depth += 1
        put(style, ops, other)
        style.depth -= 1


def is_merged(number):
    """Whether this style makes one program do the work of all, in a loop."""
    return number is not None and number % 4 == 0


def text(kernel, ops, styles=((None, ()),)):
    """The kernel in each of the styles (number, plain): a file with the functions k, k2, …"""
    vals = infer(kernel, ops).vals
    params = ", ".join([f"{a.name}: '*{a.dtype}'" for a in kernel.arrays + kernel.written()] + ["n: 'i32'"])
    functions = []
    for i, (number, plain) in enumerate(styles):
        style = Style(vals, number, plain, f"k{i + 1 if i else ''}")
        style.line(f"for pid in range({kernel.programs}):" if is_merged(number) else "pid = tl.program_id(0)")
        style.depth += is_merged(number)
        put(style, ops, kernel.nodes)
        functions += style.helpers + [f"def {style.name}({params}):\n" + "\n".join(style.lines) + "\n"]
    return "import triton\nimport triton.language as tl\n" + "".join(f"\n\n@triton.jit\n{f}" for f in dict.fromkeys(functions))
