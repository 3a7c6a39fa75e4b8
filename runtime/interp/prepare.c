/* From IR to instructions: slots by liveness, views, invariants, decoding.

   Liveness: ops get preorder numbers. A slot lives from its op's number to that of the last op that
   uses it; from outside of an op with regions, to the last op inside of it, so a value from outside a
   loop lives to the loop's end. Region arguments live as long as their op. Results of ops with
   regions are written by yields, so they live from the op's start. */
#include <stdlib.h>

#include "debug/debug.h"
#include "tkc/grow.h"
#include "ptx/ptx.h"

enum { ALIGN = 64 };

typedef struct ValueFacts {
    int defined, last_use; /* numbers of ops */
    const Value *root;     /* the value whose slot it shares */
    bool invariant, is_vector; /* is_vector: inside a reduce's region */
    int64_t vector_cap;    /* elements its slot must hold when it is a vector */
    int walked;            /* param_of: the newest walk that it was in */
} ValueFacts;

typedef struct Prepare {
    TkcContext *cx;
    Interp *in;
    Owned *blocks;
    Owned *scratch; /* for as long as this takes */
    int nops;                   /* numbered so far */
    uint32_t accesses;          /* numbered so far */
    const Value **all;          /* in order of definition */
    int nall;
    ValueFacts *of;             /* by value id */
    bool *leads;                /* by value id: to an address; overflow.c */
    const Value **walk;         /* param_of: values to visit */
    int walks;
    bool failed;
    TkcStatus status; /* of what failed */
} Prepare;

static void *take_from(Prepare *p, Owned **all, size_t count, size_t size)
{
    void *at = owned_take(all, count * size);
    if (!at && !p->failed) p->status = tkc_no_memory(p->cx);
    p->failed |= !at;
    return at;
}

static void *take(void *prepare, size_t count, size_t size)
{
    Prepare *p = prepare;
    return take_from(p, &p->blocks, count, size);
}

static void *take_scratch(Prepare *p, size_t count, size_t size)
{
    return take_from(p, &p->scratch, count, size);
}

/* ---- views and uniform values ---- */

static bool is_view(const Op *op)
{
    switch (op->kind) {
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_HINT:
    case OP_SPLAT:
    case OP_DOT_WAIT:
    case OP_CONVERT: return true;
    default: return false;
    }
}

static void init_slot(Slot *s, const Type *t)
{
    const Type *e = tkc_type_element(t);
    s->count = t->kind == TY_SMEM ? tkc_smem_count(t) : tkc_type_count(t);
    s->dtype = e->kind == TY_POINTER ? DT_NONE : e->dtype;
    s->size = (uint8_t)element_bytes(e);
}

static bool has_effect(const Op *op)
{
    return (tkc_op_info(op->kind)->traits & (OT_READ | OT_WRITE | OT_SIDE | OT_TERM)) ||
           op->nregions > 0;
}

/* Inline assembly may do something else to each of the elements that share an instance. */
static bool mixes_elements(const Op *op)
{
    return op->kind == OP_INLINE_ASM && tkc_op_int(op, ATTR_PACK, 1) > 1;
}

/* Decides root, uniform and invariant of an op's results from its operands'. */
static void classify(Prepare *p, const Op *op, bool vector)
{
    bool ew = tkc_op_info(op->kind)->traits & OT_EW;
    bool shares = !p->in->debug, uniform = ew && !mixes_elements(op);
    bool invariant = shares && !has_effect(op) && !vector && op->kind != OP_PROGRAM_ID &&
                     op->kind != OP_INLINE_ASM;
    for (int i = 0; i < op->nargs; i++) {
        const Value *a = op_arg(op, i);
        uniform &= p->in->slots[a->id].uniform;
        invariant &= p->of[a->id].invariant;
    }
    for (int i = 0; i < op->nresults; i++) {
        const Value *v = op_result(op, i);
        Slot *s = &p->in->slots[v->id];
        init_slot(s, v->type);
        s->count *= tkc_op_int(op, ATTR_COPIES, 1);
        s->uniform = uniform || op->kind == OP_CONST || (s->count == 1 && !vector);
        p->of[v->id] = (ValueFacts){.root = v, .invariant = invariant, .is_vector = vector};
        const Value *a = op->nargs ? op_arg(op, 0) : NULL;
        if (is_view(op) || (op->kind == OP_BROADCAST && p->in->slots[a->id].uniform)) {
            if (shares) p->of[v->id].root = p->of[a->id].root;
            s->uniform = p->in->slots[a->id].uniform;
        }
        /* results of control ops are written in full */
        if (op->nregions > 0 && s->count > 1) s->uniform = false;
    }
}

