/* The functions of builtins.def that are written in C, declared from the table. */
#ifndef TKC_SPEC_BUILTIN_FNS_H
#define TKC_SPEC_BUILTIN_FNS_H

#include "spec/builtin.h"

#define OPERATION(name, where, fn, op, params) SpecValue fn(Spec *sp, const BuiltinCall *c);
#define STD_AS(name, where, function)
#include "spec/builtins.def"
#undef OPERATION
#undef STD_AS

#endif
