# Whatever each call of the driver gives, a run ends as it should or with exit code 1, the call's name and what the driver says of the code; what was
# made is given back, and no wrong result is printed.
# UNSUPPORTED: asan
# RUN: %python %s %src %build/tkc %driver | FileCheck %s
# CHECK: {{^[3-9][0-9]}} calls, {{[1-9][0-9]+}} runs: {{[1-9][0-9]+}} refused, {{[1-9][0-9]+}} fine
import os
import re
import subprocess
import sys

root, tkc, driver = sys.argv[1:]
CALLS = re.findall(r"^CU(?:_NEWER)?\(\w+, +(cu\w+),", open(root + "/runtime/device/cuda_api.def").read(), re.M)
CODES = {int(n): text for n, text in re.findall(r'^ERROR\(\w+, (\d+), "\w+", "(.*?)"\)', open(root + "/runtime/simt/errors.def").read(), re.M)}
del CODES[0]
CODES[999] = "error 999, which the driver does not describe"
LOSES = range(700, 720)  # the context: what was made in it is gone with it
GIVE_BACK = ("cuMemFree_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2", "cuLinkDestroy")
ADD = ["-run", "-device", "cuda", root + "/test/cli/Inputs/add.tk", "-DBLOCK=128", "-grid", "1", "n=4", "x=ones:f32[4]", "y=ones:f32[4]",
       "z=empty:f32[4]", "-print", "z"]


def attempt(call, code):
    done = subprocess.run([tkc] + ADD, env=dict(os.environ, LD_LIBRARY_PATH=driver, SIMT_TRACE="1", **{call: str(code)}), capture_output=True, text=True)
    what = (call, code, done)
    if done.returncode == 0:
        assert "[2 2 2 2]" in done.stdout and "error:" not in done.stderr, what
    else:
        name = re.sub(r"_v\d$", "", call)
        said = re.search(r"^error: (.*)$", done.stderr, re.M)
        assert done.returncode == 1 and not done.stdout and said, what
        assert CODES[code] in said.group(1) and (name + " failed" in said.group(1) or call == "cuInit" or code in LOSES), what
    if code not in LOSES and call not in GIVE_BACK and call != "cuInit":
        assert "left: 0 allocations, 0 modules, 0 contexts, 0 current" in done.stderr, what
    return done.returncode


ends = [attempt(call, code) for call in CALLS for code in CODES]
print("%d calls, %d runs: %d refused, %d fine" % (len(CALLS), len(ends), sum(ends), len(ends) - sum(ends)))
