/* vprintf: C's formats over arguments that lie one after the other, each aligned to its size. */
#include <stdio.h>
#include <string.h>

#include "warp.h"

typedef struct Arguments {
    Warp *w;
    const SimtInsn *in;
    int lane;
    uint64_t at;
} Arguments;

static bool next_argument(Arguments *a, void *out, uint32_t bytes)
{
    a->at = (a->at + bytes - 1) / bytes * bytes;
    bool done = warp_read(a->w, a->in, a->lane, a->at, out, bytes);
    a->at += bytes;
    return done;
}

/* One conversion, with its % and its letter, in `spec`; the result goes to out. */
static bool convert(Arguments *a, char *spec, char *out, size_t size)
{
    const size_t len = strlen(spec);
    const char letter = spec[len - 1];
    const bool is_long = strstr(spec, "l") != NULL || strchr("pz", letter);
    uint64_t x = 0;
    double f;
    if (letter == '%') {
        snprintf(out, size, "%%");
        return true;
    }
    if (strchr("fFeEgGaA", letter)) {
        if (!next_argument(a, &f, 8)) return false;
        snprintf(out, size, spec, f);
        return true;
    }
    if (letter == 's') {
        char text[1024] = "";
        if (!next_argument(a, &x, 8) || !warp_string(a->w, a->in, a->lane, x, text, sizeof text))
            return false;
        snprintf(out, size, spec, text);
        return true;
    }
    if (!next_argument(a, &x, is_long || letter == 'p' ? 8 : 4)) return false;
    if (letter == 'p') snprintf(out, size, "0x%llx", (unsigned long long)x);
    else if (is_long) snprintf(out, size, spec, (long long)x);
    else snprintf(out, size, spec, (int)x);
    return true;
}

/* The conversion at p, copied without anything that could write or take more; its length. */
static size_t copy_spec(const char *p, char *spec, size_t size)
{
    size_t n = 1 + strspn(p + 1, "-+ #0123456789.");
    n += strspn(p + n, "lhzj");
    if (!p[n] || n + 2 > size || !strchr("diouxXcsfFeEgGaAp%", p[n])) return 0;
    memcpy(spec, p, n + 1);
    spec[n + 1] = 0;
    return n + 1;
}

bool warp_print(Warp *w, const SimtInsn *in, int lane, uint64_t format, uint64_t args)
{
    char text[2048], out[4096];
    size_t n = 0;
    Arguments a = {w, in, lane, args};
    const SimtRun *run = &w->block->launch->run;
    if (!warp_string(w, in, lane, format, text, sizeof text)) return false;
    for (const char *p = text; *p && n + 1 < sizeof out;) {
        char spec[32];
        const size_t len = *p == '%' ? copy_spec(p, spec, sizeof spec) : 0;
        if (!len) {
            out[n++] = *p++;
            continue;
        }
        out[n] = 0;
        if (!convert(&a, spec, out + n, sizeof out - n)) return false;
        n += strlen(out + n);
        p += len;
    }
    if (run->print) run->print(out, n, run->print_user);
    return true;
}
