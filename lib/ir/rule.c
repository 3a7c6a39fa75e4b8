#include "ir/rule.h"

#include <string.h>

#include "base/power.h"
#include "base/unwind.h"
#include "ir/dot_unit.h"
#include "ir/evaluate.h"
#include "ir/machine.h"
#include "ir/shape_map.h"
#include "ir/tensor_map.h"
#include "tkc/inline_asm.h"

typedef struct Rule {
    Ir *ir;
    Arena *scratch;
    const Op *op;
    const Type *t; /* the `t` of the signature */
    const char *problem;
} Rule;

/* Says what is wrong, and gives false. */
#define wrong(r, ...) ((r)->problem = arena_printf((r)->scratch, __VA_ARGS__), false)

static const char *text(const Rule *r, const Type *ty)
{
    return type_full_text(r->scratch, ty);
}

static const Type *operand(const Rule *r, int i)
{
    return i < r->op->nargs ? op_arg(r->op, i)->type : NULL;
}

static const Type *result(const Rule *r, int i)
{
    return i < r->op->nresults ? op_result(r->op, i)->type : NULL;
}

static bool expect(Rule *r, bool is_right, const char *what, const Type *found,
                   const char *expected)
{
    return is_right || wrong(r, "%s is %s, expected %s", what, text(r, found), expected);
}

static bool expect_type(Rule *r, const char *what, const Type *found, const Type *expected)
{
    return found == expected || expect(r, false, what, found, text(r, expected));
}

/* The same but for the layout. */
static bool expect_like(Rule *r, const char *what, const Type *found, const Type *expected)
{
    const bool is_right =
        type_same_shape(found, expected) && tkc_type_element(found) == tkc_type_element(expected);
    return is_right || wrong(r, "%s is %s, expected %s", what, type_text(r->scratch, found),
                             type_text(r->scratch, expected));
}

/* ---- attributes ---- */

typedef struct AttrRule {
    OpKind kind;
    AttrKey key;
    bool is_required;
    const char *words;   /* of a text: those that it may be, NULL for any */
    int64_t least, most; /* of a number */
} AttrRule;

#define RMW_WORDS "add fadd and or xor max umax fmax min umin fmin xchg"
#define EVICT_WORDS "evict_first evict_last evict_normal"
#define ORDER(KIND, WORDS)                                                                         \
    {KIND, ATTR_SEM, true, WORDS, 0, 0},                                                           \
    {                                                                                              \
        KIND, ATTR_SCOPE, true, "cta gpu sys", 0, 0                                                \
    }

enum { RING_MOST = 64, STAGGER_MOST = 1 << 20 };

