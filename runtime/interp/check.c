/* Reads of memory that nothing wrote, and programs of one launch that touch one element without
   being in order: what shadow.c finds, told by array, element and program. Programs that all write
   the same there do not race, as lanes of one store do not.

   A read of unwritten memory ends the program, as an access outside its array does. A race does
   not: the launch runs to its end, and the least of all races found is told, so that the report is
   the same whatever the threads did. Where a launch ends with another error, that one is told.

   Programs that have both executed an atomic, or one of which has waited by volatile loads, are
   taken to be in order: they can be, by a lock or a flag, and what is not certain is not
   reported. */
#include <stdio.h>
#include <stdlib.h>

#include "interp.h"

enum { SYNC_ATOMIC = 1, SYNC_VOLATILE = 2 };

static bool is_ordered(const void *user, int64_t a, int64_t b)
{
    const uint8_t *synced = user;
    return synced && ((synced[a] && synced[b]) || ((synced[a] | synced[b]) & SYNC_VOLATILE));
}

void check_sync(Frame *f, const Insn *in)
{
    if (f->launch->synced)
        f->launch->synced[f->program] |= in->op->kind == OP_LOAD ? SYNC_VOLATILE : SYNC_ATOMIC;
}

/* ---- a launch ---- */

static void note_store(Launch *l, MemMap *all, const Insn *in, bool *stored)
{
    uint64_t at = in->param >= 0 ? l->ranges[in->param].begin : 0;
    for (int i = 0; i < all->n; i++) stored[i] |= in->param < 0 || all->ranges[i].begin == at;
}

/* Which memory the kernel may store to. */
static void find_stores(Launch *l, MemMap *all, const Body *body, bool *stored)
{
    for (int i = 0; i < body->n; i++) {
        const Insn *in = &body->insns[i];
        if (tkc_op_info(in->op->kind)->traits & OT_WRITE) note_store(l, all, in, stored);
        for (int k = 0; k < in->op->nregions; k++) find_stores(l, all, &in->bodies[k], stored);
    }
}

static bool begin_shadows(MemMap *all, const MemMap *device, const bool *stored)
{
    for (int i = 0; i < all->n; i++) {
        MemRange *r = &all->ranges[i];
        const MemRange *known = mem_find(device, r->begin, r->begin + 1);
        if (r->begin == r->end) continue;
        r->shadow = known ? known->shadow : NULL;
        if (!r->shadow) r->shadow = shadow_new(r->begin, r->end, true);
        if (!r->shadow) return false;
        shadow_begin_launch(r->shadow, stored[i]);
    }
    return true;
}

/* Stores that nobody watches count as having written everything. */
static void forget(const MemMap *device)
{
    for (int i = 0; i < device->n; i++)
        if (device->ranges[i].shadow)
            shadow_fill(device->ranges[i].shadow, device->ranges[i].begin, device->ranges[i].end);
}

bool check_begin(Launch *l, MemMap *all, MemRange *ranges)
{
    if (l->dev->unchecked) {
        forget(l->dev->state);
        for (int i = 0; i < l->in->fn->nparams; i++) ranges[i].shadow = NULL;
        return true;
    }
    bool *stored = calloc((size_t)all->n + 1, sizeof *stored);
    if (stored) find_stores(l, all, &l->in->body, stored);
    bool ok = stored && begin_shadows(all, l->dev->state, stored);
    free(stored);
    for (int i = 0; ok && i < l->in->fn->nparams; i++) {
        const MemRange *r = ranges[i].end > ranges[i].begin
                                ? mem_find(all, ranges[i].begin, ranges[i].begin + 1)
                                : NULL;
        ranges[i].shadow = r ? r->shadow : NULL;
    }
    if (l->in->in_turn)
        l->synced = calloc((size_t)(l->grid[0] * l->grid[1] * l->grid[2]), sizeof *l->synced);
    return ok && (!l->in->in_turn || l->synced);
}

void check_end(Launch *l, MemMap *all)
{
    const MemMap *device = l->dev->state;
    for (int i = 0; i < all->n; i++) {
        const MemRange *r = &all->ranges[i], *known = mem_find(device, r->begin, r->begin + 1);
        if (!known || known->shadow != r->shadow) shadow_free(r->shadow);
    }
    free(l->synced);
}

/* ---- an access ---- */

