/* tkc: a compiler for Triton's kernel language, as a library.

       #include <stdio.h>
       #include <string.h>
       #include <tkc/tkc.h>

       static const char text[] = "import triton\n"
                                  "import triton.language as tl\n"
                                  "@triton.jit\n"
                                  "def fill(x: '*fp32', value: 'fp32', BLOCK: tl.constexpr):\n"
                                  "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                                  "    tl.store(x + at, value)\n";

       int main(void)
       {
           TkcContext *cx = tkc_context_new();
           TkcSource *source = NULL;
           TkcArtifact *ptx = NULL;
           TkcOptions options;
           tkc_options_init(&options);
           options.kernel = "fill";
           options.arch = "sm_90a";
           options.defines = (const TkcDefine[]){{"BLOCK", "1024"}};
           options.ndefines = 1;
           if (tkc_source_from_text(cx, "fill.tk", text, strlen(text), TKC_LANGUAGE_TK, &source) ||
               tkc_compile(source, &options, TKC_EMIT_PTX, &ptx))
               fputs(tkc_last_error(cx), stderr);
           else
               puts(tkc_artifact_text(ptx, NULL));
           tkc_artifact_free(ptx);
           tkc_source_free(source);
           tkc_context_free(cx);
       }

   Rules for the whole library
   - It never prints, exits, aborts or changes signal handlers (LLVM running out of memory excepted). Problems are diagnostics,
     delivered to the context's handler, and a status.
   - Threads: different contexts are fully independent; one context, and everything made from it, is for one thread at a time. Functions
     of which the headers say "Any thread." may be called by any number of threads at once.
   - Arithmetic and stacks: results do not depend on the caller's rounding mode, nor on its treatment of subnormal numbers, which are as
     they were on return. Compiling has a stack of its own (8 MiB, taken as it is used); 128 KiB of the caller's are enough.
   - Lifetime: what a call hands out belongs to the caller and is freed by its *_free; strings inside live as long as their object.
     A *_free of NULL, or of what is freed, does nothing. Order does not matter; but what was made from something freed is only good for
     being freed (artifacts apart, which keep what they need). Other calls with handles that are NULL, freed or of another kind give
     TKC_MISUSE, or NULL or 0 where they give no status. A handler may not free the context it is called for.
   - Structs that start with their size may grow at their end from version to version. The caller sets the size, of options by
     tkc_options_init, of what a call fills by {.size = sizeof it}; library and caller then read and write what both know. Options that
     this library is too old to know have to be 0, else TKC_MISUSE; fields it does not know of a struct that it fills stay as they are.
     Structs without a size (TkcDefine, TkcArg, TkcDescriptor) do not change. */
#ifndef TKC_H
#define TKC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TKC_API __attribute__((visibility("default")))
#define TKC_EXTENSION __extension__ /* C11's unions without a name, in C99, too */
#else
#define TKC_API
#define TKC_EXTENSION
#endif

/* The version of this header; of the library that a program runs with, tkc_version_number says it. Numbers to compare:
   TKC_VERSION >= TKC_VERSION_OF(0, 2, 0). */
#define TKC_VERSION_MAJOR 0
#define TKC_VERSION_MINOR 1
#define TKC_VERSION_PATCH 0
#define TKC_VERSION_OF(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define TKC_VERSION TKC_VERSION_OF(TKC_VERSION_MAJOR, TKC_VERSION_MINOR, TKC_VERSION_PATCH)

/* ---- results and versions ---- */
/* What a call came to. */
typedef enum TkcStatus {
    TKC_OK = 0,
    TKC_ERROR,     /* the input is wrong; the diagnostics say how */
    TKC_MISUSE,    /* the call is wrong: a bad option, a freed or NULL handle; a diagnostic says how */
    TKC_NO_MEMORY,
    TKC_NO_DEVICE, /* no such device, no driver, or it refused; a diagnostic carries the driver's words */
    TKC_INTERNAL,  /* a bug of ours; a diagnostic describes it */
    TKC_CANCELLED  /* by tkc_context_cancel */
} TkcStatus;
/* A status in words: "ok", "error in the input", …; static. Any thread. */
TKC_API const char *tkc_status_text(TkcStatus status);

