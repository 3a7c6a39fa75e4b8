/* Text of PTX to a program. A statement is a scope's brace, a declaration of registers, or an
   instruction with its guard. An instruction's name is taken apart at its dots; what is found must
   fit a row of the table, whose operand letters then say what is to come.

   Sizes and classes of registers are held to the types as an assembler does it, so that what runs
   here is accepted there. Registers of the constraints have a size and no class. */
#include "ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lex.h"
#include "tkc/edge.h"

enum { NAMES_MAX = 256, TYPES_MAX = 3, LIST_MAX = 4, REGISTERS_MAX = 4096 };

static const PtxType types[] = {
#define PTX_TYPE(name, class, bits, lanes, dt) {name, PTX_##class, bits, lanes, DT_##dt},
#include "types.def"
#undef PTX_TYPE
};

static const char *const qualifiers[] = {
#define PTX_QUALIFIER(ID, text) text,
#include "qualifiers.def"
#undef PTX_QUALIFIER
};
_Static_assert(PTXQ_COUNT <= 64, "a set of qualifiers is 64 bits");

typedef struct Row {
    const char *name, *qualifiers, *types, *second, *operands;
    PtxEval *eval;
} Row;
static const Row rows[] = {
#define PTX(name, qualifiers, types, second, operands, eval)                                       \
    {#name, qualifiers, types, second, operands, ptx_##eval},
#include "insn.def"
#undef PTX
};

/* Instructions without operands that have nothing to do here: programs of this device do not
   overlap in a way that these could order. */
static const char *const without_effect[] = {"griddepcontrol.wait",
                                             "griddepcontrol.launch_dependents"};

/* t<4> declares t0 … t3. */
typedef struct Name {
    const char *text;
    int len, depth, reg, count; /* count 0: the one register of that name */
    const PtxType *type;
} Name;

typedef struct Parser {
    const char *at;
    PtxWord word; /* the next */
    const AsmRegisters *asm_registers;
    PtxProgram *program;
    Name names[NAMES_MAX];
    int nnames, depth;
    PtxWord opcode;
    uint64_t written; /* outputs below 64 */
    char *problem;
    size_t size;
    bool failed;
} Parser;

/* The first problem stays. */
static void fail(Parser *ps, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fail(Parser *ps, const char *fmt, ...)
{
    va_list ap;
    if (ps->failed) return;
    va_start(ap, fmt);
    vsnprintf(ps->problem, ps->size, fmt, ap);
    va_end(ap);
    ps->failed = true;
}

static PtxWord next(Parser *ps)
{
    PtxWord w = ps->word;
    ps->word = ptx_word(&ps->at);
    return w;
}

static bool is_mark(const Parser *ps, char mark)
{
    return ps->word.kind == PTXW_MARK && ps->word.text[0] == mark;
}

static bool take_mark(Parser *ps, char mark)
{
    if (!is_mark(ps, mark)) return false;
    next(ps);
    return true;
}

static void expect_mark(Parser *ps, char mark)
{
    if (take_mark(ps, mark)) return;
    if (ps->word.kind == PTXW_END) fail(ps, "'%c' is missing at the end", mark);
    else fail(ps, "expected '%c', found '%.*s'", mark, ps->word.len, ps->word.text);
}

/* ---- types and qualifiers ---- */

static const PtxType *type_named(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) == len && !memcmp(types[i].name, text, len)) return &types[i];
    }
    return NULL;
}

static int qualifier_named(const char *text, size_t len)
{
    for (int i = 0; i < PTXQ_COUNT; i++) {
        if (strlen(qualifiers[i]) == len && !memcmp(qualifiers[i], text, len)) return i;
    }
    return -1;
}

/* A word of the list, up to its end or a '/'. */
static bool has_type(const char *list, const PtxType *t)
{
    size_t len;
    for (; *list && *list != '/'; list += len + (list[len] == ' ')) {
        len = strcspn(list, " /");
        if (type_named(list, len) == t) return true;
    }
    return false;
}

/* Each group of the row has one of its alternatives in the set, an optional one at most one; and
   nothing is left over. */
static bool fits_qualifiers(const char *groups, uint64_t set)
{
    while (*groups) {
        const size_t len = strcspn(groups, " ");
        const bool optional = groups[len - 1] == '?';
        int found = 0;
        for (size_t i = 0, end = len - optional, n; i < end; i += n + 1) {
            n = strcspn(groups + i, "|? ");
            uint64_t bit = UINT64_C(1) << qualifier_named(groups + i, n);
            found += (set & bit) != 0;
            set &= ~bit;
        }
        if (found > 1 || (!found && !optional)) return false;
        groups += len + (groups[len] == ' ');
    }
    return set == 0;
}

