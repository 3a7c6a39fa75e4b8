/* Decorators are read, never run: a dictionary of lambdas in @heuristics, an expression for a list
   of Config(…) in @autotune. The lambdas see the arguments as a record; what is not known yet is
   poison in it, and a lambda that touches it gives nothing. A Config is a record of its values by
   name, its warps and its stages. */
#include "spec/config.h"

#include <string.h>

#include "spec/kernel.h"
#include "spec/walk.h"

const Ast *config_argument(const Ast *call, const char *keyword, int position)
{
    if (call->kind != AST_CALL) return NULL;
    for (int i = 0; i < call->call.args.len; i++) {
        const Ast *x = call->call.args.data[i];
        if (x->kind == AST_KEYWORD ? x->keyword.name && strcmp(x->keyword.name, keyword) == 0
                                   : i == position) {
            return x->kind == AST_KEYWORD ? x->keyword.value : x;
        }
    }
    return NULL;
}

static const Ast *find_entry(const Ast *dict, Str key)
{
    if (!dict || dict->kind != AST_DICT) return NULL;
    for (int i = 0; i < dict->list.len; i++) {
        const Ast *k = dict->list.data[i]->pair.first;
        if (k && k->kind == AST_STRING && k->string.value == key) return dict->list.data[i]->pair.second;
    }
    return NULL;
}

static const Ast *next_of(const SpecFunc *kernel, const char *decorator, int *i)
{
    return kernel_next_decorator(&kernel->def->def.decorators, decorator, i);
}

const Ast *config_rule(const SpecFunc *kernel, Str param)
{
    const Ast *d, *rule = NULL;
    for (int i = 0; !rule && (d = next_of(kernel, "heuristics", &i));)
        rule = find_entry(config_argument(d, "values", 0), param);
    return rule;
}

static SpecValue call_rule(Spec *sp, const SpecFunc *kernel, const Ast *rule, SpecValue known)
{
    Frame f;
    const SpecValue fn = module_eval_of(sp, kernel, rule);
    frame_push_module(sp, &f, kernel->module, kernel->closure);
    SpecValue v = sv_is_error(fn) ? fn : spec_call(sp, fn, 1, &known, rule->span);
    frame_pop(sp, &f);
    return v;
}

SpecValue config_heuristic(Spec *sp, const SpecFunc *kernel, Str param, SpecValue known)
{
    SpecValue v;
    const Ast *rule = config_rule(kernel, param);
    if (!rule) return sv_absent();
    diag_quietly(sp->dx, v = call_rule(sp, kernel, rule, known));
    return sv_is_known(v) ? v : sv_absent();
}

/* ---- configurations ---- */

static const char *const config_type = "Config";

static SpecValue argument_value(const Args *args, const char *keyword, int position)
{
    for (int i = 0; i < args->len; i++) {
        const Arg *x = &args->data[i];
        if (x->name ? strcmp(x->name, keyword) == 0 : i == position) return x->value;
    }
    return sv_none();
}

SpecValue config_call(Spec *sp, Str path, const Args *args)
{
    static const char *const fields[] = {"kwargs", "num_warps", "num_stages"};
    const char *dot = strrchr(path, '.');
    if (strncmp(path, "triton.", 7) != 0 || !dot || strcmp(dot + 1, config_type) != 0)
        return sv_absent();
    SpecValue values[3];
    for (int i = 0; i < 3; i++) values[i] = argument_value(args, fields[i], i);
    return constant_record(sp, config_type, 3, fields, values);
}

typedef struct Configs { const SpecTuple **data; int len, cap; } Configs;

static void add_configs(Spec *sp, SpecValue v, Configs *out)
{
    if (sv_is_record(v, config_type)) vec_push(sp->arena, out, v.tuple);
    for (int i = 0; (v.kind == SV_LIST || v.kind == SV_TUPLE) && i < v.tuple->len; i++)
        add_configs(sp, v.tuple->data[i], out);
}

/* Those of a list in the text one by one, so that one that is not known does not hide the
   others. */
static void read_configs(Spec *sp, const SpecFunc *kernel, const Ast *e, Configs *out)
{
    if (!e || e->kind != AST_LIST) {
        if (e) add_configs(sp, module_try_of(sp, kernel, e), out);
        return;
    }
    for (int i = 0; i < e->list.len && sp->steps < sp->limits.steps; i++) {
        const Ast *x = e->list.data[i];
        if (x->kind == AST_STARRED) x = x->unary.operand;
        add_configs(sp, module_try_of(sp, kernel, x), out);
    }
}