/* Its region combines elements, many pairs at once. */
static bool has_combine(const Op *op)
{
    return op->kind == OP_REDUCE || op->kind == OP_SCAN || op->kind == OP_CARRY;
}

static void classify_region(Prepare *p, const Region *r, bool vector)
{
    for (int i = 0; i < r->nargs; i++) {
        const Value *v = r->args[i];
        Slot *s = &p->in->slots[v->id];
        init_slot(s, v->type);
        s->uniform = s->count == 1 && !vector;
        p->of[v->id] = (ValueFacts){.root = v, .invariant = !r->parent, .is_vector = vector};
    }
    for (const Op *op = r->first; op; op = op->next) {
        classify(p, op, vector);
        bool inner = vector || has_combine(op);
        for (int i = 0; i < op->nregions; i++) classify_region(p, op->regions[i], inner);
    }
}

/* ---- liveness ---- */

static void define(Prepare *p, const Value *v, int number)
{
    p->all[p->nall++] = v;
    p->of[v->id].defined = p->of[v->id].last_use = number;
}

static void live_until(Prepare *p, const Value *v, int number)
{
    int *last = &p->of[p->of[v->id].root->id].last_use;
    if (number > *last) *last = number;
}

/* A broadcast, a sum, an addptr. */
enum { STEPS = 2 };

/* An access takes its pointers apart, and looks behind broadcasts and sums. */
static void live_behind(Prepare *p, const Value *v, int number, int steps)
{
    if (v->type->kind != TY_BLOCK) return;
    live_until(p, v, number);
    if (!steps || !v->def || (v->def->kind != OP_ADD && v->def->kind != OP_BROADCAST)) return;
    for (int i = 0; i < v->def->nargs; i++) live_behind(p, op_arg(v->def, i), number, steps - 1);
}

static void live_argument(Prepare *p, const Value *v, int number)
{
    live_until(p, v, number);
    if (!v->def || v->def->kind != OP_ADDPTR) return;
    for (int i = 0; i < v->def->nargs; i++) live_behind(p, op_arg(v->def, i), number, STEPS);
}

static void live_region(Prepare *p, const Region *r, int begin);

/* What an op with regions defines, and what is from before and used in them, lives to its end. */
static void live_op(Prepare *p, const Op *op)
{
    const int begin = ++p->nops;
    for (int i = 0; i < op->nresults; i++) define(p, op_result(op, i), begin);
    for (int i = 0; i < op->nregions; i++) live_region(p, op->regions[i], begin);
    for (int i = 0; i < op->nargs; i++) live_argument(p, op_arg(op, i), p->nops);
    for (int i = 0; i < p->nall && op->nregions > 0; i++) {
        uint32_t id = p->all[i]->id;
        if (p->of[id].defined <= begin && p->of[id].last_use >= begin) p->of[id].last_use = p->nops;
    }
}

static void live_region(Prepare *p, const Region *r, int begin)
{
    for (int i = 0; i < r->nargs; i++) define(p, r->args[i], begin);
    for (const Op *op = r->first; op; op = op->next) live_op(p, op);
}

static void live_func(Prepare *p)
{
    const Region *body = p->in->fn->body;
    live_region(p, body, 0);
    for (int i = 0; i < (p->in->debug ? p->nall : body->nargs); i++)
        p->of[p->all[i]->id].last_use = p->nops;
}

/* ---- placing slots: first fit in a list of free gaps, slots in order of birth ---- */

