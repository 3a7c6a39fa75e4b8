/* tl.load and tl.store. Of a block pointer that is checked along all dims they are a descriptor's, which
   TMA may copy; of others they compute addresses and the boundary mask first. */
#include "spec/advice.h"
#include "spec/argument.h"
#include "spec/block_ptr.h"
#include "spec/memory.h"

enum {
    LOAD_POINTER,
    LOAD_MASK,
    LOAD_OTHER,
    LOAD_CHECK,
    LOAD_PADDING,
    LOAD_CACHE,
    LOAD_EVICTION,
    LOAD_VOLATILE
};
enum { STORE_POINTER, STORE_VALUE, STORE_MASK, STORE_CHECK, STORE_CACHE, STORE_EVICTION };

static bool is_empty(SpecValue v)
{
    if (v.kind == SV_TUPLE || v.kind == SV_LIST) return v.tuple->len == 0;
    if (v.kind == SV_STR) return str_len(v.s) == 0;
    return v.kind == SV_NONE || v.kind == SV_ABSENT;
}

/* The dims named by boundary_check, a bit each. */
static bool boundary_dims(Spec *sp, const Call *c, int i, int rank, unsigned *dims)
{
    int64_t items[TKC_MAX_RANK];
    *dims = 0;
    if (is_empty(c->args[i])) return true;
    int n = arg_ints(sp, c, i, items);
    for (int k = 0; k < n; k++) {
        int64_t d = items[k] < 0 ? items[k] + rank : items[k];
        if (d < 0 || d >= rank || (*dims >> d & 1))
            return spec_fail(
                sp, c->spans[i],
                "%s names dimension %lld of a block pointer with %d, or names one twice",
                arg_what(sp, c, i), (long long)items[k], rank);
        *dims |= 1u << d;
    }
    return n >= 0;
}

/* A scalar or block of pointers. */
static bool plain_pointer(Spec *sp, const Call *c, Value **out)
{
    *out = c->args[0].v;
    if (sv_is_pointer(c->args[0])) return true;
    arg_refuse(sp, c, 0, "a pointer or a block of pointers");
    advise_pointer_first(sp, c);
    return false;
}

static bool refuse_given(Spec *sp, const Call *c, int i, const char *why)
{
    if (is_empty(c->args[i])) return false;
    spec_error(sp, c->spans[i], "%s %s", arg_what(sp, c, i), why);
    return true;
}

static const char *const FOR_BLOCK_POINTERS =
    "is for block pointers (tl.make_block_ptr); plain pointers take a mask";

/* The block of a block pointer. Where a descriptor can say it, checked along all dims and nothing said
   of caches, there are no pointers. */
static bool block_access(Spec *sp, const Call *c, int mask, int check, Access *a, Tile *t)
{
    const SpecBlockPtr *p = c->args[0].block_ptr;
    unsigned dims;
    *t = block_ptr_tile(p, &p->block, p->offsets);
    if (refuse_given(sp, c, mask, "does not go with a block pointer; use boundary_check") ||
        !boundary_dims(sp, c, check, p->block.rank, &dims))
        return false;
    if (dims != (1u << t->rank) - 1 || a->cache || a->eviction || a->is_volatile)
        a->pointer = tile_address(&sp->b, t, dims, &a->mask);
    return true;
}

/* ---- loads ---- */

static SpecValue load_block(Spec *sp, const Call *c, Access *a)
{
    const bool nan = *c->args[LOAD_PADDING].s == 'n';
    Value *other = NULL;
    Tile t;
    if (refuse_given(sp, c, LOAD_OTHER, "does not go with a block pointer; use padding_option") ||
        !block_access(sp, c, LOAD_MASK, LOAD_CHECK, a, &t) ||
        (nan && !block_ptr_takes_nan(sp, t.base, c->at)))
        return sv_error();
    if (!a->pointer) return block_ptr_load(sp, OP_DESC_LOAD, &t, nan);
    if (nan)
        other = memory_operand(sp, a->pointer->type, sv_float(__builtin_nan("")), "NaN", c->at);
    return sv_value(memory_load(sp, a, other));
}

/* A mask may have more elements than there are pointers: each is loaded from by several then. One
   place would be written more than once, so a store takes the pointers as they are. */
static bool spread_to_mask(Spec *sp, const Call *c, Value **pointer)
{
    SpecValue *mask = &c->args[LOAD_MASK];
    if (mask->kind != SV_VALUE || !type_is_block(mask->v->type)) return true;
    if (!type_is_block((*pointer)->type)) return true;
    return broadcast_pair(sp, pointer, &mask->v, c->spans[LOAD_MASK]);
}

SpecValue builtin_load(Spec *sp, const Call *c)
{
    Access a = {.cache = c->args[LOAD_CACHE].s,
                .eviction = c->args[LOAD_EVICTION].s,
                .is_volatile = c->args[LOAD_VOLATILE].b};
    if (c->args[0].kind == SV_BLOCK_PTR) return load_block(sp, c, &a);
    if (!plain_pointer(sp, c, &a.pointer)) return sv_error();
    if (refuse_given(sp, c, LOAD_CHECK, FOR_BLOCK_POINTERS)) return sv_error();
    if (refuse_given(sp, c, LOAD_PADDING, FOR_BLOCK_POINTERS)) return sv_error();
    if (!arg_is_given(c, LOAD_MASK) && arg_is_given(c, LOAD_OTHER)) {
        spec_error(sp, c->spans[LOAD_OTHER], "'other' of tl.load needs a mask");
        return spec_note(sp, SPAN_NONE,
                         "it is what lanes get that the mask leaves out: add mask=offsets < n, "
                         "or leave it out");
    }
    if (!spread_to_mask(sp, c, &a.pointer)) return sv_error();
    if (!memory_mask(sp, c, LOAD_MASK, a.pointer, &a.mask)) return sv_error();
    Value *other = NULL;
    if (arg_is_given(c, LOAD_OTHER)) {
        other = memory_operand(sp, a.pointer->type, c->args[LOAD_OTHER], "'other'",
                               c->spans[LOAD_OTHER]);
        if (!other) return sv_error();
    }
    return sv_value(memory_load(sp, &a, other));
}

/* ---- stores ---- */

static bool pointer_access(Spec *sp, const Call *c, Access *a)
{
    return plain_pointer(sp, c, &a->pointer) &&
           !refuse_given(sp, c, STORE_CHECK, FOR_BLOCK_POINTERS) &&
           memory_mask(sp, c, STORE_MASK, a->pointer, &a->mask);
}

SpecValue builtin_store(Spec *sp, const Call *c)
{
    Access a = {.cache = c->args[STORE_CACHE].s, .eviction = c->args[STORE_EVICTION].s};
    Tile t;
    const bool is_block = c->args[0].kind == SV_BLOCK_PTR;
    if (is_block ? !block_ptr_takes(sp, c, STORE_VALUE) ||
                       !block_access(sp, c, STORE_MASK, STORE_CHECK, &a, &t)
                 : !pointer_access(sp, c, &a))
        return sv_error();
    if (!a.pointer) return block_ptr_store(sp, c, OP_DESC_STORE, &t, STORE_VALUE);
    return memory_store(sp, &a, c->args[STORE_VALUE], c->spans[STORE_VALUE]) ? sv_none()
                                                                             : sv_error();
}
