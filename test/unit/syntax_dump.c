/* What the front end makes of files, for test/syntax/compare_python.py and by hand:
       syntax_dump tokens|ast|whole|errors FILE...
   tokens, ast: as tkc -emit prints them. whole: the tree of everything, host code included. errors: only the
   diagnostics and, for each file, whether it parsed and whether all of it did. */
#include <stdio.h>
#include <string.h>
#include "base/unwind.h"
#include "syntax/ast.h"
#include "syntax/token.h"

static bool read_file(Buf *out, const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f) return false;
    char block[65536];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) buf_put(out, block, n);
    fclose(f);
    return true;
}

static void print_diags(Arena *a, Diags *dx)
{
    Buf out = buf_make(a);
    diags_sort(dx);
    for (const Diag *d = dx->first; d; d = d->next) diag_draw(&out, d, false);
    fputs(buf_text(&out), stderr);
}

static bool whole(Arena *a, Interner *names, Diags *dx, AstFile *file)
{
    AstList list = {0};
    bool ok = parse_tokens(a, names, dx, file, 0, file->tokens->len - 1, &list);
    file->body = list;
    return ok;
}

static bool dump(Arena *a, const char *mode, const char *name)
{
    Diags dx;
    diags_init(&dx, a);
    dx.max_errors = 1000;
    Interner *names = intern_new(a);
    Buf text = buf_make(a), out = buf_make(a);
    if (!read_file(&text, name)) {
        fprintf(stderr, "cannot read %s\n", name);
        return false;
    }
    AstFile *file = syntax_parse(a, names, &dx, source_new(a, name, buf_text(&text), text.len));
    bool parsed = file->ok, ok = parsed, everything = strcmp(mode, "whole") == 0, errors = strcmp(mode, "errors") == 0;
    if (everything || errors) ok = whole(a, names, &dx, file);
    if (errors) buf_printf(&out, "%s %s %s\n", name, parsed ? "parsed" : "failed", ok ? "complete" : "incomplete");
    else if (strcmp(mode, "tokens") == 0) tokens_print(&out, file);
    else ast_print(&out, file);
    fputs(buf_text(&out), stdout);
    print_diags(a, &dx);
    return ok;
}

static bool run(const char *mode, const char *name)
{
    Arena a;
    UnwindFrame frame;
    volatile bool ok = false;
    arena_init(&a);
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) ok = dump(&a, mode, name);
    else fprintf(stderr, "%s: internal error: %s\n", name, frame.message);
    unwind_pop(&frame);
    arena_fini(&a);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = argc > 2;
    for (int i = 2; i < argc; i++) ok &= run(argv[1], argv[i]);
    return ok ? 0 : 1;
}
