/* Types are interned by structure: scalars in an array, pointers and blocks in chains under the
   hash of their parts. A block's count of elements is bounded where the language bounds it (spec/),
   not here. */
#include "ir/type.h"

#include <string.h>

#include "base/map.h"
#include "base/power.h"
#include "base/unwind.h"
#include "linear/shared.h"

typedef struct Interned Interned;
struct Interned {
    Type type;
    Interned *next; /* others of the same hash */
};

struct TypeTable {
    Arena *arena;
    Map compound; /* hash of a pointer or block type -> Interned */
    uint32_t count;
    Type error;
    Type scalar[DT_COUNT];
};

TypeTable *types_new(Arena *a)
{
    TypeTable *t = arena_new(a, TypeTable);
    t->arena = a;
    map_init(&t->compound, a);
    t->error = (Type){.kind = TY_ERROR, .id = t->count++};
    for (int dt = DT_NONE + 1; dt < DT_COUNT; dt++)
        t->scalar[dt] = (Type){.kind = TY_SCALAR, .dtype = (DType)dt, .id = t->count++};
    return t;
}

const Type *type_error(TypeTable *t)
{
    return &t->error;
}

const Type *type_scalar(TypeTable *t, DType dt)
{
    check(dt > DT_NONE && dt < DT_COUNT, "no element type %d", (int)dt);
    return &t->scalar[dt];
}

