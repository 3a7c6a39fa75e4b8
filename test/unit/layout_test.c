/* Layouts: what makers deal to whom, the algebra, duplicates, and the text form. */
#include "linear/layout.h"

#include "expect.h"

static Arena arena;
static LayoutTable *table;

static const char *text(const Layout *l)
{
    Buf b = buf_make(&arena);
    layout_print(&b, l);
    return buf_text(&b);
}

static const Layout *parse(const char *s)
{
    const char *error = NULL;
    const Layout *l = layout_parse(table, &s, &error);
    if (error) printf("    %s\n", error);
    return l;
}

static const Layout *blocked_1d(int log2, int vector_log2)
{
    uint8_t dims[] = {(uint8_t)log2};
    return layout_blocked(table, 1, dims, (int[]){0}, (int[]){vector_log2}, 5, 2);
}

static void blocked_deals_vector_lanes_warps_and_the_rest(void)
{
    EXPECT_STR(text(blocked_1d(10, 2)),
               "#l<1024; register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256)>");
    uint8_t dims[] = {4, 6};
    EXPECT_STR(text(layout_blocked(table, 2, dims, (int[]){1, 0}, (int[]){0, 2}, 5, 2)),
               "#l<16x64; register: (0,1) (0,2) (8,0); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (4,0)>");
    EXPECT_STR(text(layout_blocked(table, 2, dims, (int[]){0, 1}, (int[]){2, 0}, 5, 2)),
               "#l<16x64; register: (1,0) (2,0) (0,32); lane: (4,0) (8,0) (0,1) (0,2) (0,4); warp: (0,8) (0,16)>");
    Blocked b = {.rank = 2, .dim_log2 = dims, .order = (int[]){1, 0}, .thread_log2 = (int[]){0, 0}, .lane_bits = 5, .warp_bits = 2};
    b.warp_order = (int[]){0, 1};
    EXPECT_STR(text(layout_blocked_as(table, &b)),
               "#l<16x64; register: (0,32) (4,0) (8,0); lane: (0,1) (0,2) (0,4) (0,8) (0,16); warp: (1,0) (2,0)>");
    b.nwoven = 2, b.woven = (int[]){0, 1};
    EXPECT_STR(text(layout_blocked_as(table, &b)),
               "#l<16x64; register: (0,16) (0,32) (8,0); lane: (1,0) (0,1) (0,2) (0,4) (0,8); warp: (2,0) (4,0)>");
}

static void too_many_threads_become_duplicates(void)
{
    const Layout *l = blocked_1d(6, 0);
    EXPECT_STR(text(l), "#l<64; lane: (1) (2) (4) (8) (16); warp: (32) (0)>");
    EXPECT_INT(layout_free_bits(l, DIM_WARP), 2);
    EXPECT_INT(layout_free_bits(l, DIM_LANE), 0);
    EXPECT(layout_is_surjective(l));
    const Layout *tied = parse("#l<8; register: (1); lane: (2) (3) (4); warp: (6)>");
    EXPECT_INT(layout_free_bits(tied, DIM_LANE), 2);
    EXPECT_INT(layout_free_bits(tied, DIM_WARP), 1);
    EXPECT(!layout_is_surjective(parse("#l<8; lane: (1) (2)>")));
}

static void equal_layouts_are_one_pointer(void)
{
    EXPECT(blocked_1d(10, 2) == blocked_1d(10, 2));
    EXPECT(blocked_1d(10, 2) != blocked_1d(10, 1));
    EXPECT(blocked_1d(10, 2)->id != blocked_1d(10, 1)->id);
}

static void shapes_are_padded(void)
{
    uint8_t dims[3];
    EXPECT_INT(layout_pad(3, (int32_t[]){1, 781, 6}, dims), 13);
    EXPECT(dims[0] == 0 && dims[1] == 10 && dims[2] == 3);
    const Layout *l = parse("#l<4x8; lane: (0,1) (0,2) (0,4) (1,0) (2,0)>");
    EXPECT_INT(layout_coord(l, 29, 0), 3);
    EXPECT_INT(layout_coord(l, 29, 1), 5);
    EXPECT_INT(layout_dim_shift(l, 0), 3);
    EXPECT_INT(layout_dim_mask(l, 0), 24);
}

static void registers_are_found(void)
{
    const Layout *l = blocked_1d(10, 2);
    EXPECT_INT(layout_find_register(l, 513), 5);
    EXPECT_INT(layout_find_register(l, 4), -1);
    const Layout *column = parse("#l<8x4; register: (1,0) (2,0) (0,1); lane: (4,0) (0,2)>");
    EXPECT_INT(layout_run_log2(column, 0), 2);
    EXPECT_INT(layout_run_log2(column, 1), 0);
}

