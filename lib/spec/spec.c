/* The edge of specialization: a file, its kernels, one kernel made into IR; and the services that
   everything below it uses to report, to place ops in the source, and to stay within its
   budgets. */
#include "spec/spec.h"

#include "base/limit.h"
#include "ir/verify.h"
#include "spec/advice.h"
#include "spec/broadcast.h"
#include "spec/config.h"
#include "spec/kernel.h"
#include "spec/memory.h"
#include "spec/record.h"

static const SpecLimits defaults = {
    .steps = 1000000, .ops = 1000000, .length = 1000000, .nesting = 200, .depth = 100};
enum {
    STACK_BYTES = 3 << 20, /* of the eight of base/own_stack.c */
    MAX_CALL_NOTES = 8
};

/* ---- state ---- */

static SpecLimits limits_of(const SpecRequest *rq)
{
    SpecLimits l = rq ? rq->limits : (SpecLimits){0};
    if (l.steps <= 0) l.steps = defaults.steps;
    if (l.ops <= 0) l.ops = defaults.ops;
    if (l.length <= 0) l.length = defaults.length;
    if (l.nesting <= 0) l.nesting = defaults.nesting;
    if (l.depth <= 0) l.depth = defaults.depth;
    return l;
}

Spec spec_state(Program *p, Func *fn)
{
    if (!fn) {
        if (!p->scratch)
            p->scratch = ir_func_new(p->ir, "module", p->rq ? p->rq->machine : NULL, 4, 3);
        fn = p->scratch;
    }
    return (Spec){.arena = p->arena,
                  .ir = p->ir,
                  .names = p->ir->names,
                  .dx = p->dx,
                  .fn = fn,
                  .rq = p->rq,
                  .limits = p->limits,
                  .program = p,
                  .b = build_at_end(fn, fn->body),
                  .stack_base = __builtin_frame_address(0)};
}

SpecModule *spec_module(Ir *ir, Diags *dx, AstFile *file, const SpecRequest *rq)
{
    Program *p = arena_new(ir->arena, Program);
    *p = (Program){.arena = ir->arena, .ir = ir, .dx = dx, .rq = rq, .limits = limits_of(rq)};
    Map *maps[] = {&p->files, &p->namespaces, &p->std, &p->signatures, &p->loops, &p->entered};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], ir->arena);
    return module_for_file(p, file, false);
}

/* ---- one kernel ---- */

static bool is_kernel(SpecValue v)
{
    return v.kind == SV_FUNC && v.fn->def->kind == AST_DEF &&
           (v.fn->is_wrapped || kernel_is_jit(v.fn->def));
}

/* The kernel that a name of the file stands for: a definition, or what host code makes, as in
   kern = make(True). What leads to no kernel leaves a definition what it is. NULL: it is none, or
   after an error. */
static SpecFunc *bound_kernel(Spec *sp, SpecModule *m, Str name)
{
    const Global *all = map_get_ptr(&m->globals, name), *g = all;
    SpecValue v = sv_absent();
    while (g && !(kernel_is_jit(g->node) && !g->node->def.inside)) g = g->previous;
    if (g) diag_quietly(sp->dx, v = module_lookup(sp, m, name, SPAN_NONE));
    if (g && !is_kernel(v)) return func_new(sp, name, g->node, m, NULL);
    if (all) v = module_lookup(sp, m, name, SPAN_NONE); /* with the warnings */
    return is_kernel(v) ? v.fn : NULL;
}

/* False, after an error or a warning, where the kernel reads names of a host function around it. */
static bool has_its_names(Spec *sp, const SpecFunc *kernel, bool is_error)
{
    const Ast *n = spec_name_of_maker(sp, kernel);
    if (!n) return true;
    Diag *d = diag_report(sp->dx, is_error ? SEV_ERROR : SEV_WARNING,
                          is_error ? DIAG_UNKNOWN_NAME : DIAG_UNCHECKED, n->span,
                          "kernel '%s' reads '%s' of the function that makes it",
                          kernel->name, n->name.id);
    diag_note(sp->dx, d, SPAN_NONE,
              "ask for it by the name that the file gives to what that function returns");
    return false;
}

