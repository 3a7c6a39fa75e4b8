/* Views are shared: lanes that have met at a barrier point at the same one, which is copied when
   one of them learns more. What makes lanes differ although they run alike is not put into views,
   or every lane would have one of its own: that a lane knows itself, and the same lane of the
   agents it has waited for. Those are entries "lane i of these lanes knows lane i of that unit up
   to that time" beside the views (own), published into views where lanes meet. */
#include "order.h"

#include "tkc/grow.h"

enum { ROW = ORDER_ROW };

typedef OrderView View;

/* What the lanes of a unit know, or know to be fenced. */
typedef struct Knowledge {
    View *views[ORDER_LANES];
    OrderStamp *own;
    int nown;
} Knowledge;

enum { KNOWN, FENCED, KINDS };

typedef struct Unit {
    Knowledge of[KINDS];
    uint32_t clock;
    uint32_t touched[ORDER_LANES]; /* when a lane of that number last accessed anything */
    int issuer;                    /* of an agent whose lanes are its issuer's; else -1 */
    bool own_fenced; /* an agent: what it did is fenced when it is joined */
    bool joint, async_proxy, free;
} Unit;

struct Order {
    Unit *units;
    int warps, nunits;
    bool failed;
};

/* ---- views ---- */

static View *share(View *v)
{
    if (v) v->refs++;
    return v;
}

static void drop(View **v)
{
    if (*v && !--(*v)->refs) free(*v);
    *v = NULL;
}

static void replace(View **at, View *v)
{
    View *old = *at;
    *at = share(v);
    drop(&old);
}

/* *v becomes a view of its own, with room for the units. False: no memory. */
static bool make_own(Order *o, View **v)
{
    View *old = *v;
    if (old && old->refs == 1 && old->nunits >= o->nunits) return true;
    View *copy = calloc(1, sizeof *copy + sizeof *copy->clocks * ROW * (size_t)o->nunits);
    if (!copy) return o->failed = true, false;
    copy->refs = 1;
    copy->nunits = o->nunits;
    if (old) {
        const int n = old->nunits < o->nunits ? old->nunits : o->nunits;
        memcpy(copy->clocks, old->clocks, sizeof *old->clocks * ROW * (size_t)n);
    }
    drop(v);
    *v = copy;
    return true;
}

/* Whether b tells nothing beyond a. */
static bool covers(const View *a, const View *b)
{
    if (a == b || !b) return true;
    if (!a || a->nunits < b->nunits) return false;
    uint32_t beyond = 0;
    for (int i = 0; i < b->nunits * ROW; i++) beyond |= b->clocks[i] > a->clocks[i];
    return !beyond;
}

static void join(Order *o, View **into, View *v)
{
    if (covers(*into, v)) return;
    if (covers(v, *into)) {
        replace(into, v);
        return;
    }
    if (!make_own(o, into)) return;
    uint32_t *to = (*into)->clocks;
    for (int i = 0; i < v->nunits * ROW; i++) to[i] = to[i] > v->clocks[i] ? to[i] : v->clocks[i];
}

/* Lanes that an agent has not used yet will be used later than `clock`. */
static void raise(Order *o, View **into, int unit, uint32_t lanes, uint32_t clock)
{
    if (!lanes || !make_own(o, into)) return;
    uint32_t *row = (*into)->clocks + ROW * unit, least = clock;
    const uint32_t *touched = o->units[unit].touched;
    for (int l = 0; l < ORDER_LANES; l++) {
        uint32_t *c = &row[1 + l];
        if (lanes >> l & 1 && *c < clock) *c = clock;
        if ((unit < o->warps || touched[l]) && *c < least) least = *c;
    }
    if (row[0] < least) row[0] = least;
}

static bool view_knows(const View *v, const OrderStamp *s)
{
    if (!v || s->unit >= v->nunits) return false;
    const uint32_t *row = v->clocks + ROW * s->unit;
    if (row[0] >= s->clock) return true;
    SIMT_EACH_LANE(lane, s->lanes)
        if (row[1 + lane] < s->clock) return false;
    return true;
}

/* ---- what lanes know of themselves ---- */

static void forget_own(Knowledge *k, int unit, uint32_t lanes)
{
    int kept = 0;
    for (int i = 0; i < k->nown; i++) {
        if (unit < 0 || k->own[i].unit == unit) k->own[i].lanes &= ~lanes;
        if (k->own[i].lanes) k->own[kept++] = k->own[i];
    }
    k->nown = kept;
}

static void add_own(Order *o, Knowledge *k, int unit, uint32_t clock, uint32_t lanes)
{
    if (!lanes) return;
    forget_own(k, unit, lanes);
    if (grow_array(&k->own, k->nown)) k->own[k->nown++] = (OrderStamp){clock, lanes, unit};
    else o->failed = true;
}

