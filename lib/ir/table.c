/* The tables of the public header: one row per element type, op and attribute key, each read from
   its .def. */
#include "tkc/ir.h"

#include <stddef.h>

static const DTypeInfo dtypes[DT_COUNT] = {
#define DTYPE(ID, name_, short_, other_, bits_, bytes_, kind_, exp_, man_) \
    [DT_##ID] = {.name = name_, .short_name = short_, .other_name = other_, .bits = bits_, \
                 .bytes = bytes_, .kind = DK_##kind_, .exp_bits = exp_, .man_bits = man_},
#include "tkc/dtypes.def"
#undef DTYPE
};

/* The trait column names bits without their prefix. */
enum {
    EW = OT_EW, ARITH = OT_EW | OT_PURE | OT_ARITH, COMPARE = OT_COMPARE, SPECIAL = OT_SPECIAL,
    LONG = OT_LONG, COMMUTE = OT_COMMUTE, PURE = OT_PURE, READ = OT_READ, WRITE = OT_WRITE,
    SIDE = OT_SIDE, TERM = OT_TERM, SHAPE = OT_SHAPE, CONST = OT_CONST, MEM = OT_MEM, TEN = OT_TEN,
    ATOMIC = OT_ATOMIC, DESC = OT_DESC
};
static const OpInfo ops[OP_COUNT] = {
#define OP(ID, name_, min_, max_, nresults_, nregions_, rule, layouts, traits_, domain_,           \
           signature)                                                                              \
    [OP_##ID] = {.name = name_,                                                                    \
                 .min_args = min_,                                                                 \
                 .max_args = max_,                                                                 \
                 .nresults = nresults_,                                                            \
                 .nregions = nregions_,                                                            \
                 .traits = traits_,                                                                \
                 .domain = DOM_##domain_},
#include "tkc/ops.def"
#undef OP
};

typedef struct AttrInfo {
    const char *name;
    AttrKind kind;
} AttrInfo;

static const AttrInfo attrs[ATTR_COUNT] = {
#define ATTR(ID, name_, kind_) [ATTR_##ID] = {.name = name_, .kind = AK_##kind_},
#include "tkc/attrs.def"
#undef ATTR
};

const DTypeInfo *tkc_dtype_info(DType dt)
{
    return &dtypes[(unsigned)dt < DT_COUNT ? dt : DT_NONE];
}

const OpInfo *tkc_op_info(OpKind kind)
{
    return &ops[(unsigned)kind < OP_COUNT ? kind : OP_NONE];
}

const char *tkc_attr_name(AttrKey key)
{
    return attrs[key].name;
}

AttrKind tkc_attr_kind(AttrKey key)
{
    return attrs[key].kind;
}

const Attr *tkc_op_attr(const Op *op, AttrKey key)
{
    for (int i = 0; i < op->nattrs; i++)
        if (op->attrs[i].key == key) return &op->attrs[i];
    return NULL;
}

int64_t tkc_op_int(const Op *op, AttrKey key, int64_t otherwise)
{
    const Attr *a = tkc_op_attr(op, key);
    return a ? a->i : otherwise;
}

const char *tkc_op_str(const Op *op, AttrKey key, const char *otherwise)
{
    const Attr *a = tkc_op_attr(op, key);
    return a ? a->s : otherwise;
}

int64_t tkc_type_count(const Type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

const Type *tkc_type_element(const Type *t)
{
    return t->kind == TY_BLOCK || t->kind == TY_SMEM ? t->elem : t;
}
