"""Compiled kernels and what a launch does: from values to the bytes of TkcArg, on the device where the arrays are."""
import ctypes
import functools
import hashlib
import operator
import os
import struct
import sys
import threading
from ctypes import c_int64, c_uint64

from . import _arrays, _hooks, _library, _source, _types, knobs
from ._arrays import HOST
from ._library import DESCRIPTOR_ARG, FLOAT_ARG, INT_ARG, POINTER_ARG

_host_device = os.environ.get("TKC_DEVICE", "cpu")


def use(kind):
    """Where kernels run whose arrays are in host memory: "cpu", the interpreter, which checks every access; or "simt", the GPU's code
    on an emulated GPU, "simt:sm_80" one of some kind. Returns what it was before. TKC_DEVICE in the environment says it for a
    program."""
    global _host_device
    if kind != "cpu" and kind.split(":")[0] != "simt":
        raise ValueError("arrays in host memory are for the devices 'cpu' and 'simt' (or 'simt:sm_80', …), not %r; on a GPU kernels run "
                         "when their arrays are there" % (kind,))
    before, _host_device = _host_device, kind
    return before


def host_device():
    return _host_device


# ---- places ----

def choose_place(arrays):
    """("cpu", 0), ("simt", 0) or ("cuda", ordinal), by where the arrays are: {name: Array}."""
    on_gpu = {n: a.place for n, a in arrays.items() if a.place is not HOST}
    on_host = [n for n, a in arrays.items() if a.place is HOST]
    if on_gpu:
        on_host = [n for n in on_host if not arrays[n].is_pinned()]
    if on_gpu and on_host:
        raise ValueError("Pointer argument '%s' cannot be accessed from Triton (cpu tensor?): it is in the host's memory and '%s' in a GPU's; "
                         "a kernel takes all its arrays from one place, or the host's in pinned memory" % (on_host[0], next(iter(on_gpu))))
    ordinals = {p: n for n, p in on_gpu.items() if p is not None}
    if len(ordinals) > 1:
        (a, first), (b, second) = list(ordinals.items())[:2]
        raise ValueError("argument '%s' is on GPU %d and '%s' on GPU %d; a kernel takes all its arrays from one" % (first, a, second, b))
    if on_gpu:
        return ("cuda", next(iter(ordinals), current_ordinal()))
    use(_host_device)  # what the environment said may be wrong
    return (_host_device, 0)


def current_ordinal():
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_initialized() else 0


def current_stream(ordinal):
    """torch's, or the default one."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return torch.cuda.current_stream(ordinal).cuda_stream


def raw_stream_function():
    """The fastest way to ask torch for its current stream of a device."""
    torch = sys.modules.get("torch")
    return getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", current_stream)


def stream_handle(stream):
    """A number, or an object of torch's or cupy's."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            stream = getattr(stream, name)
    return operator.index(stream) if stream is not None else None


def choose_stream(given, arrays, ordinal):
    if given is not None:
        return stream_handle(given)
    asked = {a.stream: n for n, a in arrays.items() if a.stream is not None}
    if len(asked) > 1:
        (_, a), (_, b) = list(asked.items())[:2]
        raise ValueError("arguments '%s' and '%s' want to be used on different streams; say which with stream=" % (a, b))
    return next(iter(asked), None) if asked else current_stream(ordinal)


# ---- grids ----

pack_grid = struct.Struct("3q").pack
ONES = {1: (1, 1), 2: (1,), 3: ()}


def grid_extents(grid, meta):
    """Three numbers, of a tuple, a list, a number, or a function of the arguments that gives one."""
    if callable(grid):
        grid = grid(meta)
    given = grid
    if not isinstance(grid, (tuple, list)):
        grid = (grid,)
    if len(grid) not in ONES:
        raise ValueError("a grid has 1 to 3 dimensions; %r has %d" % (given, len(grid)))
    try:
        extents = tuple(operator.index(getattr(n, "value", n)) for n in grid) + ONES[len(grid)]
    except TypeError:
        raise TypeError("a grid is made of integers, not %r; for a quotient take tkc.cdiv(n, BLOCK)" % (given,)) from None
    if max(map(abs, extents)) >> 63:
        raise OverflowError("the extents of a grid have 64 bits; %r does not fit" % (given,))
    return extents


# ---- arguments ----

_texts = {}


def text_address(text):
    """Of a C string that stays."""
    if text is None:
        return 0
    kept = _texts.get(text)
    if kept is None:
        kept = _texts.setdefault(text, ctypes.create_string_buffer(text.encode()))
    return ctypes.addressof(kept)


class Pointer:
    """An argument as TkcArg has it: its head, the value, its tail."""
    def __init__(self, array):
        self.array = array

    def pack(self, address):
        return struct.pack("i4xQQQ", POINTER_ARG, text_address(self.array.type), address, self.array.bytes)


