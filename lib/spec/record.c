/* A named tuple is a tuple whose items have names too, so that everything tuples do (unpacking,
   joins, loops) holds for it unchanged. An aggregate is the same, made by its __init__: that starts
   from fields without values, and every assignment to self.x gives a new self (place.c). What is
   here: reading the class, making one by a call, and finding members. `x._replace` is the class
   again, with the items of x as defaults. */
#include "spec/record.h"

#include <string.h>

#include "spec/argument.h"
#include "spec/kernel.h"

/* ---- classes ---- */

typedef struct Fields { VEC(Str) names; VEC(SpecValue) defaults; VEC(const Ast *) annotations; } Fields;

static SpecValue class_value(Spec *sp, RecordClass c, const Fields *fields)
{
    c.len = fields->names.len;
    c.fields = fields->names.data;
    c.defaults = fields->defaults.data;
    c.annotations = fields->annotations.data;
    return (SpecValue){.kind = SV_RECORD_CLASS,
                       .record_class = arena_copy(sp->arena, &c, sizeof c)};
}

static void add_field(Spec *sp, Fields *fields, Str name, SpecValue value, const Ast *annotation)
{
    vec_push(sp->arena, &fields->names, name);
    vec_push(sp->arena, &fields->defaults, value);
    vec_push(sp->arena, &fields->annotations, annotation);
}

/* What makes named tuples when it is called; all but the first when it is derived from, too. */
static const char *const makers[] = {"collections.namedtuple", "typing.NamedTuple",
                                     "typing_extensions.NamedTuple", NULL};

/* The fields are the annotated names of the body, after those of the base. */
static SpecValue class_of_body(Spec *sp, const RecordClass *c)
{
    const AstList *body = &c->body->class_.body;
    Fields fields = {0};
    for (int i = 0; c->base && i < c->base->len; i++)
        add_field(sp, &fields, c->base->fields[i], c->base->defaults[i], c->base->annotations[i]);
    for (int i = 0; i < body->len; i++) {
        const Ast *x = body->data[i];
        if (x->kind != AST_ANNASSIGN || x->annassign.target->kind != AST_NAME) continue;
        SpecValue value = sv_absent();
        if (x->annassign.value && c->kind != RECORD_NAMES)
            value = module_eval(sp, c->module, x->annassign.value);
        add_field(sp, &fields, x->annassign.target->name.id, value, x->annassign.annotation);
    }
    return class_value(sp, *c, &fields);
}

/* What the class is derived from, as far as it is known. */
static void read_bases(Spec *sp, RecordClass *c)
{
    const AstList *bases = &c->body->class_.args;
    for (int i = 0; i < bases->len; i++) {
        const Ast *x = bases->data[i];
        if (x->kind == AST_KEYWORD || x->kind == AST_STARRED) continue;
        SpecValue base = module_try(sp, c->module, x);
        if (module_is_host(base) && str_among(base.module->path, makers + 1))
            c->kind = RECORD_TUPLE;
        if (base.kind != SV_RECORD_CLASS) continue;
        c->base = base.record_class;
        c->kind = base.record_class->kind;
    }
}

SpecValue record_class_of(Spec *sp, SpecModule *m, const Ast *n)
{
    RecordClass c = {.kind = RECORD_NAMES,
                     .name = n->class_.name,
                     .at = n->class_.name_span,
                     .body = n,
                     .module = m};
    read_bases(sp, &c);
    static const char *const aggregates[] = {"aggregate", "_aggregate", "dataclass"};
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
        if (kernel_decorator(&n->class_.decorators, aggregates[i])) c.kind = RECORD_AGGREGATE;
    return class_of_body(sp, &c);
}

/* ---- namedtuple(…) ---- */

static void split_fields(Spec *sp, Str text, Fields *fields)
{
    static const char separators[] = " ,\t\n";
    for (const char *p = text + strspn(text, separators); *p; p += strspn(p, separators)) {
        size_t n = strcspn(p, separators);
        add_field(sp, fields, intern(sp->names, p, n), sv_absent(), NULL);
        p += n;
    }
}

