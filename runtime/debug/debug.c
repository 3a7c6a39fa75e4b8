/* Watching programs: names, traces, stops. */
#include "debug.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct TkcStop {
    Frame *f;
    const Loc *place;
    char text[8192];
};

/* ---- what a device is asked to watch ---- */

static TkcStatus add_point(TkcDevice *dev, const char *text, DebugPoint *p)
{
    DebugPoint *kept = malloc(sizeof *kept), **end;
    if (!dev->debugger) dev->debugger = calloc(1, sizeof *dev->debugger);
    char *copy = strdup(text);
    if (!kept || !copy || !dev->debugger) {
        free(kept);
        free(copy);
        return tkc_no_memory(dev->cx);
    }
    *kept = *p;
    kept->text = copy;
    char *colon = strchr(copy, ':');
    if (colon) {
        *colon = 0;
        kept->cond = colon + 1;
    }
    kept->name = copy;
    for (end = &dev->debugger->points; *end; end = &(*end)->next) {
    }
    *end = kept;
    return TKC_OK;
}

static TkcStatus refuse(TkcDevice *dev, const char *fmt, const char *text)
{
    if (!device_is(dev)) return TKC_MISUSE;
    if (strcmp(dev->ops->kind, "cpu"))
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL,
                   "the %s device has no traces and breaks; the cpu device has", dev->ops->kind);
    else tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL, fmt, text ? text : "");
    return TKC_ERROR;
}

TkcStatus tkc_device_trace(TkcDevice *dev, const char *what)
{
    size_t n = 0;
    while (what && (isalnum((unsigned char)what[n]) || what[n] == '_')) n++;
    if (!device_is(dev) || strcmp(dev->ops->kind, "cpu") || !n || isdigit((unsigned char)*what) ||
        (what[n] && what[n] != ':'))
        return refuse(dev, "a trace is NAME or NAME:CONDITION, not '%s'", what);
    return add_point(dev, what, &(DebugPoint){.is_trace = true});
}

TkcStatus tkc_device_break(TkcDevice *dev, const char *where)
{
    char *end = NULL;
    long line = where && isdigit((unsigned char)*where) ? strtol(where, &end, 10) : 0;
    if (!device_is(dev) || strcmp(dev->ops->kind, "cpu") || line < 1 || line > INT32_MAX ||
        (*end && *end != ':'))
        return refuse(dev, "a break is LINE or LINE:CONDITION, not '%s'", where);
    return add_point(dev, where, &(DebugPoint){.line = (int)line});
}

void tkc_device_on_stop(TkcDevice *dev, TkcStopAction (*fn)(TkcStop *stop, void *user), void *user)
{
    if (!device_is(dev) || strcmp(dev->ops->kind, "cpu")) return;
    if (!dev->debugger && !(dev->debugger = calloc(1, sizeof *dev->debugger))) return;
    dev->debugger->stop = fn;
    dev->debugger->user = user;
}

void debugger_free(Debugger *d)
{
    if (!d) return;
    for (DebugPoint *p = d->points, *next; p; p = next) {
        next = p->next;
        free(p->text);
        free(p);
    }
    free(d);
}

/* ---- names ---- */

/* The calls that a value's name is inside of. */
static const Loc *call_of(const Value *v)
{
    const Op *op = v->def ? v->def : v->region->parent;
    return op && op->loc ? op->loc->caller : NULL;
}

static int find_name(const DebugInfo *d, const char *name, size_t len, const Loc *call)
{
    for (int i = 0; i < d->nnames; i++)
        if (strlen(d->names[i].name) == len && !memcmp(d->names[i].name, name, len) &&
            place_same_call(d->names[i].call, call))
            return i;
    return -1;
}

static void add_value(DebugInfo *d, const Value *v)
{
    d->name_of[v->id] = -1;
    if (!v->name) return;
    const Loc *call = call_of(v);
    int i = find_name(d, v->name, strlen(v->name), call);
    if (i < 0) {
        i = d->nnames++;
        d->names[i] = (DebugName){v->name, call};
    }
    d->name_of[v->id] = i;
}

static void add_region(DebugInfo *d, const Region *r)
{
    for (int i = 0; i < r->nargs; i++) add_value(d, r->args[i]);
    for (const Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nresults; i++) add_value(d, op_result(op, i));
        for (int i = 0; i < op->nregions; i++) add_region(d, op->regions[i]);
    }
}

/* ---- what is asked for must be there ---- */

static bool is_ours(const DebugName *n)
{
    return !n->call || place_of(n->call) == n->call;
}

