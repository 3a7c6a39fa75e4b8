/* Assignment to a part of a tuple, list or record: t[i] = v, r.name = v, l.append(v). */
#ifndef TKC_SPEC_PLACE_H
#define TKC_SPEC_PLACE_H

#include "spec/eval.h"

/* x[index] = v for a sequence x; the whole target is at `at`. */
void place_set_item(Spec *sp, SpecValue x, SpecValue index, SpecValue v, Span at);
/* x.name = v for a record x. */
void place_set_field(Spec *sp, SpecValue x, Str name, SpecValue v, Span at);
/* l.append(v), l.extend(items), l.insert(i, v) as a statement. False when the call is none of these
   on a list. */
bool place_call(Spec *sp, const Ast *call);

#endif