/* An instruction's name taken apart. */
typedef struct Parts {
    const char *name;
    size_t len;
    uint64_t qualifiers;
    const PtxType *types[TYPES_MAX];
    int ntypes;
} Parts;

/* False: there is a part that nobody knows. */
static bool take_apart(PtxWord w, Parts *out)
{
    const char *end = w.text + w.len;
    *out = (Parts){.name = w.text, .len = strcspn(w.text, ".")};
    if (out->len > (size_t)w.len) out->len = (size_t)w.len;
    for (const char *p = w.text + out->len; p < end;) {
        size_t len = 0;
        for (p++; p + len < end && p[len] != '.';) len++;
        const PtxType *t = type_named(p, len);
        const int q = qualifier_named(p, len);
        if (q >= 0) out->qualifiers |= UINT64_C(1) << q;
        else if (t && out->ntypes < TYPES_MAX) out->types[out->ntypes++] = t;
        else return false;
        p += len;
    }
    return true;
}

static bool fits_types(const Row *row, const Parts *parts)
{
    const char *third = strchr(row->second, '/');
    const char *const lists[TYPES_MAX] = {row->types, row->second, third ? third + 1 : ""};
    for (int i = 0; i < TYPES_MAX; i++) {
        if (!*lists[i]) return parts->ntypes == i;
        if (i >= parts->ntypes || !has_type(lists[i], parts->types[i])) return false;
    }
    return parts->ntypes == TYPES_MAX;
}

static bool is_named(const Row *row, const Parts *parts)
{
    return strlen(row->name) == parts->len && !memcmp(row->name, parts->name, parts->len);
}

/* Lists stand where the row has them. */
static bool fits_lists(const Row *row, bool to_list, bool from_list)
{
    const bool has_source_list = strchr(row->operands, 'v') != NULL;
    return (row->operands[0] == 'V') == to_list && has_source_list == from_list;
}

static const Row *find_row(Parser *ps, const Parts *parts, bool understood, bool to_list,
                           bool from_list)
{
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_named(&rows[i], parts)) continue;
        known = true;
        if (understood && fits_types(&rows[i], parts) && fits_lists(&rows[i], to_list, from_list) &&
            fits_qualifiers(rows[i].qualifiers, parts->qualifiers))
            return &rows[i];
    }
    fail(ps, known ? "'%.*s' is no form of the instruction that is known here"
                   : "the instruction '%.*s' is not known here",
         ps->opcode.len, ps->opcode.text);
    return NULL;
}

/* ---- registers ---- */

static const Name *find_name(const Parser *ps, PtxWord w, int *reg)
{
    for (int i = ps->nnames - 1; i >= 0; i--) {
        const Name *n = &ps->names[i];
        if (w.len < n->len || memcmp(w.text, n->text, (size_t)n->len)) continue;
        int number = 0, digits = w.len - n->len;
        if (!n->count && !digits) return *reg = n->reg, n;
        for (int k = n->len; k < w.len; k++) {
            if (w.text[k] < '0' || w.text[k] > '9' || number > REGISTERS_MAX) number = n->count;
            else number = number * 10 + w.text[k] - '0';
        }
        bool plain = digits == 1 || (digits > 1 && w.text[n->len] != '0');
        if (plain && number < n->count) return *reg = n->reg + number, n;
    }
    return NULL;
}

static void declare(Parser *ps, const PtxType *type)
{
    PtxWord w = next(ps);
    Name n = {.text = w.text, .len = w.len, .depth = ps->depth, .type = type};
    int count = 1, unused;
    if (w.kind != PTXW_NAME)
        fail(ps, "expected the name of a register, found '%.*s'", w.len, w.text);
    const Name *before = ps->failed ? NULL : find_name(ps, w, &unused);
    if (before && before->depth == ps->depth)
        fail(ps, "the register '%.*s' is declared twice", w.len, w.text);
    if (take_mark(ps, '<')) {
        PtxWord number = next(ps);
        if (number.kind != PTXW_INT || number.number < 1 || number.number > REGISTERS_MAX)
            fail(ps, "'%.*s<' needs a number of 1 to %d", w.len, w.text, REGISTERS_MAX);
        count = n.count = ps->failed ? 1 : (int)number.number;
        expect_mark(ps, '>');
    }
    n.reg = ps->program->nregs;
    if (ps->nnames == NAMES_MAX || n.reg + count > REGISTERS_MAX) fail(ps, "too many registers");
    if (ps->failed) return;
    ps->program->nregs += count;
    ps->names[ps->nnames++] = n;
}