static const AttrRule attr_rules[] = {
    {OP_PROGRAM_ID, ATTR_AXIS, true, NULL, 0, 2},
    {OP_NUM_PROGRAMS, ATTR_AXIS, true, NULL, 0, 2},
    {OP_ALLOC, ATTR_OFFSET, false, NULL, 0, INT32_MAX},
    {OP_FOR, ATTR_STAGES, false, NULL, 0, INT32_MAX},
    {OP_FOR, ATTR_UNROLL, false, NULL, 2, INT32_MAX},
    {OP_ALLOC, ATTR_COPIES, false, NULL, 1, RING_MOST},
    {OP_WAIT, ATTR_OWN, false, NULL, 0, 1},
    {OP_RING_LOAD, ATTR_OWN, false, NULL, 0, 1},
    {OP_WAIT, ATTR_PENDING, true, NULL, 0, RING_MOST},
    {OP_STORE_WAIT, ATTR_PENDING, false, NULL, 1, RING_MOST},
    {OP_TMA_BEGIN, ATTR_ARRIVALS, true, NULL, 1, MACHINE_THREADS},
    {OP_FOR, ATTR_STAGGER, false, NULL, 1, STAGGER_MOST},
    {OP_REDUCE, ATTR_DEALT, false, NULL, 1, MACHINE_LANE_BITS},
    {OP_TMA_BEGIN, ATTR_FENCE, false, NULL, 0, 1},
    {OP_DOT_WAIT, ATTR_PENDING, true, NULL, 0, GROUP_MOST_PENDING},
    {OP_CAST, ATTR_ROUNDING, false, "rtne rtz", 0, 0},
    {OP_LOAD, ATTR_CACHE, false, ".ca .cg .cs .cv", 0, 0},
    {OP_LOAD, ATTR_EVICT, false, EVICT_WORDS, 0, 0},
    {OP_STORE, ATTR_CACHE, false, ".wb .cg .cs .wt", 0, 0},
    {OP_STORE, ATTR_EVICT, false, EVICT_WORDS, 0, 0},
    {OP_ATOMIC_RMW, ATTR_RMW, true, RMW_WORDS, 0, 0},
    {OP_SATOMIC_AT, ATTR_RMW, true, RMW_WORDS, 0, 0},
    ORDER(OP_ATOMIC_RMW, "relaxed acquire release acq_rel"),
    ORDER(OP_ATOMIC_CAS, "relaxed acquire release acq_rel"),
    ORDER(OP_ATOMIC_LOAD, "relaxed acquire"),
    ORDER(OP_ATOMIC_STORE, "relaxed release"),
    ORDER(OP_ATOMIC_POLL, "relaxed acquire"),
    {OP_DESC_LOAD, ATTR_PADDING, false, "nan", 0, 0},
    {OP_DESC_GATHER, ATTR_PADDING, false, "nan", 0, 0},
    {OP_DOT, ATTR_PRECISION, false, "tf32 tf32x3 ieee bf16x3 bf16x6", 0, 0},
    {OP_DOT, ATTR_PARTS, false, NULL, 0, 1},
    {OP_DOT, ATTR_RUN, false, NULL, 2, 3},
    {OP_INLINE_ASM, ATTR_ASM, true, NULL, 0, 0},
    {OP_INLINE_ASM, ATTR_CONSTRAINTS, true, NULL, 0, 0},
    {OP_PRINT, ATTR_FORMAT, true, NULL, 0, 0},
    {OP_ASSERT, ATTR_MESSAGE, true, NULL, 0, 0},
};

const char *rule_words(OpKind kind, AttrKey key)
{
    for (size_t i = 0; i < sizeof attr_rules / sizeof *attr_rules; i++)
        if (attr_rules[i].kind == kind && attr_rules[i].key == key) return attr_rules[i].words;
    return NULL;
}

static bool has_int(Rule *r, AttrKey key, int64_t least, int64_t most)
{
    const Attr *a = tkc_op_attr(r->op, key);
    if (!a) return wrong(r, "the attribute '%s' is missing", tkc_attr_name(key));
    return (a->i >= least && a->i <= most) ||
           wrong(r, "'%s' is %lld, expected %lld to %lld", tkc_attr_name(key), (long long)a->i,
                 (long long)least, (long long)most);
}

/* One of the words of `allowed`, which are separated by blanks. */
static bool is_word(const char *found, const char *allowed)
{
    const size_t len = strlen(found);
    for (const char *s = allowed; *s; s += strspn(s, " ")) {
        const size_t n = strcspn(s, " ");
        if (n == len && memcmp(s, found, n) == 0) return true;
        s += n;
    }
    return false;
}

static bool fits_attr(Rule *r, const AttrRule *a)
{
    const Attr *attr = tkc_op_attr(r->op, a->key);
    if (!attr && !a->is_required) return true;
    if (!attr || tkc_attr_kind(a->key) == AK_INT) return has_int(r, a->key, a->least, a->most);
    return !a->words || is_word(attr->s, a->words) ||
           wrong(r, "'%s' is \"%s\", expected one of: %s", tkc_attr_name(a->key), attr->s,
                 a->words);
}

static bool fits_attrs(Rule *r)
{
    for (size_t i = 0; i < sizeof attr_rules / sizeof *attr_rules; i++)
        if (attr_rules[i].kind == r->op->kind && !fits_attr(r, &attr_rules[i])) return false;
    return true;
}

/* ---- rules of single ops, once the operands fit the signature ---- */

static bool rule_none(Rule *r)
{
    (void)r;
    return true;
}

