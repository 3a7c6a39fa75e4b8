/* A kernel's arguments as host code sees them: what the functions of @heuristics are given. A record
   by name, whose values are poison where they are not known. Not all of a launch is in it: what it
   leaves out and what it gives beside the parameters is known to nobody when compiling. */
#pragma once

#include "spec/spec.h"

/* None yet, with room for n; and what adds one: is_given where every launch has to give it. */
SpecTuple *host_args_new(Spec *sp, int n);
void host_args_add(SpecTuple *t, Str name, SpecValue v, bool is_given);
bool host_args_are(SpecValue v);
/* name in args; poison after an error where that hangs on the launch. */
SpecValue host_args_contain(Spec *sp, SpecValue args, SpecValue key, Span at);
/* args[key] */
SpecValue host_args_item(Spec *sp, SpecValue args, SpecValue key, Span at);
/* Reports that all of them are asked for. */
SpecValue host_args_refuse_all(Spec *sp, Span at);
/* What a launch may give beside the kernel's own arguments, on one chip or another. */
bool host_args_is_option(Str name);