static void parse_declaration(Parser *ps)
{
    PtxWord w = next(ps);
    const PtxType *t =
        w.kind == PTXW_NAME && w.text[0] == '.' ? type_named(w.text + 1, (size_t)w.len - 1) : NULL;
    if (!t) fail(ps, "expected the type of registers, found '%.*s'", w.len, w.text);
    do declare(ps, t);
    while (!ps->failed && take_mark(ps, ','));
    expect_mark(ps, ';');
}

static bool goes_with(const PtxType *reg, const PtxType *t)
{
    const bool is_pred = reg->class == PTX_PRED || t->class == PTX_PRED;
    if (is_pred) return reg->class == t->class;
    return reg->class == PTX_BITS || t->class == PTX_BITS || reg->class == t->class;
}

/* A register as an operand of type t. Wider: its low bits are it. */
static int use_register(Parser *ps, PtxWord w, const PtxType *t, bool wider, int *bits)
{
    int reg = -1;
    if (w.kind == PTXW_OPERAND) {
        const AsmRegister *r = &ps->asm_registers->r[w.number];
        reg = r->tied >= 0 ? r->tied : (int)w.number;
        *bits = r->bits;
        if ((*bits == 1) != (t->class == PTX_PRED)) reg = -1;
    } else {
        const Name *n = w.kind == PTXW_NAME ? find_name(ps, w, &reg) : NULL;
        if (!n) {
            fail(ps, "'%.*s' names no register", w.len, w.text);
            return -1;
        }
        *bits = n->type->bits;
        if (!goes_with(n->type, t)) reg = -1;
    }
    if (reg < 0 || (wider ? *bits < t->bits : *bits != t->bits))
        fail(ps, "'%.*s' is no register for the %s that '%.*s' takes there", w.len, w.text, t->name,
             ps->opcode.len, ps->opcode.text);
    return reg;
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (bits == names[i].bits && ptx_word_is(w, names[i].name)) return names[i].special;
    }
    return PTX_NOT_SPECIAL;
}

/* ---- sources ---- */

static uint64_t float_number(Parser *ps, PtxWord w, const PtxType *t)
{
    const bool is_float = t->class == PTX_FLOAT && t->bits >= 32;
    const bool as_bits = t->class == PTX_BITS && t->lanes == 1 && t->bits == (w.single ? 32 : 64);
    if (!is_float && !as_bits)
        fail(ps, "'%.*s' is no number for the %s that '%.*s' takes there", w.len, w.text, t->name,
             ps->opcode.len, ps->opcode.text);
    if (!is_float || w.single == (t->bits == 32)) return w.number;
    return tkc_bits_from_double(t->dtype,
                                tkc_bits_to_double(w.single ? DT_F32 : DT_F64, w.number));
}

static PtxSource number_source(Parser *ps, PtxWord w, bool minus, const PtxType *t)
{
    PtxSource s = {.reg = -1, .bits = t->bits, .width = t->bits, .number = w.number};
    if (w.kind == PTXW_FLOAT) {
        s.number = float_number(ps, w, t);
        if (minus) s.number ^= UINT64_C(1) << (t->bits - 1);
    } else if (t->class == PTX_FLOAT || t->class == PTX_PRED || t->lanes > 1) {
        fail(ps, "'%.*s' is no number for the %s that '%.*s' takes there", w.len, w.text, t->name,
             ps->opcode.len, ps->opcode.text);
    } else if (minus) {
        s.number = 0 - s.number;
    }
    s.number = ptx_low(s.number, t->bits);
    return s;
}

static PtxSource parse_source(Parser *ps, const PtxType *t, bool wider)
{
    const bool minus = take_mark(ps, '-'), negated = !minus && take_mark(ps, '!');
    PtxWord w = next(ps);
    if (w.kind == PTXW_INT || w.kind == PTXW_FLOAT) return number_source(ps, w, minus, t);
    if (w.kind == PTXW_BAD) fail(ps, "'%.*s' is no number", w.len, w.text);
    if (w.kind == PTXW_NAME && ptx_word_is(w, "WARP_SZ")) {
        w.number = 32;
        return number_source(ps, w, minus, t);
    }
    int bits = 0, unused;
    PtxSource s = {.reg = -1, .bits = t->bits, .width = t->bits, .negated = negated};
    if (w.kind == PTXW_NAME && w.text[0] == '%' && !find_name(ps, w, &unused)) {
        const bool moves = ps->opcode.len > 4 && !memcmp(ps->opcode.text, "mov.", 4);
        s.special = moves && t->class != PTX_FLOAT ? special_named(w, t->bits) : PTX_NOT_SPECIAL;
        if (!s.special)
            fail(ps, "the register '%.*s' cannot be read by '%.*s' here", w.len, w.text,
                 ps->opcode.len, ps->opcode.text);
        return s;
    }
    s.reg = use_register(ps, w, t, wider, &bits);
    s.width = (uint8_t)bits;
    if (minus || (negated && t->class != PTX_PRED))
        fail(ps, "'%.*s' cannot be negated", w.len, w.text);
    return s;
}

