/* Where lanes go: branches, returns, calls. A branch that some lanes take and others do not leaves
   groups at two addresses; the lowest runs, so lanes that meet at an address are one group again
   (converge.c sees to the order of the blocks). */
#include <string.h>

#include "decode.h"
#include "warp.h"

/* ---- branches ---- */

static SimtStep exec_bra(Warp *w, const SimtInsn *in, LaneMask m)
{
    if (m == w->active && !w->diverged) {
        w->at = in->target;
        return STEP_JUMPED;
    }
    warp_move(w, w->active & ~m, w->at + 1);
    warp_move(w, m, in->target);
    return STEP_MOVED;
}

void decode_bra(Decoder *dc, SimtInsn *in)
{
    op_take(dc, "uni");
    op_done(dc);
    PtxWord label = ptx_next(&dc->ps);
    if (label.kind != PTXW_NAME)
        ptx_fail(&dc->ps, "expected a label, found '%.*s'", label.len, label.text);
    dc_jump(dc, dc->ninsns, label, -1);
    in->exec = exec_bra;
}

static SimtStep exec_brx(Warp *w, const SimtInsn *in, LaneMask m)
{
    const SimtTargets *t = in->form;
    warp_move(w, w->active & ~m, w->at + 1);
    SIMT_EACH_LANE(lane, m) {
        uint64_t i = simt_read(w, in->s[0], lane);
        if (i >= (uint64_t)t->n)
            return simt_fault(w, in, lane, SIMT_ILLEGAL_INSTRUCTION,
                              "a branch to the target %llu of %d", (unsigned long long)i, t->n);
        warp_move(w, 1u << lane, t->at[i]);
    }
    return STEP_MOVED;
}

void decode_brx(Decoder *dc, SimtInsn *in)
{
    op_take(dc, "idx");
    op_take(dc, "uni");
    if (!dc_form(dc, in, exec_brx, "<u32", NULL)) return;
    dc_comma(dc);
    PtxWord name = ptx_next(&dc->ps);
    for (int i = 0; i < dc->ntargets; i++) {
        const SimtTargets *t = dc->targets[i];
        if (ptx_same_word(t->name, name)) in->form = t;
    }
    if (!in->form) ptx_fail(&dc->ps, "there is no list of targets '%.*s'", name.len, name.text);
}

/* ---- returns ---- */

static SimtStep exec_ret(Warp *w, const SimtInsn *in, LaneMask m)
{
    (void)in;
    warp_move(w, w->active & ~m, w->at + 1);
    warp_end(w, m);
    return STEP_MOVED;
}

/* In a function that was called, `ret` goes behind its end. */
void decode_ret(Decoder *dc, SimtInsn *in)
{
    const bool ends = !dc->inline_depth || !strncmp(in->name, "exit", 4);
    op_take(dc, "uni");
    op_done(dc);
    if (!ends) dc_jump(dc, dc->ninsns, (PtxWord){.text = ""}, -1);
    in->exec = ends ? exec_ret : exec_bra;
}

SimtStep exec_trap(Warp *w, const SimtInsn *in, LaneMask m)
{
    return simt_fault(w, in, simt_first(m), SIMT_LAUNCH_FAILED, "the kernel stopped itself");
}

/* ---- what an instruction does to the flow ---- */

SimtFlow flow_of(const SimtInsn *in)
{
    return in->exec == exec_bra                           ? FLOW_TO
           : in->exec == exec_brx                         ? FLOW_TABLE
           : in->exec == exec_ret || in->exec == exec_trap ? FLOW_END
                                                          : FLOW_ON;
}

SimtInsn flow_jump(const SimtInsn *beside, uint32_t target)
{
    return (SimtInsn){.exec = exec_bra, .target = target, .place = beside->place,
                      .line = beside->line, .name = "bra", .name_len = 3};
}

/* ---- calls ---- */

/* The generic address in a variable of the caller's, of 8 bytes. */
static uint64_t argument(const Warp *w, const SimtInsn *in, int i, int lane)
{
    uint64_t x = 0;
    memcpy(&x, w->local + (size_t)lane * w->func->local_bytes + ((const uint64_t *)in->form)[i], 8);
    return x;
}

static SimtStep exec_vprintf(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m)
        if (!warp_print(w, in, lane, argument(w, in, 0, lane), argument(w, in, 1, lane)))
            return STEP_FAULT;
    return STEP_NEXT;
}

