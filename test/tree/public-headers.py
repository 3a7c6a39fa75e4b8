# The installed headers are clean C99, C11 and C++17, each by itself, to gcc and to clang where that is.
# RUN: rm -rf %t && mkdir %t && %python %s %include %t %cc %cxx | FileCheck %s
# CHECK: {{^([6-9]|1[0-9])}} times without a word
import shutil
import subprocess
import sys

include, folder, cc, cxx = sys.argv[1:]
PROGRAMS = {
    "tkc": "#include <tkc/tkc.h>\n",
    "runtime": "#include <tkc/runtime.h>\n",
    "version": "#include <tkc/tkc.h>\n#if TKC_VERSION < TKC_VERSION_OF(0, 1, 0) || TKC_VERSION >= TKC_VERSION_OF(0, 2, 0)\n#error version\n#endif\n",
}
count = 0
for compiler, language, standards in (cc, "c", ("c99", "c11")), ("clang", "c", ("c99", "c11")), (cxx, "c++", ("c++17",)), ("clang++", "c++", ("c++17",)):
    if not shutil.which(compiler):
        continue
    for name, text in PROGRAMS.items():
        path = "%s/%s.c" % (folder, name)
        with open(path, "w") as file:
            file.write(text)
        for standard in standards:
            subprocess.run([compiler, "-std=" + standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-x", language, "-I", include, path],
                           check=True)
            count += 1
print("%d times without a word" % count)
