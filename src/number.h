/* Integers as Python writes them: 42, -1, 0x10, 0b11, 0o17, 1_000. */
#ifndef TKC_SRC_NUMBER_H
#define TKC_SRC_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum NumberRead {
    NUMBER_NONE,      /* not an integer */
    NUMBER_FITS,      /* in int64 */
    NUMBER_UNSIGNED,  /* above int64, in uint64; its bits are given */
    NUMBER_TOO_LARGE
} NumberRead;

/* Reads the whole of text. */
NumberRead number_read(const char *text, int64_t *out);
/* Reads the digits that text begins with, without a sign; *end is after them. */
NumberRead number_read_digits(const char *text, const char **end, uint64_t *out);

#endif
