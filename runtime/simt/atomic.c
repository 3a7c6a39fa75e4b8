/* atom and red: read, compute, write in one step, by a compare and exchange of the host's, so that
   programs on other cores see all of it or nothing. Scopes and orders are the host's strongest. */
#include "atomic.h"

#include "decode.h"
#include "warp.h"

/* ---- one element ---- */

typedef struct AtomForm {
    PtxInsn of_floats;
    const PtxType *type;
    AtomOp op;
    bool returns;
} AtomForm;

static AtomForm atom_form(AtomOp op, const PtxType *t)
{
    static PtxEval *const of_floats[] = {ptx_fadd, ptx_fmin, ptx_fmax};
    AtomForm f = {.op = op, .type = t};
    if (op <= ATOM_MAX && tkc_dtype_info(t->dtype)->kind == DK_FLOAT)
        f.of_floats = (PtxInsn){.eval = of_floats[op], .type = t, .by_lane = t->lanes > 1};
    return f;
}

static uint64_t least(const PtxType *t, uint64_t x, uint64_t y, bool greatest)
{
    const bool is_signed = tkc_dtype_info(t->dtype)->kind == DK_INT;
    const bool less = is_signed ? ptx_signed(x, t->bits) < ptx_signed(y, t->bits) : x < y;
    return less != greatest ? x : y;
}

/* Add, min and max of floats, by the type's own rules. */
static uint64_t float_op(const AtomForm *f, uint64_t x, uint64_t y)
{
    PtxCall c = {.insn = &f->of_floats, .type = f->type, .n = 2, .a = {x, y}};
    ptx_evaluate(&c);
    return c.d[0];
}

uint64_t atom_combine(AtomOp op, const PtxType *t, uint64_t old, uint64_t x, uint64_t y)
{
    switch (op) {
    case ATOM_ADD: return old + x;
    case ATOM_MIN: return least(t, old, x, false);
    case ATOM_MAX: return least(t, old, x, true);
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

static uint64_t combine(const AtomForm *f, uint64_t old, uint64_t x, uint64_t y)
{
    return f->of_floats.eval ? float_op(f, old, x) : atom_combine(f->op, f->type, old, x, y);
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

/* What is at that address becomes what the form says, in one step; gives what was there. y: of
   CAS. */
static uint64_t exchange(const AtomForm *f, void *at, uint64_t x, uint64_t y)
{
    switch (f->type->bits) {
    case 16: return exchange16(f, at, x, y);
    case 32: return exchange32(f, at, x, y);
    default: return exchange64(f, at, x, y);
    }
}

/* ---- which there are ---- */

/* What the ISA has of each operation: types of atomics, and of elements of tensors. */
static const struct {
    const char *atoms, *reductions;
} types[] = {
    [ATOM_ADD] = {"u32 s32 u64 s64 f32 f64 f16 f16x2 bf16 bf16x2", "u32 s32 u64 f32 f64 f16 bf16"},
    [ATOM_MIN] = {"u32 s32 u64 s64 f16 f16x2 bf16 bf16x2", "u32 s32 u64 s64 f16 bf16"},
    [ATOM_MAX] = {"u32 s32 u64 s64 f16 f16x2 bf16 bf16x2", "u32 s32 u64 s64 f16 bf16"},
    [ATOM_INC] = {"u32", "u32"},
    [ATOM_DEC] = {"u32", "u32"},
    [ATOM_AND] = {"b32 b64", "u32 s32 u64 s64"},
    [ATOM_OR] = {"b32 b64", "u32 s32 u64 s64"},
    [ATOM_XOR] = {"b32 b64", "u32 s32 u64 s64"},
    [ATOM_EXCH] = {"b32 b64", ""},
    [ATOM_CAS] = {"b16 b32 b64", ""},
};

static const PtxType *element_of(TensorType type)
{
    static const char *const names[] = {
#define TENSOR_TYPE(NAME, TEXT, NUMBER, HOST, BYTES, KIND) [NUMBER] = TEXT,
#include "tensor_types.def"
#undef TENSOR_TYPE
    };
    return ptx_type(names[type]);
}

bool atom_can_reduce(AtomOp op, TensorType type)
{
    return ptx_type_is_among(element_of(type), types[op].reductions);
}

void atom_reduce(AtomOp op, TensorType type, void *global, const void *shared, uint32_t bytes)
{
    const AtomForm f = atom_form(op, element_of(type));
    const uint32_t size = f.type->bits / 8;
    for (uint32_t i = 0; i < bytes; i += size) {
        uint64_t x = 0;
        memcpy(&x, (const uint8_t *)shared + i, size);
        exchange(&f, (uint8_t *)global + i, x, 0);
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
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address) ||
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

static bool has_form(AtomOp op, const PtxType *t, bool noftz)
{
    const bool half = t->dtype == DT_F16 || t->dtype == DT_BF16;
    return half == noftz && ptx_type_is_among(t, types[op].atoms);
}

static bool read_form(Decoder *dc, SimtInsn *in, AtomForm *f)
{
    in->space = dc_space(dc);
    dc_memory_order(dc);
    const int op = op_choose(dc, ATOM_NAMES);
    const bool noftz = op_take(dc, "noftz");
    const int vector = op_choose(dc, "v2 v4 v8");
    const PtxType *t = op_type(dc);
    op_done(dc);
    in->count = (uint8_t)(vector < 0 ? 1 : 2 << vector);
    if (dc->ps.failed || op < 0 || !t || !has_form((AtomOp)op, t, noftz)) op_refuse(dc);
    if (!dc->ps.failed && vector >= 0 && (t->dtype != DT_F32 || op != ATOM_ADD) && !noftz) op_refuse(dc);
    if (dc->ps.failed) return false;
    *f = atom_form((AtomOp)op, t);
    f->returns = in->name[0] != 'r'; /* red */
    return true;
}

void decode_atom(Decoder *dc, SimtInsn *in)
{
    static const char *const forms[][2] = {{"[ <{*} ~", "[ <{*} <* ~"},
                                           {">{*} [ <{*} ~", ">{*} [ <{*} <* ~"}};
    AtomForm *f = dc_take(dc, sizeof *f);
    if (!f || !read_form(dc, in, f)) return;
    in->form = f;
    in->bytes = f->type->bits / 8;
    dc_form(dc, in, exec_atom, forms[f->returns][f->op == ATOM_CAS], f->type);
}
