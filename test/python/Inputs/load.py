"""For library.test."""
import sys

import tkc
import tkc.language as tl

print(tkc.cdiv(7, 2), tl.float16, tl.constexpr(4) + 1, flush=True)
if len(sys.argv) > 1:
    print(tkc._library._places())
else:
    tkc.version()
