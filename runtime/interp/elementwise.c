/* Elementwise instructions. Three ways, the first that fits:
     a loop over the C type (interp_loops.c);
     narrow floats through chunks of fp32 and the fp32 loop: rounded once, as tkc_evaluate does;
     tkc_evaluate element by element for everything else: exact by definition. */
#include <string.h>

#include "interp.h"

/* ---- running them ---- */

static void run_loop(Frame *f, const Insn *in)
{
    const void *args[INSN_ARGS];
    unsigned u = 0;
    for (int i = 0; i < in->nargs; i++) {
        args[i] = slot_data(f, in->args[i]);
        u |= (unsigned)in->args[i]->uniform << i;
    }
    in->loop(slot_data(f, in->results[0]), args, slot_len(f, in, in->results[0]), u);
}

static void run_copy(Frame *f, const Insn *in)
{
    slot_expand(f, in->args[0], slot_data(f, in->results[0]), slot_len(f, in, in->results[0]));
}

/* ---- narrow floats: chunks of fp32 ---- */

enum { CHUNK = 256 };

static void load_chunk(float *out, const Frame *f, const Slot *s, int64_t at, int64_t n)
{
    narrow_to_f32(s->dtype, out, (const char *)slot_data(f, s) + (s->uniform ? 0 : at * s->size),
                  s->uniform ? 1 : n);
}

/* Operands are narrow floats; the result is one too, or what the fp32 loop gives. */
static void run_narrow(Frame *f, const Insn *in)
{
    float a[2][CHUNK], r[CHUNK];
    const void *args[2] = {a[0], a[1]};
    const Slot *out = in->results[0];
    int64_t n = slot_len(f, in, out);
    unsigned u = 0;
    for (int i = 0; i < in->nargs; i++) u |= (unsigned)in->args[i]->uniform << i;
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t m = n - at < CHUNK ? n - at : CHUNK;
        char *to = (char *)slot_data(f, out) + at * out->size;
        for (int i = 0; i < in->nargs; i++) load_chunk(a[i], f, in->args[i], at, m);
        if (dtype_is_narrow(out->dtype)) {
            in->loop(r, args, m, u);
            narrow_from_f32(out->dtype, to, r, m);
        } else {
            in->loop(to, args, m, u);
        }
    }
}

/* One narrow type to another: fp32 holds every number of both. */
static void run_renarrow(Frame *f, const Insn *in)
{
    float a[CHUNK];
    const Slot *out = in->results[0];
    int64_t n = slot_len(f, in, out);
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t m = n - at < CHUNK ? n - at : CHUNK;
        load_chunk(a, f, in->args[0], at, m);
        narrow_from_f32(out->dtype, (char *)slot_data(f, out) + at * out->size, a, m);
    }
}

static void run_widen(Frame *f, const Insn *in)
{
    narrow_to_f32(in->args[0]->dtype, slot_data(f, in->results[0]), slot_data(f, in->args[0]),
                  slot_len(f, in, in->results[0]));
}

static void run_narrow_down(Frame *f, const Insn *in)
{
    narrow_from_f32(in->results[0]->dtype, slot_data(f, in->results[0]), slot_data(f, in->args[0]),
                    slot_len(f, in, in->results[0]));
}

/* ---- everything else: the definition, element by element ---- */

static uint64_t read_bits(const Slot *s, const void *data, int64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + (s->uniform ? 0 : i) * s->size, s->size);
    if (s->dtype != DT_NONE && tkc_dtype_info(s->dtype)->kind == DK_INT && s->size < 8 &&
        (bits >> (s->size * 8 - 1) & 1))
        bits |= ~0ull << (s->size * 8);
    return bits;
}

