/* Registers of PTX and the operands of instructions. Sizes and classes of registers are held to the
   types as an assembler does it, so that what runs here is accepted there. Registers of inline
   assembly's constraints have a size and no class. */
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tkc/edge.h"

/* ---- words ---- */

void ptx_fail(PtxParser *ps, const char *fmt, ...)
{
    va_list ap;
    if (ps->failed) return;
    va_start(ap, fmt);
    vsnprintf(ps->problem, ps->size, fmt, ap);
    va_end(ap);
    ps->failed = true;
    ps->failed_at = ps->taken ? ps->taken : ps->word.text;
}

PtxWord ptx_next(PtxParser *ps)
{
    PtxWord w = ps->word;
    ps->taken = w.text;
    ps->word = ptx_word(&ps->at);
    return w;
}

bool ptx_at_mark(const PtxParser *ps, char mark)
{
    return ps->word.kind == PTXW_MARK && ps->word.text[0] == mark;
}

bool ptx_take_mark(PtxParser *ps, char mark)
{
    if (!ptx_at_mark(ps, mark)) return false;
    ptx_next(ps);
    return true;
}

void ptx_expect_mark(PtxParser *ps, char mark)
{
    if (ptx_take_mark(ps, mark)) return;
    if (ps->word.kind == PTXW_END) ptx_fail(ps, "'%c' is missing at the end", mark);
    else ptx_fail(ps, "expected '%c', found '%.*s'", mark, ps->word.len, ps->word.text);
}

/* ---- registers ---- */

const PtxName *ptx_find_name(const PtxParser *ps, PtxWord w, int *reg)
{
    for (int i = ps->nnames - 1; i >= 0; i--) {
        const PtxName *n = &ps->names[i];
        if (w.len < n->len || memcmp(w.text, n->text, (size_t)n->len)) continue;
        int number = 0, digits = w.len - n->len;
        for (int k = n->len; k < w.len; k++) {
            if (w.text[k] < '0' || w.text[k] > '9' || number > ps->max_regs) number = n->count;
            else number = number * 10 + w.text[k] - '0';
        }
        const bool plain = digits == 1 || (digits > 1 && w.text[n->len] != '0');
        if (n->count ? !plain || number >= n->count : digits) continue;
        if (reg) *reg = n->reg + number;
        return n;
    }
    return NULL;
}

/* n is one of the registers that w<count> declares, or several of which some are. */
static bool is_among(const PtxName *n, PtxWord w, int count)
{
    if (n->len < w.len || memcmp(n->text, w.text, (size_t)w.len)) return false;
    if (n->count) return n->len == w.len;
    int number = 0;
    for (int k = w.len; k < n->len; k++) {
        if (n->text[k] < '0' || n->text[k] > '9' || number >= count) return false;
        number = number * 10 + n->text[k] - '0';
    }
    return n->len > w.len && number < count;
}

static void check_new(PtxParser *ps, PtxWord w, int count)
{
    const PtxName *before = count ? NULL : ptx_find_name(ps, w, NULL);
    bool twice = before && before->depth == ps->depth;
    for (int i = ps->nnames - 1; count && i >= 0 && ps->names[i].depth == ps->depth; i--)
        twice |= is_among(&ps->names[i], w, count);
    if (twice) ptx_fail(ps, "the register '%.*s' is declared twice", w.len, w.text);
}

static void declare(PtxParser *ps, const PtxType *type)
{
    PtxWord w = ptx_next(ps);
    PtxName n = {.text = w.text, .len = w.len, .depth = ps->depth, .type = type};
    int count = 1;
    if (w.kind != PTXW_NAME || ptx_word_is(w, "_"))
        ptx_fail(ps, "expected the name of a register, found '%.*s'", w.len, w.text);
    if (ptx_take_mark(ps, '<')) {
        PtxWord number = ptx_next(ps);
        if (number.kind != PTXW_INT || number.number < 1 || number.number > (uint64_t)ps->max_regs)
            ptx_fail(ps, "'%.*s<' needs a number of 1 to %d", w.len, w.text, ps->max_regs);
        count = n.count = ps->failed ? 1 : (int)number.number;
        ptx_expect_mark(ps, '>');
    }
    if (!ps->failed) check_new(ps, w, n.count);
    n.reg = ps->nregs;
    if (ps->nnames == PTX_NAMES_MAX || n.reg + count > ps->max_regs)
        ptx_fail(ps, "too many registers");
    if (ps->failed) return;
    ps->nregs += count;
    ps->names[ps->nnames++] = n;
}

