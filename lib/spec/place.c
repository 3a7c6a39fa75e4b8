/* Values are never changed after they are made, so a changed one is a new one that takes the old
   one's place in every name of this function that holds it: that is what Python's sharing shows.
   What the caller holds stays as it was, as in Triton, where a call copies its arguments. */

#include <string.h>

#include "spec/record.h"
#include "spec/walk.h"

typedef struct Swap { Spec *sp; const SpecTuple *old; SpecTuple *new; } Swap;

/* Puts the new value where v is or holds the old one; true when it did. */
static bool swap_in(const Swap *s, SpecValue *v)
{
    if (!sv_is_sequence(*v)) return false;
    if (v->tuple == s->old) return v->tuple = s->new, true;
    SpecTuple *copy = NULL;
    for (int i = 0; i < v->tuple->len; i++) {
        SpecValue item = v->tuple->data[i];
        if (!swap_in(s, &item)) continue;
        if (!copy) copy = tuple_copy(s->sp, v->tuple, v->tuple->len);
        copy->data[i] = item;
    }
    if (copy) v->tuple = copy;
    return copy != NULL;
}

/* A loop's names are found in its text, and there only one name of a shared value shows. What host
   code made stays. */
static void replace(Spec *sp, const SpecTuple *old, SpecTuple *new, Span at)
{
    Swap s = {sp, old, new};
    int found = 0;
    const Frame *f = sp->frame;
    const Scope *end = f->is_host || !f->fn ? NULL : f->fn->closure;
    for (Scope *scope = f->scope; scope != end; scope = scope->outer) {
        for (int i = 0; i < scope->len; i++) {
            SpecValue v = scope->data[i].value;
            if (scope->data[i].state != BIND_SET || !sv_is_sequence(v)) continue;
            if (!spec_step_items(sp, constant_size(v, NULL), at)) return;
            if (!swap_in(&s, &v)) continue;
            scope_set(scope, scope->data[i].name, v, at);
            found++;
        }
    }
    if (found == 0) spec_error(sp, at, "this changes a value that no name of the function holds");
    else if (found > 1 && sp->frame->runtime_loops > 0)
        spec_error(sp, at, "this changes a value that several names share, in a run-time loop");
}

void place_set_field(Spec *sp, SpecValue x, Str name, SpecValue v, Span at)
{
    int i = sv_find_field(x.tuple, name);
    if (i < 0) {
        record_refuse_name(sp, x, "field ", name, at);
        return;
    }
    SpecTuple *t = tuple_copy(sp, x.tuple, x.tuple->len);
    t->data[i] = record_item(sp, t, i, v, at);
    replace(sp, x.tuple, t, at);
}

void place_set_item(Spec *sp, SpecValue x, SpecValue index, SpecValue v, Span at)
{
    int64_t i;
    if (constant_is_dict(x)) {
        SpecTuple *t = dict_new(sp, x.tuple, 1);
        if (dict_put(sp, t, index, v, at)) replace(sp, x.tuple, t, at);
        return;
    }
    if (!op_to_int(sp, index, &i, at, "an index")) return;
    int n = x.tuple->len;
    if (i < -n || i >= n) {
        spec_error(sp, at, "index %lld is out of range for %d item%s", (long long)i, n,
                   n == 1 ? "" : "s");
        return;
    }
    SpecTuple *t = tuple_copy(sp, x.tuple, n);
    t->data[i < 0 ? i + n : i] = v;
    replace(sp, x.tuple, t, at);
}

/* ---- what lists do ---- */

static void extend(Spec *sp, const SpecTuple *old, int at_index, int n, const SpecValue *items,
                   Span at)
{
    if (!spec_fits(sp, (long)old->len + n, "a sequence", "values", at)) return;
    SpecTuple *t = tuple_copy(sp, old, old->len + n);
    for (int i = 0; i < n; i++) t->data[at_index + i] = items[i];
    for (int i = at_index; i < old->len; i++) t->data[i + n] = old->data[i];
    replace(sp, old, t, at);
}

static void insert(Spec *sp, const SpecTuple *old, const SpecValue *args, Span at)
{
    int64_t i;
    if (!op_to_int(sp, args[0], &i, at, "an index")) return;
    if (i < 0) i = i + old->len < 0 ? 0 : i + old->len;
    extend(sp, old, i > old->len ? old->len : (int)i, 1, &args[1], at);
}

bool place_call(Spec *sp, const Ast *call)
{
    if (!walk_changes_list(call)) return false;
    const Ast *callee = call->call.callee;
    int n = call->call.args.len;
    const bool is_extend = strcmp(callee->attribute.name, "extend") == 0;
    for (int i = 0; i < n; i++) {
        if (call->call.args.data[i]->kind == AST_STARRED ||
            call->call.args.data[i]->kind == AST_KEYWORD)
            return false;
    }
    SpecValue list = spec_try(sp, callee->attribute.value), args[2], *items = args;
    if (list.kind != SV_LIST) return false;
    for (int i = 0; i < n; i++) args[i] = spec_eval(sp, call->call.args.data[i]);
    if (sv_is_error(args[0]) || (n == 2 && sv_is_error(args[1]))) return true;
    if (is_extend) n = op_items(sp, args[0], &items, call->call.args.data[0]->span);
    if (n < 0) return true;
    if (n == 2 && !is_extend) insert(sp, list.tuple, args, call->span);
    else extend(sp, list.tuple, list.tuple->len, n, items, call->span);
    return true;
}
