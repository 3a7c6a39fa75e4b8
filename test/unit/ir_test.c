/* Every change keeps use lists and order; copies are equal and apart; constructors fold what they
   say; the verifier finds each kind of damage; no text, however mutilated, harms the parser. */
#include "ir/ir.h"

#include <stdlib.h>

#include "expect.h"
#include "ir/build.h"
#include "ir/evaluate.h"
#include "ir/machine.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "transform/pass.h"

typedef struct World {
    Arena arena;
    Diags dx;
    Ir *ir;
} World;

static void world_open(World *w)
{
    arena_init(&w->arena);
    diags_init(&w->dx, &w->arena);
    w->ir = ir_new(&w->arena, intern_new(&w->arena));
}

static void world_close(World *w)
{
    arena_fini(&w->arena);
}

static const char *messages(World *w)
{
    Buf out = buf_make(&w->arena);
    for (Diag *d = w->dx.first; d; d = d->next) diag_draw(&out, d, false);
    return buf_text(&out);
}

static Func *parse(World *w, const char *text)
{
    Func **funcs;
    int n = ir_parse(w->ir, &w->dx, source_new(&w->arena, "t.ir", text, strlen(text)), &funcs);
    if (n == 1 && ir_verify(funcs[0], &w->dx)) return funcs[0];
    expect_failed(__FILE__, __LINE__, "parses and verifies");
    printf("%s%s", text, messages(w));
    return NULL;
}

static const char *printed(World *w, const Func *fn)
{
    Buf out = buf_make(&w->arena);
    ir_print(&out, fn);
    return buf_text(&out);
}

static void expect_sound(World *w, const Func *fn)
{
    if (ir_verify(fn, &w->dx)) return;
    expect_failed(__FILE__, __LINE__, "is sound");
    printf("%s%s", messages(w), printed(w, fn));
}

static Op *find(Region *r, OpKind kind)
{
    for (Op *op = r->first; op; op = op->next) {
        if (op->kind == kind) return op;
        for (int i = 0; i < op->nregions; i++) {
            Op *inner = find(op->regions[i], kind);
            if (inner) return inner;
        }
    }
    return NULL;
}

static int count_uses(const Value *v)
{
    int n = 0;
    for (const Use *u = v->uses; u; u = u->next) n++;
    return n;
}

#define HEAD ") attributes {num_warps = 4, num_stages = 3} {\n"

static const char loop_text[] =
    "func @f(%x: *fp32 {divisibility = 16}, %n: int32" HEAD
    "  %0 = const 0 : int32\n"
    "  %1 = const 1 : int32\n"
    "  %2 = const 0.5 : fp32\n"
    "  %3, %4 = for %0, %n, %1, %2, %2 (%5: int32, %6: fp32, %7: fp32) {\n"
    "    %8 = add %6, %7 : fp32\n"
    "    %9 = mul %8, %6 : fp32\n"
    "    yield %8, %9\n"
    "  } {disable_licm = 1} : fp32, fp32\n"
    "  store %x, %4\n"
    "  return\n"
    "}\n";

/* ---- changes ---- */

static void uses_are_replaced(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *add = find(fn->body, OP_ADD);
    Value *sum = add->results[0], *left = add->args[0].value, *right = add->args[1].value;
    EXPECT_INT(count_uses(sum), 2);
    ir_replace_uses(sum, right);
    EXPECT_INT(count_uses(sum), 0);
    EXPECT_INT(count_uses(right), 3);
    expect_sound(&w, fn);
    ir_set_arg(find(fn->body, OP_MUL), 1, right);
    EXPECT_INT(count_uses(left), 1);
    EXPECT(ir_is_unused(add) && ir_can_erase(add));
    ir_unlink(add);
    EXPECT_INT(count_uses(left), 0);
    expect_sound(&w, fn);
    EXPECT_RAISE(ir_unlink(find(fn->body, OP_MUL)), "in use");
    world_close(&w);
}