static bool rule_block(Rule *r)
{
    return expect(r, type_is_block(operand(r, 0)), "operand 0", operand(r, 0), "a block");
}

static bool rule_const(Rule *r)
{
    const Type *ty = result(r, 0);
    const Attr *a = tkc_op_attr(r->op, ATTR_VALUE);
    if (!a) return wrong(r, "the attribute 'value' is missing");
    if (!expect(r, ty->dtype != DT_NONE, "the result", ty, "numbers")) return false;
    uint64_t bits = (uint64_t)a->i;
    int unused = 64 - dtype_info(ty->dtype)->bits;
    bool fits = type_is_float(ty) ? bits << unused >> unused == bits
                                  : bits_from_uint(ty->dtype, bits) == bits;
    return fits ||
           wrong(r, "the bits 0x%llx are too wide for %s", (unsigned long long)bits, text(r, ty));
}

static bool rule_arange(Rule *r)
{
    const Type *ty = result(r, 0);
    return expect(r, ty->rank == 1 && ty->dtype == DT_I32, "the result", ty,
                  "a 1-D block of int32") &&
           has_int(r, ATTR_START, INT32_MIN, (int64_t)INT32_MAX - ty->shape[0] + 1);
}

static bool rule_bitcast(Rule *r)
{
    const int from = type_bits(operand(r, 0)), to = type_bits(result(r, 0));
    return from == to || wrong(r, "the result has %d bits, expected %d", to, from);
}

static bool fits_hint(Rule *r, AttrKey key, int rank)
{
    const Attr *a = tkc_op_attr(r->op, key);
    if (a && a->count != rank)
        return wrong(r, "'%s' has %d numbers, expected %d", tkc_attr_name(key), a->count, rank);
    for (int i = 0; a && i < rank; i++) {
        if (a->v[i] < 1)
            return wrong(r, "'%s' holds %lld, expected at least 1", tkc_attr_name(key),
                         (long long)a->v[i]);
    }
    return true;
}

static bool fits_rows(Rule *r, const Type *ty, const Type *block)
{
    return expect(r, type_is_int(ty), "the rows", ty, "integers") &&
           expect_type(r, "the rows", ty,
                       type_block(r->ir->types, tkc_type_element(ty), 1, block->shape, NULL));
}

/* From operand `first` to before `end`: a pointer to the elements, and shape, strides and indices, which
   may have more dims than the block, before its own, but of ops on descriptors. */
static bool fits_numbers(Rule *r, int first, int end, const Type *block)
{
    const int numbers = end - first - 1, rank = numbers / 3;
    const bool is_desc = ir_has(r->op, OT_DESC);
    if (numbers % 3 || rank < block->rank || rank > (is_desc ? block->rank : TKC_MAX_RANK))
        return wrong(r, "%d operands, expected %d%s", r->op->nargs,
                     r->op->nargs - numbers + 3 * block->rank, is_desc ? "" : ", or 3 more a dim");
    for (int i = first + 1; i < end; i++)
        if (!(desc_is_rows(r->op) && i == 1 + 2 * rank
                  ? fits_rows(r, operand(r, i), block)
                  : expect_type(r, "a number", operand(r, i), type_scalar(r->ir->types, DT_I64))))
            return false;
    return expect_type(r, "the base", operand(r, first),
                       type_pointer(r->ir->types, tkc_type_element(block)));
}

/* What a box of pointers is made of. */
static bool fits_tile(Rule *r)
{
    if (r->op->nargs == 1) return true;
    return expect(r, type_is_block(r->t) && type_is_pointer(r->t), "operand 0", r->t,
                  "a block of pointers") &&
           fits_numbers(r, 1, r->op->nargs, type_with_elem(r->ir->types, r->t, r->t->elem->elem));
}

static bool rule_hint(Rule *r)
{
    const int rank = r->t->rank ? r->t->rank : 1;
    return fits_tile(r) && fits_hint(r, ATTR_DIVISIBILITY, rank) &&
           fits_hint(r, ATTR_CONTIGUITY, rank) && fits_hint(r, ATTR_CONSTANCY, rank);
}

