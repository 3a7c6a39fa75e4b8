/* -list: the kernels of one or more files, as the sources declare them:

       add
           x      *fp32, a multiple of 16
           n      i32
           BLOCK  constexpr = 128
           configuration  BLOCK=64 num_warps=4 */
#include <string.h>

#include "command.h"

/* "*fp32, a multiple of 16", "constexpr = 128", "?": the source leaves it open. */
static void print_param(const TkcParam *p, int width)
{
    printf("    %-*s  %s", width, p->name,
           p->is_constexpr ? "constexpr"
           : p->type       ? p->type
           : p->is_int     ? "int"
                           : "?");
    if (p->divisibility > 1) printf(", a multiple of %lld", (long long)p->divisibility);
    if (p->default_) printf(" = %s", p->default_);
    putchar('\n');
}

static bool print_params(Options *o, TkcSource *source, const char *kernel)
{
    int n, width = 0;
    const TkcParam *all = command_params(o, source, kernel, &n);
    if (!all) return false;
    for (int i = 0; i < n; i++)
        if ((int)strlen(all[i].name) > width) width = (int)strlen(all[i].name);
    for (int i = 0; i < n; i++) print_param(&all[i], width);
    return true;
}

static bool print_kernel(Options *o, TkcSource *source, const char *kernel)
{
    const char *const *configs;
    int count;
    printf("%s\n", kernel);
    if (!print_params(o, source, kernel) ||
        tkc_source_configs(source, kernel, &configs, &count) != TKC_OK)
        return false;
    for (int i = 0; i < count; i++) printf("    configuration %d  %s\n", i + 1, configs[i]);
    return true;
}

static bool print_file(TkcContext *cx, Options *o)
{
    TkcSource *source = command_source(cx, o);
    if (!source) return false;
    const char *only = o->compile.kernel, *name;
    int count;
    bool ok = only ? print_kernel(o, source, only)
                   : tkc_source_kernel_count(source) > 0 ||
                         tkc_source_param_count(source, NULL, &count) == TKC_OK; /* says why */
    for (int i = 0; !only && (name = tkc_source_kernel_name(source, i)); i++)
        ok &= print_kernel(o, source, name);
    tkc_source_free(source);
    return ok;
}

int command_list(TkcContext *cx, Options *o)
{
    bool ok = true;
    for (int i = 0; i < o->nfiles; i++) {
        o->file = o->files[i];
        o->language = options_language(o, o->file);
        if (o->nfiles > 1) printf("%s%s:\n", i ? "\n" : "", o->file);
        ok &= print_file(cx, o);
    }
    return ok ? EXIT_FINE : EXIT_REFUSED;
}
