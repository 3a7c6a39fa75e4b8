/* A compiled kernel as bytes: the key that it was asked for by, its manifest, its PTX, and the machine code that
   a driver made of that, with who it was. This is what the jit holds, what a file of the cache is, and what a
   store is given. */
#ifndef TKC_RUNTIME_ENTRY_H
#define TKC_RUNTIME_ENTRY_H

#include "bytes.h"
#include "manifest.h"

typedef struct Entry {
    char *bytes;         /* malloc'ed, as they were made; ptx, maker and image point into it */
    size_t len;
    char *text;          /* malloc'ed; the manifest points into it */
    Manifest manifest;
    const char *ptx, *maker;
    const char *image;   /* machine code, image_bytes of it; none: "" */
    size_t image_bytes;
} Entry;

/* What looking for one comes to. */
typedef enum Outcome {
    HIT,
    DAMAGED,       /* not as it was written */
    OTHER_VERSION, /* of the format */
    OTHER_KEY,     /* whole, and of another kernel */
    STALE,         /* a file has changed since: disk.c */
    ABSENT,
    FOREIGN,       /* others may have written it */
    FROM_STORE,    /* found, but not on disk */
    STORE_WRONG,   /* a store gave what entry_open refuses */
    OUTCOMES
} Outcome;

/* ptx of `len` bytes, empty for what is not PTX. There is no machine code yet. */
void entry_make(Bytes *out, const Bytes *key, const TkcArtifact *artifact, const char *ptx, size_t len);
/* Takes the bytes, malloc'ed, whoever wrote them: what is no entry of this key is freed. key NULL:
   any. */
Outcome entry_open(Entry *e, char *bytes, size_t len, const Bytes *key);
/* The same entry with this machine code. */
void entry_renew(Bytes *out, const Entry *e, const char *maker, const void *image, size_t image_bytes);
/* Frees the machine code alone. */
void entry_drop_image(Entry *e);
void entry_fini(Entry *e);

#endif
