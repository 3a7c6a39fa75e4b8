/* Random kernels that are right: whatever passes run on them, they compute the same bits.

       passes_fuzz [-n COUNT] [-first N] [-show] [-ptx] [-device cuda|simt]

   A kernel computes with scalars and blocks of a random, mostly odd shape, under loops, branches
   and masks, through helpers, reductions and shape operations, and stores all its variables. The
   language defines the result of every operation on every value, so the kernel run on the cpu
   device as written is the reference for every choice of passes and warps. Every second kernel uses
   only what is exact on every device too (no approximation, no sum of floats): with -device
   those are compared with a GPU, real or emulated. -ptx compiles them to PTX as well.

   Values carry their type and which of the two dims they span; operands are cast to one type first,
   and a variable that is assigned under control flow keeps its type and shape, so nearly nothing is
   refused. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkc/runtime.h"

enum {
    MAX_TEXT = 1 << 15,
    MAX_VARS = 48,
    STORED = 8,
    ARRAY = 4096,
    PROGRAMS = 3,
    ROW = 1,
    COL = 2
};

static uint64_t state;

static uint32_t draw(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % n);
}

#define ONE_OF(list) (list)[draw((uint32_t)(sizeof(list) / sizeof *(list)))]

/* ---- text ---- */

static char text[MAX_TEXT];
static size_t len;
static int indent;

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text + len, MAX_TEXT - len, fmt, ap);
    va_end(ap);
    if (n < 0 || len + (size_t)n >= MAX_TEXT) abort();
    len += (size_t)n;
}

static void begin_line(void)
{
    put("%*s", indent * 4, "");
}

/* ---- variables ---- */

typedef enum Kind { K_BOOL, K_INT, K_FLOAT } Kind;
typedef struct Type {
    const char *name;
    Kind kind;
} Type;

static const Type types[] = {
    {"tl.int32", K_INT},      {"tl.float32", K_FLOAT}, {"tl.int32", K_INT},
    {"tl.float32", K_FLOAT},  {"tl.int8", K_INT},      {"tl.uint8", K_INT},
    {"tl.int16", K_INT},      {"tl.uint16", K_INT},    {"tl.uint32", K_INT},
    {"tl.int64", K_INT},      {"tl.uint64", K_INT},    {"tl.float16", K_FLOAT},
    {"tl.bfloat16", K_FLOAT}, {"tl.float64", K_FLOAT}};
static const Type boolean = {"tl.int1", K_BOOL};

typedef struct Var {
    char name[12];
    const Type *type;
    int dims;
} Var;

static Var vars[MAX_VARS];
static int nvars, counter, rows, cols;
static bool exact;

/* A variable that spans no more than these dims, of this kind unless -1. There always is one. */
static const Var *pick(int dims, int kind)
{
    for (;;) {
        const Var *v = &vars[draw(3) ? nvars - 1 - (int)draw((uint32_t)(nvars > 8 ? 8 : nvars))
                                     : (int)draw((uint32_t)nvars)];
        if (!(v->dims & ~dims) && (kind < 0 || v->type->kind == (Kind)kind)) return v;
        if (draw(64) == 0) return &vars[kind == K_BOOL ? 1 : 0]; /* a scalar */
    }
}

static void put_constant(const Type *t)
{
    static const char *const ints[] = {"0", "1", "2", "3", "5", "7", "8", "31", "100", "127"};
    static const char *const floats[] = {"0.0", "1.0",   "-1.5",         "0.5",
                                         "3.0", "100.0", "float('inf')", "0.0009765625"};
    put("tl.full((1, 1), %s, %s)", t->kind == K_FLOAT ? ONE_OF(floats) : ONE_OF(ints), t->name);
}

/* ---- expressions: each puts text of the given type and returns the dims it spans ---- */

static int put_value(const Type *t, int dims, int depth);

