"""docs/functions.md, the table of public functions and the tests that call them: functions.py ROOT [--write]

Without --write it fails where the table lacks a function, has one that is none, or names a test that does not call it or that nobody
runs. With it, it writes the table: each function with the unit test that calls it most, unless the row there still holds."""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
import read

ROW = re.compile(r"^\| `(tkc_\w+)` \| `(.+?)` \|$", re.M)
HEAD = """# Public functions, and the tests that call them

`manual/functions.py . --write` adds what is missing; a test holds the table to the headers and to the tests.

| function | called by |
|---|---|
"""


def functions(root):
    return [f for h in ("tkc", "runtime") for s in read.header("%s/include/tkc/%s.h" % (root, h), h)[1] for g in s.groups for f in g.functions]


def calls(path):
    """The functions that a C file calls, and how often: outside of comments and strings."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', "", file.read(), flags=re.S)
    names = re.findall(r"\b(tkc_\w+)\(", text)
    return {n: names.count(n) for n in names}


def tests(root):
    """The unit tests that a lit test runs, with what they call."""
    found = {}
    for path in sorted(glob.glob(root + "/test/unit/*_test.c")):
        name = os.path.basename(path)[:-2]
        runner = path[:-len("_test.c")] + ".test"
        if os.path.exists(runner) and "%%unit/%s" % name in open(runner).read():
            found["test/unit/%s.c" % name] = calls(path)
    return found


def table(root):
    path = root + "/docs/functions.md"
    return dict(ROW.findall(open(path, encoding="utf-8").read())) if os.path.exists(path) else {}


def write(root):
    known, rows = tests(root), table(root)
    with open(root + "/docs/functions.md", "w", encoding="utf-8") as file:
        file.write(HEAD)
        for name in functions(root):
            test = rows.get(name)
            if name not in known.get(test, {}):
                test = max(known, key=lambda t: known[t].get(name, 0))
            if name in known[test]:
                file.write("| `%s` | `%s` |\n" % (name, test))


def problems(root):
    known, rows, public = tests(root), table(root), functions(root)
    for name in public:
        if name not in rows:
            yield "%s: docs/functions.md has no row for it: have a unit test call it, then manual/functions.py . --write" % name
        elif rows[name] not in known:
            yield "%s: %s is no unit test that is run" % (name, rows[name])
        elif name not in known[rows[name]]:
            yield "%s: %s does not call it" % (name, rows[name])
    for name in rows:
        if name not in public:
            yield "%s: no header has it" % name


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(sys.argv[1])
    told = list(problems(sys.argv[1]))
    print("\n".join(told + ["%d public functions, %d problems" % (len(functions(sys.argv[1])), len(told))]))
    sys.exit(bool(told))
