/* The functions of builtins.def that are written in C, declared from the table. */
#ifndef TKC_SPEC_BUILTIN_FNS_H
#define TKC_SPEC_BUILTIN_FNS_H

#include "spec/builtin.h"

#define BUILTIN(name, where, fn, params) SpecValue fn(Spec *sp, const BuiltinCall *c);
#define STD(name, where, function, params)
#include "spec/builtins.def"
#undef BUILTIN
#undef STD

#endif
