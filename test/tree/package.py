# The Debian package needs nothing but the C library: it runs in a root that holds only that, and dpkg installs it in bare systems.
# REQUIRES: static, long
# RUN: rm -rf %t && mkdir %t && cd %build && cpack -B %t > %t/log
# RUN: %python %s %t | FileCheck %s
# CHECK: Depends: libc6 (>= 2.{{[0-9]+}})
# CHECK-NEXT: empty root: tkc 0.1.0 {{.*}}, [2 2 2 … 2 2 2]
"""package.py FOLDER: as root also in copies of the bare systems in $TKC_BARE_ROOTS (A:B), such as debootstrap --variant=minbase makes."""
import glob
import os
import shutil
import subprocess
import sys

RUN = ["tkc --version", "tkc -run -device simt /usr/share/doc/tkc/examples/vector_add.tk -grid 4 n=1000 -DBLOCK=256 "
       "x=ones:f32[1000] y=ones:f32[1000] z=empty:f32[1000] -print z"]


def sh(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def inside(root, command):
    """By the root's own program loader, as any user may do."""
    return sh("unshare", "-r", "chroot", root, *command.split()).strip()


folder = sys.argv[1]
package, = glob.glob(folder + "/*.deb")
print("Depends: " + sh("dpkg-deb", "-f", package, "Depends").strip())

empty = folder + "/empty"
sh("dpkg-deb", "-x", package, empty)
for library in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"):
    os.makedirs(empty + os.path.dirname(library), exist_ok=True)
    shutil.copy(library, empty + library)
print("empty root: " + ", ".join(inside(empty, command) for command in RUN))

for bare in filter(None, os.environ.get("TKC_BARE_ROOTS", "").split(":")):
    root = os.path.join(folder, os.path.basename(bare))
    sh("cp", "-a", bare, root)
    shutil.copy(package, root + "/tkc.deb")
    sh("chroot", root, "dpkg", "-i", "/tkc.deb")
    said = [inside(root, command) for command in RUN] + [sh("chroot", root, "ldconfig", "-p")]
    assert "[2 2 2 … 2 2 2]" in said[1] and "libtkc.so.0" in said[2], said
    sh("chroot", root, "dpkg", "-r", "tkc")
    assert not os.path.exists(root + "/usr/bin/tkc")
    print(bare + ": installs, runs, goes")
