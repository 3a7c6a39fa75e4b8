/* A pointer is followed back through arithmetic, moves and slots to what it is an offset from: the
   parameters, or what is loaded or made of an integer, which may point anywhere. */
#include "analysis/alias.h"

#include "base/vec.h"
#include "ir/ir.h"
#include "tkc/carry.h"

typedef struct Walk {
    Arena *scratch;
    Bitset seen;
    VEC(const Value *) work;
} Walk;

static void visit(Walk *w, const Value *v)
{
    if (type_is_pointer(v->type) && bitset_add(&w->seen, (int)v->id))
        vec_push(w->scratch, &w->work, v);
}

static bool only_moves(const Op *op)
{
    return !op->nregions && op->kind != OP_INLINE_ASM &&
           (ir_has(op, OT_EW) || ir_has(op, OT_SHAPE));
}

/* What v is made of. False: not of pointers alone. */
static bool visit_sources(Walk *w, const Value *v)
{
    const Value *from[2];
    const int n = tkc_carry_sources(v, from);
    for (int i = 0; i < n; i++) visit(w, from[i]);
    if (n) return true;
    if (!v->def || !only_moves(v->def)) return false;
    bool moves_pointers = false;
    for (int i = 0; i < v->def->nargs; i++) {
        moves_pointers |= type_is_pointer(op_arg(v->def, i)->type);
        visit(w, op_arg(v->def, i));
    }
    return moves_pointers;
}

static bool is_param(const Func *fn, const Value *v)
{
    return !v->def && v->region == fn->body;
}

bool alias_params(Arena *scratch, const Func *fn, const Value *pointer, Bitset *params)
{
    Walk w = {.scratch = scratch, .seen = bitset_make(scratch, (int)fn->nvalues)};
    visit(&w, pointer);
    for (int next = 0; next < w.work.len; next++) {
        const Value *v = w.work.data[next];
        if (is_param(fn, v)) bitset_add(params, v->index);
        else if (!visit_sources(&w, v)) return false;
    }
    return true;
}

void alias_bases(Arena *scratch, const Func *fn, const Value *pointer, Bitset *bases)
{
    Walk w = {.scratch = scratch, .seen = bitset_make(scratch, (int)fn->nvalues)};
    visit(&w, pointer);
    for (int next = 0; next < w.work.len; next++) {
        const Value *v = w.work.data[next];
        if (is_param(fn, v) || !visit_sources(&w, v)) bitset_add(bases, (int)v->id);
    }
}
