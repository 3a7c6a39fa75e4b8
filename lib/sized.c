/* Structs that begin with their size, between a caller and a library of different versions. Fields
   are only ever added at the end, and 0 is what leaving a field out means; so each side reads what
   both know, and a caller that asks for something this library is too old to know is told so
   instead of not being served. */
#include "api.h"

#include <string.h>

enum {
    LEAST_BYTES = 2 * sizeof(size_t), /* the size and a field */
    MOST_BYTES = 1024                 /* of any version: beyond is no size of such a struct */
};

static bool is_size(size_t size)
{
    return size >= LEAST_BYTES && size <= MOST_BYTES;
}

void tkc_options_init_sized(TkcOptions *options, size_t size)
{
    if (!options || !is_size(size)) return;
    memset(options, 0, size);
    options->size = size;
}

static bool is_zero(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i]) return false;
    return true;
}

const char *tkc_take(void *out, size_t bytes, const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    if (!is_size(size)) return "the options are not initialized: their size is not set";
    const size_t known = size < bytes ? size : bytes;
    if (!is_zero((const char *)given + known, size - known))
        return "the options ask for something that this version of the library does not know";
    memset(out, 0, bytes);
    memcpy(out, given, known);
    memcpy(out, &bytes, sizeof bytes);
    return NULL;
}

static bool are_complete(const TkcDefine *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!all[i].name || !all[i].value) return false;
    return true;
}

const char *tkc_options_read(TkcOptions *out, const TkcOptions *given)
{
    if (!given) return "the options are NULL";
    if (!is_size(given->size))
        return "the options are not initialized: call tkc_options_init first";
    const char *wrong = tkc_take(out, sizeof *out, given);
    if (wrong) return wrong;
    if (out->ndefines && !out->defines) return "the defines are NULL";
    if (out->narguments && !out->arguments) return "the arguments are NULL";
    if (!are_complete(out->defines, out->ndefines)) return "a define has no name or no value";
    if (!are_complete(out->arguments, out->narguments))
        return "an argument has no name or no value";
    return NULL;
}

bool tkc_give(void *out, const void *ours, size_t bytes)
{
    size_t size;
    memcpy(&size, out, sizeof size);
    if (!is_size(size)) return false;
    const size_t known = size < bytes ? size : bytes;
    memcpy((char *)out + sizeof size, (const char *)ours + sizeof size, known - sizeof size);
    return true;
}
