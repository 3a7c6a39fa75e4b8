"""ptxas_check.py ARCH [FILE]: copies PTX to standard output; where ptxas exists, also assembles it for ARCH and
fails if it is refused, if registers are spilled, or if wgmma is serialised (C7510 and the like)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def assemble(ptxas, arch, ptx):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w") as out:
            out.write(ptx)
        lines = ["-lineinfo"] if "\t.loc\t" in ptx else []
        command = [ptxas, "-v", *lines, "-arch=" + arch, path, "-o", os.path.join(folder, "kernel.cubin")]
        return subprocess.run(command, capture_output=True, text=True)


def complaint(result):
    if result.returncode:
        return "ptxas refuses the text"
    spills = re.findall(r"(\d+) bytes spill", result.stderr)
    if any(int(n) for n in spills):
        return "registers are spilled"
    if "wgmma" in result.stderr and "serializ" in result.stderr:
        return "wgmma is serialised"
    return None


def main():
    arch = sys.argv[1]
    with (open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin) as text:
        ptx = text.read()
    sys.stdout.write(ptx)
    if not ptx.strip():
        sys.exit("ptxas_check: no PTX was given")
    ptxas = shutil.which("ptxas")
    if ptxas:
        result = assemble(ptxas, arch, ptx)
        problem = complaint(result)
        if problem:
            sys.exit("ptxas_check: %s\n%s" % (problem, result.stderr))


if __name__ == "__main__":
    main()
