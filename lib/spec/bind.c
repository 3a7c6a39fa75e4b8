/* A parameter's value comes, in this order, from -D, from @autotune, from @heuristics, from its
   default; its type from -sig or its annotation. What then has neither is missing. A parameter with
   a value known now leaves the kernel's signature, unless it is an argument known to equal 1: that
   one stays, with its type, and has the known value in the body. */

#include <string.h>

#include "ir/machine.h"
#include "spec/advice.h"
#include "spec/annotation.h"
#include "spec/host_args.h"
#include "spec/block_ptr.h"
#include "spec/config.h"
#include "spec/record.h"
#include "spec/walk.h"

enum { DEFAULT_WARPS = 4, DEFAULT_STAGES = 3 };

typedef struct Slot {
    const Ast *p;
    Str name;
    Annotation a;
    const SpecSig *sig;
    SpecValue value;     /* known now, or ABSENT */
    bool is_default;     /* by nobody else: a launch leaves it out */
    ParamType type;      /* run time */
    int index;           /* among the function's parameters, or -1 */
} Slot;

typedef struct Binder {
    Spec *sp;
    const SpecFunc *kernel;
    const SpecRequest *rq;
    Slot *slots;
    int n;
    bool has_config;
    Config config;
    bool failed;
} Binder;

static const char *type_of(const Binder *b, const ParamType *t)
{
    return param_type_text(b->sp->arena, b->sp->ir->types, t);
}

static bool has_value(const Slot *s)
{
    return !sv_is_absent(s->value);
}

/* ---- what is given ---- */

static Slot *find_slot(Binder *b, Str name)
{
    for (int i = 0; i < b->n; i++)
        if (b->slots[i].name == name) return &b->slots[i];
    return NULL;
}

/* what: "value" or "type" */
static void unknown_name(Binder *b, const char *what, Str name)
{
    if (b->rq->is_for_all) return;
    const char *near = nearest_word(
        name, walk_param_names(b->sp->arena, &b->kernel->def->def.params), b->n);
    Diag *d = diag_error_as(b->sp->dx, DIAG_UNKNOWN_ARGUMENT, SPAN_NONE,
                            "a %s is given for '%s', but kernel '%s' has no such parameter", what,
                            name, b->kernel->name);
    diag_suggest(b->sp->dx, d, SPAN_NONE, name, near);
    diag_note(b->sp->dx, d, b->kernel->def->def.name_span, "the kernel is defined here");
    b->failed = true;
}

static void read_params(Binder *b)
{
    const AstList *params = &b->kernel->def->def.params;
    b->slots = arena_array(b->sp->arena, Slot, params->len + 1);
    for (int i = 0; i < params->len; i++) {
        Slot *s = &b->slots[b->n++];
        const Ast *p = params->data[i];
        *s = (Slot){.p = p, .name = p->param.name, .value = sv_absent(), .index = -1};
        if (p->param.kind == PARAM_VARARGS || p->param.kind == PARAM_KWARGS) {
            spec_error(b->sp, p->span, "a kernel's parameters are fixed: '*%s' cannot be one", s->name);
            b->failed = true;
        }
        if (!annotation_read(b->sp, b->kernel->module, p->param.annotation, &s->a)) b->failed = true;
    }
}

static void apply_defines(Binder *b)
{
    for (int i = 0; i < b->rq->defines.len; i++) {
        const SpecDefine *d = &b->rq->defines.data[i];
        Slot *s = find_slot(b, d->name);
        if (s) s->value = d->value;
        else unknown_name(b, "value", d->name);
    }
}

#define sig_conflict(b, s, ...)                                                                    \
    ((b)->failed = true, diag_error((b)->sp->dx, (s)->p->span, __VA_ARGS__))

