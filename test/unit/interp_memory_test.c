/* Accesses of the interpreter against lanes one by one: masks and addresses of every kind, each
   element size. What lies outside is found, named and counted; nothing beyond an array is read or
   written. */
#include "interp_run.h"

/* ---- masks and addresses ---- */

enum { LANES = 700, SPAN = 2048 };

typedef enum Mask {
    MASK_NONE,
    MASK_ALL,
    MASK_OFF,
    MASK_PREFIX,
    MASK_SUFFIX,
    MASK_ROWS,
    MASK_RANDOM,
    MASKS
} Mask;
typedef enum Where {
    AT_ORDER,
    AT_REVERSE,
    AT_STRIDE,
    AT_ROWS,
    AT_RANDOM,
    AT_SAME,
    AT_TWO_RUNS,
    WHERES
} Where;

static bool lane_on(Mask mask, int i, uint64_t *seed)
{
    switch (mask) {
    case MASK_OFF: return false;
    case MASK_PREFIX: return i < 333;
    case MASK_SUFFIX: return i >= 333;
    case MASK_ROWS: return i % 32 < 25;
    case MASK_RANDOM: return random_next(seed) & 1;
    default: return true;
    }
}

static int64_t lane_offset(Where where, int i, uint64_t *seed)
{
    switch (where) {
    case AT_REVERSE: return LANES - 1 - i;
    case AT_STRIDE: return (int64_t)i * 2 + 1;
    case AT_ROWS: return i / 32 * 40 + i % 32;
    case AT_RANDOM: return (int64_t)(random_next(seed) % SPAN);
    case AT_SAME: return 77;
    case AT_TWO_RUNS: return i < 350 ? i + 100 : i + 500;
    default: return i;
    }
}

/* How the kernel holds addresses: an array of offsets of this type, or (NULL) pointers carried
   through a select. */
static const char *const forms[] = {"i32", "i64", "u32", "i16", NULL};

typedef struct Access {
    Mask mask;
    Where where;
    const char *form, *dtype;
    int size;
    bool has_other;
} Access;

static void write_offset(char *p, const char *form, int i, int64_t v)
{
    int size = !form || !strcmp(form, "i64") ? 8 : !strcmp(form, "i16") ? 2 : 4;
    memcpy(p + i * size, &v, (size_t)size);
}

/* offsets and mask are read by plain accesses; x is what the access under test goes to. */
static const char *access_text(World *w, const Access *a, bool is_store)
{
    Buf b = buf_make(&w->arena);
    const char *form = a->form ? a->form : "i64", *t = a->dtype;
    buf_printf(&b,
               "func @f(%%x: *%s, %%o: *%s, %%m: *i1, %%v: *%s) attributes {target = \"sm_80\", "
               "num_warps = 4, num_stages = 3} {\n",
               t, form, t);
    buf_printf(&b, "%%i = arange {start = 0} : block<%dxi32>\n", LANES);
    buf_printf(&b,
               "%%os = splat %%o : block<%dx*%s>\n%%op = addptr %%os, %%i : block<%dx*%s>\n%%at = "
               "load %%op : block<%dx%s>\n",
               LANES, form, LANES, form, LANES, form);
    buf_printf(&b,
               "%%ms = splat %%m : block<%dx*i1>\n%%mp = addptr %%ms, %%i : block<%dx*i1>\n%%mask "
               "= load %%mp : block<%dxi1>\n",
               LANES, LANES, LANES);
    buf_printf(&b, "%%vs = splat %%v : block<%dx*%s>\n%%vp = addptr %%vs, %%i : block<%dx*%s>\n",
               LANES, t, LANES, t);
    buf_printf(&b, "%%xs = splat %%x : block<%dx*%s>\n%%xp%s = addptr %%xs, %%at : block<%dx*%s>\n",
               LANES, t, a->form ? "" : "0", LANES, t);
    if (!a->form)
        buf_printf(
            &b,
            "%%c = eq %%i, %%i : block<%dxi1>\n%%xp = select %%c, %%xp0, %%xs : block<%dx*%s>\n",
            LANES, LANES, t);
    const char *mask = a->mask == MASK_NONE ? "" : ", %mask";
    if (is_store)
        buf_printf(&b, "%%val = load %%vp : block<%dx%s>\nstore %%xp, %%val%s\n", LANES, t, mask);
    else if (a->has_other)
        buf_printf(&b,
                   "%%other = load %%vp : block<%dx%s>\n%%r = load %%xp%s, %%other : "
                   "block<%dx%s>\nstore %%vp, %%r\n",
                   LANES, t, mask, LANES, t);
    else buf_printf(&b, "%%r = load %%xp%s : block<%dx%s>\nstore %%vp, %%r\n", mask, LANES, t);
    buf_puts(&b, "return\n}\n");
    return buf_text(&b);
}

