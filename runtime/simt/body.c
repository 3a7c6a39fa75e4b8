/* Bodies of functions: scopes, declarations, labels, lines of the kernel, statements. A function
   that is called is decoded in the place of the call as a frame of its own: its labels are its own,
   and its `ret` jumps behind its end. */

#include "decode.h"

enum { INLINE_DEPTH = 32 };

/* ---- labels ---- */

static const SimtLabel *find_label(const Decoder *dc, const SimtLabel *l)
{
    for (int i = dc->nlabels - 1; i >= 0; i--) {
        const SimtLabel *at = &dc->labels[i];
        if (at->frame == l->frame && ptx_same_word(at->name, l->name)) return at;
    }
    return NULL;
}

/* In the scope, or the nearest around it. */
static const SimtLabel *find_label_outward(const Decoder *dc, SimtLabel l)
{
    const SimtLabel *found = NULL;
    for (; !found && l.frame >= 0; l.frame = dc->outer[l.frame]) found = find_label(dc, &l);
    return found;
}

static void add_label(Decoder *dc, PtxWord name)
{
    SimtLabel l = {name, dc->frame, dc->ninsns};
    if (find_label(dc, &l)) ptx_fail(&dc->ps, "the label '%.*s' stands twice", name.len, name.text);
    dc_push(dc, dc->labels, dc->nlabels, l);
}

/* slot -1: the target of the instruction; else of that item of the newest list of targets. */
void dc_jump(Decoder *dc, uint32_t insn, PtxWord label, int slot)
{
    SimtFixup f = {{label, dc->frame, 0}, insn, slot, dc_line(dc)};
    if (slot >= 0) f.insn = (uint32_t)dc->ntargets - 1;
    dc_push(dc, dc->fixups, dc->nfixups, f);
}

static void resolve_labels(Decoder *dc)
{
    for (int i = 0; i < dc->nfixups && !dc->ps.failed; i++) {
        const SimtFixup *f = &dc->fixups[i];
        const SimtLabel *l = find_label_outward(dc, f->label);
        if (!l) ptx_fail(&dc->ps, "there is no label '%.*s' (used in line %d)", f->label.name.len,
                         f->label.name.text, f->line);
        else if (f->slot < 0) dc->insns[f->insn].target = l->at;
        else dc->targets[f->insn]->at[f->slot] = l->at;
    }
}

/* "name: .branchtargets a, b, c;" */
static void read_targets(Decoder *dc, PtxWord name)
{
    int n = 1;
    for (const char *p = dc->ps.word.text; *p && *p != ';'; p++) n += *p == ',';
    SimtTargets *t = dc_take(dc, sizeof *t + (size_t)n * sizeof *t->at);
    if (!t || !dc_push(dc, dc->targets, dc->ntargets, t)) return;
    *t = (SimtTargets){name, 0};
    do dc_jump(dc, 0, ptx_next(&dc->ps), t->n++);
    while (!dc->ps.failed && ptx_take_mark(&dc->ps, ','));
    ptx_expect_mark(&dc->ps, ';');
}

/* ---- lines of the kernel ---- */

static uint32_t add_place(Decoder *dc, SimtPlace p)
{
    SimtModule *m = dc->module;
    if (!m->nplaces) m->nplaces = 1; /* 0 is no place */
    return dc_push(dc, m->places, m->nplaces, p) ? m->nplaces - 1 : 0;
}

/* ".loc 1 12 5", ".loc 1 12 5, function_name $L__info_string0, inlined_at 1 30 3". Places that are
   callers come right behind. Line 0 is none: its instructions are told at the line before. */
static void read_loc(Decoder *dc)
{
    SimtPlace p = {.file = (int)dc_integer(dc)}, caller = {0};
    p.line = (int)dc_integer(dc);
    dc_integer(dc);
    while (!dc->ps.failed && ptx_take_mark(&dc->ps, ',')) {
        PtxWord w = ptx_next(&dc->ps);
        if (ptx_word_is(w, "function_name")) {
            ptx_next(&dc->ps);
            if (ptx_take_mark(&dc->ps, '+')) dc_integer(dc);
        } else if (ptx_word_is(w, "inlined_at")) {
            caller.file = (int)dc_integer(dc);
            caller.line = (int)dc_integer(dc);
            dc_integer(dc);
        } else {
            ptx_fail(&dc->ps, "'%.*s' is not known here", w.len, w.text);
        }
    }
    if (!p.line) return;
    p.caller = caller.line ? add_place(dc, caller) : 0;
    dc->place = add_place(dc, p);
}

/* ---- statements ---- */

