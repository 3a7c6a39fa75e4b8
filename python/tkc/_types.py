"""Types of the kernel language as host code has them: tl.float32, tl.constexpr, and names of elements elsewhere."""

NAMES = {  # Triton's name: the short one
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}
BYTES = {"i1": 1, "i8": 1, "u8": 1, "fp8e4nv": 1, "fp8e5": 1, "i16": 2, "u16": 2, "fp16": 2, "bf16": 2, "i32": 4, "u32": 4,
         "fp32": 4, "i64": 8, "u64": 8, "fp64": 8}
# What torch, numpy and others call elements.
ELEMENTS = dict({"bool": "i1", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"},
                **{long: short for long, short in NAMES.items() if long != "int1"})


class dtype:
    """An element type: a value for a constexpr, tl.float32."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "triton.language." + self.name

    __str__ = lambda self: NAMES[self.name]

    def __eq__(self, other):
        return getattr(other, "name", None) == self.name and type(other).__name__ == "dtype"

    def __hash__(self):
        return hash(self.name)

    @property
    def primitive_bitwidth(self):
        return 1 if self.name == "int1" else 8 * BYTES[NAMES[self.name]]

    @property
    def itemsize(self):
        return BYTES[NAMES[self.name]]

    def is_floating(self):
        return "float" in self.name


class constexpr:
    """A value that is known when a kernel is compiled; as an annotation, a parameter that takes one."""

    def __init__(self, value):
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self):
        return "constexpr[%r]" % (self.value,)

    def __index__(self):
        return self.value.__index__()

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, constexpr) else other)

    def __hash__(self):
        return hash(self.value)


def _operator(name):
    def apply(self, *others):
        return constexpr(getattr(_number(self.value), name)(*(o.value if isinstance(o, constexpr) else o for o in others)))
    return apply


def _number(value):
    return int(value) if isinstance(value, bool) else value


for _name in ("add radd sub rsub mul rmul floordiv rfloordiv truediv rtruediv mod rmod pow lshift rshift and or xor neg "
              "lt le gt ge").split():
    setattr(constexpr, "__%s__" % _name, _operator("__%s__" % _name))


NAMESPACES = ("triton", "triton.language", "triton.language.math", "triton.language.extra", "triton.language.extra.cuda")


class Builtin:
    """A name of tl: what only a kernel calls, or a namespace of such names."""

    def __init__(self, dotted):
        self.dotted = dotted

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = Builtin(self.dotted + "." + name)
        self.__dict__[name] = value
        return value

    def __call__(self, *args, **kwargs):
        raise TypeError("%s is for kernels: functions under @tkc.jit, which are launched as kernel[grid](…)" % self.dotted)

    def is_namespace(self):
        return self.dotted in NAMESPACES or self.dotted.endswith(".libdevice")

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return self.dotted
