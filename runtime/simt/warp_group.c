/* wgmma.mma_async and what goes with it. A product is computed when it is issued, by each warp for
   its own 16 rows; until wgmma.wait_group has waited for its group, the registers of d and a belong
   to it, and what it reads of shared memory it reads at any time: for the latter an agent of the
   group stands in (shared.h). An instruction that touches such a register is told.

   Groups of a warp are numbered from 1 in the order of their commits; products that are not
   committed yet are of the one behind. Copies by `mov` of what is in flight are in flight too: they
   are what a compiler's own names for one register look like. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "shared.h"
#include "warp.h"
#include "wgmma.h"

typedef enum Part { PART_D, PART_A, PART_COPY } Part;

/* What a register was last given to. */
typedef struct Owner {
    uint32_t group; /* 0: to none */
    Part part;
    const SimtInsn *product;
} Owner;

/* A group in flight and who reads shared memory for it. */
typedef struct Flight {
    uint32_t group;
    int agent;
} Flight;

struct WarpGroup {
    uint32_t committed, done; /* numbers of groups */
    Flight *flights;
    int nflights;
    Owner owner[]; /* of each register */
};

void warp_group_reset(Warp *w)
{
    struct WarpGroup *g = w->group;
    w->in_flight = false;
    if (!g) return;
    g->committed = g->done = 0;
    g->nflights = 0;
    memset(g->owner, 0, w->func->nregs * sizeof *g->owner);
}

void warp_group_free(Warp *w)
{
    if (w->group) free(w->group->flights);
    free(w->group);
    w->group = NULL;
}

static bool out_of_memory(Warp *w, const SimtInsn *in)
{
    return simt_refuse(w, in, -1, SIMT_OUT_OF_MEMORY, "out of memory");
}

/* ---- who owns registers ---- */

/* NULL: nothing in flight does. */
static Owner *owner_of(const Warp *w, SimtOperand o)
{
    if (o.number || !o.bits) return NULL;
    Owner *owner = &w->group->owner[o.reg];
    return owner->group > w->group->done ? owner : NULL;
}

static bool tell_owned(Warp *w, const SimtInsn *in, const Owner *owner, const char *does)
{
    char place[512];
    simt_describe(w->func, owner->product, place, sizeof place);
    return simt_refuse(
        w, in, -1, SIMT_LAUNCH_FAILED,
        "%s a register that holds %s a product in flight, with no wgmma.wait_group for it in "
        "between%s\nand then here:",
        does, owner->part == PART_A ? "matrix a of" : "the result of", place);
}

static bool is_copy(const SimtInsn *in)
{
    return in->name_len > 4 && !memcmp(in->name, "mov.", 4);
}

static bool may_write(Warp *w, const SimtInsn *in, SimtOperand d)
{
    Owner *owner = owner_of(w, d);
    if (owner && owner->part != PART_COPY) return tell_owned(w, in, owner, "writes");
    if (owner) owner->group = 0;
    return true;
}

/* From a register in flight to another, or between one and its halves. */
static bool copy(Warp *w, const SimtInsn *in, const Owner *from)
{
    const Owner what = *from;
    for (int i = 0; i < in->nd; i++) {
        Owner *to = in->d[i].bits ? &w->group->owner[in->d[i].reg] : NULL;
        if (what.part == PART_A || !to) return tell_owned(w, in, from, "reads");
        if (to == from || (owner_of(w, in->d[i]) && to->part != PART_COPY)) continue;
        *to = what;
        to->part = PART_COPY;
    }
    return true;
}

static SimtWhole whole_product;

bool warp_group_allows(Warp *w, const SimtInsn *in)
{
    if (in->whole == whole_product) return true; /* looks itself */
    for (int i = 0; i < in->ns; i++) {
        const Owner *owner = owner_of(w, in->s[i]);
        if (owner && is_copy(in)) return copy(w, in, owner);
        if (owner) return tell_owned(w, in, owner, "reads");
    }
    for (int i = 0; i < in->nd; i++)
        if (!may_write(w, in, in->d[i])) return false;
    return true;
}

/* ---- products ---- */

static const WgmmaForm *form_of(const SimtInsn *in)
{
    return in->form;
}

/* Products of one shape may follow each other in the same registers of d, and share those of a. */
static bool may_follow(Warp *w, const SimtInsn *in)
{
    const WgmmaSpec *mine = &form_of(in)->spec;
    for (int i = 0; i < in->nd; i++) {
        const Owner *owner = owner_of(w, in->d[i]);
        if (!owner) continue;
        const WgmmaSpec *other = &form_of(owner->product)->spec;
        if (owner->part == PART_A || mine->n != other->n || mine->d != other->d)
            return tell_owned(w, in, owner, "accumulates in");
    }
    for (int i = 0; mine->a_in_registers && i < in->a; i++) {
        const Owner *owner = owner_of(w, in->s[i]);
        if (owner && owner->part != PART_A) return tell_owned(w, in, owner, "reads");
    }
    return true;
}

