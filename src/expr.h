/* Integer expressions over names: -grid "cdiv(n,BLOCK)". */
#ifndef TKC_SRC_EXPR_H
#define TKC_SRC_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, with why, when there is no such name or it is not an integer. */
typedef bool (*ExprLookup)(const char *name, size_t len, int64_t *value, void *user, char *why,
                           size_t size);
/* With why: the text is no list of expressions; or it is, but has no value. */
enum { EXPR_MALFORMED = -2, EXPR_WRONG = -1 };
/* Up to `max` expressions separated by commas: + - * // % parentheses, cdiv(a,b), min, max,
   next_power_of_2(n). Returns how many, or one of the above. */
int expr_list(const char *text, int max, int64_t *out, ExprLookup lookup, void *user, char *why,
              size_t size);

#endif
