/* Instructions of a module as they are decoded: what the families of instructions (families.def)
   are given to read their text with. */
#pragma once

#include <string.h>

#include "tkc/grow.h"
#include "module.h"
#include "ptx/parser.h"

enum { INSNS_MAX = 1 << 20 };

/* A register's place. */
typedef struct SimtReg {
    uint32_t at;
    uint8_t bits;
    bool inner; /* declared in a block inside the kernel's, as inline assembly does */
} SimtReg;

typedef struct SimtLabel {
    PtxWord name;
    int frame;
    uint32_t at;
} SimtLabel;

/* A jump to a label that was not there yet; `slot`: in the list of .branchtargets, else -1. */
typedef struct SimtFixup {
    SimtLabel label;
    uint32_t insn;
    int slot;
    int line;
} SimtFixup;

/* The lists of targets of brx.idx. */
typedef struct SimtTargets {
    PtxWord name;
    int n;
    uint32_t at[];
} SimtTargets;

/* A function that can be called. */
typedef struct SimtCallee {
    PtxWord name;
    SimtFunc results, params; /* what a head says */
    const char *body; /* its '{'; NULL: it is only declared */
} SimtCallee;

typedef struct Decoder {
    PtxParser ps; /* first: hooks of the parser find the rest behind it */
    SimtModule *module;
    SimtFunc *func;     /* that is decoded; NULL between functions */
    int chip; /* the device's, from .target on the text's */
    bool chip_own;        /* the text is for that chip only: sm_90a */
    bool no_memory;       /* is what is wrong */
    /* of the function */
    SimtVar *vars;
    int nvars;
    SimtReg *regs;
    uint32_t nregs, reg_bytes;
    SimtInsn *insns;
    uint32_t ninsns;
    uint32_t numbers_bytes, numbers_cap;
    SimtLabel *labels;
    int nlabels;
    SimtFixup *fixups;
    int nfixups;
    SimtTargets **targets;
    int ntargets;
    int frame, nframes, inline_depth; /* scopes, each with its labels */
    int *outer; /* of each scope, the one around it; -1: none */
    /* functions that can be called: their texts */
    SimtCallee *callees;
    int ncallees;
    uint32_t place;
    uint32_t shared_bytes; /* static, so far */
    const char *line_at; /* lines are counted from here */
    int line;
} Decoder;

typedef void Decode(Decoder *dc, SimtInsn *in);

/* SimtInsn.a of families.def's rows. */
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

/* ---- the name: dc->ps.parts ---- */
/* The place among "a b c" of the one that is there, which is taken; -1: none. */
static inline int op_choose(Decoder *dc, const char *choices)
{
    return ptx_choose(&dc->ps.parts, choices, ' ');
}
static inline bool op_take(Decoder *dc, const char *part) { return op_choose(dc, part) >= 0; }
static inline const PtxType *op_type(Decoder *dc) { return ptx_take_type(&dc->ps.parts); }
void op_done(Decoder *dc);                       /* refuses when a part is left */
void op_refuse(Decoder *dc);                     /* "… is no form of the instruction …" */

/* ---- operands; each function reads one, commas are the caller's ---- */
void dc_comma(Decoder *dc);
SimtOperand dc_source(Decoder *dc, const PtxType *t, bool wider);
SimtOperand dc_dest(Decoder *dc, const PtxType *t, bool wider);
/* a predicate as a source, perhaps negated */
static inline SimtOperand dc_pred(Decoder *dc) { return dc_source(dc, ptx_type("pred"), false); }
/* Room for the instruction's operands. */
void dc_operands(Decoder *dc, SimtInsn *in, int nd, int ns);
int64_t dc_integer(Decoder *dc); /* a number in the text */
SimtOperand dc_number(Decoder *dc, uint64_t x, int bits);
const SimtVar *dc_var(const Decoder *dc, PtxWord w);
/* The name has no more parts; then the operands, by a text of words:
     >T  a destination      |T  a second one behind '|'      ?T  the same, if there is one
     <T  a source           :T  the same, if there is one                      ~  a cache's policy
     [   an address, with in->offset and in->space; those behind it have no space of their own
     (T  a source behind '['     )  the ']' of it
   T is the name of a type or * for t, or + where registers may be wider than t; {T} a list of
   in->count, a{T} one of in->a, and so of b and c. False: something has failed. */