static void apply_sig(Binder *b, Slot *s, const SpecSig *sig)
{
    s->sig = sig;
    if (s->a.is_constexpr && has_value(s)) {
        s->sig = NULL; /* the value says its type */
    } else if (s->a.is_constexpr) {
        Diag *d = sig_conflict(
            b, s, "'%s' is a constexpr: it takes a value, and the signature gives a type", s->name);
        diag_setting(b->sp->dx, d, "defines", "%s=<int>", s->name);
    } else if (has_value(s)) {
        Diag *d = sig_conflict(b, s, "'%s' is given a value, and a type by the signature", s->name);
        diag_note(b->sp->dx, d, SPAN_NONE,
                  "leave it out of the signature to compile with the value, or give no value");
    } else if (sig->is_tuple && s->a.is_text) {
        sig_conflict(b, s, "the signature gives a tuple for '%s', its annotation says %s", s->name,
                     type_of(b, &s->a.type));
    } else if (s->a.is_text && !tkc_same_type(&s->a.type, &sig->type)) {
        sig_conflict(b, s, "the signature says %s for '%s', its annotation says %s",
                     type_of(b, &sig->type), s->name, type_of(b, &s->a.type));
    } else {
        Padding padding = s->type.padding ? s->type.padding
                                          : s->a.type.padding; /* told before, or by the annotation */
        s->type = sig->type;
        if (!s->type.padding) s->type.padding = padding;
    }
}

/* "shape0", … and the strides "stride0", … but the last; NULL past them. */
static Str part_name(Binder *b, const Slot *s, bool is_shape, int d)
{
    if (d >= s->type.rank - !is_shape) return NULL;
    return intern_printf(b->sp->names, "%s%d", is_shape ? "shape" : "stride", d);
}

static void check_part(Binder *b, const Slot *s, const SpecSig *sig)
{
    for (int i = 0; i < 2 * s->type.rank; i++) {
        bool is_shape = i < s->type.rank;
        DType dt = is_shape ? DT_I32 : DT_I64;
        if (part_name(b, s, is_shape, i % s->type.rank) != sig->part) continue;
        if (tkc_same_type(&sig->type, &(ParamType){.dtype = dt})) return;
        sig_conflict(b, s, "the signature says %s for '%s.%s', which is %s", type_of(b, &sig->type),
                     sig->name, sig->part, dtype_info(dt)->name);
        return;
    }
    sig_conflict(b, s,
                 "the signature gives a type to a part of '%s', which is no descriptor with a '%s'",
                 sig->name, sig->part);
}

/* The parameters' own first: they say which are descriptors. */
static void apply_sigs(Binder *b)
{
    for (int i = 0; i < b->rq->sigs.len; i++) {
        const SpecSig *sig = &b->rq->sigs.data[i];
        Slot *s = find_slot(b, sig->name);
        if (!s) unknown_name(b, "type", sig->name);
        else if (!sig->part) apply_sig(b, s, sig);
    }
    for (int i = 0; i < b->n; i++) {
        Slot *s = &b->slots[i];
        if (s->type.dtype || has_value(s) || (s->sig && s->sig->is_tuple)) continue;
        s->type = s->a.type;
    }
    for (int i = 0; i < b->rq->arguments.len; i++) {
        Str name = b->rq->arguments.data[i].name;
        if (!find_slot(b, name)) unknown_name(b, "value", name);
    }
    for (int i = 0; i < b->rq->sigs.len; i++) {
        const SpecSig *sig = &b->rq->sigs.data[i];
        const Slot *s = sig->part ? find_slot(b, sig->name) : NULL;
        if (s) check_part(b, s, sig);
    }
}

static const SpecDefine *find_given(const SpecDefines *all, Str name)
{
    for (int i = 0; i < all->len; i++)
        if (all->data[i].name == name) return &all->data[i];
    return NULL;
}

/* A run-time array or descriptor. */
static SpecValue host_array(const Binder *b, const ParamType *t)
{
    TypeTable *types = b->sp->ir->types;
    const Type *type = param_type(types, t);
    if (t->rank) type = type_pointer(types, type_block(types, type->elem, t->rank, t->block, NULL));
    return (SpecValue){.kind = SV_ARRAY, .type = type};
}

