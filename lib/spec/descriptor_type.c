/* Written as Triton writes it in signatures, and with the padding, which Triton's text leaves out:

       tensordesc<fp16[64, 128]>    tensordesc<fp16[64, 128], padding=nan> */
#include "spec/annotation.h"

#include <string.h>

#include "base/buf.h"

static const char prefix[] = "tensordesc<";

bool tkc_is_descriptor_type(const char *text)
{
    return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

typedef struct Reader { const char *p, *end; } Reader;

static bool accept(Reader *r, const char *word)
{
    size_t n = strlen(word);
    while (r->p < r->end && *r->p == ' ') r->p++;
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) return false;
    r->p += n;
    return true;
}

/* 0 when there is none. */
static int32_t read_extent(Reader *r)
{
    int64_t n = 0;
    accept(r, "");
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9' && n < INT32_MAX; r->p++)
        n = n * 10 + (*r->p - '0');
    return n < INT32_MAX ? (int32_t)n : 0;
}

static const char *read_extents(Reader *r, DescriptorType *t)
{
    do {
        if (t->rank == TKC_DESCRIPTOR_RANK) return "a descriptor has at most 5 dimensions";
        t->block[t->rank] = read_extent(r);
        if (t->block[t->rank++] == 0) return "the extents of its blocks are numbers, 1 or more";
    } while (accept(r, ","));
    return accept(r, "]") ? NULL : "expected ']' after the extents of its blocks";
}

static const char *read_padding(Reader *r, DescriptorType *t)
{
    if (accept(r, ",")) {
        t->padding = accept(r, "padding=zero")  ? PAD_ZERO
                     : accept(r, "padding=nan") ? PAD_NAN
                                                : PAD_NONE;
        if (t->padding == PAD_NONE)
            return "only padding=zero or padding=nan may follow the extents of its blocks";
    }
    if (t->padding == PAD_NAN && dtype_info(t->dtype)->kind != DK_FLOAT)
        return "padding=nan is for floats";
    return NULL;
}

static const char *read_type(Reader *r, DescriptorType *t)
{
    const char *bracket = accept(r, prefix) ? memchr(r->p, '[', (size_t)(r->end - r->p)) : NULL;
    if (!bracket) return "expected an element type and extents, as in tensordesc<fp16[64, 128]>";
    t->dtype = dtype_find(r->p, (size_t)(bracket - r->p));
    if (t->dtype == DT_NONE) return "its elements have no type that there is";
    r->p = bracket + 1;
    const char *wrong = read_extents(r, t);
    if (!wrong) wrong = read_padding(r, t);
    if (!wrong && !(accept(r, ">") && accept(r, "") && r->p == r->end))
        wrong = "expected '>' at its end";
    return wrong;
}

const char *tkc_read_descriptor_type(const char *text, size_t len, DescriptorType *out)
{
    Reader r = {text, text + len};
    *out = (DescriptorType){.dtype = DT_NONE};
    const char *wrong = read_type(&r, out);
    if (wrong) out->rank = 0;
    return wrong;
}

bool tkc_same_descriptor_type(const DescriptorType *a, const DescriptorType *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->block, b->block, sizeof *a->block * (size_t)a->rank) == 0 &&
           (a->padding == b->padding || !a->padding || !b->padding);
}

const char *descriptor_or_type_text(Arena *a, const DescriptorType *t, const Type *other)
{
    if (!t->rank) return type_text(a, other);
    static const char *const paddings[] = {"", ", padding=zero", ", padding=nan"};
    Buf out = buf_make(a);
    buf_printf(&out, "%s%s", prefix, dtype_info(t->dtype)->short_name);
    for (int d = 0; d < t->rank; d++) buf_printf(&out, "%s%d", d ? ", " : "[", t->block[d]);
    buf_printf(&out, "]%s>", paddings[t->padding]);
    return buf_text(&out);
}
