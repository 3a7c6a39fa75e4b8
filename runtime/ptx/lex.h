/* Words of PTX. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum PtxWordKind {
    PTXW_END,
    PTXW_NAME, /* an instruction with all its dots, a register, a label: add.rn.f32, %ctaid.x, t0 */
    PTXW_OPERAND, /* $2: number */
    PTXW_INT,     /* number, its 64 bits */
    PTXW_FLOAT,   /* number: its bits as fp64; as fp32 where `single` */
    PTXW_MARK,    /* one character: text[0] */
    PTXW_BAD      /* it begins as a number and is none */
} PtxWordKind;

typedef struct PtxWord {
    PtxWordKind kind;
    const char *text;
    int len;
    bool single;
    uint64_t number;
} PtxWord;

/* The word at *p behind blanks and comments; *p moves behind it. */
PtxWord ptx_word(const char **p);
bool ptx_word_is(PtxWord w, const char *text);
bool ptx_same_word(PtxWord a, PtxWord b);