static void fail_unwritten(Frame *f, const Insn *in, uint64_t at, int64_t size)
{
    const char *verb = in->op->kind == OP_LOAD ? "load" : "atomic";
    if (in->param < 0) {
        interp_fail(f, in, "%s of memory that nothing has written", verb);
        return;
    }
    char place[PLACE_TEXT];
    interp_fail(f, in, "%s of %s, which nothing has written", verb,
                interp_place(f->launch, in->param, at, size, place));
    if (in->op->kind != OP_LOAD)
        interp_note(f, NULL, "what an atomic changes has to be there: fill the array before the launch "
                             "(with -run, zeros:… instead of empty:…)");
}

bool check_touch(Frame *f, const Insn *in, const MemRange *r, uint64_t address, int64_t n,
                 int64_t size)
{
    Watch w = {is_ordered, f->launch->synced, &f->race};
    Record who = record_make(f->program, in->number);
    uint64_t at = address;
    const Deed deed = in->op->kind == OP_LOAD && !in->n[0] ? DEED_READ
                      : in->op->kind == OP_ATOMIC_STORE    ? DEED_SETTLE
                                                           : DEED_PEEK;
    ShadowResult result = shadow_touch(r->shadow, deed, &w, who, address, n, size, &at);
    if (result == SHADOW_FINE) return true;
    if (result == SHADOW_UNWRITTEN) fail_unwritten(f, in, at, size);
    else interp_no_memory(f, in);
    return false;
}

bool check_store(Frame *f, const Insn *in, const MemRange *r, uint64_t address, int64_t n,
                 int64_t size, const void *data, bool same)
{
    Watch w = {is_ordered, f->launch->synced, &f->race};
    Record who = record_make(f->program, in->number);
    if (shadow_store(r->shadow, &w, who, address, n, size, data, same) == SHADOW_FINE) return true;
    interp_no_memory(f, in);
    return false;
}

/* ---- the report ---- */

static const Op *access_op(const Body *body, uint32_t number)
{
    for (int i = 0; i < body->n; i++) {
        const Insn *in = &body->insns[i];
        if (in->number == number) return in->op;
        for (int k = 0; k < in->op->nregions; k++) {
            const Op *found = access_op(&in->bodies[k], number);
            if (found) return found;
        }
    }
    return NULL;
}

static void program_text(const Launch *l, Record r, char *text, size_t size)
{
    int64_t p = record_program(r);
    snprintf(text, size, "(%lld, %lld, %lld)", (long long)(p % l->grid[0]),
             (long long)(p / l->grid[0] % l->grid[1]), (long long)(p / l->grid[0] / l->grid[1]));
}

/* The first parameter that the address may be reached through, or -1. Ranges of others than
   pointers are empty. */
static int param_at(const Launch *l, uint64_t at)
{
    for (int i = 0; i < l->in->fn->nparams; i++)
        if (at >= l->ranges[i].begin && at < l->ranges[i].end) return i;
    return -1;
}

TkcStatus check_report(const Launch *l)
{
    const Race *r = &l->race;
    if (!r->low) return TKC_OK;
    TkcContext *cx = l->dev->cx;
    const Op *low = access_op(&l->in->body, record_insn(r->low)),
             *high = access_op(&l->in->body, record_insn(r->high));
    char a[100], b[100], text[PLACE_TEXT];
    const Value *moved = high->kind == OP_LOAD ? op_result(high, 0) : op_arg(high, 1);
    const char *place = interp_place(l, param_at(l, r->address), r->address,
                                     element_bytes(tkc_type_element(moved->type)), text);
    program_text(l, r->low, a, sizeof a);
    program_text(l, r->high, b, sizeof b);
    const char *deeds[] = {"reads", "writes"};
    tkc_report_begin(cx);
    if (r->low_writes && r->high_writes)
        tkc_report(cx, TKC_SEVERITY_ERROR, high->loc,
                   "programs %s and %s both write %s, without an atomic", a, b, place);
    else
        tkc_report(cx, TKC_SEVERITY_ERROR, high->loc,
                   "program %s %s %s, which program %s %s: their order is not certain", b,
                   deeds[r->high_writes], place, a, deeds[r->low_writes]);
    tkc_report_note(cx, low->loc, "program %s %s it here", a, deeds[r->low_writes]);
    tkc_report_note(cx, NULL, "programs of a launch run in any order, and a barrier is of one program: "
                              "use a second launch, or atomics");
    tkc_report_end(cx);
    return TKC_ERROR;
}
