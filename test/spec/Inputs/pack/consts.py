import triton.language as tl
FACTOR = tl.constexpr(3)
if True:
    C = 7
