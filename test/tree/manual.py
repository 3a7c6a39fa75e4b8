# The manual has a page for each name of the public headers, with what the header says of it, and all options; it is clean to a roff.
# RUN: %python %src/manual/write.py %src 1.2.3 %t && %python %s %src %t/man | FileCheck %s
# CHECK: {{[1-9][0-9]+}} functions, {{[1-9][0-9]+}} other names, {{[1-9][0-9]+}} options
# CHECK-NOT: {{.}}
# A declaration that no comment says anything of is refused.
# RUN: rm -rf %t && mkdir -p %t/include && cp -r %src/include/tkc %t/include && ln -s %src/src %src/lib %src/docs %src/README.md %t
# RUN: sed -i '/^.. The library.s version as a number/d' %t/include/tkc/tkc.h && not %python %src/manual/write.py %t 1.2.3 %t/out 2>&1 | FileCheck %s --check-prefix=BARE
# BARE: include/tkc/tkc.h: no comment above: TKC_API int tkc_version_number(void);
import glob
import os
import re
import shutil
import subprocess
import sys

root, folder = sys.argv[1:]
headers = "".join(open("%s/include/tkc/%s.h" % (root, h), encoding="utf-8").read() for h in ("tkc", "runtime"))
functions = set(re.findall(r"^TKC_API [^(]*?(tkc_\w+)\(|^static inline \w+ (tkc_\w+)\(", headers, re.M))
functions = {a or b for a, b in functions}
others = set(re.findall(r"^(?:typedef (?:struct|enum|union) |struct )(Tkc\w+)", headers, re.M)) | set(re.findall(r"^#define (TKC_VERSION\w*)", headers, re.M))


def page(path):
    with open(os.path.join(folder, path), encoding="ascii") as file:
        text = file.read()
    return page(text.split()[1]) if text.startswith(".so ") else text


for name in functions | others:
    text = page("man3/%s.3" % name)
    assert name in text.split(".SH NAME\n")[1].split("\n")[0], name
    for part in ["SYNOPSIS", "DESCRIPTION", "SEE ALSO"] + (["THREADS"] if name in functions else []):
        assert ".SH " + part in text, (name, part)
# What the header says, and the rule for threads that it has for each.
assert "An artifact keeps what it needs of its source" in page("man3/tkc_compile.3")
assert "TKC_CANCELLED" in page("man3/tkc_compile.3").split("RETURN VALUE")[1]
assert all("Any number of threads" in page("man3/%s.3" % f) for f in ("tkc_launch", "tkc_jit_info", "tkc_alloc")) and "One thread at a time" in page("man3/tkc_jit_new.3")
assert "dynamic shared memory" in page("man3/tkc.3") and "cuLaunchKernel" in page("man7/tkc-embedding.7")
command = page("man1/tkc.1").replace("\\-", "-")
spelled = re.findall(r'^OPT\(\w+, +"(-[^"]+)"', open(root + "/src/options.def", encoding="utf-8").read(), re.M)
for spelling in spelled:
    assert re.search(r'^\.B "?%s' % re.escape(spelling), command, re.M), spelling
assert "masked-load" in command and "Rvec" in command and "EXIT CODE" in command
if shutil.which("groff"):
    pages = [p for p in glob.glob(folder + "/man*/*") if not open(p).read().startswith(".so")]
    said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"] + pages, capture_output=True, text=True).stderr
    print(said, end="")
print("%d functions, %d other names, %d options" % (len(functions), len(others), len(spelled)))
