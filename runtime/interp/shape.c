/* Ops that move or duplicate elements. All but gather are one walk: the result in row-major order,
   the operand by strides, adjacent dims that step together taken as one. */
#include <string.h>

#include "interp.h"

/* ---- the walk ---- */

typedef struct Walk {
    int rank;
    int64_t extent[TKC_MAX_RANK], in[TKC_MAX_RANK], out[TKC_MAX_RANK]; /* steps in elements */
} Walk;

/* Adds an inner dim; one of extent 1 is dropped, one that continues the dim before it is joined to
   it. */
static void walk_dim(Walk *w, int64_t extent, int64_t in, int64_t out)
{
    if (extent == 1) return;
    int last = w->rank - 1;
    if (last >= 0 && w->in[last] == in * extent && w->out[last] == out * extent) {
        w->extent[last] *= extent;
        w->in[last] = in;
        w->out[last] = out;
        return;
    }
    w->extent[w->rank] = extent;
    w->in[w->rank] = in;
    w->out[w->rank++] = out;
}

static void walk_run(const Walk *w, int dim, char *out, const char *in, int size)
{
    if (w->rank == 0) {
        memcpy(out, in, (size_t)size);
        return;
    }
    if (dim == w->rank - 1) {
        move_elements(out, in, w->extent[dim], w->out[dim], w->in[dim], size);
        return;
    }
    for (int64_t i = 0; i < w->extent[dim]; i++)
        walk_run(w, dim + 1, out + i * w->out[dim] * size, in + i * w->in[dim] * size, size);
}

static void row_major(const Type *t, int64_t *stride)
{
    int64_t s = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        stride[i] = s;
        s *= t->shape[i];
    }
}

/* ---- ops ---- */

/* Of one operand: dims of the result step as they did in it, not at all where they are repeated. */
void insn_dims(Frame *f, const Insn *in)
{
    const Type *from = op_arg(in->op, 0)->type, *to = op_result(in->op, 0)->type;
    int64_t a[TKC_MAX_RANK], b[TKC_MAX_RANK];
    Walk w = {0};
    row_major(from, a);
    row_major(to, b);
    for (int i = 0; i < to->rank; i++) {
        const int was = tkc_moved_dim(in->op, i);
        const bool repeats = in->args[0]->uniform || from->shape[was] == 1;
        walk_dim(&w, to->shape[i], repeats ? 0 : a[was], b[i]);
    }
    walk_run(&w, 0, slot_data(f, in->results[0]), slot_data(f, in->args[0]), in->args[0]->size);
}

void insn_join(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    for (int k = 0; k < 2; k++)
        move_elements((char *)slot_data(f, out) + k * out->size, slot_data(f, in->args[k]),
                  out->count / 2, 2, in->args[k]->uniform ? 0 : 1, out->size);
}

void insn_split(Frame *f, const Insn *in)
{
    const Slot *from = in->args[0];
    for (int k = 0; k < 2; k++) {
        const char *data = (char *)slot_data(f, from) + (from->uniform ? 0 : k * from->size);
        move_elements(slot_data(f, in->results[k]), data, in->results[k]->count, 1,
                  from->uniform ? 0 : 2, from->size);
    }
}

void insn_cat(Frame *f, const Insn *in)
{
    const Slot *x = in->args[0], *y = in->args[1];
    char *out = slot_data(f, in->results[0]);
    slot_expand(f, x, out, x->count);
    slot_expand(f, y, out + x->count * x->size, y->count);
}

/* ---- along an axis ---- */

Axis insn_axis(const Insn *in)
{
    const Type *t = op_arg(in->op, 0)->type;
    int axis = (int)tkc_op_int(in->op, ATTR_AXIS, 0);
    Axis a = {1, t->shape[axis], 1};
    for (int i = 0; i < t->rank; i++) {
        a.outer *= i < axis ? t->shape[i] : 1;
        a.inner *= i > axis ? t->shape[i] : 1;
    }
    return a;
}

int64_t gathered_element(Axis a, int64_t count, int64_t i, int64_t k)
{
    const int64_t outer = i / (count / a.outer);
    return (outer * a.length + k) * a.inner + i % a.inner;
}

void insn_gather(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    const Axis a = insn_axis(in);
    char *result = slot_data(f, out);
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t k = slot_int(f, in->args[1], i);
        if (k < 0 || k >= a.length) {
            interp_fail(f, in, "gather: index %lld is outside the %lld elements of dimension %d",
                        (long long)k, (long long)a.length, (int)tkc_op_int(in->op, ATTR_AXIS, 0));
            return;
        }
        const char *from = slot_at(f, in->args[0], gathered_element(a, out->count, i, k));
        memcpy(result + i * out->size, from, out->size);
    }
}
