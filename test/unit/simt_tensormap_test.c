/* Tensor maps. Boxes are carried out and compared, element by element, with where this file finds
   them: from the element's coordinates, never by walking. */
#include <stdlib.h>

#include "simt/atomic.h"

#include "expect.h"

enum { SHARED = 1 << 16, GLOBAL = 1 << 16, UNTOUCHED = 0xcc, BASE = 2048 };

static _Alignas(64) uint8_t global[GLOBAL];
static _Alignas(64) uint8_t shared[SHARED];

/* ---- making a map ---- */

enum { HOST_U8 = 0, HOST_S32 = 3, HOST_F16 = 6, HOST_F32 = 7, HOST_F64 = 8, HOST_BF16 = 9 };

typedef struct Case {
    int type, size; /* the host's number, bytes */
    uint32_t rank, box[TENSOR_RANK], element_stride[TENSOR_RANK];
    uint64_t dim[TENSOR_RANK], stride[TENSOR_RANK - 1];
    int32_t at[TENSOR_RANK];
    int swizzle, fill;
} Case;

static TensorTiled tiled_of(const Case *c)
{
    return (TensorTiled){.type = c->type,
                         .rank = c->rank,
                         .address = (uintptr_t)global,
                         .dim = c->dim,
                         .stride = c->stride,
                         .box = c->box,
                         .element_stride = c->element_stride,
                         .swizzle = c->swizzle,
                         .fill = c->fill};
}

static const Case plain = {.type = HOST_F16,
                           .size = 2,
                           .rank = 2,
                           .box = {16, 8},
                           .element_stride = {1, 1},
                           .dim = {40, 30},
                           .stride = {96}};

/* ---- what is refused ---- */

static void expect_verdict(const TensorTiled *t, TensorVerdict wanted, const char *part)
{
    _Alignas(64) TensorMap map = {.unused = 7};
    const char *why = NULL;
    EXPECT_INT(simt_tensor_map_encode(&map, t, &why), wanted);
    if (wanted == TENSOR_VALID) return;
    if (!why || !strstr(why, part)) expect_str(__FILE__, __LINE__, why, part);
    EXPECT_INT(map.unused, 7);
}

static void expect_case(Case c, TensorVerdict wanted, const char *part)
{
    const TensorTiled t = tiled_of(&c);
    expect_verdict(&t, wanted, part);
}

#define CHANGED(CHANGE)                                                                            \
    do {                                                                                           \
        c = plain;                                                                                 \
        CHANGE;                                                                                    \
    } while (0)

static void limits_of_tensors(void)
{
    Case c;
    CHANGED(c.rank = 0);
    expect_case(c, TENSOR_INVALID, "rank");
    CHANGED(c.rank = 6);
    expect_case(c, TENSOR_INVALID, "rank");
    CHANGED(c.dim[1] = 0);
    expect_case(c, TENSOR_INVALID, "a dimension");
    CHANGED(c.dim[0] = UINT64_C(1) << 32);
    expect_case(c, TENSOR_VALID, "");
    CHANGED(c.dim[0] = (UINT64_C(1) << 32) + 1);
    expect_case(c, TENSOR_INVALID, "a dimension");
    CHANGED(c.stride[0] = 88);
    expect_case(c, TENSOR_INVALID, "stride is not a multiple of 16");
    CHANGED(c.stride[0] = UINT64_C(1) << 40);
    expect_case(c, TENSOR_INVALID, "less than 2^40");
    CHANGED(c.stride[0] -= 8; c.rank = 1);
    expect_case(c, TENSOR_VALID, "");
}

