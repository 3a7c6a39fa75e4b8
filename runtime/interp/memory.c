/* Loads, stores, atomics.

   An access is a list of lanes. It is cut into runs of lanes that are not masked off, and those
   into runs whose addresses lie one element after the other; each such run is checked once and
   copied as a whole. Where runs are short, lanes are taken singly. A masked-off lane is never
   looked at. */
#include <string.h>

#include "interp.h"

/* ---- an access ---- */

/* How a lane's address is found. */
typedef enum Form { FORM_ONE, FORM_POINTERS, FORM_I32, FORM_I64, FORM_ROWS } Form;

typedef struct Access {
    Frame *f;
    const Insn *in;
    const char *verb;
    Form form;
    uint64_t base;       /* ONE: the address of every lane. I32, I64: what offsets count from */
    const void *lanes;   /* pointers, or offsets in elements; ROWS: where each row begins */
    int64_t width;       /* ROWS: lanes of a row, whose elements lie one after the other */
    int64_t n;           /* lanes */
    int64_t size;        /* bytes of an element */
    DType dtype;         /* of an element; DT_NONE: a pointer */
    const uint8_t *mask; /* NULL: all lanes */
    int64_t end;         /* lanes from here on are masked off */
} Access;

static inline uint64_t lane_address(const Access *a, int64_t i)
{
    switch (a->form) {
    case FORM_POINTERS: return ((const uint64_t *)a->lanes)[i];
    case FORM_I32: return a->base + (uint64_t)(((const int32_t *)a->lanes)[i] * a->size);
    case FORM_I64: return a->base + ((const uint64_t *)a->lanes)[i] * (uint64_t)a->size;
    case FORM_ROWS:
        return ((const uint64_t *)a->lanes)[i / a->width] +
               (uint64_t)(i % a->width) * (uint64_t)a->size;
    case FORM_ONE: break;
    }
    return a->base;
}

/* What row r counts from; of rows that are offsets, what int32 makes of one plus a column. */
static uint64_t row_address(const Access *a, int64_t r, int64_t column)
{
    const Insn *in = a->in;
    if (!in->sum) return (uint64_t)slot_int(a->f, in->rows, r) + (uint64_t)column * (uint64_t)a->size;
    uint64_t offset = (uint64_t)slot_int(a->f, in->rows, r) + (uint64_t)column;
    if (in->rows->dtype == DT_I32) offset = (uint64_t)(int32_t)(uint32_t)offset;
    return *(const uint64_t *)slot_data(a->f, in->base) + offset * (uint64_t)a->size;
}

/* Columns are in order unless int32 has wrapped among them, or where they are added to a row: then
   each lane has its own address. */
static bool is_in_rows(const Access *a, int64_t first, int64_t last)
{
    const Slot *rows = a->in->rows;
    bool fits = last - first == a->width - 1;
    if (!a->in->sum || rows->dtype != DT_I32) return fits;
    const int32_t *row = slot_data(a->f, rows);
    for (int64_t r = 0; r < rows->count; r++)
        fits &= row[r] + first >= INT32_MIN && row[r] + last <= INT32_MAX;
    return fits;
}

static bool address_rows(Access *a)
{
    const Slot *columns = a->in->offsets;
    a->width = columns->count;
    int64_t first = slot_int(a->f, columns, 0), last = slot_int(a->f, columns, a->width - 1);
    bool in_rows = is_in_rows(a, first, last);
    int64_t n = in_rows ? a->in->rows->count : a->n;
    uint64_t *addresses = interp_scratch(a->f, (size_t)n * 8);
    for (int64_t i = 0; addresses && i < n; i++)
        addresses[i] = in_rows
                           ? row_address(a, i, first)
                           : row_address(a, i / a->width, slot_int(a->f, columns, i % a->width));
    a->form = in_rows ? FORM_ROWS : FORM_POINTERS;
    a->lanes = addresses;
    return addresses != NULL;
}

/* Offsets of other types than int32 and 64 bits are widened in scratch memory, which the access
   then holds. */
