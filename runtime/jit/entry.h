/* A compiled kernel as bytes: the key that it was asked for by, its manifest, its PTX. This is what the jit
   holds, what a file of the cache is, and what a store is given. */
#pragma once

#include "bytes.h"
#include "manifest.h"

typedef struct Entry {
    char *bytes;         /* malloc'ed, as they were made; ptx points into it */
    size_t len;
    char *text;          /* malloc'ed; the manifest points into it */
    Manifest manifest;
    const char *ptx;
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

/* ptx of `len` bytes, empty for what is not PTX. */
void entry_make(Bytes *out, const Bytes *key, const TkcArtifact *artifact, const char *ptx, size_t len);
/* Takes the bytes, malloc'ed, whoever wrote them: what is no entry of this key is freed. key NULL:
   any. */
Outcome entry_open(Entry *e, char *bytes, size_t len, const Bytes *key);
void entry_fini(Entry *e);