static void limits_of_boxes(void)
{
    Case c;
    CHANGED(c.box[1] = 0);
    expect_case(c, TENSOR_INVALID, "a box dimension");
    CHANGED(c.box[1] = 256);
    expect_case(c, TENSOR_VALID, "");
    CHANGED(c.box[1] = 257);
    expect_case(c, TENSOR_INVALID, "a box dimension");
    CHANGED(c.box[0] = 12);
    expect_case(c, TENSOR_INVALID, "multiple of 16 bytes");
    CHANGED(c.element_stride[1] = 8);
    expect_case(c, TENSOR_VALID, "");
    CHANGED(c.element_stride[1] = 9);
    expect_case(c, TENSOR_INVALID, "element stride");
    CHANGED(c.element_stride[1] = 0);
    expect_case(c, TENSOR_INVALID, "element stride");
    for (int swizzle = 1; swizzle <= 3; swizzle++) {
        CHANGED(c.swizzle = swizzle; c.box[0] = 8u << swizzle);
        expect_case(c, TENSOR_VALID, "");
        c.box[0] += 8;
        expect_case(c, TENSOR_INVALID, "wider than the swizzle");
    }
}

static void boxes_fit_shared_memory(void)
{
    Case c = {.type = HOST_F32, .size = 4, .rank = 5, .element_stride = {1, 1, 1, 1, 1}};
    for (int i = 0; i < TENSOR_RANK; i++) c.box[i] = 256, c.dim[i] = 1000;
    expect_case(c, TENSOR_INVALID, "shared memory");
    c.box[3] = c.box[4] = c.box[2] = 1;
    expect_case(c, TENSOR_VALID, "");
    c.box[2] = 2;
    expect_case(c, TENSOR_INVALID, "shared memory");
    c.element_stride[2] = 2;
    expect_case(c, TENSOR_VALID, "");
}

static void limits_of_kinds(void)
{
    Case c;
    CHANGED(c.fill = 2);
    expect_case(c, TENSOR_INVALID, "fill");
    CHANGED(c.fill = 1; c.type = HOST_S32);
    expect_case(c, TENSOR_INVALID, "NaN");
    CHANGED(c.fill = 1; c.type = HOST_BF16);
    expect_case(c, TENSOR_VALID, "");
    CHANGED(c.type = 10);
    expect_case(c, TENSOR_NOT_EMULATED, "element type");
    CHANGED(c.type = 99);
    expect_case(c, TENSOR_NOT_EMULATED, "element type");
    CHANGED(c.swizzle = 4);
    expect_case(c, TENSOR_NOT_EMULATED, "swizzle");
    TensorTiled t = tiled_of(&plain);
    t.interleave = 1;
    expect_verdict(&t, TENSOR_NOT_EMULATED, "interleaved");
    t = tiled_of(&plain);
    t.promotion = 4;
    expect_verdict(&t, TENSOR_INVALID, "level 2");
    t = tiled_of(&plain);
    t.address += 8;
    expect_verdict(&t, TENSOR_INVALID, "global address");
    t = tiled_of(&plain);
    _Alignas(64) TensorMap maps[2];
    const char *why;
    EXPECT_INT(simt_tensor_map_encode((TensorMap *)((char *)maps + 32), &t, &why), TENSOR_INVALID);
    EXPECT(strstr(why, "64 bytes"));
}

/* ---- made in a kernel ---- */

static bool put(TensorMap *map, const char *name, uint32_t ordinal, uint64_t value)
{
    const TensorField *field = simt_tensor_field(name, strlen(name));
    EXPECT(field);
    return simt_tensor_map_replace(map, field, ordinal, value);
}

