/* Elementwise instructions. Three ways, the first that fits:
     a loop over the C type (loops.c);
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

/* ---- narrow floats: chunks of fp32 ---- */

enum { CHUNK = 256 };

/* n elements from `at` on as fp32: where they are, or widened in the room. */
static const float *chunk_of(float *room, const Frame *f, const Slot *s, int64_t at, int64_t n)
{
    const char *from = (const char *)slot_data(f, s) + (s->uniform ? 0 : at * s->size);
    if (!dtype_is_narrow(s->dtype)) return (const float *)(const void *)from;
    narrow_floats[s->dtype].up(room, from, s->uniform ? 1 : n);
    return room;
}

/* Operands are narrow floats; the result is one too, or what the fp32 loop gives. Without a loop it is
   the operand in another type: fp32 holds every number of all. */
static void run_narrow(Frame *f, const Insn *in)
{
    float a[2][CHUNK], r[CHUNK];
    const void *args[2] = {0};
    const Slot *out = in->results[0];
    const bool shortens = dtype_is_narrow(out->dtype);
    int64_t n = slot_len(f, in, out);
    unsigned u = 0;
    for (int i = 0; i < in->nargs; i++) u |= (unsigned)in->args[i]->uniform << i;
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t m = n - at < CHUNK ? n - at : CHUNK;
        char *to = (char *)slot_data(f, out) + at * out->size;
        for (int i = 0; i < in->nargs; i++) args[i] = chunk_of(a[i], f, in->args[i], at, m);
        if (in->loop) in->loop(shortens ? (void *)r : to, args, m, u);
        const void *result = in->loop ? r : args[0];
        if (shortens) narrow_floats[out->dtype].down(to, result, m);
        else if (!in->loop) memcpy(to, result, (size_t)m * sizeof *r);
    }
}

/* ---- everything else: the definition, element by element ---- */

static void run_evaluate(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    DType dt = in->args[0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    int64_t n = slot_len(f, in, out);
    char *to = slot_data(f, out);
    for (int64_t i = 0; i < n; i++) {
        uint64_t args[INSN_ARGS], bits = 0;
        for (int k = 0; k < in->nargs; k++) args[k] = (uint64_t)slot_int(f, in->args[k], i);
        tkc_evaluate(in->op->kind, dt, out->dtype, rounding, in->nargs, args, &bits);
        memcpy(to + i * out->size, &bits, out->size);
    }
}

bool interp_can_evaluate(OpKind kind, DType dt, DType result, int n)
{
    const uint64_t ones[INSN_ARGS] = {1, 1, 1, 1};
    uint64_t bits;
    return tkc_evaluate(kind, dt, result, NULL, n, ones, &bits);
}

static InsnFn evaluate_fn(const Insn *in)
{
    const DType dt = in->args[0]->dtype, result = in->results[0]->dtype;
    return interp_can_evaluate(in->op->kind, dt, result, in->nargs) ? run_evaluate : NULL;
}

/* ---- pointers: 64-bit addresses ---- */

static void run_addptr(Frame *f, const Insn *in)
{
    const Slot *ptr = in->args[0], *offset = in->args[1], *out = in->results[0];
    const uint64_t *base = slot_data(f, ptr);
    uint64_t *to = slot_data(f, out);
    int64_t n = slot_len(f, in, out), scale = in->n[0];
    if (offset->dtype == DT_I32 && !offset->uniform) {
        const int32_t *o = slot_data(f, offset);
        for (int64_t i = 0; i < n; i++)
            to[i] = base[ptr->uniform ? 0 : i] + (uint64_t)((int64_t)o[i] * scale);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = base[ptr->uniform ? 0 : i] + (uint64_t)slot_int(f, offset, i) * (uint64_t)scale;
}

/* Addresses compare as unsigned numbers; nothing else is done with them here. */
static InsnFn pointer_fn(Insn *in)
{
    bool compares = tkc_op_info(in->op->kind)->traits & OT_COMPARE;
    in->loop = compares ? interp_loop(in->op->kind, DT_U64, DT_NONE) : NULL;
    return in->loop ? run_loop : NULL;
}

static InsnFn cast_fn(Insn *in)
{
    DType from = in->args[0]->dtype, to = in->results[0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    if (rounding && strcmp(rounding, "rtne")) return evaluate_fn(in);
    if (from != to && (dtype_is_narrow(from) || from == DT_F32) &&
        (dtype_is_narrow(to) || to == DT_F32))
        return run_narrow;
    in->loop = interp_loop(OP_CAST, dtype_is_narrow(from) ? DT_F32 : from, to);
    return !in->loop ? evaluate_fn(in) : dtype_is_narrow(from) ? run_narrow : run_loop;
}

/* What is not to be rounded to fp32 first: its loop there computes more than that. Of all others fp32's
   result, rounded once more, is a narrow type's; of exp and log within one place. */
static bool is_exact(OpKind kind)
{
    return kind == OP_SIN || kind == OP_COS || kind == OP_TANH || kind == OP_ERF || kind == OP_FMA;
}

InsnFn interp_elementwise_fn(Insn *in)
{
    const Op *op = in->op;
    if (!(tkc_op_info(op->kind)->traits & OT_EW) || op->nresults != 1 || op->nargs > INSN_ARGS ||
        op->kind == OP_INLINE_ASM)
        return NULL;
    DType dt = in->args[0]->dtype;
    switch (op->kind) {
    case OP_ADDPTR:
        in->n[0] = element_bytes(tkc_type_element(op_result(op, 0)->type)->elem);
        return run_addptr;
    case OP_BITCAST: return in->args[0]->size == in->results[0]->size ? slot_copy : NULL;
    case OP_SELECT: in->loop = interp_select_loop(in->results[0]->size); return run_loop;
    case OP_CAST: return cast_fn(in);
    default: break;
    }
    if (dt == DT_NONE) return pointer_fn(in);
    in->loop = interp_loop(op->kind, dt, DT_NONE);
    if (in->loop) return run_loop;
    if (dtype_is_narrow(dt) && !is_exact(op->kind))
        in->loop = interp_loop(op->kind, DT_F32, DT_NONE);
    return in->loop ? run_narrow : evaluate_fn(in);
}
