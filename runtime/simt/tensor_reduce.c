/* Reductions into global memory, element by element as atomics do them. */
#include <string.h>

#include "atomic.h"
#include "ptx/parser.h"
#include "simt/tensor_reduce.h"

#define OP(NAME) (1u << TENSOR_REDUCE_##NAME)
enum {
    ORDERED = OP(MIN) | OP(MAX),
    BITWISE = OP(AND) | OP(OR) | OP(XOR),
    COUNTED = OP(INC) | OP(DEC)
};

static const struct {
    const char *name;
    unsigned ops;
} types[TENSOR_TYPE_COUNT] = {
    [TENSOR_U32] = {"u32", OP(ADD) | ORDERED | BITWISE | COUNTED},
    [TENSOR_S32] = {"s32", OP(ADD) | ORDERED | BITWISE},
    [TENSOR_U64] = {"u64", OP(ADD) | ORDERED | BITWISE},
    [TENSOR_S64] = {"s64", ORDERED | BITWISE},
    [TENSOR_F16] = {"f16", OP(ADD) | ORDERED},
    [TENSOR_BF16] = {"bf16", OP(ADD) | ORDERED},
    [TENSOR_F32] = {"f32", OP(ADD)},
    [TENSOR_F64] = {"f64", OP(ADD)},
};

TensorReduction simt_tensor_reduction(const char *name, size_t len)
{
    static const char *const names[TENSOR_REDUCTION_COUNT] = {"",    "add", "min", "max", "inc",
                                                              "dec", "and", "or",  "xor"};
    for (int i = 1; i < TENSOR_REDUCTION_COUNT; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len)) return (TensorReduction)i;
    return TENSOR_REDUCE_NONE;
}

bool simt_tensor_can_reduce(TensorType type, TensorReduction op)
{
    return types[type].ops >> op & 1;
}

void simt_tensor_reduce(TensorType type, TensorReduction op, void *global, const void *shared,
                        uint32_t bytes)
{
    const PtxType *t = ptx_type_named(types[type].name, strlen(types[type].name));
    const AtomForm f = atom_form((AtomOp)(op - TENSOR_REDUCE_ADD), t);
    const uint32_t size = t->bits / 8;
    for (uint32_t i = 0; i < bytes; i += size) {
        uint64_t x = 0;
        memcpy(&x, (const uint8_t *)shared + i, size);
        atom_exchange(&f, (uint8_t *)global + i, x, 0);
    }
}