static bool address_lanes(Access *a)
{
    const Insn *in = a->in;
    if (in->rows) return address_rows(a);
    if (!in->base) {
        const Slot *p = in->args[0];
        a->form = p->uniform ? FORM_ONE : FORM_POINTERS;
        a->lanes = slot_data(a->f, p);
        a->base = p->uniform ? *(const uint64_t *)a->lanes : 0;
        return true;
    }
    const Slot *o = in->offsets;
    a->base = *(const uint64_t *)slot_data(a->f, in->base);
    a->lanes = slot_data(a->f, o);
    a->form = o->dtype == DT_I32 ? FORM_I32 : FORM_I64;
    if (o->dtype == DT_I32 || o->dtype == DT_I64 || o->dtype == DT_U64) return true;
    uint64_t *wide = interp_scratch(a->f, (size_t)a->n * 8);
    if (!wide) return false;
    for (int64_t i = 0; i < a->n; i++) wide[i] = (uint64_t)slot_int(a->f, o, i);
    a->lanes = wide;
    return true;
}

/* Two excesses, in bytes, become one. */
static Excess excess_sum(Excess x, Excess y)
{
    int64_t by = x.by + y.by;
    Excess e = x.by ? x : y;
    e.by = by;
    return e;
}

/* Of the sum of a row and a column, which no instruction computes: what it has lost itself. */
static Excess excess_of_sum(const Access *a, int64_t i)
{
    const Slot *rows = a->in->rows, *columns = a->in->offsets;
    int64_t x = slot_int(a->f, rows, i / columns->count),
            y = slot_int(a->f, columns, i % columns->count);
    Excess e = {0, x, y, a->in->sum};
    if (rows->dtype == DT_I32) e.by = x + y - (int32_t)(uint32_t)(uint64_t)(x + y);
    return e;
}

/* What a lane's address has lost by arithmetic that wrapped, in bytes, and where. */
static Excess excess_at(const Access *a, int64_t i)
{
    const Insn *in = a->in;
    if (!in->base && !in->rows) return *overflow_at(a->f, in->args[0], i);
    int64_t width = in->offsets->count;
    Excess e = *overflow_at(a->f, in->offsets, i % width);
    if (in->sum)
        e = excess_sum(excess_sum(*overflow_at(a->f, in->rows, i / width), e), excess_of_sum(a, i));
    e.by *= a->size;
    if (in->sum || !in->rows) return excess_sum(*overflow_at(a->f, in->base, 0), e);
    return excess_sum(*overflow_at(a->f, in->rows, i / width), e);
}

static void fail_wrapped(const Access *a, int64_t i, const Excess *e)
{
    const Launch *l = a->f->launch;
    const uint64_t address = lane_address(a, i);
    const int64_t by = e->by / a->size;
    const char *type = tkc_dtype_info(tkc_type_element(op_result(e->op, 0)->type)->dtype)->name;
    char place[PLACE_TEXT];
    if (a->in->param < 0)
        interp_fail(a->f, a->in,
                    "%s through an offset that has wrapped in %s: an element %lld away was meant",
                    a->verb, type, (long long)by);
    else
        interp_fail(a->f, a->in,
                    "%s of %s through an offset that has wrapped in %s: element %lld was meant",
                    a->verb, interp_place(l, a->in->param, address, a->size, place), type,
                    (long long)((int64_t)(address - l->args[a->in->param].bits) / a->size + by));
    overflow_tell(a->f, e);
}

/* The lane, which is before a->end, is not masked off. */
static inline bool takes_part(const Access *a, int64_t i)
{
    return !a->mask || a->mask[i];
}

/* In a program where something has wrapped: is it in these addresses? */
static bool check_wrapping(const Access *a)
{
    for (int64_t i = 0; i < a->end; i++) {
        Excess e = takes_part(a, i) ? excess_at(a, i) : (Excess){0};
        if (!e.by) continue;
        fail_wrapped(a, i, &e);
        return false;
    }
    return true;
}

