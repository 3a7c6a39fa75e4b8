/* Written as Triton writes it in signatures; there are no others. */
#include "spec/descriptor_type.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "tensordesc<";

bool descriptor_type_is(const char *text)
{
    return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

/* Digits and blanks up to one of `ends`; 0 when that is not an extent. */
static int32_t read_extent(const char **p, const char *end)
{
    const char *s = *p;
    int64_t n = 0;
    while (s < end && *s == ' ') s++;
    for (; s < end && *s >= '0' && *s <= '9' && n < INT32_MAX; s++) n = n * 10 + (*s - '0');
    while (s < end && *s == ' ') s++;
    *p = s;
    return s < end && (*s == ',' || *s == ']') && n < INT32_MAX ? (int32_t)n : 0;
}

const Type *descriptor_type_parse(TypeTable *t, const char *text, size_t len)
{
    const char *p = text + sizeof prefix - 1, *end = text + len;
    if (len < sizeof prefix || !descriptor_type_is(text) || end[-1] != '>') return NULL;
    const char *bracket = memchr(p, '[', (size_t)(end - p));
    const Type *elem = bracket ? type_parse(t, p, (size_t)(bracket - p)) : NULL;
    if (!elem || elem->kind != TY_SCALAR) return NULL;
    int32_t dims[TKC_MAX_RANK];
    int rank = 0;
    p = bracket;
    do {
        if (rank == TKC_MAX_RANK) return NULL;
        p++;
        dims[rank] = read_extent(&p, end);
        if (dims[rank++] == 0) return NULL;
    } while (*p == ',');
    return p + 2 == end ? type_block(t, elem, rank, dims, NULL) : NULL;
}
