/* dot: acc + a @ b. Operands become fp32 (fp64, int32) once; a row of the result is then built from
   rows of b, sums in order of k. Products are rounded before they are added. precision "tf32"
   leaves fp32 operands 10 bits of mantissa; "tf32x3" is as good as fp32. "bf16x3" and "bf16x6"
   split them into bf16 parts, each the rounded rest of the ones before, and add the products of
   parts in fp32, small ones first. */
#include <string.h>

#include "interp.h"
#include "math.h"
#include "product.h"

typedef enum Work { WORK_F32, WORK_F64, WORK_INT } Work;

/* Products of parts that make one product; 0: operands are not split. */
static int split_count(const Insn *in)
{
    const char *precision = tkc_op_str(in->op, ATTR_PRECISION, "ieee");
    if (in->args[0]->dtype != DT_F32) return 0;
    return !strcmp(precision, "bf16x3") ? 3 : !strcmp(precision, "bf16x6") ? 6 : 0;
}

/* Matrix instructions ignore the last 13 bits. */
static void cut_tf32(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = f32_of(f32_bits(x[i]) & ~0x1fffu);
}

/* ---- bf16x3, bf16x6 ---- */

enum { PARTS = 3 };

static float round_bf16(float x)
{
    uint32_t b = f32_bits(x);
    return x != x ? x : f32_of((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000u);
}

/* x is the sum of its parts, but for what is left of the last. */
static void split_bf16(float *const part[PARTS], const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float rest = x[i];
        for (int k = 0; k < PARTS; k++) {
            part[k][i] = round_bf16(rest);
            rest -= part[k][i];
        }
    }
}

/* Which parts of a and b are multiplied, in order; bf16x3 takes the last three pairs. */
static const struct {
    int a, b;
} pairs[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
enum { PAIRS = 6 };

/* What an infinite operand leaves in small parts counts as nothing. */
static void nan_to_zero(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = x[i] == x[i] ? x[i] : 0;
}

static int64_t split_room(int64_t m, int64_t n, int64_t k)
{
    return (PARTS * (m * k + k * n) + m * n) * (int64_t)sizeof(float);
}

/* c += a b, in room for split_room. */
static void product_split(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k,
                          int count, float *room)
{
    float *x[PARTS], *y[PARTS], *sum = room + PARTS * (m * k + k * n);
    for (int i = 0; i < PARTS; i++) {
        x[i] = room + i * m * k;
        y[i] = room + PARTS * m * k + i * k * n;
    }
    split_bf16(x, a, m * k);
    split_bf16(y, b, k * n);
    memset(sum, 0, (size_t)(m * n) * sizeof *sum);
    for (int i = PAIRS - count; i < PAIRS; i++) {
        if (i == PAIRS - 1) nan_to_zero(sum, m * n);
        product_f32(sum, x[pairs[i].a], y[pairs[i].b], m, n, k);
    }
    for (int64_t i = 0; i < m * n; i++) c[i] += sum[i];
}

/* ---- operands ---- */

static void widen(Work work, DType dt, void *to, const void *from, int64_t n)
{
    if (work == WORK_INT)
        for (int64_t i = 0; i < n; i++)
            ((int32_t *)to)[i] = dt == DT_I32  ? ((const int32_t *)from)[i]
                                 : dt == DT_U8 ? ((const uint8_t *)from)[i]
                                               : ((const int8_t *)from)[i];
    else if (dtype_is_narrow(dt)) narrow_floats[dt].up(to, from, n);
    else memcpy(to, from, (size_t)n * tkc_dtype_info(dt)->bytes);
}

/* Expands, widens and cuts a slot into `to`. */
static void read_operand(Frame *f, const Insn *in, Work work, const Slot *s, char *to, char *room,
                         bool is_input)
{
    widen(work, s->dtype, to, slot_elements(f, s, room), s->count);
    if (is_input && s->dtype == DT_F32 &&
        !strcmp(tkc_op_str(in->op, ATTR_PRECISION, "ieee"), "tf32"))
        cut_tf32((float *)to, s->count);
}

static void run_dot(Frame *f, const Insn *in)
{
    const Slot *a = in->args[0], *b = in->args[1], *acc = in->args[2], *out = in->results[0];
    const Type *t = op_arg(in->op, 0)->type, *r = op_result(in->op, 0)->type;
    Work work = (Work)in->n[0];
    int64_t size = work == WORK_F64 ? 8 : 4, m = t->shape[t->rank - 2], k = t->shape[t->rank - 1],
            n = r->shape[r->rank - 1];
    int64_t most = a->count > b->count ? a->count : b->count;
    most = acc->count > most ? acc->count : most;
    int64_t bytes = (a->count + b->count + acc->count + most) * size;
    int parts = (int)in->n[1];
    char *room = interp_scratch(f, (size_t)(bytes + (parts ? split_room(m, n, k) : 0)));
    if (!room) return;
    char *x = room, *y = x + a->count * size, *z = y + b->count * size,
         *spare = z + acc->count * size;
    read_operand(f, in, work, a, x, spare, true);
    read_operand(f, in, work, b, y, spare, true);
    read_operand(f, in, work, acc, z, spare, false);
    for (int64_t i = 0; i < acc->count / (m * n); i++) {
        char *c = z + i * m * n * size, *p = x + i * m * k * size, *q = y + i * k * n * size;
        if (parts)
            product_split((float *)c, (float *)p, (float *)q, m, n, k, parts,
                          (float *)(room + bytes));
        else if (work == WORK_F64) product_f64((double *)c, (double *)p, (double *)q, m, n, k);
        else if (work == WORK_F32) product_f32((float *)c, (float *)p, (float *)q, m, n, k);
        else product_u32((uint32_t *)c, (uint32_t *)p, (uint32_t *)q, m, n, k);
    }
    if (dtype_is_narrow(out->dtype))
        narrow_floats[out->dtype].down(slot_data(f, out), (float *)z, out->count);
    else memcpy(slot_data(f, out), z, (size_t)(out->count * size));
}

static bool fits(const Slot *s, Work work, bool is_input)
{
    switch (work) {
    case WORK_F64: return s->dtype == DT_F64;
    case WORK_F32: return s->dtype == DT_F32 || dtype_is_narrow(s->dtype);
    case WORK_INT:
        return s->dtype == DT_I32 || (is_input && (s->dtype == DT_I8 || s->dtype == DT_U8));
    }
    return false;
}

InsnFn dot_fn(Insn *in)
{
    DType dt = in->args[0]->dtype;
    Work work = dt == DT_F64                                            ? WORK_F64
                : dt != DT_NONE && tkc_dtype_info(dt)->kind == DK_FLOAT ? WORK_F32
                                                                        : WORK_INT;
    in->n[0] = work;
    in->n[1] = split_count(in);
    bool ok = fits(in->args[0], work, true) && fits(in->args[1], work, true) &&
              fits(in->args[2], work, false);
    return ok ? run_dot : NULL;
}
