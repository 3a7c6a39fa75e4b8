"""libtkc through ctypes: where it is, its structs and functions (include/tkc/*.h), its errors as exceptions."""
import ctypes
import os
import re
import sys
import warnings
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

SONAME = "libtkc.so.0"


class Error(RuntimeError):
    """What libtkc refused. `diagnostics` has each of what it said, in order."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


class Reason(Exception):
    """What a KernelError says without the place: its cause, as hosts of Triton's look for it."""


class KernelError(Error):
    """A kernel, or a launch of it, is wrong: the text has the line of the kernel, and what to write."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text, diagnostics)
        self.error_message = next((d.text for d in self.diagnostics if d.severity == "error"), None)
        if self.error_message:
            self.__cause__ = Reason(self.error_message)


def not_of_chip(what, type):
    """For types that other makers' chips have."""
    reason = "type %s not supported in this architecture" % type
    error = KernelError("argument '%s': %s" % (what, reason))
    error.__cause__ = Reason(reason)
    return error


class DeviceError(Error):
    """There is no such device, or its driver refused; on the device `cpu`, never."""


class OutOfMemory(Error, MemoryError):
    pass


class LibraryNotFound(Error, OSError):
    pass


class KernelWarning(UserWarning):
    """What libtkc warns of while it compiles a kernel."""


