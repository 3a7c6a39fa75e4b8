/* A name of a file that is bound more than once: what each binding is worth beside the others. */
#ifndef TKC_SPEC_REBIND_H
#define TKC_SPEC_REBIND_H

#include "spec/module.h"

/* The last binding leads nowhere that is known: `earlier`, a known value, may stand for it. */
bool rebind_gives_way(const Global *g, SpecValue earlier);
/* v is what the last binding gives, a known value, and `earlier` what the one before does. The same
   v, after a warning where a condition decides between them; an error for data. */
SpecValue rebind_choose(Spec *sp, const Global *g, SpecValue v, SpecValue earlier, Span at);
/* The host value in the expression that an operator or an argument needs, or NULL. */
SpecModule *rebind_host_part(Spec *sp, SpecModule *m, const Ast *e);
/* Reports the use of a name whose value is computed from that host value. */
SpecValue rebind_refuse_host(Spec *sp, const Global *g, const SpecModule *host, Span at);

#endif