def pack_int(value, name, type=None, how=0):
    """how: 0, or one of _hooks', for code that is of any value."""
    if not -2**63 <= value < 2**64:
        raise OverflowError("argument '%s': %d does not fit 64 bits" % (name, value))
    if value >= 2**63:
        return struct.pack("i4xQQQ", INT_ARG, text_address("u64"), value, how)
    return struct.pack("i4xQqQ", INT_ARG, text_address(type), value, how)


def pack_float(value):
    return struct.pack("i4xQd8x", FLOAT_ARG, 0, value)


class DescriptorArgument:
    def __init__(self, d, name):
        self.array = _arrays.read(d.base, name)
        if self.array is None:
            raise TypeError("argument '%s': the base of its descriptor is %s, which is no array" % (name, type(d.base).__name__))
        padding = ", padding=nan" if d.padding == "nan" else ""
        self.type = "tensordesc<%s[%s]%s>" % (self.array.type[1:], ", ".join(str(operator.index(b)) for b in d.block_shape), padding)
        self.d = d

    def pack(self, address):
        d = self.d
        rank = len(d.shape)
        self.struct = _library.Descriptor(address, self.array.bytes, rank, (c_int64 * 5)(*d.shape), (c_int64 * 5)(*d.strides))
        return struct.pack("i4xQQ8x", DESCRIPTOR_ARG, text_address(self.type), ctypes.addressof(self.struct))


class Packed(bytes):
    """Arguments as TkcArg has them; `leads_to` is memory that they have addresses of."""


OPEN_CONSTEXPR = struct.pack("i28x", _library.CONSTEXPR_ARG)


def plain_number(value):
    """numpy's and others' scalars as Python's."""
    if isinstance(value, (bool, int, float)):
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
        return value if isinstance(value, (bool, int, float)) else None
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_constexpr(value):
    return type(value).__name__ == "constexpr" and hasattr(value, "value")


def has_items(value):
    return isinstance(value, (tuple, list)) or _source.is_tuple(value)


class Given:
    """The arguments of one launch, sorted: `defines`, what is known when compiling, as texts; `packed`, in order, bytes or what gives
    them once its address is known; `arrays` by name."""

    def __init__(self, params, values, unspecialized=()):
        self.defines, self.packed, self.arrays = [], [], {}
        self.names = []  # of what is packed
        self.constants = {}  # of what is defined
        self.unspecialized = unspecialized
        self.functions = {}  # and classes, that constexprs are made of, by the names they get
        self.entry = None  # of a kernel that takes a tuple
        if any(not p.is_constexpr and has_items(values.get(p.name)) for p in params):
            self.entry = _source.Entry()
        for p in params:
            if p.name not in values:
                self.left_out(p)
                continue
            value = values[p.name]
            add = self.define if p.is_constexpr else self.add
            if self.entry is None:
                add(p.name, value)
            elif p.is_constexpr:
                self.entry.items.append(p.name)
                self.entry.values.append(p.name)
                add(p.name, value)
            else:
                self.entry.values.append(self.entry.text_of(p.name, value, self.add_item if has_items(value) else add))

    def program_key(self):
        """What the text that is compiled depends on."""
        return tuple(self.defines), tuple(self.functions.items()), self.entry and self.entry.key()

    def left_out(self, p):
        """Of a file's kernel: the file says what it is."""
        if p.is_constexpr:
            self.names.append(p.name)
            self.packed.append(OPEN_CONSTEXPR)
        else:
            self.defines.append((p.name, p.default))

    def define(self, name, value):
        if name in self.unspecialized:
            raise _library.KernelError("%s marked as constexpr and listed in do_not_specialize" % name)
        value = self.constants[name] = _source.known(value)
        text = _source.constant_text(value, self.functions)
        if text is None:
            number = plain_number(value)
            if isinstance(value, _types.dtype):
                raise _library.not_of_chip(name, value)
            if number is None:
                raise TypeError("argument '%s': an object of type %s cannot be a constexpr; numbers, strings, None, types such as tl.float32, members of an Enum, jit functions and "
                                "those of tl, and tuples, lists, dicts, named tuples and dataclasses of these can" % (name, type(value).__name__))
            text = _source.literal(number)
        self.defines.append((name, text))

    def add(self, name, value):
        self.names.append(name)
        count = len(self.packed)
        self.add_value(name, value)
        if len(self.packed) == count:
            self.names.pop()

    def add_value(self, name, value):
        array = _arrays.read(value, name)
        if array is not None:
            self.arrays[name] = array
            self.packed.append(Pointer(array))
        elif _arrays.is_descriptor(value):
            d = DescriptorArgument(value, name)
            self.arrays[name] = d.array
            self.packed.append(d)
        elif is_constexpr(value):
            self.define(name, value)
        else:
            self.add_number(name, value)

    def add_item(self, name, value):
        """Of a tuple; as in Triton a 1 there is known when compiling."""
        if type(value) is int and value == 1:
            self.define(name, value)
        else:
            self.add(name, value)

    def add_number(self, name, value):
        number = plain_number(value)
        if isinstance(number, bool):
            self.packed.append(pack_int(int(number), name, "i1", _hooks.ANY))
        elif isinstance(number, int):
            self.packed.append(pack_int(number, name, None, self.how(name)))
        elif isinstance(number, float):
            self.packed.append(pack_float(number))
        elif not isinstance(value, dict) and (_source.literal(value) is not None or _source.function_of(value) is not None):
            self.define(name, value)
        else:
            raise TypeError("argument '%s' is of type %s; kernels take arrays (torch's, numpy's, and what has __dlpack__ or "
                            "__cuda_array_interface__), numbers, None and tensor descriptors" % (name, type(value).__name__))

    def how(self, name):
        return self.unspecialized[name] if name in self.unspecialized else 0

    def pack(self, addresses):
        """addresses: by id of an Array, where its memory is for the device; as it is where none is named."""
        packed = Packed(b"".join(a if isinstance(a, bytes) else a.pack(addresses.get(id(a.array), a.array.address)) for a in self.packed))
        packed.leads_to = [a.struct for a in self.packed if isinstance(a, DescriptorArgument)]
        return packed


