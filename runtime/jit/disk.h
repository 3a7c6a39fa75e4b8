/* Kernels that other processes compiled: on disk, and in a store of the host's. Nothing here fails a
   launch: what cannot be found or kept is compiled. */
#pragma once

#include "device/device.h"
#include "entry.h"

struct DiskCache {
    char *folder;      /* NULL: none */
    uint64_t most_bytes;
    unsigned puts;
    TkcStore store;
    TkcDiskStats stats;
};

/* What a kernel is asked for by, in full, as text: equal texts give the same code as long as the
   files that imports read are the same. False when nothing tells this build of the library from
   others, so that its kernels cannot be kept. request.c */
bool request_write(Bytes *out, const TkcDevice *dev, const TkcSource *source, const TkcOptions *o);

/* One kernel on its way: what it is asked for by, and the claim to compile it. */
typedef struct DiskAsk {
    Bytes key;
    char name[2 * 32 + 1]; /* the key's hash */
    int claim;             /* of a file, -1: none */
    bool is_off;           /* it is not kept */
} DiskAsk;

/* True: *e is it, for the device and the source as they are now. False: it is to be compiled, and then
   given to disk_put; others wait for that meanwhile. disk_end in both cases; disk_put also puts what is
   better in the place of what was found. The context is locked. */
bool disk_find(DiskAsk *ask, TkcDevice *dev, TkcSource *source, const TkcOptions *o, Entry *e);
void disk_put(DiskAsk *ask, TkcDevice *dev, const char *bytes, size_t len);
void disk_end(DiskAsk *ask, TkcDevice *dev);
