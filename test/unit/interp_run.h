/* Running IR on the cpu device from a unit test: a world with a device, arrays in its memory,
   functions from text or made by the test. */
#ifndef TKC_TEST_INTERP_RUN_H
#define TKC_TEST_INTERP_RUN_H

#include <stdlib.h>

#include "expect.h"
#include "interp/interp.h"
#include "ir/build.h"
#include "ir/ir.h"
#include "ir/machine.h"
#include "ir/parse.h"
#include "ir/verify.h"

typedef struct World {
    Arena arena;
    Diags dx;
    Ir *ir;
    TkcContext *cx;
    TkcDevice *dev;
} World;

static inline void world_open(World *w)
{
    arena_init(&w->arena);
    diags_init(&w->dx, &w->arena);
    w->ir = ir_new(&w->arena, intern_new(&w->arena));
    w->cx = tkc_context_new();
    if (tkc_device_open(w->cx, "cpu", 0, &w->dev) != TKC_OK)
        expect_failed(__FILE__, __LINE__, "a cpu device opens");
    tkc_device_set_memory_checks(w->dev, false); /* tests fill arrays by themselves, and race */
}

static inline void world_close(World *w)
{
    tkc_device_free(w->dev);
    tkc_context_free(w->cx);
    arena_fini(&w->arena);
}

/* Device memory of exactly this size, holding these bytes (NULL: 0xA5 everywhere). */
static inline void *device_array(World *w, const void *from, size_t bytes)
{
    TkcPtr p = 0;
    if (tkc_alloc(w->dev, bytes, &p) != TKC_OK) expect_failed(__FILE__, __LINE__, "memory");
    void *at = (void *)(uintptr_t)p;
    if (from) memcpy(at, from, bytes);
    else memset(at, 0xA5, bytes);
    return at;
}

static inline void device_drop(World *w, void *p)
{
    if (tkc_free(w->dev, (TkcPtr)(uintptr_t)p) != TKC_OK)
        expect_failed(__FILE__, __LINE__, "freed");
}

static inline Func *parse_func(World *w, const char *text)
{
    Func **funcs;
    int n = ir_parse(w->ir, &w->dx, source_new(&w->arena, "t.ir", text, strlen(text)), &funcs);
    if (n == 1 && ir_verify(funcs[0], &w->dx)) return funcs[0];
    Buf out = buf_make(&w->arena);
    for (Diag *d = w->dx.first; d; d = d->next) diag_draw(&out, d, false);
    printf("%s%s", text, buf_text(&out));
    expect_failed(__FILE__, __LINE__, "parses and verifies");
    return NULL;
}

/* One launch; arguments are pointers or numbers as bits. */
static inline TkcStatus run_func(World *w, const Func *fn, int64_t programs, const uint64_t *args)
{
    LaunchArg list[32] = {0};
    for (int i = 0; i < fn->nparams; i++) list[i].bits = args[i];
    Interp *in = interp_prepare(w->cx, fn, NULL, &(TkcStatus){0});
    if (!in) return TKC_ERROR;
    TkcStatus status = interp_launch(w->dev, in, w->dev->state, (int64_t[]){programs, 1, 1}, list);
    interp_free(in);
    return status;
}

static inline TkcStatus run_text(World *w, const char *text, int64_t programs, const uint64_t *args)
{
    const Func *fn = parse_func(w, text);
    return fn ? run_func(w, fn, programs, args) : TKC_INTERNAL;
}

#define AS_ARG(p) ((uint64_t)(uintptr_t)(p))

/* The run must succeed. */
static inline void run_well(World *w, const char *text, int64_t programs, const uint64_t *args)
{
    if (run_text(w, text, programs, args) == TKC_OK) return;
    printf("%s%s", text, tkc_last_error(w->cx));
    expect_failed(__FILE__, __LINE__, "runs");
}

/* The run must fail with a message that contains `part`. */
static inline void run_badly(World *w, const char *text, int64_t programs, const uint64_t *args,
                             const char *part)
{
    if (run_text(w, text, programs, args) == TKC_ERROR && strstr(tkc_last_error(w->cx), part))
        return;
    printf("%s--- wanted: %s\n", tkc_last_error(w->cx), part);
    expect_failed(__FILE__, __LINE__, "fails so");
}

/* Random bits, a stream by seed. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
