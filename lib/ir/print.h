/* The IR's textual form; ir/parse.h reads it back.

   func @scale(%x: *fp32 {divisibility = 16, extent = [%n], stride = [1]}, %n: int32)
       attributes {target = "sm_90a", num_warps = 4, num_stages = 3} {
     %0 = program_id {axis = 0} : int32
     %1 = const 0.5 : block<128xfp32>
     %2 = for %0, %n, %0, %1 (%3: int32, %4: block<128xfp32>) {
       %5 = add %4, %1 : block<128xfp32>
       yield %5
     } {num_stages = 2} : block<128xfp32>
     return
   }
   An operation is: results, name, operands, region arguments, regions (an `if` has `else`, a
   `while` has `do` before its second one), attributes, result types; a constant has its value for
   operand. Layouts have names, given in lines before the function, `#0 = #l<128; …>`, and used as in
   `block<128xfp32, #0>`; a name holds until it is given again, and a layout may also stand in a
   type in full. `//` begins a comment. Parameters print under their names, every other value as a number
   in order of printing. */
#pragma once

#include "base/buf.h"
#include "tkc/ir.h"

void ir_print(Buf *out, const Func *fn);
/* With notes, for facts and layouts: note(out, value, user) is called at the end of the line that
   defines a value (op result, region argument; parameters on lines of their own at the top of the
   body) and appends ` // …` text, or nothing. */
typedef void (*IrNote)(Buf *out, const Value *v, void *user);
void ir_print_noted(Buf *out, const Func *fn, IrNote note, void *user);
/* One op on one line, regions elided; for messages. */
void ir_print_op(Buf *out, const Op *op);
/* A scalar as in `const`: -3, true, 0.1 (the shortest that reads back to the same bits), inf,
   nan(0x7fc00000). */
void ir_print_number(Buf *out, DType dt, uint64_t bits);
