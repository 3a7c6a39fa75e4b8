/* How many registers a thread needs at once, roughly: at each point the blocks that are used later
   count, as far as threads hold them; what dies in an op leaves its registers to the results.

   ptxas takes as many registers as it likes, up to 255. Where a few less let one more program run
   on a multiprocessor, which shared memory alone would not prevent, it is told so: attention with
   64 by 64 scores took 129 a thread, which is three programs; held to 128 it takes 119, which is
   four, and runs 1.08 times as fast (H200). A limit below what is needed would cost far more, in
   spills, than a program gains: it is only set where the estimate leaves room, and not where it
   leaves so much that ptxas will hardly come near. Nor below 128, where what stands beside the
   blocks (addresses, masks) is half of what a thread has: of 14 kernels held to 96 that took more
   by themselves five spilled. Nor a third program where much passes in a turn of many ops: of five such
   kernels four spilled 160 to 524 bytes, and run 1.09 to 1.28 times as fast without (H200). Nor where warps multiply one by one: with a limit ptxas orders their
   loads and products so that it spills at 168 registers what it does not at 144 (attention's way
   back for sm_80). But where shared memory has room for so few programs that each thread may have
   all registers, they are told so: ptxas, which does not know, spills some for one program more. It
   does, too, where not even what is needed fits as often as shared memory does: there they are told
   the first limit with room. Where more is needed than a thread can have they are told how many
   those are: ptxas may give up at 32 registers else (attention over 64 queries of 512 numbers for
   sm_80: 18912 bytes spilled, and with the limit 840).

   Where shared memory leaves more than twice what is needed, they are told of that: ptxas would
   hold to 64 or 72, for programs that have no room (split-K 1.07 times as fast with 72 of 168).
   Products of warp groups are told where it leaves 1.4 times that, which none of 82 came near: 52 calls
   changed, none with more spills; states of the delta rule run 1.15 and 1.21 times as fast, attention to int8
   keys 1.15, three kernels 3 to 4 % slower (H200).
   Other loops have such a limit only where they read more than they compute (stream.c): what is held
   beside their blocks is more (a scan that stores where its sums say spilled 188 bytes at 128).
   A program of one warp may have all there are: unasked ptxas keeps so many programs on a
   multiprocessor that it computes one exponential behind the other (168 registers; with all it
   takes 216, and 207 us become 152). */
#include "lower/lower.h"

#include "ir/dot_unit.h"
#include "layout/vector.h"

typedef struct Pressure {
    const Lower *L;
    Bitset data;  /* ids of values that take registers */
    Map numbers;  /* op to its number plus 1; of one with regions, of the last in it */
    Bitset loops; /* numbers where one begins */
    int *change;  /* words that come to life at a number, less those that end */
    int nops;
    bool copies, by_warps; /* there are any; products that are no warp group's */
    int addresses;         /* words that a loop copies from, at most */
    int product;           /* words of a sum, what is summed apart, and a factor in registers, at most */
    int stays;             /* words that a loop carries or has before it, at most */
    int passing;           /* words that come and go in a turn, at most */
    int pieces, loaded;    /* that loops copy or load, of a thread, in one turn of each */
    int stored;            /* by one store, at most */
} Pressure;

/* Floats and what was read: addresses and masks are made where they are used. */
static bool is_data(const Pressure *p, const Value *v)
{
    if (!type_is_block(v->type) || type_is_pointer(v->type) || type_is_bool(v->type)) return false;
    if (type_is_float(v->type)) return true;
    if (!v->def) return true; /* what a loop carries: a sum, it may be */
    if (ir_has(v->def, OT_CONST)) return false;
    bool data = !ir_has(v->def, OT_EW) && !ir_has(v->def, OT_SHAPE) && v->def->kind != OP_SPLAT &&
                v->def->kind != OP_ARANGE && !v->def->nregions;
    for (int i = 0; i < v->def->nargs && !data; i++)
        data = bitset_has(&p->data, (int)op_arg(v->def, i)->id);
    return data;
}

