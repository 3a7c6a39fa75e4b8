/* What a kernel's decorators say: heuristics that compute constexprs, tuning configurations with
   their launch options. */
#pragma once

#include "spec/eval.h"

/* An argument of a call by keyword or by position, or NULL. */
const Ast *config_argument(const Ast *call, const char *keyword, int position);
/* What @heuristics says of a parameter, or NULL. */
const Ast *config_rule(const SpecFunc *kernel, Str param);
/* The value @heuristics gives a parameter, from the arguments known so far (a record by name).
   ABSENT when there is no rule for it or the rule needs something that is not known. */
SpecValue config_heuristic(Spec *sp, const SpecFunc *kernel, Str param, SpecValue known);
/* Adds the arguments that a rule (or NULL), or the function that it names, asks for: args["n"]. */
void config_asked(Spec *sp, const SpecFunc *kernel, const Ast *rule, AstNames *out);
typedef struct Config {
    SpecValue values;          /* a record by name */
    int num_warps, num_stages; /* 0: not said */
    int index, count;          /* of how many it is which */
    const Ast *unread;         /* the list at which the budget for configurations was gone, or NULL */
} Config;
/* Adds to `to` why a rule of @heuristics gives no value; rule NULL: why @autotune gives no configuration. */
void config_note(Spec *sp, const SpecFunc *kernel, const Ast *rule, SpecValue known, Diag *to);
/* The first @autotune configuration that does not contradict the known values; out->unread is set
   in any case. */
bool config_choose(Spec *sp, const SpecFunc *kernel, SpecValue known, Config *out);
/* All of them, as texts: "BLOCK=64 num_warps=4". */
int config_texts(Spec *sp, const SpecFunc *kernel, const char *const **texts);
/* What @autotune says beside them, and what @heuristics ask for: names. */
void config_tuning(Spec *sp, const SpecFunc *kernel, TkcTuning *out);
/* triton.Config(…) as a value. ABSENT when the path is another's. */
SpecValue config_call(Spec *sp, Str path, const Args *args);