/* `elem` is the slot of the elements; mask operand k, if there is one. */
static bool open_access(Access *a, Frame *f, const Insn *in, const char *verb, const Slot *elem,
                        int k)
{
    *a = (Access){.f = f, .in = in, .verb = verb, .size = elem->size, .dtype = elem->dtype};
    a->n = a->end = tkc_type_count(op_arg(in->op, 0)->type);
    if (in->nargs > k) {
        const uint8_t *mask = slot_data(f, in->args[k]);
        if (in->args[k]->uniform) a->end = *mask ? a->n : 0;
        else a->mask = mask;
    }
    if (!address_lanes(a)) return false;
    bool may_wrap = overflow_found(f) || (f->overflow && in->sum && a->form != FORM_ROWS);
    return !may_wrap || check_wrapping(a);
}

/* The next run of lanes that take part, from *from on: [*from, end), empty when there is none. */
static int64_t next_active(const Access *a, int64_t *from)
{
    if (!a->mask || *from >= a->end) {
        *from = *from < a->end ? *from : a->end;
        return a->end;
    }
    const uint8_t *first = memchr(a->mask + *from, 1, (size_t)(a->end - *from));
    if (!first) return *from = a->end;
    *from = first - a->mask;
    const uint8_t *past = memchr(first, 0, (size_t)(a->end - *from));
    return past ? past - a->mask : a->end;
}

/* ---- runs of addresses ---- */

enum { STEP = 64 };

/* How many of v[0 … n) go on from the first in steps of `step`. */
#define RUN_OF(NAME, T)                                                                            \
    static int64_t NAME(const T *v, int64_t n, T step)                                             \
    {                                                                                              \
        int64_t i = 1;                                                                             \
        for (; i + STEP <= n; i += STEP) {                                                         \
            T wrong = 0, at = v[i - 1];                                                            \
            for (int k = 0; k < STEP; k++) wrong |= v[i + k] ^ (T)(at + (T)(k + 1) * step);        \
            if (wrong) break;                                                                      \
        }                                                                                          \
        while (i < n && v[i] == (T)(v[i - 1] + step)) i++;                                         \
        return i;                                                                                  \
    }
RUN_OF(run_of_u32, uint32_t)
RUN_OF(run_of_u64, uint64_t)

/* To the end of the row, and on through rows that follow one another. */
static int64_t run_of_rows(const Access *a, int64_t i, int64_t end)
{
    const uint64_t *row = (const uint64_t *)a->lanes + i / a->width;
    uint64_t bytes = (uint64_t)(a->width * a->size);
    int64_t to = (i / a->width + 1) * a->width;
    for (; to < end && row[1] == row[0] + bytes; row++) to += a->width;
    return (to < end ? to : end) - i;
}

/* Lanes from i on, at most to `end`, whose addresses lie one element after the other. */
static int64_t address_run(const Access *a, int64_t i, int64_t end)
{
    switch (a->form) {
    case FORM_ONE: return 1;
    case FORM_POINTERS:
        return run_of_u64((const uint64_t *)a->lanes + i, end - i, (uint64_t)a->size);
    case FORM_I64: return run_of_u64((const uint64_t *)a->lanes + i, end - i, 1);
    case FORM_ROWS: return run_of_rows(a, i, end);
    case FORM_I32: break;
    }
    const int32_t *o = (const int32_t *)a->lanes + i;
    int64_t run = a->in->in_order ? end - i : run_of_u32((const uint32_t *)o, end - i, 1),
            most = (int64_t)INT32_MAX - *o + 1; /* where int32 wraps, addresses jump */
    return run < most ? run : most;
}

/* ---- checks ---- */

static const char *element_name(const Access *a)
{
    return a->dtype == DT_NONE ? "pointers" : tkc_dtype_info(a->dtype)->short_name;
}

static bool lacks_mask(const Op *op)
{
    return (op->kind == OP_LOAD && op->nargs == 1) || (op->kind == OP_STORE && op->nargs == 2);
}

