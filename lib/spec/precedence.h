/* Warnings of '&' and '|' that take an operand of a comparison. */
#ifndef TKC_SPEC_PRECEDENCE_H
#define TKC_SPEC_PRECEDENCE_H

#include "spec/spec.h"

/* An operand of a comparison, whose value is v, joins an int1 with a number. */
bool precedence_is_mixed(const Ast *operand, SpecValue v);
/* Warns of a comparison with an operand that does. */
void precedence_warn(Spec *sp, const Ast *compare);

#endif