static int put_bool(int dims, int depth)
{
    static const char *const compares[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const logic[] = {"&", "|", "^"};
    if (depth <= 0 || draw(3) == 0) {
        const Var *v = pick(dims, K_BOOL);
        put("%s", v->name);
        return v->dims;
    }
    int used;
    put("(");
    if (draw(3)) {
        const Type *t = &ONE_OF(types);
        used = put_value(t, dims, depth - 1);
        put(" %s ", ONE_OF(compares));
        used |= put_value(t, dims, depth - 1);
    } else {
        used = put_bool(dims, depth - 1);
        put(" %s ", ONE_OF(logic));
        used |= put_bool(dims, depth - 1);
    }
    put(")");
    return used;
}

static int put_binary(const Type *t, int dims, int depth)
{
    static const char *const ints[] = {"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"};
    static const char *const floats[] = {"+", "-", "*"};
    put("(");
    int used = put_value(t, dims, depth - 1);
    put(" %s ", t->kind == K_INT ? ONE_OF(ints) : ONE_OF(floats));
    used |= put_value(t, dims, depth - 1);
    put(")");
    return used;
}

static int put_call(const char *name, int n, const Type *t, int dims, int depth)
{
    int used = 0;
    put("%s(", name);
    for (int i = 0; i < n; i++) {
        put("%s", i ? ", " : "");
        used |= put_value(t, dims, depth - 1);
    }
    put(").to(%s)", t->name);
    return used;
}

static int put_function(const Type *t, int dims, int depth)
{
    static const char *const approximate[] = {"tl.exp",   "tl.sin",     "tl.log", "tl.sqrt",
                                              "tl.rsqrt", "tl.sigmoid", "tl.exp2"};
    switch (draw(6)) {
    case 0: return put_call("tl.maximum", 2, t, dims, depth);
    case 1: return put_call("tl.minimum", 2, t, dims, depth);
    case 2: return put_call("mixed", 3, t, dims, depth);
    case 3:
        if (t->kind == K_FLOAT && !exact && !strcmp(t->name, "tl.float32"))
            return put_call(ONE_OF(approximate), 1, t, dims, depth);
        return put_call("chosen", 2, t, dims, depth);
    default:
        put("tl.where(");
        int used = put_bool(dims, depth - 1);
        put(", ");
        used |= put_value(t, dims, depth - 1);
        put(", ");
        used |= put_value(t, dims, depth - 1);
        put(")");
        return used;
    }
}

static int put_load(const Type *t, int dims, int depth)
{
    static const char *const arrays[] = {"a", "b", "c", "d"};
    int used;
    put("tl.load(%s + ", ONE_OF(arrays));
    if (draw(2)) {
        put("(");
        used = put_value(&types[0], dims, depth - 1);
        put(" & %d)", ARRAY - 1);
    } else {
        used = dims;
        put("(%s%s%spid * %d)", dims & ROW ? "row * COLS + " : "", dims & COL ? "col + " : "",
            dims ? "" : "n + ", (int)draw(20));
    }
    if (draw(2)) {
        put(", mask=");
        int mask = draw(3) ? put_bool(used, depth - 1) : 0;
        if (!mask && text[len - 1] == '=')
            put("%s", used == (ROW | COL) ? "(row < n * 5) & (col < COLS - 1)" : "n > 1");
        if (draw(2)) put(", other=%d", (int)draw(5));
    }
    put(").to(%s)", t->name);
    return used;
}

/* Across elements: the dims of the result are known, those of the operand are all. */
static int put_across(const Type *t, int dims, int depth)
{
    static const char *const any_order[] = {"max", "min"};
    const Var *v = NULL;
    for (int tries = 0; tries < 20 && !v; tries++) {
        const Var *w = pick(ROW | COL, -1);
        v = w->dims == (ROW | COL) && w->type->kind != K_BOOL ? w : NULL;
    }
    if (!v) return put_binary(t, dims, depth);
    const char *name = (v->type->kind == K_INT || !exact) && draw(2) ? "sum" : ONE_OF(any_order);
    switch (dims) {
    case ROW | COL:
        if (draw(2)) {
            put("tl.reshape(tl.trans(%s), (ROWS, COLS)).to(%s)", v->name, t->name);
            return dims;
        }
        put("tl.split(tl.join(%s, %s))[%u].to(%s)", v->name, v->name, draw(2), t->name);
        return dims;
    case ROW:
        if (draw(2)) put("tl.%s(%s, 1)[:, None].to(%s)", name, v->name, t->name);
        else put("tl.%s(%s, 1, keep_dims=True).to(%s)", name, v->name, t->name);
        return dims;
    case COL: put("tl.%s(%s, 0)[None, :].to(%s)", name, v->name, t->name); return dims;
    default: put("tl.%s(%s).to(%s)", name, v->name, t->name); return 0;
    }
}

static int put_value(const Type *t, int dims, int depth)
{
    if (depth <= 0 || draw(5) == 0) {
        if (draw(5) == 0 && dims) {
            put_constant(t);
            return 0;
        }
        const Var *v = pick(dims, -1);
        put(v->type == t ? "%s" : "%s.to(%s)", v->name, t->name);
        return v->dims;
    }
    switch (draw(8)) {
    case 0: return put_load(t, dims, depth);
    case 1: return put_across(t, dims, depth);
    case 2:
    case 3: return put_function(t, dims, depth);
    default: return put_binary(t, dims, depth);
    }
}

/* ---- statements ---- */

static void declare(const char *name, const Type *t, int dims)
{
    Var *v = &vars[nvars++];
    snprintf(v->name, sizeof v->name, "%s", name);
    v->type = t;
    v->dims = dims;
}

/* A new variable; it spans just the dims that its value is said to span, so that its shape is
 * known. */
static void put_definition(void)
{
    static const int spans[] = {0, ROW, COL, ROW | COL, ROW | COL, ROW | COL};
    char name[12];
    int dims = ONE_OF(spans);
    const Type *t = draw(5) ? &ONE_OF(types) : &boolean;
    if (nvars == MAX_VARS) return;
    snprintf(name, sizeof name, "v%d", counter++);
    begin_line();
    put("%s = like(", name);
    if (t == &boolean) put_bool(dims, 3);
    else put_value(t, dims, 3);
    put(", %s, %s)\n",
        dims == (ROW | COL) ? "(ROWS, COLS)"
        : dims == ROW       ? "(ROWS, 1)"
        : dims == COL       ? "(1, COLS)"
                            : "None",
        t->name);
    declare(name, t, dims);
}

static void put_assignment(void)
{
    if (nvars <= 4) return;
    const Var *v = &vars[4 + draw((uint32_t)(nvars - 4))];
    begin_line();
    put("%s = like(", v->name);
    if (v->type == &boolean) put_bool(v->dims, 2);
    else put_value(v->type, v->dims, 2);
    put(", %s, %s)\n",
        v->dims == (ROW | COL) ? "(ROWS, COLS)"
        : v->dims == ROW       ? "(ROWS, 1)"
        : v->dims == COL       ? "(1, COLS)"
                               : "None",
        v->type->name);
}

static void put_statements(int n, int depth);

/* Statements under a head; what they define is unknown behind them. */
static void put_body(int depth)
{
    int before = nvars;
    indent++;
    begin_line();
    put("pass\n");
    put_statements(1 + (int)draw(3), depth - 1);
    for (uint32_t n = 1 + draw(3); n > 0; n--) put_assignment();
    nvars = before;
    indent--;
}

static void put_loop(int depth)
{
    static const char *const ranges[] = {"range(3)",           "range(n)",
                                         "range(n, 0, -1)",    "tl.range(0, n + 2, 2)",
                                         "tl.static_range(2)", "range(5, 5)"};
    int i = counter++;
    begin_line();
    if (draw(4)) {
        put("for i%d in %s:\n", i, ONE_OF(ranges));
        put_body(depth);
        return;
    }
    put("i%d = pid\n", i);
    begin_line();
    put("while i%d < 3:\n", i);
    indent++;
    begin_line();
    put("i%d += 1\n", i);
    indent--;
    put_body(depth);
}

static void put_branch(int depth)
{
    begin_line();
    put("if ");
    put_bool(0, 2);
    put(":\n");
    put_body(depth);
    if (draw(2)) {
        begin_line();
        put("else:\n");
        put_body(depth);
    }
}

static void put_statements(int n, int depth)
{
    for (int i = 0; i < n; i++) {
        uint32_t kind = draw(8);
        if (kind == 0 && depth > 0) put_loop(depth);
        else if (kind == 1 && depth > 0) put_branch(depth);
        else if (kind == 2) put_assignment();
        else put_definition();
    }
}

static void put_stores(void)
{
    int first = nvars > STORED ? nvars - STORED : 0;
    for (int i = first; i < nvars; i++) {
        const Var *v = &vars[i];
        bool is_float = v->type->kind == K_FLOAT;
        put("    tl.store(%s + (pid * %d + %d) * ROWS * COLS + row * COLS + col, tl.where(whole, "
            "%s.to(%s), %s.to(%s)))\n",
            is_float ? "of" : "oi", STORED, i - first, v->name,
            is_float ? "tl.float64" : "tl.int64", v->name, is_float ? "tl.float64" : "tl.int64");
    }
}

static const char head[] =
    "import triton\nimport triton.language as tl\n\n\n"
    "@triton.jit\ndef like(x, shape: tl.constexpr, dtype: tl.constexpr):\n    if shape is None:\n  "
    "      if len(x.shape) > 0:\n            return tl.max(x.to(tl.int32)).to(dtype)\n"
    "        return x.to(dtype)\n    return tl.where(tl.zeros(shape, tl.int1) == 0, x, "
    "x).to(dtype)\n\n\n"
    "@triton.jit\ndef mixed(x, y, z):\n    x = tl.where(x > y, x, z)\n    return x + y - z\n\n\n"
    "@triton.jit\ndef chosen(x, y):\n    if x.dtype.is_floating():\n        return x * y\n    r = "
    "x ^ y\n    for _ in range(2):\n        r = r + x\n    return r\n\n\n";

static void make_kernel(int number)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 13, 16, 32, 33};
    state = 0x9E3779B97F4A7C15u * (uint64_t)(number + 1);
    draw(2);
    len = 0;
    nvars = counter = 0;
    exact = number % 2 == 0;
    rows = ONE_OF(sizes);
    cols = ONE_OF(sizes);
    put("%s", head);
    put("@triton.jit\ndef k(a: '*fp32', b: '*i32', c: '*fp16', d: '*u8', of: '*fp64', oi: '*i64', "
        "n: 'i32', ROWS: tl.constexpr = %d, COLS: tl.constexpr = %d):\n",
        rows, cols);
    put("    pid = tl.program_id(0)\n    some = pid > 0\n    row = tl.arange(0, ROWS)[:, None]\n   "
        " col = tl.arange(0, COLS)[None, :]\n    whole = (row >= 0) & (col >= 0)\n");
    declare("pid", &types[0], 0);
    declare("some", &boolean, 0);
    declare("row", &types[0], ROW);
    declare("col", &types[0], COL);
    indent = 1;
    put_statements(6 + (int)draw(8), 2);
    put_stores();
}