static void operands_come_and_go(void)
{
    World w;
    world_open(&w);
    Func *fn =
        parse(&w, "func @f(%a: int32, %b: int32" HEAD "  print {format = \"\"}\n  return\n}\n");
    Op *print = find(fn->body, OP_PRINT);
    Value *a = fn->body->args[0], *b = fn->body->args[1];
    for (int i = 0; i < 20; i++) ir_add_arg(print, i % 3 ? a : b);
    EXPECT_INT(count_uses(a), 13);
    EXPECT_INT(count_uses(b), 7);
    expect_sound(&w, fn);
    for (int i = 0; i < 10; i++) ir_remove_arg(print, i);
    EXPECT_INT(print->nargs, 10);
    EXPECT_INT(count_uses(a) + count_uses(b), 10);
    expect_sound(&w, fn);
    for (int i = 0; i < 10; i++) EXPECT(print->args[i].value == ((2 * i + 1) % 3 ? a : b));
    ir_replace_uses(a, b);
    EXPECT_INT(count_uses(b), 10);
    expect_sound(&w, fn);
    world_close(&w);
}

/* A carried value that nobody needs goes from all four places. */
static void results_and_region_arguments_are_removed(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *loop = find(fn->body, OP_FOR);
    ir_replace_uses(loop->regions[0]->args[1], loop->regions[0]->args[2]);
    EXPECT_RAISE(ir_remove_result(loop, 1), "in use");
    ir_remove_result(loop, 0);
    ir_remove_arg(loop, 3);
    ir_remove_region_arg(loop->regions[0], 1);
    ir_remove_arg(find(fn->body, OP_YIELD), 0);
    expect_sound(&w, fn);
    Value *more = ir_add_result(loop, loop->results[0]->type);
    ir_add_arg(loop, loop->args[3].value);
    Value *arg = ir_add_region_arg(loop->regions[0], more->type, "more");
    ir_add_arg(find(fn->body, OP_YIELD), arg);
    expect_sound(&w, fn);
    EXPECT_INT(more->index, 1);
    world_close(&w);
}

static void ops_move(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *store = find(fn->body, OP_STORE), *first = fn->body->first;
    Op *second = first->next;
    ir_move_before(second, first);
    EXPECT(fn->body->first == second && second->next == first && first->prev == second);
    expect_sound(&w, fn);
    ir_detach(store);
    EXPECT(!store->region && store->args[1].value->uses);
    ir_insert_before(find(fn->body, OP_FOR)->next, store);
    expect_sound(&w, fn);
    EXPECT_STR(tkc_op_info(fn->body->last->prev->kind)->name, "store");
    world_close(&w);
}

static void visit(Op *op, void *user)
{
    *(int *)user += 1;
    if (op->kind == OP_FOR && ir_is_unused(op)) ir_unlink(op);
}

static void a_walk_may_erase(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    int n = 0;
    ir_walk(fn->body, visit, &n);
    EXPECT_INT(n, 9);
    ir_set_arg(find(fn->body, OP_STORE), 1, op_result(fn->body->first->next->next, 0));
    n = 0;
    ir_walk(fn->body, visit, &n);
    EXPECT_INT(n, 6);
    EXPECT(!find(fn->body, OP_FOR));
    expect_sound(&w, fn);
    world_close(&w);
}

static void attributes_are_set_and_removed(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *loop = find(fn->body, OP_FOR), *add = find(fn->body, OP_ADD);
    for (int key = ATTR_REVERSE; key <= ATTR_NO_LICM; key++)
        ir_set_int(fn, loop, (AttrKey)key, key);
    for (int key = ATTR_REVERSE; key <= ATTR_NO_LICM; key++)
        EXPECT_INT(tkc_op_int(loop, (AttrKey)key, -1), key);
    EXPECT_INT(loop->nattrs, ATTR_NO_LICM - ATTR_REVERSE + 1);
    ir_copy_attrs(fn, add, loop);
    ir_remove_attr(loop, ATTR_DOWN);
    EXPECT(!tkc_op_attr(loop, ATTR_DOWN) && tkc_op_attr(add, ATTR_DOWN));
    EXPECT_INT(tkc_op_int(loop, ATTR_NO_LICM, -1), ATTR_NO_LICM);
    ir_set_str(fn, loop, ATTR_FORMAT, "a");
    EXPECT_STR(tkc_op_str(loop, ATTR_FORMAT, NULL), "a");
    EXPECT_RAISE(ir_set_str(fn, loop, ATTR_AXIS, "a"), "another kind");
    world_close(&w);
}

