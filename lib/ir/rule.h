/* What an op's operands, attributes and results have to be, said once for who makes ops and who
   checks them: the signature of its row in ops.def, and a rule of its own for what that cannot
   say. */
#pragma once

#include "ir/ir.h"

/* What is wrong with the op, in words; NULL: nothing. It may have no results yet; else it has as
   many as its row says. */
const char *rule_problem(Ir *ir, Arena *scratch, const Op *op);
/* What a text of that op may be, with blanks between; NULL: anything. */
const char *rule_words(OpKind kind, AttrKey key);
/* The type of a result of an op that has no problem, with the layout that follows from operands;
   NULL: only the op's maker can say. */
const Type *rule_result(Ir *ir, const Op *op, int i);
