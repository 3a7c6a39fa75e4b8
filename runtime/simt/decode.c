/* What the decoders of instructions share: names taken apart, operands as places among a warp's
   registers or the function's numbers, addresses, room that lasts as long as the module. */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"

static const struct {
    const char *name;
    uint8_t bits;
} specials[] = {
#define SPECIAL(id, name, bits, i, value) {name, bits},
#include "specials.def"
};

/* ---- room ---- */

void dc_no_memory(Decoder *dc)
{
    dc->no_memory |= !dc->ps.failed;
    ptx_fail(&dc->ps, "out of memory");
}

void *dc_take(Decoder *dc, size_t bytes)
{
    void *p = owned_take(&dc->module->owned, bytes);
    if (!p) dc_no_memory(dc);
    return p;
}

int dc_line_at(Decoder *dc, const char *at)
{
    if (at < dc->line_at) {
        dc->line_at = dc->module->text;
        dc->line = 1;
    }
    for (; dc->line_at < at; dc->line_at++) dc->line += *dc->line_at == '\n';
    return dc->line;
}

int dc_line(Decoder *dc)
{
    return dc_line_at(dc, dc->ps.word.text ? dc->ps.word.text : dc->ps.at);
}

/* ---- the name ---- */

void op_refuse(Decoder *dc)
{
    ptx_fail(&dc->ps, "'%.*s' is no form of the instruction that is known here",
             dc->ps.opcode.len, dc->ps.opcode.text);
}

void op_done(Decoder *dc)
{
    if (!ptx_all_taken(&dc->ps.parts)) op_refuse(dc);
}

void dc_aligned(Decoder *dc)
{
    if (!op_take(dc, "sync") || !op_take(dc, "aligned")) op_refuse(dc);
}

void dc_matrix_shape(Decoder *dc, int *m, int *n, int *k)
{
    PtxParts *parts = &dc->ps.parts;
    for (int i = 1; i < parts->n; i++) {
        char text[16];
        int end = 0;
        snprintf(text, sizeof text, "%.*s", parts->len[i], parts->part[i]);
        if (sscanf(text, "m%3dn%3dk%3d%n", m, n, k, &end) < 3 || end != parts->len[i]) continue;
        parts->taken[i] = true;
        return;
    }
    op_refuse(dc);
}

MatrixType dc_matrix_type(Decoder *dc)
{
    MatrixType type = MATRIX_NONE;
    PTX_FIRST(&dc->ps.parts, type, simt_matrix_type);
    if (type == MATRIX_NONE) op_refuse(dc);
    return type;
}

void dc_needs_chip(Decoder *dc, int least)
{
    if (dc->chip >= least) return;
    ptx_fail(&dc->ps, "'%.*s' needs sm_%d, the text is for sm_%d", dc->ps.opcode.len,
             dc->ps.opcode.text, least, dc->chip);
}

/* ---- operands ---- */

void dc_comma(Decoder *dc)
{
    ptx_expect_mark(&dc->ps, ',');
}

void dc_operands(Decoder *dc, SimtInsn *in, int nd, int ns)
{
    SimtOperand *all = dc_take(dc, (size_t)(nd + ns + 1) * sizeof *all);
    in->d = all;
    in->s = all ? all + nd : NULL;
    in->nd = (uint16_t)(all ? nd : 0);
    in->ns = (uint16_t)(all ? ns : 0);
}

static int natural_bits(int bits)
{
    return bits == 1 || bits > 16 ? bits : 16;
}

static size_t lanes_bytes(int bits)
{
    return bits == 1 ? sizeof(LaneMask) : (size_t)bits / 8 * SIMT_LANES;
}

/* Each number once. */
SimtOperand dc_number(Decoder *dc, uint64_t x, int bits)
{
    const int natural = natural_bits(bits);
    const size_t size = lanes_bytes(natural);
    SimtOperand o = {.bits = (uint8_t)natural, .used = (uint8_t)bits, .number = true,
                     .at = dc->numbers_bytes};
    while (!dc->ps.failed && dc->numbers_bytes + size > dc->numbers_cap) {
        uint32_t cap = dc->numbers_cap ? dc->numbers_cap * 2 : 4096;
        uint8_t *more = realloc(dc->func->numbers, cap);
        if (!more) dc_no_memory(dc);
        else dc->func->numbers = more, dc->numbers_cap = cap;
    }
    if (dc->ps.failed) return o;
    if (natural == 1) memset(dc->func->numbers + o.at, x & 1 ? 0xff : 0, sizeof(LaneMask));
    for (int i = 0; i < SIMT_LANES && natural > 1; i++)
        simt_set_lane(dc->func->numbers + o.at, natural, i, x);
    dc->numbers_bytes += (uint32_t)((size + 7) / 8 * 8);
    return o;
}

