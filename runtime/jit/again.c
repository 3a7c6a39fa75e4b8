/* A launch of the kernel that the last one was of, which most are: whether the arguments ask for it, and their packing, in one
   pass over them. Each is compared with what the kernel's own asked of it (a slot); what a slot does not say, or only nearly,
   goes the long way (key.c, launch.c), and comes to the same. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"

static int32_t within_int32(int64_t v)
{
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

/* Lowest four bits, of which none of `zeros` is set. */
static uint16_t without(uint64_t zeros, uint16_t low)
{
    for (unsigned bits = 0; bits < 16; bits++)
        if (bits & zeros) low &= (uint16_t)~(1u << bits);
    return low;
}

enum { ALL = 0xFFFF, MULTIPLES = 1, OTHERS = ALL & ~MULTIPLES };

/* What an integer without a type must be, that its key be the same and it fit. */
static void read_integer(LaunchSlot *s, const LaunchFit *fit, const TkcArg *arg)
{
    const bool any = arg->bytes == TKC_ANY_INT, any_but_one = arg->bytes == TKC_ANY_INT_BUT_ONE;
    const bool one = arg->integer == 1 && !any, every = one || any || any_but_one;
    const int32_t to = within_int32((int64_t)((uint64_t)fit->least + fit->range));
    if (arg->type || arg->integer != (int32_t)arg->integer || fit->zeros > 15 || arg->bytes > INT32_MAX) return;
    s->hint = (int32_t)arg->bytes;
    s->from = one ? 1 : within_int32(fit->least);
    s->span = one ? 0 : (uint32_t)((int64_t)to - s->from);
    s->but = any || one ? INT32_MIN : 1;
    s->low = without(fit->zeros, every ? ALL : arg->integer % 16 ? OTHERS : MULTIPLES);
}

/* The same of a pointer whose type's text may be at one address with the text before. */
static void read_pointer(LaunchSlot *s, const LaunchFit *fit, const TkcArg *arg, bool like_last)
{
    if (fit->zeros > 15 || !like_last) return;
    s->like_last = true;
    s->low = without(fit->zeros, arg->pointer % 16 ? OTHERS : MULTIPLES);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void read_fact(LaunchSlot *s, const LaunchFit *fit, const TkcArg *arg, const TkcArg *last)
{
    if (arg->kind == TKC_ARG_INT) read_integer(s, fit, arg);
    if (arg->kind == TKC_ARG_POINTER) read_pointer(s, fit, arg, last && last->kind == arg->kind && same_text(last->type, arg->type));
}

static bool takes_integers(const ManifestParam *p)
{
    return !p->is.stars && !p->is.rank && p->element->kind != DK_FLOAT;
}

/* What pack_one would take of the argument's kind: all of it, or a part. False: it must be asked. */
static bool read_param(LaunchFit *fit, TkcArgKind kind, const ManifestParam *p)
{
    const uint64_t of = (uint64_t)p->divisibility;
    const int bits = p->element ? p->element->bits : 0;
    if (kind == TKC_ARG_POINTER ? !p->is.stars : kind != TKC_ARG_INT || !takes_integers(p)) return false;
    fit->zeros = of < 2 ? 0 : of & (of - 1) ? UINT64_MAX : of - 1;
    if (kind == TKC_ARG_POINTER) return true;
    fit->least = p->element->kind == DK_INT ? INT64_MIN >> (64 - bits) : 0;
    fit->range = p->element->kind == DK_BOOL ? 1 : p->element->kind == DK_INT ? UINT64_MAX >> (64 - bits) : (uint64_t)INT64_MAX >> (bits < 64 ? 63 - bits : 0);
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
        const int arg = c->argument[i];
        if (count_params(c, arg) == 1 && read_param(&c->fits[arg], (TkcArgKind)c->slots[arg].kind, &m->params[i]))
            c->slots[arg].param = (uint16_t)i, c->slots[arg].at = (uint16_t)m->params[i].at;
        else c->rest[c->nrest++] = i;
    }
}

bool launch_slots(Compiled *c, const TkcArg *args, size_t nargs, const Key *key)
{
    const unsigned char *at = key->data;
    const size_t none = (size_t)c->entry.manifest.nparams;
    if (none > LAUNCH_FEW) return true;
    c->slots = calloc(nargs + 1, sizeof *c->slots);
    c->fits = calloc(nargs + 1, sizeof *c->fits);
    c->rest = calloc(none + 1, sizeof *c->rest);
    if (!c->slots || !c->fits || !c->rest) return false;
    c->nslots = nargs;
    for (size_t i = 0; i < nargs; i++, at = key_next(at)) {
        c->slots[i] = (LaunchSlot){.kind = (uint8_t)args[i].kind, .param = (uint16_t)none, .at = (uint16_t)c->entry.manifest.param_bytes};
        c->fits[i] = (LaunchFit){.least = INT64_MIN, .range = UINT64_MAX, .key = (uint32_t)(at - key->data)};
    }
    place_params(c);
    for (size_t i = 0; i < nargs; i++) read_fact(&c->slots[i], &c->fits[i], &args[i], i ? &args[i - 1] : NULL);
    return true;
}

static inline bool is_quickly_seen(const LaunchSlot *s, const TkcArg *arg)
{
    const int64_t v = arg->integer;
    if ((unsigned)arg->kind != s->kind || !(s->low >> (v & 15) & 1)) return false;
    return s->like_last ? arg->type == arg[-1].type
                        : !arg->type && arg->bytes == (size_t)s->hint && (uint64_t)v - (uint64_t)s->from <= s->span && v != s->but;
}

/* Of a negative integer it matters which type it was given with. */
static bool is_seen(const LaunchFit *fit, const unsigned char *key, const TkcArg *arg, unsigned kind)
{
    const uint64_t v = (uint64_t)arg->integer;
    return (unsigned)arg->kind == kind && !(v & fit->zeros) && v - (uint64_t)fit->least <= fit->range &&
           (arg->integer >= 0 || !arg->type || arg->kind != TKC_ARG_INT) && key_has_arg(key + fit->key, arg);
}

/* Each value is written as eight bytes: where its own end, the next one's begin. */
bool launch_again(const Compiled *c, const TkcArg *args, size_t nargs, const LaunchPack *out)
{
    const LaunchSlot *s = c->slots;
    if (!s || nargs != c->nslots) return false;
    for (const TkcArg *arg = args; arg < args + nargs; arg++, s++) {
        if (!is_quickly_seen(s, arg) && !is_seen(&c->fits[arg - args], c->key, arg, s->kind)) return false;
        memcpy(out->values + s->at, &arg->pointer, sizeof arg->pointer);
        if (s->kind == TKC_ARG_POINTER) out->bytes[s->param] = arg->bytes;
    }
    return true;
}