static void try_access(const Access *a, bool is_store)
{
    World w;
    world_open(&w);
    uint64_t seed = 7;
    int size = a->size;
    char *x = device_array(&w, NULL, (size_t)(SPAN * size)),
         *v = device_array(&w, NULL, (size_t)(LANES * size));
    char *offsets = device_array(&w, NULL, LANES * 8), *mask = device_array(&w, NULL, LANES);
    char *want = arena_alloc(&w.arena, (size_t)(SPAN * size));
    int64_t at[LANES];
    for (int i = 0; i < SPAN * size; i++) x[i] = (char)random_next(&seed);
    for (int i = 0; i < LANES * size; i++) v[i] = (char)random_next(&seed);
    memcpy(want, is_store ? x : v, (size_t)((is_store ? SPAN : LANES) * size));
    for (int i = 0; i < LANES; i++) {
        mask[i] = lane_on(a->mask, i, &seed);
        at[i] = mask[i] ? lane_offset(a->where, i, &seed) : 30000; /* outside */
        write_offset(offsets, a->form, i, at[i]);
        if (mask[i] && is_store) memcpy(want + at[i] * size, v + i * size, (size_t)size);
        else if (mask[i]) memcpy(want + i * size, x + at[i] * size, (size_t)size);
        else if (!is_store && !a->has_other) memset(want + i * size, 0, (size_t)size);
    }
    const char *text = access_text(&w, a, is_store);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(x), AS_ARG(offsets), AS_ARG(mask), AS_ARG(v)});
    if (memcmp(want, is_store ? x : v, (size_t)((is_store ? SPAN : LANES) * size))) {
        printf("%smask %d, where %d\n", text, a->mask, a->where);
        expect_failed(__FILE__, __LINE__, is_store ? "stored" : "loaded");
    }
    world_close(&w);
}

static void accesses(void)
{
    static const struct {
        const char *dtype;
        int size;
    } types[] = {{"u8", 1}, {"bf16", 2}, {"fp32", 4}, {"i64", 8}};
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 5; f++)
            for (Mask m = 0; m < MASKS; m++)
                for (Where at = 0; at < WHERES; at++) {
                    Access a = {m, at, forms[f], types[t].dtype, types[t].size, false};
                    try_access(&a, true);
                    try_access(&a, false);
                    a.has_other = true;
                    if (m != MASK_NONE) try_access(&a, false);
                }
}

/* int1 in memory is true unless it is zero. */
static void bools(void)
{
    World w;
    world_open(&w);
    uint8_t raw[64], *x, *y = device_array(&w, NULL, 64);
    for (int i = 0; i < 64; i++) raw[i] = (uint8_t)(i * 4);
    x = device_array(&w, raw, 64);
    run_well(&w,
             "func @f(%x: *i1, %y: *i1) attributes {target = \"sm_80\", num_warps = 4, num_stages "
             "= 3} {\n%i = arange {start = 0} : block<64xi32>\n"
             "%xs = splat %x : block<64x*i1>\n%xp = addptr %xs, %i : block<64x*i1>\n%ys = splat %y "
             ": block<64x*i1>\n%yp = addptr %ys, %i : block<64x*i1>\n"
             "%v = load %xp : block<64xi1>\nstore %yp, %v\nreturn\n}\n",
             1, (uint64_t[]){AS_ARG(x), AS_ARG(y)});
    for (int i = 0; i < 64; i++) EXPECT_INT(y[i], i != 0);
    world_close(&w);
}

/* ---- refusals ---- */

