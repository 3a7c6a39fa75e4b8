/* The members of slots, from the few numbers of tkc/carry.h. */
#include "tkc/carry.h"

#include "ir/ir.h"

int tkc_carry_members(const Op *op, int slot, Value *members[CARRY_MEMBERS])
{
    int n = 0;
    members[n++] = op_result(op, slot);
    if (op->kind != OP_IF) {
        for (int i = 0; i < op->nregions; i++) members[n++] = carry_param(op->regions[i], slot);
        members[n++] = carry_init(op, slot);
    }
    for (int i = 0; i < op->nregions; i++) members[n++] = carry_passed(op->regions[i], slot);
    return n;
}

bool tkc_carry_of_value(const Value *v, const Op **owner, int *slot)
{
    *owner = v->def ? v->def : v->region->parent;
    if (!*owner) return false;
    *slot = v->index - (v->def ? 0 : carry_own_params(*owner));
    return *slot >= 0 && *slot < carry_count(*owner);
}

bool tkc_carry_of_use(const Use *use, const Op **owner, int *slot)
{
    const Op *user = use->user;
    const bool ends_region = user->kind == OP_YIELD || user->kind == OP_CONDITION;
    *owner = ends_region ? user->region->parent : user;
    *slot = (int)(use - user->args) - (ends_region ? carry_own_ends(user) : carry_own_args(user));
    return *slot >= 0 && *slot < carry_count(*owner);
}

int tkc_carry_sources(const Value *v, const Value *from[2])
{
    const Op *op;
    int slot;
    if (!tkc_carry_of_value(v, &op, &slot)) return 0;
    if (op->kind == OP_WHILE && v->region != op->regions[0]) {
        from[0] = carry_passed(op->regions[0], slot);
        return 1;
    }
    from[0] = op->kind == OP_IF ? carry_passed(op->regions[0], slot) : carry_init(op, slot);
    from[1] = carry_passed(op->regions[op->nregions - 1], slot);
    return 2;
}

void ir_stop_passing(Op *op, int slot)
{
    for (int i = 0; i < op->nregions; i++) {
        Op *end = op->regions[i]->last;
        ir_remove_arg(end, carry_own_ends(end) + slot);
    }
}

void ir_remove_slot(Op *op, int slot)
{
    ir_remove_result(op, slot);
    if (op->kind == OP_IF) return;
    for (int i = 0; i < op->nregions; i++)
        ir_remove_region_arg(op->regions[i], carry_own_params(op) + slot);
    ir_remove_arg(op, carry_own_args(op) + slot);
}
