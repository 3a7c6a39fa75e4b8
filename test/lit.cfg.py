"""What a test may say.

Substitutions: tkc (with -verify-each where it begins a command), FileCheck and not are the built command and LLVM's tools; %unit, %fuzz, %bench and %examples
are the folders of the programs built from test/unit, fuzz, bench and from examples; %driver is the folder of the
emulated CUDA driver for LD_LIBRARY_PATH, %old-driver of one that is too old, %unlinked-driver of one without a linker and tensor maps, %nvtx of a library that stands in for NVIDIA's NVTX, %memory a library for LD_PRELOAD
that lets memory run out (fake/memory.c), %disk one whose disk is full or kills (fake/disk.c), %preloaded the command that can be given them, %bug one that makes the compiler meet a mistake of its own (fake/bug.c); %python runs a Python with numpy,
%tkc-python the same with the package tkc and its library, %torch-python one that has torch ($TKC_TORCH_PYTHON, if any);
%ptxas-check ARCH passes PTX from standard input (or a file named after ARCH) through, and fails if ptxas exists
and refuses it; %src, %build, %include are folders; %cc, %cxx, %cmake are tools; %llvm-link are the flags that
link LLVM.
Features: ptxas, cuda, sm_75 ... (of the GPU that is there and below), asan, static, numpy, torch, triton, pkg-config, long,
hiredis (it was there when tkc was built), redis (and there is a server),
measured-instructions (there are results of a GPU for run/instructions.py).
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "tkc"
config.environment["TKC_CACHE_DIR"] = ""  # tests find nothing that others left; those of the cache say where it is
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tk", ".ir", ".test", ".py"]
config.excludes = ["lit.cfg.py", "run_lit.py", "ptxas_check.py", "softmax_reference.py", "compare_python.py", "diagnostics.py", "gpu_compare.py", "attention_compare.py", "library_compare.py", "compile_compare.py", "python_launch.py", "first_result.py", "ops_triton.py", "agree_triton.py", "Inputs", "mutants"]
config.test_source_root = os.path.join(config.source_dir, "test")
config.test_exec_root = os.path.join(config.build_dir, "test")


def numpy_python():
    """The first Python that has numpy, or None: a version manager's Python often has none where Debian's has."""
    for candidate in ("/usr/bin/python3", config.python, shutil.which("python3")):
        if candidate and os.path.exists(candidate):
            probe = subprocess.run([candidate, "-c", "import numpy"], capture_output=True)
            if probe.returncode == 0:
                return candidate
    return None


def python_with(module, candidates):
    """The first Python that has a module, or None."""
    for candidate in candidates:
        if candidate and not subprocess.run([candidate, "-c", "import " + module], capture_output=True).returncode:
            return candidate
    return None


def with_package(python):
    """A command: that Python with the package tkc; with sanitizers those of the library, which want to be there from the start (what
    Python itself does not free is not looked for)."""
    asan = ""
    if "address" in config.sanitize:
        found = subprocess.run([config.c_compiler, "-print-file-name=libasan.so"], capture_output=True, text=True)
        asan = "LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 " % found.stdout.strip()
    return "env %sPYTHONPATH=%s TKC_LIBRARY=%s %s" % (asan, os.path.join(config.source_dir, "python"),
                                                      os.path.join(config.build_dir, "libtkc.so.0"), python)


def cuda_capability():
    """Compute capability of the first GPU as 10 * major + minor, or None without driver or GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, count = ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return None
    if driver.cuDeviceGet(ctypes.byref(device), 0):
        return None
    number = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        value = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device):
            return None
        number.append(value.value)
    return 10 * number[0] + number[1]


def add_substitutions():
    tool = lambda name: os.path.join(config.llvm_tools_dir, name)
    python = numpy_python()
    if python:
        config.available_features.add("numpy")
    python = python or config.python
    torch_python = python_with("torch", [os.environ.get("TKC_TORCH_PYTHON"), python])
    if torch_python:
        config.available_features.add("torch")
        if python_with("triton", [torch_python]):
            config.available_features.add("triton")
    checker = os.path.join(config.test_source_root, "ptxas_check.py")
    word = lambda name: r"(?<![\w./%%@=-])%s(?![\w./=-])" % re.escape(name)
    config.substitutions += [
        ("%ptxas-check", "%s %s" % (config.python, checker)),
        ("%unit", os.path.join(config.test_exec_root, "unit")),
        ("%old-driver", os.path.join(config.test_exec_root, "old")),
        ("%unlinked-driver", os.path.join(config.test_exec_root, "unlinked")),
        ("%driver", os.path.join(os.path.dirname(config.test_exec_root), "simt")),
        ("%nvtx", os.path.join(config.test_exec_root, "fake", "nvtx")),
        ("%memory", os.path.join(config.test_exec_root, "fake", "memory.so")),
        ("%disk", os.path.join(config.test_exec_root, "fake", "disk.so")),
        ("%preloaded", os.path.join(config.test_exec_root, "fake", "command")),
        ("%bug", os.path.join(config.test_exec_root, "fake", "bug.so")),
        ("%fuzz", os.path.join(config.test_exec_root, "fuzz")),
        ("%examples", os.path.join(config.test_exec_root, "examples")),
        ("%bench", os.path.join(config.test_exec_root, "bench")),
        ("%tkc-python", with_package(python)),
        ("%torch-python", with_package(torch_python or python)),
        ("%python", python),
        ("%include", os.path.join(config.source_dir, "include")),
        ("%llvm-link", config.shared_llvm),
        ("%cmake", config.cmake),
        ("%cxx", config.cxx_compiler),
        ("%cc", config.c_compiler),
        ("%src", config.source_dir),
        ("%build", config.build_dir),
        (r"(?:^|(?<=[|&;(){] )|(?<=\bnot ))" + word("tkc"), os.path.join(config.build_dir, "tkc") + " -verify-each"),
        (word("tkc"), os.path.join(config.build_dir, "tkc")),
        (word("FileCheck"), tool("FileCheck")),
        (word("not"), tool("not")),
    ]


def add_features():
    if shutil.which("ptxas"):
        config.available_features.add("ptxas")
    capability = cuda_capability()
    if capability:
        config.available_features.add("cuda")
        config.available_features |= {"sm_%d" % sm for sm in (75, 80, 86, 89, 90, 100) if sm <= capability}
    if "address" in config.sanitize:
        config.available_features.add("asan")
    if config.is_static.upper() == "ON":
        config.available_features.add("static")
    if shutil.which("pkg-config"):
        config.available_features.add("pkg-config")
    if config.has_redis and not config.has_redis.endswith("NOTFOUND"):
        config.available_features.add("hiredis")
        if shutil.which("redis-server"):
            config.available_features.add("redis")
    if os.environ.get("TKC_TEST_LONG"):
        config.available_features.add("long")
    if os.path.exists(os.path.join(config.test_source_root, "run", "Inputs", "instructions.json.gz")):
        config.available_features.add("measured-instructions")


def add_environment():
    config.environment["ASAN_OPTIONS"] = (
        "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1:allocator_may_return_null=1")
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    config.environment["LSAN_OPTIONS"] = "print_suppressions=0"
    config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "TKC_BARE_ROOTS"):
        if name in os.environ:
            config.environment[name] = os.environ[name]


add_substitutions()
add_features()
add_environment()
