/* Values of number and string literals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

typedef enum NumberKind { NUMBER_INT, NUMBER_FLOAT, NUMBER_IMAGINARY } NumberKind;
typedef struct Number {
    NumberKind kind;
    uint64_t integer;  /* NUMBER_INT; 0 when too_large */
    bool too_large;    /* past 2^64 - 1 */
    double floating;   /* the others; correctly rounded, whatever the locale */
} Number;

/* The value of a NUMBER token's text. */
Number literal_number(Arena *a, const char *s, size_t n);

/* How the text of a string is to be read. */
typedef struct StringForm {
    bool raw;     /* no escapes */
    bool bytes;   /* no \u, \U, \N */
    bool field;   /* text of an f-string: {{ and }} stand for one brace */
} StringForm;

typedef struct StringError {
    const char *text;     /* NULL: none */
    size_t begin, end;    /* where in the text */
} StringError;

/* Appends the string that the text between the quotes stands for. \N{name} stays as it is. */
StringError literal_decode(Buf *out, const char *s, size_t n, StringForm form);
/* Splits a STRING token: *body and *len are the text between the quotes. */
StringForm literal_string_form(const char *s, size_t n, const char **body, size_t *len);