static bool is_equal(const Type *a, const Type *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->elem == b->elem &&
           a->layout == b->layout && a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static uint64_t hash_of(const Type *ty)
{
    uint64_t key[4] = {ty->kind, ty->elem->id, ty->layout ? ty->layout->id + 1u : 0,
                       (uint64_t)ty->rank};
    return hash_bytes(ty->shape, (size_t)ty->rank * sizeof *ty->shape,
                      hash_bytes(key, sizeof key, 0));
}

static const Type *intern_type(TypeTable *t, const Type *ty)
{
    uint64_t hash = hash_of(ty);
    Interned *chain = map_get(&t->compound, hash);
    for (Interned *x = chain; x; x = x->next)
        if (is_equal(&x->type, ty)) return &x->type;
    Interned *x = arena_new(t->arena, Interned);
    x->type = *ty;
    x->type.id = t->count++;
    x->next = chain;
    map_set(&t->compound, hash, x);
    return &x->type;
}

const Type *type_pointer(TypeTable *t, const Type *pointee)
{
    if (pointee->kind == TY_ERROR) return pointee;
    check(pointee->kind != TY_NONE, "no pointers to %s", type_text(t->arena, pointee));
    return intern_type(t, &(Type){.kind = TY_POINTER, .elem = pointee});
}

static const Type *shaped(TypeTable *t, TypeKind kind, const Type *elem, int rank,
                          const int32_t *shape, const Layout *layout)
{
    if (elem->kind == TY_ERROR) return elem;
    check(elem->kind == TY_SCALAR || elem->kind == TY_POINTER, "no blocks of %s",
          type_text(t->arena, elem));
    check(rank >= 1 && rank <= TKC_MAX_RANK, "a block of rank %d", rank);
    Type ty = {.kind = kind, .dtype = elem->dtype, .elem = elem, .rank = rank, .layout = layout};
    for (int i = 0; i < rank; i++) {
        check(shape[i] >= 1, "a block of extent %d", (int)shape[i]);
        ty.shape[i] = shape[i];
    }
    return intern_type(t, &ty);
}

const Type *type_block(TypeTable *t, const Type *elem, int rank, const int32_t *shape,
                       const Layout *layout)
{
    return shaped(t, TY_BLOCK, elem, rank, shape, layout);
}

const Type *type_smem(TypeTable *t, const Type *elem, int rank, const int32_t *shape,
                      const Layout *layout)
{
    check(layout, "a buffer without a layout");
    return shaped(t, TY_SMEM, elem, rank, shape, layout);
}

const Type *type_with_layout(TypeTable *t, const Type *block, const Layout *layout)
{
    if (block->kind != TY_BLOCK) return block;
    return type_block(t, block->elem, block->rank, block->shape, layout);
}

const Type *type_with_elem(TypeTable *t, const Type *ty, const Type *elem)
{
    if (ty->kind == TY_ERROR || ty->kind != TY_BLOCK) return ty->kind == TY_ERROR ? ty : elem;
    return type_block(t, elem, ty->rank, ty->shape, ty->layout);
}

bool type_is_int(const Type *ty)
{
    const DTypeKind kind = type_kind(ty);
    return kind == DK_INT || kind == DK_UINT || kind == DK_BOOL;
}

bool type_is_of(const Type *ty, OpDomain domain)
{
    switch (domain) {
    case DOM_ANY: return true;
    case DOM_NUM: return !type_is_pointer(ty);
    case DOM_INT: return type_is_int(ty);
    case DOM_FLOAT: return type_is_float(ty);
    case DOM_PTR: return type_is_pointer(ty);
    }
    return false;
}

bool type_is_line(const Type *ty)
{
    int dims = 0;
    for (int d = 0; d < ty->rank; d++) dims += ty->shape[d] > 1;
    return dims <= 1;
}

bool type_is_padded(const Type *ty)
{
    for (int d = 0; d < ty->rank; d++)
        if (!is_power_of_two(ty->shape[d])) return true;
    return false;
}

bool type_same_shape(const Type *a, const Type *b)
{
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

int type_bits(const Type *ty)
{
    return type_is_pointer(ty) ? 64 : dtype_info(ty->dtype)->bits;
}

int type_bytes(const Type *ty)
{
    return type_is_pointer(ty) ? 8 : dtype_info(ty->dtype)->bytes;
}

int type_words(const Type *ty)
{
    enum { WORD_BITS = 32 };
    const int n = type_is_block(ty) ? layout_registers(ty->layout) : 1;
    return (n * type_bits(ty) + WORD_BITS - 1) / WORD_BITS;
}

uint32_t type_smem_bytes(const Type *ty)
{
    return (uint32_t)type_bytes(ty) << ty->layout->nbits[DIM_OFFSET];
}

/* Integers go by their long name, floats by their short one: int32, fp16. */
static const char *dtype_text(DType dt)
{
    const DTypeInfo *info = dtype_info(dt);
    return info->kind == DK_FLOAT ? info->short_name : info->name;
}

/* Without layouts where `layout` is NULL. */
static void print(Buf *out, const Type *ty, TypeLayoutPrint layout, void *user)
{
    switch (ty->kind) {
    case TY_NONE: buf_puts(out, "none"); break;
    case TY_ERROR: buf_puts(out, "error"); break;
    case TY_SCALAR: buf_puts(out, dtype_text(ty->dtype)); break;
    case TY_POINTER:
        buf_putc(out, '*');
        print(out, ty->elem, NULL, NULL);
        break;
    case TY_BLOCK:
    case TY_SMEM:
        buf_puts(out, ty->kind == TY_BLOCK ? "block<" : "smem<");
        for (int i = 0; i < ty->rank; i++) buf_printf(out, "%dx", (int)ty->shape[i]);
        print(out, ty->elem, NULL, NULL);
        if (layout && ty->layout) {
            buf_puts(out, ", ");
            layout(out, ty->layout, user);
        }
        buf_putc(out, '>');
        break;
    }
}

static void print_layout(Buf *out, const Layout *l, void *user)
{
    (void)user;
    layout_print(out, l);
}

void type_print(Buf *out, const Type *ty)
{
    print(out, ty, print_layout, NULL);
}

void type_print_with(Buf *out, const Type *ty, TypeLayoutPrint layout, void *user)
{
    print(out, ty, layout, user);
}

static const char *text_of(Arena *a, const Type *ty, TypeLayoutPrint layout)
{
    Buf out = buf_make(a);
    print(&out, ty, layout, NULL);
    return buf_text(&out);
}

const char *type_text(Arena *a, const Type *ty)
{
    return text_of(a, ty, NULL);
}

const char *type_full_text(Arena *a, const Type *ty)
{
    return text_of(a, ty, print_layout);
}

const char *type_signature(Arena *a, const Type *ty)
{
    Buf out = buf_make(a);
    for (; ty->kind == TY_POINTER; ty = ty->elem) buf_putc(&out, '*');
    buf_puts(&out, dtype_info(ty->dtype)->short_name);
    return buf_text(&out);
}

static bool is_name(const char *name, const char *s, size_t len)
{
    return strlen(name) == len && memcmp(name, s, len) == 0;
}

DType dtype_find(const char *name, size_t len)
{
    for (int dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        const DTypeInfo *info = dtype_info((DType)dt);
        if (is_name(info->name, name, len) || is_name(info->short_name, name, len) ||
            is_name(info->other_name, name, len)) {
            return (DType)dt;
        }
    }
    return DT_NONE;
}

/* Pointers to pointers beyond this are no type anybody wrote. */
enum { MAX_STARS = 8 };

const Type *type_parse(TypeTable *t, const char *text, size_t len)
{
    size_t stars = 0;
    while (stars < len && text[stars] == '*') stars++;
    DType dt = dtype_find(text + stars, len - stars);
    if (dt == DT_NONE || stars > MAX_STARS) return NULL;
    const Type *ty = type_scalar(t, dt);
    for (size_t i = 0; i < stars; i++) ty = type_pointer(t, ty);
    return ty;
}

int64_t tkc_smem_count(const Type *smem)
{
    return INT64_C(1) << smem->layout->nbits[DIM_OFFSET];
}

int64_t tkc_smem_offset(const Type *smem, int64_t piece, int64_t index)
{
    return shared_offset(smem->layout, (uint32_t)piece, (uint32_t)index);
}
