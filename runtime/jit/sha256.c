#include "sha256.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, WORDS = 8 };

/* The fractional parts of the cube roots of the first primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static uint32_t read_word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void add_block(uint32_t state[WORDS], const uint8_t *p)
{
    uint32_t w[ROUNDS], s[WORDS];
    for (int i = 0; i < 16; i++) w[i] = read_word(p + 4 * i);
    for (int i = 16; i < ROUNDS; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t e = s[4], a = s[0];
        const uint32_t t = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
        const uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                           ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, sizeof s - sizeof *s);
        s[0] = t + u;
        s[4] += t;
    }
    for (int i = 0; i < WORDS; i++) state[i] += s[i];
}

void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t len)
{
    uint32_t state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t last[2 * BLOCK] = {0};
    const uint8_t *p = data;
    const uint64_t bits = (uint64_t)len * 8;
    for (; len >= BLOCK; p += BLOCK, len -= BLOCK) add_block(state, p);
    if (len) memcpy(last, p, len);
    last[len] = 0x80;
    const size_t end = len + 9 <= BLOCK ? BLOCK : sizeof last;
    for (int i = 0; i < 8; i++) last[end - 1 - (size_t)i] = (uint8_t)(bits >> 8 * i);
    for (size_t at = 0; at < end; at += BLOCK) add_block(state, last + at);
    for (int i = 0; i < SHA256_BYTES; i++) out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_text(char out[SHA256_TEXT], const void *data, size_t len)
{
    uint8_t sum[SHA256_BYTES];
    sha256(sum, data, len);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", sum[i]);
}
