/* The public API called in any order, as a host program with mistakes would.

       api_fuzz [-n COUNT | -seconds S] [-first N] [-show] [-freed] [FILE...]

   A case is a sequence of calls on a few contexts, sources, artifacts, devices and jits. Handles come
   from what is alive, NULL among them, with -freed also from what was freed; strings, numbers and
   indices are often wrong. Held to what tkc.h promises:
     - a call gives a status it knows, TKC_MISUSE for a handle that is NULL, freed or of another context;
     - nothing is handed out by a call that fails, something by one that does not;
     - after a call that fails the context says why, and never calls it our own error;
     - a launch that succeeds has computed what its kernel computes;
     - it does not crash, hang or leak, in whatever order things are freed.
   The files (.tk, .ir) are sources beside those below. cases.h says how cases are run. -show prints
   the calls. */
#include <stdarg.h>

#include "cases.h"
#include "tkc/runtime.h"

enum { MAX_ALIVE = 6, MAX_FREED = 16, MAX_FILES = 512, MEMORY = 4096, CALLS = 60 };
enum { COUNT_CALLS = COUNT_FIRST_OWN, COUNT_FINE, COUNT_RAN };

/* ---- sources ---- */

static const char fill[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                           "def fill(x: '*i32', value: 'i32', n: 'i32', BLOCK: tl.constexpr = 16):\n"
                           "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                           "    tl.store(x + at, value + at, mask=at < n)\n";
static const char *const texts[] = {
    fill,
    "import triton, triton.language as tl\n@triton.jit\ndef one(x):\n    tl.store(x, 1)\n@triton.jit\ndef two(x, N: tl.constexpr):\n"
    "    tl.store(x + tl.arange(0, N), tl.load(x) / 2)\n    tl.device_print('x', tl.load(x))\n",
    "@triton.jit\ndef bad(x:\n    return\n",
    "import triton\n@triton.jit\ndef loops(x: '*i64'):\n    while x.load() == 0: pass\n",
    "func @f(%x: *int32, %n: int32) {\n  store %x, %n\n  return\n}\n",
    "func @g(%x: *fp32) {\n  %v = load %y : fp32\n",
    "",
    "\xff\xfe\x01 def",
};
typedef struct File {
    const char *path;
    char *text;
    size_t len;
} File;
static File files[MAX_FILES];
static int nfiles;

/* ---- handles ---- */

typedef enum Kind { CONTEXT, SOURCE, ARTIFACT, DEVICE, JIT, PTR, KINDS } Kind;
typedef struct Handle {
    void *p;
    int context;   /* its number, see Host.made */
    void *of[2];   /* what it was made from: a jit's device and source, memory's device */
    bool is_fill;  /* of sources and jits: the kernel is `fill`, from TKC_LANGUAGE_TK */
} Handle;
typedef struct Pool {
    Handle alive[MAX_ALIVE];
    void *freed[MAX_FREED];
    int n, nfreed;
} Pool;

static Pool pools[KINDS];
static bool use_freed, only_show;
static int number, contexts_made;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
    va_list ap;
    if (!only_show) return;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static void broken(const char *call, const char *what)
{
    if (only_show) fprintf(stderr, "^ %s: %s\n", call, what);
    else fprintf(stderr, "case %d: %s: %s\n", number, call, what);
    counts[COUNT_FAILED]++;
}

typedef struct Pick {
    Handle h;      /* zeros when it is NULL or was freed */
    void *p;       /* what is passed */
    bool is_alive;
} Pick;

static Pick pick(Kind kind)
{
    Pool *pool = &pools[kind];
    uint32_t how = draw(16);
    if (use_freed && how == 0 && pool->nfreed > 0)
        return (Pick){.p = pool->freed[draw((uint32_t)pool->nfreed)]};
    if (how == 1 || pool->n == 0) return (Pick){0};
    Handle h = pool->alive[draw((uint32_t)pool->n)];
    return (Pick){h, h.p, true};
}

static void keep(Kind kind, Handle h)
{
    pools[kind].alive[pools[kind].n++] = h;
}

static void forget(Kind kind, void *p)
{
    Pool *pool = &pools[kind];
    for (int i = 0; i < pool->n; i++)
        if (pool->alive[i].p == p) pool->alive[i--] = pool->alive[--pool->n];
    if (kind != PTR) pool->freed[pool->nfreed < MAX_FREED ? pool->nfreed++ : (int)draw(MAX_FREED)] = p;
}

static bool is_full(Kind kind)
{
    return pools[kind].n == MAX_ALIVE;
}

static TkcContext *context_of(int made)
{
    for (int i = 0; i < pools[CONTEXT].n; i++)
        if (pools[CONTEXT].alive[i].context == made) return pools[CONTEXT].alive[i].p;
    return NULL;
}

/* ---- what a call promises ---- */

/* bad: a handle was not alive, or of another context. */
static bool check_status(const char *call, TkcStatus status, bool bad, TkcContext *cx)
{
    counts[COUNT_CALLS]++;
    counts[COUNT_FINE] += status == TKC_OK;
    note("  %s: %s", call, tkc_status_text(status));
    if ((int)status < TKC_OK || status > TKC_INTERNAL) broken(call, "no status");
    if (status == TKC_INTERNAL || status == TKC_NO_MEMORY) broken(call, tkc_status_text(status));
    if (bad && status != TKC_MISUSE) broken(call, "a wrong handle is no misuse");
    if (status != TKC_OK && cx && !bad) {
        const char *why = tkc_last_error(cx);
        if (!why || !*why) broken(call, "fails without a word");
        else if (strstr(why, "internal error")) broken(call, why);
    }
    return status == TKC_OK;
}

static void check_out(const char *call, bool ok, const void *out)
{
    if (ok && !out) broken(call, "gives nothing");
    if (!ok && out) broken(call, "fails and gives something");
}

static void listen(const TkcDiagnostic *d, void *user)
{
    *(int *)user += 1;
    if (!d->text || !d->rendered || d->size < sizeof *d) broken("a handler", "gets half a diagnostic");
}

/* ---- contexts and sources ---- */

static int heard;

static void call_context_new(void)
{
    if (is_full(CONTEXT)) return;
    TkcContext *cx = tkc_context_new();
    note("context_new");
    if (!cx) broken("context_new", "no context");
    else keep(CONTEXT, (Handle){.p = cx, .context = ++contexts_made});
}

static void free_one(Kind kind, void *p);

/* What was made from p goes first, as tkc.h asks. */
static void free_children(Kind kind, const Handle *h)
{
    static const Kind order[] = {JIT, PTR, ARTIFACT, DEVICE, SOURCE};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        Pool *pool = &pools[order[k]];
        for (int i = 0; i < pool->n; i++) {
            Handle *c = &pool->alive[i];
            bool of_it = kind == CONTEXT ? c->context == h->context : c->of[0] == h->p || c->of[1] == h->p;
            if (!of_it) continue;
            free_one(order[k], c->p);
            i = -1;
        }
    }
}

