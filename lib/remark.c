/* In: a function as it is lowered. Out: remarks.

   Which fact would widen an access is found by asking the analysis again: with all parameters
   multiples of 16, and where that is not enough with a factor that is 1. What helps is then
   reduced to the parameters without which it does not. So a remark never names a fact that would
   change nothing; where no such fact helps it says what the addresses lack. */
#include <string.h>

#include "cost.h"

enum { GIVEN_DIVISIBILITY = 16 };

typedef struct Remarks {
    Arena *scratch;
    Diags *dx;
    const Func *fn;
    const AxisFacts *facts;
} Remarks;

static Diag *tell(const Remarks *x, DiagId id, const Op *op, const char *text)
{
    const Loc *loc = cost_place(op);
    Diag *d = diag_remark(x->dx, id, ir_span(loc), "%s", text);
    ir_note_callers(x->dx, d, loc);
    return d;
}

/* ---- which facts would help ---- */

/* Of an access: how many neighbours one vector may cover, or those that share the mask. */
typedef struct Question {
    const Remarks *x;
    const AccessCost *access;
    bool of_mask;
    int64_t enough;   /* more is not wanted */
    AxisGiven *given; /* one a parameter */
} Question;

static int64_t answer_of(const Question *q, const AxisFacts *facts)
{
    const Op *op = q->access->op;
    const Value *ptr = op_arg(op, 0);
    int64_t best = 1;
    if (q->of_mask) best = axis_constancy(facts, vector_mask(op), q->access->vec.dim);
    for (int d = 0; !q->of_mask && d < ptr->type->rank; d++) {
        const int width = axis_vector_width(facts, ptr, d, VECTOR_MAX_BYTES);
        best = width > best ? width : best;
    }
    return best < q->enough ? best : q->enough;
}

static int64_t ask(const Question *q)
{
    Arena *a = q->x->scratch;
    const ArenaMark mark = arena_mark(a);
    const int64_t answer = answer_of(q, axis_analyze(a, q->x->fn, AXIS_OF_ACCESSES, q->given));
    arena_reset(a, mark);
    return answer;
}

static bool may_be_given(const Param *p)
{
    return p->divisibility % GIVEN_DIVISIBILITY &&
           (type_is_pointer(p->type) || (type_is_int(p->type) && !type_is_bool(p->type)));
}

/* It is multiplied by, maybe after it became wider or a block. */
static bool is_factor(const Value *v)
{
    for (const Use *use = v->uses; use; use = use->next) {
        const OpKind kind = use->user->kind;
        const bool moves = kind == OP_CAST || kind == OP_SPLAT || kind == OP_HINT;
        if (kind == OP_MUL || (moves && is_factor(op_result(use->user, 0)))) return true;
    }
    return false;
}

/* Gives the first factor that helps; false: none does. */
static bool give_factor(Question *q, int64_t now)
{
    const Func *fn = q->x->fn;
    for (int i = 0; i < fn->nparams; i++) {
        if (!type_is_int(fn->params[i].type) || !is_factor(fn->body->args[i])) continue;
        q->given[i].is_one = true;
        if (ask(q) > now) return true;
        q->given[i].is_one = false;
    }
    return false;
}

/* Leaves in q->given what makes the answer more than `now`; false: nothing does. */
static bool find_facts(Question *q, int64_t now)
{
    const Func *fn = q->x->fn;
    q->given = arena_array(q->x->scratch, AxisGiven, fn->nparams + 1);
    for (int i = 0; i < fn->nparams; i++)
        q->given[i].divisibility = may_be_given(&fn->params[i]) ? GIVEN_DIVISIBILITY : 0;
    if (ask(q) <= now && (q->of_mask || !give_factor(q, now))) return false;
    const int64_t best = ask(q);
    for (int i = 0; i < fn->nparams; i++) {
        if (!q->given[i].divisibility) continue;
        q->given[i].divisibility = 0;
        if (ask(q) < best) q->given[i].divisibility = GIVEN_DIVISIBILITY;
    }
    return true;
}

