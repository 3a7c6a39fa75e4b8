/* The functions of builtins.def that are written in C, declared from the table. */
#ifndef TKC_SPEC_BUILTIN_FNS_H
#define TKC_SPEC_BUILTIN_FNS_H

#include "spec/builtin.h"

#define BUILTIN(name, where, fn, params) SpecValue fn(Spec *sp, const BuiltinCall *c);
#define UNARY(name, where, op) BUILTIN(name, where, builtin_math, "x")
#define STD_AS(name, where, function)
#include "spec/builtins.def"
#undef BUILTIN
#undef UNARY
#undef STD_AS

#endif
