/* In: an error that was just reported, and what it was about. Out: a note that says what to write
   instead, with the text as a fix where there is one. Each is a guess at what was meant; none is
   made where the guess would often be wrong. */
#include "spec/advice.h"

#include <math.h>
#include <string.h>

#include "spec/broadcast.h"
#include "spec/config.h"
#include "spec/walk.h"

/* ---- names of other libraries ---- */

static const struct { const char *names, *advice; } elsewhere[] = {
    {"mean", "write tl.sum(x, axis) / N"},
    {"var", "write it with tl.sum: the mean of the squares of x - mean"},
    {"std", "write it with tl.sum and tl.sqrt: the root of the mean of the squares of x - mean"},
    {"pow power", "write x * x, or libdevice.pow(x, y)"},
    {"square", "write x * x"},
    {"round", "write libdevice.rint(x), or libdevice.round(x) for halves away from 0"},
    {"relu", "write tl.maximum(x, 0)"},
    {"gelu", "write it with tl.erf or libdevice.tanh"},
    {"silu", "write x * tl.sigmoid(x)"},
    {"concat concatenate", "write tl.cat(x, y), or tl.join"},
    {"stack", "write tl.join(x, y)"},
    {"matmul mm", "write tl.dot(x, y)"},
    {"einsum", "write tl.dot(x, y), or tl.sum of a product"},
    {"transpose", "write tl.trans(x)"},
    {"t", "write x.T"},
    {"ones", "write tl.full(shape, 1, dtype)"},
    {"ones_like", "write tl.full(x.shape, 1, x.dtype)"},
    {"empty", "write tl.zeros(shape, dtype)"},
    {"clip", "write tl.clamp(x, low, high)"},
    {"any", "write tl.max(x, axis) of an integer block"},
    {"all", "write tl.min(x, axis) of an integer block"},
    {"prod", "write tl.reduce(x, axis, f) with a function f that multiplies"},
    {"norm", "write tl.sqrt(tl.sum(x * x, axis))"},
    {"float", "write x.to(tl.float32)"},
    {"half", "write x.to(tl.float16)"},
    {"bfloat16", "write x.to(tl.bfloat16)"},
    {"double", "write x.to(tl.float64)"},
    {"long", "write x.to(tl.int64)"},
    {"int", "write x.to(tl.int32)"},
    {"bool", "write x != 0"},
    {"astype", "write x.to(dtype)"},
    {"size", "write x.shape[i]"},
    {"dim ndim", "write len(x.shape)"},
    {"inf", "write float(\"inf\")"},
    {"nan", "write float(\"nan\")"},
    {"clone copy detach contiguous", "blocks are values: leave it out"},
    {"cuda cpu", "blocks are where the kernel runs: leave it out"},
    {"syncthreads", "write tl.debug_barrier(); what a program's threads share needs none"},
    {"thread_id threadIdx", "a program works on whole blocks: write tl.arange(0, N)"},
    {"blockIdx", "write tl.program_id(0)"},
};

bool advise_name(Spec *sp, Str name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (!text_has_word(elsewhere[i].names, name)) continue;
        spec_note(sp, SPAN_NONE, "%s", elsewhere[i].advice);
        return true;
    }
    return false;
}

/* ---- host functions ---- */

/* Functions of numpy, torch and Python's math whose namesakes here have another name. */
static const struct { const char *theirs, *ours; } namesakes[] = {
    {"absolute", "tl.abs"},         {"fabs", "tl.abs"},       {"amax", "tl.max"},
    {"amin", "tl.min"},             {"matmul", "tl.dot"},     {"mm", "tl.dot"},
    {"bmm", "tl.dot"},              {"concatenate", "tl.cat"}, {"transpose", "tl.trans"},
    {"relu", "tl.maximum(x, 0.0)"},         {"fmax", "tl.maximum"},   {"fmin", "tl.minimum"},
    {"power", "libdevice.pow"},     {"arctan2", "libdevice.atan2"},
    {"float32", "tl.float32"},      {"ones", "tl.full(shape, 1, dtype)"},      {"full_like", "tl.full(x.shape, value, x.dtype)"},
    {"ones_like", "tl.full(x.shape, 1, x.dtype)"},       {"clip", "tl.clamp"},     {"rand", "tl.rand"},
    {"randn", "tl.randn"},          {"print", "tl.device_print"},
};

static const char *our_name(Spec *sp, const char *theirs)
{
    for (size_t i = 0; i < sizeof namesakes / sizeof *namesakes; i++)
        if (strcmp(namesakes[i].theirs, theirs) == 0) return namesakes[i].ours;
    return builtin_spelling(sp->arena, theirs);
}