/* "it is not known that 'x' and 'n' are multiples of 16 and that 's' is 1" */
static void say_facts(Buf *out, const Question *q)
{
    const Func *fn = q->x->fn;
    int n = 0, last = -1;
    const char *one = NULL;
    for (int i = 0; i < fn->nparams; i++) {
        if (q->given[i].divisibility) n++, last = i;
        if (q->given[i].is_one) one = fn->params[i].name;
    }
    buf_puts(out, "it is not known that ");
    for (int i = 0, k = 0; i <= last; i++) {
        if (!q->given[i].divisibility) continue;
        buf_printf(out, "%s'%s'", !k ? "" : i == last ? " and " : ", ", fn->params[i].name);
        k++;
    }
    if (n) buf_printf(out, n > 1 ? " are multiples of %d" : " is a multiple of %d", GIVEN_DIVISIBILITY);
    if (one) buf_printf(out, "%s'%s' is 1", n ? " and that " : "", one);
}

/* The same as options. An item of a tuple has none of its own. */
static void set_facts(const Question *q, Diag *d)
{
    const Func *fn = q->x->fn;
    Diags *dx = q->x->dx;
    Buf sig = buf_make(dx->arena);
    for (int i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        if (strchr(p->name, '.')) continue;
        if (q->given[i].is_one) {
            diag_note(dx, d, SPAN_NONE, "the value of '%s' takes the place of its type in a signature",
                      p->name);
            diag_setting(dx, d, "defines", "%s=1", p->name);
        }
        if (q->given[i].divisibility)
            buf_printf(&sig, "%s%s=%s:%d", sig.len ? "," : "", p->name,
                       type_signature(dx->arena, p->type), GIVEN_DIVISIBILITY);
    }
    if (sig.len) diag_setting(dx, d, "signature", "%s", buf_text(&sig));
}

/* ---- narrow accesses ---- */

static bool comes_from_load(const Value *v, int depth)
{
    enum { MAX_DEPTH = 24 };
    const Op *op = v->def;
    if (!op || depth > MAX_DEPTH) return false;
    if (op->kind == OP_LOAD) return true;
    for (int i = 0; i < op->nargs && !op->nregions; i++)
        if (comes_from_load(op_arg(op, i), depth + 1)) return true;
    return false;
}

/* Nothing about parameters helps. */
static void say_lack(Buf *out, const Remarks *x, const AccessCost *c)
{
    const Value *ptr = op_arg(c->op, 0);
    const AxisFact *f = axis_of(x->facts, ptr);
    int64_t run = 1;
    for (int d = 0; d < f->rank; d++) run = f->contiguity[d] > run ? f->contiguity[d] : run;
    if (run * c->elem_bytes > c->bytes)
        buf_puts(out, "the address of its first element is not known to be a multiple of more");
    else if (comes_from_load(ptr, 0)) buf_puts(out, "the addresses come from loaded values");
    else if (run == 1) buf_puts(out, "neighbours are not known to lie next to each other");
    else
        buf_printf(out, "only groups of %lld neighbours are known to lie next to each other",
                   (long long)run);
}

static const char *verb_of(const Op *op)
{
    return op->kind == OP_LOAD ? "loads" : op->kind == OP_COPY_ASYNC ? "copies" : "stores";
}

static void remark_width(const Remarks *x, const AccessCost *c)
{
    Question q = {.x = x, .access = c, .enough = 1 << c->most_log2};
    const int64_t now = answer_of(&q, x->facts), width = INT64_C(1) << c->vec.log2;
    Buf text = buf_make(x->dx->arena);
    buf_printf(&text, "a thread %s %d byte%s at a time and could %d: ", verb_of(c->op), c->bytes,
               c->bytes > 1 ? "s" : "", c->elem_bytes << c->most_log2);
    const bool is_mended = now <= width && find_facts(&q, now);
    if (now > width)
        buf_printf(&text, "it holds groups of %lld in the layout that the accesses around it share",
                   (long long)width);
    else if (is_mended) say_facts(&text, &q);
    else say_lack(&text, x, c);
    Diag *d = tell(x, DIAG_VEC, c->op, buf_text(&text));
    if (is_mended) set_facts(&q, d);
}

