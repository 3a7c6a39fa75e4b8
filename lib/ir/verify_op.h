/* What the verifier's parts share: verify.c walks, verify_op.c knows the ops,
   verify_layout.c how their layouts hang together, verify_async.c what is under way. */
#pragma once

#include "base/bitset.h"
#include "ir/ir.h"

typedef struct Verifier {
    const Func *fn;
    Diags *dx;
    Arena scratch;
    Bitset visible;       /* ids of the values that may be used at this point */
    const Op *laid_out;   /* the first op with a layout, and the first with a block but none */
    const Op *not_laid_out;
    bool ok;
} Verifier;

/* A broken rule of `op`, in words; always gives false. */
bool verify_report(Verifier *v, const Op *op, const char *text);
#define verify_fail(v, op, ...) verify_report(v, op, arena_printf(&(v)->scratch, __VA_ARGS__))
/* Operand and result counts, domain, the row's rule, and the op's own check. Operands are visible,
   types sound. */
bool verify_op(Verifier *v, const Op *op);
/* Layouts of the op's operands and results fit together (verify_layout.c). Its types are right but
   for them. */
bool verify_layouts(Verifier *v, const Op *op);
/* Asynchronous dots and their sums (verify_async.c). */
bool verify_async(Verifier *v, const Op *op);
static inline const char *verify_text(Verifier *v, const Type *ty)
{
    return type_full_text(&v->scratch, ty);
}
