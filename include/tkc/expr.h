/* Numbers and expressions over names, as Python writes them: -grid "cdiv(n,BLOCK)", the debugger's conditions. Not
   installed. */
#ifndef TKC_EXPR_H
#define TKC_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- integers: 42, -1, 0x10, 0b11, 0o17, 1_000 ---- */

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

/* ---- expressions: or and not, comparisons, + - * / // %, cdiv(a,b), min, max, next_power_of_2(n) ---- */

typedef struct ExprNumber {
    bool is_float;
    int64_t i;
    double f;
} ExprNumber;

/* MALFORMED: the text is no expression. WRONG: it is one, but has no value. */
typedef enum ExprFound { EXPR_FOUND, EXPR_NO_VALUE, EXPR_WRONG, EXPR_MALFORMED } ExprFound;

/* What names mean; `why` is for EXPR_WRONG. index: n numbers in brackets after the name, or n 0. */
typedef struct ExprNames {
    ExprFound (*find)(void *user, const char *name, size_t len, const int64_t *index, int n,
                      ExprNumber *out, char *why, size_t size);
    void *user;
    bool counts; /* integers alone: sums and products, names without brackets */
} ExprNames;

/* NO_VALUE: some name has no value now. From WRONG on: why says what. */
ExprFound expr_evaluate(const char *text, const ExprNames *names, ExprNumber *out, char *why,
                        size_t size);
static inline bool expr_is_true(const ExprNumber *n) { return n->is_float ? n->f != 0 : n->i != 0; }
/* The same of expressions between commas, at most *n, which then is how many; of names that count. */
ExprFound expr_list(const char *text, int *n, int64_t *out, const ExprNames *names, char *why,
                    size_t size);

#endif