static bool begin(Warp *w, const SimtInsn *in)
{
    if (w->group) return true;
    w->group = calloc(1, sizeof *w->group + w->func->nregs * sizeof *w->group->owner);
    return w->group || out_of_memory(w, in);
}

/* The flight of the group that is not committed yet. NULL: told. */
static Flight *board(Warp *w, const SimtInsn *in)
{
    struct WarpGroup *g = w->group;
    Flight *last = g->nflights ? &g->flights[g->nflights - 1] : NULL;
    if (last && last->group == g->committed + 1) {
        order_fork_into(shared_order(w), last->agent, w->index, SIMT_ALL_LANES);
        return last;
    }
    if (!grow_array(&g->flights, g->nflights)) return out_of_memory(w, in), NULL;
    last = &g->flights[g->nflights++];
    *last = (Flight){g->committed + 1,
                     order_fork(shared_order(w), w->index, SIMT_ALL_LANES, true, true)};
    return last;
}

static void own_registers(Warp *w, const SimtInsn *in)
{
    struct WarpGroup *g = w->group;
    for (int i = 0; i < in->nd; i++) g->owner[in->d[i].reg] = (Owner){g->committed + 1, PART_D, in};
    for (int i = 0; form_of(in)->spec.a_in_registers && i < in->a; i++)
        if (!in->s[i].number) g->owner[in->s[i].reg] = (Owner){g->committed + 1, PART_A, in};
    w->in_flight = true;
}

/* A product's reads of shared memory. */
typedef struct Reader {
    Warp *warp;
    const SimtInsn *in;
    int agent;
    bool failed;
} Reader;

static void note_read(void *user, uint32_t at, uint32_t bytes)
{
    Reader *r = user;
    if (!r->failed)
        r->failed = !shared_agent_range(r->warp, r->in, r->agent, at, bytes, TOUCH_READ);
}

enum { START_MASK = 0x3fff, START_UNIT = 16 };

/* Shared memory begins at SIMT_SHARED_BASE, what simt_wgmma() sees of it at 0. Addresses below come
   out as the largest there are, beyond any shared memory. */
static uint64_t without_base(uint64_t descriptor)
{
    const uint64_t start = descriptor - SIMT_SHARED_BASE / START_UNIT;
    return (descriptor & ~(uint64_t)START_MASK) | (start & START_MASK);
}

static SimtStep tell_outside(Warp *w, const SimtInsn *in, const WgmmaFault *fault)
{
    const uint32_t limit = (START_MASK + 1) * START_UNIT;
    return simt_fault(w, in, -1, SIMT_ILLEGAL_ADDRESS,
                      "matrix %c: 16 bytes at shared address 0x%x, which is outside of it",
                      fault->operand, (fault->address + SIMT_SHARED_BASE) % limit);
}

static SimtStep multiply(Warp *w, const SimtInsn *in, WgmmaCall *call, Reader *reader)
{
    const WgmmaForm *form = in->form;
    uint32_t a[WGMMA_A_REGISTERS * SIMT_LANES], d[FRAGMENT_MOST * SIMT_LANES];
    WgmmaFault fault;
    call->shared = (SharedBytes){w->block->shared, w->block->shared_bytes, note_read, reader};
    call->warp = w->index % WGMMA_WARPS;
    call->a_registers = a;
    call->d = d;
    if (form->spec.a_in_registers) whole_warp_read(w, in->s, in->a, 32, a);
    if (call->accumulate) whole_warp_read(w, in->d, in->nd, 32, d);
    if (!simt_wgmma(form, call, &fault)) return tell_outside(w, in, &fault);
    if (reader->failed) return STEP_FAULT;
    whole_warp_write(w, in->d, in->nd, 32, d);
    own_registers(w, in);
    return STEP_NEXT;
}

static bool has_group(Warp *w, const SimtInsn *in)
{
    if ((w->index | (WGMMA_WARPS - 1)) < w->block->nwarps) return true;
    return simt_refuse(
        w, in, -1, SIMT_LAUNCH_FAILED,
        "a warp group is four warps, the first one's number a multiple of 4; the program has "
        "%d warps",
        w->block->nwarps);
}

static SimtStep whole_product(Warp *w, const SimtInsn *in)
{
    WgmmaCall call;
    const SimtOperand *rest = in->s + in->a;
    const bool registers = form_of(in)->spec.a_in_registers;
    if (!has_group(w, in) || !begin(w, in) || !may_follow(w, in)) return STEP_FAULT;
    const LaneMask all = SIMT_ALL_LANES;
    uint64_t a = 0, b, accumulate;
    if (!registers && !warp_uniform(w, in, all, in->s[0],
                                    "the descriptor of matrix a is not the same in all lanes", &a))
        return STEP_FAULT;
    if (!warp_uniform(w, in, all, rest[0],
                      "the descriptor of matrix b is not the same in all lanes", &b) ||
        !warp_uniform(w, in, all, rest[1],
                      "what says whether d is added is not the same in all lanes", &accumulate))
        return STEP_FAULT;
    call.a = without_base(a);
    call.b = without_base(b);
    call.accumulate = accumulate;
    const Flight *flight = board(w, in);
    if (!flight) return STEP_FAULT;
    return multiply(w, in, &call, &(Reader){w, in, flight->agent, false});
}

