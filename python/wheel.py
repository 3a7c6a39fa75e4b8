"""Writes the wheel: the package tkc with the library inside, for any Python 3.8 or newer. Needs Python alone, and no network.

    wheel.py --version 0.1.0 --library libtkc.so.0.1.0 --license LICENSE --machine x86_64 FOLDER
"""
import argparse
import base64
import hashlib
import os
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
METADATA = """Metadata-Version: 2.1
Name: tkc
Version: {version}
Summary: Kernels of Triton's language, compiled without Triton
License: MIT
Requires-Python: >=3.8
Description-Content-Type: text/markdown

`import tkc` in place of Triton's `jit`: kernels run on NVIDIA GPUs, on an emulated GPU, and on the CPU.
"""
WHEEL = """Wheel-Version: 1.0
Generator: tkc
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def package_files():
    for folder, below, names in os.walk(os.path.join(HERE, "tkc")):
        below[:] = sorted(b for b in below if b != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, HERE), path


def write(zip_, record, name, data):
    """With a date of its own, so that the same tree gives the same wheel."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    zip_.writestr(info, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append("%s,sha256=%s,%d" % (name, digest, len(data)))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name in ("version", "library", "license", "machine"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--extension", help="what makes launches short, for any Python")
    args = parser.parse_args()
    platform = "linux_" + args.machine
    os.makedirs(args.folder, exist_ok=True)
    info, record = "tkc-%s.dist-info" % args.version, []
    with zipfile.ZipFile(os.path.join(args.folder, "tkc-%s-py3-none-%s.whl" % (args.version, platform)), "w") as z:
        for name, path in package_files():
            write(z, record, name, read(path))
        write(z, record, "tkc/libtkc.so." + args.version.split(".")[0], read(args.library))
        if args.extension:
            write(z, record, "tkc/_fast.abi3.so", read(args.extension))
        write(z, record, info + "/METADATA", METADATA.format(version=args.version).encode())
        write(z, record, info + "/WHEEL", WHEEL.format(platform=platform).encode())
        write(z, record, info + "/LICENSE", read(args.license))
        z.writestr(zipfile.ZipInfo(info + "/RECORD", (1980, 1, 1, 0, 0, 0)), "\n".join(record + [info + "/RECORD,,", ""]))


if __name__ == "__main__":
    main()
