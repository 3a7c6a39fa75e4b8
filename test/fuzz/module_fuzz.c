/* Whole PTX texts, damaged, to the emulated driver: a text is refused with its line or loads, and what
   loads is launched, with memory behind its pointers: it ends, or is told what it did. Nothing else.

       module_fuzz [-n COUNT | -seconds S] [-first N] [-show] FILE.ptx... */
#include "cases.h"

#include "simt/machine.h"
#include "simt/module.h"

enum { MOST = 200000, BUFFER = 1 << 16 };

static char *seeds[64];
static size_t lengths[64];
static int nseeds;

enum { COUNT_LOADED = COUNT_FIRST_OWN, COUNT_ENDED };

static const char *const pieces[] = {
    ";", "{", "}", "[", "]", "@%p1 ", "0", "-1", "4294967295", "%r1", "%rd1", "%p1", "%tid.x", "_", "ret;", "bra $L__BB0_1;",
    "bar.sync 0;", ".shared", ".global", ".v4", ".b64", ".b32", ".s32", ".f32", ".sync", ".aligned", "ld.shared.b32 %r1, [%r2];",
    "st.shared.b32 [%r1], %r2;", "st.global.b32 [%rd1], %r1;", "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", "\n", "// ", "/*",
    "cp.async.wait_group 0;", "mbarrier.init.shared::cta.b64 [%r1], 1;", ".reg .b32 %q<9>;", ".param", "0f7F800000", "$", ":",
    "atom.global.add.u32 %r1, [%rd1], %r2;", "call.uni f, (%r1);", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];"};

/* One damage: a piece put in, bytes taken out, a line twice or gone, the end cut off. */
static void damage(char *text, size_t size)
{
    const size_t len = strlen(text), at = draw((uint32_t)len + 1);
    const char *end = strchr(text + at, '\n');
    const size_t line = end ? (size_t)(end - text) - at : len - at;
    switch (draw(6)) {
    case 0:
    case 1: {
        const char *piece = ONE_OF(pieces);
        const size_t n = strlen(piece);
        if (len + n + 1 > size) return;
        memmove(text + at + n, text + at, len - at + 1);
        memcpy(text + at, piece, n);
        return;
    }
    case 2: memmove(text + at, text + at + line, len - at - line + 1); return;
    case 3: if (at < len) text[at] = (char)(32 + draw(95)); return;
    case 4: if (!draw(4)) text[at] = 0; return;
    default: if (at + 1 < len) memmove(text + at, text + at + 1, len - at); return;
    }
}

static char *make_text(int number)
{
    begin_case(number);
    const int from = (int)draw((uint32_t)nseeds);
    const size_t size = lengths[from] + 4096;
    char *text = malloc(size);
    memcpy(text, seeds[from], lengths[from] + 1);
    for (uint32_t n = draw(4); n > 0; n--) damage(text, size);
    return text;
}

static void show(int number)
{
    char *text = make_text(number);
    fprintf(stderr, "%s\n", text);
    free(text);
}

/* Pointers and 64-bit numbers are the buffer; the rest are small. */
static void launch(const SimtModule *m, Memory *memory)
{
    const SimtFunc *f = m->funcs[0];
    char report[4096];
    const uint64_t buffer = memory_alloc(memory, BUFFER);
    size_t bytes;
    uint8_t *params = calloc(1, f->param_bytes + 16);
    for (int i = 0; i < f->nparams; i++) {
        const uint64_t x = f->params[i].bytes == 8 ? buffer : 5;
        memcpy(params + f->params[i].address, &x, f->params[i].bytes < 8 ? f->params[i].bytes : 8);
    }
    SimtLaunch l = {.func = f, .grid = {2, 1, 1}, .block = {f->reqntid[0] ? f->reqntid[0] : 64, 1, 1},
                    .shared_bytes = 32768, .params = params,
                    .run = {.seed = 1, .threads = 1, .timeout = 0.05},
                    .memory = memory, .report = report, .report_size = sizeof report};
    if (l.block[0] <= 1024 && f->local_bytes < 1 << 20 && f->shared_bytes < 1 << 20)
        counts[COUNT_ENDED] += simt_launch_run(&l) == SIMT_OK;
    free(params);
    memory_release(memory, buffer, &bytes);
}

static void run(int number)
{
    char problem[512] = "", *text = make_text(number);
    Memory *memory = memory_new();
    SimtModule *m = simt_module_load(text, 90, memory, problem, sizeof problem);
    if (!m == !*problem) {
        fprintf(stderr, "neither a module nor a problem, or both\n");
        abort();
    }
    if (m) counts[COUNT_LOADED]++;
    if (m && m->nfuncs) launch(m, memory);
    simt_module_free(m);
    memory_free(memory);
    free(text);
}

int main(int argc, char **argv)
{
    Cases c = {.count = 300, .run = run, .show = show};
    for (int i = 1; i < argc; i++)
        if (!read_case_option(&c, argc, argv, &i) && nseeds < 64) {
            seeds[nseeds] = read_file(argv[i], MOST, &lengths[nseeds]);
            nseeds++;
        }
    if (!nseeds || !run_cases(&c)) return 2;
    printf("%d texts, %d loaded, %d ran to their end, %d failures\n", counts[COUNT_DONE],
           counts[COUNT_LOADED], counts[COUNT_ENDED], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] || !counts[COUNT_LOADED];
}
