/* Giving a value in another layout: computed again, or converted, whichever is cheaper. */
#pragma once

#include "layout/access.h"

enum { REMAT_INDEX_WORDS = 8 }; /* of a thread */

typedef struct Remat {
    Func *fn;
    Arena *scratch;
    const Accesses *accesses; /* NULL: nothing is loaded again */
    Map ways; /* value id and layout id -> how it is had */
} Remat;

Remat remat_make(Func *fn, Arena *scratch, const Accesses *accesses);
/* v in layout `want`: v itself, or a value defined right behind it. Every value has a layout. */
Value *remat_value(Remat *r, Value *v, const Layout *want);
/* The same, but never computed again. */
Value *remat_convert(Remat *r, Value *v, const Layout *want);
/* Whether remat_value would convert v itself. */
bool remat_moves(Remat *r, Value *v, const Layout *want);
/* Whether remat_value makes v again by arithmetic alone, without moving anything between threads. */
bool remat_again(Remat *r, Value *v, const Layout *want);
/* What a loop loads to find factors of its products comes a turn before their copies, if a thread has
   few words of it: in layout l it would have more. */
bool remat_is_wide_index(const Remat *r, const Value *v, const Layout *l);
/* A cast whose result takes fewer bytes than what it is made of, which was not loaded so. */
bool remat_narrows(const Op *op);
