/* What the caller asks for, from text: -D values and -sig signatures. */
#ifndef TKC_SPEC_REQUEST_H
#define TKC_SPEC_REQUEST_H

#include "spec/spec.h"

/* "x=*fp32:16,n=i32,k=i32:1" appended to rq->sigs: `:N` is a divisibility (pointers in bytes), `:1`
   on an integer means it equals 1. "d=tensordesc<fp16[64, 128]>" is a tensor descriptor, and
   "d.shape1=i32:16" says what its extents or strides are divisible by. False after an error
   diagnostic. */
bool request_add_signature(SpecRequest *rq, Ir *ir, Diags *dx, const char *text);
/* NAME and VALUE of a -D: a number, True, False, None, a quoted string, a dtype (tl.float16, fp16),
   a pointer type, a tuple of these, or the name of a function or constant of the file. False after
   an error diagnostic. */
bool request_add_define(SpecRequest *rq, SpecModule *m, Ir *ir, Diags *dx, const char *name,
                        const char *value);

#endif
