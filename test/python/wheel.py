# The wheel that the build writes has the package, the library and what an installer asks for, as it should be; unpacked, it works alone, and
# pip installs it in a fresh virtual environment (where this Python can make one) and takes it away again.
# REQUIRES: numpy
# UNSUPPORTED: asan
# RUN: rm -rf %t && mkdir %t && env -u TKC_LIBRARY -u PYTHONPATH %python %s %build %t | FileCheck %s
import base64
import glob
import hashlib
import importlib.util
import os
import subprocess
import sys
import venv
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

# CHECK: {{installed: 1.0 0.1.0 .*wheel.py.tmp/fresh/lib/python.*/site-packages/tkc/__init__.py, and gone|no ensurepip}}
if importlib.util.find_spec("ensurepip"):
    fresh = os.path.join(folder, "fresh")
    venv.create(fresh, system_site_packages=True, with_pip=True)  # numpy is the system's
    python = os.path.join(fresh, "bin", "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run(pip + ["install", "--no-index", "--no-deps", wheels[0]], check=True)
    os.makedirs(folder + "/elsewhere")
    os.rename(program, folder + "/elsewhere/program.py")
    said = subprocess.run([python, "program.py"], check=True, cwd=folder + "/elsewhere", capture_output=True, text=True).stdout.strip()
    subprocess.run(pip + ["uninstall", "-y", "tkc"], check=True)
    gone = subprocess.run([python, "-c", "import tkc"], cwd=folder + "/elsewhere", capture_output=True).returncode != 0
    print("installed: %s, and %s" % (said, "gone" if gone else "still there"))
else:
    print("no ensurepip")
