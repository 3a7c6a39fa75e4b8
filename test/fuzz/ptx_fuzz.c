/* The cpu device's reader of inline assembly against any text: it gives a program, which runs, or says why not.
   As a program it puts pieces together and damages seeds, the same way on every run: ptx_fuzz [COUNT]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

static const char *const seeds[] = {
    "{ .reg .b32 t<4>; .reg .pred p; mov.b32 t0, $2; setp.lt.and.s32 p|p, t0, -3, !p; @!p prmt.b32.f4e $0, $2, t3, 0x7; mov.b64 $1, {t1, t2}; }",
    "cvt.rn.satfinite.e4m3x2.f32 $0, 0f3F800000, 1.5; /* c */ mov.u64 $1, %globaltimer; // end\n lop3.b32 $0, $2, $2, $2, 0xe2;",
    "{ .reg .f16x2 h; .reg .b16 a, b; mov.b32 {a, _}, $2; mov.b32 $0, {a, a}; fma.rn.relu.bf16x2 $0, $0, $0, $2; add.cc.u64 $1, $1, 077; bfe.s64 $1, $1, 5, $2; }",
    "bfi.b64 $1, $1, 99, $0, $2; shf.l.wrap.b32 $0, $0, $2, -1; szext.clamp.s32 $0, $2, 32; bmsk.wrap.b32 $0, $0, $2; div.s32 $0, $0, $2; cvt.pack.sat.u8.s32.b32 $0, $2, $0, 0b11;",
};
static const char *const pieces[] = {
    "$0", "$1", "$2", "${2}", ", ", ";", "{", "}", "<4>", ".reg .b32 t<4>;", ".reg .pred p;", "t1", "t01", "p", "_", "@", "!", "|", "-", "0x", "0f3F800000", "1e", "99999999999999999999",
    "0b2", "add.s32 ", "mov.b32 ", "selp.b32 ", "cvt.rzi.s64.f32 ", ".rn", ".u16x2", ".f64", "%laneid", "%clock", "WARP_SZ", "/*", "//", "\n", "lop3.b32", "slct.b32.f32 ", ".", ":",
};

static uint32_t random_below(uint64_t *state, size_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

static void make_text(char *text, size_t size, uint64_t *r)
{
    const size_t nseeds = sizeof seeds / sizeof *seeds, npieces = sizeof pieces / sizeof *pieces;
    snprintf(text, size, "%s", random_below(r, 4) ? seeds[random_below(r, nseeds)] : "");
    for (uint32_t i = random_below(r, 12); i > 0; i--) {
        char tail[1024];
        size_t at = random_below(r, strlen(text) + 1);
        size_t gone = random_below(r, 2) ? random_below(r, 6) : 0;
        snprintf(tail, sizeof tail, "%s", at + gone <= strlen(text) ? text + at + gone : "");
        snprintf(text + at, size - at, "%s%s", random_below(r, 3) ? pieces[random_below(r, npieces)] : "", tail);
    }
}

typedef struct Blocks {
    void *data[8];
    int n;
} Blocks;

static void *take(void *user, size_t count, size_t size)
{
    Blocks *b = user;
    return b->data[b->n++] = calloc(count, size);
}

/* What a $ names is checked where the op is made (lib/ir/inline_asm.c), before this reader sees it. */
static bool names_registers(const char *text)
{
    for (const char *p = strchr(text, '$'); p; p = strchr(p + 1, '$')) {
        const char *n = p + 1 + (p[1] == '{');
        if (*n < '0' || *n > '2' || (n[1] >= '0' && n[1] <= '9') || (n > p + 1 && n[1] != '}')) return false;
    }
    return true;
}

/* Whether it ran. */
static bool exercise(const char *text)
{
    static const AsmRegisters regs = {2, 1, 1, {{'r', 32, 32, 1, 0, 0, -1}, {'l', 64, 64, 1, 1, 0, -1}, {'r', 32, 32, 1, 0, 0, -1}}};
    Blocks blocks = {0};
    char problem[256];
    const PtxProgram *p = ptx_parse(text, &regs, (PtxMemory){take, &blocks}, problem, sizeof problem);
    if (!p == !*problem) {
        printf("neither a program nor a problem, or both: %s\n", text);
        exit(1);
    }
    if (p) {
        const int64_t pid[3] = {0}, grid[3] = {1, 1, 1};
        uint64_t readings = 0, *registers = calloc((size_t)p->nregs, sizeof *registers);
        registers[2] = 0x80000001;
        ptx_run(p, &(PtxState){pid, grid, &readings}, registers);
        if (registers[0] >> 32) {
            printf("more than 32 bits in $0: %s\n", text);
            exit(1);
        }
        free(registers);
    }
    for (int i = 0; i < blocks.n; i++) free(blocks.data[i]);
    return p != NULL;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : 100000;
    uint64_t r = 1;
    long ran = 0, tried = 0;
    for (long i = 0; i < count; i++) {
        char text[1024];
        make_text(text, sizeof text, &r);
        if (!names_registers(text)) continue;
        tried++;
        ran += exercise(text);
    }
    printf("%ld texts, %ld ran\n", tried, ran);
    return ran == 0 || ran == tried;
}