/* An argument as host code sees it; poison where it is not known. */
static SpecValue host_argument(const Binder *b, const Slot *s)
{
    const SpecDefine *given = find_given(&b->rq->arguments, s->name);
    if (has_value(s)) return s->is_default ? sv_error() : s->value;
    if (s->type.stars || s->type.rank) return host_array(b, &s->type);
    return given ? given->value : sv_error();
}

/* Whether every launch gives it: what has a default may be left out, and what nobody defined may be
   another heuristic's or a configuration's. */
static bool is_always_given(const Binder *b, const Slot *s)
{
    return s->a.is_constexpr ? find_given(&b->rq->defines, s->name) != NULL : !s->p->param.default_;
}

/* The arguments by name as host code sees them, where it is asked for `wanted`, which is none of
   them, or NULL. */
static SpecValue known_args(const Binder *b, const Slot *wanted)
{
    SpecTuple *t = host_args_new(b->sp, b->n);
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i];
        if (s != wanted) host_args_add(t, s->name, host_argument(b, s), is_always_given(b, s));
    }
    return sv_tuple(SV_RECORD, t);
}

static bool is_tuple(const Slot *s)
{
    return s->sig && s->sig->is_tuple;
}

static bool is_open(const Slot *s)
{
    return !has_value(s) && !s->type.dtype && !is_tuple(s);
}

static void warn_unread(Binder *b)
{
    bool lacks_value = false;
    for (int i = 0; i < b->n; i++) lacks_value |= is_open(&b->slots[i]);
    if (lacks_value && b->config.unread)
        spec_warning(b->sp, DIAG_CONFIGS, b->config.unread->span,
                     "these configurations take more than %ld steps to evaluate: the rest of them is "
                     "not looked at",
                     b->sp->limits.steps);
}

/* What a tuning configuration says of parameters that nobody else gives. */
static void apply_config(Binder *b)
{
    SpecValue values;
    b->has_config = config_choose(b->sp, b->kernel, known_args(b, NULL), &b->config);
    values = b->config.values;
    if (!b->has_config) warn_unread(b);
    for (int i = 0; b->has_config && i < values.tuple->len; i++) {
        Slot *s = find_slot(b, values.tuple->names[i]);
        if (s && is_open(s)) s->value = values.tuple->data[i];
    }
}

static void apply_heuristics(Binder *b)
{
    for (int i = 0; i < b->n; i++) {
        Slot *s = &b->slots[i];
        if (is_open(s)) s->value = config_heuristic(b->sp, b->kernel, s->name, known_args(b, s));
    }
}

static void apply_defaults(Binder *b)
{
    for (int i = 0; i < b->n; i++) {
        Slot *s = &b->slots[i];
        if (!is_open(s) || !s->p->param.default_) continue;
        s->value = b->kernel->defaults ? b->kernel->defaults[i]
                                        : module_eval(b->sp, b->kernel->module, s->p->param.default_);
        s->is_default = true;
        b->failed |= sv_is_error(s->value);
    }
}

static void gather(Binder *b)
{
    read_params(b);
    apply_defines(b);
    apply_sigs(b);
    apply_config(b);
    apply_heuristics(b);
    apply_defaults(b);
}

/* ---- what is missing ---- */

/* Heuristics that would give what is missing, and what they lack themselves. */
static void note_heuristics(Binder *b, Diag *d)
{
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i], *asked = NULL;
        const Ast *rule = is_open(s) ? config_rule(b->kernel, s->name) : NULL;
        AstNames names = {0};
        config_asked(b->sp, b->kernel, rule, &names);
        for (int k = 0; k < names.len && !asked; k++) {
            const Slot *x = find_slot(b, names.data[k]);
            if (x && x != s && sv_is_error(host_argument(b, x))) asked = x;
        }
        if (asked)
            diag_note(b->sp->dx, d, rule->span,
                      "the heuristic of '%s' asks for '%s', whose value is not known when "
                      "compiling",
                      s->name, asked->name);
    }
}

