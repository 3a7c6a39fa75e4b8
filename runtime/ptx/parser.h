/* Reading instructions of PTX: what the reader of inline assembly (parse.c) and that of whole
   modules (simt/) have in common. Words, types and rows of the table of instructions; registers and
   the operands that a row asks for. */
#pragma once

#include "lex.h"
#include "ptx.h"

enum { PTX_NAMES_MAX = 256, PTX_TYPES_MAX = 3, PTX_PARTS_MAX = 24 };

/* t<4> declares t0 … t3. */
typedef struct PtxName {
    const char *text;
    int len, depth, reg, count; /* count 0: the one register of that name */
    const PtxType *type;
} PtxName;

/* An instruction's name taken apart at its dots. What reads it takes the parts that it knows, in
   any order; the first one is the name proper. */
typedef struct PtxParts {
    const char *part[PTX_PARTS_MAX];
    int len[PTX_PARTS_MAX];
    bool taken[PTX_PARTS_MAX];
    int n;
} PtxParts;

typedef struct PtxParser PtxParser;
struct PtxParser {
    const char *at;
    PtxWord word; /* the next */
    const char *taken; /* the one before it; NULL: there is none */
    const AsmRegisters *asm_registers; /* those of $0, $1, …; NULL: there are none */
    PtxName names[PTX_NAMES_MAX];
    int nnames, depth;
    int nregs, max_regs;
    PtxWord opcode;
    PtxParts parts; /* of it */
    uint64_t written; /* outputs below 64 */
    char *problem;
    size_t size;
    bool failed;
    const char *failed_at; /* the last word that was taken until then */
    /* A name that is no register, as a source of type t; false: it is nothing. NULL: none is. */
    bool (*symbol)(PtxParser *ps, PtxWord w, const PtxType *t, PtxSource *out);
};

/* The first problem stays. */
void ptx_fail(PtxParser *ps, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
PtxWord ptx_next(PtxParser *ps); /* the word at hand; the one behind it is read */
bool ptx_at_mark(const PtxParser *ps, char mark);
bool ptx_take_mark(PtxParser *ps, char mark);
void ptx_expect_mark(PtxParser *ps, char mark);

/* ---- types and rows ---- */

const PtxType *ptx_type_named(const char *text, size_t len); /* NULL: none */
const PtxType *ptx_type(const char *name);
const PtxType *ptx_bits_type(int bits);
bool ptx_type_is_among(const PtxType *t, const char *list); /* "u32 s32", up to its end or a '/' */

typedef struct PtxRow {
    const char *name, *qualifiers, *types, *second, *operands;
    PtxEval *eval;
} PtxRow;

PtxParts ptx_take_apart(PtxWord w);
bool ptx_part_is(const PtxParts *parts, int i, const char *text, size_t len);
/* The place among choices, with such marks between them, of the one that is there, and is taken;
   -1: none. */
int ptx_choose(PtxParts *parts, const char *choices, char between);
/* x, 0 until then, becomes what the first part is, of those not taken, that the function knows. */
#define PTX_FIRST(parts, x, known)                                                                 \
    for (int i_ = 1; i_ < (parts)->n && !(x); i_++)                                                \
        if (!(parts)->taken[i_])                                                                   \
            (parts)->taken[i_] = ((x) = known((parts)->part[i_], (size_t)(parts)->len[i_])) != 0
const PtxType *ptx_take_type(PtxParts *parts); /* the first not taken; NULL: none */
bool ptx_all_taken(const PtxParts *parts);
/* Whether a list stands among the operands behind the word at hand. */
bool ptx_has_list_behind(const PtxParser *ps);
/* The row of the instruction at hand, its name in ps->parts, its operands next, and the types that
   the name has. NULL: told. */
const PtxRow *ptx_find_row(PtxParser *ps, const PtxType *types[PTX_TYPES_MAX]);
uint64_t ptx_qualifiers(const PtxParts *parts);

/* ---- registers and operands ---- */

/* Behind ".reg". */
void ptx_parse_declaration(PtxParser *ps);
/* The names of the innermost scope end with it. */
void ptx_close_scope(PtxParser *ps);
/* *reg: its number, where reg is not NULL. */
const PtxName *ptx_find_name(const PtxParser *ps, PtxWord w, int *reg);
/* "@p", "@!p"; false: none is there. */
bool ptx_parse_guard(PtxParser *ps, int *reg, bool *negated);
PtxSource ptx_parse_source(PtxParser *ps, const PtxType *t, bool wider);
/* may_sink: '_' stands for none. */
PtxDest ptx_parse_dest(PtxParser *ps, const PtxType *t, bool wider, bool may_sink);
/* What the instruction's row asks for, up to the ';'. False: told. */
bool ptx_parse_operands(PtxParser *ps, PtxInsn *in);
