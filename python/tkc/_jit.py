"""tkc.jit: a kernel of a Python function or of a file, and launching it."""
import ctypes
import enum
import functools
import hashlib
import inspect
import operator
import os
import struct
import sys
import threading
import types
import warnings
import weakref

from . import _arrays, _hooks, _launch, _library, _quick, _source, _types, knobs

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug", "sanitize_overflow", "stream", "warmup",
           "launch_cooperative_grid", "launch_pdl", "enable_reflect_ftz", "extern_libs")
NUMBERS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
HINTS = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")  # for AMD's chips: configurations for all chips carry them
ONLY = {"launch_cooperative_grid": (None, False), "launch_pdl": (None, False), "enable_reflect_ftz": (None, True),
        "warmup": (None, False, True)}


class OptionError(ValueError, AssertionError):
    """An option has a value that no launch can have; Triton's hosts catch an AssertionError."""


class Parameter:
    """name, is_constexpr, default: its text in a file; Python's functions have theirs as values."""

    def __init__(self, p):
        self.name, self.is_constexpr = p.name.decode(), p.is_constexpr
        self.default = p.default.decode() if p.default is not None else None


def check_options(name, options):
    for key in HINTS:
        options.pop(key, None)
    for key, value in options.items():
        if key not in OPTIONS and key not in ONLY:
            raise TypeError("%s() got an unexpected keyword argument '%s': it is no parameter of the kernel, and no option; these are %s"
                            % (name, key, ", ".join(OPTIONS)))
        if key in ONLY and value not in ONLY[key]:
            raise ValueError("%s(): %s=%r is not supported" % (name, key, value))
    for key in NUMBERS:
        if options.get(key) is None:
            continue
        try:
            n = options[key] = operator.index(options[key])
        except TypeError:
            raise TypeError("%s(): %s=%r: it must be an integer" % (name, key, options[key])) from None
        if key in ("num_warps", "num_ctas") and (n < 1 or n & (n - 1)):
            raise OptionError("%s(): %s=%r: it must be a power of 2" % (name, key, n))
        if key == "maxnreg" and n < 1:
            raise OptionError("%s(): maxnreg=%r: it must be 1 or more" % (name, n))
        if abs(n) >= 1 << 31:
            raise OptionError("%s(): %s=%r: it does not fit 32 bits" % (name, key, n))
    if (options.pop("num_ctas", None) or 1) > 1:  # the results are the same
        warnings.warn("%s(): num_ctas has no effect: a program is one block of threads, clusters are not used" % name, _library.KernelWarning, 2)
    libraries = options.pop("extern_libs", None) or {}
    others = [str(n) for n in libraries if n != "libdevice"]
    if others:
        raise ValueError("%s(): extern_libs: kernels call no functions of %s; those of libdevice there are without it" % (name, ", ".join(others)))
    if libraries:
        warnings.warn("%s(): extern_libs has no effect: the functions of libdevice are the compiler's own" % name, _library.KernelWarning, 2)


class Launchable:
    """kernel[grid](…)."""

    def __getitem__(self, grid):
        return functools.partial(self._run, grid)

    def _prepared(self, args, kwargs):
        """The kernel, compiled for these arguments, of such a launch that went well before; None: it is not known, as without the extension."""

    def run(self, *args, grid, warmup=False, **kwargs):
        """kernel[grid](…), as a call."""
        return self.warmup(*args, grid=grid, **kwargs) if warmup else self[grid](*args, **kwargs)

    def warmup(self, *args, grid=(1,), **kwargs):
        """Compiles for these arguments and launches nothing. torch.float16 stands for a tensor of these."""
        kernel = self._prepared(args, kwargs)
        if kernel is not None:
            return kernel
        wrap = lambda v: _arrays.MockTensor(v) if _arrays.is_torch_dtype(v) else v
        return self._run(grid, *map(wrap, args), warmup=True, **{n: wrap(v) for n, v in kwargs.items()})

    def __call__(self, *args, **kwargs):
        raise TypeError("%s is a kernel: it is launched as %s[grid](…), and called only by other kernels" % (self.__name__, self.__name__))


ALL = weakref.WeakSet()  # for what all of them have to know


def forget_all():
    for jit in list(ALL):
        jit._forget()


knobs.on_change(forget_all)
_source.on_update.append(forget_all)


