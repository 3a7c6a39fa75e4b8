/* In: accesses to global memory that have their layouts, and axis facts. Out: each one's attribute
   `vector`, which the lowering goes by; who moves ops or changes what they compute need not know.

   A vector is as wide as the addresses run on and are aligned, as far as the thread holds the
   neighbours in registers. A mask that may end inside it, or the edge of a shape that is padded,
   does not make it narrower, but cuts it into runs of which each has a predicate. Atomic additions
   of floats go by vectors on sm_90, of fp16 by pairs before it, which are no longer than such a run.

   Where the addresses of neighbours are equal (of what x / n leads to), a load has the attribute
   `equal`: a thread reads one of them for all. */
#include "layout/vector.h"

#include <string.h>

#include "base/power.h"
#include "ir/machine.h"
#include "layout/passes.h"

static VectorBits widest(const AxisFacts *facts, const Value *ptr, const Layout *in, int most_bytes)
{
    VectorBits best = {0};
    for (int d = ptr->type->rank - 1; d >= 0; d--) {
        const int width = axis_vector_width(facts, ptr, d, most_bytes);
        VectorBits v = {.dim = d};
        v.log2 = layout_steps(in, d, log2_floor(width), v.bit);
        if (v.log2 > best.log2) best = v;
    }
    return best;
}

/* The edge of a shape lies between groups of as many as divide its extent. */
static int run_of(const AxisFacts *facts, const VectorBits *v, const Type *ty, const Value *mask)
{
    int64_t run = 1 << v->log2;
    if (run == 1) return 1;
    const int64_t size = ty->shape[v->dim], valid = size & -size;
    if (valid != size && valid < run) run = valid;
    const int64_t constancy = axis_constancy(facts, mask, v->dim);
    return (int)(constancy < run ? constancy : run);
}

int vector_most_bytes(const Op *op)
{
    enum { NARROW_BITS = 32, PAIR_BYTES = 4 };
    if (op->kind == OP_LOAD || op->kind == OP_STORE) return VECTOR_MAX_BYTES;
    const Machine *machine = op->region->func->machine;
    const bool adds = op->kind == OP_ATOMIC_RMW && !strcmp(tkc_op_str(op, ATTR_RMW, ""), "fadd") &&
                      type_bits(op_arg(op, 1)->type) <= NARROW_BITS;
    if (!adds || !machine) return 0;
    if (machine->sm >= MACHINE_VECTOR_ATOMICS) return VECTOR_MAX_BYTES;
    return type_dtype(op_arg(op, 1)->type) == DT_F16 ? PAIR_BYTES : 0;
}

const Value *vector_mask(const Op *op)
{
    const int at = !ir_has(op, OT_WRITE) ? 1 : op->kind == OP_COPY_ASYNC ? 3 : 2;
    return op->nargs > at ? op_arg(op, at) : NULL;
}

VectorBits vector_if(const AxisFacts *facts, const Op *op, const Layout *in)
{
    const Value *ptr = op_arg(op, 0);
    const int most = vector_most_bytes(op);
    if (!type_is_block(ptr->type) || !most) return (VectorBits){.run = 1};
    VectorBits v = widest(facts, ptr, in, most);
    v.run = run_of(facts, &v, ptr->type, vector_mask(op));
    if (ir_has(op, OT_ATOMIC)) v.log2 = log2_floor(v.run);
    return v;
}

VectorBits vector_of(const Op *op)
{
    const Attr *attr = tkc_op_attr(op, ATTR_VECTOR);
    if (!attr) return (VectorBits){.run = 1};
    VectorBits v = {.dim = (int)attr->v[0], .run = (int)attr->v[2]};
    v.log2 = layout_steps(op_arg(op, 0)->type->layout, v.dim, log2_floor(attr->v[1]), v.bit);
    return v;
}

void vector_groups(const AxisFacts *facts, const Op *op, int64_t *groups)
{
    const bool reads = op->kind == OP_LOAD && !tkc_op_int(op, ATTR_VOLATILE, 0);
    for (int d = 0; d < op_arg(op, 0)->type->rank; d++) {
        groups[d] = reads ? INT64_MAX : 1;
        for (int i = 0; reads && i < op->nargs; i++) {
            const int64_t n = axis_constancy(facts, op_arg(op, i), d);
            if (n < groups[d]) groups[d] = n;
        }
    }
}

uint32_t vector_equal(const Op *op)
{
    const Attr *attr = tkc_op_attr(op, ATTR_EQUAL);
    const Layout *l = op_arg(op, 0)->type->layout;
    return attr ? layout_registers_within(l, layout_group_bits(l, attr->v)) : 0;
}

uint32_t vector_register(const VectorBits *v, uint32_t head, int i)
{
    for (int k = 0; k < v->log2; k++)
        if (i >> k & 1) head |= v->bit[k];
    return head;
}

bool vector_begins(const VectorBits *v, uint32_t reg)
{
    uint32_t inside = 0;
    for (int k = 0; k < v->log2; k++) inside |= v->bit[k];
    return !(reg & inside);
}

/* ---- the pass ---- */

/* Neighbours that one access moves are none of them. */
static void decide_equal(const AxisFacts *facts, Op *op, const VectorBits *v)
{
    const Type *ty = op_arg(op, 0)->type;
    int64_t groups[TKC_MAX_RANK];
    if (!type_is_block(ty)) return;
    vector_groups(facts, op, groups);
    for (int k = 0; k < ty->rank; k++) {
        const int64_t all = INT64_C(1) << ty->layout->dim_log2[k];
        if (groups[k] > all) groups[k] = all;
        if (v->log2 && k == v->dim) groups[k] = 1;
    }
    if (!(layout_registers_within(ty->layout, layout_group_bits(ty->layout, groups)) &
          ~layout_free_bits(ty->layout, DIM_REGISTER)))
        return;
    ir_set_ints(op->region->func, op, ATTR_EQUAL, ty->rank, groups);
}

static void decide(Op *op, void *user)
{
    const AxisFacts *facts = user;
    if (!vector_most_bytes(op) || tkc_op_attr(op, ATTR_VECTOR)) return;
    const VectorBits v = vector_if(facts, op, op_arg(op, 0)->type->layout);
    if (!tkc_op_attr(op, ATTR_EQUAL)) decide_equal(facts, op, &v);
    if (!v.log2) return;
    const int64_t values[] = {v.dim, 1 << v.log2, v.run};
    ir_set_ints(op->region->func, op, ATTR_VECTOR, 3, values);
}

/* needs: layouts.  keeps: what every op computes, and what an access was given before.  changes:
   loads, stores and atomic additions get the attribute `vector`, loads `equal`. */
void access_run(Pass *p, Func *fn)
{
    ir_walk(fn->body, decide, axis_analyze(p->scratch, fn, AXIS_OF_ACCESSES, NULL));
}