/* No value of the configuration differs from what is known. */
static bool agrees(const SpecTuple *config, SpecValue known)
{
    SpecValue kwargs = config->data[0];
    if (kwargs.kind != SV_RECORD) return false;
    for (int i = 0; i < kwargs.tuple->len; i++) {
        SpecValue want = kwargs.tuple->data[i];
        if (!sv_is_known(want)) return false;
        int k = sv_find_field(known.tuple, kwargs.tuple->names[i]);
        SpecValue have = k < 0 ? sv_error() : known.tuple->data[k];
        if (sv_is_error(have)) continue;
        if (!sv_is_constant(have) || !constant_is_equal(want, have)) return false;
    }
    return true;
}

static int option(const SpecTuple *config, int i)
{
    SpecValue v = config->data[i];
    if (v.kind != SV_INT) return 0;
    return v.i < INT16_MIN ? INT16_MIN : v.i > INT16_MAX ? INT16_MAX : (int)v.i;
}

/* Those of all the kernel's lists, which are not the kernel's work: they share a budget of their
   own. NULL, or the list at which that was gone. */
static const Ast *all_configs(Spec *sp, const SpecFunc *kernel, Configs *out)
{
    const long steps = sp->steps;
    const Ast *d, *list = NULL;
    sp->steps = 0;
    for (int i = 0; sp->steps < sp->limits.steps && (d = next_of(kernel, "autotune", &i));) {
        list = config_argument(d, "configs", 0);
        read_configs(sp, kernel, list, out);
    }
    const bool is_gone = sp->steps >= sp->limits.steps;
    sp->steps = steps;
    return is_gone ? list : NULL;
}

bool config_choose(Spec *sp, const SpecFunc *kernel, SpecValue known, Config *out)
{
    Configs all = {0};
    *out = (Config){.unread = all_configs(sp, kernel, &all)};
    for (int i = 0; i < all.len; i++) {
        if (!agrees(all.data[i], known)) continue;
        out->values = all.data[i]->data[0];
        out->num_warps = option(all.data[i], 1);
        out->num_stages = option(all.data[i], 2);
        out->index = i;
        out->count = all.len;
        return true;
    }
    return false;
}

/* The list that nothing comes of. */
static const Ast *empty_list(Spec *sp, const SpecFunc *kernel)
{
    Configs all = {0};
    const Ast *d, *list = NULL;
    if (all_configs(sp, kernel, &all) || all.len) return NULL;
    for (int i = 0; !list && (d = next_of(kernel, "autotune", &i));)
        list = config_argument(d, "configs", 0);
    return list && list->kind == AST_LIST && !list->list.len ? NULL : list;
}

void config_note(Spec *sp, const SpecFunc *kernel, const Ast *rule, SpecValue known, Diag *to)
{
    const Ast *list = rule ? NULL : empty_list(sp, kernel), *from = rule ? rule : list;
    const char *what = rule ? "what its heuristic gives" : "the list of @autotune";
    const Diags before = *sp->dx;
    if (!to || !from) return;
    sp->dx->muted = 0;
    const SpecValue v = rule ? call_rule(sp, kernel, rule, known) : module_eval_of(sp, kernel, list);
    const Diag *first = before.last ? before.last->next : sp->dx->first;
    *sp->dx = before;
    if (before.last) before.last->next = NULL;
    if (first) diag_note(sp->dx, to, first->span, "%s is not known: %s", what, first->text);
    else if (list || !sv_is_error(v))
        diag_note(sp->dx, to, from->span, "%s is made by host code, which is not run", what);
}

static void print_config(Spec *sp, Buf *out, const SpecTuple *config)
{
    const SpecValue kwargs = config->data[0];
    for (int i = 0; kwargs.kind == SV_RECORD && i < kwargs.tuple->len; i++) {
        buf_printf(out, "%s%s=", out->len ? " " : "", kwargs.tuple->names[i]);
        constant_print(sp, out, kwargs.tuple->data[i], true);
    }
    for (int i = 1; i < config->len; i++)
        if (option(config, i))
            buf_printf(out, "%s%s=%d", out->len ? " " : "", config->names[i], option(config, i));
}

