/* A launch of the kernel that the last one was of, which most are: whether the arguments ask for it, and their packing, in one
   pass over them. Each is compared with what the kernel's own asked of it (a slot); what a slot does not say, or only nearly,
   goes the long way (key.c, launch.c), and comes to the same. */
#include <stdlib.h>

#include "launch.h"

/* What an integer without a type must be, that its key be the same. `low` 0: its key must be looked at. */
static void read_fact(LaunchSlot *s, const TkcArg *arg)
{
    s->but = INT64_MIN;
    if (arg->kind != TKC_ARG_INT || arg->type || arg->integer != (int32_t)arg->integer) return;
    const bool any = arg->bytes == TKC_ANY_INT, any_but_one = arg->bytes == TKC_ANY_INT_BUT_ONE;
    s->hint = arg->bytes;
    if (any) s->low = 0xFFFF;
    else if (arg->integer == 1) s->low = 1 << 1, s->least = 1, s->range = 0;
    else if (any_but_one) s->low = 0xFFFF, s->but = 1;
    else s->low = arg->integer % 16 ? 0xFFFE : 1, s->but = 1;
}

static bool takes_integers(const ManifestParam *p)
{
    return !p->is.stars && !p->is.rank && p->element->kind != DK_FLOAT;
}

/* What pack_one would take of the argument's kind: all of it, or a part. False: it must be asked. */
static bool read_param(LaunchSlot *s, const ManifestParam *p)
{
    const uint64_t of = (uint64_t)p->divisibility;
    const int bits = p->element ? p->element->bits : 0;
    if (s->kind == TKC_ARG_POINTER ? !p->is.stars : s->kind != TKC_ARG_INT || !takes_integers(p)) return false;
    s->zeros = of < 2 ? 0 : of & (of - 1) ? UINT64_MAX : of - 1;
    if (s->kind == TKC_ARG_POINTER) return true;
    s->least = p->element->kind == DK_INT ? INT64_MIN >> (64 - bits) : 0;
    s->range = p->element->kind == DK_BOOL ? 1 : p->element->kind == DK_INT ? UINT64_MAX >> (64 - bits) : (uint64_t)INT64_MAX >> (bits < 64 ? 63 - bits : 0);
    return true;
}

static int count_params(const Compiled *c, int arg)
{
    int n = 0;
    for (int i = 0; i < c->entry.manifest.nparams; i++) n += c->argument[i] == arg;
    return n;
}

/* Parameters to their arguments' slots; those that share an argument, or must be asked, to the rest. */
static void place_params(Compiled *c)
{
    const Manifest *m = &c->entry.manifest;
    for (int i = 0; i < m->nparams; i++) {
        LaunchSlot *s = &c->slots[c->argument[i]];
        if (count_params(c, c->argument[i]) == 1 && read_param(s, &m->params[i])) s->param = i;
        else c->rest[c->nrest++] = i;
    }
}

bool launch_slots(Compiled *c, const TkcArg *args, size_t nargs, const Key *key)
{
    const unsigned char *at = key->data;
    const int none = (int)c->entry.manifest.nparams;
    if (none > LAUNCH_FEW) return true;
    c->slots = calloc(nargs + 1, sizeof *c->slots);
    c->rest = calloc((size_t)none + 1, sizeof *c->rest);
    if (!c->slots || !c->rest) return false;
    c->nslots = nargs;
    for (size_t i = 0; i < nargs; i++, at = key_next(at))
        c->slots[i] = (LaunchSlot){.kind = args[i].kind, .param = none, .least = INT64_MIN, .range = UINT64_MAX, .key = (uint32_t)(at - key->data)};
    place_params(c);
    for (size_t i = 0; i < nargs; i++) read_fact(&c->slots[i], &args[i]);
    return true;
}

/* Of a negative integer it matters which type it was given with. */
static inline bool fits(const LaunchSlot *s, const TkcArg *arg)
{
    return !((uint64_t)arg->integer & s->zeros) && (uint64_t)arg->integer - (uint64_t)s->least <= s->range &&
           (arg->integer >= 0 || !arg->type || s->kind != TKC_ARG_INT);
}

static inline bool is_as_quickly_seen(const LaunchSlot *s, const TkcArg *arg)
{
    const int64_t v = arg->integer;
    return !arg->type && arg->bytes == s->hint && s->low >> (v & 15) & 1 && v != s->but && v == (int32_t)v;
}

bool launch_again(const Compiled *c, const TkcArg *args, size_t nargs, LaunchArg *out)
{
    if (!c->slots || nargs != c->nslots) return false;
    for (size_t i = 0; i < nargs; i++) {
        const LaunchSlot *s = &c->slots[i];
        const TkcArg *arg = &args[i];
        if (arg->kind != s->kind || !fits(s, arg)) return false;
        if (!is_as_quickly_seen(s, arg) && !key_has_arg(c->key + s->key, arg)) return false;
        out[s->param] = (LaunchArg){arg->pointer, s->kind == TKC_ARG_POINTER ? arg->bytes : 0};
    }
    return true;
}