/* Rules and lists that should have given what is missing. */
static void note_unknown(Binder *b, Diag *d)
{
    bool lacks = false;
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i];
        const Ast *rule = is_open(s) ? config_rule(b->kernel, s->name) : NULL;
        if (rule) config_note(b->sp, b->kernel, rule, known_args(b, s), d);
        else lacks |= is_open(s) && s->a.is_constexpr;
    }
    if (lacks) config_note(b->sp, b->kernel, NULL, sv_none(), d);
}

/* True when something is. */
static bool tell_missing(Binder *b, bool is_error)
{
    Arena *a = b->sp->arena;
    Buf values = buf_make(a), types = buf_make(a), sig = buf_make(a);
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i];
        Str name = s->name;
        if (is_open(s) && s->a.is_constexpr) {
            buf_printf(&values, "%s'%s'", values.len ? ", " : "the value of ", name);
        } else if (is_open(s)) {
            buf_printf(&types, "%s'%s'", types.len ? ", " : "the type of ", name);
        }
    }
    if (!values.len && !types.len) return false;
    const Usage *usage = guess_usage(a, b->kernel);
    const char *what = arena_printf(a, "%s%s%s", buf_text(&values),
                                    values.len && types.len ? " and " : "", buf_text(&types));
    Span at = b->kernel->def->def.name_span;
    Diag *d = is_error ? diag_error_as(b->sp->dx, DIAG_MISSING_TYPES, at, "kernel '%s' needs %s",
                                       b->kernel->name, what)
                       : diag_warning(b->sp->dx, DIAG_UNCHECKED, at,
                                      "kernel '%s' was not checked: it needs %s", b->kernel->name,
                                      what);
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i];
        if (is_open(s) && s->a.is_constexpr)
            diag_setting(b->sp->dx, d, "defines", "%s=<%s>", s->name, guess_value(usage, s->name));
        else if (is_open(s))
            buf_printf(&sig, "%s%s=%s", sig.len ? "," : "", s->name, guess_type(usage, s->name));
    }
    if (sig.len) diag_setting(b->sp->dx, d, "signature", "%s", buf_text(&sig));
    note_heuristics(b, d);
    note_unknown(b, d);
    tuning_check(b->sp, b->kernel); /* a name that is misspelt there leaves others without a value */
    return true;
}

/* ---- what was found ---- */

static void tell_taken(Binder *b, SpecTaken *out)
{
    Arena *a = b->sp->arena;
    *out = (SpecTaken){.values = arena_array(a, TkcDefine, b->n + 1), .config = -1};
    for (int i = 0; i < b->n; i++) {
        const Slot *s = &b->slots[i];
        if (!has_value(s) || !sv_is_constant(s->value)) continue;
        Buf text = buf_make(a);
        constant_print(b->sp, &text, s->value, true);
        out->values[out->nvalues++] = (TkcDefine){s->name, buf_text(&text)};
    }
    if (!b->has_config) return;
    out->config = b->config.index;
    out->nconfigs = b->config.count;
}

/* ---- the function ---- */

/* What every launch sees to, of a descriptor's pointer and strides. */
enum { DESCRIPTOR_ALIGN = 16 };

static int64_t divisibility_of(const Slot *s)
{
    int64_t known = s->sig && s->sig->divisibility > 0 ? s->sig->divisibility : s->a.divisibility,
            least = s->type.rank ? DESCRIPTOR_ALIGN : 1;
    return known > least ? known : least;
}

static bool number_of(Binder *b, const Slot *s, AnnotationNumber n, int64_t *value, int *param)
{
    *value = n.value;
    *param = -1;
    if (!n.name) return true;
    *value = -1;
    const Slot *other = find_slot(b, n.name);
    if (!other)
        return spec_fail(b->sp, s->p->param.annotation->span, "'%s' is not a parameter of this kernel",
                         n.name);
    SpecValue v = weaken(other->value);
    if (has_value(other) && v.kind == SV_INT && v.i >= 0 && v.i < INT32_MAX)
        return *value = (int64_t)v.i, true;
    *param = other->index;
    if (other->index >= 0 && !other->type.stars && !other->type.rank &&
        dtype_info(other->type.dtype)->kind != DK_FLOAT)
        return true;
    return spec_fail(b->sp, s->p->param.annotation->span,
                     "'%s' is used as an extent: it must be an integer", n.name);
}

