/* What runtime/ needs of the compiler beyond the public API. Not installed; promises source only. */
#ifndef TKC_EDGE_H
#define TKC_EDGE_H

#include <string.h>
#include "tkc/ir.h"
#include "tkc/tkc.h"

/* The block IR behind an artifact of TKC_EMIT_IR or later. Lives as long as the artifact. */
const Func *tkc_artifact_func(const TkcArtifact *artifact);
/* Frees what only compiling needed of IR that is kept for long: the function and its text stay.
   The context is locked. What the functions here and of tkc.h gave before is no longer valid. */
void tkc_artifact_shrink(TkcArtifact *artifact);
/* A matrix in global memory, or several, and the boxes that a kernel copies from or to one: a tensor map that the
   launch makes and passes behind the parameters, in order (128 bytes each). A number is the product of `value` and
   of parameters (-1: no more), which wraps at so many bits, 32 or 64. Dims are in cuTensorMapEncodeTiled's order,
   columns, rows, and those of which a box has one index each; of dims that are not there all is 1. */
enum { TKC_FACTORS = 3 };
#define TKC_MAP_EXTENTS ((INT64_C(1) << 31) - 16) /* at most: what is behind them has a place, too, that an int32 holds */
#define TKC_MAP_STRIDES (INT64_C(1) << 40) /* bytes, less than */
typedef struct TkcNumber { int64_t value, bits, param[TKC_FACTORS]; } TkcNumber;
typedef struct TkcTensorMap {
    int64_t base;                /* parameter: a pointer */
    int64_t rank;                /* 2 … TKC_DESCRIPTOR_RANK */
    TkcNumber extent[TKC_DESCRIPTOR_RANK];     /* elements */
    TkcNumber stride[TKC_DESCRIPTOR_RANK - 1]; /* elements, of dim 1 and on, whose bytes are a multiple of 16 */
    int64_t bytes;               /* of an element */
    int64_t box_rows, box_columns;
    int64_t swizzle;             /* bytes: 32, 64 or 128, those of a row of the box */
} TkcTensorMap;
/* False: there are no more. */
bool tkc_artifact_tensor_map(const TkcArtifact *artifact, int i, TkcTensorMap *out);
/* What names were looked for in: the source, then each file of an import in order, NULL past the
   last. text NULL: there is no such file. */
typedef struct TkcFile { const char *path, *text; size_t len; } TkcFile;
const TkcFile *tkc_artifact_file(const TkcArtifact *artifact, int i);
/* Where its manifest's text is kept, malloc'ed: NULL at first. */
char **tkc_artifact_manifest_slot(TkcArtifact *artifact);
/* Compiling it warned of something. */
bool tkc_artifact_is_warned(const TkcArtifact *artifact);

/* The caller's options as this version has them; what an older caller does not know is 0. NULL, or what
   is wrong with them. Strings and defines are the caller's still. */
const char *tkc_options_read(TkcOptions *out, const TkcOptions *given);
/* The same of any struct of options that begins with its size and has no more to be checked. */
const char *tkc_take(void *out, size_t bytes, const void *given);
/* Fills a caller's struct from ours of so many bytes as far as the caller knows it. Both begin with
   their size. False: the caller's size is none. */
bool tkc_give(void *out, const void *ours, size_t bytes);

TkcContext *tkc_source_context(const TkcSource *source);
/* Gives, each under a name, what of a source decides its kernels beside what imports read: its text, and
   where those are looked for. */
void tkc_source_describe(const TkcSource *source,
                         void (*give)(void *user, const char *what, const char *text, size_t len),
                         void *user);
/* What an import of that path reads now, malloc'ed; NULL: nothing is there. The context is locked. */
TkcStatus tkc_source_import(TkcSource *source, const char *path, char **text, size_t *len);
/* Around a call that may fail without anybody being told: by 1, then by -1. The context is locked
   between. */
void tkc_context_mute(TkcContext *cx, int by);
/* Calls on one context take turns; a thread may lock it again. Reports and compilations do so
   themselves. */
void tkc_context_lock(TkcContext *cx);
void tkc_context_unlock(TkcContext *cx);