static SimtStep exec_assertfail(Warp *w, const SimtInsn *in, LaneMask m)
{
    const int lane = simt_first(m);
    char text[256], file[256];
    uint32_t line = (uint32_t)argument(w, in, 2, lane);
    if (!warp_string(w, in, lane, argument(w, in, 0, lane), text, sizeof text) ||
        !warp_string(w, in, lane, argument(w, in, 1, lane), file, sizeof file))
        return STEP_FAULT;
    return simt_fault(w, in, lane, SIMT_ASSERT, "%s:%u: device-side assert failed: %s", file, line, text);
}

static const struct Builtin {
    const char *name;
    int nargs;
    SimtExec *exec;
} builtins[] = {{"vprintf", 2, exec_vprintf}, {"__assertfail", 5, exec_assertfail}};

/* The variables in "(a, b)", as they are called here. */
static int read_variables(Decoder *dc, SimtVar *out, int most)
{
    int n = 0;
    ptx_expect_mark(&dc->ps, '(');
    while (!dc->ps.failed && !ptx_at_mark(&dc->ps, ')')) {
        if (n) dc_comma(dc);
        PtxWord w = ptx_next(&dc->ps);
        const SimtVar *v = dc_var(dc, w);
        if (!v || v->space != SPACE_LOCAL || n == most)
            ptx_fail(&dc->ps, "'%.*s' cannot be passed to a function here", w.len, w.text);
        else out[n++] = *v;
    }
    ptx_expect_mark(&dc->ps, ')');
    return n;
}

static void call_builtin(Decoder *dc, SimtInsn *in, const struct Builtin *b, const SimtVar *args,
                         int nargs)
{
    uint64_t *places = dc_take(dc, sizeof *places * 8);
    if (nargs != b->nargs) ptx_fail(&dc->ps, "'%s' takes %d arguments", b->name, b->nargs);
    for (int i = 0; i < nargs && places && i < 8; i++) places[i] = args[i].address;
    in->form = places;
    in->exec = b->exec;
}

static const SimtCallee *find_callee(const Decoder *dc, PtxWord name)
{
    const SimtCallee *found = NULL;
    for (int i = 0; i < dc->ncallees; i++) {
        const SimtCallee *c = &dc->callees[i];
        const bool same = ptx_same_word(c->name, name);
        if (same && (!found || c->body)) found = c;
    }
    return found;
}

/* Lanes whose guard says no go around what the call becomes. */
static void jump_around(Decoder *dc, const SimtInsn *in)
{
    SimtInsn around = *in;
    around.guard_not = !in->guard_not;
    around.exec = exec_bra;
    around.name = "call";
    around.name_len = 4;
    around.target = UINT32_MAX;
    dc_emit(dc, &around);
}

static void call_function(Decoder *dc, SimtInsn *in, const SimtCallee *c, SimtVar *vars, int nresults,
                          int nargs)
{
    const uint32_t first = dc->ninsns;
    if (nresults != c->results.nparams || nargs != c->params.nparams) {
        ptx_fail(&dc->ps, "'%.*s' has %d results and %d parameters", c->name.len, c->name.text,
                 c->results.nparams, c->params.nparams);
        return;
    }
    for (int i = 0; i < nresults; i++) vars[i].name = c->results.params[i].name;
    for (int i = 0; i < nargs; i++) vars[nresults + i].name = c->params.params[i].name;
    if (in->guarded) jump_around(dc, in);
    dc_inline(dc, c, vars, nresults + nargs);
    if (in->guarded && !dc->ps.failed) dc->insns[first].target = dc->ninsns;
}

void decode_call(Decoder *dc, SimtInsn *in)
{
    enum { MOST = 64 };
    SimtVar vars[2 * MOST];
    int nresults = 0, nargs = 0;
    op_take(dc, "uni");
    op_done(dc);
    if (ptx_at_mark(&dc->ps, '(')) {
        nresults = read_variables(dc, vars, MOST);
        dc_comma(dc);
    }
    PtxWord name = ptx_next(&dc->ps);
    if (ptx_take_mark(&dc->ps, ',')) nargs = read_variables(dc, vars + nresults, MOST);
    if (dc->ps.failed) return;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (!ptx_word_is(name, builtins[i].name)) continue;
        call_builtin(dc, in, &builtins[i], vars + nresults, nargs);
        return;
    }
    const SimtCallee *c = find_callee(dc, name);
    if (!c || !c->body)
        ptx_fail(&dc->ps, "the function '%.*s' has no code in the text", name.len, name.text);
    else call_function(dc, in, c, vars, nresults, nargs);
}