static void free_one(Kind kind, void *p)
{
    Handle h = {0};
    for (int i = 0; i < pools[kind].n; i++)
        if (pools[kind].alive[i].p == p) h = pools[kind].alive[i];
    if (h.p) free_children(kind, &h);
    note("free %d", (int)kind);
    switch (kind) {
    case CONTEXT: tkc_context_free(p); break;
    case SOURCE: tkc_source_free(p); break;
    case ARTIFACT: tkc_artifact_free(p); break;
    case DEVICE: tkc_device_free(p); break;
    case JIT: tkc_jit_free(p); break;
    case PTR: tkc_free(h.of[0], (TkcPtr)(uintptr_t)p); break;
    case KINDS: break;
    }
    if (h.p) forget(kind, p);
}

static void call_free(void)
{
    Kind kind = (Kind)draw(KINDS);
    Pick x = pick(kind);
    if (kind == CONTEXT && x.is_alive && draw(4)) return;
    if (kind == PTR && !x.is_alive) return;
    free_one(kind, x.p);
}

static void call_context_settings(void)
{
    static const char *const folders[] = {"/", "/none/such", "", NULL, "."};
    Pick cx = pick(CONTEXT);
    const char *folder = ONE_OF(folders);
    tkc_context_on_diagnostic(cx.p, draw(3) ? listen : NULL, &heard);
    tkc_context_color(cx.p, draw(2));
    check_status("context_add_include", tkc_context_add_include(cx.p, folder), !cx.is_alive, NULL);
    if (!tkc_last_error(cx.p)) broken("last_error", "NULL");
}

