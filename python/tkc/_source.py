"""A kernel's text as libtkc reads it: the function, what it calls, and the values of the names that these use.

Functions stand at the lines that they have in their files, so that diagnostics are about those. What names stand for is asked of
Python: behind the functions follow imports and assignments that say it. Functions of one file share a text while their names mean the
same there; each text is a module for the others, which import from it."""
import ast
import builtins
import dataclasses
import enum
import inspect
import textwrap
import types

from . import _library, _types

MISSING = object()


class SourceUnavailable(Exception):
    """The text of a function cannot be read, and a kernel is its text."""


_updates = 0
on_update = []


def updated():
    """The text of some function was replaced: what was made of others may hold it."""
    global _updates
    _updates += 1
    for call in on_update:
        call()


def updates():
    """How many there were."""
    return _updates


def own_text(python):
    """From its def on."""
    _, first, lines, _ = read_def(python, None, JIT)
    return textwrap.dedent("\n".join(lines[i] for i in sorted(lines) if i >= first)) + "\n"


class constexpr_function:
    """Decorator: a function of what is known when compiling, for kernels and for Python."""

    def __init__(self, fn):
        self.fn = fn
        self.text = None  # what stands for the function's own
        self.__name__, self.__doc__, self.__module__ = fn.__name__, fn.__doc__, fn.__module__

    def __call__(self, *args, **kwargs):
        if kwargs:
            kwargs = {n: _types.plain(v) for n, v in kwargs.items()}
        for v in args:  # mostly plain already
            if isinstance(v, _types.constexpr):
                return self.fn(*map(_types.plain, args), **kwargs)
        return self.fn(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    @property
    def src(self):
        return self.text if self.text is not None else own_text(self.fn)

    def _unsafe_update_src(self, text):
        self.text = text
        updated()


def must_use_result(what=""):
    """Decorator of a jit function or constexpr_function: a kernel that calls it and drops what it returns is wrong. what: more words for
    the message."""
    def mark(fn):
        fn.must_use = " " + what if isinstance(what, str) and what else ""
        return fn
    return mark if isinstance(what, str) else mark(what)


def check_results_used(f, scopes):
    """Of the calls that are statements, those of functions under must_use_result."""
    for node in ast.walk(f.node):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            value = next((v for v in (s.get(call.func.id, MISSING) for s in scopes) if v is not MISSING), None)
            if isinstance(getattr(value, "must_use", None), str):  # names of tl have any attribute
                raise _library.KernelError("%s:%d: error: The result of %s is not being used.%s"
                                           % (f.path, f.first + call.lineno - f.node.lineno, call.func.id, value.must_use))


class Function:
    """One def: its lines, where they are, and what its names are bound to."""

    def __init__(self, python, text, decorator):
        self.python = python
        self.path, self.first, self.lines, node = read_def(python, text, decorator)
        self.name = node.name
        self.calls_python = isinstance(node, ast.FunctionDef) and decorator != JIT  # runs while compiling, as what it calls does
        self.names = {}  # name: target
        self.node = node
        self.module = None  # the Text it stands in


class Text:
    """Functions of one file, and the names they use."""

    def __init__(self, path, number):
        self.path = path
        self.module = "tkc_python_%d" % number
        self.lines = {}
        self.names = {}

    def has_room(self, f):
        """Whether f can stand here, with the names that it uses."""
        return (not any(at in self.lines for at in f.lines)
                and self.names.get(f.name, ("function", f)) == ("function", f)
                and f.names.get(f.name, ("function", f)) == ("function", f)
                and all(self.names.get(name, target) == target for name, target in f.names.items()))

    def add(self, f):
        f.module = self
        self.lines.update(f.lines)
        self.names[f.name] = ("function", f)
        self.names.update(f.names)

    def render(self):
        """Line by line; what names stand for comes last: the last binding of a name counts, wherever it is."""
        said = [line for name, target in self.names.items() for line in say(self, name, target)]
        count = max(self.lines, default=0)
        return "\n".join([self.lines.get(i, "") for i in range(1, count + 1)] + said) + "\n"


def say(text, name, target):
    """The statement that binds a name to a target; none for a function that stands there under its name."""
    kind, *rest = target
    if kind == "function":
        f, = rest
        if f.module is text:
            return [] if f.name == name else ["%s = %s" % (name, f.name)]
        return ["from %s import %s as %s" % (f.module.module, f.name, name)]
    if kind == "module":
        return ["import %s as %s" % (rest[0], name)]
    if kind == "member":
        return ["from %s import %s as %s" % (rest[0], rest[1], name)]
    if kind == "tuple class":
        return ["from collections import namedtuple", "%s = namedtuple(%r, %r)" % (name, *rest)]
    return ["%s = %s" % (name, rest[0])]


def read_def(python, text, decorator):
    """Path, first line, {line: text} and tree of a function's or class's definition, its decorators replaced by the one that
    matters (None: nothing). text: what stands there, where that is not what the file has."""
    what = getattr(python, "__qualname__", python)
    try:
        lines, start = inspect.getsourcelines(python)
        if text is not None:
            start += def_of(lines).lineno - 1  # where the function's own stands
            lines = textwrap.indent(text, lines[0][:margin(lines[0])]).splitlines(True)
        path = inspect.getsourcefile(python) or "<unknown>"
    except (OSError, TypeError):
        raise SourceUnavailable(
            "the text of %s cannot be read, and a kernel is compiled from its text: a function typed at Python's prompt or made by "
            "exec() has none. Put it in a file and import it, or give the file to tkc.jit" % what) from None
    tree = def_of(lines)
    if tree is None:
        raise SourceUnavailable("%s:%d: %s is no def of its own: a kernel cannot be a lambda or part of a statement"
                                % (path, start, what))
    if isinstance(tree, ast.FunctionDef) and annotate(lines, tree.args, getattr(python, "__annotations__", {})):
        tree = def_of(lines)
    begin = start + tree.lineno - 1
    if decorator == JIT and named_above(tree):
        decorator += "(mentions=%r)" % named_above(tree)
    return path, begin, place_lines(path, begin, [line.rstrip("\r\n") for line in lines[tree.lineno - 1:]],
                                    decorator), tree


def def_of(lines):
    """The tree of the definition that they are; None: they are none."""
    try:
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (SyntaxError, IndexError):
        return None
    return tree if isinstance(tree, (ast.FunctionDef, ast.ClassDef)) else None


def named_above(tree):
    """The parameters that its decorators name: a heuristic, or a tuner's key, uses what the body may not, so libtkc hears of them."""
    said = {n.value for d in tree.decorator_list for n in ast.walk(d) if isinstance(n, ast.Constant)}
    params = tree.args
    return [p.arg for p in params.posonlyargs + params.args + params.kwonlyargs if p.arg in said]


def margin(line):
    return len(line) - len(line.lstrip())


def annotate(lines, params, said):
    """Writes what __annotations__ says of parameters whose text says nothing: a decorator put it there. Whether it says any."""
    open_ones = [p for p in params.posonlyargs + params.args + params.kwonlyargs if p.annotation is None and annotation(said.get(p.arg))]
    for p in reversed(open_ones):  # the last first, so that places stay
        line, at = lines[p.end_lineno - 1].encode(), p.end_col_offset + margin(lines[0])
        lines[p.end_lineno - 1] = (line[:at] + (": " + annotation(said[p.arg])).encode() + line[at:]).decode()
    return bool(open_ones)


def annotation(value):
    """As a text; None: it says nothing of a parameter's type."""
    if not isinstance(value, str):
        return "triton.language.constexpr" if value is _types.constexpr else dtype_text(value)
    try:
        ast.parse(value, mode="eval")
        return value
    except SyntaxError:
        return repr(value)  # "*fp32"


def place_lines(path, begin, lines, decorator):
    """{line: text}: the decorator above a def, and what makes its indentation one of a module's."""
    indent = lines[0][:len(lines[0]) - len(lines[0].lstrip())]
    if indent and begin < 3:
        lines, indent = textwrap.dedent("\n".join(lines)).split("\n"), ""
    placed = {begin + i: line for i, line in enumerate(lines)}
    if decorator:
        if begin < 2:
            raise SourceUnavailable("%s:1: a kernel cannot begin on the first line of its file; put a line above it" % path)
        placed[begin - 1] = indent + decorator
    if indent:
        placed[begin - 2] = "if True:"
    return placed


def function_of(value):
    """The Python function in a jit function, ours or Triton's, through autotuners and heuristics; None: it is none."""
    seen = 0
    while not isinstance(value, types.FunctionType):
        inner = getattr(value, "fn", None)
        if inner is None or seen > 20 or isinstance(value, (type, types.ModuleType, _types.Builtin)):
            return None
        value, seen = inner, seen + 1
    return value


JIT, AT_COMPILE_TIME = "@triton.jit", "@triton.constexpr_function"


def origin_of(value):
    """The function or class that a value of Python's is to kernels, the text that stands for its own (None: nothing does), and the
    decorator that says what it is: numbers get types in a function under @jit, and stay Python's in one under @constexpr_function."""
    if isinstance(value, type):
        return value, None, "@triton.aggregate" if getattr(value, "__triton_aggregate__", False) else None
    text, decorator = None, JIT if not isinstance(value, types.FunctionType) else None
    inner = value
    while not isinstance(inner, types.FunctionType):
        if type(inner).__name__ in ("constexpr_function", "ConstexprFunction"):
            decorator = AT_COMPILE_TIME
        if text is None and "text" in vars(inner) and hasattr(inner, "_unsafe_update_src"):
            text = inner.text
        inner = inner.fn
    return inner, text, decorator


HOST = "triton.host."  # libtkc looks for no files of it; Context takes it out of what is said
ADVISED = ("math", "numpy", "torch", "typing")  # libtkc knows some of their names, or says what to write
OURS = ("triton", "tkc", "torch._inductor.runtime.triton_helpers")


def language_module(name):
    """The dotted name under which libtkc knows a module of the language; None: it is the user's."""
    if not any(name == root or name.startswith(root + ".") for root in OURS):
        return None
    if name.split(".")[0] == "tkc":
        return "triton" + name[len("tkc"):]
    return name


def language_member(value):
    """("module", "name") of a function of the language itself; None: it is none."""
    if isinstance(value, _types.Builtin):
        return tuple(value.dotted.rsplit(".", 1))
    module = language_module(getattr(function_of(value) or value, "__module__", None) or "")
    name = getattr(value, "__name__", None)
    if not module or not name:
        return None
    if module in ("triton._utils", "triton.runtime.jit", "triton.math"):
        return ("triton", name)
    return (module, name)


def member_text(value):
    """The dotted name of such a function; None: it is none."""
    member = None if isinstance(value, _types.Builtin) and value.is_namespace() else language_member(value)
    return ".".join(member) if member else None


def known(value):
    """Of a constexpr, ours or Triton's, the value."""
    return value.value if type(value).__name__ == "constexpr" and hasattr(value, "value") else value


def literal(value):
    """The text of a plain value; None: it has none."""
    value = known(value)
    if isinstance(value, enum.Enum):
        return literal(value.value)
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        value = float(value)
        return repr(value) if value - value == 0 else 'float("%r")' % value
    return dtype_text(value) or container(value, literal)


def dtype_text(value):
    """Of tl.float32, ours or Triton's, and pointers to such."""
    if type(value).__name__ == "pointer_type" and hasattr(value, "element_ty"):
        inner = dtype_text(value.element_ty)
        return inner and "triton.language.pointer_type(%s)" % inner
    name = getattr(value, "name", None)
    if type(value).__name__ == "dtype" and name:
        long = _types.LONG.get(name, name)
        if long in _types.NAMES:
            return "triton.language." + long
    return None


def constant_text(value, names):
    """The text of what a constexpr is given; names[name] = (function or class, its text, its decorator) is what it calls by a name.
    None: it has none."""
    def item(value):
        return constant_text(value, names)
    value = known(value)
    text = literal(value) or member_text(value) or container(value, item)
    fields = fields_of(type(value))
    if text or fields is None and function_of(value) is None:
        return text
    name = "tkc_argument_%d" % len(names)
    if fields is None:
        names[name] = origin_of(value)
        return name
    names[name] = origin_of(type(value))
    inside = [item(getattr(value, f)) for f in fields]
    return None if None in inside else "%s(%s)" % (name, ", ".join(inside))


def fields_of(kind):
    """The names of a named tuple's or a dataclass's parts; None: it is neither."""
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind)]
    return list(kind._fields) if issubclass(kind, tuple) and hasattr(kind, "_fields") else None