/* ---- copies ---- */

static void a_copied_op_uses_copies(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *loop = find(fn->body, OP_FOR);
    ValueMap map = ir_value_map(&w.arena, fn);
    ir_map(&map, fn->body->args[1], loop->args[0].value);
    Op *copy = ir_clone(fn, loop, &map);
    ir_insert_before(loop->next, copy);
    expect_sound(&w, fn);
    EXPECT(copy->args[1].value == loop->args[0].value);
    EXPECT(copy->args[3].value == loop->args[3].value);
    EXPECT(ir_mapped(&map, loop->results[1]) == copy->results[1]);
    EXPECT(copy->regions[0]->last->args[0].value == find(copy->regions[0], OP_ADD)->results[0]);
    EXPECT_INT(tkc_op_int(copy, ATTR_NO_LICM, 0), 1);
    ir_insert_before(copy->next, ir_clone(fn, copy, &map)); /* of values younger than the map */
    expect_sound(&w, fn);
    world_close(&w);
}

static void a_copied_function_is_its_own(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Func *copy = ir_func_clone(fn);
    EXPECT_STR(printed(&w, copy), printed(&w, fn));
    ir_unlink(find(copy->body, OP_STORE));
    expect_sound(&w, copy);
    expect_sound(&w, fn);
    EXPECT(find(fn->body, OP_STORE) && !find(copy->body, OP_STORE));
    ir_add_param(copy, "more", type_scalar(w.ir->types, DT_I8));
    EXPECT_INT(fn->nparams, 2);
    world_close(&w);
}

/* ---- constructors ---- */

static Func *built(World *w, Builder *b)
{
    Func *fn = ir_func_new(w->ir, "g", machine_find("sm_80"), 4, 3);
    *b = build_at_end(fn, fn->body);
    return fn;
}

static void constants_fold(void)
{
    World w;
    Builder b;
    world_open(&w);
    built(&w, &b);
    uint64_t bits;
    int64_t n;
    Value *sum = build_binary(&b, OP_ADD, build_int(&b, DT_I8, 100), build_int(&b, DT_I8, 100));
    EXPECT(ir_const_int(sum, &n) && n == -56);
    int32_t shape[] = {8};
    Value *block = build_splat(&b, build_float(&b, DT_F16, 2), 1, shape);
    EXPECT(ir_const_bits(block, &bits) && bits == 0x4000 && type_is_block(block->type));
    Value *product = build_binary(&b, OP_MUL, block, block);
    EXPECT(ir_const_bits(product, &bits) && bits == 0x4400 && product->type == block->type);
    Value *wide = build_broadcast(&b, build_expand_dims(&b, product, 0), 2, (int32_t[]){4, 8});
    EXPECT(ir_const_bits(build_trans(&b, wide, (int[]){1, 0}), &bits) && bits == 0x4400);
    EXPECT(ir_const_bits(build_reshape(&b, wide, 1, (int32_t[]){32}, false), &bits) &&
           bits == 0x4400);
    Value *less = build_binary(&b, OP_LT, block, product);
    EXPECT(ir_const_int(less, &n) && n == 1 && type_is_bool(less->type));
    EXPECT(build_select(&b, build_bool(&b, false), block, product) == product);
    EXPECT(ir_const_bits(build_cast(&b, block, DT_F32, NULL), &bits) && bits == 0x40000000);
    EXPECT(build_cast(&b, block, DT_F16, NULL) == block);
    EXPECT(ir_const_bits(build_cast(&b, build_float(&b, DT_F32, 1.9999), DT_F8E5, "rtz"), &bits) &&
           bits == 0x3f);
    EXPECT(ir_const_int(build_int(&b, DT_U8, -1), &n) && n == 255);
    EXPECT(!ir_const_int(build_float(&b, DT_F32, 1), &n));
    world_close(&w);
}

