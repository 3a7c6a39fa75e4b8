/* SHA-256 (FIPS 180-4): what names files and proves that bytes are the ones that were written. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_TEXT = 2 * SHA256_BYTES + 1 };
void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t len);
/* The same as hexadecimal digits and a NUL. */
void sha256_text(char out[SHA256_TEXT], const void *data, size_t len);
