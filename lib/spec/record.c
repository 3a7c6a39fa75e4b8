/* A named tuple is a tuple whose items have names too, so that everything tuples do (unpacking, joins, loops) holds for it unchanged.
   What is here: reading the class, and making one by a call. `x._replace` is the class again, with the items of x as defaults. */
#include "spec/record.h"

#include <string.h>

#include "base/vec.h"
#include "spec/constant.h"

/* ---- classes ---- */

typedef struct Fields { Str *data; int len, cap; } Fields;
typedef struct Defaults { SpecValue *data; int len, cap; } Defaults;

static SpecValue class_value(Spec *sp, Str name, const Fields *fields, const Defaults *defaults, Span at)
{
    RecordClass *c = arena_new(sp->arena, RecordClass);
    *c = (RecordClass){.name = name, .at = at, .len = fields->len, .fields = fields->data, .defaults = defaults->data};
    return (SpecValue){.kind = SV_RECORD_CLASS, .record_class = c};
}

static void add_field(Spec *sp, Fields *fields, Defaults *defaults, Str name, SpecValue value)
{
    vec_push(sp->arena, fields, name);
    vec_push(sp->arena, defaults, value);
}

static bool is_named_tuple(SpecValue v)
{
    if (v.kind != SV_MODULE || v.module->kind != MODULE_HOST) return false;
    return strcmp(v.module->path, "typing.NamedTuple") == 0 || strcmp(v.module->path, "typing_extensions.NamedTuple") == 0;
}

/* The fields are the annotated names of the body. */
static SpecValue class_of_body(Spec *sp, SpecModule *m, const Ast *n)
{
    Fields fields = {0};
    Defaults defaults = {0};
    for (int i = 0; i < n->class_.body.len; i++) {
        const Ast *x = n->class_.body.data[i];
        if (x->kind != AST_ANNASSIGN || x->annassign.target->kind != AST_NAME) continue;
        SpecValue value = {.kind = SV_ABSENT};
        if (x->annassign.value) value = module_eval(sp, m, x->annassign.value);
        add_field(sp, &fields, &defaults, x->annassign.target->name.id, value);
    }
    return class_value(sp, n->class_.name, &fields, &defaults, n->class_.name_span);
}

bool record_class_of(Spec *sp, SpecModule *m, const Ast *n, SpecValue *out)
{
    for (int i = 0; i < n->class_.args.len; i++) {
        const Ast *x = n->class_.args.data[i];
        if (x->kind == AST_KEYWORD || x->kind == AST_STARRED) continue;
        sp->dx->muted++;
        SpecValue base = module_eval(sp, m, x);
        sp->dx->muted--;
        if (is_named_tuple(base)) return *out = class_of_body(sp, m, n), true;
        if (base.kind != SV_RECORD_CLASS) continue;
        RecordClass *c = arena_new(sp->arena, RecordClass);
        *c = *base.record_class;
        c->name = n->class_.name;
        c->at = n->class_.name_span;
        return *out = (SpecValue){.kind = SV_RECORD_CLASS, .record_class = c}, true;
    }
    return false;
}

/* ---- namedtuple(…) ---- */

static bool is_separator(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

static void split_fields(Spec *sp, Str text, Fields *fields, Defaults *defaults)
{
    for (const char *p = text; *p;) {
        const char *begin = p;
        while (*p && !is_separator(*p)) p++;
        if (p > begin) add_field(sp, fields, defaults, intern(sp->names, begin, (size_t)(p - begin)), (SpecValue){.kind = SV_ABSENT});
        else p++;
    }
}

static bool is_list(SpecValue v)
{
    return v.kind == SV_TUPLE || v.kind == SV_LIST;
}

/* "a b", ["a", "b"] or [("a", int), ("b", int)]. */
static bool read_fields(Spec *sp, SpecValue v, Fields *fields, Defaults *defaults)
{
    if (v.kind == SV_STR) return split_fields(sp, v.s, fields, defaults), true;
    if (!is_list(v)) return false;
    for (int i = 0; i < v.tuple->len; i++) {
        SpecValue x = v.tuple->data[i];
        if (is_list(x) && x.tuple->len == 2) x = x.tuple->data[0];
        if (x.kind != SV_STR) return false;
        add_field(sp, fields, defaults, x.s, (SpecValue){.kind = SV_ABSENT});
    }
    return true;
}

/* defaults=(…): those of the last fields. */
static bool read_defaults(SpecValue v, Defaults *defaults)
{
    if (v.kind == SV_NONE) return true;
    if (!is_list(v) || v.tuple->len > defaults->len) return false;
    int first = defaults->len - v.tuple->len;
    for (int i = 0; i < v.tuple->len; i++) defaults->data[first + i] = v.tuple->data[i];
    return true;
}

static bool has_call_path(Str path)
{
    static const char *const paths[] = {"collections.namedtuple", "typing.NamedTuple", "typing_extensions.NamedTuple"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(paths[i], path) == 0) return true;
    }
    return false;
}

