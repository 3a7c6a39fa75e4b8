/* Buffers in shared memory on the cpu device: what stores, loads and atomics at offsets do, with masks, and that an offset outside
   is an error. Whole blocks are test/memory/run-same.tk's. */
#include "interp_run.h"

#define HEAD                                                                                                                   \
    "#0 = #l<64; register: (32); lane: (1) (2) (4) (8) (16)>\n"                                                                \
    "#1 = #l<64; offset: (1) (2) (4) (8) (16) (32)>\n"                                                                         \
    "func @f(%y: *int32) attributes {num_warps = 1, level = \"memory\"} {\n"                                                   \
    "  %i = arange {start = 0} : block<64xint32, #0>\n"                                                                        \
    "  %a = alloc : smem<64xint32, #1>\n"                                                                                      \
    "  sstore %a, %i\n"                                                                                                        \
    "  %last = const 63 : block<64xint32, #0>\n"                                                                               \
    "  %back = sub %last, %i : block<64xint32, #0>\n"                                                                          \
    "  %four = const 4 : block<64xint32, #0>\n"                                                                                \
    "  %m = lt %i, %four : block<64xint1, #0>\n"
#define TAIL                                                                                                                   \
    "  %ys = splat %y : block<64x*int32, #0>\n"                                                                                \
    "  %yp = addptr %ys, %i : block<64x*int32, #0>\n"                                                                          \
    "  store %yp, %x\n"                                                                                                        \
    "  return\n"                                                                                                               \
    "}\n"

static World w;

static const int32_t *run(const char *body)
{
    static int32_t got[64];
    Buf text = buf_make(&w.arena);
    int32_t *y = device_array(&w, NULL, sizeof got);
    buf_printf(&text, "%s%s%s", HEAD, body, TAIL);
    run_well(&w, buf_text(&text), 1, (uint64_t[]){AS_ARG(y)});
    memcpy(got, y, sizeof got);
    device_drop(&w, y);
    return got;
}

static void loads_are_where_the_offsets_say(void)
{
    const int32_t *x = run("  %x = sload_at %a, %back : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], 63 - i);
    x = run("  %x = sload_at %a, %back, %m : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], i < 4 ? 63 - i : 0);
}

static void stores_are_where_the_offsets_say(void)
{
    const int32_t *x = run("  sstore_at %a, %back, %i\n  %x = sload %a : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], 63 - i);
    x = run("  sstore_at %a, %back, %i, %m\n  %x = sload %a : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], i < 60 ? i : 63 - i);
}

static void atomics_count_each_lane(void)
{
    static const struct { const char *rmw; int32_t at[4]; } rows[] = {
        {"add", {64, 65, 66, 67}}, {"max", {3, 3, 3, 3}}, {"min", {0, 1, 2, 3}}, {"xchg", {60, 61, 62, 63}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        Buf body = buf_make(&w.arena);
        buf_printf(&body, "  %%three = const 3 : block<64xint32, #0>\n  %%low = and %%i, %%three : block<64xint32, #0>\n"
                          "  %%v = const %d : block<64xint32, #0>\n  satomic_at %%a, %%low, %%%s {rmw = \"%s\"}\n"
                          "  %%x = sload %%a : block<64xint32, #0>\n", k ? 3 : 4, strcmp(rows[k].rmw, "xchg") ? "v" : "i", rows[k].rmw);
        const int32_t *x = run(buf_text(&body));
        for (int i = 0; i < 4; i++) EXPECT_INT(x[i], rows[k].at[i]);
        for (int i = 4; i < 64; i++) EXPECT_INT(x[i], i);
    }
    const int32_t *x = run("  satomic_at %a, %i, %four, %m {rmw = \"add\"}\n  %x = sload %a : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], i < 4 ? i + 4 : i);
}

static void a_piece_leaves_the_rest(void)
{
    static const char *const body = "  %b = alloc : smem<64xint32, #l<64; offset: (1) (2) (4) (8) (16)>>\n"
                                    "  sstore %b, %back {piece = 32}\n  %x = sload %b, %four {piece = 32} : block<64xint32, #0>\n";
    const int32_t *x = run(body);
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], i < 32 ? 4 : 63 - i);
    x = run("  %x = sload %a {piece = 1} : block<64xint32, #0>\n");
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], i ^ 1);
}

static void an_offset_outside_is_an_error(void)
{
    uint64_t none = 0;
    run_badly(&w, HEAD "  %far = add %i, %four : block<64xint32, #0>\n  %x = sload_at %a, %far : block<64xint32, #0>\n" TAIL, 1, &none,
              "sload_at: offset 64 is outside the 64 elements of the buffer");
}

/* %y is the array; a ring of three gets two copies, one behind a mask. */
static void copies_of_a_ring_are_apart(void)
{
    static const char *const body =
        "  %r = alloc {copies = 3} : smem<64xint32, #l<64; offset: (1) (2) (4) (8) (16) (32)>>\n"
        "  %zs = splat %y : block<64x*int32, #0>\n  %ps = addptr %zs, %back : block<64x*int32, #0>\n"
        "  store %ps, %i\n  %one = const 1 : int32\n  %two = const 2 : int32\n"
        "  copy_async %ps, %r, %one, %m\n  copy_async %ps, %r, %two\n  commit\n  wait {pending = 0}\n"
        "  %p = ring_load %r, %one : block<64xint32, #0>\n  %q = ring_load %r, %two : block<64xint32, #0>\n"
        "  %h = const 100 : block<64xint32, #0>\n  %t = mul %q, %h : block<64xint32, #0>\n"
        "  %x = add %p, %t : block<64xint32, #0>\n";
    const int32_t *x = run(body);
    for (int i = 0; i < 64; i++) EXPECT_INT(x[i], 100 * i + (i < 4 ? i : 0));
}

static void a_copy_that_is_not_there_is_an_error(void)
{
    uint64_t none = 0;
    run_badly(&w, HEAD "  %r = alloc {copies = 3} : smem<64xint32, #l<64; offset: (1) (2) (4) (8) (16) (32)>>\n"
              "  %three = const 3 : int32\n  %x = ring_load %r, %three : block<64xint32, #0>\n" TAIL, 1, &none,
              "ring_load: the ring has 3 copies, none of number 3");
}

int main(void)
{
    world_open(&w);
    RUN(loads_are_where_the_offsets_say);
    RUN(stores_are_where_the_offsets_say);
    RUN(atomics_count_each_lane);
    RUN(a_piece_leaves_the_rest);
    RUN(an_offset_outside_is_an_error);
    RUN(copies_of_a_ring_are_apart);
    RUN(a_copy_that_is_not_there_is_an_error);
    world_close(&w);
    return expect_done();
}