static void unknown_name(const DebugInfo *d, const char *name, size_t len, char *why, size_t size)
{
    const char *word = strndup(name, len), **ours = calloc((size_t)d->nnames + 1, sizeof *ours);
    size_t n = 0;
    for (int i = 0; i < d->nnames && ours; i++)
        if (is_ours(&d->names[i])) ours[n++] = d->names[i].name;
    const char *near = ours ? tkc_nearest_word(word, ours, n) : NULL;
    free((char *)word);
    free(ours);
    snprintf(why, size, "'%s' has no value named '%.*s'%s%s%s", d->fn->name, (int)len, name,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool has_name(const DebugInfo *d, const char *name, size_t len)
{
    for (int i = 0; i < d->nnames; i++)
        if (is_ours(&d->names[i]) && strlen(d->names[i].name) == len &&
            !memcmp(d->names[i].name, name, len))
            return true;
    return false;
}

/* pid0 … pid2, grid0 … grid2; -1: another name. */
static int launch_name(const char *name, size_t len)
{
    bool pid = len == 4 && !memcmp(name, "pid", 3), grid = len == 5 && !memcmp(name, "grid", 4);
    if ((!pid && !grid) || name[len - 1] < '0' || name[len - 1] > '2') return -1;
    return name[len - 1] - '0' + (grid ? 3 : 0);
}

/* Before anything runs no name has a value, but each is known or not. */
static ExprFound check_name(void *user, const char *name, size_t len, const int64_t *index, int n,
                            ExprNumber *out, char *why, size_t size)
{
    (void)index, (void)n, (void)out;
    const DebugInfo *d = user;
    if (launch_name(name, len) >= 0 || has_name(d, name, len)) return EXPR_NO_VALUE;
    unknown_name(d, name, len, why, size);
    return EXPR_WRONG;
}

static bool check_point(TkcContext *cx, DebugInfo *d, const DebugPoint *p)
{
    const char *option = p->is_trace ? "trace" : "break";
    char why[512];
    ExprNumber n;
    if (p->is_trace && !has_name(d, p->name, strlen(p->name))) {
        unknown_name(d, p->name, strlen(p->name), why, sizeof why);
        tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "%s '%s': %s", option, p->name, why);
        return false;
    }
    int next = p->is_trace ? 0 : place_next_line(d->fn, p->line);
    if (!p->is_trace && next != p->line) {
        snprintf(why, sizeof why, next ? "; the next that does is line %d" : "", next);
        tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "break %d: line %d does nothing when '%s' runs%s",
                   p->line, p->line, d->fn->name, why);
        return false;
    }
    const ExprNames names = {.find = check_name, .user = d};
    if (!p->cond || expr_evaluate(p->cond, &names, &n, why, sizeof why) < EXPR_WRONG) return true;
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "%s '%s': condition '%s': %s", option, p->name,
               p->cond, why);
    return false;
}

DebugInfo *debug_info_new(TkcContext *cx, const Func *fn, const Debugger *debugger)
{
    DebugInfo *d = calloc(1, sizeof *d);
    if (!d) {
        tkc_no_memory(cx);
        return NULL;
    }
    d->debugger = debugger;
    d->fn = fn;
    d->names = calloc(fn->nvalues + 1, sizeof *d->names);
    d->name_of = calloc(fn->nvalues + 1, sizeof *d->name_of);
    bool ok = d->names && d->name_of;
    if (!ok) tkc_no_memory(cx);
    if (ok) add_region(d, fn->body);
    for (const DebugPoint *p = debugger->points; ok && p; p = p->next) ok = check_point(cx, d, p);
    if (ok) return d;
    debug_info_free(d);
    return NULL;
}

void debug_info_free(DebugInfo *info)
{
    if (!info) return;
    free(info->names);
    free(info->name_of);
    free(info);
}

/* ---- frames ---- */

bool debug_frame_open(Frame *f)
{
    f->debug = calloc(1, sizeof *f->debug);
    if (!f->debug) return false;
    f->debug->now = calloc((size_t)f->launch->in->debug->nnames + 1, sizeof *f->debug->now);
    return f->debug->now != NULL;
}

void debug_frame_close(Frame *f)
{
    if (f->debug) free(f->debug->now);
    free(f->debug);
}

void debug_frame_reset(Frame *f)
{
    memset(f->debug->now, 0, (size_t)f->launch->in->debug->nnames * sizeof *f->debug->now);
    f->debug->action = TKC_STOP_CONTINUE;
}

/* ---- names while running ---- */

