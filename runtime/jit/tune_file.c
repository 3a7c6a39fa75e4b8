#include "tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool copy_others(FILE *from, FILE *to, const char *head)
{
    char *line = NULL;
    size_t cap = 0;
    bool ok = true;
    for (ssize_t n; ok && (n = getline(&line, &cap, from)) >= 0;)
        if (!after_head(line, head))
            ok = fwrite(line, 1, (size_t)n, to) == (size_t)n &&
                 (line[n - 1] == '\n' || fwrite("\n", 1, 1, to) == 1);
    free(line);
    return ok && !ferror(from);
}

static bool put_line(FILE *to, const char *head, const char *config, double ms)
{
    char time[32];
    const char *const parts[] = {head, " | ", config, " | ", time, " ms\n"};
    bool ok = true;
    snprintf(time, sizeof time, "%.6g", ms);
    for (int i = 0; ok && i < 6; i++)
        ok = fwrite(parts[i], 1, strlen(parts[i]), to) == strlen(parts[i]);
    return ok;
}

/* Another process that writes at the same time may win, never mix with this one. */
bool tune_file_put(const char *path, const char *head, const char *config, double ms,
                   const char **why)
{
    char *temporary = malloc(strlen(path) + 8);
    if (!temporary) return *why = "no memory", false;
    sprintf(temporary, "%s.XXXXXX", path);
    errno = 0;
    const int fd = mkstemp(temporary);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL, *from = to ? fopen(path, "r") : NULL;
    bool ok = to && (from ? copy_others(from, to, head) : errno == ENOENT);
    ok = ok && put_line(to, head, config, ms);
    if (to) ok = fclose(to) == 0 && ok;
    else if (fd >= 0) close(fd);
    ok = ok && rename(temporary, path) == 0;
    *why = ok ? NULL : strerror(errno ? errno : EIO);
    if (from) fclose(from);
    if (!ok && fd >= 0) unlink(temporary);
    free(temporary);
    return ok;
}
