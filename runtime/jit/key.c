/* Packs a launch's arguments into bytes and hashes them: no formatting, and seldom an allocation. */
#include "key.h"

#include <stdlib.h>
#include <string.h>

/* 0 when it is none, which no kernel is compiled for. */
static int rank_of(const TkcArg *arg)
{
    const TkcDescriptor *d = arg->descriptor;
    return d && d->rank >= 1 && d->rank <= TKC_DESCRIPTOR_RANK ? d->rank : 0;
}

/* Of what most arguments are: inline, as it is asked of each at every launch. */
static inline KeyFact fact_of(const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_POINTER) return arg->pointer % 16 == 0 ? FACT_DIV16 : FACT_NONE;
    if (arg->kind == TKC_ARG_INT) {
        if (arg->bytes == TKC_ANY_INT || (arg->bytes == TKC_ANY_INT_BUT_ONE && arg->integer != 1))
            return FACT_NONE;
        return arg->integer == 1 ? FACT_ONE : arg->integer % 16 == 0 ? FACT_DIV16 : FACT_NONE;
    }
    return arg->kind == TKC_ARG_DESCRIPTOR ? key_fact(arg) : FACT_NONE;
}

KeyFact key_fact(const TkcArg *arg)
{
    if (arg->kind != TKC_ARG_DESCRIPTOR) return fact_of(arg);
    /* along the dimension that vectors run along */
    return rank_of(arg) && arg->descriptor->shape[rank_of(arg) - 1] % 16 == 0 ? FACT_DIV16
                                                                              : FACT_NONE;
}

static bool reserve(Key *k, size_t more)
{
    if (!k->data) {
        k->data = k->few;
        k->cap = sizeof k->few;
    }
    if (k->len + more <= k->cap) return true;
    size_t cap = (k->len + more) * 2;
    unsigned char *data = cap <= UINT32_MAX ? malloc(cap) : NULL;
    if (!data) return false;
    memcpy(data, k->data, k->len);
    if (k->data != k->few) free(k->data);
    k->data = data;
    k->cap = (uint32_t)cap;
    return true;
}

/* What the text alone does not say. A number without a type is int32 when it fits, else int64 (when
   the parameter does not say); a constexpr without a value is the source's to give. */
static inline unsigned char text_class(const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_CONSTEXPR) return arg->constexpr_value != NULL;
    if (arg->kind == TKC_ARG_DESCRIPTOR) return (unsigned char)rank_of(arg);
    return arg->kind == TKC_ARG_INT && !arg->type
               ? (arg->integer >= INT32_MIN && arg->integer <= INT32_MAX ? 1 : 2)
               : 0;
}

/* Before an argument's text. */
enum { HEAD = 3 };

static void put_head(unsigned char *head, const TkcArg *arg)
{
    head[0] = (unsigned char)arg->kind;
    head[1] = (unsigned char)key_fact(arg);
    head[2] = text_class(arg);
}

/* Byte by byte: three that were just written cannot be read as one word without a wait. */
static inline bool has_head(const unsigned char *head, const TkcArg *arg)
{
    return head[0] == (unsigned char)arg->kind && head[1] == (unsigned char)fact_of(arg) &&
           head[2] == text_class(arg);
}

static const char *text_of(const TkcArg *arg)
{
    const char *text = arg->kind == TKC_ARG_CONSTEXPR ? arg->constexpr_value : arg->type;
    return text ? text : "";
}

static bool put_arg(Key *k, const TkcArg *arg)
{
    const char *text = text_of(arg);
    const size_t n = strlen(text) + 1;
    if (!reserve(k, n + HEAD)) return false;
    put_head(k->data + k->len, arg);
    memcpy(k->data + k->len + HEAD, text, n);
    k->len += (uint32_t)n + HEAD;
    return true;
}

const unsigned char *key_next(const unsigned char *at)
{
    return at + HEAD + strlen((const char *)at + HEAD) + 1;
}

bool key_has_arg(const unsigned char *at, const TkcArg *arg)
{
    const char *text = text_of(arg);
    if (!has_head(at, arg)) return false;
    for (at += HEAD; *at && *at == (unsigned char)*text; at++) text++;
    return *at == (unsigned char)*text;
}

/* FNV-1a, eight bytes at a time; the table compares whole keys. */
static uint64_t hash(const unsigned char *p, size_t n)
{
    uint64_t h = 0xCBF29CE484222325u ^ n;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    for (; n; p++, n--) h = (h ^ *p) * 0x100000001B3u;
    return h ^ (h >> 32);
}

bool key_make(Key *k, const TkcArg *args, size_t nargs)
{
    k->len = 0;
    for (size_t i = 0; i < nargs; i++)
        if (!put_arg(k, &args[i])) return false;
    k->hash = hash(k->data, k->len);
    return true;
}

void key_fini(Key *k)
{
    if (k->data != k->few) free(k->data);
    k->data = NULL;
    k->len = k->cap = 0;
}