/* The mask may end inside a vector. */
static void remark_mask(const Remarks *x, const AccessCost *c, Buf *text)
{
    Question q = {.x = x, .access = c, .of_mask = true, .enough = 1 << c->vec.log2};
    const bool is_mended = find_facts(&q, answer_of(&q, x->facts));
    const int step = c->vec.run * c->elem_bytes;
    buf_puts(text, " only where the mask holds for all of them: ");
    if (is_mended) say_facts(text, &q);
    else buf_printf(text, "it may change after every %d byte%s", step, step > 1 ? "s" : "");
    Diag *d = tell(x, DIAG_VEC, c->op, buf_text(text));
    if (is_mended) set_facts(&q, d);
}

/* Mask or shape may end inside a vector. */
static void remark_edge(const Remarks *x, const AccessCost *c)
{
    Buf text = buf_make(x->dx->arena);
    const int dim = c->vec.dim, width = 1 << c->vec.log2;
    buf_printf(&text, "a thread %s %d bytes at a time", verb_of(c->op), c->bytes);
    if (axis_constancy(x->facts, vector_mask(c->op), dim) < width) {
        remark_mask(x, c, &text);
        return;
    }
    buf_printf(&text, " and less at the edge: the block's extent %d is no multiple of %d",
               op_arg(c->op, 0)->type->shape[dim], width);
    tell(x, DIAG_VEC, c->op, buf_text(&text));
}

/* ---- shared memory ---- */

static void say_turns(Buf *out, const char *what, int turns)
{
    if (turns > 1) buf_printf(out, ", %s take %d turns for bank conflicts", what, turns);
}

static void remark_buffer(const Remarks *x, const Op *alloc)
{
    const BufferCost c = cost_buffer(alloc);
    Buf text = buf_make(x->dx->arena);
    buf_printf(&text, "%s through shared memory: %d bytes, %d barrier%s", c.what, c.bytes,
               c.barriers, c.barriers == 1 ? "" : "s");
    if (c.write_turns == 1 && c.read_turns == 1) buf_puts(&text, ", no bank conflicts");
    say_turns(&text, "stores", c.write_turns);
    say_turns(&text, "loads", c.read_turns);
    tell(x, DIAG_LAYOUT, alloc, buf_text(&text));
}

/* ---- matrix products ---- */

static void remark_dot(const Remarks *x, const Op *dot)
{
    Buf text = buf_make(x->dx->arena);
    DotLack lack;
    buf_puts(&text, "warps multiply one by one, not in groups: ");
    if (!dot_lack(x->facts, dot, &text, &lack)) return;
    Diag *d = tell(x, DIAG_DOT, dot, buf_text(&text));
    const Loc *loc = lack.advice ? cost_place(lack.at) : NULL;
    if (loc) diag_note(x->dx, d, ir_span(loc), "%s", lack.advice);
    if (lack.option) diag_setting(x->dx, d, lack.option, "%d", lack.value);
}

/* ---- all of them ---- */

static void remark_op(Op *op, void *user)
{
    const Remarks *x = user;
    if (op->kind == OP_ALLOC) remark_buffer(x, op);
    if (op->kind == OP_DOT) remark_dot(x, op);
    if (!cost_is_access(op) || x->dx->off[DIAG_VEC]) return;
    const AccessCost c = cost_access(x->facts, op);
    if (c.vec.log2 < c.most_log2) remark_width(x, &c);
    const bool is_told = op->kind == OP_COPY_ASYNC; /* how much is there */
    if (c.vec.run < 1 << c.vec.log2 && !is_told) remark_edge(x, &c);
}

void remark_func(Arena *scratch, Diags *dx, const Func *fn)
{
    if (dx->off[DIAG_VEC] && dx->off[DIAG_LAYOUT] && dx->off[DIAG_DOT]) return;
    Remarks x = {.scratch = scratch, .dx = dx, .fn = fn};
    x.facts = axis_analyze(scratch, fn, AXIS_OF_ACCESSES, NULL);
    ir_walk(fn->body, remark_op, &x);
}
