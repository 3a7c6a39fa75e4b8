/* Values as text: [[0.5, 1.0, 2.0], [1.5, nan, inf]]. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debug.h"

enum { WHOLE = 8, EDGE = 3 };

void text_put(DebugText *t, const char *fmt, ...)
{
    va_list ap;
    if (t->len + 1 >= t->size) return;
    va_start(ap, fmt);
    int n = vsnprintf(t->data + t->len, t->size - t->len, fmt, ap);
    va_end(ap);
    t->len += n > 0 ? (size_t)n : 0;
    if (t->len >= t->size) t->len = t->size - 1;
}

bool value_number(const Frame *f, const Value *v, int64_t i, ExprNumber *out)
{
    const Slot *s = &f->launch->in->slots[v->id];
    if (s->dtype == DT_NONE) return false;
    out->is_float = tkc_dtype_info(s->dtype)->kind == DK_FLOAT;
    if (out->is_float) out->f = tkc_bits_to_double(s->dtype, (uint64_t)slot_int(f, s, i));
    else out->i = slot_int(f, s, i);
    return true;
}

static void put_float(DebugText *t, double x, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, x);
    text_put(t, "%s%s", text, isfinite(x) && !strpbrk(text, ".e") ? ".0" : "");
}

static void put_element(DebugText *t, const Frame *f, const Value *v, int64_t i)
{
    const Slot *s = &f->launch->in->slots[v->id];
    ExprNumber n;
    if (!value_number(f, v, i, &n))
        text_put(t, "0x%llx", (unsigned long long)(uint64_t)slot_int(f, s, i));
    else if (n.is_float) put_float(t, n.f, tkc_dtype_info(s->dtype)->bits == 64 ? 15 : 7);
    else if (s->dtype == DT_I1) text_put(t, "%s", n.i ? "True" : "False");
    else if (tkc_dtype_info(s->dtype)->kind == DK_UINT)
        text_put(t, "%llu", (unsigned long long)n.i);
    else text_put(t, "%lld", (long long)n.i);
}

/* Dim d and those inside it; `at` counts what is before. */
static void put_dim(DebugText *t, const Frame *f, const Value *v, int d, int64_t at)
{
    const Type *ty = v->type;
    if (d == ty->rank) {
        put_element(t, f, v, at);
        return;
    }
    int64_t n = ty->shape[d];
    text_put(t, "[");
    for (int64_t i = 0; i < n; i++) {
        if (n > WHOLE && i == EDGE) {
            text_put(t, ", ...");
            i = n - EDGE - 1;
            continue;
        }
        text_put(t, "%s", !i ? "" : t->rows && d + 1 < ty->rank ? ",\n" : ", ");
        if (i && t->rows && d + 1 < ty->rank) text_put(t, "%*s", d + 1, "");
        put_dim(t, f, v, d + 1, at * n + i);
    }
    text_put(t, "]");
}

void text_value(DebugText *t, const Frame *f, const Value *v)
{
    put_dim(t, f, v, 0, 0);
}
