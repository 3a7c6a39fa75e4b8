"""Every form of the instructions that the emulator has (runtime/ptx/insn.def), each as a kernel: its operands are loaded for 256
threads, its results stored. Operands are special numbers of all formats, and random bits."""
import itertools
import os
import re

import numpy as np

THREADS = 256
OPERANDS, RESULTS = 5, 4
WIDTHS = (16, 32, 64)
HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"


# ---- the table ----

def uncommented(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def joined(text, macros):
    """The text of adjacent string literals and names of such."""
    return "".join(macros[name] if name else literal for literal, name in re.findall(r'"([^"]*)"|([A-Z_]+)', text))


def arguments(text):
    """Split at the commas outside of strings."""
    return re.findall(r'\s*((?:"[^"]*"|[^,"])+)', text)


def table(folder):
    """(name, qualifiers, types, second types, operands, evaluator) of each row; and the bits of each type."""
    with open(os.path.join(folder, "insn.def")) as file:
        text = uncommented(file.read())
    macros = {}
    for name, value in re.findall(r"#define (\w+) +(.*)", text):
        macros[name] = joined(value, macros)
    rows = []
    for inside in re.findall(r"^PTX\((.*)\)$", text, flags=re.M):
        name, *fields, evaluator = (part.strip() for part in arguments(inside))
        rows.append((name, *(joined(field, macros) for field in fields), evaluator))
    with open(os.path.join(folder, "types.def")) as file:
        types = re.findall(r'PTX_TYPE\("(\w+)", *\w+, *(\d+)', uncommented(file.read()))
    return rows, {name: int(bits) for name, bits in types}


# ---- forms ----

def choices(groups):
    """All lists of qualifiers that a row's groups allow."""
    alternatives = []
    for group in groups.split():
        words = group.rstrip("?").split("|")
        alternatives.append(words + [""] if group.endswith("?") else words)
    for chosen in itertools.product(*alternatives):
        yield [word for word in chosen if word]


class Form:
    """One instruction as text with registers in place of its operands."""

    def __init__(self, text, evaluator, qualifiers, first, sources, dests, body):
        self.text, self.evaluator, self.qualifiers, self.first = text, evaluator, qualifiers, first
        self.sources, self.dests, self.body = sources, dests, body  # widths of registers; 1: a predicate

    @property
    def is_approximate(self):
        return bool({"approx", "full"} & set(self.qualifiers))


def register(bits, number):
    return {1: "%%p%d", 16: "%%h%d", 32: "%%r%d", 64: "%%d%d"}[bits] % number


def may_be_wider(kind):
    """Whether a source's register may have more bits than its type: a float of 32 bits or more fills its register, and so does bf16."""
    return re.fullmatch(r"[us]\d+|f16", kind) is not None


class Builder:
    def __init__(self, bits_of, row, qualifiers, types, wide, parts, pair):
        self.bits_of, self.row, self.qualifiers, self.types = bits_of, row, qualifiers, types
        self.wide, self.parts, self.pair = wide, parts, pair
        self.sources, self.dests, self.words = [], [], []

    def source(self, bits):
        self.sources.append(max(bits, 16) if bits > 1 else 1)
        return register(self.sources[-1], 10 + len(self.sources))

    def dest(self, bits):
        self.dests.append(max(bits, 16) if bits > 1 else 1)
        return register(self.dests[-1], 20 + len(self.dests))

    def list_of(self, make, bits):
        return "{" + ", ".join(make(bits // self.parts) for _ in range(self.parts)) + "}"

    def operand(self, letter):
        first = self.bits_of[self.types[0]]
        second, third = (self.bits_of.get(self.types[i], 0) if len(self.types) > i else 0 for i in (1, 2))
        wide = self.wide if second and may_be_wider(self.types[1]) else 0
        make = {
            "d": lambda: self.dest(first), "D": lambda: self.dest(max(first, self.wide)), "w": lambda: self.dest(2 * first),
            "u": lambda: self.dest(32), "p": lambda: self.dest(1), "a": lambda: self.source(first),
            "P": lambda: self.dest(1) + ("|" + self.dest(1) if self.pair else ""),
            "V": lambda: self.list_of(self.dest, first), "v": lambda: self.list_of(self.source, first),
            "s": lambda: self.source(second), "S": lambda: self.source(max(second, wide)), "t": lambda: self.source(third),
            "W": lambda: self.source(2 * first), "r": lambda: self.source(32), "q": lambda: self.source(1),
            "c": lambda: self.source(1), "k": lambda: "0xca"}
        return make[letter]()

    def with_carries(self, name, body):
        """The carry that an instruction reads comes from a sum, or difference, of two more operands; one that it writes is a result."""
        family = "sub" if name.startswith("sub") else "add"
        if name in ("addc", "subc", "madc"):
            body = "%s.cc.u32 %%r1, %s, %s; %s" % (family, self.source(32), self.source(32), body)
        if "cc" in self.qualifiers:
            body += " %sc.u32 %s, 0, 0;" % (family, self.dest(32))
        return body

    def form(self):
        name, operands, evaluator = self.row[0], self.row[4], self.row[5]
        if not {"and", "or", "xor"} & set(self.qualifiers):
            operands = operands.replace("c", "")
        words = [self.operand(letter) for letter in operands]
        opcode = ".".join([name, *self.qualifiers, *self.types])
        body = self.with_carries(name, "%s %s;" % (opcode, ", ".join(words)))
        text = "%s %s" % (opcode, " ".join(re.sub(r"\d+(?=[,}|]|$)", "", word) for word in words))
        return Form(text, evaluator, self.qualifiers, self.types[0], self.sources, self.dests, body)


def forms(folder):
    """Of each row, its forms; each with another text."""
    rows, bits_of = table(folder)
    known = set()
    for row in rows:
        name, qualifiers, types, second, operands, _ = row
        seconds, _, third = second.partition("/")
        found = []
        for chosen in choices(qualifiers):
            for first, other in itertools.product(types.split(), seconds.split() or [None]):
                kinds = [first] + ([other] if other else []) + ([third] if third else [])
                if "d" in operands and bits_of[first] == 8 or "s" in operands and bits_of[other] == 8:
                    continue  # needs registers of 8 bits
                wides = (0, 32) if "D" in operands or "S" in operands and may_be_wider(other) else (0,)
                parts = (2, 4) if set("Vv") & set(operands) else (0,)
                for wide, count, pair in itertools.product(wides, parts, (False, True) if "P" in operands else (False,)):
                    if count and bits_of[first] // count < 16 or ("P" in operands and first.endswith("x2") and not pair):
                        continue
                    form = Builder(bits_of, row, chosen, kinds, wide, count, pair).form()
                    if form.text not in known:
                        known.add(form.text)
                        found.append(form)
        yield name, found


# ---- kernels ----

def loads(form):
    for i, bits in enumerate(form.sources):
        width = WIDTHS.index(max(bits, 16))
        at = "[%%a0+%d]" % ((i * len(WIDTHS) + width) * THREADS * 8)
        if bits == 1:
            yield "ld.global.b16 %%h0, %s; and.b16 %%h0, %%h0, 1; setp.ne.b16 %s, %%h0, 0;" % (at, register(1, 11 + i))
        else:
            yield "ld.global.b%d %s, %s;" % (bits, register(bits, 11 + i), at)


def stores(form):
    for i, bits in enumerate(form.dests):
        at = "[%%a1+%d]" % (i * THREADS * 8)
        if bits == 1:
            yield "selp.b16 %%h0, 1, 0, %s; st.global.b16 %s, %%h0;" % (register(1, 21 + i), at)
        else:
            yield "st.global.b%d %s, %s;" % (bits, at, register(bits, 21 + i))


def kernel(name, form):
    lines = [".visible .entry %s(.param .u64 in, .param .u64 out) {" % name,
             ".reg .pred %p<32>; .reg .b16 %h<32>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b64 %a<4>;",
             "ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 8;",
             "add.s64 %a0, %a0, %a2; add.s64 %a1, %a1, %a2;", *loads(form), form.body, *stores(form), "ret; }"]
    return "\n".join(lines) + "\n"


# ---- operands ----

FLOATS = [0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x7fffffff, 1, 0x007fffff, 0x00800000,
          0x7f7fffff, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x387fc000, 0x4f000000, 0xcf000000, 0x5f000000, 0x3f000000, 0x40200000,
          0x7e800000, 0x7e800001, 0x43e00000, 0x43e80000, 0x3b000000, 0x00008000, 0x7f7f8000]
HALVES = [0, 0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7c01, 0xffff, 1, 0x03ff, 0x0400, 0x7bff, 0x3f80, 0x7f80, 0xff81, 0x7f7f, 0x80]


def operand_values(rng, bits):
    """For every thread: fp32 or fp64 edges, halves, neighbours of powers of two, small whole numbers, numbers near 1, random bits."""
    edges = np.array(FLOATS, np.uint32)
    if bits == 64:
        edges = edges.view(np.float32).astype(np.float64).view(np.uint64)
    halves = np.array(HALVES, np.uint64)
    kind = rng.integers(0, 8, THREADS)
    powers = (np.uint64(1) << rng.integers(0, 64, THREADS, dtype=np.uint64)) + rng.integers(0, 4, THREADS, dtype=np.uint64) - np.uint64(2)
    ordinary = rng.standard_normal(THREADS) * 4
    ordinary = {16: lambda: ordinary.astype(np.float16).view(np.uint16), 32: lambda: ordinary.astype(np.float32).view(np.uint32),
                64: lambda: ordinary.view(np.uint64)}[bits]().astype(np.uint64)
    small = rng.integers(0, 70, THREADS).astype(np.uint64)
    values = np.choose(kind, [
        rng.choice(edges, THREADS).astype(np.uint64), rng.choice(halves, THREADS) | rng.choice(halves, THREADS) << np.uint64(16),
        powers, small, ~small, ordinary, ordinary, rng.integers(0, 2**64, THREADS, dtype=np.uint64)])
    return values & np.uint64(2**bits - 1)


def inputs():
    """[operand][width][thread], each in 64 bits."""
    with np.errstate(all="ignore"):
        rng = np.random.default_rng(20)
        return np.stack([np.stack([operand_values(rng, bits) for bits in WIDTHS]) for _ in range(OPERANDS)])