#define SIGNATURE "attributes {target = \"sm_80\", num_warps = 4, num_stages = 3} {\n"
#define LOAD_10                                                                                    \
    "func @f(%x: *fp32, %at: i64) " SIGNATURE                                                      \
    "%i = arange {start = 0} : block<10xi32>\n%p = addptr %x, %at : *fp32\n%s = splat %p : "       \
    "block<10x*fp32>\n"                                                                            \
    "%q = addptr %s, %i : block<10x*fp32>\n%v = load %q : block<10xfp32>\nreturn\n}\n"
#define STORE_ONE                                                                                  \
    "func @f(%x: *i64, %at: i64) " SIGNATURE                                                       \
    "%p = addptr %x, %at : *i64\nstore %p, %at\nreturn\n}\n"
#define STORE_BYTES                                                                                \
    "func @f(%x: *i8, %at: i64) " SIGNATURE "%p = addptr %x, %at : *i8\n%q = bitcast %p : "        \
                                            "*i32\n%v = const 5 : i32\nstore %q, %v\nreturn\n}\n"
#define ADD_ONE                                                                                    \
    "func @f(%x: *i32, %at: i64) " SIGNATURE                                                       \
    "%p = addptr %x, %at : *i32\n%v = const 5 : i32\n%o = atomic_rmw %p, %v {rmw = \"add\", sem "  \
    "= \"relaxed\", scope = \"gpu\"} : i32\nreturn\n}\n"

static void outside(void)
{
    World w;
    world_open(&w);
    float *x = device_array(&w, NULL, 100 * 4);
    device_array(&w, NULL, 4096); /* memory that may lie behind it */
    run_well(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(x), 90});
    run_badly(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(x), 91},
              "t.ir:6:6: error: load outside 'x': element 100 of 100 (fp32), in program (0, 0, 0)");
    run_badly(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(x), 5000},
              "load outside 'x': element 5000 of 100 (fp32)");
    run_badly(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(x), (uint64_t)-3},
              "load outside 'x': element -3 of 100 (fp32)");
    run_badly(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(x) + 2, 0},
              "load through 'x', whose address is not a multiple of the 4 of fp32");
    run_badly(&w, LOAD_10, 1, (uint64_t[]){0, 0}, "load through 'x', which is a null pointer");
    run_badly(&w, LOAD_10, 1, (uint64_t[]){4096, 0},
              "load through 'x', which points to no memory of this device: the array has no elements");
    run_badly(&w, STORE_ONE, 1, (uint64_t[]){AS_ARG(x), 50},
              "store outside 'x': element 50 of 50 (i64)");
    run_badly(&w, STORE_BYTES, 1, (uint64_t[]){AS_ARG(x), 398},
              "store at byte 398 of 'x', which is not a multiple of the 4 of i32");
    run_badly(&w, ADD_ONE, 1, (uint64_t[]){AS_ARG(x), 100},
              "atomic outside 'x': element 100 of 100 (i32)");
    float *freed = device_array(&w, NULL, 400);
    device_drop(&w, freed);
    run_badly(&w, LOAD_10, 1, (uint64_t[]){AS_ARG(freed), 0}, "load");
    world_close(&w);
}

/* An int32 offset that wraps is an error in a lane that takes part, and none where the lane is
   masked off or nothing is accessed by it. */