/* Why a lane that lies outside takes part. */
static void note_mask(const Access *a, int64_t lane, bool before)
{
    if (a->n == 1) return;
    if (!lacks_mask(a->in->op))
        interp_note(a->f, NULL, "the mask holds for this lane, %lld: it has to leave out what is %s",
                    (long long)lane, before ? "in front of the array" : "behind the array");
    else if (!before)
        interp_note(a->f, NULL, "no lane is masked off here: where blocks reach past the end, mask= "
                                "(of a block pointer, boundary_check=) leaves those lanes out");
}

/* The launch told less than there is. */
static bool note_size(const Access *a, const MemRange *r, uint64_t address)
{
    const MemMap *device = a->f->launch->dev->state;
    const MemRange *all = mem_find(device, r->begin, r->begin + 1);
    if (!all || address < r->begin || address >= all->end) return false;
    interp_note(a->f, NULL, "the argument is told to have %lld bytes; its memory has %lld from there on "
                            "(tkc_pointer takes bytes)",
                (long long)(r->end - r->begin), (long long)(all->end - r->begin));
    return true;
}

static void fail_through(const Access *a, int64_t lane, uint64_t address)
{
    const Launch *l = a->f->launch;
    const char *name = l->in->fn->params[a->in->param].name;
    const MemRange *r = &l->ranges[a->in->param];
    uint64_t begin = l->args[a->in->param].bits;
    int64_t away = (int64_t)(address - begin);
    if (!begin) interp_fail(a->f, a->in, "%s through '%s', which is a null pointer", a->verb, name);
    else if (r->begin == r->end)
        interp_fail(a->f, a->in, "%s through '%s', which points to no memory of this device: the array has no "
                    "elements, or is freed, or is another device's",
                    a->verb, name);
    else if (begin % (uint64_t)a->size)
        interp_fail(a->f, a->in,
                    "%s through '%s', whose address is not a multiple of the %lld of %s", a->verb,
                    name, (long long)a->size, element_name(a));
    else if (away % a->size)
        interp_fail(a->f, a->in,
                    "%s at byte %lld of '%s', which is not a multiple of the %lld of %s", a->verb,
                    (long long)away, name, (long long)a->size, element_name(a));
    else {
        interp_fail(a->f, a->in, "%s outside '%s': element %lld of %lld (%s)", a->verb, name,
                    (long long)(away / a->size), (long long)((int64_t)(r->end - begin) / a->size),
                    element_name(a));
        if (!note_size(a, r, address)) note_mask(a, lane, away < 0);
    }
}

static void fail_at(const Access *a, int64_t lane)
{
    const uint64_t address = lane_address(a, lane);
    if (a->in->param >= 0) fail_through(a, lane, address);
    else if (address % (uint64_t)a->size)
        interp_fail(a->f, a->in, "%s of %s at an address that is not a multiple of %lld", a->verb,
                    element_name(a), (long long)a->size);
    else
        interp_fail(a->f, a->in, "%s of %s outside all memory of this device", a->verb,
                    element_name(a));
}

static const MemRange *range_of(const Access *a)
{
    return a->in->param >= 0 ? &a->f->launch->ranges[a->in->param] : a->f->last;
}

/* Elements that may be touched are about to be; of a store the elements are watched when they are
   put there. False: the frame has failed. */
static inline bool watch(const Access *a, uint64_t begin, int64_t n)
{
    const MemRange *r = range_of(a);
    return !r->shadow || a->in->op->kind == OP_STORE ||
           check_touch(a->f, a->in, r, begin, n, a->size);
}

static inline bool is_within(const MemRange *r, uint64_t begin, uint64_t bytes)
{
    return begin >= r->begin && begin < r->end && bytes <= r->end - begin;
}