/* ---- fence, commit, wait ---- */

/* Registers are in order here anyway. */
static SimtStep whole_fence(Warp *w, const SimtInsn *in)
{
    (void)w, (void)in;
    return STEP_NEXT;
}

static SimtStep whole_commit(Warp *w, const SimtInsn *in)
{
    if (!begin(w, in)) return STEP_FAULT;
    w->group->committed++;
    return STEP_NEXT;
}

static void land(Warp *w)
{
    struct WarpGroup *g = w->group;
    int left = 0;
    for (int i = 0; i < g->nflights; i++) {
        const Flight f = g->flights[i];
        if (f.group > g->done) {
            g->flights[left++] = f;
            continue;
        }
        order_join(shared_order(w), w->index, SIMT_ALL_LANES, f.agent);
        order_end(shared_order(w), f.agent);
    }
    g->nflights = left;
    w->in_flight = left > 0;
}

/* All but the newest in->offset[0] groups are done. */
static SimtStep whole_wait(Warp *w, const SimtInsn *in)
{
    if (!w->group || w->group->committed <= in->offset[0]) return STEP_NEXT;
    const uint32_t done = w->group->committed - (uint32_t)in->offset[0];
    if (done > w->group->done) w->group->done = done;
    land(w);
    return STEP_NEXT;
}

/* ---- decoding ---- */

static int read_immediate(Decoder *dc, int one, int other)
{
    dc_comma(dc);
    const int64_t x = dc_integer(dc);
    if (x != one && x != other)
        ptx_fail(&dc->ps, "expected %d or %d, found %lld", one, other, (long long)x);
    return (int)x;
}

static void read_immediates(Decoder *dc, WgmmaSpec *s)
{
    if (s->d == MATRIX_S32) return;
    s->a_negated = read_immediate(dc, 1, -1) < 0;
    s->b_negated = read_immediate(dc, 1, -1) < 0;
    if (s->a != MATRIX_F16 && s->a != MATRIX_BF16) return;
    if (!s->a_in_registers) s->a_transposed = read_immediate(dc, 0, 1);
    s->b_transposed = read_immediate(dc, 0, 1);
}

static void read_spec(Decoder *dc, WgmmaSpec *s)
{
    int m = 0;
    dc_matrix_shape(dc, &m, &s->n, &s->k);
    s->satfinite = op_take(dc, "satfinite");
    if (op_take(dc, "and")) s->bits = MATRIX_BITS_AND;
    if (s->bits != MATRIX_BITS_NONE && !op_take(dc, "popc")) op_refuse(dc);
    s->d = dc_matrix_type(dc);
    s->a = dc_matrix_type(dc);
    s->b = dc_matrix_type(dc);
    op_done(dc);
    if (m != 64) op_refuse(dc);
}

/* What the immediates say is judged with the rest. */
static void read_product(Decoder *dc, SimtInsn *in, WgmmaForm *form, WgmmaSpec *s)
{
    s->a_in_registers = ptx_has_list_behind(&dc->ps);
    in->count = (uint8_t)form->d_registers;
    in->a = s->a_in_registers ? WGMMA_A_REGISTERS : 1;
    if (dc_form(dc, in, exec_whole,
                s->a_in_registers ? ">{b32} <a{b32} <b64 <pred" : ">{b32} <b64 <b64 <pred", NULL))
        read_immediates(dc, s);
}

static void decode_product(Decoder *dc, SimtInsn *in)
{
    WgmmaSpec spec = {0};
    WgmmaForm *form = dc_take(dc, sizeof *form);
    read_spec(dc, &spec);
    if (dc->ps.failed) return;
    if (simt_wgmma_form(form, &spec)) read_product(dc, in, form, &spec);
    else op_refuse(dc);
    if (!dc->ps.failed && !simt_wgmma_form(form, &spec)) op_refuse(dc);
    for (int i = 0; i < in->nd && !dc->ps.failed; i++)
        if (!in->d[i].bits) ptx_fail(&dc->ps, "'_' is no place for a product");
    in->form = form;
    in->whole = whole_product;
}

void decode_wgmma(Decoder *dc, SimtInsn *in)
{
    static SimtWhole *const others[] = {whole_fence, whole_commit, whole_wait};
    in->exec = exec_whole;
    dc_aligned(dc);
    if (dc->chip != 90 || !dc->chip_own)
        ptx_fail(&dc->ps, "'%.*s' is for sm_90a only", dc->ps.opcode.len, dc->ps.opcode.text);
    if (op_take(dc, "mma_async")) {
        decode_product(dc, in);
        return;
    }
    const int which = op_choose(dc, "fence commit_group wait_group");
    if (which < 0) op_refuse(dc);
    op_done(dc);
    if (dc->ps.failed) return;
    in->whole = others[which];
    if (in->whole == whole_wait) in->offset[0] = dc_integer(dc);
    if (in->offset[0] < 0) ptx_fail(&dc->ps, "a number of groups is not negative");
}
