/* atom and red: read, compute, write in one step, by a compare and exchange of the host's, so that
   programs on other cores see all of it or nothing. Scopes and orders are the host's strongest. */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "warp.h"

typedef enum AtomOp {
    ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC,
    ATOM_DEC
} AtomOp;
static const char atom_names[] = "add min max and or xor exch cas inc dec";

typedef struct AtomForm {
    PtxInsn add;        /* of floats: add by the type's own rules */
    const PtxType *type;
    AtomOp op;
    bool returns;
} AtomForm;

/* ---- one element ---- */

static uint64_t least(const AtomForm *f, uint64_t x, uint64_t y, bool greatest)
{
    const int bits = f->type->bits;
    const bool is_signed = tkc_dtype_info(f->type->dtype)->kind == DK_INT;
    const bool less = is_signed ? ptx_signed(x, bits) < ptx_signed(y, bits) : x < y;
    return less != greatest ? x : y;
}

static uint64_t add(const AtomForm *f, uint64_t x, uint64_t y)
{
    if (tkc_dtype_info(f->type->dtype)->kind != DK_FLOAT) return x + y;
    PtxCall c = {.insn = &f->add, .type = f->type, .n = 2, .a = {x, y}};
    ptx_evaluate(&c);
    return c.d[0];
}

static uint64_t float_extremum(const AtomForm *f, uint64_t x, uint64_t y)
{
    PtxCall c = {.insn = &f->add, .type = f->type, .n = 2, .a = {x, y}};
    ptx_evaluate(&c);
    return c.d[0];
}

static uint64_t combine(const AtomForm *f, uint64_t old, uint64_t x, uint64_t y)
{
    const bool is_float = tkc_dtype_info(f->type->dtype)->kind == DK_FLOAT;
    switch (f->op) {
    case ATOM_ADD: return add(f, old, x);
    case ATOM_MIN: return is_float ? float_extremum(f, old, x) : least(f, old, x, false);
    case ATOM_MAX: return is_float ? float_extremum(f, old, x) : least(f, old, x, true);
    case ATOM_AND: return old & x;
    case ATOM_OR: return old | x;
    case ATOM_XOR: return old ^ x;
    case ATOM_EXCH: return x;
    case ATOM_CAS: return old == x ? y : old;
    case ATOM_INC: return old >= x ? 0 : old + 1;
    case ATOM_DEC: return !old || old > x ? x : old - 1;
    }
    return old;
}