static bool is_allowed(const Access *a, uint64_t begin, uint64_t bytes)
{
    const Launch *l = a->f->launch;
    if (begin & (uint64_t)(a->size - 1)) return false;
    if (a->in->param >= 0) return is_within(&l->ranges[a->in->param], begin, bytes);
    if (a->f->last && is_within(a->f->last, begin, bytes)) return true;
    const MemRange *r = mem_find(l->memory, begin, begin + bytes);
    if (r) a->f->last = r;
    return r && is_within(r, begin, bytes);
}

/* Lanes i … i+run, whose addresses lie one after the other, may be touched; else the first that may
   not is reported. */
static bool check_run(const Access *a, int64_t i, int64_t run)
{
    uint64_t begin = lane_address(a, i);
    if (is_allowed(a, begin, (uint64_t)(run * a->size))) return watch(a, begin, run);
    int64_t k = 0;
    while (k < run && is_allowed(a, begin + (uint64_t)(k * a->size), (uint64_t)a->size)) k++;
    fail_at(a, k < run ? i + k : i);
    return false;
}

/* ---- elements between memory and slots ---- */

static inline void *pointer_at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* int1 in memory is a byte of any value. */
static void copy_bools(uint8_t *to, const uint8_t *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = from[i] != 0;
}

static inline void copy_one(void *to, const void *from, int64_t size)
{
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

static void fill(void *to, const void *one, int64_t n, int64_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, one, (size_t)size); /* it may be the first of them */
    move_elements(to, &bits, n, 1, 0, (int)size);
}

/* ---- transfers: both directions are one walk over the runs ---- */

typedef struct Transfer {
    Access a;
    char *data;   /* the slot's elements */
    int64_t step; /* bytes from one to the next: 0 when one stands for all */
    bool is_store;
} Transfer;

/* Programs that wait for memory want to know that it is no longer what it was. */
static void note_store(const Access *a, const void *at, const void *data, int64_t bytes,
                       int64_t step)
{
    bool changes = false;
    for (int64_t i = 0; a->f->runner && !changes && i < bytes; i += a->size)
        changes = memcmp((const char *)at + i, (const char *)data + i / a->size * step,
                         (size_t)a->size) != 0;
    if (changes) turns_note_change(a->f);
}

/* False: the frame has failed. */
static bool store_run(const Transfer *t, uint64_t address, const char *data, int64_t n)
{
    const Access *a = &t->a;
    const MemRange *r = range_of(a);
    void *at = pointer_at(address);
    note_store(a, at, data, n * a->size, t->step);
    if (r->shadow && a->in->op->kind == OP_STORE)
        return check_store(a->f, a->in, r, address, n, a->size, data, !t->step);
    if (n == 1) copy_one(at, data, a->size);
    else if (!t->step) fill(at, data, n, a->size);
    else memcpy(at, data, (size_t)(n * a->size));
    return true;
}

/* Lanes from i on, which may be touched, from or to memory at the first one's address. */
static inline bool move_run(const Transfer *t, int64_t i, uint64_t address, int64_t run)
{
    const Access *a = &t->a;
    char *data = t->data + i * t->step;
    if (t->is_store) return store_run(t, address, data, run);
    if (a->dtype == DT_I1) copy_bools((uint8_t *)data, pointer_at(address), run);
    else if (run == 1) copy_one(data, pointer_at(address), a->size);
    else memcpy(data, pointer_at(address), (size_t)(run * a->size));
    return true;
}

/* A lane that is taken by itself; NULL: the frame has failed. */
static void *lane_pointer(const Access *a, int64_t i)
{
    const uint64_t address = lane_address(a, i);
    const bool allowed = is_allowed(a, address, (uint64_t)a->size);
    if (!allowed) fail_at(a, i);
    return allowed && watch(a, address, 1) ? pointer_at(address) : NULL;
}

static void put_element(const Access *a, void *at, const void *data)
{
    note_store(a, at, data, a->size, 0);
    copy_one(at, data, a->size);
}

static bool move_lane(const Transfer *t, int64_t i)
{
    const void *at = lane_pointer(&t->a, i);
    return at && move_run(t, i, (uintptr_t)at, 1);
}

