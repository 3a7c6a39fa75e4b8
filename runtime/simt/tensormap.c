/* Tensor maps, tiled mode: made by the host or field by field in a kernel, and judged. A map can
   hold wrong values, since kernels put one together in pieces; it is checked when it is made by the
   host and when it is used. */
#include <string.h>

#include "simt/tensormap.h"

_Static_assert(sizeof(TensorMap) == 128, "the size of a CUtensorMap");

typedef enum Kind { KIND_NONE, KIND_INT, KIND_FLOAT, KIND_OTHER } Kind;

typedef struct TypeInfo {
    int host, bytes;
    Kind kind;
} TypeInfo;

static const TypeInfo types[TENSOR_TYPE_COUNT] = {
#define TENSOR_TYPE(NAME, TEXT, NUMBER, HOST, BYTES, KIND) [NUMBER] = {HOST, BYTES, KIND_##KIND},
#include "tensor_types.def"
#undef TENSOR_TYPE
};

enum { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B, FILL_NAN = 1, MOST_PROMOTION = 3 };
enum { ALIGNMENT = 16, MOST_BOX = 256, MOST_ELEMENT_STRIDE = 8, MOST_EXTENT = 1 << 18 };
static const uint64_t most_dim = UINT64_C(1) << 32, stride_limit = UINT64_C(1) << 40;

static int rank_of(const TensorMap *map)
{
    return map->rank_less_one + 1;
}

static uint32_t inner_bytes(const TensorMap *map)
{
    return map->box[0] * (uint32_t)types[map->type].bytes;
}

static uint32_t span_of(const TensorMap *map)
{
    return map->swizzle ? 16u << map->swizzle : 0;
}

/* ---- the box ---- */

/* Elements moved along a dimension other than the first, which has no element stride. */
static uint32_t steps_of(const TensorMap *map, int i)
{
    return (map->box[i] + map->element_stride[i] - 1) / map->element_stride[i];
}

static uint32_t rows_of(const TensorMap *map)
{
    uint32_t rows = 1;
    for (int i = 1; i < rank_of(map); i++) rows *= steps_of(map, i);
    return rows;
}

bool simt_tensor_map_begins(const TensorMap *map, int32_t coordinate)
{
    return !map->swizzle || (int64_t)coordinate * types[map->type].bytes % ALIGNMENT == 0;
}

/* A swizzled row takes the swizzle's whole span, whatever the box has of it. */
static uint32_t pitch_of(const TensorMap *map)
{
    return map->swizzle ? span_of(map) : inner_bytes(map);
}

/* ---- judging ---- */

static const char *wrong_tensor(const TensorMap *map)
{
    if (map->address % ALIGNMENT) return "the global address is not a multiple of 16";
    for (int i = 0; i < rank_of(map); i++)
        if (map->dim[i] == 0 || map->dim[i] > most_dim) return "a dimension is not in 1 ... 2^32";
    for (int i = 0; i < rank_of(map) - 1; i++) {
        if (map->stride[i] % ALIGNMENT) return "a global stride is not a multiple of 16";
        if (map->stride[i] >= stride_limit) return "a global stride is not less than 2^40";
    }
    return NULL;
}

static bool fits_shared(const TensorMap *map)
{
    uint64_t bytes = pitch_of(map);
    for (int i = 1; i < rank_of(map) && bytes <= MOST_EXTENT; i++) bytes *= steps_of(map, i);
    return bytes <= MOST_EXTENT;
}

static const char *wrong_box(const TensorMap *map)
{
    for (int i = 0; i < rank_of(map); i++)
        if (map->box[i] == 0 || map->box[i] > MOST_BOX)
            return "a box dimension is not in 1 ... 256";
    for (int i = 1; i < rank_of(map); i++)
        if (map->element_stride[i] == 0 || map->element_stride[i] > MOST_ELEMENT_STRIDE)
            return "an element stride is not in 1 ... 8";
    if (inner_bytes(map) % ALIGNMENT)
        return "the inner box dimension is not a multiple of 16 bytes";
    if (map->swizzle && inner_bytes(map) > span_of(map))
        return "the inner box dimension is wider than the swizzle";
    return fits_shared(map) ? NULL : "the box is larger than shared memory";
}

