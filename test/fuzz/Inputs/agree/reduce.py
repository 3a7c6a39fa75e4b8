"""Shrinks a kernel that shows a problem, as long as it shows a problem of the same kind in the same way: fewer results, operations replaced by
one of their operands or by a constant, loops and branches opened, smaller extents, plainer accesses, a plainer way to run it."""
import time

import kernel as kernels
from kernel import Node, walk
from ops import OPS
from run import PASSES, Problem
from values import Reject


def shows(runner, kernel, way, kind):
    try:
        kernels.infer(kernel, OPS)
        runner.reference(kernel)
    except Reject:
        return False
    except Problem as problem:
        return way is None and problem.kind == kind
    if way is None:
        return False
    try:
        runner.compare(kernel, way)
    except Problem as problem:
        return problem.kind == kind
    return False


def without_dead(kernel):
    """Without what no store or atomic needs."""
    k = kernel.copy()
    while True:
        used = {a for n in walk(k.nodes) for a in n.args} | {n.attrs["target"] for n in walk(k.nodes) if n.op == "next"}
        used_before = len(list(walk(k.nodes)))
        k.nodes = clean(k.nodes, used)
        if len(list(walk(k.nodes))) == used_before:
            break
    arrays = {n.attrs.get("array") for n in walk(k.nodes)}
    k.arrays = [a for a in k.arrays if a.name in arrays]
    return k


def clean(nodes, used):
    out = []
    for n in nodes:
        n.bodies = [clean(b, used) for b in n.bodies]
        holds_effect = any("kind" in m.attrs for m in walk([n]))
        if n.op == "next" or holds_effect or any(r in used for r in n.results):
            out.append(n)
    return out


def renamed(kernel, names):
    """Other operands, by name."""
    k = kernel.copy()
    for n in walk(k.nodes):
        n.args = [names.get(a, a) for a in n.args]
    return k


def edit(nodes, target, make):
    """Nodes in which `make` has replaced one (found by what it is called) by a list."""
    out = []
    for n in nodes:
        if kernels.name_of(n) == target:
            out += make(n)
        else:
            n.bodies = [edit(b, target, make) for b in n.bodies]
            out.append(n)
    return out


def edited(kernel, target, make):
    k = kernel.copy()
    k.nodes = edit(k.nodes, target, make)
    return k


def fewer_outputs(kernel):
    names = [kernels.name_of(n) for n in walk(kernel.nodes) if "kind" in n.attrs]
    for keep in names:
        k = kernel
        for name in names:
            k = k if name == keep else edited(k, name, lambda n: [])
        yield k
    for name in names:
        yield edited(kernel, name, lambda n: [])


def shorter(kernel):
    """Each operation away: its uses get an operand of the same type, or a constant."""
    vals = kernels.infer(kernel, OPS).vals
    for node in reversed(list(walk(kernel.nodes))):
        if not node.results or node.op in ("for", "if", "full"):
            continue
        for arg in node.args:
            if all(vals[arg].dtype is vals[r].dtype and vals[arg].shape == vals[r].shape for r in node.results):
                yield renamed(edited(kernel, node.results[0], lambda n: []), {r: arg for r in node.results})
        if node.args or node.op != "load":
            value = 1.0 if vals[node.results[0]].dtype.is_float else 1
            full = [Node("full", [], {"shape": vals[r].shape, "dtype": vals[r].dtype, "value": value}, [r]) for r in node.results]
            yield edited(kernel, node.results[0], lambda n, full=full: full)


def opened(kernel):
    for node in list(walk(kernel.nodes)):
        name = kernels.name_of(node)
        if node.op == "for":
            yield renamed(edited(kernel, name, lambda n: []), dict(zip(node.results, node.args)))
            if all(n.attrs["how"] == "set" for n in node.bodies[0] if n.op == "next"):
                yield inlined(kernel, node, 0, dict(zip(node.results, node.args)), {node.attrs["index"]: "pid"})
            for i, result in enumerate(node.results):
                yield renamed(edited(kernel, name, lambda n, i=i: [without_carried(n, i)]), {result: node.args[i]})
            if node.attrs["trips"] > 1:
                yield edited(kernel, name, lambda n: [Node(n.op, n.args, {**n.attrs, "trips": n.attrs["trips"] - 1}, n.results, n.bodies)])
        elif node.op == "if":
            yield inlined(kernel, node, 0, {}, {})
            yield inlined(kernel, node, 1, {}, {})


def without_carried(node, i):
    name = node.results[i]
    return Node(node.op, node.args[:i] + node.args[i + 1:], node.attrs, node.results[:i] + node.results[i + 1:],
                [[m for m in b if m.attrs.get("target") != name] for b in node.bodies])