static void offsets_that_wrap(void)
{
    World w;
    world_open(&w);
    float *x = device_array(&w, NULL, 400);
    tkc_device_set_memory_checks(w.dev, true);
    const char *text = "func @f(%x: *fp32, %n: i32, %stride: i32) " SIGNATURE
                       "%i = arange {start = 0} : block<8xi32>\n%s = splat %stride : block<8xi32>\n"
                       "%m = mul %i, %s : block<8xi32>\n%q = splat %x : block<8x*fp32>\n%p = "
                       "addptr %q, %m : block<8x*fp32>\n%t = splat %n : block<8xi32>\n"
                       "%c = lt %i, %t : block<8xi1>\n%z = const 0.0 : block<8xfp32>\n%v = load "
                       "%p, %c, %z : block<8xfp32>\nstore %p, %v, %c\nreturn\n}\n";
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(x), 8, 10});
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(x), 1, 1 << 30});
    run_badly(
        &w, text, 1, (uint64_t[]){AS_ARG(x), 8, 1 << 30},
        "load of element -2147483648 of 'x' (100 elements) through an offset that has wrapped in int32: "
        "element 2147483648 was meant");
    run_badly(&w, text, 1, (uint64_t[]){AS_ARG(x), 2, 0x80000000u - 10},
              "load outside 'x': element 2147483638 of 100");
    const char *sum = "func @f(%x: *fp32, %a: i32, %b: i32) " SIGNATURE
                      "%i = arange {start = 0} : block<8xi32>\n%s = add %a, %b : i32\n%t = splat "
                      "%s : block<8xi32>\n"
                      "%m = add %i, %t : block<8xi32>\n%q = splat %x : block<8x*fp32>\n%p = addptr "
                      "%q, %m : block<8x*fp32>\n%v = load %p : block<8xfp32>\nreturn\n}\n";
    run_well(&w, sum, 1, (uint64_t[]){AS_ARG(x), 50, (uint32_t)-50});
    run_badly(&w, sum, 1, (uint64_t[]){AS_ARG(x), 0x7fffffff, 0x7fffffff},
              "load of element -2 of 'x' (100 elements) through an offset that has wrapped in int32: "
              "element 4294967294 was meant");
    const char *unused = "func @f(%x: *i32, %a: i32, %b: i32) " SIGNATURE
                         "%s = mul %a, %b : i32\nstore %x, %s\nreturn\n}\n";
    run_well(&w, unused, 1, (uint64_t[]){AS_ARG(x), 1 << 20, 1 << 20});
    world_close(&w);
}

/* Of several programs that fail the first is reported, whatever the threads do. */
static void first_failure(void)
{
    World w;
    world_open(&w);
    int32_t *x = device_array(&w, NULL, 1000 * 4);
    const char *text =
        "func @f(%x: *i32) " SIGNATURE
        "%p = program_id {axis = 0} : i32\n%q = addptr %x, %p : *i32\nstore %q, %p\nreturn\n}\n";
    for (int round = 0; round < 20; round++) {
        tkc_device_set_threads(w.dev, 1 + round % 4);
        run_badly(&w, text, 5000, (uint64_t[]){AS_ARG(x)},
                  "store outside 'x': element 1000 of 1000 (i32), in program (1000, 0, 0)");
        for (int i = 0; i < 1000; i++) EXPECT_INT(x[i], i);
        memset(x, 0, 4000);
    }
    world_close(&w);
}

/* Memory of the caller's own, vouched for by its size; and an end before the allocation's. */
static void sizes_of_arguments(void)
{
    World w;
    world_open(&w);
    static float own[32];
    float *x = device_array(&w, NULL, 64 * 4);
    Interp *in = interp_prepare(w.cx, parse_func(&w, LOAD_10), NULL, &(TkcStatus){0});
    LaunchArg args[] = {{AS_ARG(own), sizeof own}, {22, 0}};
    EXPECT_INT(interp_launch(w.dev, in, w.dev->state, (int64_t[]){1, 1, 1}, args), TKC_OK);
    args[1].bits = 23;
    EXPECT_INT(interp_launch(w.dev, in, w.dev->state, (int64_t[]){1, 1, 1}, args), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(w.cx), "load outside 'x': element 32 of 32 (fp32)") != NULL);
    args[0] = (LaunchArg){AS_ARG(x), 20 * 4};
    EXPECT_INT(interp_launch(w.dev, in, w.dev->state, (int64_t[]){1, 1, 1}, args), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(w.cx), "load outside 'x': element 23 of 20 (fp32)") != NULL);
    interp_free(in);
    world_close(&w);
}

/* A pointer that a loop moves on still belongs to its array; one that may be either array's is
   checked against all memory. */