static bool rule_inline_asm(Rule *r)
{
    const Op *op = r->op;
    const Type *first = op->nargs ? operand(r, 0) : result(r, 0);
    for (int i = 0; i < op->nargs + op->nresults; i++) {
        const Type *ty = i < op->nargs ? operand(r, i) : result(r, i - op->nargs);
        if (!type_same_shape(ty, first))
            return wrong(r, "%s and %s differ in shape", text(r, first), text(r, ty));
    }
    AsmRegisters registers;
    char problem[256];
    return !tkc_asm_registers(op, &registers, problem, sizeof problem) || wrong(r, "%s", problem);
}

static bool rule_splat(Rule *r)
{
    const Type *from = operand(r, 0), *to = result(r, 0);
    return expect(r, !type_is_block(from), "the operand", from, "a scalar") &&
           expect(r, type_is_block(to), "the result", to, "a block") &&
           expect_like(r, "the result", to, type_like(r->ir->types, to, from));
}

static bool rule_expand_dims(Rule *r)
{
    const Type *from = operand(r, 0);
    return expect(r, type_is_block(from) && from->rank < TKC_MAX_RANK, "the operand", from,
                  "a block of a lesser rank") &&
           has_int(r, ATTR_AXIS, 0, from->rank);
}

static bool rule_broadcast(Rule *r)
{
    const Type *from = operand(r, 0), *to = result(r, 0);
    int32_t shape[TKC_MAX_RANK];
    if (!expect(r, from->rank > 0 && from->rank == to->rank, "the result", to,
                "a block of the operand's rank"))
        return false;
    for (int i = 0; i < to->rank; i++)
        shape[i] = from->shape[i] == 1 ? to->shape[i] : from->shape[i];
    return expect_like(r, "the result", to,
                       type_block(r->ir->types, from->elem, to->rank, shape, NULL));
}

static bool rule_trans(Rule *r)
{
    const Attr *perm = tkc_op_attr(r->op, ATTR_PERM);
    const int rank = operand(r, 0)->rank, given = perm ? perm->count : 0;
    unsigned seen = 0;
    if (!rule_block(r)) return false;
    if (given != rank) return wrong(r, "'perm' has %d numbers, expected %d", given, rank);
    for (int i = 0; i < rank; i++) {
        if (perm->v[i] < 0 || perm->v[i] >= rank || (seen & 1u << perm->v[i]))
            return wrong(r, "'perm' is no permutation of %d dims", rank);
        seen |= 1u << perm->v[i];
    }
    return true;
}

static bool rule_reshape(Rule *r)
{
    const Type *from = operand(r, 0), *to = result(r, 0);
    const long long found = tkc_type_count(to), expected = tkc_type_count(from);
    return rule_block(r) && expect_like(r, "the result", to, type_like(r->ir->types, to, from)) &&
           (found == expected ||
            wrong(r, "the result has %lld elements, expected %lld", found, expected));
}

static bool rule_join(Rule *r)
{
    return expect(r, r->t->rank < TKC_MAX_RANK, "the operand", r->t, "a block of a lesser rank");
}

static bool rule_split(Rule *r)
{
    const Type *from = operand(r, 0);
    return expect(r, type_is_block(from) && from->shape[from->rank - 1] == 2, "the operand", from,
                  "a block whose last dim is 2");
}

/* `ty`, a block of the same rank, with another extent along a dim. */
static const Type *with_extent(const Rule *r, const Type *ty, int dim, int32_t extent)
{
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, ty->shape, sizeof shape);
    shape[dim] = extent;
    return type_block(r->ir->types, tkc_type_element(ty), ty->rank, shape, NULL);
}

static bool rule_cat(Rule *r)
{
    const Type *x = operand(r, 0), *y = operand(r, 1);
    return rule_block(r) &&
           expect(r, y->rank == x->rank, "operand 1", y, "a block of the same rank") &&
           expect_like(r, "operand 1", y, with_extent(r, x, 0, y->shape[0]));
}

static bool rule_convert(Rule *r)
{
    const Type *from = operand(r, 0);
    return expect(r, type_is_block(from) && from->layout, "the operand", from,
                  "a block with a layout") &&
           expect_like(r, "the result", result(r, 0), from);
}

