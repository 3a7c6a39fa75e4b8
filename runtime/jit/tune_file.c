#include "tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bytes.h"

/* What follows "HEAD | " in the line; NULL: it is another's. */
static const char *after_head(const char *line, const char *head)
{
    const size_t n = strlen(head);
    return strncmp(line, head, n) || strncmp(line + n, " | ", 3) ? NULL : line + n + 3;
}

/* "BLOCK=64 | 0.1 ms" is of configuration "BLOCK=64". */
static bool is_config(const char *rest, const char *config)
{
    const size_t n = strlen(config);
    return !strncmp(rest, config, n) && !strncmp(rest + n, " | ", 3);
}

int tune_file_find(const char *path, const char *head, const char *const *configs, size_t n)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    int found = -1;
    while (f && found < 0 && getline(&line, &cap, f) >= 0) {
        const char *rest = after_head(line, head);
        for (size_t i = 0; rest && found < 0 && i < n; i++)
            if (is_config(rest, configs[i])) found = (int)i;
    }
    free(line);
    if (f) fclose(f);
    return found;
}

static bool copy_others(Bytes *to, FILE *from, const char *head)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, from)) >= 0;) {
        if (after_head(line, head)) continue;
        bytes_add(to, line, (size_t)n);
        if (line[n - 1] != '\n') bytes_add(to, "\n", 1);
    }
    free(line);
    return !ferror(from);
}

bool tune_file_put(const char *path, const char *head, const char *config, double ms,
                   const char **why)
{
    Bytes all = {0};
    errno = 0;
    FILE *from = fopen(path, "r");
    struct stat st = {.st_mode = 0600};
    bool ok = from ? !fstat(fileno(from), &st) && copy_others(&all, from, head) : errno == ENOENT;
    if (ok) bytes_put(&all, "%s | %s | %.6g ms\n", head, config, ms);
    ok = ok && !all.no_memory && bytes_write(path, all.data, all.len, st.st_mode & 0777);
    *why = ok ? NULL : strerror(errno ? errno : EIO);
    if (from) fclose(from);
    free(all.data);
    return ok;
}
