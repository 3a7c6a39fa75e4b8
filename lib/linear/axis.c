/* Where the bits of one dim's coordinate are held.

   A bit is held by registers when some combination of their vectors is the unit vector of the bit:
   then it is flipped by going to another register of the same thread. Else one lane or warp bit
   must have exactly that vector. What is left of the layout must not touch the dim, or a thread's
   coordinate would not be what its bits say one by one. */
#include "linear/layout.h"

static bool hold_in_registers(const Layout *l, uint32_t unit, uint32_t *bits)
{
    const int reg = layout_find_register(l, unit);
    if (reg >= 0) *bits = (uint32_t)reg;
    return reg >= 0;
}

static bool hold_in_threads(const Layout *l, uint32_t unit, LayoutDim *d, uint32_t *bits)
{
    for (*d = DIM_LANE; *d <= DIM_WARP; (*d)++) {
        for (int i = 0; i < l->nbits[*d]; i++) {
            if (l->basis[*d][i] != unit) continue;
            *bits = UINT32_C(1) << i;
            return true;
        }
    }
    return false;
}

/* Registers hold no part of the dim but the given one; a bit of a lane or warp holds none, but
   where it is the one in `chosen`. */
static bool rest_is_clear(const Layout *l, uint32_t dim_mask, uint32_t registers,
                          const uint32_t *chosen)
{
    for (LayoutDim d = DIM_REGISTER; d <= DIM_WARP; d++) {
        for (int i = 0; i < l->nbits[d]; i++) {
            const bool is_chosen = chosen[d] >> i & 1;
            const uint32_t touches = l->basis[d][i] & dim_mask;
            if (d == DIM_REGISTER ? touches & ~registers : touches && !is_chosen) return false;
        }
    }
    return true;
}

bool layout_axis(const Layout *l, int dim, LayoutAxis *out)
{
    const int shift = layout_dim_shift(l, dim);
    uint32_t chosen[DIM_COUNT] = {0};
    LayoutAxis *a = out;
    *a = (LayoutAxis){.n = l->dim_log2[dim]};
    uint32_t *const held[] = {&a->in_registers, &a->in_lanes, &a->in_warps};
    for (int i = 0; i < a->n; i++) {
        const uint32_t unit = UINT32_C(1) << (shift + i);
        a->held_by[i] = DIM_REGISTER;
        if (!hold_in_registers(l, unit, &a->bits[i]) &&
            !hold_in_threads(l, unit, &a->held_by[i], &a->bits[i]))
            return false;
        chosen[a->held_by[i]] |= a->bits[i];
        *held[a->held_by[i]] |= UINT32_C(1) << i;
    }
    return rest_is_clear(l, layout_dim_mask(l, dim), a->in_registers << shift, chosen);
}

uint32_t layout_axis_slots(const LayoutAxis *a)
{
    const uint32_t all = (UINT32_C(1) << a->n) - 1;
    return all & ~((a->in_warps & -a->in_warps) - 1);
}

/* The first lane that holds nothing, or -1. */
static int free_lane(const LayoutSpec *s)
{
    for (int i = 0; i < s->nbits[DIM_LANE]; i++) {
        if (!s->basis[DIM_LANE][i]) return i;
    }
    return -1;
}

/* The layout without the dim, which has room for `bits` in its place. */
static void make_room(LayoutTable *t, const Layout *l, int dim, int bits, LayoutSpec *out)
{
    *out = (LayoutSpec){.rank = 1, .dim_log2 = {(uint8_t)bits}};
    if (l->rank > 1) {
        layout_spec_of(layout_insert(t, layout_slice(t, l, dim), dim, bits), out);
        out->nbits[DIM_REGISTER] -= (uint8_t)bits;
        return;
    }
    out->nbits[DIM_LANE] = l->nbits[DIM_LANE];
    out->nbits[DIM_WARP] = l->nbits[DIM_WARP];
}

bool layout_scans(const Layout *l, int dim, LayoutAxis *out)
{
    return layout_axis(l, dim, out) && !(layout_axis_slots(out) & out->in_lanes);
}

const Layout *layout_slots(LayoutTable *t, const Layout *l, int dim, const LayoutAxis *a)
{
    const uint32_t slots = layout_axis_slots(a);
    const int shift = layout_dim_shift(l, dim), low = a->n - __builtin_popcount(slots);
    LayoutSpec s;
    make_room(t, l, dim, a->n - low, &s);
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t left = turn ? slots & ~a->in_warps : a->in_warps; left; left &= left - 1) {
            const uint32_t unit = UINT32_C(1) << (shift + __builtin_ctz(left) - low);
            const int lane = free_lane(&s);
            if (lane >= 0) s.basis[DIM_LANE][lane] = unit;
            else s.basis[DIM_REGISTER][s.nbits[DIM_REGISTER]++] = unit;
        }
    }
    return layout_make(t, &s);
}

bool layout_axis_in_warp(const Layout *l, int dim)
{
    LayoutAxis axis;
    return layout_axis(l, dim, &axis) && !axis.in_warps;
}

/* The last register vector that has no part of the dim, or -1. */
static int register_without(const LayoutSpec *s, uint32_t dim_mask)
{
    int i = s->nbits[DIM_REGISTER] - 1;
    while (i >= 0 && (!s->basis[DIM_REGISTER][i] || s->basis[DIM_REGISTER][i] & dim_mask)) i--;
    return i;
}

const Layout *layout_keep_in_warp(LayoutTable *t, const Layout *l, int dim)
{
    const uint32_t mask = layout_dim_mask(l, dim);
    LayoutSpec s;
    layout_spec_of(l, &s);
    for (int i = 0; i < s.nbits[DIM_WARP]; i++) {
        const uint32_t v = s.basis[DIM_WARP][i];
        if (!(v & mask)) continue;
        const int given = register_without(&s, mask),
                  at = given >= 0 ? given : s.nbits[DIM_REGISTER]++;
        s.basis[DIM_WARP][i] = given >= 0 ? s.basis[DIM_REGISTER][given] : 0;
        s.basis[DIM_REGISTER][at] = v;
    }
    return layout_make(t, &s);
}
