"""Runs a kernel several ways and compares: each is a command that a person can repeat."""
import os
import random
import re
import subprocess

import kernel as kernels
from ops import OPS

ARCHS = ("sm_75", "sm_80", "sm_90a")
PASSES = ("fold", "cse", "licm", "ifconv", "dce", "mask")
# What does not fit into a chip: neither the kernel nor the compiler is at fault.
LIMITS = re.compile(r"bytes of shared memory, .* has \d+ for a program")
SECONDS = 60


class Way:
    """How a kernel is run. style: the number of another way to write it, None as it is; but nodes named in plain are written as they are."""

    def __init__(self, device, arch=None, warps=None, passes=None, style=None, plain=frozenset()):
        self.device, self.arch, self.warps, self.passes, self.style, self.plain = device, arch, warps, passes, style, plain

    def replaced(self, **changes):
        return Way(**{**vars(self), **changes})

    def options(self):
        out = ["-device", self.device]
        out += [f"-arch={self.arch}"] if self.arch else []
        out += [f"-num-warps={self.warps}"] if self.warps else []
        return out + ([f"-passes={self.passes}"] if self.passes else [])

    def __str__(self):
        return " ".join(self.options()) + ("" if self.style is None else f", written another way ({self.style})")


def some_passes(rng, lowers):
    """Transformations in any order; what code for a GPU needs is behind them, with others in between now and then."""
    def some(most):
        return [rng.choice(PASSES) for _ in range(rng.randrange(most + 1))]
    if not lowers and rng.randrange(3):
        return ",".join(some(2) + ["desc"] + some(3) + [rng.choice(PASSES)])
    return ",".join(some(1) + ["desc"] + some(3) + ["layout"] + (some(1) if rng.randrange(4) == 0 else []) + ["expand"] + (["place", "sync"] if lowers else []))


def ways(number, devices):
    """The ways to compare with the plain run on cpu."""
    rng = random.Random(number * 7 + 1)

    def style():
        return rng.randrange(1 << 30)
    yield Way("cpu", passes=some_passes(rng, False), warps=rng.choice([1, 2, 4, 8]), style=style())
    for device in devices:
        for number in (None, style()):
            arch = rng.choice(ARCHS) if device == "simt" else None
            passes = some_passes(rng, True) if device != "cpu" and rng.randrange(4) == 0 else None
            yield Way(device, arch, rng.choice([1, 2, 4, 4, 8, 16]), passes, number)


class Problem(Exception):
    def __init__(self, kind, way, said, command):
        super().__init__(kind)
        self.kind, self.way, self.said, self.command = kind, way, said, command


def arguments(kernel, way):
    """Behind `tkc -run FILE`."""
    contract = [] if kernel.contract else ["-ffp-contract=off"]
    arrays = [a.argument() for a in kernel.arrays + kernel.written()]
    grid = 1 if kernels.is_merged(way.style) else kernel.programs
    limit = ["-timeout", "20"] if way.device != "cuda" else []
    return [*way.options(), *contract, *limit, "-grid", str(grid), *arrays, f"n={kernels.TRIPS}"]


def tolerances(kernel):
    """Of each array that the kernel writes."""
    vals = kernels.infer(kernel, OPS).vals
    return {n.attrs["array"]: vals[n.args[0]].facts.err if n.op == "store" else 0.0 for n in kernels.walk(kernel.nodes) if "kind" in n.attrs}


def saves(kernel, folder):
    return [w for a in kernel.written() for w in ("-save", f"{a.name}={folder}/{a.name}.npy")]


def checks(kernel, folder):
    return [w for name, err in tolerances(kernel).items() for w in ("-check", f"{name}={folder}/{name}.npy,rtol=0,atol={err!r}")]


def errors_of(said):
    """Without the warnings: what is never used is no news here."""
    lines, keep = [], True
    for line in said.splitlines():
        if re.match(r"\S+: (warning|error|note): |tkc: ", line):
            keep = ": warning: " not in line
        if keep:
            lines.append(line)
    return "\n".join(lines)


class Runner:
    def __init__(self, tkc, folder):
        self.tkc, self.folder = tkc, folder
        os.makedirs(folder, exist_ok=True)

    def command(self, kernel, way, source):
        path = os.path.join(self.folder, source)
        with open(path, "w") as file:
            file.write(kernels.text(kernel, OPS, [(way.style, way.plain)]))
        return [self.tkc, "-run", path, "-verify-each", *arguments(kernel, way)]

    def execute(self, command, way):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, errors="replace")
        except subprocess.TimeoutExpired:
            raise Problem("hangs", way, f"no end after {SECONDS} s", command) from None
        if done.returncode == 0:
            return
        said = errors_of(done.stderr)
        if LIMITS.search(said):
            raise Problem("limit", way, said, command)
        kind = "differs" if " differs from " in said else "fails" if done.returncode == 1 else "crashes"
        raise Problem(kind, way, said, command)

    def reference(self, kernel):
        way = Way("cpu")
        self.execute(self.command(kernel, way, "k.tk") + saves(kernel, self.folder), way)

    def compare(self, kernel, way):
        """Problem, if this way gives anything else than the reference."""
        self.execute(self.command(kernel, way, "k.tk" if way.style is None else "other.tk") + checks(kernel, self.folder), way)

    def try_all(self, kernel, ways):
        """How many comparisons held, and how many a limit prevented; Problem at the first other."""
        held = limited = 0
        self.reference(kernel)
        for way in ways:
            try:
                self.compare(kernel, way)
                held += 1
            except Problem as problem:
                if problem.kind != "limit":
                    raise
                limited += 1
        return held, limited


def test_text(kernel, way, problem):
    """A lit test of a reduced kernel: the reference, then what gave something else."""
    way = way or Way("cpu")
    styles = [(None, ())] + ([(way.style, way.plain)] if way.style is not None else [])
    names = ["-k k"] + (["-k k2"] if way.style is not None else [])
    run = lambda w, name, more: " ".join(["# RUN: tkc -run %s", name, *(f'"{a}"' if "(" in a else a for a in arguments(kernel, w)), *more])
    lines = ["# " + " ".join(problem.said.split())[:400], "# RUN: rm -rf %t && mkdir %t",
             run(Way("cpu"), names[0], saves(kernel, "%t")), run(way, names[-1], checks(kernel, "%t"))]
    return "\n".join(lines) + "\n" + kernels.text(kernel, OPS, styles)
