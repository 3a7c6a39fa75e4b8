/* A function moved to other tables, so that those it was made in can be freed: types are looked up
   in the new ones, places and the sources they are in are copied. Strings are interned in the names
   that both share; layouts of blocks are not moved. */

#include "base/unwind.h"
#include "ir/ir.h"

typedef struct Move {
    Ir *to;
    const Source *stays; /* outlives both */
    Map sources;         /* old -> new */
    Map locs;
} Move;

static const Type *type_in(Move *m, const Type *ty)
{
    switch (ty->kind) {
    case TY_SCALAR: return type_scalar(m->to->types, ty->dtype);
    case TY_POINTER: return type_pointer(m->to->types, type_in(m, ty->elem));
    case TY_BLOCK:
        check(!ty->layout, "a function with layouts does not move");
        return type_block(m->to->types, type_in(m, ty->elem), ty->rank, ty->shape, NULL);
    case TY_SMEM: break; /* goes with layouts of blocks */
    case TY_NONE:
    case TY_ERROR: break;
    }
    unwind_raise("a value without a type does not move");
}

static const Source *source_in(Move *m, const Source *source)
{
    if (source == m->stays) return source;
    const Source *copy = map_get_ptr(&m->sources, source);
    if (copy) return copy;
    copy = source_copy(m->to->arena, source);
    map_set_ptr(&m->sources, source, (void *)copy);
    return copy;
}

static const Loc *loc_in(Move *m, const Loc *loc)
{
    if (!loc) return NULL;
    const Loc *known = map_get_ptr(&m->locs, loc);
    if (known) return known;
    const Span at = {source_in(m, loc->source), loc->begin, loc->end};
    const Loc *copy = ir_loc(m->to, at, loc->function, loc_in(m, loc->caller));
    map_set_ptr(&m->locs, loc, (void *)copy);
    return copy;
}

static void move_attrs(Move *m, Op *op)
{
    for (int i = 0; i < op->nattrs; i++) {
        Attr *at = &op->attrs[i];
        if (tkc_attr_kind(at->key) == AK_INTS)
            at->v = arena_copy(m->to->arena, at->v, (size_t)at->count * sizeof *at->v);
    }
}

/* What a clone still shares with its original. */
static void move_region(Move *m, Region *r)
{
    for (int i = 0; i < r->nargs; i++) r->args[i]->type = type_in(m, r->args[i]->type);
    for (Op *op = r->first; op; op = op->next) {
        op->loc = loc_in(m, op->loc);
        move_attrs(m, op);
        for (int i = 0; i < op->nresults; i++)
            op->results[i]->type = type_in(m, op->results[i]->type);
        for (int i = 0; i < op->nregions; i++) move_region(m, op->regions[i]);
    }
}

Func *ir_func_transfer(Ir *to, Arena *scratch, const Func *fn, const Source *stays)
{
    Move m = {.to = to, .stays = stays};
    map_init(&m.sources, scratch);
    map_init(&m.locs, scratch);
    Func *copy = ir_func_clone_into(to, scratch, fn);
    for (int i = 0; i < copy->nparams; i++)
        copy->params[i].type = type_in(&m, copy->params[i].type);
    copy->loc = loc_in(&m, fn->loc);
    move_region(&m, copy->body);
    return copy;
}
