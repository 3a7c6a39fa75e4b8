"""Matrices of PTX's tensor core instructions: their elements' codes, and which lane's register has which element, by the PTX ISA."""
import numpy as np

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32, "f64": 64}
LANES = np.arange(32)


def codes(kind, values):
    """Numbers that the type holds exactly, as its bits in 64-bit words."""
    values = np.asarray(values)
    if kind in ("f32", "tf32"):
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)
    if kind == "f64":
        return values.astype(np.float64).view(np.uint64)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind == "bf16":
        return codes("f32", values) >> np.uint64(16)
    if kind == "e5m2":
        return codes("f16", values) >> np.uint64(8)
    if kind == "e4m3":
        bits = codes("f32", values)
        small = ((bits >> np.uint64(20)) & np.uint64(0x7ff)) - np.uint64(120 << 3)
        return np.where(values == 0, 0, bits >> np.uint64(31) << np.uint64(7) | small).astype(np.uint64)
    return values.astype(np.int64).view(np.uint64) & np.uint64(2**BITS[kind] - 1)


def numbers(kind, bits):
    """The other way, for types of results."""
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    return bits.view(np.float64) if kind == "f64" else bits.astype(np.uint32).view({"f32": np.float32, "s32": np.int32}[kind]).astype(np.float64)


def some(kind, rng, *shape):
    """Small numbers that every type of the kind holds, with sums that are exact."""
    if kind in ("s8", "u8", "s4", "u4", "b1"):
        low, high = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}[kind]
        return rng.integers(low, high, shape)
    return rng.integers(-6, 7, shape) / (1 if kind == "s32" else 2)


# ---- fragments: (row, column) of each element, [element][lane] ----

def per_register(kind):
    return max(32 // BITS[kind], 1)


def of_a(kind, m, k):
    per, i = per_register(kind), np.arange(m * k // 32)[:, None]
    halves = m // 8
    register, part = i // per, i % per
    return LANES // 4 + 8 * (register % halves), LANES % 4 * per + part + 4 * per * (register // halves)


def of_b(kind, k, n):
    row, column = of_a(kind, n, k)
    return column, row


def of_c(m, n):
    i = np.arange(m * n // 32)[:, None]
    halves = m // 8
    return LANES // 4 + 8 * (i // 2 % halves), LANES % 4 * 2 + i % 2 + 8 * (i // 2 // halves)


def pack(kind, matrix, places):
    """Registers [register][lane] of a matrix."""
    per, bits = per_register(kind), codes(kind, matrix[places])
    bits = bits.reshape(-1, per, 32) << (np.arange(per, dtype=np.uint64) * np.uint64(BITS[kind]))[:, None]
    packed = np.bitwise_or.reduce(bits, axis=1)
    return packed if kind == "f64" else packed.astype(np.uint32)


def unpack(kind, registers, places, shape):
    per = per_register(kind)
    bits = (registers.astype(np.uint64)[:, None, :] >> (np.arange(per, dtype=np.uint64) * np.uint64(BITS[kind] % 64))[:, None])
    bits = (bits & np.uint64(2**BITS[kind] - 1 if BITS[kind] < 64 else 2**64 - 1)).reshape(-1, 32)
    out = np.zeros(shape)
    out[places] = numbers(kind, bits)
    return out