static const char *wrong_kind(const TensorMap *map)
{
    if (rank_of(map) > TENSOR_RANK) return "the rank is not in 1 ... 5";
    if (map->fill > FILL_NAN) return "no such fill mode";
    if (map->promotion > MOST_PROMOTION) return "no such promotion in the level 2 cache";
    if (map->type < TENSOR_TYPE_COUNT && map->fill == FILL_NAN && types[map->type].kind == KIND_INT)
        return "integers cannot be filled with NaN";
    return NULL;
}

static const char *not_emulated(const TensorMap *map)
{
    if (map->type >= TENSOR_TYPE_COUNT || types[map->type].kind == KIND_OTHER)
        return "the element type is not emulated";
    if (map->interleave) return "interleaved layouts are not emulated";
    if (map->swizzle > SWIZZLE_128B || map->atomicity) return "the swizzle is not emulated";
    return NULL;
}

TensorVerdict simt_tensor_map_check(const TensorMap *map, const char **why)
{
    *why = wrong_kind(map);
    if (*why) return TENSOR_INVALID;
    *why = not_emulated(map);
    if (*why) return TENSOR_NOT_EMULATED;
    *why = wrong_tensor(map);
    if (!*why) *why = wrong_box(map);
    return *why ? TENSOR_INVALID : TENSOR_VALID;
}

/* ---- making ---- */

/* TENSOR_TYPE_COUNT where the host's number means none of ours. */
static int type_of_host(int number)
{
    int type = 0;
    while (type < TENSOR_TYPE_COUNT && types[type].host != number) type++;
    return type;
}

static uint8_t small(int number)
{
    return (uint8_t)(number < 0 || number > UINT8_MAX ? UINT8_MAX : number);
}

TensorVerdict simt_tensor_map_encode(TensorMap *map, const TensorTiled *from, const char **why)
{
    *why = "the tensor map is not aligned to 64 bytes";
    if ((uintptr_t)map % 64) return TENSOR_INVALID;
    *why = "the rank is not in 1 ... 5";
    if (from->rank < 1 || from->rank > TENSOR_RANK) return TENSOR_INVALID;
    TensorMap made = {.address = from->address,
                      .rank_less_one = (uint8_t)(from->rank - 1),
                      .type = (uint8_t)type_of_host(from->type),
                      .interleave = small(from->interleave),
                      .swizzle = small(from->swizzle),
                      .fill = small(from->fill),
                      .promotion = small(from->promotion)};
    memcpy(made.dim, from->dim, from->rank * sizeof *made.dim);
    if (from->rank > 1) memcpy(made.stride, from->stride, (from->rank - 1) * sizeof *made.stride);
    memcpy(made.box, from->box, from->rank * sizeof *made.box);
    memcpy(made.element_stride, from->element_stride, from->rank * sizeof *made.element_stride);
    const TensorVerdict verdict = simt_tensor_map_check(&made, why);
    if (verdict == TENSOR_VALID) *map = made;
    return verdict;
}

static const TensorField fields[] = {
#define TENSOR_FIELD(NAME, MEMBER, COUNT, BITS)                                                    \
    {#NAME, offsetof(TensorMap, MEMBER), sizeof(((TensorMap *)0)->MEMBER) / COUNT, COUNT, BITS},
#include "tensor_fields.def"
#undef TENSOR_FIELD
};

const TensorField *simt_tensor_field(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len)) return &fields[i];
    return NULL;
}

bool simt_tensor_map_replace(TensorMap *map, const TensorField *f, uint32_t ordinal, uint64_t value)
{
    if (f->bits == 32) value = (uint32_t)value;
    if (ordinal >= f->count || (f->size < 8 && value >> (8 * f->size))) return false;
    memcpy((uint8_t *)map + f->at + ordinal * f->size, &value, f->size);
    return true;
}