/* "np.exp" of "np.exp(x)"; without a source when what is called is more than names and dots. */
static Span callee_of(Span call)
{
    Span at = call;
    if (!call.source) return SPAN_NONE;
    for (at.end = at.begin; at.end < call.end && call.source->text[at.end] != '('; at.end++) {
        char c = call.source->text[at.end];
        if (!char_is_word(c) && c != '.') return SPAN_NONE;
    }
    return at;
}

void advise_host_call(Spec *sp, Str path, Span call)
{
    const char *dot = strrchr(path, '.');
    bool is_array = strncmp(path, "numpy.", 6) == 0 || strncmp(path, "torch.", 6) == 0 ||
                    strncmp(path, "math.", 5) == 0 || strncmp(path, "cmath.", 6) == 0 ||
                    strncmp(path, "jax.numpy.", 10) == 0;
    const char *ours = dot && is_array ? our_name(sp, dot + 1) : NULL;
    if (!ours) return;
    spec_note(sp, SPAN_NONE,
              strncmp(ours, "libdevice.", 10) == 0
                  ? "write '%s'; 'from triton.language.extra import libdevice' at the top of the "
                    "file gives it"
                  : "write '%s'",
              ours);
    if (!strchr(ours, '(')) spec_fixit(sp, callee_of(call), "%s", ours);
}

/* ---- arguments ---- */

/* Reductions whose names other libraries give to functions of two values. */
static const struct { const char *name, *before, *between, *after; } pairwise[] = {
    {"max", "tl.maximum(", ", ", ")"},
    {"min", "tl.minimum(", ", ", ")"},
    {"sum", "", " + ", ""},
};

void advise_pair(Spec *sp, const Call *c, int axis)
{
    SpecValue v = c->args[axis];
    Span x = c->spans[0], y = c->spans[axis];
    bool is_method = x.begin == c->at.begin && x.end == c->at.end;
    if ((v.kind != SV_VALUE && v.kind != SV_FLOAT) || !x.source || !y.source) return;
    for (size_t i = 0; i < sizeof pairwise / sizeof *pairwise; i++) {
        if (strcmp(pairwise[i].name, c->builtin->name) == 0 && !strchr(span_text(sp->arena, y), '='))
            spec_note(sp, SPAN_NONE,
                      "it works along an axis; of two values, element by element, write "
                      "'%s%s%s%s%s'",
                      pairwise[i].before, is_method ? "x" : span_text(sp->arena, x), pairwise[i].between,
                      span_text(sp->arena, y), pairwise[i].after);
    }
}

void advise_missing(Spec *sp, const Builtin *b, Span first, int given)
{
    if (strcmp(b->name, "arange") != 0 || given != 1 || !first.source) return;
    spec_note(sp, SPAN_NONE, "its start is always given: tl.arange(0, %s)",
              span_text(sp->arena, first));
    first.end = first.begin;
    spec_fixit(sp, first, "0, ");
}

/* A '/' that is not half of '//'. */
static bool has_slash(Span at)
{
    const char *text = at.source->text;
    for (uint32_t i = at.begin; i < at.end; i++) {
        if (text[i] != '/') continue;
        if (i + 1 == at.end || text[i + 1] != '/') return true;
        i++;
    }
    return false;
}

/* Of what is computed from integers: the op that made a float of them. NULL: it was one before. */
static const Op *float_maker(const Value *v)
{
    const Op *op = v->def;
    if (!op || !type_is_float(v->type)) return NULL;
    switch (op->kind) {
    case OP_CAST: return type_is_int(op_arg(op, 0)->type) ? op : NULL;
    case OP_DIV: {
        const Op *x = float_maker(op_arg(op, 0));
        return x && x->kind == OP_CAST ? op : x;
    }
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_NEG: case OP_SPLAT: case OP_BROADCAST:
    case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS: break;
    default: return op->kind == OP_CONST ? NULL : op;
    }
    const Op *found = NULL;
    for (int i = 0; i < op->nargs; i++) {
        const Op *x = float_maker(op_arg(op, i));
        if (x && (!found || found->kind == OP_CAST)) found = x;
    }
    return found;
}

static const char division[] = "'/' gives a float; '//' divides integers, tl.cdiv rounds up";

static void note_maker(Spec *sp, const Op *op)
{
    const Span at = ir_span(op->loc);
    if (op->kind == OP_DIV) spec_note(sp, at, "it is a float from here on: %s", division);
    else spec_note(sp, at, "it is a float from here on");
}