/* Where an expression is evaluated. */
typedef struct Here {
    const Frame *f;
    const Loc *place;
} Here;

/* The newest value of a name, in this call or one around it. */
static const Value *value_here(const Here *h, const char *name, size_t len, bool *known)
{
    const DebugInfo *d = h->f->launch->in->debug;
    *known = false;
    for (const Loc *l = h->place;; l = l->caller) {
        int i = find_name(d, name, len, l ? l->caller : NULL);
        *known |= i >= 0;
        if (i >= 0 && h->f->debug->now[i]) return h->f->debug->now[i];
        if (!l || !l->caller) return NULL;
    }
}

static bool element_of(const Type *t, const int64_t *index, int n, int64_t *out, char *why,
                       size_t size)
{
    if (n != t->rank) {
        snprintf(why, size,
                 n ? "it has rank %d, not %d" : "it is a block of rank %d; take an element: x[0]",
                 t->rank, n);
        return false;
    }
    *out = 0;
    for (int d = 0; d < n; d++) {
        int64_t i = index[d] < 0 ? index[d] + t->shape[d] : index[d];
        if (i < 0 || i >= t->shape[d]) {
            snprintf(why, size, "there is no element %lld of %d", (long long)index[d], t->shape[d]);
            return false;
        }
        *out = *out * t->shape[d] + i;
    }
    return true;
}

static ExprFound number_here(void *user, const char *name, size_t len, const int64_t *index, int n,
                             ExprNumber *out, char *why, size_t size)
{
    const Here *h = user;
    int k = launch_name(name, len);
    bool known;
    char text[128];
    int64_t i;
    const Value *v = value_here(h, name, len, &known);
    if (!v && k >= 0) {
        *out = (ExprNumber){.i = k < 3 ? h->f->pid[k] : h->f->launch->grid[k - 3]};
        return EXPR_FOUND;
    }
    if (!v && !known && !has_name(h->f->launch->in->debug, name, len)) {
        unknown_name(h->f->launch->in->debug, name, len, why, size);
        return EXPR_WRONG;
    }
    if (!v) return EXPR_NO_VALUE;
    if (!element_of(v->type, index, n, &i, text, sizeof text)) {
        snprintf(why, size, "'%.*s': %s", (int)len, name, text);
        return EXPR_WRONG;
    }
    if (value_number(h->f, v, i, out)) return EXPR_FOUND;
    snprintf(why, size, "'%.*s' is a pointer", (int)len, name);
    return EXPR_WRONG;
}

/* False also after an error, which fails the frame. */
static bool holds(Frame *f, const Insn *in, const Loc *place, const DebugPoint *p)
{
    Here h = {f, place};
    const ExprNames names = {.find = number_here, .user = &h};
    ExprNumber n;
    char why[400];
    if (!p->cond) return true;
    ExprFound found = expr_evaluate(p->cond, &names, &n, why, sizeof why);
    if (found >= EXPR_WRONG) interp_fail(f, in, "condition '%.100s': %.250s", p->cond, why);
    return found == EXPR_FOUND && expr_is_true(&n);
}

/* ---- traces ---- */

static void trace(Frame *f, const Insn *in, const Value *v)
{
    char line[4096];
    const Loc *place = place_of(in->op->loc);
    const DebugPoint *p = f->launch->in->debug->debugger->points;
    for (; p && !f->failed; p = p->next) {
        if (!p->is_trace || strcmp(p->name, v->name) || !holds(f, in, place, p)) continue;
        Text t = {line, sizeof line, 0};
        text_put(&t, "pid (%lld, %lld, %lld) line %d %s = ", (long long)f->pid[0],
                 (long long)f->pid[1], (long long)f->pid[2], place ? place->line : 0, v->name);
        text_value(&t, f, v, false);
        device_print(f->launch->dev, line);
    }
}

static void note_value(Frame *f, const Insn *in, const Value *v, bool is_assignment)
{
    const DebugInfo *d = f->launch->in->debug;
    int i = d->name_of[v->id];
    if (i < 0) return;
    f->debug->now[i] = v;
    if (is_assignment && is_ours(&d->names[i])) trace(f, in, v);
}

/* What a region is given when it begins. A loop's first argument is its variable. */
static void note_arguments(Frame *f, const Insn *in)
{
    const Region *r = in->op->region;
    bool is_loop = r->parent && r->parent->kind == OP_FOR;
    for (int i = 0; i < r->nargs; i++) note_value(f, in, r->args[i], is_loop && i == 0);
}

/* ---- stops ---- */

