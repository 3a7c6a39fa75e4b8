"""What a launch tells those who asked through tkc.knobs: of what it compiles, and of itself."""
import ctypes
import json
import struct
import types

from . import knobs
from ._library import ARG_BYTES, CONSTEXPR_ARG, FLOAT_ARG, INT_ARG, POINTER_ARG

ANY, ANY_BUT_ONE = 1, 2  # of an integer, as TkcArg.bytes: no code of its own for 1 and multiples of 16; for 1 only


def _int_type(value):
    return "i32" if -2**31 <= value < 2**31 else "i64"


def arguments(packed):
    """(type, what is known of the value: 1, 16 or None) of each TkcArg: all that code is made for."""
    out = []
    for at in range(0, len(packed), ARG_BYTES):
        kind, text, value, rest = struct.unpack_from("=i4xQQQ", packed, at)
        type = ctypes.string_at(text).decode() if text else None
        known = 16 if kind == POINTER_ARG and value % 16 == 0 else None
        if kind == INT_ARG:
            number, = struct.unpack_from("=q", packed, at + 16)
            type = type or _int_type(number)
            known = None if rest == ANY else 1 if value == 1 else 16 if value % 16 == 0 and rest != ANY_BUT_ONE else None
        elif kind == FLOAT_ARG:
            type = type or "fp32"
        out.append((None if kind == CONSTEXPR_ARG else type, known))
    return tuple(out)


class Specialization:
    """What a kernel was compiled for: `signature`, types by name; `constants`, values by name."""

    def __init__(self, kernel):
        self.fn = kernel.owner
        known = dict(zip(kernel.names, arguments(kernel.packed())))
        self.constants = {**kernel.constants, **{n: 1 for n, (_, fact) in known.items() if fact == 1}}
        self.signature = {p.name: known.get(p.name, ("constexpr", None))[0] for p in kernel.owner.params}
        self.attrs = {n: fact for n, (_, fact) in known.items() if fact == 16}


class LaunchMetadata:
    """Of launch_enter_hook and launch_exit_hook: .get() is a dictionary; @jit(launch_metadata=…) adds to it."""

    def __init__(self, jit, kernel, grid, values, stream):
        self.jit, self.kernel, self.grid, self.values, self.stream = jit, kernel, grid, values, stream

    def get(self):
        said = {"name": self.kernel.name, "function": None, "stream": self.stream}
        if self.jit.launch_metadata:
            said.update(self.jit.launch_metadata(self.grid, self.kernel.metadata, dict(self.values)))
        return said


def compiling(jit, kernel, packed, warmup):
    """Compiles what is not yet compiled, and tells. False: the hook does not want it."""
    key = repr((kernel.key, arguments(packed)))
    kernel.newest = packed
    if key in kernel.told:
        return True
    name = "%s.%s" % (jit.__module__, jit.__qualname__)
    told = {"key": key, "repr": "%s[%s]" % (jit.__name__, key), "is_manual_warmup": warmup, "already_compiled": False,
            "fn": types.SimpleNamespace(module=jit.__module__, name=jit.__qualname__, jit_function=jit),
            "compile": {**kernel.options, "key": key, "name": name, "is_warmup": warmup, "constants": dict(kernel.constants),
                        "signature": dict(zip(kernel.names, (type for type, _ in arguments(packed)))),
                        "specialization_data": json.dumps({"name": name, "key": key})}}
    r = knobs.runtime
    if r.jit_cache_hook and r.jit_cache_hook(**told):
        return False
    kernel.compile(packed)
    kernel.told.add(key)
    if r.jit_post_compile_hook:
        r.jit_post_compile_hook(**told)
    for chain in (r.kernel_load_start_hook, r.kernel_load_end_hook):
        if chain:
            chain(None, None, kernel.name, kernel.metadata, kernel.hash)
    return True


def launching(jit, kernel, grid, values, stream, launch):
    told = LaunchMetadata(jit, kernel, grid, values, stream)
    knobs.runtime.launch_enter_hook(told)
    launch()
    knobs.runtime.launch_exit_hook(told)