static void call_source(void)
{
    static const char *const paths[] = {"/none/such.tk", "/", "", NULL, "/dev/null"};
    Pick cx = pick(CONTEXT);
    TkcSource *source = NULL;
    TkcLanguage language = (TkcLanguage)(draw(8) ? draw(4) == 0 : draw(5));
    TkcStatus status;
    bool is_fill = false;
    if (is_full(SOURCE)) return;
    switch (draw(4)) {
    case 0: {
        const char *path = nfiles && draw(2) ? files[draw((uint32_t)nfiles)].path : ONE_OF(paths);
        note("source_open(%p, %s, %d)", cx.p, path ? path : "NULL", (int)language);
        status = tkc_source_open(cx.p, path, language, &source);
        break;
    }
    case 1:
        if (nfiles) {
            const File *f = &files[draw((uint32_t)nfiles)];
            note("source_from_text(%p, %s, %d)", cx.p, f->path, (int)language);
            status = tkc_source_from_text(cx.p, f->path, f->text, draw(4) ? f->len : draw((uint32_t)f->len + 1), language, &source);
            break;
        } /* fall through */
    default: {
        const char *text = draw(2) ? fill : ONE_OF(texts);
        is_fill = text == fill && language == TKC_LANGUAGE_TK;
        note("source_from_text(%p, %s, %d)", cx.p, is_fill ? "fill" : "a text", (int)language);
        status = tkc_source_from_text(cx.p, draw(8) ? "t.tk" : NULL, text, strlen(text), language, &source);
    }
    }
    bool ok = check_status("source", status, !cx.is_alive, cx.is_alive ? cx.p : NULL);
    check_out("source", ok, source);
    if (ok) keep(SOURCE, (Handle){.p = source, .context = cx.h.context, .is_fill = is_fill});
}

static void call_kernels(void)
{
    Pick s = pick(SOURCE);
    TkcContext *cx = s.is_alive ? context_of(s.h.context) : NULL;
    int n = tkc_source_kernel_count(s.p), params = 0;
    const char *name = tkc_source_kernel_name(s.p, (int)draw(4) - 1);
    note("kernels of %p: %d", s.p, n);
    if (!s.is_alive && (n > 0 || name)) broken("kernel_count", "a wrong handle has kernels");
    if (s.h.is_fill && n != 1) broken("kernel_count", "fill is one kernel");
    name = draw(4) ? name : "none";
    bool ok = check_status("param_count", tkc_source_param_count(s.p, name, &params), !s.is_alive, cx);
    for (int i = -1; i <= (ok ? params : 0); i++) {
        TkcParam p = {.size = sizeof p};
        if (tkc_source_param(s.p, name, i, &p) == TKC_OK && (!p.name || i < 0 || i >= params))
            broken("source_param", "no such parameter");
    }
}

/* ---- compiling ---- */

