/* A diagnostic as one line of JSON; the form is in docs/diagnostics.md. */
#ifndef TKC_SRC_JSON_H
#define TKC_SRC_JSON_H

#include <stdio.h>
#include "tkc/tkc.h"

/* flags: of the command, "" for none. */
void json_print(FILE *out, const TkcDiagnostic *d, const char *flags);

#endif
