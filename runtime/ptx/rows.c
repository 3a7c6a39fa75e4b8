/* Types, qualifiers and rows of the table of instructions. An instruction's name is taken apart at
   its dots; what is found must fit a row, whose operand letters then say what is to come. */
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

static int qualifier_named(const char *text, size_t len)
{
    for (int i = 0; i < PTXQ_COUNT; i++)
        if (strlen(qualifiers[i]) == len && !memcmp(qualifiers[i], text, len)) return i;
    return -1;
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

/* False: there is a part that nobody knows. */
bool ptx_take_apart(PtxWord w, PtxParts *out)
{
    const char *end = w.text + w.len;
    *out = (PtxParts){.name = w.text, .len = strcspn(w.text, ".")};
    if (out->len > (size_t)w.len) out->len = (size_t)w.len;
    for (const char *p = w.text + out->len; p < end;) {
        size_t len = 0;
        for (p++; p + len < end && p[len] != '.';) len++;
        const PtxType *t = ptx_type_named(p, len);
        const int q = qualifier_named(p, len);
        if (q >= 0) out->qualifiers |= UINT64_C(1) << q;
        else if (t && out->ntypes < PTX_TYPES_MAX) out->types[out->ntypes++] = t;
        else return false;
        p += len;
    }
    return true;
}

static bool fits_types(const PtxRow *row, const PtxParts *parts)
{
    const char *third = strchr(row->second, '/');
    const char *const lists[PTX_TYPES_MAX] = {row->types, row->second, third ? third + 1 : ""};
    for (int i = 0; i < PTX_TYPES_MAX; i++) {
        if (!*lists[i]) return parts->ntypes == i;
        if (i >= parts->ntypes || !ptx_type_is_among(parts->types[i], lists[i])) return false;
    }
    return parts->ntypes == PTX_TYPES_MAX;
}

static bool is_named(const PtxRow *row, const PtxParts *parts)
{
    return strlen(row->name) == parts->len && !memcmp(row->name, parts->name, parts->len);
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

const PtxRow *ptx_find_row(PtxParser *ps, const PtxParts *parts, bool understood)
{
    const bool to_list = ptx_at_mark(ps, '{'), from_list = !to_list && ptx_has_list_behind(ps);
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_named(&rows[i], parts)) continue;
        known = true;
        if (understood && fits_types(&rows[i], parts) && fits_lists(&rows[i], to_list, from_list) &&
            fits_qualifiers(rows[i].qualifiers, parts->qualifiers))
            return &rows[i];
    }
    ptx_fail(ps, known ? "'%.*s' is no form of the instruction that is known here"
                   : "the instruction '%.*s' is not known here",
         ps->opcode.len, ps->opcode.text);
    return NULL;
}