static TkcOptions random_options(TkcDefine *defines)
{
    static const char *const kernels[] = {NULL, NULL, "fill", "one", "two", "none", ""};
    static const char *const signatures[] = {NULL, NULL, "x=*i32", "x=*fp32:16,n=i32", "y=i8", "x=", ",,", "x=*nothing", "value=1"};
    static const char *const archs[] = {NULL, "sm_80", "sm_90a", "sm_100a", "sm_1", "", "gfx"};
    static const char *const passes[] = {NULL, NULL, NULL, "", "fold,cse", "layout", "none", ",", "barrier,layout"};
    static const char *const names[] = {"BLOCK", "N", "x", "", "none"};
    static const char *const values[] = {"16", "32", "1", "0", "-1", "None", "'a'", "", "((", "1048576", "3.5", "True"};
    static const char *const warnings[] = {NULL, NULL, "no-unpack", "unused-value,no-unreachable", "none", ",,no-"};
    TkcOptions o;
    tkc_options_init(&o);
    o.kernel = ONE_OF(kernels);
    o.signature = ONE_OF(signatures);
    o.arch = draw(2) ? NULL : ONE_OF(archs);
    o.passes = ONE_OF(passes);
    o.warnings = ONE_OF(warnings);
    o.num_warps = draw(3) ? 0 : (int)draw(40) - 2;
    o.num_stages = draw(3) ? 0 : (int)draw(8) - 2;
    o.debug = draw(4) == 0;
    o.verify_each = draw(4) == 0;
    o.time_report = draw(2);
    o.warnings_as_errors = draw(8) == 0;
    o.max_steps = draw(4) ? 20000 : (int64_t)draw(5) - 2;
    o.max_ops = draw(4) ? 20000 : (int64_t)draw(50);
    o.ndefines = draw(2) ? 0 : draw(3);
    o.defines = defines;
    for (size_t i = 0; i < o.ndefines; i++) defines[i] = (TkcDefine){ONE_OF(names), ONE_OF(values)};
    return o;
}

static void look_at_artifact(const TkcArtifact *a, bool is_alive)
{
    size_t len = 0;
    const char *text = tkc_artifact_text(a, draw(2) ? &len : NULL);
    int n = tkc_artifact_param_count(a);
    if (is_alive && (!text || (len && len != strlen(text)))) broken("artifact_text", "no text of its length");
    for (int i = -1; i <= n; i++) {
        bool inside = is_alive && i >= 0 && i < n;
        if (inside != (tkc_artifact_param_name(a, i) != NULL)) broken("artifact_param_name", "not by its index");
        if (inside != (tkc_artifact_param_type(a, i) != NULL)) broken("artifact_param_type", "not by its index");
    }
    tkc_artifact_kernel(a);
    tkc_artifact_num_warps(a);
    tkc_artifact_num_stages(a);
    tkc_artifact_shared_bytes(a);
    double ms;
    for (int i = 0; tkc_artifact_time(a, i, draw(2) ? &ms : NULL); i++)
        if (i > 1000) broken("artifact_time", "never ends");
}

static void call_artifact(void)
{
    Pick a = pick(ARTIFACT);
    note("look at artifact %p", a.p);
    look_at_artifact(a.p, a.is_alive);
}

static void call_compile(void)
{
    TkcDefine defines[4];
    TkcArtifact *artifact = NULL;
    Pick s = pick(SOURCE);
    TkcContext *cx = s.is_alive ? context_of(s.h.context) : NULL;
    TkcOptions o = random_options(defines);
    const TkcOptions *given = draw(6) ? &o : NULL;
    if (is_full(ARTIFACT)) return;
    TkcEmit emit = (TkcEmit)(draw(10) ? draw(TKC_EMIT_EXPLAIN + 1) : draw(99));
    note("compile(%p, %s, %d)", s.p, given ? "options" : "NULL", (int)emit);
    bool ok = check_status("compile", tkc_compile(s.p, given, emit, &artifact), !s.is_alive, cx);
    check_out("compile", ok, artifact);
    if (!ok) return;
    if (emit > TKC_EMIT_EXPLAIN) broken("compile", "an emission that there is not");
    look_at_artifact(artifact, true);
    keep(ARTIFACT, (Handle){.p = artifact, .context = s.h.context});
}

static void call_check(void)
{
    TkcDefine defines[4];
    Pick s = pick(SOURCE);
    TkcOptions o = random_options(defines);
    int checked = -1, incomplete = -1;
    note("check(%p)", s.p);
    TkcStatus status = tkc_check(s.p, draw(4) ? &o : NULL, draw(4) ? &checked : NULL, &incomplete);
    check_status("check", status, !s.is_alive, s.is_alive ? context_of(s.h.context) : NULL);
}