static const char tile[] = "#l<16x64; register: (0,1) (0,2) (8,0); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (4,0)>";

static void trans_permutes_coordinates(void)
{
    const Layout *l = parse(tile), *t = layout_trans(table, l, 2, (int[]){1, 0});
    EXPECT_STR(text(t), "#l<64x16; register: (1,0) (2,0) (0,8); lane: (4,0) (8,0) (16,0) (32,0) (0,1); warp: (0,2) (0,4)>");
    EXPECT(layout_trans(table, t, 2, (int[]){1, 0}) == l);
    const Layout *cube = parse("#l<2x4x8; lane: (1,0,0) (0,1,0) (0,2,0) (0,0,1) (0,0,2); warp: (0,0,4) (0,0,0)>");
    EXPECT_STR(text(layout_trans(table, cube, 3, (int[]){2, 0, 1})),
               "#l<8x2x4; lane: (0,1,0) (0,0,1) (0,0,2) (1,0,0) (2,0,0); warp: (4,0,0) (0,0,0)>");
}

static void slice_project_and_expand_agree(void)
{
    const Layout *l = parse(tile);
    EXPECT_STR(text(layout_slice(table, l, 1)), "#l<16; register: (8); lane: (0) (0) (0) (0) (1); warp: (2) (4)>");
    EXPECT_STR(text(layout_slice(table, l, 0)), "#l<64; register: (1) (2); lane: (4) (8) (16) (32) (0); warp: (0) (0)>");
    for (int axis = 0; axis < 2; axis++) {
        uint8_t dims[] = {4, 6};
        dims[axis] = 0;
        const Layout *p = layout_project(table, l, 2, dims);
        EXPECT(layout_squeeze(table, p, axis) == layout_slice(table, l, axis));
        EXPECT(layout_expand(table, layout_slice(table, l, axis), axis) == p);
    }
    EXPECT_RAISE(layout_slice(table, blocked_1d(10, 2), 0), "squeeze");
}

static void slice_drops_registers_that_become_equal(void)
{
    const Layout *l = parse("#l<4x4; register: (1,1) (0,1) (2,3); lane: (0,2)>");
    EXPECT_STR(text(layout_slice(table, l, 0)), "#l<4; register: (1) (3); lane: (2)>");
    EXPECT_STR(text(layout_slice(table, l, 1)), "#l<4; register: (1) (2); lane: (0)>");
    EXPECT_STR(text(layout_drop_free_registers(table, parse("#l<4; register: (1) (0) (2) (3)>"))), "#l<4; register: (1) (2)>");
}

static void reshape_join_split(void)
{
    uint8_t flat[] = {10};
    const Layout *l = parse(tile), *f = layout_reshape(table, l, 1, flat);
    EXPECT_STR(text(f), "#l<1024; register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256)>");
    const Layout *j = layout_join(table, f);
    EXPECT_STR(text(j), "#l<1024x2; register: (0,1) (1,0) (2,0) (512,0); lane: (4,0) (8,0) (16,0) (32,0) (64,0); warp: (128,0) (256,0)>");
    EXPECT(layout_split(table, j) == f);
    EXPECT(!layout_split(table, parse("#l<2x2; lane: (0,1); register: (1,0)>")));
    EXPECT(!layout_split(table, parse("#l<2x2; lane: (1,0); register: (1,1)>")));
}