/* The library's version as a number, TKC_VERSION of the header it was built with. Any thread. */
TKC_API int tkc_version_number(void);
/* The library's version, "0.1.0"; static. Any thread. */
TKC_API const char *tkc_version(void);
/* Version and the LLVM it was built with, for reports: "tkc 0.1.0 (LLVM 22.1.8)"; static. Any thread. */
TKC_API const char *tkc_version_long(void);

/* ---- context ---- */
typedef struct TkcContext TkcContext;
/* A context, from which everything else is made; NULL when there is no memory. Any thread. */
TKC_API TkcContext *tkc_context_new(void);
/* Frees a context; what was made from it is then only good for being freed. */
TKC_API void tkc_context_free(TkcContext *cx);

/* How bad a diagnostic is. */
typedef enum TkcSeverity { TKC_NOTE, TKC_REMARK, TKC_WARNING, TKC_SEVERITY_ERROR } TkcSeverity;

/* Text that mends a mistake, for a range of a file; an empty range inserts. */
typedef struct TkcFixit TkcFixit;
struct TkcFixit {
    size_t size;
    const char *file;
    int line, column;
    int end_line, end_column;
    const char *text;
    const TkcFixit *next; /* NULL: the last */
};

/* A field of TkcOptions that mends a mistake: "kernel", "signature", "defines", "max_steps", … and a value for it: "add", "x=*fp32",
   "BLOCK=<int>"; NULL when any larger one does. "include" is a folder for tkc_context_add_include. */
typedef struct TkcSetting TkcSetting;
struct TkcSetting {
    size_t size;
    const char *option, *value;
    const TkcSetting *next;
};

/* A problem, as a handler gets it. The library tells its size: a caller built with a newer header reads only fields inside it. */
typedef struct TkcDiagnostic TkcDiagnostic;
struct TkcDiagnostic {
    size_t size;
    TkcSeverity severity;
    const char *file;     /* NULL when it has no place in a file */
    int line, column;     /* 1-based, columns in bytes; 0 without a place */
    int end_line, end_column; /* one past the range */
    const char *text;     /* one line, without place and severity; of notes, maybe several */
    const char *rendered; /* several lines, as a command would print it with its notes: place, text, source line, caret, what to write
                             there; ends in a newline. "" in notes */
    const char *id;       /* what it is about: "syntax", "unknown-name", …; docs/diagnostics.md has the list. Never changes */
    const TkcDiagnostic *notes; /* the first, or NULL */
    const TkcDiagnostic *next;  /* in notes: the next one, or NULL */
    const TkcFixit *fixits;     /* what to write in the text, or NULL */
    const TkcSetting *settings; /* what to ask for in the call, or NULL: no text of the library names an option of a command */
};

/* A handler of diagnostics, called in order of position at the end of a call that failed or warned, on the caller's thread. The diagnostic is valid
   during the call. Default: no handler, diagnostics are only remembered for tkc_last_error. */
typedef void (*TkcDiagnosticFn)(const TkcDiagnostic *d, void *user);
TKC_API void tkc_context_on_diagnostic(TkcContext *cx, TkcDiagnosticFn fn, void *user);
/* Whether `rendered` has the colours of a terminal (off). */
TKC_API void tkc_context_color(TkcContext *cx, bool color);
/* All diagnostics of the newest failed call of this thread, rendered without colours; "" when there is none. Valid until this thread's
   next call on the context. Any thread. */
TKC_API const char *tkc_last_error(const TkcContext *cx);
/* Directory searched for imported files after the importing file's own folder and those above it. Copied. */
TKC_API TkcStatus tkc_context_add_include(TkcContext *cx, const char *directory);
/* Which files imports read. Of a source that tkc_source_open read: those that Python's rules name, relative ones upwards too, and those of
   the include directories. Of a text from memory, which is in no folder: those below the include directories only. Regular files only, no
   pipes or devices. Diagnostics quote lines of files that are below an include directory or in the source's own package, of others
   not.
   A function set here is asked instead, for each path in question ("pkg/part.py", "pkg/part.tk", "pkg/part/__init__.py", …, the
   importing file's or an include directory's path before them): it gives the text, which is copied before anything else is asked, and
   its length; or NULL when there is no such file, or it may not be read. It is called on the caller's thread and stack, and may not
   use the context. fn NULL: no file is read for imports. */