bool dc_form(Decoder *dc, SimtInsn *in, SimtExec *exec, const char *form, const PtxType *t);
void dc_skip_operands(Decoder *dc); /* those that mean nothing here */
void *dc_take(Decoder *dc, size_t bytes); /* zeros that live as long as the module; never NULL while
                                             nothing has failed */
int dc_line(Decoder *dc); /* of the word at hand */
int dc_line_at(Decoder *dc, const char *at);

uint8_t dc_space(Decoder *dc);       /* the part that names a space; SPACE_GENERIC: none */
void dc_memory_order(Decoder *dc);   /* takes the parts that order, scope and cache an access */
void dc_cache_policy(Decoder *dc);   /* the operand behind such a one, if there is one */

/* ---- what instructions of a whole warp say of themselves ---- */
/* Takes ".sync.aligned"; refuses what has neither. */
void dc_aligned(Decoder *dc);
/* Takes the part such as "m16n8k16", and the next that names the elements of a matrix; refuses what
   has none. */
void dc_matrix_shape(Decoder *dc, int *m, int *n, int *k);
MatrixType dc_matrix_type(Decoder *dc);
/* Refuses the instruction in a text for an older chip. */
void dc_needs_chip(Decoder *dc, int least);

/* ---- code ---- */
SimtInsn *dc_emit(Decoder *dc, const SimtInsn *in);
void dc_jump(Decoder *dc, uint32_t insn, PtxWord label, int slot);
void dc_no_memory(Decoder *dc);
/* One more behind the n of an array, which are counted. False: no memory; told. */
#define dc_push(dc, array, n, ...)                                                                 \
    (grow_array(&(array), (n)) ? ((array)[(n)++] = (__VA_ARGS__), true) : (dc_no_memory(dc), false))
void dc_variable(Decoder *dc, SimtSpace space); /* behind ".shared" and its kin */
SimtVar *dc_add_var(Decoder *dc, SimtVar v); /* of the scope */
void dc_pragma(Decoder *dc);                    /* behind ".pragma" */
bool dc_take_word(Decoder *dc, const char *text); /* true: it was the next */
void dc_special_names(Decoder *dc); /* the registers that are there before any declaration */
void dc_instruction(Decoder *dc);
/* What has been declared gets its place, and the scope it is of. */
void dc_place_registers(Decoder *dc);
/* The body of an entry, at its '{'; the entry's code is finished. */
void dc_entry(Decoder *dc, SimtFunc *f);
/* Blocks in the order in which lanes that part meet again (converge.c). */
void dc_converge(Decoder *dc);

/* Where lanes are behind an instruction that they execute: at the next one, at its target, at one of
   form's targets, nowhere. */
typedef enum SimtFlow { FLOW_ON, FLOW_TO, FLOW_TABLE, FLOW_END } SimtFlow;
SimtFlow flow_of(const SimtInsn *in);
/* A jump that is in no text, told at the place of another instruction. */
SimtInsn flow_jump(const SimtInsn *beside, uint32_t target);
/* The body of a function that is called here, with what its formal parameters stand for. */
void dc_inline(Decoder *dc, const SimtCallee *callee, const SimtVar *formals, int n);

/* Executes in->members when all lanes are there that the mask in the last source names. */
SimtExec exec_members;
Decode decode_bulk; /* cp.async.bulk */
#define FAMILY(name, decode) Decode decode;
#define INSN(name, types, exec, a, operands) SimtExec exec;
#include "families.def"