/* The kernel that is asked for now, with a state to work in. NULL after an error. */
static SpecFunc *open_kernel(Spec *sp, SpecModule *m, const SpecRequest *rq)
{
    Program *p = m->program;
    Str asked = rq->kernel ? intern_cstr(p->ir->names, rq->kernel) : NULL, name = asked;
    const int errors = p->dx->nerrors;
    p->rq = rq;
    p->limits = limits_of(rq);
    *sp = spec_state(p, NULL);
    const Ast *def = asked ? NULL : kernel_find(sp->dx, m->file, NULL);
    if (def) name = def->def.name;
    SpecFunc *bound = name ? bound_kernel(sp, m, name) : NULL;
    if (bound || p->dx->nerrors > errors) return bound;
    if (!def) def = kernel_find(sp->dx, m->file, asked);
    if (def && !def->def.inside && !def->def.is_method && !rq->is_for_all)
        spec_warning(sp, DIAG_UNREACHABLE, def->def.name_span,
                     "'%s' is defined under a condition that is false here", def->def.name);
    return def ? func_new(sp, def->def.name, def, m, NULL) : NULL;
}

const Ast *spec_definition(SpecModule *m, const SpecRequest *rq, const AstFile **file)
{
    Spec sp;
    const SpecFunc *fn = open_kernel(&sp, m, rq);
    if (fn) *file = fn->module->file;
    return fn ? fn->def : NULL;
}

static void check_result(Spec *sp, SpecValue v, const SpecFunc *kernel)
{
    if (v.kind == SV_NONE || v.kind == SV_ERROR) return;
    diag_warning(sp->dx, DIAG_UNUSED_VALUE, kernel->def->def.name_span,
                 "the value that kernel '%s' returns is dropped: %s", kernel->name,
                 spec_describe(sp, v));
}

Func *spec_kernel(SpecModule *m, const SpecRequest *rq)
{
    Program *p = m->program;
    int errors = p->dx->nerrors;
    Spec sp;
    SpecValue *values;
    SpecFunc *kernel = open_kernel(&sp, m, rq);
    if (!kernel || !has_its_names(&sp, kernel, true)) return NULL;
    Func *fn = bind_kernel(&sp, kernel, rq, &values);
    if (!fn) return NULL;
    DiagId stage = diags_enter(p->dx, DIAG_LANGUAGE);
    sp = spec_state(p, fn);
    check_result(&sp, call_entry(&sp, kernel, values), kernel);
    diags_enter(p->dx, stage);
    if (p->dx->nerrors > errors) return NULL;
    /* of what has no errors: a misspelt name leaves the right one unused */
    for (int i = 0; i < p->functions.len; i++) lint_function(&sp, p->functions.data[i]);
    lint_parameters(&sp, p->functions.data[0]);
    build_return(&sp.b);
    if (ir_verify(fn, p->dx)) return fn;
    diag_error_as(p->dx, DIAG_INTERNAL, SPAN_NONE,
                  "internal error: specialization made wrong IR of '%s'", fn->name);
    return NULL;
}

bool spec_ask(SpecModule *m, const SpecRequest *rq, bool is_error)
{
    Spec sp;
    SpecFunc *fn = open_kernel(&sp, m, rq);
    return fn && has_its_names(&sp, fn, is_error) && bind_is_complete(&sp, fn, rq, is_error);
}

bool spec_is_complete(SpecModule *m, const SpecRequest *rq)
{
    bool is_complete;
    diag_quietly(m->program->dx, is_complete = spec_ask(m, rq, false));
    return is_complete;
}

int spec_configs(SpecModule *m, const SpecRequest *rq, const char *const **texts, TkcTuning *tuning)
{
    Spec sp;
    SpecFunc *fn = open_kernel(&sp, m, rq);
    *texts = NULL;
    if (fn) config_tuning(&sp, fn, tuning);
    return fn ? config_texts(&sp, fn, texts) : 0;
}