/* The lanes know what others of these numbers do, or know it to be fenced. */
static void inherit(Order *o, Knowledge *to, const Knowledge *from, uint32_t lanes)
{
    SIMT_EACH_LANE(lane, lanes) replace(&to->views[lane], from->views[lane]);
    for (int i = 0; i < from->nown; i++)
        add_own(o, to, from->own[i].unit, from->own[i].clock, from->own[i].lanes & lanes);
}

static bool own_knows(const Knowledge *k, int lane, const OrderStamp *s)
{
    if (s->lanes != UINT32_C(1) << lane) return false;
    for (int i = 0; i < k->nown; i++) {
        const OrderStamp *own = &k->own[i];
        if (own->unit == s->unit && own->clock >= s->clock && own->lanes & s->lanes) return true;
    }
    return false;
}

/* ---- lanes meet ---- */

static void publish_to(Order *o, const Knowledge *k, uint32_t lanes, View **into)
{
    const View *before = NULL;
    SIMT_EACH_LANE(lane, lanes) {
        View *v = k->views[lane];
        if (v != before) join(o, into, v);
        before = v;
    }
    for (int i = 0; i < k->nown; i++)
        raise(o, into, k->own[i].unit, k->own[i].lanes & lanes, k->own[i].clock);
}

static void publish(Order *o, int unit, uint32_t lanes, View *into[KINDS])
{
    Unit *u = &o->units[unit];
    for (int k = 0; k < KINDS; k++) publish_to(o, &u->of[k], lanes, &into[k]);
    raise(o, &into[KNOWN], unit, u->joint ? 1 : lanes, u->clock);
    u->clock++;
}

/* What the views say need not be said beside them. */
static void forget_covered(Knowledge *k)
{
    int kept = 0;
    for (int i = 0; i < k->nown; i++) {
        OrderStamp *own = &k->own[i];
        SIMT_EACH_LANE(lane, own->lanes) {
            const OrderStamp s = {own->clock, UINT32_C(1) << lane, own->unit};
            if (view_knows(k->views[lane], &s)) own->lanes &= ~s.lanes;
        }
        if (own->lanes) k->own[kept++] = *own;
    }
    k->nown = kept;
}

/* Lanes with the same view get the same one again. */
static void learn(Order *o, Knowledge *k, uint32_t lanes, View *v)
{
    View *before = NULL, *after = NULL;
    if (!v) return;
    SIMT_EACH_LANE(lane, lanes) {
        View **at = &k->views[lane];
        if (!after || *at != before) {
            drop(&before);
            drop(&after);
            before = share(*at);
            after = share(*at);
            join(o, &after, v);
        }
        replace(at, after);
    }
    drop(&before);
    drop(&after);
    forget_covered(k);
}

/* Lanes of a unit learn what those of another one, or of their own, know. */
static void tell(Order *o, int from, uint32_t tellers, int unit, uint32_t lanes)
{
    View *told[KINDS] = {NULL};
    publish(o, from, tellers, told);
    for (int k = 0; k < KINDS; k++) {
        learn(o, &o->units[unit].of[k], lanes, told[k]);
        drop(&told[k]);
    }
}

void order_sync(Order *o, int unit, uint32_t lanes)
{
    tell(o, unit, lanes, unit, lanes);
}

void order_fence(Order *o, int unit, uint32_t lanes)
{
    if (unit < 0) return;
    Unit *u = &o->units[unit];
    forget_own(&u->of[FENCED], -1, lanes);
    inherit(o, &u->of[FENCED], &u->of[KNOWN], lanes);
    add_own(o, &u->of[FENCED], unit, u->clock, lanes);
    u->own_fenced = true;
    u->clock++;
}

/* ---- agents ---- */

static void fini(Knowledge *k)
{
    for (int l = 0; l < ORDER_LANES; l++) drop(&k->views[l]);
    free(k->own);
    *k = (Knowledge){0};
}

static bool knows(const Knowledge *k, int lane, const OrderStamp *s)
{
    return view_knows(k->views[lane], s) || own_knows(k, lane, s);
}

/* Who hears of an agent at some time takes that to be all that its number did before. So the number
   of an earlier one is given on only to an agent whose lanes know what theirs did. */
static bool can_take(const Order *o, int agent, int unit, uint32_t lanes, bool joint)
{
    const Unit *a = &o->units[agent];
    const Knowledge *k = &o->units[unit].of[KNOWN];
    bool all = true, any = !a->touched[0];
    if (!a->free) return false;
    for (int l = 0; l < ORDER_LANES; l++) {
        const OrderStamp own = {a->touched[l], UINT32_C(1) << l, agent};
        const OrderStamp first = {a->touched[0], 1, agent};
        all &= !a->touched[l] || knows(k, l, &own);
        any |= (lanes >> l & 1) && knows(k, l, &first);
    }
    return joint ? any : all;
}

static int new_unit(Order *o, int unit, uint32_t lanes, bool joint)
{
    for (int i = o->warps; i < o->nunits; i++)
        if (can_take(o, i, unit, lanes, joint)) return i;
    if (!grow_array(&o->units, o->nunits)) return o->failed = true, -1;
    o->units[o->nunits] = (Unit){.clock = 1, .issuer = -1};
    return o->nunits++;
}