static int words_of(const Pressure *p, const Value *v)
{
    const Op *def = v->def;
    if (!bitset_has(&p->data, (int)v->id)) return 0;
    if (def && (ir_has(def, OT_SHAPE) || ir_has(def, OT_CONST) || lower_reads_late(def))) return 0;
    return (lower_distinct_registers(v->type) * type_bits(v->type) + 31) / 32;
}

static void note_data(Pressure *p, const Value *v)
{
    if (is_data(p, v)) bitset_add(&p->data, (int)v->id);
}

static int number_of(const Pressure *p, const Op *op, const Region *home)
{
    while (op->region != home) op = op->region->parent;
    return (int)(uintptr_t)map_get_ptr(&p->numbers, op) - 1;
}

/* The pointers that a loop has ready for an access: those it carries to copy from, and those from
   before it that a turn's offset is added to. */
static const Value *ready_pointers(const Op *access)
{
    const Value *at = op_arg(access, 0);
    if (access->kind == OP_COPY_ASYNC) return at->def ? NULL : at;
    const Op *moved = ir_def(at, OP_ADDPTR);
    at = moved && moved->region == access->region ? op_arg(moved, 0) : NULL;
    return at && at->def && at->def->region != moved->region && !ir_def(at, OP_SPLAT) ? at : NULL;
}

/* Of these, one of those that are a constant apart. Others are made where they are used. */
static int address_words(const Pressure *p, const Op *access)
{
    const Value *ready = ready_pointers(access);
    if (!ready) return 0;
    const Regs at = p->L->values[ready->id];
    const VectorBits vec = vector_of(access);
    int n = 0, inside = (int)lower_free_registers(ready->type);
    for (int i = 0; i < vec.log2; i++) inside |= (int)vec.bit[i];
    for (int i = 0; i < at.n; i++) {
        if (i & inside) continue;
        int same = 0;
        while ((same & inside) || at.r[same].v != at.r[i].v) same++;
        n += same == i;
    }
    return 2 * n;
}

static int pieces_of(const Op *access)
{
    return (int)lower_distinct_registers(op_arg(access, 0)->type) >> vector_of(access).log2;
}

static void number_region(Pressure *p, const Region *r, int *addresses)
{
    for (const Op *op = r->first; op; op = op->next) {
        const Region *turn = ir_turn(op);
        int inside = 0;
        p->nops++;
        p->copies |= op->kind == OP_COPY_ASYNC || op->kind == OP_COPY_BOX;
        if (op->kind == OP_COPY_ASYNC || op->kind == OP_LOAD) {
            *addresses += address_words(p, op);
            if (turn && !ir_is_rest(turn->parent))
                *(op->kind == OP_LOAD ? &p->loaded : &p->pieces) += pieces_of(op);
        }
        if (op->kind == OP_STORE && pieces_of(op) > p->stored) p->stored = pieces_of(op);
        for (int i = 0; i < op->nregions; i++) number_region(p, op->regions[i], &inside);
        map_set_ptr(&p->numbers, op, (void *)(uintptr_t)p->nops);
        if (op->kind != OP_FOR) *addresses += inside;
        else if (inside > p->addresses) p->addresses = inside;
    }
}

/* The rest of a loop's turns takes the registers of what it goes on with. */
static int end_of(const Pressure *p, const Use *u, const Region *home)
{
    const Op *user = u->user;
    if (user->region != home || !ir_is_rest(user)) return number_of(p, user, home);
    return number_of(p, user->regions[0]->first, user->regions[0]) - 1;
}

static void add_life(Pressure *p, const Value *v, int begin, const Region *home)
{
    note_data(p, v);
    const int words = words_of(p, v);
    int end = begin;
    for (const Use *u = words ? v->uses : NULL; u; u = u->next) {
        const int at = end_of(p, u, home);
        if (at > end) end = at;
    }
    p->change[begin] += words;
    p->change[end] -= words;
}