typedef const char *(*TkcImportFn)(const char *path, size_t *len, void *user);
TKC_API void tkc_context_on_import(TkcContext *cx, TkcImportFn fn, void *user);

/* For a host's own "did you mean": the candidate nearest to the word, or NULL when none is near enough to suggest. Any thread. */
TKC_API const char *tkc_nearest_word(const char *word, const char *const *candidates, size_t n);

/* Ends work under way. At any time while the context exists: reading and compiling in it end soon with TKC_CANCELLED, what is at work
   now and what is begun later, until it is called with false. LLVM's part of a compilation is waited for: a minute or two at
   most with the limits that hold by default. Any thread. */
TKC_API void tkc_context_cancel(TkcContext *cx, bool cancel);

/* ---- sources ---- */
typedef struct TkcSource TkcSource;
/* What a text is: a .tk file, or block IR as TKC_EMIT_IR and later ones print it. */
typedef enum TkcLanguage { TKC_LANGUAGE_TK, TKC_LANGUAGE_IR } TkcLanguage;
/* Reads and parses a file of at most 256 MiB. Syntax errors are diagnostics and TKC_ERROR. */
TKC_API TkcStatus tkc_source_open(TkcContext *cx, const char *path, TkcLanguage language, TkcSource **out);
/* Reads and parses a text from memory; name appears in diagnostics; text is copied and may hold any bytes. */
TKC_API TkcStatus tkc_source_from_text(TkcContext *cx, const char *name, const char *text, size_t len, TkcLanguage language,
                                       TkcSource **out);
TKC_API void tkc_source_free(TkcSource *source);
/* How many kernels the source has, and the names, in order of appearance. */
TKC_API int tkc_source_kernel_count(TkcSource *source);
TKC_API const char *tkc_source_kernel_name(TkcSource *source, int i);

/* Most dimensions of a tensor descriptor. */
enum { TKC_DESCRIPTOR_RANK = 5 };

/* One parameter of a kernel, as the source declares it. */
typedef struct TkcParam {
    size_t size;
    const char *name;
    bool is_constexpr;
    const char *type;      /* "*fp32", "i32", "tensordesc<fp16[64, 128]>" from the annotation; NULL when it is left open, or constexpr */
    const char *default_;  /* its text; NULL when there is none */
    int64_t divisibility;  /* from the annotation; 0 when it says nothing */
    bool is_int;           /* annotated int: an integer of any width; its type is NULL */
    bool is_fixed;         /* the type is written as a string: a signature says no other */
} TkcParam;
/* The parameters of a kernel; kernel NULL: the only one. TKC_ERROR when there is no such kernel (a diagnostic). */
TKC_API TkcStatus tkc_source_param_count(TkcSource *source, const char *kernel, int *count);
TKC_API TkcStatus tkc_source_param(TkcSource *source, const char *kernel, int i, TkcParam *out);

/* The configurations of a kernel's @autotune, in order, as texts: "BLOCK=64 num_warps=4"; those that are not known here (computed by
   host code) are not among them. *texts lives as long as the source. */
TKC_API TkcStatus tkc_source_configs(TkcSource *source, const char *kernel, const char *const **texts, int *count);
/* What a kernel's @autotune says beside its configurations: names as in "n,m", NULL for none. They live as long as the source. */
typedef struct TkcTuning {
    size_t size;
    const char *key, *reset_to_zero, *restore_value;
    const char *of_host; /* arguments of the decorator that only Python can do (prune_configs_by and hooks), or that are not known here */
    const char *asked;   /* the parameters whose arguments its @heuristics ask for; see `arguments` of TkcOptions */
} TkcTuning;
TKC_API TkcStatus tkc_source_tuning(TkcSource *source, const char *kernel, TkcTuning *out);

