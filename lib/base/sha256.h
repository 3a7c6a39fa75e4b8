/* SHA-256 (FIPS 180-4). */
#ifndef TKC_BASE_SHA256_H
#define TKC_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct Sha256 { uint32_t h[8]; uint64_t nbytes; uint8_t block[64]; } Sha256;

void sha256_init(Sha256 *s);
void sha256_update(Sha256 *s, const void *data, size_t n);
void sha256_final(Sha256 *s, uint8_t out[32]);

#endif