static void replaced(void)
{
    _Alignas(64) TensorMap map, made = {0};
    const char *why;
    Case c = plain;
    c.type = HOST_BF16, c.swizzle = 3, c.fill = 1;
    const TensorTiled t = tiled_of(&c);
    EXPECT_INT(simt_tensor_map_check(&made, &why), TENSOR_INVALID);
    EXPECT_INT(simt_tensor_map_encode(&map, &t, &why), TENSOR_VALID);
    EXPECT(put(&made, "global_address", 0, (uintptr_t)global) && put(&made, "rank", 0, 1));
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT(put(&made, "box_dim", i, c.box[i]) && put(&made, "global_dim", i, c.dim[i]));
        EXPECT(put(&made, "element_stride", i, UINT64_C(0xff00000000) | c.element_stride[i]));
    }
    EXPECT(put(&made, "global_stride", 0, c.stride[0]) && put(&made, "elemtype", 0, 10));
    EXPECT(put(&made, "interleave_layout", 0, 0) && put(&made, "swizzle_mode", 0, 3));
    EXPECT(put(&made, "swizzle_atomicity", 0, 0) && put(&made, "fill_mode", 0, 1));
    EXPECT(memcmp(&map, &made, sizeof map) == 0);
    EXPECT(!put(&made, "global_stride", 4, 16) && put(&made, "global_stride", 3, 16));
    EXPECT(!put(&made, "box_dim", 5, 16) && !put(&made, "rank", 1, 1) &&
           !put(&made, "rank", 0, 256));
    EXPECT(!simt_tensor_field("boxdim", 6));
    EXPECT_INT(simt_tensor_field("global_stride", 13)->bits, 64);
    EXPECT_INT(simt_tensor_field("global_dim", 10)->bits, 32);
    EXPECT_INT(simt_tensor_field("box_dim", 7)->count, 5);
    EXPECT_INT(simt_tensor_field("rank", 4)->count, 1);
}

/* Numbers and sizes of types, where the host's order is not tensormap.replace's. */
static void types(void)
{
    static const int wanted[][3] = {{0, 0, 1}, {1, 1, 2}, {2, 2, 4}, {3, 3, 4}, {4, 4, 8},
                                    {5, 5, 8}, {6, 6, 2}, {7, 7, 4}, {8, 9, 8}, {9, 10, 2}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        _Alignas(64) TensorMap map;
        const char *why;
        Case c = plain;
        c.type = wanted[i][0];
        const TensorTiled t = tiled_of(&c);
        EXPECT_INT(simt_tensor_map_encode(&map, &t, &why), TENSOR_VALID);
        EXPECT_INT(map.type, wanted[i][1]);
        EXPECT_INT(simt_tensor_map_bytes(&map), 16 * 8 * wanted[i][2]);
    }
}

/* ---- boxes ---- */

typedef struct Copy {
    const TensorMap *map;
    bool store;
    uint32_t bytes, runs, limit; /* runs after which the visitor has enough */
} Copy;

static bool copy_run(void *user, const TensorRun *run)
{
    Copy *copy = user;
    copy->bytes += run->bytes;
    if (++copy->runs == copy->limit) return false;
    EXPECT(run->shared + run->bytes <= SHARED);
    uint8_t *memory = (uint8_t *)(uintptr_t)run->global;
    if (run->inside) EXPECT(memory >= global && memory + run->bytes <= global + GLOBAL);
    if (copy->store && run->inside) memcpy(memory, shared + run->shared, run->bytes);
    else if (!copy->store && run->inside) memcpy(shared + run->shared, memory, run->bytes);
    else if (!copy->store) simt_tensor_map_fill(copy->map, shared + run->shared, run->bytes);
    return true;
}

/* Where an element of the box lies: rows one after the other, each as wide as the box or, swizzled,
   as the swizzle. In 128 bytes of shared memory there are 8 pieces; line number n of 128 bytes
   moves them within groups of 2, 4 or 8 (spans of 32, 64, 128) by xor with n. */
static uint32_t shared_place(const Case *c, const uint32_t *index)
{
    static const uint32_t spans[] = {0, 32, 64, 128};
    const uint32_t pitch = c->swizzle ? spans[c->swizzle] : c->box[0] * (uint32_t)c->size;
    uint32_t row = 0;
    for (int i = (int)c->rank - 1; i > 0; i--) {
        const uint32_t steps = (c->box[i] + c->element_stride[i] - 1) / c->element_stride[i];
        row = row * steps + index[i];
    }
    const uint32_t place = BASE + row * pitch + index[0] * (uint32_t)c->size;
    if (!c->swizzle) return place;
    const uint32_t pieces = spans[c->swizzle] / 16, line = place / 128, piece = place / 16 % 8;
    const uint32_t moved = piece / pieces * pieces + (piece % pieces ^ line % pieces);
    return line * 128 + moved * 16 + place % 16;
}