/* ---- destinations ---- */

static PtxDest parse_dest(Parser *ps, const PtxType *t, bool wider, bool may_sink)
{
    PtxWord w = next(ps);
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

static const PtxType *bits_type(int bits)
{
    char name[8];
    snprintf(name, sizeof name, "b%d", bits);
    return type_named(name, strlen(name));
}

static void add_source(Parser *ps, PtxInsn *in, const PtxType *t, bool wider)
{
    if (in->nsources) expect_mark(ps, ',');
    if (!ps->failed) in->sources[in->nsources++] = parse_source(ps, t, wider);
}

/* {a, b} or {a, b, c, d}, each the part of t that it must be. The number is known from the
   marks. */
static int list_length(const Parser *ps)
{
    int n = 1;
    const char *p = ps->at;
    for (PtxWord w = ptx_word(&p); w.kind != PTXW_END && *w.text != '}'; w = ptx_word(&p))
        n += w.kind == PTXW_MARK && *w.text == ',';
    return n;
}

static void parse_list(Parser *ps, PtxInsn *in, const PtxType *t, bool dest)
{
    const int n = list_length(ps);
    const PtxType *part = n == 2 || n == 4 ? bits_type(t->bits / n) : NULL;
    expect_mark(ps, '{');
    if (!part)
        fail(ps, "%d registers do not make one of '%.*s'", n, ps->opcode.len, ps->opcode.text);
    for (int i = 0; i < n && !ps->failed; i++) {
        if (i) expect_mark(ps, ',');
        if (dest) in->dests[in->ndests++] = parse_dest(ps, part, false, true);
        else in->sources[in->nsources++] = parse_source(ps, part, false);
    }
    expect_mark(ps, '}');
}

static void parse_pred_pair(Parser *ps, PtxInsn *in)
{
    const PtxType *pred = type_named("pred", 4);
    in->dests[in->ndests++] = parse_dest(ps, pred, false, true);
    if (take_mark(ps, '|')) in->dests[in->ndests++] = parse_dest(ps, pred, false, true);
    else if (in->type->lanes > 1)
        fail(ps, "'%.*s' has two predicates p|q", ps->opcode.len, ps->opcode.text);
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

/* One operand by the row's letter. */
static void parse_operand(Parser *ps, PtxInsn *in, char letter, const PtxType *third)
{
    const PtxType *pred = type_named("pred", 4), *word = type_named("u32", 3), *t = in->type;
    const uint64_t combining =
        UINT64_C(1) << PTXQ_AND | UINT64_C(1) << PTXQ_OR | UINT64_C(1) << PTXQ_XOR;
    switch (letter) {
    case 'd': in->dests[in->ndests++] = parse_dest(ps, t, false, false); break;
    case 'D': in->dests[in->ndests++] = parse_dest(ps, t, true, false); break;
    case 'w': in->dests[in->ndests++] = parse_dest(ps, bits_type(2 * t->bits), false, false); break;
    case 'u': in->dests[in->ndests++] = parse_dest(ps, word, false, false); break;
    case 'p': in->dests[in->ndests++] = parse_dest(ps, pred, false, false); break;
    case 'P': parse_pred_pair(ps, in); break;
    case 'V': parse_list(ps, in, t, true); break;
    case 'v': parse_list(ps, in, t, false); break;
    case 'a': add_source(ps, in, t, false); break;
    case 's': add_source(ps, in, in->second, false); break;
    case 'S': add_source(ps, in, in->second, may_be_wider(in->second)); break;
    case 't': add_source(ps, in, third, false); break;
    case 'W': add_source(ps, in, bits_type(2 * t->bits), false); break;
    case 'r': add_source(ps, in, word, false); break;
    case 'q': add_source(ps, in, pred, false); break;
    case 'c':
        if (in->qualifiers & combining) add_source(ps, in, pred, false);
        break;
    case 'k':
        add_source(ps, in, word, false);
        if (!ps->failed && !is_byte(&in->sources[in->nsources - 1]))
            fail(ps, "the last operand of '%.*s' is a number of 0 to 255", ps->opcode.len,
                 ps->opcode.text);
        break;
    }
}

static void parse_operands(Parser *ps, PtxInsn *in, const Row *row, const Parts *parts)
{
    in->type = parts->types[0];
    in->second = parts->types[1];
    in->qualifiers = parts->qualifiers;
    in->eval = row->eval;
    in->by_lane = in->type->lanes > 1 && strspn(row->operands, "da") == strlen(row->operands);
    for (const char *p = row->operands; *p && !ps->failed; p++) {
        if (p == row->operands + 1) expect_mark(ps, ',');
        parse_operand(ps, in, *p, parts->types[2]);
    }
}

/* Whether a list stands among the operands behind the first. */
static bool has_list_behind(const Parser *ps)
{
    const char *p = ps->at;
    for (PtxWord w = ptx_word(&p); w.kind != PTXW_END && *w.text != ';'; w = ptx_word(&p)) {
        if (w.kind == PTXW_MARK && *w.text == '{') return true;
    }
    return false;
}

static bool is_without_effect(PtxWord w)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++) {
        if (ptx_word_is(w, without_effect[i])) return true;
    }
    return false;
}