int order_fork(Order *o, int unit, uint32_t lanes, bool joint, bool async_proxy)
{
    const int agent = new_unit(o, unit, lanes, joint);
    if (agent < 0) return -1;
    Unit *a = &o->units[agent];
    a->free = false;
    a->joint = joint;
    a->async_proxy = async_proxy;
    a->issuer = joint ? -1 : unit;
    order_fork_into(o, agent, unit, lanes);
    return agent;
}

void order_fork_into(Order *o, int agent, int unit, uint32_t lanes)
{
    if (agent < 0) return;
    Unit *a = &o->units[agent], *u = &o->units[unit];
    if (a->joint) {
        View *views[KINDS] = {a->of[KNOWN].views[0], a->of[FENCED].views[0]};
        publish(o, unit, lanes, views);
        for (int k = 0; k < KINDS; k++) a->of[k].views[0] = views[k];
        return;
    }
    for (int k = 0; k < KINDS; k++) inherit(o, &a->of[k], &u->of[k], lanes);
    add_own(o, &a->of[KNOWN], unit, u->clock, lanes);
    u->clock++;
}

/* What an agent knows beside its own work its issuer knew before. */
void order_join(Order *o, int unit, uint32_t lanes, int agent)
{
    if (agent < 0) return;
    Unit *a = &o->units[agent], *u = &o->units[unit];
    if (a->issuer == unit) {
        add_own(o, &u->of[KNOWN], agent, a->clock, lanes);
        if (a->own_fenced) add_own(o, &u->of[FENCED], agent, a->clock, lanes);
        a->clock++;
    } else {
        tell(o, agent, a->joint ? 1 : lanes, unit, lanes);
    }
}

void order_end(Order *o, int agent)
{
    if (agent < 0) return;
    Unit *a = &o->units[agent];
    for (int k = 0; k < KINDS; k++) fini(&a->of[k]);
    a->own_fenced = false;
    a->clock++;
    a->free = true;
}

/* ---- barriers ---- */

void order_clock_reset(OrderClock *c)
{
    for (int k = 0; k < KINDS; k++) {
        drop(&c->now[k]);
        drop(&c->done[k]);
    }
}

void order_release(Order *o, OrderClock *c, int unit, uint32_t lanes)
{
    if (unit < 0) return;
    publish(o, unit, lanes, c->now);
}

void order_complete(OrderClock *c)
{
    for (int k = 0; k < KINDS; k++) replace(&c->done[k], c->now[k]);
}

void order_acquire(Order *o, const OrderClock *c, int unit, uint32_t lanes)
{
    for (int k = 0; k < KINDS; k++) learn(o, &o->units[unit].of[k], lanes, c->done[k]);
}

/* ---- the whole ---- */

static bool start(Order *o)
{
    o->failed = false;
    for (o->nunits = 0; o->nunits < o->warps; o->nunits++) {
        if (!grow_array(&o->units, o->nunits)) return false;
        o->units[o->nunits] = (Unit){.clock = 1, .issuer = -1};
    }
    return true;
}

Order *order_new(int warps)
{
    Order *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->warps = warps;
    if (start(o)) return o;
    order_free(o);
    return NULL;
}

static void fini_units(Order *o)
{
    for (int i = 0; i < o->nunits * KINDS; i++) fini(&o->units[i / KINDS].of[i % KINDS]);
}

void order_free(Order *o)
{
    if (!o) return;
    fini_units(o);
    free(o->units);
    free(o);
}

void order_reset(Order *o)
{
    fini_units(o);
    start(o);
}

bool order_failed(const Order *o)
{
    return o->failed;
}

/* ---- for who records accesses ---- */

OrderView *const *order_views(const Order *o, int unit)
{
    return o->units[unit].of[KNOWN].views;
}

uint32_t order_touch(Order *o, int unit, uint32_t lanes)
{
    Unit *u = &o->units[unit];
    SIMT_EACH_LANE(lane, unit < o->warps ? 0 : lanes) u->touched[lane] = u->clock;
    return u->clock;
}

bool order_is_async(const Order *o, int unit)
{
    return o->units[unit].async_proxy;
}

bool order_knows(const Order *o, int unit, int lane, const OrderStamp *s)
{
    const Unit *u = &o->units[unit];
    const bool same = s->unit == unit; /* or its number's earlier agent, which it knows */
    if (view_knows(u->of[KNOWN].views[lane], s)) return true;
    SIMT_EACH_LANE(other, s->lanes) {
        const OrderStamp one = {s->clock, UINT32_C(1) << other, s->unit};
        if (!(same && other == lane) && !knows(&u->of[KNOWN], lane, &one)) return false;
    }
    return true;
}

bool order_knows_fenced(const Order *o, int unit, int lane, const OrderStamp *s)
{
    return knows(&o->units[unit].of[FENCED], lane, s);
}
