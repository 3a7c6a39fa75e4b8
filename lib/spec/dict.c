/* Dicts: records of the type "dict", whose fields are named after the keys. */
#include <math.h>

#include "spec/argument.h"

/* ---- keys ---- */

/* What a name begins with that is no string's. */
enum { KEY_MARK = 1 };

static bool is_key(SpecValue v)
{
    if (v.kind == SV_TUPLE) {
        for (int i = 0; i < v.tuple->len; i++)
            if (!is_key(v.tuple->data[i])) return false;
        return true;
    }
    return sv_is_number(v) || v.kind == SV_STR || v.kind == SV_NONE || v.kind == SV_TYPE;
}

/* The name of the field that holds what a dict has under a key: a string's own; of a number, a
   type, None and a tuple of keys, one that is no string of a program's. False: no key. */
static bool key_name(Spec *sp, SpecValue key, Str *name)
{
    if (key.kind == SV_STR) return *name = key.s, true;
    if (!is_key(key)) return false;
    if (key.kind == SV_BOOL) key = sv_int(key.b);
    if (key.kind == SV_FLOAT && fabs(key.f) < 0x1p53 && trunc(key.f) == key.f)
        key = sv_int((int64_t)key.f); /* 1, 1.0 and True are one key */
    Buf b = buf_make(sp->arena);
    buf_putc(&b, KEY_MARK);
    constant_print(sp, &b, key, true);
    return *name = intern_cstr(sp->names, buf_text(&b)), true;
}

const char *constant_key_text(Str name)
{
    return name + (name[0] == KEY_MARK);
}

int dict_find(Spec *sp, SpecValue dict, SpecValue key)
{
    Str name;
    return key_name(sp, weaken(key), &name) ? sv_find_field(dict.tuple, name) : -1;
}

/* ---- making one ---- */

SpecTuple *dict_new(Spec *sp, const SpecTuple *from, int more)
{
    const int n = from ? from->len : 0;
    SpecTuple *t = record_new(sp, "dict", n + more);
    t->keys = arena_array(sp->arena, SpecValue, n + more + 1);
    for (int i = 0; i < n; i++)
        t->names[i] = from->names[i], t->keys[i] = from->keys[i], t->data[i] = from->data[i];
    t->len = n;
    return t;
}

bool dict_put(Spec *sp, SpecTuple *t, SpecValue key, SpecValue v, Span at)
{
    Str name;
    key = weaken(key);
    if (sv_is_error(key) || sv_is_error(v)) return false;
    if (!key_name(sp, key, &name))
        return spec_fail(sp, at,
                         "a key of a dict is a string, a number, a type, None, or a "
                         "tuple of these, found %s",
                         spec_describe(sp, key));
    int i = sv_find_field(t, name);
    if (i < 0) t->names[i = t->len++] = name, t->keys[i] = key;
    t->data[i] = v;
    return true;
}

SpecValue dict_of(Spec *sp, const SpecTuple *from, int n, const SpecValue *pairs, Span at)
{
    SpecTuple *t = dict_new(sp, from, n);
    for (int i = 0; i < n; i++) {
        SpecValue *pair;
        const int parts = op_items(sp, pairs[i], &pair, at);
        if (parts >= 0 && parts != 2)
            return spec_error(sp, at, "a dict is made of pairs, found %s",
                              spec_describe(sp, pairs[i]));
        if (parts < 0 || !spec_step_items(sp, t->len, at) || !dict_put(sp, t, pair[0], pair[1], at))
            return sv_error();
    }
    return sv_tuple(SV_RECORD, t);
}

/* Its keys, its values, or pairs of both. */
static SpecValue parts_of(Spec *sp, const SpecTuple *t, char what)
{
    SpecTuple *list = tuple_new(sp, t->len);
    for (int i = 0; i < t->len; i++) {
        const SpecValue pair[] = {t->keys[i], t->data[i]};
        list->data[i] = what == 'k' ? pair[0] : what == 'v' ? pair[1] : constant_tuple(sp, 2, pair);
    }
    return sv_tuple(SV_LIST, list);
}

SpecValue dict_keys(Spec *sp, SpecValue dict)
{
    return parts_of(sp, dict.tuple, 'k');
}

/* dict(a dict or pairs, name=value, …) */
SpecValue builtin_dict(Spec *sp, const Call *c)
{
    const SpecValue fields = parts_of(sp, c->args[1].tuple, 'i');
    SpecValue from = c->args[0], *pairs;
    if (constant_is_dict(from)) from = parts_of(sp, from.tuple, 'i');
    const int n = op_items(sp, from, &pairs, c->at);
    from = n < 0 ? sv_error() : dict_of(sp, NULL, n, pairs, c->at);
    if (sv_is_error(from)) return from;
    return dict_of(sp, from.tuple, fields.tuple->len, fields.tuple->data, c->at);
}

/* ---- methods ---- */

SpecValue builtin_dict_get(Spec *sp, const Call *c)
{
    const int i = dict_find(sp, c->args[0], c->args[1]);
    return i < 0 ? c->args[2] : c->args[0].tuple->data[i];
}

/* keys(), values() and items(). */
SpecValue builtin_dict_items(Spec *sp, const Call *c)
{
    return parts_of(sp, c->args[0].tuple, c->builtin->name[0]);
}
