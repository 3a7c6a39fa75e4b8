# Two threads may compile at once: nothing in the library changes but the frames of base/unwind.c, one stack a
# thread, the flag by which LLVM, which has state of its own, is started once, the table of handle.c, by which a
# handle that is none is told apart without being followed, and the emulated GPU's driver, which is its process's
# as a real one is: its contexts under a lock, and which of them is a thread's current one; and whose device_print
# a thread is in.
# RUN: objdump -t %build/libtkc_internal.a > %t
# RUN: %python %s %t | FileCheck %s
# UNSUPPORTED: asan
# CHECK: mutable: .bss{{.*}} driver
# CHECK-NEXT: mutable: .bss{{.*}} handles
# CHECK-NEXT: mutable: .bss{{.*}} llvm_started
# CHECK-NEXT: mutable: .tbss{{.*}} current
# CHECK-NEXT: mutable: .tbss{{.*}} innermost
# CHECK-NEXT: mutable: .tbss{{.*}} printing
# CHECK-NEXT: 6 in all
import re
import sys

found = []
for line in open(sys.argv[1]):
    entry = re.match(r"[0-9a-f]{16} .{7} (\.(?:t?data|t?bss)\S*)\t([0-9a-f]+) (?:\.hidden )?(\S+)", line)
    if not entry or entry.group(1).startswith(".data.rel.ro") or int(entry.group(2), 16) == 0:
        continue
    found.append("mutable: %s %s" % (entry.group(1), entry.group(3)))
print("\n".join(sorted(found)))
print("%d in all" % len(found))