/* Registers that were declared since have their places behind the others'. */
void dc_place_registers(Decoder *dc)
{
    for (int i = 0; i < dc->ps.nnames; i++) {
        const PtxName *n = &dc->ps.names[i];
        const int bits = natural_bits(n->type->bits), count = n->count ? n->count : 1;
        if ((uint32_t)n->reg < dc->nregs) continue;
        while (dc->nregs < (uint32_t)(n->reg + count)) {
            const SimtReg r = {dc->reg_bytes, (uint8_t)bits, dc->ps.depth > 1 && !dc->inline_depth};
            if (!dc_push(dc, dc->regs, dc->nregs, r)) return;
            dc->reg_bytes += (uint32_t)((lanes_bytes(bits) + 31) / 32 * 32);
        }
    }
}

static SimtOperand register_operand(Decoder *dc, int reg, int used, bool negated)
{
    dc_place_registers(dc);
    if (dc->ps.failed || reg < 0) return (SimtOperand){0};
    SimtReg r = dc->regs[reg];
    return (SimtOperand){.at = r.at, .reg = (uint32_t)reg, .bits = r.bits, .used = (uint8_t)used,
                         .negated = negated};
}

static SimtOperand source_operand(Decoder *dc, PtxSource s)
{
    return s.reg < 0 ? dc_number(dc, s.number, s.bits)
                     : register_operand(dc, s.reg, s.bits, s.negated);
}

static SimtOperand dest_operand(Decoder *dc, PtxDest d)
{
    return register_operand(dc, d.reg, d.bits, false);
}

SimtOperand dc_source(Decoder *dc, const PtxType *t, bool wider)
{
    return source_operand(dc, ptx_parse_source(&dc->ps, t, wider));
}

SimtOperand dc_dest(Decoder *dc, const PtxType *t, bool wider)
{
    return dest_operand(dc, ptx_parse_dest(&dc->ps, t, wider, true));
}

/* "{a, b, …}" of n; one without braces where n is 1. */
static void read_list(Decoder *dc, SimtOperand *o, int n, const PtxType *t, bool wider, bool dest)
{
    const bool braces = ptx_take_mark(&dc->ps, '{');
    if (!braces && n > 1)
        ptx_fail(&dc->ps, "'%.*s' takes a list of %d registers there", dc->ps.opcode.len,
                 dc->ps.opcode.text, n);
    for (int i = 0; i < n && !dc->ps.failed; i++) {
        if (i) dc_comma(dc);
        o[i] = dest ? dc_dest(dc, t, wider) : dc_source(dc, t, wider);
    }
    if (braces) ptx_expect_mark(&dc->ps, '}');
}

/* ---- addresses ---- */

static const SimtVar *newest_var(const SimtVar *vars, int n, PtxWord w)
{
    while (n > 0 && !ptx_same_word(vars[n - 1].name, w)) n--;
    return n > 0 ? &vars[n - 1] : NULL;
}

const SimtVar *dc_var(const Decoder *dc, PtxWord w)
{
    const SimtVar *v = newest_var(dc->vars, dc->nvars, w);
    return v ? v : newest_var(dc->module->vars, dc->module->nvars, w);
}

int64_t dc_integer(Decoder *dc)
{
    const bool minus = ptx_take_mark(&dc->ps, '-');
    PtxWord w = ptx_next(&dc->ps);
    if (w.kind != PTXW_INT) ptx_fail(&dc->ps, "expected a number, found '%.*s'", w.len, w.text);
    return minus ? -(int64_t)w.number : (int64_t)w.number;
}

static void offset_behind(Decoder *dc, int64_t *offset)
{
    while (!dc->ps.failed && (ptx_at_mark(&dc->ps, '+') || ptx_at_mark(&dc->ps, '-'))) {
        bool minus = ptx_take_mark(&dc->ps, '-');
        if (!minus) ptx_take_mark(&dc->ps, '+');
        int64_t n = dc_integer(dc);
        *offset += minus ? -n : n;
    }
}