/* False: no directive. */
static bool read_directive(Decoder *dc)
{
    if (dc_take_word(dc, ".reg")) {
        ptx_parse_declaration(&dc->ps);
        dc_place_registers(dc);
    } else if (dc_take_word(dc, ".local") || dc_take_word(dc, ".param"))
        dc_variable(dc, SPACE_LOCAL);
    else if (dc_take_word(dc, ".shared")) dc_variable(dc, SPACE_SHARED);
    else if (dc_take_word(dc, ".loc")) read_loc(dc);
    else if (dc_take_word(dc, ".pragma")) dc_pragma(dc);
    else return false;
    return true;
}

static bool is_label(PtxWord w)
{
    return w.kind == PTXW_NAME && w.len > 1 && w.text[w.len - 1] == ':';
}

static void read_label(Decoder *dc)
{
    PtxWord w = ptx_next(&dc->ps);
    w.len--;
    if (dc_take_word(dc, ".branchtargets")) read_targets(dc, w);
    else if (dc_take_word(dc, ".callprototype")) {
        while (!ptx_at_mark(&dc->ps, ';') && dc->ps.word.kind != PTXW_END) ptx_next(&dc->ps);
        ptx_expect_mark(&dc->ps, ';');
    } else add_label(dc, w);
}

/* Around it is the scope `outer`; -1: none. */
static int new_scope(Decoder *dc, int outer)
{
    return dc_push(dc, dc->outer, dc->nframes, outer) ? dc->nframes - 1 : 0;
}

static void open_scope(Decoder *dc)
{
    dc->ps.depth++;
    dc->frame = new_scope(dc, dc->frame);
}

/* Names of the scope end with it. */
static void close_scope(Decoder *dc)
{
    while (dc->nvars && dc->vars[dc->nvars - 1].depth == dc->ps.depth) dc->nvars--;
    ptx_close_scope(&dc->ps);
    dc->frame = dc->outer[dc->frame];
}

/* From '{' to its '}'. */
static void read_body(Decoder *dc)
{
    const int outside = dc->ps.depth;
    ptx_expect_mark(&dc->ps, '{');
    if (!dc->ps.failed) open_scope(dc);
    while (!dc->ps.failed && dc->ps.depth > outside) {
        if (dc->ps.word.kind == PTXW_END) ptx_fail(&dc->ps, "'}' is missing at the end");
        else if (ptx_take_mark(&dc->ps, '{')) open_scope(dc);
        else if (ptx_at_mark(&dc->ps, '}')) {
            close_scope(dc);
            ptx_next(&dc->ps);
        } else if (is_label(dc->ps.word)) read_label(dc);
        else if (!read_directive(dc)) dc_instruction(dc);
    }
}

/* ---- functions ---- */

void dc_inline(Decoder *dc, const SimtCallee *callee, const SimtVar *formals, int n)
{
    if (dc->inline_depth == INLINE_DEPTH) {
        ptx_fail(&dc->ps, "calls are nested deeper than %d, or recursive", INLINE_DEPTH);
        return;
    }
    const char *at = dc->ps.at;
    const PtxWord word = dc->ps.word;
    const int frame = dc->frame;
    const uint32_t place = dc->place;
    dc->frame = new_scope(dc, -1);
    dc->inline_depth++;
    open_scope(dc);
    for (int i = 0; i < n; i++) dc_add_var(dc, formals[i]);
    dc->ps.at = callee->body;
    ptx_next(&dc->ps);
    read_body(dc);
    if (!dc->ps.failed) add_label(dc, (PtxWord){.text = ""});
    if (dc->ps.failed) return; /* the place of the problem stays */
    close_scope(dc);
    dc->inline_depth--;
    dc->frame = frame;
    dc->place = place;
    dc->ps.at = at;
    dc->ps.word = word;
}

/* The end of the text is a return. */
static void end_entry(Decoder *dc)
{
    SimtInsn in = {.line = dc_line(dc), .name = "ret", .name_len = 3};
    dc->ps.parts = ptx_take_apart((PtxWord){.text = in.name, .len = in.name_len});
    decode_ret(dc, &in);
    dc_emit(dc, &in);
    resolve_labels(dc);
    if (!dc->ps.failed) dc_converge(dc);
}

void dc_entry(Decoder *dc, SimtFunc *f)
{
    dc->func = f;
    dc->ps.nnames = dc->ps.depth = 0;
    dc->nvars = dc->nlabels = dc->nfixups = dc->ntargets = 0;
    dc->nregs = dc->reg_bytes = dc->ninsns = 0;
    dc->numbers_bytes = dc->numbers_cap = 0;
    dc->nframes = 0;
    dc->frame = new_scope(dc, -1);
    dc->place = 0;
    dc_special_names(dc);
    for (int i = 0; i < f->nparams; i++) dc_add_var(dc, f->params[i]);
    read_body(dc);
    if (!dc->ps.failed) end_entry(dc);
    f->insns = dc->insns;
    f->ninsns = dc->ninsns;
    f->nregs = dc->nregs;
    f->reg_bytes = dc->reg_bytes;
    dc->insns = NULL;
    dc->ninsns = 0;
    dc->func = NULL;
}