static void types_follow_the_rules(void)
{
    World w;
    Builder b;
    world_open(&w);
    Func *fn = built(&w, &b);
    Value *x = ir_add_param(fn, "x", type_pointer(w.ir->types, type_scalar(w.ir->types, DT_BF16)));
    Value *range = build_arange(&b, 3, 19);
    Value *row = build_expand_dims(&b, range, 0), *col = build_expand_dims(&b, range, 1);
    int32_t square[] = {16, 16};
    Value *index = build_binary(&b, OP_ADD, build_broadcast(&b, row, 2, square),
                                build_broadcast(&b, col, 2, square));
    Value *ptr = build_addptr(&b, build_splat(&b, x, 2, square), index);
    Value *mask = build_binary(&b, OP_LT, index, index);
    Value *v = build_load(&b, ptr, mask, NULL);
    EXPECT_STR(type_text(&w.arena, v->type), "block<16x16xbf16>");
    Op *max = build_reduce(&b, 1, 1, &v);
    Region *r = max->regions[0];
    Builder inner = build_at_end(fn, r);
    Value *larger = build_binary(&inner, OP_MAX, r->args[0], r->args[1]);
    build_yield(&inner, 1, &larger);
    EXPECT_STR(type_text(&w.arena, op_result(max, 0)->type), "block<16xbf16>");
    Value *joined = build_join(&b, v, v), *lo, *hi;
    build_split(&b, joined, &lo, &hi);
    EXPECT(lo->type == v->type && hi->type == v->type);
    build_store(&b, ptr, hi, mask);
    build_return(&b);
    expect_sound(&w, fn);
    EXPECT_RAISE(build_binary(&b, OP_ADD, v, index), "operand 1 is block<16x16xint32>, expected block<16x16xbf16>");
    EXPECT_RAISE(build_load(&b, index, NULL, NULL), "expected pointers");
    world_close(&w);
}

static void loops_and_branches_are_built(void)
{
    World w;
    Builder b;
    world_open(&w);
    Func *fn = built(&w, &b);
    Value *n = ir_add_param(fn, "n", type_scalar(w.ir->types, DT_I32));
    Value *zero = build_int(&b, DT_I32, 0), *one = build_int(&b, DT_I32, 1);
    Op *loop = build_for(&b, zero, n, one, 1, &zero);
    Builder body = build_at_end(fn, loop->regions[0]);
    Value *even = build_binary(&body, OP_EQ,
                               build_binary(&body, OP_AND, loop->regions[0]->args[0], one), zero);
    Op *branch = build_if(&body, even, 1, &n->type);
    for (int i = 0; i < 2; i++) {
        Builder arm = build_at_end(fn, branch->regions[i]);
        build_yield(&arm, 1, i ? &one : &loop->regions[0]->args[1]);
    }
    build_yield(&body, 1, branch->results);
    Op *search = build_while(&b, 1, loop->results);
    Builder before = build_at_end(fn, search->regions[0]),
            after = build_at_end(fn, search->regions[1]);
    build_condition(&before, build_binary(&before, OP_LT, search->regions[0]->args[0], n), 1,
                    search->regions[0]->args);
    Value *next = build_binary(&after, OP_ADD, search->regions[1]->args[0], one);
    build_yield(&after, 1, &next);
    build_print(&b, "n", false, 1, search->results);
    build_return(&b);
    expect_sound(&w, fn);
    Func *again = parse(&w, printed(&w, fn));
    EXPECT_STR(printed(&w, again), printed(&w, fn));
    EXPECT(ir_is_defined_outside(n, loop->regions[0]) &&
           !ir_is_defined_outside(even, loop->regions[0]));
    EXPECT(!ir_is_defined_outside(branch->results[0], fn->body));
    EXPECT(ir_can_erase(loop) && !ir_can_erase(fn->body->last));
    world_close(&w);
}

static void builders_insert_before(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *mul = find(fn->body, OP_MUL);
    Builder b = build_before(mul);
    Value *v = build_unary(&b, OP_NEG, mul->args[0].value);
    EXPECT(v->def->next == mul && v->def->region == mul->region);
    expect_sound(&w, fn);
    world_close(&w);
}