/* ---- running ---- */

typedef struct Out {
    double f[PROGRAMS * STORED * 33 * 33];
    int64_t i[PROGRAMS * STORED * 33 * 33];
} Out;

typedef struct Memory {
    TkcPtr a, b, c, d, of, oi;
} Memory;

static void fill_inputs(TkcDevice *dev, const Memory *m)
{
    static float a[ARRAY];
    static int32_t b[ARRAY];
    static uint16_t c[ARRAY];
    static uint8_t d[ARRAY];
    uint64_t kept = state;
    state = 88172645463325252u;
    for (int i = 0; i < ARRAY; i++) {
        a[i] = (float)((int)draw(4000) - 2000) / 16;
        b[i] = draw(8) ? (int32_t)draw(200) - 100 : (int32_t)(draw(1u << 31) * 2u + draw(2));
        c[i] = (uint16_t)(draw(16) ? 0x3800 + draw(0x1000) : draw(1 << 16));
        d[i] = (uint8_t)draw(256);
    }
    state = kept;
    tkc_copy_in(dev, m->a, a, sizeof a);
    tkc_copy_in(dev, m->b, b, sizeof b);
    tkc_copy_in(dev, m->c, c, sizeof c);
    tkc_copy_in(dev, m->d, d, sizeof d);
}

