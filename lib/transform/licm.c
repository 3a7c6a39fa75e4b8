/* What does not change in a loop goes before it. Nothing has undefined behaviour, so an op may be
   computed though the loop would not have, also out of a branch inside the loop.

   Each value gets a level: the number of loops around its definition. An op without effect whose
   operands all have a lower level than its place moves before the loop that is one deeper than the
   deepest of them: at once, over all loops it does not depend on. Operands come before their users,
   so one walk sees each op after its operands moved. */
#include <string.h>

#include "base/vec.h"
#include "transform/passes.h"

typedef struct Licm {
    Arena *scratch;
    int *level;      /* by value id */
    VEC(Op *) loops; /* around the walk; loops[i] is entered from level i */
    bool changed;
} Licm;

static bool is_loop(const Op *op)
{
    return op->kind == OP_FOR || op->kind == OP_WHILE;
}

static int operand_level(const Licm *l, const Op *op)
{
    int level = 0;
    for (int i = 0; i < op->nargs; i++) {
        int at = l->level[op_arg(op, i)->id];
        if (at > level) level = at;
    }
    return level;
}

/* Of an op with all that its regions use. What a region defines itself counts as level 0 and does
   not matter. */
static int needed_level(Licm *l, const Op *op)
{
    int level = operand_level(l, op);
    for (int i = 0; i < op->nregions; i++) {
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next) {
            int at = needed_level(l, inner);
            if (at > level) level = at;
        }
    }
    return level;
}

static void set_levels(Licm *l, const Op *op, int level)
{
    for (int i = 0; i < op->nresults; i++) l->level[op_result(op, i)->id] = level;
}

/* The outermost level that op may move to: loops that forbid it keep what is in them. */
static int target_level(Licm *l, const Op *op)
{
    int level = needed_level(l, op), here = l->loops.len;
    for (int i = here - 1; i >= level; i--) {
        if (tkc_op_int(l->loops.data[i], ATTR_NO_LICM, 0)) return i + 1;
    }
    return level < here ? level : here;
}

static void licm_region(Licm *l, Region *r)
{
    for (int i = 0; i < r->nargs; i++) l->level[r->args[i]->id] = l->loops.len;
    for (Op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (ir_has(op, OT_PURE) && ir_can_erase(op)) { /* a combine may assert */
            int level = target_level(l, op);
            set_levels(l, op, level);
            if (level == l->loops.len) continue;
            ir_move_before(op, l->loops.data[level]);
            l->changed = true;
            continue;
        }
        set_levels(l, op, l->loops.len);
        if (is_loop(op)) vec_push(l->scratch, &l->loops, op);
        for (int i = 0; i < op->nregions; i++) licm_region(l, op->regions[i]);
        if (is_loop(op)) l->loops.len--;
    }
}

/* needs: nothing.  keeps: layouts, the order of effects.  changes: where ops without effect are. */
bool licm_run(Pass *p, Func *fn)
{
    Licm l = {.scratch = p->scratch, .level = arena_array(p->scratch, int, fn->nvalues)};
    licm_region(&l, fn->body);
    return l.changed;
}