class Jit(*_quick.BASES, Launchable):
    """What both kinds of kernels share. `_run(grid, *args, **kwargs)` launches; it is made for the kernel's parameters."""

    def __init__(self, name, options):
        self.__name__ = name
        self.defaults = options
        self.lock = threading.RLock()
        self.kernels = {}
        self.pre_run_hooks = []
        self.params = None
        self.by_types = {}  # (types of the arguments): a launcher for these
        self.plans, self.tuners = [], weakref.WeakSet()  # for _quick; who has plans of this kernel's, too
        self.repr_of = self.launch_metadata = None  # @jit(repr=…, launch_metadata=…)
        self.unspecialized = {}  # name: _hooks.ANY or ANY_BUT_ONE
        ALL.add(self)
        self._run = self._first_run

    # ---- what the two kinds differ in ----
    def _open(self, given):
        """A context, the source in it and the kernel's name. given: the arguments it is for, None of any."""
        raise NotImplementedError

    def _signature(self):
        """[(name, default or MISSING)], and whether what is left out is the file's to say."""
        raise NotImplementedError

    def _refresh(self):
        """Forgets what was compiled of a text that has changed since."""

    # ---- launching ----
    def _first_run(self, grid, /, *args, **kwargs):
        with self.lock:
            if self.params is None:
                self._read_params()
            self._run = make_run(self)
            self.plans = _quick.begin(self, self._signature(), MISSING)
        return self._run(grid, *args, **kwargs)

    def _read_params(self):
        context, source, kernel = self._open(None)
        count = ctypes.c_int()
        context.check(context.lib.tkc_source_param_count(source, kernel.encode(), ctypes.byref(count)))
        raw = context.params(count.value, lambda i, out: context.lib.tkc_source_param(source, kernel.encode(), i, out))
        self.params = [Parameter(p) for p in raw]  # copies: the texts are the source's

    def _prepare(self, values, options):
        """The Kernel for these values, and the values sorted."""
        check_options(self.__name__, options)
        options = {**self.defaults, **options}
        if knobs.runtime.debug:
            options["debug"] = True
        self._refresh()
        given = _launch.Given(self.params, values, self.unspecialized)
        place = _launch.choose_place(given.arrays)
        key = (place, given.program_key(), tuple(sorted((k, v) for k, v in options.items() if k not in _launch.VARYING)))
        kernel = self.kernels.get(key)
        if kernel is None:
            with self.lock:
                kernel = self.kernels.get(key)
                if kernel is None:
                    kernel = self.kernels[key] = _launch.Kernel(self, lambda: self._open(given), place, given, options)
        return kernel, given

    def _launch(self, grid, values, options):
        """The way that every kind of argument can go."""
        for hook in self.pre_run_hooks:
            self._tell(hook, values)
        kernel, given = self._prepare(values, options)
        warmup = bool(options.get("warmup"))
        if knobs.is_heard() and not _hooks.compiling(self, kernel, given.pack({}), warmup):
            return None
        if warmup:
            kernel.compile(given.pack({}))
            return kernel
        extents, stream = _launch.grid_extents(grid, values), options.get("stream")
        if knobs.is_heard():
            _hooks.launching(self, kernel, extents, values, stream, lambda: _launch.run(kernel, extents, given, stream))
        else:
            _launch.run(kernel, extents, given, stream)
        return kernel

    def _tell(self, hook, values):
        """Of the arguments, those in front of the first constexpr have places, the others names: as launches give them."""
        first = next((i for i, p in enumerate(self.params) if p.is_constexpr), len(self.params))
        names = [p.name for p in self.params[:first]]
        names = names[:next((i for i, n in enumerate(names) if n not in values), first)]
        hook(*(values[n] for n in names), **{n: v for n, v in values.items() if n not in names})

    def add_pre_run_hook(self, hook):
        """It is called with the arguments before each launch: in their places up to the first constexpr, by name from there on."""
        self.pre_run_hooks.append(hook)
        self._forget()

    def _unspecialize(self, values, alignments):
        """Parameters by name or number."""
        for given, how in ((alignments, _hooks.ANY_BUT_ONE), (values, _hooks.ANY)):
            self.unspecialized.update({n if isinstance(n, str) else self.arg_names[n]: how for n in given or ()})

    def _forget(self):
        """What the short ways remember."""
        for door in (self, *self.tuners):
            del door.plans[:]
        for launcher in self.by_types.values():
            launcher.entries.clear()

    def __repr__(self):
        return "tkc.jit(%s)" % self.__name__