/* ---- walking ---- */

uint32_t simt_tensor_map_bytes(const TensorMap *map)
{
    return rows_of(map) * inner_bytes(map);
}

uint32_t simt_tensor_map_extent(const TensorMap *map)
{
    return (rows_of(map) - 1) * pitch_of(map) + inner_bytes(map);
}

/* Where a row of the box begins in global memory, without dimension 0; false: beyond the tensor. */
static bool find_row(const TensorMap *map, const int32_t *coordinates, uint32_t row,
                     uint64_t *global)
{
    bool inside = true;
    *global = map->address;
    for (int i = 1; i < rank_of(map); i++) {
        const uint32_t step = row % steps_of(map, i);
        const int64_t at = coordinates[i] + (int64_t)step * map->element_stride[i];
        row /= steps_of(map, i);
        inside = inside && (uint64_t)at < map->dim[i]; /* what is below 0 is a large number */
        *global += (uint64_t)at * map->stride[i - 1];
    }
    return inside;
}

typedef struct Walk {
    const TensorMap *map;
    TensorVisit *visit;
    void *user;
} Walk;

/* Units of 16 bytes change places by the shared address: as many of bits 4 … 6 as the span has are
   xored with bits 7 … 9. */
static uint32_t swizzled(const TensorMap *map, uint32_t address)
{
    if (!map->swizzle) return address;
    return address ^ ((address >> 7 & (span_of(map) / 16 - 1)) << 4);
}

/* Bytes `from` … `to` of a row that begins at these addresses. */
static bool visit_part(const Walk *w, TensorRun row, uint32_t from, uint32_t to)
{
    while (from < to) {
        const uint32_t unit_end = w->map->swizzle ? (from / 16 + 1) * 16 : to;
        const uint32_t end = unit_end < to ? unit_end : to;
        const TensorRun run = {row.inside ? row.global + from : 0,
                               swizzled(w->map, row.shared + from), end - from, row.inside};
        if (!w->visit(w->user, &run)) return false;
        from = end;
    }
    return true;
}

static uint32_t limited(int64_t v, uint32_t most)
{
    return v < 0 ? 0 : v > most ? most : (uint32_t)v;
}

/* What lies before the tensor, in it, and after it. */
static bool visit_row(const Walk *w, TensorRun row, int32_t first)
{
    const int64_t size = types[w->map->type].bytes;
    const uint32_t all = inner_bytes(w->map);
    const uint32_t begin = row.inside ? limited(-(int64_t)first * size, all) : all;
    const uint32_t end = row.inside ? limited(((int64_t)w->map->dim[0] - first) * size, all) : all;
    TensorRun outside = row;
    outside.inside = false;
    row.global += (uint64_t)(first * size);
    return visit_part(w, outside, 0, begin) && visit_part(w, row, begin, end) &&
           visit_part(w, outside, end, all);
}

bool simt_tensor_map_walk(const TensorMap *map, const int32_t *coordinates, uint32_t shared,
                          TensorVisit *visit, void *user)
{
    const Walk w = {map, visit, user};
    for (uint32_t row = 0; row < rows_of(map); row++) {
        TensorRun run = {.shared = shared + row * pitch_of(map)};
        run.inside = find_row(map, coordinates, row, &run.global);
        if (!visit_row(&w, run, coordinates[0])) return false;
    }
    return true;
}

/* NaN: all bits but the sign, in every float type. */
void simt_tensor_map_fill(const TensorMap *map, void *to, uint32_t bytes)
{
    const uint32_t size = (uint32_t)types[map->type].bytes;
    memset(to, map->fill == FILL_NAN ? 0xff : 0, bytes);
    for (uint32_t i = size; map->fill == FILL_NAN && i <= bytes; i += size)
        ((uint8_t *)to)[i - 1] = 0x7f;
}
