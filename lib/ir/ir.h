/* Building and changing the block IR. Reading it: tkc/ir.h. */
#pragma once

#include "base/diag.h"
#include "base/intern.h"
#include "base/map.h"
#include "ir/type.h"

/* The tables a compilation's functions share. */
typedef struct Ir {
    Arena *arena;
    Interner *names;
    TypeTable *types;
    LayoutTable *layouts;
    Map locs; /* hash -> chain of interned locations */
} Ir;
Ir *ir_new(Arena *a, Interner *names);
static inline Ir *ir_of(const Func *fn) { return (Ir *)fn->ir; }

Func *ir_func_new(Ir *ir, const char *name, const struct Machine *machine, int num_warps,
                  int num_stages);
/* Appends a parameter and its body argument; returns the argument. */
Value *ir_add_param(Func *fn, const char *name, const Type *type);

Value *ir_add_region_arg(Region *r, const Type *type, const char *name);
void ir_remove_region_arg(Region *r, int index);

/* A detached op with nregions empty regions (given by the table) and results of the given types. */
Op *ir_op_new(Func *fn, OpKind kind, int nargs, Value *const *args, int nresults,
              const Type *const *types, const Loc *loc);
void ir_append(Region *r, Op *op);
void ir_insert_before(Op *at, Op *op);
/* Takes the op out of its region, keeping its uses of operands (to move it). */
void ir_detach(Op *op);
/* Detaches the op, its regions and drops their uses. No result may be in use. */
void ir_unlink(Op *op);
void ir_move_before(Op *op, Op *at);
/* The ops of a region, without its terminator. */
void ir_move_body_before(Region *r, Op *at);

void ir_set_arg(Op *op, int i, Value *v);
void ir_add_arg(Op *op, Value *v);
void ir_remove_arg(Op *op, int i);
Value *ir_add_result(Op *op, const Type *type);
void ir_remove_result(Op *op, int i);        /* not in use */
/* Slots of loops and branches (tkc/carry.h): first regions stop passing one on; then, when its
   result and arguments are not in use, it is removed. */
void ir_stop_passing(Op *op, int slot);
void ir_remove_slot(Op *op, int slot);
static inline void ir_set_type(Value *v, const Type *type) { v->type = type; }
void ir_replace_uses(Value *old, Value *with); /* every use */
/* The op's results are these from now on, by its names where they have none; it goes. */
void ir_replace(Op *op, Value *const *with);
/* Copies an op with its regions. `map` (value id -> Value*) translates operands and receives the
   results; size fn->nvalues at the start of the copy; values not in it stand for themselves. The
   copy is detached. */
typedef struct ValueMap { Value **to; uint32_t size; Arena *arena; } ValueMap;
ValueMap ir_value_map(Arena *scratch, const Func *fn);
ValueMap ir_map_copy(const ValueMap *m);
Value *ir_mapped(const ValueMap *m, Value *v);
void ir_map(ValueMap *m, const Value *from, Value *to);
Op *ir_clone(Func *fn, const Op *op, ValueMap *map);
/* The same of what is in a region, with its arguments, into an empty one. */
void ir_clone_region(Func *fn, Region *to, const Region *from, ValueMap *map);
/* A deep copy of a function, in the same tables. */
Func *ir_func_clone(const Func *fn);
/* The same in other tables with the same names, which still points to types, places and numbers of
   the old ones. */
Func *ir_func_clone_into(Ir *ir, Arena *scratch, const Func *fn);
/* A copy that points to nothing of the old tables, but to the source `stays`. No block of it may have
   a layout. */
struct Source;
Func *ir_func_transfer(Ir *to, Arena *scratch, const Func *fn, const struct Source *stays);

void ir_set_int(Func *fn, Op *op, AttrKey key, int64_t value);
void ir_set_str(Func *fn, Op *op, AttrKey key, const char *text); /* interned by the call */
void ir_set_ints(Func *fn, Op *op, AttrKey key, int n, const int64_t *values);
void ir_remove_attr(Op *op, AttrKey key);
void ir_copy_attrs(Func *fn, Op *to, const Op *from);

/* Interned location of a place in a text. */
const Loc *ir_loc(Ir *ir, Span at, const char *function, const Loc *caller);
/* Where it is in the text; NULL: nowhere. */
Span ir_span(const Loc *loc);
/* To a diagnostic at the place: the calls that led there. */
void ir_note_callers(Diags *dx, Diag *d, const Loc *loc);