/* ---- compiling ---- */
/* A constexpr's value. */
typedef struct TkcDefine {
    const char *name, *value; /* value as in a .tk file: 128, 1e-6, True, None, 'text', tl.float16 or fp16 */
} TkcDefine;

/* How far to compile, and so what an artifact's text is. */
typedef enum TkcEmit {
    TKC_EMIT_TOKENS, TKC_EMIT_AST, TKC_EMIT_IR, TKC_EMIT_FACTS, TKC_EMIT_LAYOUT, TKC_EMIT_LLVM, TKC_EMIT_PTX,
    TKC_EMIT_EXPLAIN /* a table for people: the kernel's lines with what they cost; docs/diagnostics.md */
} TkcEmit;

/* What to compile and how; 0 and NULL are the defaults. Begin with tkc_options_init. */
typedef struct TkcOptions {
    size_t size;
    const char *kernel;      /* NULL: the only one */
    const char *signature;   /* "x=*fp32:16,n=i32,d=tensordesc<fp16[64, 128]>": types, and known divisibility, of what annotations leave
                                open; NULL: none */
    const TkcDefine *defines;
    size_t ndefines;
    const char *arch;        /* "sm_90a"; NULL: sm_80 */
    int num_warps;           /* 0: 4 */
    int num_stages;          /* 0: 3 */
    bool no_fp_contract;     /* products never fuse into sums */
    bool debug;              /* asserts act on a GPU; line_info too */
    bool line_info;          /* code says which line of the source it is of, through inlined helpers; it is the same code otherwise */
    const char *passes;      /* "fold,cse": run these on the IR instead of the whole pipeline; NULL: the pipeline. For TKC_EMIT_IR … */
    bool verify_each;        /* check the IR after every pass */
    bool time_report;        /* fill tkc_artifact_time */
    bool remarks;            /* deliver remarks: what makes code slow, and what would mend it. From TKC_EMIT_LAYOUT on */
    bool warnings_as_errors;
    bool require_checked;    /* tkc_check: a kernel whose types or constexprs are not complete is an error */
    int64_t max_steps, max_ops, max_nesting, max_depth, max_length; /* budgets; 0: the defaults */
    const char *warnings;    /* "no-unpack,no-unused-value": kinds of warnings that are not wanted, or are ("unpack"), in order; NULL: all */
    /* What one call may take. What exceeds it is TKC_ERROR; LLVM cannot be interrupted, so code that would take it longer is refused
       before. 0: 300 s and 4 GiB, which also hold where a call takes no options; -1: any. */
    double max_seconds;
    int64_t max_memory;      /* bytes: of the compiler's own data, and what LLVM is expected to take */
    const char *remark_kinds; /* with `remarks`, "vec,layout": these alone; NULL: all */
    bool no_asserts;          /* tl.device_assert does nothing, on cpu neither */
    bool sanitize_overflow;   /* +, - and * of integers of 32 bits and less assert that their result fits; where asserts act */
    int max_registers;        /* of a thread on a GPU, PTX's .maxnreg, whatever spills then; 0: the compiler's choice */
    const char *symbol;       /* what the kernel is called in IR and code, spelt as tkc_artifact_kernel says; NULL: as in the source */
    const TkcDefine *arguments; /* what run-time parameters will be given, for @heuristics alone: the kernel is for any value */
    size_t narguments;
} TkcOptions;
/* Sets size and defaults. The caller's idea of the struct counts, so its size is passed. Any thread. */
TKC_API void tkc_options_init_sized(TkcOptions *options, size_t size);
static inline void tkc_options_init(TkcOptions *options)
{
    tkc_options_init_sized(options, sizeof *options);
}
/* The kinds of warnings there are, i from 0, and what each is about (`what` may be NULL). NULL after the last. Any thread. */
TKC_API const char *tkc_warning_name(size_t i, const char **what);
/* The kinds of remarks there are, likewise. Any thread. */
TKC_API const char *tkc_remark_name(size_t i, const char **what);

typedef struct TkcArtifact TkcArtifact;
/* Compiles one kernel as far as `emit` (TOKENS and AST ignore the rest of the options). Same input and options give the same bytes.
   An artifact keeps what it needs of its source, which may be freed first. */