/* "a b", ["a", "b"] or [("a", int), ("b", int)]. */
static bool read_fields(Spec *sp, SpecValue v, Fields *fields)
{
    if (v.kind == SV_STR) return split_fields(sp, v.s, fields), true;
    if (!sv_is_sequence(v)) return false;
    for (int i = 0; i < v.tuple->len; i++) {
        SpecValue x = v.tuple->data[i];
        if (sv_is_sequence(x) && x.tuple->len == 2) x = x.tuple->data[0];
        if (x.kind != SV_STR) return false;
        add_field(sp, fields, x.s, sv_absent(), NULL);
    }
    return true;
}

/* defaults=(…): those of the last fields. */
static bool read_defaults(SpecValue v, Fields *fields)
{
    if (v.kind == SV_NONE) return true;
    if (!sv_is_sequence(v) || v.tuple->len > fields->defaults.len) return false;
    int first = fields->defaults.len - v.tuple->len;
    for (int i = 0; i < v.tuple->len; i++) fields->defaults.data[first + i] = v.tuple->data[i];
    return true;
}

/* Of SimpleNamespace(a=1, b=2). */
static SpecValue fields_given(Spec *sp, const Args *args)
{
    SpecTuple *t = record_new(sp, "SimpleNamespace", args->len);
    for (int i = 0; i < args->len; i++) {
        t->names[i] = args->data[i].name;
        t->data[i] = args->data[i].value;
    }
    return sv_tuple(SV_RECORD, t);
}

SpecValue record_class_call(Spec *sp, Str path, const Args *args, Span at)
{
    const bool are_named = args->len && args->data[0].name; /* and so are those behind it */
    if (are_named && strcmp(path, "types.SimpleNamespace") == 0) return fields_given(sp, args);
    if (!str_among(path, makers)) return sv_absent();
    Fields fields = {0};
    bool ok = args->len >= 2 && !args->data[0].name && !args->data[1].name &&
              args->data[0].value.kind == SV_STR && read_fields(sp, args->data[1].value, &fields);
    for (int i = 2; i < args->len && ok; i++) {
        ok = args->data[i].name && strcmp(args->data[i].name, "defaults") == 0 &&
             read_defaults(args->data[i].value, &fields);
    }
    if (ok) return class_value(sp, (RecordClass){.name = args->data[0].value.s, .at = at}, &fields);
    return spec_error(
        sp, at, "a named tuple is made from its name, the names of its fields and 'defaults'");
}

/* ---- making one ---- */

static SpecTuple *new_record(Spec *sp, const RecordClass *c)
{
    SpecTuple *t = tuple_new(sp, c->len);
    t->names = c->fields;
    t->type_name = c->name;
    t->record_class = c;
    for (int i = 0; i < c->len; i++) t->data[i] = sv_absent();
    return t;
}

/* One of the class `made`, whose fields are bound as the parameters of a function are. */
static SpecValue bind_fields(Spec *sp, const RecordClass *c, const RecordClass *made,
                             const Args *args, Span at)
{
    SpecTuple *t = new_record(sp, made);
    const ParamKind kind = c->keywords_only ? PARAM_KEYWORD_ONLY : PARAM_POSITIONAL;
    AstList params = {0};
    for (int i = 0; i < c->len; i++) {
        Ast *param = ast_new(sp->arena, AST_PARAM, SPAN_NONE);
        param->param.kind = kind;
        param->param.name = c->fields[i];
        vec_push(sp->arena, &params, param);
    }
    Call call = {.name = c->name,
                 .method = c->keywords_only ? "_replace" : NULL,
                 .params = &params,
                 .defaults = c->defaults,
                 .defined = c->at,
                 .given = args,
                 .at = at};
    if (!bind_args(sp, &call)) return sv_error();
    t->data = call.args;
    for (int i = 0; i < c->len; i++) t->data[i] = record_item(sp, t, i, t->data[i], at);
    return sv_tuple(SV_RECORD, t);
}

