/* What the kernel vouches for and the compiler believes: tl.multiple_of and tl.assume. On a GPU a
   claim that is false gives wrong code; here it ends the program, unless checks are off.

   A claim is taken as the analysis takes it (analysis/axis_rules.c): of a block, it is the first of
   a run of neighbours, each one more than the one before, that has to be the multiple.

   Contiguity and constancy are not looked at: kernels claim them of rows that wrap around behind the
   last one, and never store what they computed there. */
#include "interp.h"

typedef struct Claim {
    Frame *f;
    const Insn *in;
    const Slot *x;
    int64_t step;     /* from an element's value to its neighbour's in a contiguous run */
} Claim;

static bool fail_multiple(const Claim *c, int64_t by, int64_t v)
{
    const char *what = tkc_op_str(c->in->op, ATTR_MESSAGE, "the hint is false");
    if (c->x->dtype == DT_NONE)
        interp_fail(c->f, c->in, "%s: the address 0x%llx is not a multiple of %lld bytes", what,
                    (unsigned long long)v, (long long)by);
    else
        interp_fail(c->f, c->in, "%s: %lld is not a multiple of %lld", what, (long long)v, (long long)by);
    return false;
}

/* Of n elements, `stride` apart, from element `at` on: those of one line along a dim. */
static bool check_line(const Claim *c, int64_t by, int64_t at, int64_t n, int64_t stride)
{
    int64_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = slot_int(c->f, c->x, at + i * stride);
        if ((!i || v != before + c->step) && v % by) return fail_multiple(c, by, v);
        before = v;
    }
    return true;
}

static bool check_dim(const Claim *c, int64_t by, const Type *t, int d)
{
    int64_t stride = 1, n = t->rank ? t->shape[d] : 1, count = tkc_type_count(t);
    for (int k = d + 1; k < t->rank; k++) stride *= t->shape[k];
    for (int64_t i = 0; by > 1 && i < count; i++)
        if (i / stride % n == 0 && !check_line(c, by, i, n, stride)) return false;
    return true;
}

static void check_hint(Frame *f, const Insn *in)
{
    const Type *t = op_arg(in->op, 0)->type, *e = tkc_type_element(t);
    const Attr *multiple = tkc_op_attr(in->op, ATTR_DIVISIBILITY);
    if (!multiple || f->launch->dev->unchecked || in->in_vector) return;
    Claim c = {.f = f, .in = in, .x = in->args[0], .step = 1};
    if (e->kind == TY_POINTER) {
        c.step = element_bytes(e->elem);
    } else if (tkc_dtype_info(e->dtype)->kind == DK_FLOAT) {
        return;
    }
    for (int d = 0; d < multiple->count && (d < t->rank || !d); d++)
        if (!check_dim(&c, multiple->v[d], t, d)) return;
}

/* When debugging, its result is a value of its own. */
void insn_hint(Frame *f, const Insn *in)
{
    const Slot *from = in->args[0], *to = in->results[0];
    check_hint(f, in);
    if (to->offset != from->offset || to->uniform != from->uniform) slot_copy(f, in);
}

void insn_assume(Frame *f, const Insn *in)
{
    if (!f->launch->dev->unchecked && !*(const uint8_t *)slot_data(f, in->args[0]))
        interp_fail(f, in, "the assumption is false");
}
