/* The lattice of axis facts: reading, weakening and joining them.

   A fact speaks of aligned groups of neighbours, so it can be read for smaller groups: 16
   neighbours that run up from a multiple of 64 are 4 groups of 4, each running up from a multiple
   of 4. `axis_divisor` is that reading. Where the contiguity is 1 every element is the first of its
   group, so the divisor holds of every element, and then of every dim: `axis_settle` shares it. */
#include "analysis/axis_rules.h"

#include "base/power.h"
#include "ir/type.h"

int axis_dims(const Type *ty)
{
    return ty->rank ? ty->rank : 1;
}

int64_t axis_extent(const Type *ty, int dim)
{
    return ty->rank ? power_of_two_for(ty->shape[dim]) : 1;
}

/* What one step of contiguity adds: pointers are divided in bytes and run in elements. */
static int64_t unit_of(const Type *ty)
{
    return type_is_pointer(ty) ? type_bytes(tkc_type_element(ty)->elem) : 1;
}

int64_t axis_divisor(const AxisFact *f, const Type *ty, int dim, int64_t c)
{
    int64_t k = f->divisibility[dim];
    return c < f->contiguity[dim] ? min_of(k, c * unit_of(ty)) : k;
}

/* ---- bounds: INT64_MIN and INT64_MAX also stand for what lies beyond them ---- */

Range axis_range(const AxisFact *f, const Type *ty, bool all_lanes)
{
    Range all = range_of_dtype(type_dtype(ty));
    int64_t lo = all_lanes ? f->lo_all : f->lo, hi = all_lanes ? f->hi_all : f->hi;
    return (Range){lo == INT64_MIN || lo < all.lo ? all.lo : lo,
                   hi == INT64_MAX || hi > all.hi ? all.hi : hi};
}

static int64_t clamp(Wide v)
{
    return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

void axis_set_range(AxisFact *f, Range r, bool all_lanes)
{
    if (all_lanes) f->lo_all = clamp(r.lo), f->hi_all = clamp(r.hi);
    else f->lo = clamp(r.lo), f->hi = clamp(r.hi);
}

AxisFact axis_unknown(const Type *ty)
{
    AxisFact f = {.rank = ty->rank,
                  .lo = INT64_MIN,
                  .hi = INT64_MAX,
                  .lo_all = INT64_MIN,
                  .hi_all = INT64_MAX};
    for (int d = 0; d < TKC_MAX_RANK; d++) f.contiguity[d] = f.divisibility[d] = f.constancy[d] = 1;
    if (type_is_int(ty)) {
        axis_set_range(&f, range_of_dtype(type_dtype(ty)), false);
        axis_set_range(&f, range_of_dtype(type_dtype(ty)), true);
    }
    return f;
}

/* ---- whole facts ---- */

/* One value on all valid lanes: constant everywhere, and its own divisor. */
static void settle_constant(AxisFact *f, const Type *ty)
{
    bool is_one = f->lo == f->hi && f->lo != INT64_MIN && f->hi != INT64_MAX;
    if (!is_one || !type_is_int(ty)) return;
    for (int d = 0; d < axis_dims(ty); d++) {
        f->contiguity[d] = 1;
        f->constancy[d] = INT64_MAX;
        f->divisibility[d] = f->lo ? min_of(f->lo & -f->lo, AXIS_MAX_DIVISOR) : AXIS_MAX_DIVISOR;
    }
}

void axis_settle(AxisFact *f, const Type *ty)
{
    settle_constant(f, ty);
    bool counts = type_is_pointer(ty) || (type_is_int(ty) && !type_is_bool(ty));
    int64_t every = 1;
    for (int d = 0; d < axis_dims(ty); d++) {
        int64_t extent = axis_extent(ty, d);
        if (!counts) f->contiguity[d] = f->divisibility[d] = 1;
        if (f->contiguity[d] > extent) {
            f->divisibility[d] = axis_divisor(f, ty, d, extent);
            f->contiguity[d] = extent;
        }
        f->constancy[d] = min_of(f->constancy[d], extent);
        if (f->contiguity[d] == 1) every = max_of(every, f->divisibility[d]);
    }
    for (int d = 0; d < axis_dims(ty); d++) f->divisibility[d] = max_of(f->divisibility[d], every);
}

AxisFact axis_join(const AxisFact *a, const AxisFact *b, const Type *ty)
{
    AxisFact f = *a;
    for (int d = 0; d < axis_dims(ty); d++) {
        int64_t c = min_of(a->contiguity[d], b->contiguity[d]);
        f.contiguity[d] = c;
        f.divisibility[d] = min_of(axis_divisor(a, ty, d, c), axis_divisor(b, ty, d, c));
        f.constancy[d] = min_of(a->constancy[d], b->constancy[d]);
    }
    f.lo = min_of(a->lo, b->lo);
    f.hi = max_of(a->hi, b->hi);
    f.lo_all = min_of(a->lo_all, b->lo_all);
    f.hi_all = max_of(a->hi_all, b->hi_all);
    return f;
}