/* Extents known now give row-major strides now; others are left to where they are used. */
static void set_extents(Binder *b, Func *fn, const Slot *s)
{
    if (s->index < 0) return;
    Param *p = &fn->params[s->index];
    int64_t stride = 1;
    p->is_const = s->a.is_const && p->type->kind == TY_POINTER;
    p->rank = s->a.rank;
    for (int d = p->rank - 1; d >= 0; d--) {
        bool ok = number_of(b, s, s->a.extent[d], &p->extent[d], &p->extent_param[d]) &&
                  number_of(b, s, s->a.stride[d], &p->stride[d], &p->stride_param[d]);
        if (!ok) b->failed = true;
        if (p->stride[d] < 0 && p->stride_param[d] < 0 && stride >= 0) p->stride[d] = stride;
        stride =
            p->extent[d] >= 0 && stride >= 0 && stride < INT32_MAX ? stride * p->extent[d] : -1;
    }
}

/* Those of the options were checked before. */
static bool check_config(const Binder *b)
{
    const int warps = b->config.num_warps, most = MACHINE_THREADS / MACHINE_LANES;
    if (b->rq->num_warps > 0 || (warps >= 0 && (warps & (warps - 1)) == 0 && warps <= most))
        return true;
    return spec_fail(
        b->sp, b->kernel->def->def.name_span,
        "the configuration of '%s' has num_warps=%d; it must be a power of two, at most %d",
        b->kernel->name, warps, most);
}

static Func *make_func(Binder *b)
{
    const SpecRequest *rq = b->rq;
    const int warps = rq->num_warps > 0 ? rq->num_warps : b->config.num_warps,
              stages = rq->num_stages > 0 ? rq->num_stages : b->config.num_stages;
    Func *fn = ir_func_new(b->sp->ir, b->kernel->name, rq->machine, warps ? warps : DEFAULT_WARPS,
                           stages > 0 ? stages : DEFAULT_STAGES);
    fn->fp_contract = rq->fp_contract;
    fn->debug = rq->debug;
    fn->loc = ir_loc(b->sp->ir, b->kernel->def->def.name_span, b->kernel->name, NULL);
    return fn;
}

static Builder body_builder(Func *fn)
{
    Builder at = build_at_end(fn, fn->body);
    at.loc = fn->loc;
    return at;
}

static Value *run_time_value(Func *fn, Str name, const Type *type, const SpecSig *sig,
                             int64_t divisibility)
{
    Value *v = ir_add_param(fn, name, type);
    fn->params[fn->nparams - 1].divisibility = divisibility;
    if (!sig || !sig->equal_one || !type_is_scalar(type) || !type_is_int(type)) return v;
    Builder at = body_builder(fn);
    return build_int(&at, type_dtype(type), 1);
}

static Value *slot_value(const Binder *b, Func *fn, Slot *s)
{
    s->index = fn->nparams;
    const Type *type = param_type(b->sp->ir->types, &s->type);
    return run_time_value(fn, s->name, type, s->sig, divisibility_of(s));
}

static Value *descriptor_part(Binder *b, Func *fn, const Slot *s, bool is_shape, int d,
                              int64_t least)
{
    Spec *sp = b->sp;
    const SpecSig *sig = NULL;
    Str part = part_name(b, s, is_shape, d);
    for (int i = 0; i < b->rq->sigs.len; i++) {
        const SpecSig *x = &b->rq->sigs.data[i];
        if (x->part == part && x->name == s->name) sig = x;
    }
    Str name = intern_printf(sp->names, "%s.%s", s->name, part);
    int64_t known = sig && sig->divisibility > least ? sig->divisibility : least;
    return run_time_value(fn, name, type_scalar(sp->ir->types, is_shape ? DT_I32 : DT_I64), sig,
                          known);
}

/* A descriptor is passed as its pointer x, then its shape x.shape0, … as int32 and all strides but
   the last, which is 1, as int64 x.stride0, …; no name of the language has a dot. */
