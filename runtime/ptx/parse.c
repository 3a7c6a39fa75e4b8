/* Text of inline assembly to a program. A statement is a scope's brace, a declaration of registers,
   or an instruction with its guard. */
#include "parser.h"

#include <stdio.h>
#include <string.h>

enum { REGISTERS_MAX = 4096 };

/* Instructions without operands that have nothing to do here: programs of this device do not
   overlap in a way that these could order. */
static const char *const without_effect[] = {"griddepcontrol.wait",
                                             "griddepcontrol.launch_dependents"};

static bool is_without_effect(PtxWord w)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++)
        if (ptx_word_is(w, without_effect[i])) return true;
    return false;
}

static void parse_instruction(PtxParser *ps, PtxProgram *program)
{
    PtxInsn in = {0};
    in.guarded = ptx_parse_guard(ps, &in.guard, &in.guard_not);
    ps->opcode = ptx_next(ps);
    if (ps->opcode.kind != PTXW_NAME)
        ptx_fail(ps, "expected an instruction, found '%.*s'", ps->opcode.len, ps->opcode.text);
    else if (ps->opcode.text[ps->opcode.len - 1] == ':')
        ptx_fail(ps, "the label '%.*s' has no use on the cpu device, which runs no branches",
             ps->opcode.len, ps->opcode.text);
    if (ps->failed) return;
    ps->parts = ptx_take_apart(ps->opcode);
    if (!is_without_effect(ps->opcode) && ptx_parse_operands(ps, &in))
        program->insns[program->ninsns++] = in;
    ptx_expect_mark(ps, ';');
}

static void close_scope(PtxParser *ps)
{
    ptx_next(ps);
    if (!ps->depth) ptx_fail(ps, "'}' closes nothing");
    ptx_close_scope(ps);
}

static void parse_statement(PtxParser *ps, PtxProgram *program)
{
    if (ptx_at_mark(ps, '{')) {
        ptx_next(ps);
        ps->depth++;
    } else if (ptx_at_mark(ps, '}')) {
        close_scope(ps);
    } else if (ps->word.kind == PTXW_NAME && ptx_word_is(ps->word, ".reg")) {
        ptx_next(ps);
        ptx_parse_declaration(ps);
    } else {
        parse_instruction(ps, program);
    }
}

/* ---- the program ---- */

/* What an output that nothing writes holds is left to chance on a GPU. */
static void check_written(PtxParser *ps)
{
    const AsmRegisters *regs = ps->asm_registers;
    for (int i = 0; i < regs->noutputs && i < 64; i++) {
        bool given = ps->written >> i & 1;
        for (int k = regs->noutputs; k < regs->noutputs + regs->ninputs; k++)
            given |= regs->r[k].tied == i;
        if (!given) ptx_fail(ps, "no instruction writes the output '$%d'", i);
    }
}

/* Of what is wrong, when the text has several. */
static void tell_line(const PtxParser *ps, const char *text)
{
    int line = 1;
    size_t n = strlen(ps->problem);
    for (const char *p = text; p < ps->failed_at; p++) line += *p == '\n';
    if (strchr(text, '\n'))
        snprintf(ps->problem + n, ps->size - n, ", in line %d of the text", line);
}

static PtxProgram *new_program(const char *text, PtxMemory memory)
{
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ';';
    return memory.take(memory.user, 1, sizeof(PtxProgram) + n * sizeof(PtxInsn));
}

const PtxProgram *ptx_parse(const char *text, const AsmRegisters *asm_registers, PtxMemory memory,
                            char *problem, size_t size)
{
    *problem = 0;
    PtxProgram *program = new_program(text, memory);
    if (!program) return NULL;
    PtxParser ps = {.at = text, .asm_registers = asm_registers, .problem = problem, .size = size,
                    .nregs = asm_registers->noutputs + asm_registers->ninputs,
                    .max_regs = REGISTERS_MAX};
    ptx_next(&ps);
    while (!ps.failed && ps.word.kind != PTXW_END) parse_statement(&ps, program);
    if (ps.failed) tell_line(&ps, text);
    if (ps.depth) ptx_fail(&ps, "'}' is missing at the end");
    check_written(&ps);
    program->nregs = ps.nregs;
    return ps.failed ? NULL : program;
}
