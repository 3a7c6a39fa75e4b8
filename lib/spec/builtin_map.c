/* tl.map_elementwise. The function is written for scalars and works on blocks as it is: operators
   and most operations are elementwise, and an `if` on elements selects (branch.c).

   With pack=P one call takes P neighbours of each operand, (x0, x1, y0, y1) of two operands with
   P = 2, and gives P of each result. An operand is then P blocks, which hold every P-th of its
   elements, from the first, the second and so on; the results are put together the same way. */
#include "spec/argument.h"

enum { MAX_PACK = 16, MAX_VALUES = 64 }; /* as messages say */

typedef struct Mapped {
    Spec *sp;
    const Call *c;
    int pack;
    const Type *whole; /* an operand as the user sees it */
    const Type *flat;  /* with the last extent a multiple of pack: `whole`, or in one dimension */
} Mapped;

/* Every P-th element of v, P a power of two: those at even places hold the first, third, … of P. */
static void take_apart(Mapped *m, Value *v, int pack, Value **out)
{
    if (pack == 1) {
        out[0] = v;
        return;
    }
    Value *halves[2], *parts[MAX_PACK];
    Shape shape = shape_of(v->type);
    shape.dims[shape.rank - 1] /= 2;
    shape.dims[shape.rank++] = 2;
    v = build_reshape(&m->sp->b, v, shape.rank, shape.dims, false);
    build_split(&m->sp->b, v, &halves[0], &halves[1]);
    for (int k = 0; k < 2; k++) {
        take_apart(m, halves[k], pack / 2, parts);
        for (int i = 0; i < pack / 2; i++) out[2 * i + k] = parts[i];
    }
}

static Value *put_together(Mapped *m, Value *const *parts, int pack)
{
    if (pack == 1) return parts[0];
    Value *halves[2], *every_other[MAX_PACK];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < pack / 2; i++) every_other[i] = parts[2 * i + k];
        halves[k] = put_together(m, every_other, pack / 2);
    }
    return shape_zip(m->sp, build_join(&m->sp->b, halves[0], halves[1]));
}

/* Chooses the shape in which neighbours are taken; false after an error. */
static bool choose_shape(Mapped *m, const Type *t)
{
    Shape shape = shape_of(t), one = {.rank = 1, .dims = {(int32_t)tkc_type_count(t)}};
    bool along_last = shape.rank > 0 && shape.rank < TKC_MAX_RANK &&
                      shape.dims[shape.rank - 1] % m->pack == 0;
    m->whole = t;
    if (!along_last) shape = one;
    if (shape.dims[shape.rank - 1] % m->pack)
        return arg_fail(m->sp, m->c, 2,
                        arena_printf(m->sp->arena, "a divisor of the %lld elements",
                                     (long long)tkc_type_count(t)));
    m->flat = shape_type(m->sp, tkc_type_element(t), &shape);
    return true;
}

/* One result out of `pack` values of one type, in the shape of the operands; NULL after an error. */
static Value *gather(Mapped *m, const SpecValue *items)
{
    Value *parts[MAX_PACK];
    Shape part = shape_of(m->flat);
    part.dims[part.rank - 1] /= m->pack;
    for (int i = 0; i < m->pack; i++) {
        parts[i] = op_to_value(m->sp, items[i], m->c->at);
        if (parts[i]) parts[i] = broadcast_value(m->sp, parts[i], &part, m->c->at);
        if (!parts[i]) return NULL;
        if (parts[i]->type == parts[0]->type) continue;
        return spec_null(m->sp, m->c->at,
                         "the %d elements of a result must have one type, found %s and %s", m->pack,
                         type_text(m->sp->arena, tkc_type_element(parts[0]->type)),
                         type_text(m->sp->arena, tkc_type_element(parts[i]->type)));
    }
    Value *v = put_together(m, parts, m->pack);
    return build_reshape(&m->sp->b, v, m->whole->rank, m->whole->shape, false);
}

static SpecValue results(Mapped *m, SpecValue v)
{
    Value *out[MAX_VALUES];
    SpecValue *items;
    int n = sv_items(&v, &items);
    if (n == 0 || n % m->pack || n / m->pack > MAX_VALUES)
        return spec_error(m->sp, m->c->at,
                          "with pack=%d the function gives %d values for each result, found %d",
                          m->pack, m->pack, n);
    for (int i = 0; i < n / m->pack; i++) {
        out[i] = gather(m, items + i * m->pack);
        if (!out[i]) return sv_error();
    }
    return arg_results(m->sp, true, n / m->pack, out);
}

static SpecValue call(Mapped *m, int n, Value *const *args)
{
    SpecValue *values = arena_array(m->sp->arena, SpecValue, n * m->pack);
    Value *parts[MAX_PACK];
    for (int i = 0; i < n; i++) {
        Value *v = args[i];
        if (m->pack > 1) v = build_reshape(&m->sp->b, v, m->flat->rank, m->flat->shape, false);
        take_apart(m, v, m->pack, parts);
        for (int k = 0; k < m->pack; k++) values[i * m->pack + k] = sv_value(parts[k]);
    }
    m->sp->elementwise++;
    SpecValue v = spec_call(m->sp, m->c->args[0], n * m->pack, values, m->c->at);
    m->sp->elementwise--;
    return v;
}

SpecValue builtin_map_elementwise(Spec *sp, const Call *c)
{
    const __int128 pack = c->args[2].i;
    Value *args[MAX_VALUES];
    if (pack < 1 || pack > MAX_PACK || (pack & (pack - 1)))
        return arg_refuse(sp, c, 2, "1, 2, 4, 8 or 16");
    if (c->nrest < 1 || c->nrest > MAX_VALUES)
        return spec_error(sp, c->at, "tl.map_elementwise needs blocks");
    if (!arg_broadcast(sp, c, 0, c->nrest, c->rest, args)) return sv_error();
    Mapped m = {.sp = sp, .c = c, .pack = (int)pack};
    if (pack > 1 && !choose_shape(&m, args[0]->type)) return sv_error();
    SpecValue v = call(&m, c->nrest, args);
    return pack == 1 || sv_is_error(v) ? v : results(&m, v);
}
