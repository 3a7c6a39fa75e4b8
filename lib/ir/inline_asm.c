/* The registers of inline assembly (tkc/inline_asm.h): the op's types say which are needed, the
   constraints which there are, and both must agree. The text is looked at only for the registers it
   names; its instructions are the business of who runs them. */
#include "tkc/inline_asm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/type.h"

typedef struct Reading {
    const Op *op;
    AsmRegisters *out;
    const char *at; /* in the constraints */
    char *problem;
    size_t size;
} Reading;

/* Says what is wrong, and gives where it is. */
#define fault(rd, where, ...) (snprintf((rd)->problem, (rd)->size, __VA_ARGS__), (where))

/* ---- what the types need ---- */

static const char *element_name(const Type *t)
{
    const Type *e = tkc_type_element(t);
    return e->kind == TY_POINTER ? "a pointer" : tkc_dtype_info(e->dtype)->name;
}

/* Appends the registers of one value. */
static AsmFault need(Reading *rd, const Type *t, int value, int *n)
{
    const int width = type_bits(t), pack = rd->out->pack;
    int each = width < 32 ? 32 / width : 1;
    if (each > pack) each = pack;
    if (width == 1 && pack > 1)
        return fault(rd, ASM_PACK, "elements of int1 have no packed form; pack must be 1");
    if (pack % each || each == 3)
        return fault(rd, ASM_PACK, "%d elements of %s do not fill registers of 32 bits", pack,
                     element_name(t));
    for (int first = 0; first < pack; first += each) {
        if (*n == ASM_MAX_REGISTERS)
            return fault(rd, ASM_PACK, "more than %d registers are needed", ASM_MAX_REGISTERS);
        rd->out->r[(*n)++] = (AsmRegister){.width = (uint8_t)width,
                                           .count = (uint8_t)each,
                                           .value = (int16_t)value,
                                           .first = (int16_t)first,
                                           .tied = -1};
    }
    return ASM_FINE;
}

static AsmFault need_all(Reading *rd)
{
    const Op *op = rd->op;
    int n = 0;
    AsmFault f = ASM_FINE;
    for (int i = 0; i < op->nresults && !f; i++) f = need(rd, op_result(op, i)->type, i, &n);
    rd->out->noutputs = n;
    for (int i = 0; i < op->nargs && !f; i++) f = need(rd, op_arg(op, i)->type, i, &n);
    rd->out->ninputs = n - rd->out->noutputs;
    return f;
}

/* ---- what the constraints say ---- */

static int letter_bits(char letter)
{
    switch (letter) {
    case 'b': return 1;
    case 'h': return 16;
    case 'r':
    case 'f': return 32;
    case 'l':
    case 'd': return 64;
    default: return 0;
    }
}

/* One constraint, blanks around it aside; false at the end. */
static bool next_constraint(Reading *rd, char text[32])
{
    const char *p = rd->at;
    if (!*p) return false;
    const char *end = strchr(p, ',');
    if (!end) end = p + strlen(p);
    rd->at = *end ? end + 1 : end;
    while (p < end && isspace((unsigned char)*p)) p++;
    while (end > p && isspace((unsigned char)end[-1])) end--;
    snprintf(text, 32, "%.*s", (int)(end - p), p);
    return true;
}

static const Type *type_of(const Reading *rd, const AsmRegister *r, bool output)
{
    return output ? op_result(rd->op, r->value)->type : op_arg(rd->op, r->value)->type;
}

/* A register of the constraint's letter for the elements it is to hold. */
static AsmFault set_letter(Reading *rd, AsmRegister *r, bool output, char letter, const char *text)
{
    const int bits = letter_bits(letter), held = r->width * r->count;
    if (!bits)
        return fault(rd, ASM_CONSTRAINTS, "unknown constraint '%s', expected one of b h r l f d",
                     text);
    const bool is_float = letter == 'f' || letter == 'd';
    if (held > bits || (is_float && held != bits))
        return fault(rd, ASM_CONSTRAINTS,
                     "constraint '%s' is a register of %d bits, but %s %d puts %d bits in it "
                     "(%d of %s)",
                     text, bits, output ? "result" : "operand", r->value + 1, held, r->count,
                     element_name(type_of(rd, r, output)));
    r->letter = letter;
    r->bits = (uint8_t)bits;
    return ASM_FINE;
}

