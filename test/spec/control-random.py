# Random programs of branches, loops, returns and helpers leave in memory what Python leaves there.
# RUN: %python %s %build/tkc %t 60
"""Each program works on a few small integers; one program id is one input. The same text runs as Python, with stand-ins for tl."""
import random
import struct
import subprocess
import sys

COMMAND, PREFIX, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 0
NAMES = ["a", "b", "c", "d"]
PROGRAMS = 16


class Writer:
    """Writes one program. `known` are the names with a value on every path."""

    def __init__(self, rng):
        self.rng, self.lines, self.budget, self.fresh = rng, [], 30, 0

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def value(self, known):
        r = self.rng.random()
        if r < 0.35:
            return str(self.rng.randrange(20))
        if r < 0.8:
            return self.rng.choice(known)
        return f"({self.value(known)} {self.rng.choice('+-*&|^')} {self.value(known)})"

    def condition(self, known):
        one = f"{self.value(known)} {self.rng.choice(['<', '>', '==', '!=', '<=', '>='])} {self.rng.choice(known)}"
        r = self.rng.random()
        if r < 0.15:
            return f"{one} and {self.condition(known)}"
        if r < 0.3:
            return f"{one} or {self.condition(known)}"
        return f"not ({one})" if r < 0.4 else one

    def assign(self, depth, known, local):
        name = self.rng.choice(NAMES)
        form = self.rng.random()
        if form < 0.2:
            self.put(depth, f"{name} = {self.value(known)} if {self.condition(known)} else {self.value(known)} & 31")
        elif form < 0.35:
            self.put(depth, f"{name}, {self.rng.choice([n for n in NAMES if n != name])} = ({self.value(known)}) & 63, ({self.value(known)}) & 63")
        elif form < 0.5 and not local:
            self.put(depth, f"{name} = helper{self.rng.randrange(3)}({self.value(known)}, {self.value(known)}) & 63")
        elif form < 0.6:
            self.put(depth, f"{name} += {self.value(known)}")
            self.put(depth, f"{name} &= 63")
        else:
            self.put(depth, f"{name} = ({self.value(known)}) & 63")
        self.put(depth, f"{name} = {name} + 0")

    def block(self, depth, known, loop, local, result):
        """`loop`: "none", "run" (no way out) or "static" (break and continue where nothing is run-time between)."""
        for _ in range(self.rng.randrange(1, 4)):
            self.budget -= 1
            if self.budget < 0:
                break
            r = self.rng.random()
            if r < 0.4 or depth > 5:
                self.assign(depth, known, local)
            elif r < 0.65:
                self.branch(depth, known, loop, local, result)
            elif r < 0.73:
                self.counted(depth, known, local, result)
            elif r < 0.79:
                self.while_(depth, known, local, result)
            elif r < 0.87:
                self.unrolled(depth, known, loop, local, result)
            elif loop != "run":
                self.put(depth, f"if {self.condition(known)}:")
                self.put(depth + 1, result())
        self.put(depth, "a = a & 63")

    def branch(self, depth, known, loop, local, result):
        inner = loop if loop == "run" else "none" if loop == "none" else "fixed"
        self.put(depth, f"if {self.condition(known)}:")
        self.block(depth + 1, known, inner, local, result)
        while self.rng.random() < 0.3:
            self.put(depth, f"elif {self.condition(known)}:")
            self.block(depth + 1, known, inner, local, result)
        if self.rng.random() < 0.6:
            self.put(depth, "else:")
            self.block(depth + 1, known, inner, local, result)

    def name(self):
        self.fresh += 1
        return f"t{self.fresh}"

    def counted(self, depth, known, local, result):
        i = self.name()
        low, step = self.rng.randrange(3), self.rng.choice([1, 2, 3, -1])
        bounds = f"{low}, ({self.value(known)}) & 7, {step}" if step > 0 else f"({self.value(known)}) & 7, {low}, {step}"
        self.put(depth, f"for {i} in range({bounds}):")
        self.block(depth + 1, known + [i], "run", local, result)

    def while_(self, depth, known, local, result):
        n = self.name()
        self.put(depth, f"{n} = ({self.value(known)}) & 7")
        self.put(depth, f"while {n} > 0 and ({self.condition(known)}):")
        self.block(depth + 1, known + [n], "run", local, result)
        self.put(depth + 1, f"{n} = {n} - {self.rng.randrange(1, 3)}")

    def unrolled(self, depth, known, loop, local, result):
        i = self.name()
        self.put(depth, f"for {i} in tl.static_range({self.rng.randrange(4)}):")
        if self.rng.random() < 0.5:
            self.put(depth + 1, f"if {i} == {self.rng.randrange(4)}:")
            self.put(depth + 2, self.rng.choice(["break", "continue"]))
        self.block(depth + 1, known + [i], "run" if loop == "run" else "static", local, result)


def program(seed):
    w = Writer(random.Random(seed))
    for h in range(3):
        w.put(0, "@triton.jit")
        w.put(0, f"def helper{h}(a, b):")
        w.put(1, "c = a + 1")
        w.put(1, "d = b + 2")
        w.put(1, "a = a & 63")
        w.budget = 5
        w.block(1, NAMES, "none", True, lambda: f"return ({w.value(NAMES)}) + 0 * a")
        w.put(1, "return (a + b) & 63")
        w.put(0, "")
    w.put(0, "@triton.jit")
    w.put(0, 'def kernel(out: "*i32"):')
    w.put(1, "pid = tl.program_id(0)")
    w.put(1, "a = pid")
    w.put(1, "b = pid * 3 & 31")
    w.put(1, "c = 5")
    w.put(1, "d = 0")
    w.budget = 25
    w.block(1, NAMES, "none", False, lambda: "return")
    for i, name in enumerate(NAMES):
        w.put(1, f"tl.store(out + pid * 4 + {i}, {name})")
    return "\n".join(w.lines) + "\n"


class Language:
    """What the program needs of tl, on plain integers."""

    def __init__(self):
        self.memory, self.pid = {}, 0

    def program_id(self, axis):
        return self.pid

    def static_range(self, *bounds):
        return range(*bounds)

    def store(self, address, value):
        self.memory[address] = value


class Triton:
    @staticmethod
    def jit(f):
        return f


def run_python(text):
    tl = Language()
    scope = {"tl": tl, "triton": Triton}
    exec(compile(text, "program", "exec"), scope)
    for tl.pid in range(PROGRAMS):
        scope["kernel"](0)
    return [tl.memory.get(i, 0) for i in range(4 * PROGRAMS)]


def run_command(text, prefix):
    with open(prefix + ".tk", "w") as f:
        f.write("import triton, triton.language as tl\n\n" + text)
    done = subprocess.run([COMMAND, prefix + ".tk", "-k", "kernel", "-run", "-device", "cpu", "-grid", str(PROGRAMS),
                           f"out=zeros:i32[{4 * PROGRAMS}]", "-save", f"out={prefix}.npy"], capture_output=True, text=True)
    if done.returncode:
        return done.stdout + done.stderr
    with open(prefix + ".npy", "rb") as f:
        return list(struct.unpack(f"<{4 * PROGRAMS}i", f.read()[-16 * PROGRAMS:]))


def main():
    for seed in range(SEED, SEED + COUNT):
        text = program(seed)
        want, got = run_python(text), run_command(text, PREFIX)
        if want != got:
            sys.exit(f"seed {seed}: wanted {want}\ngot {got}\n{text}")


main()