def container(value, text_of):
    """Of a tuple, a list or a dict."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields") or is_tuple(value):
        inside = [text_of(v) for v in value]
        if None in inside:
            return None
        return ("[%s]" if isinstance(value, list) else "(%s,)" if len(inside) == 1 else "(%s)") % ", ".join(inside)
    if type(value) is dict:
        pairs = [(literal(k), text_of(v)) for k, v in value.items()]
        return None if any(None in p for p in pairs) else "{%s}" % ", ".join("%s: %s" % p for p in pairs)
    return None


def changes_in_place(value):
    """Whether a plain value may become another and stay the same object."""
    value = known(value)
    return isinstance(value, (list, dict)) or isinstance(value, tuple) and any(map(changes_in_place, value))


class Used(ast.NodeVisitor):
    """The names in a definition, each with the attributes asked of it: {"tl": {("load",)}, "m": {("part", "f"), …}}."""

    def __init__(self):
        self.chains = {}

    def visit_Name(self, node):
        self.chains.setdefault(node.id, set()).add(())

    def visit_Attribute(self, node):
        names, at = [], node
        while isinstance(at, ast.Attribute):
            names.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name):
            self.chains.setdefault(at.id, set()).add(tuple(reversed(names)))
        else:
            self.visit(at)


class Program:
    """All that a kernel needs. `name` and `text` are its own; `imports` what others are asked for; `renamed` whose they are;
    `seen` is what was read of Python, `texts_seen` what of it changes in place, with its text then: if it has changed, so has the kernel."""

    def __init__(self, python, arguments=None, entry=None, text=None):
        self.functions = {}
        self.texts = []
        self.seen = []
        self.texts_seen = []
        kernel = self.add(python, text)
        root = entry.place(self, kernel) if entry else kernel.module
        for name, (value, *its) in (arguments or {}).items():  # that are given for constexprs
            if dataclasses.is_dataclass(value):
                root.names[name] = ("tuple class", value.__name__, fields_of(value))
            else:
                root.names[name] = self.target(value, name, {()}) if isinstance(value, type) else ("function", self.add(value, *its))
        self.kernel = kernel.name
        rendered = {t: t.render() for t in self.texts}
        self.path, self.text = root.path, rendered[root]
        self.imports = {t.module + ".py": rendered[t] for t in self.texts}
        self.renamed = {t.module + ".py": t.path for t in self.texts}

    def is_current(self):
        for place, name, value in self.seen:
            if place.get(name, MISSING) is not value:
                return False
        return all(literal(value) == text for value, text in self.texts_seen)

    def add(self, python, text=None, decorator=JIT):
        """The Function of a Python function, or class, placed with all it uses."""
        key = (python, text, decorator)
        if key in self.functions:
            return self.functions[key]
        f = self.functions[key] = Function(python, text, decorator)
        self.bind_names(f)
        text = next((t for t in self.texts if t.path == f.path and t.has_room(f)), None)
        if text is None:
            text = Text(f.path, len(self.texts))
            self.texts.append(text)
        text.add(f)
        return f

    def bind_names(self, f):
        scopes = scopes_of(f.python)
        check_results_used(f, scopes)
        used = Used()
        for part in f.node.body + ([f.node.args, f.node.returns] if isinstance(f.node, ast.FunctionDef) else f.node.bases):
            if part is not None:
                used.visit(part)
        local = set(f.python.__code__.co_varnames) if isinstance(f.python, types.FunctionType) else set()
        for name in sorted(used.chains):
            if name not in local:
                self.bind(f.names, scopes, name, used.chains[name], f.calls_python)
        for name, target in (("triton", ("module", "triton")),):  # for @triton.jit, and dtypes in values
            f.names.setdefault(name, target)

    def bind(self, names, scopes, name, chains, calls_python=False):
        for scope in scopes:
            value = scope.get(name, MISSING)
            if value is not MISSING:
                if not isinstance(value, (types.ModuleType, _types.Builtin)):
                    self.seen.append((scope, name, value))
                if changes_in_place(value):
                    self.texts_seen.append((value, literal(value)))
                plain = calls_python and isinstance(value, types.FunctionType) and not language_member(value)
                names[name] = self.definition(value) if plain else self.target(value, name, chains)
                return

    def target(self, value, name, chains):
        """What a name is bound to in the text."""
        if isinstance(value, types.ModuleType):
            return self.module(value, chains)
        text = literal(value)
        if text is not None:
            return ("text", text)
        member = language_member(value)
        if member:
            return ("module", ".".join(member)) if isinstance(value, _types.Builtin) and value.is_namespace() else ("member", *member)
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields") and not value._field_defaults:
            return ("tuple class", value.__name__, fields_of(value))
        if isinstance(value, type) and not is_of_kernels(value) and any(chains):
            return self.namespace(vars(value), value.__qualname__, chains)
        if is_of_kernels(value):
            return self.definition(value)
        return host(value)

    def definition(self, value):
        python, *its = origin_of(value)
        try:
            return ("function", self.add(python, *its))
        except SourceUnavailable:
            return host(python)

    def module(self, module, chains):
        known = language_module(module.__name__)
        if known:
            return ("module", known)
        return self.namespace(vars(module), module.__name__, chains)

    def namespace(self, place, name, chains):
        """A module of the attributes that are used."""
        inside = Text("<%s>" % name, len(self.texts))
        self.texts.append(inside)
        for first in sorted({c[0] for c in chains if c}):
            self.bind(inside.names, [place], first, {c[1:] for c in chains if c and c[0] == first})
        inside.names.setdefault("triton", ("module", "triton"))
        return ("module", inside.module)


class Entry:
    """A kernel around the kernel, for arguments that are tuples: it takes their items one by one and puts them together. values: the
    text of each of the kernel's arguments; items: the names in these texts; classes: named tuples in them, by name."""

    def __init__(self):
        self.values, self.items, self.classes = [], [], {}

    def text_of(self, name, value, add):
        """The text of a tuple; add(name, item) is told of each item that is none itself."""
        if not isinstance(value, (tuple, list)) and not is_tuple(value):
            self.items.append(name)
            add(name, value)
            return name
        inside = [self.text_of("%s__%d" % (name, i), v, add) for i, v in enumerate(value)]
        if hasattr(value, "_fields"):
            made = "tkc_tuple_%d" % len(self.classes)
            self.classes[made] = type(value)
            return "%s(%s)" % (made, ", ".join(inside))
        return "(%s)" % "".join(text + ", " for text in inside)

    def key(self):
        return tuple(self.values), tuple(self.items), tuple(self.classes.values())

    def place(self, program, kernel):
        """The Text of it."""
        text = Text("<launch of %s>" % kernel.name, len(program.texts))
        program.texts.append(text)
        text.lines = {1: "@triton.jit", 2: "def %s(%s):" % (kernel.name, ", ".join(self.items)),
                      3: "    tkc_kernel(%s)" % ", ".join(self.values)}
        text.names = {"triton": ("module", "triton"), "tkc_kernel": ("function", kernel)}
        for name, kind in self.classes.items():
            text.names[name] = program.target(kind, name, {()})
        return text


