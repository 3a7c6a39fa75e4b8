# docs/diagnostics.md lists what diagnostics are about as the table has it, in its order.
# RUN: %python %s %S/../.. | FileCheck %s
# CHECK: the same
import re
import sys

table = open(sys.argv[1] + "/lib/base/diag_ids.def").read()
rows = re.findall(r'^(?:DIAG|WARNING|REMARK)\(\w+,\s*"([^"]+)",\s*"([^"]+)"\)', table, re.M)
listed = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", open(sys.argv[1] + "/docs/diagnostics.md").read().split("## What they are about")[1], re.M)
assert len(rows) == len(set(id for id, _ in rows)), "an id twice"
ours = [row for row in listed if row[0] not in ("command", "time", "usage")]
print("the same" if rows and ours == rows else set(rows) ^ set(ours))
