/* Inline assembly: instances of a PTX program (ptx.h), each on `pack` elements that follow one
   another in the block; what is missing in the last one is 0, as it is in a thread of a GPU. Which
   elements are together there depends on the layout. */
#include <string.h>

#include "interp.h"
#include "ptx/ptx.h"

typedef struct AsmCode {
    AsmRegisters registers;
    const PtxProgram *program;
} AsmCode;

const void *asm_prepare(TkcContext *cx, const Op *op, PtxMemory memory)
{
    char problem[256];
    AsmCode *code = memory.take(memory.user, 1, sizeof *code);
    if (!code) return NULL;
    if (!tkc_asm_registers(op, &code->registers, problem, sizeof problem))
        code->program = ptx_parse(tkc_op_str(op, ATTR_ASM, ""), &code->registers, memory, problem,
                                  sizeof problem);
    if (code->program) return code;
    if (*problem) {
        tkc_report(cx, TKC_SEVERITY_ERROR, op->loc, "inline assembly on the cpu device: %s",
                   problem);
        for (const Loc *loc = op->loc ? op->loc->caller : NULL; loc; loc = loc->caller)
            tkc_report_note(cx, loc, "called from here");
    }
    return NULL;
}

/* Elements of an instance that are there: those of the block from `first` on, or the one of a lane
   where scalars are vectors. */
typedef struct Instance {
    int64_t first;
    int n;
} Instance;

static uint64_t gather(const Frame *f, const AsmRegister *r, const Slot *s, Instance i)
{
    uint64_t x = 0;
    for (int k = 0; k < r->count && r->first + k < i.n; k++) {
        uint64_t bits = 0;
        memcpy(&bits, slot_at(f, s, i.first + r->first + k), s->size);
        x |= bits << (r->width * k);
    }
    return x;
}

static void scatter(const Frame *f, const AsmRegister *r, const Slot *s, Instance i, uint64_t x)
{
    for (int k = 0; k < r->count && r->first + k < i.n; k++) {
        uint64_t bits = ptx_low(x >> (r->width * k), r->width);
        memcpy(slot_at(f, s, i.first + r->first + k), &bits, s->size);
    }
}

static void run_instance(Frame *f, const Insn *in, Instance i, uint64_t *registers)
{
    const AsmCode *code = in->extra;
    const AsmRegisters *regs = &code->registers;
    const PtxState state = {f->pid, f->launch->grid, &f->readings};
    memset(registers, 0, (size_t)code->program->nregs * sizeof *registers);
    for (int k = regs->noutputs; k < regs->noutputs + regs->ninputs; k++) {
        const AsmRegister *r = &regs->r[k];
        registers[r->tied >= 0 ? r->tied : k] = gather(f, r, in->args[r->value], i);
    }
    ptx_run(code->program, &state, registers);
    for (int k = 0; k < regs->noutputs; k++)
        scatter(f, &regs->r[k], in->results[regs->r[k].value], i, registers[k]);
}

void insn_asm(Frame *f, const Insn *in)
{
    const AsmCode *code = in->extra;
    const Slot *any = in->nresults ? in->results[0] : in->nargs ? in->args[0] : NULL;
    const int64_t n = any ? slot_len(f, in, any) : 1;
    const bool lanes = in->in_vector && any && any->count == 1;
    const int pack = lanes ? 1 : code->registers.pack;
    uint64_t *registers = interp_scratch(f, (size_t)code->program->nregs * sizeof *registers);
    for (int64_t at = 0; registers && at < n; at += pack)
        run_instance(f, in, (Instance){at, n - at < pack ? (int)(n - at) : pack}, registers);
}