def is_tuple(value):
    """Triton's own tuples, which are not Python's."""
    return type(value).__name__ == "tuple" and hasattr(value, "values") and hasattr(value, "__iter__")


def is_of_kernels(value):
    """Whether a kernel may use it by its text: what is under @jit or constexpr_function, named tuples, Triton's aggregates. Any other
    function is host code."""
    if isinstance(value, type):
        return issubclass(value, tuple) and hasattr(value, "_fields") or getattr(value, "__triton_aggregate__", False)
    return not isinstance(value, types.FunctionType) and function_of(value) is not None


def host(value):
    """What only Python can make something of: libtkc refuses it where a kernel uses it, by this name."""
    kind = type(value)
    module = getattr(value, "__module__", None) or kind.__module__ or "builtins"
    name = str(getattr(value, "__name__", kind.__name__))
    if module.split(".")[0] in ADVISED and name.isidentifier():
        return ("member", module, name)
    words = [w for w in module.split(".") + [name] if w.isidentifier()]
    return ("member", HOST + ".".join(words[:-1]) if words[1:] else HOST.rstrip("."), words[-1] if words else "object")


def scopes_of(python):
    """Where a function's names are looked up: what it closes over, its module. Read anew each time: cells change."""
    if not isinstance(python, types.FunctionType):
        module = inspect.getmodule(python)
        return [vars(module)] if module else []
    cells = dict(zip(python.__code__.co_freevars, python.__closure__ or ()))
    return ([Cells(cells)] if cells else []) + [python.__globals__]


class Cells:
    """Closure cells as a mapping."""

    def __init__(self, cells):
        self.cells = cells

    def get(self, name, default):
        cell = self.cells.get(name)
        try:
            return default if cell is None else cell.cell_contents
        except ValueError:  # empty yet
            return default