static bool rule_poll(Rule *r)
{
    return (type_is_int(r->t) && type_bits(r->t) >= 16) ||
           wrong(r, "polls %s, expected integers of 16, 32 or 64 bits", text(r, r->t));
}

static bool rule_for(Rule *r)
{
    return expect(r, type_is_scalar(r->t) && type_is_int(r->t), "the lower bound", r->t,
                  "an integer");
}

/* A carry's totals. */
static bool fits_totals(Rule *r, int n)
{
    int32_t shape[TKC_MAX_RANK];
    const int rank = shape_of_result(r->op, shape);
    for (int i = n; i < r->op->nargs; i++) {
        const Type *like =
            type_block(r->ir->types, tkc_type_element(operand(r, i - n)), rank, shape, NULL);
        if (!expect_like(r, "a total", operand(r, i), like)) return false;
    }
    return true;
}

/* n operands of one shape, and as many results; one that has segments has n totals as well, a scan
   as results and a carry as operands. */
static bool rule_combine(Rule *r)
{
    const Op *op = r->op;
    const Type *first = operand(r, 0);
    const bool is_carry = op->kind == OP_CARRY, has_slots = tkc_op_attr(op, ATTR_SLOTS);
    const int n = is_carry ? op->nargs / 2 : op->nargs;
    const int results = op->kind == OP_SCAN && has_slots ? 2 * n : n;
    int32_t shape[TKC_MAX_RANK];
    if (is_carry && !has_slots) return wrong(r, "it has no 'slots'");
    if (op->nargs != (is_carry ? 2 * n : n) || (op->nresults && op->nresults != results))
        return wrong(r, "%d operands and %d results", op->nargs, op->nresults);
    if (!rule_block(r) || !has_int(r, ATTR_AXIS, 0, first->rank - 1)) return false;
    for (int i = 1; i < n; i++) {
        const Type *ty = operand(r, i), *like = type_like(r->ir->types, first, ty);
        if (ty != like)
            return wrong(r, "operand %d is %s, expected %s", i, text(r, ty), text(r, like));
    }
    if (shape_of_result(op, shape) < 0) return wrong(r, "'slots' are no bits of the axis");
    return !is_carry || fits_totals(r, n);
}

static bool rule_dot(Rule *r)
{
    const Type *x = operand(r, 0), *y = operand(r, 1);
    const int m = x->rank - 2, n = x->rank - 1;
    if (!expect(r, x->rank == 2 || x->rank == 3, "operand 0", x, "a block of rank 2 or 3") ||
        !expect(r, type_is_float(y) == type_is_float(x), "operand 1", y,
                "elements like operand 0's"))
        return false;
    const Type *like = with_extent(r, x, m, x->shape[n]);
    like = with_extent(r, like, n, y->rank == x->rank ? y->shape[n] : 1);
    if (!expect_like(r, "operand 1", y, type_like(r->ir->types, like, y))) return false;
    like = with_extent(r, like, m, x->shape[m]);
    return expect_like(r, "operand 2", r->t, type_like(r->ir->types, like, r->t));
}

static bool rule_sort(Rule *r)
{
    const Attr *keep = tkc_op_attr(r->op, ATTR_KEEP);
    return rule_block(r) &&
           (!keep || (is_power_of_two(keep->i) && keep->i < r->t->shape[r->t->rank - 1]) ||
            wrong(r, "'keep' is %lld, expected a power of two below the extent",
                  (long long)keep->i));
}

static bool rule_histogram(Rule *r)
{
    const Type *to = result(r, 0);
    return expect(r, r->t->rank == 1, "operand 0", r->t, "a 1-D block of integers") &&
           expect(r, to->rank == 1 && to->dtype == DT_I32, "the result", to,
                  "a 1-D block of int32");
}

static bool rule_gather(Rule *r)
{
    const Type *src = operand(r, 0), *index = operand(r, 1);
    const bool is_index = type_is_int(index) && index->rank == src->rank;
    if (!rule_block(r) ||
        !expect(r, is_index, "the index", index, "integers in the source's rank") ||
        !has_int(r, ATTR_AXIS, 0, src->rank - 1))
        return false;
    const int axis = (int)tkc_op_int(r->op, ATTR_AXIS, 0);
    const Type *like = with_extent(r, src, axis, index->shape[axis]);
    return expect_like(r, "the index", index, type_like(r->ir->types, like, index));
}