/* ---- devices ---- */

static void call_device(void)
{
    static const char *const kinds[] = {"cpu", "cpu", "simt", "simt:sm_75", "none", ""};
    Pick cx = pick(CONTEXT);
    TkcDevice *device = NULL;
    if (is_full(DEVICE)) return;
    const char *kind = ONE_OF(kinds);
    note("device_open(%p, %s)", cx.p, kind);
    TkcStatus status = tkc_device_open(cx.p, kind, draw(8) ? 0 : (int)draw(5) - 2, &device);
    bool ok = check_status("device_open", status, !cx.is_alive, cx.is_alive ? cx.p : NULL);
    check_out("device_open", ok, device);
    if (!ok) return;
    tkc_device_set_timeout(device, 0.2);
    tkc_device_set_threads(device, 1 + (int)draw(2));
    keep(DEVICE, (Handle){.p = device, .context = cx.h.context});
}

static void on_print(const char *line, void *user)
{
    (void)line;
    *(int *)user += 1;
}

static void call_device_settings(void)
{
    static const char *const places[] = {"value", "at:pid0 == 0", "6", "6:((", "", NULL, "none:1", ":"};
    Pick d = pick(DEVICE);
    note("settings of device %p", d.p);
    const char *name = tkc_device_name(d.p), *kind = tkc_device_kind(d.p), *arch = tkc_device_arch(d.p);
    if (d.is_alive && (!name || !kind || !arch)) broken("device_name", "none");
    tkc_device_set_seed(d.p, draw(100));
    tkc_device_set_memory_checks(d.p, draw(2));
    tkc_device_on_print(d.p, draw(2) ? on_print : NULL, &heard);
    if (draw(6) == 0) check_status("device_trace", tkc_device_trace(d.p, ONE_OF(places)), !d.is_alive, NULL);
    check_status("synchronize", tkc_synchronize(d.p, NULL), !d.is_alive, NULL);
}

static void call_alloc(void)
{
    static const size_t sizes[] = {MEMORY, MEMORY, MEMORY, 0, 1, SIZE_MAX, SIZE_MAX / 2};
    Pick d = pick(DEVICE);
    size_t bytes = ONE_OF(sizes);
    TkcPtr ptr = 0;
    if (is_full(PTR)) return;
    note("alloc(%p, %zu)", d.p, bytes);
    TkcStatus status = tkc_alloc(d.p, bytes, &ptr);
    if (status == TKC_NO_MEMORY && bytes > MEMORY) return;
    if (!check_status("alloc", status, !d.is_alive, NULL)) return;
    static const char zeros[MEMORY];
    if (bytes == MEMORY && draw(4)) check_status("copy_in", tkc_copy_in(d.p, ptr, zeros, MEMORY), false, NULL);
    if (bytes == MEMORY) keep(PTR, (Handle){.p = (void *)(uintptr_t)ptr, .context = d.h.context, .of = {d.p}});
    else check_status("free", tkc_free(d.p, ptr), false, NULL);
}

static void call_copy(void)
{
    static char bytes[MEMORY];
    Pick p = pick(PTR);
    if (!p.is_alive) return;
    size_t n = draw(MEMORY + 1);
    note("copies of %zu", n);
    check_status("copy_in", tkc_copy_in(p.h.of[0], (TkcPtr)(uintptr_t)p.p, bytes, n), false, NULL);
    check_status("copy_out", tkc_copy_out(p.h.of[0], bytes, (TkcPtr)(uintptr_t)p.p, n), false, NULL);
}

/* ---- jits ---- */

