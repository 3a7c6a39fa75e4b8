/* Copies of ops and functions. Operands go through a map from value id to value; whatever the copy
   defines is entered into it, so inner ops find the copies of what they use. */
#include <string.h>

#include "base/unwind.h"
#include "ir/ir.h"

ValueMap ir_value_map(Arena *scratch, const Func *fn)
{
    return (ValueMap){arena_array(scratch, Value *, fn->nvalues), fn->nvalues, scratch};
}

Value *ir_mapped(const ValueMap *m, Value *v)
{
    Value *to = v->id < m->size ? m->to[v->id] : NULL;
    return to ? to : v;
}

ValueMap ir_map_copy(const ValueMap *m)
{
    ValueMap copy = {arena_array(m->arena, Value *, m->size), m->size, m->arena};
    memcpy(copy.to, m->to, m->size * sizeof *copy.to);
    return copy;
}

static void make_room(ValueMap *m, uint32_t id)
{
    uint32_t size = m->size ? m->size : 16;
    while (size <= id) {
        check(size <= UINT32_MAX / 2, "too many values to copy");
        size *= 2;
    }
    Value **bigger = arena_array(m->arena, Value *, size);
    if (m->size) memcpy(bigger, m->to, m->size * sizeof(Value *));
    m->to = bigger;
    m->size = size;
}

void ir_map(ValueMap *m, const Value *from, Value *to)
{
    if (from->id >= m->size) make_room(m, from->id);
    m->to[from->id] = to;
}

void ir_clone_region(Func *fn, Region *to, const Region *from, ValueMap *map)
{
    for (int i = 0; i < from->nargs; i++) {
        const Value *arg = from->args[i];
        ir_map(map, arg, ir_add_region_arg(to, arg->type, arg->name));
    }
    for (const Op *op = from->first; op; op = op->next) ir_append(to, ir_clone(fn, op, map));
}

Op *ir_clone(Func *fn, const Op *op, ValueMap *map)
{
    Arena *a = ir_of(fn)->arena;
    Value **args = arena_array(a, Value *, op->nargs);
    const Type **types = arena_array(a, const Type *, op->nresults);
    for (int i = 0; i < op->nargs; i++) args[i] = ir_mapped(map, op->args[i].value);
    for (int i = 0; i < op->nresults; i++) types[i] = op->results[i]->type;
    Op *copy = ir_op_new(fn, op->kind, op->nargs, args, op->nresults, types, op->loc);
    ir_copy_attrs(fn, copy, op);
    for (int i = 0; i < op->nregions; i++)
        ir_clone_region(fn, copy->regions[i], op->regions[i], map);
    for (int i = 0; i < op->nresults; i++) {
        copy->results[i]->name = op->results[i]->name;
        ir_map(map, op->results[i], copy->results[i]);
    }
    return copy;
}

Func *ir_func_clone_into(Ir *ir, Arena *scratch, const Func *fn)
{
    Func *copy = ir_func_new(ir, fn->name, fn->machine, fn->num_warps, fn->num_stages);
    copy->fp_contract = fn->fp_contract;
    copy->debug = fn->debug;
    copy->max_registers = fn->max_registers;
    copy->level = fn->level;
    copy->loc = fn->loc;
    ValueMap map = ir_value_map(scratch, fn);
    for (int i = 0; i < fn->nparams; i++) {
        ir_map(&map, fn->body->args[i], ir_add_param(copy, fn->params[i].name, fn->params[i].type));
        copy->params[i] = fn->params[i];
    }
    for (const Op *op = fn->body->first; op; op = op->next)
        ir_append(copy->body, ir_clone(copy, op, &map));
    return copy;
}

Func *ir_func_clone(const Func *fn)
{
    return ir_func_clone_into(ir_of(fn), ir_of(fn)->arena, fn);
}
