/* The IR's textual form; ir/parse.h reads it back.

   func @softmax(%y: *fp32 {divisibility = 16}, %n: int32) attributes {target = "sm_90a", num_warps = 4, num_stages = 3} {
     %0 = program_id {axis = 0} : int32
     %1 = for %a, %b, %c, %init (%i: int32, %acc: block<128xfp32>) { … yield %9 } {num_stages = 2} : block<128xfp32>
     return
   }
   Parameters print under their names, every other value as a number in order of printing. */
#ifndef TKC_IR_PRINT_H
#define TKC_IR_PRINT_H

#include "base/buf.h"
#include "tkc/ir.h"

void ir_print(Buf *out, const Func *fn);
/* With a note after each op that defines values: note(out, value, user) appends ` // …` text, for facts and layouts. */
typedef void (*IrNote)(Buf *out, const Value *v, void *user);
void ir_print_noted(Buf *out, const Func *fn, IrNote note, void *user);
/* One op on one line, regions elided; for messages. */
void ir_print_op(Buf *out, const Op *op);

#endif
