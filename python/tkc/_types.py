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


def own_name(name):
    """The language's name of a type, "fp32" and "int32", from any that it goes by: "float32", "i32", "torch.float32"."""
    name = str(name).split(".")[-1]  # torch.float32
    name = WORDS.get(name, name)
    short = NAMES.get(name) or ELEMENTS.get(name) or name
    return LONG[short] if short in LONG and short[0] in "iu" else short


WORDS = {"half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64", "u1": "int1", "uint1": "int1",
         "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16", "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8",
         "float8e5b16": "fp8e5b16"}
LONG = {short: long for long, short in NAMES.items()}
FOREIGN = ("fp8e4b15", "fp8e4b8", "fp8e5b16")  # of other chips: to compare with
BIASES = {"fp8e4b15": 15, "fp8e4nv": 7, "fp8e4b8": 8, "fp8e5": 15, "fp8e5b16": 16, "fp16": 15, "bf16": 127, "fp32": 127, "fp64": 1023}
MANTISSA = {"fp8e4b15": 3, "fp8e4nv": 3, "fp8e4b8": 3, "fp8e5": 2, "fp8e5b16": 2, "fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}


class dtype:
    """An element type: a value for a constexpr, tl.float32. Its name is "fp32"; of integers, "int32"."""
    SINT_TYPES = [n for n in NAMES if n.startswith("int") and n != "int1"]
    UINT_TYPES = ["int1"] + [n for n in NAMES if n.startswith("uint")]
    FP_TYPES = list(MANTISSA)
    STANDARD_FP_TYPES = [n for n in MANTISSA if not n.startswith("fp8")]
    OTHER_TYPES = ["void"]

    def __init__(self, name):
        self.name = own_name(name)
        self.short = NAMES.get(self.name, self.name)
        if self.short not in BYTES and self.name not in FOREIGN + ("void",):
            raise ValueError("there is no element type %r; there are %s" % (name, ", ".join(sorted(NAMES))))
        self.itemsize = BYTES.get(self.short, 1)
        self.primitive_bitwidth = 1 if self.short == "i1" else 8 * self.itemsize
        if self.is_floating():
            self.fp_mantissa_width, self.exponent_bias = MANTISSA[self.name], BIASES[self.name]
        else:
            self.int_bitwidth = self.primitive_bitwidth

    def __repr__(self):
        return "triton.language." + LONG.get(self.short, self.name)

    def __str__(self):
        return self.name

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return getattr(other, "name", None) == self.name and type(other).__name__ == "dtype"

    def __hash__(self):
        return hash((self.name,))

    def __getattr__(self, name):
        if name.startswith("is_"):  # is_fp32(), is_int8(), …
            kind = name[3:]
            if kind in MANTISSA or kind in NAMES:
                return lambda: self.name == kind
        raise AttributeError("a type has no attribute '%s'" % name)

    @property
    def scalar(self):
        return self

    def is_floating(self):
        return self.name in MANTISSA

    def is_standard_floating(self):
        return self.is_floating() and not self.is_fp8()

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_int_signed(self):
        return self.short in BYTES and self.short[0] == "i" and self.short != "i1"

    def is_int_unsigned(self):
        return self.short[0] == "u" or self.short == "i1"

    def is_int(self):
        return self.is_int_signed() or self.is_int_unsigned()

    def is_bool(self):
        return self.short == "i1"

    def is_ptr(self):
        return False

    is_block = is_const = is_ptr


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


def plain(value):
    """Of a constexpr, the value."""
    return value.value if isinstance(value, constexpr) else value


def _operator(name):
    def apply(self, *others):
        return constexpr(getattr(_number(self.value), name)(*(o.value if isinstance(o, constexpr) else o for o in others)))
    return apply


def _number(value):
    return int(value) if isinstance(value, bool) else value


for _name in ("add radd sub rsub mul rmul floordiv rfloordiv truediv rtruediv mod rmod pow lshift rshift and or xor neg "
              "lt le gt ge").split():
    setattr(constexpr, "__%s__" % _name, _operator("__%s__" % _name))


NAMESPACES = ("triton", "triton.language", "triton.language.math", "triton.language.extra", "triton.language.extra.cuda", "triton.language.extra.cuda.gdc",
              "triton.language.extra.cuda.utils", "triton.language.extra.libdevice", "triton.language.core", "triton.language.standard", "triton.language.random")


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


def names_of(namespace):
    """A module's __getattr__: all its names are the namespace's."""
    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Builtin(namespace + "." + name)
    return get