static void pointers_in_loops(void)
{
    World w;
    world_open(&w);
    int32_t *x = device_array(&w, NULL, 400), *y = device_array(&w, NULL, 400);
    const char *moved =
        "func @f(%x: *i32, %n: i32) " SIGNATURE
        "%z = const 0 : i32\n%o = const 1 : i32\n%p = for %z, %n, %o, %x (%i: i32, %q: *i32) {\n"
        "store %q, %i\n%r = addptr %q, %o : *i32\nyield %r\n} : *i32\nreturn\n}\n";
    run_well(&w, moved, 1, (uint64_t[]){AS_ARG(x), 100});
    for (int i = 0; i < 100; i++) EXPECT_INT(x[i], i);
    run_badly(&w, moved, 1, (uint64_t[]){AS_ARG(x), 101},
              "store outside 'x': element 100 of 100 (i32)");
    const char *swapped = "func @f(%x: *i32, %y: *i32, %n: i32, %at: i32) " SIGNATURE
                          "%z = const 0 : i32\n%o = const 1 : i32\n"
                          "%p, %u = for %z, %n, %o, %x, %y (%i: i32, %q: *i32, %r: *i32) {\nstore "
                          "%q, %i\nyield %r, %q\n} : *i32, *i32\n"
                          "%e = addptr %p, %at : *i32\nstore %e, %n\nreturn\n}\n";
    run_well(&w, swapped, 1, (uint64_t[]){AS_ARG(x), AS_ARG(y), 6, 6});
    EXPECT_INT(x[0], 4);
    EXPECT_INT(y[0], 5);
    EXPECT_INT(x[6], 6);
    run_badly(&w, swapped, 1, (uint64_t[]){AS_ARG(x), AS_ARG(y), 6, 1 << 28},
              "store of i32 outside all memory of this device");
    world_close(&w);
}

/* ---- atomics ---- */

static void atomics(void)
{
    static const struct {
        const char *rmw, *type;
        uint64_t before, operand, after;
    } cases[] = {
        {"add", "i32", 5, 7, 12},
        {"add", "i64", 5, (uint64_t)-7, (uint64_t)-2},
        {"and", "i32", 12, 10, 8},
        {"or", "u32", 12, 10, 14},
        {"xor", "i32", 12, 10, 6},
        {"max", "i32", (uint32_t)-5, 3, 3},
        {"min", "i32", (uint32_t)-5, 3, (uint32_t)-5},
        {"umax", "i32", (uint32_t)-5, 3, (uint32_t)-5},
        {"umin", "u32", (uint32_t)-5, 3, 3},
        {"xchg", "i64", 1, 2, 2},
        {"fadd", "fp32", 0x3f800000, 0x40000000, 0x40400000},
        {"fadd", "fp16", 0x3c00, 0x4000, 0x4200},
        {"fadd", "bf16", 0x3f80, 0x4000, 0x4040},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        World w;
        world_open(&w);
        const char *t = cases[i].type;
        char text[1000];
        uint64_t *x = device_array(&w, &cases[i].before, 8),
                 *old = device_array(&w, (uint64_t[]){0}, 8);
        snprintf(text, sizeof text,
                 "func @f(%%x: *%s, %%old: *%s, %%v: %s) " SIGNATURE
                 "%%o = atomic_rmw %%x, %%v {rmw = \"%s\", sem = \"relaxed\", scope = \"gpu\"} : "
                 "%s\nstore %%old, %%o\nreturn\n}\n",
                 t, t, t, cases[i].rmw, t);
        run_well(&w, text, 1, (uint64_t[]){AS_ARG(x), AS_ARG(old), cases[i].operand});
        EXPECT_INT(*x, cases[i].after);
        EXPECT_INT(*old, cases[i].before);
        world_close(&w);
    }
}

/* Lanes on one address follow each other; the order of programs is the seed's, and the same each
   time. */