/* ---- places ---- */

static bool is_std_frame(const Frame *f)
{
    return f->module && f->module->is_std;
}

bool spec_in_library(const Spec *sp)
{
    return sp->frame && is_std_frame(sp->frame);
}

/* Where an error is shown: the innermost place in the user's own files. */
static Span spec_place(const Spec *sp, Span at)
{
    const Frame *f = sp->frame;
    if (!f) return at;
    if (!at.source) at = f->stmt.source ? f->stmt : f->at;
    for (; f && is_std_frame(f) && f->caller; f = f->caller) at = f->at;
    return at;
}

void spec_at(Spec *sp, Span at)
{
    Frame *f = sp->frame;
    if (!at.source || !f) return;
    const Loc *last = f->loc;
    if (!last || last->source != at.source || last->begin != at.begin || last->end != at.end)
        f->loc = ir_loc(sp->ir, at, f->fn ? f->fn->name : "", f->call_loc);
    sp->b.loc = f->loc;
}

/* ---- reports ---- */

/* Of a function that calls itself one place tells it all. */
static bool is_same_place(const Frame *f, const Frame *caller)
{
    return f->at.source == caller->at.source && f->at.begin == caller->at.begin;
}

static void add_call_notes(Spec *sp, Diag *d)
{
    int n = 0;
    for (const Frame *f = sp->frame; f && f->caller && n < MAX_CALL_NOTES; f = f->caller) {
        if (is_std_frame(f)) {
            if (!is_std_frame(f->caller))
                diag_note(sp->dx, d, f->at, "in '%s' of the library", f->fn->name);
        } else if (f->at.source && !is_same_place(f, f->caller)) {
            diag_note(sp->dx, d, f->at, "called from here");
            n++;
        }
    }
}

SpecValue spec_report(Spec *sp, DiagId id, Span at, const char *text)
{
    sp->last_error = diag_error_as(sp->dx, id, spec_place(sp, at), "%s", text);
    if (sp->frame) sp->frame->failed = true;
    add_call_notes(sp, sp->last_error);
    return sv_error();
}

void spec_warn(Spec *sp, DiagId id, Span at, const char *text)
{
    add_call_notes(sp, diag_warning(sp->dx, id, spec_place(sp, at), "%s", text));
}

/* ---- budgets ---- */

static void look_at_clock(Program *p, long steps)
{
    enum { STEPS_A_LOOK = 4096 };
    p->work += steps;
    if (p->work < p->next_look) return;
    limit_poll();
    p->next_look = p->work + STEPS_A_LOOK;
}

/* A long value is as much work as many small ones; the number bounds what 10^6 steps take to
   seconds and a gigabyte. */
bool spec_step_items(Spec *sp, long items, Span at)
{
    enum { ITEMS_A_STEP = 32 };
    if (items < ITEMS_A_STEP) return true;
    if (!sp->out_of_budget) sp->steps += items / ITEMS_A_STEP - 1;
    look_at_clock(sp->program, items / ITEMS_A_STEP);
    return spec_step(sp, at);
}

bool spec_fits(Spec *sp, __int128 n, const char *what, const char *items, Span at)
{
    if (n <= sp->limits.length) return true;
    spec_limit(sp, "max_length", at, "%s of more than %ld %s", what, sp->limits.length, items);
    return false;
}

bool spec_step(Spec *sp, Span at)
{
    if (sp->out_of_budget) return false;
    look_at_clock(sp->program, 1);
    if (sp->steps++ >= sp->limits.steps)
        return spec_end(sp, "max_steps", at, "this kernel takes more than %ld steps to specialize",
                        sp->limits.steps);
    if ((long)sp->fn->nvalues > sp->limits.ops)
        return spec_end(sp, "max_ops", at, "this kernel has more than %ld operations",
                        sp->limits.ops);
    return true;
}