/* What the class or one it is derived from says of a name: a function, or what it is set to. */
static const Ast *find_member(const RecordClass *c, const char *name, const RecordClass **owner)
{
    for (; c; c = c->base) {
        for (int i = 0; c->body && i < c->body->class_.body.len; i++) {
            const Ast *x = c->body->class_.body.data[i], *target = NULL;
            if (x->kind == AST_DEF && strcmp(x->def.name, name) == 0) return *owner = c, x;
            if (x->kind == AST_ASSIGN && x->assign.targets.len == 1)
                target = x->assign.targets.data[0];
            if (x->kind == AST_ANNASSIGN && x->annassign.value) target = x->annassign.target;
            if (!target || target->kind != AST_NAME || strcmp(target->name.id, name)) continue;
            *owner = c;
            return x->kind == AST_ASSIGN ? x->assign.value : x->annassign.value;
        }
    }
    return NULL;
}

/* Runs __init__ on a record whose fields have no values yet. */
static SpecValue construct(Spec *sp, const RecordClass *c, const Ast *init,
                           const RecordClass *owner, const Args *args, Span at)
{
    SpecFunc *fn = func_new(sp, init->def.name, init, owner->module, NULL);
    SpecValue self = call_constructor(sp, fn, sv_tuple(SV_RECORD, new_record(sp, c)), args, at);
    if (self.kind != SV_RECORD) return sv_error();
    for (int i = 0; i < self.tuple->len; i++) {
        SpecValue *field = &self.tuple->data[i];
        if (field->kind == SV_ABSENT) *field = c->defaults[i];
        if (field->kind != SV_ABSENT) continue;
        spec_error(sp, at, "'%s.__init__' gives no value to '%s'", c->name, c->fields[i]);
        return spec_note(sp, init->def.name_span, "defined here");
    }
    return self;
}

SpecValue record_call(Spec *sp, const RecordClass *c, const Args *args, Span at)
{
    const RecordClass *owner;
    const Ast *init = c->kind == RECORD_AGGREGATE ? find_member(c, "__init__", &owner) : NULL;
    if (c->kind == RECORD_NAMES) {
        spec_error(sp, at,
                   "the class '%s' cannot be made in a kernel: it is neither a named tuple nor an "
                   "aggregate",
                   c->name);
        return spec_note(sp, c->at, "defined here");
    }
    if (init && init->kind == AST_DEF) return construct(sp, c, init, owner, args, at);
    const SpecValue self = bind_fields(sp, c, c, args, at);
    const Ast *after = c->kind == RECORD_AGGREGATE ? find_member(c, "__post_init__", &owner) : NULL;
    if (!after || after->kind != AST_DEF || sv_is_error(self)) return self;
    const SpecFunc *fn = func_new(sp, after->def.name, after, owner->module, NULL);
    return call_constructor(sp, fn, self, &(Args){0}, at);
}

/* The class with a record's items for what is not given, by keyword alone. */
static RecordClass replacing(const SpecTuple *t)
{
    RecordClass c = *t->record_class;
    c.defaults = t->data;
    c.keywords_only = true;
    return c;
}

SpecValue builtin_aggregate_replace(Spec *sp, const Call *c)
{
    SpecValue x = c->args[0];
    if (x.kind != SV_RECORD || !x.tuple->record_class ||
        x.tuple->record_class->kind != RECORD_AGGREGATE)
        return arg_refuse(sp, c, 0, "an aggregate");
    const RecordClass fields = replacing(x.tuple);
    return bind_fields(sp, &fields, x.tuple->record_class, &c->extra, c->at);
}

bool record_is_tuple(SpecValue v)
{
    return v.tuple->record_class && v.tuple->record_class->kind == RECORD_TUPLE;
}

bool record_is_constexpr(const SpecTuple *t, int i)
{
    const RecordClass *c = t->record_class;
    return c && c->kind == RECORD_AGGREGATE &&
           kernel_is_constexpr(c->module ? c->module->file : NULL, c->annotations[i]);
}

