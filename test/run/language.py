#!/usr/bin/env python3
# Every row of the language has a test that executes it; the small kernels for statements and rules run here: language.py TKC DEVICE [list]
# RUN: %python %s %build/tkc cpu | FileCheck %s
# RUN: %python %s %build/tkc simt | FileCheck %s --check-prefix=SIMT
# SIMT: {{^[1-9][0-9]* passed, 0 failed$}}
# CHECK: {{^[1-9][0-9]* passed, 0 failed$}}
# CHECK: {{^[0-9]+ examples, 0 wrong$}}
# CHECK: {{^[0-9]+ rows, 0 gaps$}}
"""`list` prints each row of the language with the tests that execute it. A row is a gap when no test names it; an operation
of lib/spec/builtins.def is a gap when no executed kernel spells it in each of its forms with each of its keywords."""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "Inputs"), HERE]

import ops
from borrowed import BORROWED
from objects import OBJECTS
from rows import NOT_SPELLED, ROWS
from slowness import SLOWNESS
from snippets import ALL

SNIPPETS = ALL + BORROWED + OBJECTS


# ---- running the small kernels ----

def source(s):
    parameters = ['y: "*%s"' % s.y, 'x: "*i32"', 'n: "i32"', 'f: "fp32"',
                  "C: tl.constexpr"] + ([s.params] if s.params else [])
    body = "".join(f"    {line}\n" for line in s.body.split("\n"))
    jit = s.signature or "@triton.jit\n"
    return f"import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n{s.top}{jit}def kernel({', '.join(parameters)}):\n{body}"


def given(s, name):
    return re.search(r"(^|\s)%s=" % name, s.args)