enum { SHORT_RUN = 8, SINGLY = 64 };

/* After a short run the next lanes are taken one by one: looking for runs where there are none
   costs more than it saves. */
static bool move_lanes(const Transfer *t, int64_t i, int64_t end)
{
    while (i < end) {
        int64_t run = address_run(&t->a, i, end);
        if (run < SHORT_RUN) {
            int64_t stop = i + SINGLY < end ? i + SINGLY : end;
            for (; i < stop; i++)
                if (!move_lane(t, i)) return false;
            continue;
        }
        if (!check_run(&t->a, i, run) || !move_run(t, i, lane_address(&t->a, i), run)) return false;
        i += run;
    }
    return true;
}

/* ---- load ---- */

/* Lanes that are masked off. */
static void fill_other(const Transfer *t, int64_t from, int64_t to)
{
    const Insn *in = t->a.in;
    int64_t n = to - from, size = t->a.size;
    char *data = t->data + from * size;
    if (n <= 0) return;
    if (in->nargs < 3) memset(data, 0, (size_t)(n * size));
    else if (in->args[2]->uniform) fill(data, slot_data(t->a.f, in->args[2]), n, size);
    else
        memcpy(data, (const char *)slot_data(t->a.f, in->args[2]) + from * size,
               (size_t)(n * size));
}

static void insn_load(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    Transfer t = {.data = slot_data(f, out), .step = out->size};
    if (!open_access(&t.a, f, in, "load", out, 1)) return;
    if (f->launch->synced && in->n[0]) check_sync(f, in);
    int64_t done = 0;
    for (int64_t i = 0; done < t.a.n;) {
        int64_t end = next_active(&t.a, &i);
        fill_other(&t, done, i < end ? i : t.a.n);
        if (i >= end) return;
        if (t.a.form == FORM_ONE && end - i > 1) { /* one address for all: read once */
            if (!move_lane(&t, i)) return;
            fill(t.data + i * t.step, t.data + i * t.step, end - i, t.a.size);
        } else if (!move_lanes(&t, i, end)) {
            return;
        }
        i = done = end;
    }
}

/* ---- copies to rings ---- */

void insn_copy_async(Frame *f, const Insn *in)
{
    const Slot *ring = in->args[1];
    const int32_t *offsets = in->extra;
    char lane[8], *copy = slot_ring(f, in, ring, in->args[2]);
    Transfer t = {.data = lane};
    if (!copy || !open_access(&t.a, f, in, "copy", ring, 3)) return;
    for (int64_t i = 0; i < t.a.n; i++) {
        memset(lane, 0, sizeof lane);
        if (i < t.a.end && takes_part(&t.a, i) && !move_lane(&t, i)) return;
        memcpy(copy + (int64_t)offsets[i] * ring->size, lane, ring->size);
    }
}

/* Of an element inside the matrix, how many it is from the base; else -1. */
static int64_t in_matrix(const Frame *f, const Insn *in, int64_t row, int64_t column)
{
    const int rank = (tkc_buffer_operand(in->op) - 1) / 3;
    int64_t at = 0;
    for (int d = 0; d < rank; d++) {
        const int64_t i = slot_int(f, in->args[1 + 2 * rank + d], 0) +
                          (d == rank - 1 ? column : d == rank - 2 ? row : 0);
        if (i < 0 || i >= slot_int(f, in->args[1 + d], 0)) return -1;
        at += i * slot_int(f, in->args[1 + rank + d], 0);
    }
    return at;
}

