/* Expressions of the debugger: conditions, and what its prompt is asked for. */
#ifndef TKC_RUNTIME_DEBUG_EXPR_H
#define TKC_RUNTIME_DEBUG_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ExprNumber {
    bool is_float;
    int64_t i;
    double f;
} ExprNumber;

typedef enum ExprFound { EXPR_FOUND, EXPR_NO_VALUE, EXPR_WRONG } ExprFound;

/* What names mean. `why` is for EXPR_WRONG. index: n numbers in brackets after the name, or n 0. */
typedef struct ExprNames {
    ExprFound (*find)(void *user, const char *name, size_t len, const int64_t *index, int n,
                      ExprNumber *out, char *why, size_t size);
    void *user;
} ExprNames;

/* NO_VALUE: some name has no value now. WRONG: why says what. */
ExprFound expr_evaluate(const char *text, const ExprNames *names, ExprNumber *out, char *why,
                        size_t size);
static inline bool expr_is_true(const ExprNumber *n) { return n->is_float ? n->f != 0 : n->i != 0; }

#endif
