/* Tensor maps: a tensor in global memory, a box of it in shared memory, and the way between. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_RANK = 5, TENSOR_SHARED_ALIGNMENT = 128 };

/* The 128 bytes that programs carry about. Dimension 0 has neighbours in memory; numbers of types
   and modes are those of tensormap.replace. All zero is a map of nothing, whose fields may be
   replaced one by one. */
typedef struct TensorMap {
    uint64_t address;
    uint64_t dim[TENSOR_RANK];        /* elements */
    uint64_t stride[TENSOR_RANK - 1]; /* bytes, of dimensions 1 … */
    uint32_t box[TENSOR_RANK];        /* elements spanned */
    uint32_t element_stride[TENSOR_RANK];
    uint8_t rank_less_one, type, interleave, swizzle, atomicity, fill, promotion, unused;
} TensorMap;

typedef enum TensorType {
#define TENSOR_TYPE(NAME, TEXT, NUMBER, HOST, BYTES, KIND) TENSOR_##NAME = NUMBER,
#include "tensor_types.def"
#undef TENSOR_TYPE
    TENSOR_TYPE_COUNT
} TensorType;

/* INVALID: the driver would refuse it; NOT_EMULATED: a GPU has it (interleaved layouts, swizzles of
   sm_100, sorts of fp32). *why: what is wrong. */
typedef enum TensorVerdict { TENSOR_VALID, TENSOR_INVALID, TENSOR_NOT_EMULATED } TensorVerdict;
TensorVerdict simt_tensor_map_check(const TensorMap *map, const char **why);

/* cuTensorMapEncodeTiled's arguments, in its numbers. */
typedef struct TensorTiled {
    int type;
    uint32_t rank;
    uint64_t address;
    const uint64_t *dim;    /* [rank] */
    const uint64_t *stride; /* [rank - 1] */
    const uint32_t *box, *element_stride;
    int interleave, swizzle, promotion, fill;
} TensorTiled;
/* Valid: *map is it, 64-byte aligned; else *map is unchanged. */
TensorVerdict simt_tensor_map_encode(TensorMap *map, const TensorTiled *from, const char **why);

/* tensormap.replace.tile */
typedef struct TensorField {
    const char *name;
    size_t at, size; /* of one value in the map */
    uint32_t count;  /* above 1: values have ordinals */
    int bits;        /* 32: .b32 */
} TensorField;
const TensorField *simt_tensor_field(const char *name, size_t len); /* NULL: none */
/* False: no such ordinal, or a value that no such field can hold. */
bool simt_tensor_map_replace(TensorMap *map, const TensorField *field, uint32_t ordinal,
                             uint64_t value);

/* ---- for maps that have been checked ---- */

/* Bytes neighbouring in global and in shared memory; not inside: beyond the tensor, `global` is
   nothing. */
typedef struct TensorRun {
    uint64_t global;
    uint32_t shared;
    uint32_t bytes;
    bool inside;
} TensorRun;
typedef bool TensorVisit(void *user, const TensorRun *run);
/* The box at these coordinates ([rank], dimension 0 first; some may lie beyond the tensor) and at
   this shared address, a multiple of TENSOR_SHARED_ALIGNMENT. Stops where the visitor says false,
   which is then the answer. */
bool simt_tensor_map_walk(const TensorMap *map, const int32_t *coordinates, uint32_t shared,
                          TensorVisit *visit, void *user);
/* Whether a row of the box there begins where a swizzled one may, at a multiple of 16 bytes: an H200 takes what begins elsewhere for an
   illegal instruction. */
bool simt_tensor_map_begins(const TensorMap *map, int32_t coordinate);
/* What one box counts for in an mbarrier; its extent in shared memory may be larger. */
uint32_t simt_tensor_map_bytes(const TensorMap *map);
uint32_t simt_tensor_map_extent(const TensorMap *map);
/* What loads put where the tensor is not. */
void simt_tensor_map_fill(const TensorMap *map, void *to, uint32_t bytes);