typedef struct Placed {
    uint64_t begin, end;
    int until;
} Placed;

static uint64_t slot_bytes(const Prepare *p, const Value *v)
{
    const Slot *s = &p->in->slots[v->id];
    const ValueFacts *facts = &p->of[v->id];
    const bool is_vector = facts->is_vector && s->count == 1;
    int64_t n = s->uniform ? 1 : is_vector ? facts->vector_cap : s->count;
    return ((uint64_t)n * s->size + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t first_fit(const Placed *live, int n, uint64_t at, uint64_t bytes)
{
    for (int i = 0; i < n; i++) {
        if (live[i].begin >= at + bytes) break;
        if (live[i].end > at) at = live[i].end;
    }
    return at;
}

/* What lives now, from `base` on, and the memory needed so far. */
typedef struct Placing {
    Placed *live;
    int n;
    uint64_t base, most;
} Placing;

static void place_one(Prepare *p, Placing *l, const Value *v)
{
    int kept = 0;
    for (int k = 0; k < l->n; k++)
        if (l->live[k].until >= p->of[v->id].defined) l->live[kept++] = l->live[k];
    l->n = kept;
    uint64_t bytes = slot_bytes(p, v), at = first_fit(l->live, l->n, l->base, bytes);
    int i = l->n++;
    for (; i > 0 && l->live[i - 1].begin > at; i--) l->live[i] = l->live[i - 1];
    l->live[i] = (Placed){at, at + bytes, p->of[v->id].last_use};
    if (at + bytes > l->most) l->most = at + bytes;
    p->in->slots[v->id].offset = (uint32_t)at;
}

/* Invariants first: they live from one program to the next, so nothing may share their memory. */
static void place_invariant(Prepare *p, Placing *l, const Value *v)
{
    p->in->slots[v->id].offset = (uint32_t)l->most;
    l->most += slot_bytes(p, v);
    l->base = l->most;
}

static void place_slots(Prepare *p)
{
    Placing l = {.live = take_scratch(p, (size_t)p->nall + 1, sizeof *l.live)};
    for (int round = 0; round < 2 && l.live; round++)
        for (int i = 0; i < p->nall; i++) {
            const Value *v = p->all[i];
            if (p->of[v->id].root != v || p->of[v->id].invariant != (round == 0)) continue;
            if (round == 0) place_invariant(p, &l, v);
            else place_one(p, &l, v);
        }
    if (l.most > UINT32_MAX) {
        tkc_report(p->cx, TKC_SEVERITY_ERROR, NULL,
                   "the kernel's blocks take %llu bytes, more than the cpu device can hold",
                   (unsigned long long)l.most);
        p->failed = true;
    }
    for (int i = 0; i < p->nall; i++)
        p->in->slots[p->all[i]->id].offset = p->in->slots[p->of[p->all[i]->id].root->id].offset;
    p->in->frame_bytes = l.most + ALIGN;
}

/* ---- instructions ---- */

/* The value a pointer was computed from by adding offsets, in one step; NULL when it is something
   else. */
static const Value *pointer_before(const Value *v)
{
    if (!v->def) return NULL;
    switch (v->def->kind) {
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_HINT:
    case OP_TRANS:
    case OP_ADDPTR: break;
    case OP_BITCAST:
        if (tkc_type_element(op_arg(v->def, 0)->type)->kind != TY_POINTER) return NULL;
        break;
    default: return NULL;
    }
    return op_arg(v->def, 0);
}

/* The values a pointer may have come from in one step, at most two; 0: that is not certain. */
static int pointers_before(const Value *v, const Value *from[2])
{
    int n = flow_sources(v, from);
    if (n) return n;
    if (v->def && v->def->kind == OP_SELECT) {
        from[0] = op_arg(v->def, 1);
        from[1] = op_arg(v->def, 2);
        return 2;
    }
    from[0] = pointer_before(v);
    return from[0] != NULL;
}

/* The parameter all of a value's pointers come from, -1 when that is not certain. */
static int param_of(Prepare *p, const Value *v)
{
    int param = -1, n = 0;
    const Value *from[2];
    p->walk[n++] = v;
    for (p->walks++; n > 0;) {
        v = p->walk[--n];
        if (p->of[v->id].walked == p->walks) continue;
        p->of[v->id].walked = p->walks;
        if (v->region && !v->region->parent) {
            if (param >= 0 && param != v->index) return -1;
            param = v->index;
            continue;
        }
        int k = pointers_before(v, from);
        if (!k) return -1;
        while (k > 0) p->walk[n++] = from[--k];
    }
    return param;
}

/* One row: all its lanes are along the last dim. */
static bool is_row(const Type *t)
{
    return t->kind == TY_BLOCK && tkc_type_count(t) == t->shape[t->rank - 1];
}

static bool is_widening(const Op *op)
{
    return op->kind == OP_CAST && tkc_type_element(op_arg(op, 0)->type)->dtype == DT_I32 &&
           tkc_type_element(op_result(op, 0)->type)->dtype == DT_I64;
}

/* arange plus anything that is the same in all lanes; int32 may wrap once. */
static bool is_in_order(const Prepare *p, const Value *v)
{
    while (v->def && is_row(v->type)) {
        const Op *op = v->def;
        if (op->kind == OP_ARANGE) return true;
        bool adds = op->kind == OP_ADD || op->kind == OP_SUB;
        if (op->kind == OP_HINT || op->kind == OP_EXPAND_DIMS || is_widening(op) ||
            (adds && p->in->slots[op_arg(op, 1)->id].uniform))
            v = op_arg(op, 0);
        else if (op->kind == OP_ADD && p->in->slots[op_arg(op, 0)->id].uniform) v = op_arg(op, 1);
        else return false;
    }
    return false;
}

/* What a block was broadcast from; NULL when it was not. */
static const Value *before_broadcast(const Value *v)
{
    return v->def && v->def->kind == OP_BROADCAST ? op_arg(v->def, 0) : NULL;
}

/* A block that is a sum of one operand for each row, the same along the last dim, and one for each
   column, the same in all rows and in order. */
typedef struct RowsAndColumns {
    const Value *rows, *columns; /* NULL: it is not */
} RowsAndColumns;

static RowsAndColumns take_rows(const Prepare *p, const Op *op, int first)
{
    const RowsAndColumns no = {NULL, NULL};
    const Value *rows = before_broadcast(op_arg(op, first)),
                *columns = before_broadcast(op_arg(op, 1 - first));
    if (p->in->debug || !rows || !columns) return no;
    const Type *t = op_result(op, 0)->type, *r = rows->type, *c = columns->type;
    int64_t width = t->shape[t->rank - 1];
    bool fits = r->shape[r->rank - 1] == 1 && tkc_type_count(r) * width == tkc_type_count(t) &&
                is_row(c) && c->shape[c->rank - 1] == width && !p->in->slots[rows->id].uniform &&
                !p->in->slots[columns->id].uniform && is_in_order(p, columns);
    return fits ? (RowsAndColumns){rows, columns} : no;
}

/* Of an addptr, or of a sum of int32 or int64. */
static RowsAndColumns rows_and_columns(const Prepare *p, const Op *op)
{
    if (op->kind == OP_ADDPTR) return take_rows(p, op, 0);
    DType dt = tkc_type_element(op_result(op, 0)->type)->dtype;
    if (op->kind != OP_ADD || (dt != DT_I32 && dt != DT_I64)) return (RowsAndColumns){NULL, NULL};
    RowsAndColumns found = take_rows(p, op, 0);
    return found.rows ? found : take_rows(p, op, 1);
}

static bool is_scalar_plus_offsets(const Prepare *p, const Op *op)
{
    return op->kind == OP_ADDPTR && op_result(op, 0)->type->kind == TY_BLOCK &&
           p->in->slots[op_arg(op, 0)->id].uniform && !p->in->slots[op_arg(op, 1)->id].uniform;
}

/* The sum of rows and columns that the offsets of such an addptr are; NULL: they are not. */
static const Op *sum_in(const Prepare *p, const Op *op)
{
    const Op *sum = is_scalar_plus_offsets(p, op) ? op_arg(op, 1)->def : NULL;
    return sum && rows_and_columns(p, sum).rows ? sum : NULL;
}

/* Pointers made as a scalar plus offsets, or rows plus columns, need not be made. */
static void split_pointer(Prepare *p, Insn *in)
{
    const Value *ptr = op_arg(in->op, 0);
    in->param = param_of(p, ptr);
    if (!ptr->def || ptr->def->kind != OP_ADDPTR || ptr->type->kind != TY_BLOCK) return;
    in->sum = sum_in(p, ptr->def);
    RowsAndColumns parts = rows_and_columns(p, in->sum ? in->sum : ptr->def);
    if (parts.rows) {
        in->rows = &p->in->slots[parts.rows->id];
        in->offsets = &p->in->slots[parts.columns->id];
        if (in->sum) in->base = &p->in->slots[op_arg(ptr->def, 0)->id];
    } else if (is_scalar_plus_offsets(p, ptr->def)) {
        in->base = &p->in->slots[op_arg(ptr->def, 0)->id];
        in->offsets = &p->in->slots[op_arg(ptr->def, 1)->id];
        in->in_order = is_in_order(p, op_arg(ptr->def, 1));
    }
}

/* When debugging, what is the same as its operand has memory of its own. */
static bool is_same(const Prepare *p, const Op *op)
{
    return is_view(op) || (op->kind == OP_BROADCAST && p->in->slots[op_result(op, 0)->id].uniform);
}

static InsnFn choose(Insn *in)
{
    static const struct { InsnFn run; InsnFn (*make)(Insn *in); } table[OP_COUNT] = {
#define INSN(OP, fn) [OP_##OP] = {fn, NULL},
#define INSN_MAKER(OP, fn) [OP_##OP] = {NULL, fn},
#include "insns.def"
    };
    const OpKind kind = in->op->kind;
    if (table[kind].run) return table[kind].run;
    return table[kind].make ? table[kind].make(in) : interp_elementwise_fn(in);
}

/* Where each element of a block lies in the buffer, row-major; -1 where it is in another piece. */
static const int32_t *offsets_of(Prepare *p, const Op *op)
{
    const Type *buffer = op_arg(op, tkc_buffer_operand(op))->type;
    const int64_t n = tkc_type_count(buffer), piece = tkc_op_int(op, ATTR_PIECE, 0);
    int32_t *offsets = take(p, (size_t)n, sizeof *offsets), coord[TKC_MAX_RANK] = {0};
    for (int64_t i = 0; offsets && i < n; i++) {
        int64_t index = 0;
        for (int d = 0; d < buffer->rank; d++) {
            int64_t extent = 1;
            while (extent < buffer->shape[d]) extent *= 2;
            index = index * extent + coord[d];
        }
        offsets[i] = (int32_t)tkc_smem_offset(buffer, piece, index);
        for (int d = buffer->rank - 1; d >= 0 && ++coord[d] == buffer->shape[d]; d--) coord[d] = 0;
    }
    return offsets;
}

static void decode_region(Prepare *p, const Region *r, Body *body, bool vector);

static void decode_op(Prepare *p, const Op *op, Insn *in, const Body *body, bool vector)
{
    *in = (Insn){.op = op,
                 .nargs = op->nargs,
                 .nresults = op->nresults,
                 .body = body,
                 .in_vector = vector,
                 .param = -1};
    in->args = take(p, (size_t)op->nargs + 1, sizeof *in->args);
    in->results = take(p, (size_t)op->nresults + 1, sizeof *in->results);
    in->bodies = take(p, (size_t)op->nregions + 1, sizeof *in->bodies);
    in->body_args = take(p, (size_t)op->nregions + 1, sizeof *in->body_args);
    if (p->failed) return;
    for (int i = 0; i < op->nargs; i++) in->args[i] = &p->in->slots[op_arg(op, i)->id];
    for (int i = 0; i < op->nresults; i++) in->results[i] = &p->in->slots[op_result(op, i)->id];
    for (int i = 0; i < op->nregions && !p->failed; i++) {
        const Region *r = op->regions[i];
        in->body_args[i] = take(p, (size_t)r->nargs + 1, sizeof **in->body_args);
        for (int k = 0; in->body_args[i] && k < r->nargs; k++)
            in->body_args[i][k] = &p->in->slots[r->args[k]->id];
        decode_region(p, r, &in->bodies[i], vector || has_combine(op));
    }
    if (tkc_op_info(op->kind)->traits & OT_DESC) {
        tkc_report(p->cx, TKC_SEVERITY_ERROR, op->loc, "the cpu device needs pointers in place of "
                   "descriptors: 'desc' must come before it");
        p->failed = true;
        return;
    }
    const bool is_atomic = tkc_op_info(op->kind)->traits & OT_ATOMIC;
    if (op->kind == OP_LOAD || op->kind == OP_STORE || is_atomic) {
        in->number = ++p->accesses;
        split_pointer(p, in);
    }
    if (is_atomic || (op->kind == OP_LOAD && tkc_op_int(op, ATTR_VOLATILE, 0)))
        p->in->in_turn = true;
    if (op->kind == OP_PRINT) p->in->has_print = true;
    if (op->kind == OP_INLINE_ASM) in->extra = asm_prepare(p->cx, op, (PtxMemory){take, p});
    if (op->kind == OP_INLINE_ASM && !in->extra) p->failed = true;
    const bool is_copy = op->kind == OP_COPY_ASYNC || tkc_is_box(op);
    if (is_copy) in->number = ++p->accesses;
    if (tkc_is_box(op)) in->param = param_of(p, op_arg(op, 0));
    if (op->kind == OP_SSTORE || op->kind == OP_SLOAD || is_copy || op->kind == OP_RING_LOAD)
        in->extra = offsets_of(p, op);
    in->run = p->failed ? NULL : is_same(p, op) && op->kind != OP_HINT ? slot_copy : choose(in);
    if (in->run) overflow_follow(in);
    if (in->run && p->in->debug) {
        in->inner = in->run;
        in->run = debug_step;
    }
    if (!in->run && !p->failed) {
        tkc_report_bug(p->cx, op->loc, "the cpu device has no code for '%s'",
                       tkc_op_info(op->kind)->name);
        p->failed = true;
    }
}

/* addptr whose only uses are accesses that take it apart. */
static bool only_split_uses(const Prepare *p, const Op *op)
{
    if (!is_scalar_plus_offsets(p, op) && (op->kind != OP_ADDPTR || !rows_and_columns(p, op).rows))
        return false;
    for (const Use *u = op_result(op, 0)->uses; u; u = u->next)
        if ((u->user->kind != OP_LOAD && u->user->kind != OP_STORE) || &u->user->args[0] != u)
            return false;
    return op_result(op, 0)->type->kind == TY_BLOCK;
}

/* A sum that only goes to accesses which take it apart. */
static bool only_summed_uses(const Prepare *p, const Op *op)
{
    if (op->kind != OP_ADD || !rows_and_columns(p, op).rows) return false;
    for (const Use *u = op_result(op, 0)->uses; u; u = u->next)
        if (u->user->kind != OP_ADDPTR || sum_in(p, u->user) != op || !only_split_uses(p, u->user))
            return false;
    return true;
}

/* A broadcast that only goes to accesses which look behind it. */
static bool only_row_uses(const Prepare *p, const Op *op)
{
    if (op->kind != OP_BROADCAST) return false;
    for (const Use *u = op_result(op, 0)->uses; u; u = u->next) {
        bool is_part = u->user->kind == OP_ADDPTR && rows_and_columns(p, u->user).rows;
        if (!(is_part && only_split_uses(p, u->user)) && !only_summed_uses(p, u->user))
            return false;
    }
    return true;
}

static bool needs_insn(Prepare *p, const Op *op, bool prologue)
{
    if (p->in->debug || op->kind == OP_HINT) return !prologue; /* a hint is checked by program */
    if (is_same(p, op) || only_split_uses(p, op) || only_summed_uses(p, op) || only_row_uses(p, op))
        return false;
    bool invariant = op->nresults > 0 && p->of[op_result(op, 0)->id].invariant;
    return invariant == prologue;
}

static void decode_region(Prepare *p, const Region *r, Body *body, bool vector)
{
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) n += needs_insn(p, op, false);
    body->insns = take(p, (size_t)n + 1, sizeof *body->insns);
    for (const Op *op = r->first; op && !p->failed; op = op->next)
        if (needs_insn(p, op, false)) decode_op(p, op, &body->insns[body->n++], body, vector);
}

static void decode_invariant(Prepare *p, const Region *r, Body *body)
{
    for (const Op *op = r->first; op && !p->failed; op = op->next) {
        if (needs_insn(p, op, true)) decode_op(p, op, &body->insns[body->n++], body, false);
        for (int i = 0; i < op->nregions; i++) decode_invariant(p, op->regions[i], body);
    }
}

/* Vectors of a reduce's region hold as many elements as its operand. */
static void size_vectors(Prepare *p, const Region *r, int64_t cap)
{
    for (int i = 0; i < r->nargs; i++) p->of[r->args[i]->id].vector_cap = cap;
    for (const Op *op = r->first; op; op = op->next) {
        int64_t inner = cap;
        if (cap == 1 && has_combine(op)) inner = tkc_type_count(op_arg(op, 0)->type);
        for (int i = 0; i < op->nresults; i++) p->of[op_result(op, i)->id].vector_cap = cap;
        for (int i = 0; i < op->nregions; i++) size_vectors(p, op->regions[i], inner);
    }
}

/* Views share their root's number. */
static void number_offsets(Prepare *p)
{
    overflow_mark(p->in->fn, p->leads, p->walk);
    for (int i = 0; i < p->nall; i++) {
        uint32_t id = p->all[i]->id, *root = &p->in->slots[p->of[id].root->id].offset_id;
        if (p->leads[id] && !*root) *root = ++p->in->noffsets;
    }
    for (int i = 0; i < p->nall; i++) {
        uint32_t id = p->all[i]->id;
        p->in->slots[id].offset_id = p->in->slots[p->of[id].root->id].offset_id;
    }
}

static void place(Prepare *p)
{
    classify_region(p, p->in->fn->body, false);
    size_vectors(p, p->in->fn->body, 1);
    live_func(p);
    place_slots(p);
    number_offsets(p);
}

static bool take_tables(Prepare *p)
{
    size_t n = p->in->fn->nvalues + 1;
    p->in->slots = take(p, n, sizeof *p->in->slots);
    p->all = take_scratch(p, n, sizeof *p->all);
    p->of = take_scratch(p, n, sizeof *p->of);
    p->leads = take_scratch(p, n, sizeof *p->leads);
    p->walk = take_scratch(p, 2 * n, sizeof *p->walk);
    return !p->failed;
}

Interp *interp_prepare(TkcContext *cx, const Func *fn, const Debugger *debugger, TkcStatus *status)
{
    Interp *in = calloc(1, sizeof *in);
    Prepare p = {.cx = cx, .in = in, .status = TKC_ERROR};
    if (!in) {
        *status = tkc_no_memory(cx);
        return NULL;
    }
    in->fn = fn;
    if (debugger && !(in->debug = debug_info_new(cx, fn, debugger))) p.failed = true;
    if (!p.failed && take_tables(&p)) {
        place(&p);
        in->prologue.insns = take(&p, (size_t)p.nops + 1, sizeof *in->prologue.insns);
        decode_invariant(&p, fn->body, &in->prologue);
        decode_region(&p, fn->body, &in->body, false);
    }
    in->memory = p.blocks;
    owned_free(p.scratch);
    *status = p.failed ? p.status : TKC_OK;
    if (!p.failed) return in;
    interp_free(in);
    return NULL;
}

void interp_free(Interp *in)
{
    if (!in) return;
    debug_info_free(in->debug);
    owned_free(in->memory);
    free(in);
}