static bool is_barriers(Rule *r, int i)
{
    const Type *ty = operand(r, i);
    const bool is_one = type_is_smem(ty) && ty->elem->dtype == DT_U64 && tkc_type_count(ty) == 1;
    return expect(r, is_one, "the ring of barriers", ty, "one of a uint64");
}

static bool rule_barriers(Rule *r)
{
    return is_barriers(r, 0);
}

static bool rule_box(Rule *r)
{
    const int buffer = tkc_buffer_operand(r->op);
    const Type *ring = operand(r, buffer), *number = operand(r, r->op->nargs - BOX_NUMBER);
    TkcTensorMap map;
    return expect(r, type_is_smem(ring) && ring->rank == 2, "the ring", ring,
                  "a buffer of rank 2") &&
           fits_numbers(r, 0, buffer, ring) &&
           (r->op->kind == OP_STORE_BOX ||
            (expect_type(r, "the number", number, type_scalar(r->ir->types, DT_I32)) &&
             is_barriers(r, r->op->nargs - BOX_BARRIERS))) &&
           (tensor_map_of_copy(r->op, &map) ||
            wrong(r, "base, shape and stride are no parameters, products of them or constants, as "
                     "far aligned as TMA asks, or the ring has no swizzled rows"));
}

/* The ring of a copy has the pointers' shape and what they point to. */
static bool rule_copy(Rule *r)
{
    const Type *ptr = operand(r, 0), *buffer = operand(r, 1);
    return expect(r, type_is_block(ptr), "operand 0", ptr, "a block of pointers") &&
           expect_like(r, "the ring",
                       type_block(r->ir->types, buffer->elem, buffer->rank, buffer->shape, NULL),
                       r->t);
}

/* A block in the buffer's shape, or, of one element, a scalar. */
static bool rule_content(Rule *r)
{
    const Type *buffer = operand(r, 0), *ty = r->op->nresults ? result(r, 0) : operand(r, 1);
    const Type *like = buffer->elem;
    if (tkc_type_count(buffer) > 1 || type_is_block(ty))
        like = type_block(r->ir->types, like, buffer->rank, buffer->shape, NULL);
    return expect_like(r, r->op->nresults ? "the result" : "the block", ty, like) &&
           (!tkc_op_attr(r->op, ATTR_PIECE) ||
            has_int(r, ATTR_PIECE, 0, (INT64_C(1) << buffer->layout->total_log2) - 1));
}

static bool rule_elements(Rule *r)
{
    const Type *like = type_like(r->ir->types, r->t, operand(r, 0));
    return expect(r, type_is_block(r->t), "the block", r->t, "a block") &&
           expect_like(r, "the block", r->t, like);
}

/* ---- descriptors ---- */

/* What memory does of its own with such elements. */
static bool fits_rmw(Rule *r, const Type *block)
{
    const bool is_float = type_is_float(block), is_half = is_float && type_bits(block) == 16;
    const char *words = is_float ? "add max min" : "add and or xor max min";
    return expect(r, type_bits(block) >= 32 || is_half, "the block", block,
                  "numbers of 32 or 64 bits, or floats of 16") &&
           fits_attr(r, &(AttrRule){OP_DESC_ATOMIC, ATTR_RMW, true, words, 0, 0});
}

static bool rule_desc(Rule *r)
{
    const Value *stored = desc_stored(r->op);
    const Type *block = stored ? stored->type : result(r, 0);
    const bool is_rows = desc_is_rows(r->op), is_block = type_is_block(block) && !block->layout;
    if (!expect(r, is_block && !type_is_pointer(block) && (!is_rows || block->rank == 2), "the block",
                block, is_rows ? "numbers in two dims" : "a block of numbers, without a layout") ||
        !fits_numbers(r, 0, r->op->nargs - (stored != NULL), block))
        return false;
    if (tkc_op_attr(r->op, ATTR_PADDING) && (stored || !type_is_float(block)))
        return wrong(r, "'padding' is for floats that are loaded");
    return r->op->kind != OP_DESC_ATOMIC || fits_rmw(r, block);
}

