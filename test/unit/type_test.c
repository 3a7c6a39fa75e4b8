/* Equal types are one pointer within a table, and what is printed reads back. */
#include "ir/type.h"

#include "expect.h"

static const char *printed(Arena *a, const Type *ty)
{
    Buf out = buf_make(a);
    type_print(&out, ty);
    return buf_text(&out);
}

static void equal_types_are_one_pointer(void)
{
    Arena a;
    arena_init(&a);
    TypeTable *t = types_new(&a);
    const Type *f16 = type_scalar(t, DT_F16), *f32 = type_scalar(t, DT_F32);
    int32_t shape[] = {16, 64}, other[] = {64, 16};
    const Type *block = type_block(t, f16, 2, shape, NULL);
    EXPECT(block == type_block(t, f16, 2, (int32_t[]){16, 64}, NULL));
    EXPECT(block != type_block(t, f16, 2, other, NULL));
    EXPECT(block != type_block(t, f16, 1, shape, NULL));
    EXPECT(block != type_block(t, f32, 2, shape, NULL));
    EXPECT(block != type_block(t, type_pointer(t, f16), 2, shape, NULL));
    EXPECT(type_pointer(t, f16) == type_pointer(t, f16) &&
           type_pointer(t, f16) != type_pointer(t, f32));
    EXPECT(type_with_dtype(t, block, DT_F32) == type_block(t, f32, 2, shape, NULL));
    EXPECT(type_with_dtype(t, f16, DT_F32) == f32);
    EXPECT(type_like(t, block, type_pointer(t, f32)) ==
           type_block(t, type_pointer(t, f32), 2, shape, NULL));
    EXPECT(type_with_elem(t, type_error(t), f16) == type_error(t));
    EXPECT(type_block(t, type_error(t), 2, shape, NULL) == type_error(t));
    arena_fini(&a);
}

static void a_layout_makes_another_type(void)
{
    Arena a;
    arena_init(&a);
    TypeTable *t = types_new(&a);
    LayoutTable *layouts = layouts_new(&a);
    int32_t shape[] = {64};
    uint8_t log2[] = {6};
    const Layout *l = layout_blocked(layouts, 1, log2, (int[]){0}, (int[]){1}, 5, 0);
    const Type *plain = type_block(t, type_scalar(t, DT_F32), 1, shape, NULL);
    const Type *laid = type_with_layout(t, plain, l);
    EXPECT(laid != plain && laid == type_with_layout(t, plain, l) &&
           type_with_layout(t, laid, NULL) == plain);
    EXPECT_STR(printed(&a, laid),
               "block<64xfp32, #l<64; register: (1); lane: (2) (4) (8) (16) (32)>>");
    EXPECT_STR(type_text(&a, laid), "block<64xfp32>");
    arena_fini(&a);
}

static void questions_go_by_element(void)
{
    Arena a;
    arena_init(&a);
    TypeTable *t = types_new(&a);
    int32_t shape[] = {3, 5};
    const Type *f = type_block(t, type_scalar(t, DT_F8E4), 2, shape, NULL);
    const Type *p = type_block(t, type_pointer(t, type_scalar(t, DT_I1)), 2, shape, NULL);
    EXPECT(type_is_float(f) && !type_is_int(f) && type_is_block(f) && !type_is_scalar(f) &&
           !type_is_pointer(f));
    EXPECT(type_is_pointer(p) && !type_is_int(p) && !type_is_bool(p) && type_dtype(p) == DT_NONE);
    EXPECT(type_is_bool(type_scalar(t, DT_I1)) && type_is_int(type_scalar(t, DT_I1)));
    EXPECT(type_same_shape(f, p) && !type_same_shape(f, type_scalar(t, DT_F8E4)));
    EXPECT_INT(type_bits(f), 8);
    EXPECT_INT(type_bits(p), 64);
    EXPECT_INT(type_bytes(p), 8);
    EXPECT_INT(type_bytes(type_scalar(t, DT_I1)), 1);
    EXPECT_INT(tkc_type_count(f), 15);
    EXPECT_INT(tkc_type_count(type_scalar(t, DT_I8)), 1);
    arena_fini(&a);
}

static void every_spelling_is_found(void)
{
    Arena a;
    arena_init(&a);
    TypeTable *t = types_new(&a);
    for (int dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        const DTypeInfo *info = dtype_info((DType)dt);
        EXPECT(dtype_find(info->name, strlen(info->name)) == (DType)dt);
        EXPECT(dtype_find(info->short_name, strlen(info->short_name)) == (DType)dt);
        EXPECT(dtype_find(info->other_name, strlen(info->other_name)) == (DType)dt);
        const char *text = printed(&a, type_scalar(t, (DType)dt));
        EXPECT(type_parse(t, text, strlen(text)) == type_scalar(t, (DType)dt));
    }
    EXPECT(dtype_find("fp", 2) == DT_NONE && dtype_find("", 0) == DT_NONE);
    EXPECT(type_parse(t, "**fp16", 6) == type_pointer(t, type_pointer(t, type_scalar(t, DT_F16))));
    EXPECT(type_parse(t, "*u8", 3) == type_pointer(t, type_scalar(t, DT_U8)));
    EXPECT(!type_parse(t, "*", 1) && !type_parse(t, "fp16*", 5) &&
           !type_parse(t, "*********i8", 11));
    EXPECT_STR(printed(&a, type_pointer(t, type_scalar(t, DT_BF16))), "*bf16");
    EXPECT_STR(printed(&a, type_block(t, type_pointer(t, type_scalar(t, DT_I32)), 2,
                                      (int32_t[]){16, 64}, NULL)),
               "block<16x64x*int32>");
    arena_fini(&a);
}

int main(void)
{
    RUN(equal_types_are_one_pointer);
    RUN(a_layout_makes_another_type);
    RUN(questions_go_by_element);
    RUN(every_spelling_is_found);
    return expect_done();
}