void ptx_parse_declaration(PtxParser *ps)
{
    PtxWord w = ptx_next(ps);
    const PtxType *t =
        w.kind == PTXW_NAME && w.text[0] == '.' ? ptx_type_named(w.text + 1, (size_t)w.len - 1) : NULL;
    if (!t) ptx_fail(ps, "expected the type of registers, found '%.*s'", w.len, w.text);
    do declare(ps, t);
    while (!ps->failed && ptx_take_mark(ps, ','));
    ptx_expect_mark(ps, ';');
}

void ptx_close_scope(PtxParser *ps)
{
    while (ps->nnames && ps->names[ps->nnames - 1].depth == ps->depth) ps->nnames--;
    ps->depth--;
}

static bool goes_with(const PtxType *reg, const PtxType *t)
{
    const bool is_pred = reg->class == PTX_PRED || t->class == PTX_PRED;
    if (is_pred) return reg->class == t->class;
    return reg->class == PTX_BITS || t->class == PTX_BITS || reg->class == t->class;
}

static void fail_operand(PtxParser *ps, PtxWord w, const char *what, const PtxType *t)
{
    ptx_fail(ps, "'%.*s' is no %s for the %s that '%.*s' takes there", w.len, w.text, what, t->name,
             ps->opcode.len, ps->opcode.text);
}

/* A register as an operand of type t. Wider: its low bits are it. */
static int use_register(PtxParser *ps, PtxWord w, const PtxType *t, bool wider, int *bits)
{
    int reg = -1;
    if (w.kind == PTXW_OPERAND && ps->asm_registers) {
        const AsmRegister *r = &ps->asm_registers->r[w.number];
        reg = r->tied >= 0 ? r->tied : (int)w.number;
        *bits = r->bits;
        if ((*bits == 1) != (t->class == PTX_PRED)) reg = -1;
    } else {
        const PtxName *n = w.kind == PTXW_NAME ? ptx_find_name(ps, w, &reg) : NULL;
        if (!n) {
            ptx_fail(ps, "'%.*s' names no register", w.len, w.text);
            return -1;
        }
        *bits = n->type->bits;
        if (!goes_with(n->type, t)) reg = -1;
    }
    if (reg < 0 || (wider ? *bits < t->bits : *bits != t->bits)) fail_operand(ps, w, "register", t);
    return reg;
}

bool ptx_parse_guard(PtxParser *ps, int *reg, bool *negated)
{
    int bits;
    if (!ptx_take_mark(ps, '@')) return false;
    *negated = ptx_take_mark(ps, '!');
    *reg = use_register(ps, ptx_next(ps), ptx_type("pred"), false, &bits);
    return true;
}

/* A register that is read only, of that many bits. */
static PtxSpecial special_named(PtxWord w, int bits)
{
    static const struct {
        const char *name;
        PtxSpecial special;
        int bits;
    } names[] = {
        {"%ctaid.x", PTX_CTAID_X, 32},       {"%ctaid.y", PTX_CTAID_Y, 32},
        {"%ctaid.z", PTX_CTAID_Z, 32},       {"%nctaid.x", PTX_NCTAID_X, 32},
        {"%nctaid.y", PTX_NCTAID_Y, 32},     {"%nctaid.z", PTX_NCTAID_Z, 32},
        {"%clock", PTX_CLOCK, 32},           {"%clock64", PTX_CLOCK, 64},
        {"%clock_hi", PTX_CLOCK_HIGH, 32},   {"%globaltimer", PTX_CLOCK, 64},
        {"%globaltimer_lo", PTX_CLOCK, 32},  {"%globaltimer_hi", PTX_CLOCK_HIGH, 32},
        {"%smid", PTX_SMID, 32},             {"%nsmid", PTX_NSMID, 32},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bits == names[i].bits && ptx_word_is(w, names[i].name)) return names[i].special;
    return PTX_NOT_SPECIAL;
}