MISSING = object()


def make_run(jit):
    """A function with the kernel's own parameters, so that Python itself binds arguments: by their types it finds a launcher made
    for them, or goes the general way."""
    signature, open_ended = jit._signature()
    names = [n for n, _ in signature]
    spell = []
    scope = {"_by_types": jit.by_types, "_jit": jit, "_general": general, "_MISSING": MISSING}
    keyword_only = False
    for i, (name, default) in enumerate(signature):
        text = name
        if default is not MISSING or open_ended:
            scope["_default_%d" % i] = MISSING if default is MISSING else default
            text = "%s=_default_%d" % (name, i)
            keyword_only = True
        elif keyword_only:
            text = "%s=_MISSING" % name
        spell.append(text)
    # An option that is a parameter, too, is the parameter.
    own = [o for o in ("num_warps", "num_stages") if o not in names]
    options = ", ".join(o if o in own else "None" for o in ("num_warps", "num_stages"))
    called = jit.__name__ if jit.__name__.isidentifier() and jit.__name__ not in scope else "kernel"
    code = ("def {name}(_grid, /, {params}**_options):\n"
            "    if not _options and not _more:\n"
            "        _f = _by_types.get(({types}))\n"
            "        if _f is not None:\n"
            "            return _f(_grid, ({names}), {options})\n"
            "    return _general(_jit, _grid, ({names}), {options}, _options, _more)\n").format(
                name=called,
                params="".join(s + ", " for s in spell + ["*_more"] + [o + "=None" for o in own]), options=options,
                types="".join("%s.__class__, " % n for n in names), names="".join(n + ", " for n in names))
    if not names:
        code = code.replace("_by_types.get(())", "None")
    exec(compile(code, "<launcher of %s>" % jit.__name__, "exec"), scope)
    return scope[called]


def general(jit, grid, values, num_warps, num_stages, options, more=()):
    names = [p.name for p in jit.params]
    if more:
        raise TypeError("%s() takes %d arguments, %s; %d were given" % (jit.__name__, len(names), ", ".join(names), len(values + more)))
    named = {n: v for n, v in zip(names, values) if v is not MISSING}
    lacking = [p.name for p in jit.params if p.name not in named and not jit.can_leave_out(p)]
    if lacking:
        raise TypeError("%s() is missing %s; it takes %s" % (jit.__name__, ", ".join("'%s'" % n for n in lacking), ", ".join(names)))
    options.update(num_warps=num_warps, num_stages=num_stages)
    options = {n: v for n, v in options.items() if v is not None}
    kernel = jit._launch(grid, named, dict(options))
    if kernel is not None and kernel.place[0] == "cuda" and not knobs.is_heard() and not options.keys() & _launch.VARYING and MISSING not in values:
        teach(jit, kernel, values, options)
    return kernel


# ---- the short way: torch's tensors on a GPU, and numbers ----

# Of a TkcArg: 16 bytes, its value, 8 bytes.


def kinds_of(jit, values):
    """One letter an argument: Tensor, Descriptor, Int, Float, Bool, Constexpr, one that is compared by its text (R); None: some argument
    has to go the general way."""
    torch = sys.modules.get("torch")
    kinds = []
    for p, v in zip(jit.params, values):
        if p.is_constexpr or v is None:
            kinds.append("C" if isinstance(v, (int, str, enum.Enum, type(None), _types.dtype, _types.Builtin)) else "R" if _source.literal(v) is not None else None)
        elif torch is not None and isinstance(v, torch.Tensor):
            kinds.append("T" if v.is_cuda else None)  # pinned memory: whether it is, is asked each time
        elif torch is not None and _arrays.is_descriptor(v):
            kinds.append("D" if isinstance(v.base, torch.Tensor) and v.base.is_cuda else None)
        else:
            kinds.append({bool: "B", int: "I", float: "F"}.get(type(v)))
    return None if None in kinds else "".join(kinds)


def teach(jit, kernel, values, options):
    """Remembers a launch that went well: the next one with arguments of these types needs one look-up and one call."""
    kinds = kinds_of(jit, values)
    if kinds is None or not set("TD") & set(kinds) or jit.pre_run_hooks or _quick.teach(jit, kernel, kinds, values, options):
        return
    if "D" in kinds or options.keys() - {"num_warps", "num_stages"}:
        return
    types_ = tuple(v.__class__ for v in values)
    launcher = jit.by_types.get(types_)
    if launcher is None:
        launcher = make_launcher(jit, kinds)
    key = launcher.key(values, options.get("num_warps"), options.get("num_stages"))
    launcher.entries[key] = entry(jit, kernel, kinds, values)
    jit.by_types[types_] = launcher


