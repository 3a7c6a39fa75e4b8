/* A layout for blocks in which the elements of several smaller ones meet. */
#pragma once

#include "ir/ir.h"

/* v is a block that no memory op has, made by arithmetic from smaller ones that are broadcast along
   different dims (the rows of one and those of another), and reduced along one dim. NULL: it is
   not, or anything else is done with it. */
const Layout *joined_layout(Arena *scratch, const Func *fn, const Value *v);
