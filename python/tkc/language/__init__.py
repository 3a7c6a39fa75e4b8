"""The names of Triton's language, for modules that hold kernels: `import tkc.language as tl`. Python only imports and passes them on;
what they mean is the compiler's business, which reads the kernels' text."""
import importlib as _importlib

from .. import _types
from .._types import Builtin as _Builtin, constexpr, dtype

for _name in _types.NAMES:
    globals()[_name] = dtype(_name)
for _name in _types.FOREIGN:
    globals()[_name.replace("fp", "float")] = dtype(_name)
void = dtype("void")
PropagateNan = _Builtin("triton.language.PropagateNan")
TRITON_MAX_TENSOR_NUMEL = 1 << 20
math = _Builtin("triton.language.math")


def aggregate(cls):
    """Decorator: a class of kernels, which is compiled from its text."""
    cls.__triton_aggregate__ = True
    return cls


_aggregate = aggregate


class pointer_type:
    """tl.pointer_type(tl.float32): what a pointer points to, as a constexpr."""

    def __init__(self, element_ty, address_space=1, const=False):
        self.element_ty, self.address_space, self.const = element_ty, address_space, const

    def __repr__(self):
        return "pointer<%s>" % self.element_ty

    def __eq__(self, other):
        return type(other).__name__ == "pointer_type" and self.element_ty == other.element_ty

    def __hash__(self):
        return hash(("*", self.element_ty))

    def is_ptr(self):
        return True


def str_to_ty(name, c=None):
    """The type of a name as signatures have it: "fp32", "*i8"."""
    return pointer_type(str_to_ty(name.lstrip("*k"))) if name.startswith("*") else dtype(name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = globals()[name] = _Builtin("triton.language." + name)
    return value


_importlib.import_module(__name__ + ".core")  # tl.core is a module; `from . import` would find a name of kernels
