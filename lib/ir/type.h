/* Interned types: equal types are one pointer within one TypeTable. */
#pragma once

#include "linear/layout.h"
#include "tkc/ir.h"

typedef struct TypeTable TypeTable;
TypeTable *types_new(Arena *a);

const Type *type_error(TypeTable *t);                      /* poison: silences consequences */
const Type *type_scalar(TypeTable *t, DType dt);
const Type *type_pointer(TypeTable *t, const Type *pointee);
/* elem is SCALAR or POINTER. layout may be NULL. */
const Type *type_block(TypeTable *t, const Type *elem, int rank, const int32_t *shape,
                       const Layout *layout);
const Type *type_with_layout(TypeTable *t, const Type *block, const Layout *layout);
/* The same shape and layout (or a scalar) with another element type. */
const Type *type_with_elem(TypeTable *t, const Type *ty, const Type *elem);
static inline const Type *type_with_dtype(TypeTable *t, const Type *ty, DType dt)
{
    return type_with_elem(t, ty, type_scalar(t, dt));
}
/* Shape and layout of `like` (block or scalar), the element of `elem`. */
static inline const Type *type_like(TypeTable *t, const Type *like, const Type *elem)
{
    return type_with_elem(t, like, tkc_type_element(elem));
}

/* A buffer; `layout` is as in linear/shared.h. */
const Type *type_smem(TypeTable *t, const Type *elem, int rank, const int32_t *shape,
                      const Layout *layout);

static inline bool type_is_block(const Type *ty) { return ty->kind == TY_BLOCK; }
static inline bool type_is_smem(const Type *ty) { return ty->kind == TY_SMEM; }
/* a number, not a pointer, not a block */
static inline bool type_is_scalar(const Type *ty) { return ty->kind == TY_SCALAR; }
/* ---- by element, so blocks too ---- */
static inline bool type_is_pointer(const Type *ty)
{
    return tkc_type_element(ty)->kind == TY_POINTER;
}
static inline DTypeKind type_kind(const Type *ty) { return tkc_dtype_info(ty->dtype)->kind; }
static inline bool type_is_float(const Type *ty) { return type_kind(ty) == DK_FLOAT; }
static inline bool type_is_bool(const Type *ty) { return type_kind(ty) == DK_BOOL; }
bool type_is_int(const Type *ty);        /* signed, unsigned or int1 */
bool type_is_of(const Type *ty, OpDomain domain);
bool type_is_padded(const Type *ty); /* an extent is no power of two */
bool type_is_line(const Type *ty);   /* but one extent is 1, or all are */
bool type_same_shape(const Type *a, const Type *b); /* both scalars, or blocks of equal extents */
/* element dtype; DT_NONE for pointers */
static inline DType type_dtype(const Type *ty) { return ty->dtype; }
int type_bits(const Type *ty);           /* of an element; pointers 64 */
int type_bytes(const Type *ty);          /* of an element in memory; pointers 8, int1 1 */
uint32_t type_smem_bytes(const Type *ty); /* of a buffer */
int type_words(const Type *ty);          /* of 32 bits, that a thread has of it in registers */

/* int32, block<128xfp16>, *fp32, block<16x64x*fp32>; with a layout: block<128xfp16, #l<…>>;
   smem<64x32xfp16, #l<…>>. */
void type_print(Buf *out, const Type *ty);
/* The same with something else in the layout's place. */
typedef void (*TypeLayoutPrint)(Buf *out, const Layout *l, void *user);
void type_print_with(Buf *out, const Type *ty, TypeLayoutPrint layout, void *user);
/* For messages, without the layout and with it; lives as long as the arena. */
const char *type_text(Arena *a, const Type *ty);
const char *type_full_text(Arena *a, const Type *ty);
/* Of a parameter, as a signature spells it: "*fp32", "i32". */
const char *type_signature(Arena *a, const Type *ty);

/* "fp32", "float32", "f32", "i1", …; DT_NONE when unknown. */
DType dtype_find(const char *name, size_t len);
/* "*fp32", "i32", "**fp16", "*u8"; NULL when it is not a type. */
const Type *type_parse(TypeTable *t, const char *text, size_t len);
static inline const DTypeInfo *dtype_info(DType dt) { return tkc_dtype_info(dt); }
/* The least and the greatest of an integer type (int1: 0 and 1). */
static inline __int128 dtype_least(DType dt)
{
    return dtype_info(dt)->kind == DK_INT ? -((__int128)1 << (dtype_info(dt)->bits - 1)) : 0;
}
static inline __int128 dtype_most(DType dt)
{
    return ((__int128)1 << (dtype_info(dt)->bits - (dtype_info(dt)->kind == DK_INT))) - 1;
}
static inline bool dtype_is_f8(DType dt) { return dt == DT_F8E4 || dt == DT_F8E5; }
