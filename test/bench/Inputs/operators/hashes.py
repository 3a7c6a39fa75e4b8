"""Hashes and what is made of them: sketches, filters, checksums, words of digits."""
import triton
import triton.language as tl


@triton.jit
def murmur_mix(h):
    """The last steps of Murmur's third hash."""
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    return h ^ (h >> 16)


@triton.jit
def murmur3(x_ptr, out_ptr, N, seed, WORDS: tl.constexpr, BLOCK: tl.constexpr):
    """Murmur's third hash, of 32 bits, of keys of some words each."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.zeros([BLOCK], tl.uint32) + seed.to(tl.uint32)
    for w in tl.static_range(WORDS):
        k = tl.load(x_ptr + i * WORDS + w, mask=i < N, other=0).to(tl.uint32, bitcast=True)
        k *= 0xCC9E2D51
        k = (k << 15) | (k >> 17)
        h ^= k * 0x1B873593
        h = (h << 13) | (h >> 19)
        h = h * 5 + 0xE6546B64
    h = murmur_mix(h ^ (4 * WORDS))
    tl.store(out_ptr + i, h.to(tl.int32, bitcast=True), mask=i < N)


@triton.jit
def minhash(token_ptr, start_ptr, a_ptr, b_ptr, out_ptr, GRAM: tl.constexpr, HASHES: tl.constexpr,
            BLOCK: tl.constexpr):
    """A document's signature: the least of each hash over its runs of tokens."""
    doc = tl.program_id(0)
    first = tl.load(start_ptr + doc)
    end = tl.load(start_ptr + doc + 1)
    k = tl.arange(0, HASHES)
    a = tl.load(a_ptr + k).to(tl.uint32, bitcast=True)
    b = tl.load(b_ptr + k).to(tl.uint32, bitcast=True)
    least = tl.full([HASHES], 0xFFFFFFFF, tl.uint32)
    for begin in range(first, end - GRAM + 1, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        mask = i < end - GRAM + 1
        h = tl.full([BLOCK], 0x811C9DC5, tl.uint32)
        for g in tl.static_range(GRAM):
            t = tl.load(token_ptr + i + g, mask=mask, other=0).to(tl.uint32, bitcast=True)
            h = (h ^ t) * 0x01000193
        each = murmur_mix(h[:, None] * a[None, :] + b[None, :])
        each = tl.where(mask[:, None], each, 0xFFFFFFFF)
        least = tl.minimum(least, tl.min(each, 0))
    tl.store(out_ptr + doc * HASHES + k, least.to(tl.int32, bitcast=True))


@triton.jit
def bloom_query(key_ptr, bits_ptr, out_ptr, N, LOG_BITS: tl.constexpr, HASHES: tl.constexpr,
                BLOCK: tl.constexpr):
    """Whether all bits of a key are set in a filter: two hashes make all the others."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    key = tl.load(key_ptr + i, mask=mask, other=0, eviction_policy="evict_first")
    h = murmur_mix(key.to(tl.uint32))
    step = murmur_mix((key >> 32).to(tl.uint32) ^ 0x9E3779B9) | 1
    found = mask
    for _ in tl.static_range(HASHES):
        bit = h >> (32 - LOG_BITS)
        word = tl.load(bits_ptr + (bit >> 5).to(tl.int64), mask=found, other=0,
                       eviction_policy="evict_last")
        found = found & (((word >> (bit & 31).to(tl.int32)) & 1) != 0)
        h += step
    tl.store(out_ptr + i, found.to(tl.int8), mask=mask)


@triton.jit
def simhash(x_ptr, plane_ptr, out_ptr, N, D, BITS: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_D: tl.constexpr):
    """Signs of products with random planes, 32 a word."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    p = tl.arange(0, BITS)
    total = tl.zeros([BLOCK_N, BITS], tl.float32)
    for start in range(0, D, BLOCK_D):
        d = start + tl.arange(0, BLOCK_D)
        x = tl.load(x_ptr + n[:, None] * D + d[None, :], mask=(n < N)[:, None] & (d < D)[None, :],
                    other=0.0)
        w = tl.load(plane_ptr + p[None, :] * D + d[:, None], mask=(d < D)[:, None], other=0.0)
        total = tl.dot(x, w, total)
    signs = (total > 0).to(tl.int32)
    words = tl.reshape(signs, [BLOCK_N, BITS // 32, 32]) << tl.arange(0, 32)[None, None, :]
    at = n[:, None] * (BITS // 32) + tl.arange(0, BITS // 32)[None, :]
    tl.store(out_ptr + at, tl.sum(words, 2), mask=(n < N)[:, None])


@triton.jit
def crc32_rows(x_ptr, table_ptr, out_ptr, ROWS, BYTES, BLOCK: tl.constexpr):
    """A checksum of each row of bytes, four bytes a word, by a table of 256 words."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = row < ROWS
    crc = tl.full([BLOCK], 0xFFFFFFFF, tl.uint32)
    x_ptr += row.to(tl.int64) * (BYTES // 4)
    for w in range(BYTES // 4):
        word = tl.load(x_ptr + w, mask=mask, other=0).to(tl.uint32, bitcast=True)
        for b in tl.static_range(4):
            at = (crc ^ (word >> (8 * b))) & 0xFF
            crc = (crc >> 8) ^ tl.load(table_ptr + at).to(tl.uint32, bitcast=True)
    tl.store(out_ptr + row, (crc ^ 0xFFFFFFFF).to(tl.int32, bitcast=True), mask=mask)


@triton.jit
def digit(v):
    """Bytes of six bits each as base 64 has them."""
    letter = tl.where(v < 26, v + 65, v + 71)
    number = tl.where(v < 62, v - 4, tl.where(v == 62, 43, 47))
    return tl.where(v < 52, letter, number)


@triton.jit
def base64_encode(x_ptr, out_ptr, GROUPS, BLOCK: tl.constexpr):
    """Three bytes become four digits of base 64."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < GROUPS
    a = tl.load(x_ptr + 3 * i, mask=mask, other=0).to(tl.int32)
    b = tl.load(x_ptr + 3 * i + 1, mask=mask, other=0).to(tl.int32)
    c = tl.load(x_ptr + 3 * i + 2, mask=mask, other=0).to(tl.int32)
    even = tl.join(digit(a >> 2), digit((b & 15) << 2 | c >> 6))
    odd = tl.join(digit((a & 3) << 4 | b >> 4), digit(c & 63))
    four = tl.reshape(tl.join(even, odd), [BLOCK * 4])
    o = tl.program_id(0) * BLOCK * 4 + tl.arange(0, BLOCK * 4)
    tl.store(out_ptr + o, four.to(tl.uint8), mask=o < GROUPS * 4)