bool enter_nested(Spec *sp, Span at)
{
    const char *here = __builtin_frame_address(0);
    bool deep = sp->nesting >= sp->limits.nesting ||
                (sp->stack_base && sp->stack_base - here > STACK_BYTES);
    if (deep && !sp->out_of_budget) {
        sp->out_of_budget = !sp->dx->muted; /* what is not said must come again */
        spec_error_as(sp, DIAG_LIMIT, at, "nested too deeply");
        if (sp->nesting >= sp->limits.nesting) diag_larger(sp->dx, sp->last_error, "max_nesting");
    }
    if (deep) return false;
    sp->nesting++;
    return true;
}

void leave_nested(Spec *sp)
{
    sp->nesting--;
}

/* ---- descriptions ---- */

static const char *describe_items(Spec *sp, const char *what, const SpecTuple *t)
{
    Buf b = buf_make(sp->arena);
    buf_printf(&b, "%s (", what);
    for (int i = 0; i < t->len && i < 4; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", spec_describe(sp, t->data[i]));
    buf_puts(&b, t->len > 4 ? ", …)" : ")");
    return buf_text(&b);
}

static void describe_constexprs(Spec *sp, Buf *b, const SpecTuple *t, const char *path,
                                const char **before)
{
    for (int i = 0; i < t->len; i++) {
        const SpecValue v = t->data[i];
        if (v.kind == SV_RECORD) {
            describe_constexprs(sp, b, v.tuple,
                                arena_printf(sp->arena, "%s%s.", path, t->names[i]), before);
        } else if (record_is_constexpr(t, i) && v.kind != SV_ERROR) {
            buf_printf(b, "%s%s%s=", *before, path, t->names[i]);
            constant_print(sp, b, v, true);
            *before = ", ";
        }
    }
}

/* With what is part of its type: a 'Tile' of size=16 */
static const char *describe_record(Spec *sp, const SpecTuple *t)
{
    Buf b = buf_make(sp->arena);
    const char *before = " of ";
    buf_printf(&b, "a '%s'", t->type_name);
    describe_constexprs(sp, &b, t, "", &before);
    return buf_text(&b);
}

const char *spec_describe(Spec *sp, SpecValue v)
{
    const SpecBlockPtr *p = sv_is_address(v) ? v.block_ptr : NULL;
    switch (v.kind) {
    case SV_BOOL: case SV_INT: case SV_FLOAT:
        return arena_printf(sp->arena, "%s %s", sv_class(v),
                            op_format(sp, v, 'r', NULL, SPAN_NONE));
    case SV_STR: return arena_printf(sp->arena, "the string '%s'", v.s);
    case SV_TYPE: return arena_printf(sp->arena, "the type %s", type_text(sp->arena, v.type));
    case SV_TUPLE: return describe_items(sp, "a tuple", v.tuple);
    case SV_LIST: return describe_items(sp, "a list", v.tuple);
    case SV_RECORD: return describe_record(sp, v.tuple);
    case SV_FUNC: return arena_printf(sp->arena, "function '%s'", v.fn->name);
    case SV_BUILTIN: return arena_printf(sp->arena, "function '%s'", v.builtin->name);
    case SV_METHOD: return arena_printf(sp->arena, "method '%s'", v.method->builtin->name);
    case SV_MODULE:
        return arena_printf(sp->arena,
                            v.module->kind == MODULE_HOST ? "the host value '%s'" : "module '%s'",
                            v.module->path);
    case SV_CLASS: return arena_printf(sp->arena, "class '%s'", v.class_name);
    case SV_RECORD_CLASS: return arena_printf(sp->arena, "class '%s'", v.record_class->name);
    case SV_VALUE:
        return arena_printf(sp->arena, "%s%s", memory_is_const(sp, v.v) ? "const " : "",
                            type_text(sp->arena, v.v->type));
    case SV_BLOCK_PTR: case SV_DESC:
        return arena_printf(sp->arena, "%s of %s%s", sv_description(v),
                            type_text(sp->arena, shape_type(sp, p->base->type->elem, &p->block)),
                            memory_is_const(sp, p->base) ? " at a constant pointer" : "");
    default: return sv_description(v);
    }
}