bool record_class_call(Spec *sp, Str path, const Args *args, Span at, SpecValue *out)
{
    if (!has_call_path(path)) return false;
    Fields fields = {0};
    Defaults defaults = {0};
    bool ok = args->len >= 2 && !args->data[0].name && !args->data[1].name && args->data[0].value.kind == SV_STR &&
              read_fields(sp, args->data[1].value, &fields, &defaults);
    for (int i = 2; i < args->len && ok; i++) {
        ok = args->data[i].name && strcmp(args->data[i].name, "defaults") == 0 && read_defaults(args->data[i].value, &defaults);
    }
    if (ok) *out = class_value(sp, args->data[0].value.s, &fields, &defaults, at);
    else *out = spec_error(sp, at, "a named tuple is made from its name, the names of its fields and 'defaults'");
    return true;
}

/* ---- making one ---- */

static int find_field(const RecordClass *c, Str name)
{
    for (int i = 0; i < c->len; i++) {
        if (c->fields[i] == name) return i;
    }
    return -1;
}

static bool refuse_field(Spec *sp, const RecordClass *c, Str name, Span at)
{
    spec_error(sp, at, "'%s' has no field '%s'", c->name, name);
    const char *near = nearest_word(name, c->fields, c->len);
    if (near) spec_note(sp, at, "did you mean '%s'?", near);
    spec_note(sp, c->at, "defined here");
    return false;
}

static bool bind_field(Spec *sp, const RecordClass *c, const Arg *a, SpecValue *values)
{
    int i = find_field(c, a->name);
    if (i < 0) return refuse_field(sp, c, a->name, a->span);
    if (values[i].kind != SV_ABSENT) {
        spec_error(sp, a->span, "'%s' gets two values for '%s'", c->name, a->name);
        return false;
    }
    values[i] = a->value;
    return true;
}

static bool fill_fields(Spec *sp, const RecordClass *c, SpecValue *values, Span at)
{
    Buf missing = buf_make(sp->arena);
    for (int i = 0; i < c->len; i++) {
        if (values[i].kind != SV_ABSENT) continue;
        values[i] = c->defaults[i];
        if (values[i].kind == SV_ABSENT) buf_printf(&missing, "%s'%s'", missing.len ? ", " : "", c->fields[i]);
        if (values[i].kind == SV_ERROR) return false;
    }
    if (!missing.len) return true;
    spec_error(sp, at, "'%s' is called without %s", c->name, buf_text(&missing));
    spec_note(sp, c->at, "defined here");
    return false;
}

static bool bind_fields(Spec *sp, const RecordClass *c, const Args *args, SpecValue *values, Span at)
{
    int given = 0, most = c->keywords_only ? 0 : c->len;
    while (given < args->len && !args->data[given].name) given++;
    if (given > most) {
        spec_error(sp, at, "'%s' takes %d positional argument%s, but %d are given", c->keywords_only ? "_replace" : c->name, most,
                   most == 1 ? "" : "s", given);
        spec_note(sp, c->at, "defined here");
        return false;
    }
    for (int i = 0; i < c->len; i++) values[i] = i < given ? args->data[i].value : (SpecValue){.kind = SV_ABSENT};
    for (int i = given; i < args->len; i++) {
        if (!bind_field(sp, c, &args->data[i], values)) return false;
    }
    return fill_fields(sp, c, values, at);
}

SpecValue record_call(Spec *sp, const RecordClass *c, const Args *args, Span at)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    *t = (SpecTuple){.len = c->len, .names = c->fields, .type_name = c->name};
    t->data = arena_array(sp->arena, SpecValue, c->len + 1);
    if (!bind_fields(sp, c, args, t->data, at)) return sv_error();
    t->record_class = c;
    return (SpecValue){.kind = SV_RECORD, .tuple = t};
}

/* ---- members ---- */

static SpecValue field_names(Spec *sp, const RecordClass *c)
{
    SpecValue *names = arena_array(sp->arena, SpecValue, c->len + 1);
    for (int i = 0; i < c->len; i++) names[i] = sv_str(c->fields[i]);
    return constant_tuple(sp, c->len, names);
}

static SpecValue replacer(Spec *sp, const SpecTuple *t)
{
    RecordClass *c = arena_new(sp->arena, RecordClass);
    *c = *t->record_class;
    c->defaults = t->data;
    c->keywords_only = true;
    return (SpecValue){.kind = SV_RECORD_CLASS, .record_class = c};
}

SpecValue record_member(Spec *sp, SpecValue x, Str name, Span at)
{
    const SpecTuple *t = x.tuple;
    for (int i = 0; i < t->len; i++) {
        if (t->names && t->names[i] == name) return t->data[i];
    }
    if (t->record_class && strcmp(name, "_replace") == 0) return replacer(sp, t);
    if (t->record_class && strcmp(name, "_fields") == 0) return field_names(sp, t->record_class);
    spec_error(sp, at, "%s has no '%s'", spec_describe(sp, x), name);
    const char *near = t->names ? nearest_word(name, t->names, t->len) : NULL;
    if (near) spec_note(sp, at, "did you mean '%s'?", near);
    return sv_error();
}

SpecValue record_class_member(Spec *sp, const RecordClass *c, Str name, Span at)
{
    if (strcmp(name, "_fields") == 0) return field_names(sp, c);
    if (strcmp(name, "__name__") == 0) return sv_str(c->name);
    return spec_error(sp, at, "class '%s' has no '%s'", c->name, name);
}