class Diagnostic:
    """severity ("note", "remark", "warning", "error"), file or None, line, column, text, id, rendered."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self):
        return "%s:%d:%d: %s: %s" % (self.file, self.line, self.column, self.severity, self.text)


class Define(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t), ("kernel", c_char_p), ("signature", c_char_p), ("defines", POINTER(Define)),
        ("ndefines", c_size_t), ("arch", c_char_p), ("num_warps", c_int), ("num_stages", c_int),
        ("no_fp_contract", c_bool), ("debug", c_bool), ("line_info", c_bool), ("passes", c_char_p),
        ("verify_each", c_bool), ("time_report", c_bool), ("remarks", c_bool), ("warnings_as_errors", c_bool),
        ("require_checked", c_bool), ("max_steps", c_int64), ("max_ops", c_int64), ("max_nesting", c_int64),
        ("max_depth", c_int64), ("max_length", c_int64), ("warnings", c_char_p), ("max_seconds", c_double),
        ("max_memory", c_int64), ("remark_kinds", c_char_p), ("no_asserts", c_bool), ("sanitize_overflow", c_bool),
        ("max_registers", c_int), ("symbol", c_char_p), ("arguments", POINTER(Define)), ("narguments", c_size_t)]


class Param(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("is_constexpr", c_bool), ("type", c_char_p),
                ("default", c_char_p), ("divisibility", c_int64), ("is_int", c_bool)]


class DiagnosticStruct(Structure):
    pass


DiagnosticStruct._fields_ = [
    ("size", c_size_t), ("severity", c_int), ("file", c_char_p), ("line", c_int), ("column", c_int), ("end_line", c_int),
    ("end_column", c_int), ("text", c_char_p), ("rendered", c_char_p), ("id", c_char_p),
    ("notes", POINTER(DiagnosticStruct))]

DESCRIPTOR_RANK = 5


class Descriptor(Structure):
    _fields_ = [("base", c_uint64), ("bytes", c_size_t), ("rank", c_int), ("shape", c_int64 * DESCRIPTOR_RANK),
                ("strides", c_int64 * DESCRIPTOR_RANK)]


class KernelInfo(Structure):
    _fields_ = [("size", c_size_t), ("num_warps", c_int), ("shared_bytes", c_int), ("registers", c_int),
                ("spill_bytes", c_int), ("text", c_char_p), ("num_stages", c_int), ("config", c_int), ("nconfigs", c_int),
                ("values", POINTER(Define)), ("nvalues", c_size_t), ("max_threads", c_int), ("unit_programs", c_int), ("programs", c_int)]


# A TkcArg is packed by struct: kind, its type's text, the value, the bytes behind a pointer.
ARG_BYTES = 32
POINTER_ARG, INT_ARG, FLOAT_ARG, CONSTEXPR_ARG, DESCRIPTOR_ARG = range(5)

DIAGNOSTIC_FN = ctypes.CFUNCTYPE(None, POINTER(DiagnosticStruct), c_void_p)
IMPORT_FN = ctypes.CFUNCTYPE(c_void_p, c_char_p, POINTER(c_size_t), c_void_p)
PRINT_FN = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)
SEVERITIES = ("note", "remark", "warning", "error")
TK = 0

# Handles, and addresses on a device, are void pointers; a status is an int.
FUNCTIONS = {
    "tkc_version": (c_char_p, []),
    "tkc_version_long": (c_char_p, []),
    "tkc_status_text": (c_char_p, [c_int]),
    "tkc_context_new": (c_void_p, []),
    "tkc_context_free": (None, [c_void_p]),
    "tkc_context_on_diagnostic": (None, [c_void_p, DIAGNOSTIC_FN, c_void_p]),
    "tkc_context_on_import": (None, [c_void_p, IMPORT_FN, c_void_p]),
    "tkc_last_error": (c_char_p, [c_void_p]),
    "tkc_source_open": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_void_p)]),
    "tkc_source_from_text": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, c_int, POINTER(c_void_p)]),
    "tkc_source_free": (None, [c_void_p]),
    "tkc_source_kernel_count": (c_int, [c_void_p]),
    "tkc_source_kernel_name": (c_char_p, [c_void_p, c_int]),
    "tkc_source_param_count": (c_int, [c_void_p, c_char_p, POINTER(c_int)]),
    "tkc_source_param": (c_int, [c_void_p, c_char_p, c_int, POINTER(Param)]),
    "tkc_compile": (c_int, [c_void_p, POINTER(Options), c_int, POINTER(c_void_p)]),
    "tkc_artifact_free": (None, [c_void_p]),
    "tkc_artifact_text": (c_char_p, [c_void_p, c_void_p]),
    "tkc_artifact_kernel": (c_char_p, [c_void_p]),
    "tkc_artifact_num_warps": (c_int, [c_void_p]),
    "tkc_artifact_num_stages": (c_int, [c_void_p]),
    "tkc_artifact_shared_bytes": (c_int, [c_void_p]),
    "tkc_options_init_sized": (None, [POINTER(Options), c_size_t]),
    "tkc_device_open": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_void_p)]),
    "tkc_device_free": (None, [c_void_p]),
    "tkc_device_name": (c_char_p, [c_void_p]),
    "tkc_device_arch": (c_char_p, [c_void_p]),
    "tkc_device_on_print": (None, [c_void_p, PRINT_FN, c_void_p]),
    "tkc_alloc": (c_int, [c_void_p, c_size_t, POINTER(c_uint64)]),
    "tkc_free": (c_int, [c_void_p, c_uint64]),
    "tkc_copy_in": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t]),
    "tkc_copy_out": (c_int, [c_void_p, c_void_p, c_uint64, c_size_t]),
    "tkc_synchronize": (c_int, [c_void_p, c_void_p]),
    "tkc_jit_new": (c_int, [c_void_p, c_void_p, POINTER(Options), POINTER(c_void_p)]),
    "tkc_jit_free": (None, [c_void_p]),
    "tkc_jit_param_count": (c_int, [c_void_p]),
    "tkc_jit_param": (c_int, [c_void_p, c_int, POINTER(Param)]),
    "tkc_launch": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t]),
    "tkc_jit_info": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(KernelInfo)]),
    "tkc_jit_prepare": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(KernelInfo)]),
}

_loaded = None


def _places():
    """Where the library may be: what the environment names, beside this file (a wheel), what the system's loader knows."""
    named = os.environ.get("TKC_LIBRARY")
    if named:
        return [named]
    return [os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME), SONAME]