/* Between a buffer and a matrix; what is outside of that is 0 in the buffer. */
static void move_box(Frame *f, const Insn *in, char *buffer, bool is_store)
{
    const int ring = tkc_buffer_operand(in->op);
    const Slot *slot = in->args[ring];
    const int32_t *offsets = in->extra, *shape = op_arg(in->op, ring)->type->shape;
    const uint64_t base = *(const uint64_t *)slot_data(f, in->args[0]);
    Transfer t = {.is_store = is_store,
                  .a = {.f = f, .in = in, .verb = is_store ? "store" : "copy", .size = slot->size,
                        .dtype = slot->dtype, .n = 1, .end = 1}};
    for (int64_t i = 0; i < (int64_t)shape[0] * shape[1]; i++) {
        const int64_t at = in_matrix(f, in, i / shape[1], i % shape[1]);
        t.data = buffer + (int64_t)offsets[i] * slot->size;
        t.a.base = base + (uint64_t)(at * slot->size);
        if (at >= 0 && !move_lane(&t, 0)) return;
        if (at < 0 && !is_store) memset(t.data, 0, slot->size);
    }
}

void insn_copy_box(Frame *f, const Insn *in)
{
    const int n = in->op->nargs;
    char *copy = slot_ring(f, in, in->args[n - BOX_BUFFER], in->args[n - BOX_NUMBER]);
    if (copy) move_box(f, in, copy, false);
}

void insn_store_box(Frame *f, const Insn *in)
{
    move_box(f, in, slot_data(f, in->args[tkc_buffer_operand(in->op)]), true);
}

/* ---- store ---- */

/* The first lane behind i that takes part and has the same address, but another value; or -1. */
static int64_t rival(const Transfer *t, int64_t i)
{
    const Access *a = &t->a;
    const uint64_t address = lane_address(a, i);
    for (int64_t k = i + 1; k < a->end; k++)
        if (takes_part(a, k) && lane_address(a, k) == address &&
            memcmp(t->data + k * t->step, t->data + i * t->step, (size_t)a->size))
            return k;
    return -1;
}

static void fail_rivals(const Access *a, int64_t i, int64_t k)
{
    char place[PLACE_TEXT];
    interp_fail(a->f, a->in, "lanes %lld and %lld of this store write different values to %s",
                (long long)i, (long long)k,
                interp_place(a->f->launch, a->in->param, lane_address(a, i), a->size, place));
    interp_note(a->f, NULL, "which of them stays is not certain on a GPU; store one of them only, "
                            "or combine them, as tl.atomic_add does");
}

/* After the store: a lane whose value is not there has lost to another one, if not to another
   program. */
static void check_rivals(const Transfer *t)
{
    const Access *a = &t->a;
    for (int64_t i = 0; i < a->end; i++) {
        if (!takes_part(a, i)) continue;
        const void *there = pointer_at(lane_address(a, i));
        if (!memcmp(there, t->data + i * t->step, (size_t)a->size)) continue;
        const int64_t k = rival(t, i);
        if (k < 0) continue;
        fail_rivals(a, i, k);
        return;
    }
}

/* Of rows and of offsets in order no two lanes meet, or so seldom that it is not looked at. */
static bool may_have_rivals(const Transfer *t)
{
    const Access *a = &t->a;
    return t->step && a->end > 1 && !a->in->in_order && !a->f->launch->dev->unchecked;
}

void insn_store(Frame *f, const Insn *in)
{
    const Slot *value = in->args[1];
    Transfer t = {
        .data = slot_data(f, value), .step = value->uniform ? 0 : value->size, .is_store = true};
    if (!open_access(&t.a, f, in, "store", value, 2)) return;
    for (int64_t i = 0, end; i < t.a.n; i = end) {
        end = next_active(&t.a, &i);
        if (i >= end) break;
        if (!move_lanes(&t, i, end)) return;
    }
    if (may_have_rivals(&t)) check_rivals(&t);
}

/* ---- atomics: programs of a kernel with atomics run one after the other ---- */

OpKind interp_rmw(Insn *in)
{
    const char *rmw = tkc_op_str(in->op, ATTR_RMW, "add");
    const bool is_unsigned = *rmw == 'u', is_float = *rmw == 'f';
    DType dt = in->args[in->op->nresults ? 1 : 2]->dtype;
    OpKind kind = OP_ADD;
    if (is_unsigned && dt == DT_I32) dt = DT_U32;
    if (is_unsigned && dt == DT_I64) dt = DT_U64;
    while (kind <= OP_MAX && strcmp(rmw + (is_unsigned || is_float), tkc_op_info(kind)->name)) kind++;
    if (kind > OP_MAX) kind = OP_NONE;
    in->n[0] = kind;
    in->n[1] = dt;
    in->loop = kind == OP_NONE ? NULL : interp_loop(kind, dt, DT_NONE);
    return kind;
}