static AsmFault tie(Reading *rd, AsmRegister *r, const char *text)
{
    const AsmRegisters *out = rd->out;
    char *end;
    long which = strtol(text, &end, 10);
    if (*end || which < 0 || which >= out->noutputs)
        return fault(rd, ASM_CONSTRAINTS, "constraint '%s' names no output", text);
    for (const AsmRegister *o = out->r + out->noutputs; o < r; o++) {
        if (o->tied == which)
            return fault(rd, ASM_CONSTRAINTS, "output %ld is named by two inputs", which);
    }
    r->tied = (int16_t)which;
    return set_letter(rd, r, false, out->r[which].letter, text);
}

static AsmFault count_fault(Reading *rd, const char *what, int found, const char *whose, int wanted)
{
    return fault(rd, ASM_CONSTRAINTS, "'constraints' has %d %s%s, but %s take %d register%s", found,
                 what, found == 1 ? "" : "s", whose, wanted, wanted == 1 ? "" : "s");
}

/* A clobber, or the register behind those read so far. */
static AsmFault read_one(Reading *rd, const char *text, int *noutputs, int *ninputs)
{
    AsmRegisters *out = rd->out;
    if (*text == '~') return ASM_FINE;
    const bool output = *text == '=';
    if (output && *ninputs)
        return fault(rd, ASM_CONSTRAINTS, "output '%s' stands behind an input", text);
    const char *letter = output ? text + 1 + (text[1] == '&') : text;
    const int at = output ? (*noutputs)++ : (*ninputs)++;
    if (at >= (output ? out->noutputs : out->ninputs)) return ASM_FINE; /* counted, and refused */
    AsmRegister *r = &out->r[output ? at : out->noutputs + at];
    if (!output && isdigit((unsigned char)*letter)) return tie(rd, r, letter);
    const bool single = *letter && !letter[1];
    return set_letter(rd, r, output, single ? *letter : 0, text);
}

static AsmFault read_constraints(Reading *rd)
{
    const AsmRegisters *out = rd->out;
    char text[32];
    int noutputs = 0, ninputs = 0;
    AsmFault f = ASM_FINE;
    while (!f && next_constraint(rd, text)) f = read_one(rd, text, &noutputs, &ninputs);
    if (f) return f;
    if (noutputs != out->noutputs)
        return count_fault(rd, "output", noutputs, "the results", out->noutputs);
    if (ninputs != out->ninputs)
        return count_fault(rd, "input", ninputs, "the operands", out->ninputs);
    return ASM_FINE;
}

/* ---- the text ---- */

/* Every $ names a register, $2 or ${2}, or is half of $$, which stands for the character. */
static AsmFault check_text(Reading *rd, const char *text)
{
    const int n = rd->out->noutputs + rd->out->ninputs;
    for (const char *p = strchr(text, '$'); p; p = strchr(p, '$')) {
        const bool braced = *++p == '{';
        if (*p == '$') {
            p++;
            continue;
        }
        char *end;
        p += braced;
        if (!isdigit((unsigned char)*p))
            return fault(rd, ASM_TEXT, "'$' is followed by no number of a register");
        long which = strtol(p, &end, 10);
        if (braced && *end != '}') return fault(rd, ASM_TEXT, "'${%ld' does not end in '}'", which);
        if (which >= n)
            return fault(rd, ASM_TEXT, "'$%ld' names no register: 'constraints' has %d", which, n);
        p = end;
    }
    return ASM_FINE;
}

AsmFault tkc_asm_registers(const Op *op, AsmRegisters *out, char *problem, size_t size)
{
    Reading rd = {.op = op,
                  .out = out,
                  .at = tkc_op_str(op, ATTR_CONSTRAINTS, ""),
                  .problem = problem,
                  .size = size};
    *out = (AsmRegisters){.pack = (int)tkc_op_int(op, ATTR_PACK, 1)};
    AsmFault f = ASM_FINE;
    if (out->pack < 1 || out->pack > ASM_MAX_PACK)
        f = fault(&rd, ASM_PACK, "pack is %d, expected 1 to %d", out->pack, ASM_MAX_PACK);
    if (!f) f = need_all(&rd);
    if (!f) f = read_constraints(&rd);
    return f ? f : check_text(&rd, tkc_op_str(op, ATTR_ASM, ""));
}
