"""What a launch is given, as the kernel sees it: torch tensors, numpy arrays, and whatever speaks DLPack or
`__cuda_array_interface__`; by their addresses, never copied."""
import ctypes
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object

from . import _library, _types

HOST = "host"


class Array:
    """Memory behind a pointer argument. type: "*fp32". place: HOST, or the ordinal of a GPU, None where the object does not tell.
    bytes: from the address to the end of what it may touch, 0 when not known. stream: None, or what the object asks to be ordered
    with. owner: keeps it alive."""
    __slots__ = ("address", "bytes", "type", "place", "stream", "read_only", "owner")

    def __init__(self, address, size, type, place, stream=None, read_only=False, owner=None):
        self.address, self.bytes, self.type, self.place = address, size, type, place
        self.stream, self.read_only, self.owner = stream, read_only, owner

    def is_pinned(self):
        """Whether a GPU reads and writes it where it is."""
        return getattr(self.owner, "is_pinned", bool)()


def element_type(name, what, element):
    """"*fp32" of an element type's name elsewhere."""
    short = _types.NAMES.get(_types.own_name(name), _types.own_name(name))
    if short in _types.FOREIGN:
        raise _library.not_of_chip(what, short)
    if short not in _types.BYTES:
        raise TypeError("argument '%s': %s has elements of type %s, which kernels do not have; they have %s"
                        % (what, "the array", element, ", ".join(sorted(_types.ELEMENTS))))
    return "*" + short


def read(value, name, stream=None):
    """The Array of an argument, or None when it is none. stream: where the kernel will run, for objects that wait for it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return from_torch(value, name, torch)
    if isinstance(value, TensorWrapper):
        array = read(value.base, name, stream)
        array.type = element_type(value.dtype, name, value.dtype)
        return array
    if isinstance(value, MockTensor):
        return Array(0, 0, element_type(value.dtype, name, value.dtype), HOST if MockTensor.on_host() else None, owner=value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return from_numpy(value, name, numpy)
    if numpy is not None and isinstance(value, numpy.generic):
        return None
    if hasattr(value, "__cuda_array_interface__"):
        return from_interface(value, name)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return from_dlpack(value, name, stream)
    return None


def from_torch(tensor, name, torch):
    kind = element_type(str(tensor.dtype).replace("torch.", ""), name, tensor.dtype)
    device = tensor.device
    if device.type not in ("cuda", "cpu"):
        raise ValueError("argument '%s' is a tensor on the device '%s'; kernels run on tensors of cuda and cpu" % (name, device))
    if tensor.layout is not torch.strided:
        raise TypeError("argument '%s' is a tensor of layout %s; kernels take strided ones, such as its .to_dense()"
                        % (name, tensor.layout))
    if tensor.is_neg():
        raise ValueError("argument '%s' is a view whose elements torch would negate when it reads them; pass its .resolve_neg()" % name)
    left = tensor.untyped_storage().nbytes() - tensor.storage_offset() * tensor.element_size()
    return Array(tensor.data_ptr(), left, kind, device.index if device.type == "cuda" else HOST, owner=tensor)


def from_numpy(array, name, numpy):
    kind = element_type(array.dtype.name, name, array.dtype)
    if not array.dtype.isnative:
        raise TypeError("argument '%s': the array's elements have the other byte order; pass array.astype(array.dtype.newbyteorder('='))"
                        % name)
    if any(step < 0 for step in array.strides):
        raise ValueError("argument '%s': the array has a negative stride, so that it reaches to below its first element; pass "
                         "numpy.ascontiguousarray(array)" % name)
    address = array.__array_interface__["data"][0]
    root = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    end = root.__array_interface__["data"][0] + reach(root.shape, root.strides, root.itemsize)
    least = address + reach(array.shape, array.strides, array.itemsize)
    return Array(address, max(end, least) - address, kind, HOST, read_only=not array.flags.writeable, owner=array)


def reach(shape, strides, itemsize):
    """Bytes from the first element to the end of the last; of strides that are not negative."""
    if 0 in shape:
        return 0
    return sum((n - 1) * step for n, step in zip(shape, strides) if step > 0) + itemsize


def from_interface(value, name):
    """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""
    told = value.__cuda_array_interface__
    code = told["typestr"]
    if code[0] == ">":
        raise TypeError("argument '%s': the array's elements have the other byte order" % name)
    kinds = {"b": "bool", "i": "int%d", "u": "uint%d", "f": "float%d", "V": "%d bytes without a meaning", "c": "complex%d"}
    kind = kinds.get(code[1], code)
    element = kind % (8 * int(code[2:])) if "%d" in kind else kind
    size = 0
    if not told.get("strides"):
        size = int(code[2:])
        for n in told["shape"]:
            size *= n
    return Array(told["data"][0], size, element_type(element, name, code), None, stream=told.get("stream"),
                 read_only=bool(told["data"][1]), owner=value)