/* The kernel's parameter of that name; its definition is that of the outermost frame. */
static const Ast *kernel_parameter(Spec *sp, const char *name)
{
    const Frame *f = sp->frame;
    while (f && f->caller) f = f->caller;
    if (!f || !f->fn || f->fn->def->kind != AST_DEF) return NULL;
    return walk_param(&f->fn->def->def.params, name);
}

/* The constexpr that the expression is. */
static const Ast *parameter_at(Spec *sp, Span at)
{
    return at.source ? kernel_parameter(sp, span_text(sp->arena, at)) : NULL;
}

static bool advise_number(Spec *sp, double x, Span at)
{
    const Ast *p = parameter_at(sp, at);
    const bool whole = x == floor(x) && fabs(x) < 1e15;
    if (p && whole)
        spec_note(sp, p->span, "'%s' is given as a float; give it as %.0f, without point or exponent",
                  p->param.name, x);
    else if (whole) spec_note(sp, SPAN_NONE, "int(x) makes an integer of it; %s", division);
    return whole;
}

static bool is_elsewhere(const Loc *loc, Span at)
{
    return loc && loc->source &&
           (loc->source != at.source || loc->end <= at.begin || loc->begin >= at.end);
}

bool advise_float(Spec *sp, SpecValue v, Span at)
{
    const Op *op = v.kind == SV_VALUE ? float_maker(v.v) : NULL;
    if (at.source && has_slash(at)) {
        spec_note(sp, SPAN_NONE, "%s", division);
    } else if (op && is_elsewhere(op->loc, at)) {
        note_maker(sp, op);
    } else {
        return v.kind == SV_FLOAT && advise_number(sp, v.f, at);
    }
    return true;
}

bool advise_same_float(Spec *sp, SpecValue v)
{
    const Op *op = v.kind == SV_VALUE ? float_maker(v.v) : NULL;
    const bool told = op && op == sp->told_float;
    sp->told_float = op;
    return told;
}

/* ---- constexprs ---- */

/* A run-time value where only a compile-time one will do. */
static void advise_constexpr(Spec *sp, const Value *v, Span at)
{
    bool is_parameter = sp->fn && v->region == sp->fn->body && v->name;
    const Ast *p = is_parameter ? kernel_parameter(sp, v->name) : NULL;
    if (!p) {
        const Span made = ir_span(v->name && v->def ? v->def->loc : NULL);
        if (made.source) spec_note(sp, made, "'%s' gets a run-time value here", v->name);
        else if (!v->def && !v->index && v->region->parent && v->region->parent->kind == OP_FOR)
            spec_note(sp, at, "what a loop over tl.static_range counts is compile-time");
        else spec_note(sp, at, "a parameter is compile-time when annotated tl.constexpr");
        return;
    }
    spec_note(sp, p->span,
              "'%s' is a run-time parameter; write '%s: tl.constexpr', and give it a value instead "
              "of a type",
              p->param.name, p->param.name);
}

void advise_integer(Spec *sp, SpecValue v, Span at)
{
    const Ast *p = v.kind == SV_VALUE ? NULL : parameter_at(sp, at);
    if (v.kind == SV_FLOAT || (v.kind == SV_VALUE && type_is_float(v.v->type))) advise_float(sp, v, at);
    else if (v.kind == SV_VALUE) advise_constexpr(sp, v.v, at);
    else if (p)
        spec_note(sp, p->span, "'%s' is given %s; it takes one integer", p->param.name,
                  spec_describe(sp, v));
}

/* ---- pointers ---- */

void advise_load(Spec *sp, Span at)
{
    spec_note(sp, SPAN_NONE, "a pointer is an address; tl.load gives what is there");
    if (!at.source) return;
    spec_fixit(sp, at, "tl.load(%s)", span_text(sp->arena, at));
}

void advise_pointer_first(Spec *sp, const Call *c)
{
    Span a = c->spans[0];
    for (int i = 1; i < c->params->len; i++) {
        Span b = c->spans[i];
        if (!sv_is_pointer(c->args[i])) continue;
        spec_note(sp, b, "this is the pointer; it comes first");
        if (a.source != b.source || a.end > b.begin || !a.source) return;
        const Span between = {a.source, a.end, b.begin};
        spec_fixit(sp, span_join(a, b), "%s%s%s", span_text(sp->arena, b),
                   span_text(sp->arena, between), span_text(sp->arena, a));
        return;
    }
}

void advise_pointer_attribute(Spec *sp, Str name)
{
    static const char *const of_tensors[] = {"size",  "stride",  "numel",      "shape", "ndim",
                                             "dim",   "strides", "contiguous", "device", "data_ptr",
                                             "nelement", NULL};
    if (str_among(name, of_tensors))
        spec_note(sp, SPAN_NONE,
                  "a kernel gets a tensor's address alone; pass extents and strides as parameters "
                  "of their own");
}