static void locations_are_shared(void)
{
    World w;
    world_open(&w);
    const Source *text = source_new(w.ir->arena, "f.tk", "x\ny = z", 7);
    const Loc *a = ir_loc(w.ir, (Span){text, 3, 4}, "f", NULL);
    EXPECT(a->line == 2 && a->col == 2 && !strcmp(a->file, "f.tk"));
    EXPECT(a == ir_loc(w.ir, (Span){text, 3, 4}, "f", NULL));
    EXPECT(a != ir_loc(w.ir, (Span){text, 3, 4}, "f", a));
    EXPECT(a != ir_loc(w.ir, (Span){text, 2, 4}, "f", NULL));
    world_close(&w);
}

/* ---- numbers as text ---- */

static void every_small_float_reads_back(void)
{
    static const DType types[] = {DT_F8E4, DT_F8E5, DT_F16, DT_BF16};
    World w;
    world_open(&w);
    for (int k = 0; k < 4; k++) {
        for (uint64_t bits = 0;
             bits<UINT64_C(1) << tkc_dtype_info(types[k])->bits; bits += k> 1 ? 7 : 1) {
            ArenaMark mark = arena_mark(&w.arena);
            Buf out = buf_make(&w.arena);
            uint64_t back = ~bits;
            ir_print_number(&out, types[k], bits);
            EXPECT(ir_parse_number(types[k], out.data, out.len, &back) && back == bits);
            arena_reset(&w.arena, mark);
        }
    }
    world_close(&w);
}

static void expect_number(DType dt, uint64_t bits, const char *text)
{
    World w;
    world_open(&w);
    Buf out = buf_make(&w.arena);
    uint64_t back = ~bits;
    ir_print_number(&out, dt, bits);
    EXPECT_STR(buf_text(&out), text);
    EXPECT(ir_parse_number(dt, text, strlen(text), &back) && back == bits);
    world_close(&w);
}

static void numbers_read_well(void)
{
    expect_number(DT_F32, bits_from_double(DT_F32, 1), "1.0");
    expect_number(DT_F32, bits_from_double(DT_F32, 0.1), "0.1");
    expect_number(DT_BF16, bits_from_double(DT_BF16, 0.1), "0.1");
    expect_number(DT_F64, bits_from_double(DT_F64, 1e300), "1e+300");
    expect_number(DT_F32, 0x80000000, "-0.0");
    expect_number(DT_F16, 0xfc00, "-inf");
    expect_number(DT_F32, 0x7fc00000, "nan(0x7fc00000)");
    expect_number(DT_I1, 1, "true");
    expect_number(DT_I64, (uint64_t)INT64_MIN, "-9223372036854775808");
    expect_number(DT_U64, UINT64_MAX, "18446744073709551615");
    uint64_t bits;
    EXPECT(!ir_parse_number(DT_I8, "128", 3, &bits) && ir_parse_number(DT_I8, "-128", 4, &bits));
    EXPECT(!ir_parse_number(DT_U8, "-1", 2, &bits) && !ir_parse_number(DT_U8, "256", 3, &bits));
    EXPECT(!ir_parse_number(DT_F32, "", 0, &bits) && !ir_parse_number(DT_F32, "1.0x", 4, &bits));
    EXPECT(!ir_parse_number(DT_F32, "0x10", 4, &bits) &&
           !ir_parse_number(DT_F8E4, "inf", 3, &bits));
    EXPECT(!ir_parse_number(DT_F32, "nan(0x3f800000)", 15, &bits));
}

/* ---- the verifier, on damage that no text can show ---- */

static void expect_broken(World *w, const Func *fn, const char *part)
{
    diags_init(&w->dx, &w->arena); /* one place yields one error */
    EXPECT(!ir_verify(fn, &w->dx));
    EXPECT(w->dx.last && strstr(w->dx.last->text, part));
    if (w->dx.last && !strstr(w->dx.last->text, part)) printf("    %s\n", w->dx.last->text);
}

