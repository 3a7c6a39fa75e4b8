/* cp.reduce.async.bulk.tensor: elements of shared memory combined with those in global memory. */
#ifndef TKC_RUNTIME_SIMT_TENSOR_REDUCE_H
#define TKC_RUNTIME_SIMT_TENSOR_REDUCE_H

#include "simt/tensormap.h"

typedef enum TensorReduction {
    TENSOR_REDUCE_NONE,
    TENSOR_REDUCE_ADD,
    TENSOR_REDUCE_MIN,
    TENSOR_REDUCE_MAX,
    TENSOR_REDUCE_INC,
    TENSOR_REDUCE_DEC,
    TENSOR_REDUCE_AND,
    TENSOR_REDUCE_OR,
    TENSOR_REDUCE_XOR,
    TENSOR_REDUCTION_COUNT
} TensorReduction;

TensorReduction simt_tensor_reduction(const char *name, size_t len);
bool simt_tensor_can_reduce(TensorType type, TensorReduction op);
/* By an op that the type has, each element in one atomic step; `global` is aligned to the element, bytes a multiple of it. */
void simt_tensor_reduce(TensorType type, TensorReduction op, void *global, const void *shared,
                        uint32_t bytes);

#endif