static void text_round_trips_and_refuses(void)
{
    const char *good[] = {tile, "#l<1>", "#l<4x1; register: (1,0) (2,0); lane: (0,0)>", "#l<8; offset: (4) (1) (2)>"};
    for (int i = 0; i < 4; i++) EXPECT_STR(text(parse(good[i])), good[i]);
    EXPECT_STR(text(parse("#l< 4 ;lane:( 1 )(2) >")), "#l<4; lane: (1) (2)>");
    const char *bad[][2] = {
        {"#x<4>", "expected '#l<'"}, {"#l<3>", "extents in a layout are powers of two"},
        {"#l<4; lane: (4)>", "layout vector outside the shape"}, {"#l<4; lane: (1,1)>", "expected ')' in a layout vector"},
        {"#l<4; thread: (1)>", "expected register, lane, warp or offset in the layout"},
        {"#l<4; lane: (1); lane: (2)>", "the layout names a hardware dim twice"},
        {"#l<4; lane: (1)", "expected '>' at the end of the layout"}, {"#l<2097152>", "number in the layout is too large"},
        {"#l<1024x2048>", "layout has too many elements"}, {"#l<4x4; lane: (1>", "expected ',' in a layout vector"},
        {"#l<>", "expected a number in the layout"}, {"#l<4; lane (1)>", "expected ':' in the layout"},
        {"#l<1x1x1x1x1x1x1x1x1>", "layout has too many dims"},
        {"#l<1; lane: (0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)(0)>", "layout has too many vectors"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *p = bad[i][0], *error = NULL;
        EXPECT(!layout_parse(table, &p, &error));
        EXPECT_STR(error, bad[i][1]);
    }
}

/* Each bit of the coordinate that layout_axis names changes that bit of the index and no other. */
static void an_axis_is_held_bit_by_bit(void)
{
    static const struct { const char *layout; int dim; const char *held; } cases[] = {
        {"#l<1024; register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256)>", 0, "rrlllllwwr"},
        {"#l<16; register: (3) (1); lane: (8) (4)>", 0, "rrll"},
        {"#l<4x4; register: (1,1) (0,1); lane: (2,0) (0,2)>", 0, "rl"},
        {"#l<4x4; register: (1,1) (0,1); lane: (2,0) (0,2)>", 1, "rl"},
        {"#l<4x1; lane: (2,0) (1,0) (0,0)>", 1, ""},
    };
    LayoutAxis a;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Layout *l = parse(cases[i].layout);
        char held[LAYOUT_MAX_BITS + 1] = "";
        EXPECT(layout_axis(l, cases[i].dim, &a));
        for (int bit = 0; bit < a.n; bit++) {
            const uint32_t x = a.bits[bit], unit = UINT32_C(1) << (layout_dim_shift(l, cases[i].dim) + bit);
            const LayoutDim d = a.held_by[bit];
            held[bit] = "rlw"[d];
            EXPECT_INT(layout_apply(l, d == DIM_REGISTER ? x : 0, d == DIM_LANE ? x : 0, d == DIM_WARP ? x : 0), unit);
        }
        EXPECT_STR(held, cases[i].held);
        EXPECT_INT(a.in_registers | a.in_lanes | a.in_warps, (1 << a.n) - 1);
    }
}

static void an_axis_that_is_mixed_is_told(void)
{
    static const char *const mixed[] = {
        "#l<8; register: (1); lane: (3) (4)>",            /* a lane flips two bits */
        "#l<8; register: (1); lane: (2) (4) (4)>",        /* two lanes hold one */
        "#l<8; register: (1) (2); lane: (2) (4)>",        /* a register and a lane do */
        "#l<8; register: (3); lane: (1) (4); warp: (0)>", /* a register goes with a lane's bit */
    };
    LayoutAxis a;
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) EXPECT(!layout_axis(parse(mixed[i]), 0, &a));
    const Layout *l = parse("#l<4x4; register: (0,1); lane: (1,1) (0,2) (2,0)>");
    EXPECT(!layout_axis(l, 0, &a));
    EXPECT(!layout_axis(l, 1, &a));
    EXPECT(!layout_axis_in_warp(blocked_1d(10, 2), 0));
    EXPECT(layout_axis_in_warp(blocked_1d(7, 2), 0));
}

/* Warps give the axis to registers, and take other dims from them while there are some. */
static void an_axis_goes_into_a_warp(void)
{
    EXPECT_STR(text(layout_keep_in_warp(table, blocked_1d(10, 2), 0)),
               "#l<1024; register: (1) (2) (512) (128) (256); lane: (4) (8) (16) (32) (64); warp: (0) (0)>");
    const Layout *l = parse("#l<4x64; register: (0,1) (1,0); lane: (0,2) (0,4) (2,0); warp: (0,8) (0,16) (0,32)>");
    EXPECT_STR(text(layout_keep_in_warp(table, l, 1)),
               "#l<4x64; register: (0,1) (0,8) (0,16) (0,32); lane: (0,2) (0,4) (2,0); warp: (1,0) (0,0) (0,0)>");
    EXPECT(layout_keep_in_warp(table, l, 0) == l);
}

int main(void)
{
    arena_init(&arena);
    table = layouts_new(&arena);
    RUN(blocked_deals_vector_lanes_warps_and_the_rest);
    RUN(too_many_threads_become_duplicates);
    RUN(equal_layouts_are_one_pointer);
    RUN(shapes_are_padded);
    RUN(registers_are_found);
    RUN(trans_permutes_coordinates);
    RUN(slice_project_and_expand_agree);
    RUN(slice_drops_registers_that_become_equal);
    RUN(reshape_join_split);
    RUN(an_axis_is_held_bit_by_bit);
    RUN(an_axis_that_is_mixed_is_told);
    RUN(an_axis_goes_into_a_warp);
    RUN(text_round_trips_and_refuses);
    arena_fini(&arena);
    return expect_done();
}