static void damage_to_lists_is_found(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *add = find(fn->body, OP_ADD), *mul = find(fn->body, OP_MUL);
    Use kept = add->args[0];
    add->args[0].value = add->args[1].value;
    expect_broken(&w, fn, "use list");
    add->args[0] = kept;
    expect_sound(&w, fn);
    uint32_t id = add->results[0]->id;
    add->results[0]->id = mul->results[0]->id;
    expect_broken(&w, fn, "one id");
    add->results[0]->id = fn->nvalues;
    expect_broken(&w, fn, "out of range");
    add->results[0]->id = id;
    add->prev = mul;
    expect_broken(&w, fn, "list of ops");
    add->prev = NULL;
    mul->region = fn->body;
    expect_broken(&w, fn, "another region");
    mul->region = add->region;
    Op *first = fn->body->first;
    ir_detach(first);
    expect_broken(&w, fn, "not in the function");
    world_close(&w);
}

static void damage_to_the_head_is_found(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, "func @f(%x: *fp32 {extent = [%n], stride = [1]}, %n: int32) {\n  return\n}\n");
    TypeTable *t = w.ir->types;
    Param *x = &fn->params[0];
    x->extent_param[0] = 2;
    expect_broken(&w, fn, "'x' has extent 0 from parameter 2 of 2");
    x->extent_param[0] = 1;
    x->divisibility = 0;
    expect_broken(&w, fn, "'x' has divisibility 0");
    x->divisibility = 1;
    fn->params[1].type = type_scalar(t, DT_I64);
    expect_broken(&w, fn, "'n' is declared as int64 and used as int32");
    fn->params[1].type = type_scalar(t, DT_I32);
    fn->nparams = 1;
    x->extent_param[0] = 0;
    expect_broken(&w, fn, "1 parameters and 2 arguments");
    fn->nparams = 2;
    x->extent_param[0] = 1;
    fn->num_stages = -1;
    expect_broken(&w, fn, "num_stages is -1, expected at least 0");
    fn->num_stages = 3;
    fn->max_registers = -1;
    expect_broken(&w, fn, "max_registers is -1, expected at least 0");
    fn->max_registers = 0;
    expect_sound(&w, fn);
    world_close(&w);
}

static void damage_to_ops_is_found(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *loop = find(fn->body, OP_FOR), *add = find(fn->body, OP_ADD), *mul = find(fn->body, OP_MUL);
    OpKind kind = add->kind;
    add->kind = OP_NONE;
    expect_broken(&w, fn, "an op of no kind");
    add->kind = kind;
    Op *next = add->next;
    add->next = NULL;
    expect_broken(&w, fn, "the list of ops is broken");
    add->next = next;
    add->nregions = 1;
    expect_broken(&w, fn, "wrong number of regions");
    add->nregions = 0;
    add->results[0]->def = mul;
    expect_broken(&w, fn, "a result is not its op's");
    add->results[0]->def = add;
    Region *body = loop->regions[0];
    body->parent = add;
    expect_broken(&w, fn, "a region is not its op's");
    body->parent = loop;
    body->func = NULL;
    expect_broken(&w, fn, "a region belongs to another function");
    body->func = fn;
    body->args[0]->index = 1;
    expect_broken(&w, fn, "an argument is not its region's");
    body->args[0]->index = 0;
    expect_sound(&w, fn);
    world_close(&w);
}

static void damage_to_uses_is_found(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, loop_text);
    Op *mul = find(fn->body, OP_MUL), *add = find(fn->body, OP_ADD);
    Value *sum = add->results[0];
    const Type *type = sum->type;
    sum->type = NULL;
    expect_broken(&w, fn, "a value has no type");
    sum->type = type;
    Use *uses = sum->uses;
    mul->args[0].user = add;
    expect_broken(&w, fn, "a use belongs to no operand");
    sum->uses = NULL;
    expect_broken(&w, fn, "an operand is not set");
    mul->args[0].user = mul;
    expect_broken(&w, fn, "a use list is broken");
    sum->uses = uses;
    expect_sound(&w, fn);
    ir_detach(mul);
    expect_broken(&w, fn, "a value is used by an op outside of the function");
    world_close(&w);
}