def entry(jit, kernel, kinds, values):
    """(whether it has globals that may change, handle, count, ordinal, pack, what stays, the end, kernel): pack takes what stays and
    the values that vary, in turns, and gives the bytes of all arguments."""
    form, fixed, pending = "", [], b""
    for kind, value, p in zip(kinds, values, jit.params):
        if kind in "CR":
            continue
        number, letter, text = {"T": (_library.POINTER_ARG, "Q", None), "I": (_library.INT_ARG, "q", None),
                                "B": (_library.INT_ARG, "q", "i1"), "F": (_library.FLOAT_ARG, "d", None)}[kind]
        if kind == "T":
            text = _arrays.read(value, p.name).type
        pending += struct.pack("i4xQ", number, _launch.text_address(text))
        form += "%ds%s" % (len(pending), letter)
        fixed.append(pending)
        pending = struct.pack("Q", _hooks.ANY if kind == "B" else jit.unspecialized.get(p.name, 0) if kind == "I" else 0)
    form += "%ds" % len(pending)
    count = sum(k not in "CR" for k in kinds)
    return (jit.is_watched(), ctypes.c_void_p(kernel.jit), count, kernel.place[1], struct.Struct("=" + form).pack, tuple(fixed), pending, kernel)


def make_launcher(jit, kinds):
    names = [p.name for p in jit.params]
    runtime = [n for n, k in zip(names, kinds) if k not in "CR"]
    key = []
    for n, k in zip(names, kinds):
        key += {"T": ["%s.dtype" % n, "%s.is_cuda" % n, "%s.get_device()" % n], "C": [n], "R": ["repr(%s)" % n]}.get(k, [])
    varying = ", ".join("_s[%d], %s" % (i, n + ".data_ptr()" if k == "T" else n)
                        for i, (n, k) in enumerate((n, k) for n, k in zip(names, kinds) if k not in "CR"))
    scope = {"_jit": jit, "_general": general, "_entries": {}, "_grid_bytes": _launch.pack_grid, "_ones": _launch.ONES,
             "_launch": _library.library().tkc_launch, "_stream": _launch.raw_stream_function(), "_error": (struct.error, KeyError, TypeError)}
    code = """
def key(_values, _warps, _stages):
    {names}, = _values
    return ({key}, _warps, _stages)

def launcher(_grid, _values, _warps, _stages):
    {names}, = _values
    _e = _entries.get(({key}, _warps, _stages))
    if _e is not None and (not _e[0] or _jit.is_current()):
        _, _h, _n, _o, _pack, _s, _t, _kernel = _e
        if _grid.__class__ is not tuple and callable(_grid):
            _grid = _grid({{{meta}}})
        try:
            _g = _grid_bytes(*_grid, *_ones[len(_grid)])
            _a = _pack({varying}, _t)
        except _error:
            pass
        else:
            if not _launch(_h, _g, _stream(_o), _a, _n):
                _kernel.newest = _a
                return _kernel
            _kernel.forget()
    return _general(_jit, _grid, _values, _warps, _stages, {{}})
""".format(names=", ".join(names), key=", ".join(key), varying=varying, meta=", ".join("%r: %s" % (n, n) for n in names))
    exec(compile(code, "<launcher of %s>" % jit.__name__, "exec"), scope)
    launcher = scope["launcher"]
    launcher.key, launcher.entries = scope["key"], scope["_entries"]
    return launcher


# ---- kernels of Python functions ----

