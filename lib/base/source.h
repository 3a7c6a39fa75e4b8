/* A file's text with its line table, and ranges in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "base/arena.h"

typedef struct Source Source;
struct Source {
    const char *name;    /* as the user gave it */
    const char *text;    /* len bytes, then a NUL */
    size_t len;
    const uint32_t *line_start; /* byte offset of line i+1, i in [0, nlines) */
    int nlines;
    bool is_static;      /* the text is the program's own */
    bool is_hidden;      /* diagnostics name places in it and do not quote its lines */
};

/* Half-open byte range. A span with source NULL has no place in a text (driver, command line). */
typedef struct Span {
    const Source *source;
    uint32_t begin, end;
} Span;

/* Copies name and text. */
Source *source_new(Arena *a, const char *name, const char *text, size_t len);
/* The text, which ends in a NUL, is static: only pointed to. */
Source *source_of_static(Arena *a, const char *name, const char *text, size_t len);
Source *source_copy(Arena *a, const Source *s);
/* 1-based line, 1-based column in bytes. */
void source_position(const Source *s, uint32_t offset, int *line, int *col);
/* Text of a 1-based line without its end; *len its length. */
const char *source_line(const Source *s, int line, size_t *len);
bool span_is(Span a, Span b); /* the same range */
Span span_join(Span a, Span b);
/* What stands there. */
const char *span_text(Arena *a, Span at);
#define SPAN_NONE ((Span){0})