static bool open_memory(TkcDevice *dev, Memory *m)
{
    bool ok =
        tkc_alloc(dev, 4 * ARRAY, &m->a) == TKC_OK && tkc_alloc(dev, 4 * ARRAY, &m->b) == TKC_OK &&
        tkc_alloc(dev, 2 * ARRAY, &m->c) == TKC_OK && tkc_alloc(dev, ARRAY, &m->d) == TKC_OK &&
        tkc_alloc(dev, sizeof(Out), &m->of) == TKC_OK &&
        tkc_alloc(dev, sizeof(Out), &m->oi) == TKC_OK;
    if (ok) fill_inputs(dev, m);
    return ok;
}

static void close_memory(TkcDevice *dev, const Memory *m)
{
    const TkcPtr all[] = {m->a, m->b, m->c, m->d, m->of, m->oi};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tkc_free(dev, all[i]);
}

static TkcStatus launch(TkcDevice *dev, const Memory *m, TkcSource *source, const char *passes,
                        int warps, Out *out)
{
    TkcOptions o;
    TkcJit *jit;
    tkc_options_init(&o);
    o.kernel = "k";
    o.passes = passes;
    o.num_warps = warps;
    o.no_fp_contract = true;
    o.verify_each = true;
    memset(out, 0, sizeof *out);
    tkc_copy_in(dev, m->of, out->f, sizeof out->f);
    tkc_copy_in(dev, m->oi, out->i, sizeof out->i);
    TkcStatus status = tkc_jit_new(dev, source, &o, &jit);
    if (status != TKC_OK) return status;
    TkcArg args[] = {tkc_pointer("*fp32", m->a, 4 * ARRAY),
                     tkc_pointer("*i32", m->b, 4 * ARRAY),
                     tkc_pointer("*fp16", m->c, 2 * ARRAY),
                     tkc_pointer("*u8", m->d, ARRAY),
                     tkc_pointer("*fp64", m->of, sizeof out->f),
                     tkc_pointer("*i64", m->oi, sizeof out->i),
                     tkc_int(3),
                     tkc_constexpr(NULL),
                     tkc_constexpr(NULL)};
    const int64_t grid[3] = {PROGRAMS, 1, 1};
    status = tkc_launch(jit, grid, NULL, args, sizeof args / sizeof *args);
    if (status == TKC_OK) status = tkc_copy_out(dev, out->f, m->of, sizeof out->f);
    if (status == TKC_OK) status = tkc_copy_out(dev, out->i, m->oi, sizeof out->i);
    tkc_jit_free(jit);
    return status;
}

