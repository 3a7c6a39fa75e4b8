/* What went wrong, told once for a launch: the text, the instruction with its line of PTX and of the
   kernel, the program and the thread. */
#include "module.h"
#include "tkc/text.h"

static void put_place(Text *t, const SimtModule *m, uint32_t place)
{
    const char *before = "at";
    while (place && place < m->nplaces) {
        const SimtPlace *p = &m->places[place];
        const char *file = p->file >= 0 && p->file < m->nfiles ? m->files[p->file] : NULL;
        text_put(t, "\n  %s %s:%d", before, file ? file : "?", p->line);
        before = "called at";
        place = p->caller;
    }
}

void simt_describe(const SimtFunc *f, const SimtInsn *in, char *out, size_t size)
{
    Text t = {out, size, 0};
    put_place(&t, f->module, in->place);
    text_put(&t, "\n  in '%.*s', line %d of the PTX of '%s'", in->name_len, in->name, in->line,
             f->name);
}

static void put_thread(Text *t, const Warp *w, int lane)
{
    const uint32_t *id = w->block->id, *n = w->block->launch->block;
    text_put(t, "\n  program (%u, %u, %u), ", id[0], id[1], id[2]);
    if (lane < 0) {
        text_put(t, "warp %d", w->index);
        return;
    }
    const uint32_t thread = (uint32_t)(w->index * SIMT_LANES + lane);
    text_put(t, "thread (%u, %u, %u), lane %d of warp %d", thread % n[0], thread / n[0] % n[1],
             thread / n[0] / n[1], lane, w->index);
}

/* Other cores may fault at the same time: the one that sets the code writes the report. */
SimtStep simt_fault(Warp *w, const SimtInsn *in, int lane, int code, const char *fmt, ...)
{
    SimtLaunch *l = w->block->launch;
    int none = 0;
    if (!atomic_compare_exchange_strong(&l->stop, &none, code)) return STEP_FAULT;
    Text t = {l->report, l->report_size, 0};
    char place[512];
    va_list ap;
    va_start(ap, fmt);
    char what[1024];
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    simt_describe(w->func, in, place, sizeof place);
    text_put(&t, "%s%s", what, place);
    put_thread(&t, w, lane);
    return STEP_FAULT;
}
