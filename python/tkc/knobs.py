"""Settings, where Triton's hosts look for them; those that tkc has something for. A knob that nobody set is what its variable in the
environment says each time it is read, else its default: knobs.runtime.debug = True; with knobs.runtime.scope(): …"""
import contextlib
import ctypes
import os
import types

_changed = []  # what is called when a knob is set


def on_change(call):
    _changed.append(call)


def _tell():
    for call in _changed:
        call()


TRUE = ("1", "true", "yes", "on", "y")


class Hooks:
    """Functions that are called one after the other: add, remove."""

    def __init__(self):
        self.calls = []

    def add(self, hook):
        if hook not in self.calls:
            self.calls.append(hook)
        _tell()

    def remove(self, hook):
        if hook in self.calls:
            self.calls.remove(hook)

    def __call__(self, *args, **kwargs):
        for hook in list(self.calls):
            hook(*args, **kwargs)

    def __bool__(self):
        return bool(self.calls)


class _Group:
    """knobs: {name: (variable of the environment or None, default)}; chains: names of Hooks, None is an empty one."""

    def __init__(self, knobs, chains=()):
        self.__dict__.update(_knobs=knobs, _chains=chains, _set={name: Hooks() for name in chains})

    def __getattr__(self, name):
        if name in self._set:
            return self._set[name]
        if name not in self._knobs:
            raise AttributeError("tkc has no knob '%s'; here it has %s" % (name, ", ".join([*self._knobs, *self._chains])))
        variable, default = self._knobs[name]
        said = os.environ.get(variable) if variable else None
        if said is None:
            return default
        return said.lower() in TRUE if isinstance(default, bool) else said

    def __setattr__(self, name, value):
        if name not in self._knobs and name not in self._chains:
            raise AttributeError("tkc has no knob '%s'; here it has %s" % (name, ", ".join([*self._knobs, *self._chains])))
        if name in self._chains and not isinstance(value, Hooks):
            chain = Hooks()
            if value is not None:
                chain.add(value)
            value = chain
        self._set[name] = value
        _tell()

    def __delattr__(self, name):
        self._set.pop(name, None)
        if name in self._chains:
            self._set[name] = Hooks()

    @contextlib.contextmanager
    def scope(self):
        """Afterwards all is as before."""
        before = dict(self._set)
        lists = {name: list(before[name].calls) for name in self._chains}
        try:
            yield
        finally:
            self._set.clear()
            self._set.update(before)
            for name, calls in lists.items():
                self._set[name].calls[:] = calls


runtime = _Group({"debug": ("TRITON_DEBUG", False), "jit_cache_hook": (None, None), "jit_post_compile_hook": (None, None)},
                 ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook", "kernel_load_end_hook"))
language = _Group({"default_fp_fusion": ("TRITON_DEFAULT_FP_FUSION", True)})
autotuning = _Group({"print": ("TRITON_PRINT_AUTOTUNING", False)})


class _Cache(_Group):
    """The folder is that of libtkc, which reads TKC_CACHE_DIR when it opens a device."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        os.environ["TKC_CACHE_DIR"] = str(value or "")

    @contextlib.contextmanager
    def scope(self):
        before = os.environ.get("TKC_CACHE_DIR")
        try:
            with super().scope():
                yield
        finally:
            os.environ.pop("TKC_CACHE_DIR", None)
            if before is not None:
                os.environ["TKC_CACHE_DIR"] = before


class _Assembler:
    """What makes machine code of PTX: the driver. version: the CUDA that it is of, "12.8"."""

    @property
    def version(self):
        number = ctypes.c_int()
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number))
        return "%d.%d" % (number.value // 1000, number.value % 1000 // 10)


nvidia = types.SimpleNamespace(ptxas=_Assembler())
cache = _Cache({"dir": ("TKC_CACHE_DIR", os.path.expanduser("~/.cache/tkc"))})


def refresh_knobs():
    """Nothing is kept of the environment."""


def is_heard():
    """Whether launches have to tell somebody of themselves."""
    r = runtime._set
    return bool(r["launch_enter_hook"].calls or r["launch_exit_hook"].calls or r["kernel_load_start_hook"].calls or
                r["kernel_load_end_hook"].calls or r.get("jit_cache_hook") or r.get("jit_post_compile_hook"))
