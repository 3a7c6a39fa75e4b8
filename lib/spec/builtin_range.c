/* range, tl.range and tl.static_range. */
#include <string.h>

#include "spec/advice.h"
#include "spec/argument.h"

static bool bound(Spec *sp, const Call *c, int i, const char *what)
{
    SpecValue v = c->args[i];
    if (v.kind == SV_INT || v.kind == SV_BOOL) return true;
    if (v.kind == SV_VALUE && type_is_scalar(v.v->type) && type_is_int(v.v->type)) return true;
    if (sv_is_error(v)) return false;
    spec_error(sp, c->spans[i], "the %s of %s must be an integer, found %s", what,
               arg_operation(sp, c), spec_describe(sp, v));
    advise_float(sp, v, c->spans[i]);
    return false;
}

/* Bounds as Python reads them: (upper), (lower, upper), (lower, upper, step). */
SpecValue builtin_range(Spec *sp, const Call *c)
{
    SpecRange *r = arena_new(sp->arena, SpecRange);
    bool two = arg_is_given(c, 1);
    *r = (SpecRange){.is_static = strcmp(c->builtin->name, "static_range") == 0, .lower = sv_int(0), .step = sv_int(1)};
    if (!bound(sp, c, 0, two ? "start" : "end") || (two && !bound(sp, c, 1, "end")) ||
        (arg_is_given(c, 2) && !bound(sp, c, 2, "step")))
        return sv_error();
    r->upper = c->args[two ? 1 : 0];
    if (two) r->lower = c->args[0];
    if (arg_is_given(c, 2)) r->step = c->args[2];
    return (SpecValue){.kind = SV_RANGE, .range = r};
}

enum { MAX_OPTION = 1 << 20 };

/* A count of at least `least`, when it is given. */
static bool check_option(Spec *sp, const Call *c, int i, int64_t least)
{
    const __int128 n = c->args[i].i;
    if (!arg_is_given(c, i) || (n >= least && n <= MAX_OPTION)) return true;
    return arg_fail(sp, c, i, arena_printf(sp->arena, "%d to %d", (int)least, MAX_OPTION));
}

/* What a loop may be told is checked; only the stages, the turns at once and disable_licm, the last of it,
   are asked for later. */
SpecValue builtin_tl_range(Spec *sp, const Call *c)
{
    SpecValue r = builtin_range(sp, c);
    if (sv_is_error(r) || !check_option(sp, c, 3, 0) || !check_option(sp, c, 4, 1))
        return sv_error();
    r.range->stages = (int64_t)c->args[3].i;
    r.range->unroll = (int64_t)c->args[4].i;
    r.range->no_licm = c->args[8].b;
    return r;
}
