/* What a launch of PTX needs, in comments. */
#ifndef TKC_TARGET_PTX_HEAD_H
#define TKC_TARGET_PTX_HEAD_H

#include "base/buf.h"
#include "tkc/ir.h"

/* Name, threads, shared memory and parameters of the kernel that fn becomes, `symbol` in PTX. */
void ptx_head(Buf *out, const Func *fn, const char *symbol, uint32_t shared_bytes);

#endif