/* Where they differ, or -1. Any NaN is as good as another, and of equal zeros a GPU's maximum takes
 * either. */
static int find_difference(const Out *x, const Out *y)
{
    for (int i = 0; i < PROGRAMS * STORED * rows * cols; i++) {
        bool same = x->f[i] == y->f[i] || (isnan(x->f[i]) && isnan(y->f[i]));
        if (!same || x->i[i] != y->i[i]) return i;
    }
    return -1;
}

static int failures, refusals, compared;

static void fail(int number, const char *what, const char *why)
{
    fprintf(stderr, "kernel %d, %s: %s\n", number, what, why);
    failures++;
}

static void compare(int number, const char *what, const Out *want, const Out *got)
{
    char why[256];
    int i = find_difference(want, got);
    if (i < 0) return;
    int size = rows * cols, slot = i / size % STORED,
        var = (nvars > STORED ? nvars - STORED : 0) + slot;
    snprintf(why, sizeof why, "%s[%d, %d] of program %d is %.17g or %lld, expected %.17g or %lld",
             vars[var].name, i % size / cols, i % cols, i / size / STORED, got->f[i],
             (long long)got->i[i], want->f[i], (long long)want->i[i]);
    fail(number, what, why);
}

/* ---- one kernel ---- */

static void compile_ptx(TkcContext *cx, int number, TkcSource *source)
{
    static const char *const archs[] = {"sm_75", "sm_80", "sm_90a", "sm_100"};
    TkcOptions o;
    TkcArtifact *artifact = NULL;
    tkc_options_init(&o);
    o.kernel = "k";
    o.arch = ONE_OF(archs);
    o.num_warps = 1 << draw(4);
    o.verify_each = true;
    TkcStatus status = tkc_compile(source, &o, TKC_EMIT_PTX, &artifact);
    if (status != TKC_OK && (status != TKC_ERROR || strstr(tkc_last_error(cx), "internal error")))
        fail(number, "ptx", tkc_last_error(cx));
    tkc_artifact_free(artifact);
}