static void run_evaluate(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    DType dt = in->args[in->op->kind == OP_SELECT ? 1 : 0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    int64_t n = slot_len(f, in, out);
    char *to = slot_data(f, out);
    for (int64_t i = 0; i < n; i++) {
        uint64_t args[INSN_ARGS], bits = 0;
        for (int k = 0; k < in->nargs; k++)
            args[k] = read_bits(in->args[k], slot_data(f, in->args[k]), i);
        tkc_evaluate(in->op->kind, dt, out->dtype, rounding, in->nargs, args, &bits);
        memcpy(to + i * out->size, &bits, out->size);
    }
}

/* ---- pointers: 64-bit addresses ---- */

static void run_addptr(Frame *f, const Insn *in)
{
    const Slot *ptr = in->args[0], *offset = in->args[1], *out = in->results[0];
    const uint64_t *base = slot_data(f, ptr);
    uint64_t *to = slot_data(f, out);
    int64_t n = slot_len(f, in, out), scale = in->n[0];
    const void *offs = slot_data(f, offset);
    if (offset->dtype == DT_I32 && !offset->uniform) {
        const int32_t *o = offs;
        for (int64_t i = 0; i < n; i++)
            to[i] = base[ptr->uniform ? 0 : i] + (uint64_t)((int64_t)o[i] * scale);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = base[ptr->uniform ? 0 : i] + read_bits(offset, offs, i) * (uint64_t)scale;
}

static int64_t pointee_bytes(const Type *t)
{
    const Type *p = tkc_type_element(t)->elem;
    return p->kind == TY_POINTER ? 8 : tkc_dtype_info(p->dtype)->bytes;
}

/* Addresses compare as unsigned numbers; nothing else is done with them here. */
static InsnFn pointer_fn(Insn *in)
{
    bool compares = tkc_op_info(in->op->kind)->traits & OT_COMPARE;
    in->loop = compares ? interp_loop(in->op->kind, DT_U64) : NULL;
    return in->loop ? run_loop : NULL;
}

static InsnFn cast_fn(Insn *in)
{
    DType from = in->args[0]->dtype, to = in->results[0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    if (rounding && strcmp(rounding, "rtne")) return run_evaluate;
    if (dtype_is_narrow(from) && to == DT_F32) return run_widen;
    if (from == DT_F32 && dtype_is_narrow(to)) return run_narrow_down;
    if (dtype_is_narrow(from) && dtype_is_narrow(to)) return run_renarrow;
    in->loop = interp_cast_loop(dtype_is_narrow(from) ? DT_F32 : from, to);
    return !in->loop ? run_evaluate : dtype_is_narrow(from) ? run_narrow : run_loop;
}

/* Ops whose fp32 loop gives a narrow type's result when rounded once more; exp and log within one
   place. */
static bool works_in_f32(OpKind kind)
{
    switch (kind) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_SQRT:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EXP:
    case OP_EXP2:
    case OP_LOG:
    case OP_LOG2:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_RINT:
    case OP_MIN:
    case OP_MAX:
    case OP_MIN_NAN:
    case OP_MAX_NAN:
    case OP_SQRT_RN:
    case OP_DIV_RN:
    case OP_RSQRT:
    case OP_REM: return true;
    default: return false;
    }
}

bool interp_can_evaluate(OpKind kind, DType dt, DType result, int n)
{
    const uint64_t ones[INSN_ARGS] = {1, 1, 1, 1};
    uint64_t bits;
    return tkc_evaluate(kind, dt, result, NULL, n, ones, &bits);
}

static InsnFn elementwise_fn(Insn *in)
{
    const Op *op = in->op;
    if (!(tkc_op_info(op->kind)->traits & OT_EW) || op->nresults != 1 || op->nargs > INSN_ARGS ||
        op->kind == OP_INLINE_ASM)
        return NULL;
    DType dt = in->args[0]->dtype;
    switch (op->kind) {
    case OP_ADDPTR: in->n[0] = pointee_bytes(op_result(op, 0)->type); return run_addptr;
    case OP_BITCAST: return in->args[0]->size == in->results[0]->size ? run_copy : NULL;
    case OP_SELECT: in->loop = interp_select_loop(in->results[0]->size); return run_loop;
    case OP_CAST: return cast_fn(in);
    default: break;
    }
    if (dt == DT_NONE) return pointer_fn(in);
    in->loop = interp_loop(op->kind, dt);
    if (in->loop) return run_loop;
    if (dtype_is_narrow(dt) && works_in_f32(op->kind) && (in->loop = interp_loop(op->kind, DT_F32)))
        return run_narrow;
    return run_evaluate;
}

InsnFn interp_elementwise_fn(Insn *in)
{
    InsnFn fn = elementwise_fn(in);
    if (fn != run_evaluate) return fn;
    DType dt = in->args[in->op->kind == OP_SELECT ? 1 : 0]->dtype;
    return interp_can_evaluate(in->op->kind, dt, in->results[0]->dtype, in->nargs) ? fn : NULL;
}
