"""What is known of a matrix product."""
from values import DTYPES, F32, F64, FP8, I32, Facts, Val, coarser, held, known_int, need, unit, wild

BF16, FP16, I8 = DTYPES["bf16"], DTYPES["fp16"], DTYPES["i8"]

# Of fp32 operands: significant bits that the products are sure to see, and the largest error of a product relative to it.
PRECISIONS = {"ieee": (24, 0.0), "tf32": (11, 2.0**-9), "tf32x3": (11, 2.0**-20), "bf16x3": (8, 2.0**-14), "bf16x6": (8, 2.0**-20)}


def out_of(a, b, attrs):
    if a is I8:
        return I32
    if a is F64:
        return F64
    return DTYPES[attrs.get("out", "fp32")]


def shape_of(a, b):
    need(len(a) == len(b) >= 2 and a[:-2] == b[:-2] and a[-1] == b[-2])
    return a[:-1] + b[-1:]


def product(kernel, a, b, c, attrs, trips=1):
    """a times b, `trips` times, on top of c (or None). A device may sum in any order, fuse, and truncate where it adds (as tensor cores do),
    so a rounding is a whole unit of the last place in each of the two evaluations."""
    need(a.dtype is b.dtype or a.dtype in FP8 and b.dtype in FP8)
    need(a.dtype in (I8, BF16, FP16, F32, F64) or a.dtype in FP8)
    out, shape = out_of(a.dtype, b.dtype, attrs), shape_of(a.shape, b.shape)
    need(out is not FP16 or a.dtype is FP16 or a.dtype in FP8)
    need(c is None or c.dtype is out and c.shape == shape)
    if out is I32:
        return Val(I32, shape, known_int(I32))
    fa, fb, fc = a.facts, b.facts, c.facts if c else Facts(0.0, 1000, 0.0)
    need(not wild(fa) and not wild(fb) and not wild(fc))
    terms = trips * a.shape[-1]
    mag = fc.mag + terms * fa.mag * fb.mag
    err = fc.err + terms * (fa.err * fb.mag + fb.err * fa.mag + fa.err * fb.err)
    grain = coarser(None if fa.grain is None or fb.grain is None else fa.grain + fb.grain, fc.grain)
    bits, loss = PRECISIONS[attrs["precision"]] if a.dtype is F32 else (64, 0.0)
    if any(f.grain is None or f.mag > 2.0**(f.grain + bits) or f.err for f in (fa, fb)):
        err += terms * loss * fa.mag * fb.mag
    if held(out, mag, grain):
        return Val(out, shape, Facts(mag, grain, err))
    need(mag * 1.5 < out.mag)
    return Val(out, shape, Facts(mag * 1.5, None, err + 2 * (terms + 1) * unit(out, mag * 1.5)))