static void counters(void)
{
    World w;
    world_open(&w);
    enum { PROGRAMS = 100 };
    int32_t zero[1] = {0}, *count = device_array(&w, zero, 4),
            *order = device_array(&w, NULL, PROGRAMS * 4);
    const char *text = "func @f(%c: *i32, %o: *i32) " SIGNATURE
                       "%p = program_id {axis = 0} : i32\n%one = const 1 : i32\n"
                       "%t = atomic_rmw %c, %one {rmw = \"add\", sem = \"acq_rel\", scope = "
                       "\"gpu\"} : i32\n%q = addptr %o, %t : *i32\nstore %q, %p\nreturn\n}\n";
    int32_t first[PROGRAMS];
    for (int seed = 0; seed < 5; seed++) {
        tkc_device_set_seed(w.dev, (uint64_t)(seed / 2) * 12345);
        *count = 0;
        run_well(&w, text, PROGRAMS, (uint64_t[]){AS_ARG(count), AS_ARG(order)});
        EXPECT_INT(*count, PROGRAMS);
        bool seen[PROGRAMS] = {false};
        for (int i = 0; i < PROGRAMS; i++) seen[order[i]] = true;
        for (int i = 0; i < PROGRAMS; i++) EXPECT(seen[i]);
        if (seed % 2) EXPECT(!memcmp(first, order, sizeof first));
        memcpy(first, order, sizeof first);
    }
    const char *block =
        "func @f(%c: *i32) " SIGNATURE "%z = const 0 : block<300xi32>\n%one = const 1 : "
                                       "block<300xi32>\n%s = splat %c : block<300x*i32>\n"
        "%q = addptr %s, %z : block<300x*i32>\n%t = atomic_rmw %q, %one {rmw = \"add\", sem = "
        "\"acq_rel\", scope = \"gpu\"} : block<300xi32>\nreturn\n}\n";
    *count = 0;
    run_well(&w, block, 3, (uint64_t[]){AS_ARG(count)});
    EXPECT_INT(*count, 900);
    world_close(&w);
}

static void compare_and_swap(void)
{
    World w;
    world_open(&w);
    int32_t start[4] = {0, 5, 0, 7}, *x = device_array(&w, start, 16),
            *old = device_array(&w, NULL, 16);
    run_well(&w,
             "func @f(%x: *i32, %o: *i32) " SIGNATURE
             "%i = arange {start = 0} : block<4xi32>\n%s = splat %x : block<4x*i32>\n%p = addptr "
             "%s, %i : block<4x*i32>\n"
             "%z = const 0 : block<4xi32>\n%n = const 9 : block<4xi32>\n%r = atomic_cas %p, %z, %n "
             "{sem = \"acq_rel\", scope = \"gpu\"} : block<4xi32>\n"
             "%t = splat %o : block<4x*i32>\n%q = addptr %t, %i : block<4x*i32>\nstore %q, "
             "%r\nreturn\n}\n",
             1, (uint64_t[]){AS_ARG(x), AS_ARG(old)});
    for (int i = 0; i < 4; i++) {
        EXPECT_INT(x[i], start[i] ? start[i] : 9);
        EXPECT_INT(old[i], start[i]);
    }
    world_close(&w);
}

/* ---- programs that wait for each other ---- */

#define WAIT_HEAD                                                                                  \
    "func @f(%x: *i32, %n: i32) " SIGNATURE                                                        \
    "%p = program_id {axis = 0} : i32\n%z = const 0 : i32\n%one = const 1 : i32\n"
/* A round only reads; or it counts what it carries as well. */
#define WAIT_FOR(value)                                                                            \
    "while () {\n%v = load %x {volatile = 1} : i32\n%c = ne %v, " value                            \
    " : i1\ncondition %c\n} do () {\nyield\n}\n"
#define WAIT_COUNTING(value)                                                                       \
    "%k = while %z (%i: i32) {\n%v = load %x {volatile = 1} : i32\n%c = ne %v, " value             \
    " : i1\ncondition %c, %i\n} do (%j: i32) {\n"                                                  \
    "%j1 = add %j, %one : i32\nyield %j1\n} : i32\n"
#define COUNT_UP                                                                                   \
    "%o = atomic_rmw %x, %one {rmw = \"add\", sem = \"acq_rel\", scope = \"gpu\"} : i32\n"

/* Each program waits for its number; the seed says who begins, and most begin too early. */
static void tickets(void)
{
    static const char *const texts[] = {WAIT_HEAD WAIT_FOR("%p") COUNT_UP "return\n}\n",
                                        WAIT_HEAD WAIT_COUNTING("%p") COUNT_UP "return\n}\n"};
    for (int t = 0; t < 2; t++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            World w;
            world_open(&w);
            int32_t zero = 0, *x = device_array(&w, &zero, 4);
            tkc_device_set_seed(w.dev, seed * 7919);
            run_well(&w, texts[t], t ? 10 : 100, (uint64_t[]){AS_ARG(x), 0});
            EXPECT_INT(*x, t ? 10 : 100);
            world_close(&w);
        }
}