/* NULL: beyond the tensor. */
static uint8_t *global_place(const Case *c, const uint32_t *index)
{
    uint8_t *at = global;
    for (uint32_t i = 0; i < c->rank; i++) {
        const int64_t x = c->at[i] + (int64_t)index[i] * (i ? c->element_stride[i] : 1);
        if (x < 0 || x >= (int64_t)c->dim[i]) return NULL;
        at += x * (int64_t)(i ? c->stride[i - 1] : (uint64_t)c->size);
    }
    return at;
}

static bool next(const Case *c, uint32_t *index)
{
    for (uint32_t i = 0; i < c->rank; i++) {
        const uint32_t by = i ? c->element_stride[i] : 1;
        if (++index[i] < (c->box[i] + by - 1) / by) return true;
        index[i] = 0;
    }
    return false;
}

static bool is_fill(const Case *c, const uint8_t *element)
{
    const uint8_t body = c->fill ? 0xff : 0, top = c->fill ? 0x7f : 0;
    for (int i = 0; i < c->size - 1; i++)
        if (element[i] != body) return false;
    return element[c->size - 1] == top;
}

static void randomize(uint8_t *bytes, size_t n)
{
    uint64_t x = (uint64_t)rand() << 32 | 1;
    for (size_t i = 0; i < n; i += sizeof x) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        memcpy(bytes + i, &x, sizeof x);
    }
}

static void loads(const Case *c, const TensorMap *map)
{
    Copy copy = {.map = map};
    uint32_t index[TENSOR_RANK] = {0}, elements = 0, wrong = 0, touched = 0;
    randomize(global, sizeof global);
    memset(shared, UNTOUCHED, sizeof shared);
    EXPECT(simt_tensor_map_walk(map, c->at, BASE, copy_run, &copy));
    do {
        uint8_t *from = global_place(c, index), *to = shared + shared_place(c, index);
        elements++;
        wrong += from ? memcmp(from, to, (size_t)c->size) != 0 : !is_fill(c, to);
        memset(to, UNTOUCHED, (size_t)c->size);
    } while (next(c, index));
    for (uint32_t i = 0; i < SHARED; i++) touched += shared[i] != UNTOUCHED;
    EXPECT_INT(wrong, 0);
    EXPECT_INT(touched, 0);
    EXPECT_INT(copy.bytes, elements * (uint32_t)c->size);
    EXPECT_INT(simt_tensor_map_bytes(map), copy.bytes);
}

static void stores(const Case *c, const TensorMap *map)
{
    static uint8_t wanted[GLOBAL];
    Copy copy = {.map = map, .store = true};
    uint32_t index[TENSOR_RANK] = {0};
    randomize(shared, sizeof shared);
    randomize(global, sizeof global);
    memcpy(wanted, global, sizeof global);
    do {
        uint8_t *to = global_place(c, index);
        if (to) memcpy(wanted + (to - global), shared + shared_place(c, index), (size_t)c->size);
    } while (next(c, index));
    EXPECT(simt_tensor_map_walk(map, c->at, BASE, copy_run, &copy));
    EXPECT(memcmp(wanted, global, sizeof global) == 0);
}

static void carries(const Case *c)
{
    _Alignas(64) TensorMap map;
    const char *why = "";
    const TensorTiled t = tiled_of(c);
    if (simt_tensor_map_encode(&map, &t, &why) != TENSOR_VALID)
        expect_str(__FILE__, __LINE__, why, "");
    loads(c, &map);
    stores(c, &map);
}

static void swizzles(void)
{
    for (int swizzle = 0; swizzle <= 3; swizzle++)
        for (uint32_t width = 16; width <= 128; width += 16) {
            if (swizzle && width > 16u << swizzle) continue;
            Case c = plain;
            c.swizzle = swizzle;
            c.box[0] = width / 2, c.box[1] = 24;
            c.dim[0] = 200, c.stride[0] = 400;
            c.at[0] = 3, c.at[1] = 2;
            carries(&c);
        }
}