#define EXCHANGE(bits)                                                                             \
    static uint64_t exchange##bits(const AtomForm *f, void *at, uint64_t x, uint64_t y)            \
    {                                                                                              \
        uint##bits##_t old = __atomic_load_n((uint##bits##_t *)at, __ATOMIC_SEQ_CST), new;         \
        do new = (uint##bits##_t)combine(f, old, x, y);                                            \
        while (!__atomic_compare_exchange_n((uint##bits##_t *)at, &old, new, false,                \
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                  \
        return old;                                                                                \
    }
EXCHANGE(16)
EXCHANGE(32)
EXCHANGE(64)
#undef EXCHANGE

static uint64_t exchange(const AtomForm *f, void *at, uint64_t x, uint64_t y)
{
    switch (f->type->bits) {
    case 16: return exchange16(f, at, x, y);
    case 32: return exchange32(f, at, x, y);
    default: return exchange64(f, at, x, y);
    }
}

/* ---- execution: lane after lane, from one that the seed chooses ---- */

static SimtStep exec_atom(Warp *w, const SimtInsn *in, LaneMask m)
{
    const AtomForm *f = in->form;
    const int first = (int)(simt_random(&w->block->random) % SIMT_LANES), n = in->count;
    uint64_t address[SIMT_LANES];
    uint8_t *host[SIMT_LANES];
    bool changes = false;
    if (!warp_addresses(w, in, m, in->s[0], in->offset, address) ||
        !warp_reach(w, in, m, in->space, address, (uint32_t)in->bytes * in->count, TOUCH_ATOMIC,
                    host))
        return STEP_FAULT;
    for (int k = 0; k < SIMT_LANES; k++) {
        const int lane = (first + k) % SIMT_LANES;
        if (!(m >> lane & 1)) continue;
        for (int i = 0; i < n; i++) {
            const uint64_t x = simt_read(w, in->s[1 + i], lane),
                           y = f->op == ATOM_CAS ? simt_read(w, in->s[1 + n], lane) : 0;
            const uint64_t old = exchange(f, host[lane] + i * in->bytes, x, y);
            changes |= ptx_low(combine(f, old, x, y) ^ old, f->type->bits) != 0;
            if (f->returns) simt_write(w, in->d[i], lane, old);
        }
    }
    w->block->progress = true;
    w->block->changes += changes;
    if (in->space <= SPACE_GLOBAL) w->reads = in;
    return STEP_NEXT;
}

/* ---- decoding ---- */

/* What the ISA has: bits, words and floats for each operation. */
static bool has_form(AtomOp op, const PtxType *t, bool noftz)
{
    static const char *const types[] = {
        [ATOM_ADD] = "u32 s32 u64 s64 f32 f64 f16 f16x2 bf16 bf16x2",
        [ATOM_MIN] = "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2",
        [ATOM_MAX] = "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2",
        [ATOM_AND] = "b32 b64", [ATOM_OR] = "b32 b64", [ATOM_XOR] = "b32 b64",
        [ATOM_EXCH] = "b32 b64", [ATOM_CAS] = "b16 b32 b64", [ATOM_INC] = "u32", [ATOM_DEC] = "u32",
    };
    const bool half = t->dtype == DT_F16 || t->dtype == DT_BF16;
    if (half != noftz) return false;
    for (const char *p = types[op]; *p; p += strcspn(p, " "), p += *p == ' ')
        if (ptx_type_named(p, strcspn(p, " ")) == t) return true;
    return false;
}

static bool is_red(const SimtInsn *in)
{
    return in->name[0] == 'r';
}

static bool read_form(Decoder *dc, SimtInsn *in, AtomForm *f)
{
    in->space = dc_space(dc);
    dc_memory_order(dc);
    const int op = op_choose(dc, atom_names), vector = op_choose(dc, "v2 v4 v8");
    const bool noftz = op_take(dc, "noftz");
    f->type = op_type(dc);
    f->op = (AtomOp)op;
    f->returns = !is_red(in);
    op_done(dc);
    in->count = (uint8_t)(vector < 0 ? 1 : 2 << vector);
    if (dc->ps.failed || op < 0 || !f->type ||
        !has_form((AtomOp)op, f->type, noftz || in->count > 1) ) {
        /* a vector of fp32 has no .noftz */
        if (op != ATOM_ADD || in->count == 1 || f->type != dc_type("f32")) op_refuse(dc);
    }
    return !dc->ps.failed;
}

/* The evaluator of add, min or max of the float type. */
static void find_evaluator(Decoder *dc, AtomForm *f)
{
    static const char *const names[] = {"add", "min", "max"};
    char text[16];
    PtxParts parts;
    if (f->op > ATOM_MAX || tkc_dtype_info(f->type->dtype)->kind != DK_FLOAT) return;
    snprintf(text, sizeof text, "%s.%s", names[f->op], f->type->name);
    const PtxWord saved = dc->ps.opcode, w = {.text = text, .len = (int)strlen(text)};
    const char *at = dc->ps.at;
    const PtxWord word = dc->ps.word;
    dc->ps.at = " d, a, b;";
    dc->ps.word = (PtxWord){.kind = PTXW_NAME, .text = "d", .len = 1};
    dc->ps.opcode = w;
    const PtxRow *row = ptx_find_row(&dc->ps, &parts, ptx_take_apart(w, &parts));
    dc->ps.opcode = saved;
    dc->ps.at = at;
    dc->ps.word = word;
    if (!row) return;
    f->add = (PtxInsn){.eval = row->eval, .type = f->type, .by_lane = f->type->lanes > 1};
}

void decode_atom(Decoder *dc, SimtInsn *in)
{
    AtomForm *f = dc_take(dc, sizeof *f);
    if (!f || !read_form(dc, in, f)) return;
    const int n = in->count;
    find_evaluator(dc, f);
    dc_operands(dc, in, f->returns ? n : 0, 2 + n);
    if (dc->ps.failed) return;
    in->form = f;
    in->bytes = f->type->bits / 8;
    if (f->returns) {
        dc_dest_list(dc, in->d, n, f->type, false);
        dc_comma(dc);
    }
    dc_address(dc, in, in->s, &in->offset, &in->space);
    dc_comma(dc);
    dc_source_list(dc, in->s + 1, n, f->type, false);
    if (f->op == ATOM_CAS) {
        dc_comma(dc);
        in->s[1 + n] = dc_source(dc, f->type, false);
    }
    dc_cache_policy(dc);
    in->exec = exec_atom;
}
