/* In: PTX. Out: the bytes of a cubin. ptxas reads and writes files, in a folder of our own; where there is none,
   the linker of the driver of a GPU that is here makes cubins for any target. */
#include "assemble.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

extern char **environ;

/* ---- which ptxas ---- */

static const char *in_folder(Options *o, const char *folder, size_t len, const char *below)
{
    char path[4096];
    if (!len ||
        (size_t)snprintf(path, sizeof path, "%.*s%s/ptxas", (int)len, folder, below) >= sizeof path)
        return NULL;
    return access(path, X_OK) == 0 ? options_keep(o, path) : NULL;
}

static const char *on_path(Options *o)
{
    const char *found = NULL, *p = getenv("PATH");
    for (size_t n; p && *p && !found; p += n + (p[n] == ':')) {
        n = strcspn(p, ":");
        found = in_folder(o, p, n, "");
    }
    return found;
}

static const char *find_ptxas(Options *o)
{
    const char *home = getenv("CUDA_HOME"), *found;
    if (o->ptxas) return strcmp(o->ptxas, "none") && strcmp(o->ptxas, "driver") ? o->ptxas : NULL;
    if ((found = on_path(o))) return found;
    if (!home || !*home) home = "/usr/local/cuda";
    return in_folder(o, home, strlen(home), "/bin");
}

/* ---- the driver ---- */

Assembler assemble_find(Options *o, TkcContext *cx)
{
    Assembler by = {.o = o, .cx = cx, .ptxas = find_ptxas(o)};
    if (!by.ptxas && (!o->ptxas || strcmp(o->ptxas, "none"))) by.dev = command_gpu(cx);
    return by;
}

bool assemble_has(const Assembler *by)
{
    return by->ptxas || by->dev;
}

void assemble_end(Assembler *by)
{
    tkc_device_free(by->dev);
    by->dev = NULL;
}

/* Quietly, since a driver without a linker is as good as none; what it refuses is told by asking again. */
static bool link_by_driver(Assembler *by, const TkcArtifact *ptx, char **cubin, size_t *len)
{
    void *made = NULL;
    tkc_context_on_diagnostic(by->cx, NULL, NULL);
    TkcStatus status = tkc_device_assemble(by->dev, &ptx, 1, &made, len);
    report_listen(by->cx);
    if (status == TKC_NO_DEVICE) assemble_end(by);
    else if (status != TKC_OK) status = tkc_device_assemble(by->dev, &ptx, 1, &made, len);
    *cubin = made;
    return status == TKC_OK || status == TKC_NO_DEVICE;
}

/* ---- running it ---- */

typedef struct Work {
    char folder[256], ptx[272], cubin[272], log[272];
} Work;

static bool begin(Work *w)
{
    const char *tmp = getenv("TMPDIR");
    const int n =
        snprintf(w->folder, sizeof w->folder, "%s/tkc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n >= (int)sizeof w->folder) errno = ENAMETOOLONG;
    if (n >= (int)sizeof w->folder || !mkdtemp(w->folder))
        return command_refuse("cannot make a folder for ptxas, '%s': %s", w->folder,
                              strerror(errno));
    snprintf(w->ptx, sizeof w->ptx, "%s/k.ptx", w->folder);
    snprintf(w->cubin, sizeof w->cubin, "%s/k.cubin", w->folder);
    snprintf(w->log, sizeof w->log, "%s/log", w->folder);
    return true;
}

static void end(const Work *w)
{
    remove(w->ptx);
    remove(w->cubin);
    remove(w->log);
    rmdir(w->folder);
}

static bool write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    const bool ok = f && fputs(text, f) >= 0;
    if (f && fclose(f) == 0 && ok) return true;
    return command_refuse("cannot write '%s': %s", path, strerror(errno));
}

/* As command_read; NULL: there is none. */
static char *read_file(const char *path, size_t *len)
{
    const char *why;
    FILE *f = fopen(path, "rb");
    char *data = f ? command_read(f, len, &why) : NULL;
    if (f) fclose(f);
    return data;
}

/* Its exit status; -1: it was said why it did not run. option NULL: none. */
static int run(const char *ptxas, const char *arch, const char *option, const Work *w)
{
    char target[64];
    snprintf(target, sizeof target, "-arch=%s", arch);
    const char *words[] = {ptxas, target, "-o", w->cubin, w->ptx, option, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, w->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    const int error = posix_spawnp(&child, ptxas, &files, NULL, (char **)words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error) return command_fail("cannot run '%s': %s", ptxas, strerror(error)), -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

/* The first lines of what it said. */
static void tell(const char *ptxas, const char *arch, const Work *w)
{
    enum { MOST = 1500 };
    size_t len = 0;
    char *said = read_file(w->log, &len);
    while (len && said[len - 1] == '\n') said[--len] = 0;
    command_fail(
        "'%s' refuses the code for %s (is it older than this target? -emit=ptx needs none): %.*s",
        ptxas, arch, MOST, len ? said : "it says nothing");
    free(said);
}

static char *run_ptxas(const Options *o, const char *ptxas, const char *arch, const char *ptx, size_t *len)
{
    Work w;
    char *cubin = NULL;
    if (!begin(&w)) return NULL;
    const char *option = o->compile.line_info || o->compile.debug ? "-lineinfo" : NULL;
    const int status = write_file(w.ptx, ptx) ? run(ptxas, arch, option, &w) : -1;
    if (status > 0) tell(ptxas, arch, &w);
    else if (status == 0 && !(cubin = read_file(w.cubin, len)))
        command_fail("'%s' left no cubin", ptxas);
    end(&w);
    return cubin;
}

bool assemble(Assembler *by, const TkcArtifact *ptx, char **cubin, size_t *len)
{
    *cubin = NULL;
    if (by->dev) return link_by_driver(by, ptx, cubin, len);
    if (!by->ptxas) return true;
    *cubin = run_ptxas(by->o, by->ptxas, tkc_artifact_arch(ptx), tkc_artifact_text(ptx, NULL), len);
    return *cubin != NULL;
}

/* ---- what code costs ---- */

/* What -v says: "Used 27 registers, …", "…, 8 bytes spill stores, 8 bytes spill loads". */
static bool read_cost(const char *log, ThreadCost *a)
{
    char line[512];
    bool found = false;
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *used = strstr(line, "Used "), *frame = strstr(line, "stack frame, ");
        int stores, loads;
        if (used && sscanf(used, "Used %d registers", &a->registers) == 1) found = true;
        if (frame && sscanf(frame, "stack frame, %d bytes spill stores, %d bytes spill loads",
                            &stores, &loads) == 2)
            a->spill_bytes = stores > loads ? stores : loads;
    }
    if (f) fclose(f);
    return found;
}

bool assemble_ask(const Assembler *by, const TkcArtifact *ptx, ThreadCost *out)
{
    Work w;
    *out = (ThreadCost){0};
    if (!by->ptxas || !begin(&w)) return false;
    const bool ok = write_file(w.ptx, tkc_artifact_text(ptx, NULL)) &&
                    run(by->ptxas, tkc_artifact_arch(ptx), "-v", &w) == 0 && read_cost(w.log, out);
    end(&w);
    return ok;
}