static bool rmw_lane(const Access *a, int64_t i, char *old)
{
    const Insn *in = a->in;
    const DType dt = (DType)in->n[1];
    const char *operand = slot_at(a->f, a->in->args[1], i);
    void *at = lane_pointer(a, i);
    uint64_t args[2] = {0}, bits;
    if (!at) return false;
    copy_one(old, at, a->size);
    copy_one(&args[0], old, a->size);
    copy_one(&args[1], operand, a->size);
    bits = args[1];
    if (in->loop) in->loop(&bits, (const void *[]){old, operand}, 1, 0);
    else if (in->n[0] != OP_NONE) tkc_evaluate((OpKind)in->n[0], dt, dt, NULL, 2, args, &bits);
    put_element(a, at, &bits);
    return true;
}

static void run_atomic_rmw(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    char *old = slot_data(f, out);
    Access a;
    if (!open_access(&a, f, in, "atomic", out, 2)) return;
    check_sync(f, in);
    memset(old, 0, (size_t)(a.n * a.size));
    for (int64_t i = 0; i < a.end; i++)
        if (takes_part(&a, i) && !rmw_lane(&a, i, old + i * a.size)) return;
}

void insn_atomic_cas(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    char *old = slot_data(f, out);
    Access a;
    if (!open_access(&a, f, in, "atomic", out, 3)) return;
    check_sync(f, in);
    for (int64_t i = 0; i < a.n; i++) {
        void *at = lane_pointer(&a, i);
        if (!at) return;
        copy_one(old + i * a.size, at, a.size);
        if (!memcmp(at, slot_at(f, in->args[1], i), (size_t)a.size))
            put_element(&a, at, slot_at(f, in->args[2], i));
    }
}

void insn_atomic_store(Frame *f, const Insn *in)
{
    check_sync(f, in);
    insn_store(f, in);
}

/* Whether all lanes have seen what they wait for; those that have are not looked at again. */
static bool poll_lanes(const Access *a, uint8_t *seen)
{
    bool all = true;
    for (int64_t i = 0; i < a->n; i++) {
        const void *at = seen[i] ? NULL : lane_pointer(a, i);
        if (seen[i]) continue;
        if (!at) return true;
        seen[i] = !memcmp(at, slot_at(a->f, a->in->args[1], i), (size_t)a->size);
        all &= seen[i];
    }
    return all;
}

/* Time passes when no program is left that would change memory. */
void insn_atomic_poll(Frame *f, const Insn *in)
{
    uint8_t *seen = slot_data(f, in->results[0]);
    const uint64_t *timeout = in->nargs > 2 ? slot_data(f, in->args[2]) : NULL;
    Access a;
    if (!open_access(&a, f, in, "atomic", in->args[1], in->nargs)) return;
    check_sync(f, in);
    memset(seen, 0, (size_t)a.n);
    while (!poll_lanes(&a, seen) && !interp_stopped(f)) {
        if (timeout && (!*timeout || !turns_wait(f))) return;
        if (!timeout) turns_yield(f, in, true);
    }
}

InsnFn rmw_fn(Insn *in)
{
    const OpKind kind = interp_rmw(in);
    const DType dt = (DType)in->n[1];
    return kind == OP_NONE || interp_can_evaluate(kind, dt, dt, 2) ? run_atomic_rmw : NULL;
}

InsnFn load_fn(Insn *in)
{
    in->n[0] = in->op->kind == OP_ATOMIC_LOAD || tkc_op_int(in->op, ATTR_VOLATILE, 0);
    return insn_load;
}
