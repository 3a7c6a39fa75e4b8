/* Types, qualifiers and rows of the table of instructions. An instruction's name is taken apart at
   its dots; a row takes what it knows of it, whose operand letters then say what is to come. */
#include "parser.h"

#include <stdio.h>
#include <string.h>

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

static const PtxRow rows[] = {
#define PTX(name, qualifiers, types, second, operands, eval)                                       \
    {#name, qualifiers, types, second, operands, ptx_##eval},
#include "insn.def"
};

const PtxType *ptx_type_named(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && !memcmp(types[i].name, text, len)) return &types[i];
    return NULL;
}

const PtxType *ptx_type(const char *name)
{
    return ptx_type_named(name, strlen(name));
}

const PtxType *ptx_bits_type(int bits)
{
    char name[8];
    snprintf(name, sizeof name, "b%d", bits);
    return ptx_type(name);
}

bool ptx_type_is_among(const PtxType *t, const char *list)
{
    const size_t n = t ? strlen(t->name) : 0;
    for (size_t len; n && *list && *list != '/'; list += len + (list[len] == ' ')) {
        len = strcspn(list, " /");
        if (len == n && !memcmp(list, t->name, n)) return true;
    }
    return false;
}

/* ---- names ---- */

PtxParts ptx_take_apart(PtxWord w)
{
    PtxParts out = {.n = 0};
    const char *end = w.text + w.len;
    for (const char *p = w.text; p < end && out.n < PTX_PARTS_MAX; out.n++) {
        const bool is_last = out.n + 1 == PTX_PARTS_MAX; /* all the rest */
        size_t len = 0;
        while (p + len < end && (p[len] != '.' || is_last)) len++;
        out.part[out.n] = p;
        out.len[out.n] = (int)len;
        p += len + 1;
    }
    return out;
}

bool ptx_part_is(const PtxParts *parts, int i, const char *text, size_t len)
{
    return (size_t)parts->len[i] == len && !memcmp(parts->part[i], text, len);
}

static bool take(PtxParts *parts, const char *text, size_t len)
{
    for (int i = 1; i < parts->n; i++)
        if (!parts->taken[i] && ptx_part_is(parts, i, text, len)) return parts->taken[i] = true;
    return false;
}

int ptx_choose(PtxParts *parts, const char *choices, char between)
{
    for (int which = 0;; which++) {
        const size_t len = strcspn(choices, " |?.");
        if (take(parts, choices, len)) return which;
        choices += len;
        if (*choices++ != between) return -1;
    }
}

const PtxType *ptx_take_type(PtxParts *parts)
{
    const PtxType *t = NULL;
    PTX_FIRST(parts, t, ptx_type_named);
    return t;
}

bool ptx_all_taken(const PtxParts *parts)
{
    for (int i = 1; i < parts->n; i++)
        if (!parts->taken[i]) return false;
    return true;
}

uint64_t ptx_qualifiers(const PtxParts *parts)
{
    uint64_t set = 0;
    for (int q = 0; q < PTXQ_COUNT; q++)
        for (int i = 1; i < parts->n; i++)
            set |= (uint64_t)ptx_part_is(parts, i, qualifiers[q], strlen(qualifiers[q])) << q;
    return set;
}

/* ---- rows ---- */

/* Each group of the row has one of its alternatives in the name, an optional one at most one; then
   come the types, and nothing is left over. */
static bool fits_name(const PtxRow *row, PtxParts *parts, const PtxType *found[PTX_TYPES_MAX])
{
    const char *third = strchr(row->second, '/');
    const char *const lists[PTX_TYPES_MAX] = {row->types, row->second, third ? third + 1 : ""};
    memset(parts->taken, 0, sizeof parts->taken);
    for (const char *p = row->qualifiers; *p; p += strspn(p, " ")) {
        const int which = ptx_choose(parts, p, '|');
        p += strcspn(p, " ");
        if (which < 0 && p[-1] != '?') return false;
    }
    for (int i = 0; i < PTX_TYPES_MAX; i++) {
        found[i] = *lists[i] ? ptx_take_type(parts) : NULL;
        if (*lists[i] && !ptx_type_is_among(found[i], lists[i])) return false;
    }
    return ptx_all_taken(parts);
}

/* Lists stand where the row has them. */
static bool fits_lists(const PtxRow *row, bool to_list, bool from_list)
{
    const bool has_source_list = strchr(row->operands, 'v') != NULL;
    return (row->operands[0] == 'V') == to_list && has_source_list == from_list;
}

bool ptx_has_list_behind(const PtxParser *ps)
{
    const char *p = ps->at;
    for (PtxWord w = ptx_word(&p); w.kind != PTXW_END && *w.text != ';'; w = ptx_word(&p))
        if (w.kind == PTXW_MARK && *w.text == '{') return true;
    return false;
}

const PtxRow *ptx_find_row(PtxParser *ps, const PtxType *found[PTX_TYPES_MAX])
{
    const bool to_list = ptx_at_mark(ps, '{'), from_list = !to_list && ptx_has_list_behind(ps);
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!ptx_part_is(&ps->parts, 0, rows[i].name, strlen(rows[i].name))) continue;
        known = true;
        if (fits_lists(&rows[i], to_list, from_list) && fits_name(&rows[i], &ps->parts, found))
            return &rows[i];
    }
    ptx_fail(ps, known ? "'%.*s' is no form of the instruction that is known here"
                   : "the instruction '%.*s' is not known here",
         ps->opcode.len, ps->opcode.text);
    return NULL;
}