/* Where a step ends, or NULL. */
static const Loc *stepped_here(const Frame *f, const Op *op)
{
    if (f->debug->action == TKC_STOP_CONTINUE) return NULL;
    return place_begun(op, f->debug->action == TKC_STOP_STEP ? INT32_MAX
                                                             : place_depth(f->debug->stopped));
}

static const Loc *breaks_here(Frame *f, const Insn *in)
{
    const Func *fn = f->launch->in->fn;
    const Op *op = in->op, *before = op->prev ? op->prev : op->region->parent;
    if (tkc_op_info(op->kind)->traits & OT_TERM) return NULL;
    for (const DebugPoint *p = f->launch->in->debug->debugger->points; p; p = p->next) {
        const Loc *l = p->is_trace ? NULL : place_on_line(fn, op, p->line);
        if (l && !(before && place_on_line(fn, before, p->line)) && holds(f, in, l, p)) return l;
    }
    return NULL;
}

static void stop_maybe(Frame *f, const Insn *in)
{
    const Debugger *d = f->launch->in->debug->debugger;
    const Loc *at = d->stop ? breaks_here(f, in) : NULL;
    if (d->stop && !at) at = stepped_here(f, in->op);
    if (!at || f->failed) return;
    TkcStop stop = {.f = f, .place = at};
    f->debug->action = d->stop(&stop, d->user);
    f->debug->stopped = at;
    if (f->debug->action == TKC_STOP_QUIT) interp_fail(f, in, "the run was ended here");
}

void debug_step(Frame *f, const Insn *in)
{
    const Op *op = in->op;
    bool is_control = op->kind == OP_FOR || op->kind == OP_WHILE || op->kind == OP_IF;
    if (!in->in_vector && op->region->first == op) note_arguments(f, in);
    if (!in->in_vector && !f->failed) stop_maybe(f, in);
    if (f->failed) return;
    in->inner(f, in);
    for (int i = 0; i < op->nresults && !in->in_vector && !f->failed; i++)
        note_value(f, in, op_result(op, i), !is_control);
}

/* ---- what a stopped program is asked ---- */

int64_t tkc_stop_program(const TkcStop *stop, int axis)
{
    return stop && axis >= 0 && axis < 3 ? stop->f->pid[axis] : 0;
}

bool tkc_stop_place(const TkcStop *stop, int level, const char **file, int *line,
                    const char **function)
{
    const Loc *l = stop ? stop->place : NULL;
    for (; l && level > 0; level--) l = l->caller;
    if (!l || level < 0) return false;
    *file = l->file;
    *line = l->line;
    *function = l->function ? l->function : stop->f->launch->in->fn->name;
    return true;
}

const char *tkc_stop_name(const TkcStop *stop, int i)
{
    if (!stop) return NULL;
    const DebugInfo *d = stop->f->launch->in->debug;
    const Loc *place = stop->place;
    for (int k = 0; k < d->nnames; k++)
        if (stop->f->debug->now[k] && place_same_call(d->names[k].call, place->caller) && i-- == 0)
            return d->names[k].name;
    return NULL;
}

static void type_text(Text *t, const Type *ty)
{
    const Type *e = tkc_type_element(ty);
    if (!ty->rank) return;
    text_put(t, "[");
    for (int d = 0; d < ty->rank; d++) text_put(t, "%s%d", d ? ", " : "", ty->shape[d]);
    text_put(t, "] %s: ", e->kind == TY_POINTER ? "pointers" : tkc_dtype_info(e->dtype)->name);
}

bool tkc_stop_evaluate(TkcStop *stop, const char *expression, const char **text)
{
    *text = "there is no program that has stopped, or no expression";
    if (!stop || !expression) return false;
    Here h = {stop->f, stop->place};
    const ExprNames names = {.find = number_here, .user = &h};
    Text t = {stop->text, sizeof stop->text, 0};
    ExprNumber n;
    bool known;
    *text = stop->text;
    while (isspace((unsigned char)*expression)) expression++;
    size_t len = strlen(expression);
    while (len && isspace((unsigned char)expression[len - 1])) len--;
    const Value *v = value_here(&h, expression, len, &known);
    if (v) {
        type_text(&t, v->type);
        text_value(&t, stop->f, v, true);
        return true;
    }
    ExprFound found = expr_evaluate(expression, &names, &n, stop->text, sizeof stop->text);
    if (found == EXPR_NO_VALUE) text_put(&t, "it has no value yet");
    if (found != EXPR_FOUND) return false;
    if (n.is_float) text_put(&t, "%.9g", n.f);
    else text_put(&t, "%lld", (long long)n.i);
    return true;
}
