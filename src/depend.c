/* Names are escaped as gcc does, which make and ninja both read. */
#include "command.h"

#include <string.h>

#include "output.h"
#include "tkc/edge.h"

static bool has(const Depends *d, const char *path)
{
    for (int i = 0; i < d->n; i++)
        if (!strcmp(d->paths[i], path)) return true;
    return false;
}

void depend_add(Depends *d, const TkcArtifact *artifact)
{
    const TkcFile *file;
    for (int i = 0; d->o->depend && (file = tkc_artifact_file(artifact, i)); i++)
        if (file->text && strcmp(file->path, "<stdin>") && !has(d, file->path))
            options_push(d->o, d->paths, d->n, options_keep(d->o, file->path));
}

static void put_name(FILE *f, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#') fputc('\\', f);
        if (*name == '$') fputc('$', f);
        fputc(*name, f);
    }
}

/* k.h: k.d */
static char *default_name(Options *o)
{
    const char *slash = strrchr(o->output, '/'), *dot = strrchr(slash ? slash + 1 : o->output, '.');
    const int n = dot ? (int)(dot - o->output) : (int)strlen(o->output);
    char path[4096];
    snprintf(path, sizeof path, "%.*s.d", n, o->output);
    return options_keep(o, path);
}

int depend_write(Depends *d, int code)
{
    Output out;
    const char *why = NULL, *path;
    if (code == EXIT_FINE && d->o->depend) {
        path = d->o->depend_file ? d->o->depend_file : default_name(d->o);
        bool ok = !output_is_same_file(d->o->file, path);
        if (!ok) why = "it is the input";
        if (ok && (ok = output_open(&out, path, &why))) {
            put_name(out.f, d->o->output);
            fputc(':', out.f);
            for (int i = 0; i < d->n; i++) {
                fputs(" \\\n  ", out.f);
                put_name(out.f, d->paths[i]);
            }
            fputc('\n', out.f);
            ok = output_close(&out, !ferror(out.f), &why);
        }
        if (!ok) code = command_fail("cannot write '%s': %s", path, why);
    }
    return code;
}