# https://dmlc.github.io/dlpack/latest/c_api.html
class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [py_object, c_char_p]
DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_MANAGED = 1, 2, 3, 13
DL_CODES = {0: "int%d", 1: "uint%d", 2: "float%d", 4: "bfloat%d", 6: "bool", 10: "float%d_e4m3fn", 12: "float%d_e5m2"}


def from_dlpack(value, name, stream):
    device_type, ordinal = value.__dlpack_device__()
    if device_type in (DL_CPU, DL_CUDA_HOST):
        place, capsule = HOST, value.__dlpack__()
    elif device_type in (DL_CUDA, DL_MANAGED):
        place, capsule = ordinal, value.__dlpack__(stream=stream or 1)  # 1: the default stream, in DLPack's words
    else:
        raise ValueError("argument '%s' is on a device of DLPack's kind %d; kernels run on CUDA devices and the host" % (name, device_type))
    t = DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    code = DL_CODES.get(t.code, "DLPack's code %d" % t.code)
    element = code % t.bits if "%d" in code and t.code in DL_CODES else code
    if t.lanes != 1:
        element = "vector of %d %s" % (t.lanes, element)
    shape = t.shape[:t.ndim]
    strides = t.strides[:t.ndim] if t.strides else row_major(shape)
    kind = element_type(element, name, element)
    size = _types.BYTES[kind[1:]]
    if any(step < 0 for step in strides):
        raise ValueError("argument '%s': the array has a negative stride, so that it reaches to below its first element" % name)
    return Array((t.data or 0) + t.byte_offset, reach(shape, [s * size for s in strides], size), kind, place, owner=(value, capsule))


def row_major(shape):
    strides, n = [], 1
    for extent in reversed(shape):
        strides.append(n)
        n *= extent
    return list(reversed(strides))


class TensorDescriptor:
    """An array as a kernel sees it in blocks of block_shape: what is outside of its shape reads as 0 (padding "zero") or NaN
    (padding "nan") and is not stored. Strides are in elements."""

    def __init__(self, base, shape, strides, block_shape, padding="zero"):
        if padding not in ("zero", "nan"):
            raise ValueError("the padding of a descriptor is 'zero' or 'nan', not %r" % (padding,))
        self.base, self.shape, self.strides, self.block_shape, self.padding = base, shape, strides, block_shape, padding
        rank = len(shape)
        if rank != len(strides) or rank != len(block_shape):
            raise ValueError("shape, strides and block_shape of a descriptor have %d, %d and %d dimensions; they need the same number"
                             % (rank, len(strides), len(block_shape)))
        if rank < 1 or rank > 5:
            raise ValueError("a descriptor has 1 to 5 dimensions, not %d" % rank)

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero"):
        try:
            strides = tensor.stride()
        except AttributeError:  # as numpy has it, in bytes
            strides = [s // tensor.itemsize for s in tensor.strides]
        return TensorDescriptor(tensor, tensor.shape, strides, block_shape, padding)


class TensorWrapper:
    """A tensor whose elements are read as another type of the same size: what torch has no type for."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype
        self.data, self.device, self.shape = base.data, base.device, base.shape

    def __getattr__(self, name):  # data_ptr, stride, element_size, numel, is_cuda, …
        return getattr(self.base, name)

    def __str__(self):
        return "TensorWrapper[%s](%s)" % (self.dtype, self.base)

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, *where):
        return TensorWrapper(self.base.to(*where), self.dtype)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def new_empty(self, shape):
        return TensorWrapper(self.base.new_empty(shape), self.dtype)

    def copy_(self, other):
        self.base.copy_(getattr(other, "base", other))
        return self


def reinterpret(tensor, dtype):
    """The tensor, its elements read as dtype."""
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if not hasattr(base, "data_ptr"):
        raise TypeError("only tensors can be reinterpreted, not an object of type %s" % type(tensor).__name__)
    return base if dtype == base.dtype else TensorWrapper(base, dtype)


class MockTensor:
    """For kernel.warmup: a type where a tensor will be."""

    def __init__(self, dtype, shape=(1,)):
        self.dtype, self.shape = dtype, list(shape)

    def stride(self):
        return tuple(row_major(self.shape))

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def on_host():
        torch = sys.modules.get("torch")
        return torch is None or not torch.cuda.is_available()


def is_torch_dtype(value):
    return type(value).__module__ == "torch" and type(value).__name__ == "dtype"


def is_descriptor(value):
    """Ours, or Triton's."""
    return isinstance(value, TensorDescriptor) or type(value).__name__ == "TensorDescriptor" and hasattr(value, "block_shape")
