/* Files: how one is read, and which of them an import may read.

   What the host names is read whatever it is, a pipe too. What an import names is the source's word,
   so only a regular file is, and for a text that came from memory only one under an include folder:
   such a text has no folder to start from or to climb out of. A host may have all imports read by a
   function of its own instead, which then decides. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"
#include "base/unwind.h"

/* ---- reading ---- */

/* The longest file that is read: past it a device such as /dev/zero is the likelier. */
enum { MOST_BYTES = 1 << 28 };

/* NULL: it is longer than that. */
static char *read_stream(Arena *a, FILE *f, size_t *len)
{
    size_t cap = 1 << 14, n = 0;
    char *text = arena_alloc(a, cap);
    for (size_t got; (got = fread(text + n, 1, cap - n - 1, f)) > 0;) {
        n += got;
        if (n < cap - 1) continue;
        if (cap >= MOST_BYTES) return NULL;
        char *bigger = arena_alloc(a, cap * 2);
        memcpy(bigger, text, n);
        text = bigger;
        cap *= 2;
    }
    text[n] = 0;
    *len = n;
    return text;
}

/* Closes the file. */
static char *read_and_close(Arena *a, FILE *f, size_t *len, const char **why)
{
    char *volatile text = NULL;
    UnwindFrame frame; /* what is raised while the file is open goes on once it is closed */
    unwind_push(&frame);
    volatile bool raised = setjmp(frame.env) != 0;
    if (!raised) text = read_stream(a, f, len);
    unwind_pop(&frame);
    bool bad = ferror(f) != 0;
    *why = bad ? strerror(errno) : "it is longer than 256 MiB";
    fclose(f);
    if (raised) unwind_raise_again(&frame);
    return bad ? NULL : text;
}

char *api_read_file(Arena *a, const char *path, size_t *len, const char **why)
{
    errno = 0;
    FILE *f = fopen(path, "rb");
    if (f) return read_and_close(a, f, len, why);
    *why = strerror(errno);
    return NULL;
}

/* Opening does not wait for the other end of a pipe, nor does it rewind a tape. */
static FILE *open_regular(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *f = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!f && fd >= 0) close(fd);
    return f;
}

static char *read_regular(Arena *a, const char *path, size_t *len)
{
    const char *why;
    FILE *f = open_regular(path);
    return f ? read_and_close(a, f, len, &why) : NULL;
}

/* ---- where ---- */

/* The path is in the folder or below it, and does not climb on the way. Folder "": the current
   one. */
static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n && folder[n - 1] == '/') n--;
    if (strncmp(path, folder, n) || (n && path[n] != '/') || (!*folder && *path == '/'))
        return false;
    for (const char *p = path + n; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/')) return false;
    }
    return true;
}

static bool is_in_include(const TkcContext *cx, const char *path)
{
    for (int i = 0; i < cx->ninclude; i++)
        if (is_below(path, cx->include[i])) return true;
    return false;
}

static char *folder_of(Arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return arena_strndup(a, path, slash ? (size_t)(slash - path) + (slash == path) : 0);
}

static bool has_file(Arena *a, const char *folder, const char *name)
{
    struct stat st;
    return !stat(arena_printf(a, "%s%s%s", folder, *folder ? "/" : "", name), &st);
}

/* The outermost folder of the package that the file is part of, else the file's own. */
static const char *package_of(Arena *a, const char *path)
{
    char *folder = folder_of(a, path);
    while (strchr(folder, '/') && has_file(a, folder, "__init__.py")) {
        char *above = folder_of(a, folder);
        if (!has_file(a, above, "__init__.py")) break;
        folder = above;
    }
    return folder;
}

/* ---- imports ---- */

typedef struct HookCall {
    const TkcContext *cx;
    const char *path;
    const char *text; /* out */
    size_t len;
} HookCall;

static void call_hook(void *arg)
{
    HookCall *h = arg;
    h->text = h->cx->import(h->path, &h->len, h->cx->import_user);
}

static const char *ask_host(TkcContext *cx, Arena *a, const char *path, size_t *len)
{
    HookCall h = {.cx = cx, .path = path};
    if (!cx->import) return NULL;
    own_stack_call_out(&cx->stacks, call_hook, &h);
    if (!h.text || h.len > MOST_BYTES) return NULL;
    *len = h.len;
    return arena_strndup(a, h.text, h.len);
}

const char *api_read_import(const TkcSource *source, Arena *a, const char *path, size_t *len,
                            bool *is_shown)
{
    TkcContext *cx = source->cx;
    *is_shown = true;
    if (cx->has_import_hook) return ask_host(cx, a, path, len);
    if (is_in_include(cx, path)) return read_regular(a, path, len);
    if (!source->has_folder) return NULL;
    const char *text = read_regular(a, path, len);
    *is_shown = text && is_below(path, package_of(a, source->source->name));
    return text;
}
