/* Runs a program of PTX instructions on one instance's registers. */
#include "ptx.h"

#include "tkc/edge.h"

static uint64_t special(const PtxState *s, PtxSpecial which)
{
    switch (which) {
    case PTX_CTAID_X:
    case PTX_CTAID_Y:
    case PTX_CTAID_Z: return (uint64_t)s->pid[which - PTX_CTAID_X];
    case PTX_NCTAID_X:
    case PTX_NCTAID_Y:
    case PTX_NCTAID_Z: return (uint64_t)s->grid[which - PTX_NCTAID_X];
    case PTX_CLOCK: return ++*s->readings;
    case PTX_CLOCK_HIGH: return *s->readings >> 32;
    case PTX_NSMID: return 1;
    case PTX_SMID:
    case PTX_NOT_SPECIAL: break;
    }
    return 0;
}

static uint64_t read_source(const PtxSource *s, const PtxState *state, const uint64_t *registers)
{
    uint64_t x = s->special   ? special(state, s->special)
                 : s->reg < 0 ? s->number
                              : registers[s->reg];
    if (s->negated) x = !x;
    return ptx_low(x, s->bits);
}

static void write_dest(const PtxDest *d, uint64_t x, uint64_t *registers)
{
    if (d->reg < 0) return;
    if (d->sign_from) x = (uint64_t)ptx_signed(x, d->sign_from);
    registers[d->reg] = ptx_low(x, d->bits);
}

/* Both lanes, one after the other, as instructions on their type. */
static void by_lane(PtxCall *c)
{
    const int bits = tkc_dtype_info(c->type->dtype)->bits;
    const PtxType lane = {c->type->name, PTX_BITS, (uint8_t)bits, 1, c->type->dtype};
    PtxCall one = *c;
    one.type = &lane;
    c->d[0] = 0;
    for (int i = 0; i < c->type->lanes; i++) {
        one.n = c->n; /* an evaluator may have more for its own use */
        for (int k = 0; k < c->n; k++) one.a[k] = ptx_low(c->a[k] >> (bits * i), bits);
        c->insn->eval(&one);
        c->d[0] |= one.d[0] << (bits * i);
    }
}

void ptx_evaluate(PtxCall *c)
{
    if (c->insn->by_lane) by_lane(c);
    else c->insn->eval(c);
}

void ptx_run(const PtxProgram *p, const PtxState *state, uint64_t *registers)
{
    bool carry = false;
    for (const PtxInsn *in = p->insns, *end = in + p->ninsns; in < end; in++) {
        if (in->guarded && (registers[in->guard] != 0) == in->guard_not) continue;
        PtxCall c = {in, in->type, in->second, in->nsources, {0}, {0}, &carry};
        for (int i = 0; i < in->nsources; i++)
            c.a[i] = read_source(&in->sources[i], state, registers);
        ptx_evaluate(&c);
        for (int i = 0; i < in->ndests; i++) write_dest(&in->dests[i], c.d[i], registers);
    }
}