/* ---- signatures ---- */

typedef struct OpRule {
    const char *signature;
    bool (*own)(Rule *r);
} OpRule;

static const OpRule rules[OP_COUNT] = {
#define OP(ID, name, least, most, nresults, nregions, rule, layouts, traits, domain, signature)    \
    [OP_##ID] = {signature, rule_##rule},
#include "tkc/ops.def"
#undef OP
};

typedef struct Item {
    char letter;
    const char *name;
    int name_len; /* 0: none */
} Item;

/* The item at s, and what is behind it: the next item, or the colon or end behind a last one. */
static const char *read_item(const char *s, Item *item)
{
    const char *name = s + 1 + (s[1] == ' ');
    *item = (Item){*s, name, (int)strcspn(name, ",:")};
    name += item->name_len;
    return *name == ',' ? name + 2 : name;
}

static const char *results_of(const char *signature)
{
    const char *colon = strchr(signature, ':');
    return colon ? colon + 2 : "";
}

static const Type *find_t(const Rule *r, const char *signature)
{
    const char *const sides[] = {signature, results_of(signature)};
    Item item;
    for (int side = 0; side < 2; side++) {
        const char *s = sides[side];
        for (int i = 0; *s && *s != ':'; i++) {
            s = read_item(s, &item);
            const Type *ty = side ? result(r, i) : operand(r, i);
            if (ty && item.letter == 't') return ty;
            if (item.letter == 'p')
                return type_is_pointer(ty)
                           ? type_with_elem(r->ir->types, ty, tkc_type_element(ty)->elem)
                           : NULL;
        }
    }
    return operand(r, 0);
}

/* What follows for result i, but its layout. */
static const Type *shaped(const Rule *r, int i)
{
    int32_t shape[TKC_MAX_RANK];
    const int rank = shape_of_result(r->op, shape);
    const Type *elem = tkc_type_element(operand(r, i % r->op->nargs));
    return rank ? type_block(r->ir->types, elem, rank, shape, NULL) : elem;
}

/* What a letter asks for in place i, in which `found` is; NULL: nobody knows, and nothing is
   there. */
static const Type *wanted(const Rule *r, char letter, int i, const Type *found)
{
    TypeTable *t = r->ir->types;
    switch (letter) {
    case 't': return r->t;
    case 'p': return operand(r, 0);
    case 'c':
        if (type_is_scalar(found)) return type_scalar(t, DT_I1);
        return type_with_dtype(t, r->t, DT_I1);
    case 'b': return type_with_dtype(t, r->t, DT_I1);
    case 'o': return type_with_dtype(t, r->t, DT_I32);
    case 'n':
    case 'x': return found ? type_like(t, r->t, found) : NULL;
    case 'm': return found;
    case '1': return type_scalar(t, DT_I1);
    case 'i': return type_scalar(t, DT_I32);
    case 'u': return type_scalar(t, DT_U64);
    case 'r': return shaped(r, i);
    case 's': return i < r->op->nargs ? operand(r, i) : shaped(r, i);
    default: check(letter == '*', "'%c' in a signature", letter); return found;
    }
}

static const char *name_of(const Rule *r, const Item *item, int i, bool is_result)
{
    if (item->name_len) return arena_printf(r->scratch, "the %.*s", item->name_len, item->name);
    if ((is_result ? r->op->nresults : tkc_op_info(r->op->kind)->max_args) == 1)
        return is_result ? "the result" : "the operand";
    return arena_printf(r->scratch, "%s %d", is_result ? "result" : "operand", i);
}

static bool fits_item(Rule *r, const Item *item, int i, bool is_result)
{
    const Type *found = is_result ? result(r, i) : operand(r, i);
    const char letter = item->letter;
    if (letter == 'a') return true;
    if ((letter == 'm') != type_is_smem(found))
        return expect(r, false, name_of(r, item, i, is_result), found,
                      letter == 'm' ? "a buffer" : "no buffer");
    if (letter == 'p' && !type_is_pointer(found))
        return expect(r, false, name_of(r, item, i, is_result), found, "pointers");
    if (letter == 'n' && !type_is_int(found))
        return expect(r, false, name_of(r, item, i, is_result), found, "integers");
    const Type *want = wanted(r, letter, i, found);
    if (found == want) return true;
    const char *name = name_of(r, item, i, is_result);
    const bool any_layout = letter == 'r' || (letter == 's' && i >= r->op->nargs);
    return any_layout ? expect_like(r, name, found, want) : expect_type(r, name, found, want);
}

static bool fits_side(Rule *r, const char *s, bool is_result)
{
    const int n = is_result ? r->op->nresults : r->op->nargs;
    Item item = {'*', s, 0};
    for (int i = 0; i < n; i++) {
        if (*s && *s != ':') s = read_item(s, &item);
        if (!fits_item(r, &item, i, is_result)) return false;
    }
    return true;
}

/* ---- what holds for every op ---- */

static bool fits_count(Rule *r)
{
    const OpInfo *info = tkc_op_info(r->op->kind);
    const int n = r->op->nargs;
    if (n < info->min_args) return wrong(r, "%d operands, expected at least %d", n, info->min_args);
    return info->max_args < 0 || n <= info->max_args ||
           wrong(r, "%d operands, expected at most %d", n, info->max_args);
}

static const char *const domain_text[] = {
    [DOM_ANY] = "any type", [DOM_NUM] = "numbers",  [DOM_INT] = "integers",
    [DOM_FLOAT] = "floats", [DOM_PTR] = "pointers",
};

static bool fits_domain(Rule *r)
{
    const Op *op = r->op;
    const OpDomain domain = tkc_op_info(op->kind)->domain;
    for (int i = 0; i < op->nargs + op->nresults; i++) {
        const bool is_result = i >= op->nargs;
        const Type *ty = is_result ? result(r, i - op->nargs) : operand(r, i);
        if (!expect(r, type_is_of(ty, domain), is_result ? "the result" : "an operand", ty,
                    domain_text[domain]))
            return false;
    }
    return true;
}

const char *rule_problem(Ir *ir, Arena *scratch, const Op *op)
{
    const OpRule *rule = &rules[op->kind];
    Rule r = {.ir = ir, .scratch = scratch, .op = op};
    if (!fits_count(&r) || !fits_domain(&r)) return r.problem;
    r.t = find_t(&r, rule->signature);
    if (fits_side(&r, rule->signature, false) && fits_attrs(&r) && rule->own(&r))
        fits_side(&r, results_of(rule->signature), true);
    return r.problem;
}

static const Layout *layout_of_result(Ir *ir, const Op *op)
{
    const Type *last = op_arg(op, op->nargs - 1)->type;
    const Attr *slots = tkc_op_attr(op, ATTR_SLOTS);
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    if (!last->layout || op->kind == OP_GATHER) return last->layout;
    if (slots) return layout_keep(ir->layouts, last->layout, axis, (uint32_t)slots->i);
    const int dealt = (int)tkc_op_int(op, ATTR_DEALT, 0);
    if (dealt) return layout_deal(ir->layouts, last->layout, axis, dealt);
    if (op->kind == OP_REDUCE) return layout_slice(ir->layouts, last->layout, axis);
    return shape_layout(ir->layouts, op, last->layout, false);
}

const Type *rule_result(Ir *ir, const Op *op, int i)
{
    Rule r = {.ir = ir, .op = op};
    const char *s = results_of(rules[op->kind].signature);
    Item item = {'*', s, 0};
    r.t = find_t(&r, rules[op->kind].signature);
    for (int k = 0; k <= i && *s; k++) s = read_item(s, &item);
    const Type *ty = wanted(&r, item.letter, i, NULL);
    const bool takes_layout = item.letter == 'r' || (item.letter == 's' && i >= op->nargs);
    return takes_layout && type_is_block(ty)
               ? type_with_layout(ir->types, ty, layout_of_result(ir, op))
               : ty;
}
