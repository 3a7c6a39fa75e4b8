/* Every form of every instruction of the table that has a loop over 32 lanes gives, lane for lane,
   what the evaluator of one lane gives; and every loop serves some form. The forms are made from
   the table's own words: all types, all choices of qualifiers, all widths of registers. */
#include <stdlib.h>

#include "expect.h"
#include "ptx/ptx.h"
#include "simt/loops.h"

enum { LANES = 32, MOST = 8, ROUNDS = 48, MOST_ROWS = 2048 };

typedef union Register {
    uint16_t h[LANES];
    uint32_t w[LANES];
    uint64_t d[LANES];
    uint32_t mask;
} Register;

typedef struct Row {
    const char *name, *qualifiers, *types, *second, *operands;
} Row;
static const Row rows[] = {
#define PTX(name, qualifiers, types, second, operands, eval)                                       \
    {#name, qualifiers, types, second, operands},
#include "ptx/insn.def"
};

static const struct {
    const char *name;
    int bits;
} types[] = {
#define PTX_TYPE(name, class, bits, lanes, dt) {name, bits},
#include "ptx/types.def"
#undef PTX_TYPE
};

static bool hit[MOST_ROWS];
static long forms, with_loop;
static uint64_t state = 1;

static uint64_t random64(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = state;
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* A pattern that is special in some format of that many bits or fewer. */
static uint64_t edge(int bits)
{
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7f800001, 0xffc00000, 0x7fffffff, 1,
                                      0x007fffff, 0x00800000, 0x7f7fffff, 0x477fe000, 0x477ff000,
                                      0x33000000, 0x33000001, 0x387fc000, 0x4f000000, 0xcf000000,
                                      0x5f000000, 0x3f000000, 0x40200000, 0x7e800000, 0x7e800001,
                                      0x43e00000, 0x43e80000, 0x3b000000, 0x00008000, 0x7f7f8000};
    static const uint16_t halves[] = {0,      0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7c01, 0xffff, 1,
                                      0x03ff, 0x0400, 0x7bff, 0x3f80, 0x7f80, 0xff81, 0x7f7f, 0x80};
    const uint32_t f = floats[random64() % (sizeof floats / sizeof *floats)];
    const uint64_t near = random64() % 5;
    switch (random64() % 8) {
    case 0: return f;
    case 1: {
        float v;
        double d;
        uint64_t b;
        memcpy(&v, &f, 4);
        d = (double)v;
        memcpy(&b, &d, 8);
        return b;
    }
    case 2: return halves[random64() % 16] | (uint64_t)halves[random64() % 16] << 16;
    case 3: return (UINT64_C(1) << random64() % 64) + near - 2;
    case 4: return random64() % 80;
    case 5: return ~(random64() % 80);
    case 6: return (f + near - 2) ^ (random64() & UINT64_C(0x80000000));
    default: return random64() >> (64 - bits) >> random64() % (unsigned)bits;
    }
}

static uint64_t value(int bits)
{
    return ptx_low(random64() % 3 ? edge(bits) : random64(), bits);
}

static void put(Register *r, int bits, int lane, uint64_t x)
{
    if (bits == 1) r->mask = (r->mask & ~(1u << lane)) | (uint32_t)(x & 1) << lane;
    else if (bits == 16) r->h[lane] = (uint16_t)x;
    else if (bits == 32) r->w[lane] = (uint32_t)x;
    else r->d[lane] = x;
}

static uint64_t get(const Register *r, int bits, int lane)
{
    if (bits == 1) return r->mask >> lane & 1;
    if (bits == 16) return r->h[lane];
    return bits == 32 ? r->w[lane] : r->d[lane];
}

/* ---- one form ---- */

typedef struct Form {
    char text[256];
    AsmRegisters regs;
    const PtxProgram *program;
} Form;

static void compare(const Form *f, const char *kind, int dest, const Register *source,
                    const Register *got)
{
    const PtxInsn *in = f->program->insns;
    static const int64_t origin[3];
    uint64_t readings = 0;
    const PtxState nowhere = {origin, origin, &readings};
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t registers[PTX_RESULTS + PTX_ARGS] = {0};
        for (int i = 0; i < f->regs.ninputs; i++)
            registers[in->ndests + i] = get(&source[i], in->sources[i].width, lane);
        ptx_run(f->program, &nowhere, registers);
        const uint64_t x = get(got, in->dests[dest].bits, lane);
        if (x == registers[dest]) continue;
        expect_failed(__FILE__, __LINE__, f->text);
        printf(
            "    %s, $%d of 0x%llx 0x%llx 0x%llx: got 0x%llx, wanted 0x%llx\n", kind, dest,
            (unsigned long long)get(&source[0], in->sources[0].width, lane),
            (unsigned long long)get(&source[1], in->nsources > 1 ? in->sources[1].width : 64, lane),
            (unsigned long long)get(&source[2], in->nsources > 2 ? in->sources[2].width : 64, lane),
            (unsigned long long)x, (unsigned long long)registers[dest]);
        return;
    }
}

