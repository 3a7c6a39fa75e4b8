/* The loops as every processor runs them, and the one of an instruction: the first row whose
   evaluator, qualifiers, types and widths are the instruction's. */
#define SIMT_LOOPS simt_loops_any
#include "loops_rows.h"

#include "ptx/parser.h"

static bool fits_types(const LoopRow *row, const PtxInsn *in)
{
    const bool second = in->second ? ptx_type_is_among(in->second, row->second) : !*row->second;
    return second && ptx_type_is_among(in->type, row->types);
}

static bool fits_registers(const LoopRow *row, const PtxInsn *in, int dest)
{
    if (row->dest != dest || (row->ndests && row->ndests != in->ndests)) return false;
    if (row->nsources != in->nsources || row->widths[0] != in->dests[dest].bits) return false;
    for (int i = 0; i < in->nsources; i++)
        if (row->widths[1 + i] != in->sources[i].width) return false;
    return true;
}

static const LoopRow *table(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    if (__builtin_cpu_supports("x86-64-v3")) return simt_loops_wide;
#endif
    return simt_loops_any;
}

SimtLoop *simt_loop_of(const PtxInsn *in, int dest)
{
    const uint64_t nearest = UINT64_C(1) << PTXQ_RN; /* what every row does */
    for (const LoopRow *row = table(); row->eval; row++) {
        if (row->eval == in->eval && row->qualifiers == (in->qualifiers & ~nearest) &&
            fits_types(row, in) && fits_registers(row, in, dest))
            return row->loop;
    }
    return NULL;
}
