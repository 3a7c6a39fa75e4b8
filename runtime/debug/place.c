/* Where ops are, as people see it: lines of their own files. What the embedded library does is part
   of the line that called it. */
#include <string.h>

#include "debug.h"

static bool is_library(const Loc *loc)
{
    return !strncmp(loc->file ? loc->file : "", "<tkc>/", 6);
}

const Loc *place_of(const Loc *loc)
{
    while (loc && is_library(loc) && loc->caller) loc = loc->caller;
    return loc;
}

bool place_same_call(const Loc *a, const Loc *b)
{
    for (; a && b && a != b; a = a->caller, b = b->caller)
        if (a->line != b->line || a->col != b->col || strcmp(a->file, b->file)) return false;
    return a == b;
}

const Loc *place_on_line(const Func *fn, const Op *op, int line)
{
    for (const Loc *l = place_of(op->loc); l; l = l->caller)
        if (l->line == line && fn->loc && !strcmp(l->file, fn->loc->file)) return l;
    return NULL;
}

int place_depth(const Loc *loc)
{
    int n = 0;
    for (; loc; loc = loc->caller) n++;
    return n;
}

/* The op's place, seen from at most so many calls deep. */
static const Loc *place_at(const Op *op, int depth)
{
    const Loc *l = place_of(op->loc);
    for (int n = place_depth(l); n > depth; n--) l = l->caller;
    return l;
}

static bool same_line(const Loc *x, const Loc *y)
{
    if (!x || !y) return x == y;
    return x->line == y->line && !strcmp(x->file, y->file) && place_same_call(x->caller, y->caller);
}

const Loc *place_begun(const Op *op, int depth)
{
    const Loc *l = place_at(op, depth);
    if (!l || (tkc_op_info(op->kind)->traits & OT_TERM)) return NULL;
    const Op *before = op->prev ? op->prev : op->region->parent;
    return before && same_line(l, place_at(before, depth)) ? NULL : l;
}

static void next_line(const Func *fn, const Region *r, int line, int *best)
{
    for (const Op *op = r->first; op; op = op->next) {
        bool is_term = tkc_op_info(op->kind)->traits & OT_TERM;
        for (const Loc *l = place_of(op->loc); l && fn->loc && !is_term; l = l->caller)
            if (l->line >= line && (!*best || l->line < *best) && !strcmp(l->file, fn->loc->file))
                *best = l->line;
        for (int i = 0; i < op->nregions; i++) next_line(fn, op->regions[i], line, best);
    }
}

int place_next_line(const Func *fn, int line)
{
    int best = 0;
    next_line(fn, fn->body, line, &best);
    return best;
}
