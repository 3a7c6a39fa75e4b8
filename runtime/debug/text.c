/* Values as text: [[0.5, 1.0, 2.0], [1.5, nan, inf]]. */
#include <math.h>
#include <string.h>

#include "debug.h"

enum { WHOLE = 8, EDGE = 3 };

bool value_number(const Frame *f, const Value *v, int64_t i, ExprNumber *out)
{
    const Slot *s = &f->launch->in->slots[v->id];
    if (s->dtype == DT_NONE) return false;
    out->is_float = tkc_dtype_info(s->dtype)->kind == DK_FLOAT;
    if (out->is_float) out->f = tkc_bits_to_double(s->dtype, (uint64_t)slot_int(f, s, i));
    else out->i = slot_int(f, s, i);
    return true;
}

static void put_float(Text *t, double x, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, x);
    text_put(t, "%s%s", text, isfinite(x) && !strpbrk(text, ".e") ? ".0" : "");
}

/* A value that is put. */
typedef struct Shown {
    Text *to;
    const Frame *f;
    const Value *v;
    bool rows; /* each row on a line of its own */
} Shown;

static void put_element(const Shown *of, int64_t i)
{
    const Slot *s = &of->f->launch->in->slots[of->v->id];
    ExprNumber n;
    if (!value_number(of->f, of->v, i, &n))
        text_put(of->to, "0x%llx", (unsigned long long)(uint64_t)slot_int(of->f, s, i));
    else if (n.is_float) put_float(of->to, n.f, tkc_dtype_info(s->dtype)->bits == 64 ? 15 : 7);
    else if (s->dtype == DT_I1) text_put(of->to, "%s", n.i ? "True" : "False");
    else if (tkc_dtype_info(s->dtype)->kind == DK_UINT)
        text_put(of->to, "%llu", (unsigned long long)n.i);
    else text_put(of->to, "%lld", (long long)n.i);
}

/* Dim d and those inside it; `at` counts what is before. */
static void put_dim(const Shown *of, int d, int64_t at)
{
    const Type *ty = of->v->type;
    if (d == ty->rank) {
        put_element(of, at);
        return;
    }
    const int64_t n = ty->shape[d];
    const bool rows = of->rows && d + 1 < ty->rank;
    text_put(of->to, "[");
    for (int64_t i = 0; i < n; i++) {
        if (n > WHOLE && i == EDGE) {
            text_put(of->to, ", ...");
            i = n - EDGE - 1;
            continue;
        }
        text_put(of->to, "%s", !i ? "" : rows ? ",\n" : ", ");
        if (i && rows) text_put(of->to, "%*s", d + 1, "");
        put_dim(of, d + 1, at * n + i);
    }
    text_put(of->to, "]");
}

void text_value(Text *t, const Frame *f, const Value *v, bool rows)
{
    put_dim(&(const Shown){t, f, v, rows}, 0, 0);
}