/* ---- handles: what a caller holds. lib/handle.c. Any thread may call these ---- */
typedef enum TkcHandleKind {
    TKC_HANDLE_NONE,
    TKC_HANDLE_CONTEXT,
    TKC_HANDLE_SOURCE,
    TKC_HANDLE_ARTIFACT,
    TKC_HANDLE_DEVICE,
    TKC_HANDLE_JIT
} TkcHandleKind;
enum { TKC_HANDLE_BYTES = 512 }; /* of which an object is at most */
/* Zeroed, alive, kept once. NULL: no memory. */
void *tkc_handle_new(TkcHandleKind kind);
/* A handle of this kind is alive at this address, which may be any. */
bool tkc_handle_is(const void *handle, TkcHandleKind kind);
/* The same of one that is kept. */
bool tkc_handle_is_open(const void *handle, TkcHandleKind kind);
/* Keeps it, or ends its being alive; false: it is not alive. Closing drops nothing. */
bool tkc_handle_keep(const void *handle, TkcHandleKind kind);
bool tkc_handle_close(const void *handle, TkcHandleKind kind);
/* Of one that is kept. True: nobody keeps it any more, so its content is to be freed, and then
   itself. */
bool tkc_handle_drop(const void *handle);
void tkc_handle_free(void *handle);
/* Drops one that was kept, at the last drop its content with it. */
void tkc_context_drop(TkcContext *cx);
void tkc_source_drop(TkcSource *source);

/* Diagnostics from outside the compiler. Between begin and end any number is collected; end
   delivers them to the context's handler and makes them tkc_last_error. begin/end nest: only the
   outermost pair delivers. loc may be NULL: no place. */
void tkc_report_begin(TkcContext *cx);
void tkc_report(TkcContext *cx, TkcSeverity severity, const Loc *loc, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* An error without a place, which ends a call with the status. */
#define tkc_refuse(cx, status, ...)                                                                \
    (tkc_report(cx, TKC_SEVERITY_ERROR, NULL, __VA_ARGS__), (status))
/* A mistake of our own. */
void tkc_report_bug(TkcContext *cx, const Loc *loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A note to the report before it. */
void tkc_report_note(TkcContext *cx, const Loc *loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void tkc_report_end(TkcContext *cx);

/* The type of a parameter, as signatures and launches write it: "i32", "*fp32", or a tensor descriptor,
   "tensordesc<fp16[64, 128], padding=nan>". */
typedef enum Padding { PAD_NONE, PAD_ZERO, PAD_NAN } Padding; /* NONE: the text does not say, zeros */
typedef struct ParamType {
    DType dtype;                        /* of a number, of elements; NONE: nothing is said */
    int stars;                          /* of a pointer */
    int rank;                           /* of a descriptor; else 0 */
    int32_t block[TKC_DESCRIPTOR_RANK]; /* extents of what one access moves */
    Padding padding;                    /* of what is read outside the shape */
} ParamType;
/* True when the text begins like a descriptor. */
bool tkc_is_descriptor_type(const char *text);
/* NULL, or what the text of `len` bytes is instead; then *out is all zeros. Reads what Triton and
   PyTorch write, too: fp32*, *tl.float32, *torch.half, *kfp32. */
const char *tkc_read_type(const char *text, size_t len, ParamType *out);
/* The same of a whole text; all zeros: it is no type. */
static inline ParamType tkc_type_of(const char *text)
{
    ParamType t;
    tkc_read_type(text, strlen(text), &t);
    return t;
}
/* The same, and not one padding against the other. */
bool tkc_same_type(const ParamType *a, const ParamType *b);

/* Whether the word is one of a list with such marks between them; of NULL none is. */
static inline bool tkc_has_word(const char *list, char mark, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; p && n; p = strchr(p, mark), p += p != NULL)
        if (!strncmp(p, word, n) && (!p[n] || p[n] == mark)) return true;
    return false;
}

/* "out of memory", reported; gives TKC_NO_MEMORY. */
TkcStatus tkc_no_memory(TkcContext *cx);

/* The value of an element from and to its bits, as ATTR_VALUE holds them (lib/ir/evaluate.h). */
uint64_t tkc_bits_from_double(DType dt, double v);
double tkc_bits_to_double(DType dt, uint64_t bits);
/* One elementwise op on scalars, the reference semantics. False when the op is not one that can be
   evaluated (not elementwise, or on pointers). `dt` is the operands' dtype (for select: of operands
   1, 2), `result` the result's. */
bool tkc_evaluate(OpKind kind, DType dt, DType result, const char *rounding, int n,
                  const uint64_t *args, uint64_t *out);

#endif
