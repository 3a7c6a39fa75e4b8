/* A diagnostic as one line of JSON; the form is in docs/diagnostics.md. */
#ifndef TKC_SRC_JSON_H
#define TKC_SRC_JSON_H

#include <stdio.h>
#include "tkc/tkc.h"

/* flags: of the command, "" for none. ms: how long what it tells of took, below 0 for no time. */
void json_print(FILE *out, const TkcDiagnostic *d, const char *flags, double ms);

#endif
