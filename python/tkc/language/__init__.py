"""The names of Triton's language, for modules that hold kernels: `import tkc.language as tl`. Python only imports and passes them on;
what they mean is the compiler's business, which reads the kernels' text."""
from .. import _types
from .._types import Builtin as _Builtin, constexpr, dtype

for _name in _types.NAMES:
    globals()[_name] = dtype(_name)
for _name in ("float8e4b15", "float8e4b8", "float8e5b16"):  # of other chips: to compare with
    globals()[_name] = _Builtin("triton.language." + _name)
PropagateNan = _Builtin("triton.language.PropagateNan")
math = _Builtin("triton.language.math")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = globals()[name] = _Builtin("triton.language." + name)
    return value
