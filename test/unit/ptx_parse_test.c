/* What the cpu device's reader of inline assembly refuses, and the words it does that with. */
#include <stdlib.h>

#include "expect.h"
#include "ptx/ptx.h"

typedef struct Blocks { void *data[8]; int n; } Blocks; /* of one text */

static void *take(void *user, size_t count, size_t size)
{
    Blocks *b = user;
    if (b->n == 8)
        return NULL;
    return b->data[b->n++] = calloc(count, size);
}

/* $0 is an output and $1 an input, both of 32 bits. */
static const char *problem_of(const char *text)
{
    static const AsmRegisters regs = {
        1, 1, 1, {{'r', 32, 32, 1, 0, 0, -1}, {'r', 32, 32, 1, 0, 0, -1}}};
    static _Thread_local char problem[256];
    Blocks blocks = {.n = 0};
    ptx_parse(text, &regs, (PtxMemory){take, &blocks}, problem, sizeof problem);
    while (blocks.n)
        free(blocks.data[--blocks.n]);
    return problem;
}

static void refuses(void)
{
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"add.s32 $0, $1, 1;", ""},
        {"add.s32 $0, $1, 1", "';' is missing at the end"},
        {"{ add.s32 $0, $1, 1;", "'}' is missing at the end"},
        {"add.s32 $0, $1, 1; }", "'}' closes nothing"},
        {"add.s32 $0 $1, 1;", "expected ',', found '$1'"},
        {"add.s32 $0, $1, 1, 2;", "expected ';', found ','"},
        {"ld.global.b32 $0, [$1];", "the instruction 'ld.global.b32' is not known here"},
        {"mul.s32 $0, $1, $1;", "'mul.s32' is no form of the instruction that is known here"},
        {"add.f8 $0, $1, $1;", "'add.f8' is no form of the instruction that is known here"},
        {"add.s32.lo $0, $1, $1;", "'add.s32.lo' is no form of the instruction that is known here"},
        {"{ .reg .b32 5; mov.b32 $0, $1; }", "expected the name of a register, found '5'"},
        {"{ .reg .b32 a, a; mov.b32 $0, $1; }", "the register 'a' is declared twice"},
        {"{ .reg .b32 a, a<2>; mov.b32 $0, $1; }", ""},
        {"{ .reg .b32 a<2>, a5, a; mov.b32 $0, $1; }", ""},
        {"{ .reg .b32 %r; mov.b32 %r, $1; { .reg .b32 %r; mov.b32 $0, $1; } }", ""},
        {"{ .reg .b32 a<2>, a1; mov.b32 $0, $1; }", "the register 'a1' is declared twice"},
        {"{ .reg .b32 a1, a<2>; mov.b32 $0, $1; }", "the register 'a' is declared twice"},
        {"{ .reg .b32 a<2>, a<3>; mov.b32 $0, $1; }", "the register 'a' is declared twice"},
        {"{ .reg .b32 _; mov.b32 $0, $1; }", "expected the name of a register, found '_'"},
        {"mov.b32 $0, $1;;", "expected an instruction, found ';'"},
        {"{\n  mov.b32 $0, $1;\n  add.s32 $0,\n $1, 1;;\n}",
         "expected an instruction, found ';', in line 4 of the text"},
        {"mov.b32 $0,\n $1, $1;", "expected ';', found ',', in line 2 of the text"},
        {"{ mov.b32 $0, $1; };", "expected an instruction, found ';'"},
        {"{ .reg .b32 a<0>; mov.b32 $0, $1; }", "'a<' needs a number of 1 to 4096"},
        {"{ .reg .b32 a<4000>, b<4000>; }", "too many registers"},
        {"{ .reg b32 a; mov.b32 $0, $1; }", "expected the type of registers, found 'b32'"},
        {"{ .reg .b32 a<4>; mov.b32 $0, a4; }", "'a4' names no register"},
        {"{ { .reg .b32 a; } mov.b32 $0, a; }", "'a' names no register"},
        {"add.s64 $0, $1, 1;", "'$0' is no register for the s64 that 'add.s64' takes there"},
        {"{ .reg .f32 a; add.s32 $0, a, 1; }",
         "'a' is no register for the s32 that 'add.s32' takes there"},
        {"add.f32 $0, $1, 1;", "'1' is no number for the f32 that 'add.f32' takes there"},
        {"add.s32 $0, $1, 1.5;", "'1.5' is no number for the s32 that 'add.s32' takes there"},
        {"add.s32 $0, $1, 09;", "'09' is no number"},
        {"add.f32 $0, $1, 0f12;", "'0f12' is no number"},
        {"add.s32 $0, $1, -$1;", "'$1' cannot be negated"},
        {"mov.u32 $0, %laneid;", "the register '%laneid' cannot be read by 'mov.u32' here"},
        {"mov.b32 $0, {$1, $1, $1};", "3 registers do not make one of 'mov.b32'"},
        {"{ .reg .pred p; setp.eq.f16x2 p, $1, $1; }", "'setp.eq.f16x2' has two predicates p|q"},
        {"lop3.b32 $0, $1, $1, $1, 256;", "the last operand of 'lop3.b32' is a number of 0 to 255"},
        {"again: mov.b32 $0, $1;",
         "the label 'again:' has no use on the cpu device, which runs no branches"},
        {"$0 = $1;", "expected an instruction, found '$0'"},
        {"{ .reg .b32 a; mov.b32 a, $1; }", "no instruction writes the output '$0'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_STR(problem_of(rows[i].text), rows[i].problem);
}

int main(void)
{
    RUN(refuses);
    return expect_done();
}