static void edges(void)
{
    for (int swizzle = 0; swizzle <= 3; swizzle += 3)
        for (int32_t x = -70; x <= 90; x += 5)
            for (int32_t y = -12; y <= 36; y += 4) {
                Case c = plain;
                c.box[0] = 64, c.swizzle = swizzle;
                c.fill = y % 8 == 0;
                c.at[0] = x, c.at[1] = y;
                carries(&c);
            }
    Case c = plain;
    c.at[0] = INT32_MAX, c.at[1] = INT32_MIN;
    carries(&c);
    c.at[0] = INT32_MIN, c.at[1] = 3;
    carries(&c);
}

static void ranks(void)
{
    Case c = {.type = HOST_F32,
              .size = 4,
              .box = {8, 3, 4, 2, 3},
              .element_stride = {5, 1, 2, 1, 3},
              .dim = {20, 5, 9, 3, 4},
              .stride = {96, 480, 4336, 13008},
              .at = {-2, 3, 1, -1, 2}};
    for (c.rank = 1; c.rank <= TENSOR_RANK; c.rank++)
        for (c.fill = 0; c.fill < 2; c.fill++) carries(&c);
    c.rank = TENSOR_RANK, c.type = HOST_F64, c.size = 8, c.dim[0] = 12, c.swizzle = 2, c.fill = 0;
    carries(&c);
    c.type = HOST_U8, c.size = 1, c.box[0] = 32, c.dim[0] = 96, c.fill = 0, c.swizzle = 1;
    carries(&c);
}

static void stops(void)
{
    _Alignas(64) TensorMap map;
    const char *why;
    const TensorTiled t = tiled_of(&plain);
    Copy copy = {.map = &map, .limit = 3};
    EXPECT_INT(simt_tensor_map_encode(&map, &t, &why), TENSOR_VALID);
    EXPECT(!simt_tensor_map_walk(&map, plain.at, BASE, copy_run, &copy));
    EXPECT_INT(copy.runs, 3);
}

static bool count_bytes(void *user, const TensorRun *run)
{
    *(uint64_t *)user += run->bytes;
    return true;
}

static const TensorField *any_field(void)
{
    static const char *const names[] = {
#define TENSOR_FIELD(NAME, MEMBER, COUNT, BITS) #NAME,
#include "simt/tensor_fields.def"
#undef TENSOR_FIELD
    };
    const char *name = names[(size_t)rand() % (sizeof names / sizeof *names)];
    return simt_tensor_field(name, strlen(name));
}

/* Whatever a kernel puts into a map: it is judged, and what is valid can be walked. */
static void anything(void)
{
    int valid = 0;
    for (int i = 0; i < 20000; i++) {
        _Alignas(64) TensorMap map = {0};
        const char *why;
        int32_t at[TENSOR_RANK + 1];
        for (int j = 0; j < 60; j++) {
            const TensorField *field = any_field();
            const uint64_t value =
                rand() % 5 ? (uint64_t)(rand() % 40) * 16 : (uint64_t)(rand() % 6);
            simt_tensor_map_replace(&map, field, (uint32_t)rand() % 5, value);
        }
        randomize((uint8_t *)at, sizeof at);
        if (i % 2) put(&map, "fill_mode", 0, 0), put(&map, "interleave_layout", 0, 0);
        if (i % 2) put(&map, "swizzle_atomicity", 0, 0), put(&map, "elemtype", 0, (uint64_t)i % 8);
        if (simt_tensor_map_check(&map, &why) != TENSOR_VALID) continue;
        uint64_t bytes = 0;
        EXPECT(simt_tensor_map_walk(&map, at, BASE, count_bytes, &bytes));
        EXPECT(bytes == simt_tensor_map_bytes(&map));
        valid++;
    }
    EXPECT(valid > 100);
}

/* ---- reductions ---- */

static uint64_t reduced(TensorType type, AtomOp op, uint64_t x, uint64_t y)
{
    uint64_t to[2] = {x, UINT64_C(0xa5a5a5a5a5a5a5a5)};
    const int bytes = type == TENSOR_F16 || type == TENSOR_BF16                        ? 2
                      : type == TENSOR_U32 || type == TENSOR_S32 || type == TENSOR_F32 ? 4
                                                                                       : 8;
    EXPECT(atom_can_reduce(op, type));
    atom_reduce(op, type, to, &y, (uint32_t)bytes);
    EXPECT(to[1] == UINT64_C(0xa5a5a5a5a5a5a5a5));
    return to[0];
}

