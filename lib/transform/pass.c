/* Running one pass. What it allocates in its scratch arena is gone when it returns; with
   verification on, as it is in every debug build, a pass that leaves the IR broken is named, which
   is our bug and not the user's. */
#include "transform/pass.h"

#include <string.h>

#include "ir/verify.h"

const PassInfo *pass_find(const PassInfo *table, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

#ifdef NDEBUG
enum { VERIFY_ALWAYS = false };
#else
enum { VERIFY_ALWAYS = true };
#endif

bool pass_run(const PassInfo *info, Func *fn, Arena *scratch, Diags *dx, bool verify_each)
{
    int errors_before = dx->nerrors;
    ArenaMark mark = arena_mark(scratch);
    Pass pass = {.scratch = scratch, .dx = dx, .name = info->name};
    info->run(&pass, fn);
    arena_reset(scratch, mark);
    if (dx->nerrors > errors_before) return false;
    if (!(verify_each || VERIFY_ALWAYS) || ir_verify(fn, dx)) return true;
    return diag_fail_as(dx, DIAG_INTERNAL, SPAN_NONE,
                        "internal error: the pass '%s' broke the IR of '%s'", info->name, fn->name);
}