/* ---- questions ---- */
static inline bool ir_has(const Op *op, OpTrait trait) /* of its table row */
{
    return (tkc_op_info(op->kind)->traits & (unsigned)trait) != 0;
}
/* What others wrote may be learnt of by it, or by others what was written: atomics, accesses that are
   volatile, and assembly that is not said to be pure. */
static inline bool ir_talks(const Op *op)
{
    return ir_has(op, OT_ATOMIC) || tkc_op_int(op, ATTR_VOLATILE, 0) ||
           (op->kind == OP_INLINE_ASM && !tkc_op_int(op, ATTR_PURE, 0));
}
/* The op that makes a value, when it is of that kind; else NULL. */
static inline Op *ir_def(const Value *v, OpKind kind)
{
    return v->def && v->def->kind == kind ? v->def : NULL;
}
bool ir_is_unused(const Op *op);                    /* no result has a use */
/* True when neither it nor an op in its regions has an effect a user or another op can see (reads
   count as none). */
bool ir_can_erase(const Op *op);
/* The op, leaving its regions aside, may stand in the region of a reduction or scan: no memory, and
   no effects but assertions. */
bool ir_may_combine(const Op *op);
/* The dim along which a reduction, a scan or a sort looks at an element's neighbours; -1 for any other
   op. */
int ir_axis(const Op *op);
/* The op that a combining region of two values is, each of them once; OP_NONE for any other. */
OpKind ir_combine_kind(const Region *r);
/* True when v is defined outside r (and its nested regions). */
bool ir_is_defined_outside(const Value *v, const Region *r);
/* The region of the innermost loop around the op that it stands in, itself or in a branch; NULL: none
   is around it. */
const Region *ir_turn(const Op *op);
/* Of 32 bits, that a thread has in registers from turn to turn; needs layouts. */
int ir_words_carried(const Op *loop);
/* True when it is `whole`, or in that. */
bool ir_is_part(const Op *op, const Op *whole);
/* True when it is `at`, or stands before that in one region. */
bool ir_is_before(const Op *op, const Op *at);
/* The op of that region that it is, or is in; NULL: none. */
Op *ir_op_of(const Op *op, const Region *r);
/* True for an op that uses the value, or has one in it that does. */
bool ir_asks_for(const Op *op, const Value *v);
static inline bool ir_is_terminator(const Op *op) { return ir_has(op, OT_TERM); }
/* An op of that kind stands in the region, or, deep, in one of an op in it. */
bool ir_contains(const Region *r, OpKind kind, bool deep);
static inline bool ir_is_loop(const Op *op) { return op->kind == OP_FOR || op->kind == OP_WHILE; }
/* A loop that goes on where another of the same step ended. */
static inline bool ir_is_rest(const Op *op)
{
    const Op *before = op->kind == OP_FOR ? op_arg(op, 0)->def : NULL;
    return before && before->kind == OP_FOR && op_arg(before, 2) == op_arg(op, 2);
}
/* A loop whose turns multiply matrices. */
static inline bool ir_is_product_loop(const Op *op)
{
    return ir_is_loop(op) && ir_contains(op->regions[op->nregions - 1], OP_DOT, true);
}
/* The comparison that holds exactly when this one does not, on integers; OP_NONE for any other
   op. */
OpKind ir_opposite_compare(OpKind kind);
/* A scalar, or a block that one is, over and over. */
static inline bool ir_is_uniform(const Value *v)
{
    return !type_is_block(v->type) || ir_def(v, OP_SPLAT) || ir_def(v, OP_CONST);
}
/* The bits of a scalar or block constant; false when v is not one. */
bool ir_const_bits(const Value *v, uint64_t *bits);
/* The same as a signed number, for integer types. */
bool ir_const_int(const Value *v, int64_t *value);
/* A copy with one more place when the array of n items is full, else the array itself. */
void *ir_grown(Arena *a, void *items, int n, size_t size);
/* The op behind, outer ones before inner ones, in order; NULL behind the last in `root` (of the
   function, where that is NULL): for (op = root; op; op = ir_next(op, root)). */
Op *ir_next(const Op *op, const Op *root);
/* Calls f for each op, outer before inner, in order. f may erase the op it is given. */
void ir_walk(Region *r, void (*f)(Op *op, void *user), void *user);
/* Whether it holds for all ops of the region, with those of regions in them. */
bool ir_holds_for_all(const Region *r, bool (*holds)(const Op *op));
