/* A function's bindings are an array in order of first sight, with a map from names to places.
   Control flow copies and restores the array: what a branch assigned is compared place by place
   with what the other branch assigned. */
#include "spec/scope.h"

#include <string.h>

Scope *scope_new(Arena *a, Scope *outer)
{
    Scope *s = arena_new(a, Scope);
    s->arena = a;
    s->outer = outer;
    map_init(&s->index, a);
    return s;
}

Binding *scope_find(Scope *s, Str name)
{
    int i = map_number(&s->index, name);
    return i < 0 ? NULL : &s->data[i];
}

Binding *scope_lookup(Scope *s, Str name)
{
    for (; s; s = s->outer) {
        int i = map_number(&s->index, name);
        if (i < 0 || s->data[i].state == BIND_NONE) continue;
        if (!s->data[i].is_fresh) s->read_early[i] = true;
        return &s->data[i];
    }
    return NULL;
}

int scope_declare(Scope *s, Str name)
{
    int i = map_number(&s->index, name);
    if (i >= 0) return i;
    if (s->len == s->cap) {
        int cap = s->cap;
        s->data = vec_grow(s->arena, s->data, s->len, &s->cap, sizeof *s->data);
        s->read_early = vec_grow(s->arena, s->read_early, s->len, &cap, sizeof *s->read_early);
    }
    i = s->len++;
    s->data[i] = (Binding){.name = name};
    map_set_number(&s->index, name, i);
    return i;
}

void scope_set(Scope *s, Str name, SpecValue v, Span where)
{
    int i = scope_declare(s, name); /* may move the array */
    s->data[i] =
        (Binding){.name = name, .state = BIND_SET, .is_fresh = true, .value = v, .where = where};
}

ScopeCopy scope_save(const Scope *s)
{
    const size_t n = (size_t)s->len;
    if (!n) return (ScopeCopy){0};
    return (ScopeCopy){arena_copy(s->arena, s->data, sizeof *s->data * n),
                       arena_copy(s->arena, s->read_early, sizeof *s->read_early * n), s->len};
}

void scope_restore(Scope *s, const ScopeCopy *copy)
{
    if (copy->len) memcpy(s->data, copy->data, sizeof *s->data * (size_t)copy->len);
    for (int i = copy->len; i < s->len; i++) s->data[i] = (Binding){.name = s->data[i].name};
}

void scope_watch(Scope *s)
{
    for (int i = 0; i < s->len; i++) {
        s->data[i].is_fresh = false;
        s->read_early[i] = false;
    }
}