static void call_jit(void)
{
    TkcDefine defines[4];
    TkcJit *jit = NULL;
    Pick d = pick(DEVICE), s = pick(SOURCE);
    if (is_full(JIT)) return;
    TkcOptions o = random_options(defines);
    bool plain = draw(3) > 0;
    if (plain) tkc_options_init(&o);
    bool bad = !d.is_alive || !s.is_alive || d.h.context != s.h.context;
    note("jit_new(%p, %p)", d.p, s.p);
    TkcStatus status = tkc_jit_new(d.p, s.p, draw(6) ? &o : NULL, &jit);
    if (bad && d.is_alive && s.is_alive && status == TKC_OK) broken("jit_new", "takes a source of another context");
    bool ok = check_status("jit_new", status, bad, bad ? NULL : context_of(s.h.context));
    check_out("jit_new", ok, jit);
    if (ok) keep(JIT, (Handle){.p = jit, .context = s.h.context, .of = {d.p, s.p}, .is_fill = s.h.is_fill && plain});
}

/* Arguments for `fill`, or nearly. */
static size_t random_args(TkcArg *args, Pick ptr, bool *right)
{
    size_t n = 4;
    args[0] = tkc_pointer("*i32", (TkcPtr)(uintptr_t)ptr.p, MEMORY);
    args[1] = tkc_int(7);
    args[2] = tkc_int(100);
    args[3] = tkc_constexpr(draw(2) ? "16" : NULL);
    *right = ptr.is_alive && draw(2);
    if (*right) return n;
    static const char *const types[] = {"*fp32", "i32", "*i64", "", "nothing", NULL, "tensordesc<fp16[64, 128]>"};
    static const char *const values[] = {"64", "0", "x", "((", "3.5", ""};
    TkcArg *a = &args[draw(4)];
    switch (draw(7)) {
    case 0: n = draw(5); break;
    case 1: *a = tkc_float(1.5); break;
    case 2: a->type = ONE_OF(types); break;
    case 3: *a = tkc_constexpr(ONE_OF(values)); break;
    case 4: *a = tkc_int((int64_t)1 << draw(63)); break;
    case 5: a->kind = (TkcArgKind)draw(9); a->integer = 0; break;
    default: args[0].bytes = draw(64); break;
    }
    return n;
}

static void check_filled(const Pick *ptr)
{
    int32_t got[MEMORY / 4];
    if (!check_status("copy_out", tkc_copy_out(ptr->h.of[0], got, (TkcPtr)(uintptr_t)ptr->p, sizeof got), false, NULL)) return;
    for (int i = 0; i < 16; i++)
        if (got[i] != 7 + i) broken("launch", "fill does not fill");
}

static void call_launch(void)
{
    TkcArg args[4];
    Pick j = pick(JIT), ptr = pick(PTR);
    TkcContext *cx = j.is_alive ? context_of(j.h.context) : NULL;
    int64_t grid[3] = {1 + draw(3), 1, 1};
    bool right, of_device = ptr.is_alive && j.is_alive && ptr.h.of[0] == j.h.of[0];
    if (ptr.is_alive && !of_device) return; /* memory of another device is the caller's to keep apart */
    size_t n = random_args(args, ptr, &right);
    if (draw(8) == 0) grid[draw(3)] = (int64_t)draw(3) - 1;
    bool one_of_each = grid[0] > 0 && grid[1] == 1 && grid[2] == 1;
    note("launch(%p, [%d, %d, %d], %zu arguments%s)", j.p, (int)grid[0], (int)grid[1], (int)grid[2], n, right ? ", right" : "");
    bool ok = check_status("launch", tkc_launch(j.p, draw(30) ? grid : NULL, NULL, args, n), !j.is_alive, cx);
    if (!ok || !j.h.is_fill || !right || !one_of_each) return;
    counts[COUNT_RAN]++;
    check_filled(&ptr);
}

static void call_jit_questions(void)
{
    TkcArg args[4];
    Pick j = pick(JIT), ptr = pick(PTR);
    bool right;
    size_t n = random_args(args, ptr, &right);
    TkcKernelInfo info = {.size = sizeof info};
    TkcCacheStats stats = {.size = sizeof stats};
    int params = tkc_jit_param_count(j.p);
    note("questions to jit %p: %d parameters", j.p, params);
    for (int i = -1; i <= (params > 0 ? params : 0); i++) {
        TkcParam p = {.size = sizeof p};
        bool ok = tkc_jit_param(j.p, i, &p) == TKC_OK;
        if (ok != (j.is_alive && i >= 0 && i < params)) broken("jit_param", "not by its index");
    }
    tkc_jit_stats(j.p, &stats);
    if (check_status("jit_info", tkc_jit_info(j.p, args, n, &info), !j.is_alive, NULL) && !info.text)
        broken("jit_info", "no text");
}