static SimtOperand var_base(Decoder *dc, const SimtVar *v, int64_t *offset, uint8_t *space)
{
    if (*space == SPACE_GENERIC || *space == SPACE_PARAM) *space = (uint8_t)v->space;
    if (v->dynamic) return register_operand(dc, SIMT_DYNAMIC_BASE, 32, false);
    *offset += (int64_t)v->address;
    return dc_number(dc, 0, 64);
}

/* "[base + offset]": the base is a register of 32 or 64 bits or a number; a variable's
   space goes into *space where it is SPACE_GENERIC. */
static void read_address(Decoder *dc, SimtOperand *base, int64_t *offset, uint8_t *space)
{
    *offset = 0;
    ptx_expect_mark(&dc->ps, '[');
    PtxWord w = dc->ps.word;
    const PtxName *n = ptx_find_name(&dc->ps, w, NULL);
    const SimtVar *v = w.kind == PTXW_NAME && !n ? dc_var(dc, w) : NULL;
    if (v) {
        ptx_next(&dc->ps);
        *base = var_base(dc, v, offset, space);
    } else if (w.kind == PTXW_INT || ptx_at_mark(&dc->ps, '-')) {
        *offset = dc_integer(dc);
        *base = dc_number(dc, 0, 64);
    } else {
        if (!n) ptx_fail(&dc->ps, "'%.*s' is not known here", w.len, w.text);
        else *base = dc_source(dc, ptx_type(n->type->bits == 32 ? "b32" : "b64"), false);
    }
    offset_behind(dc, offset);
    ptx_expect_mark(&dc->ps, ']');
}

/* ---- all of an instruction's operands ---- */

void dc_skip_operands(Decoder *dc)
{
    while (!dc->ps.failed && !ptx_at_mark(&dc->ps, ';') && dc->ps.word.kind != PTXW_END)
        ptx_next(&dc->ps);
}

/* How many the operand is that is told at p; 1 too where it is no list. */
static int list_of(const SimtInsn *in, const char *p, const char **type)
{
    const bool named = p[1] && p[2] == '{', braces = named || p[1] == '{';
    *type = p + 1 + named + braces;
    if (!braces) return 1;
    return !named ? in->count : p[1] == 'a' ? in->a : p[1] == 'b' ? in->b : in->c;
}

static int count_operands(const SimtInsn *in, const char *form, const char *kinds)
{
    int n = 0;
    const char *type;
    for (const char *p = form; *p; p++) n += strchr(kinds, *p) ? list_of(in, p, &type) : 0;
    return n;
}

bool dc_form(Decoder *dc, SimtInsn *in, SimtExec *exec, const char *form, const PtxType *t)
{
    op_done(dc);
    dc_operands(dc, in, count_operands(in, form, ">|?"), count_operands(in, form, "<[:("));
    in->exec = exec;
    SimtOperand *d = in->d, *s = in->s;
    int64_t *offset = in->offset;
    for (const char *p = form; *p && !dc->ps.failed; p += strcspn(p, " "), p += *p == ' ') {
        const char *type;
        const int n = list_of(in, p, &type);
        const PtxType *of = strchr("*+", *type) ? t : ptx_type_named(type, strcspn(type, " }"));
        const bool wider = *type == '+' && t->class != PTX_FLOAT;
        const bool source = strchr("<:(", *p) != NULL;
        SimtOperand **to = source ? &s : &d;
        if (*p == '|') ptx_expect_mark(&dc->ps, '|');
        else if (!strchr("?~:)", *p) && p != form) dc_comma(dc);
        if (*p == '(') ptx_expect_mark(&dc->ps, '[');
        if (*p == '~') dc_cache_policy(dc);
        else if (*p == ')') ptx_expect_mark(&dc->ps, ']');
        else if (*p == '[') read_address(dc, s++, offset++, &in->space);
        else if (!strchr("?:", *p) || ptx_take_mark(&dc->ps, source ? ',' : '|')) {
            if (type[-1] == '{') read_list(dc, *to, n, of, wider, !source);
            else **to = source ? dc_source(dc, of, wider) : dc_dest(dc, of, wider);
            *to += n;
        }
    }
    return !dc->ps.failed;
}

/* ---- names of variables as numbers ---- */

static bool read_symbol(PtxParser *ps, PtxWord w, const PtxType *t, PtxSource *out)
{
    Decoder *dc = (Decoder *)ps;
    const SimtVar *v = dc_var(dc, w);
    int64_t offset = 0;
    if (!v || (t->bits != 32 && t->bits != 64)) return false;
    offset_behind(dc, &offset);
    out->reg = -1;
    out->number = ptx_low(v->address + (uint64_t)offset, t->bits);
    if (!v->dynamic) return true;
    if (offset) ptx_fail(ps, "an offset from '%.*s' is not known before the launch", w.len, w.text);
    out->reg = t->bits == 32 ? SIMT_DYNAMIC_BASE : SIMT_DYNAMIC_BASE_64;
    return true;
}