int config_texts(Spec *sp, const SpecFunc *kernel, const char *const **texts)
{
    Configs all = {0};
    all_configs(sp, kernel, &all);
    const char **out = arena_array(sp->arena, const char *, all.len + 1);
    for (int i = 0; i < all.len; i++) {
        Buf text = buf_make(sp->arena);
        print_config(sp, &text, all.data[i]);
        out[i] = buf_text(&text);
    }
    *texts = out;
    return all.len;
}

/* ---- what is said beside them ---- */

static void add_name(Buf *out, const char *name)
{
    if (strcmp(name, "") != 0) buf_printf(out, "%s%s", out->len ? "," : "", name);
}

/* False: not a list of texts that is known here. */
static bool add_names(SpecValue v, Buf *out)
{
    if (v.kind == SV_NONE) return true;
    if (v.kind != SV_LIST && v.kind != SV_TUPLE) return false;
    for (int i = 0; i < v.tuple->len; i++)
        if (v.tuple->data[i].kind != SV_STR) return false;
    for (int i = 0; i < v.tuple->len; i++) add_name(out, v.tuple->data[i].s);
    return true;
}

typedef struct Asked {
    Arena *arena;
    AstNames *names;
} Asked;

/* args["n"] and args.get("n") */
static bool visit_asked(const Ast *n, void *user)
{
    Asked *a = user;
    const bool is_get =
        n->kind == AST_CALL && n->call.args.len && !strcmp(kernel_last_name(n), "get");
    const Ast *key = is_get                      ? n->call.args.data[0]
                     : n->kind == AST_SUBSCRIPT ? n->subscript.index
                                                : NULL;
    if (key && key->kind == AST_STRING && !walk_has(a->names, key->string.value))
        vec_push(a->arena, a->names, key->string.value);
    return true;
}

void config_asked(Spec *sp, const SpecFunc *kernel, const Ast *rule, AstNames *out)
{
    Asked a = {sp->arena, out};
    const bool is_here = !rule || rule->kind == AST_LAMBDA;
    const SpecValue fn = is_here ? sv_none() : module_try_of(sp, kernel, rule);
    if (fn.kind == SV_FUNC && fn.fn->def) walk_list(&fn.fn->def->def.body, visit_asked, &a);
    else walk_ast(rule, visit_asked, &a);
}

/* The parameters that the functions of @heuristics ask for. */
static void add_asked(Spec *sp, const SpecFunc *kernel, const Ast *d, Buf *out)
{
    const Ast *dict = config_argument(d, "values", 0);
    AstNames names = {0};
    for (int i = 0; dict && dict->kind == AST_DICT && i < dict->list.len; i++)
        config_asked(sp, kernel, dict->list.data[i]->pair.second, &names);
    for (int i = 0; i < names.len; i++)
        if (walk_param(&kernel->def->def.params, names.data[i])) add_name(out, names.data[i]);
}

static const char *text_or_none(Buf *b)
{
    return b->len ? buf_text(b) : NULL;
}

void config_tuning(Spec *sp, const SpecFunc *kernel, TkcTuning *out)
{
    static const struct { const char *name; int position; } said[] = {
        {"key", 1},           {"reset_to_zero", 3}, {"restore_value", 4},
        {"prune_configs_by", 2}, {"pre_hook", 5},   {"post_hook", 6}};
    enum { LISTS = 3, SAID = sizeof said / sizeof *said };
    const Ast *d;
    Buf texts[LISTS], host = buf_make(sp->arena), asked = buf_make(sp->arena);
    for (int k = 0; k < LISTS; k++) texts[k] = buf_make(sp->arena);
    for (int i = 0; (d = next_of(kernel, "heuristics", &i));) add_asked(sp, kernel, d, &asked);
    for (int i = 0; (d = next_of(kernel, "autotune", &i));) {
        for (int k = 0; k < SAID; k++) {
            const Ast *e = config_argument(d, said[k].name, said[k].position);
            if (!e || e->kind == AST_NONE) continue;
            if (k >= LISTS || !add_names(module_try_of(sp, kernel, e), &texts[k]))
                add_name(&host, said[k].name);
        }
    }
    out->key = text_or_none(&texts[0]);
    out->reset_to_zero = text_or_none(&texts[1]);
    out->restore_value = text_or_none(&texts[2]);
    out->of_host = text_or_none(&host);
    out->asked = text_or_none(&asked);
}
