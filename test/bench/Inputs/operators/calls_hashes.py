"""Calls of hashes.py, as calls.py has them."""
import base64
import zlib

import torch
from library_calls import bf16, cdiv, i32, randint, randn, steps, zeros
from operators.calls import adds_to, i8, i64, int32, ints, launch, u8

CALLS, LOW = [], 0xFFFFFFFF
add = adds_to(CALLS)


def words(*shape):
    return randint(-(1 << 31), 1 << 31, *shape, dtype=i64).to(int32)


def product(a, b):
    """Of words of 32 bits, their low half."""
    return ((a & 0xFFFF) * b + (((a >> 16) * b & 0xFFFF) << 16)) & LOW


def mixed(h):
    h = product(h ^ h >> 16, 0x85EBCA6B)
    h = product(h ^ h >> 13, 0xC2B2AE35)
    return h ^ h >> 16


def murmur(n, count, block, warps, seed=1234):
    x, out = words(n, count), zeros(n, dtype=int32)

    def reference():
        h = torch.full((n,), seed)
        for k in (x.to(i64) & LOW).unbind(1):
            k = product(k, 0xCC9E2D51)
            h = h ^ product((k << 15 | k >> 17) & LOW, 0x1B873593)
            h = (((h << 13 | h >> 19) & LOW) * 5 + 0xE6546B64) & LOW
        return [mixed(h ^ 4 * count).to(int32)]
    return launch([x, out, n, seed], {"WORDS": count, "BLOCK": block}, cdiv(n, block), [out], warps,
                  reference)


def signatures(lengths, gram, hashes, block, warps):
    tokens, a, b = ints(0, 50000, sum(lengths)), words(hashes) | 1, words(hashes)
    out = zeros(len(lengths), hashes, dtype=int32)

    def reference():
        rows = []
        for part in tokens.to(i64).split(lengths):
            h = torch.full((len(part) - gram + 1,), 0x811C9DC5)
            for g in range(gram):
                h = product(h ^ part[g : g + len(h)], 0x01000193)
            each = product(h[:, None], a.to(i64) & LOW) + (b.to(i64) & LOW)
            rows.append(mixed(each & LOW).amin(0).to(int32))
        return [torch.stack(rows)]
    return launch([tokens, i32(steps(lengths)), a, b, out],
                  {"GRAM": gram, "HASHES": hashes, "BLOCK": block}, len(lengths), [out], warps,
                  reference)


def bloom(n, log_bits, hashes, block, warps):
    keys, bits = randint(-(1 << 62), 1 << 62, n, dtype=i64), \
        words(1 << (log_bits - 5)) | words(1 << (log_bits - 5)) | words(1 << (log_bits - 5))
    out = zeros(n, dtype=i8)

    def reference():
        h, step = mixed(keys & LOW), mixed(keys >> 32 & LOW ^ 0x9E3779B9) | 1
        found = torch.ones(n, dtype=torch.bool)
        for _ in range(hashes):
            bit = h >> (32 - log_bits)
            found &= (bits[bit >> 5].to(i64) >> (bit & 31) & 1) == 1
            h = (h + step) & LOW
        return [found.to(i8)]
    return launch([keys, bits, out, n], {"LOG_BITS": log_bits, "HASHES": hashes, "BLOCK": block},
                  cdiv(n, block), [out], warps, reference)


def signs(n, D, bits, tile, warps, stages, kind=bf16):
    x, planes, out = randn(n, D, dtype=kind), randn(bits, D, dtype=kind), \
        zeros(n, bits // 32, dtype=int32)

    def reference():
        on = (x.float() @ planes.float().mT > 0).view(n, -1, 32)
        return [(on.to(i64) << torch.arange(32)).sum(-1).to(int32)]
    return launch([x, planes, out, n, D],
                  {"BITS": bits, "BLOCK_N": tile[0], "BLOCK_D": tile[1]}, cdiv(n, tile[0]), [out],
                  warps, reference, stages)


def checksums(rows, size, block, warps):
    x, out = ints(0, 256, rows, size, dtype=u8), zeros(rows, dtype=int32)
    table = torch.arange(256)
    for _ in range(8):
        table = torch.where(table % 2 == 1, table >> 1 ^ 0xEDB88320, table >> 1)
    return launch([x.view(int32), table.to(int32).to(x.device), out, rows, size],
                  {"BLOCK": block}, cdiv(rows, block), [out], warps,
                  lambda: [torch.tensor([zlib.crc32(bytes(r.tolist())) for r in x]).to(int32)])


def digits(groups, block, warps):
    x, out = randint(0, 256, 3 * groups, dtype=u8), zeros(4 * groups, dtype=u8)
    return launch([x, out, groups], {"BLOCK": block}, cdiv(groups, block), [out], warps,
                  lambda: [torch.tensor(list(base64.b64encode(bytes(x.tolist()))))])


add("hashes.py", "murmur3", "2^24 keys of 4 words, 4 warps", murmur, dict(n=1 << 24),
    dict(n=1000), count=4, block=512, warps=4)
add("hashes.py", "minhash", "2048 documents, 128 hashes of 5 tokens, 4 warps", signatures,
    dict(lengths=[500 + 37 * i % 1500 for i in range(2048)]), dict(lengths=[40, 5, 77]), gram=5,
    hashes=128, block=32, warps=4)
add("hashes.py", "bloom_query", "2^23 keys in 2^28 bits, 7 hashes, 4 warps", bloom,
    dict(n=1 << 23, log_bits=28), dict(n=1000, log_bits=12), hashes=7, block=512, warps=4)
add("hashes.py", "simhash", "bf16 65536×768, 256 planes, 8 warps", signs,
    dict(n=65536, D=768, bits=256, tile=(64, 64)), dict(n=40, D=72, bits=64, tile=(16, 32)),
    warps=8, stages=3)
add("hashes.py", "crc32_rows", "65536 rows of 512 bytes, 2 warps", checksums,
    dict(rows=65536, size=512), dict(rows=70, size=20), block=64, warps=2)
add("hashes.py", "base64_encode", "48 MB, 4 warps", digits, dict(groups=1 << 24),
    dict(groups=1001), block=512, warps=4)
