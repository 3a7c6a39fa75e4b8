/* A descriptor is several parameters of the compiled kernel (lib/spec/bind.c), which counts on what
   is checked here at every launch: alignment as Triton's hosts assert it, extents that int32 holds.
   That the array fits the memory behind it is checked where that is known. */
#include "launch.h"

#include <string.h>

enum { ALIGN = 16 };

/* ---- against the declaration ---- */

static TkcStatus check_type(const TkcJit *jit, const OpenParam *p, const TkcArg *arg,
                            ParamType *type)
{
    const char *name = p->decl.name, *text = arg->type;
    const char *bad = text ? tkc_read_type(text, strlen(text), type) : NULL;
    if (text && !bad && !type->rank)
        bad = "is no descriptor's type: expected an element type and extents, as in "
              "tensordesc<fp16[64, 128]>";
    if (bad) return refuse_argument(jit, name, "'%s' %s", text, bad);
    if (p->decl.type && !p->type.rank)
        return refuse_argument(jit, name, "expected %s, found a tensor descriptor", p->decl.type);
    if (!p->decl.type && !text)
        return refuse_argument(
            jit, name, "the type of its descriptor is not known; give it with the argument");
    if (p->decl.type && text && !tkc_same_type(&p->type, type))
        return refuse_argument(jit, name, "expected %s, found %s", p->decl.type, text);
    if (!text) *type = p->type;
    return TKC_OK;
}

TkcStatus descriptor_check(const TkcJit *jit, const OpenParam *p, const TkcArg *arg)
{
    ParamType type;
    if (!arg->descriptor) {
        return tkc_refuse(jit->dev->cx, TKC_MISUSE, "argument '%s': its descriptor is NULL",
                          p->decl.name);
    }
    TkcStatus status = check_type(jit, p, arg, &type);
    if (status == TKC_OK && arg->descriptor->rank != type.rank)
        return refuse_argument(jit, p->decl.name, "its rank is %d, and %d that of %s",
                               arg->descriptor->rank, type.rank,
                               arg->type ? arg->type : p->decl.type);
    return status;
}

/* The one that says a padding, if there is one. */
const char *descriptor_type(const OpenParam *p, const TkcArg *arg)
{
    return arg->type && !p->type.padding ? arg->type : p->decl.type;
}

/* ---- at every launch ---- */

static TkcStatus check_extents(const TkcJit *jit, const char *name, const TkcDescriptor *d,
                               int64_t unit)
{
    for (int i = 0; i < d->rank; i++)
        if (d->shape[i] < 1 || d->shape[i] > INT32_MAX)
            return refuse_argument(jit, name,
                                   "its shape is %lld along dimension %d; it must be from 1 to %d",
                                   (long long)d->shape[i], i, INT32_MAX);
    for (int i = 0; i < d->rank - 1; i++)
        if (d->strides[i] < 0 || d->strides[i] % unit)
            return refuse_argument(jit, name,
                                   "its stride is %lld along dimension %d; it must be a multiple "
                                   "of %lld elements, which are 16 bytes",
                                   (long long)d->strides[i], i, (long long)unit);
    if (d->strides[d->rank - 1] != 1)
        return refuse_argument(jit, name, "its last stride is %lld; it must be 1",
                               (long long)d->strides[d->rank - 1]);
    return TKC_OK;
}

/* One past its last byte, from the base; -1: no memory holds that. */
static int64_t size_of(const TkcDescriptor *d, int64_t element)
{
    int64_t n = 1, step, size;
    for (int i = 0; i < d->rank; i++)
        if (__builtin_mul_overflow(d->shape[i] - 1, d->strides[i], &step) ||
            __builtin_add_overflow(n, step, &n))
            return -1;
    return __builtin_mul_overflow(n, element, &size) ? -1 : size;
}

static TkcStatus check_memory(const TkcJit *jit, const char *name, const TkcDescriptor *d,
                              int64_t element)
{
    int64_t size = size_of(d, element);
    if (size < 0)
        return refuse_argument(jit, name, "its shape and strides lead past all addresses");
    if (d->bytes && (uint64_t)size > d->bytes)
        return refuse_argument(
            jit, name, "its shape and strides take %lld bytes, and there are %zu behind its base",
            (long long)size, d->bytes);
    return TKC_OK;
}

static TkcStatus pack_pointer(const TkcJit *jit, const ManifestParam *p, const TkcDescriptor *d,
                              LaunchArg *out)
{
    int64_t element = p->element->bytes;
    if (d->base % (uint64_t)p->divisibility)
        return refuse_argument(jit, p->name, "its base, 0x%llx, is not a multiple of %lld",
                               (unsigned long long)d->base, (long long)p->divisibility);
    TkcStatus status = check_extents(jit, p->name, d, ALIGN / element);
    if (status == TKC_OK) status = check_memory(jit, p->name, d, element);
    *out = (LaunchArg){d->base, d->bytes};
    return status;
}

TkcStatus descriptor_pack(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg,
                          LaunchArg *out)
{
    const TkcDescriptor *d = arg->descriptor;
    switch (p->source) {
    case PART_WHOLE: case PART_ITEM: return pack_pointer(jit, p, d, out);
    case PART_SHAPE: *out = (LaunchArg){(uint64_t)d->shape[p->dim], 0}; break;
    case PART_STRIDE: *out = (LaunchArg){(uint64_t)d->strides[p->dim], 0}; break;
    }
    return TKC_OK;
}