static void whole_numbers(void)
{
    EXPECT_INT(reduced(TENSOR_U32, ATOM_ADD, 0xffffffff, 2), 1);
    EXPECT_INT(reduced(TENSOR_S32, ATOM_MIN, 1, 0xffffffff), 0xffffffff);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_MIN, 1, 0xffffffff), 1);
    EXPECT_INT(reduced(TENSOR_S32, ATOM_MAX, 1, 0xffffffff), 1);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_MAX, 1, 0xffffffff), 0xffffffff);
    EXPECT(reduced(TENSOR_S64, ATOM_MAX, 1, UINT64_MAX) == 1);
    EXPECT(reduced(TENSOR_U64, ATOM_MAX, 1, UINT64_MAX) == UINT64_MAX);
    EXPECT(reduced(TENSOR_U64, ATOM_ADD, UINT64_MAX, 3) == 2);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_INC, 6, 7), 7);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_INC, 7, 7), 0);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_DEC, 0, 7), 7);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_DEC, 9, 7), 7);
    EXPECT_INT(reduced(TENSOR_U32, ATOM_DEC, 3, 7), 2);
    EXPECT_INT(reduced(TENSOR_S32, ATOM_AND, 0xf0, 0x3c), 0x30);
    EXPECT_INT(reduced(TENSOR_U64, ATOM_OR, 0xf0, 0x3c), 0xfc);
    EXPECT_INT(reduced(TENSOR_S64, ATOM_XOR, 0xf0, 0x3c), 0xcc);
}

static void floats(void)
{
    EXPECT_INT(reduced(TENSOR_F16, ATOM_ADD, 0x3c00, 0x4000), 0x4200);
    EXPECT_INT(reduced(TENSOR_F16, ATOM_ADD, 0x7c00, 0xfc00), 0x7fff);
    EXPECT_INT(reduced(TENSOR_F16, ATOM_ADD, 0x0001, 0x0001), 0x0002);
    EXPECT_INT(reduced(TENSOR_F16, ATOM_MIN, 0x0000, 0x8000), 0x8000);
    EXPECT_INT(reduced(TENSOR_F16, ATOM_MAX, 0x8000, 0x0000), 0x0000);
    EXPECT_INT(reduced(TENSOR_BF16, ATOM_MAX, 0x7fc0, 0x3f80), 0x3f80);
    EXPECT_INT(reduced(TENSOR_BF16, ATOM_MIN, 0x3f80, 0x7fc0), 0x3f80);
    EXPECT_INT(reduced(TENSOR_BF16, ATOM_MIN, 0x7fc0, 0x7fc0), 0x7fff);
    EXPECT_INT(reduced(TENSOR_F32, ATOM_ADD, 0x3f800000, 0x33800000), 0x3f800000);
    EXPECT(reduced(TENSOR_F64, ATOM_ADD, UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000)) ==
           UINT64_C(0x4000000000000000));
}

static void no_such_reduction(void)
{
    EXPECT(!atom_can_reduce(ATOM_ADD, TENSOR_U8));
    EXPECT(!atom_can_reduce(ATOM_MIN, TENSOR_F32));
    EXPECT(!atom_can_reduce(ATOM_INC, TENSOR_S32));
    EXPECT(!atom_can_reduce(ATOM_AND, TENSOR_F16));
    EXPECT(!atom_can_reduce(ATOM_EXCH, TENSOR_U32));
}

int main(void)
{
    RUN(limits_of_tensors);
    RUN(limits_of_boxes);
    RUN(boxes_fit_shared_memory);
    RUN(limits_of_kinds);
    RUN(replaced);
    RUN(types);
    RUN(swizzles);
    RUN(edges);
    RUN(ranks);
    RUN(stops);
    RUN(anything);
    RUN(whole_numbers);
    RUN(floats);
    RUN(no_such_reduction);
    return expect_done();
}
