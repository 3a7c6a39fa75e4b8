/* How the elements of an inline_asm op travel in PTX registers: what its checks, the lowering and the
   interpreter agree on. Not installed; promises source only.

   One run of the text is an instance: it takes `pack` elements of each operand and gives as many of
   each result. An element of 32 bits or more has a register of its own; narrower ones share a
   register, as many as fit into 32 bits but at most `pack`, the first in the lowest bits. Registers
   are numbered $0, $1, … in the order of the constraints: outputs, then inputs. */
#ifndef TKC_INLINE_ASM_H
#define TKC_INLINE_ASM_H

#include <stddef.h>
#include "tkc/ir.h"

enum { ASM_MAX_REGISTERS = 256, ASM_MAX_PACK = 16 };

typedef struct AsmRegister {
    char letter;    /* of its constraint: b h r l f d */
    uint8_t bits;   /* of the register: 1, 16, 32 or 64 */
    uint8_t width;  /* of an element */
    uint8_t count;  /* elements in it */
    int16_t value;  /* which result, or operand, they are of */
    int16_t first;  /* number of the first in the instance */
    int16_t tied;   /* input: the output whose register it is; -1: none */
} AsmRegister;

typedef struct AsmRegisters {
    int noutputs, ninputs, pack;
    AsmRegister r[ASM_MAX_REGISTERS]; /* outputs, then inputs */
} AsmRegisters;

/* What is at fault. */
typedef enum AsmFault { ASM_FINE, ASM_TEXT, ASM_CONSTRAINTS, ASM_PACK } AsmFault;

/* The registers of an inline_asm op; else what is wrong, told in `problem`. */
AsmFault tkc_asm_registers(const Op *op, AsmRegisters *out, char *problem, size_t size);

#endif