/* ---- instructions on registers ---- */

void simt_write_lanes(Warp *w, SimtOperand d, const void *lanes, LaneMask m)
{
    if (!d.bits) return;
    void *to = w->regs + d.at;
    w->written[d.reg] |= m;
    if (d.bits == 1) {
        LaneMask *mask = to;
        *mask = (*mask & ~m) | (*(const LaneMask *)lanes & m);
    } else if (m == SIMT_ALL_LANES) {
        memcpy(to, lanes, (size_t)d.bits / 8 * SIMT_LANES);
    } else {
        SIMT_EACH_LANE(i, m) simt_set_lane(to, d.bits, i, simt_lane(lanes, d.bits, i));
    }
}

/* Every destination for all lanes at once; what others hold is put back. */
static SimtStep exec_loop(Warp *w, const SimtInsn *in, LaneMask m)
{
    const void *s[4] = {0};
    uint64_t out[2][SIMT_LANES];
    for (int i = 0; i < in->ns; i++) s[i] = simt_lanes(w, in->s[i]);
    if (m == SIMT_ALL_LANES && in->nd == 1) {
        in->loop[0](w->regs + in->d[0].at, s[0], s[1], s[2], s[3]);
        w->written[in->d[0].reg] = m;
        return STEP_NEXT;
    }
    for (int i = 0; i < in->nd; i++)
        if (in->d[i].bits) in->loop[i](out[i], s[0], s[1], s[2], s[3]);
    for (int i = 0; i < in->nd; i++) simt_write_lanes(w, in->d[i], out[i], m);
    return STEP_NEXT;
}

static SimtStep exec_lanes(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m) {
        bool carry = w->carry >> lane & 1;
        PtxCall c = {in->ptx, in->ptx->type, in->ptx->second, in->ns, {0}, {0}, &carry};
        for (int i = 0; i < in->ns; i++) c.a[i] = simt_read(w, in->s[i], lane);
        ptx_evaluate(&c);
        for (int i = 0; i < in->nd; i++) {
            const int from = in->ptx->dests[i].sign_from;
            simt_write(w, in->d[i], lane, from ? (uint64_t)ptx_signed(c.d[i], from) : c.d[i]);
        }
        w->carry = (w->carry & ~(1u << lane)) | (LaneMask)carry << lane;
    }
    return STEP_NEXT;
}

/* A clock is the warp's instructions so far. */
static SimtStep exec_clock(Warp *w, const SimtInsn *in, LaneMask m)
{
    const uint64_t now = in->a == PTX_CLOCK_HIGH ? w->clock >> 32 : w->clock;
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, ptx_low(now, in->d[0].bits));
    return STEP_NEXT;
}

/* The loops of all destinations, where each has one. */
static bool find_loops(SimtInsn *in)
{
    if (in->nd > 2 || in->ns > 4) return false;
    for (int i = 0; i < in->ns; i++)
        if (in->s[i].negated) return false;
    for (int i = 0; i < in->nd; i++) {
        in->loop[i] = simt_loop_of(in->ptx, i);
        if (!in->loop[i] || (in->nd == 1 && !in->d[0].bits)) return false;
    }
    return true;
}

static void decode_row(Decoder *dc, SimtInsn *in)
{
    PtxInsn *p = dc_take(dc, sizeof *p);
    if (!p || !ptx_parse_operands(&dc->ps, p)) return;
    in->ptx = p;
    if (p->nsources && p->sources[0].special) {
        dc_operands(dc, in, 1, 0);
        in->d[0] = dest_operand(dc, p->dests[0]);
        in->a = (uint8_t)p->sources[0].special;
        in->exec = exec_clock;
        return;
    }
    dc_operands(dc, in, p->ndests, p->nsources);
    for (int i = 0; i < in->nd; i++) in->d[i] = dest_operand(dc, p->dests[i]);
    for (int i = 0; i < in->ns; i++) in->s[i] = source_operand(dc, p->sources[i]);
    in->exec = !dc->ps.failed && find_loops(in) ? exec_loop : exec_lanes;
}

/* ---- statements ---- */

