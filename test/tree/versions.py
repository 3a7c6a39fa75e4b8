# A caller compiled with the headers of an older or a newer version works: each side reads what both know.
# RUN: rm -rf %t && mkdir -p %t/old/tkc %t/new/tkc %t/same && cp -r %include/tkc %t/same/tkc
# RUN: %python %s %include/tkc %t/old/tkc %t/new/tkc
# RUN: %cc -DOLD -I %t/old %S/Inputs/versions.c %build/libtkc.a %llvm-link -lpthread -lm -ldl -o %t/run-old
# RUN: %cc -I %t/same %S/Inputs/versions.c %build/libtkc.a %llvm-link -lpthread -lm -ldl -o %t/run-same
# RUN: %cc -DNEW -I %t/new %S/Inputs/versions.c %build/libtkc.a %llvm-link -lpthread -lm -ldl -o %t/run-new
# RUN: %t/run-old && %t/run-same && %t/run-new
# UNSUPPORTED: asan
import re
import sys

STRUCTS = ("TkcOptions", "TkcParam", "TkcDiagnostic", "TkcKernelInfo", "TkcCacheStats")


def change(text, field, drop):
    """Each struct without its last declaration, or with one more."""
    for name in STRUCTS:
        found = re.search(r"(?:typedef )?struct %s \{(.*?)\}(?: %s)?;" % (name, name), text, re.DOTALL)
        if not found:
            continue
        body = re.sub(r"/\*.*?\*/", "", found.group(1), flags=re.DOTALL)
        fields = [line.strip() for line in body.replace("\n", " ").split(";") if line.strip()]
        if drop:
            last = fields.pop()
            if "," in last and len(fields) == 1:  # of "uint64_t compiles, hits" the last name
                fields.append(last[:last.rindex(",")])
        else:
            fields.append(field)
        head, tail = found.group(0).split(found.group(1))
        text = text.replace(found.group(0), head + " " + "; ".join(fields) + "; " + tail)
    return text


for header in ("tkc.h", "runtime.h"):
    text = open("%s/%s" % (sys.argv[1], header)).read()
    open("%s/%s" % (sys.argv[2], header), "w").write(change(text, None, True))
    open("%s/%s" % (sys.argv[3], header), "w").write(change(text, "uint64_t from_the_future", False))