static void damage_to_types_is_found(void)
{
    World w;
    world_open(&w);
    Func *fn = parse(&w, "func @f() {\n  %0 = arange {start = 0} : block<8xint32>\n  return\n}\n");
    TypeTable *t = w.ir->types;
    Value *v = op_result(fn->body->first, 0);
    v->type = type_block(t, type_scalar(t, DT_I32), 1, (const int32_t[]){(1 << 20) + 1}, NULL);
    expect_broken(&w, fn, "block<1048577xint32> has more than 1048576 elements");
    v->type = type_error(t);
    expect_broken(&w, fn, "a value of no type");
    fn = parse(&w, "func @g() {\n  %0 = const 1 : int8\n  return\n}\n");
    Op *op = fn->body->first;
    ir_set_int(fn, op, ATTR_VALUE, 0x1ff);
    expect_broken(&w, fn, "the bits 0x1ff are too wide for int8");
    op->nattrs = 0;
    expect_broken(&w, fn, "the attribute 'value' is missing");
    world_close(&w);
}

static void break_function(Pass *p, Func *fn)
{
    arena_alloc(p->scratch, 100);
    ir_unlink(fn->body->last);
}

static void a_pass_that_breaks_is_named(void)
{
    static const PassInfo table[] = {{"break", break_function, 0, 0, 0, ""}};
    World w;
    world_open(&w);
    Arena scratch;
    arena_init(&scratch);
    EXPECT(!pass_find(table, 1, "brea") && pass_find(table, 1, "break") == table);
#ifdef NDEBUG /* without it every pass is verified */
    EXPECT(pass_run(table, parse(&w, loop_text), &scratch, &w.dx, false));
#endif
    EXPECT(!pass_run(table, parse(&w, loop_text), &scratch, &w.dx, true));
    EXPECT(strstr(messages(&w), "internal error: the pass 'break' broke the IR of 'f'"));
    EXPECT_INT(scratch.used, 0);
    arena_fini(&scratch);
    world_close(&w);
}

/* ---- mutilated text ---- */

static uint32_t random_state = 12345;

static size_t pick(size_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

/* Characters replaced, pieces doubled and pieces cut out. */
static size_t mutilate(char *text, size_t len)
{
    for (size_t times = 1 + pick(5); times && len > 100; times--) {
        size_t at = pick(len - 40), n = 1 + pick(20), from = pick(len - 40);
        if (pick(3) == 0) {
            text[at] = (char)pick(256);
        } else if (pick(2) == 0) {
            memmove(text + at, text + at + n, len - at - n);
            len -= n;
        } else {
            char piece[20];
            memcpy(piece, text + from, n);
            memmove(text + at + n, text + at, len - at);
            memcpy(text + at, piece, n);
            len += n;
        }
    }
    return len;
}

static void no_text_harms(void)
{
    char text[sizeof loop_text + 200];
    for (int i = 0; i < 3000; i++) {
        World w;
        world_open(&w);
        memcpy(text, loop_text, sizeof loop_text);
        size_t len = mutilate(text, sizeof loop_text - 1);
        Func **funcs;
        int n = ir_parse(w.ir, &w.dx, source_new(&w.arena, "t.ir", text, len), &funcs);
        EXPECT((n < 0) == (w.dx.nerrors > 0));
        for (int k = 0; k < n; k++) {
            if (ir_verify(funcs[k], &w.dx)) EXPECT(parse(&w, printed(&w, funcs[k])));
        }
        EXPECT(messages(&w));
        world_close(&w);
    }
}

int main(void)
{
    RUN(uses_are_replaced);
    RUN(operands_come_and_go);
    RUN(results_and_region_arguments_are_removed);
    RUN(ops_move);
    RUN(a_walk_may_erase);
    RUN(attributes_are_set_and_removed);
    RUN(a_copied_op_uses_copies);
    RUN(a_copied_function_is_its_own);
    RUN(constants_fold);
    RUN(types_follow_the_rules);
    RUN(loops_and_branches_are_built);
    RUN(builders_insert_before);
    RUN(locations_are_shared);
    RUN(every_small_float_reads_back);
    RUN(numbers_read_well);
    RUN(damage_to_lists_is_found);
    RUN(damage_to_the_head_is_found);
    RUN(damage_to_ops_is_found);
    RUN(damage_to_uses_is_found);
    RUN(damage_to_types_is_found);
    RUN(a_pass_that_breaks_is_named);
    RUN(no_text_harms);
    return expect_done();
}
