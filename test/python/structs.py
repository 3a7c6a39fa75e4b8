# The structs of the package are those of the headers, field by field, and its functions are declared there with as many parameters.
# RUN: rm -rf %t && mkdir %t && env PYTHONPATH=%src/python %python %s %include/tkc %t/structs.c
# RUN: %cc -Wall -Werror -I %include %t/structs.c -o %t/structs && %t/structs | FileCheck %s
# CHECK: 7 structs, {{[1-9][0-9]}} functions
# CHECK-NOT: {{.}}
import ctypes
import re
import sys

from tkc import _library

NAMES = {"TkcDefine": _library.Define, "TkcOptions": _library.Options, "TkcParam": _library.Param, "TkcDiagnostic": _library.DiagnosticStruct,
         "TkcDescriptor": _library.Descriptor, "TkcKernelInfo": _library.KernelInfo}
SPELT = {"default": "default_"}
CUT = ("TkcDiagnostic",)  # only its beginning is read
headers = "".join(open("%s/%s.h" % (sys.argv[1], name)).read() for name in ("tkc", "runtime"))
headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
lines = []
for name, struct in NAMES.items():
    if name not in CUT:
        lines.append('if (sizeof(%s) != %d) printf("%s has another size\\n");' % (name, ctypes.sizeof(struct), name))
    for field, _ in struct._fields_:
        c = SPELT.get(field, field)
        at = getattr(struct, field)
        lines.append('if (offsetof(%s, %s) != %d || sizeof ((%s *)0)->%s != %d) printf("%s.%s is elsewhere\\n");'
                     % (name, c, at.offset, name, c, at.size, name, c))
arg = [("kind", 0, 4), ("type", 8, 8), ("pointer", 16, 8), ("integer", 16, 8), ("floating", 16, 8), ("constexpr_value", 16, 8),
       ("descriptor", 16, 8), ("bytes", 24, 8)]
lines.append('if (sizeof(TkcArg) != %d) printf("TkcArg has another size\\n");' % _library.ARG_BYTES)
for field, at, size in arg:  # as _launch.py packs it
    lines.append('if (offsetof(TkcArg, %s) != %d || sizeof ((TkcArg *)0)->%s != %d) printf("TkcArg.%s is elsewhere\\n");' % (field, at, field, size, field))
kinds = [("POINTER", _library.POINTER_ARG), ("INT", _library.INT_ARG), ("FLOAT", _library.FLOAT_ARG), ("CONSTEXPR", _library.CONSTEXPR_ARG),
         ("DESCRIPTOR", _library.DESCRIPTOR_ARG)]
for kind, number in kinds:
    lines.append('if (TKC_ARG_%s != %d) printf("TKC_ARG_%s is another number\\n");' % (kind, number, kind))
for status, number in (("ERROR", 1), ("NO_MEMORY", 3), ("NO_DEVICE", 4)):
    assert number in _library.ERRORS
    lines.append('if (TKC_%s != %d) printf("TKC_%s is another number\\n");' % (status, number, status))
for name, (_, parameters) in _library.FUNCTIONS.items():
    found = re.search(r"^TKC_API [^;]*?\b%s\((.*?)\);" % name, headers, re.MULTILINE | re.DOTALL)
    given = re.sub(r"\([^()]*\)\([^()]*\)", "fn", found.group(1)) if found else ""
    count = 0 if given in ("void", "") else given.count(",") + 1
    if not found or count != len(parameters):
        lines.append('printf("%s is declared otherwise\\n");' % name)
with open(sys.argv[2], "w") as f:
    f.write('#include <stddef.h>\n#include <stdio.h>\n#include "tkc/runtime.h"\nint main(void)\n{\nprintf("%d structs, %d functions\\n");\n%s\n}\n'
            % (len(NAMES) + 1, len(_library.FUNCTIONS), "\n".join(lines)))