static void run_loop(const Form *f, const char *kind, SimtLoop *loop, int dest)
{
    const PtxInsn *in = f->program->insns;
    Register source[PTX_ARGS], got;
    for (int round = 0; round < ROUNDS; round++) {
        memset(source, 0, sizeof source);
        for (int i = 0; i < in->nsources; i++) {
            for (int lane = 0; lane < LANES; lane++)
                put(&source[i], in->sources[i].width, lane,
                    in->sources[i].reg < 0 ? in->sources[i].number : value(in->sources[i].width));
        }
        memset(&got, 0xa5, sizeof got);
        loop(&got, &source[0], &source[1], &source[2], &source[3]);
        compare(f, kind, dest, source, &got);
        for (int i = 0; i < in->nsources && i < 4; i++) { /* in place */
            if (in->sources[i].width != in->dests[dest].bits) continue;
            const void *from[4] = {&source[0], &source[1], &source[2], &source[3]};
            got = source[i];
            from[i] = &got;
            loop(&got, from[0], from[1], from[2], from[3]);
            compare(f, kind, dest, source, &got);
        }
    }
}

/* The row of the table in use that has the loop. Tables of other processors have the same rows. */
static int index_of(SimtLoop *loop, bool *is_wide)
{
    for (int pass = 0; pass < 2; pass++) {
        const LoopRow *table = pass ? simt_loops_any : simt_loops_wide;
        *is_wide = !pass;
        for (int i = 0; table[i].eval; i++) {
            if (table[i].loop == loop) return i;
        }
    }
    return -1;
}

static void *take(void *user, size_t count, size_t size)
{
    void **block = user;
    while (*block) block++;
    return *block = calloc(count, size);
}

static void try_form(Form *f)
{
    char problem[256];
    void *blocks[8] = {0};
    f->program = ptx_parse(f->text, &f->regs, (PtxMemory){take, blocks}, problem, sizeof problem);
    forms += f->program != NULL;
    for (int dest = 0; f->program && dest < f->program->insns->ndests; dest++) {
        bool is_wide = false;
        SimtLoop *loop = simt_loop_of(f->program->insns, dest);
        if (!loop) continue;
        const int i = index_of(loop, &is_wide);
        EXPECT(i >= 0 && i < MOST_ROWS);
        hit[i] = true;
        with_loop++;
        run_loop(f, "any processor", simt_loops_any[i].loop, dest);
        if (is_wide) run_loop(f, "wide", loop, dest);
    }
    for (int i = 0; blocks[i]; i++) free(blocks[i]);
}

/* ---- all forms ---- */

static int bits_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(types[i].name, name)) return types[i].bits;
    }
    return 0;
}

/* The next word of a list that ends at a '/' too. */
static bool next_word(const char **list, char *word)
{
    *list += strspn(*list, " ");
    const size_t n = strcspn(*list, " /");
    memcpy(word, *list, n);
    word[n] = 0;
    *list += n;
    return n > 0;
}

typedef struct Maker {
    const Row *row;
    char type[16], second[16], third[16], qualifiers[64];
    int list;                   /* registers in the list */
    bool pair;                  /* two predicates */
    int dest_bits, source_bits; /* of registers that may be wider */
} Maker;

static int add_register(Form *f, bool output, int bits)
{
    const int n = f->regs.noutputs + f->regs.ninputs;
    f->regs.r[n] =
        (AsmRegister){.bits = (uint8_t)bits, .width = (uint8_t)bits, .count = 1, .tied = -1};
    if (output) f->regs.noutputs++;
    else f->regs.ninputs++;
    return n;
}

static void append_register(Form *f, char *at, bool output, int bits)
{
    sprintf(at + strlen(at), "$%d", add_register(f, output, bits));
}

static void append_list(Form *f, char *at, const Maker *m, bool output)
{
    strcat(at, "{");
    for (int i = 0; i < m->list; i++) {
        if (i) strcat(at, ", ");
        append_register(f, at, output, bits_of(m->type) / m->list);
    }
    strcat(at, "}");
}

