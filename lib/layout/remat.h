/* Giving a value in another layout: computed again, or converted, whichever is cheaper. */
#pragma once

#include "layout/access.h"

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
/* A cast whose result takes fewer bytes than what it is made of, which was not loaded so. */
bool remat_narrows(const Op *op);
