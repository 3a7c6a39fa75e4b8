/* The key of a compiled kernel, as far as a launch decides it: what of the arguments changes the
   code. Everything else of the key is fixed when a jit is made (source, options, device). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "tkc/runtime.h"

/* What the value of an argument adds to its type. */
typedef enum KeyFact { FACT_NONE, FACT_DIV16, FACT_ONE } KeyFact;
KeyFact key_fact(const TkcArg *arg);

/* A key is bytes: per argument its kind, its fact and its text. Short ones need no memory. All zero
   is a key without any. */
typedef struct Key {
    unsigned char *data; /* `few`, or allocated */
    uint32_t len, cap;
    uint64_t hash;
    unsigned char few[240];
} Key;
/* Where in a key the next argument begins, of the one that begins at `at`. */
const unsigned char *key_next(const unsigned char *at);
/* Whether an argument's part of a key would be as the one at `at`. */
bool key_has_arg(const unsigned char *at, const TkcArg *arg);
/* False when there is no memory. */
bool key_make(Key *k, const TkcArg *args, size_t nargs);
void key_fini(Key *k);
