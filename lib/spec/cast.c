/* Casts between element types, and the run-time form of compile-time numbers. Pointers cast to
   pointers and to 64-bit integers and back by bits, and to int1 as "is not null". */
#include "spec/operator.h"

#include "ir/evaluate.h"
#include "spec/constant.h"
#include "spec/promote.h"

static const char *text(Spec *sp, const Type *t)
{
    return type_text(sp->arena, t);
}

static Value *cast_bits(Spec *sp, Value *v, const Type *elem, Span at)
{
    if (type_bits(v->type) != (elem->kind == TY_POINTER ? 64 : type_bits(elem)))
        return spec_null(sp, at, "cannot bitcast %s (%d bits) to %s (%d bits)", text(sp, v->type),
                         type_bits(v->type), text(sp, elem), type_bits(elem));
    return build_bitcast(&sp->b, v, elem);
}

static Value *cast_pointer(Spec *sp, Value *v, const Type *elem, Span at)
{
    DType dt = type_dtype(elem);
    if (elem->kind == TY_POINTER || dt == DT_I64 || dt == DT_U64)
        return build_bitcast(&sp->b, v, elem);
    if (dt == DT_I1) {
        Value *bits = build_bitcast(&sp->b, v, type_scalar(sp->ir->types, DT_I64));
        return build_binary(&sp->b, OP_NE, bits, build_const(&sp->b, bits->type, 0));
    }
    return spec_null(
        sp, at, "cannot cast %s to %s: a pointer becomes a 64-bit integer, int1 or another pointer",
        text(sp, v->type), text(sp, elem));
}

static Value *cast_to_pointer(Spec *sp, Value *v, const Type *elem, Span at)
{
    if (!type_is_int(v->type)) {
        spec_error(sp, at, "cannot cast %s to %s: only an integer becomes a pointer",
                   text(sp, v->type), text(sp, elem));
        spec_note(sp, SPAN_NONE, "what a pointer p points to is p.dtype.element_ty");
        return NULL;
    }
    DType wide = type_kind(v->type) == DK_UINT ? DT_U64 : DT_I64;
    return build_bitcast(&sp->b, build_cast(&sp->b, v, wide, NULL), elem);
}

static bool check_rounding(Spec *sp, const char *rounding, const Type *from, const Type *to,
                           Span at)
{
    if (!rounding) return true;
    if (type_is_float(from) && type_is_float(to) && type_bits(to) < type_bits(from)) return true;
    return spec_fail(sp, at,
                     "fp_downcast_rounding is for casts to a narrower float, found %s to %s",
                     text(sp, from), text(sp, to));
}

Value *op_cast(Spec *sp, Value *v, const Type *elem, bool bitcast, const char *rounding, Span at)
{
    if (!v || elem->kind == TY_ERROR) return NULL;
    const Type *from = tkc_type_element(v->type);
    elem = tkc_type_element(elem);
    if (elem->kind == TY_POINTER && elem->elem->kind == TY_BLOCK)
        return spec_null(sp, at, "nothing is cast to a block pointer: tl.make_block_ptr makes one");
    if (from == elem) return v;
    if (bitcast) return cast_bits(sp, v, elem, at);
    if (!check_rounding(sp, rounding, from, elem, at)) return NULL;
    if (from->kind == TY_POINTER) return cast_pointer(sp, v, elem, at);
    if (elem->kind == TY_POINTER) return cast_to_pointer(sp, v, elem, at);
    return build_cast(&sp->b, v, type_dtype(elem), rounding);
}

/* The number's bits in that type; integers wrap, as a cast would. Casts that saturate are not for
   here. */
static uint64_t bits_of(DType dt, SpecValue number)
{
    if (dtype_info(dt)->kind == DK_FLOAT) return bits_of_written(dt, constant_to_double(number));
    if (dt == DT_I1) return sv_integer(number) != 0;
    return bits_from_uint(dt, (uint64_t)sv_integer(number));
}

Value *cast_number(Spec *sp, SpecValue number, DType dt, Span at)
{
    const DTypeInfo *info = dtype_info(dt);
    if (info->kind != DK_FLOAT && promote_dtype_of(number) == DT_NONE)
        return spec_null(sp, at, "no integer type holds the %s", spec_describe(sp, number));
    bool from_float = number.kind == SV_FLOAT && info->kind != DK_FLOAT,
         to_fp8 = info->kind == DK_FLOAT && info->bits == 8;
    if (from_float || to_fp8)
        return build_cast(&sp->b, build_float(&sp->b, DT_F64, constant_to_double(number)), dt,
                          NULL);
    return build_const(&sp->b, type_scalar(sp->ir->types, dt), bits_of(dt, number));
}

Value *op_to_value(Spec *sp, SpecValue v, Span at)
{
    if (v.kind == SV_VALUE) return v.v;
    if (sv_is_error(v)) return NULL;
    if (sv_is_number(v)) return cast_number(sp, v, promote_dtype_of(v), at);
    spec_error(sp, at, "expected a number or a block, found %s", spec_describe(sp, v));
    if (v.kind == SV_TUPLE) spec_note(sp, SPAN_NONE, "commas and several results make a tuple; a, b = … unpacks it");
    return NULL;
}

SpecValue strengthen(Spec *sp, SpecValue v, Span at)
{
    return sv_is_number(v) ? sv_value(op_to_value(sp, v, at)) : v;
}

SpecValue weaken(SpecValue v)
{
    uint64_t bits;
    if (v.kind != SV_VALUE || !type_is_scalar(v.v->type) || !ir_const_bits(v.v, &bits)) return v;
    DType dt = type_dtype(v.v->type);
    switch (dtype_info(dt)->kind) {
    case DK_BOOL: return sv_bool(bits != 0);
    case DK_INT: return sv_int((int64_t)bits);
    case DK_UINT: return sv_int((__int128)bits);
    case DK_FLOAT: return sv_float(bits_to_double(dt, bits));
    case DK_NONE: break;
    }
    return v;
}

static SpecValue weaken_leaf(void *ctx, SpecValue v)
{
    (void)ctx;
    return weaken(v);
}

SpecValue weaken_all(Spec *sp, SpecValue v)
{
    return sv_map(sp->arena, v, weaken_leaf, NULL);
}
