/* Decorators are read, never run: a dictionary of lambdas in @heuristics, a list of Config(…) calls in @autotune. The lambdas see the
   arguments as a record; what is not known yet is poison in it, and a lambda that touches it gives nothing. */
#include "spec/config.h"

#include <string.h>

#include "spec/constant.h"
#include "spec/eval.h"

/* The last name of a decorator: "jit" of @triton.jit(…). */
static const char *decorator_name(const Ast *d)
{
    if (d->kind == AST_CALL) d = d->call.callee;
    if (d->kind == AST_ATTRIBUTE) return d->attribute.name;
    return d->kind == AST_NAME ? d->name.id : "";
}

/* An argument of a call by keyword, or by position when position >= 0. */
static const Ast *argument(const Ast *call, const char *keyword, int position)
{
    if (call->kind != AST_CALL) return NULL;
    for (int i = 0; i < call->call.args.len; i++) {
        const Ast *x = call->call.args.data[i];
        if (x->kind == AST_KEYWORD ? x->keyword.name && strcmp(x->keyword.name, keyword) == 0 : i == position) {
            return x->kind == AST_KEYWORD ? x->keyword.value : x;
        }
    }
    return NULL;
}

static const Ast *find_entry(const Ast *dict, Str key)
{
    if (!dict || dict->kind != AST_DICT) return NULL;
    for (int i = 0; i < dict->dict.keys.len; i++) {
        const Ast *k = dict->dict.keys.data[i];
        if (k && k->kind == AST_STRING && k->string.value == key) return dict->dict.values.data[i];
    }
    return NULL;
}

/* A constant of the file, without a sound when it is none. */
static SpecValue quiet_eval(Spec *sp, SpecModule *m, const Ast *e)
{
    sp->dx->muted++;
    SpecValue v = module_eval(sp, m, e);
    sp->dx->muted--;
    return v;
}

bool config_heuristic(Spec *sp, const SpecFunc *kernel, Str param, SpecValue known, SpecValue *out)
{
    const AstList *decorators = &kernel->def->def.decorators;
    for (int i = 0; i < decorators->len; i++) {
        const Ast *d = decorators->data[i];
        if (strcmp(decorator_name(d), "heuristics") != 0) continue;
        const Ast *rule = find_entry(argument(d, "values", 0), param);
        if (!rule) continue;
        sp->dx->muted++;
        Frame f;
        frame_push_module(sp, &f, kernel->module);
        SpecValue fn = spec_eval(sp, rule);
        *out = sv_is_error(fn) ? fn : spec_call(sp, fn, 1, &known, rule->span);
        frame_pop(sp, &f);
        sp->dx->muted--;
        return sv_is_constant(*out) && out->kind != SV_ERROR && out->kind != SV_MODULE;
    }
    return false;
}

static bool known_value(SpecValue known, Str name, SpecValue *out)
{
    for (int i = 0; i < known.tuple->len; i++) {
        if (known.tuple->names[i] == name) return *out = known.tuple->data[i], out->kind != SV_ERROR;
    }
    return false;
}

static bool agrees(Spec *sp, SpecModule *m, const Ast *config, SpecValue known)
{
    const Ast *dict = argument(config, "kwargs", 0);
    if (!dict || dict->kind != AST_DICT) return false;
    for (int i = 0; i < dict->dict.keys.len; i++) {
        const Ast *k = dict->dict.keys.data[i];
        SpecValue want, have;
        if (!k || k->kind != AST_STRING || !known_value(known, k->string.value, &have)) return false;
        want = quiet_eval(sp, m, dict->dict.values.data[i]);
        if (!sv_is_constant(want) || !sv_is_constant(have) || !constant_is_equal(want, have)) return false;
    }
    return true;
}

static int option(Spec *sp, SpecModule *m, const Ast *config, const char *keyword, int position)
{
    const Ast *e = argument(config, keyword, position);
    SpecValue v = e ? quiet_eval(sp, m, e) : sv_none();
    return v.kind == SV_INT && v.i > 0 && v.i <= 64 ? (int)v.i : 0;
}

void config_launch(Spec *sp, const SpecFunc *kernel, SpecValue known, int *num_warps, int *num_stages)
{
    const AstList *decorators = &kernel->def->def.decorators;
    *num_warps = *num_stages = 0;
    for (int i = 0; i < decorators->len; i++) {
        if (strcmp(decorator_name(decorators->data[i]), "autotune") != 0) continue;
        const Ast *configs = argument(decorators->data[i], "configs", 0);
        if (!configs || configs->kind != AST_LIST) continue;
        for (int k = 0; k < configs->list.len; k++) {
            const Ast *c = configs->list.data[k];
            if (!agrees(sp, kernel->module, c, known)) continue;
            *num_warps = option(sp, kernel->module, c, "num_warps", 1);
            *num_stages = option(sp, kernel->module, c, "num_stages", 2);
            return;
        }
    }
}

void config_check(Spec *sp, const SpecFunc *kernel)
{
    static const char *const known[] = {"jit", "autotune", "heuristics"};
    const AstList *decorators = &kernel->def->def.decorators;
    for (int i = 0; i < decorators->len; i++) {
        const char *name = decorator_name(decorators->data[i]);
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= strcmp(known[k], name) == 0;
        if (!is_known) diag_warning(sp->dx, decorators->data[i]->span, "the decorator '%s' is ignored", name);
    }
}
