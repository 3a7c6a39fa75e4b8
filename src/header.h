/* A C header with launch functions: what header.c collects and header_write.c writes. */
#pragma once

#include "assemble.h"

/* Code for one target. */
typedef struct Image {
    const char *arch;
    TkcArtifact *code;
    char *cubin; /* NULL: there is none */
    size_t cubin_len;
} Image;

/* One kernel for some arguments. */
typedef struct Variant {
    const char *signature; /* NULL: none was given */
    Image *images;         /* one for each target */
    int64_t
        *divides; /* by parameter: what the argument has to be a multiple of; 0: it has to be 1 */
} Variant;

/* A C function: its variants take the same parameters; the first that takes the arguments is
   launched, so the most special come first. */
typedef struct Entry {
    const char *name;
    Options *options; /* of the newest -entry of that name */
    Variant *variants;
    int nvariants;
} Entry;

typedef struct Header {
    Options *o;
    Options *words; /* what each -entry says */
    const char **archs;
    int narchs, nentries;
    Entry *entries;
    Assembler by;
} Header;

/* The texts of aot/, embedded at build time, each with a NUL behind it; in the order of their names: launch.c, launch.h. */
typedef struct LaunchText {
    const char *name, *text;
    size_t len;
} LaunchText;
extern const LaunchText launch_texts[];

/* The text, malloc'ed; NULL: no memory. */
char *header_write(const Header *h, size_t *len);
/* The name can be one of C and C++. */
bool header_is_name(const char *name);
