/* -MD: what an output was made of, as a rule for make and ninja. */
#ifndef TKC_SRC_DEPEND_H
#define TKC_SRC_DEPEND_H

#include "options.h"

typedef struct Depends {
    const char **paths;
    int n;
    Options *o;
} Depends;

/* Every file that a name of the artifact resolved to, once. */
void depend_add(Depends *d, const TkcArtifact *artifact);
/* "OUTPUT: FILE FILE …", where the options say. Without -MD, or where the output's exit code is not
   fine, nothing. Frees the list. An exit code. */
int depend_write(Depends *d, int code);

#endif