/* Registers of a product at once: its sum, what is summed apart, and a factor; of fp32 twice: two such
   kernels were 4 and 5 % faster with limits above what they need (H200). */
static int product_words(const Pressure *p, const Op *dot)
{
    const int sum = words_of(p, op_result(dot, 0)),
              apart = !dot_together(dot) ? 0 : sum < GROUP_APART_WORDS ? sum : GROUP_APART_WORDS;
    const Value *a = op_arg(dot, 0);
    return sum + apart + words_of(p, a) * (type_dtype(a->type) == DT_F32 ? 2 : 1);
}

static void add_region(Pressure *p, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        const int begin = p->nops++;
        if (op->kind == OP_FOR) bitset_add(&p->loops, begin);
        for (int i = 0; i < op->nregions; i++) {
            const Region *in = op->regions[i];
            for (int k = 0; k < in->nargs; k++) add_life(p, in->args[k], begin, in);
            add_region(p, in);
        }
        for (int i = 0; i < op->nresults; i++) add_life(p, op_result(op, i), p->nops - 1, r);
        if (op->kind != OP_DOT) continue;
        p->by_warps |= !tkc_op_int(op, ATTR_ASYNC, 0);
        const int words = product_words(p, op);
        if (words > p->product) p->product = words;
    }
}

/* What a loop carries stays; of what comes and goes in a turn ptxas, which orders elements one by
   one, needs less than whole blocks would. With less than an instruction's own it gives up. */
static int registers_needed(Pressure *p)
{
    enum { BESIDE = 19, BESIDE_PRODUCT = 40 }; /* addresses and the like */
    int now = 0, most = 0;
    for (int i = 0; i < p->nops; i++) {
        now += p->change[i];
        if (bitset_has(&p->loops, i) && now > p->stays) p->stays = now;
        if (now > most) most = now;
    }
    p->passing = most - p->stays;
    const int needed = p->stays + p->passing * 3 / 4 + p->addresses + BESIDE,
              least = p->product + BESIDE_PRODUCT;
    return needed > least ? needed : least;
}

enum { LEAST = 96, FEW = 128, MANY = 168, NEAR = 48 };

/* What is copied or loaded in small pieces has more addresses and masks than are counted: with 48
   pieces a turn 84 bytes spilled at 128, with 64 of 2 bytes 120. Products by warps take what is
   loaded at once. */
static bool is_scattered(const Pressure *p)
{
    enum { MANY_PIECES = 32 };
    return p->pieces + (p->by_warps ? 0 : p->loaded) > MANY_PIECES;
}

/* Elements that are stored one by one have an address each, of which ptxas has many at a time: 128
   of a grouped product spilled 200 bytes at 168. */
static bool is_strewn(const Pressure *p)
{
    enum { MANY_STORES = 64 };
    return p->stored > MANY_STORES;
}

/* Of a kernel that reads more than it computes (stream.c), as long as it needs less: most of what
   passes is on the way from memory, of which there is as much as registers are left for. Not where
   that alone, with what stays, is more (a norm's way back with its sums of columns: 448 bytes spilled
   at 128). */
static int stream_within(const Pressure *p, int needed)
{
    enum { SPARE = 8 };
    const int limit = stream_limit(p->L);
    return needed - p->passing / 2 + SPARE <= limit && p->stays + p->passing <= limit ? limit : 0;
}

/* Each turn of a recurrence waits for the one before it, and for what it loads, with a state that
   takes most registers: told that it may have all, ptxas brings loads to the front (linear
   attention by steps took 96 registers and takes 117: 1384 us became 1104). Of four such kernels
   all ran faster, by 3 % to 25 %; of four with 2 warps three slower, by 3 % to 9 %, and with less
   of a state as many lose as gain: other warps hide more (H200). */
static bool is_recurrence(const Pressure *p)
{
    enum { MUCH = 64, WARPS = 4 };
    return p->stays >= MUCH && p->loaded && p->L->fn->num_warps == WARPS;
}

