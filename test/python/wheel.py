# The wheel that the build writes has the package, the library and what an installer asks for, as it should be; unpacked, it works alone.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir %t && env -u TKC_LIBRARY -u PYTHONPATH %python %s %build %t | FileCheck %s
import base64
import glob
import hashlib
import os
import subprocess
import sys
import zipfile

build, folder = sys.argv[1:]
wheels = glob.glob(build + "/python/*.whl")
wheel = zipfile.ZipFile(wheels[0])
# CHECK: 1 tkc-0.1.0-py3-none-linux_{{.*}}.whl
print(len(wheels), os.path.basename(wheels[0]))
record = dict(line.split(",", 1) for line in wheel.read("tkc-0.1.0.dist-info/RECORD").decode().split())
for name in wheel.namelist():
    data, said = wheel.read(name), record.pop(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert said in ("sha256=%s,%d" % (digest, len(data)), ",") and (said != ",") == (not name.endswith("RECORD")), name
# CHECK: left in the record: []
print("left in the record:", list(record))
# CHECK: Tag: py3-none-linux_
print(wheel.read("tkc-0.1.0.dist-info/WHEEL").decode())
wheel.extractall(folder)
program = os.path.join(folder, "program.py")
with open(program, "w") as f:
    f.write("""
import numpy, tkc, tkc.language as tl
from tkc.language.extra.cuda import libdevice
@tkc.jit
def one(x):
    tl.store(x, libdevice.rint(0.7))
x = numpy.zeros(1, numpy.float32)
one[(1,)](x)
print(x[0], tkc.version(), tkc.__file__)
""")
# CHECK: 1.0 0.1.0 {{.*}}wheel.py.tmp/tkc/__init__.py
sys.stdout.flush()
subprocess.run([sys.executable, program], check=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder})