/* All wait for the last one, which writes by a plain store of what n says. */
static void one_for_all(void)
{
    World w;
    world_open(&w);
    int32_t zero = 0, *x = device_array(&w, &zero, 4);
    const char *text =
        WAIT_HEAD "%total = num_programs {axis = 0} : i32\n%last = sub %total, %one : i32\n%is = "
                  "eq %p, %last : i1\nif %is {\nstore %x, %n\nyield\n} else {\n" WAIT_FOR(
                      "%one") "yield\n}\nreturn\n}\n";
    run_well(&w, text, 300, (uint64_t[]){AS_ARG(x), 1});
    *x = 0;
    run_badly(&w, text, 300, (uint64_t[]){AS_ARG(x), 2},
              "the loop waits for memory to change, and no program is left that will change it, in "
              "program (");
    *x = 0;
    run_badly(&w, text, 9000, (uint64_t[]){AS_ARG(x), 1}, "programs wait already");
    world_close(&w);
}

/* An error of a program that others wait for is the one that is reported. */
static void error_of_the_awaited(void)
{
    World w;
    world_open(&w);
    int32_t zero = 0, *x = device_array(&w, &zero, 4);
    run_badly(&w,
              WAIT_HEAD "%is = eq %p, %one : i1\nif %is {\n%q = addptr %x, %n : *i32\nstore %q, "
                        "%n\nyield\n} else {\n" WAIT_FOR("%one") "yield\n}\nreturn\n}\n",
              20, (uint64_t[]){AS_ARG(x), 5},
              "store outside 'x': element 5 of 1 (i32), in program (1, 0, 0)");
    world_close(&w);
}

static void a_lock(void)
{
    World w;
    world_open(&w);
    int32_t zeros[2] = {0}, *x = device_array(&w, zeros, 8);
    run_well(&w,
             WAIT_HEAD "while () {\n%v = atomic_cas %x, %z, %one {sem = \"acq_rel\", scope = "
                       "\"gpu\"} : i32\n%c = ne %v, %z : i1\ncondition %c\n} do () {\nyield\n}\n"
                       "%q = addptr %x, %one : *i32\n%old = load %q : i32\n%new = add %old, %one : "
                       "i32\nstore %q, %new\n"
                       "%u = atomic_rmw %x, %z {rmw = \"xchg\", sem = \"acq_rel\", scope = "
                       "\"gpu\"} : i32\nreturn\n}\n",
             500, (uint64_t[]){AS_ARG(x), 0});
    EXPECT_INT(x[1], 500);
    world_close(&w);
}

/* ---- the map ---- */

static void map(void)
{
    MemMap m = {0};
    for (uint64_t i = 0; i < 100; i++)
        EXPECT(mem_add(&m, (i * 37 % 100) * 100, (i * 37 % 100) * 100 + (i % 3 ? 50 : 100)));
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t begin = (i * 37 % 100) * 100, size = i % 3 ? 50 : 100;
        EXPECT(mem_find(&m, begin, begin + size) != NULL);
        EXPECT(mem_find(&m, begin + size - 1, begin + size) != NULL);
        EXPECT(mem_find(&m, begin, begin + size + 1) == NULL);
        EXPECT(size == 100 || mem_find(&m, begin + size, begin + size + 1) == NULL);
    }
    EXPECT(mem_find(&m, 10000, 10001) == NULL);
    EXPECT(!mem_remove(&m, 3));
    EXPECT(mem_remove(&m, 300));
    EXPECT(!mem_remove(&m, 300));
    EXPECT(mem_find(&m, 310, 311) == NULL);
    EXPECT(mem_find(&m, 410, 411) != NULL);
    mem_fini(&m);
}

int main(void)
{
    RUN(map);
    RUN(accesses);
    RUN(bools);
    RUN(outside);
    RUN(offsets_that_wrap);
    RUN(first_failure);
    RUN(sizes_of_arguments);
    RUN(pointers_in_loops);
    RUN(atomics);
    RUN(counters);
    RUN(compare_and_swap);
    RUN(tickets);
    RUN(one_for_all);
    RUN(error_of_the_awaited);
    RUN(a_lock);
    return expect_done();
}
