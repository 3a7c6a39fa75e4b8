/* SHA-256 as FIPS 180-4 writes it; names follow the standard (section 6.2.2). */
#include "base/sha256.h"

#include <string.h>

/* Section 4.2.2: the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Section 5.3.3: the fractional parts of the square roots of the first 8 primes. */
static const uint32_t initial_hash[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t read_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void write_be32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (int t = 0; t < 16; t++) w[t] = read_be32(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

static void compress(uint32_t hash[8], const uint8_t *block)
{
    uint32_t w[64];
    schedule(w, block);
    uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3];
    uint32_t e = hash[4], f = hash[5], g = hash[6], h = hash[7];
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
        uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
        uint32_t sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
        uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t step[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) hash[i] += step[i];
}

void sha256_init(Sha256 *s)
{
    *s = (Sha256){0};
    memcpy(s->h, initial_hash, sizeof s->h);
}

void sha256_update(Sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    size_t have = s->nbytes % 64;
    s->nbytes += n;
    if (have) {
        size_t take = 64 - have < n ? 64 - have : n;
        if (take) memcpy(s->block + have, p, take);
        p += take, n -= take;
        if (have + take < 64) return;
        compress(s->h, s->block);
    }
    for (; n >= 64; p += 64, n -= 64) compress(s->h, p);
    if (n) memcpy(s->block, p, n);
}

/* Section 5.1.1: a one bit, zeros, and the length in bits as 64 bits fill the last block. */
void sha256_final(Sha256 *s, uint8_t out[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t nbits = s->nbytes * 8;
    size_t have = s->nbytes % 64;
    sha256_update(s, padding, have < 56 ? 56 - have : 120 - have);
    uint8_t length[8];
    write_be32(length, (uint32_t)(nbits >> 32));
    write_be32(length + 4, (uint32_t)nbits);
    sha256_update(s, length, 8);
    for (int i = 0; i < 8; i++) write_be32(out + 4 * i, s->h[i]);
}
