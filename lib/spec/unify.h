/* Two operands brought to one type and one shape. */
#ifndef TKC_SPEC_UNIFY_H
#define TKC_SPEC_UNIFY_H

#include "spec/spec.h"

typedef enum UnifyRule {
    UNIFY_NUMBERS = 0,
    UNIFY_DIVISION = 1, /* the promotion of / // % */
    UNIFY_POINTERS = 2  /* two pointers of one type are fine */
} UnifyRule;

/* `what` names the operation in messages: "'+'", "maximum". False after an error. */
bool unify(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
           const char *what, Span at);
/* The element types only, shapes untouched. */
bool unify_types(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
                 const char *what, Span at);

#endif
