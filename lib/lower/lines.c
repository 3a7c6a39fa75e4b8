/* Which line of the source each instruction is of, as LLVM's debug information: one unit and, for
   each function of the source, a subprogram. The kernel is one LLVM function; what it inlined is a
   chain of locations, innermost first, that ends in the kernel's own subprogram (LLVM verifies
   that).

   The unit asks for directives only: lines in the assembly, no sections that a debugger would read
   variables from. Any more than that makes ptxas leave its optimizations away. */
#include "lower/lines.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "lower/lower.h"

/* DICompileUnit::DebugDirectivesOnly; LLVM's C header names the three kinds before it. */
enum { DIRECTIVES_ONLY = 3 };

typedef struct Subprogram {
    const char *file, *name;
    LLVMMetadataRef md;
} Subprogram;

struct Lines {
    LLVMDIBuilderRef di;
    LLVMMetadataRef type; /* of every subprogram */
    LLVMMetadataRef kernel;
    Map files;  /* Loc.file to LLVMMetadataRef */
    Map places; /* Loc to LLVMMetadataRef */
    VEC(Subprogram) subprograms;
    VEC(const Loc *) locs;
    const Loc *at; /* of the code being made */
};

const char *lines_file(Arena *a, const Loc *loc)
{
    char *text = arena_printf(a, "%s", loc->file ? loc->file : "?");
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
    return text;
}

unsigned lines_column(const Loc *loc)
{
    return loc->col > 0 && loc->col <= UINT16_MAX ? (unsigned)loc->col : 0;
}

static LLVMMetadataRef file_of(Lower *L, const Loc *loc)
{
    LLVMMetadataRef md = map_get_ptr(&L->lines->files, loc->file);
    if (md) return md;
    const char *name = lines_file(L->arena, loc);
    md = LLVMDIBuilderCreateFile(L->lines->di, name, strlen(name), "", 0);
    map_set_ptr(&L->lines->files, loc->file, md);
    return md;
}

static LLVMMetadataRef make_subprogram(Lower *L, LLVMMetadataRef file, const char *name, int line)
{
    const size_t len = strlen(name);
    return LLVMDIBuilderCreateFunction(L->lines->di, file, name, len, name, len, file,
                                       (unsigned)line, L->lines->type, false, true,
                                       (unsigned)line, LLVMDIFlagZero, true);
}

static LLVMMetadataRef subprogram_of(Lower *L, const Loc *loc)
{
    Lines *s = L->lines;
    const char *name = loc->function ? loc->function : "";
    for (int i = 0; i < s->subprograms.len; i++) {
        const Subprogram *p = &s->subprograms.data[i];
        if (p->file == loc->file && p->name == name) return p->md;
    }
    LLVMMetadataRef md = make_subprogram(L, file_of(L, loc), name, 0);
    vec_push(L->arena, &s->subprograms, ((Subprogram){loc->file, name, md}));
    return md;
}

/* A place of the kernel itself, which may stand in another file than its head. */
static LLVMMetadataRef kernel_scope(Lower *L, const Loc *loc)
{
    if (loc->file == L->fn->loc->file) return L->lines->kernel;
    return LLVMDIBuilderCreateLexicalBlockFile(L->lines->di, L->lines->kernel, file_of(L, loc), 0);
}

static LLVMMetadataRef place_of(Lower *L, const Loc *loc)
{
    LLVMMetadataRef md = map_get_ptr(&L->lines->places, loc);
    if (md) return md;
    LLVMMetadataRef caller = loc->caller ? place_of(L, loc->caller) : NULL;
    LLVMMetadataRef scope = caller ? subprogram_of(L, loc) : kernel_scope(L, loc);
    md = LLVMDIBuilderCreateDebugLocation(L->cx, (unsigned)loc->line, lines_column(loc), scope,
                                          caller);
    map_set_ptr(&L->lines->places, loc, md);
    vec_push(L->arena, &L->lines->locs, loc);
    return md;
}

const Loc *lines_at(Lower *L, const Loc *loc)
{
    if (!L->lines) return NULL;
    const Loc *before = L->lines->at;
    if (!loc) loc = before;
    if (loc != before) LLVMSetCurrentDebugLocation2(L->b, place_of(L, loc));
    L->lines->at = loc;
    return before;
}

static void make_unit(Lower *L)
{
    LLVMDIBuilderCreateCompileUnit(
        L->lines->di, LLVMDWARFSourceLanguageC, file_of(L, L->fn->loc), "tkc", 3, true, "", 0, 0,
        "", 0, (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, false, false, "", 0, "", 0);
    const char flag[] = "Debug Info Version";
    LLVMAddModuleFlag(L->module, LLVMModuleFlagBehaviorWarning, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(LLVMConstInt(L->i32, LLVMDebugMetadataVersion(), false)));
}

void lines_open(Lower *L)
{
    const Loc *loc = L->fn->loc;
    if (!loc) return;
    Lines *s = L->lines = arena_new(L->arena, Lines);
    *s = (Lines){.di = LLVMCreateDIBuilder(L->module)};
    map_init(&s->files, L->arena);
    map_init(&s->places, L->arena);
    make_unit(L);
    s->type = LLVMDIBuilderCreateSubroutineType(s->di, file_of(L, loc), NULL, 0, LLVMDIFlagZero);
    s->kernel = make_subprogram(L, file_of(L, loc), L->fn->name, loc->line);
    LLVMSetSubprogram(L->kernel, s->kernel);
    LLVMSetCurrentDebugLocation2(L->entry, place_of(L, loc));
    LLVMSetCurrentDebugLocation2(L->aside, place_of(L, loc));
    lines_at(L, loc);
}

int lines_close(Lower *L, const Loc *const **locs)
{
    *locs = NULL;
    if (!L->lines) return 0;
    LLVMDIBuilderFinalize(L->lines->di);
    LLVMDisposeDIBuilder(L->lines->di);
    *locs = L->lines->locs.data;
    return L->lines->locs.len;
}