/* Of what neither copies nor multiplies. */
static int limit_without_copies(const Pressure *p, int needed)
{
    const int limit = p->product || is_scattered(p) ? 0 : stream_within(p, needed);
    return limit || p->product || !is_recurrence(p) ? limit : MACHINE_THREAD_REGISTERS;
}

/* The room that ptxas is to have. Of products by warps it takes as many registers as it is told of;
   FEW are enough sooner than others. */
static int registers_wanted(const Pressure *p, int needed)
{
    enum { ENOUGH = 32 };
    if (!p->by_warps) return needed > LEAST ? needed : LEAST;
    return needed + NEAR > FEW && needed + ENOUGH <= FEW ? FEW : needed + NEAR;
}

enum { ROUND = 8 };

/* What shared memory leaves, where that is so much that ptxas will not come near. */
static int room_of(const Pressure *p, int needed, int share)
{
    const int most = MACHINE_THREAD_REGISTERS;
    const bool groups = p->product && !p->by_warps;
    const bool much = share > 2 * needed || (p->by_warps && share >= most) || (groups && 5 * share >= 7 * needed);
    return !much ? 0 : share < most ? share / ROUND * ROUND : most;
}

/* A third program gains less than a second, and less than spills lose: where much passes in a turn,
   and many other things are there beside the blocks, what is needed is not known so well. */
static bool is_crowded(const Pressure *p)
{
    enum { MUCH = 64, MANY_OPS = 200 };
    return !p->by_warps && p->passing > MUCH && p->nops > MANY_OPS;
}

/* Of what passes where nothing is multiplied ptxas has often a small part at once (of what comes of
   random numbers 384 words, in 32 registers). */
static bool is_too_much(const Pressure *p, int needed, int most)
{
    if (p->by_warps) return needed > most;
    return !p->product && p->stays + p->passing / 2 + p->addresses > most;
}

int pressure_limit(const Lower *L)
{
    /* With no more than CLOSE to spare ptxas would spill, lest there is one program less. */
    enum { CLOSE = 7 };
    const int threads = L->fn->num_warps * MACHINE_LANES;
    if (L->fn->num_warps == 1) return MACHINE_THREAD_REGISTERS;
    Pressure p = {.L = L, .data = bitset_make(L->arena, (int)L->fn->nvalues)};
    map_init(&p.numbers, L->arena);
    int outside = 0;
    number_region(&p, L->fn->body, &outside);
    p.change = arena_array(L->arena, int, p.nops + 1);
    p.loops = bitset_make(L->arena, p.nops + 1);
    p.nops = 0;
    add_region(&p, L->fn->body);
    int programs = machine_programs(L->machine, L->shared_bytes), limit = 0,
        most = MACHINE_REGISTERS / threads; /* of one program alone */
    if (most > MACHINE_THREAD_REGISTERS) most = MACHINE_THREAD_REGISTERS;
    const int share = programs ? MACHINE_REGISTERS / (threads * programs) : MACHINE_THREAD_REGISTERS;
    const int needed = registers_needed(&p), spare = programs ? share - needed : share;
    if (is_too_much(&p, needed, most)) return most;
    if (!p.copies) return limit_without_copies(&p, needed);
    const int room = programs ? room_of(&p, needed, share) : 0;
    if (room > FEW || (room && !is_scattered(&p))) return room;
    if (!p.product) return 0;
    if (p.by_warps && spare > 0) return spare > CLOSE ? 0 : most;
    while (programs > 0 && limit < registers_wanted(&p, needed))
        limit = MACHINE_REGISTERS / (threads * programs--) / ROUND * ROUND;
    const bool dense = !is_strewn(&p) && (limit > FEW ? !is_crowded(&p) : !is_scattered(&p)),
               fits = limit >= FEW && limit <= MANY && dense;
    return fits && (p.by_warps || limit - needed <= NEAR) ? limit : 0;
}
