/* A kernel's lines with what they cost beside them. */
#ifndef TKC_EXPLAIN_H
#define TKC_EXPLAIN_H

#include "base/buf.h"
#include "ir/ir.h"

/* For TKC_EMIT_EXPLAIN. fn is ready for code. */
void explain_print(Buf *out, Arena *scratch, const Func *fn);

#endif
