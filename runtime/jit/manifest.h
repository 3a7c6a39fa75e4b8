/* What a compiled kernel is: all that a launch, a cache or another program needs to know beside its
   code. manifest.def says how it is written. */
#pragma once

#include "tkc/edge.h"

/* What of an argument a parameter is. */
typedef enum ArgPart { PART_WHOLE, PART_ITEM, PART_SHAPE, PART_STRIDE } ArgPart;

typedef struct ManifestParam {
    const char *name, *kind, *type, *argument, *part;
    int64_t bytes, divisibility, dim;
    /* not written: what the texts mean */
    ParamType is;
    const DTypeInfo *element; /* of a number or a pointer */
    ArgPart source;
    size_t at;                /* where it is passed: as PTX places parameters */
} ManifestParam;

typedef struct ManifestFile { const char *hash, *path; } ManifestFile;

typedef struct Manifest {
    int64_t format, threads, warps, stages, shared, config, nconfigs, nparams, nmaps, nvalues, nfiles;
    const char *version, *kernel, *target;
    ManifestParam *params;
    TkcTensorMap *maps;   /* what is passed behind the parameters */
    TkcDefine *values;
    ManifestFile *files;  /* the source's own first */
    size_t param_bytes;   /* not written */
} Manifest;

/* Of LLVM IR or PTX that was not shrunk, as text, malloc'ed; NULL: no memory. */
char *manifest_write(const TkcArtifact *artifact, size_t *len);
/* False when it is no manifest of this version, or there is no memory. Points into the text, which
   it takes apart. */
bool manifest_read(Manifest *m, char *text, size_t len);
void manifest_fini(Manifest *m);
/* Of what is passed, the bits of a parameter: those of an int are extended. */
uint64_t manifest_value(const ManifestParam *p, const unsigned char *values);