SpecValue record_item(Spec *sp, const SpecTuple *t, int i, SpecValue v, Span at)
{
    if (!record_is_constexpr(t, i)) return v;
    v = weaken_all(sp, v);
    if (v.kind == SV_ERROR || sv_is_constant(v)) return v;
    return spec_error(sp, at, "'%s' of '%s' is tl.constexpr: it must be known at compile time, found %s",
                      t->names[i], t->type_name, spec_describe(sp, v));
}

SpecValue record_of_items(Spec *sp, const RecordClass *c, SpecValue tuple, Span at)
{
    SpecTuple *t = new_record(sp, c);
    if (tuple.tuple->len != c->len)
        return spec_error(sp, at, "'%s' has %d field%s, the tuple given for it %d", c->name, c->len,
                          c->len == 1 ? "" : "s", tuple.tuple->len);
    t->data = tuple.tuple->data;
    return sv_tuple(SV_RECORD, t);
}

/* ---- members ---- */

static SpecValue field_names(Spec *sp, const RecordClass *c)
{
    SpecTuple *t = tuple_new(sp, c->len);
    for (int i = 0; i < c->len; i++) t->data[i] = sv_str(c->fields[i]);
    return sv_tuple(SV_TUPLE, t);
}

static SpecValue replacer(Spec *sp, const SpecTuple *t)
{
    RecordClass c = replacing(t);
    c.kind = RECORD_TUPLE; /* of its fields alone */
    return (SpecValue){.kind = SV_RECORD_CLASS,
                       .record_class = arena_copy(sp->arena, &c, sizeof c)};
}

/* A function of the class, bound to x; a property's value. */
static SpecValue bind_method(Spec *sp, const Ast *def, const RecordClass *owner, SpecValue x,
                             Span at)
{
    SpecFunc *fn = func_new(sp, def->def.name, def, owner->module, NULL);
    SpecValue method = sv_func(fn);
    const AstList *decorators = &def->def.decorators;
    if (kernel_decorator(decorators, "staticmethod")) return method;
    if (kernel_decorator(decorators, "property") || kernel_decorator(decorators, "cached_property"))
        return spec_call(sp, method, 1, &x, at);
    fn->self = arena_copy(sp->arena, &x, sizeof x);
    return method;
}

SpecValue record_refuse_name(Spec *sp, SpecValue x, const char *what, Str name, Span at)
{
    const SpecTuple *t = x.tuple;
    spec_error_as(sp, DIAG_UNKNOWN_ATTRIBUTE, at, "%s has no %s'%s'", spec_describe(sp, x), what,
                  name);
    spec_suggest(sp, at, name, t->names ? nearest_word(name, t->names, t->len) : NULL);
    return sv_error();
}

SpecValue record_member(Spec *sp, SpecValue x, Str name, Span at)
{
    const SpecTuple *t = x.tuple;
    const RecordClass *c = t->record_class, *owner;
    int i = sv_find_field(t, name);
    if (i >= 0 && t->data[i].kind != SV_ABSENT) return t->data[i];
    if (i >= 0) {
        spec_error(sp, at, "'%s' of '%s' has no value yet", name, t->type_name);
        return spec_note(sp, c->at, "the class is defined here");
    }
    if (c && strcmp(name, "_replace") == 0) return replacer(sp, t);
    if (c && strcmp(name, "_fields") == 0) return field_names(sp, c);
    const Ast *member = c ? find_member(c, name, &owner) : NULL;
    if (member && member->kind == AST_DEF) return bind_method(sp, member, owner, x, at);
    if (member) return module_eval(sp, owner->module, member);
    return record_refuse_name(sp, x, "", name, at);
}

SpecValue record_class_member(Spec *sp, const RecordClass *c, Str name, Span at)
{
    const RecordClass *owner;
    if (strcmp(name, "_fields") == 0) return field_names(sp, c);
    if (strcmp(name, "__name__") == 0) return sv_str(c->name);
    const Ast *member = find_member(c, name, &owner);
    if (member && member->kind == AST_DEF)
        return sv_func(func_new(sp, name, member, owner->module, NULL));
    if (member) return module_eval(sp, owner->module, member);
    return spec_error(sp, at, "class '%s' has no '%s'", c->name, name);
}
