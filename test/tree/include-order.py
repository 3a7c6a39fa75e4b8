# A file includes its own folder and earlier ones only; LLVM, flex and bison headers stay where they belong.
# RUN: %python %s %src | FileCheck %s
# CHECK: {{^[1-9][0-9]*}} files, 0 violations
import os
import re
import sys

ROOT = sys.argv[1]
ORDER = ["tkc", "base", "linear", "syntax", "ir", "spec", "analysis", "transform", "layout", "memory", "lower", "target"]
GENERATED = ("tkc.tab.h", "tkc.lex.h")


def folder_of(path):
    """The place of a file in ORDER; lib/compile.c and its like come last; None outside of lib."""
    parts = path.split(os.sep)
    if parts[0] == "grammar":
        return "syntax"
    if parts[0] == "include":
        return "tkc"
    if parts[0] == "lib":
        return parts[1] if len(parts) > 2 else "compile"
    return None


def rank(folder):
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


def violation(path, header):
    """Why the file may not include the header, or None."""
    owner = folder_of(path)
    name = os.path.basename(header)
    if name in GENERATED:
        return None if owner == "syntax" else "headers of flex and bison belong to syntax/"
    if header.startswith("llvm"):
        return None if owner in ("lower", "target", "compile") else "LLVM belongs to lower/ and target/"
    if header == "cuda.h" or header.startswith("cuda/"):
        return "the declarations of the driver are our own"
    if "/" not in header:
        here = os.path.join(ROOT, os.path.dirname(path), header)
        is_system = not os.path.exists(here) and not header.startswith("tkc")
        return None if os.path.exists(here) or is_system else "no such file beside it"
    folder = header.split("/")[0]
    if folder not in ORDER:
        return None
    if owner is None:
        return None if folder == "tkc" else "runtime/ and src/ see include/ only"
    return None if rank(folder) <= rank(owner) else "%s/ comes after %s/" % (folder, owner)


def sources():
    for top in ("grammar", "include", "lib", "runtime", "src", "stores"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h", ".l", ".y", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


count = bad = 0
for path in sorted(sources()):
    count += 1
    with open(os.path.join(ROOT, path)) as text:
        for number, line in enumerate(text, 1):
            found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            why = found and violation(path, found.group(1))
            if why:
                bad += 1
                print("%s:%d: includes %s: %s" % (path, number, found.group(1), why))
print("%d files, %d violations" % (count, bad))