/* ---- loops ---- */

void advise_loop(Spec *sp, SpecValue v, Span at)
{
    if (v.kind == SV_VALUE && type_is_scalar(v.v->type) && type_is_int(v.v->type)) {
        spec_note(sp, SPAN_NONE, "a loop that runs so often is one over range");
        if (at.source) spec_fixit(sp, at, "range(%s)", span_text(sp->arena, at));
    } else if (v.kind == SV_VALUE && type_is_block(v.v->type)) {
        spec_note(sp, SPAN_NONE, "a block is worked on as a whole; tl.sum and tl.reduce combine its "
                                 "elements");
    }
}

/* "tl.zeros([16, 32], tl.float32)", "tl.cast(0, tl.int32)"; NULL: pointers. */
static const char *start_text(Spec *sp, const Type *t)
{
    if (type_is_pointer(t)) return NULL;
    const char *dtype = dtype_info(type_dtype(t))->name;
    if (t->kind != TY_BLOCK) return arena_printf(sp->arena, "tl.cast(0, tl.%s)", dtype);
    const Shape shape = shape_of(t);
    return arena_printf(sp->arena, "tl.zeros(%s, tl.%s)", shape_text(sp, &shape), dtype);
}

void advise_accumulator(Spec *sp, Str name, SpecValue before, SpecValue after)
{
    const char *start = after.kind == SV_VALUE ? start_text(sp, after.v->type) : NULL;
    if (!start) return;
    if (sv_is_pointer(before)) spec_note(sp, SPAN_NONE, "a pointer is moved by '%s += …'", name);
    else if (after.v->type->kind == TY_BLOCK)
        spec_note(sp, SPAN_NONE, "begin with a block, such as %s", start);
    else
        spec_note(sp, SPAN_NONE, "begin with that type, as in %s, or cast what the loop assigns",
                  start);
}

void advise_dot_accumulator(Spec *sp, const Type *wanted)
{
    spec_note(sp, SPAN_NONE, "begin with %s, and cast the result behind the last tl.dot",
              start_text(sp, wanted));
}

static const Type *type_of(SpecValue v)
{
    return v.kind == SV_VALUE ? v.v->type : NULL;
}

const char *advise_conflict(Spec *sp, SpecValue a, SpecValue b)
{
    const Type *x = type_of(a), *y = type_of(b);
    if (!x || !y || type_is_pointer(x) || type_is_pointer(y)) return NULL;
    if (type_is_block(x) != type_is_block(y)) {
        const Type *t = type_is_block(x) ? x : y;
        return arena_printf(sp->arena,
                            "make a block of the number, as in %s + …, or one number of the block, as "
                            "with tl.sum",
                            start_text(sp, t));
    }
    if (type_dtype(x) == type_dtype(y)) return NULL;
    return arena_printf(sp->arena, "cast one of them, as in .to(tl.%s)",
                        dtype_info(type_dtype(x))->name);
}

void advise_binding(Spec *sp, const Binding *b)
{
    const Type *t = b->state == BIND_MAYBE ? type_of(b->value) : NULL;
    const char *start = t ? start_text(sp, t) : NULL;
    if (start)
        spec_note(sp, SPAN_NONE, "give it a value on every path, such as '%s = %s' before", b->name,
                  start);
    else if (b->state == BIND_CONFLICT && b->advice) spec_note(sp, SPAN_NONE, "%s", b->advice);
}

/* ---- results ---- */

/* tl.max(v, 0), v.max(0), tl.max(v, axis=0) */
static bool has_axis(const Ast *call)
{
    const Ast *base = call->call.callee->attribute.value;
    const bool is_function = base->kind == AST_NAME && strcmp(base->name.id, "tl") == 0;
    return config_argument(call, "axis", is_function);
}

void advise_unpacking(Spec *sp, const Ast *value)
{
    if (value->kind != AST_CALL || value->call.callee->kind != AST_ATTRIBUTE) return;
    Str name = value->call.callee->attribute.name;
    if (strcmp(name, "max") != 0 && strcmp(name, "min") != 0) return;
    spec_note(sp, SPAN_NONE, "with return_indices=True '%s' gives the value and its index", name);
    Span end = value->span;
    if (!end.source || end.source->text[end.end - 1] != ')') return;
    end.begin = end.end = end.end - 1;
    const char *comma = value->call.args.len ? ", " : "";
    spec_fixit(sp, end, "%s%sreturn_indices=True", comma, has_axis(value) ? "" : "axis=0, ");
}
