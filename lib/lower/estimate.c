/* In: a function that is laid out, or the size of what it was lowered to. Out: what LLVM takes for
   it, and a refusal when the call has not that much left. LLVM runs to its end once it has begun, so
   that this is the last moment at which a compilation can end in its time.

   Time and memory grow with the instructions of one thread, on straight lines and in the deepest
   register pressure alike; inline assembly, which accesses and shuffles are, costs more than the
   rest. Measured (docs/decisions.md); a quiet machine takes two thirds of this.

   Before lowering the size is a lower bound: what it refuses is hopeless. While lowering and after it
   the size is known. */
#include "lower/estimate.h"

#include "base/limit.h"
#include "ir/dot_unit.h"
#include "lower/lower.h"

static double seconds_of(Size s)
{
    return 15e-6 * (double)s.instructions + 35e-6 * (double)s.accesses;
}

static double bytes_of(Size s)
{
    return 800.0 * (double)s.instructions + 3000.0 * (double)s.accesses;
}

/* ---- before lowering ---- */

static bool is_offset(const Value *v, int depth)
{
    const Op *op = v->def;
    if (!type_is_block(v->type) || (op && ir_has(op, OT_CONST))) return true;
    if (!op || !depth || op->kind == OP_CONVERT || type_is_float(v->type) ||
        (!ir_has(op, OT_EW) && !ir_has(op, OT_SHAPE)))
        return false;
    if (op->kind == OP_BROADCAST) return true; /* of fewer numbers, whatever these are */
    for (int i = 0; i < op->nargs; i++)
        if (!is_offset(op_arg(op, i), depth - 1)) return false;
    return true;
}

static bool is_offset_op(const Op *op)
{
    enum { DEEPEST = 8 };
    return op->nresults && is_offset(op_result(op, 0), DEEPEST);
}

int estimate_registers(const Op *op)
{
    if (!op->nresults || !type_is_block(op_result(op, 0)->type) || ir_has(op, OT_SHAPE) ||
        ir_has(op, OT_CONST))
        return 0;
    const Type *ty = op_result(op, 0)->type;
    if (type_is_pointer(ty) || type_is_bool(ty) || lower_reads_late(op)) return 0;
    return (lower_nregs(ty) * type_bits(ty) + 31) / 32; /* what is narrow shares them */
}

static bool has_varying_operand(const Op *op)
{
    for (int i = 0; i < op->nargs; i++)
        if (!ir_is_uniform(op_arg(op, i))) return true;
    return false;
}

/* The instruction on every tile of the sum along k, or as many products as the thread has elements of
   it. A warp group's names each element of the sum. */
static void add_dot(Size *s, const Op *op)
{
    const DotUnit unit = dot_unit(op);
    const Type *a = op_arg(op, 0)->type;
    const int64_t sums = lower_distinct_registers(op_result(op, 0)->type), k = a->shape[a->rank - 1];
    if (!unit.mma || tkc_op_int(op, ATTR_ASYNC, 0)) {
        s->instructions += unit.mma ? sums : sums * k;
        return;
    }
    const MmaShape shape = unit.mma->shape;
    const int64_t step = INT64_C(1) << shape.k_log2, steps = (k + step - 1) >> shape.k_log2;
    s->accesses += unit.pairs * steps * (sums >> (shape.m_log2 + shape.n_log2 - 5));
}

/* Sums of integers and pointers may become parts of addresses; floats are computed. */
static void add_op(Op *op, void *size)
{
    enum { WIDEST = 4 }; /* elements that one access moves */
    Size *s = size;
    if (op->kind == OP_LOAD || op->kind == OP_STORE) {
        const int64_t n = lower_distinct_registers(op_arg(op, 0)->type);
        s->accesses += n / WIDEST;
        s->instructions += op->kind == OP_LOAD ? n : n / WIDEST;
    } else if (op->kind == OP_DOT) {
        add_dot(s, op);
    } else if (ir_has(op, OT_EW) && op->nresults && type_is_float(op_result(op, 0)->type) &&
               has_varying_operand(op)) {
        s->instructions += lower_distinct_registers(op_result(op, 0)->type);
    }
}

Size estimate_size(const Func *fn)
{
    Size s = {0};
    ir_walk(fn->body, add_op, &s);
    return s;
}

/* ---- refusals ---- */

/* Of those as large the first, but what makes a block rather than the loop that carries it. */
static void keep_larger(Op *op, void *user)
{
    const Op **largest = user;
    const int n = estimate_registers(op), most = *largest ? estimate_registers(*largest) : 0;
    const bool makes_it = n && n == most && (*largest)->nregions && !op->nregions;
    if ((n > most || makes_it) && !is_offset_op(op)) *largest = op;
}

const Op *estimate_largest(const Func *fn)
{
    const Op *op = NULL;
    ir_walk(fn->body, keep_larger, &op);
    return op;
}

/* Most of the code is there because of blocks as large as the largest. */
static void note_largest(const Func *fn, Arena *a, Diags *dx, Diag *d)
{
    const Op *op = estimate_largest(fn);
    if (!op) return;
    diag_note(dx, d, ir_span(op->loc),
              "%s takes %d registers of each of the program's %d threads; a smaller block or more "
              "warps make less code",
              type_text(a, op_result(op, 0)->type), estimate_registers(op),
              fn->num_warps * MACHINE_LANES);
}

bool estimate_fits(const Func *fn, Size s, Arena *a, Diags *dx)
{
    const double seconds = seconds_of(s), bytes = bytes_of(s), mib = 1 << 20;
    Diag *d;
    if (bytes > (double)limit_bytes_left())
        d = diag_error_as(dx, DIAG_LIMIT, SPAN_NONE,
                       "compiling '%s' needs some %.0f MiB of memory, for %lld instructions of each "
                       "thread, and may take %.0f more",
                       fn->name, bytes / mib, (long long)s.instructions,
                       (double)limit_bytes_left() / mib);
    else if (seconds > limit_seconds_left())
        d = diag_error_as(dx, DIAG_LIMIT, SPAN_NONE,
                       "compiling '%s' needs some %.3g seconds, for %lld instructions of each thread, "
                       "and may take %.3g more",
                       fn->name, seconds, (long long)s.instructions, limit_seconds_left());
    else
        return true;
    diag_larger(dx, d, bytes > (double)limit_bytes_left() ? "max_memory" : "max_seconds");
    note_largest(fn, a, dx, d);
    return false;
}