static bool combines(const Maker *m)
{
    return strstr(m->qualifiers, ".and") || strstr(m->qualifiers, ".or") ||
           strstr(m->qualifiers, ".xor");
}

static void append_operand(Form *f, char *at, const Maker *m, char letter)
{
    const int bits = bits_of(m->type), second = bits_of(m->second);
    switch (letter) {
    case 'd': append_register(f, at, true, bits); break;
    case 'D': append_register(f, at, true, m->dest_bits); break;
    case 'w': append_register(f, at, true, 2 * bits); break;
    case 'u': append_register(f, at, true, 32); break;
    case 'p': append_register(f, at, true, 1); break;
    case 'P':
        append_register(f, at, true, 1);
        if (m->pair) {
            strcat(at, "|");
            append_register(f, at, true, 1);
        }
        break;
    case 'V': append_list(f, at, m, true); break;
    case 'v': append_list(f, at, m, false); break;
    case 'a': append_register(f, at, false, bits); break;
    case 's': append_register(f, at, false, second); break;
    case 'S': append_register(f, at, false, m->source_bits); break;
    case 't': append_register(f, at, false, bits_of(m->third)); break;
    case 'W': append_register(f, at, false, 2 * bits); break;
    case 'r': append_register(f, at, false, 32); break;
    case 'q':
    case 'c': append_register(f, at, false, 1); break;
    case 'k': sprintf(at + strlen(at), "%d", (int)(random64() & 255)); break;
    }
}

static void make_form(const Maker *m)
{
    Form f = {0};
    sprintf(f.text, "%s%s.%s%s%s%s%s ", m->row->name, m->qualifiers, m->type, *m->second ? "." : "",
            m->second, *m->third ? "." : "", m->third);
    for (const char *p = m->row->operands; *p; p++) {
        if (*p == 'c' && !combines(m)) continue;
        if (p != m->row->operands) strcat(f.text, ", ");
        append_operand(&f, f.text, m, *p);
    }
    strcat(f.text, ";");
    try_form(&f);
}

static void with_widths(Maker *m)
{
    static const int widths[] = {16, 32, 64};
    const bool dest = strchr(m->row->operands, 'D'), source = strchr(m->row->operands, 'S');
    const bool list = strpbrk(m->row->operands, "vV");
    for (int i = 0; i < (dest ? 3 : 1); i++) {
        for (int k = 0; k < (source ? 3 : 1); k++) {
            for (int l = 0; l < (list ? 2 : 1); l++) {
                for (int p = 0; p < (strchr(m->row->operands, 'P') ? 2 : 1); p++) {
                    m->dest_bits = widths[i];
                    m->source_bits = widths[k];
                    m->list = l ? 4 : 2;
                    m->pair = p;
                    make_form(m);
                }
            }
        }
    }
}

static void with_types(Maker *m)
{
    const char *list = m->row->types;
    while (next_word(&list, m->type)) {
        const char *seconds = m->row->second, *slash = strchr(seconds, '/');
        *m->third = 0;
        if (slash) {
            slash++;
            next_word(&slash, m->third);
        }
        do {
            if (!next_word(&seconds, m->second) && *m->row->second) break;
            with_widths(m);
        } while (*m->row->second);
    }
}

/* One of each group's alternatives behind another; of an optional group none, too. */
static void with_qualifiers(Maker *m, const char *groups)
{
    if (!*groups) {
        with_types(m);
        return;
    }
    const size_t len = strcspn(groups, " "), before = strlen(m->qualifiers);
    const bool optional = groups[len - 1] == '?';
    const char *rest = groups + len + (groups[len] == ' ');
    if (optional) with_qualifiers(m, rest);
    for (size_t i = 0, end = len - optional, n; i < end; i += n + 1) {
        n = strcspn(groups + i, "|? ");
        sprintf(m->qualifiers + before, ".%.*s", (int)n, groups + i);
        with_qualifiers(m, rest);
        m->qualifiers[before] = 0;
    }
}

static void agree(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Maker m = {.row = &rows[i]};
        with_qualifiers(&m, rows[i].qualifiers);
    }
    printf("%ld forms, %ld results by loops\n", forms, with_loop);
}

static void all_serve(void)
{
    for (int i = 0; simt_loops_any[i].eval; i++) {
        if (hit[i]) continue;
        expect_failed(__FILE__, __LINE__, "no form has this loop");
        printf("    row %d: %s | %s\n", i, simt_loops_any[i].types, simt_loops_any[i].second);
    }
}

int main(void)
{
    RUN(agree);
    RUN(all_serve);
    return expect_done();
}