/* ---- sources ---- */

static uint64_t float_number(PtxParser *ps, PtxWord w, const PtxType *t)
{
    const bool is_float = t->class == PTX_FLOAT && t->bits >= 32;
    const bool as_bits = t->class == PTX_BITS && t->lanes == 1 && t->bits == (w.single ? 32 : 64);
    if (!is_float && !as_bits) fail_operand(ps, w, "number", t);
    if (!is_float || w.single == (t->bits == 32)) return w.number;
    return tkc_bits_from_double(t->dtype, tkc_bits_to_double(w.single ? DT_F32 : DT_F64, w.number));
}

static PtxSource number_source(PtxParser *ps, PtxWord w, bool minus, const PtxType *t)
{
    PtxSource s = {.reg = -1, .bits = t->bits, .width = t->bits, .number = w.number};
    if (w.kind == PTXW_FLOAT) {
        s.number = float_number(ps, w, t);
        if (minus) s.number ^= UINT64_C(1) << (t->bits - 1);
    } else if (t->class == PTX_PRED) {
        s.number = w.number != 0;
    } else if (t->class == PTX_FLOAT || t->lanes > 1) {
        fail_operand(ps, w, "number", t);
    } else if (minus) {
        s.number = 0 - s.number;
    }
    s.number = ptx_low(s.number, t->bits);
    return s;
}

PtxSource ptx_parse_source(PtxParser *ps, const PtxType *t, bool wider)
{
    const bool minus = ptx_take_mark(ps, '-'), negated = !minus && ptx_take_mark(ps, '!');
    PtxWord w = ptx_next(ps);
    if (w.kind == PTXW_INT || w.kind == PTXW_FLOAT) return number_source(ps, w, minus, t);
    if (w.kind == PTXW_BAD) ptx_fail(ps, "'%.*s' is no number", w.len, w.text);
    if (w.kind == PTXW_NAME && ptx_word_is(w, "WARP_SZ")) {
        w.number = 32;
        return number_source(ps, w, minus, t);
    }
    int bits = 0;
    PtxSource s = {.reg = -1, .bits = t->bits, .width = t->bits, .negated = negated};
    if (w.kind == PTXW_NAME && w.text[0] == '%' && !ptx_find_name(ps, w, NULL)) {
        const bool moves = ps->opcode.len > 4 && !memcmp(ps->opcode.text, "mov.", 4);
        s.special = moves && t->class != PTX_FLOAT ? special_named(w, t->bits) : PTX_NOT_SPECIAL;
        if (!s.special)
            ptx_fail(ps, "the register '%.*s' cannot be read by '%.*s' here", w.len, w.text,
                 ps->opcode.len, ps->opcode.text);
        return s;
    }
    if (ps->symbol && w.kind == PTXW_NAME && !minus && !negated && !ptx_find_name(ps, w, NULL) &&
        ps->symbol(ps, w, t, &s))
        return s;
    s.reg = use_register(ps, w, t, wider, &bits);
    s.width = (uint8_t)bits;
    if (minus || (negated && t->class != PTX_PRED))
        ptx_fail(ps, "'%.*s' cannot be negated", w.len, w.text);
    return s;
}

/* ---- destinations ---- */

PtxDest ptx_parse_dest(PtxParser *ps, const PtxType *t, bool wider, bool may_sink)
{
    PtxWord w = ptx_next(ps);
    PtxDest d = {.reg = -1, .bits = t->bits};
    if (may_sink && w.kind == PTXW_NAME && ptx_word_is(w, "_")) return d;
    int bits = t->bits;
    d.reg = use_register(ps, w, t, wider, &bits);
    d.bits = (uint8_t)bits;
    if (wider && tkc_dtype_info(t->dtype)->kind == DK_INT) d.sign_from = t->bits;
    if (d.reg >= 0 && d.reg < 64) ps->written |= UINT64_C(1) << d.reg;
    return d;
}

/* ---- instructions ---- */

static void add_source(PtxParser *ps, PtxInsn *in, const PtxType *t, bool wider)
{
    if (in->nsources) ptx_expect_mark(ps, ',');
    if (!ps->failed) in->sources[in->nsources++] = ptx_parse_source(ps, t, wider);
}

