/* The part of PTX that inline assembly is made of, for the cpu device: straight lines of
   instructions on registers. A text is parsed once, to a list of instructions that each know their
   evaluator; it runs once for every instance (tkc/inline_asm.h).

   Which instructions there are is one table, insn.def; their evaluators are in int.c,
   float.c and convert.c. Everything else is refused when it is parsed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tkc/inline_asm.h"

typedef enum PtxClass { PTX_PRED, PTX_BITS, PTX_INT, PTX_FLOAT } PtxClass;
typedef struct PtxType {
    const char *name;
    PtxClass class;
    uint8_t bits, lanes;
    DType dtype; /* of a lane */
} PtxType;

typedef enum PtxQualifier {
#define PTX_QUALIFIER(ID, text) PTXQ_##ID,
#include "qualifiers.def"
#undef PTX_QUALIFIER
    PTXQ_COUNT
} PtxQualifier;

/* Registers that are read only. */
typedef enum PtxSpecial {
    PTX_NOT_SPECIAL,
    PTX_CTAID_X, PTX_CTAID_Y, PTX_CTAID_Z,
    PTX_NCTAID_X, PTX_NCTAID_Y, PTX_NCTAID_Z,
    PTX_CLOCK,     /* how often the program has read a clock, this time included */
    PTX_CLOCK_HIGH,
    PTX_SMID,
    PTX_NSMID
} PtxSpecial;

typedef struct PtxInsn PtxInsn;
enum { PTX_ARGS = 5, PTX_RESULTS = 4 };

/* One call of an evaluator: from a to d, both without anything above their width. */
typedef struct PtxCall {
    const PtxInsn *insn;
    const PtxType *type, *second; /* the instruction's, or what a lane of them is */
    int n;                        /* sources */
    uint64_t a[PTX_ARGS], d[PTX_RESULTS];
    bool *carry;
} PtxCall;
typedef void PtxEval(PtxCall *c);

typedef struct PtxSource {
    int reg; /* -1: the number */
    bool negated;
    PtxSpecial special;
    uint8_t bits;  /* that are read */
    uint8_t width; /* of the register, or of the number */
    uint64_t number;
} PtxSource;
typedef struct PtxDest {
    int reg; /* -1: nowhere */
    uint8_t bits; /* of the register */
    uint8_t sign_from; /* bits of a signed value that is extended to the register; else 0 */
} PtxDest;

struct PtxInsn {
    PtxEval *eval;
    const PtxType *type, *second;
    uint64_t qualifiers;
    bool by_lane;
    bool guarded, guard_not;
    int guard; /* register of the predicate */
    int nsources, ndests;
    PtxSource sources[PTX_ARGS];
    PtxDest dests[PTX_RESULTS];
};

typedef struct PtxProgram {
    int ninsns, nregs; /* registers 0, 1, … are those of the constraints; an input that is tied to
                          an output is that */
    PtxInsn insns[];
} PtxProgram;

typedef struct PtxMemory PtxMemory;
struct PtxMemory {
    void *(*take)(void *user, size_t count, size_t size); /* zeros; NULL: none */
    void *user;
};

/* What special registers hold. */
typedef struct PtxState {
    const int64_t *pid, *grid;
    uint64_t *readings; /* of clocks */
} PtxState;

/* NULL: not understood, told in `problem`, or no memory and `problem` empty. */
const PtxProgram *ptx_parse(const char *text, const AsmRegisters *asm_registers, PtxMemory memory,
                            char *problem, size_t size);
/* One instance; the first registers hold the inputs and then the outputs. */
void ptx_run(const PtxProgram *p, const PtxState *state, uint64_t *registers);

/* FILE:LINE:COL of the inline assembly that the first complaint of an assembler's log is about,
   from the comment that the compiler puts before it. False: it is about none. */
bool ptx_log_place(char *place, size_t size, const char *log, const char *ptx);

/* What the instruction gives for one instance's sources. */
void ptx_evaluate(PtxCall *c);

static inline bool ptx_has(const PtxCall *c, PtxQualifier q)
{
    return c->insn->qualifiers >> q & 1;
}
static inline uint64_t ptx_low(uint64_t x, int bits)
{
    return bits >= 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}
static inline int64_t ptx_signed(uint64_t x, int bits)
{
    return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

#define PTX(name, qualifiers, types, second, operands, eval) PtxEval ptx_##eval;
#include "insn.def"
