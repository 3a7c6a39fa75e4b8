# Every way in which a .npy file can be wrong is said; no prefix of a right one is taken for it.
# REQUIRES: numpy
# RUN: %python %s tkc %t.npy %S/Inputs/optional.tk | FileCheck %s
import io
import struct
import subprocess
import sys

import numpy as np

tkc, path, kernel = sys.argv[1:]


def run(data, suffix=""):
    with open(path, "wb") as out:
        out.write(data)
    command = [tkc, "-run", "-device", "cpu", kernel, "-grid", "1", "bias=None", "x=" + path + suffix, "-DN=1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done
    return "fine" if done.returncode == 0 else done.stderr.replace(path, "FILE").strip()


def show(name, data, suffix=""):
    print("%s: %s" % (name, run(data, suffix)))


def npy(array, **options):
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def raw(header, version=b"\1\0"):
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header.encode() + bytes(64)


good = npy(np.arange(3, dtype="f4"))
show("good", good)
# CHECK: {{^}}good: fine
print("prefixes:", sorted({run(good[:n]).replace(": %d bytes" % (n - 128), ": N bytes") for n in range(len(good))}))
# CHECK-NEXT: prefixes: ["tkc: error: x: cannot use 'FILE': it is empty", "tkc: error: x: cannot use 'FILE': it is truncated", "tkc: error: x: cannot use 'FILE': it is truncated: N bytes of elements instead of 12"]
show("text", b"x = 1\n" * 20)
# CHECK-NEXT: text: {{.*}}: it is not a .npy file
show("no descr", raw("{'fortran_order': False, 'shape': (3,)}"))
# CHECK-NEXT: no descr: {{.*}}: its header is damaged
show("cut descr", raw("{'fortran_order': False, 'shape': (3,), 'descr':"))
# CHECK-NEXT: cut descr: {{.*}}: its header is damaged
show("bare descr", raw("{'descr': f4, 'fortran_order': False, 'shape': (3,)}"))
# CHECK-NEXT: bare descr: {{.*}}: its header is damaged
show("no order", raw("{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (3,)}"))
# CHECK-NEXT: no order: {{.*}}: its header is damaged
show("version", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", b"\7\0"))
# CHECK-NEXT: version: {{.*}}: its header is damaged, or of a version after 3
show("double quotes", raw('{"descr": "<f4", "fortran_order": False, "shape": (3,)}'))
# CHECK-NEXT: double quotes: fine
for shape in "-3,", "'a',", "1.5,", "(3,),", "1,1,1,1,1,1,1,1,1", "3 0,", "3,4 5":
    show("shape", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}" % shape))
# CHECK-COUNT-7: shape: {{.*}}: its header is damaged, or its shape has more than 8 extents
for shape in "99999999999999999999,", "4611686018427387904,4", "9223372036854775807,":
    show("overflow", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}" % shape))
# CHECK-COUNT-3: overflow: {{.*}}: the shape is too large
show("huge", raw("{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000000,)}"))
# CHECK-NEXT: huge: {{.*}}: no memory for 400000000000000 bytes
show("fortran", npy(np.asfortranarray(np.zeros((2, 3), "f4"))))
# CHECK-NEXT: fortran: {{.*}}: it is in Fortran order; save it with numpy.ascontiguousarray
show("big-endian", npy(np.zeros(3, ">f4")))
# CHECK-NEXT: big-endian: {{.*}}: its elements are big-endian, '>f4': save it with x.astype(x.dtype.newbyteorder('<'))
show("objects", npy(np.array([None, {}]), allow_pickle=True))
# CHECK-NEXT: objects: {{.*}}: its elements are Python objects, '|O': save it as numbers
show("records", npy(np.zeros(3, [("a", "f4"), ("b", "i4")])))
# CHECK-NEXT: records: {{.*}}: its elements are records, [('a', '<f4'), ('b', '<i4')]: save one field of them
show("strings", npy(np.array(["abc"])))
# CHECK-NEXT: strings: {{.*}}: its elements are '<U3', which is not a type of the language
show("complex", npy(np.zeros(3, "c8")))
# CHECK-NEXT: complex: {{.*}}: its elements are '<c8', which is not a type of the language
show("bits", npy(np.zeros(3, "V2")))
# CHECK-NEXT: bits: {{.*}}: its elements are '|V2', bits without a type: say which with FILE.npy:bf16
show("bits as bf16", npy(np.zeros(3, "V2")), ":bf16")
# CHECK-NEXT: bits as bf16: fine
show("width", good, ":bf16")
# CHECK-NEXT: width: {{.*}}: its elements are float32, which is not as wide as bfloat16
show("type", good, ":f33")
# CHECK-NEXT: type: tkc: error: x: 'f33' is not an element type
