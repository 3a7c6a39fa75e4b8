"""Compiles the cases with Triton, launches them through a driver and compares: foreign_run.py LIBCUDA [NAME...]. Run by foreign.py."""
import ctypes
import json
import os
import signal
import sys
import tempfile

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import foreign_kernels  # noqa: F401: they register their cases
import foreign_models  # noqa: F401
import foreign_products  # noqa: F401
from driver import Driver, DriverError
from foreign_cases import CASES, POINTERS, Narrow, widen


# ---- compiling ----

def kind_of(value):
    """An argument's type in a signature, None for a constant."""
    if isinstance(value, Narrow):
        return "*" + value.kind
    if isinstance(value, np.ndarray):
        return POINTERS[value.dtype.name]
    if isinstance(value, float):
        return "fp32"
    return "i32" if isinstance(value, int) and not isinstance(value, bool) else None


def compile_case(case, arch):
    constants = {p.name for p in case.kernel.params if p.is_constexpr}
    signature = {name: "constexpr" if name in constants else kind_of(case.args[name]) for name in case.kernel.arg_names}
    values = {name: case.args[name] for name in constants}
    attributes = {}
    for at, name in enumerate(case.kernel.arg_names):  # as a launch by Triton itself would find them
        value = case.args[name]
        if name not in constants and (signature[name][0] == "*" or (isinstance(value, int) and value % 16 == 0)):
            attributes[(at,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=case.kernel, signature=signature, constexprs=values, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": case.warps, "num_stages": case.stages}), constants


# ---- running ----

class Output:
    """What C code writes to standard output meanwhile, for kernels that print."""

    def __enter__(self):
        sys.stdout.flush()
        self.file, self.saved = tempfile.TemporaryFile(), os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *unused):
        ctypes.CDLL(None).fflush(None)
        os.dup2(self.saved, 1)
        os.close(self.saved)
        self.file.seek(0)
        self.lines = self.file.read().decode().splitlines()


def launch(driver, case, compiled, constants):
    """The arrays afterwards, and what was printed."""
    meta, arrays, params = compiled.metadata, {}, []
    for name in case.kernel.arg_names:
        value = case.args[name]
        if name in constants:
            continue
        if isinstance(value, (np.ndarray, Narrow)):
            arrays[name] = driver.array(value.array if isinstance(value, Narrow) else value)
            params.append(arrays[name].pointer)
        else:
            params.append(ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(value))
    programs = int(np.prod(case.grid))
    scratch = driver.array(np.zeros(max(meta.global_scratch_size, 1) * programs + 128, np.uint8))
    params += [scratch.pointer, ctypes.c_uint64(0)]
    module = driver.load(compiled.asm["ptx"])
    with Output() as output:
        module.launch(meta.name, tuple(int(n) for n in case.grid), 32 * meta.num_warps, params, meta.shared)
    results = {name: array.read() for name, array in arrays.items()}
    module.unload()
    for array in (*arrays.values(), scratch):
        array.free()
    return results, output.lines


# ---- comparing ----

def problem_of(case, name, got):
    """What is wrong with an array, or None."""
    wanted = case.wanted[name]
    if callable(wanted):
        return None if wanted(got) else "%s: %s" % (name, got)
    values, relative, absolute = wanted
    given = case.args[name]
    got = widen(Narrow(given.kind, got)) if isinstance(given, Narrow) else got
    wide = got.dtype.kind == "f"
    absolute = np.broadcast_to(absolute, np.shape(values)).reshape(-1)
    got, values = (np.asarray(x, np.float64 if wide else np.int64).reshape(-1) for x in (got, values))
    with np.errstate(invalid="ignore"):
        good = (got == values) | (np.isnan(got) & np.isnan(values)) if wide else got == values
        good |= np.abs(got - values) <= absolute + relative * np.abs(values)
    if good.all():
        return None
    at = np.flatnonzero(~good)
    return "%s: %d of %d differ, the first at %d: got %s, wanted %s" % (name, len(at), len(got), at[0], got[at[0]], values[at[0]])


def judge(library, case, compiled, constants):
    """Problems of a case."""
    try:
        results, lines = launch(Driver(library), case, compiled, constants)
    except DriverError as error:
        return [str(error)]
    problems = [problem_of(case, name, results[name]) for name in case.wanted]
    if case.says and sorted(set(lines)) != sorted(case.says):
        problems.append("printed %s" % lines)
    return [p for p in problems if p]


def apart(work):
    """What a function gives in a process of its own: a launch that fails takes the driver's context with it, or hangs."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        with os.fdopen(writer, "w") as file:
            json.dump(work(), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(text) if code == 0 else ["ended by %s" % (signal.Signals(-code).name if code < 0 else "status %d" % code)]


def capability(library):
    driver, value = Driver(library), ctypes.c_int()
    driver.call("cuDeviceGetAttribute", ctypes.byref(value), 75, driver.device)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    return 10 * value.value


def main():
    library, *names = sys.argv[1:]
    most, passed, failed = apart(lambda: capability(library)), 0, 0
    for case in CASES:
        for arch in case.archs:
            name = "%s, sm_%d" % (case.name, arch)
            if arch > most or not all(part in name for part in names):
                continue
            compiled, constants = compile_case(case, arch)
            problems = apart(lambda: judge(library, case, compiled, constants))
            for problem in problems:
                print("%s: %s" % (name, problem), flush=True)
            passed += not problems
            failed += bool(problems)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