def library():
    """The functions of libtkc, loaded when first asked for."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def _load():
    said = []
    for place in _places():
        try:
            lib = ctypes.CDLL(place)
        except OSError as e:
            said.append("  %s: %s" % (place, e))
            continue
        for name, (result, arguments) in FUNCTIONS.items():
            try:
                function = getattr(lib, name)
            except AttributeError:
                raise LibraryNotFound("%s has no function %s: it is of another version than this package"
                                      % (place, name)) from None
            function.restype, function.argtypes = result, arguments
        return lib
    raise LibraryNotFound("tkc's library cannot be loaded. Install the wheel that the build writes (build/…/python/*.whl), or say "
                          "where it is with TKC_LIBRARY=/path/to/%s\n%s" % (SONAME, "\n".join(said)))


OUR_FILE = re.compile(r"[^\s:'\"]*\b(tkc_python_\d+\.py)")  # with the folder of whoever imports it
ERRORS = {1: KernelError, 3: OutOfMemory, 4: DeviceError}


class Context:
    """One TkcContext and what was made from it. `renamed` maps names that texts have in the library to those of the user's
    files."""

    def __init__(self, renamed=None):
        self.lib = library()
        self.renamed = renamed or {}
        self.heard = []
        self.freed_by = []
        self.handle = self.lib.tkc_context_new()
        if not self.handle:
            raise OutOfMemory("no memory for a context of tkc")
        self._hear = DIAGNOSTIC_FN(self._on_diagnostic)
        self.lib.tkc_context_on_diagnostic(self.handle, self._hear, None)

    def _name(self, text):
        text = (text or b"").decode("utf-8", "replace")
        text = text.replace("triton.host.", "")
        if self.renamed and "tkc_python_" in text:
            text = OUR_FILE.sub(lambda m: self.renamed.get(m.group(1), m.group(0)), text)
        return text

    def _on_diagnostic(self, d, _):
        d = d.contents
        if SEVERITIES[d.severity] == "note":  # alone, not below another: what tl.static_print says
            print(self._name(d.text), flush=True)
            return
        self.heard.append(Diagnostic(severity=SEVERITIES[d.severity], file=self._name(d.file) or None, line=d.line,
                                     column=d.column, text=self._name(d.text), rendered=self._name(d.rendered),
                                     id=(d.id or b"").decode()))

    def check(self, status):
        """Raises what the call just made says went wrong, and warns of the rest."""
        heard, self.heard = self.heard, []
        if status:
            said = "".join(d.rendered for d in heard).rstrip("\n") or self._name(self.lib.tkc_last_error(self.handle)).rstrip()
            if not said:
                said = "libtkc: %s" % self.lib.tkc_status_text(status).decode()
            raise ERRORS.get(status, Error)(said, heard)
        for d in heard:
            if d.severity == "warning":
                warnings.warn_explicit(d.text, KernelWarning, d.file or "<tkc>", max(d.line, 1))

    def keep(self, free, handle):
        self.freed_by.append((free, handle))
        return handle

    def made(self, call, free, *args):
        """Calls what makes a handle, and frees it with the context."""
        out = c_void_p()
        self.check(call(*args, ctypes.byref(out)))
        return self.keep(free, out.value)

    def open_text(self, name, text):
        text = text.encode("utf-8", "surrogateescape")
        return self.made(lambda *a: self.lib.tkc_source_from_text(self.handle, name.encode(), text, len(text), TK, *a),
                         self.lib.tkc_source_free)

    def open_file(self, path):
        return self.made(lambda *a: self.lib.tkc_source_open(self.handle, os.fsencode(path), TK, *a), self.lib.tkc_source_free)

    def import_from(self, texts):
        """Imports read these texts, by name, and nothing else."""
        kept = {path.encode(): text.encode("utf-8", "surrogateescape") for path, text in texts.items()}

        def find(path, length, _):
            text = kept.get(os.path.basename(path))
            if text is None:
                return None
            length[0] = len(text)
            return ctypes.cast(ctypes.c_char_p(text), c_void_p).value

        self._find, self._texts = IMPORT_FN(find), kept
        self.lib.tkc_context_on_import(self.handle, self._find, None)

    def open_device(self, kind, ordinal):
        device = self.made(lambda *a: self.lib.tkc_device_open(self.handle, kind.encode(), ordinal, *a), self.lib.tkc_device_free)
        self._print = PRINT_FN(_print_line)
        self.lib.tkc_device_on_print(device, self._print, None)
        return device

    def params(self, count, get):
        """What TkcParam structs say, by a function that fills one."""
        out = []
        for i in range(count):
            p = Param(size=ctypes.sizeof(Param))
            self.check(get(i, ctypes.byref(p)))
            out.append(p)
        return out

    def close(self):
        handle, self.handle = self.handle, None
        for free, made in reversed(self.freed_by):
            free(made)
        self.freed_by = []
        if handle:
            self.lib.tkc_context_free(handle)

    def __del__(self):
        if getattr(self, "handle", None) and sys and not sys.is_finalizing():
            self.close()


def _print_line(line, _):
    sys.stdout.write(line.decode("utf-8", "replace") + "\n")


def version():
    """The library's: "0.1.0"."""
    return library().tkc_version().decode()