def inlined(kernel, node, arm, before, index):
    """A body in place of its loop or branch. What was carried is its first value inside, and its last behind."""
    body = [n.copy() for n in node.bodies[arm]]
    after = {n.attrs["target"]: before.get(n.args[0], n.args[0]) for n in body if n.op == "next"}
    inside = {**before, **index}
    for n in walk(body):
        n.args = [inside.get(a, a) for a in n.args]
    body = [n for n in body if n.op != "next"]
    inner = {id(m) for m in walk(body)}
    k = edited(kernel, kernels.name_of(node), lambda n: body)
    for n in walk(k.nodes):
        if id(n) not in inner:
            n.args = [after.get(a, a) for a in n.args]
    return k


PLAIN = {"modifier": "", "mask": None, "bound": None, "other": None, "start": 0, "step": 0, "form": "plain", "reverse": (), "keep": False, "out": None, "k": None}


def plainer(kernel):
    """Attributes of accesses and the like at their simplest."""
    for node in list(walk(kernel.nodes)):
        for key, simple in PLAIN.items():
            if key == "bound" and node.attrs.get("mask") == "bound" or key == "form" and node.op not in ("load", "store") or key == "k" and node.op != "sort":
                continue
            if key in node.attrs and node.attrs[key] != simple:
                k = kernel.copy()
                for n in walk(k.nodes):
                    if kernels.name_of(n) == kernels.name_of(node):
                        n.attrs[key] = simple
                        if key == "mask":
                            n.args = []
                yield k
    k = kernel.copy()
    k.programs = 1
    yield k
    k = kernel.copy()
    k.contract = False
    yield k


def smaller(kernel):
    """One extent less, wherever it stands."""
    extents = sorted({e for n in walk(kernel.nodes) for e in n.attrs.get("shape", ())}, reverse=True)
    for e in extents:
        for to in (1, 2, 4, 8, 16, 32, e // 2):
            if 0 < to < e:
                k = kernel.copy()
                for n in walk(k.nodes):
                    resize(n, e, to)
                yield k


def resize(node, e, to):
    a = node.attrs
    if "shape" in a:
        dense = lambda shape: tuple(int(kernels.numel(shape[d + 1:])) for d in range(len(shape)))
        was_dense = a.get("strides") == dense(a["shape"])
        a["shape"] = tuple(to if n == e else n for n in a["shape"])
        if was_dense:
            a["strides"] = dense(a["shape"])
    if a.get("k") == e and node.op in ("expand", "sort"):
        a["k"] = to


def plainer_ways(kernel, way):
    if way.style is not None:
        yield way.replaced(style=None)
        names = [kernels.name_of(n) for n in walk(kernel.nodes) if kernels.name_of(n) not in way.plain]
        for name in names:
            yield way.replaced(plain=way.plain | {name})
    if way.passes:
        parts = way.passes.split(",")
        for i in range(len(parts)):
            if len(parts) > 1 and parts[i] in PASSES:
                yield way.replaced(passes=",".join(parts[:i] + parts[i + 1:]))
        yield way.replaced(passes=None)
    for warps in (1, 2, 4):
        if way.warps and warps < way.warps:
            yield way.replaced(warps=warps)
    if way.arch and way.arch != "sm_80":
        yield way.replaced(arch="sm_80")


def reduce(runner, kernel, way, kind, seconds=240):
    """A smaller kernel and a plainer way (None: the reference itself) that show the same kind of problem."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for changes in (fewer_outputs, opened, shorter, plainer, smaller):
            again = True
            while again and time.monotonic() < end:
                again = False
                for candidate in changes(kernel):
                    try:
                        candidate = without_dead(candidate)
                    except Reject:
                        continue
                    if time.monotonic() > end:
                        break
                    if size(candidate) < size(kernel) and shows(runner, candidate, way, kind):
                        kernel, again, progress = candidate, True, True
                        break
        if way is not None:
            for candidate in plainer_ways(kernel, way):
                if time.monotonic() < end and shows(runner, kernel, candidate, kind):
                    way, progress = candidate, True
                    break
    return kernel, way


def size(kernel):
    """Nodes first, then elements, then how plain it is."""
    nodes = list(walk(kernel.nodes))
    elements = sum(kernels.numel(n.attrs.get("shape", ())) + (n.attrs.get("k") or 0) + n.attrs.get("trips", 0) for n in nodes)
    ornate = sum(1 for n in nodes for key, simple in PLAIN.items() if key in n.attrs and n.attrs[key] != simple)
    leaves = sum(n.op not in ("full", "load") for n in nodes)
    return len(nodes), leaves, elements, ornate + kernel.programs + kernel.contract + sum(len(n.args) for n in nodes)