TKC_API TkcStatus tkc_compile(TkcSource *source, const TkcOptions *options, TkcEmit emit, TkcArtifact **out);
TKC_API void tkc_artifact_free(TkcArtifact *artifact);
/* What a compilation made; NUL-terminated; *len (may be NULL) its length without the NUL. */
TKC_API const char *tkc_artifact_text(const TkcArtifact *artifact, size_t *len);
/* ---- what to know of an artifact to launch it ----
   Facts a launcher needs; from TKC_EMIT_IR on (shared bytes: from TKC_EMIT_LLVM on). PTX has them in comments at its head too.
   To launch PTX without tkc/runtime.h: a grid of as many blocks as the kernel has programs, blocks of 32 * num_warps threads
   along x, shared_bytes of dynamic shared memory (above 48 KB CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of the function
   has to be set to it), and the parameters below in their order, each in its own size: 8 bytes for a pointer, the type's bytes
   for a number, one for i1. No scratch memory. docs/embedding.md has the calls. */
/* The kernel's name; of LLVM IR and PTX the symbol there, in which each byte outside of ASCII letters, digits and '_' is '$' and two
   hexadecimal digits ("gr$c3$b6$c3$9fe"), and "_" and "WARP_SZ" end in a '$'. */
TKC_API const char *tkc_artifact_kernel(const TkcArtifact *artifact);
/* Warps of a program, stages of its loops that load ahead, bytes of dynamic shared memory, run-time parameters. */
TKC_API int tkc_artifact_num_warps(const TkcArtifact *artifact);
TKC_API int tkc_artifact_num_stages(const TkcArtifact *artifact);
TKC_API int tkc_artifact_shared_bytes(const TkcArtifact *artifact);
TKC_API int tkc_artifact_param_count(const TkcArtifact *artifact);
/* Name and type ("*fp32", "i32") of a run-time parameter, in the order in which the compiled kernel takes them. A tensor descriptor d
   is several: the pointer d, its shape d.shape0, d.shape1, … ("i32"), and all its strides but the last, d.stride0, … ("i64", in
   elements). The code counts on d being a multiple of 16, and on strides that are multiples of 16 bytes. */
TKC_API const char *tkc_artifact_param_name(const TkcArtifact *artifact, int i);
TKC_API const char *tkc_artifact_param_type(const TkcArtifact *artifact, int i);
/* Of what it is known to be a multiple, bytes for a pointer: the code counts on it. 1 when nothing is known; 0: no such parameter. */
TKC_API int64_t tkc_artifact_param_divisibility(const TkcArtifact *artifact, int i);
/* The target, "sm_90a"; NULL of what comes before IR. */
TKC_API const char *tkc_artifact_arch(const TkcArtifact *artifact);
/* Parameter i of those whose values were known when compiling, in order, and the value as a text: from a define, an @autotune
   configuration, a heuristic or a default. NULL past the last. */
TKC_API const TkcDefine *tkc_artifact_value(const TkcArtifact *artifact, int i);
/* Which configuration of the kernel's @autotune gave some of them, from 0, and of how many (count may be NULL); -1, of 0: none. */
TKC_API int tkc_artifact_config(const TkcArtifact *artifact, int *count);
/* Milliseconds per stage with time_report: name of stage i, NULL past the last. */
TKC_API const char *tkc_artifact_time(const TkcArtifact *artifact, int i, double *milliseconds);

/* ---- checking ---- */
/* Resolves names in every kernel of the source, specializes and verifies those whose types and constexprs are complete. *checked and
   *incomplete (may be NULL) count kernels; when none is complete, a warning for each says what it needs. A define or a type that only some kernels have a parameter for concerns those; one that
   none has is an error. */
TKC_API TkcStatus tkc_check(TkcSource *source, const TkcOptions *options, int *checked, int *incomplete);

/* The targets there are: "sm_75 sm_80 …"; static. Any thread. */
TKC_API const char *tkc_arch_list(void);

#ifdef __cplusplus
}
#endif
#endif