static SpecValue descriptor(Binder *b, Func *fn, Slot *s)
{
    SpecBlockPtr *p = arena_new(b->sp->arena, SpecBlockPtr);
    int rank = p->block.rank = s->type.rank, bytes = dtype_info(s->type.dtype)->bytes;
    memcpy(p->block.dims, s->type.block, sizeof *s->type.block * (size_t)rank);
    if (!shape_check(b->sp, &p->block, s->p->span)) b->failed = true;
    p->padding = s->type.padding == PAD_NAN ? PAD_NAN : PAD_ZERO;
    p->base = slot_value(b, fn, s);
    for (int d = 0; d < rank; d++) p->shape[d] = descriptor_part(b, fn, s, true, d, 1);
    for (int d = 0; d < rank - 1; d++)
        p->strides[d] = descriptor_part(b, fn, s, false, d, DESCRIPTOR_ALIGN / bytes);
    Builder at = body_builder(fn);
    for (int d = 0; d < rank; d++) p->shape[d] = build_cast(&at, p->shape[d], DT_I64, NULL);
    p->strides[rank - 1] = build_int(&at, DT_I64, 1);
    return (SpecValue){.kind = SV_DESC, .block_ptr = p};
}

/* A tuple x is passed as its items x.0, x.1, …, without those whose values are known. */
static SpecValue tuple_value(Binder *b, Func *fn, const SpecSig *sig, const char *name)
{
    Spec *sp = b->sp;
    SpecTuple *t = tuple_new(sp, sig->nitems);
    for (int i = 0; i < t->len; i++) {
        const SpecSig *item = &sig->items[i];
        Str own = intern_printf(sp->names, "%s.%d", name, i);
        int64_t divisibility = item->divisibility > 0 ? item->divisibility : 1;
        if (item->is_tuple) t->data[i] = tuple_value(b, fn, item, own);
        else if (item->type.dtype)
            t->data[i] = sv_value(run_time_value(fn, own, param_type(sp->ir->types, &item->type), item,
                                                 divisibility));
        else t->data[i] = item->value;
    }
    return sv_tuple(SV_TUPLE, t);
}

/* x: Pair gives the items of a tuple the names of that class. */
static SpecValue tuple_slot(Binder *b, Func *fn, const Slot *s)
{
    SpecValue v = tuple_value(b, fn, s->sig, s->name), cls;
    const Ast *e = s->p->param.annotation;
    if (!e || (e->kind != AST_NAME && e->kind != AST_ATTRIBUTE)) return v;
    cls = module_try(b->sp, b->kernel->module, e);
    return cls.kind == SV_RECORD_CLASS ? record_of_items(b->sp, cls.record_class, v, s->p->span)
                                       : v;
}

static SpecValue value_of(Binder *b, Func *fn, Slot *s)
{
    if (has_value(s)) return s->value;
    if (is_tuple(s)) return tuple_slot(b, fn, s);
    return s->type.rank ? descriptor(b, fn, s) : sv_value(slot_value(b, fn, s));
}

Func *bind_kernel(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, SpecValue **values)
{
    Binder b = {.sp = sp, .kernel = kernel, .rq = rq};
    tuning_check(sp, kernel);
    gather(&b);
    if (b.failed || tell_missing(&b, true) || !check_config(&b)) return NULL;
    if (rq->taken) tell_taken(&b, rq->taken);
    Func *fn = make_func(&b);
    *values = arena_array(sp->arena, SpecValue, b.n + 1);
    for (int i = 0; i < b.n; i++) {
        (*values)[i] = value_of(&b, fn, &b.slots[i]);
        b.failed |= sv_is_error((*values)[i]);
    }
    for (int i = 0; i < b.n; i++) set_extents(&b, fn, &b.slots[i]);
    return b.failed ? NULL : fn;
}

bool bind_is_complete(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, bool is_error)
{
    Binder b = {.sp = sp, .kernel = kernel, .rq = rq};
    gather(&b);
    return !b.failed && !tell_missing(&b, is_error);
}