/* ---- sequences ---- */

static const struct {
    void (*call)(void);
    int weight;
} calls[] = {
    {call_context_new, 1}, {call_context_settings, 1}, {call_source, 5}, {call_kernels, 2}, {call_compile, 4},
    {call_artifact, 1}, {call_check, 2}, {call_device, 3}, {call_device_settings, 1}, {call_alloc, 4}, {call_copy, 2},
    {call_jit, 5}, {call_launch, 8}, {call_jit_questions, 2}, {call_free, 3},
};

static void call_any(void)
{
    int sum = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) sum += calls[i].weight;
    int at = (int)draw((uint32_t)sum);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        at -= calls[i].weight;
        if (at >= 0) continue;
        calls[i].call();
        return;
    }
}

/* All that a launch of `fill` needs, so that many sequences come that far. */
static void set_up(void)
{
    TkcContext *cx = pools[CONTEXT].alive[0].p;
    TkcSource *source = NULL;
    TkcDevice *device = NULL;
    TkcJit *jit = NULL;
    TkcPtr memory = 0;
    TkcOptions options;
    tkc_options_init(&options);
    note("a jit of fill, and memory");
    tkc_context_on_diagnostic(cx, listen, &heard);
    if (tkc_source_from_text(cx, "fill.tk", fill, strlen(fill), TKC_LANGUAGE_TK, &source) ||
        tkc_device_open(cx, draw(3) ? "cpu" : "simt", 0, &device) || tkc_jit_new(device, source, &options, &jit) ||
        tkc_alloc(device, MEMORY, &memory)) {
        broken("set_up", tkc_last_error(cx));
        return;
    }
    tkc_device_set_threads(device, 1);
    tkc_device_set_timeout(device, 5);
    keep(SOURCE, (Handle){.p = source, .context = 1, .is_fill = true});
    keep(DEVICE, (Handle){.p = device, .context = 1});
    keep(JIT, (Handle){.p = jit, .context = 1, .of = {device, source}, .is_fill = true});
    keep(PTR, (Handle){.p = (void *)(uintptr_t)memory, .context = 1, .of = {device}});
}

static void run_sequence(int which)
{
    number = which;
    begin_case(which);
    memset(pools, 0, sizeof pools);
    contexts_made = 0;
    call_context_new();
    if (draw(4)) set_up();
    for (int n = 5 + (int)draw(CALLS); n > 0; n--) call_any();
    while (pools[CONTEXT].n > 0) free_one(CONTEXT, pools[CONTEXT].alive[0].p);
}

static void show_sequence(int which)
{
    only_show = true;
    fprintf(stderr, "case %d:\n", which);
    pid_t pid = fork(); /* it may be the one that dies */
    if (pid == 0) {
        run_sequence(which);
        exit(0);
    }
    waitpid(pid, NULL, 0);
    only_show = false;
}

int main(int argc, char **argv)
{
    Cases cases = {.count = 200, .run = run_sequence, .show = show_sequence};
    for (int i = 1; i < argc; i++) {
        if (read_case_option(&cases, argc, argv, &i)) continue;
        if (!strcmp(argv[i], "-freed")) use_freed = true;
        else if (nfiles < MAX_FILES) {
            File *f = &files[nfiles++];
            f->path = argv[i];
            f->text = read_file(argv[i], 1 << 16, &f->len);
        }
    }
    if (!run_cases(&cases)) return 2;
    if (cases.only_show) return 0;
    printf("%d sequences, %d calls, %d fine, %d launches right, %d failures\n", counts[COUNT_DONE], counts[COUNT_CALLS],
           counts[COUNT_FINE], counts[COUNT_RAN], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0 || counts[COUNT_RAN] == 0;
}