def run(tkc, device, s):
    """What is wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {"kernel.py": source(s), **s.files}.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "w") as f:
                f.write(text)
        command = [tkc, "-verify-each", "-run", "-device", device, "-g", "-x", "tk", os.path.join(folder, "kernel.py"), "-k", "kernel",
                   "-grid", s.grid, "-timeout", "20", "-print", "y", "-DC=4"]
        arguments = {"y": f"zeros:{s.y}[8]", "x": s.x, "n": "5", "f": "1.5"}
        command += [f"{name}={value}" for name, value in arguments.items() if not given(s, name)] + s.args.split()
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOWNESS)
    return fault(s, device, done)


def fault(s, device, done):
    if done.returncode not in (0, 1):
        return f"exit {done.returncode}\n{done.stderr}"
    if s.err:
        if done.returncode == 0:
            return f"expected a refusal\n{done.stdout}"
        return None if re.search(s.err, done.stderr) else f"expected {s.err!r}\n{done.stderr}"
    if done.returncode:
        return done.stderr
    if s.out and not re.search(s.out, done.stdout):
        return f"expected {s.out!r}\n{done.stdout}"
    if s.note and not re.search(s.note, done.stderr + done.stdout):
        return f"expected {s.note!r}\n{done.stdout}{done.stderr}"
    if s.want is not None:
        got = done.stdout.strip().split("\n")[-1].strip("[]").split()
        want = [str(w) for w in s.want]
        if got[:len(want)] != want:
            return f"y is {' '.join(got)}, expected {' '.join(want)}\n{done.stderr}"
    return None


def run_all(tkc, device):
    chosen = [s for s in SNIPPETS if device == "cpu" or not s.cpu]
    with ThreadPoolExecutor(2 if device == "cpu" else os.cpu_count()) as pool:
        faults = list(pool.map(lambda s: run(tkc, device, s), chosen))
    failed = [(s, fault) for s, fault in zip(chosen, faults) if fault is not None]
    for s, text in failed:
        print(f"FAILED {', '.join(s.covers)}\n{source(s)}{text}")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return not failed


# ---- the examples of docs/language.md and docs/running.md ----

def examples():
    """File name, its text, and the commands with what they print."""
    for page in ("language.md", "running.md"):
        with open(os.path.join(ROOT, "docs", page)) as f:
            blocks = re.findall(r"```(python|console)\n(.*?)```", f.read(), re.S)
        for (kind, text), (following, session) in zip(blocks, blocks[1:]):
            if kind == "python" and following == "console":
                yield text.split("\n", 1)[0].lstrip("# "), text, [part.split("\n", 1)
                        for part in session.split("$ tkc ")[1:]]


def run_examples(tkc):
    wrong = total = 0
    for name, text, commands in examples():
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
            for command, printed in commands:
                done = subprocess.run([os.path.abspath(tkc), *shlex.split(command)], cwd=folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
                total += 1
                said = re.sub(r"^tkc: ran .*\n", "", done.stdout, flags=re.M)
                if said.strip() != printed.strip():
                    wrong += 1
                    print(f"FAILED docs: tkc {command}\n{said}expected\n{printed}")
    print(f"{total} examples, {wrong} wrong")
    return total and not wrong


# ---- what executes what ----

def covered():
    """Row name -> how many tests of which file."""
    counts = {}
    for case in ops.all_cases():
        for name in case.covers:
            counts.setdefault(name, Counter())["ops.py"] += 1
    for s in SNIPPETS:
        for name in s.covers:
            counts.setdefault(name, Counter())["language.py"] += 1
    return counts


def list_rows(counts):
    """Prints section, row, tests; the number of rows and of gaps."""
    gaps = []
    for section, row, names in ROWS:
        tests = Counter()
        for name in names:
            if name not in counts:
                gaps.append(f"{section}: {row}: nothing executes '{name}'")
            tests.update(counts.get(name, {}))
        if "list" in sys.argv:
            print(f"{section:12} {row:60} {', '.join(f'{file}: {n}' for file, n in tests.items())}")
    listed = {name for _, _, names in ROWS for name in names}
    gaps += [f"'{name}' is executed, but no row has it" for name in counts if name not in listed]
    return len(ROWS), gaps


NAMESPACES = {"TL": r"\btl\.", "MATH": r"\btl\.math\.", "LIBDEVICE": r"\blibdevice\.", "METHOD": r"[\w)\]]\.",
              "TRITON": r"\btriton\.", "PYTHON": r"(?<![\w.])", "EXTRA": r"\btl\.extra\.cuda\.",
              "TARGET": r"\btl\.target_info\.", "DTYPE": r"[\w)]\.", "DESC": r"\bd\.", "STR": r"[\w'\"]\.", "PROFILE": r"\bpl\.",
              "INDUCTOR": r"\btriton_helpers\.", "HOST": r"\bmath\.", "ITERTOOLS": r"\bitertools\.", "INT": r"[\w)]\.", "LIST": r"[\w\])]\.",
              "DICT": r"[\w})]\.", "ARGUMENTS": r"\bargs\.", "ARRAY": r"\]\."}


def operations():
    """Name, namespaces, keywords, from the table that the compiler is built with and the definitions in the language."""
    with open(os.path.join(ROOT, "lib", "spec", "builtins.def")) as f:
        table = re.sub(r'" (?:RMW_ORDER|LOAD_ORDER|SCOPE\([^()]*\))', 'sem=, scope="', f.read())
    keywords = {}
    for path in glob.glob(os.path.join(ROOT, "lib", "std", "*.tk")):
        with open(path) as f:
            for name, parameters in re.findall(r"^def (\w+)\(((?:[^()]|\([^()]*\))*)\):", f.read(), re.M):
                keywords[name] = re.findall(r"(\w+)(?:: [\w.]+)? = ", parameters)
    for name, where, parameters in re.findall(r'^(?:BUILTIN|OPERATION)\("(\w+)",\s*([\w|]+),\s*\w+,\s*(?:\w+,\s*)?"([^"]*)"\)', table, re.M):
        yield name, where.split("|"), [re.split("[:=]", p)[0].strip() for p in parameters.rpartition("/")[2].split(",")
                                       if "=" in p]
    places = {"EVERYWHERE": "TL|MATH|LIBDEVICE|METHOD", "LIBM_OP": "LIBDEVICE|MATH"}
    for kind, name, where in re.findall(r"\b(UNARY|EVERYWHERE|LIBM_OP)\((\w+), (?:([\w|]+), )?[A-Z]\w+\)", table):
        yield name, (where or places[kind]).split("|"), []
    for name, where, function in re.findall(r"\bSTD(?:_AS)?\((\w+), ([A-Z|]+)(?:, (\w+))?\)", table):
        yield name, where.split("|"), keywords[function or name]
    for name, where in re.findall(r"^STD_IS\((\w+), ([A-Z|]+),", table, re.M):
        yield name, where.split("|"), []
    for name in re.findall(r"\bCOMBINE\((\w+), \"", table):
        yield name, ["TL"], []
    for name, way in re.findall(r"\bBREAKING\((\w+), (\w+), \"", table):
        yield name + "_tie_break_" + way, ["TL"], []
    for kind, name in re.findall(r"\b(SPECIAL|SPECIAL_PAIR)\((\w+), \"", table):
        if name != "name":
            yield from ((f"__{r}{name}__", ["METHOD"], []) for r in ("", "r")[:1 + (kind == "SPECIAL_PAIR")])
    families = {"LIBM_IS": [""], "BITS_AS": [""], "IN_DOUBLE": [""], "FROM_INTEGER": ["_rn"],
                "DIRECTED": ["_rz", "_rd", "_ru"], "TO_INTEGER": ["_rn", "_rz", "_rd", "_ru"]}
    for kind, name in re.findall(r"\b(%s)\((\w+), \"" % "|".join(families), table):
        for ending in families[kind]:
            if name != "name":
                yield name + ending, ["LIBDEVICE", "MATH"], []
    for kind, name in re.findall(r"\b(LIBM|TYPE_IS)\((\w+)\)", table):
        if name != "name":
            yield (name, ["LIBDEVICE", "MATH"], []) if kind == "LIBM" else ("is_" + name, ["DTYPE"], [])


def spelled():
    """Operations, in each of their forms, and keywords that no executed kernel spells."""
    texts = {case.body + "\n" + case.helpers for case in ops.all_cases()} | {s.top + "\n" + s.body + (s.signature
            or "") for s in SNIPPETS}
    text = "\n".join(sorted(texts))
    gaps = []
    for name, where, keywords in operations():
        for namespace in where:
            form = f"{name} {namespace}"
            if form not in NOT_SPELLED and not re.search(NAMESPACES[namespace] + name + r"\b", text):
                gaps.append(f"no kernel has {name} as {namespace}")
        for keyword in keywords:
            if f"{name} {keyword}" not in NOT_SPELLED and not re.search(rf"\b{name}\([^\n]*\b{keyword}\s*=", text):
                gaps.append(f"no kernel has {name}({keyword}=)")
    return gaps


def main():
    fine = run_all(sys.argv[1], sys.argv[2])
    fine &= bool(run_examples(sys.argv[1]))
    rows, gaps = list_rows(covered())
    gaps += spelled()
    for gap in gaps:
        print("GAP", gap)
    print(f"{rows} rows, {len(gaps)} gaps")
    sys.exit(bool(gaps) or not fine)


if __name__ == "__main__":
    main()
