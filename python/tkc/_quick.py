"""The extension that makes launches again which went well before (python/fast.c): found beside this file (a wheel), or beside the library
that TKC_LIBRARY names (a build). Without it launches go through ctypes alone, which takes longer."""
import copy
import ctypes
import importlib.machinery
import importlib.util
import os

from . import _launch, _library

NAME = "_fast.abi3.so"
MAX_PLANS = 256  # of one kernel; then it begins anew
MAX_OPTIONS, MAX_DESCRIPTORS = 8, 16  # of a launch, as in fast.c


def _find():
    beside = os.path.dirname(os.environ.get("TKC_LIBRARY", ""))
    for folder in (os.path.dirname(os.path.abspath(__file__)), os.path.join(beside, "python")):
        path = os.path.join(folder, NAME)
        if os.path.exists(path):
            try:
                loader = importlib.machinery.ExtensionFileLoader("tkc._fast", path)
                module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("tkc._fast", path, loader=loader))
                loader.exec_module(module)
                return module
            except ImportError:
                continue
    return None


_fast = _find() if os.environ.get("TKC_LAUNCHES") != "ctypes" else None
BASES = (_fast.Door,) if _fast else ()
GIVEN = object()  # stands for an argument that is not the caller's to give
launches_by = "extension" if _fast else "ctypes"


def begin(jit, signature, missing):
    """Lets the extension bind a kernel's arguments; returns its list of plans."""
    names, open_ended = signature
    if not _fast or open_ended:  # a file says what is left out
        return []
    plans = jit._begin(tuple(n for n, _ in names), tuple(default for _, default in names), missing)
    return [] if plans is None else plans  # None: more parameters than it takes


def watched(jit):
    """(dictionary, name, value, …) that the kernel's text depends on; None: some of it stands in no dictionary, or changes in place."""
    if jit.is_watched() and (jit.program.texts_seen or any(type(place) is not dict for place, _, _ in jit.program.seen)):
        return None
    return tuple(x for entry in jit.program.seen for x in entry) if jit.is_watched() else ()


def teach(jit, kernel, kinds, values, options):
    """Remembers a launch that went well; whether the extension could. kinds: a letter an argument, as _jit.kinds_of has them."""
    return _keep(jit.plans, _plan(jit, kernel, kinds, values, options))


def teach_tuner(tuner, kernel, kinds, values, options, fixed, config, depends):
    """Remembers such a launch for an autotuner of the kernel. fixed: {place: what stands there in the caller's arguments}, GIVEN where
    they leave it to the configuration."""
    _keep(tuner.plans, _plan(tuner.fn, kernel, kinds, values, options, fixed, config, depends))


def _keep(plans, plan):
    """Whether there is one to keep."""
    if plan is None:
        return False
    if len(plans) >= MAX_PLANS:
        del plans[:]
    plans.insert(0, plan)
    return True


def _plan(jit, kernel, kinds, values, options, fixed=(), config=None, depends=()):
    kinds = "".join("C" if k == "R" and type(v) is float else k for k, v in zip(kinds, values))
    seen = watched(jit) if _fast and "R" not in kinds else None
    if seen is None or len(options) > MAX_OPTIONS or kinds.count("D") > MAX_DESCRIPTORS or not isinstance(jit, _fast.Door) or jit._signature()[1]:
        return None
    packed = bytearray(kernel.packed())
    slots = tuple(_slots(kinds, values, fixed, packed))
    calls = (ctypes.cast(f, ctypes.c_void_p).value for f in (_library.library().tkc_launch, _library.library().tkc_jit_prepare))
    return _fast.plan(*calls, kernel.jit, bytes(packed), slots, kernel, seen + depends,
                      kernel.place[1], _launch.raw_stream_function(), options, config)


def _slots(kinds, values, fixed, packed):
    """As fast.c's read_slot has them; packed: the arguments, of which how much memory is behind each is taken out, as it varies."""
    at = 0
    for i, (kind, value) in enumerate(zip(kinds, values)):
        want, device, example = value, None, value
        if kind in "TD":
            tensor = value if kind == "T" else value.base
            want, device = tensor.dtype, tensor.device
            tail = _library.ARG_BYTES * (at + 1) - 8
            packed[tail:tail + 8] = bytes(8)
        if kind == "D":
            example = (copy.copy(value.block_shape), value.padding, value.base)
        if i in fixed:
            yield "C", fixed[i].__class__, fixed[i], None, at, value
        else:
            yield kind, value.__class__, want, device, at, example
        at += kind != "C"
