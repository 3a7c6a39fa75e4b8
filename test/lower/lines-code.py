# Line information changes no instruction, whatever the file is called; ptxas, where there is one, takes it.
# RUN: %python %s %build/tkc %src "%python %src/test/ptxas_check.py" %t | FileCheck %s
# CHECK: 14 kernels
"""Kernels of examples/, compiled with and without -lineinfo: without what it adds, both texts are the same."""
import os
import re
import shlex
import shutil
import subprocess
import sys

KERNELS = (
    ("copy", "copy", "-DBLOCK=1024 -sig x=*fp32,y=*fp32"),
    ("cross_entropy", "cross_entropy", "-DBLOCK=1024 -sig logits=*fp16,labels=*i64"),
    ("dropout", "dropout", "-DBLOCK=1024 -sig x=*fp32,y=*fp16"),
    ("gelu", "gelu", "-DBLOCK=1024 -sig x=*bf16,y=*bf16"),
    ("layer_norm", "layer_norm", "-DBLOCK=512 -sig x=*fp16,weight=*fp32,bias=*fp32,y=*fp16"),
    ("softmax", "softmax_persistent", "-DBLOCK=2048"),
    ("stencil", "stencil", "-DBH=16 -DBW=64"),
)
# Of each line what names its place, and comments; the section of names; the version, as calls need 7.2.
ADDED = re.compile(r"[ \t]*//.*|\t\.(loc|file)\t.*|\$L__(tmp|func_begin|func_end)\d+:|\.version .*")
SECTION = re.compile(r"\t\.section\t\.debug_(macinfo\t\{\t\}|str\n\t\{\n[^}]*\})")


def code(text):
    lines = ADDED.sub("", SECTION.sub("", text)).split("\n")
    return [line for line in lines if line.strip()]


def compile_to(path, tkc, source, kernel, arguments, *more):
    subprocess.run([tkc, source, "-k", kernel, *arguments, "-o", path, *more], check=True)
    with open(path) as text:
        return text.read()


def check(tkc, ptxas_check, folder, source, kernel, arguments, arch):
    path = os.path.join(folder, "kernel.ptx")
    arguments = [*arguments, f"-arch={arch}"]
    plain = compile_to(path, tkc, source, kernel, arguments)
    lines = compile_to(path, tkc, source, kernel, arguments, "-lineinfo")
    subprocess.run([*ptxas_check, arch, path], check=True, stdout=subprocess.DEVNULL)
    assert ".loc" not in plain and lines.count("\t.loc\t") > 5, lines
    assert code(plain) == code(lines), f"{source} {kernel} {arch}: the code differs"
    assert [line.replace("\t", " ") for line in lines.split("\n") if not line.isascii()] == []
    name = "".join(c if " " <= c <= "~" and c not in '"\\' else "?" * len(c.encode()) for c in source)
    assert f'"{name}"' in lines, lines


def main():
    tkc, root, ptxas_check, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for example, kernel, arguments in KERNELS:
        for arch, name in (("sm_75", "k.tk"), ("sm_90a", 'odd "\\ @[ ü\n.tk')):
            source = os.path.join(folder, name)
            shutil.copy(os.path.join(root, "examples", example + ".tk"), source)
            check(tkc, shlex.split(ptxas_check), folder, source, kernel, shlex.split(arguments), arch)
    print(f"{2 * len(KERNELS)} kernels")


main()