typedef struct Bench {
    TkcContext *cx;
    TkcDevice *cpu, *other;
    Memory on_cpu, on_other;
    bool ptx;
} Bench;

static void exercise(Bench *b, int number)
{
    static const struct {
        const char *passes;
        int warps;
        bool reorders; /* sums */
    } variants[] = {{NULL, 0, false},       {"fold", 1, false},
                    {"cse,licm", 2, false}, {"ifconv,dce", 4, false},
                    {"mask", 8, false},     {"fold,cse,licm,ifconv,dce,mask,fold,cse,dce", 8, false},
                    {"layout,expand", 4, true}};
    static Out want, got;
    TkcSource *source;
    make_kernel(number);
    if (tkc_source_from_text(b->cx, "random.tk", text, len, TKC_LANGUAGE_TK, &source) != TKC_OK) {
        fail(number, "parse", tkc_last_error(b->cx));
        return;
    }
    TkcStatus status = launch(b->cpu, &b->on_cpu, source, "", 0, &want);
    refusals += status == TKC_ERROR && !strstr(tkc_last_error(b->cx), "internal error");
    if (status != TKC_OK) {
        if (status != TKC_ERROR || strstr(tkc_last_error(b->cx), "internal error") ||
            getenv("TKC_FUZZ_VERBOSE"))
            fail(number, "as written", tkc_last_error(b->cx));
        tkc_source_free(source);
        return;
    }
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (variants[i].reorders && !exact) continue;
        const char *what = variants[i].passes ? variants[i].passes : "the passes of the device";
        if (launch(b->cpu, &b->on_cpu, source, variants[i].passes, variants[i].warps, &got) !=
            TKC_OK)
            fail(number, what, tkc_last_error(b->cx));
        else compare(number, what, &want, &got);
    }
    if (b->ptx) compile_ptx(b->cx, number, source);
    if (b->other && exact) {
        status = launch(b->other, &b->on_other, source, NULL, 1 << draw(4), &got);
        compared += status == TKC_OK;
        if (status == TKC_OK) compare(number, "the other device", &want, &got);
        else fail(number, "the other device", tkc_last_error(b->cx));
    }
    tkc_source_free(source);
}

int main(int argc, char **argv)
{
    int count = 100, first = 0;
    bool only_show = false;
    const char *device = NULL;
    Bench b = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n") && i + 1 < argc) count = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-first") && i + 1 < argc) first = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-device") && i + 1 < argc) device = argv[++i];
        else if (!strcmp(argv[i], "-ptx")) b.ptx = true;
        else if (!strcmp(argv[i], "-show")) only_show = true;
    }
    if (only_show) {
        make_kernel(first);
        fputs(text, stdout);
        return 0;
    }
    b.cx = tkc_context_new();
    if (tkc_device_open(b.cx, "cpu", 0, &b.cpu) != TKC_OK || !open_memory(b.cpu, &b.on_cpu) ||
        (device && (tkc_device_open(b.cx, device, 0, &b.other) != TKC_OK ||
                    !open_memory(b.other, &b.on_other)))) {
        fprintf(stderr, "%s", tkc_last_error(b.cx));
        return 2;
    }
    tkc_device_set_timeout(b.cpu, 20);
    for (int i = first; i < first + count; i++) exercise(&b, i);
    printf("%d kernels, %d refused, %d failures\n", count, refusals, failures);
    if (device) printf("%d compared with %s\n", compared, device);
    close_memory(b.cpu, &b.on_cpu);
    if (b.other) close_memory(b.other, &b.on_other);
    tkc_device_free(b.other);
    tkc_device_free(b.cpu);
    tkc_context_free(b.cx);
    return failures || refusals * 4 > count;
}
