#!/usr/bin/env python3
"""Compares our tree with the one Python's own parser makes, over the files of a directory.

    compare_python.py [-v] SYNTAX_DUMP FILE_OR_FOLDER...

Every file that this Python (3.12 or later) parses must give the same tree: kinds, values, and the range of text of
every node outside of f-strings. Host code is parsed, too (`syntax_dump whole`). Prints one line per file that
differs, then the rates. Run by hand over the standard library; not part of the test suite.
"""
import ast
import difflib
import os
import struct
import subprocess
import sys
import warnings

OPS = {"Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
       "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "USub": "-", "UAdd": "+",
       "Invert": "~", "Not": "not", "And": "and", "Or": "or", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=",
       "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"}


def op(node):
    return OPS[type(node).__name__]


def quote(raw):
    out = '"'
    names = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}
    for byte in raw:
        if byte in names:
            out += names[byte]
        elif byte < 32 or byte == 127:
            out += "\\x%02x" % byte
        else:
            out += chr(byte)
    return out + '"'


def latin(text):
    """As the bytes of UTF-8 look, which is how our output is read."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


class Printer:
    """Our -emit=ast, from Python's tree. One method per class of node; each gives (text, [(role, child)…])."""

    def __init__(self):
        self.lines = []
        self.in_fstring = 0

    def emit(self, depth, role, text, where):
        place = "" if self.in_fstring or where is None else " %s:%s-%s:%s" % where
        self.lines.append("  " * depth + (role + " " if role else "") + text + place)

    def where(self, n):
        return n.lineno, n.col_offset + 1, n.end_lineno, n.end_col_offset + 1

    def show(self, n, role=None, depth=0):
        if n is None:
            return
        text, parts = getattr(self, "n_" + type(n).__name__, self.unknown)(n)
        fstring = text in ("fstring",)
        self.emit(depth, role, text, self.where(n) if hasattr(n, "lineno") and n.lineno else None)
        self.in_fstring += fstring
        for r, child in parts:
            if callable(child):
                child(depth + 1)
            else:
                self.show(child, r, depth + 1)
        self.in_fstring -= fstring

    def unknown(self, n):
        raise NotImplementedError(type(n).__name__)

    # expressions
    def n_Name(self, n): return "name " + latin(n.id), []
    def n_Await(self, n): return "await", [(None, n.value)]
    def n_Yield(self, n): return "yield", [(None, n.value)]
    def n_Tuple(self, n): return "tuple", [(None, x) for x in n.elts]
    def n_List(self, n): return "list", [(None, x) for x in n.elts]
    def n_Set(self, n): return "set", [(None, x) for x in n.elts]
    def n_Starred(self, n): return "starred", [(None, n.value)]
    def n_Attribute(self, n): return "attribute " + latin(n.attr), [(None, n.value)]
    def n_Subscript(self, n): return "subscript", [(None, n.value), ("index", n.slice)]
    def n_Slice(self, n): return "slice", [("lo", n.lower), ("hi", n.upper), ("step", n.step)]
    def n_NamedExpr(self, n): return "named", [("target", n.target), ("value", n.value)]
    def n_UnaryOp(self, n): return "unary " + op(n.op), [(None, n.operand)]
    def n_BinOp(self, n): return "binary " + op(n.op), [("left", n.left), ("right", n.right)]
    def n_Compare(self, n): return "compare " + " ".join(map(op, n.ops)), [(None, x) for x in [n.left] + n.comparators]
    def n_IfExp(self, n): return "ifexp", [("then", n.body), ("cond", n.test), ("else", n.orelse)]
    def n_Lambda(self, n): return "lambda", self.params(n.args) + [("body", n.body)]
    def n_Call(self, n): return "call", [("callee", n.func)] + self.args(n.args, n.keywords)
    def n_ListComp(self, n): return "listcomp", self.comp(n)
    def n_SetComp(self, n): return "setcomp", self.comp(n)
    def n_GeneratorExp(self, n): return "generator", self.comp(n)

    def n_YieldFrom(self, n):
        return "yield", [(None, lambda d: (self.emit(d, None, "starred", self.where(n.value)), self.show(n.value, None, d + 1)))]

    def n_Constant(self, n):
        v = n.value
        if isinstance(v, bool) or v is None or v is Ellipsis:
            return str(v).lower(), []
        if isinstance(v, int):
            return "int %d" % v if v < 2**64 else "int too-large", []
        if isinstance(v, float):
            return "float %.17g" % v, []
        if isinstance(v, complex):
            return "imaginary %.17g" % v.imag, []
        if isinstance(v, bytes):
            return "bytes " + "".join(c if c < "\x80" else "\\x%02x" % ord(c) for c in quote(v)), []
        return "string " + quote(v.encode("utf-8", "surrogatepass")), []

    def n_JoinedStr(self, n):
        return "fstring", [(None, x) for x in n.values if getattr(x, "value", None) != ""]

    def n_FormattedValue(self, n):
        mark = " !" + chr(n.conversion) if n.conversion != -1 else ""
        return "format" + mark, [(None, n.value), ("spec", n.format_spec)]

    def n_BoolOp(self, n):
        def nest(values, depth):
            if len(values) == 1:
                return self.show(values[0], "left", depth)
            self.emit(depth, "left", "boolop " + op(n.op), ("inner",) * 4)
            nest(values[:-1], depth + 1)
            self.show(values[-1], "right", depth + 1)
        parts = [(None, lambda d: nest(n.values[:-1], d)), ("right", n.values[-1])]
        return "boolop " + op(n.op), parts

    def n_Dict(self, n):
        parts = []
        for k, v in zip(n.keys, n.values):
            parts += [("key", k), ("value" if k else "**", v)]
        return "dict", parts

    def n_DictComp(self, n):
        return "dictcomp", [("element", n.key), ("value", n.value)] + self.clauses(n)

    def comp(self, n):
        return [("element", n.elt)] + self.clauses(n)

    def clauses(self, n):
        parts = []
        for c in n.generators:
            parts += [("async for" if c.is_async else "for", c.target), ("in", c.iter)] + [("if", x) for x in c.ifs]
        return parts

    def args(self, args, keywords):
        """In source order."""
        both = [("arg", x) for x in args] + [("arg", x) for x in keywords]
        return sorted(both, key=lambda part: (part[1].lineno, part[1].col_offset))

    def n_keyword(self, n):
        return "keyword " + latin(n.arg or "**"), [(None, n.value)]

    def params(self, a):
        out = []
        positional = a.posonlyargs + a.args
        defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
        for i, (p, d) in enumerate(zip(positional, defaults)):
            out.append((p, " positional-only" if i < len(a.posonlyargs) else "", d))
        if a.vararg:
            out.append((a.vararg, " varargs", None))
        out += [(p, " keyword-only", d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        if a.kwarg:
            out.append((a.kwarg, " kwargs", None))

        def show(p, kind, default):
            def go(depth):
                # Ours covers stars, annotation and default; only the name is compared.
                self.emit(depth, "param", latin(p.arg) + kind, ("param",) * 4)
                self.show(p.annotation, "annotation", depth + 1)
                self.show(default, "default", depth + 1)
            return go
        return [(None, show(*p)) for p in out]

    # statements
    def body(self, role, statements): return [(role, s) for s in statements]
    def n_Expr(self, n): return "expr", [(None, n.value)]
    def n_Assign(self, n): return "assign", [("target", t) for t in n.targets] + [("value", n.value)]
    def n_AugAssign(self, n): return "augassign " + op(n.op), [("left", n.target), ("right", n.value)]
    def n_AnnAssign(self, n): return "annassign", [("target", n.target), ("annotation", n.annotation), ("value", n.value)]
    def n_If(self, n): return "if", [("cond", n.test)] + self.body("body", n.body) + self.body("else", n.orelse)
    def n_While(self, n): return "while", [("cond", n.test)] + self.body("body", n.body) + self.body("else", n.orelse)
    def n_Return(self, n): return "return", [(None, n.value)]
    def n_Pass(self, n): return "pass", []
    def n_Break(self, n): return "break", []
    def n_Continue(self, n): return "continue", []
    def n_Assert(self, n): return "assert", [(None, n.test), ("message", n.msg)]
    def n_Raise(self, n): return "raise", [(None, n.exc), ("from", n.cause)]
    def n_Delete(self, n): return "delete", [(None, t) for t in n.targets]
    def n_Global(self, n): return "global " + ", ".join(n.names), []
    def n_Nonlocal(self, n): return "nonlocal " + ", ".join(n.names), []
    def n_Match(self, n): return "skipped match statement", []
    def n_TypeAlias(self, n): return "skipped type statement", []
    def n_TryStar(self, n): return self.n_Try(n)
    def n_AsyncFor(self, n): return self.n_For(n, " async")
    def n_AsyncWith(self, n): return self.n_With(n, " async")
    def n_AsyncFunctionDef(self, n): return self.n_FunctionDef(n, " async")

    def n_For(self, n, mark=""):
        return "for" + mark, [("target", n.target), ("in", n.iter)] + self.body("body", n.body) + self.body("else", n.orelse)

    def n_With(self, n, mark=""):
        parts = []
        for item in n.items:
            parts += [("item", item.context_expr), ("as", item.optional_vars)]
        return "with" + mark, parts + self.body("body", n.body)

    def n_Try(self, n):
        parts = self.body("body", n.body)
        for h in n.handlers:
            parts.append((None, h))
        return "try", parts + self.body("else", n.orelse) + self.body("finally", n.finalbody)

    def n_ExceptHandler(self, n):
        return "except" + (" as " + n.name if n.name else ""), [("type", n.type)] + self.body("body", n.body)

    def alias(self, names):
        return ", ".join(a.name + (" as " + a.asname if a.asname else "") for a in names)

    def n_Import(self, n): return "import " + self.alias(n.names), []
    def n_ImportFrom(self, n): return "from %s%s: %s" % ("." * n.level, n.module or "", self.alias(n.names)), []

    def n_FunctionDef(self, n, mark=""):
        parts = [("decorator", d) for d in n.decorator_list] + self.params(n.args) + [("returns", n.returns)]
        return "def " + latin(n.name) + mark, parts + self.body("body", n.body)

    def n_ClassDef(self, n):
        parts = [("decorator", d) for d in n.decorator_list] + self.args(n.bases, n.keywords)
        return "class " + latin(n.name), parts + self.body("body", n.body)


def python_lines(text):
    p = Printer()
    for statement in ast.parse(text).body:
        p.show(statement)
    return p.lines


def ours(dump, path):
    run = subprocess.run([dump, "whole", path], capture_output=True)
    return run.stdout.decode("latin-1").split("\n")[:-1], run.returncode


def normal(line, fstring_depth):
    """Our line without what Python's tree does not say."""
    depth = (len(line) - len(line.lstrip())) // 2
    words = line.rstrip().split(" ")
    head = " ".join(words[:-1])
    stripped = head.strip()
    place = words[-1]
    if stripped.startswith("param "):
        return depth, head + " param:param-param:param"
    if " too-large" in stripped:
        head = head[:head.index("int ")] + "int too-large"
    if "skipped match statement" in stripped:
        head = head[:head.index("skipped")] + "skipped match statement"
    if "skipped type statement" in stripped:
        head = head[:head.index("skipped")] + "skipped type statement"
    return depth, head if fstring_depth is not None and depth > fstring_depth else head + " " + place


def normalize(lines):
    out, fstring = [], None
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 2
        if fstring is not None and depth <= fstring:
            fstring = None
        _, text = normal(line, fstring)
        if fstring is None and (text.split(" ")[-2:-1] == ["fstring"]):
            fstring = depth
        out.append(text)
    return out


def debug_fields(lines):
    """{x=} is two items in Python's tree: the text, then the value."""
    out = []
    for line in lines:
        head = line.lstrip()
        if head.startswith('format "'):
            indent = line[:len(line) - len(head)]
            end = head.rindex('"')
            text, rest = head[len("format "):end + 1], head[end + 1:]
            if out and out[-1].startswith(indent + 'string "'):
                out[-1] = out[-1][:-1] + text[1:]
            else:
                out.append(indent + "string " + text)
            out.append(indent + "format" + rest)
        else:
            out.append(line)
    return out


def same(a, b):
    if a == b:
        return True
    # an inner boolop of a chain has no range in Python's tree; an alias, \N{…} neither value
    if "inner:inner-inner:inner" in b:
        return a.rsplit(" ", 1)[0] == b.rsplit(" ", 1)[0]
    return "\\\\N{" in a


def compare(dump, path, verbose):
    with open(path, "rb") as f:
        text = f.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = python_lines(text)
    except (SyntaxError, ValueError, RecursionError):
        return "refused"
    lines, status = ours(dump, path)
    if status:
        print(path + ": we refuse it")
        return "differs"
    mine = debug_fields(normalize(lines))
    if len(mine) == len(theirs) and all(map(same, mine, theirs)):
        return "same"
    print(path + ": differs")
    if verbose:
        pairs = zip(mine, theirs) if len(mine) == len(theirs) else []
        known = [m if same(m, t) else t for m, t in pairs] or theirs
        diff = list(difflib.unified_diff(known, mine, "python", "tkc", lineterm="", n=1))
        print("\n".join(diff[:30]))
    return "differs"


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    verbose = "-v" in sys.argv
    sys.setrecursionlimit(20000)
    paths = []
    for where in args[1:]:
        if os.path.isfile(where):
            paths.append(where)
        for folder, _, names in os.walk(where):
            paths += sorted(os.path.join(folder, n) for n in names if n.endswith((".py", ".tk")))
    count = {"same": 0, "differs": 0, "refused": 0}
    for path in paths:
        count[compare(args[0], path, verbose)] += 1
    print("%(same)d the same, %(differs)d different, %(refused)d that Python itself refuses" % count)
    return 1 if count["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