static void parse_instruction(Parser *ps)
{
    PtxInsn in = {0};
    Parts parts;
    int bits;
    if (take_mark(ps, '@')) {
        in.guarded = true;
        in.guard_not = take_mark(ps, '!');
        in.guard = use_register(ps, next(ps), type_named("pred", 4), false, &bits);
    }
    ps->opcode = next(ps);
    if (ps->opcode.kind != PTXW_NAME)
        fail(ps, "expected an instruction, found '%.*s'", ps->opcode.len, ps->opcode.text);
    else if (ps->opcode.text[ps->opcode.len - 1] == ':')
        fail(ps, "the label '%.*s' has no use on the cpu device, which runs no branches",
             ps->opcode.len, ps->opcode.text);
    if (ps->failed) return;
    if (!is_without_effect(ps->opcode)) {
        const bool understood = take_apart(ps->opcode, &parts), to_list = is_mark(ps, '{');
        const Row *row = find_row(ps, &parts, understood, to_list, !to_list && has_list_behind(ps));
        if (row) parse_operands(ps, &in, row, &parts);
        if (!ps->failed) ps->program->insns[ps->program->ninsns++] = in;
    }
    expect_mark(ps, ';');
}

static void close_scope(Parser *ps)
{
    next(ps);
    if (!ps->depth) fail(ps, "'}' closes nothing");
    while (ps->nnames && ps->names[ps->nnames - 1].depth == ps->depth) ps->nnames--;
    ps->depth--;
}

static void parse_statement(Parser *ps)
{
    if (is_mark(ps, '{')) {
        next(ps);
        ps->depth++;
    } else if (is_mark(ps, '}')) {
        close_scope(ps);
    } else if (is_mark(ps, ';')) {
        next(ps);
    } else if (ps->word.kind == PTXW_NAME && ptx_word_is(ps->word, ".reg")) {
        next(ps);
        parse_declaration(ps);
    } else {
        parse_instruction(ps);
    }
}

/* ---- the program ---- */

/* What an output that nothing writes holds is left to chance on a GPU. */
static void check_written(Parser *ps)
{
    const AsmRegisters *regs = ps->asm_registers;
    for (int i = 0; i < regs->noutputs && i < 64; i++) {
        bool given = ps->written >> i & 1;
        for (int k = regs->noutputs; k < regs->noutputs + regs->ninputs; k++)
            given |= regs->r[k].tied == i;
        if (!given) fail(ps, "no instruction writes the output '$%d'", i);
    }
}

static PtxProgram *new_program(const char *text, const AsmRegisters *regs, PtxMemory memory)
{
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ';';
    PtxProgram *program = memory.take(memory.user, 1, sizeof *program);
    if (!program) return NULL;
    program->insns = memory.take(memory.user, n, sizeof *program->insns);
    program->nregs = regs->noutputs + regs->ninputs;
    return program->insns ? program : NULL;
}

const PtxProgram *ptx_parse(const char *text, const AsmRegisters *asm_registers, PtxMemory memory,
                            char *problem, size_t size)
{
    *problem = 0;
    Parser ps = {.at = text, .asm_registers = asm_registers, .problem = problem, .size = size};
    ps.program = new_program(text, asm_registers, memory);
    if (!ps.program) return NULL;
    next(&ps);
    while (!ps.failed && ps.word.kind != PTXW_END) parse_statement(&ps);
    if (ps.depth) fail(&ps, "'}' is missing at the end");
    check_written(&ps);
    return ps.failed ? NULL : ps.program;
}
