/* One compilation at work: what the files share that make IR of a request, run the passes over it,
   write what was asked for and keep the artifact. */
#pragma once

#include "api.h"
#include "spec/kernel.h"
#include "spec/spec.h"
#include "transform/passes.h"

typedef struct ArtifactTime { const char *name; double ms; } ArtifactTime;

struct TkcArtifact {
    TkcSource *source;     /* kept: the IR points into it */
    Arena arena;
    Func *fn;              /* from TKC_EMIT_IR on */
    const char **param_types;
    SpecTaken taken;
    VEC(TkcFile) files;    /* the source, then where imports were looked for, in order */
    char *manifest;        /* malloc'ed by runtime/jit, or NULL */
    bool is_warned;        /* of something, when it was compiled */
    const char *text;
    size_t len;
    const char *symbol;    /* the kernel's name in LLVM IR and PTX */
    int shared_bytes;
    TkcTensorMap *maps; /* of PTX and LLVM IR */
    int nmaps;
    VEC(ArtifactTime) times;
};

typedef struct Job {
    TkcSource *source;
    const TkcOptions *options;
    TkcEmit emit;
    TkcArtifact *artifact;
    Ir *ir;
    Func **funcs;          /* nfuncs; artifact->fn is the one at work */
    int nfuncs;
    int state;             /* of PassState: what the passes have given artifact->fn */
    Arena scratch;
    Diags *dx;
} Job;

/* ---- artifact.c ---- */
/* NULL: no memory. The source is kept. */
TkcArtifact *artifact_new(TkcSource *source);
/* The signature's text of each parameter. */
void artifact_describe_params(TkcArtifact *a);
/* A line of the time report, when one is wanted; the second: since a clock_ms. */
void job_add_duration(Job *j, const char *name, double ms);
void job_add_time(Job *j, const char *name, double since);

/* ---- request.c ---- */
/* The request without -D, which needs the module. NULL machine after an error. */
SpecRequest job_request(Job *j);
/* False after an error: numbers of warps and stages, limits, budgets. */
bool job_check_options(Job *j, const SpecRequest *rq);
/* Signature and -D. */
bool job_complete_request(Job *j, SpecRequest *rq, SpecModule *m);
/* IR of the kernel, or the functions of IR text, verified. */
bool job_make_funcs(Job *j);

/* ---- fit.c ---- */
/* After the error that the kernel needs too much shared memory: what would make it fit. */
void fit_advise(Job *j);

/* ---- pipeline.c ---- */
/* The passes asked for, or those on the way to the emission, over artifact->fn. */
bool job_run_passes(Job *j);
/* The function, or a copy of it with pointers in place of descriptors. */
Func *job_without_descriptors(Func *fn);
/* The function has all that code is made of; the second says what it lacks. */
bool job_can_give_code(const Job *j);
bool job_is_ready_for_code(Job *j);