# ---- one compiled kernel ----

VARYING = {"stream", "warmup"}  # options of launches that are of the same kernel


def make_options(context, kernel, defines, options):
    """TkcOptions for these constexprs, as texts, and options of a launch."""
    o = _library.Options()
    context.lib.tkc_options_init_sized(ctypes.byref(o), ctypes.sizeof(o))
    table = (_library.Define * max(len(defines), 1))(*[(n.encode(), t.encode()) for n, t in defines])
    o.kernel, o.defines, o.ndefines = kernel.encode(), table, len(defines)
    o.num_warps, o.num_stages = options.get("num_warps") or 0, options.get("num_stages") or 0
    o.no_fp_contract, o.debug = not options.get("enable_fp_fusion", knobs.language.default_fp_fusion), bool(options.get("debug"))
    o.no_asserts = options.get("debug") is False  # said: elsewhere nothing asserts without debug, on cpu it does
    o.sanitize_overflow = o.debug and options.get("sanitize_overflow") is not False
    o.line_info = True
    o.max_registers = min(options.get("maxnreg") or 0, 255)  # more than 255 no thread has
    return o


class Kernel:
    """A kernel for some constexprs and options on one device: a TkcJit of its own. The library compiles it for the types and the
    alignment of each launch's arguments. It is also what a launch returns."""

    def __init__(self, owner, opener, place, given, options):
        self.owner, self.place = owner, place
        self.names, self.constants = tuple(given.names), dict(given.constants)
        self.key = (place, tuple(given.defines), tuple(sorted((k, repr(v)) for k, v in options.items() if k not in VARYING)))
        self.told = set()  # for _hooks
        self.options = {k: v for k, v in options.items() if k not in VARYING}
        self.context, source, kernel = opener()
        self.lib = self.context.lib
        self.device = self.context.open_device(place[0], place[1])
        o = make_options(self.context, kernel, given.defines, options)
        self.jit = self.context.made(lambda *a: self.lib.tkc_jit_new(self.device, source, ctypes.byref(o), *a), self.lib.tkc_jit_free)
        self.newest = None
        self.lock = threading.Lock()

    def launch(self, extents, stream, packed):
        status = self.lib.tkc_launch(self.jit, pack_grid(*extents), stream, packed, len(packed) // _library.ARG_BYTES)
        self.newest = packed
        if status or self.context.heard:
            self.context.check(status)

    def forget(self):
        """What was said of a launch that will be tried again."""
        self.context.heard.clear()

    def compile(self, packed):
        """As a launch with these arguments would."""
        self.newest = packed
        self.context.check(self.lib.tkc_jit_prepare(self.jit, packed, len(packed) // _library.ARG_BYTES, None))

    def is_quick(self):
        """Whether the newest launch was the extension's."""
        return not isinstance(self.newest, (bytes, type(None)))

    def packed(self):
        """The newest arguments, as TkcArg has them."""
        return self.newest if isinstance(self.newest, bytes) else self.newest.packed()

    def info(self):
        out = _library.KernelInfo(size=ctypes.sizeof(_library.KernelInfo))
        packed = self.packed()
        self.context.check(self.lib.tkc_jit_info(self.jit, packed, len(packed) // _library.ARG_BYTES, ctypes.byref(out)))
        return out

    def __getitem__(self, grid):
        return functools.partial(self.owner[grid], **self.options)

    # What Triton's hosts ask of a compiled kernel.
    @property
    def asm(self):
        """{"ptx": text}, or {"ir": text} on cpu."""
        return Code({"ir" if self.place[0] == "cpu" else "ptx": self.info().text.decode()})

    @property
    def name(self):
        """The function's, or what @jit(repr=…) makes of the types and values."""
        return self.owner.repr_of(_hooks.Specialization(self)) if self.owner.repr_of else self.owner.__name__

    @property
    def hash(self):
        """Of the code: equal for the same kernel in any process."""
        return hashlib.sha256(self.info().text).hexdigest()

    @property
    def n_regs(self):
        """Registers of a thread; 1 on cpu, which has none, so that what is divided by it stays finite."""
        return max(self.info().registers, 1)

    @property
    def n_spills(self):
        return max(self.info().spill_bytes, 0) // 4

    @property
    def metadata(self):
        i = self.info()
        return Metadata(shared=max(i.shared_bytes, self.place[0] == "cpu"), num_warps=i.num_warps, num_stages=i.num_stages, num_ctas=1, name=self.name)

    def _init_handles(self):
        self.info()


class Code(dict):
    """Texts of a kernel's code by kind."""

    def __missing__(self, kind):
        raise KeyError("a kernel of tkc has no %r; it has %s" % (kind, ", ".join(map(repr, self))))


class Metadata:
    def __init__(self, **fields):
        self.__dict__.update(fields)


# ---- host memory ----

class Guest:
    """A private copy of a read-only array: what a kernel writes there would be lost, or not allowed at all."""

    def __init__(self, name, array):
        self.name, self.array = name, array
        self.before = ctypes.string_at(array.address, array.bytes)
        self.room = ctypes.create_string_buffer(array.bytes + 64)
        self.address = ctypes.addressof(self.room) + (array.address - ctypes.addressof(self.room)) % 64
        ctypes.memmove(self.address, array.address, array.bytes)

    def check(self):
        if ctypes.string_at(self.address, self.array.bytes) != self.before:
            raise ValueError("argument '%s' is an array that must not be written, and the kernel wrote to it; pass a copy" % self.name)


def run_on_host(kernel, extents, given):
    """On cpu: in place."""
    guests = [Guest(n, a) for n, a in given.arrays.items() if a.read_only]
    kernel.launch(extents, None, given.pack({id(g.array): g.address for g in guests}))
    for g in guests:
        g.check()


ALIGN = 256


def merge(arrays):
    """[begin, end) of what lies together, so that arrays that share memory share it on the device."""
    spans = []
    for begin, end in sorted((a.address, a.address + a.bytes) for a in arrays):
        if spans and begin < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([begin, end])
    return spans


def run_on_simt(kernel, extents, given):
    """Arrays go to the emulated GPU's memory and come back; their addresses keep their alignment."""
    lib, device, check = kernel.lib, kernel.device, kernel.context.check
    guests = {id(a): Guest(n, a) for n, a in given.arrays.items() if a.read_only}
    where = {id(a): guests[id(a)].address if id(a) in guests else a.address for a in given.arrays.values()}
    moved, freed = [], []
    with kernel.lock:
        try:
            for begin, end in merge([_arrays.Array(where[id(a)], a.bytes, a.type, HOST) for a in given.arrays.values()]):
                out, ahead = c_uint64(), begin % ALIGN  # nothing behind the end, where the emulator tells of accesses
                check(lib.tkc_alloc(device, max(ahead + end - begin, 1), ctypes.byref(out)))
                freed.append(out.value)
                moved.append((begin, end, out.value + ahead))
                check(lib.tkc_copy_in(device, moved[-1][2], begin, end - begin))
            there = {i: next((to + at - b for b, e, to in moved if b <= at < e or b == at), at) for i, at in where.items()}
            kernel.launch(extents, None, given.pack(there))
            check(lib.tkc_synchronize(device, None))
            for begin, end, to in moved:
                check(lib.tkc_copy_out(device, begin, to, end - begin))
        finally:
            for address in freed:
                lib.tkc_free(device, address)
    for g in guests.values():
        g.check()


def run(kernel, extents, given, stream):
    if 0 in extents:
        return
    kind = kernel.place[0]
    if kind == "cuda":
        kernel.launch(extents, choose_stream(stream, given.arrays, kernel.place[1]), given.pack({}))
    elif kind == "cpu":
        run_on_host(kernel, extents, given)
    else:
        run_on_simt(kernel, extents, given)