class JitFunction(Jit):
    """A kernel that is a function of this program: its text is compiled, its body never runs in Python."""

    def __init__(self, fn, options=None):
        super().__init__(fn.__name__, dict(options or {}))
        self.fn = fn
        self.text = None  # what stands for the function's own
        self.__doc__, self.__module__, self.__qualname__ = fn.__doc__, fn.__module__, fn.__qualname__
        self.arg_names = list(inspect.signature(fn).parameters)
        self.program = None
        self.updates = _source.updates()

    def _program(self, given):
        if given and (given.functions or given.entry):
            return _source.Program(self.fn, given.functions, given.entry, self.text)
        if self.program is None:
            self.program = _source.Program(self.fn, text=self.text)
        return self.program

    def _open(self, given):
        program = self._program(given)
        context = _library.Context(program.renamed)
        context.import_from(program.imports)
        return context, context.open_text(program.path, program.text), program.kernel

    def is_watched(self):
        return bool(self.program.seen)

    def is_current(self):
        return self.updates == _source.updates() and (self.program is None or self.program.is_current())

    @property
    def name(self):
        return self.__qualname__

    def _refresh(self):
        if not self.is_current():
            with self.lock:
                self.program = None
                self.updates = _source.updates()
                self.kernels.clear()
                self._forget()

    def _signature(self):
        out = []
        for name, p in inspect.signature(self.fn).parameters.items():
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                raise TypeError("%s: a kernel that is launched has parameters with names, not *%s" % (self.__name__, name))
            out.append((name, MISSING if p.default is p.empty else p.default))
        return out, False

    def can_leave_out(self, p):
        return False

    @property
    def src(self):
        """The function's text, from its def on."""
        return self.text if self.text is not None else _source.own_text(self.fn)

    def _unsafe_update_src(self, text):
        """Compiles this text in place of the function's; Triton's name of it."""
        with self.lock:
            self.text = text
            _source.updated()

    @property
    def cache_key(self):
        """Changes when the text of the kernel does, or of what it uses."""
        self._refresh()
        program = self._program(None)
        said = repr((program.text, sorted(program.imports.items()), sorted(self.defaults.items())))
        return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


# ---- kernels of files ----

class JitFile(Jit):
    """A kernel of a .tk file, or of a Python file that is not imported."""

    def __init__(self, path, kernel, options):
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise FileNotFoundError("there is no file '%s' with kernels" % self.path)
        context = _library.Context()
        source = context.open_file(self.path)
        names = [context.lib.tkc_source_kernel_name(source, i).decode() for i in range(context.lib.tkc_source_kernel_count(source))]
        if kernel is None and len(names) != 1:
            raise ValueError("'%s' has the kernels %s; say which: tkc.jit(%r, kernel=…)" % (self.path, ", ".join(names) or "none", path))
        super().__init__(kernel or names[0], options)
        self._read_params()
        self.arg_names = [p.name for p in self.params]

    def _open(self, given):
        if given and (given.functions or given.entry):
            raise TypeError("%s: a kernel of a file takes no %s of Python as arguments"
                            % (self.__name__, "functions and classes" if given.functions else "tuples"))
        context = _library.Context()
        return context, context.open_file(self.path), self.__name__

    def is_watched(self):
        return False

    def is_current(self):
        return True

    def _signature(self):
        return [(p.name, MISSING) for p in self.params], True

    def can_leave_out(self, p):
        return p.is_constexpr or p.default is not None


def jit(fn=None, *, kernel=None, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None, **options):
    """A kernel: of a function under @tkc.jit, of one of Triton's jit functions, or of a file, tkc.jit("softmax.tk",
    kernel="softmax_masked"). It is launched as kernel[grid](…). num_warps, num_stages, debug and enable_fp_fusion given here hold
    for launches that do not say them; what only says how Triton's own compiler goes about its work has no effect."""
    if debug is not None:
        options["debug"] = debug
    check_options("tkc.jit", options)
    if fn is None and kernel is None:
        return lambda f: jit(f, repr=repr, launch_metadata=launch_metadata, do_not_specialize=do_not_specialize,
                             do_not_specialize_on_alignment=do_not_specialize_on_alignment, **options)
    if isinstance(fn, (str, os.PathLike)):
        return JitFile(fn, kernel, options)
    made = of_object(fn, options)
    if isinstance(made, Jit):
        made.repr_of, made.launch_metadata = repr or made.repr_of, launch_metadata or made.launch_metadata
        made._unspecialize(do_not_specialize, do_not_specialize_on_alignment)
    return made


def of_object(fn, options):
    from . import _tune
    if isinstance(fn, Jit):
        return type(fn)(fn.fn, {**fn.defaults, **options}) if isinstance(fn, JitFunction) else fn
    if isinstance(fn, _tune.WRAPPERS):
        return fn
    if isinstance(fn, types.FunctionType):
        return JitFunction(fn, options)
    python = _source.function_of(fn)
    if python is None:
        raise TypeError("tkc.jit takes a function, one of Triton's jit functions, or a file's path, not an object of type %s" % type(fn).__name__)
    return _tune.of_triton(fn, python, options)
