/* A kernel's parameters: which are run-time arguments with which types, which are values known
   now. */
#ifndef TKC_SPEC_BIND_H
#define TKC_SPEC_BIND_H

#include "spec/spec.h"

typedef struct Bound {
    Func *fn;          /* with its parameters, without a body */
    SpecValue *values; /* one for each parameter of the definition */
} Bound;

/* False after error diagnostics; everything missing is asked for in one of them. */
bool bind_kernel(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, Bound *out);
/* What bind_kernel lacks, in one diagnostic: an error, or a warning that the kernel was not checked. */
void bind_ask(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, bool is_error);
/* True when bind_kernel would have all it needs. */
bool bind_is_complete(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq);

#endif
