/* What runtime/ is given of the meaning of scalars (tkc/edge.h) and the places of elements
   (tkc/ir.h). */
#include "ir/evaluate.h"
#include "linear/shared.h"

/* One cast, whose rules for integers are the language's. */
static uint64_t convert_bits(DType from, DType to, uint64_t bits)
{
    uint64_t out = 0;
    tkc_evaluate(OP_CAST, from, to, NULL, 1, &bits, &out);
    return out;
}

uint64_t tkc_bits_from_double(DType dt, double v)
{
    if (tkc_dtype_info(dt)->kind == DK_FLOAT) return bits_from_double(dt, v);
    return convert_bits(DT_F64, dt, bits_from_double(DT_F64, v));
}

double tkc_bits_to_double(DType dt, uint64_t bits)
{
    return bits_to_double(DT_F64, convert_bits(dt, DT_F64, bits));
}

int64_t tkc_smem_count(const Type *smem)
{
    return INT64_C(1) << smem->layout->nbits[DIM_OFFSET];
}

int64_t tkc_smem_offset(const Type *smem, int64_t piece, int64_t index)
{
    return shared_offset(smem->layout, (uint32_t)piece, (uint32_t)index);
}