/* {a, b} or {a, b, c, d}, each the part of t that it must be. The number is known from the
   marks. */
static int list_length(const PtxParser *ps)
{
    int n = 1;
    const char *p = ps->at;
    for (PtxWord w = ptx_word(&p); w.kind != PTXW_END && *w.text != '}'; w = ptx_word(&p))
        n += w.kind == PTXW_MARK && *w.text == ',';
    return n;
}

static void parse_list(PtxParser *ps, PtxInsn *in, const PtxType *t, bool dest)
{
    const int n = list_length(ps);
    const PtxType *part = n == 2 || n == 4 ? ptx_bits_type(t->bits / n) : NULL;
    ptx_expect_mark(ps, '{');
    if (!part)
        ptx_fail(ps, "%d registers do not make one of '%.*s'", n, ps->opcode.len, ps->opcode.text);
    for (int i = 0; i < n && !ps->failed; i++) {
        if (i) ptx_expect_mark(ps, ',');
        if (dest) in->dests[in->ndests++] = ptx_parse_dest(ps, part, false, true);
        else in->sources[in->nsources++] = ptx_parse_source(ps, part, false);
    }
    ptx_expect_mark(ps, '}');
}

static void parse_pred_pair(PtxParser *ps, PtxInsn *in)
{
    const PtxType *pred = ptx_type("pred");
    in->dests[in->ndests++] = ptx_parse_dest(ps, pred, false, true);
    if (ptx_take_mark(ps, '|')) in->dests[in->ndests++] = ptx_parse_dest(ps, pred, false, true);
    else if (in->type->lanes > 1)
        ptx_fail(ps, "'%.*s' has two predicates p|q", ps->opcode.len, ps->opcode.text);
}

/* A float of 32 bits or more fills its register, and so does bf16. */
static bool may_be_wider(const PtxType *t)
{
    return t->class == PTX_INT || t->dtype == DT_F16;
}

static bool is_byte(const PtxSource *s)
{
    return s->reg < 0 && s->number <= 255;
}

/* What the operand of a row's letter is. */
static const PtxType *type_of(const PtxInsn *in, char letter, const PtxType *third)
{
    switch (letter) {
    case 's': case 'S': return in->second;
    case 't': return third;
    case 'w': case 'W': return ptx_bits_type(2 * in->type->bits);
    case 'u': case 'r': case 'k': return ptx_type("u32");
    case 'p': case 'q': case 'c': return ptx_type("pred");
    default: return in->type;
    }
}

/* One operand by the row's letter. */
static void parse_operand(PtxParser *ps, PtxInsn *in, char letter, const PtxType *third)
{
    const PtxType *t = type_of(in, letter, third);
    const uint64_t combining =
        UINT64_C(1) << PTXQ_AND | UINT64_C(1) << PTXQ_OR | UINT64_C(1) << PTXQ_XOR;
    if (letter == 'P') parse_pred_pair(ps, in);
    else if (strchr("vV", letter)) parse_list(ps, in, t, letter == 'V');
    else if (strchr("dDwup", letter))
        in->dests[in->ndests++] = ptx_parse_dest(ps, t, letter == 'D', false);
    else if (letter != 'c' || in->qualifiers & combining)
        add_source(ps, in, t, letter == 'S' && may_be_wider(t));
    if (letter == 'k' && !ps->failed && !is_byte(&in->sources[in->nsources - 1]))
        ptx_fail(ps, "the last operand of '%.*s' is a number of 0 to 255", ps->opcode.len,
                 ps->opcode.text);
}

bool ptx_parse_operands(PtxParser *ps, PtxInsn *in)
{
    const PtxType *types[PTX_TYPES_MAX];
    const PtxRow *row = ptx_find_row(ps, types);
    if (!row) return false;
    in->type = types[0];
    in->second = types[1];
    in->qualifiers = ptx_qualifiers(&ps->parts);
    in->eval = row->eval;
    in->by_lane = in->type->lanes > 1 && strspn(row->operands, "da") == strlen(row->operands);
    for (const char *p = row->operands; *p && !ps->failed; p++) {
        if (p == row->operands + 1) ptx_expect_mark(ps, ',');
        parse_operand(ps, in, *p, types[2]);
    }
    return !ps->failed;
}