typedef struct InsnRow {
    const char *name, *types;
    SimtExec *exec, *members;
    uint8_t a;
    const char *operands;
    Decode *decode; /* of a family */
} InsnRow;
static const InsnRow rows[] = {
#define INSN(name, types, exec, a, operands) {name, types, exec, NULL, a, operands, NULL},
#define MEMBERS(name, types, exec, a, operands)                                                    \
    {name, types, exec_members, exec, a, operands, NULL},
#define FAMILY(name, decode) {#name, "", NULL, NULL, 0, "", decode},
#include "families.def"
};

/* Takes the name as the row says it, or leaves it to a family; false: it is another one. */
static bool take_name(Decoder *dc, SimtInsn *in, const InsnRow *row, const PtxType **t)
{
    PtxParts *parts = &dc->ps.parts;
    memset(parts->taken, 0, sizeof parts->taken);
    in->a = row->a;
    for (const char *p = strchr(row->name, '.'); p; p = strchr(p, '.')) {
        const size_t len = strcspn(++p, ".");
        const bool is_space = *p == '%';
        const int which = is_space ? (in->space = dc_space(dc)) - 1 : ptx_choose(parts, p, '|');
        if (which < 0 && p[len - 1] != '?') return false;
        if (!is_space) in->a = (uint8_t)(in->a + which);
    }
    *t = *row->types ? op_type(dc) : NULL;
    return row->decode ||
           ((!*row->types || ptx_type_is_among(*t, row->types)) && ptx_all_taken(parts));
}

static void decode(Decoder *dc, SimtInsn *in)
{
    const PtxType *t;
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const InsnRow *row = &rows[i];
        if (!ptx_part_is(&dc->ps.parts, 0, row->name, strcspn(row->name, "."))) continue;
        known = true;
        if (!take_name(dc, in, row, &t)) continue;
        in->members = row->members;
        in->form = t;
        if (row->decode) row->decode(dc, in);
        else dc_form(dc, in, row->exec, row->operands, t);
        return;
    }
    if (known) op_refuse(dc);
    else decode_row(dc, in);
}

SimtInsn *dc_emit(Decoder *dc, const SimtInsn *in)
{
    if (dc->ninsns == INSNS_MAX) {
        ptx_fail(&dc->ps, "more than %d instructions with those of the functions called", INSNS_MAX);
        return NULL;
    }
    return dc_push(dc, dc->insns, dc->ninsns, *in) ? &dc->insns[dc->ninsns - 1] : NULL;
}

static bool is_inner(const Decoder *dc, SimtOperand o)
{
    return o.bits && !o.number && dc->regs[o.reg].inner;
}

static bool reads_inner(const Decoder *dc, const SimtInsn *in)
{
    bool any = in->guarded && is_inner(dc, in->guard);
    for (int i = 0; i < in->ns; i++) any |= is_inner(dc, in->s[i]);
    return any;
}

void dc_instruction(Decoder *dc)
{
    SimtInsn in = {.line = dc_line(dc), .place = dc->place};
    int guard;
    dc->ps.symbol = read_symbol;
    dc->ps.opcode = (PtxWord){.text = "@", .len = 1};
    in.guarded = ptx_parse_guard(&dc->ps, &guard, &in.guard_not);
    if (in.guarded) in.guard = register_operand(dc, guard, 1, false);
    PtxWord w = dc->ps.opcode = ptx_next(&dc->ps);
    if (w.kind != PTXW_NAME)
        ptx_fail(&dc->ps, "expected an instruction, found '%.*s'", w.len, w.text);
    if (dc->ps.failed) return;
    in.name = w.text;
    in.name_len = w.len;
    dc->ps.parts = ptx_take_apart(w);
    decode(dc, &in);
    ptx_expect_mark(&dc->ps, ';');
    in.inner = !dc->ps.failed && reads_inner(dc, &in);
    if (!dc->ps.failed && in.exec) dc_emit(dc, &in); /* what has none has done its part */
}

void dc_special_names(Decoder *dc)
{
    for (int i = 0; i < SIMT_SPECIALS; i++) {
        const char *name = specials[i].name;
        dc->ps.names[dc->ps.nnames++] =
            (PtxName){.text = name, .len = (int)strlen(name), .reg = i,
                      .type = ptx_type(specials[i].bits == 64 ? "b64" : "b32")};
        if (!dc_push(dc, dc->regs, dc->nregs, (SimtReg){dc->reg_bytes, specials[i].bits, false})) return;
        dc->reg_bytes += 256; /* set_specials (block.c) counts on it */
    }
    dc->ps.nregs = SIMT_SPECIALS;
}
