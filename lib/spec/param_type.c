/* Descriptors are written as Triton writes them in signatures, and with the padding, which Triton's
   text leaves out:

       tensordesc<fp16[64, 128]>    tensordesc<fp16[64, 128], padding=nan> */
#include "spec/annotation.h"

#include <string.h>

#include "spec/module.h"

static const char prefix[] = "tensordesc<";

bool tkc_is_descriptor_type(const char *text)
{
    return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

#define NO_DESCRIPTOR "is no descriptor's type: "

typedef struct Reader { const char *p, *end; } Reader;

static bool skip(Reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) return false;
    r->p += n;
    return true;
}

/* The same behind blanks. */
static bool accept(Reader *r, const char *word)
{
    while (r->p < r->end && *r->p == ' ') r->p++;
    return skip(r, word);
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

static const char *read_extents(Reader *r, ParamType *t)
{
    do {
        if (t->rank == TKC_DESCRIPTOR_RANK) return NO_DESCRIPTOR "a descriptor has at most 5 dimensions";
        t->block[t->rank] = read_extent(r);
        if (t->block[t->rank++] == 0) return NO_DESCRIPTOR "the extents of its blocks are numbers, 1 or more";
    } while (accept(r, ","));
    return accept(r, "]") ? NULL : NO_DESCRIPTOR "expected ']' after the extents of its blocks";
}

static const char *read_padding(Reader *r, ParamType *t)
{
    if (accept(r, ",")) {
        t->padding = accept(r, "padding=zero")  ? PAD_ZERO
                     : accept(r, "padding=nan") ? PAD_NAN
                                                : PAD_NONE;
        if (t->padding == PAD_NONE)
            return NO_DESCRIPTOR "only padding=zero or padding=nan may follow the extents of its blocks";
    }
    if (t->padding == PAD_NAN && dtype_info(t->dtype)->kind != DK_FLOAT)
        return NO_DESCRIPTOR "padding=nan is for floats";
    return NULL;
}

static const char *read_descriptor(Reader *r, ParamType *t)
{
    const char *bracket = accept(r, prefix) ? memchr(r->p, '[', (size_t)(r->end - r->p)) : NULL;
    if (!bracket) return NO_DESCRIPTOR "expected an element type and extents, as in tensordesc<fp16[64, 128]>";
    t->dtype = dtype_find(r->p, (size_t)(bracket - r->p));
    if (t->dtype == DT_NONE) return NO_DESCRIPTOR "its elements have no type that there is";
    r->p = bracket + 1;
    const char *wrong = read_extents(r, t);
    if (!wrong) wrong = read_padding(r, t);
    if (!wrong && !(accept(r, ">") && accept(r, "") && r->p == r->end))
        wrong = NO_DESCRIPTOR "expected '>' at its end";
    return wrong;
}

/* *fp32, and its other spellings: *tl.float32, *torch.float32, fp32*, and *kfp32, which Triton only
   reads. */
static const char *read_plain(Reader *r, ParamType *t)
{
    enum { MAX_STARS = 8 };
    if (skip(r, "None") && r->p == r->end) return "is not a type but a value, such as -D gives to a parameter";
    for (; r->p < r->end && *r->p == '*'; r->p++) t->stars++;
    for (; r->end > r->p && r->end[-1] == '*'; r->end--) t->stars++;
    const size_t n = (size_t)(r->end - r->p);
    t->dtype = dtype_find(r->p, n);
    if (!t->dtype && t->stars && n && *r->p == 'k') t->dtype = dtype_find(r->p + 1, n - 1);
    if (!t->dtype && (skip(r, "torch.") || skip(r, "tl.")))
        t->dtype = dtype_find(r->p, (size_t)(r->end - r->p));
    if (!t->dtype) t->dtype = host_dtype(r->p, (size_t)(r->end - r->p));
    return t->dtype && t->stars <= MAX_STARS ? NULL : "is not a type; types are *fp32, i32, u8, bf16, …";
}

const char *tkc_read_type(const char *text, size_t len, ParamType *out)
{
    Reader r = {text, text + len};
    *out = (ParamType){.dtype = DT_NONE};
    const bool is_descriptor = tkc_is_descriptor_type(text);
    const char *wrong = is_descriptor ? read_descriptor(&r, out) : read_plain(&r, out);
    if (wrong) *out = (ParamType){.dtype = DT_NONE};
    return wrong;
}

bool tkc_same_type(const ParamType *a, const ParamType *b)
{
    return a->dtype == b->dtype && a->stars == b->stars && a->rank == b->rank &&
           memcmp(a->block, b->block, sizeof *a->block * (size_t)a->rank) == 0 &&
           (a->padding == b->padding || !a->padding || !b->padding);
}

const Type *param_type(TypeTable *types, const ParamType *t)
{
    if (!t->dtype) return NULL;
    const Type *ty = type_scalar(types, t->dtype);
    for (int i = 0; i < t->stars + !!t->rank; i++) ty = type_pointer(types, ty);
    return ty;
}

ParamType param_type_of(const Type *t)
{
    ParamType out = {.dtype = DT_NONE};
    for (; t->kind == TY_POINTER; t = t->elem) out.stars++;
    if (t->kind == TY_SCALAR) out.dtype = t->dtype;
    return out;
}

const char *param_type_text(Arena *a, TypeTable *types, const ParamType *t)
{
    if (!t->rank) return type_text(a, param_type(types, t));
    static const char *const paddings[] = {"", ", padding=zero", ", padding=nan"};
    Buf out = buf_make(a);
    buf_printf(&out, "%s%s", prefix, dtype_info(t->dtype)->short_name);
    for (int d = 0; d < t->rank; d++) buf_printf(&out, "%s%d", d ? ", " : "[", t->block[d]);
    buf_printf(&out, "]%s>", paddings[t->padding]);
    return buf_text(&out);
}
